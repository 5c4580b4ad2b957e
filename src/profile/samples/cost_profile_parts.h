/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of cost_profile.c in files of their own. */
#ifndef FV_COST_PROFILE_PARTS_H
#define FV_COST_PROFILE_PARTS_H

#include "profile/samples/cost_profile.h"

/* cost_sync.c: fv_cost_in_sync() of a node's path, which is made in *scratch. */
bool fv_cost_waits(struct fv_path *scratch, const struct fv_model *model, const struct fv_symbols *symbols,
                   uint32_t node);
/* Makes of fvmpi's frames what the program called. */
void fv_cost_fold_fvmpi(struct fv_path *path, const struct fv_model *model);
/* cost_loops.c. Fills out->loops and loops_known. `sums`: of samples, by node. Returns for each node of the
 * model the innermost loop that its address is in, FV_NONE for none; malloc'ed. */
uint32_t *fv_cost_loops(struct fv_cost_profile *out, const struct fv_model *model, const struct fv_symbols *symbols,
                        const struct fv_cost_sum *sums);
/* cost_regions.c: which procedures took each region, by the trace or else by region_parts. Last. */
void fv_cost_regions(struct fv_cost_profile *profile, const struct fv_model *model);
/* cost_order.c: when all is added up. `rank`: as it was built for. */
void fv_cost_profile_order(struct fv_cost_profile *profile, const struct fv_model *model, uint32_t rank);

#endif
