/* Programs that hang, each in its own way:   hang WAY
 *
 * Before that all ranks meet, so that communicators are made and some calls are counted. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE = 1 << 20 }; /* too large to be sent before it is received */

static int rank, size;
static char *here, *there;

static void head(void) /* to head: each receives before it sends */
{
    int tag = rank ? 7 : 5;

    MPI_Recv(here, 1, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(there, 1, MPI_CHAR, 1 - rank, 12 - tag, MPI_COMM_WORLD);
}

static void ring(void)
{
    MPI_Ssend(there, 1, MPI_CHAR, (rank + 1) % size, 3, MPI_COMM_WORLD);
    MPI_Recv(here, 1, MPI_CHAR, (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(void) /* rank 2 leaves it out */
{
    if (rank != 2)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void order(void)
{
    MPI_Comm one, two;

    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &two);
    MPI_Comm_set_name(one, "one");
    MPI_Comm_set_name(two, "two");
    MPI_Barrier(rank ? two : one);
    MPI_Barrier(rank ? one : two);
}

static void loop(void) /* the last rank never sends */
{
    MPI_Request request;
    volatile int forever = rank == size - 1;

    while (forever)
        ;
    if (rank == 0) {
        MPI_Irecv(here, 1, MPI_CHAR, size - 1, 4, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(there, 1, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
    } else {
        MPI_Recv(here, 1, MPI_CHAR, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void isend(void)
{
    MPI_Request request;

    MPI_Isend(there, LARGE, MPI_CHAR, 1 - rank, 6, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(here, LARGE, MPI_CHAR, 1 - rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void any(void)
{
    MPI_Recv(here, 1, MPI_CHAR, rank ? 0 : MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void roots(void)
{
    MPI_Bcast(here, LARGE, MPI_CHAR, 1 - rank, MPI_COMM_WORLD);
}

static void calls(void) /* both wait for the other's data */
{
    if (rank)
        MPI_Reduce(there, here, LARGE, MPI_CHAR, MPI_MAX, 1, MPI_COMM_WORLD);
    else
        MPI_Bcast(here, LARGE, MPI_CHAR, 1, MPI_COMM_WORLD);
}

static void sendrecv(void)
{
    MPI_Sendrecv(there, 1, MPI_CHAR, 1 - rank, 1 + 2 * rank, here, 1, MPI_CHAR, 1 - rank, 2 + 2 * rank,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void waitall(void) /* everyone is to receive from everyone */
{
    MPI_Request requests[8];
    MPI_Status statuses[8];

    for (int i = 0; i < size && i < 8; i++) {
        requests[i] = MPI_REQUEST_NULL;
        if (i != rank)
            MPI_Irecv(here + i, 1, MPI_CHAR, i, 2, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(size, requests, statuses);
}

static void ibarrier(void)
{
    MPI_Request request;

    if (rank) {
        MPI_Recv(here, 1, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void sleeping(void)
{
    if (rank)
        sleep(1000);
    MPI_Recv(here, 1, MPI_CHAR, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void asking(void)
{
    MPI_Request request;
    int flag = 0;

    MPI_Irecv(here, 1, MPI_CHAR, 1 - rank, 9, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void *compute(void *is_over)
{
    while (!*(volatile int *)is_over)
        ;
    return NULL;
}

/* Asks, while another thread computes. */
static void worker(void)
{
    int is_over = 0;
    pthread_t thread;

    pthread_create(&thread, NULL, compute, &is_over);
    asking();
}

static void *ask(void *unused)
{
    asking();
    return unused;
}

/* Two threads ask. */
static void askers(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, ask, NULL);
    asking();
}

/* Asks until a child process ends. */
static void child(void)
{
    int flag;
    pid_t parent = getpid(), pid = fork();

    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == parent)
            ;
        _exit(0);
    }
    while (!waitpid(pid, NULL, WNOHANG))
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Asks for a second, then computes and asks now and then, or often. */
static void between(void)
{
    MPI_Request request;
    double end = MPI_Wtime() + 1;
    int flag = 0;

    MPI_Irecv(here, 1, MPI_CHAR, 1 - rank, 9, MPI_COMM_WORLD, &request);
    while (!flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        for (double until = PMPI_Wtime() + (rank ? 0.002 : 0.1); PMPI_Wtime() > end && PMPI_Wtime() < until;)
            ;
    }
}

static void status(void) /* rank 0 waits for one that has gone */
{
    if (rank)
        exit(3);
    MPI_Recv(here, 1, MPI_CHAR, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*hang)(void);
} ways[] = { { "head", head },    { "ring", ring },         { "barrier", barrier }, { "order", order },
             { "loop", loop },    { "isend", isend },       { "any", any },         { "roots", roots },
             { "calls", calls },  { "sendrecv", sendrecv }, { "waitall", waitall }, { "ibarrier", ibarrier },
             { "status", status }, { "sleeping", sleeping }, { "asking", asking },
             { "worker", worker }, { "between", between },
             { "askers", askers }, { "child", child } };

int main(int argc, char **argv)
{
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &(int){ 0 });
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    here = calloc(1, LARGE);
    there = calloc(1, LARGE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        if (argc > 1 && !strcmp(argv[1], ways[i].name))
            ways[i].hang();
    MPI_Finalize();
    free(here);
    free(there);
    return 0;
}
