/* SPDX-License-Identifier: BSD-3-Clause */
/* A node-local directory (FVMPI_LOCAL): there the rank files of a node's ranks are while the job runs. `fvmpi run` and
 * `fvmpi gather` move them to the experiment's directory afterwards (cmd/stage.h).
 *
 *     LOCAL/fvmpi-local-UID-KEY/      the local directory of one job's experiment; its owner's alone
 *         .experiment                 a symbolic link whose text is the path of the experiment
 *         rank-NNNNNN.fvr             locked (flock) by the process that writes it
 *     EXPERIMENT/.local-HOST-KEY      a symbolic link whose text is the path of the local directory: there are files
 *                                     to be gathered on that host
 *
 * Symbolic links because they are made whole or not at all, and nobody follows them. KEY is of the experiment's path
 * and the job. Runs inside the application, too: no malloc, no stdio, no MPI; errno may change. */
#ifndef FV_LOCAL_H
#define FV_LOCAL_H

#include "base/base.h"

#define FV_LOCAL_PREFIX     "fvmpi-local-"
#define FV_LOCAL_EXPERIMENT ".experiment"
#define FV_LOCAL_NOTE       ".local-"
#define FV_LOCAL_HOST_MAX   64

/* A descriptor of the local directory, which is made if needed, and its path; the caller closes it. -1: errno; EPERM:
 * there is one, and it is not this user's alone. Somebody who removes an empty one may do so at any time: whoever makes
 * a file in it calls fv_local_keep() afterwards. */
int fv_local_open(char *out, size_t size, const char *local, const char *experiment, uint64_t job);
/* Says of which experiment it is. */
bool fv_local_keep(int folder, const char *experiment);

/* Opens one that should be there. -1: errno; EPERM as above. */
int fv_local_open_own(const char *path);

/* In the experiment's directory: that there is a local one on this host. One of its ranks puts the note up; it may be
 * there. */
void fv_local_note(int experiment, const char *directory);
/* Its name. */
void fv_local_note_name(char *out, size_t size, const char *directory);
/* Opens what a note of a host is of. -1: errno; EXDEV: it is another host's. */
int fv_local_open_noted(const char *host, const char *directory);
/* The host of a note's name; false: it is no note's. */
bool fv_local_note_host(const char *name, char out[FV_LOCAL_HOST_MAX + 1]);

#endif
