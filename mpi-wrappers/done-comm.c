/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators come and go. All ranks of a new one must describe it alike without exchanging a word
 * (rt/comm.h). Where the call is collective over a parent, its number among the parent's creation calls
 * does; every rank of the parent takes that number, also the one that is left out with MPI_COMM_NULL.
 * Where only the members call (a group, two sides of a bridge), their world ranks and the tag do,
 * with the number of times that the same members made one with the same tag. */
#include "done.h"
#include "functions.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void fv_done_creation(struct fv_call *call, struct fv_comm *comm)
{
    if (!comm) {
        fv_call_record(call, NULL, 0, 0);
        return;
    }
    uint32_t sequence = fv_comm_collective(comm);

    fv_event(call, COLLECTIVE, fv_comm_number(comm), fv_signed(FV_ROOT_NONE), 0, 0, sequence);
    fv_call_record(call, comm, 0, 0);
    fv_call_collective(call, sequence, FV_COLL_SENDS | FV_COLL_RECEIVES);
}

static void failed(struct fv_call *call)
{
    fv_call_record(call, NULL, 0, 0);
}

static void made(struct fv_call *call, const struct fv_comm *comm)
{
    if (fv_comm_number(comm))
        fv_event(call, COMM_NEW, fv_comm_number(comm));
}

/* ---- topologies: the grid, and neighbours, which the events of neighbourhood collectives do not name ---- */

static void tell_grid(const struct fv_comm *made, MPI_Comm comm)
{
    int dimensions = 0, *size;

    if (PMPI_Cartdim_get(comm, &dimensions) != MPI_SUCCESS || dimensions < 0 ||
        !(size = malloc(3 * (size_t)dimensions * sizeof(*size) + 1)))
        return;
    int *periodic = size + dimensions, *at = periodic + dimensions;
    if (PMPI_Cart_get(comm, dimensions, size, periodic, at) == MPI_SUCCESS)
        fv_comm_grid(made, (unsigned)dimensions, size, periodic);
    free(size);
}

/* By dimension, the lower before the upper one (MPI-4.0, 8.6), each to receive from and to send to. */
static void neighbours_in_grid(const struct fv_comm *made, MPI_Comm comm)
{
    int dimensions = 0, found = 0, *ranks;

    if (PMPI_Cartdim_get(comm, &dimensions) != MPI_SUCCESS || dimensions < 0 ||
        !(ranks = malloc(4 * (size_t)dimensions * sizeof(*ranks) + 1)))
        return;
    for (int i = 0; i < dimensions; i++) {
        int around[2] = { MPI_PROC_NULL, MPI_PROC_NULL };

        PMPI_Cart_shift(comm, i, 1, &around[0], &around[1]);
        for (int k = 0; k < 2; k++)
            if (around[k] != MPI_PROC_NULL)
                ranks[found++] = around[k];
    }
    memcpy(ranks + found, ranks, (size_t)found * sizeof(*ranks));
    fv_comm_neighbours(made, (unsigned)found, (unsigned)found, ranks);
    free(ranks);
}

static void neighbours_in_graph(const struct fv_comm *made, MPI_Comm comm)
{
    int n = 0, *ranks = NULL;

    if (PMPI_Graph_neighbors_count(comm, fv_comm_rank(made), &n) != MPI_SUCCESS || n < 0)
        return;
    if (fv_comm_neighbours_fit(2 * (uint64_t)n) && (ranks = malloc(2 * (size_t)n * sizeof(*ranks) + 1))) {
        if (PMPI_Graph_neighbors(comm, fv_comm_rank(made), n, ranks) == MPI_SUCCESS)
            memcpy(ranks + n, ranks, (size_t)n * sizeof(*ranks));
        else
            n = 0;
    }
    fv_comm_neighbours(made, (unsigned)n, (unsigned)n, ranks);
    free(ranks);
}

static void neighbours_distributed(const struct fv_comm *made, MPI_Comm comm)
{
    int in = 0, out = 0, weighted, *ranks = NULL;

    if (PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS || in < 0 || out < 0)
        return;
    size_t n = (size_t)in + (size_t)out;
    if (fv_comm_neighbours_fit(n) && (ranks = malloc(2 * n * sizeof(*ranks) + 1))) { /* and their weights */
        int *weights = ranks + n;

        if (PMPI_Dist_graph_neighbors(comm, in, ranks, weights, out, ranks + in, weights + in) != MPI_SUCCESS)
            in = out = 0;
    }
    fv_comm_neighbours(made, (unsigned)in, (unsigned)out, ranks);
    free(ranks);
}

