/* SPDX-License-Identifier: BSD-3-Clause */
/* Other nodes beside this one: recordings that `fvmpi record` writes on them, into a directory that all see, are read
 * as they grow. Their events come behind ours, with "host" in each series; their times by the clocks of the nodes,
 * which are taken to agree. A thread of its own looks for new lines and new files.
 *
 * A file that ended before we began is left alone. What is not to be understood is said once. */
#ifndef FV_NODES_H
#define FV_NODES_H

#include "live/live.h"

#define FV_NODES_OPEN      256       /* at a time; of what is beyond, it is said */
#define FV_NODES_FILES     65536     /* in all */
#define FV_NODES_PERIOD_NS 200000000 /* from look to look */
#define FV_NODES_BACK      262144    /* bytes of a file that are read, of what was there before */

struct fv_nodes;

/* `path`: a directory, whose *.jsonl are read, with the files they go on in; or one of them. NULL: it has said why. */
struct fv_nodes *fv_nodes_start(struct fv_live *live, const char *path);
void fv_nodes_stop(struct fv_nodes *nodes);

#endif
