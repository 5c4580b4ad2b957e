/* The runtime's tables with known answers: cells and their budget, the wait log's thinning, time bins,
 * communicators, requests, peers, pausing. One process, one experiment for all tests. */
#include "rt/comm.h"
#include "rt/layers.h"
#include "trace/bins.h"
#include "rt_stub.h"
#include "unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* A call from this very place, that "took" the given ticks. */
__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void
call_as(struct fv_call *call, unsigned function, struct fv_comm *comm, uint64_t sent, uint64_t received, uint64_t ticks)
{
    if (!fv_call_enter(call, function, FV_CALL_SITE()))
        abort();
    call->end = call->begin + ticks;
    fv_call_record(call, comm, sent, received);
}

static struct fv_comm *comm_of(uint64_t handle, struct fv_comm *parent, const int *ranks, int size, unsigned flags)
{
    struct fv_comm_info info = { .handle = handle,
                                 .parent = parent,
                                 .flags = flags,
                                 .size = size,
                                 .sequence = fv_comm_next_child(parent),
                                 .world_ranks = ranks };

    return fv_comm_new(&info);
}

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
    assert_true(sum == ((unsigned __int128)3 << 80));
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

static void test_communicator_ids(void **state)
{
    static const int world[] = { 0, 1, 2, 3 }, even[] = { 0, 2 }, odd[] = { 1, 3 }, back[] = { 3, 2, 1, 0 };
    (void)state;

    struct fv_comm *w = comm_of(0x10, NULL, world, 4, FV_COMM_WORLD);
    assert_int_equal(w->uid, 1);
    assert_ptr_equal(fv_comm_find(0x10), w);
    struct fv_comm *a = comm_of(0x11, w, even, 2, 0);
    w->children--; /* the other colour of the same split, as another rank sees it */
    struct fv_comm *b = comm_of(0x12, w, odd, 2, 0);
    struct fv_comm *c = comm_of(0x13, w, back, 4, 0);
    assert_true(a->uid != b->uid && b->uid != c->uid && a->uid != c->uid);
    assert_int_equal(fv_comm_peer_world(a, 1), 2);
    assert_int_equal(fv_comm_peer_world(c, 0), 3);
    assert_int_equal(fv_comm_peer_world(c, 3), 0);
    assert_int_equal(fv_comm_peer_world(c, 4), -1);
    assert_int_equal(fv_comm_peer_world(c, -1), -1);
    assert_true(fv_comm_freed(fv_comm_find(0x11), fv_ticks()));
    assert_null(fv_comm_find(0x11));
    struct fv_comm *freed = comm_of(0x11, w, even, 2, 0);
    uint64_t began = fv_ticks();
    struct fv_comm *again = comm_of(0x11, w, even, 2, 0);
    assert_ptr_equal(fv_comm_find(0x11), again);
    assert_true(again->uid != a->uid);
    assert_true(fv_comm_freed(freed, began)); /* the old one's free, come late: known, and the new one stays */
    assert_ptr_equal(fv_comm_find(0x11), again);
}

/* Members without any order: thousands of runs, all found, and a duplicate that looks at none of them. */
static void test_scattered_members(void **state)
{
    enum { RANKS = 4096, MEMBERS = 3000 };
    static int ranks[MEMBERS];
    struct fv_comm *w = fv_comm_find(0x10);
    (void)state;

    for (int i = 0; i < MEMBERS; i++)
        ranks[i] = (int)((unsigned)i * i * 7 + 3) % RANKS; /* strides that change at each step */
    for (int n = 1; n <= MEMBERS; n = n < 70 ? n + 1 : n * 3 + 1) {
        struct fv_comm *c = comm_of(0x14, w, ranks, n, 0), *d = fv_comm_dup(0x15, c, fv_comm_next_child(c));

        assert_true(n < 20 || c->runs >= (unsigned)n / 4);
        for (int i = 0; i < n; i++) {
            assert_int_equal(fv_comm_peer_world(c, i), ranks[i]);
            assert_int_equal(fv_comm_peer_world(d, i), ranks[i]);
        }
        assert_int_equal(fv_comm_peer_world(c, n), -1);
        assert_int_equal(fv_comm_peer_world(c, INT_MAX), -1);
        assert_int_equal(fv_comm_peer_world(c, -1), -1);
        assert_int_equal(d->size, n);
        assert_int_equal(d->record->runs, c->runs);
        assert_memory_equal(d->record->run, c->record->run, c->runs * sizeof(c->run[0]));
        /* The same as a rank that counted the members itself: the uid must not tell which way was taken. */
        c->children--;
        uint64_t uid = d->uid;
        assert_int_equal(comm_of(0x15, c, ranks, n, 0)->uid, uid);
    }
}

