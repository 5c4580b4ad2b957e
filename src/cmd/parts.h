/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of a run in the place of an experiment: made of its trace, by fvunify, for one report. */
#ifndef FV_PARTS_H
#define FV_PARTS_H

#include "cmd/arguments.h"

/* *operand, an experiment with a trace, or an archive, is replaced. FV_GO_ON, or the exit status: it could not be made,
 * which was said. What was made for it is removed by _remove(). */
int fv_part_becomes_experiment(char **operand, const struct fv_part *part);
/* What a command takes for the same part. Static. */
const char *fv_part_operands(const char *of, const struct fv_part *part);
void fv_parts_remove(void);

#endif
