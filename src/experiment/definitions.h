/* SPDX-License-Identifier: BSD-3-Clause */
/* What rank files define besides call paths (call_tree.h): functions and communicators. The profile and the
 * merge unify them over ranks by the same keys. Items begin with their key, so that FV_INTERN_NAME() finds a
 * function and FV_INTERN() a communicator. */
#ifndef FV_DEFINITIONS_H
#define FV_DEFINITIONS_H

#include "tool/vec.h"
#include "trace/reader.h"

/* ---- functions: the same by their names ---- */

enum { FV_FUNCTION_NAME_BYTES = sizeof(((struct fv_function_record *)0)->name) };

/* A copy of a record, whose name ends, of a class and a rule that are known. False: it has no name. */
bool fv_def_function_read(const void *record, struct fv_function_record *out);
/* Stands for the name of one that no process has defined: it was killed in its first call. */
void fv_def_function_unnamed(uint64_t id, char name[FV_FUNCTION_NAME_BYTES]);

/* ---- communicators ---- */

/* The rank that first told of a thing, and its number there: order of first use. */
struct fv_origin {
    uint32_t rank, number;
};
/* Which rank told first. */
struct fv_origin fv_origin_earlier(struct fv_origin a, struct fv_origin b);

enum { FV_NOBODY = -1 };
/* MPI_COMM_SELF of all ranks is one. One that was met without its creation (FV_COMM_INFERRED) is each rank's
 * own. */
struct fv_def_comm {
    uint64_t uid;
    int64_t owner;    /* world rank, of one that only this rank knows; else FV_NOBODY */
    uint64_t members; /* of both groups. These three are its key */
    uint64_t parent;  /* uid; 0 none */
    uint32_t flags;   /* enum fv_comm_flags */
    uint32_t size, remote_size;
    const char *name;   /* of the first rank that named it, */
    uint32_t name_rank; /* ... which is this */
    const struct fv_rank_run
        *runs; /* world ranks: local group, then the remote one, as the first rank has it that lists them */
    uint32_t run_count, remote_run_count;
    uint32_t lister;                      /* that rank */
    const struct fv_grid_dimension *grid; /* of a Cartesian topology; count 0: none */
    uint32_t grid_dimensions;
    struct fv_origin origin;
    uint32_t created; /* the merge's: ranks whose trace has the creation */
};
#define FV_DEF_COMM_KEY(c) ((const uint64_t[]){ (c)->uid, (uint64_t)(c)->owner, (c)->members })

/* Are its members known? Not if the files of all ranks that list them are missing. */
static inline bool fv_def_comm_is_listed(const struct fv_def_comm *comm)
{
    return comm->run_count || !comm->size;
}

/* The place of a world rank in runs, from 0; FV_NONE: it is not in them. */
uint32_t fv_rank_runs_find(const struct fv_rank_run *runs, uint32_t count, int64_t rank);
/* Adds a world rank; there is room for one run more. */
void fv_rank_runs_add(struct fv_rank_run *runs, size_t *count, int32_t rank);

/* What a record of a world rank says; the runs stay the record's. `name` is room for the name. */
enum { FV_COMM_NAME_BYTES = sizeof(((struct fv_comm_record *)0)->name) + 1 };
struct fv_def_comm fv_def_comm_of(const struct fv_comm_record *record, uint32_t world_rank,
                                  char name[FV_COMM_NAME_BYTES]);
/* Adds what someone tells of a communicator to what is known of it, which may be its key alone. Strings and
 * runs are copied into the arena. The result does not depend on the order in which it is told. */
void fv_def_comm_join(struct fv_arena *arena, struct fv_def_comm *known, const struct fv_def_comm *told);
/* The grid of a communicator, of which all its ranks tell the same: copied into the arena. One that has not as many
 * places as ranks is damage, and left out. */
void fv_def_comm_set_grid(struct fv_arena *arena, struct fv_def_comm *comm, const struct fv_grid *grid);
/* Coordinates of a rank in it: `at` has room for each dimension. */
void fv_def_comm_coordinates(const struct fv_def_comm *comm, uint32_t rank, uint32_t *at);

#endif
