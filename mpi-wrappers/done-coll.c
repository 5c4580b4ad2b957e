/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives: bytes in the significant send and receive buffers of this rank, as chapter 6 of MPI-4.0
 * defines them. MPI_IN_PLACE counts what the same call with separate buffers would: the data is
 * contributed (or delivered) all the same, and reports would otherwise change with the idiom. On an
 * intercommunicator a rank exchanges with the remote group; in rooted operations the root passes
 * MPI_ROOT and its peers MPI_PROC_NULL, for whom no argument but root is significant (section 6.2.3).
 *
 * The network may move more or less; what an algorithm does is not what the program asked for. */
#include "done.h"

static bool in_place(const struct fv_coll_buffer *part)
{
    return part->buffer == MPI_IN_PLACE;
}

static MPI_Count count_at(const struct fv_coll_buffer *part, int rank)
{
    return part->counts ? part->counts[rank] : part->large_counts ? part->large_counts[rank] : part->count;
}

static MPI_Datatype type_at(const struct fv_coll_buffer *part, int rank)
{
#ifndef FV_STANDARD_ABI /* which leaves Fortran's handles to its Fortran library */
    if (part->f_types)
        return MPI_Type_f2c(part->f_types[rank]);
#endif
    return part->types ? part->types[rank] : part->type;
}

/* What goes to or comes from one rank. */
static uint64_t bytes_at(const struct fv_coll_buffer *part, int rank)
{
    MPI_Count count = count_at(part, rank);

    return count > 0 ? fv_bytes(count, type_at(part, rank)) : 0;
}

/* ... and all of ranks 0 .. n-1. */
static uint64_t bytes_of(const struct fv_coll_buffer *part, int n)
{
    uint64_t sum = 0;

    if (n <= 0)
        return 0;
    if (!part->counts && !part->large_counts)
        return (uint64_t)n * fv_bytes(part->count, part->type);
    if (part->types || part->f_types) {
        for (int i = 0; i < n; i++)
            sum += bytes_at(part, i);
        return sum;
    }
    for (int i = 0; i < n; i++)
        sum += (uint64_t)count_at(part, i);
    return sum ? sum * fv_type_bytes(part->type) : 0;
}

/* How this rank stands in the call. */
struct place {
    struct fv_comm *comm; /* NULL: the call failed, or the communicator is unknown */
    union {
        struct {
            int rank, size;
            int others; /* ranks to exchange with: of the communicator, or of the remote group */
            bool inter;
        };
        struct {           /* with comm NULL */
            uint64_t name; /* the communicator's handle */
            int result;    /* what MPI said */
        };
    };
};

static inline __attribute__((always_inline)) void stand(struct place *p)
{
    p->rank = fv_comm_rank(p->comm);
    p->size = fv_comm_size(p->comm);
    p->inter = fv_comm_flags(p->comm) & FV_COMM_INTER;
    p->others = p->inter ? fv_comm_remote_size(p->comm) : p->size;
}

static FV_COLD struct place failed_place(int result, MPI_Comm comm)
{
    return (struct place){ .name = fv_handle(comm), .result = result };
}

static struct place place_of(int result, MPI_Comm comm)
{
    if (FV_UNLIKELY(result != MPI_SUCCESS))
        return failed_place(result, comm);
    struct place p = { .comm = fv_comm_get(fv_handle(comm)) };

    if (p.comm)
        stand(&p);
    return p;
}

struct moved {
    uint64_t sent, received;
    unsigned flags; /* FV_COLL_ROOT */
    bool rooted;
    int root; /* if so: as passed */
};

/* What the trace says of the root: enum fv_event_root, or a rank. */
static int64_t event_root(const struct place *p, struct moved m)
{
    if (!m.rooted)
        return FV_ROOT_NONE;
    return !p->inter || m.root >= 0 ? m.root : m.root == MPI_ROOT ? FV_ROOT_SELF : FV_ROOT_OTHERS;
}

