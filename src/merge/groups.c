/* SPDX-License-Identifier: BSD-3-Clause */
/* See groups.h. */
#include "merge/groups.h"

#include <stdlib.h>
#include <string.h>

/* Member i of a run. */
static uint32_t at_run(const struct fv_rank_run *run, uint32_t i)
{
    return (uint32_t)(run->first + (int32_t)i * run->stride);
}

static void init_group(struct fv_group *g, const struct fv_rank_run *runs, uint32_t count,
                       const uint32_t *rank_of_world, uint32_t world_size)
{
    g->runs = fv_xcalloc((size_t)count + 1, sizeof(*g->runs));
    g->run_count = count;
    for (uint32_t i = 0; i < count; i++) {
        g->runs[i] = (struct fv_member_run){ g->size, runs[i] };
        g->size += (uint32_t)runs[i].count;
        for (uint32_t k = 0; k < (uint32_t)runs[i].count; k++) {
            uint32_t world = at_run(&runs[i], k);

            g->traced += world < world_size && rank_of_world[world] != FV_NONE;
        }
    }
}

void fv_groups_init(struct fv_groups *g, const struct fv_defs *d)
{
    *g = (struct fv_groups){ .defs = d };
    g->rank_of_world = fv_xcalloc((size_t)d->world_size + 1, sizeof(uint32_t));
    memset(g->rank_of_world, 0xff, ((size_t)d->world_size + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < d->rank_count; i++)
        if (d->ranks[i].traced)
            g->rank_of_world[d->ranks[i].world_rank] = i;
    g->local = fv_xcalloc(d->comm_count + 1, sizeof(*g->local));
    g->remote = fv_xcalloc(d->comm_count + 1, sizeof(*g->remote));
    for (uint32_t i = 0; i < d->comm_count; i++) {
        const struct fv_def_comm *c = &d->comms[i];

        init_group(&g->local[i], c->runs, c->run_count, g->rank_of_world, d->world_size);
        init_group(&g->remote[i], c->runs + c->run_count, c->remote_run_count, g->rank_of_world, d->world_size);
    }
}

void fv_groups_release(struct fv_groups *g)
{
    for (uint32_t i = 0; g->local && i < g->defs->comm_count; i++) {
        free(g->local[i].runs);
        free(g->remote[i].runs);
    }
    free(g->local);
    free(g->remote);
    free(g->rank_of_world);
    *g = (struct fv_groups){ 0 };
}

static uint32_t world_of(const struct fv_group *g, uint32_t rank)
{
    uint32_t low = 0, high = g->run_count;

    if (rank >= g->size)
        return FV_NONE;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;

        if (g->runs[middle].before <= rank)
            low = middle;
        else
            high = middle;
    }
    return at_run(&g->runs[low].run, rank - g->runs[low].before);
}

/* One that only its rank knows cannot be compared. */
static bool is_common(const struct fv_def_comm *c)
{
    return c->owner == FV_NOBODY || c->size + c->remote_size < 2;
}

uint32_t fv_groups_peer(const struct fv_groups *g, uint32_t comm, uint32_t own_world, uint32_t peer)
{
    const struct fv_def_comm *c = &g->defs->comms[comm];

    if (c->flags & FV_COMM_SELF)
        return own_world;
    if (!is_common(c))
        return FV_NONE;
    bool other_side = c->remote_size && fv_rank_runs_find(c->runs, c->run_count, own_world) != FV_NONE;
    uint32_t world = world_of(other_side ? &g->remote[comm] : &g->local[comm], peer);
    return world < g->defs->world_size ? world : FV_NONE;
}

uint32_t fv_groups_rank(const struct fv_groups *g, uint32_t comm, uint32_t world)
{
    const struct fv_def_comm *c = &g->defs->comms[comm];
    uint32_t rank = fv_rank_runs_find(c->runs, c->run_count, world);

    return rank != FV_NONE ? rank : fv_rank_runs_find(c->runs + c->run_count, c->remote_run_count, world);
}

uint32_t fv_groups_traced(const struct fv_groups *g, uint32_t comm)
{
    const struct fv_def_comm *c = &g->defs->comms[comm];

    return c->flags & FV_COMM_SELF || !is_common(c) ? 1 : g->local[comm].traced + g->remote[comm].traced;
}
