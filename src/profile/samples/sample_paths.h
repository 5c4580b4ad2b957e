/* SPDX-License-Identifier: BSD-3-Clause */
/* Call trees of a rank file's sampled threads (chunks SAMPLE_PATHS), as nodes of the model. */
#ifndef FV_SAMPLE_PATHS_H
#define FV_SAMPLE_PATHS_H

#include "profile/build.h"

struct fv_sample_tree {
    uint32_t thread;
    uint32_t *nodes; /* in fv_model.nodes, by id - 1; FV_NONE: damaged */
    uint32_t *forks; /* likewise: the node above the thread's own frames, of who forked its team (symbols/forks.h); 0:
                      * all are its own */
    uint16_t *depth;
    size_t count, room, fork_room, depth_room;
};
struct fv_sample_trees {
    struct fv_sample_tree *items;
    size_t count, room;
    struct fv_index by_thread;
};

/* Adds the nodes of all threads of the file to the model. */
void fv_sample_trees_read(struct fv_sample_trees *trees, struct fv_build *build, struct fv_build_file *file);
/* FV_NONE: the path is in a damaged part of the file. 0: none. */
uint32_t fv_sample_trees_node(const struct fv_sample_trees *trees, uint32_t thread, uint32_t id);
/* Of such a path: see struct fv_sample_tree. */
uint32_t fv_sample_trees_fork(const struct fv_sample_trees *trees, uint32_t thread, uint32_t id);
void fv_sample_trees_release(struct fv_sample_trees *trees);

#endif