static void event_collective(struct fv_call *call, const struct place *p, struct fv_how how, struct moved m,
                             uint32_t sequence)
{
    if (!how.posted) { /* of neighbours */
        fv_event(call, COLLECTIVE, fv_comm_number(p->comm), fv_signed(event_root(p, m)), m.sent, m.received, sequence);
        return;
    }
    const struct fv_request r = {
        .kind = FV_REQUEST_COLLECTIVE, .peer = FV_NO_PEER, .comm = p->comm, .sequence = sequence
    };
    bool complete;
    uint64_t number = fv_done_follow(call, r, *how.posted, &complete);

    if (!number) /* no request: nothing more will be heard of it */
        return;
    fv_event(call, ICOLLECTIVE, number, fv_comm_number(p->comm), fv_signed(event_root(p, m)), m.sent, m.received,
             sequence);
    if (complete)
        fv_event(call, DONE, number);
}

static bool is_root_valid(const struct place *p, struct moved m)
{
    return !m.rooted ||
           (m.root >= 0 ? m.root < p->others : p->inter && (m.root == MPI_ROOT || m.root == MPI_PROC_NULL));
}

/* A call that failed here, maybe not on others: it has its place among the communicator's, and moved nothing.
 * Arguments are not looked at, and the communicator only if it is known. */
static FV_COLD void finish_failed(struct fv_call *call, const struct place *failed, bool blocking, bool posted,
                                  bool planned, bool rooted, int root_passed)
{
    const struct moved m = { .rooted = rooted, .root = root_passed };
    struct place p = { .comm = failed->result == MPI_SUCCESS ? NULL : fv_comm_find(failed->name) };

    if (!p.comm) {
        fv_call_record(call, NULL, 0, 0);
        return;
    }
    stand(&p);
    uint32_t sequence = fv_comm_collective(p.comm), comm = fv_comm_number(p.comm);

    if (call->trace && !planned && is_root_valid(&p, m)) {
        uint64_t root = fv_signed(event_root(&p, m));

        if (posted) { /* there is no request */
            uint64_t number = fv_event_numbers(1);

            fv_event(call, ICOLLECTIVE, number, comm, root, 0, 0, sequence);
            fv_event(call, DONE, number);
        } else {
            fv_event(call, COLLECTIVE, comm, root, 0, 0, sequence);
        }
        fv_event_failed(call, failed->result);
    }
    fv_call_record(call, p.comm, 0, 0);
    if (blocking && (p.size > 1 || p.inter))
        fv_call_collective(call, sequence, 0);
}

/* All ranks number the collectives of a communicator alike, so every one of them takes a number. */
static void finish(struct fv_call *call, const struct place *p, struct fv_how how, struct moved m)
{
    if (FV_UNLIKELY(!p->comm)) {
        finish_failed(call, p, how.blocking, how.posted, how.plan, m.rooted, m.root);
        return;
    }
    if (how.blocking) {
        fv_call_record_collective(call, p->comm, event_root(p, m), m.sent, m.received, m.flags);
        return;
    }
    uint32_t sequence = fv_comm_collective(p->comm);

    if (how.plan) {
        const struct fv_request plan = { .kind = FV_REQUEST_COLLECTIVE,
                                         .peer = FV_NO_PEER,
                                         .tag = (int)event_root(p, m),
                                         .sent = m.sent,
                                         .received = m.received,
                                         .sequence = sequence };
        fv_done_planned(call, p->comm, plan, *how.plan);
        return;
    }
    if (fv_tracing())
        event_collective(call, p, how, m, sequence);
    else if (how.posted)
        fv_done_note(call, FV_REQUEST_COLLECTIVE, p->comm, MPI_PROC_NULL, (int)sequence, *how.posted);
    fv_call_record(call, p->comm, m.sent, m.received);
}

/* ---- without root ---- */

void fv_done_barrier(struct fv_call *call, int result, struct fv_how how, MPI_Comm comm)
{
    struct place p = place_of(result, comm);

    if (p.comm && how.blocking) {
        fv_done_creation(call, p.comm); /* no bytes, yet everyone takes part */
        return;
    }
    finish(call, &p, how, (struct moved){ 0 });
}

