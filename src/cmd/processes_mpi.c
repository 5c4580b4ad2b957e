/* The processes of an MPI job. The PMPI_ names are used: fvmpi may be preloaded in all programs of a job, and
 * must not record its own. See processes.h. */
#include "cmd/processes.h"

#include <mpi.h>

#define PIECE ((size_t)1 << 30) /* a count is an int */

static void send_bytes(const struct fv_transport *t, int to, const void *data, size_t bytes)
{
    (void)t;
    for (size_t at = 0; at < bytes; at += PIECE)
        PMPI_Send((const char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE), MPI_BYTE, to, 0,
                  MPI_COMM_WORLD);
}

static void receive_bytes(const struct fv_transport *t, int from, void *data, size_t bytes)
{
    (void)t;
    for (size_t at = 0; at < bytes; at += PIECE)
        PMPI_Recv((char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE), MPI_BYTE, from, 0,
                  MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

const struct fv_transport *fv_processes_start(int *argc, char ***argv)
{
    static struct fv_transport transport = { .send = send_bytes, .receive = receive_bytes };

    if (PMPI_Init(argc, argv) != MPI_SUCCESS) {
        fv_log("fvunify: MPI could not be started; run it without mpiexec to merge with one process");
        return NULL;
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &transport.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &transport.size);
    return &transport;
}

void fv_processes_stop(void)
{
    PMPI_Finalize();
}