/* As each of its ranks describes them. Some list the members, and with them all of their group; the others
 * know theirs all the same. */
static void test_scattered_members_are_listed_by_some(void **state)
{
    enum { MEMBERS = 512 };
    static int ranks[MEMBERS], others[MEMBERS];
    struct fv_comm_info info = { .handle = 0x18, .size = MEMBERS, .world_ranks = ranks, .salt = 5 };
    uint64_t bytes = 0;
    int listers = 0, first_half = 0;
    (void)state;

    for (int i = 0; i < MEMBERS; i++) {
        ranks[i] = i * i % 4093;
        others[i] = -1;
    }
    for (info.rank = 0; info.rank < MEMBERS; info.rank++) {
        struct fv_comm *c = fv_comm_new(&info), *d = fv_comm_dup(0x19, c, 0);
        bool listed = c->record->runs > 0;

        assert_int_equal(c->record->flags & FV_COMM_UNLISTED, listed ? 0 : FV_COMM_UNLISTED);
        assert_int_equal(d->record->flags & FV_COMM_UNLISTED, c->record->flags & FV_COMM_UNLISTED);
        assert_int_equal(d->record->bytes, c->record->bytes);
        assert_int_equal(fv_comm_peer_world(d, 77), ranks[77]);
        assert_int_equal(fv_comm_peer_world(c, MEMBERS - 1), ranks[MEMBERS - 1]);
        assert_int_equal(fv_comm_peer_world(c, MEMBERS), -1);
        listers += listed;
        first_half += listed && info.rank < MEMBERS / 2;
        bytes += c->record->bytes;
    }
    assert_in_range(listers, 4, 9);
    assert_in_range(first_half, 2, listers - 2);
    assert_that(bytes, <, MEMBERS * (sizeof(struct fv_comm_record) + 64));
    info.rank = 1;
    info.remote_size = MEMBERS;
    info.remote_world_ranks = others; /* of another MPI_COMM_WORLD, whose files are not among these */
    assert_that(fv_comm_new(&info)->record->remote_runs, >, 0);
    info.remote_world_ranks = ranks;
    assert_int_equal(fv_comm_new(&info)->record->remote_runs, 0);
    assert_int_equal(fv_comm_peer_world(fv_comm_find(0x18), 77), ranks[77]);
    info.flags = FV_COMM_INFERRED;
    info.handle = 0x1a;
    assert_that(fv_comm_new(&info)->record->runs, >, 0); /* the uid is this rank's alone */
}

static void test_duplicate_of_an_intercommunicator(void **state)
{
    static const int mine[] = { 2, 0 }, theirs[] = { 3, 1 };
    struct fv_comm_info info = { .handle = 0x16,
                                 .parent = fv_comm_find(0x10),
                                 .flags = FV_COMM_INTER,
                                 .rank = 1,
                                 .size = 2,
                                 .remote_size = 2,
                                 .world_ranks = mine,
                                 .remote_world_ranks = theirs };
    struct fv_comm *c = fv_comm_new(&info), *d = fv_comm_dup(0x17, c, fv_comm_next_child(c));
    (void)state;

    assert_int_equal(d->flags, FV_COMM_INTER);
    assert_int_equal(d->rank, 1);
    assert_int_equal(d->remote_size, 2);
    assert_int_equal(fv_comm_peer_world(d, 0), 3);
    assert_int_equal(fv_comm_peer_world(d, 1), 1);
    assert_memory_equal(d->record->run, c->record->run, 2 * sizeof(c->run[0]));
    assert_true(d->uid != c->uid);
}

static void test_thousands_of_communicators(void **state)
{
    static const int self[] = { 0 };
    struct fv_comm *w = fv_comm_find(0x10);
    (void)state;

    for (int i = 0; i < 40000; i++) {
        struct fv_comm *c = comm_of(0x1000 + (uint64_t)(i % 3), w, self, 1, 0);
        assert_non_null(c);
        assert_ptr_equal(fv_comm_find(0x1000 + (uint64_t)(i % 3)), c);
        fv_comm_freed(c, fv_ticks());
    }
    assert_that(fv_rt.writer.header->dropped[FV_DROP_COMMS], >, 0); /* over budget, counted, still working */
}

