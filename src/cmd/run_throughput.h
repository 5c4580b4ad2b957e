/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi run --throughput: copies of a program without MPI, or the ranks of one with it, together and one at a time,
 * then what sharing the node's caches and memory costs them (scaling/throughput.h). */
#ifndef FV_RUN_THROUGHPUT_H
#define FV_RUN_THROUGHPUT_H

#include "cmd/config.h"

#include <stdbool.h>

/* Do the other options go with it? False: it has said which does not. */
bool fv_run_throughput_may(const struct fv_config *config);

/* `argv`: of fvmpi run, whose command begins at `rest`. The exit status: that of the first run that failed, else of the
 * stacks. */
int fv_run_throughput(struct fv_config *config, int argc, char **argv, int rest);

#endif
