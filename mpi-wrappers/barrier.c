/* SPDX-License-Identifier: BSD-3-Clause */
/* The barriers that --barrier inserts around a blocking collective. That is allowed by the standard: "A
 * correct, portable program must invoke collective communications so that deadlock will not occur, whether
 * collective communications are synchronizing or not" (MPI-4.0, 6.14).
 *
 * A call whose arguments MPI refuses has not met the other ranks, who may be waiting for one with better
 * arguments. Its barrier has met theirs: so it stands for that of the next call, and after a refused call
 * there is none. */
#include "done.h"

#include <errno.h>

static void insert(struct fv_barrier *b)
{
    uint64_t begin = fv_now();

    b->inserted = PMPI_Barrier(b->comm) == MPI_SUCCESS;
    b->ticks = fv_now() - begin;
}

static bool is_refusal(int result)
{
    static const int classes[] = { MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_COMM,
                                   MPI_ERR_ROOT,   MPI_ERR_OP,    MPI_ERR_ARG };
    int class = MPI_SUCCESS;

    if (result == MPI_SUCCESS || PMPI_Error_class(result, &class) != MPI_SUCCESS)
        return false;
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (class == classes[i])
            return true;
    return false;
}

bool fv_barrier_begin(struct fv_barrier *out, bool on, MPI_Comm comm)
{
    int saved = errno;
    struct fv_barrier b = { .comm = comm, .known = fv_barrier_enter(on, fv_handle(comm), comm == MPI_COMM_WORLD) };

    if (b.known && fv_barriers == FV_BARRIER_BEFORE && !fv_barrier_owed(b.known))
        insert(&b);
    *out = b;
    errno = saved;
    return b.known;
}

void fv_barrier_end(struct fv_barrier *b, int result)
{
    int saved = errno;
    bool refused = is_refusal(result);

    if (fv_barriers == FV_BARRIER_AFTER && !refused)
        insert(b);
    fv_barrier_leave(b->known, fv_barriers == FV_BARRIER_BEFORE && refused);
    errno = saved;
}

void fv_barrier_count(struct fv_call *call, const struct fv_barrier *b)
{
    if (b->inserted)
        fv_barrier_record(call, b->ticks);
}
