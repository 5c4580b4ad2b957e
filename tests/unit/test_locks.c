/* Locks, barriers and phases of threads of synthetic runs with known answers: the same lock on several ranks,
 * who waits and who holds, losses, damage, speedup bounds by hand. */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include "fvr_builder.h"
#include "json_rows.h"
#include "base/options.h"
#include "base/solo.h"
#include "profile/threads/phases.h"
#include "views/views.h"
#include "unit.h"

#include <time.h>
#include <unistd.h>
#include <jansson.h>
#include <link.h>

#define MS    UINT64_C(1000000)
#define START UINT64_C(1000000000)
#define RANKS 4
enum { MAIN = 1, WORKER, LOCKS, SITE, HOLDS }; /* paths: LOCKS is main <- worker <- 0x300, SITE the call 0x300 alone */

static struct fvr file[RANKS];
static struct fv_experiment experiment;
static struct fv_model model;
static const struct fv_findings no_findings;
static struct fv_symbols symbols;
static const struct fv_cost_profile no_costs;
static struct fv_profile view = { &model, &symbols, &no_costs, &no_findings, 0 };
static char *output;
static size_t output_bytes;

int named_by_test[4]; /* a variable of this program, to be found by its address */

static int set_up(void **state)
{
    (void)state;
    experiment = (struct fv_experiment){ 0 };
    model = (struct fv_model){ 0 };
    symbols = (struct fv_symbols){ 0 };
    for (int i = 0; i < RANKS; i++) {
        fvr_init(&file[i], i, RANKS);
        for (int k = 0; k < i; k++) /* modules have other numbers on each rank */
            fvr_module(&file[i], k % 2 ? "/lib/one" : "/lib/two", 0, NULL);
        uint32_t app = fvr_module(&file[i], "/no/app", (uint64_t)i << 20, "0123456789abcdef0123");
        fvr_path(&file[i], 0, app, 0x100);
        fvr_path(&file[i], MAIN, app, 0x200);
        fvr_path(&file[i], WORKER, app, 0x300);
        fvr_path(&file[i], 0, app, 0x300);
        fvr_path(&file[i], WORKER, app, 0x400);
        fvr_thread(&file[i], 0, true, 0, 0, NULL);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(output);
    output = NULL;
    fv_symbols_release(&symbols);
    fv_model_release(&model);
    fv_experiment_release(&experiment);
    for (int i = 0; i < RANKS; i++)
        fvr_release(&file[i]);
    return 0;
}

static void build(int ranks)
{
    for (int i = 0; i < ranks; i++)
        fvr_join(&file[i], &experiment);
    fv_experiment_choose(&experiment);
    fv_model_build(&model, &symbols, &experiment, true);
}

static uint32_t app_of(int rank)
{
    return (uint32_t)rank + 1;
}

/* ---- records ---- */

static void add_object(int rank, struct fv_sync_object o)
{
    fvr_add(&file[rank], FV_CHUNK_SYNC_OBJECTS, FV_NO_THREAD, &o, sizeof(o));
}

static void static_object(int rank, uint32_t id, unsigned kind, uint64_t offset)
{
    add_object(rank, (struct fv_sync_object){ .id = id,
                                              .kind = (uint8_t)kind,
                                              .flags = FV_SYNC_STATIC,
                                              .address = ((uint64_t)rank << 20) + offset,
                                              .offset = offset,
                                              .module = app_of(rank),
                                              .path = SITE });
}

static void heap_object(int rank, uint32_t id, unsigned kind, uint64_t address, uint32_t path)
{
    add_object(rank, (struct fv_sync_object){
                         .id = id, .kind = (uint8_t)kind, .address = address, .offset = address, .path = path });
}

static void add_record(int rank, uint32_t thread, struct fv_sync_record r)
{
    r.thread = thread;
    if (r.wait_sum)
        r.wait_histogram[3] = (uint32_t)r.contended;
    fvr_add(&file[rank], FV_CHUNK_SYNC, thread, &r, sizeof(r));
}

static void add_thread(int rank, uint32_t thread, struct fv_sync_thread t)
{
    if (!t.mode)
        t.mode = FV_THREADS_ON | FV_THREADS_HOLD | FV_THREADS_OWNER;
    fvr_add(&file[rank], FV_CHUNK_SYNC_THREAD, thread, &t, sizeof(t));
}

/* Milliseconds from the rank's begin; end 0: it lives. */
static void add_life_of(int rank, uint32_t thread, uint64_t routine, unsigned created, unsigned end, unsigned waited,
                        unsigned joined, unsigned cpu)
{
    struct fv_thread_life l = { .thread = thread,
                                .tid = 100 + thread,
                                .creator = 0,
                                .create_path = MAIN,
                                .joiner = joined ? 0 : FV_NO_THREAD,
                                .join_path = joined ? MAIN : 0,
                                .routine_module = app_of(rank),
                                .routine_offset = routine,
                                .created = START + created * MS,
                                .begin = START + created * MS,
                                .end = end ? START + end * MS : 0,
                                .wait_at_begin = 7 * MS,
                                .wait_at_end = end ? (7 + waited) * MS : 0,
                                .join_begin = joined ? START + (joined - 1) * MS : 0,
                                .join_end = joined ? START + joined * MS : 0,
                                .cpu_ns = cpu * MS };

    fvr_add(&file[rank], FV_CHUNK_LIVES, FV_NO_THREAD, &l, sizeof(l));
}

static void add_life(int rank, uint32_t thread, uint64_t routine, unsigned created, unsigned end, unsigned waited,
                     unsigned joined)
{
    add_life_of(rank, thread, routine, created, end, waited, joined, end ? end - created - waited : 0);
}

/* ---- output ---- */

static const char *text(size_t width)
{
    const struct fv_text_options o = { .width = width, .top = 10, .brief = true };
    FILE *out;

    free(output);
    out = open_memstream(&output, &output_bytes);
    assert_int_equal(fv_view_text(&view, &o, out), 0);
    fclose(out);
    return output;
}

static const char *stacks(void)
{
    const struct fv_stacks_options o = { .text = { .width = 140, .top = 10 } };
    FILE *out;

    free(output);
    out = open_memstream(&output, &output_bytes);
    assert_int_equal(fv_view_stacks(&view, &o, out), 0);
    fclose(out);
    return output;
}

static json_t *json(void)
{
    json_error_t error;
    FILE *out;

    free(output);
    out = open_memstream(&output, &output_bytes);
    assert_int_equal(fv_view_json(&view, FV_JSON_RANKS_ALL, out), 0);
    fclose(out);
    json_t *root = json_loads(output, 0, &error);
    if (!root)
        fail_msg("%s at %d", error.text, error.position);
    return json_plainly(root);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_number(value))
        fail_msg("%s is no number", key);
    return json_number_value(value);
}

