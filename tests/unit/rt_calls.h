/* Calls of a runtime without MPI, for tests of its tables, and budgets that they can fill. */
#ifndef FV_RT_CALLS_H
#define FV_RT_CALLS_H

#include "rt_stub.h"
#include "unit.h"

/* A call from this very place, that "took" the given ticks. */
__attribute__((noinline, optimize("no-omit-frame-pointer"), unused)) static void
call_as(struct fv_call *call, unsigned function, struct fv_comm *comm, uint64_t sent, uint64_t received, uint64_t ticks)
{
    if (!fv_call_enter(call, function, FV_CALL_SITE()))
        abort();
    call->end = call->begin + ticks;
    fv_call_record(call, comm, sent, received);
}

static inline struct fv_comm *comm_of(uint64_t handle, struct fv_comm *parent, const int *ranks, int size,
                                      unsigned flags)
{
    struct fv_comm_info info = { .handle = handle,
                                 .parent = parent,
                                 .flags = flags,
                                 .size = size,
                                 .sequence = fv_comm_next_child(parent),
                                 .world_ranks = ranks };

    return fv_comm_new(&info);
}

/* The set-up of a group: the first call starts the runtime. */
static inline int first_call(void **state)
{
    struct fv_call call;

    (void)state;
    call_as(&call, 0, NULL, 1, 0, 10);
    return 0;
}

static inline void small_budgets(void)
{
    stub_start();
    setenv("FVMPI_PROFILE_MAX", "512k", 1);
    setenv("FVMPI_COLLECTIVES_MAX", "1M", 1);
}

#endif
