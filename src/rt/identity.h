/* SPDX-License-Identifier: BSD-3-Clause */
/* Who this process is: for the header of its rank file. No malloc, no stdio streams. */
#ifndef FV_IDENTITY_H
#define FV_IDENTITY_H

#include "trace/format.h"

#include <stddef.h>

/* Path of the executable. */
void fv_program(char *out, size_t bytes);
/* The command line, quoted for a shell; cut off with "..." */
void fv_command(char *out, size_t bytes);
/* The text of run.json; returns its length. */
size_t fv_run_json(const struct fv_file_header *header, char *out, size_t bytes);

#endif
