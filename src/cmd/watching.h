/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands that sample sensors share: the words that people give them. */
#ifndef FV_WATCHING_H
#define FV_WATCHING_H

#include "cmd/arguments.h"
#include "sensors/watch.h"

/* The events that these patterns mean; without any, what most want to see. `command` as it is typed: "fvmpi stat".
 * FV_GO_ON, or the exit status, after a line. */
int fv_watching_choose(struct fv_watch *watch, const struct fv_operands *patterns, bool is_per_source,
                       const char *command);
/* Seconds from sample to sample; false: it is none. */
bool fv_watching_interval(const char *text, double *out);
#define FV_WATCHING_INTERVAL "--interval takes seconds, from 0.001 to 86400"

#endif