/* Counts of cells have 32 bits, and a program may receive for hours: a second cell goes on. */
static void test_full_cells(void **state)
{
    struct fv_call post, wait;
    struct fv_request r = { .handle = 21, .kind = FV_REQUEST_RECV };
    (void)state;

    call_as(&post, 3, NULL, 0, 0, 10);
    struct fv_cell *full = fv_cell_find(fv_self, post.path->path, 0, 3, fv_log2_bucket(64), 0).cell;
    full->receives = UINT32_MAX - 1;
    for (int i = 0; i < 3; i++) {
        fv_request_post(&post, &r);
        assert_true(fv_request_get(21, &r));
        call_as(&wait, 1, NULL, 0, 0, 10);
        fv_request_completed(&wait, &r, true, 64);
        r = (struct fv_request){ .handle = 21, .kind = FV_REQUEST_RECV };
    }
    const struct fv_cell *next = fv_cell_find(fv_self, post.path->path, 0, 3, fv_log2_bucket(64), 0).cell;
    assert_int_equal(full->receives, UINT32_MAX - 1);
    assert_ptr_not_equal(full, next);
    assert_int_equal(next->receives, 3);
}

static void test_many_collectives(void **state)
{
    static const int self[] = { 0 };
    struct fv_comm *c = comm_of(0x5000, fv_comm_find(0x10), self, 1, 0);
    (void)state;

    c->collectives = UINT32_MAX;
    assert_int_equal(fv_comm_collective(c), UINT32_MAX);
    assert_true(fv_comm_collective(c) == UINT64_C(1) << 32);
    if (c->record) /* none, over budget */
        assert_true(c->record->collectives == (UINT64_C(1) << 32) + 1);
    fv_comm_freed(c, fv_ticks());
}

static unsigned windows_made; /* threads that are through */

/* Odd handles and even ones, one thread each: a few again and again, which moves others, and many once. */
static void *makes_windows(void *first)
{
    void *wrong = NULL;

    for (int round = 0; round < 1001; round++) {
        uint64_t many = round < 1000 ? 10 : 4000;

        for (uint64_t i = 0; i < many; i++)
            fv_owner_add(FV_OWNED_WINDOW, *(uint64_t *)first + 2 * i,
                         (struct fv_owner){ .comm = fv_comm_find(1), .number = i + 1 });
        for (uint64_t i = 0; i < many; i++) {
            struct fv_owner owner = fv_owner_of(FV_OWNED_WINDOW, *(uint64_t *)first + 2 * i);

            if (!fv_owner_remove(FV_OWNED_WINDOW, &owner) || owner.number != i + 1)
                wrong = first;
        }
    }
    __atomic_add_fetch(&windows_made, 1, __ATOMIC_RELEASE);
    return wrong;
}

/* What is there is found at any time, while others come and go, which moves it. */
static void test_windows_of_threads(void **state)
{
    const uint64_t stays = 77;
    uint64_t first[2] = { 1000, 1001 };
    pthread_t thread[2];
    void *wrong;
    (void)state;

    struct fv_comm *comm = fv_comm_get(1);
    const uint64_t dropped = fv_rt.writer.header->dropped[FV_DROP_COMMS];
    assert_non_null(comm);
    fv_owner_add(FV_OWNED_WINDOW, stays, (struct fv_owner){ .comm = comm, .number = 5 });
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, makes_windows, &first[i]);
    for (uint64_t i = 0; __atomic_load_n(&windows_made, __ATOMIC_ACQUIRE) < 2; i++) {
        fv_owner_add(FV_OWNED_WINDOW, 100 + i % 10, (struct fv_owner){ .comm = comm, .number = i });
        struct fv_owner owner;
        for (int look = 0; look < 1000; look++) {
            owner = fv_owner_of(FV_OWNED_WINDOW, 100 + i % 10);
            if (owner.comm != comm || owner.number != i)
                fail_msg("round %u: lost", (unsigned)i);
        }
        fv_owner_remove(FV_OWNED_WINDOW, &owner);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    assert_null(fv_owner_of(FV_OWNED_WINDOW, 1000).comm);
    assert_null(fv_owner_of(FV_OWNED_FILE, stays).comm);
    const struct fv_owner before = fv_owner_of(FV_OWNED_WINDOW, stays);
    fv_owner_add(FV_OWNED_WINDOW, stays, (struct fv_owner){ .comm = comm, .number = 7 });
    assert_false(fv_owner_remove(FV_OWNED_WINDOW, &before)); /* made since: another one */
    assert_int_equal(before.number, 5);
    const struct fv_owner after = fv_owner_of(FV_OWNED_WINDOW, stays);
    assert_int_equal(after.number, 7);
    assert_true(fv_owner_remove(FV_OWNED_WINDOW, &after));
    assert_false(fv_owner_remove(FV_OWNED_WINDOW, &after));
    assert_int_equal(fv_rt.writer.header->dropped[FV_DROP_COMMS], dropped);
    fv_owner_add(FV_OWNED_FILE, stays, (struct fv_owner){ .number = 6 });
    assert_int_equal(fv_rt.writer.header->dropped[FV_DROP_COMMS], dropped + 1);
}

