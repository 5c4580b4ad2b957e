/* SPDX-License-Identifier: BSD-3-Clause */
/* The call paths of all threads that were looked at as one tree, from main inwards, each node with the ranks that are
 * there (after STAT: Arnold et al., Stack Trace Analysis for Large Scale Debugging, IPDPS 2007).
 *
 * A thread that was met at different places ends at the innermost function that all of them have in common: below that
 * it moves. Frames of the C library and of fvmpi are left out where a path ends; the call of MPI, or the system call,
 * stands in their place. */
#ifndef FV_LOOKS_TREE_H
#define FV_LOOKS_TREE_H

#include "profile/looks/looks.h"
#include "profile/profile.h"

struct fv_look_node {
    uint32_t parent, depth; /* parent: FV_NONE: none */
    uint32_t child, next;   /* its first child; its parent's next one. FV_NONE: none */
    const char *label;      /* "solve() at cg.c:212", "MPI_Recv", "read()" */
    const char *function;   /* "solve", "MPI_Recv", "read" */
    const char *file;       /* NULL: not known */
    uint32_t line;          /* 0: not known */
    int *ranks;             /* in MPI_COMM_WORLD, rising */
    size_t rank_count, rank_room;
    uint32_t threads;         /* that are there, or further in ... */
    uint32_t first_end, ends; /* ... and those of which this is the end: fv_look_tree.ends; 0: none */
    unsigned guilt;           /* of those: 2 is one that holds others up, 1 one of several that wait for each other */
    bool has_main;            /* ... and a main thread */
    bool is_of_program;       /* ... and not one of a library alone */
};
struct fv_look_tree {
    struct fv_arena arena;
    struct fv_look_node *nodes; /* a parent before its children */
    size_t count, room;
    uint32_t root;   /* the first one without a parent. Of siblings those come first that hold others up */
    uint32_t *ends;  /* indices in fv_looks.items, by the node that is their end */
    uint32_t *order; /* nodes that are an end: those that hold others up first, main threads next, then others of the
                      * program, then by ranks, most first */
    size_t order_count;
};
void fv_look_tree_init(struct fv_look_tree *out, const struct fv_profile *profile);
void fv_look_tree_release(struct fv_look_tree *tree);

/* How many ranks wait for this one, directly or through others, which does not wait itself; 0: none, it is in a
 * cycle, or it has gone on since the last look. */
uint32_t fv_looked_holds_up(const struct fv_model *model, uint32_t rank);
/* What there is to say of a thread beside its path: "runs: 3 of 3 looks differ below it", "file /tmp/a; the same in
 * all 3 looks", "not interrupted: it is stopped". Returns out. */
char *fv_looked_words(const struct fv_profile *profile, const struct fv_looks_thread *thread, char *out, size_t bytes);
/* "MPI_Recv <- halo() at a.c:12 <- main() at a.c:40". Returns out. */
char *fv_look_node_words(const struct fv_look_tree *tree, uint32_t node, char *out, size_t bytes);

#endif
