/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi report --fail-if: conditions that a run must not meet, for tests of a program's performance. */
#ifndef FV_CMD_CONDITIONS_H
#define FV_CMD_CONDITIONS_H

#include "profile/profile.h"

#define FV_FAIL_IF_MOST 16
#define FV_EXIT_FAILS   3 /* a condition holds */

struct fv_conditions {
    const char *items[FV_FAIL_IF_MOST]; /* "parallel_efficiency<0.7": a column of a table with one row, or a finding,
                                         * which is its share of the time */
    size_t count;
};

/* FV_GO_ON, or the exit status of what it names that is not there, which was logged. Needs no run. */
int fv_conditions_check(const struct fv_conditions *conditions);
/* Says which hold, and which could not be judged. FV_GO_ON: none. */
int fv_conditions_judge(const struct fv_conditions *conditions, const struct fv_profile *profile);

#endif
