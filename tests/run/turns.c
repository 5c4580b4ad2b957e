/* Ranks that compute between calls of MPI; in a file that all map they count how many do so at a time.   turns FILE MODE */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 20 };

static struct shared {
    int inside, most; /* compute; did at a time */
    int here, go;     /* of mode "flags" */
} *shared;

static int rank, size;

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* For so long, by CPU time. */
static void compute(double seconds)
{
    double until = cpu_s() + seconds;
    int now = __atomic_add_fetch(&shared->inside, 1, __ATOMIC_SEQ_CST), most = __atomic_load_n(&shared->most, __ATOMIC_SEQ_CST);

    while (now > most && !__atomic_compare_exchange_n(&shared->most, &most, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    while (cpu_s() < until)
        ;
    __atomic_sub_fetch(&shared->inside, 1, __ATOMIC_SEQ_CST);
}

static void collectives(void)
{
    long sum = 0;

    for (int i = 0; i < STEPS; i++) {
        long mine = rank + i, all;

        compute(0.002);
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
    }
    if (!rank)
        printf("%ld\n", sum);
}

/* Local calls between: the turn goes on. Then a loop of MPI_Test(). */
static void messages(void)
{
    int from, got = 0;

    for (int i = 0; i < STEPS; i++) {
        MPI_Request requests[2];
        int done = 0, value = rank * STEPS + i;

        compute(0.001);
        MPI_Irecv(&from, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&value, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[1]);
        compute(0.001);
        while (!done)
            MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
        got += from;
    }
    MPI_Reduce(rank ? &got : MPI_IN_PLACE, &got, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("%d\n", got);
}

/* Each waits for the others by memory that they share, which MPI does not see. */
static void flags(void)
{
    __atomic_add_fetch(&shared->here, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&shared->here, __ATOMIC_SEQ_CST) < size)
        ;
    collectives();
}

/* Who takes its buffer back waits until the other one has received what is in it. */
static void buffers(void)
{
    enum { BYTES = 4000000 };
    char *buffer = malloc(BYTES + MPI_BSEND_OVERHEAD), *data = calloc(BYTES, 1);
    int bytes;

    if (!rank) {
        MPI_Buffer_attach(buffer, BYTES + MPI_BSEND_OVERHEAD);
        MPI_Bsend(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Buffer_detach(&buffer, &bytes);
    } else if (rank == 1) {
        compute(0.01);
        MPI_Recv(data, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(buffer);
    free(data);
    collectives();
}

static void nothing(int number)
{
    (void)number;
}

/* The same of a program that signals interrupt all the time. */
static void interrupted(void)
{
    const struct itimerval each = { { 0, 5000 }, { 0, 5000 } };

    signal(SIGALRM, nothing);
    setitimer(ITIMER_REAL, &each, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    flags();
}

/* Recorded are 20 times 2 ms, of 80. */
static void parts(void)
{
    collectives();
    MPI_Pcontrol(0);
    collectives();
    MPI_Pcontrol(1);
    collectives();
    MPI_Pcontrol(2);
    collectives();
}

/* Whoever has the first turn, the other one waits for it. */
static void sleeps(void)
{
    sleep(2);
    collectives();
}

static void *other(void *unused)
{
    int in = rank, out;

    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return unused;
}

/* The first thread waits for another one, which waits in MPI. */
static void threads(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    collectives();
}

static void leaves(void)
{
    collectives();
    fflush(stdout);
    MPI_Finalize();
    _exit(0);
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = { { "collectives", collectives }, { "messages", messages }, { "buffers", buffers }, { "flags", flags }, { "interrupted", interrupted }, { "parts", parts }, { "sleeps", sleeps }, { "threads", threads }, { "leaves", leaves } };
    int fd = count == 3 ? open(words[1], O_RDWR) : -1, provided;

    if (fd < 0 || (shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
        return 2;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
        if (!strcmp(words[2], modes[i].name))
            modes[i].run();
    MPI_Finalize();
    return 0;
}
