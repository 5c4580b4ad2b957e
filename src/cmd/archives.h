/* SPDX-License-Identifier: BSD-3-Clause */
/* Archives in the place of experiments: each becomes one, by fvunify, and its operand names that from then on. */
#ifndef FV_ARCHIVES_H
#define FV_ARCHIVES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#define FV_ARCHIVE_ENDING ".otf2" /* of the anchor file's name */

/* Is there such a file? */
bool fv_is_archive(const char *path);
/* The archive in a directory, `traces.otf2` or else the only one. How many there are; of several none is chosen. */
size_t fv_archive_in(const char *directory, char out[PATH_MAX]);
/* Where its experiment goes, unless it is said: beside it. */
static inline void fv_archive_place(const char *anchor, char *out, size_t bytes)
{
    snprintf(out, bytes, "%.*s.fvmpi", (int)(strlen(anchor) - strlen(FV_ARCHIVE_ENDING)), anchor);
}

/* A directory for what is made of an archive or an experiment: `place`, which is made, or where that cannot be written
 * to, one in the user's cache. False: neither, which was said. */
bool fv_archive_make_place(const char *path, char place[PATH_MAX]);
/* Runs fvunify, by one process, on what `path` names; argv[0] is filled in. The exit status, or FV_EXIT_FAILED: it
 * could not be run, which was said. */
int fv_archive_unify(const char *path, char **argv);
/* The same in two steps, for fv_spawn_ended(). -1: it could not be run. */
pid_t fv_archive_unify_begin(const char *path, char **argv);

struct fv_archive_files {
    uint64_t hash; /* of their names, sizes and times */
    uint64_t bytes;
};
/* One that is there; `directory` as for openat(). */
void fv_archive_add_file(struct fv_archive_files *files, int directory, const char *path);
/* All of an archive. False: there is none. */
bool fv_archive_look(const char *anchor, struct fv_archive_files *out);

/* As run.json of an experiment names the archive that it was made of: by the names, sizes and times of all its files,
 * and by who made it. Another archive in its place has another. False: there is none. */
#define FV_ARCHIVE_IDENTITY "identity"
bool fv_archive_identity(const char *anchor, char *out, size_t bytes);

/* Operands that are archives are replaced. An experiment is made beside its archive, or where that cannot be, in the
 * user's cache; it is made once, and again when the archive is another. FV_GO_ON, or the exit status: it could not be
 * made, which was said. */
int fv_archives_become_experiments(char **operands, size_t count);

#endif