/* The site of a lock that has a role and an innermost offset. */
static json_t *site(const json_t *lock, const char *role, unsigned offset, bool whole)
{
    json_t *found = NULL, *s;
    size_t i;

    json_array_foreach(json_object_get(lock, "sites"), i, s)
    {
        const json_t *path = json_object_get(s, "path");

        if (!strcmp(json_string_value(json_object_get(s, "role")), role) &&
            number(json_array_get(path, 0), "offset") == offset &&
            json_is_true(json_object_get(s, "whole_path")) == whole) {
            assert_null(found);
            found = s;
        }
    }
    if (!found)
        fail_msg("no site that %s at 0x%x", role, offset);
    return found;
}

/* ---- locks ---- */

/* One static lock, on two ranks by other numbers; what it waits for as a whole path, what it does not by its
 * call. */
static void contended_lock(void)
{
    for (int r = 0; r < 2; r++) {
        static_object(r, 3, FV_SYNC_MUTEX, 0x5000);
        static_object(r, 2, FV_SYNC_MUTEX, 0x6000);
        for (uint32_t t = 1; t < 3; t++) {
            add_record(r, t,
                       (struct fv_sync_record){ .object = 3,
                                                .path = SITE,
                                                .kind = FV_SYNC_MUTEX,
                                                .operation = FV_SYNC_LOCK,
                                                .flags = FV_SYNC_SITE,
                                                .acquired = 90,
                                                .owner_changes = 5,
                                                .hold_count = 90,
                                                .hold_sum = 9 * MS,
                                                .hold_max = MS });
            add_record(r, t,
                       (struct fv_sync_record){ .object = 3,
                                                .path = LOCKS,
                                                .kind = FV_SYNC_MUTEX,
                                                .operation = FV_SYNC_LOCK,
                                                .acquired = 10,
                                                .contended = 10,
                                                .wait_sum = (t + (uint64_t)r) * 10 * MS,
                                                .wait_max = (t + (uint64_t)r) * 2 * MS });
            add_record(r, t,
                       (struct fv_sync_record){ .object = 3,
                                                .path = HOLDS,
                                                .kind = FV_SYNC_MUTEX,
                                                .operation = FV_SYNC_TRY,
                                                .acquired = 1,
                                                .failed = 4,
                                                .hold_count = 1,
                                                .hold_sum = 40 * MS,
                                                .hold_max = 40 * MS,
                                                .blocked = 10,
                                                .blocked_ticks = 15 * MS });
            add_record(r, t,
                       (struct fv_sync_record){ .object = 2,
                                                .path = SITE,
                                                .kind = FV_SYNC_MUTEX,
                                                .operation = FV_SYNC_LOCK,
                                                .flags = FV_SYNC_SITE,
                                                .acquired = 1000 });
            add_thread(r, t,
                       (struct fv_sync_thread){ .wait_ticks[FV_SYNC_MUTEX] = (t + (uint64_t)r) * 10 * MS,
                                                .in_mpi_ticks = 2 * MS });
        }
    }
}

static void unifies_static_locks(void **state)
{
    (void)state;
    contended_lock();
    build(2);
    assert_int_equal(fv_model_locks(&model)->count, 2);
    const struct fv_lock_view *k = &fv_model_locks(&model)->items[0];
    assert_int_equal(k->n.acquired, 4 * 101);
    assert_int_equal(k->n.contended, 40);
    assert_int_equal(k->n.failed, 16);
    assert_near(k->n.wait_s, 0.080, 1e-9);
    assert_near(k->n.wait_max_s, 0.006, 1e-9);
    assert_near(k->n.hold_s, 4 * 0.049, 1e-9);
    assert_near(k->n.blocked_s, 0.060, 1e-9);
    assert_int_equal(k->n.owner_changes, 20);
    assert_int_equal(k->objects, 2);
    assert_int_equal(k->ranks, 2);
    assert_int_equal(k->threads, 4);
    assert_int_equal(k->sites, 3);
    assert_int_equal(k->parts, 4);
    assert_int_equal(k->histogram[3], 40);
    assert_int_equal(k->worst.rank, 1);
    assert_int_equal(fv_model_locks(&model)->items[1].n.acquired, 4000);
    assert_near(fv_model_locks(&model)->kind_s[FV_SYNC_MUTEX], 0.080, 1e-9);
    assert_near(fv_model_locks(&model)->wait_s, 0.080, 1e-9);
    assert_near(fv_model_locks(&model)->in_mpi_s, 0.008, 1e-9);
}

static void tells_roles_of_sites(void **state)
{
    json_t *root, *lock, *s;
    (void)state;

    contended_lock();
    build(2);
    root = json();
    lock = json_array_get(json_object_get(root, "locks"), 0);
    assert_string_equal(json_string_value(json_object_get(lock, "kind")), "mutex");
    assert_string_equal(json_string_value(json_object_get(lock, "name")), "app+0x5000");
    assert_near(number(lock, "wait_s"), 0.080, 1e-9);
    assert_near(number(lock, "wait_max_s"), 0.006, 1e-9);
    assert_near(number(lock, "hold_s"), 0.196, 1e-9);
    s = site(lock, "waits", 0x300, true);
    assert_int_equal(number(s, "count"), 40);
    assert_int_equal(number(s, "contended_count"), 40);
    assert_near(number(s, "wait_s"), 0.080, 1e-9);
    assert_int_equal(json_array_size(json_object_get(s, "path")), 3);
    s = site(lock, "waits", 0x300, false);
    assert_int_equal(number(s, "count"), 360);
    assert_near(number(s, "wait_s"), 0, 0);
    s = site(lock, "holds", 0x300, false);
    assert_near(number(s, "hold_s"), 0.036, 1e-9);
    s = site(lock, "holds", 0x400, true);
    assert_int_equal(number(s, "count"), 4);
    assert_int_equal(number(s, "contended_count"), 40);
    assert_near(number(s, "wait_s"), 0.060, 1e-9);
    s = site(lock, "waits", 0x400, true);
    assert_int_equal(number(s, "failed_count"), 16);
    assert_int_equal(json_array_size(json_object_get(lock, "per_rank")), 2);
    assert_near(number(json_array_get(json_object_get(lock, "per_rank"), 1), "wait_s"), 0.050, 1e-9);
    json_decref(root);
}

/* Each record of a lock counts once: with what is asked for left out, numbers are null and not 0. */
static void holds_unasked_are_null(void **state)
{
    json_t *root, *lock;
    (void)state;

    static_object(0, 1, FV_SYNC_SPIN, 0x5000);
    add_record(0, 1,
               (struct fv_sync_record){
                   .object = 1, .path = LOCKS, .kind = FV_SYNC_SPIN, .operation = FV_SYNC_LOCK, .acquired = 5 });
    add_thread(0, 1, (struct fv_sync_thread){ .mode = FV_THREADS_ON });
    build(1);
    root = json();
    lock = json_array_get(json_object_get(root, "locks"), 0);
    assert_true(json_is_null(json_object_get(lock, "hold_s")));
    assert_true(json_is_null(json_object_get(lock, "owner_change_count")));
    assert_int_equal(json_array_size(json_object_get(lock, "sites")), 1);
    json_decref(root);
}

