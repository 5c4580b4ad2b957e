/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks all threads of a process where they are, each by a signal in whose handler it unwinds itself (rt/look.c): no
 * debugger, no ptrace(2). The answers stand in the process's rank file (LOOKS).
 *
 * Nothing may be seen of it: a thread is let be in a system call that would end with EINTR, and where it cannot be
 * seen which one it is in. Who asks is another process, or a thread of the same one. No memory is taken, no lock, no
 * stdio stream. */
#ifndef FV_LOOK_H
#define FV_LOOK_H

#include "base/base.h"
#include "trace/format_looks.h"

#include <sys/types.h>

/* The value that comes with the signal: a mark, then fv_look.look. */
#define FV_LOOK_MARK (UINT64_C(0x4656) << 48)
#define FV_LOOK_MASK (~(UINT64_C(0xffff) << 48))

/* The number of the first of several looks that are asked for now. */
uint64_t fv_look_number(void);

/* Looks that are asked for by a file in the experiment's directory, for ranks on any host that watch themselves
 * (--hang-after): "NUMBER LOOKS MILLISECONDS", the number in hexadecimal. */
#define FV_LOOK_REQUEST ".where"
struct fv_look_request {
    uint64_t number;
    unsigned looks, between_ms;
};
/* False: it is none. */
bool fv_look_request_parse(const char *text, struct fv_look_request *out);

/* Names of threads that are fvmpi's own begin so: they are passed by. */
#define FV_LOOK_OWN "fvmpi-"

/* What is seen of a thread from outside: all but where it is. FV_LOOK_TAKEN: it was asked. */
typedef void fv_look_fn(void *context, const struct fv_look *look);

/* Asks the threads of a process by its header's look_signal; 0: there is none. Returns how many were asked. */
unsigned fv_look_ask(pid_t pid, unsigned signal, uint64_t look, fv_look_fn *seen, void *context);

#endif
