/* Locks and barriers of threads of synthetic runs with known answers: the same lock on several ranks, who waits and who
 * holds, losses, damage. */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include "threads_run.h"

#include <time.h>
#include <link.h>

int named_by_test[4]; /* a variable of this program, to be found by its address */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(unifies_static_locks),
        TEST(tells_roles_of_sites),
        TEST(holds_unasked_are_null),
        TEST(joins_heap_locks_of_one_path),
        TEST(locks_inside_mpi_come_last),
        TEST(threads_of_mpi_do_not_count),
        TEST(names_who_comes_last),
        TEST(tells_signals_from_waits),
        TEST(keeps_what_had_no_room),
        TEST(shows_threads_that_wait),
        TEST(shows_nothing_where_nothing_was_recorded),
        TEST(names_variables),
        TEST(survives_any_bytes),
        TEST(many_locks),
        TEST(fits_narrow_terminals),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