/* Their addresses are no names: kind and first use are. */
static void joins_heap_locks_of_one_path(void **state)
{
    char name[1200];
    (void)state;

    heap_object(0, 1, FV_SYNC_MUTEX, 0xa000, LOCKS);
    heap_object(0, 2, FV_SYNC_MUTEX, 0xb000, LOCKS);
    heap_object(1, 1, FV_SYNC_MUTEX, 0xc000, LOCKS);
    heap_object(1, 2, FV_SYNC_MUTEX, 0xd000, HOLDS);
    heap_object(1, 3, FV_SYNC_RWLOCK, 0xe000, LOCKS);
    for (int r = 0; r < 2; r++)
        for (uint32_t o = 1; o < 3 + (uint32_t)r; o++)
            add_record(r, 0,
                       (struct fv_sync_record){ .object = o,
                                                .path = SITE,
                                                .kind = FV_SYNC_MUTEX,
                                                .operation = FV_SYNC_LOCK,
                                                .acquired = 1,
                                                .contended = 1,
                                                .wait_sum = (o == 2 && !r ? 8 : 4) * MS });
    build(2);
    assert_int_equal(fv_model_locks(&model)->count, 3);
    assert_int_equal(fv_model_locks(&model)->items[0].objects, 3);
    assert_near(fv_model_locks(&model)->items[0].n.wait_s, 0.016, 1e-9);
    assert_int_equal(fv_model_locks(&model)->items[0].worst.address, 0xb000);
    fv_view_lock_name(&view, &fv_model_locks(&model)->items[0], name, sizeof(name));
    assert_string_equal(name, "3 mutexes first used in app+0x300 <- app+0x200 <- app+0x100");
    fv_view_lock_name(&view, &fv_model_locks(&model)->items[1], name, sizeof(name));
    assert_string_equal(name, "0xd000 first used in app+0x400 <- app+0x200 <- app+0x100");
    fv_view_lock_name(&view, &fv_model_locks(&model)->items[2], name, sizeof(name));
    assert_non_null(strstr(name, "0xe000 first used"));
}

/* A lock of MPI's libraries comes after the program's, however long they wait for it. */
static void locks_inside_mpi_come_last(void **state)
{
    (void)state;
    uint32_t module = fvr_module(&file[0], "/lib/libpmix.so.2", 0xc00000, NULL);
    uint32_t path = fvr_path(&file[0], SITE, module, 0x10);

    heap_object(0, 1, FV_SYNC_MUTEX, 0xa000, path);
    heap_object(0, 2, FV_SYNC_MUTEX, 0xb000, LOCKS);
    for (uint32_t o = 1; o < 3; o++)
        add_record(0, 0,
                   (struct fv_sync_record){ .object = o,
                                            .path = o == 1 ? path : SITE,
                                            .kind = FV_SYNC_MUTEX,
                                            .operation = FV_SYNC_LOCK,
                                            .acquired = 1,
                                            .contended = 1,
                                            .wait_sum = (o == 1 ? 8 : 4) * MS });
    build(1);
    assert_int_equal(fv_model_locks(&model)->count, 2);
    assert_near(fv_model_locks(&model)->items[0].n.wait_s, 0.004, 1e-9);
    assert_false(fv_model_locks(&model)->items[0].inside_mpi);
    assert_true(fv_model_locks(&model)->items[1].inside_mpi);
}

/* A thread of MPI's own, which was there before recording began, is no part of the program: neither its life nor its
 * waiting. The main thread is, all the time, though its life was not seen; and what it waits in MPI is MPI time. */
static void threads_of_mpi_do_not_count(void **state)
{
    (void)state;
    uint32_t module = fvr_module(&file[0], "/lib/libpmix.so.2", 0xc00000, NULL);
    uint32_t path = fvr_path(&file[0], SITE, module, 0x10);
    const struct {
        uint32_t thread, object;
        unsigned wait, in_mpi;
    } waits[] = { { 0, 1, 80, 80 }, { 0, 2, 30, 0 }, { 1, 1, 900, 0 } };
    struct fv_thread_life life = { .thread = 1,
                                   .tid = 101,
                                   .creator = FV_NO_THREAD,
                                   .joiner = FV_NO_THREAD,
                                   .begin = START,
                                   .end = START + 990 * MS };

    heap_object(0, 1, FV_SYNC_COND, 0xa000, path);
    heap_object(0, 2, FV_SYNC_MUTEX, 0xb000, LOCKS);
    fvr_add(&file[0], FV_CHUNK_LIVES, FV_NO_THREAD, &life, sizeof(life));
    add_life(0, 2, 0x700, 100, 400, 0, 0);
    for (size_t i = 0; i < 3; i++)
        add_record(0, waits[i].thread,
                   (struct fv_sync_record){ .object = waits[i].object,
                                            .path = waits[i].object == 1 ? path : SITE,
                                            .kind = waits[i].object == 1 ? FV_SYNC_COND : FV_SYNC_MUTEX,
                                            .operation = waits[i].object == 1 ? FV_SYNC_WAIT : FV_SYNC_LOCK,
                                            .acquired = 1,
                                            .contended = 1,
                                            .wait_sum = waits[i].wait * MS });
    add_thread(0, 0,
               (struct fv_sync_thread){ .wait_ticks = { [FV_SYNC_COND] = 80 * MS, [FV_SYNC_MUTEX] = 30 * MS },
                                        .in_mpi_ticks = 80 * MS });
    add_thread(0, 1, (struct fv_sync_thread){ .wait_ticks[FV_SYNC_COND] = 900 * MS });
    build(1);
    assert_near(fv_model_locks(&model)->wait_s, 1.010, 1e-9);
    assert_near(fv_model_locks(&model)->own_wait_s, 0.030, 1e-9);
    assert_near(fv_model_locks(&model)->thread_s, 1 + 0.300, 1e-9);
    assert_non_null(
        strstr(text(100), "threads waited 30.0 ms, 2.3 % of their 1.30 s: mutex 2.3 %; 80.0 ms more inside MPI calls"));
}

