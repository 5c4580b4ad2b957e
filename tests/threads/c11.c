/* C11's threads: what the functions return is printed, and the same with fvmpi and without. */
#include <stdint.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

static mtx_t contended, again, timed;
static cnd_t turned;
static once_flag once = ONCE_FLAG_INIT;
static int turn;

static const char *say(int err)
{
    return err == thrd_success    ? "success"
           : err == thrd_busy     ? "busy"
           : err == thrd_timedout ? "timed out"
           : err == thrd_nomem    ? "no memory"
                                  : "error";
}
#define SHOW(call) printf("%s: %s\n", #call, say(call))
/* Of a call that another thread's output follows, which may come before: what it returned, said later. */
#define SHOW_LATER(call, err) printf("%s: %s\n", #call, say(err))

static struct timespec in_ms(long ms)
{
    struct timespec t;

    timespec_get(&t, TIME_UTC);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void count(void)
{
    puts("once");
}

static int holds(void *arg)
{
    struct timespec t = { 0, 20000000 };

    (void)arg;
    call_once(&once, count);
    mtx_lock(&contended);
    turn = 1;
    cnd_signal(&turned);
    thrd_sleep(&t, NULL);
    mtx_unlock(&contended);
    thrd_exit(-7);
}

static int tries(void *arg)
{
    struct timespec t = in_ms(5), wrong = { 0, -1 };

    SHOW(mtx_trylock(arg));
    SHOW(mtx_timedlock(arg, &t));
    SHOW(mtx_timedlock(arg, &wrong));
    return 5;
}

static void elsewhere(thrd_start_t function, void *arg)
{
    thrd_t t;
    int result, made = thrd_create(&t, function, arg);

    SHOW(thrd_join(t, &result));
    SHOW_LATER(thrd_create, made);
    printf("result %d\n", result);
}

int main(void)
{
    struct timespec t;
    thrd_t other;
    int result, made;

    SHOW(mtx_init(&contended, mtx_plain));
    SHOW(mtx_init(&timed, mtx_timed));
    SHOW(mtx_init(&again, mtx_timed | mtx_recursive));
    SHOW(cnd_init(&turned));
    for (int i = 0; i < 3; i++)
        SHOW(mtx_lock(&again));
    elsewhere(tries, &again);
    for (int i = 0; i < 4; i++)
        SHOW(mtx_unlock(&again));
    SHOW(mtx_lock(&timed));
    elsewhere(tries, &timed);
    SHOW(mtx_unlock(&timed));
    SHOW(mtx_lock(&contended));
    made = thrd_create(&other, holds, NULL);
    while (!turn)
        SHOW(cnd_wait(&turned, &contended));
    SHOW_LATER(thrd_create, made);
    t = in_ms(5);
    SHOW(cnd_timedwait(&turned, &contended, &t));
    SHOW(mtx_unlock(&contended));
    SHOW(thrd_join(other, &result));
    printf("result %d\n", result);
    call_once(&once, count);
    SHOW(cnd_broadcast(&turned));
    cnd_destroy(&turned);
    mtx_destroy(&contended);
    return 0;
}
