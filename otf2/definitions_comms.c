/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators in an archive's global definitions: their groups, the windows and grids on them, and the threads of
 * each rank. */
#include "otf2/definitions_state.h"
#include "merge/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_group_of(struct writing *w, uint32_t id, OTF2_Paradigm paradigm, OTF2_GroupType type,
                           const uint64_t *members, uint32_t count)
{
    check(w,
          OTF2_GlobalDefWriter_WriteGroup(w->w, id, text(w, ""), type, paradigm, OTF2_GROUP_FLAG_NONE, count, members));
    w->groups = id + 1;
}

static void write_group(struct writing *w, uint32_t id, OTF2_GroupType type, const uint64_t *members, uint32_t count)
{
    write_group_of(w, id, OTF2_PARADIGM_MPI, type, members, count);
}

static void write_first_groups(struct writing *w)
{
    uint64_t *members = fv_xcalloc((size_t)w->d->world_size + 1, sizeof(*members));

    for (uint32_t i = 0, k = 0; i < w->d->world_size; i++) { /* a rank's first location has its number */
        bool here = k < w->d->rank_count && w->d->ranks[k].world_rank == i;

        members[i] = here ? i : w->absent;
        k += here;
    }
    write_group(w, FV_GROUP_LOCATIONS, OTF2_GROUP_TYPE_COMM_LOCATIONS, members, w->d->world_size);
    write_group(w, FV_GROUP_SELF, OTF2_GROUP_TYPE_COMM_SELF, NULL, 0);
    for (uint32_t i = 0; i < w->d->group_count; i++) {
        const struct fv_def_group *g = &w->d->groups[i];

        for (uint32_t k = 0; k < g->count && k < w->d->world_size; k++)
            members[k] = g->ranks[k];
        write_group(w, FV_GROUP_FIRST_RMA + i, OTF2_GROUP_TYPE_COMM_GROUP, members,
                    g->count < w->d->world_size ? g->count : w->d->world_size);
    }
    free(members);
}

static bool same_runs(const struct fv_rank_run *a, uint32_t a_count, const struct fv_rank_run *b, uint32_t b_count)
{
    return a_count == b_count && !memcmp(a, b, a_count * sizeof(*a));
}

/* One of the two groups of a communicator; equal ones are one definition. */
static const struct fv_rank_run *side_of(const struct fv_def_comm *c, unsigned side, uint32_t *count)
{
    *count = side ? c->remote_run_count : c->run_count;
    return c->runs + (side ? c->run_count : 0);
}

static uint32_t find_group(struct writing *w, struct fv_index *index, uint32_t comm, unsigned side)
{
    uint32_t count, other;
    const struct fv_rank_run *runs = side_of(&w->d->comms[comm], side, &count);
    uint64_t hash = fv_hash_bytes(runs, count * sizeof(*runs));
    struct fv_index_probe p = fv_index_probe(index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        const struct fv_rank_run *known = side_of(&w->d->comms[i / 2], i % 2, &other);

        if (same_runs(runs, count, known, other))
            return w->comm_groups[i % 2][i / 2];
    }
    const struct fv_def_comm *c = &w->d->comms[comm];
    uint32_t size = side ? c->remote_size : c->size, n = 0;
    uint64_t *members = fv_xcalloc((size_t)size + 1, sizeof(*members));
    for (uint32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < runs[i].count && n < size; k++)
            members[n++] = (uint64_t)(runs[i].first + (int64_t)k * runs[i].stride);
    fv_index_add(index, hash, comm * 2 + side);
    write_group(w, w->groups, OTF2_GROUP_TYPE_COMM_GROUP, members, n);
    free(members);
    return w->groups - 1;
}

static void write_groups(struct writing *w)
{
    struct fv_index index = { 0 };

    for (unsigned side = 0; side < 2; side++)
        w->comm_groups[side] = fv_xcalloc(w->d->comm_count + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < w->d->comm_count; i++) {
        const struct fv_def_comm *c = &w->d->comms[i];

        if (c->flags & FV_COMM_SELF) {
            w->comm_groups[0][i] = FV_GROUP_SELF;
            continue;
        }
        w->comm_groups[0][i] = find_group(w, &index, i, 0);
        if (c->remote_size)
            w->comm_groups[1][i] = find_group(w, &index, i, 1);
    }
    fv_index_release(&index);
}

static OTF2_CommRef parent_of(const struct writing *w, const struct fv_def_comm *c, struct fv_index *uids)
{
    struct fv_index_probe p = fv_index_probe(uids, fv_mix(c->parent));

    for (uint32_t i; c->parent && (i = fv_index_next(&p)) != FV_NONE;)
        if (w->d->comms[i].uid == c->parent && &w->d->comms[i] != c)
            return i;
    return OTF2_UNDEFINED_COMM;
}

static OTF2_StringRef comm_name(struct writing *w, const struct fv_def_comm *c)
{
    char name[128];

    if (c->flags & FV_COMM_WORLD)
        return text(w, "MPI_COMM_WORLD"); /* by which viewers know it, whatever the program calls it */
    if (c->owner == FV_NOBODY)
        return text(w, c->name);
    snprintf(name, sizeof(name), "%s%s(known to rank %d alone)", c->name, c->name[0] ? " " : "", (int)c->owner);
    return text(w, name);
}

