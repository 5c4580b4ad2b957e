/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi run --stacks: the program on several numbers of threads, one run after the other, then what takes its speedup
 * (scaling/speedup.h). */
#ifndef FV_RUN_STACKS_H
#define FV_RUN_STACKS_H

#include "cmd/config.h"

/* `argv`: of fvmpi run, whose command begins at `rest`. The exit status: that of the first run that failed, else of the
 * stacks. */
int fv_run_stacks(struct fv_config *config, int argc, char **argv, int rest);

#endif