/* `like` has the topology of `made`: itself, or what it is a duplicate of. */
static void tell_topology(const struct fv_comm *made, MPI_Comm like)
{
    int topology = MPI_UNDEFINED, saved = errno;

    if (!made || PMPI_Topo_test(like, &topology) != MPI_SUCCESS)
        return;
    if (topology == MPI_CART)
        tell_grid(made, like);
    if (fv_tracing() && topology == MPI_CART)
        neighbours_in_grid(made, like);
    else if (fv_tracing() && topology == MPI_GRAPH)
        neighbours_in_graph(made, like);
    else if (fv_tracing() && topology == MPI_DIST_GRAPH)
        neighbours_distributed(made, like);
    errno = saved;
}

/* ---- children of a parent ---- */

static struct fv_comm *child(MPI_Comm comm, struct fv_comm *parent, uint64_t number)
{
    struct fv_members members;
    struct fv_comm *out = NULL;

    if (fv_members_init(comm, &members))
        out = fv_comm_register(comm, &members, parent, number, 0);
    fv_members_release(&members);
    return out;
}

/* A duplicate has "the same group or groups" (MPI-4.1, 7.4.2), in their order: nobody need be asked. */
static bool is_dup(const struct fv_call *call)
{
    return call->function == FV_FN_MPI_Comm_dup || call->function == FV_FN_MPI_Comm_dup_with_info;
}

void fv_done_newcomm(struct fv_call *call, int result, MPI_Comm parent, const MPI_Comm *newcomm)
{
    if (result != MPI_SUCCESS) {
        failed(call);
        return;
    }
    struct fv_comm *p = fv_comm_get(fv_handle(parent)), *new = NULL;
    uint64_t number = fv_comm_next_child(p);

    if (*newcomm != MPI_COMM_NULL && p && is_dup(call))
        new = fv_comm_dup(fv_handle(*newcomm), p, number);
    else if (*newcomm != MPI_COMM_NULL)
        new = child(*newcomm, p, number);
    made(call, new);
    tell_topology(new, new &&is_dup(call) ? parent : *newcomm);
    fv_done_creation(call, p);
}

/* The new communicator may not be asked anything before its request completes, but its members are
 * those of the old one. Its handle is known already in the MPIs at hand; in one where it is not, the
 * communicator is described when it is first used, under a number of this process alone. */
void fv_done_idup(struct fv_call *call, int result, MPI_Comm comm, const MPI_Comm *newcomm)
{
    if (result != MPI_SUCCESS) {
        failed(call);
        return;
    }
    struct fv_comm *parent = fv_comm_get(fv_handle(comm));
    uint64_t number = fv_comm_next_child(parent);

    if (*newcomm != MPI_COMM_NULL && parent) {
        struct fv_comm *new = fv_comm_dup(fv_handle(*newcomm), parent, number);

        made(call, new);
        tell_topology(new, comm);
    }
    if (parent)
        fv_comm_collective(parent);
    fv_call_record(call, parent, 0, 0);
}

/* ---- made by their members alone ---- */

static pthread_mutex_t repeats_lock = PTHREAD_MUTEX_INITIALIZER;
static struct repeat {
    uint64_t salt, count;
} * repeats;
static size_t repeats_used, repeats_size;

/* How often a communicator with this salt was made before. The members made them all together, in the
 * same order, so they count alike. */
static uint64_t next_repeat(uint64_t salt)
{
    uint64_t count = 0;
    size_t i = 0;

    pthread_mutex_lock(&repeats_lock);
    while (i < repeats_used && repeats[i].salt != salt)
        i++;
    if (i == repeats_size) {
        size_t size = repeats_size ? 2 * repeats_size : 16;
        struct repeat *more = realloc(repeats, size * sizeof(*more));

        if (more) {
            repeats = more;
            repeats_size = size;
        }
    }
    if (i < repeats_size) {
        if (i == repeats_used)
            repeats[repeats_used++] = (struct repeat){ salt, 0 };
        count = repeats[i].count++;
    }
    pthread_mutex_unlock(&repeats_lock);
    return count;
}

#define SHRUNK (UINT64_C(2) << 32) /* in place of a tag, which is smaller */

