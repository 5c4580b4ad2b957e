/* SPDX-License-Identifier: BSD-3-Clause */
/* The flavour without MPI: records a process as rank 0 of 1, or as one of several copies. It stands where glue.c and
 * the wrappers stand in the others. `fvmpi run` names the process to record, so that the shells and helpers which
 * inherit LD_PRELOAD from it stay untouched. */
#include "base/base.h"
#include "base/experiment.h"
#include "rt/rt.h"
#include "rt/unseen_mpi.h"

#include <stdlib.h>
#include <unistd.h>

const enum fv_mpi_library fv_our_mpi = FV_MPI_NONE;

const void *fv_mpi_code(void)
{
    return NULL;
}

bool fv_mpi_attach(struct fv_start_info *out)
{
    (void)out;
    return false;
}

struct fv_comm *fv_mpi_describe(uint64_t handle)
{
    (void)handle;
    return NULL;
}

__attribute__((constructor)) static void start_at_load(void)
{
    const char *process = fv_env("FVMPI_PROCESS");

    if (process && strtol(process, NULL, 10) != (long)getpid())
        return;
    int number = 0, count = 1;
    uint64_t job;
    if (!fv_experiment_copy(&number, &count, &job))
        number = 0, count = 1;
    fv_start(&(struct fv_start_info){
        .world_rank = number, .world_size = count, .mpi = "none", .thread_level = "", .thread_multiple = true });
}
