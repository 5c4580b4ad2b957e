/* SPDX-License-Identifier: BSD-3-Clause */
/* A command of `fvmpi run` once more, by a `fvmpi run` of its own: for who runs a program several times, each time with
 * other options. */
#ifndef FV_RERUN_H
#define FV_RERUN_H

#include <stddef.h>

struct fv_rerun {
    int argc, rest; /* of fvmpi run; the command begins at `rest` */
    char **argv;
};

/* With `own` options (NULL behind the last) behind those that were given, so that they count; `number` in the place of
 * each {N} in the command's words, NULL: as they are. Where the input is a file, each time from its beginning. The exit
 * status; that of a signal by which all is to end (fv_spawn_is_to_end), if the command came through it. */
int fv_rerun(const struct fv_rerun *run, const char *const own[], const char *number);
/* So many copies at once of a program without MPI, up to FV_CHILDREN, all in one experiment (FVMPI_COPY), with the
 * number of each, from 0, in the place of {I}. Input that is no file the first one has. The first exit status that is
 * not 0. */
int fv_rerun_copies(const struct fv_rerun *run, const char *const own[], const char *number, size_t count);
/* Has the command {N}? */
int fv_rerun_has_number(const struct fv_rerun *run);

#endif
