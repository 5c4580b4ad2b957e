/* Locks of threads in the analysis, on traces made in memory, with known answers to the nanosecond: what
 * threads waited, and how much of the waiting in MPI their locks are to blame for. Rank 0 has threads, and is
 * late to send; rank 1 waits for it from 100 to 500. */
#include "analysis/analysis.h"
#include "merge/threads.h"
#include "trace_builder.h"
#include "unit.h"

#define T0         UINT64_C(1000000000)
#define CALL(k, o) (FV_SYNC_##k | FV_SYNC_##o << 4)
enum { LOCK = 1, OTHER, CRITICAL };

struct run {
    struct fvr files[2];
    struct events events[2][2]; /* by rank and thread */
    struct fv_merge merge;
    struct fv_analysis analysis;
};

/* So that the archive knows what waits. */
static void uses(struct fvr *f, uint8_t kind, uint8_t operation)
{
    struct fv_sync_record r = { .object = LOCK, .kind = kind, .operation = operation, .contended = 1 };

    fvr_add(f, FV_CHUNK_SYNC, 0, &r, sizeof(r));
}

static void begin_run(struct run *r)
{
    static const struct fv_sync_thread watched;
    struct fvr *f = r->files;

    *r = (struct run){ 0 };
    for (int i = 0; i < 2; i++) {
        rank_file(&f[i], i, 2);
        for (int thread = 0; thread < 2; thread++)
            begin_events(&r->events[i][thread], T0);
    }
    for (uint32_t id = LOCK; id <= CRITICAL; id++) {
        struct fv_sync_object o = { .id = id,
                                    .kind = id == CRITICAL ? FV_SYNC_OMP : FV_SYNC_MUTEX,
                                    .module = FV_MODULE_UNKNOWN };

        fvr_add(f, FV_CHUNK_SYNC_OBJECTS, FV_NO_THREAD, &o, sizeof(o));
    }
    fvr_add(f, FV_CHUNK_SYNC_THREAD, 0, &watched, sizeof(watched));
    fvr_add(f, FV_CHUNK_OMP, 0, &(struct fv_omp_region){ 0 }, sizeof(struct fv_omp_region));
    uses(f, FV_SYNC_MUTEX, FV_SYNC_LOCK);
    uses(f, FV_SYNC_JOIN, FV_SYNC_WAIT);
    uses(f, FV_SYNC_BARRIER, FV_SYNC_WAIT);
    uses(f, FV_SYNC_OMP, FV_SYNC_LOCK);
    uses(f, FV_SYNC_OMP, FV_SYNC_WAIT);
}

/* What a thread of rank 0 does. */
static void one(struct run *r, unsigned thread, enum fv_event_kind kind, uint64_t at, uint64_t number)
{
    struct events *e = &r->events[0][thread];

    event(e, kind, (const uint64_t[]){ T0 + at - e->end, number, 2, 0, 0, 0 });
    e->end = T0 + at;
}

static void waits(struct run *r, unsigned thread, unsigned what, uint64_t begin, uint64_t end, uint64_t object,
                  unsigned cause)
{
    struct events *e = &r->events[0][thread];

    EVENT(e, WAIT, T0 + begin - e->end, end - begin, object, 0, what, cause + 1);
    e->end = T0 + end;
}

static void end_run(struct run *r)
{
    const struct fv_analysis_options options = { .directory = "/tmp" };

    call(&r->events[0][0], SEND, T0 + 500, T0 + 600);
    EVENT(&r->events[0][0], SEND, 1, 1, 7, 8);
    call(&r->events[1][0], RECV, T0 + 100, T0 + 700);
    EVENT(&r->events[1][0], RECV, 1, 0, 7, 8);
    for (int i = 0; i < 2; i++)
        end_file(&r->files[i], &r->events[i][0], NULL);
    fvr_thread(&r->files[0], 1, false, 1, 1, NULL);
    fvr_add(&r->files[0], FV_CHUNK_EVENTS, 1, r->events[0][1].bytes, r->events[0][1].count);
    merge_files(&r->merge, r->files, 2);
    assert_true(fv_analyse(&r->analysis, &r->merge, &options));
}

static void release(struct run *r)
{
    fv_analysis_release(&r->analysis);
    fv_merge_close(&r->merge);
    for (int i = 0; i < 2; i++)
        fvr_release(&r->files[i]);
}

static uint64_t sum(const struct run *r, enum fv_tally_what what, int rank, int kind)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < r->analysis.tallies.count; i++) {
        const struct fv_tally *t = &r->analysis.tallies.items[i];

        if (t->what == (uint32_t)what && (rank < 0 || t->rank == (uint32_t)rank) &&
            (kind < 0 || t->kind == (uint32_t)kind))
            ns += t->ns;
    }
    return ns;
}

/* Rank 1 waited 400 ns for the 500 ns that rank 0 spent before its call: each of them is to blame in
 * proportion. */
