/* Where threads were when somebody looked: which system calls may be interrupted, and what several looks tell. */
#include "fvr_builder.h"
#include "look/look.h"
#include "look/system_calls.h"
#include "profile/looks/looks_tree.h"
#include "unit.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#define REQUEST UINT64_C(0x1000)

static struct fvr file[2];
static struct fv_experiment experiment;
static struct fv_profile *profile;
static uint32_t paths[4]; /* main, main < solve, and two places below that */

static void only_calls_that_are_begun_anew(void **state)
{
    const uint64_t forever[4] = { 0, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 1, 0 }, limited[4] = { 0, FUTEX_WAIT, 1, 4096 };
    (void)state;

    assert_true(fv_system_call_restarts(SYS_read, forever, "pipe:[1]"));
    assert_true(fv_system_call_restarts(SYS_read, forever, "/home/mesh"));
    assert_false(fv_system_call_restarts(SYS_read, forever, "socket:[1]"));
    assert_true(fv_system_call_restarts(SYS_futex, forever, ""));
    assert_false(fv_system_call_restarts(SYS_futex, limited, ""));
    assert_true(fv_system_call_restarts(SYS_wait4, forever, ""));
    assert_false(fv_system_call_restarts(SYS_ppoll, forever, ""));
    assert_false(fv_system_call_restarts(SYS_nanosleep, forever, ""));
    assert_false(fv_system_call_restarts(SYS_ioctl, forever, "/dev/null"));
    assert_false(fv_system_call_restarts(9999, forever, ""));
}

static void requests(void **state)
{
    struct fv_look_request r;
    (void)state;

    assert_true(fv_look_request_parse("1a0 3 500\n", &r));
    assert_int_equal(r.number, 0x1a0);
    assert_int_equal(r.looks, 3);
    assert_int_equal(r.between_ms, 500);
    assert_false(fv_look_request_parse("", &r));
    assert_false(fv_look_request_parse("1a0 0 500", &r));
    assert_false(fv_look_request_parse("1a0 17 500", &r));
    assert_false(fv_look_request_parse("1a0 3 0", &r));
}

/* ---- what looks tell ---- */