static void start_again(struct fv_call *call, uint64_t handle, uint64_t now)
{
    struct fv_request known;

    assert_true(fv_request_get(handle, &known));
    fv_request_start(call, &known, now, 0);
}

/* Against a plain array, with keys that meet in the same places. */
static void test_map(void **state)
{
    enum { KEYS = 300 };
    struct entry {
        uint64_t key, value;
    } * e;
    struct fv_map map = { 0 };
    uint64_t expected[KEYS] = { 0 };
    uint32_t random = 1, there = 0;
    (void)state;

    assert_null(fv_map_find(&map, sizeof(*e), 1));
    for (uint32_t i = 1; i <= 100000; i++) {
        uint32_t k = (random = random * 1103515245u + 12345u) >> 8, which = k % KEYS;
        uint64_t key = (which + UINT64_C(1)) << 40;

        e = fv_map_find(&map, sizeof(*e), key);
        assert_int_equal(e ? e->value : 0, expected[which]);
        if (e && k & 1024) {
            fv_map_erase(&map, sizeof(*e), e);
            expected[which] = 0;
            there--;
        } else {
            there += !e;
            e = fv_map_add(&map, sizeof(*e), key, 1024);
            e->value = expected[which] = i;
        }
        assert_int_equal(map.used, there);
    }
    for (uint64_t key = 1; map.used < 512; key++)
        assert_non_null(fv_map_add(&map, sizeof(*e), key, 1024));
    assert_null(fv_map_add(&map, sizeof(*e), UINT64_MAX, 1024)); /* full; but who is there is found: */
    assert_non_null(fv_map_add(&map, sizeof(*e), 1, 1024));
    fv_memory_free(map.place, (map.mask + 1) * sizeof(*e));
}

static void test_requests(void **state)
{
    struct fv_call post, wait;
    struct fv_request r, recv = { .kind = FV_REQUEST_RECV };
    (void)state;

    call_as(&post, 0, NULL, 0, 0, 10);
    for (uint64_t i = 1; i <= 5000; i++) {
        recv.handle = i * 64;
        fv_request_post(&post, &recv);
    }
    assert_true(fv_requests_any());
    call_as(&wait, 1, NULL, 0, 0, 10);
    for (uint64_t i = 5000; i >= 1; i--) {
        assert_true(fv_request_get(i * 64, &r));
        fv_request_completed(&wait, &r, true, 3000);
        assert_false(fv_request_get(i * 64, &r));
    }
    assert_false(fv_requests_any());
    const struct fv_cell *c = fv_cell_find(fv_self, post.path->path, 0, 0, fv_log2_bucket(3000), 0).cell;
    assert_int_equal(c->bytes_received, 5000 * 3000);
    assert_int_equal(c->receives, 5000);
    assert_true(c->size_min == 3000 && c->size_max == 3000);
}

static void test_persistent_requests(void **state)
{
    struct fv_call start, wait;
    struct fv_request r, recv = { .handle = 7, .kind = FV_REQUEST_RECV, .persistent = 1 };
    (void)state;

    call_as(&start, 0, NULL, 0, 0, 10);
    fv_request_post(&start, &recv);
    for (int i = 0; i < 3; i++) {
        start_again(&start, 7, 7);
        assert_true(fv_request_get(7, &r) && r.active);
        call_as(&wait, 1, NULL, 0, 0, 10);
        fv_request_completed(&wait, &r, true, 40);
        assert_true(fv_request_get(7, &r) && !r.active);
    }
    fv_request_freed(&r);
    assert_false(fv_request_get(7, &r));
}

