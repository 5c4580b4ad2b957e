/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of the process.
 *
 * uid: a number that all ranks of a communicator compute alike without a message. A communicator made
 * from a parent is told by the parent's uid, the number of the creation call on the parent (creation is
 * collective over it, so all its ranks count alike), a salt where the call has one (a tag), and the
 * world rank of its first member, which tells apart what one MPI_Comm_split makes. For an
 * intercommunicator the first members of both groups are used, the lower one first. MPI_COMM_WORLD is 1. */
#ifndef FV_COMM_H
#define FV_COMM_H

#include "rt/thread.h"

/* In place of a tag, which are smaller, or a hash of members. */
#define FV_SALT_CHANNELS (UINT64_C(1) << 32)

/* The rank of a peer is looked up among the runs for each message: a search over every eighth, then a few
 * steps. That takes half a byte a run; an index of all of them would take four. */
#define FV_RUN_STEP 8u

struct fv_comm {
    uint64_t handle;
    uint64_t uid;
    uint64_t created; /* ticks */
    uint32_t id;      /* in cells and the file; 0: described nowhere, over budget */
    uint32_t dead;    /* freed: the handle may come back for another communicator */
    uint64_t collectives;
    uint32_t children;
    unsigned flags;
    int rank, size, remote_size;
    unsigned runs; /* of the group that messages go to */
    const struct fv_rank_run *run;
    const int32_t *run_ranks;      /* rank that every FV_RUN_STEP-th run begins with; NULL: few runs, or no memory */
    uint64_t firsts;               /* world ranks of the first members of both groups, for the uid */
    struct fv_comm_record *record; /* in the file, or NULL */
    struct fv_comm *next_dead;
    struct fv_degrees degrees; /* `known` is set last */
    bool barriers;             /* collectives get barriers of our own: the same on all its ranks */
    bool barrier_owed;         /* not the next one, which has had its barrier */
};

/* Describes what stands in a trace for the communicator where it has partitioned operations (channels.c), as
 * one of its own; its fv_comm_record.id. 0: no room. */
uint32_t fv_comm_add_channels(const struct fv_comm *comm, uint32_t k);

extern FV_INSIDE uint64_t fv_comm_generation; /* from 1; changes when a handle changes its meaning */
static inline uint64_t fv_comm_generation_now(void)
{
    return __atomic_load_n(&fv_comm_generation, __ATOMIC_ACQUIRE);
}
/* Is the handle that of the communicator that the thread used last? */
static inline bool fv_comm_is_last(const struct fv_thread *thread, uint64_t handle)
{
    return thread->comm_handle == handle && thread->comm_generation == fv_comm_generation_now();
}

/* fv_comm_get() by the thread that calls. */
static inline struct fv_comm *fv_comm_of(const struct fv_thread *thread, uint64_t handle)
{
    return FV_LIKELY(fv_comm_is_last(thread, handle)) ? thread->comm : fv_comm_get(handle);
}

/* fv_comm_collective() of one that is known. */
static inline uint64_t fv_comm_count_collective(struct fv_comm *comm)
{
    uint64_t sequence = FV_UNLIKELY(fv_rt.thread_multiple) ? __atomic_fetch_add(&comm->collectives, 1, __ATOMIC_RELAXED)
                                                           : comm->collectives++;

    if (FV_LIKELY(comm->record != NULL))
        __atomic_store_n(&comm->record->collectives, sequence + 1, __ATOMIC_RELAXED);
    return sequence;
}

uint32_t fv_comm_id(const struct fv_comm *comm);
/* World rank of a rank in the group that messages go to; -1 unknown. */
int fv_comm_peer_world(const struct fv_comm *comm, int rank);

/* ---- barriers of our own (barrier.c) ---- */

/* Once, by every rank that records, when its file is there: who inserts barriers? Waits for the others, for a
 * time. Sets fv_barriers. */
void fv_barriers_agree(const char *directory, const struct fv_start_info *info);
/* Do collectives on a communicator that is being registered get barriers? The same on all its ranks. */
bool fv_barriers_on(const struct fv_comm_info *info);

#endif
