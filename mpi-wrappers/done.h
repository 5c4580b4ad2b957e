/* SPDX-License-Identifier: BSD-3-Clause */
/* What a wrapper does after PMPI returned and the clock was read: say what moved and count the call.
 * One function for each rule of mpi-api.tbl. Each ends the call by fv_call_record(), exactly once. When
 * `result` is an error nothing is looked at and 0 bytes are counted, because arguments are known to be
 * good only after success; and arguments that the standard does not call significant at this rank are
 * never looked at. */
#ifndef FV_DONE_H
#define FV_DONE_H

#include "glue.h"

static inline void fv_done_plainly(struct fv_call *call, int result)
{
    (void)result;
    fv_call_record(call, NULL, 0, 0);
}

static inline void fv_done_on_comm(struct fv_call *call, int result, MPI_Comm comm)
{
    if (FV_LIKELY(result == MPI_SUCCESS))
        fv_call_record_on(call, fv_handle(comm));
    else
        fv_call_record(call, NULL, 0, 0);
}

static inline void fv_done_iprobe(struct fv_call *call, int result, const int *flag, MPI_Comm comm)
{
    if (FV_UNLIKELY(result != MPI_SUCCESS)) {
        fv_call_record(call, NULL, 0, 0);
        return;
    }
    if (!*flag)
        fv_call_in_vain(call);
    fv_call_record_on(call, fv_handle(comm));
}

/* After fv_call_record(): a message went to a rank that is not MPI_PROC_NULL, of 0 bytes too. */
void fv_done_sent_to(struct fv_call *call, struct fv_comm *comm, int dest, uint64_t bytes);

/* For the trace: follows an operation until its request completes, and gives its number; 0: it has no request. An
 * MPI may hand out one request, complete already, for many operations: *complete, the caller ends it at once. */
uint64_t fv_done_follow(struct fv_call *call, struct fv_request request, MPI_Request handle, bool *complete);
/* Without a trace: what a report of a hung program is to say of a request that nobody follows. `tag` of a collective:
 * its sequence number. */
void fv_done_note(struct fv_call *call, unsigned kind, struct fv_comm *comm, int peer, int tag, MPI_Request handle);

/* ---- point to point (done-p2p.c); `request` points to the handle that the call made ---- */

static inline void fv_done_send(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                MPI_Comm comm)
{
    if (FV_LIKELY(result == MPI_SUCCESS && dest != MPI_PROC_NULL))
        fv_call_record_send(call, fv_handle(comm), dest, tag, fv_bytes(count, type));
    else
        fv_done_on_comm(call, result, comm);
}
void fv_done_isend(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, const MPI_Request *request);
void fv_done_recv(struct fv_call *call, int result, int source, MPI_Comm comm, const MPI_Status *status);
/* flag NULL: the probe waited. */
void fv_done_mprobe(struct fv_call *call, int result, const int *flag, MPI_Comm comm, const MPI_Message *message,
                    const MPI_Status *status);
/* `was`: the message's handle before the call. */
void fv_done_mrecv(struct fv_call *call, int result, uint64_t was, const MPI_Status *status);
void fv_done_sendrecv(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag,
                      int source, MPI_Comm comm, const MPI_Status *status);
static inline void fv_done_irecv(struct fv_call *call, int result, int source, int tag, MPI_Comm comm,
                                 const MPI_Request *request)
{
    if (FV_LIKELY(result == MPI_SUCCESS && source != MPI_PROC_NULL && *request != MPI_REQUEST_NULL))
        fv_call_record_irecv(call, fv_handle(comm), fv_handle(*request), source, fv_peer(source), tag);
    else
        fv_done_on_comm(call, result, comm);
}
void fv_done_imrecv(struct fv_call *call, int result, uint64_t was, const MPI_Request *request);
void fv_done_isendrecv(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag,
                       MPI_Count room, MPI_Datatype room_type, int source, int recv_tag, MPI_Comm comm,
                       const MPI_Request *request);
/* A persistent operation, whose `plan` says what each MPI_Start moves: ends the call that made it. */
void fv_done_planned(struct fv_call *call, struct fv_comm *comm, struct fv_request plan, MPI_Request handle);
void fv_done_send_init(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag,
                       MPI_Comm comm, const MPI_Request *request);
