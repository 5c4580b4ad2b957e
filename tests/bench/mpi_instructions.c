/* What instructions.py counts: calls of MPI on MPI_COMM_SELF from call paths of 8 frames, in C and, where it is
 * compiled with -DFORTRAN, in Fortran (mpi_instructions_f.f90). */
#include "counted.h"

#include <mpi.h>
#include <stddef.h>

#define FRAMES 8

static char in[8];
static const char out = 1;

static void probe(void)
{
    int flag;

    MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void allreduce(void)
{
    double one = 1, sum;

    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void irecv_send_wait(void)
{
    MPI_Request request;

    MPI_Irecv(in, 1, MPI_CHAR, 0, 7, MPI_COMM_SELF, &request);
    MPI_Send(&out, 1, MPI_CHAR, 0, 7, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void isend_recv_wait(void)
{
    MPI_Request request;

    MPI_Isend(&out, 1, MPI_CHAR, 0, 7, MPI_COMM_SELF, &request);
    MPI_Recv(in, 1, MPI_CHAR, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void waitall(void)
{
    MPI_Request request[8];

    for (int i = 0; i < 4; i++)
        MPI_Irecv(&in[i], 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &request[i]);
    for (int i = 0; i < 4; i++)
        MPI_Isend(&out, 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &request[4 + i]);
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
}

static MPI_Request pending;

static void test(void)
{
    int flag;

    MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
}

/* Each time from another place. */
static void new_path(void)
{
    static int next;

#define CALL(n)                            \
    case n:                                \
        probe();                           \
        __asm__ volatile("# %0" ::"i"(n)); \
        break;
#define CALLS(n) CALL(n) CALL(n + 1) CALL(n + 2) CALL(n + 3) CALL(n + 4) CALL(n + 5) CALL(n + 6)
    switch (next++) {
        CALLS(0) CALLS(7) CALLS(14) CALLS(21) CALLS(28) CALLS(35)
    }
}

#ifdef FORTRAN
void f_probe(void);
void f_allreduce(void);
void f_irecv_send_wait(void);
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    CALLGRIND_START_INSTRUMENTATION;
    COUNT(FRAMES, "MPI_Iprobe", probe);
    COUNT(FRAMES, "MPI_Allreduce", allreduce);
    COUNT(FRAMES, "Irecv, Send, Wait", irecv_send_wait);
    COUNT(FRAMES, "Isend, Recv, Wait", isend_recv_wait);
    COUNT(FRAMES, "4 Irecv, 4 Isend, Waitall", waitall);
    COUNT(32, "MPI_Iprobe, 32 frames", probe);
    COUNT(FRAMES - 1, "MPI_Iprobe, new path", new_path);
#ifdef FORTRAN
    COUNT(FRAMES, "MPI_Iprobe (Fortran)", f_probe);
    COUNT(FRAMES, "MPI_Allreduce (Fortran)", f_allreduce);
    COUNT(FRAMES, "Irecv, Send, Wait (Fortran)", f_irecv_send_wait);
#endif
    MPI_Irecv(in, 1, MPI_CHAR, 0, 8, MPI_COMM_SELF, &pending);
    COUNT(FRAMES, "MPI_Test, incomplete", test);
    CALLGRIND_STOP_INSTRUMENTATION;
    MPI_Cancel(&pending);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
