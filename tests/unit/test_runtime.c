/* Calls of the runtime with known answers: cells, regions between calls, pausing, handlers that jump away, locks. One
 * process, one experiment for all tests. */
#include "rt_calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

static int next_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY);

    close(fd);
    return fd;
}

/* The first call starts the runtime, and unwinds: the rank file and libunwind's pipe keep away from the
 * descriptors that the application gets next. */
static void test_descriptors_stay(void **state)
{
    struct fv_call call;
    int before = next_descriptor();
    (void)state;

    call_as(&call, 0, NULL, 1, 0, 10);
    assert_int_equal(next_descriptor(), before);
}

static void test_cells_add_up(void **state)
{
    static const uint64_t sent[11] = { 0, 100, 127, 100, 100, 70, 100, 100, 100, 100, 100 },
                          received[11] = { [7] = 64 };
    struct fv_call call;
    (void)state;

    for (int i = 1; i <= 10; i++)
        call_as(&call, 0, NULL, sent[i], received[i], (uint64_t)i * 1000);
    const struct fv_cell *c = call.cell;
    assert_int_equal(c->calls, 10);
    assert_int_equal(c->time_sum, 55000);
    assert_int_equal(c->time_min, 1000);
    assert_int_equal(c->time_max, 10000);
    assert_int_equal(c->square_low, 385000000);
    assert_int_equal(c->square_high, 0);
    assert_int_equal(c->bytes_sent, 997);
    assert_int_equal(c->bytes_received, 64);
    assert_int_equal(c->sends, 10);
    assert_int_equal(c->receives, 1);
    assert_int_equal(c->size_bucket, 7);
    assert_int_equal(c->size_min, 64);
    assert_int_equal(c->size_max, 127);
}

/* What a cell must hold, added up call by call. */
static void add_expected(struct fv_cell *cell, uint64_t sent, uint64_t received, uint64_t ticks)
{
    unsigned __int128 squares = (unsigned __int128)cell->square_high << 64 | cell->square_low;
    unsigned bucket = fv_log2_bucket(ticks >> FV_TIME_SHIFT);

    squares += (unsigned __int128)ticks * ticks;
    cell->square_low = (uint64_t)squares;
    cell->square_high = (uint64_t)(squares >> 64);
    cell->time_min = !cell->calls || ticks < cell->time_min ? ticks : cell->time_min;
    cell->time_max = ticks > cell->time_max ? ticks : cell->time_max;
    cell->time_sum += ticks;
    cell->time_histogram[bucket < FV_TIME_BUCKETS ? bucket : FV_TIME_BUCKETS - 1]++;
    cell->calls++;
    cell->bytes_sent += sent;
    cell->bytes_received += received;
    cell->sends += sent != 0;
    cell->receives += received != 0;
}

static void expect_same(const struct fv_cell *cell, const struct fv_cell *expected)
{
    assert_int_equal(cell->calls, expected->calls);
    assert_true(cell->time_sum == expected->time_sum && cell->time_min == expected->time_min &&
                cell->time_max == expected->time_max);
    assert_true(cell->square_low == expected->square_low && cell->square_high == expected->square_high);
    assert_memory_equal(cell->time_histogram, expected->time_histogram, sizeof(cell->time_histogram));
    assert_int_equal(cell->bytes_sent, expected->bytes_sent);
    assert_int_equal(cell->bytes_received, expected->bytes_received);
    assert_int_equal(cell->sends, expected->sends);
    assert_int_equal(cell->receives, expected->receives);
}

/* Calls from one place, of some sizes and on two communicators in runs of different lengths, of all durations: each is
 * counted as if it were the only one. */
