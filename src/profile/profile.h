/* SPDX-License-Identifier: BSD-3-Clause */
/* The finished profile of a run: all that was recorded and derived, the same for every command. It is
 * constant from here on; views and comparisons read it. */
#ifndef FV_PROFILE_H
#define FV_PROFILE_H

#include "profile/findings/findings.h"
#include "profile/model.h"
#include "profile/samples/cost_profile.h"
#include "symbols/symbols.h"

struct fv_profile {
    const struct fv_model *model;
    const struct fv_symbols *symbols;
    const struct fv_cost_profile *costs; /* of all ranks; empty where nothing was sampled */
    const struct fv_findings *findings;
    size_t recorded_problems; /* of the model's problems: what was recorded. Those behind are of the modules'
                               * files */
};

/* Which procedures took a region, one of fv_causes.regions, by clock samples, of the trace if there are such: on its
 * max_rank, longest first. */
const struct fv_region_procedure *fv_region_procedures(const struct fv_profile *profile, const struct fv_region *region,
                                                       size_t *count);

struct fv_profile_options {
    size_t traced_calls;              /* of a trace, that are wanted one by one at most (trace_excerpt.h) */
    double memory_peak;               /* of a node, bytes in a second; 0: not known */
    const struct fv_choice *choice;   /* NULL: all of the run */
    const struct fv_seen_looks *seen; /* what `fvmpi where` saw from outside (looks.h); NULL: nothing */
    bool is_later_part;               /* ... and begins later than that */
    const char *part_of, *operands;   /* it is a part of this run, which a command takes so; NULL: a run */
    bool no_symbols;                  /* call paths stay module+offset, and none of the program's files is opened */
};

/* Reads the rank files, joins fvunify's analysis of the trace where it is of these files, looks up symbols,
 * makes one of what looks the same (fv_model_build()), and adds up samples. On success *out is the caller's,
 * for fv_profile_close(). Has logged when it fails, with the errors of fv_experiment_open(), which takes the paths.
 * Where each path is a run of its own with a part of a list of counters (fvmpi run --counters-pass), it is the first,
 * with the counters of all, and says so. */
int fv_profile_open(char *const *paths, size_t count, const struct fv_profile_options *options,
                    struct fv_profile **out);
/* The same of rank files in memory: of an experiment that has been chosen, with at least one file. Never
 * NULL. */
struct fv_profile *fv_profile_new(struct fv_experiment *experiment, const struct fv_profile_options *options);
void fv_profile_close(struct fv_profile *profile); /* NULL is fine */

#endif