static void blamed(const struct run *r, uint64_t locks)
{
    uint64_t blame = locks * 400 / 500;

    assert_int_equal(sum(r, FV_TALLY_WAIT, 1, FV_WS_LATE_SENDER), 400);
    assert_int_equal(sum(r, FV_TALLY_LOCKED, 0, -1), locks);
    assert_int_equal(sum(r, FV_TALLY_DIRECT, 0, FV_FOR_LOCKS), blame);
    assert_int_equal(sum(r, FV_TALLY_DIRECT, 0, FV_COMPUTING), 400 - blame);
    assert_int_equal(sum(r, FV_TALLY_FOR_LOCKS, 1, -1), blame);
    assert_int_equal(sum(r, FV_TALLY_CRITICAL, 0, FV_FOR_LOCKS), locks);
}

/* Line 0 and 1 are the threads of rank 0. */
static uint64_t waited(const struct run *r, int line, enum fv_thread_wait kind)
{
    return sum(r, FV_TALLY_THREAD_LINE, line, (int)kind);
}

/* ---- cases ---- */

static void own_lock(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    waits(&r, 0, CALL(MUTEX, LOCK), 100, 400, LOCK, 1);
    end_run(&r);
    blamed(&r, 300);
    assert_int_equal(waited(&r, 0, FV_TW_LOCK), 300);
    assert_int_equal(sum(&r, FV_TALLY_THREAD_LINE, -1, -1), 300);
    assert_int_equal(sum(&r, FV_TALLY_THREAD_CAUSE, 1, -1), 300);
    release(&r);
}

static void joins_one_that_waited(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    one(&r, 0, FV_EV_THREAD_CREATE, 100, 1);
    one(&r, 1, FV_EV_THREAD_BEGIN, 110, 1);
    waits(&r, 1, CALL(MUTEX, LOCK), 150, 350, LOCK, 0);
    one(&r, 1, FV_EV_THREAD_END, 380, 1);
    waits(&r, 0, CALL(JOIN, WAIT), 120, 380, OTHER, 1);
    one(&r, 0, FV_EV_THREAD_JOIN, 380, 1);
    end_run(&r);
    blamed(&r, 200);
    assert_int_equal(waited(&r, 0, FV_TW_JOIN), 260);
    assert_int_equal(waited(&r, 1, FV_TW_LOCK), 200);
    release(&r);
}

static void joins_one_that_computed(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    waits(&r, 0, CALL(JOIN, WAIT), 120, 380, OTHER, 1);
    one(&r, 1, FV_EV_THREAD_END, 380, 1);
    end_run(&r);
    blamed(&r, 0);
    assert_int_equal(waited(&r, 0, FV_TW_JOIN), 260);
    release(&r);
}

/* Without the lock it would have waited at the barrier for so much longer. */
static void lock_before_a_barrier(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    waits(&r, 0, CALL(MUTEX, LOCK), 0, 200, LOCK, 1);
    one(&r, 1, FV_EV_THREAD_BEGIN, 390, 1);
    waits(&r, 0, CALL(BARRIER, WAIT), 200, 400, OTHER, 1);
    end_run(&r);
    blamed(&r, 0);
    assert_int_equal(waited(&r, 0, FV_TW_BARRIER), 200);
    release(&r);
}

/* The last at a barrier came from a lock, longer than the others wait. */
static void lock_of_the_last_at_a_barrier(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    waits(&r, 1, CALL(MUTEX, LOCK), 0, 340, LOCK, 0);
    waits(&r, 0, CALL(BARRIER, WAIT), 200, 350, OTHER, 1);
    end_run(&r);
    blamed(&r, 150);
    release(&r);
}

/* A thread that was made late ends late. */
static void made_late(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    waits(&r, 0, CALL(MUTEX, LOCK), 50, 250, LOCK, 1);
    one(&r, 0, FV_EV_THREAD_CREATE, 260, 1);
    one(&r, 1, FV_EV_THREAD_BEGIN, 260, 1);
    one(&r, 1, FV_EV_THREAD_END, 400, 1);
    waits(&r, 0, CALL(JOIN, WAIT), 300, 400, OTHER, 1);
    end_run(&r);
    blamed(&r, 200);
    release(&r);
}

/* What was before a call of MPI is not charged to the next one. */
static void before_the_call_before(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    waits(&r, 0, CALL(MUTEX, LOCK), 10, 60, LOCK, 1);
    call(&r.events[0][0], PROBE, T0 + 60, T0 + 100);
    end_run(&r);
    assert_int_equal(sum(&r, FV_TALLY_LOCKED, 0, -1), 50);
    assert_int_equal(sum(&r, FV_TALLY_DIRECT, 0, FV_FOR_LOCKS), 50 * 4 / 5);
    assert_int_equal(sum(&r, FV_TALLY_WAIT, 1, FV_WS_LATE_SENDER), 400);
    release(&r);
}