static void names_who_comes_last(void **state)
{
    json_t *root, *lock;
    (void)state;

    static_object(0, 1, FV_SYNC_BARRIER, 0x5000);
    for (uint32_t t = 0; t < 4; t++) {
        uint64_t last = t == 2 ? 9 : t == 1;

        add_record(0, t,
                   (struct fv_sync_record){ .object = 1,
                                            .path = LOCKS,
                                            .kind = FV_SYNC_BARRIER,
                                            .operation = FV_SYNC_WAIT,
                                            .acquired = 10,
                                            .contended = 10 - last,
                                            .last = last,
                                            .wait_sum = (10 - last) * MS,
                                            .wait_max = MS });
        add_thread(0, t, (struct fv_sync_thread){ .wait_ticks[FV_SYNC_BARRIER] = (10 - last) * MS });
    }
    build(1);
    assert_int_equal(fv_model_locks(&model)->items[0].n.last, 10);
    root = json();
    lock = json_array_get(json_object_get(root, "locks"), 0);
    assert_int_equal(json_array_size(json_object_get(lock, "per_thread")), 4);
    assert_int_equal(number(json_array_get(json_object_get(lock, "per_thread"), 2), "last_count"), 9);
    json_decref(root);
    assert_non_null(strstr(
        text(200), "thread 2 in 9 of 10 rounds; a thread waited 1.00 ms (thread 2) to 10.0 ms (thread 0) in all"));
}

/* Signals acquire nothing. */
static void tells_signals_from_waits(void **state)
{
    json_t *root, *lock;
    (void)state;

    static_object(0, 1, FV_SYNC_COND, 0x5000);
    add_record(0, 1,
               (struct fv_sync_record){ .object = 1,
                                        .path = LOCKS,
                                        .kind = FV_SYNC_COND,
                                        .operation = FV_SYNC_WAIT,
                                        .acquired = 7,
                                        .contended = 7,
                                        .wait_sum = 70 * MS });
    add_record(0, 2,
               (struct fv_sync_record){
                   .object = 1, .path = HOLDS, .kind = FV_SYNC_COND, .operation = FV_SYNC_BROADCAST, .acquired = 3 });
    build(1);
    assert_int_equal(fv_model_locks(&model)->items[0].n.acquired, 7);
    assert_int_equal(fv_model_locks(&model)->items[0].n.signals, 3);
    root = json();
    lock = json_array_get(json_object_get(root, "locks"), 0);
    assert_int_equal(number(site(lock, "holds", 0x400, true), "count"), 3);
    assert_true(json_is_null(json_object_get(site(lock, "holds", 0x400, true), "wait_s")));
    json_decref(root);
    assert_non_null(strstr(text(100), "signals  app+0x400"));
}

/* Nothing is lost without a word: what has no object, or one that is not described, has a row of its kind. */
static void keeps_what_had_no_room(void **state)
{
    (void)state;
    add_record(0, 1,
               (struct fv_sync_record){ .object = 0,
                                        .kind = FV_SYNC_MUTEX,
                                        .operation = FV_SYNC_LOCK,
                                        .acquired = 5,
                                        .contended = 1,
                                        .wait_sum = MS });
    add_record(
        0, 1, (struct fv_sync_record){ .object = 77, .kind = FV_SYNC_MUTEX, .operation = FV_SYNC_LOCK, .acquired = 6 });
    add_record(0, 1,
               (struct fv_sync_record){ .object = 0, .kind = FV_SYNC_SEM, .operation = FV_SYNC_POST, .acquired = 2 });
    add_thread(0, 1, (struct fv_sync_thread){ .missed = 1, .overflow = 13, .holds_lost = 4, .lives_lost = 2 });
    build(1);
    assert_int_equal(fv_model_locks(&model)->count, 2);
    assert_true(fv_model_locks(&model)->items[0].rest);
    assert_int_equal(fv_model_locks(&model)->items[0].n.acquired, 11);
    text(100);
    assert_non_null(strstr(output, "mutexes without a record of their own"));
    assert_non_null(strstr(output, "1 operation in signal handlers"));
    assert_non_null(strstr(output, "13 operations without room"));
    assert_non_null(strstr(output, "4 holds not measured"));
    assert_non_null(strstr(output, "2 threads without a record of their life"));
}

static void shows_threads_that_wait(void **state)
{
    json_t *root, *now;
    (void)state;

    file[1].header.state = FV_STATE_RUNNING; /* no such process: it was killed */
    for (int r = 0; r < 2; r++) {
        static_object(r, 1, FV_SYNC_MUTEX, 0x5000);
        for (uint32_t t = 1; t < 4; t++)
            add_thread(r, t,
                       (struct fv_sync_thread){ .wait_begin = START + 500 * MS,
                                                .wait_object = 1,
                                                .wait_path = LOCKS,
                                                .wait_kind = FV_SYNC_MUTEX,
                                                .wait_operation = FV_SYNC_LOCK });
    }
    build(2);
    assert_int_equal(fv_model_locks(&model)->now_count, 3); /* of the rank that finalized there are none */
    root = json();
    now = json_object_get(json_object_get(root, "thread_waiting"), "now");
    assert_int_equal(number(json_array_get(now, 0), "rank"), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(now, 0), "operation")), "lock");
    json_decref(root);
    assert_non_null(strstr(text(120), "3 threads of rank 1: mutex app+0x5000, in app+0x300"));
}

static void shows_nothing_where_nothing_was_recorded(void **state)
{
    json_t *root;
    (void)state;

    build(2);
    assert_null(strstr(text(100), "Locks"));
    assert_null(strstr(text(100), "Thread phases"));
    root = json();
    assert_int_equal(json_array_size(json_object_get(root, "locks")), 0);
    assert_int_equal(json_array_size(json_object_get(root, "phases")), 0);
    assert_true(json_is_null(json_object_get(root, "thread_waiting")));
    json_decref(root);
}

static int own_bias(struct dl_phdr_info *info, size_t bytes, void *out)
{
    (void)bytes;
    *(uint64_t *)out = info->dlpi_addr;
    return 1; /* the program comes first */
}

/* By the address itself: the byte before is another variable's. */
static void names_variables(void **state)
{
    char path[4096] = "", name[300];
    uint64_t bias = 0;
    (void)state;

    assert_that(readlink("/proc/self/exe", path, sizeof(path) - 1), >, 0);
    dl_iterate_phdr(own_bias, &bias);
    uint32_t own = fvr_module(&file[0], path, bias, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        add_object(0, (struct fv_sync_object){ .id = i + 1,
                                               .kind = FV_SYNC_MUTEX,
                                               .flags = FV_SYNC_STATIC,
                                               .module = own,
                                               .offset = (uint64_t)&named_by_test[2 * i] - bias });
        add_record(
            0, 1,
            (struct fv_sync_record){
                .object = i + 1, .path = SITE, .kind = FV_SYNC_MUTEX, .operation = FV_SYNC_LOCK, .acquired = 5 - i });
    }
    add_object(0, (struct fv_sync_object){ .id = 3,
                                           .kind = FV_SYNC_JOIN,
                                           .flags = FV_SYNC_STATIC,
                                           .module = own,
                                           .offset = (uint64_t)&tear_down - bias });
    add_record(0, 1,
               (struct fv_sync_record){
                   .object = 3, .path = SITE, .kind = FV_SYNC_JOIN, .operation = FV_SYNC_WAIT, .acquired = 1 });
    build(1);
    assert_string_equal(fv_view_lock_name(&view, &fv_model_locks(&model)->items[0], name, sizeof(name)),
                        "named_by_test");
    assert_string_equal(fv_view_lock_name(&view, &fv_model_locks(&model)->items[1], name, sizeof(name)),
                        "named_by_test+0x8");
    assert_string_equal(fv_view_lock_name(&view, &fv_model_locks(&model)->items[2], name, sizeof(name)),
                        "threads of tear_down()");
}

