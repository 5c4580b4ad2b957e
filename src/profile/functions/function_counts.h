/* SPDX-License-Identifier: BSD-3-Clause */
/* What was counted in functions: instrumentation.c reads the functions, and this what was counted in them. */
#ifndef FV_FUNCTION_COUNTS_H
#define FV_FUNCTION_COUNTS_H

#include "profile/build.h"
#include "profile/functions/instrumentation.h"

/* Of a thread of the rank at hand. functions: by FUNCTION_CALLS record the function, FV_NONE: none. */
void fv_function_counts_read(struct fv_instrumentation *out, struct fv_reader *reader, uint32_t rank, uint32_t thread,
                             const uint32_t *functions, size_t count);
/* All ranks are known, and the order of functions: now[function] is where each went. */
void fv_function_counts_finish(struct fv_instrumentation *out, const uint32_t *now);

#endif
