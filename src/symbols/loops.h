/* SPDX-License-Identifier: BSD-3-Clause */
/* Natural loops of functions, from their machine code, which needs no debug
 * information: back edges in the graph of basic blocks whose target dominates their source (Aho, Sethi,
 * Ullman: Compilers, 10.4). libopcodes says what each instruction is; jumps through tables are taken to lead
 * to the blocks behind them that nothing else leads to. So a loop is one as compiled: unrolled and vectorised
 * copies are loops of their own. */
#ifndef FV_LOOPS_H
#define FV_LOOPS_H

#include "symbols/loop_kinds.h"
#include "symbols/symbols.h"

struct fv_loop {
    uint32_t function; /* index of those that were asked for */
    uint32_t parent;   /* the loop around it, a smaller index; FV_NONE */
    uint64_t offset;   /* of its header, in the module */
    const char *file;  /* NULL: no line is known */
    uint32_t first_line, last_line;
    unsigned depth; /* 1: outermost */
    enum fv_loop_kind kind;
    bool packed; /* packed arithmetic in it, and in no loop within it */
};
struct fv_loops {
    struct fv_arena arena;
    struct fv_loop *items; /* by function */
    size_t count, room;
};

/* A compiled function, and return addresses in it whose loops are wanted; and its own lines. */
struct fv_loop_function {
    uint32_t module;
    uint64_t begin, size;
    const uint64_t *addresses;
    uint32_t *innermost; /* filled: of each address, in fv_loops.items; FV_NONE: none */
    size_t address_count;
    const char *file;               /* filled, with ... */
    uint32_t first_line, last_line; /* ... these; NULL, 0: not known */
};

/* Was fvmpi built with a disassembler? */
bool fv_loops_available(void);
/* `functions` are best ordered by module: files of one are open at a time. */
void fv_loops_find(struct fv_loops *out, const struct fv_module *modules, struct fv_loop_function *functions,
                   size_t count);
void fv_loops_release(struct fv_loops *loops);

#endif