static void test_repeated_calls(void **state)
{
    enum { SIZES = 4, COMMS = 2 };
    static const uint64_t size[SIZES] = { 0, 8, 9, 4096 };
    static const uint64_t durations[] = {
        0, 1, 15, 16, 31, 32, 33, 1000, 70000, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 41
    };
    struct fv_cell expected[COMMS][SIZES] = { 0 };
    struct fv_comm *comm[COMMS] = { NULL, fv_mpi_describe(0x77) };
    uint64_t calls = fv_self ? fv_self->record->calls : 0;
    unsigned random = 1;
    struct fv_call call;
    (void)state;

    for (int i = 0, k = 0; i < 20000; i++) {
        random = random * 1103515245u + 12345u;
        k = random >> 16 & 7 ? k : (int)((random >> 20) % (SIZES * COMMS));
        uint64_t bytes = size[k % SIZES];
        uint64_t ticks = i % 1000 ? durations[random >> 24 & 7] : durations[8 + (random >> 24 & 3)];

        call_as(&call, 1, comm[k / SIZES], bytes, bytes, ticks);
        add_expected(&expected[k / SIZES][bytes == 9 ? 1 : k % SIZES], bytes, bytes, ticks);
    }
    for (int c = 0; c < COMMS; c++)
        for (int k = 0; k < SIZES; k++)
            if (size[k] != 9)
                expect_same(
                    fv_cell_find(fv_self, call.path->path, comm[c] ? comm[c]->id : 0, 1, fv_log2_bucket(size[k]), 0)
                        .cell,
                    &expected[c][k]);
    assert_int_equal(fv_self->record->calls, calls + 20000);
}

static void test_squares_do_not_overflow(void **state)
{
    struct fv_call call;
    (void)state;

    for (int i = 0; i < 3; i++)
        call_as(&call, 0, NULL, 1 << 20, 0, UINT64_C(1) << 40);
    unsigned __int128 sum = (unsigned __int128)call.cell->square_high << 64 | call.cell->square_low;
    assert_that(sum, ==, ((unsigned __int128)3 << 80));
}

