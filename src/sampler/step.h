/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a breakpoint that was met is met again by a return from the handler, as on AArch64: there it rests as long as
 * the thread stands at it, and another breakpoint waits at the instruction that comes next, to tell that it may be
 * armed again. x86-64 passes a breakpoint that was met by itself (its resume flag).
 *
 * Where the next instruction is not known, or no breakpoint can be had for it, what rests does so until the next
 * signal. */
#ifndef FV_STEP_H
#define FV_STEP_H

#include "rt/cfi.h"

#if defined(__aarch64__)
#define FV_STEPS 1
#else
#define FV_STEPS 0
#endif

/* The address of what is executed after an instruction of AArch64 at `pc`, registers as before it, x31 taken for zero.
 * 0: it depends on what is not in there. */
uintptr_t fv_step_next(uint32_t instruction, uintptr_t pc, const uintptr_t x[31]);

struct fv_sampler;
struct fv_trap_source;
/* At the beginning of a signal, and at its end, when all is armed that is to be. */
void fv_step_begin(struct fv_sampler *s, const struct fv_trap_source *from, uintptr_t pc);
void fv_step_end(struct fv_sampler *s, const struct fv_registers *r);
/* It is needed, and no breakpoint was free: what stays armed at an entry misses the entries that come soon. */
bool fv_step_is_missing(const struct fv_sampler *s);

#endif
