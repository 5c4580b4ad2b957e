/* SPDX-License-Identifier: BSD-3-Clause */
/* How long calls of a trace waited, by fvunify's analysis, for the page's timeline: so `fvmpi view` and the page say
 * the same. */
#ifndef FV_CALL_WAITS_H
#define FV_CALL_WAITS_H

#include "views/views.h"

/* Of each call of the model's excerpt, for free(). NULL: the run in this directory is not analysed, or its timeline has
 * not all of these calls. */
struct fv_call_wait *fv_call_waits_of(const struct fv_model *model, const char *directory);

#endif
