/* Budgets and limits of the runtime: the wait log's thinning, time bins, full cells and disks, fork(), many threads. */
#include "rt/layers.h"
#include "trace/bins.h"
#include "rt_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static uint64_t sum_of_bins(void)
{
    const struct fv_bin_bank *bank = &fv_self->bins->bank;
    uint64_t sum = 0;

    for (unsigned i = 0; i < FV_BINS; i++)
        sum += bank->ticks[i][FV_CLASS_IO];
    return sum;
}

static void test_time_bins_fold(void **state)
{
    const struct fv_bin_bank *bank = &fv_self->bins->bank;
    uint64_t origin = bank->origin, step = bank->width * 3 / 2;
    (void)state;

    for (uint64_t i = 0; i < 2000; i++)
        fv_bins_add(fv_self, FV_CLASS_IO, origin + i * step, origin + i * step + step / 3);
    assert_int_equal(sum_of_bins(), 2000 * (step / 3));
    fv_bins_add(fv_self, FV_CLASS_IO, origin, origin + 5000 * step); /* across all of them, and beyond */
    assert_int_equal(sum_of_bins(), 2000 * (step / 3) + 5000 * step);
}

/* Killed between any two steps of a fold, or within one. */
static void test_time_bins_of_a_killed_process(void **state)
{
    static struct fv_time_bins before, bins;
    static struct fv_bin_bank whole, found;
    (void)state;

    before.bank.origin = 77;
    before.bank.width = before.folding = 4096; /* of the fold before: not in effect any more, when the width is */
    before.bank.width *= 2;
    before.folded = FV_BINS / 2;
    for (unsigned i = 0; i < FV_BINS; i++)
        for (unsigned c = 0; c < FV_CLASS_COUNT; c++)
            before.bank.ticks[i][c] = i * 1000 + c;
    fv_bins_read(&before, &found);
    assert_memory_equal(&found, &before.bank, sizeof(found));
    whole = (struct fv_bin_bank){ .origin = 77, .width = 4 * 4096 };
    for (unsigned i = 0; i < FV_BINS; i++)
        for (unsigned c = 0; c < FV_CLASS_COUNT; c++)
            whole.ticks[i / 2][c] += before.bank.ticks[i][c];
    for (unsigned done = 0; done <= FV_BINS / 2; done++) {
        bins = before;
        fv_bins_fold_begin(&bins);
        for (unsigned i = 0; i < done; i++)
            fv_bins_fold_pair(&bins, i);
        fv_bins_read(&bins, &found);
        assert_memory_equal(&found, &whole, sizeof(found));
        memset(done && done < FV_BINS / 2 ? bins.bank.ticks[done] : bins.bank.ticks[0], 0xee, done ? 64 : 0);
        if (!done)
            memset(bins.first, 0xee, sizeof(bins.first));
        fv_bins_read(&bins, &found); /* the next step has begun */
        assert_memory_equal(&found, &whole, sizeof(found));
    }
    fv_bins_fold_end(&bins);
    fv_bins_read(&bins, &found);
    assert_memory_equal(&found, &whole, sizeof(found));
}

/* Behind its first quarter, which has all. */
static void test_log_is_thinned_by_sequence(void **state)
{
    static const int world[] = { 0, 1 };
    struct fv_comm *comm = comm_of(0x20, NULL, world, 2, FV_COMM_WORLD);
    struct fv_call call;
    uint64_t calls = 100000, logged = 0, whole = 0;
    (void)state;

    for (uint64_t i = 0; i < calls; i++) {
        uint32_t sequence = fv_comm_collective(comm);
        assert_int_equal(sequence, i);
        call_as(&call, 1, comm, 8, 8, 10);
        fv_call_collective(&call, sequence, FV_COLL_SENDS);
    }
    const struct fv_wait_log *log = &fv_self->log;
    assert_that(log->shift, >, 0);
    for (unsigned k = 0; k < log->chunks; k++) {
        const struct fv_coll_record *r = fv_chunk_records(log->chunk[k]);

        for (uint64_t i = 0; i < log->chunk[k]->used / sizeof(*r); i++)
            if (whole == logged && r[i].sequence == whole)
                whole++, logged++;
            else
                assert_int_equal(r[i].sequence,
                                 fv_round_up(whole, 1u << log->shift) + ((logged++ - whole) << log->shift));
    }
    const uint64_t behind = calls - fv_round_up(whole, 1u << log->shift);
    assert_that(whole, >, fv_rt.options.collectives_max / 4 / 2 / sizeof(struct fv_coll_record));
    assert_int_equal(logged, whole + ((behind + (1u << log->shift) - 1) >> log->shift));
    assert_int_equal(logged + fv_rt.writer.header->dropped[FV_DROP_COLLECTIVES], calls);
    assert_that(log->bytes, <=, fv_rt.options.collectives_max);
}

