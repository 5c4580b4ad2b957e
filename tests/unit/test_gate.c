/* Threads that are let through one at a time: that the one is alone between fork, barriers and end; and that all go on,
 * whatever one waits for. */
#include "threads/gate.h"
#include "threads/solo.h"
#include "rt_stub.h"
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST  16
#define LONG  UINT64_C(60000000000) /* that no test reaches */
#define SHORT UINT64_C(300000000)

/* What the threads do, and what is seen of it. */
static struct team {
    uint32_t phase, count, rounds, one;
    pthread_barrier_t barrier;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool flag;
    int pipe[2];
    volatile uint64_t steps[MOST]; /* by thread */
    uint64_t before[MOST];
    uint32_t intervals, disturbed;
    bool is_refused;  /* begin() says so */
    bool is_given_up; /* while begin() runs */
    bool is_held;     /* by begin() */
    int catch_ups[MOST], catching_up[MOST];
    bool is_handled;
    pthread_t threads[MOST];
    void (*body)(uint32_t number);
} t;

static enum fv_gate_why begin(void)
{
    for (uint32_t i = 0; i < t.count; i++)
        t.before[i] = t.steps[i];
    if (t.is_given_up)
        fv_gate_give_up(t.phase, FV_GATE_NESTED);
    __atomic_store_n(&t.is_held, true, __ATOMIC_SEQ_CST);
    return t.is_refused ? FV_GATE_LATE : FV_GATE_GOOD;
}

static void end(void)
{
    for (uint32_t i = 0; i < t.count; i++)
        t.disturbed += i != t.one && t.steps[i] != t.before[i];
    t.intervals++;
    __atomic_store_n(&t.is_held, false, __ATOMIC_SEQ_CST);
}

static void rest(void)
{
    __atomic_store_n(&t.is_held, false, __ATOMIC_SEQ_CST);
}

static void catch_up(uint32_t seat, bool begins)
{
    t.catch_ups[seat] += begins;
    t.catching_up[seat] += begins ? 1 : -1;
}

static void work(uint32_t number)
{
    for (unsigned i = 0; i < 20000; i++)
        t.steps[number]++;
}

static void meet(pthread_barrier_t *barrier, uint32_t parties)
{
    fv_gate_arrive(parties);
    pthread_barrier_wait(barrier);
    fv_gate_leave();
}

static uint32_t lasts;

static void leave_gate(void *unused)
{
    (void)unused;
    __atomic_fetch_add(&lasts, fv_gate_exit(), __ATOMIC_SEQ_CST);
}

static void *thread_of(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument;

    pthread_cleanup_push(leave_gate, NULL);
    fv_gate_enter(t.phase, number, 0);
    t.body(number);
    pthread_cleanup_pop(1);
    return NULL;
}

static struct fv_gate_rules rules_of(uint64_t limit, uint64_t wait)
{
    return (struct fv_gate_rules){ .limit_ns = limit,
                                   .wait_ns = wait,
                                   .still_ns = wait,
                                   .gather_ns = limit,
                                   .begin = begin,
                                   .end = end,
                                   .rest = rest,
                                   .catch_up = catch_up };
}

/* So many threads, made one by one, of which `one` runs alone. How it went. */
static enum fv_gate_why run(uint32_t count, uint32_t rounds, uint32_t one, struct fv_gate_rules rules,
                            void (*body)(uint32_t))
{
    uint32_t threads;

    t = (struct team){ .count = count,
                       .rounds = rounds,
                       .one = one,
                       .body = body,
                       .is_refused = t.is_refused,
                       .is_given_up = t.is_given_up };
    pthread_barrier_init(&t.barrier, NULL, count);
    pthread_mutex_init(&t.mutex, NULL);
    pthread_cond_init(&t.cond, NULL);
    assert_int_equal(pipe(t.pipe), 0);
    lasts = 0;
    t.phase = fv_gate_open(&rules, one + count);
    assert_int_not_equal(t.phase, 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(fv_gate_seat(t.phase), (int)i);
        assert_int_equal(pthread_create(&t.threads[i], NULL, thread_of, (void *)(uintptr_t)i), 0);
    }
    fv_gate_full(t.phase);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(t.threads[i], NULL);
    enum fv_gate_why why = fv_gate_close(t.phase, &threads);
    assert_int_equal(threads, count);
    assert_int_equal(lasts, 1);
    assert_false(t.is_held);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(t.catching_up[i], 0);
    pthread_barrier_destroy(&t.barrier);
    close(t.pipe[0]);
    close(t.pipe[1]);
    return why;
}

/* ---- alone ---- */

static void barriers(uint32_t number)
{
    for (uint32_t i = 0; i < t.rounds; i++) {
        work(number);
        meet(&t.barrier, t.count);
    }
    work(number);
}

