/* Rank 0 comes late to MPI, and rank 1 waits for it; how much of that its own threads' locks cost is known
 * here. One function each, printed by the rank that knows it:
 *     timed CASE heard NS   when who waits for the message called MPI_Recv
 *     timed CASE sent NS    when who was late called MPI_Send
 *     timed CASE from NS    when who waits for it left the barrier before, ...
 *     timed CASE began NS   ... and when who is late did; of a thread, its begin
 *     timed CASE locks NS   how late threads' waiting for a lock made it; measured by them
 *     queued CASE NS        how long a rank's threads waited for processors
 * All are in step before each. */
#define _GNU_SOURCE
#include "clock.h"

#include <mpi.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define SITE __attribute__((noinline))
#define LONG 60 /* ms */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, row = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;
static int rank, provided;
static int64_t locks, from; /* from: when the ranks were last in step */
static int64_t queued;      /* of threads that have ended since */

static int64_t acquire(pthread_mutex_t *lock)
{
    int64_t begin = now_ns();

    pthread_mutex_lock(lock);
    return now_ns() - begin;
}

static void tell(const char *name, const char *what, int64_t ns)
{
    printf("timed %s %s %lld\n", name, what, (long long)ns);
}

static void ends(void)
{
    __atomic_fetch_add(&queued, queued_ns(), __ATOMIC_RELAXED);
}

/* All of its threads but one have ended. */
static void tell_queued(const char *name)
{
    static int64_t before;
    int64_t now = queued_ns();

    printf("queued %s %lld\n", name, (long long)(now - before + queued));
    before = now, queued = 0;
}

SITE static void hear(const char *name)
{
    int64_t begin = now_ns();

    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tell(name, "heard", begin);
    if (rank)
        tell(name, "from", from);
}

SITE static void say(const char *name, int to, int64_t locked)
{
    int64_t begin = now_ns();

    MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    tell(name, "sent", begin);
    tell(name, "locks", locked);
    if (to)
        tell(name, "began", from);
}

static void in_step(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    from = now_ns();
}

static void *keeps(void *arg)
{
    pthread_mutex_lock(&gate);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    pause_ms(LONG);
    pthread_mutex_unlock(&gate);
    ends();
    return arg;
}

/* From when it returns, another thread of each rank keeps the gate for LONG. */
static pthread_t keep(void)
{
    pthread_t t;

    pthread_create(&t, NULL, keeps, NULL);
    pthread_barrier_wait(&turn);
    in_step();
    pthread_barrier_wait(&turn);
    return t;
}

/* The thread that sends waits for a lock. */
SITE static void direct(void)
{
    pthread_t t = keep();

    if (rank) {
        hear("direct");
    } else {
        int64_t locked = acquire(&gate);
        pthread_mutex_unlock(&gate);
        say("direct", 1, locked);
    }
    pthread_join(t, NULL);
}

/* When a thread's work ended, and would have ended without the lock. */
struct work {
    int64_t end, ideal;
};

static struct work ended(int64_t locked)
{
    int64_t end = now_ns();

    return (struct work){ end, end - locked };
}

/* How much earlier all of it would have ended. */
static int64_t late_by(const struct work *work, int count)
{
    int64_t end = 0, ideal = 0;

    for (int i = 0; i < count; i++) {
        end = work[i].end > end ? work[i].end : end;
        ideal = work[i].ideal > ideal ? work[i].ideal : ideal;
    }
    return end - ideal;
}

static void *in_row(void *arg)
{
    int64_t locked = acquire(&row);

    pause_ms(LONG / 3);
    pthread_mutex_unlock(&row);
    *(struct work *)arg = ended(locked);
    ends();
    return NULL;
}

/* It joins three that go through a lock one by one. */
SITE static void joined(void)
{
    pthread_t t[3];
    struct work work[3];

    in_step();
    if (rank) {
        hear("joined");
        return;
    }
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, in_row, &work[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    say("joined", 1, late_by(work, 3));
}

static void *computes(void *arg)
{
    pause_ms(LONG);
    ends();
    return arg;
}

/* It waits for a thread that computes: no lock is to blame. */
SITE static void computed(void)
{
    pthread_t t;

    in_step();
    if (rank) {
        hear("computed");
        return;
    }
    pthread_create(&t, NULL, computes, NULL);
    pthread_join(t, NULL);
    say("computed", 1, 0);
}

static void *behind_gate(void *arg)
{
    locks = acquire(&gate);
    pthread_mutex_unlock(&gate);
    pthread_barrier_wait(&turn);
    ends();
    return arg;
}

/* At a barrier of threads, the other one comes late from a lock. */
SITE static void barrier(void)
{
    pthread_t keeper = keep(), late;

    if (rank) {
        hear("barrier");
        pthread_join(keeper, NULL);
        return;
    }
    pthread_create(&late, NULL, behind_gate, NULL);
    int64_t begin = now_ns();
    pthread_barrier_wait(&turn);
    begin = now_ns() - begin;
    say("barrier", 1, locks < begin ? locks : begin);
    pthread_join(keeper, NULL);
    pthread_join(late, NULL);
}

static void *sends(void *arg)
{
    int64_t begin = now_ns(), locked = acquire(&gate);

    pthread_mutex_unlock(&gate);
    say("own", 0, locked);
    tell("own", "began", begin);
    ends();
    return arg;
}

/* A rank waits in MPI for a thread of its own, which waits for a lock. */
SITE static void own(void)
{
    pthread_t keeper = keep(), sender;

    if (!rank) {
        pthread_create(&sender, NULL, sends, NULL);
        hear("own");
        pthread_join(sender, NULL);
    }
    pthread_join(keeper, NULL);
}

#ifdef _OPENMP
/* Threads of a team go through a critical section one by one. */
SITE static void team(void)
{
    struct work work[2];

    in_step();
    if (rank) {
        hear("team");
        return;
    }
#pragma omp parallel for num_threads(2) schedule(static)
    for (int i = 0; i < 2; i++) {
        int64_t locked = now_ns();
#pragma omp critical(row)
        {
            locked = now_ns() - locked;
            pause_ms(LONG / 2);
        }
        work[i] = ended(locked);
        if (omp_get_thread_num())
            ends();
    }
    say("team", 1, late_by(work, 2));
}
#endif

int main(int argc, char **argv)
{
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_init(&turn, NULL, 2);
    direct(), tell_queued("direct");
    joined(), tell_queued("joined");
    computed(), tell_queued("computed");
    barrier(), tell_queued("barrier");
    if (provided == MPI_THREAD_MULTIPLE)
        own(), tell_queued("own");
#ifdef _OPENMP
    team(), tell_queued("team");
#endif
    MPI_Finalize();
    return 0;
}
