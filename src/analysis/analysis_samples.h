/* SPDX-License-Identifier: BSD-3-Clause */
/* "samples" of analysis.json, see share/analysis.md: which procedures and lines took computing, delays and the critical
 * path. Null where there are none. */
#ifndef FV_ANALYSIS_SAMPLES_JSON_H
#define FV_ANALYSIS_SAMPLES_JSON_H

#include "analysis/analysis.h"
#include "tool/json_stream.h"

/* `path` is scratch. */
void fv_analysis_put_samples(const struct fv_analysis *analysis, struct fv_json *json, struct fv_path *path);

#endif
