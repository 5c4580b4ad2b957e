/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi stacks of runs that fvmpi run --stacks has made. */
#ifndef FV_CMD_STACKS_H
#define FV_CMD_STACKS_H

#include "cmd/arguments.h"

#include <stdio.h>

/* `asked`: of each run, for how many threads; `is_replaced`: by the command's words, too. `out`: NULL: nothing is
 * shown. The exit status. */
int fv_stacks_of_runs(const struct fv_operands *directories, const size_t *asked, bool is_replaced, FILE *out);
/* The same of those of fvmpi run --throughput. */
int fv_stacks_of_copies(const struct fv_operands *directories, FILE *out);

#endif