static void write_comms(struct writing *w)
{
    struct fv_index uids = { 0 };

    for (uint32_t i = 0; i < w->d->comm_count; i++)
        if (w->d->comms[i].owner == FV_NOBODY)
            fv_index_add(&uids, fv_mix(w->d->comms[i].uid), i);
    for (uint32_t i = 0; i < w->d->comm_count; i++) {
        const struct fv_def_comm *c = &w->d->comms[i];
        OTF2_CommFlag flags = fv_def_comm_is_seen(c) ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS : OTF2_COMM_FLAG_NONE;
        OTF2_CommRef parent = parent_of(w, c, &uids);

        if (c->remote_size)
            check(w, OTF2_GlobalDefWriter_WriteInterComm(w->w, i, comm_name(w, c), w->comm_groups[0][i],
                                                         w->comm_groups[1][i], parent, flags));
        else
            check(w, OTF2_GlobalDefWriter_WriteComm(w->w, i, comm_name(w, c), w->comm_groups[0][i], parent, flags));
    }
    fv_index_release(&uids);
    for (uint32_t i = 0; i < w->d->window_count; i++)
        check(w, OTF2_GlobalDefWriter_WriteRmaWin(w->w, i, text(w, ""), w->d->windows[i].comm,
                                                  fv_def_window_is_seen(w->d, &w->d->windows[i])
                                                      ? OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS
                                                      : OTF2_RMA_WIN_FLAG_NONE));
}

static void write_grid(struct writing *w, uint32_t comm, OTF2_CartTopologyRef topology, OTF2_CartDimensionRef first)
{
    const struct fv_def_comm *c = &w->d->comms[comm];
    OTF2_CartDimensionRef dimensions[UINT8_MAX];
    uint32_t at[UINT8_MAX];
    char name[24];

    for (uint32_t i = 0; i < c->grid_dimensions; i++) {
        snprintf(name, sizeof(name), "dimension %u", i);
        dimensions[i] = first + i;
        check(w, OTF2_GlobalDefWriter_WriteCartDimension(w->w, first + i, text(w, name), c->grid[i].size,
                                                         c->grid[i].periodic ? OTF2_CART_PERIODIC_TRUE
                                                                             : OTF2_CART_PERIODIC_FALSE));
    }
    check(w, OTF2_GlobalDefWriter_WriteCartTopology(w->w, topology, comm_name(w, c), comm, (uint8_t)c->grid_dimensions,
                                                    dimensions));
    for (uint32_t rank = 0; rank < c->size; rank++) {
        fv_def_comm_coordinates(c, rank, at);
        check(w, OTF2_GlobalDefWriter_WriteCartCoordinate(w->w, topology, rank, (uint8_t)c->grid_dimensions, at));
    }
}

static void write_grids(struct writing *w)
{
    uint32_t topologies = 0, dimensions = 0;

    for (uint32_t i = 0; i < w->d->comm_count; i++) {
        uint32_t count = w->d->comms[i].grid_dimensions;

        if (!count || count > UINT8_MAX) /* more than OTF2 can tell */
            continue;
        write_grid(w, i, topologies++, dimensions);
        dimensions += count;
    }
}

/* The threads of each rank are a communicator, too: their creations are counted there. */
static void write_thread_comms(struct writing *w, OTF2_Paradigm paradigm, const char *of, uint32_t first)
{
    uint64_t *members = fv_xcalloc(w->location_count + 1, sizeof(*members));
    char name[64];

    for (size_t i = 0; i < w->location_count; i++)
        members[i] = w->locations[i].location;
    write_group_of(w, w->groups, paradigm, OTF2_GROUP_TYPE_COMM_LOCATIONS, members, (uint32_t)w->location_count);
    for (uint32_t rank = 0; rank < w->d->rank_count; rank++) {
        uint32_t count = 0;

        for (size_t i = 0; i < w->location_count; i++)
            if (w->locations[i].rank == w->d->ranks[rank].world_rank)
                members[count++] = i;
        write_group_of(w, w->groups, paradigm, OTF2_GROUP_TYPE_COMM_GROUP, members, count);
        snprintf(name, sizeof(name), "%s of MPI Rank %u", of, w->d->ranks[rank].world_rank);
        check(w, OTF2_GlobalDefWriter_WriteComm(w->w, first + rank, text(w, name), w->groups - 1, OTF2_UNDEFINED_COMM,
                                                OTF2_COMM_FLAG_NONE));
    }
    free(members);
}

void fv_writing_comms(struct writing *w)
{
    write_first_groups(w);
    write_groups(w);
    write_comms(w);
    write_grids(w);
    if (fv_defs_has_threads(w->d))
        write_thread_comms(w, OTF2_PARADIGM_PTHREAD, "Threads", fv_thread_comm(w->d, 0));
    if (fv_defs_has_omp(w->d))
        write_thread_comms(w, OTF2_PARADIGM_OPENMP, "OpenMP teams", fv_team_comm(w->d, 0));
}
