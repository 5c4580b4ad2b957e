/* SPDX-License-Identifier: BSD-3-Clause */
/* When all that belongs together has met: how long each call waited, for whom, and what that adds up to. */
#ifndef FV_WAITS_H
#define FV_WAITS_H

#include "analysis/over_time.h"
#include "analysis/sites.h"
#include "analysis/steps.h"
#include "analysis/tally.h"

/* Of the lines of this process. The first step of each call then has its longest waiting, which is what the
 * call waited: what else it needed came meanwhile. name_ranks: tell the waiting ranks in FV_TALLY_CAUSE. */
void fv_waits(struct fv_steps *steps, const struct fv_sites *sites, bool name_ranks, struct fv_tallies *out,
              struct fv_over_time *over_time);

#endif
