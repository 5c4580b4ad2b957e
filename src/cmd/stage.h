/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves rank files from a node-local directory (base/local.h) to their experiment. A file is copied under another name,
 * synced, and measured; then it gets its name, and only then the local one is removed. So whatever happens, one whole
 * copy is there, and moving again completes it. Files of processes that still run stay. */
#ifndef FV_STAGE_H
#define FV_STAGE_H

#include "base/base.h"

struct fv_stage_counts {
    size_t moved, running, failed; /* rank files */
};

/* Which files: those whose recording began since then, by CLOCK_MONOTONIC of this boot; 0: all. */
struct fv_stage_wish {
    int64_t since_ns;
    bool for_node;  /* what fails is said once for all that do this on the node */
    bool container; /* into the host's container (trace/container.h), as where there is one */
};

/* Of one local directory, to `experiment`; NULL: where it belongs. Adds up what was done. False: something failed,
 * which was said. */
bool fv_stage(const char *local, const char *experiment, const struct fv_stage_wish *wish,
              struct fv_stage_counts *staged);

/* Of all local directories of this user in LOCAL, where FVMPI_LOCAL leads. */
bool fv_stage_all(const char *local, const struct fv_stage_wish *wish, struct fv_stage_counts *staged);

/* Of those that an experiment's notes name on this host. */
bool fv_stage_noted(const char *experiment, const struct fv_stage_wish *wish, struct fv_stage_counts *staged);

#endif
