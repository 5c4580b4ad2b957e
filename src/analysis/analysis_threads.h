/* SPDX-License-Identifier: BSD-3-Clause */
/* "threads" of analysis.json, see share/analysis.md: what threads waited for each other, and what that cost
 * in MPI. Null where no rank recorded it. */
#ifndef FV_ANALYSIS_THREADS_H
#define FV_ANALYSIS_THREADS_H

#include "analysis/analysis.h"
#include "tool/json_stream.h"

/* `path` is scratch. */
void fv_analysis_put_threads(const struct fv_analysis *analysis, struct fv_json *json, struct fv_path *path);

#endif
