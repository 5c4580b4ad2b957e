/* SPDX-License-Identifier: BSD-3-Clause */
/* Basic blocks of a function, who dominates whom, and the natural loops: see loops.h. */
#ifndef FV_LOOP_GRAPH_H
#define FV_LOOP_GRAPH_H

#include "symbols/machine_code.h"
#include "tool/vec.h"

struct fv_block {
    uint64_t begin, last, end; /* last: of its last instruction */
    uint32_t next[2];          /* blocks; FV_NONE */
    bool table;                /* ends in a jump to a computed address */
    bool padding;              /* does nothing */
    bool packed;               /* has packed arithmetic */
};
struct fv_graph_loop {
    uint32_t header, parent; /* parent: the smallest loop around it; FV_NONE */
    uint32_t blocks;         /* how many */
    unsigned depth;          /* 1: outermost */
    bool packed;             /* it has packed arithmetic that is in no loop within it */
    uint8_t *holds;          /* by block */
};
struct fv_loop_graph {
    struct fv_block *blocks; /* by address */
    size_t count, room;
    struct fv_graph_loop *loops; /* by blocks, most first: a parent before its children */
    size_t loop_count, loop_room;
};

/* -FV_EFORMAT: it cannot be decoded, or is too large a graph. */
int fv_loop_graph_init(struct fv_loop_graph *graph, const uint8_t *code, uint64_t address, size_t bytes);
/* The same of decoded instructions. */
int fv_loop_graph_build(struct fv_loop_graph *graph, const struct fv_instruction *list, size_t count);
void fv_loop_graph_release(struct fv_loop_graph *graph);

static inline bool fv_loop_graph_holds(const struct fv_loop_graph *graph, uint32_t loop, size_t block)
{
    return graph->loops[loop].holds[block];
}
/* The innermost loop that the address is in; FV_NONE. */
uint32_t fv_loop_graph_loop_at(const struct fv_loop_graph *graph, uint64_t address);

#endif