/* ---- phases ---- */

/* By hand: t = 100, 80, 60, 40 ms, w = 50, 0, 20, 0 ms, so t - w = 50, 80, 40, 40: sum 210, longest 80. */
static void one_phase(int rank, unsigned from)
{
    static const unsigned t[] = { 100, 80, 60, 40 }, w[] = { 50, 0, 20, 0 };

    for (uint32_t i = 0; i < 4; i++)
        add_life(rank, i + 1, 0x700, from, from + t[i], w[i], from + 100 + i + 1);
}

static void bounds_the_speedup(void **state)
{
    (void)state;
    one_phase(0, 10);
    build(1);
    assert_int_equal(fv_model_phases(&model)->count, 1);
    const struct fv_phase_sums *s = &fv_model_phases(&model)->items[0].sums;
    struct fv_phase_bound b = fv_phase_bound(s);
    assert_near(s->longest_s, 0.100, 1e-9);
    assert_near(s->useful_longest_s, 0.080, 1e-9);
    assert_near(s->elapsed_s, 0.104, 1e-9);
    assert_near(s->creator_s, 0.100, 1e-9);
    assert_near(s->time_s - s->wait_s, 0.210, 1e-9);
    assert_near(s->off_cpu_s, 0, 1e-9);
    assert_near(b.threads, 4, 1e-9);
    assert_near(b.without_waiting, 1.25, 1e-9);
    assert_near(b.bound, 2.1, 1e-9);
    assert_near(b.bound_waitless, 2.625, 1e-9);
    assert_near(b.synchronisation, 0.525, 1e-9);
    assert_near(b.imbalance, 1.375, 1e-9);
}

static void makes_a_stack_with_t1(void **state)
{
    (void)state;
    one_phase(0, 10);
    one_phase(1, 10);
    build(2);
    struct fv_speedup_stack s = fv_phase_stack(&fv_model_phases(&model)->items[0], 0.2);
    assert_near(s.measured, 2, 1e-9);
    assert_near(s.waitless, 2.5, 1e-9);
    assert_near(s.synchronisation, 0.5, 1e-9);
    assert_near(s.rest, 1.5, 1e-9);
    assert_false(s.rejected);
    assert_false(fv_phase_stack(&fv_model_phases(&model)->items[0], 4.2 * 0.0799).rejected);
    assert_true(fv_phase_stack(&fv_model_phases(&model)->items[0], 4.2 * 0.0801).rejected);
}

/* Two times on one rank, once on another; a thread of another function that runs all the time is no part of
 * it. */
static void tells_phases_apart(void **state)
{
    json_t *root, *phase;
    (void)state;

    add_life(0, 9, 0x900, 5, 900, 0, 0);
    one_phase(0, 10);
    one_phase(0, 300);
    one_phase(1, 20);
    build(2);
    assert_int_equal(fv_model_phases(&model)->count, 2);
    const struct fv_phase *p =
        &fv_model_phases(&model)->items[fv_model_phases(&model)->items[0].sums.threads_max > 1 ? 0 : 1];
    assert_int_equal(p->sums.instances, 3);
    assert_int_equal(p->ranks, 2);
    assert_int_equal(fv_model_phases(&model)->parts[p->first].sums.instances, 2);
    assert_near(fv_phase_bound(&p->sums).bound, 2.1, 1e-9);
    assert_near(fv_phase_bound(&p->sums).threads, 4, 1e-9);
    root = json();
    phase = json_array_get(json_object_get(root, "phases"), (size_t)(p - fv_model_phases(&model)->items));
    assert_int_equal(number(phase, "instance_count"), 3);
    assert_near(number(json_object_get(phase, "speedup"), "without_waiting"), 1.25, 1e-9);
    assert_int_equal(json_array_size(json_object_get(phase, "per_rank")), 2);
    json_decref(root);
    assert_non_null(strstr(text(120), "Thread phases"));
    assert_non_null(strstr(output, "no waits"));
    assert_non_null(strstr(output, " 1.25 "));
    assert_non_null(strstr(output, "and 1 of single threads"));
}

/* A thread that lives has waited as its slot tells, and waits until the rank was last seen. */
static void counts_threads_that_live(void **state)
{
    (void)state;
    file[0].header.state = FV_STATE_RUNNING;
    add_life(0, 1, 0x700, 100, 300, 0, 0);
    add_life(0, 2, 0x700, 100, 0, 0, 0);
    add_thread(0, 2,
               (struct fv_sync_thread){
                   .wait_begin = START + 400 * MS, .wait_kind = FV_SYNC_COND, .wait_ticks[FV_SYNC_COND] = 57 * MS });
    build(1);
    assert_true(fv_model_phases(&model)->items[0].open);
    const struct fv_life *l = &fv_model_phases(&model)->lives[1];
    assert_true(l->alive);
    assert_near(l->end_s, model.ranks[0].end_s, 1e-9);
    assert_near(l->wait_s, 0.050 + model.ranks[0].end_s - 0.4, 1e-6);
    assert_true(isnan(fv_model_phases(&model)->items[0].sums.off_cpu_s));
}

/* The same on two processors: C = 210 ms, less 140 off the CPU. 70 ms of CPU time keep two processors busy
 * for 35 ms, when two more threads have none: 70 ms. On one, 105 ms, in which three have none: all 140 ms;
 * but nobody is done before 70 ms. With T1 likewise. */
