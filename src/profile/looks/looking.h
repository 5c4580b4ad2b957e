/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the ranks of an experiment that run on this host (look/look.h), and has those on other hosts that watch
 * themselves look at themselves. */
#ifndef FV_LOOKING_H
#define FV_LOOKING_H

#include "profile/looks/looks.h"

struct fv_looking {
    const char *directory;
    size_t looks;              /* at most FV_LOOK_MOST */
    double interval_s;         /* from one to the next */
    size_t running;            /* out: ranks on this host that run ... */
    size_t asked;              /* ... and threads that were asked, in all looks */
    bool elsewhere;            /* ranks on other hosts were asked, too */
    struct fv_seen_looks seen; /* out */
};
/* -FV_ENOENT: there are no rank files here; -FV_EIO: the directory cannot be read, errno tells. */
int fv_looking_look(struct fv_looking *looking);
void fv_looking_release(struct fv_looking *looking);

#endif
