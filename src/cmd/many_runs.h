/* SPDX-License-Identifier: BSD-3-Clause */
/* What fvmpi run has in common where it runs a program several times, with several numbers of threads, copies or ranks:
 * which numbers, and where the experiments go. */
#ifndef FV_MANY_RUNS_H
#define FV_MANY_RUNS_H

#include "cmd/config.h"
#include "cmd/rerun.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { FV_NUMBERS = 64 };

struct fv_numbers_of_runs {
    size_t items[FV_NUMBERS], count;
};

/* False: there is no room. */
bool fv_numbers_add(struct fv_numbers_of_runs *numbers, size_t number);
/* By the option: a list such as 2,4, of which those of `least` and more are taken, or, where it is on, 2, 4 ... and as
 * many as there are processors, each up to `most`. What is asked for twice is run twice. False: has said what is wrong
 * with it. */
bool fv_numbers_by_option(struct fv_numbers_of_runs *numbers, const struct fv_config *config, const char *flag,
                          size_t least, size_t most, const char *what);

/* Makes the directory of all, by -o, or PROGRAM's name and what kind of runs it is; what is there already is
 * somebody's: another name is taken. False: it has said why not. */
bool fv_runs_directory(const struct fv_config *config, const struct fv_rerun *rerun, const char *kind,
                       char out[PATH_MAX]);

/* --repeats */
unsigned fv_runs_repeats(const struct fv_config *config);

#endif
