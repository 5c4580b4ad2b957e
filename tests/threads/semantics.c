/* What the functions return, in every kind of lock and in every odd case: printed, and the same with fvmpi
 * and without. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t early = PTHREAD_MUTEX_INITIALIZER, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t forked = PTHREAD_MUTEX_INITIALIZER, many_lock = PTHREAD_MUTEX_INITIALIZER, left;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t posted;

static const char *say(int err)
{
    return err ? strerrorname_np(err) : "ok";
}
#define SHOW(call)     printf("%s: %s\n", #call, say(call))
#define SHOW_SEM(call) (errno = 77, printf("%s: %d %d\n", #call, call, errno))

__attribute__((constructor(101))) static void before_main(void)
{
    pthread_mutex_lock(&early);
    pthread_mutex_unlock(&early);
}

static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static pthread_mutexattr_t attributes(int type, int protocol, int robust, int shared)
{
    pthread_mutexattr_t a;

    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, type);
    pthread_mutexattr_setprotocol(&a, protocol);
    pthread_mutexattr_setrobust(&a, robust);
    pthread_mutexattr_setpshared(&a, shared);
    return a;
}

static void *lock_and_leave(void *arg)
{
    pthread_mutex_lock(arg);
    return arg;
}

static void *try_it(void *arg)
{
    pthread_mutex_t *m = arg;
    struct timespec limit = in_ms(CLOCK_REALTIME, 5), wrong = { 0, -1 };

    printf("of another: %s", say(pthread_mutex_trylock(m)));
    printf(" %s", say(pthread_mutex_timedlock(m, &limit)));
    limit = in_ms(CLOCK_MONOTONIC, 5);
    printf(" %s", say(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &limit)));
    printf(" %s", say(pthread_mutex_timedlock(m, &wrong)));
    printf(" %s\n", say(pthread_mutex_unlock(m)));
    return NULL;
}

static void elsewhere(void *(*function)(void *), void *arg)
{
    pthread_t t;

    pthread_create(&t, NULL, function, arg);
    pthread_join(t, NULL);
}

static void every_kind(int type, int protocol, int robust, int shared)
{
    pthread_mutexattr_t a = attributes(type, protocol, robust, shared);
    struct timespec limit = in_ms(CLOCK_REALTIME, 5), wrong = { 0, 2000000000 };
    pthread_mutex_t m;

    printf("type %d protocol %d robust %d shared %d\n", type, protocol, robust, shared);
    SHOW(pthread_mutex_init(&m, &a));
    if (type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE)
        SHOW(pthread_mutex_unlock(&m));
    SHOW(pthread_mutex_lock(&m));
    SHOW(pthread_mutex_trylock(&m));
    if (type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE) {
        SHOW(pthread_mutex_lock(&m));
        SHOW(pthread_mutex_timedlock(&m, &limit));
        SHOW(pthread_mutex_timedlock(&m, &wrong));
    }
    if (type == PTHREAD_MUTEX_ERRORCHECK)
        elsewhere(try_it, &m);
    while (type == PTHREAD_MUTEX_RECURSIVE && !pthread_mutex_unlock(&m))
        printf("unlocked\n");
    if (type != PTHREAD_MUTEX_RECURSIVE)
        SHOW(pthread_mutex_unlock(&m));
    SHOW(pthread_mutex_clocklock(&m, 17, &limit));
    SHOW(pthread_mutex_timedlock(&m, &wrong));
    SHOW(pthread_mutex_unlock(&m));
    if (robust == PTHREAD_MUTEX_ROBUST) {
        elsewhere(lock_and_leave, &m);
        SHOW(pthread_mutex_lock(&m));
        SHOW(pthread_mutex_consistent(&m));
        SHOW(pthread_mutex_unlock(&m));
        elsewhere(lock_and_leave, &m);
        SHOW(pthread_mutex_trylock(&m));
        SHOW(pthread_mutex_unlock(&m));
        SHOW(pthread_mutex_lock(&m));
        SHOW(pthread_mutex_trylock(&m));
    }
    SHOW(pthread_mutex_destroy(&m));
    pthread_mutexattr_destroy(&a);
}

static void read_write_locks(void)
{
    struct timespec limit = in_ms(CLOCK_REALTIME, 5), wrong = { 0, -5 };
    pthread_rwlock_t l;

    SHOW(pthread_rwlock_init(&l, NULL));
    SHOW(pthread_rwlock_rdlock(&l));
    SHOW(pthread_rwlock_tryrdlock(&l));
    SHOW(pthread_rwlock_trywrlock(&l));
    SHOW(pthread_rwlock_timedwrlock(&l, &limit));
    SHOW(pthread_rwlock_timedrdlock(&l, &wrong));
    SHOW(pthread_rwlock_clockrdlock(&l, 17, &limit));
    SHOW(pthread_rwlock_unlock(&l));
    SHOW(pthread_rwlock_unlock(&l));
    SHOW(pthread_rwlock_wrlock(&l));
    SHOW(pthread_rwlock_wrlock(&l));
    SHOW(pthread_rwlock_rdlock(&l));
    SHOW(pthread_rwlock_timedrdlock(&l, &limit));
    SHOW(pthread_rwlock_unlock(&l));
    SHOW(pthread_rwlock_destroy(&l));
}

static void on_alarm(int signal)
{
    (void)signal;
    sem_post(&posted);
}

static void semaphores(void)
{
    struct timespec limit = in_ms(CLOCK_REALTIME, 5), wrong = { 0, -5 };
    struct sigaction action = { .sa_handler = on_alarm };
    struct itimerspec often = { { 0, 20000 }, { 0, 20000 } };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
    timer_t timer;
    sem_t s;

    SHOW_SEM(sem_init(&s, 0, 2));
    SHOW_SEM(sem_wait(&s));
    SHOW_SEM(sem_trywait(&s));
    SHOW_SEM(sem_trywait(&s));
    SHOW_SEM(sem_timedwait(&s, &limit));
    SHOW_SEM(sem_timedwait(&s, &wrong));
    SHOW_SEM(sem_post(&s));
    SHOW_SEM(sem_timedwait(&s, &wrong));
    SHOW_SEM(sem_clockwait(&s, 17, &limit));
    SHOW_SEM(sem_timedwait(&s, &limit));
    sem_init(&posted, 0, 0);
    sigaction(SIGALRM, &action, NULL);
    ualarm(20000, 0);
    SHOW_SEM(sem_wait(&s)); /* interrupted */
    SHOW_SEM(sem_wait(&posted));
    /* a handler that posts while locks are made, taken and destroyed */
    sigaction(SIGUSR2, &action, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &often, NULL);
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_t *m = malloc(sizeof(*m));
        pthread_mutex_init(m, NULL);
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
        pthread_mutex_destroy(m);
        free(m);
    }
    timer_delete(timer);
    SHOW_SEM(sem_destroy(&s));
}