static void test_two_directions_two_buckets(void **state)
{
    struct fv_call call;
    (void)state;

    call_as(&call, 1, NULL, 8, 1000, 10);
    assert_int_equal(call.cell->bytes_sent, 8);
    assert_int_equal(call.cell->bytes_received, 0);
    struct fv_cell *other = fv_cell_find(fv_self, call.path->path, 0, 1, fv_log2_bucket(1000), 0).cell;
    assert_int_equal(other->calls, 0);
    assert_int_equal(other->bytes_received, 1000);
    assert_int_equal(other->receives, 1);
    assert_true(call.cell->size_min == 8 && call.cell->size_max == 8);
    assert_true(other->size_min == 1000 && other->size_max == 1000);
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static bool enters_below(void)
{
    struct fv_call inner;

    return fv_call_enter(&inner, 0, FV_CALL_SITE());
}

__attribute__((optimize("no-omit-frame-pointer"))) static void test_nested_calls_only_forward(void **state)
{
    struct fv_call outer;
    (void)state;

    assert_true(fv_call_enter(&outer, 0, FV_CALL_SITE()));
    assert_false(enters_below());
    assert_int_not_equal(fv_self->record->in_call.begin, 0);
    fv_call_end(&outer);
    fv_call_record(&outer, NULL, 0, 0);
    assert_int_equal(fv_self->record->in_call.begin, 0);
}

static jmp_buf before_call;

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void leave_by_longjmp(void)
{
    struct fv_call call;

    assert_true(fv_call_enter(&call, 0, FV_CALL_SITE()));
    longjmp(before_call, 1); /* as from an error handler */
}

static __attribute__((noinline)) void enter_and_leave(void)
{
    if (!setjmp(before_call))
        leave_by_longjmp();
}

static void test_abandoned_calls(void **state)
{
    struct fv_call call;
    uint64_t calls = fv_self->record->calls, lost = fv_rt.writer.header->dropped[FV_DROP_CALLS];
    (void)state;

    enter_and_leave();
    call_as(&call, 0, NULL, 1, 0, 10);
    assert_int_equal(fv_self->record->calls, calls + 1);
    assert_int_equal(fv_rt.writer.header->dropped[FV_DROP_CALLS], lost + 1);
}

static uint64_t computed(uint32_t from, const struct fv_call *call)
{
    const struct fv_region_record *r =
        fv_self->regions.tail.chunk ? fv_chunk_records(fv_self->regions.tail.chunk) : NULL;
    uint64_t ticks = call->cell->from == from ? call->cell->before_ticks : 0;

    for (uint64_t i = 0; r && i < fv_self->regions.tail.chunk->used / sizeof(*r); i++)
        ticks += r[i].from == from && r[i].cell == call->path->cell_index ? r[i].ticks : 0;
    return ticks;
}

static __attribute__((noinline)) void call_here(struct fv_call *call)
{
    call_as(call, 0, NULL, 0, 0, 10);
    __asm__ volatile("");
}

static __attribute__((noinline)) void call_there(struct fv_call *call)
{
    call_as(call, 0, NULL, 0, 0, 10);
    __asm__ volatile("");
}

/* What is between calls is summed by both, however they alternate. */
static void test_regions(void **state)
{
    static const uint8_t order[] = { 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0 };
    uint64_t wanted[2][2] = { { 0 } };
    struct fv_call call[2];
    (void)state;

    for (unsigned i = 0; i < sizeof(order); i++) {
        uint64_t last = fv_self->record->last;

        (order[i] ? call_there : call_here)(&call[order[i]]);
        if (i)
            wanted[order[i - 1]][order[i]] += call[order[i]].begin - last;
    }
    for (unsigned a = 0; a < 2; a++)
        for (unsigned b = 0; b < 2; b++)
            assert_int_equal(computed(call[a].path->path, &call[b]), wanted[a][b]);
}

/* The call that was left has no end: computing goes on from where the next one is entered. */
static void test_a_region_behind_a_call_that_was_left(void **state)
{
    struct fv_call call;
    (void)state;

    call_here(&call);
    uint64_t since = fv_ticks();
    enter_and_leave();
    usleep(20000);
    uint64_t slept = fv_ticks() - since;
    call_here(&call);
    assert_int_not_equal(call.cell->from, call.path->path);
    assert_that(call.cell->before_ticks, <, slept / 2);
}

static __attribute__((noinline)) void pause_times(int times)
{
    struct fv_call call;

    for (int i = 0; i < times; i++) {
        fv_pause();
        usleep(10000);
        call_there(&call);
        fv_resume();
    }
}

static void test_a_pause_is_no_computing(void **state)
{
    uint64_t last[3], paused[3], before[3];
    struct fv_call call;
    (void)state;

    for (int round = 0; round < 3; round++) {
        __asm__ volatile("" : "+r"(round)); /* a copy of the loop would be another call site */
        pause_times(round & 2);
        call_here(&call);
        last[round] = fv_self->record->last;
        paused[round] = fv_rt.writer.header->paused_ticks;
        before[round] = call.cell->before_ticks;
    }
    assert_int_equal(before[2] - before[1], call.begin - last[1] - (paused[2] - paused[1]));
}

static void test_pause(void **state)
{
    struct fv_call call;
    (void)state;

    call_as(&call, 0, NULL, 5, 0, 10);
    uint64_t before = fv_self->record->calls;
    fv_pause();
    fv_pause();
    call_as(&call, 0, NULL, 5, 0, 10);
    assert_null(call.cell);
    fv_resume();
    assert_int_equal(fv_self->record->calls, before);
    assert_int_equal(fv_rt.writer.header->paused_since, 0);
    assert_that(fv_rt.writer.header->paused_ticks, >, 0);
    fv_resume();
    call_as(&call, 0, NULL, 5, 0, 10);
    assert_int_equal(fv_self->record->calls, before + 1);
}

/* ---- handlers that jump away, and threads that must not be waited for by spinning ---- */

static sigjmp_buf out;
static volatile sig_atomic_t jumps, may_jump;

static void jump(int signal)
{
    (void)signal;
    if (!may_jump)
        return;
    may_jump = 0;
    jumps++;
    siglongjmp(out, 1);
}

static void test_handlers_that_jump(void **state)
{
    struct sigaction action = { .sa_handler = jump };
    struct itimerspec often = { { 0, 30000 }, { 0, 30000 } };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
    struct fv_comm *parent = comm_of(7000, NULL, (int[]){ 0, 1 }, 2, 0);
    static volatile uint64_t rounds;
    timer_t timer;
    (void)state;

    sigaction(SIGUSR2, &action, NULL);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &often, NULL);
    alarm(60); /* a lock that stays held is waited for for ever */
    sigsetjmp(out, 1);
    while (jumps < 500 && rounds < 100000) {
        uint64_t handle = 7001 + rounds++ % 50;

        may_jump = 1;
        fv_comm_dup(handle, parent, rounds);
        fv_comm_named(handle, "left");
        fv_comm_freed(fv_comm_find(handle), UINT64_MAX);
        fv_pause();
        fv_resume();
        may_jump = 0;
    }
    timer_delete(timer);
    fv_resume();
    assert_non_null(fv_comm_dup(7100, parent, 0));
    fv_comm_freed(fv_comm_find(7100), UINT64_MAX);
    alarm(0);
}