static void team(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    waits(&r, 0, CALL(MUTEX, LOCK), 20, 50, LOCK, 1);
    one(&r, 0, FV_EV_OMP_FORK, 50, 9);
    one(&r, 0, FV_EV_TEAM_BEGIN, 50, 9);
    one(&r, 1, FV_EV_TEAM_BEGIN, 60, 9);
    waits(&r, 1, CALL(OMP, LOCK), 100, 150, CRITICAL, 0);
    one(&r, 0, FV_EV_TEAM_END, 300, 9);
    one(&r, 1, FV_EV_TEAM_END, 400, 9);
    struct events *e = &r.events[0][0];
    EVENT(e, OMP_JOIN, T0 + 410 - e->end, 9, 10, OTHER, 0, 2);
    e->end = T0 + 410;
    end_run(&r);
    blamed(&r, 30 + 50);
    assert_int_equal(waited(&r, 0, FV_TW_OMP_BARRIER), 100);
    assert_int_equal(waited(&r, 1, FV_TW_OMP_LOCK), 50);
    assert_int_equal(sum(&r, FV_TALLY_THREAD_CAUSE, 1, FV_TW_OMP_BARRIER), 100);
    release(&r);
}

/* libgomp's threads of a nested team end behind its barrier, and before it is joined. */
static void nested_team(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    one(&r, 0, FV_EV_OMP_FORK, 50, 9);
    one(&r, 0, FV_EV_TEAM_BEGIN, 50, 9);
    one(&r, 1, FV_EV_THREAD_BEGIN, 60, 0);
    one(&r, 1, FV_EV_TEAM_BEGIN, 60, 9);
    one(&r, 1, FV_EV_TEAM_END, 200, 9);
    one(&r, 0, FV_EV_TEAM_END, 300, 9);
    one(&r, 1, FV_EV_THREAD_END, 301, 0);
    one(&r, 0, FV_EV_OMP_JOIN, 302, 9);
    end_run(&r);
    assert_int_equal(waited(&r, 1, FV_TW_OMP_BARRIER), 100);
    assert_int_equal(waited(&r, 0, FV_TW_OMP_BARRIER), 0);
    assert_int_equal(sum(&r, FV_TALLY_THREAD_CAUSE, 0, FV_TW_OMP_BARRIER), 100);
    release(&r);
}

static void ends_in_a_section(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    one(&r, 1, FV_EV_THREAD_BEGIN, 100, 0);
    one(&r, 1, FV_EV_SECTIONS, 150, 1);
    one(&r, 1, FV_EV_THREAD_END, 300, 0);
    end_run(&r);
    assert_int_equal(r.analysis.steps.lines[1].end_ns - r.analysis.steps.lines[1].begin_ns, 200);
    release(&r);
}

/* Of times that only damage makes. */
static void no_more_than_all(void **state)
{
    (void)state;
    for (uint64_t ns = 1; ns < UINT64_MAX / 3; ns = ns * 3 + 1) {
        assert_that(fv_locked_part(FV_LOCKED, ns), ==, ns);
        assert_that(fv_locked_part(FV_LOCKED - 1, ns), <=, ns);
    }
}

/* A thread, a number and an object that there are not. */
static void unknown_others(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    one(&r, 0, FV_EV_THREAD_BEGIN, 10, 77);
    waits(&r, 0, CALL(BARRIER, WAIT), 20, 50, 1000, 99);
    waits(&r, 0, CALL(JOIN, WAIT), 60, 70, OTHER, 0);
    waits(&r, 0, 0xff, 80, 90, LOCK, 1);
    end_run(&r);
    blamed(&r, 0);
    assert_int_equal(sum(&r, FV_TALLY_THREAD_LINE, -1, -1), 40);
    assert_int_equal(sum(&r, FV_TALLY_THREAD_CAUSE, -1, -1), 0); /* nobody waits for itself */
    release(&r);
}

static void names(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r);
    waits(&r, 0, CALL(MUTEX, LOCK), 100, 400, LOCK, 1);
    end_run(&r);
    assert_int_equal(r.merge.locks.count, CRITICAL + 1);
    assert_null(r.merge.locks.items[OTHER].name); /* it was not waited for */
    assert_string_equal(r.merge.locks.items[LOCK].name, "first used in a call path that is not known");
    assert_int_equal(r.merge.locks.items[LOCK].kind, FV_SYNC_MUTEX);
    assert_true(fv_defs_has_omp(&r.merge.defs));
    release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_lock),
        cmocka_unit_test(joins_one_that_waited),
        cmocka_unit_test(joins_one_that_computed),
        cmocka_unit_test(lock_before_a_barrier),
        cmocka_unit_test(lock_of_the_last_at_a_barrier),
        cmocka_unit_test(made_late),
        cmocka_unit_test(before_the_call_before),
        cmocka_unit_test(team),
        cmocka_unit_test(nested_team),
        cmocka_unit_test(ends_in_a_section),
        cmocka_unit_test(no_more_than_all),
        cmocka_unit_test(unknown_others),
        cmocka_unit_test(names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
