/* SPDX-License-Identifier: BSD-3-Clause */
/* What a launch leaves behind: the experiments that are there after it and were not before. */
#ifndef FV_NEW_EXPERIMENTS_H
#define FV_NEW_EXPERIMENTS_H

#include "base/base.h"

#include <time.h>

struct fv_new_experiments {
    const char *output; /* not owned; NULL: whatever the runtime names, in the current directory */
    char **names;       /* experiments that were there before, [count] */
    size_t count;
    bool was_there;         /* `output` was, whatever it is */
    struct timespec newest; /* change of what was in it */
};

/* Before the launch. Release it, whatever happens. */
void fv_new_experiments_init(struct fv_new_experiments *written, const char *output);
void fv_new_experiments_release(struct fv_new_experiments *written);

/* After it: says on stderr what is new, in `output` or what the runtime called it instead (NAME-2), with verdict and
 * findings; `quiet`: only what is wrong. If nothing is, `why` stands behind that. */
void fv_new_experiments_report(const struct fv_new_experiments *written, const char *why, bool quiet);

#endif
