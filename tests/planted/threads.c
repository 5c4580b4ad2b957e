/* Programs whose threads wait for each other for a known reason: `threads PROBLEM [sound]`. All ranks do the same, but of `given` rank 1 alone. Rank 0 tells what the
 * program itself measured, summed over ranks: "truth wait_s SECONDS main_s SECONDS hold_s SECONDS". wait_s: of the threads that it
 * made, in what the problem is about; main_s: of main threads, for others; hold_s: that `cells` was held. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 2
#define STEPS   60

static pthread_mutex_t cells = PTHREAD_MUTEX_INITIALIZER;
static double wait_s, main_s, hold_s; /* under the lock `sums` */
static pthread_mutex_t sums = PTHREAD_MUTEX_INITIALIZER;

static double clock_s(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

static void compute(double seconds)
{
    double until = clock_s(CLOCK_THREAD_CPUTIME_ID) + seconds;
    volatile double x = 1;

    while (clock_s(CLOCK_THREAD_CPUTIME_ID) < until)
        for (int i = 0; i < 2000; i++)
            x = x * 1.0000001 + 1e-9;
}

static void add(double *sum, double seconds)
{
    pthread_mutex_lock(&sums);
    *sum += seconds;
    pthread_mutex_unlock(&sums);
}

/* ---- a pool: workers wait for tasks, on a condition or a semaphore ---- */

static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static sem_t ready;
static int queued, unfinished, closed;

__attribute__((noinline)) static int next_task(double *waited)
{
    int got;

    pthread_mutex_lock(&pool);
    while (!queued && !closed) {
        double since = now();
        pthread_cond_wait(&work, &pool);
        *waited += now() - since;
    }
    got = queued > 0;
    queued -= got;
    pthread_mutex_unlock(&pool);
    return got;
}

static void finish_task(void)
{
    pthread_mutex_lock(&pool);
    if (!--unfinished)
        pthread_cond_signal(&done);
    pthread_mutex_unlock(&pool);
}

static void *worker(void *seconds)
{
    double waited = 0;

    while (next_task(&waited)) {
        compute(*(double *)seconds);
        finish_task();
    }
    add(&wait_s, waited);
    return NULL;
}

__attribute__((noinline)) static int next_by_semaphore(double *waited)
{
    double since = now();
    int got;

    while (sem_wait(&ready))
        ;
    *waited += now() - since;
    pthread_mutex_lock(&pool);
    got = queued > 0;
    queued -= got;
    pthread_mutex_unlock(&pool);
    return got;
}

static void *worker_by_semaphore(void *seconds)
{
    double waited = 0;

    while (next_by_semaphore(&waited)) {
        compute(*(double *)seconds);
        finish_task();
    }
    add(&wait_s, waited);
    return NULL;
}

static void submit(int tasks)
{
    pthread_mutex_lock(&pool);
    queued += tasks;
    unfinished += tasks;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&pool);
    for (int i = 0; i < tasks; i++)
        sem_post(&ready);
}

static void wait_for_tasks(void)
{
    double since = now();

    pthread_mutex_lock(&pool);
    while (unfinished)
        pthread_cond_wait(&done, &pool);
    pthread_mutex_unlock(&pool);
    add(&main_s, now() - since);
}

static void close_pool(pthread_t *threads)
{
    double since;

    pthread_mutex_lock(&pool);
    closed = 1;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&pool);
    for (int i = 0; i < WORKERS; i++)
        sem_post(&ready);
    since = now();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    add(&main_s, now() - since);
}

/* Idle: the main thread does most by itself. Else it gives all of it to the workers, and waits. */
static void run_pool(void *(*routine)(void *), int idle)
{
    pthread_t threads[WORKERS];
    double seconds = 0.002;

    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, routine, &seconds);
    for (int step = 0; step < (idle ? STEPS : 4); step++) {
        submit(idle ? 1 : 40 * WORKERS);
        if (idle)
            compute(0.01);
        wait_for_tasks();
    }
    close_pool(threads);
}

/* ---- a lock ---- */

__attribute__((noinline)) static void update(double seconds)
{
    double since = now(), got;

    pthread_mutex_lock(&cells);
    got = now();
    compute(seconds);
    double until = now();
    pthread_mutex_unlock(&cells);
    add(&wait_s, got - since);
    add(&hold_s, until - got);
}

static void *contend(void *unused)
{
    for (int i = 0; i < STEPS; i++) {
        update(0.004);
        compute(0.001);
    }
    return unused;
}

static void *keep(void *unused)
{
    for (int i = 0; i < STEPS; i++)
        update(0.004);
    return unused;
}

static void *compute_alone(void *unused)
{
    compute(0.005 * STEPS);
    return unused;
}

static void run_threads(void *(*first)(void *), void *(*other)(void *))
{
    pthread_t threads[WORKERS];
    double since;

    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, i ? other : first, NULL);
    since = now();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    add(&main_s, now() - since);
}

/* One thread after the other holds it: nobody waits. */
static void take_turns(void)
{
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        double since;

        pthread_create(&thread, NULL, keep, NULL);
        since = now();
        pthread_join(thread, NULL);
        add(&main_s, now() - since);
        update(0.01);
    }
}

/* The main thread gives its work away, and has nothing else to do. */
static void give_away(void)
{
    pthread_t thread;
    double since;

    pthread_create(&thread, NULL, compute_alone, NULL);
    since = now();
    pthread_join(thread, NULL);
    add(&main_s, now() - since);
}

/* Threads that have one processor together, while the main thread waits for them. */
static void share_processor(int rank)
{
    cpu_set_t all, one;
    int which = 0;

    sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&one);
    for (int found = 0; found <= rank % CPU_COUNT(&all); which++)
        found += CPU_ISSET(which, &all);
    CPU_SET(which - 1, &one);
    sched_setaffinity(0, sizeof(one), &one);
    run_threads(compute_alone, compute_alone);
    sched_setaffinity(0, sizeof(all), &all);
}

int main(int argc, char **argv)
{
    const char *problem = argc > 1 ? argv[1] : "";
    int planted = argc < 3, rank;
    double mine[3], all[3];

    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sem_init(&ready, 0, 0);
    if (!strcmp(problem, "pool"))
        run_pool(worker, planted);
    if (!strcmp(problem, "semaphore"))
        run_pool(worker_by_semaphore, planted);
    if (!strcmp(problem, "contended"))
        run_threads(contend, planted ? contend : compute_alone);
    if (!strcmp(problem, "held"))
        run_threads(keep, compute_alone);
    if (!strcmp(problem, "turns"))
        take_turns();
    if (!strcmp(problem, "crowded"))
        share_processor(rank);
    if (!strcmp(problem, "given")) {
        if (rank == 1)
            give_away();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    mine[0] = wait_s;
    mine[1] = main_s;
    mine[2] = hold_s;
    PMPI_Reduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("truth wait_s %.6f main_s %.6f hold_s %.6f\n", all[0], all[1], all[2]);
    MPI_Finalize();
    return 0;
}