static void bounds_it_by_processors(void **state)
{
    json_t *root, *phase;
    (void)state;

    file[0].header.cpus = 2;
    file[1].header.cpus = 8;
    for (int r = 0; r < 2; r++) {
        add_life_of(r, 1, 0x700, 10, 110, 50, 111, 20);
        add_life_of(r, 2, 0x700, 10, 90, 0, 112, 20);
        add_life_of(r, 3, 0x700, 10, 70, 20, 113, 20);
        add_life_of(r, 4, 0x700, 10, 50, 0, 114, 10);
    }
    build(2);
    const struct fv_phase_sums *s = &fv_model_phases(&model)->parts[0].sums;
    struct fv_phase_bound b = fv_phase_bound(s);
    assert_int_equal(s->cpus, 2);
    assert_near(s->off_cpu_s, 0.140, 1e-9);
    assert_near(s->queue_s, 0.070, 1e-9);
    assert_near(b.bound, 1.4, 1e-9);
    assert_near(b.bound_waitless, 1.75, 1e-9);
    assert_near(b.few_cpus, 2.625 - 1.75, 1e-9);
    assert_near(b.imbalance, 1.375, 1e-9);
    assert_near(b.bound + b.synchronisation + b.imbalance + b.few_cpus, 4, 1e-9);
    b = fv_phase_bound(&fv_model_phases(&model)->parts[1].sums); /* enough of them */
    assert_near(fv_model_phases(&model)->parts[1].sums.queue_s, 0, 0);
    assert_near(b.bound, 2.1, 1e-9);
    assert_near(b.few_cpus, 0, 1e-9);
    assert_int_equal(fv_model_phases(&model)->items[0].sums.cpus, 2);
    root = json();
    phase = json_array_get(json_object_get(root, "phases"), 0);
    assert_string_equal(json_string_value(json_object_get(phase, "kind")), "threads");
    assert_near(number(phase, "queue_s"), 0.070, 1e-9);
    assert_near(number(json_array_get(json_object_get(phase, "per_rank"), 0), "speedup_lost_to_few_cpus"), 0.875, 1e-9);
    assert_int_equal(number(phase, "cpu_count"), 2);
    assert_true(json_is_null(json_object_get(phase, "join_s")));
    json_decref(root);
    assert_non_null(strstr(text(120), "more threads than processors"));
    assert_non_null(strstr(stacks(), "4 threads had 2 processors, which bound the speedup; 12"));
    assert_non_null(strstr(output, "too few processors"));
}

/* All of it was computing: four threads on one processor are no faster than one. */
static void one_processor_is_no_speedup(void **state)
{
    (void)state;
    file[0].header.cpus = 1;
    for (uint32_t i = 0; i < 4; i++)
        add_life_of(0, i + 1, 0x700, 10, 110, 0, 111, 25);
    build(1);
    struct fv_phase_bound b = fv_phase_bound(&fv_model_phases(&model)->items[0].sums);
    assert_near(b.bound, 1, 1e-9);
    assert_near(b.bound_waitless, 1, 1e-9);
    assert_near(b.without_waiting, 1, 1e-9);
    assert_near(b.few_cpus, 3, 1e-9);
}

/* Others used it, too: less CPU time than one processor has. Who hardly computes did not wait for one. */
static void busy_processors_are_told_from_sleep(void **state)
{
    (void)state;
    file[0].header.cpus = 1;
    for (uint32_t i = 0; i < 4; i++) {
        add_life_of(0, i + 1, 0x700, 10, 110, 0, 111, 6);
        add_life_of(0, i + 5, 0x800, 10, 110, 0, 111, 1);
    }
    build(1);
    for (size_t i = 0; i < 2; i++) {
        const struct fv_phase_sums *s = &fv_model_phases(&model)->items[i].sums;
        bool sleeps = s->cpu_s < 0.010;

        assert_near(s->queue_s, sleeps ? 0.012 : 0.300, 1e-9);
        assert_near(fv_phase_bound(s).bound, sleeps ? 3.88 : 1, 1e-9);
    }
}

/* ---- OpenMP ---- */

/* Four threads, twice, as one_phase(): what they wait for at the end is no part of `time`. */
static struct fv_omp_region region_of(int rank, uint32_t path)
{
    return (struct fv_omp_region){ .id = path,
                                   .path = path,
                                   .module = app_of(rank),
                                   .offset = 0x800,
                                   .level = 1,
                                   .threads_min = 4,
                                   .threads_max = 4,
                                   .count = 2,
                                   .threads = 8,
                                   .elapsed = 210 * MS,
                                   .elapsed_max = 106 * MS,
                                   .longest = 200 * MS,
                                   .useful_longest = 160 * MS,
                                   .weighted = 800 * MS,
                                   .time = 560 * MS,
                                   .wait = 140 * MS,
                                   .join = 240 * MS,
                                   .fork = 3 * MS };
}

static void add_region(int rank, struct fv_omp_region r)
{
    fvr_add(&file[rank], FV_CHUNK_OMP, 0, &r, sizeof(r));
}

static void regions_are_phases(void **state)
{
    json_t *root, *phase;
    (void)state;

    for (int r = 0; r < 2; r++) {
        add_region(r, region_of(r, WORKER));
        add_thread(r, 0, (struct fv_sync_thread){ .wait_ticks[FV_SYNC_OMP] = 380 * MS });
    }
    one_phase(0, 10); /* by the same path, but threads */
    build(2);
    assert_int_equal(fv_model_phases(&model)->count, 2);
    const struct fv_phase *p = &fv_model_phases(&model)->items[0];
    struct fv_phase_bound b = fv_phase_bound(&p->sums);
    assert_int_equal(p->kind, FV_PHASE_OMP);
    assert_int_equal(p->sums.instances, 4);
    assert_int_equal(p->ranks, 2);
    assert_near(p->sums.time_s, 2 * 0.800, 1e-9);
    assert_near(p->sums.wait_s, 2 * 0.380, 1e-9);
    assert_near(b.threads, 4, 1e-9);
    assert_near(b.without_waiting, 1.25, 1e-9);
    assert_near(b.bound, 2.1, 1e-9);
    assert_near(b.synchronisation, 0.525, 1e-9);
    assert_near(b.imbalance, 1.375, 1e-9);
    assert_near(fv_phase_stack(p, 0.4).measured, 2, 1e-9);
    assert_near(fv_phase_stack(p, 0.4).waitless, 2.5, 1e-9);
    root = json();
    phase = json_array_get(json_object_get(root, "phases"), 0);
    assert_string_equal(json_string_value(json_object_get(phase, "kind")), "omp");
    assert_string_equal(json_string_value(json_object_get(phase, "function")), "app+0x800");
    assert_near(number(phase, "join_s"), 0.480, 1e-9);
    assert_near(number(phase, "fork_s"), 0.006, 1e-9);
    assert_near(number(phase, "elapsed_s"), 0.420, 1e-9);
    assert_true(json_is_null(json_object_get(phase, "cpu_s")));
    json_decref(root);
    assert_non_null(strstr(text(120), "OpenMP app+0x200"));
    assert_non_null(strstr(stacks(), "phase 1: 4 threads, OpenMP region in app+0x200"));
}

/* As where a loop was unrolled: regions at two paths, which turn out to look the same. Ranks 0 and 1 have
 * both, rank 2 the second. */
