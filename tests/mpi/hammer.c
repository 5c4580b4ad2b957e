/* MPI_THREAD_MULTIPLE from 8 threads a rank that are older than MPI_Init, each on communicators of its own,
 * with totals that are known (N rounds of each thread, THREADS threads, on each of 2 ranks):
 *
 *     work      MPI_Send and MPI_Recv of 40 t bytes, MPI_Irecv, MPI_Isend and MPI_Waitall of 8,
 * MPI_Allreduce, MPI_Comm_split and MPI_Comm_free: N each toggled   thread 0 pauses and resumes, by fvmpi.h
 * and by MPI_Pcontrol, while the others send: at most all is counted; of MPI_Pcontrol what begins unpaused:
 * TOGGLES scramble  all pause and resume at once: nothing is promised but that the program survives unseen
 * all is paused: nothing again     all goes on: MPI_Sendrecv N each brief     SHORT threads that live for two
 * calls each: 2 * SHORT MPI_Sendrecv with itself, and what they cost does not grow with their number late a
 * call in a destructor of thread-local data, after which nothing of the thread is left poll      another
 * thread asks MPI_Initialized() all through MPI_Init
 */
#include "known.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

#define THREADS 8
#define N       60
#define TOGGLES 50
#define SHORT   2000

static MPI_Comm comm[THREADS];
static pthread_barrier_t start, meeting;
static pthread_key_t key;
static void (*pausing)(void), (*resuming)(void);

static int other(void)
{
    return 1 - me;
}

OP work(int t)
{
    int out[80] = { me, t }, in[80];
    MPI_Request r[2];
    MPI_Comm half;
    double sum, one = 1;

    if ((me + t) % 2) {
        OK(MPI_Send(out, 10 * t, MPI_INT, other(), t, comm[t]));
        OK(MPI_Recv(in, 80, MPI_INT, other(), t, comm[t], MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Recv(in, 80, MPI_INT, other(), t, comm[t], MPI_STATUS_IGNORE));
        OK(MPI_Send(out, 10 * t, MPI_INT, other(), t, comm[t]));
    }
    OK(MPI_Irecv(in, 2, MPI_INT, other(), 1000, comm[t], &r[0]));
    OK(MPI_Isend(out, 2, MPI_INT, other(), 1000, comm[t], &r[1]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    if (in[0] != other() || in[1] != t)
        known_failed(__LINE__);
    OK(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm[t]));
    OK(MPI_Comm_split(comm[t], 0, me, &half));
    OK(MPI_Comm_free(&half));
    if (sum != 2)
        known_failed(__LINE__);
}

OP exchange(int t)
{
    int out = t, in = -1;

    OK(PMPI_Sendrecv(&out, 1, MPI_INT, other(), 5, &in, 1, MPI_INT, other(), 5, comm[t], MPI_STATUS_IGNORE));
    if (in != t)
        known_failed(__LINE__);
}

OP toggled(int t)
{
    int out = t, in = -1;

    if (!t) {
        TIMES(TOGGLES)
        {
            pausing();
            resuming();
            OK(MPI_Pcontrol(0));
            OK(MPI_Pcontrol(1));
        }
        return;
    }
    TIMES(N)
    OK(MPI_Sendrecv(&out, 1, MPI_INT, other(), 6, &in, 1, MPI_INT, other(), 6, comm[t], MPI_STATUS_IGNORE));
}

OP scramble(int t)
{
    TIMES(TOGGLES)
    {
        ((i + t) % 2 ? pausing : resuming)();
        OK(MPI_Pcontrol((i + t / 2) % 2));
        exchange(t);
    }
}

OP unseen(int t)
{
    int out = t, in = -1;

    TIMES(N)
    OK(MPI_Sendrecv(&out, 1, MPI_INT, other(), 7, &in, 1, MPI_INT, other(), 7, comm[t], MPI_STATUS_IGNORE));
}

OP again(int t)
{
    int out = t, in = -1;

    TIMES(N)
    OK(MPI_Sendrecv(&out, 1, MPI_INT, other(), 8, &in, 1, MPI_INT, other(), 8, comm[t], MPI_STATUS_IGNORE));
}

/* One thread changes the state, all others see it. */
static void together(int t, void (*change)(void))
{
    pthread_barrier_wait(&meeting);
    if (!t)
        change();
    pthread_barrier_wait(&meeting);
}

static void *worker(void *number)
{
    int t = (int)(intptr_t)number;

    pthread_barrier_wait(&start);
    TIMES(N)
    work(t);
    pthread_barrier_wait(&meeting);
    toggled(t);
    pthread_barrier_wait(&meeting);
    scramble(t);
    together(t, pausing);
    unseen(t);
    together(t, resuming);
    again(t);
    return number;
}

OP poll(void)
{
    int there = 0;

    while (!there)
        OK(MPI_Initialized(&there));
}

static void *poller(void *unused)
{
    poll();
    return unused;
}

static __attribute__((noinline, noclone)) void late(void *unused)
{
    int flag;
    (void)unused;

    OK(MPI_Initialized(&flag));
}

OP brief(MPI_Comm self)
{
    int out = 1, in = 0;

    TIMES(2)
    OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, 9, &in, 1, MPI_INT, 0, 9, self, MPI_STATUS_IGNORE));
}

static void *short_lived(void *self)
{
    pthread_setspecific(key, self);
    brief(*(MPI_Comm *)self);
    return NULL;
}

static void all_short_lived(void)
{
    pthread_t thread[4];
    MPI_Comm self[4];

    for (int i = 0; i < 4; i++)
        OK(PMPI_Comm_dup(MPI_COMM_SELF, &self[i]));
    for (int done = 0; done < SHORT; done += 4) {
        for (int i = 0; i < 4; i++)
            if (pthread_create(&thread[i], NULL, short_lived, &self[i]))
                known_failed(__LINE__);
        for (int i = 0; i < 4; i++)
            pthread_join(thread[i], NULL);
    }
}

static void nothing(void) {}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS], asking;
    int provided;

    *(void **)&pausing = dlsym(RTLD_DEFAULT, "fvmpi_pause");
    *(void **)&resuming = dlsym(RTLD_DEFAULT, "fvmpi_resume");
    if (!pausing || !resuming)
        pausing = resuming = nothing;
    pthread_barrier_init(&start, NULL, THREADS + 1);
    pthread_barrier_init(&meeting, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, worker, (void *)i);
    pthread_create(&asking, NULL, poller, NULL);
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    known_start();
    pthread_join(asking, NULL);
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("no MPI_THREAD_MULTIPLE\n");
        fflush(NULL);
        _exit(PMPI_Finalize());
    }
    for (int i = 0; i < THREADS; i++)
        OK(PMPI_Comm_dup(WORLD, &comm[i]));
    pthread_barrier_wait(&start);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    pthread_key_create(&key, late); /* after the library's own, so its destructor comes later */
    all_short_lived();
    OK(MPI_Finalize());
    return 0;
}
