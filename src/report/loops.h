/* Natural loops of the functions with most samples, from their machine code, which needs no debug
 * information: back edges in the graph of basic blocks whose target dominates their source (Aho, Sethi,
 * Ullman: Compilers, 10.4). libopcodes says what each instruction is; jumps through tables are taken to lead
 * to the blocks behind them that nothing else leads to. So a loop is one as compiled: unrolled and vectorised
 * copies are loops of their own. */
#ifndef FV_LOOPS_H
#define FV_LOOPS_H

#include "report/cost_profile.h"

/* Fills out->loops and loops_known. `sums`: of samples, by node. Returns for each node of the model the
 * innermost loop that its address is in, FV_NONE for none; malloc'ed. */
uint32_t *fv_loops_find(struct fv_cost_profile *out, const struct fv_model *model,
                        const struct fv_symbols *symbols, const struct fv_cost_sum *sums);

#endif