static void alone(void **state)
{
    (void)state;
    for (uint32_t one = 0; one < 4; one++) {
        assert_int_equal(run(4, 5, one, rules_of(LONG, LONG), barriers), FV_GATE_GOOD);
        assert_int_equal(t.intervals, 6);
        assert_int_equal(t.disturbed, 0);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(t.steps[i], 6 * 20000);
        for (uint32_t i = 0; i < 4; i++) /* once is told: between two rounds it is parked, and still does */
            assert_int_equal(t.catch_ups[i], i != one);
    }
    assert_int_equal(run(2, 0, 1, rules_of(LONG, LONG), barriers), FV_GATE_GOOD);
    assert_int_equal(t.intervals, 1);
    assert_int_equal(t.disturbed, 0);
    assert_int_equal(run(1, 3, 0, rules_of(LONG, LONG), barriers), FV_GATE_GOOD); /* one thread: nothing is measured */
    assert_int_equal(t.intervals, 0);
}

/* ---- the one waits for a parked one ---- */

static void wait_for_flag(void)
{
    fv_gate_waits();
    pthread_mutex_lock(&t.mutex);
    while (!t.flag)
        pthread_cond_wait(&t.cond, &t.mutex);
    pthread_mutex_unlock(&t.mutex);
    fv_gate_works();
}

static void condition(uint32_t number)
{
    if (number == t.one) {
        wait_for_flag();
    } else {
        pthread_mutex_lock(&t.mutex);
        t.flag = true;
        pthread_cond_broadcast(&t.cond);
        pthread_mutex_unlock(&t.mutex);
    }
    meet(&t.barrier, t.count);
}

/* A thread holds a lock over a barrier, behind which it is parked. */
static void held(uint32_t number)
{
    if (number != t.one && number < 2)
        pthread_mutex_lock(&t.mutex);
    meet(&t.barrier, t.count);
    if (number == t.one) {
        fv_gate_waits();
        pthread_mutex_lock(&t.mutex);
        fv_gate_works();
        pthread_mutex_unlock(&t.mutex);
    } else if (number < 2) {
        pthread_mutex_unlock(&t.mutex);
    }
}

static void spinning(uint32_t number)
{
    if (number == t.one)
        while (!__atomic_load_n(&t.flag, __ATOMIC_ACQUIRE))
            ;
    else
        __atomic_store_n(&t.flag, true, __ATOMIC_RELEASE);
}

static void unseen(uint32_t number)
{
    char c = 'x';

    if (number == t.one)
        assert_int_equal(read(t.pipe[0], &c, 1), 1);
    else
        assert_int_equal(write(t.pipe[1], &c, 1), 1);
}

static void waits(void **state)
{
    (void)state;
    assert_int_equal(run(2, 0, 0, rules_of(LONG, SHORT), condition), FV_GATE_WAITS);
    assert_int_equal(run(3, 0, 0, rules_of(LONG, SHORT), held), FV_GATE_WAITS);
    assert_int_equal(run(2, 0, 1, rules_of(SHORT, LONG), spinning), FV_GATE_LONG);
    assert_int_equal(run(2, 0, 0, rules_of(LONG, SHORT), unseen), FV_GATE_STILL);
}

/* ---- barriers of some threads ---- */

static pthread_barrier_t pair;
static uint32_t pair_parties;

static void nested(uint32_t number)
{
    if (number < 2)
        meet(&pair, pair_parties);
    meet(&t.barrier, t.count);
    work(number);
    if (number > 1)
        meet(&pair, pair_parties);
}

static void some(void **state)
{
    (void)state;
    for (pair_parties = 0; pair_parties <= 2; pair_parties += 2) { /* known how many, or not */
        pthread_barrier_init(&pair, NULL, 2);
        assert_int_equal(run(4, 0, 0, rules_of(SHORT, LONG), nested), FV_GATE_BARRIERS);
        pthread_barrier_destroy(&pair);
    }
}

/* ---- threads that leave, signals ---- */

static void cancelling(uint32_t number)
{
    int was;

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &was);
    if (number == t.one)
        pthread_cancel(t.threads[1]);
    else
        fv_gate_leave(); /* parked once more, where it is cancelled */
}

static void cancelled(uint32_t number)
{
    if (number == t.one)
        pthread_exit(NULL);
    work(number);
}

static void handle(int signal)
{
    (void)signal;
    __atomic_store_n(&t.is_handled, true, __ATOMIC_RELEASE);
}

static sigjmp_buf away;

static void jump(int signal)
{
    (void)signal;
    __atomic_store_n(&t.is_handled, true, __ATOMIC_RELEASE);
    siglongjmp(away, 1);
}

