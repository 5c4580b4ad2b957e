/* SPDX-License-Identifier: BSD-3-Clause */
/* A run in few bytes, for scripts and assistants: the verdict, what it lost most time by, with evidence and next step,
 * and what was not judged or not recorded. */
#ifndef FV_VIEWS_BRIEF_H
#define FV_VIEWS_BRIEF_H

#include "profile/profile.h"

#include <stdio.h>

#define FV_BRIEF_BYTES  2048 /* at most; findings are left out, the smallest first, and counted */
#define FV_BRIEF_SCHEMA "fvmpi-brief-1"

/* Which option records what: was it in use? NULL: that is not known (views/relations.h). */
typedef bool fv_asked_for_fn(const void *subject, const char *flag, size_t bytes);
struct fv_brief_options {
    fv_asked_for_fn *asked_for;
    bool is_json;
};
/* -FV_EIO: errno tells. */
int fv_view_brief(const struct fv_profile *view, const struct fv_brief_options *options, FILE *out);

#endif