static void test_cell_budget(void **state)
{
    struct fv_call call;
    uint64_t before = 0, after = 0;
    (void)state;

    for (uint32_t i = 0; i < 3000; i++)
        before += fv_cell_find(fv_self, 1000 + i, 7, 0, 3, 0).cell->path == 1000 + i;
    assert_true(before > 500 && before < 3000); /* 1 MiB holds fewer */
    assert_that(fv_rt.writer.header->dropped[FV_DROP_CELLS], >, 0);
    uint64_t calls = fv_self->record->calls;
    call_as(&call, 0, NULL, UINT64_C(1) << 50, 0, 77);
    after = fv_self->record->calls;
    assert_int_equal(after, calls + 1);
    assert_int_equal(call.cell->path, 0); /* its function's own cell */
    assert_int_equal(call.cell->bytes_sent, UINT64_C(1) << 50);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Stands before the C library's: counts how often signals are held and let go, which is where work that is
 * not free begins and ends. */
static unsigned long mask_calls;

/* It takes as many arguments as any call has. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
    static long (*next)(long, ...);
    long a[6];
    va_list list;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    __atomic_add_fetch(&mask_calls, number == SYS_rt_sigprocmask, __ATOMIC_RELAXED);
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* A limit on the size of files stands for a full disk. */
static void limit_files(struct rlimit *before, uint64_t bytes)
{
    assert_int_equal(getrlimit(RLIMIT_FSIZE, before), 0);
    const struct rlimit limit = { bytes, before->rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* What was refused is refused again without a system call, at any call; and counted. */
static void test_full_disk_costs_no_system_calls(void **state)
{
    enum { TIMES = 1000, LARGE = 64 << 10 };
    struct fv_writer *w = &fv_rt.writer;
    uint64_t most = fv_rt.options.profile_max;
    struct rlimit before;
    (void)state;

    limit_files(&before, w->end);
    fv_rt.options.profile_max = UINT64_MAX; /* the disk is full, not the budget */
    uint32_t path = 100000;
    while (!w->refused_bytes && path < 200000)
        fv_cell_find(fv_self, path++, 7, 0, 3, 0);
    assert_true(w->refused_bytes > 0 && w->refused_bytes <= LARGE);
    uint64_t *dropped = w->header->dropped, disk = dropped[FV_DROP_DISK], cells = dropped[FV_DROP_CELLS];
    w->retry_ns = INT64_MAX; /* however slow this machine is */
    unsigned long held = mask_calls;
    assert_that(held, >, 0); /* our syscall() is in use */
    for (uint32_t i = 0; i < TIMES; i++) {
        fv_cell_find(fv_self, path + i, 7, 0, 3, 0);
        assert_null(fv_writer_chunk(w, FV_CHUNK_EVENTS, 0, 0, LARGE));
    }
    held = mask_calls - held;
    w->retry_ns = 0;
    fv_rt.options.profile_max = most;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(held, 0);
    assert_int_equal(dropped[FV_DROP_DISK] - disk, 2 * TIMES);
    assert_int_equal(dropped[FV_DROP_CELLS] - cells, TIMES);
    assert_non_null(fv_writer_chunk(w, FV_CHUNK_EVENTS, 0, 0, LARGE)); /* tried, once there is room */
}

static void test_full_disk(void **state)
{
    enum { LARGE = 64 << 10 };
    struct rlimit before;
    struct fv_writer w = { .header = NULL };
    char path[128];
    (void)state;

    snprintf(path, sizeof(path), "%s/full.fvr", stub_directory);
    assert_int_equal(fv_writer_open(&w, AT_FDCWD, path, path), 0);
    limit_files(&before, 2 * FV_PAGE);
    errno = 1234;
    uint64_t begin = now_ns();
    assert_null(fv_writer_chunk(&w, FV_CHUNK_CELLS, 0, 0, LARGE));
    assert_int_equal(errno, 1234);
    assert_non_null(fv_writer_chunk(&w, FV_CHUNK_CELLS, 0, 0, 100)); /* there is room for this one */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_null(fv_writer_chunk(&w, FV_CHUNK_CELLS, 0, 0, LARGE)); /* not tried */
    assert_int_equal(w.header->dropped[FV_DROP_DISK], 2);
    while (!fv_writer_chunk(&w, FV_CHUNK_CELLS, 0, 0, LARGE) && now_ns() - begin < 10 * UINT64_C(1000000000))
        usleep(10000);
    assert_in_range(now_ns() - begin, 900000000, 5 * UINT64_C(1000000000));
    assert_non_null(fv_writer_chunk(&w, FV_CHUNK_CELLS, 0, 0, LARGE));
    fv_writer_forget(&w);
}

static void test_fork_leaves_the_file_alone(void **state)
{
    uint64_t calls = fv_self->record->calls;
    struct fv_call call;
    int status;
    (void)state;

    pid_t pid = fork();
    if (!pid)
        _exit(fv_call_enter(&call, 0, FV_CALL_SITE()) ? 1 : 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(fv_self->record->calls, calls);
}

/* ---- what threads take ---- */

enum { THREADS_OF_FEW_CALLS = 100 };
static pthread_barrier_t all_there;

static void *makes_few_calls(void *wanted)
{
    struct fv_call call;

    for (int i = 0; wanted && i < 10; i++)
        call_as(&call, 0, NULL, (uint64_t)i, 0, 10);
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_there);
    return NULL;
}

/* KiB that the threads add while they are there. */
static long resident_of_threads(bool calls)
{
    pthread_t thread[THREADS_OF_FEW_CALLS];
    long pages[2] = { 0 };

    pthread_barrier_init(&all_there, NULL, THREADS_OF_FEW_CALLS + 1);
    for (int when = 0; when < 2; when++) {
        FILE *f = fopen("/proc/self/statm", "r");

        assert_true(f && fscanf(f, "%*d %ld", &pages[when]) == 1);
        fclose(f);
        for (int i = 0; !when && i < THREADS_OF_FEW_CALLS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, makes_few_calls, calls ? &all_there : NULL), 0);
        pthread_barrier_wait(&all_there);
    }
    for (int i = 0; i < THREADS_OF_FEW_CALLS; i++)
        pthread_join(thread[i], NULL);
    return (pages[1] - pages[0]) * (getpagesize() / 1024);
}

/* Late in the run: time bins have been folded by those who were there. */
static void test_threads_of_few_calls(void **state)
{
    const uint64_t most = fv_rt.options.profile_max, begin = fv_rt.writer.header->begin_ticks;
    (void)state;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* memory is theirs */
#endif
    if (getenv("FVMPI_TEST_EMULATED"))
        skip(); /* it is the emulator's memory */
    fv_rt.options.profile_max = UINT64_C(1) << 30;
    fv_rt.writer.header->begin_ticks -= UINT64_C(1) << 40;
    resident_of_threads(false); /* their stacks are kept */
    uint64_t file = fv_rt.writer.end;
    long without = resident_of_threads(false), with = resident_of_threads(true);
    assert_in_range((with - without) / THREADS_OF_FEW_CALLS, 10, 52);
    assert_in_range((fv_rt.writer.end - file) / THREADS_OF_FEW_CALLS, 4096, 40 * 1024);
    fv_rt.options.profile_max = most;
    fv_rt.writer.header->begin_ticks = begin;
}

/* ---- what a call costs, found out at the start ---- */

extern const struct fv_layer fv_call_layer;
static uint32_t looks_over, seen;

static void *look(void *record)
{
    const uint64_t before = ((struct fv_thread_record *)record)->calls;

    while (!__atomic_load_n(&looks_over, __ATOMIC_ACQUIRE))
        seen += __atomic_load_n(&((struct fv_thread_record *)record)->calls, __ATOMIC_RELAXED) != before;
    return NULL;
}

/* A process may be killed meanwhile. */
static void test_rehearsed_calls_are_not_in_the_file(void **state)
{
    const struct fv_thread_record before = *fv_self->record;
    const struct fv_cell rest = *fv_self->cells.rest.cell;
    const uint64_t bins = fv_self->bins->bank.width;
    pthread_t thread;
    (void)state;

    assert_int_equal(pthread_create(&thread, NULL, look, fv_self->record), 0);
    for (int i = 0; i < 100; i++)
        fv_call_layer.at[FV_AT_START](fv_self);
    __atomic_store_n(&looks_over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    assert_int_equal(seen, 0);
    assert_int_equal(fv_self->record->calls, before.calls);
    assert_memory_equal(fv_self->cells.rest.cell, &rest, sizeof(rest));
    assert_int_equal(fv_self->bins->bank.width, bins);
    assert_that(fv_rt.writer.header->tool_call_ticks, >, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_bins_fold),
        cmocka_unit_test(test_time_bins_of_a_killed_process),
        cmocka_unit_test(test_log_is_thinned_by_sequence),
        cmocka_unit_test(test_cell_budget),
        cmocka_unit_test(test_threads_of_few_calls),
        cmocka_unit_test(test_rehearsed_calls_are_not_in_the_file),
        cmocka_unit_test(test_full_disk_costs_no_system_calls),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_fork_leaves_the_file_alone),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    small_budgets();
    int failed = cmocka_run_group_tests_name("limits", tests, first_call, NULL);
    stub_remove();
    return failed;
}