/* The parked thread handles its signal meanwhile: the one waits for that. */
static void signalled(uint32_t number)
{
    if (number == t.one) {
        pthread_kill(t.threads[1], SIGUSR1);
        while (!__atomic_load_n(&t.is_handled, __ATOMIC_ACQUIRE))
            ;
    }
    meet(&t.barrier, t.count);
}

/* Its child, and threads that it makes, are not where it catches up. */
static void fork_catching_up(uint32_t number)
{
    pid_t child = fork();
    int status = -1;

    if (!child) {
        int was = t.catching_up[number];

        fv_gate_forget();
        _exit(was != 1 || t.catching_up[number]);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(t.catching_up[number], 1);
    fv_gate_come_back();
    assert_int_equal(t.catching_up[number], 0);
}

static void forking(uint32_t number)
{
    if (number != t.one)
        fork_catching_up(number);
    if (number == t.one) {
        pid_t child = fork();
        int status = -1;

        if (!child) {
            fv_gate_forget();
            fv_gate_arrive(0);
            fv_gate_leave();
            _exit(fv_gate_exit() || fv_gate_mine());
        }
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
    }
    meet(&t.barrier, t.count);
}

static void leaving(void **state)
{
    struct sigaction action = { .sa_handler = handle };
    (void)state;

    assert_int_equal(run(2, 0, 0, rules_of(LONG, LONG), cancelled), FV_GATE_GOOD); /* its end is its end */
    sigaction(SIGUSR1, &action, NULL);
    assert_int_equal(run(2, 0, 0, rules_of(LONG, LONG), signalled), FV_GATE_GOOD);
    assert_int_equal(run(2, 0, 0, rules_of(LONG, LONG), forking), FV_GATE_GOOD);
    assert_int_equal(run(3, 0, 0, rules_of(LONG, LONG), cancelling), FV_GATE_GOOD);
}

/* That thread is parked in its entry, where the jump can't lead; it is begun by hand. */
static void *jumper(void *unused)
{
    if (!sigsetjmp(away, 1))
        fv_gate_enter(t.phase, 1, 0);
    __atomic_store_n(&t.steps[1], 1, __ATOMIC_RELEASE);
    fv_gate_exit();
    return unused;
}

static void jumps(void **state)
{
    struct sigaction action = { .sa_handler = jump };
    struct fv_gate_rules rules = rules_of(LONG, LONG);
    uint32_t threads;
    (void)state;

    t = (struct team){ .count = 2 };
    sigaction(SIGUSR2, &action, NULL);
    t.phase = fv_gate_open(&rules, 0);
    assert_int_equal(fv_gate_seat(t.phase), 0);
    assert_int_equal(fv_gate_seat(t.phase), 1);
    assert_int_equal(pthread_create(&t.threads[1], NULL, jumper, NULL), 0);
    fv_gate_full(t.phase);
    fv_gate_enter(t.phase, 0, 0); /* we are the one: the other one is parked now */
    assert_int_equal(__atomic_load_n(&t.steps[1], __ATOMIC_ACQUIRE), 0);
    pthread_kill(t.threads[1], SIGUSR2);
    pthread_join(t.threads[1], NULL);
    assert_int_equal(t.steps[1], 1);
    assert_true(fv_gate_exit());
    assert_int_equal(fv_gate_close(t.phase, &threads), FV_GATE_GOOD);
}

/* ---- what begins or is made otherwise ---- */

static void *enter(void *number)
{
    fv_gate_enter(t.phase, (uint32_t)(uintptr_t)number, 0);
    __atomic_store_n(&t.steps[(uintptr_t)number], 1, __ATOMIC_RELEASE);
    fv_gate_exit();
    return NULL;
}

/* Their creator never waits where it is seen. */
static void never_full(void **state)
{
    struct fv_gate_rules rules = rules_of(LONG, SHORT);
    uint32_t threads;
    (void)state;

    t = (struct team){ .count = 2 };
    t.phase = fv_gate_open(&rules, 0);
    assert_int_equal(fv_gate_open(&rules, 0), 0); /* one at a time */
    for (uintptr_t i = 0; i < 2; i++) {
        assert_int_equal(fv_gate_seat(t.phase), (int)i);
        pthread_create(&t.threads[i], NULL, enter, (void *)i);
    }
    while (!__atomic_load_n(&t.steps[0], __ATOMIC_RELAXED) || !__atomic_load_n(&t.steps[1], __ATOMIC_RELAXED))
        ;
    pthread_join(t.threads[0], NULL);
    pthread_join(t.threads[1], NULL);
    assert_int_equal(fv_gate_close(t.phase, &threads), FV_GATE_CREATOR);
    assert_int_equal(fv_gate_close(t.phase, &threads), FV_GATE_LEFT); /* it is closed */
}

/* A thread is not made, or not recorded: first, and when the other has come to its end. */
static void empty(void **state)
{
    struct fv_gate_rules rules = rules_of(LONG, LONG);
    uint32_t threads;
    (void)state;

    for (int is_first = 0; is_first < 2; is_first++) {
        t = (struct team){ .count = 2 };
        t.phase = fv_gate_open(&rules, 0);
        assert_int_equal(fv_gate_seat(t.phase), 0);
        assert_int_equal(fv_gate_seat(t.phase), 1);
        if (is_first)
            assert_false(fv_gate_seat_empty(t.phase, 1));
        else
            fv_gate_give_up(t.phase, FV_GATE_LEFT);
        fv_gate_enter(t.phase, 0, 0);
        assert_int_equal(fv_gate_exit(), is_first);
        if (!is_first)
            assert_true(fv_gate_seat_empty(t.phase, 1));
        assert_int_equal(fv_gate_close(t.phase, &threads), FV_GATE_LEFT);
        assert_false(fv_gate_seat_empty(t.phase, 1)); /* it is closed */
    }
}

static void not_ready(void **state)
{
    (void)state;
    t.is_refused = true;
    assert_int_equal(run(3, 2, 1, rules_of(LONG, LONG), barriers), FV_GATE_LATE);
    t.is_refused = false;
    t.is_given_up = true;
    assert_int_equal(run(3, 2, 1, rules_of(LONG, LONG), barriers), FV_GATE_NESTED);
    t.is_given_up = false;
}

static void give_up(uint32_t number)
{
    if (number == t.one)
        fv_gate_give_up(fv_gate_mine(), FV_GATE_NESTED);
    for (uint32_t i = 0; i < 3; i++)
        meet(&t.barrier, t.count);
}

static void *team_thread(void *number)
{
    fv_gate_enter(t.phase, (uint32_t)(uintptr_t)number, t.count);
    t.body((uint32_t)(uintptr_t)number);
    fv_gate_exit();
    return NULL;
}

/* As OpenMP's teams are: how many they are, they say themselves. */
static void teams(void **state)
{
    struct fv_gate_rules rules = rules_of(LONG, LONG);
    uint32_t threads;
    (void)state;

    assert_int_equal(run(3, 0, 2, rules, give_up), FV_GATE_NESTED);
    for (uint32_t n = 0; n < 200; n++) {
        t = (struct team){ .count = 2 + n % 5, .rounds = n % 7, .body = barriers };
        t.one = n % t.count;
        pthread_barrier_init(&t.barrier, NULL, t.count);
        t.phase = fv_gate_open(&rules, n);
        for (uintptr_t i = 1; i < t.count; i++)
            assert_int_equal(pthread_create(&t.threads[i], NULL, team_thread, (void *)i), 0);
        team_thread(NULL);
        for (uint32_t i = 1; i < t.count; i++)
            pthread_join(t.threads[i], NULL);
        assert_int_equal(fv_gate_close(t.phase, &threads), FV_GATE_GOOD);
        assert_int_equal(threads, t.count);
        assert_int_equal(t.intervals, t.rounds + 1);
        assert_int_equal(t.disturbed, 0);
        pthread_barrier_destroy(&t.barrier);
    }
    t = (struct team){ .count = FV_GATE_SEATS + 1 };
    t.phase = fv_gate_open(&rules, 0);
    fv_gate_enter(t.phase, 0, t.count);
    fv_gate_exit();
    assert_int_equal(fv_gate_close(t.phase, &threads), FV_GATE_LARGE);
}

/* Of many instances fewer are measured; the threads take turns in them all the same. */
static void turns(void **state)
{
    (void)state;
    for (uint32_t threads = 2; threads <= MOST; threads++) {
        struct fv_solo_record phase = { .kind = FV_SOLO_OMP };
        uint64_t of[MOST] = { 0 };

        for (uint64_t n = 0; n < 4096; n++) {
            if (!fv_solo_is_turn(n))
                continue;
            of[fv_solo_pick(&phase) % threads]++;
            phase.measured++;
        }
        assert_int_equal(phase.measured, 64 + 6 * 32);
        for (uint32_t i = 0; i < threads; i++)
            assert_in_range(of[i], phase.measured / threads, phase.measured / threads + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone), cmocka_unit_test(waits),      cmocka_unit_test(some),  cmocka_unit_test(leaving),
        cmocka_unit_test(jumps), cmocka_unit_test(never_full), cmocka_unit_test(empty), cmocka_unit_test(not_ready),
        cmocka_unit_test(teams), cmocka_unit_test(turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
