/* The runtime without MPI, for unit tests: a stand-in for what mpi-wrappers gives it, and a wrapper. */
#ifndef FV_RT_STUB_H
#define FV_RT_STUB_H

#include "rt/comm.h"
#include "rt/events.h"
#include "rt/statistics.h"
#include "rt/unseen_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct fv_function fv_functions[] = {
    { "MPI_Send", FV_CLASS_P2P, FV_RULE_P2P },        { "MPI_Allreduce", FV_CLASS_COLLECTIVE, FV_RULE_NXN },
    { "MPI_Startall", FV_CLASS_P2P, FV_RULE_NONE },   { "MPI_Irecv", FV_CLASS_P2P, FV_RULE_NONE },
    { "MPI_Test", FV_CLASS_COMPLETION, FV_RULE_P2P }, { "MPI_Wait", FV_CLASS_COMPLETION, FV_RULE_P2P },
};
const unsigned fv_function_count = sizeof(fv_functions) / sizeof(*fv_functions);

const enum fv_mpi_library fv_our_mpi = FV_MPI_NONE;

const void *fv_mpi_code(void)
{
    return NULL;
}

bool fv_mpi_attach(struct fv_start_info *out)
{
    *out = (struct fv_start_info){
        .world_size = 1, .mpi = "none", .thread_level = "MPI_THREAD_MULTIPLE", .thread_multiple = true
    };
    return true;
}

struct fv_comm *fv_mpi_describe(uint64_t handle)
{
    const int rank = 0;
    struct fv_comm_info info = { .handle = handle, .flags = FV_COMM_INFERRED, .size = 1, .world_ranks = &rank };

    return fv_comm_new(&info);
}

/* A directory of this test's own, removed by stub_remove(). */
static char stub_directory[64];

static inline void stub_start(void)
{
    snprintf(stub_directory, sizeof(stub_directory), "/tmp/fvmpi-test-XXXXXX");
    if (!mkdtemp(stub_directory))
        abort();
    setenv("FVMPI_OUTPUT", stub_directory, 1);
}

static inline void stub_remove(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", stub_directory);
    if (system(command))
        fprintf(stderr, "cannot remove %s\n", stub_directory);
}

#endif