void fv_done_recv_init(struct fv_call *call, int result, int source, int tag, MPI_Comm comm,
                       const MPI_Request *request);
void fv_done_psend_init(struct fv_call *call, int result, int partitions, MPI_Count count, MPI_Datatype type, int dest,
                        int tag, MPI_Comm comm, const MPI_Request *request);
void fv_done_precv_init(struct fv_call *call, int result, int partitions, MPI_Count count, MPI_Datatype type,
                        int source, int tag, MPI_Comm comm, const MPI_Request *request);
void fv_done_peeked(struct fv_call *call, int result, MPI_Request request, const int *flag, const MPI_Status *status);

/* ---- collectives (done-coll.c) ---- */

/* Non-blocking ones are posted: their volume is counted by the call. Persistent ones are planned: it is
 * counted by each start of the request that the *_init call made. */
struct fv_how {
    bool blocking;
    const MPI_Request *posted; /* NULL: not non-blocking */
    const MPI_Request *plan;   /* NULL: not persistent */
};
#define FV_BLOCKING         ((struct fv_how){ true, NULL, NULL })
#define FV_POSTED(request)  ((struct fv_how){ false, (request), NULL })
#define FV_PLANNED(request) ((struct fv_how){ false, NULL, (request) })

/* One side of a collective: the same to or from every rank, or each its own. */
struct fv_coll_buffer {
    const void *buffer;
    MPI_Count count;
    const int *counts;
    const MPI_Count *large_counts;
    MPI_Datatype type;
    const MPI_Datatype *types; /* of each rank */
    const int *f_types;        /* ... as Fortran has them */
};
#define FV_ONE(buffer, n, type)          ((struct fv_coll_buffer){ (buffer), (n), NULL, NULL, (type), NULL, NULL })
#define FV_MANY(buffer, n, type)         ((struct fv_coll_buffer){ (buffer), 0, (n), NULL, (type), NULL, NULL })
#define FV_MANY_LARGE(buffer, n, type)   ((struct fv_coll_buffer){ (buffer), 0, NULL, (n), (type), NULL, NULL })
#define FV_TYPES(buffer, n, types)       ((struct fv_coll_buffer){ (buffer), 0, (n), NULL, MPI_BYTE, (types), NULL })
#define FV_TYPES_LARGE(buffer, n, types) ((struct fv_coll_buffer){ (buffer), 0, NULL, (n), MPI_BYTE, (types), NULL })

/* A collective's barriers of our own (barrier.c), on the wrapper's stack. */
struct fv_barrier {
    MPI_Comm comm;
    struct fv_comm *known;
    uint64_t ticks;
    bool inserted;
};
/* Before the call, of whose communicator nothing is known: false, there are none. */
FV_COLD bool fv_barrier_begin(struct fv_barrier *out, bool on, MPI_Comm comm);
/* ... after it, whatever it returned. */
FV_COLD void fv_barrier_end(struct fv_barrier *barrier, int result);
/* ... and when it is recorded. */
FV_COLD void fv_barrier_count(struct fv_call *call, const struct fv_barrier *barrier);

void fv_done_barrier(struct fv_call *call, int result, struct fv_how how, MPI_Comm comm);
void fv_done_bcast(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer data, int root,
                   MPI_Comm comm);
void fv_done_gather(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                    struct fv_coll_buffer recv, int root, MPI_Comm comm);
void fv_done_scatter(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                     struct fv_coll_buffer recv, int root, MPI_Comm comm);
void fv_done_allgather(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                       struct fv_coll_buffer recv, MPI_Comm comm);
void fv_done_alltoall(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                      struct fv_coll_buffer recv, MPI_Comm comm);
void fv_done_reduce(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer data, int root,
                    MPI_Comm comm);
/* What each rank contributes is as much as it gets. */
void fv_done_alike_else(struct fv_call *call, int result, struct fv_how how, MPI_Count count, MPI_Datatype type,
                        MPI_Comm comm);
static inline void fv_done_allreduce(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer data,
                                     MPI_Comm comm)
{
    if (how.blocking && FV_LIKELY(result == MPI_SUCCESS))
        fv_call_record_alike(call, fv_handle(comm), fv_bytes(data.count, data.type));
    else
        fv_done_alike_else(call, result, how, data.count, data.type, comm);
}
/* `data`: what each rank gets of the result. */
void fv_done_reduce_scatter(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer data,
                            MPI_Comm comm);
