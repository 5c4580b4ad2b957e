/* SPDX-License-Identifier: BSD-3-Clause */
/* Machine code, as far as its flow of control and which arithmetic it does: by libopcodes, the only code that knows it.
 * x86-64 alone. */
#ifndef FV_MACHINE_CODE_H
#define FV_MACHINE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fv_flow {
    FV_FLOW_ON,      /* to the next instruction; calls, too */
    FV_FLOW_NOTHING, /* the same: padding */
    FV_FLOW_BRANCH,  /* there, or to the target */
    FV_FLOW_JUMP,    /* to the target */
    FV_FLOW_TABLE,   /* to an address that is computed */
    FV_FLOW_END,     /* nowhere in this function: a return, a trap */
};
struct fv_instruction {
    uint64_t address, target;
    uint32_t bytes;
    enum fv_flow flow;
    bool packed; /* arithmetic on several numbers of a vector register at once */
};

/* Was fvmpi built with libopcodes? */
bool fv_machine_code_available(void);
/* Decodes a function of `bytes` at `address` into *out, malloc'ed; its number, or 0: it cannot be decoded. */
size_t fv_machine_code_decode(const uint8_t *code, uint64_t address, size_t bytes, struct fv_instruction **out);

#endif
