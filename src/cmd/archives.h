/* SPDX-License-Identifier: BSD-3-Clause */
/* Archives in the place of experiments: each becomes one, by fvunify, and its operand names that from then on. */
#ifndef FV_ARCHIVES_H
#define FV_ARCHIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FV_ARCHIVE_ENDING ".otf2" /* of the anchor file's name */

/* Is there such a file? */
bool fv_is_archive(const char *path);
/* Where its experiment goes, unless it is said: beside it. */
static inline void fv_archive_place(const char *anchor, char *out, size_t bytes)
{
    snprintf(out, bytes, "%.*s.fvmpi", (int)(strlen(anchor) - strlen(FV_ARCHIVE_ENDING)), anchor);
}

/* Operands that are archives are replaced. An experiment is made beside its archive, or where that cannot be, in the
 * user's cache; it is made once, and again when the archive is newer. FV_GO_ON, or the exit status: it could not be
 * made, which was said. */
int fv_archives_become_experiments(char **operands, size_t count);

#endif
