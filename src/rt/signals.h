/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals that are shared with the application: see signals.c. */
#ifndef FV_SIGNALS_H
#define FV_SIGNALS_H

#include "base/base.h"

#include <signal.h>
#include <ucontext.h>

/* Where sampling is possible at all. */
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__GLIBC__)
#define FV_SAMPLER_SIGNALS 1
#else
#define FV_SAMPLER_SIGNALS 0
#endif

/* Where the signal came: the program counter. */
static inline uintptr_t fv_signals_pc(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    return (void)context, 0;
#endif
}

/* Sets a handler, for good; the application sees, sets and gets its own action. With all signals blocked, on the
 * thread's signal stack if it has one. Not 0: errno tells. */
int fv_signals_take(int signal, void (*function)(int, siginfo_t *, void *));
/* The same as long as the application sets no action of its own: then, before that one is set, `give_back` is called,
 * in whatever thread, and the signal is the application's for good. */
int fv_signals_borrow(int signal, void (*function)(int, siginfo_t *, void *), void (*give_back)(void));
/* The same of a real-time signal that nobody has an action for; 0: there is none. Once. */
int fv_signals_borrow_any(void (*function)(int, siginfo_t *, void *), void (*give_back)(void));
/* Somebody is about to set an action for it where we do not see it. */
void fv_signals_return(int signal);
/* The same while the application's action is to end by the signal, and at other times not. False: its action is another
 * one. */
bool fv_signals_take_end(int signal, void (*function)(int, siginfo_t *, void *));
/* Is the application's action for it to end? */
bool fv_signals_ends(int signal);
/* Does the process ignore it? */
bool fv_signals_ignored(int signal);
/* A signal that is the application's, from the handler: its own is called, or what it would have done is done when ours
 * returns. */
void fv_signals_pass_on(int signal, siginfo_t *info, void *context);

#endif
