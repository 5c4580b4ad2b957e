/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that have barriers of our own (mpi-wrappers/barrier.c). */
#include "rt/comm.h"

/* Of the thread's calls, which fvmpi does not record, one has barriers: those inside of it have none. */
static FV_TLS bool unrecorded;

struct fv_comm *fv_barrier_enter(bool on, uint64_t handle, bool world)
{
    struct fv_comm *comm;

    if (!on && (fv_self || unrecorded || !fv_rt_on())) /* inside another call, or the child of a fork */
        return NULL;
    comm = world ? fv_comm_get(handle) : fv_comm_find(handle);
    if (!comm || !comm->barriers)
        return NULL;
    unrecorded = !on;
    return comm;
}

bool fv_barrier_owed(const struct fv_comm *comm)
{
    return comm->barrier_owed;
}

void fv_barrier_leave(struct fv_comm *comm, bool owed)
{
    comm->barrier_owed = owed;
    unrecorded = false;
}

void fv_barrier_record(struct fv_call *call, uint64_t ticks)
{
    if (!call->cell)
        return;
    call->cell->barrier_ticks += ticks;
    call->cell->barriers++;
}