void fv_done_allgather(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                       struct fv_coll_buffer recv, MPI_Comm comm)
{
    struct place p = place_of(result, comm);
    struct moved m = { 0 };

    if (p.comm) {
        m.sent = in_place(&send) ? bytes_at(&recv, p.rank) : bytes_at(&send, 0);
        m.received = bytes_of(&recv, p.others);
    }
    finish(call, &p, how, m);
}

void fv_done_alltoall(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                      struct fv_coll_buffer recv, MPI_Comm comm)
{
    struct place p = place_of(result, comm);
    struct moved m = { 0 };

    if (p.comm) {
        m.received = bytes_of(&recv, p.others);
        m.sent = in_place(&send) ? m.received : bytes_of(&send, p.others);
    }
    finish(call, &p, how, m);
}

void fv_done_alike_else(struct fv_call *call, int result, struct fv_how how, MPI_Count count, MPI_Datatype type,
                        MPI_Comm comm)
{
    struct place p = place_of(result, comm);
    struct moved m = { 0 };

    if (p.comm)
        m.sent = m.received = fv_bytes(count, type);
    finish(call, &p, how, m);
}

void fv_done_reduce_scatter(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer data,
                            MPI_Comm comm)
{
    struct place p = place_of(result, comm);
    struct moved m = { 0 };

    if (p.comm) {
        m.sent = bytes_of(&data, p.size); /* of the local group, on intercommunicators too (6.10) */
        m.received = bytes_at(&data, p.rank);
    }
    finish(call, &p, how, m);
}

/* The first rank's receive buffer is not significant (section 6.11.2). */
void fv_done_exscan(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer data, MPI_Comm comm)
{
    struct place p = place_of(result, comm);
    struct moved m = { 0 };

    if (p.comm) {
        m.sent = bytes_at(&data, 0);
        m.received = p.rank ? m.sent : 0;
    }
    finish(call, &p, how, m);
}

/* ---- with a root ---- */

/* The root has the whole; every leaf has a share of it. The root of an intracommunicator is a leaf, too;
 * of an intercommunicator the root's peers are neither. */
struct roles {
    bool root, leaf;
};

static struct roles roles_of(const struct place *p, int root)
{
    if (!p->comm)
        return (struct roles){ 0 };
    if (!p->inter)
        return (struct roles){ .root = p->rank == root, .leaf = true };
    return (struct roles){ .root = root == MPI_ROOT, .leaf = root >= 0 };
}

static uint64_t whole(const struct place *p, struct roles role, const struct fv_coll_buffer *part)
{
    return role.root ? bytes_of(part, p->others) : 0;
}

/* Where the root's is in place, it is a part of the whole. */
static uint64_t share(const struct place *p, struct roles role, const struct fv_coll_buffer *part,
                      const struct fv_coll_buffer *all)
{
    if (!role.leaf)
        return 0;
    return role.root && in_place(part) ? bytes_at(all, p->rank) : bytes_at(part, 0);
}

static void finish_rooted(struct fv_call *call, const struct place *p, struct fv_how how, int root, uint64_t sent,
                          uint64_t received)
{
    struct moved m = { .sent = sent, .received = received, .rooted = true, .root = root };

    if (roles_of(p, root).root)
        m.flags = FV_COLL_ROOT;
    finish(call, p, how, m);
}

void fv_done_bcast(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer data, int root,
                   MPI_Comm comm)
{
    struct place p = place_of(result, comm);
    struct roles role = roles_of(&p, root);
    uint64_t bytes = role.root || role.leaf ? bytes_at(&data, 0) : 0;

    finish_rooted(call, &p, how, root, role.root ? bytes : 0, role.root ? 0 : bytes);
}

void fv_done_gather(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                    struct fv_coll_buffer recv, int root, MPI_Comm comm)
{
    struct place p = place_of(result, comm);
    struct roles role = roles_of(&p, root);

    finish_rooted(call, &p, how, root, share(&p, role, &send, &recv), whole(&p, role, &recv));
}