static void unlock(void *arg)
{
    pthread_mutex_unlock(arg);
}

static void *waits_forever(void *arg)
{
    pthread_cleanup_push(unlock, arg);
    pthread_mutex_lock(arg);
    for (;;)
        pthread_cond_wait(&cond, arg);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *takes_forever(void *arg)
{
    for (;;)
        sem_wait(arg);
    return NULL;
}

static void *joins_forever(void *arg)
{
    pthread_join(*(pthread_t *)arg, NULL);
    return NULL;
}

static void cancel(void *(*function)(void *), void *arg)
{
    pthread_t t;
    void *result;

    pthread_create(&t, NULL, function, arg);
    usleep(5000);
    pthread_cancel(t);
    pthread_join(t, &result);
    printf("cancelled %d\n", result == PTHREAD_CANCELED);
}

static void cancellation(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    struct timespec limit = in_ms(CLOCK_REALTIME, 5);
    pthread_t self = pthread_self();
    sem_t s;

    sem_init(&s, 0, 0);
    cancel(waits_forever, &m);
    SHOW(pthread_mutex_lock(&m));
    SHOW(pthread_cond_timedwait(&cond, &m, &limit));
    SHOW(pthread_mutex_unlock(&m));
    cancel(takes_forever, &s);
    cancel(joins_forever, &self);
    SHOW(pthread_join(pthread_self(), NULL));
}

static void *long_life(void *arg)
{
    usleep(30000);
    return arg;
}

static void joins(void)
{
    struct timespec limit = in_ms(CLOCK_REALTIME, 5);
    pthread_t t;
    void *result;

    pthread_create(&t, NULL, long_life, &limit);
    SHOW(pthread_tryjoin_np(t, &result));
    SHOW(pthread_timedjoin_np(t, &result, &limit));
    SHOW(pthread_clockjoin_np(t, &result, 17, &limit));
    SHOW(pthread_join(t, &result));
    printf("result %d\n", result == &limit);
    pthread_create(&t, NULL, long_life, NULL);
    pthread_detach(t);
    SHOW(pthread_join(t, &result));
}

static void shared_between_processes(void)
{
    struct {
        pthread_mutex_t mutex;
        pthread_barrier_t barrier;
        int count;
    } *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t a = attributes(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_SHARED);
    pthread_barrierattr_t b;
    int status;

    pthread_barrierattr_init(&b);
    pthread_barrierattr_setpshared(&b, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &a);
    pthread_barrier_init(&shared->barrier, &b, 2);
    pthread_mutex_lock(&forked);
    pid_t child = fork();
    if (!child)
        pthread_mutex_unlock(&forked);
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&shared->mutex);
        shared->count++;
        pthread_mutex_unlock(&shared->mutex);
    }
    pthread_barrier_wait(&shared->barrier);
    if (!child) {
        pthread_mutex_lock(&shared->mutex); /* and dies with it */
        for (int i = 0; i < 5000; i++) {
            pthread_mutex_lock(&forked);
            pthread_mutex_unlock(&forked);
        }
        _exit(7);
    }
    pthread_mutex_unlock(&forked);
    waitpid(child, &status, 0);
    printf("count %d child %d\n", shared->count, WEXITSTATUS(status));
    SHOW(pthread_mutex_lock(&shared->mutex));
}

