#define _GNU_SOURCE
/* Phases of threads that wait for each other in many ways: what each prints is the same, however its threads are scheduled. Run with fvmpi's solo runs they must not hang. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 5, TIMES = 4 };

static pthread_barrier_t barrier, pair;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int flags[THREADS], channel[2];
static long sums[64], total;

static long work(long n)
{
    volatile long sum = 0;

    for (long i = 0; i < n; i++)
        sum += i % 7;
    return sum;
}

/* ---- OpenMP ---- */

static void omp_barriers(void)
{
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel num_threads(THREADS)
        {
            for (int r = 0; r < ROUNDS; r++) {
#pragma omp for schedule(static) nowait
                for (int i = 0; i < 12; i++)
                    sums[i] += work(1000 * (i + 1));
#pragma omp critical
                total++;
#pragma omp barrier
            }
        }
    }
}

static void omp_single(void)
{
    long got = 0;

#pragma omp parallel num_threads(THREADS) firstprivate(got)
    for (int r = 0; r < ROUNDS; r++) {
#pragma omp single copyprivate(got)
        got = work(1000) + r;
#pragma omp critical
        total += got;
#pragma omp barrier
#pragma omp single
        total += work(100);
    }
}

static void omp_loops(void)
{
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(dynamic) reduction(+ : total)
        for (int i = 0; i < 100; i++)
            total += work(100 * i);
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 6; i++) {
#pragma omp ordered
            total = total * 3 + i;
        }
#pragma omp sections
        {
#pragma omp section
            sums[0] = work(100);
#pragma omp section
            sums[1] = work(200);
        }
    }
}

static void omp_tasks(void)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
        for (int i = 0; i < 20; i++) {
#pragma omp task firstprivate(i)
            sums[i] = work(1000 * i);
        }
#pragma omp taskwait
        for (int i = 0; i < 20; i++)
            total += sums[i];
    }
}

/* Where the first waits for the last, which is parked. */
static void omp_flags(void)
{
#pragma omp parallel num_threads(THREADS)
    {
        int me = 0, before;

#pragma omp critical
        me = (int)total++;
        for (before = me + 1; before < THREADS; before++)
            while (!__atomic_load_n(&flags[before], __ATOMIC_ACQUIRE))
                ;
        __atomic_store_n(&flags[me], 1, __ATOMIC_RELEASE);
    }
}

static void omp_nested(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2) reduction(+ : total)
        total += work(1000);
    }
}

static void omp_many(void)
{
    for (int t = 0; t < 3000; t++) {
#pragma omp parallel num_threads(2) reduction(+ : total)
        total += work(10);
    }
}

/* ---- threads ---- */