static void begin(void)
{
    for (int i = 0; i < 2; i++) {
        fvr_init(&file[i], i, 2);
        file[i].header.state = FV_STATE_RUNNING; /* of another boot */
        file[i].header.end_ticks = 0;
        file[i].header.pid = 100;
        fvr_function(&file[i], 3, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Recv");
        fvr_thread(&file[i], 0, true, 1, 1, NULL);
        uint32_t module = fvr_module(&file[i], "/app", 0, NULL);
        paths[0] = fvr_path(&file[i], 0, module, 0x10);
        paths[1] = fvr_path(&file[i], paths[0], module, 0x20);
        paths[2] = fvr_path(&file[i], paths[1], module, 0x30);
        paths[3] = fvr_path(&file[i], paths[1], module, 0x40);
    }
}

static void answer(int rank, uint32_t tid, unsigned look, uint32_t path, const struct fv_look *more)
{
    struct fv_look l = more ? *more : (struct fv_look){ .system_call = FV_LOOK_NO_CALL };

    l.look = REQUEST + look;
    l.ticks = l.ticks ? l.ticks : file[rank].header.begin_ticks + 1000 + look;
    l.tid = tid;
    l.thread = FV_NO_THREAD;
    l.path = path;
    l.how = FV_LOOK_TAKEN;
    fvr_add(&file[rank], FV_CHUNK_LOOKS, FV_NO_THREAD, &l, sizeof(l));
}

static const struct fv_looks *judge(const struct fv_seen_looks *seen)
{
    const struct fv_profile_options options = { .no_symbols = true, .seen = seen };

    for (int i = 0; i < 2; i++)
        fvr_join(&file[i], &experiment);
    fv_experiment_choose(&experiment);
    profile = fv_profile_new(&experiment, &options);
    return fv_model_looks(profile->model);
}

static const struct fv_looks_thread *thread(int rank, uint32_t tid)
{
    const struct fv_looks *l = fv_model_looks(profile->model);

    for (size_t i = 0; i < l->count; i++)
        if ((int)l->items[i].rank == rank && l->items[i].tid == tid)
            return &l->items[i];
    return NULL;
}

static void assert_words(const struct fv_looks_thread *t, const char *expected)
{
    char text[500];

    assert_string_equal(fv_looked_words(profile, t, text, sizeof(text)), expected);
}

static void nobody_looked(void **state)
{
    (void)state;
    begin();
    assert_int_equal(judge(NULL)->request, 0);
    assert_int_equal(fv_model_looks(profile->model)->count, 0);
}

static void who_moves_ends_at_what_looks_have_in_common(void **state)
{
    struct fv_look_tree tree;
    (void)state;

    begin();
    answer(0, 100, 0, paths[2], NULL);
    answer(0, 100, 1, paths[3], NULL);
    answer(0, 100, 2, paths[2], NULL);
    answer(0, 101, 0, paths[2], NULL);
    answer(0, 101, 1, paths[2], NULL);
    assert_int_equal(judge(NULL)->looks, 3);
    assert_true(thread(0, 100)->is_main);
    assert_int_equal(thread(0, 100)->different, 2);
    assert_words(thread(0, 100), "loops: 2 of 3 looks differ below it");
    assert_words(thread(0, 101), "runs, the same in all 2 looks");
    fv_look_tree_init(&tree, profile);
    assert_int_equal(tree.nodes[0].rank_count, 1);
    assert_int_equal(tree.nodes[0].threads, 2);
    fv_look_tree_release(&tree);
}

static void the_newest_request_counts(void **state)
{
    struct fv_look old = { .look = REQUEST - 16, .ticks = 5, .tid = 7, .how = FV_LOOK_TAKEN, .system_call = -1 };
    (void)state;

    begin();
    fvr_add(&file[1], FV_CHUNK_LOOKS, FV_NO_THREAD, &old, sizeof(old));
    answer(0, 100, 0, paths[1], NULL);
    assert_int_equal(judge(NULL)->request, REQUEST);
    assert_null(thread(1, 7));
    assert_int_equal(thread(1, 0)->how, FV_LOOKED_DEAD); /* it was not looked at */
}

static void each_waits_for_the_others_mutex(void **state)
{
    const struct fv_look first = { .system_call = SYS_futex, .holder = 101 },
                         second = { .system_call = SYS_futex, .holder = 100 },
                         none = { .system_call = SYS_futex, .holder = 4711 };
    (void)state;

    begin();
    answer(0, 100, 0, paths[1], &first);
    answer(0, 101, 0, paths[2], &second);
    answer(0, 102, 0, paths[2], &none); /* the word is none of a mutex */
    judge(NULL);
    assert_int_equal(thread(0, 100)->holder, 101);
    assert_int_equal(thread(0, 102)->holder, 0);
}

static void what_was_seen_from_outside(void **state)
{
    struct fv_seen_look items[] = {
        { 0,
          { .look = REQUEST,
            .tid = 100,
            .how = FV_LOOK_TAKEN,
            .state = 'S',
            .file = "/mesh",
            .system_call = SYS_read } },
        { 0, { .look = REQUEST, .tid = 101, .how = FV_LOOK_TAKEN, .state = 'R', .system_call = FV_LOOK_NO_CALL } },
        { 1, { .look = REQUEST, .tid = 100, .how = FV_LOOK_UNRESTARTABLE, .state = 'S', .system_call = SYS_ppoll } },
    };
    const struct fv_look in_read = { .system_call = SYS_read };
    (void)state;

    begin();
    answer(0, 100, 0, paths[1], &in_read);
    judge(&(struct fv_seen_looks){ REQUEST, items, 3, 3, false });
    assert_words(thread(0, 100), "file /mesh");
    assert_words(thread(0, 101), "not interrupted: it did not answer");
    assert_words(thread(1, 100),
                 "not interrupted: its system call would fail (ppoll is not begun anew after a signal)");
}

/* Who shows them all the time (fvmpi live) takes them in place of its own. */
static void later_looks_of_others(void **state)
{
    struct fv_seen_look item = { 0, { .look = REQUEST - 16, .tid = 101, .how = FV_LOOK_STOPPED, .state = 'T' } };
    (void)state;

    begin();
    answer(0, 100, 0, paths[1], NULL);
    assert_int_equal(judge(&(struct fv_seen_looks){ REQUEST - 16, &item, 1, 1, true })->request, REQUEST);
    assert_non_null(thread(0, 100));
    assert_null(thread(0, 101));
}

/* ---- is it a hang? ---- */

#define MS UINT64_C(1000000)

/* The main thread's call, begun then; or its last one has ended then. */
static struct fv_thread_record *main_thread(int rank)
{
    for (size_t i = 0; i < file[rank].stream_count; i++)
        if (file[rank].streams[i].type == FV_CHUNK_THREADS)
            return (void *)file[rank].streams[i].data;
    return NULL;
}

static void receives(int rank, uint64_t since_ms)
{
    main_thread(rank)->in_call = (struct fv_in_call){
        .begin = file[rank].header.begin_ticks + since_ms * MS, .function = 3, .comm = 1, .peer = !rank, .tag = 42
    };
}

static void computes(int rank, uint64_t since_ms)
{
    main_thread(rank)->last = file[rank].header.begin_ticks + since_ms * MS;
    main_thread(rank)->in_call.function = 3;
}

/* Killed, after looks at both at that time. */
static const struct fv_finding *judge_hang(uint64_t looked_ms)
{
    const struct fv_look at = { .system_call = FV_LOOK_NO_CALL, .ticks = file[0].header.begin_ticks + looked_ms * MS };
    struct fv_comm_record *comm;

    for (int i = 0; i < 2; i++) {
        answer(i, 100, 0, paths[1 + i], &at);
        fvr_comm(&file[i], 1, FV_COMM_WORLD, i, 2);
        comm = (void *)file[i].streams[file[i].stream_count - 1].data;
        comm->handle = 1;
    }
    judge(NULL);
    return fv_findings_named(profile->findings, "hang");
}

static void who_waits_since_before_the_look_hangs(void **state)
{
    (void)state;
    begin();
    receives(0, 100);
    computes(1, 50);
    const struct fv_finding *f = judge_hang(2000);
    assert_non_null(f);
    assert_int_equal(f->rank, 1);
    assert_string_equal(f->title, "Held up"); /* it may go on */
    assert_non_null(strstr(f->text, "Rank 1 was in "));
}

/* It was elsewhere then. */
static void a_look_before_its_last_call_tells_nothing(void **state)
{
    (void)state;
    begin();
    receives(0, 100);
    computes(1, 2900);
    for (int i = 0; i < 2; i++)
        file[i].header.alive_ticks = file[i].header.begin_ticks + 6000 * MS;
    const struct fv_finding *f = judge_hang(2000);
    assert_non_null(f);
    assert_null(strstr(f->text, " was in "));
    assert_int_equal(fv_looked_holds_up(profile->model, 1), 0);
    assert_words(thread(1, 100), "has gone on since");
}

static void calls_begun_since_the_look_are_progress(void **state)
{
    (void)state;
    begin();
    receives(0, 3000);
    computes(1, 2900);
    assert_null(judge_hang(2000));
}

static void so_are_those_of_the_rank_that_is_waited_for(void **state)
{
    (void)state;
    begin();
    receives(0, 100);
    computes(1, 2900);
    assert_null(judge_hang(2000));
}

static int set_up(void **state)
{
    (void)state;
    experiment = (struct fv_experiment){ 0 };
    profile = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fv_profile_close(profile);
    fv_experiment_release(&experiment);
    for (int i = 0; i < 2; i++)
        fvr_release(&file[i]);
    return 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_calls_that_are_begun_anew),
        cmocka_unit_test(requests),
        TEST(nobody_looked),
        TEST(who_moves_ends_at_what_looks_have_in_common),
        TEST(the_newest_request_counts),
        TEST(each_waits_for_the_others_mutex),
        TEST(what_was_seen_from_outside),
        TEST(later_looks_of_others),
        TEST(who_waits_since_before_the_look_hangs),
        TEST(a_look_before_its_last_call_tells_nothing),
        TEST(calls_begun_since_the_look_are_progress),
        TEST(so_are_those_of_the_rank_that_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
