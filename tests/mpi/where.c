/* Ranks that hang, each in its own way:   where all FIFO      of 8 ranks
 *                                          where order         ranks call different collectives
 *                                          where lost          rank 1 waits for a message that nobody sends; and a
 *                                                              thread of it is in a signal handler
 *                                          where stopped       the last one stops itself
 *                                          where dead          the last one kills itself
 *                                          where signal        the signal that fvmpi took is the program's, and one is
 *                                                              blocked
 *                                          where asks          rank 0 asks for messages that nobody sends
 *                                          where answers       it asks until a message has come, again and again for 5 s
 *                                          where warms         what was recorded is forgotten (MPI_Pcontrol), then 5 s
 *                                          where healthy       none hangs: rank 0 waits for rank 1 in each iteration
 *
 * all: rank 2 reads from a FIFO that nobody writes to, 3 loops, 4 has two threads that wait for each other's mutex, 5
 * stops itself, 6 waits in poll(), 7 for a message that nobody sends. */
#include <mpi.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static volatile double sum;

__attribute__((noinline)) static void norm(void)
{
    double in = 1, out;

    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum += out;
}

__attribute__((noinline)) static void load_mesh(const char *path)
{
    char text[16];
    int fd = open(path, O_RDWR);

    sum += (double)read(fd, text, sizeof(text));
    close(fd);
}

__attribute__((noinline)) static void smooth(void)
{
    for (int i = 0; i < 1000; i++)
        sum += i;
}

__attribute__((noinline)) static void restrict_grid(void)
{
    for (int i = 0; i < 1000; i++)
        sum -= i;
}

__attribute__((noinline)) static void solve(void)
{
    for (;;) {
        smooth();
        restrict_grid();
    }
}

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

__attribute__((noinline)) static void *update(void *unused)
{
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&first);
    return unused;
}

__attribute__((noinline)) static void deadlock(void)
{
    pthread_t thread;

    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, update, NULL);
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&second);
}

__attribute__((noinline)) static void halt(void)
{
    raise(SIGSTOP);
}

__attribute__((noinline)) static void listen_long(void)
{
    struct pollfd nothing = { .fd = -1 };

    sum += poll(&nothing, 1, 1000000);
}

__attribute__((noinline)) static void halo(void)
{
    char byte;

    MPI_Recv(&byte, 1, MPI_CHAR, 0, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += byte;
}

/* Calls at places of their own: none is the last thing that a function does. */
__attribute__((noinline)) static void all(const char *fifo)
{
    if (rank == 2)
        load_mesh(fifo);
    sum += 2;
    if (rank == 3)
        solve();
    sum += 3;
    if (rank == 4)
        deadlock();
    sum += 4;
    if (rank == 5)
        halt();
    sum += 5;
    if (rank == 6)
        listen_long();
    sum += 6;
    if (rank == 7)
        halo();
    sum += 7;
    norm();
    sum += 8;
}

__attribute__((noinline)) static void order(void)
{
    int value = rank, result;

    if (rank)
        MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    else
        MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
    sum += 1;
}

static void on_signal(int number)
{
    sum += number;
}

static void on_user_signal(int number)
{
    int ends[2];
    char byte;

    if (!pipe(ends))
        sum += (double)read(ends[0], &byte, 1);
    sum += number;
}

static void *background(void *unused)
{
    raise(SIGUSR1);
    sum += 1;
    return unused;
}

__attribute__((noinline)) static void lost(void)
{
    pthread_t thread;

    if (rank == 1) {
        signal(SIGUSR1, on_user_signal);
        pthread_create(&thread, NULL, background, NULL);
        halo();
    }
    sum += 1;
    norm();
    sum += 2;
}

/* Rank 1 wants all signals for itself, rank 2 blocks them. */
__attribute__((noinline)) static void take_signals(void)
{
    sigset_t signals;

    for (int i = SIGRTMIN; rank == 1 && i <= SIGRTMAX; i++)
        signal(i, on_signal);
    sigfillset(&signals);
    if (rank == 2)
        sigprocmask(SIG_BLOCK, &signals, NULL);
    if (rank)
        solve();
    sum += 1;
    norm();
    sum += 2;
}

/* Rank 1 has 30 times as much to do. */
__attribute__((noinline)) static void iterate(void)
{
    for (;;) {
        for (int i = rank ? 30000 : 1000; i > 0; i--)
            smooth();
        norm();
    }
}

/* All that asks, in turn. */
static void ask(void)
{
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Status status, statuses[2];
    int flag = 0, count = 0, index, indices[2], in[2];

    for (int i = 0; i < 2; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
    while (!flag && !count) {
        MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, &status);
        MPI_Improbe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, &message, &status);
        MPI_Test(&requests[0], &flag, &status);
        MPI_Testall(2, requests, &flag, statuses);
        MPI_Testany(2, requests, &index, &flag, &status);
        MPI_Testsome(2, requests, &count, indices, statuses);
        MPI_Request_get_status(requests[1], &flag, &status);
    }
}

#define ROUNDS 20

/* Only what comes is progress: nothing else is called. */
static void answer(void)
{
    int in[ROUNDS], flag;
    MPI_Request requests[ROUNDS], sent[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(&rank, 1, MPI_INT, rank, i, MPI_COMM_WORLD, &sent[i]);
    }
    for (int i = 0; i < ROUNDS; i++) {
        usleep(250000);
        for (flag = 0; !flag;)
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(ROUNDS, sent, MPI_STATUSES_IGNORE);
}

/* Calls that are forgotten were progress; those behind are, too. */
static void warm_up(void)
{
    for (int i = 0; i < 2000; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(2);
    for (int i = 0; i < ROUNDS; i++) {
        usleep(250000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[1], "all"))
        all(argv[2]);
    else if (!strcmp(argv[1], "order"))
        order();
    else if (!strcmp(argv[1], "lost"))
        lost();
    else if (!strcmp(argv[1], "asks") && !rank)
        ask();
    else if (!strcmp(argv[1], "asks"))
        norm();
    else if (!strcmp(argv[1], "answers"))
        answer();
    else if (!strcmp(argv[1], "warms"))
        warm_up();
    else if (!strcmp(argv[1], "stopped") && rank == size - 1)
        halt();
    else if (!strcmp(argv[1], "stopped"))
        norm();
    else if (!strcmp(argv[1], "signal"))
        take_signals();
    else if (!strcmp(argv[1], "healthy"))
        iterate();
    else if (rank == size - 1)
        raise(SIGKILL);
    else
        norm();
    MPI_Finalize();
    return 0;
}