static struct fv_lock slow_lock;
static bool slow_held;

static void on_first_cpu(void)
{
    cpu_set_t first;

    CPU_ZERO(&first);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&first); i++) {
        CPU_SET(i, &first);
        if (pthread_setaffinity_np(pthread_self(), sizeof(first), &first))
            CPU_ZERO(&first);
    }
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *holds_slowly(void *arg)
{
    on_first_cpu();
    fv_lock(&slow_lock);
    __atomic_store_n(&slow_held, true, __ATOMIC_RELEASE);
    for (double end = cpu_seconds() + 0.005; cpu_seconds() < end;)
        ;
    fv_unlock(&slow_lock);
    return arg;
}

static void *wants_urgently(void *arg)
{
    const struct sched_param priority = { .sched_priority = 1 };
    double begin = cpu_seconds();

    on_first_cpu();
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority))
        return NULL;
    fv_lock(&slow_lock);
    fv_unlock(&slow_lock);
    *(double *)arg = cpu_seconds() - begin;
    return arg;
}

/* Who yields at a real-time priority gives way to nobody below. */
static void test_a_lock_of_who_has_less_priority(void **state)
{
    pthread_t holder, urgent;
    double seconds = 0;
    void *result;
    (void)state;

    pthread_create(&holder, NULL, holds_slowly, NULL);
    while (!__atomic_load_n(&slow_held, __ATOMIC_ACQUIRE))
        sched_yield();
    pthread_create(&urgent, NULL, wants_urgently, &seconds);
    pthread_join(urgent, &result);
    pthread_join(holder, NULL);
    if (!result)
        skip(); /* no right to real-time priorities here */
    assert_that(seconds, <, 0.3);
}

static void *asks(void *arg)
{
    *(bool *)arg = fv_lock_is_free(&slow_lock);
    return arg;
}

/* Others' critical sections are waited for; one's own, that a handler has interrupted, never ends. */
static void test_a_lock_that_can_be_taken(void **state)
{
    const struct timespec longer_than_turns = { .tv_nsec = 20000000 };
    bool is_free = false;
    pthread_t other;
    (void)state;

    fv_lock(&slow_lock);
    assert_false(fv_lock_is_free(&slow_lock));
    pthread_create(&other, NULL, asks, &is_free);
    nanosleep(&longer_than_turns, NULL);
    fv_unlock(&slow_lock);
    pthread_join(other, NULL);
    assert_true(is_free);
    assert_true(fv_lock_is_free(&slow_lock));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors_stay),
        cmocka_unit_test(test_cells_add_up),
        cmocka_unit_test(test_repeated_calls),
        cmocka_unit_test(test_squares_do_not_overflow),
        cmocka_unit_test(test_two_directions_two_buckets),
        cmocka_unit_test(test_nested_calls_only_forward),
        cmocka_unit_test(test_abandoned_calls),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_a_region_behind_a_call_that_was_left),
        cmocka_unit_test(test_a_pause_is_no_computing),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_handlers_that_jump),
        cmocka_unit_test(test_a_lock_of_who_has_less_priority),
        cmocka_unit_test(test_a_lock_that_can_be_taken),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    small_budgets();
    int failed = cmocka_run_group_tests_name("runtime", tests, NULL, NULL);
    stub_remove();
    return failed;
}