void fv_done_scatter(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                     struct fv_coll_buffer recv, int root, MPI_Comm comm)
{
    struct place p = place_of(result, comm);
    struct roles role = roles_of(&p, root);

    finish_rooted(call, &p, how, root, whole(&p, role, &send), share(&p, role, &recv, &send));
}

void fv_done_reduce(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer data, int root,
                    MPI_Comm comm)
{
    struct place p = place_of(result, comm);
    struct roles role = roles_of(&p, root);
    uint64_t bytes = role.root || role.leaf ? bytes_at(&data, 0) : 0;

    finish_rooted(call, &p, how, root, role.leaf ? bytes : 0, role.root ? bytes : 0);
}

/* ---- neighbours ---- */

/* The order of neighbours in a grid is by dimension, lower before upper (section 8.6). */
static uint64_t absent_in_grid(MPI_Comm comm, int dimensions)
{
    uint64_t absent = 0;

    for (int i = 0; i < dimensions && i < 32; i++) {
        int lower, upper;

        if (PMPI_Cart_shift(comm, i, 1, &lower, &upper) != MPI_SUCCESS)
            continue;
        absent |= (uint64_t)(lower == MPI_PROC_NULL) << 2 * i;
        absent |= (uint64_t)(upper == MPI_PROC_NULL) << (2 * i + 1);
    }
    return absent;
}

static struct fv_degrees ask_degrees(const struct place *p, MPI_Comm comm)
{
    struct fv_degrees d = { 0 };
    int topology = MPI_UNDEFINED, weighted;

    if (PMPI_Topo_test(comm, &topology) != MPI_SUCCESS)
        return d;
    if (topology == MPI_CART && PMPI_Cartdim_get(comm, &d.in) == MPI_SUCCESS) {
        d.absent = absent_in_grid(comm, d.in);
        d.out = d.in *= 2;
    } else if (topology == MPI_GRAPH && PMPI_Graph_neighbors_count(comm, p->rank, &d.in) == MPI_SUCCESS) {
        d.out = d.in;
    } else if (topology == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &d.in, &d.out, &weighted);
    }
    return d;
}

/* Of this process in the virtual topology, about which MPI is asked once. */
static struct fv_degrees degrees_of(const struct place *p, MPI_Comm comm)
{
    struct fv_degrees d = fv_comm_degrees(p->comm);

    if (FV_UNLIKELY(!d.known)) {
        d = ask_degrees(p, comm);
        fv_comm_set_degrees(p->comm, d);
    }
    return d;
}

/* Sum over the neighbours that are there. */
static uint64_t bytes_of_neighbours(const struct fv_coll_buffer *part, int n, uint64_t absent)
{
    uint64_t sum = bytes_of(part, n);

    for (int i = 0; absent && i < n && i < 64; i++)
        if (absent >> i & 1)
            sum -= bytes_at(part, i);
    return sum;
}

/* Waiting is for the neighbours alone, so these do not enter the log of collective calls. */
void fv_done_neighbor_allgather(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                                struct fv_coll_buffer recv, MPI_Comm comm)
{
    struct place p = place_of(result, comm);
    struct moved m = { 0 };

    if (p.comm) {
        struct fv_degrees d = degrees_of(&p, comm);

        m.sent = d.out > __builtin_popcountll(d.absent) ? bytes_at(&send, 0) : 0;
        m.received = bytes_of_neighbours(&recv, d.in, d.absent);
    }
    how.blocking = false;
    finish(call, &p, how, m);
}

void fv_done_neighbor_alltoall(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                               struct fv_coll_buffer recv, MPI_Comm comm)
{
    struct place p = place_of(result, comm);
    struct moved m = { 0 };

    if (p.comm) {
        struct fv_degrees d = degrees_of(&p, comm);

        m.sent = bytes_of_neighbours(&send, d.out, d.absent);
        m.received = bytes_of_neighbours(&recv, d.in, d.absent);
    }
    how.blocking = false;
    finish(call, &p, how, m);
}