static void run(void *(*body)(void *), int count)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, body, (void *)i))
            abort();
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void *barriers_body(void *number)
{
    for (int r = 0; r < ROUNDS; r++) {
        sums[(long)number] += work(1000 * (r + 1));
        pthread_mutex_lock(&mutex);
        total++;
        pthread_mutex_unlock(&mutex);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

/* Whoever comes first waits for the others. */
static void *condition_body(void *unused)
{
    pthread_mutex_lock(&mutex);
    if (++total == THREADS)
        pthread_cond_broadcast(&cond);
    while (total < THREADS)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *semaphore_body(void *unused)
{
    pthread_mutex_lock(&mutex);
    int me = (int)total++;
    pthread_mutex_unlock(&mutex);
    if (me == 0)
        sem_wait(&semaphore);
    else if (me == THREADS - 1)
        sem_post(&semaphore);
    return unused;
}

static void *pipe_body(void *unused)
{
    char c = 'x';

    pthread_mutex_lock(&mutex);
    int me = (int)total++;
    pthread_mutex_unlock(&mutex);
    if (me == 0 && read(channel[0], &c, 1) != 1)
        abort();
    if (me == THREADS - 1 && write(channel[1], &c, 1) != 1)
        abort();
    return unused;
}

/* Each round another thread holds a lock over the barrier, and lets it go behind it, when others want it. */
static void *held_body(void *number)
{
    for (int r = 0; r < ROUNDS; r++) {
        if (r % THREADS == (long)number)
            pthread_mutex_lock(&mutex);
        pthread_barrier_wait(&barrier);
        if (r % THREADS == (long)number) {
            pthread_mutex_unlock(&mutex);
        } else {
            pthread_mutex_lock(&mutex);
            total++;
            pthread_mutex_unlock(&mutex);
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void *pair_body(void *number)
{
    for (int r = 0; r < ROUNDS; r++) {
        if ((long)number < 2)
            pthread_barrier_wait(&pair);
        sums[(long)number] += work(1000);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void *leave_body(void *number)
{
    if ((long)number == 1)
        pthread_exit(NULL);
    sums[(long)number] = work(1000);
    return NULL;
}

static void *fork_body(void *number)
{
    int status = -1;
    pid_t child = fork();

    if (!child) {
        pthread_barrier_t own;

        pthread_barrier_init(&own, NULL, 1);
        pthread_barrier_wait(&own);
        _exit((int)(long)number + 1);
    }
    waitpid(child, &status, 0);
    sums[(long)number] = WEXITSTATUS(status);
    return NULL;
}

static void *exit_body(void *unused)
{
    pthread_mutex_lock(&mutex); /* only the first comes through */
    printf("one leaves\n");
    exit(7);
    return unused;
}

static void *cancel_body(void *number)
{
    static pthread_t first;
    int was;

    if ((long)number == 0)
        first = pthread_self();
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &was);
    pthread_barrier_wait(&barrier);
    if ((long)number == 1)
        pthread_cancel(first);
    if ((long)number == 0)
        pause();
    return NULL;
}

static void *sleeper(void *unused)
{
    usleep(20000);
    return unused;
}

static void *maker_body(void *unused)
{
    pthread_t inner;

    if (pthread_create(&inner, NULL, sleeper, NULL))
        abort();
    pthread_join(inner, NULL);
    return unused;
}

/* Two threads that each fork teams: neither team's thread would be alone. */
static void *teams_body(void *number)
{
    for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2)
#pragma omp for schedule(static)
        for (int k = 0; k < 8; k++)
            sums[(long)number * 8 + k] += work(20000);
    }
    return NULL;
}

/* The second time the threads are known not to be separable, and are not parked; their regions are then measured, or not. */
static void teams(void)
{
    run(teams_body, 2);
    run(teams_body, 2);
}

/* The creator waits for each thread to begin, as interpreters do. */
static void *handshake_body(void *number)
{
    sem_post(&semaphore);
    sums[(long)number] = work(1000);
    return NULL;
}

static void handshake(void)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, handshake_body, (void *)i))
            abort();
        sem_wait(&semaphore);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* The creator is one of them. */
static void creator(void)
{
    pthread_t threads[THREADS - 1];

    for (long i = 1; i < THREADS; i++)
        if (pthread_create(&threads[i - 1], NULL, barriers_body, (void *)i))
            abort();
    while (!__atomic_load_n(&sums[2], __ATOMIC_RELAXED)) /* it sees what they do, not by a lock */
        work(1000);
    barriers_body(NULL);
    for (int i = 0; i < THREADS - 1; i++)
        pthread_join(threads[i], NULL);
}

static volatile sig_atomic_t ticks;

static void tick(int signal)
{
    (void)signal;
    ticks++;
}

static void signals(void)
{
    struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
    struct itimerval each = { { 0, 1000 }, { 0, 1000 } }, none = { { 0, 0 }, { 0, 0 } };

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
    for (int i = 0; i < 10; i++)
        run(barriers_body, THREADS);
    omp_barriers();
    setitimer(ITIMER_REAL, &none, NULL);
}

/* Half of the rounds on one processor, half on the other one (CPUS="A B"). */
static void *moves_body(void *unused)
{
    for (int round = 0; round < 2 * ROUNDS; round++) {
        cpu_set_t set;
        int cpus[2] = { 0, 0 };

        sscanf(getenv("CPUS"), "%d %d", &cpus[0], &cpus[1]);
        CPU_ZERO(&set);
        CPU_SET(cpus[round % 2], &set);
        sched_setaffinity(0, sizeof(set), &set);
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

/* They may be moved meanwhile, but not for good. */
static void masks(void)
{
    cpu_set_t before, now[THREADS];

    sched_getaffinity(0, sizeof(before), &before);
    omp_barriers();
#pragma omp parallel num_threads(THREADS)
    {
        static int came;
        int me = __atomic_fetch_add(&came, 1, __ATOMIC_SEQ_CST);

        sched_getaffinity(0, sizeof(now[me]), &now[me]);
    }
    omp_barriers();
    for (int i = 0; i < THREADS; i++)
        total += 1000 * CPU_EQUAL(&before, &now[i]);
}

static const struct mode {
    const char *name;
    void (*function)(void);
    void *(*body)(void *);
    int count;
} modes[] = {
    { "omp_barriers", omp_barriers, NULL, 0 }, { "omp_single", omp_single, NULL, 0 }, { "omp_loops", omp_loops, NULL, 0 },
    { "omp_tasks", omp_tasks, NULL, 0 }, { "omp_flags", omp_flags, NULL, 0 }, { "omp_nested", omp_nested, NULL, 0 },
    { "omp_many", omp_many, NULL, 0 }, { "barriers", NULL, barriers_body, THREADS }, { "condition", NULL, condition_body, THREADS },
    { "semaphore", NULL, semaphore_body, THREADS }, { "pipe", NULL, pipe_body, THREADS }, { "held", NULL, held_body, THREADS },
    { "pair", NULL, pair_body, THREADS }, { "leave", NULL, leave_body, THREADS }, { "fork", NULL, fork_body, THREADS },
    { "exit", NULL, exit_body, THREADS }, { "cancel", NULL, cancel_body, THREADS }, { "maker", NULL, maker_body, 2 },
    { "teams", teams, NULL, 0 }, { "handshake", handshake, NULL, 0 }, { "creator", creator, NULL, 0 }, { "signals", signals, NULL, 0 }, { "masks", masks, NULL, 0 }, { "moves", NULL, moves_body, THREADS },
};

int main(int count, char **words)
{
    const struct mode *mode = NULL;

    for (size_t i = 0; count > 1 && i < sizeof(modes) / sizeof(*modes); i++)
        if (!strcmp(modes[i].name, words[1]))
            mode = &modes[i];
    if (!mode || pipe(channel) || sem_init(&semaphore, 0, 0))
        return 2;
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_barrier_init(&pair, NULL, 2);
    if (mode->function)
        mode->function();
    else
        run(mode->body, mode->count);
    printf("%s %ld", mode->name, total);
    for (int i = 0; i < 24; i++)
        printf(" %ld", sums[i]);
    printf("\n");
    return 0;
}
