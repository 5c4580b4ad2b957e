/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI's functions are, by their names: one table, so that a sink need not know MPI. */
#ifndef FV_CALLS_H
#define FV_CALLS_H

#include "base/base.h"

/* The same values as OTF2's, which otf2/archive.c checks. */
enum fv_coll_op {
    FV_OP_BARRIER,
    FV_OP_BCAST,
    FV_OP_GATHER,
    FV_OP_GATHERV,
    FV_OP_SCATTER,
    FV_OP_SCATTERV,
    FV_OP_ALLGATHER,
    FV_OP_ALLGATHERV,
    FV_OP_ALLTOALL,
    FV_OP_ALLTOALLV,
    FV_OP_ALLTOALLW,
    FV_OP_ALLREDUCE,
    FV_OP_REDUCE,
    FV_OP_REDUCE_SCATTER,
    FV_OP_SCAN,
    FV_OP_EXSCAN,
    FV_OP_REDUCE_SCATTER_BLOCK,
    FV_OP_CREATE_HANDLE,
    FV_OP_DESTROY_HANDLE,
    FV_OP_ALLOCATE,
    FV_OP_DEALLOCATE,
    FV_OP_CREATE_AND_ALLOCATE,
    FV_OP_DESTROY_AND_DEALLOCATE,
    FV_OP_NONE
};

enum fv_call_role {
    FV_ROLE_OTHER,
    FV_ROLE_P2P,
    FV_ROLE_ONE2ALL,
    FV_ROLE_ALL2ONE,
    FV_ROLE_ALL2ALL,
    FV_ROLE_COLL_OTHER,
    FV_ROLE_RMA,
    FV_ROLE_IO,
    FV_ROLE_IO_METADATA,
    FV_ROLE_THREAD, /* not MPI's: a thread waits for another */
    FV_ROLE_THREAD_BARRIER,
    FV_ROLE_THREAD_JOIN,
    FV_ROLE_THREAD_IMPLICIT_BARRIER,
    FV_ROLE_OMP_LOOP, /* worksharing of OpenMP */
    FV_ROLE_OMP_SECTIONS,
    FV_ROLE_OMP_SINGLE,
    FV_ROLE_OMP_WORKSHARE,
    FV_ROLE_OMP_MASKED,
    FV_ROLE_OMP_TASK,
    FV_ROLE_OMP_TARGET,
    FV_ROLE_OMP_TARGET_DATA,
    FV_ROLE_ALLOCATE,
    FV_ROLE_REALLOCATE,
    FV_ROLE_DEALLOCATE,
};

/* Beside enum fv_function_class, which is MPI's. */
enum {
    FV_CLASS_OF_THREADS = 0x100,
    FV_CLASS_OF_FILES = 0x102, /* the C library's functions for files; a name that a function of MPI's or of threads has
                                * is theirs */
    FV_CLASS_OF_MEMORY = 0x103, /* the allocator's */
    FV_CLASS_SECTION = 0x101,   /* that the program marks; its name is "NAME NUMBER", which is no other's */
};

/* What a synchronisation call does to a window. */
enum fv_rma_sync {
    FV_RMA_OTHER, /* orders memory: MPI_Win_sync, MPI_Win_test */
    FV_RMA_FENCE,
    FV_RMA_POST,
    FV_RMA_START,
    FV_RMA_COMPLETE,
    FV_RMA_WAIT,
    FV_RMA_LOCK,
    FV_RMA_LOCK_ALL,
    FV_RMA_UNLOCK,
    FV_RMA_FLUSH,       /* completes what was started, there as well */
    FV_RMA_FLUSH_LOCAL, /* here alone */
};

enum fv_atomic { FV_ATOMIC_ACCUMULATE, FV_ATOMIC_COMPARE_AND_SWAP, FV_ATOMIC_FETCH };

struct fv_call_info {
    uint8_t role;   /* enum fv_call_role */
    uint8_t op;     /* enum fv_coll_op; of a collective call */
    uint8_t sync;   /* enum fv_rma_sync */
    uint8_t atomic; /* enum fv_atomic */
    bool neighbour; /* collective with the neighbours of a topology alone */
    bool together;  /* of files: all ranks take part */
};

/* `class` (enum fv_function_class) decides where the name is not known. */
struct fv_call_info fv_call_info(const char *name, unsigned class);

struct fv_volume {
    uint64_t sent, received;
};
/* Bytes as readers of such archives expect them: as if each rank sent to each, itself included, with no tree
 * and no ring (Score-P's convention). From what the rank's own buffers hold; N: ranks that it exchanges with.
 */
struct fv_volume fv_notional(const struct fv_call_info *call, struct fv_volume own, uint32_t n, uint32_t rank,
                             bool is_root);

#endif
