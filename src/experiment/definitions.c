/* SPDX-License-Identifier: BSD-3-Clause */
/* See definitions.h. */
#include "experiment/definitions.h"

#include <stdio.h>

bool fv_def_function_read(const void *record, struct fv_function_record *out)
{
    memcpy(out, record, sizeof(*out));
    out->name[sizeof(out->name) - 1] = '\0';
    if (out->class >= FV_CLASS_COUNT)
        out->class = FV_CLASS_OTHER;
    if (out->wait > FV_RULE_P2P)
        out->wait = FV_RULE_NONE;
    return out->name[0];
}

void fv_def_function_unnamed(uint64_t id, char name[FV_FUNCTION_NAME_BYTES])
{
    snprintf(name, FV_FUNCTION_NAME_BYTES, "(function %llu)", (unsigned long long)id);
}

struct fv_origin fv_origin_earlier(struct fv_origin a, struct fv_origin b)
{
    return a.rank < b.rank || (a.rank == b.rank && a.number <= b.number) ? a : b;
}

/* MPI_COMM_SELF has a uid of its own on each rank, as in src/rt/comm.c; that of the first stands for all. */
static uint64_t uid_of_self(uint32_t world_rank)
{
    return fv_mix2(2, world_rank);
}

void fv_rank_runs_add(struct fv_rank_run *runs, size_t *count, int32_t rank)
{
    struct fv_rank_run *last = *count ? &runs[*count - 1] : NULL;

    if (last && last->count == 1)
        last->stride = rank - last->first;
    if (last && rank == last->first + last->stride * last->count) {
        last->count++;
        return;
    }
    if (last && last->count == 1)
        last->stride = 1;
    runs[(*count)++] = (struct fv_rank_run){ rank, 1, 1 };
}

uint32_t fv_rank_runs_find(const struct fv_rank_run *runs, uint32_t count, int64_t rank)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t away = rank - runs[i].first, at = runs[i].stride ? away / runs[i].stride : 0;

        if (at >= 0 && at < runs[i].count && at * runs[i].stride == away)
            return before + (uint32_t)at;
        before += (uint32_t)runs[i].count;
    }
    return FV_NONE;
}

struct fv_def_comm fv_def_comm_of(const struct fv_comm_record *r, uint32_t world_rank, char name[FV_COMM_NAME_BYTES])
{
    bool self = r->flags & FV_COMM_SELF, inferred = r->flags & FV_COMM_INFERRED;

    memcpy(name, r->name, sizeof(r->name));
    name[sizeof(r->name)] = '\0';
    return (struct fv_def_comm){
        .uid = self ? uid_of_self(0) : r->uid,
        .owner = inferred && !self ? (int64_t)world_rank : FV_NOBODY,
        .members = (uint64_t)(uint32_t)r->size + (uint32_t)r->remote_size,
        .parent = r->parent == uid_of_self(world_rank) ? uid_of_self(0) : r->parent,
        .flags = r->flags & ~(uint32_t)FV_COMM_UNLISTED,
        .size = (uint32_t)r->size,
        .remote_size = (uint32_t)r->remote_size,
        .name = name[0]                    ? name
                : r->flags & FV_COMM_WORLD ? "MPI_COMM_WORLD"
                : self                     ? "MPI_COMM_SELF"
                                           : "",
        .name_rank = world_rank,
        .runs = r->run,
        .run_count = r->runs,
        .remote_run_count = r->remote_runs,
        .lister = world_rank,
        .origin = { world_rank, r->id },
    };
}

static void take_runs(struct fv_arena *arena, struct fv_def_comm *known, const struct fv_def_comm *told)
{
    size_t count = (size_t)told->run_count + told->remote_run_count;
    struct fv_rank_run *runs = fv_arena_take(arena, count * sizeof(*runs));

    if (count)
        memcpy(runs, told->runs, count * sizeof(*runs));
    known->runs = runs;
    known->run_count = told->run_count;
    known->remote_run_count = told->remote_run_count;
    known->lister = told->lister;
    known->size = told->size;
    known->remote_size = told->remote_size;
}

static void take_grid(struct fv_arena *arena, struct fv_def_comm *known, const struct fv_grid_dimension *grid,
                      uint32_t dimensions)
{
    struct fv_grid_dimension *own = fv_arena_take(arena, dimensions * sizeof(*own));

    memcpy(own, grid, dimensions * sizeof(*own));
    known->grid = own;
    known->grid_dimensions = dimensions;
}

void fv_def_comm_join(struct fv_arena *arena, struct fv_def_comm *known, const struct fv_def_comm *told)
{
    bool new = !known->runs, knows = fv_def_comm_is_listed(known), knows_told = fv_def_comm_is_listed(told);

    /* Which group is the local one depends on who tells; which runs are those of MPI_COMM_SELF as well. */
    if (new || knows < knows_told || (knows == knows_told && told->lister < known->lister))
        take_runs(arena, known, told);
    known->origin = new ? told->origin : fv_origin_earlier(known->origin, told->origin);
    known->flags |= told->flags;
    known->created += told->created;
    if (told->grid_dimensions && !known->grid_dimensions)
        take_grid(arena, known, told->grid, told->grid_dimensions);
    if (!known->parent)
        known->parent = told->parent;
    if (!known->name)
        known->name = "";
    if (told->name[0] && (!known->name[0] || told->name_rank < known->name_rank)) { /* ranks may differ */
        known->name = fv_arena_string(arena, told->name);
        known->name_rank = told->name_rank;
    }
}

void fv_def_comm_set_grid(struct fv_arena *arena, struct fv_def_comm *comm, const struct fv_grid *grid)
{
    uint64_t places = 1;

    for (uint32_t i = 0; i < grid->dimensions && places <= comm->size; i++)
        places *= grid->dimension[i].size;
    if (comm->grid_dimensions || !grid->dimensions || !comm->size || places != comm->size)
        return;
    take_grid(arena, comm, grid->dimension, grid->dimensions);
}

void fv_def_comm_coordinates(const struct fv_def_comm *comm, uint32_t rank, uint32_t *at)
{
    for (uint32_t i = comm->grid_dimensions; i--; rank /= comm->grid[i].size)
        at[i] = rank % comm->grid[i].size;
}
