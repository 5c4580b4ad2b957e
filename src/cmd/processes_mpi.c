/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of an MPI job. The PMPI_ names are used: fvmpi may be preloaded in all programs of a job, and
 * must not record its own. See processes.h. */
#include "cmd/processes.h"

#include "base/now.h"

#include <mpi.h>
#include <sched.h>
#include <time.h>

#define PIECE    ((size_t)1 << 30) /* a count is an int */
#define AWAKE_NS 1000000           /* of a wait, before it sleeps */
#define SLEEP_NS 2000000           /* at most, and not more than an eighth of what was waited so far */

/* MPI's own waiting takes a whole processor, from the process that is waited for, too, where there are fewer processors
 * than processes. */
static void await(MPI_Request *request)
{
    int64_t begin = fv_now_ns(), waited;
    int done = 0;

    while (PMPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
        waited = fv_now_ns() - begin;
        if (waited < AWAKE_NS)
            sched_yield();
        else
            nanosleep(&(struct timespec){ .tv_nsec = waited / 8 < SLEEP_NS ? waited / 8 : SLEEP_NS }, NULL);
    }
}

static void send_bytes(const struct fv_transport *t, int to, const void *data, size_t bytes)
{
    MPI_Request request;

    (void)t;
    for (size_t at = 0; at < bytes; at += PIECE) {
        PMPI_Isend((const char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE), MPI_BYTE, to, 0,
                   MPI_COMM_WORLD, &request);
        await(&request);
    }
}

static void receive_bytes(const struct fv_transport *t, int from, void *data, size_t bytes)
{
    MPI_Request request;

    (void)t;
    for (size_t at = 0; at < bytes; at += PIECE) {
        PMPI_Irecv((char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE), MPI_BYTE, from, 0, MPI_COMM_WORLD,
                   &request);
        await(&request);
    }
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

/* Launchers send signals to all. */
void fv_processes_interrupt(void) {}

void fv_processes_stop(void)
{
    PMPI_Finalize();
}