/* What one moves is known from its plan, so completions add nothing. */
static void test_persistent_collectives(void **state)
{
    struct fv_call start, wait;
    struct fv_request r,
        plan = { .handle = 8, .kind = FV_REQUEST_COLLECTIVE, .persistent = 1, .sent = 24, .received = 48 };
    (void)state;

    call_as(&start, 2, NULL, 0, 0, 10);
    fv_request_post(&start, &plan);
    assert_true(fv_request_get(8, &r) && !r.active && r.sent == 24 && r.received == 48);
    start_again(&start, 8, 9); /* MPI may replace a handle */
    assert_false(fv_request_get(8, &r));
    assert_true(fv_request_get(9, &r) && r.active);
    call_as(&wait, 1, NULL, 0, 0, 10);
    fv_request_completed(&wait, &r, true, 48);
    assert_true(fv_request_get(9, &r) && !r.active);
    const struct fv_cell *c = fv_cell_find(fv_self, start.path->path, 0, 2, fv_log2_bucket(48), 0).cell;
    assert_int_equal(c->bytes_received, 0);
    fv_request_freed(&r); /* inactive */
    assert_false(fv_request_get(9, &r));
    assert_false(fv_requests_any());
}

static void test_peers(void **state)
{
    struct fv_comm *back = fv_comm_find(0x13);
    struct fv_call call;
    (void)state;

    for (int i = 0; i < 400; i++) {
        call_as(&call, 0, back, 8, 0, 1);
        fv_call_sent_to(&call, back, i % 4, 1, 8);
    }
    for (int i = 0; i < 300; i++)
        fv_peer_add(fv_self, 1000 + i, 1, 1);
    fv_peer_add(fv_self, 3, 0, 0);
    const struct fv_peer_record *p = fv_self->peers.last;
    assert_int_equal(p->world_rank, 3);
    assert_int_equal(p->messages, 100);
    assert_int_equal(p->bytes, 800);
    assert_int_equal(fv_self->peers.tail.count, 304);
}

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

static void test_log_is_thinned_by_sequence(void **state)
{
    static const int world[] = { 0, 1 };
    struct fv_comm *comm = comm_of(0x20, NULL, world, 2, FV_COMM_WORLD);
    struct fv_call call;
    uint64_t calls = 100000, logged = 0;
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
            assert_int_equal(r[i].sequence, logged++ << log->shift);
    }
    assert_int_equal(logged, (calls + (1u << log->shift) - 1) >> log->shift);
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
        cmocka_unit_test(test_communicator_ids),
        cmocka_unit_test(test_scattered_members),
        cmocka_unit_test(test_scattered_members_are_listed_by_some),
        cmocka_unit_test(test_duplicate_of_an_intercommunicator),
        cmocka_unit_test(test_thousands_of_communicators),
        cmocka_unit_test(test_full_cells),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_many_collectives),
        cmocka_unit_test(test_windows_of_threads),
        cmocka_unit_test(test_persistent_requests),
        cmocka_unit_test(test_persistent_collectives),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_time_bins_fold),
        cmocka_unit_test(test_time_bins_of_a_killed_process),
        cmocka_unit_test(test_log_is_thinned_by_sequence),
        cmocka_unit_test(test_cell_budget),
        cmocka_unit_test(test_threads_of_few_calls),
        cmocka_unit_test(test_rehearsed_calls_are_not_in_the_file),
        cmocka_unit_test(test_full_disk_costs_no_system_calls),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_fork_leaves_the_file_alone),
        cmocka_unit_test(test_handlers_that_jump),
        cmocka_unit_test(test_a_lock_of_who_has_less_priority),
        cmocka_unit_test(test_a_lock_that_can_be_taken),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    stub_start();
    setenv("FVMPI_PROFILE_MAX", "512k", 1);
    setenv("FVMPI_COLLECTIVES_MAX", "1M", 1);
    int failed = cmocka_run_group_tests_name("runtime", tests, NULL, NULL);
    stub_remove();
    return failed;
}