static void regions_that_look_the_same_are_one_phase(void **state)
{
    (void)state;
    for (int r = 0; r < 3; r++) {
        if (r < 2)
            add_region(r, region_of(r, WORKER));
        add_region(r, region_of(r, MAIN));
    }
    one_phase(1, 10);
    build(3);
    struct fv_phases *s = fv_model_phases(&model);
    assert_int_equal(s->count, 3);
    assert_int_equal(s->items[0].kind, FV_PHASE_OMP); /* the longest: that of three ranks */
    s->items[1].node = s->items[0].node;
    fv_phases_fold(s);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->items[0].sums.instances, 10);
    assert_near(s->items[0].sums.time_s, 5 * 0.800, 1e-9);
    assert_int_equal(s->items[0].ranks, 3);
    assert_int_equal(s->part_count, 4);
    for (uint32_t r = 0; r < 3; r++) {
        const struct fv_phase_part *part = &s->parts[s->items[0].first + r];
        assert_int_equal(part->rank, r);
        assert_int_equal(part->sums.instances, r < 2 ? 4 : 2);
    }
    assert_int_equal(s->items[1].kind, FV_PHASE_THREADS);
    assert_int_equal(s->parts[s->items[1].first].rank, 1);
    for (size_t i = 0; i < s->life_count; i++)
        assert_true(s->lives[i].phase == FV_NONE || s->lives[i].phase == 1);
}

static void alone_is(uint32_t how, uint64_t part_ppm, bool is)
{
    const struct fv_solo_record process = { .kind = FV_SOLO_PROCESS, .how = how, .part_ppm = part_ppm };

    tear_down(NULL);
    set_up(NULL);
    one_phase(0, 10);
    fvr_add(&file[0], FV_CHUNK_SOLO, FV_NO_THREAD, &process, sizeof(process));
    build(1);
    assert_int_equal(fv_model_phases(&model)->alone.is, is);
    if (is)
        assert_near(fv_model_phases(&model)->alone.part, (double)part_ppm * 1e-6, 1e-9);
}

static void damaged_runs_alone_are_none(void **state)
{
    (void)state;
    alone_is(FV_SOLO_RESCTRL, 250000, true);
    alone_is(FV_SOLO_WHOLE, 1000000, true);
    alone_is(FV_SOLO_HOWS, 250000, false);
    alone_is(UINT32_MAX, 250000, false);
    alone_is(FV_SOLO_PIRATE, 0, false);
    alone_is(FV_SOLO_PIRATE, 1000001, false);
}

static void instances_are_numbered_anew(void **state)
{
    (void)state;
    one_phase(0, 10);
    one_phase(0, 500);
    build(1);
    struct fv_phases *s = fv_model_phases(&model);
    assert_int_equal(s->count, 1);
    /* what would be, had the second another path */
    s->items = realloc(s->items, 2 * sizeof(*s->items));
    s->parts = realloc(s->parts, 2 * sizeof(*s->parts));
    s->items[1] = s->items[0];
    s->parts[1] = s->parts[0];
    s->parts[1].phase = 1;
    s->items[1].first = 1;
    s->count = s->part_count = 2;
    for (size_t i = 0; i < s->life_count; i++)
        if (s->lives[i].phase == 0 && s->lives[i].instance == 1) {
            s->lives[i].phase = 1;
            s->lives[i].instance = 0;
        }
    s->items[0].sums.instances = s->items[1].sums.instances = 1;
    s->parts[0].sums.instances = s->parts[1].sums.instances = 1;
    fv_phases_fold(s);
    assert_int_equal(s->count, 1);
    assert_int_equal(s->part_count, 1);
    unsigned of[2] = { 0 };
    for (size_t i = 0; i < s->life_count; i++)
        if (s->lives[i].phase == 0)
            of[s->lives[i].instance]++;
    assert_int_equal(of[0], 4);
    assert_int_equal(of[1], 4);
}

/* Without their CPU time: as if they computed whenever they did not wait. */
static void bounds_regions_by_processors(void **state)
{
    (void)state;
    file[0].header.cpus = 2;
    add_region(0, region_of(0, WORKER));
    build(1);
    struct fv_phase_bound b = fv_phase_bound(&fv_model_phases(&model)->items[0].sums);
    assert_near(b.bound, 2, 1e-9);
    assert_near(b.bound_waitless, 2, 1e-9);
    assert_near(b.synchronisation, 0, 1e-9);
    assert_near(b.few_cpus, 0.625, 1e-9);
    assert_near(fv_model_phases(&model)->items[0].sums.queue_s, 0.020, 1e-9);
    assert_non_null(strstr(stacks(), "2.5 % of their time counts as waiting"));
    assert_non_null(strstr(output, "their CPU time"));
}

/* Begun but never ended, without room, not countable: said. */
static void regions_tell_what_they_miss(void **state)
{
    struct fv_omp_region r = region_of(0, WORKER);
    (void)state;

    r.open = START + 5 * MS;
    r.lost = 3;
    r.untimed = 7;
    add_region(0, r);
    add_region(0, (struct fv_omp_region){ .id = 2, .path = MAIN, .module = app_of(0), .open = START });
    r = region_of(0, 0);
    r.module = FV_MODULE_UNKNOWN;
    r.offset = 0;
    add_region(0, r);
    add_region(0, (struct fv_omp_region){ .id = 3 });
    build(1);
    assert_int_equal(fv_model_phases(&model)->count, 3);
    stacks();
    assert_non_null(strstr(output, "a region had not ended"));
    assert_non_null(strstr(output, "left out 3 times"));
    assert_non_null(strstr(output, "7 tasks may be"));
    assert_non_null(strstr(output, "OpenMP regions without a record of their own"));
    json_decref(json());
    text(100);
}

/* Those of libgomp live as long as the program: its regions tell what they do. */
static void threads_of_libgomp_are_no_phase(void **state)
{
    uint32_t libgomp = fvr_module(&file[0], "/lib/libgomp.so.1", 0, NULL);
    (void)state;

    for (uint32_t i = 1; i < 4; i++) {
        struct fv_thread_life l = { .thread = i,
                                    .creator = 0,
                                    .create_path = MAIN,
                                    .joiner = FV_NO_THREAD,
                                    .routine_module = libgomp,
                                    .routine_offset = 0x99,
                                    .created = START,
                                    .begin = START };
        fvr_add(&file[0], FV_CHUNK_LIVES, FV_NO_THREAD, &l, sizeof(l));
    }
    add_region(0, region_of(0, WORKER));
    build(1);
    assert_int_equal(fv_model_phases(&model)->count, 1);
    assert_int_equal(fv_model_phases(&model)->items[0].kind, FV_PHASE_OMP);
    assert_int_equal(fv_model_phases(&model)->life_count, 3);
}

/* A function of the program's own that takes its locks: who calls it is what matters. */
static void one_place_is_told_with_callers(void **state)
{
    static const uint32_t path[] = { LOCKS, SITE };
    (void)state;

    static_object(0, 1, FV_SYNC_MUTEX, 0x5000);
    for (uint32_t i = 0; i < 2; i++) {
        struct fv_sync_record r = { .object = 1,
                                    .path = path[i],
                                    .kind = FV_SYNC_MUTEX,
                                    .operation = FV_SYNC_LOCK,
                                    .acquired = 3,
                                    .contended = 3,
                                    .wait_sum = i ? MS : 3 * MS };
        fvr_add(&file[0], FV_CHUNK_SYNC, 0, &r, sizeof(r));
    }
    build(1);
    assert_non_null(strstr(text(120), "waits    app+0x300 <- app+0x200 (75.0 %), app+0x300 (25.0 %)"));
}

