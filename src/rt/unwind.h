/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread's stack, unwound: frame by frame outwards from a call. Of a frame that was met before, at the same return
 * address, it is known how large it is, and where it saved the frame pointer; libunwind is asked for the others. */
#ifndef FV_UNWIND_H
#define FV_UNWIND_H

#define UNW_LOCAL_ONLY
#include "rt/cfi.h"
#include "rt/rt.h"

#include <libunwind.h>

#define FV_WALK_MOST 1024 /* frames; outer ones are cut, and the path says so */

struct fv_stack_frame {
    uintptr_t address;       /* return address into it */
    uintptr_t sp;            /* its stack pointer at the call */
    uintptr_t slot;          /* where the return address is; 0: not on the stack */
    uintptr_t frame_pointer; /* its value in that frame ... */
    uintptr_t saved_at;      /* ... and the slot that a callee saved it in; 0: none */
    bool is_fixed;           /* its size is known to follow from its address: the frame pointer does not find it */
};

struct fv_stack_walk {
    unsigned count;
    bool truncated;       /* there were more frames */
    bool cachable;        /* no signal handler is among them */
    unw_cursor_t before;  /* of a step in progress */
    uintptr_t guessed_at; /* where the frame pointer is saved that was followed last, without a table */
    struct fv_cfi_scratch scratch;
    struct fv_stack_frame frame[FV_WALK_MOST + 1]; /* behind the last: its size. Last here: a short walk touches one
                                                    * page */
};

void fv_unwind_init(void); /* once, before the first walk */
/* From the caller whose address is the site's outwards, at most `limit` frames, and one more for the size of the last.
 * stack: from here up to `high` it is read as it is (`low` does not matter); high 0: the kernel is asked for all of it.
 * removals: fv_module_removals(), if the site is a call on this stack, so that frames met before may be taken;
 * FV_UNWIND_ANEW: it need not be. */
#define FV_UNWIND_ANEW UINT64_MAX
void fv_unwind(struct fv_stack_walk *walk, struct fv_call_place site, unsigned limit,
               const struct fv_stack_range *stack, uint64_t removals);

#endif
