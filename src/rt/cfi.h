/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames from .eh_frame, also inside a signal handler: which function an address is in, where it begins, and the
 * caller of a frame. Own code because libunwind takes locks and half a microsecond a frame; objects are found without a
 * lock, too (rt/loaded_objects.h).
 *
 * Memory that is read: tables of loaded objects, and the thread's own stack between given bounds. A table
 * that is not as expected ends the walk, a wrong one gives a wrong path, never a fault. */
#ifndef FV_CFI_H
#define FV_CFI_H

#include "base/base.h"

#include <ucontext.h>

/* By DWARF number. */
#if defined(__aarch64__)
enum { FV_REG_LR = 30, FV_REG_SP = 31, FV_REG_PC = 32, FV_REGS = 33, FV_SAVED = 12 }; /* pc has no number of its own */
#define FV_RETURN_ON_STACK 0 /* a call leaves the return address in lr */
#define FV_CALL_BYTES      0 /* that a call pushes, and a return pops */
#else
enum { FV_REG_RBX = 3, FV_REG_RBP = 6, FV_REG_SP = 7, FV_REG_PC = 16, FV_REGS = 17, FV_SAVED = 6, FV_SAVED_RBP = 1 };
#define FV_RETURN_ON_STACK 1
#define FV_CALL_BYTES      sizeof(uintptr_t)
#endif
struct fv_registers {
    uintptr_t r[FV_REGS];
};

/* Stack that may be read, [low, high). What is in the watched slot is known: to read it would trap. */
struct fv_stack_range {
    uintptr_t low, high;
    uintptr_t watched, watched_value; /* watched 0: none */
};
/* False: it may not. */
__attribute__((no_sanitize("address"))) static inline bool fv_stack_range_read(const struct fv_stack_range *stack,
                                                                               uintptr_t address, uintptr_t *out)
{
    if (address % sizeof(*out) || address < stack->low || address >= stack->high ||
        stack->high - address < sizeof(*out))
        return false;
    *out = address == stack->watched ? stack->watched_value : *(const volatile uintptr_t *)address;
    return true;
}

/* What the tables say of one address; as kept in a cache. */
struct fv_cfi_row {
    uintptr_t pc;       /* 0: empty */
    uintptr_t begin;    /* of the function's piece of code; 0: nobody knows the address */
    const void *object; /* that it is in: struct fv_loaded_object's */
    int32_t cfa_offset;
    int16_t saved[FV_SAVED]; /* rbx, rbp, r12..r15, or x19..x30: where, from the CFA; 0: not saved */
    uint8_t cfa_register;
    uint8_t kind;        /* enum fv_cfi_kind */
    uint32_t generation; /* of loaded objects, of which it holds */
    bool plain_entry; /* at `begin` there is nothing on the stack but a call's return address: the function is called,
                       * not jumped into */
};
enum fv_cfi_kind { FV_CFI_END, FV_CFI_SIMPLE, FV_CFI_COMPLEX };

/* Where a row is made: stacks may be small. */
struct fv_cfi_scratch {
    uint64_t words[40 * FV_REGS];
};

#define FV_CFI_CACHE 4096
struct fv_cfi_cache {
    struct fv_cfi_row row[FV_CFI_CACHE];
    struct fv_cfi_scratch scratch;
};

/* Are there tables that can be searched this way? */
bool fv_cfi_available(void);
/* Of a signal handler's third argument, or of getcontext(). */
void fv_registers_take(struct fv_registers *r, const ucontext_t *context);
/* The row of an address but for its `begin` and `plain_entry`, and the addresses [first, end) that have the same.
 * False: there is none that offsets can say; END: nobody called the function. */
struct fv_cfi_range {
    uintptr_t first, end;
};
/* By what a frame's table finds the caller's stack pointer. */
enum fv_cfi_link {
    FV_CFI_NO_TABLE,
    FV_CFI_BY_STACK,   /* so far above its own */
    FV_CFI_BY_POINTER, /* so far above the frame pointer */
    FV_CFI_BY_SLOT,    /* it stands so far above the frame pointer: the function has realigned the stack */
    FV_CFI_BY_OTHER
};
/* slot: of BY_SLOT. */
enum fv_cfi_link fv_cfi_link_of(struct fv_cfi_scratch *scratch, uintptr_t pc, intptr_t *slot);
bool fv_cfi_row_of(struct fv_cfi_scratch *scratch, uintptr_t pc, struct fv_cfi_row *out, struct fv_cfi_range *same);
/* The row of an address. Valid until the next call. */
const struct fv_cfi_row *fv_cfi_find(struct fv_cfi_cache *cache, uintptr_t pc);
/* From a frame to its caller's, by the frame's row for `pc` (a return address less one, but of the innermost
 * frame). False: there is no caller, or it cannot be told. */
bool fv_cfi_step(struct fv_cfi_cache *cache, const struct fv_cfi_row *row, uintptr_t pc,
                 const struct fv_stack_range *stack, struct fv_registers *r);

#endif