static void *one_of_many(void *arg)
{
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&many_lock);
        ++*(long *)arg;
        pthread_mutex_unlock(&many_lock);
    }
    return NULL;
}

static void many(void)
{
    pthread_t t[64];
    long count = 0;

    for (int i = 0; i < 64; i++)
        pthread_create(&t[i], NULL, one_of_many, &count);
    for (int i = 0; i < 64; i++)
        pthread_join(t[i], NULL);
    printf("count %ld\n", count);
}

__attribute__((noinline)) static void reuses_an_address(void)
{
    static pthread_mutex_t place;

    for (int i = 0; i < 3; i++) {
        pthread_mutex_init(&place, NULL);
        for (int k = 0; k <= i; k++) {
            pthread_mutex_lock(&place);
            pthread_mutex_unlock(&place);
        }
        if (i < 2)
            pthread_mutex_destroy(&place);
    }
}

static pthread_mutex_t handed = PTHREAD_MUTEX_INITIALIZER;

static void *unlocks(void *arg)
{
    pthread_mutex_unlock(arg);
    return arg;
}

/* As a binary semaphore, which works for locks of the normal kind. */
__attribute__((noinline)) static void hands_over(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&handed);
        elsewhere(unlocks, &handed);
    }
    pthread_mutex_lock(&handed);
    usleep(10000);
    pthread_mutex_unlock(&handed);
}

static pthread_mutex_t robust_lock;

__attribute__((noinline)) static void locks_robust_again(void)
{
    pthread_mutexattr_t a =
        attributes(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_PRIVATE);

    pthread_mutex_init(&robust_lock, &a);
    for (int i = 0; i < 3; i++)
        SHOW(pthread_mutex_lock(&robust_lock));
    for (int i = 0; i < 3; i++)
        SHOW(pthread_mutex_unlock(&robust_lock));
}

int main(void)
{
    pthread_mutex_init(&left, NULL);
    every_kind(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE);
    every_kind(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE);
    every_kind(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE);
    every_kind(PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE);
    every_kind(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED,
               PTHREAD_PROCESS_PRIVATE);
    every_kind(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_PRIVATE);
    every_kind(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_SHARED);
    every_kind(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_SHARED);
    read_write_locks();
    semaphores();
    cancellation();
    joins();
    shared_between_processes();
    many();
    reuses_an_address();
    elsewhere(lock_and_leave, &left);
    for (int i = 0; i < 3; i++)
        pthread_mutex_lock(&recursive);
    usleep(10000);
    for (int i = 0; i < 3; i++)
        pthread_mutex_unlock(&recursive);
    hands_over();
    locks_robust_again();
    return 0;
}