/* Of the end of a region, which the forking thread records for all. */
static void waits_belong_to_who_waited(void **state)
{
    (void)state;
    static_object(0, 1, FV_SYNC_OMP, 0x5000);
    for (uint32_t t = 0; t < 2; t++) {
        struct fv_sync_record r = { .object = 1,
                                    .thread = t,
                                    .path = LOCKS,
                                    .kind = FV_SYNC_OMP,
                                    .operation = FV_SYNC_WAIT,
                                    .acquired = 3,
                                    .contended = 3,
                                    .wait_sum = (t + 1) * MS };
        fvr_add(&file[0], FV_CHUNK_SYNC, 0, &r, sizeof(r));
    }
    build(1);
    assert_int_equal(fv_model_locks(&model)->items[0].threads, 2);
    assert_int_equal(fv_model_locks(&model)->items[0].parts, 2);
    assert_int_equal(fv_model_locks(&model)->parts[1].thread, 1);
    assert_near(fv_model_locks(&model)->parts[1].n.wait_s, 0.002, 1e-9);
}

/* ---- damage and size ---- */

/* Records of any bytes make a report that can be read, and no crash. */
static void survives_any_bytes(void **state)
{
    static const struct {
        uint16_t type, bytes;
    } kinds[] = { { FV_CHUNK_SYNC_OBJECTS, sizeof(struct fv_sync_object) },
                  { FV_CHUNK_SYNC, sizeof(struct fv_sync_record) },
                  { FV_CHUNK_SYNC_THREAD, sizeof(struct fv_sync_thread) },
                  { FV_CHUNK_LIVES, sizeof(struct fv_thread_life) },
                  { FV_CHUNK_OMP, sizeof(struct fv_omp_region) } };
    uint64_t random = 88172645463325252u;
    (void)state;

    contended_lock();
    one_phase(0, 10);
    for (unsigned i = 0; i < 400; i++) {
        uint8_t bytes[256];

        for (unsigned k = 0; k < sizeof(bytes); k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            bytes[k] = i % 3 ? (uint8_t)random : i % 2 ? 0xff : (uint8_t)(random % 5);
        }
        fvr_add(&file[i % 2], kinds[i % 5].type, i % 6 ? i % 7 : FV_NO_THREAD, bytes, kinds[i % 5].bytes);
    }
    build(2);
    json_decref(json());
    text(80);
    assert_non_null(strstr(output, "Locks and barriers"));
}

/* A job of 4 ranks, 64 threads each, 200 locks. */
static void many_locks(void **state)
{
    struct timespec begin, end;
    (void)state;

    for (int r = 0; r < 4; r++) {
        for (uint32_t o = 1; o <= 200; o++)
            static_object(r, o, FV_SYNC_MUTEX, 0x1000 + 64 * o);
        for (uint32_t t = 0; t < 64; t++) {
            add_thread(r, t, (struct fv_sync_thread){ .wait_ticks[FV_SYNC_MUTEX] = 200 * MS });
            add_life(r, t, 0x700, 10, 900, 200, 0);
            for (uint32_t o = 1; o <= 200; o++)
                add_record(r, t,
                           (struct fv_sync_record){ .object = o,
                                                    .path = o % 2 ? LOCKS : SITE,
                                                    .kind = FV_SYNC_MUTEX,
                                                    .operation = FV_SYNC_LOCK,
                                                    .acquired = o,
                                                    .contended = 1,
                                                    .wait_sum = MS });
        }
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    build(4);
    json_decref(json());
    text(100);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    print_message("# %zu records: %.2f s of CPU time\n", fv_model_locks(&model)->part_count,
                  (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    assert_int_equal(fv_model_locks(&model)->count, 200);
    assert_int_equal(fv_model_locks(&model)->part_count, 4 * 64 * 200);
    assert_near(fv_model_locks(&model)->wait_s, 4 * 64 * 0.2, 1e-6);
    assert_near(fv_model_locks(&model)->items[0].n.wait_s, 4 * 64 * 0.001, 1e-9);
    assert_near(fv_model_locks(&model)->thread_s, 4 * (63 * 0.890 + 1), 1e-6);
    assert_non_null(strstr(output, "190 more rows of locks"));
}

static void fits_narrow_terminals(void **state)
{
    (void)state;
    contended_lock();
    one_phase(0, 10);
    build(2);
    for (size_t width = 60; width < 140; width += 20)
        for (const char *line = text(width), *end; *line; line = end + 1) {
            end = strchr(line, '\n');
            if ((size_t)(end - line) > width)
                fail_msg("%zu columns: %.*s", width, (int)(end - line), line);
        }
}

/* 0.3 + 0.3 + 0.3 is not 3 * 0.3: where nothing is out of balance, no component is -4e-16. */
static void rounding_is_no_component(void **state)
{
    const double t = 0.3, wait = 0.03;
    const struct fv_phase_sums sums = { .weighted_s = t + t + t,
                                        .longest_s = t,
                                        .least_s = t,
                                        .useful_longest_s = t - wait,
                                        .useful_least_s = t - wait,
                                        .time_s = t + t + t,
                                        .wait_s = wait + wait + wait };
    struct fv_phase_bound b = fv_phase_bound(&sums);

    (void)state;
    assert_true(b.imbalance == 0);
    assert_true(b.few_cpus == 0);
    assert_near(b.synchronisation, 0.3, 1e-9);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(unifies_static_locks),
        T(tells_roles_of_sites),
        T(holds_unasked_are_null),
        T(joins_heap_locks_of_one_path),
        T(locks_inside_mpi_come_last),
        T(threads_of_mpi_do_not_count),
        T(names_who_comes_last),
        T(tells_signals_from_waits),
        T(keeps_what_had_no_room),
        T(shows_threads_that_wait),
        T(shows_nothing_where_nothing_was_recorded),
        T(names_variables),
        T(bounds_the_speedup),
        T(rounding_is_no_component),
        T(makes_a_stack_with_t1),
        T(tells_phases_apart),
        T(counts_threads_that_live),
        T(bounds_it_by_processors),
        T(one_processor_is_no_speedup),
        T(busy_processors_are_told_from_sleep),
        T(regions_are_phases),
        T(regions_that_look_the_same_are_one_phase),
        T(damaged_runs_alone_are_none),
        T(instances_are_numbered_anew),
        T(bounds_regions_by_processors),
        T(regions_tell_what_they_miss),
        T(threads_of_libgomp_are_no_phase),
        T(one_place_is_told_with_callers),
        T(waits_belong_to_who_waited),
        T(survives_any_bytes),
        T(many_locks),
        T(fits_narrow_terminals),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
