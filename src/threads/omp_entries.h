/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of the parallel regions that a thread forks: an entry for each function and call path, with
 * the records in the rank file that are added up there, and a part for each thread of the team. Written by
 * the forking thread alone, outside of the region. */
#ifndef FV_OMP_ENTRIES_H
#define FV_OMP_ENTRIES_H

#include "rt/map.h"
#include "threads/omp.h"

/* What a thread did in the regions of an entry. */
struct fv_omp_part {
    struct fv_omp_part *next; /* by number; of one number, in the order of their first use */
    struct fv_omp_thread *record;
    struct fv_sync_record *join; /* its waits at the region's end; NULL: no room */
    uint32_t number, thread;
};

struct fv_omp_entry {
    fv_omp_body *body;
    uint32_t path;
    struct fv_omp_region *record;
    struct fv_omp_part *parts;
    struct fv_omp_entry *next; /* of the same path */
};

/* A thread's own. */
struct fv_omp {
    struct fv_map paths; /* of entries, which are so many: */
    uint32_t count;
    struct fv_tail regions, threads;
    struct fv_omp_team *unused;
    struct fv_omp_entry *rest; /* of regions that there is no room for */
    char *slab;
    size_t slab_left;
};

/* The region's entry, made when new, or the one of all that there is no room for. NULL: not even that, which
 * is counted. */
struct fv_omp_entry *fv_omp_entry_of(struct fv_sync *s, fv_omp_body *body, struct fv_call_place site);

/* The call path of a construct: of most it is known, without a lock or a system call. */
uint32_t fv_omp_path(struct fv_sync *s, struct fv_call_place site);

/* A thread's part by its number in the team; s is the forking thread's. `before`: of the number before, where
 * it most likely follows; NULL: the list's begin. `thread` may be FV_NO_THREAD. NULL: no room. */
struct fv_omp_part *fv_omp_part_of(struct fv_sync *s, struct fv_omp_entry *entry, struct fv_omp_part *before,
                                   uint32_t number, uint32_t thread, struct fv_call_place site);

#endif
