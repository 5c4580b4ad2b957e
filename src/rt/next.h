/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the C library that ours stand in front of (interposed.tbl): the C library's, or those of another
 * library that interposes them, too. */
#ifndef FV_RT_NEXT_H
#define FV_RT_NEXT_H

#include "base/base.h"
#include "rt/signals.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#if FV_SAMPLER_SIGNALS
#include <sys/gmon.h>
#endif
#if __has_include(<threads.h>)
#include <threads.h>
#define FV_HAVE_C11 1
_Static_assert(thrd_success == 0, "C11's functions succeed like the others");
#endif

/* What takes a clock. */
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 31)
#define FV_HAVE_CLOCKED 1
#endif
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
#define FV_HAVE_EXECVEAT 1
#endif
/* threads/create.c says when not. */
#if defined(PIC) && !defined(__SANITIZE_THREAD__)
#define FV_INTERPOSE_CREATE 1
#endif

/* What the C library has besides, by names that nobody interposes. */
extern int __sigaction(int signal, const struct sigaction *action, struct sigaction *old);
extern sighandler_t ssignal(int signal, sighandler_t handler);
extern sighandler_t sysv_signal(int signal, sighandler_t handler);
extern void moncontrol(int mode); /* not in its headers */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* they are called all the same */
struct fv_next {
#define FV_NEXT_FUNCTION(set, name, version, until) __typeof__(name) *name;
#include "rt/next-list.h"
#undef FV_NEXT_FUNCTION
};
#pragma GCC diagnostic pop
extern struct fv_next fv_next;

enum fv_next_function {
#define FV_NEXT_FUNCTION(set, name, version, until) FV_NEXT_##name,
#include "rt/next-list.h"
#undef FV_NEXT_FUNCTION
    FV_NEXT_FUNCTIONS
};
enum fv_next_set { FV_NEXT_SET_rt, FV_NEXT_SET_threads };

/* Any thread, more than once. */
void fv_next_find(enum fv_next_set set);
void fv_next_find_one(enum fv_next_function function);

/* They may be needed before a constructor of ours has run: by other libraries' constructors. */
#define FV_NEXT(name) ((FV_UNLIKELY(!fv_next.name) ? fv_next_find_one(FV_NEXT_##name) : (void)0), fv_next.name)

#endif
