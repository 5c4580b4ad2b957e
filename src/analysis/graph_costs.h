/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits cost others, while that is added up: by line and call, from the end of the run backwards. Calls of a
 * line lie in pages, because a cost is for a few neighbouring ones. */
#ifndef FV_GRAPH_COSTS_H
#define FV_GRAPH_COSTS_H

#include "base/base.h"

struct fv_graph_cost_line {
    double **pages;      /* a ring, by number of the page; NULL: nothing there costs anything */
    uint32_t low, stop;  /* pages from `low` up to `stop` may be there */
    uint32_t page_count; /* of the ring: a power of two, or none */
};

struct fv_graph_costs {
    struct fv_graph_cost_line *lines;
    uint32_t line_count;
    double **spare; /* pages that are clear */
    size_t spare_count, spare_room;
};

void fv_graph_costs_init(struct fv_graph_costs *costs, uint32_t line_count);
void fv_graph_costs_add(struct fv_graph_costs *costs, uint32_t line, uint32_t call, double ns);
/* The sum of a call; those of later calls of the line are forgotten. */
double fv_graph_costs_take(struct fv_graph_costs *costs, uint32_t line, uint32_t call);
void fv_graph_costs_release(struct fv_graph_costs *costs);

#endif
