/* SPDX-License-Identifier: BSD-3-Clause */
/* What the functions for files did outside of MPI's calls, with --io (trace/events.h, IO): definitions of a rank
 * file. */
#ifndef FV_MERGE_FILES_H
#define FV_MERGE_FILES_H

#include "merge/defs.h"

/* Call paths of such calls in a trace are told to `mark`. */
void fv_files_used(const struct fv_reader *reader, void (*mark)(void *context, uint32_t path), void *context);
/* Adds the functions that were called, and what they opened. */
void fv_files_define(struct fv_defs *defs, const struct fv_reader *reader, uint32_t rank, const char *host,
                     struct fv_def_map *map);
/* Calls that the trace had no room for. */
uint64_t fv_files_lost(const struct fv_reader *reader);

#endif