static inline void fv_done_scan(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer data,
                                MPI_Comm comm)
{
    fv_done_allreduce(call, result, how, data, comm);
}
void fv_done_exscan(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer data, MPI_Comm comm);
void fv_done_neighbor_allgather(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                                struct fv_coll_buffer recv, MPI_Comm comm);
void fv_done_neighbor_alltoall(struct fv_call *call, int result, struct fv_how how, struct fv_coll_buffer send,
                               struct fv_coll_buffer recv, MPI_Comm comm);

/* ---- one-sided and files (done-rma.c); `was` is the handle before MPI took it away ---- */

/* request NULL: complete with the next synchronisation. */
void fv_done_put(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int target, MPI_Win win,
                 const MPI_Request *request);
void fv_done_get(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int target, MPI_Win win,
                 const MPI_Request *request);
void fv_done_accumulate(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int target, MPI_Win win,
                        const MPI_Request *request);
void fv_done_get_accumulate(struct fv_call *call, int result, MPI_Count sent_count, MPI_Datatype sent_type,
                            MPI_Count got_count, MPI_Datatype got_type, int target, MPI_Op op, MPI_Win win,
                            const MPI_Request *request);
/* Synchronisation; target MPI_PROC_NULL: not of one target alone. */
void fv_done_on_win(struct fv_call *call, int result, int target, MPI_Win win);
void fv_done_win_test(struct fv_call *call, int result, const int *flag, MPI_Win win);
void fv_done_lock(struct fv_call *call, int result, int type, int target, MPI_Win win);
void fv_done_epoch(struct fv_call *call, int result, MPI_Group group, MPI_Win win);
void fv_done_newwin(struct fv_call *call, int result, MPI_Comm comm, const MPI_Win *win);
void fv_done_win_free(struct fv_call *call, int result, struct fv_owner known);

void fv_done_file_read(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, MPI_File file,
                       const MPI_Status *status);
void fv_done_file_write(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, MPI_File file,
                        const MPI_Status *status);
void fv_done_file_read_end(struct fv_call *call, int result, MPI_File file, const MPI_Status *status);
void fv_done_file_write_end(struct fv_call *call, int result, MPI_File file, const MPI_Status *status);
void fv_done_file_iread(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, MPI_File file,
                        const MPI_Request *request);
void fv_done_file_iwrite(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, MPI_File file,
                         const MPI_Request *request);
void fv_done_file_seek(struct fv_call *call, int result, MPI_Offset offset, int whence, MPI_File file);
void fv_done_on_file(struct fv_call *call, int result, MPI_File file);
void fv_done_newfile(struct fv_call *call, int result, MPI_Comm comm, const char *name, int mode, const MPI_File *file);
void fv_done_file_close(struct fv_call *call, int result, struct fv_owner known);

/* ---- communicators come and go (done-comm.c) ---- */

/* Made collectively from a parent, by all its ranks. */
void fv_done_newcomm(struct fv_call *call, int result, MPI_Comm parent, const MPI_Comm *newcomm);
void fv_done_idup(struct fv_call *call, int result, MPI_Comm comm, const MPI_Comm *newcomm);
/* Made by the members of a group alone. */
void fv_done_newcomm_group(struct fv_call *call, int result, MPI_Comm comm, int tag, const MPI_Comm *newcomm);
void fv_done_shrink(struct fv_call *call, int result, MPI_Comm comm, const MPI_Comm *newcomm);
void fv_done_newcomm_tagged(struct fv_call *call, int result, const char *stringtag, const MPI_Comm *newcomm);
/* Made from two local communicators. */
void fv_done_newcomm_bridge(struct fv_call *call, int result, MPI_Comm local, int tag, const MPI_Comm *newcomm);
void fv_done_newcomm_remote(struct fv_call *call, int result, MPI_Comm local, const MPI_Comm *newcomm);
void fv_done_newcomm_join(struct fv_call *call, int result, const MPI_Comm *newcomm);
void fv_done_comm_free(struct fv_call *call, int result, struct fv_comm *known);
void fv_done_comm_set_name(struct fv_call *call, int result, MPI_Comm comm, const char *name);

/* A creation that synchronises all ranks of comm, for the wait log. */
void fv_done_creation(struct fv_call *call, struct fv_comm *comm);

#endif
