/* Parts of cost_profile.c in files of their own. */
#ifndef FV_COST_PROFILE_PARTS_H
#define FV_COST_PROFILE_PARTS_H

#include "report/cost_profile.h"

/* cost_sync.c: does the thread synchronise with others there? */
bool fv_cost_in_sync(const struct fv_path *path, const struct fv_model *model);
/* cost_order.c: when all is added up. `rank`: as it was built for. */
void fv_cost_profile_order(struct fv_cost_profile *profile, const struct fv_model *model, uint32_t rank);

#endif