static void by_members(struct fv_call *call, MPI_Comm comm, struct fv_comm *parent, uint64_t discriminator)
{
    struct fv_members members;

    if (fv_members_init(comm, &members)) {
        uint64_t salt = fv_mix2(fv_members_hash(&members), discriminator);

        made(call, fv_comm_register(comm, &members, parent, next_repeat(salt), salt));
    }
    fv_members_release(&members);
}

/* Not collective over comm: it takes no number of it, neither as a child nor as a collective. */
void fv_done_newcomm_group(struct fv_call *call, int result, MPI_Comm comm, int tag, const MPI_Comm *newcomm)
{
    struct fv_comm *parent = result == MPI_SUCCESS ? fv_comm_get(fv_handle(comm)) : NULL;

    if (result == MPI_SUCCESS && *newcomm != MPI_COMM_NULL)
        by_members(call, *newcomm, parent, (uint32_t)tag);
    fv_call_record(call, parent, 0, 0);
}

/* The survivors' (fault tolerance). What they called on the parent before may have failed on some of them
 * alone, so that its numbers are not the same on all. */
void fv_done_shrink(struct fv_call *call, int result, MPI_Comm comm, const MPI_Comm *newcomm)
{
    struct fv_comm *parent = result == MPI_SUCCESS ? fv_comm_get(fv_handle(comm)) : NULL;

    if (result == MPI_SUCCESS && *newcomm != MPI_COMM_NULL)
        by_members(call, *newcomm, parent, SHRUNK);
    fv_call_record(call, parent, 0, 0);
}

void fv_done_newcomm_tagged(struct fv_call *call, int result, const char *stringtag, const MPI_Comm *newcomm)
{
    uint64_t hash = 5;

    if (result == MPI_SUCCESS && *newcomm != MPI_COMM_NULL) {
        for (const char *c = stringtag; *c; c++)
            hash = fv_mix2(hash, (unsigned char)*c);
        by_members(call, *newcomm, fv_comm_world(), hash);
    }
    fv_call_record(call, NULL, 0, 0);
}

/* The parent is the world, because the two sides share no other that both know. */
void fv_done_newcomm_bridge(struct fv_call *call, int result, MPI_Comm local, int tag, const MPI_Comm *newcomm)
{
    if (result != MPI_SUCCESS) {
        failed(call);
        return;
    }
    if (*newcomm != MPI_COMM_NULL)
        by_members(call, *newcomm, fv_comm_world(), (uint32_t)tag);
    fv_done_creation(call, fv_comm_get(fv_handle(local)));
}

/* MPI_Comm_spawn, accept and connect. Processes of another world are unknown: then the communicator
 * is told by our side alone, and the other side's report, which is another experiment, tells its own. */
void fv_done_newcomm_remote(struct fv_call *call, int result, MPI_Comm local, const MPI_Comm *newcomm)
{
    struct fv_members members;

    if (result != MPI_SUCCESS) {
        failed(call);
        return;
    }
    struct fv_comm *parent = fv_comm_get(fv_handle(local));
    uint64_t number = fv_comm_next_child(parent);

    if (*newcomm != MPI_COMM_NULL && fv_members_init(*newcomm, &members)) {
        uint64_t salt = fv_members_hash(&members);

        if (fv_members_in_world(&members))
            made(call, fv_comm_register(*newcomm, &members, fv_comm_world(), next_repeat(salt), salt));
        else
            made(call, fv_comm_register(*newcomm, &members, parent, number, 0));
        fv_members_release(&members);
    }
    fv_done_creation(call, parent);
}

void fv_done_newcomm_join(struct fv_call *call, int result, const MPI_Comm *newcomm)
{
    fv_call_record(call, result == MPI_SUCCESS ? fv_comm_get(fv_handle(*newcomm)) : NULL, 0, 0);
}

/* ---- the end, and names ---- */

void fv_done_comm_free(struct fv_call *call, int result, struct fv_comm *known)
{
    struct fv_comm *comm = result == MPI_SUCCESS && fv_comm_freed(known, call->begin) ? known : NULL;

    if (comm)
        fv_event(call, COMM_GONE, fv_comm_number(comm));
    fv_call_record(call, comm, 0, 0);
}

void fv_done_comm_set_name(struct fv_call *call, int result, MPI_Comm comm, const char *name)
{
    if (result == MPI_SUCCESS && fv_comm_get(fv_handle(comm)))
        fv_comm_named(fv_handle(comm), name);
    fv_call_record(call, NULL, 0, 0);
}
