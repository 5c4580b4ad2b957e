/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi run --passes: the program once for each part of --counters that the processor can count at a time. */
#ifndef FV_RUN_PASSES_H
#define FV_RUN_PASSES_H

#include "cmd/config.h"

/* `argv`: of fvmpi run, whose command begins at `rest`. Each pass into an experiment of its own, until one fails: its
 * exit status. */
int fv_run_passes(const struct fv_config *config, int argc, char **argv, int rest);

#endif
