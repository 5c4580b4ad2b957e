/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths of the threads of an OpenMP team. The run-time library begins a worker's stack: its path knows the
 * function that the compiler made of a region, or of a task, but not who forked the team. The forking thread runs the
 * same function, below the program's. So a worker's path is put together: of the fork's, as found in the same process,
 * and of its own from that function on. What all threads of a team do in one place is one node then, of the profile and
 * of an archive.
 *
 *     main, GOMP_parallel, main._omp_fn.0, solve              the fork's
 *     start_thread, gomp_thread_start, main._omp_fn.0, solve  a worker's: becomes the one above
 *
 * Where a function was forked from several places, its workers' path is what these have in common. Where its fork is
 * not known, or the file that tells where functions begin is not there, a path stays as it is.
 *
 * Functions are told apart by where they begin, by the table that exceptions need: it also stays in stripped
 * programs. */
#ifndef FV_FORKS_H
#define FV_FORKS_H

#include "experiment/call_tree.h"

struct fv_forks;
/* Of a tree, one rank file after the other. */
struct fv_forks *fv_forks_new(struct fv_call_tree *tree);
void fv_forks_free(struct fv_forks *forks); /* NULL is nothing */
/* Reads the call paths of a file, before any of them is added to the tree. */
void fv_forks_read(struct fv_forks *forks, const struct fv_reader *reader, const struct fv_numbers *modules);

/* The node below which a path's innermost frame stands, if a worker's part of a team begins there; FV_NONE: below its
 * parent. Of FV_CHUNK_SAMPLE_PATHS of a thread, or of FV_CHUNK_PATHS: FV_NO_THREAD. May add to the tree. */
uint32_t fv_forks_parent(struct fv_forks *forks, uint32_t thread, uint64_t path);

#endif
