/* SPDX-License-Identifier: BSD-3-Clause */
/* Filter files for --functions, as Score-P has them (Score-P User Manual, "Filtering"): which of a program's functions
 * are left out. Names are the tools' business, so `fvmpi run` finds out what that means for this program; the library
 * gets addresses (src/functions/exclusions.h). */
#ifndef FV_CMD_FILTER_H
#define FV_CMD_FILTER_H

#include "base/base.h"

/* What the file leaves out of the program, and of libraries in its directory or below: encoded, the caller's, from
 * malloc(); "" for nothing. program NULL: the file is checked alone. -FV_EINVAL, -FV_EIO: has said what is wrong with
 * the filter. */
int fv_filter_encode(const char *filter, const char *program, char **out);

/* ---- for tests ---- */

struct fv_filter;
/* The text of a filter. NULL: it is none; `why` says so in a line, with its number. */
struct fv_filter *fv_filter_parse(const char *text, char *why, size_t why_bytes);
/* mangled: as in the symbol table; name: demangled; file: NULL not known. */
bool fv_filter_leaves_out(const struct fv_filter *filter, const char *mangled, const char *name, const char *file);
void fv_filter_free(struct fv_filter *filter);

#endif
