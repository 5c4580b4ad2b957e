/* The profile of synthetic runs with known answers: sums, unified call sites, states, choices. */
#include "model_run.h"
#include "tool/pop.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- statistics ---- */

static void statistics(void **state)
{
    const uint64_t a[] = { 2 * MS, 4 * MS, 4 * MS, 4 * MS }, b[] = { 5 * MS, 5 * MS, 7 * MS, 9 * MS };
    (void)state;

    for (int i = 0; i < 4; i++)
        fvr_thread(&file[i], 0, true, 8, 40 * MS, NULL);
    fvr_cell(&file[0], 0, 2, 1, F_SEND, a, 4, 1000, 0);
    fvr_cell(&file[0], 7, 2, 1, F_SEND, b, 2, 1000, 0); /* another thread */
    fvr_cell(&file[0], 0, 2, 1, F_SEND, b + 2, 1, 70000, 0);
    fvr_cell(&file[2], 0, 2, 1, F_SEND, b + 3, 1, 0, 0);
    build(4);
    const struct fv_site *s = site("MPI_Send");
    assert_int_equal(s->stat.calls, 8);
    assert_near(s->stat.sum_s, 0.040, 1e-12);
    assert_near(s->stat.min_s, 0.002, 1e-12);
    assert_near(s->stat.max_s, 0.009, 1e-12);
    assert_near(fv_call_stat_mean(&s->stat), 0.005, 1e-12);
    assert_near(fv_call_stat_stddev(&s->stat), 0.002, 1e-12); /* of 2 4 4 4 5 5 7 9 */
    assert_int_equal(s->stat.bytes_sent, 76000);
    assert_int_equal(s->ranks, 2);
    assert_near(on_rank(s, 0)->stat.sum_s, 0.031, 1e-12);
    assert_near(s->rank_mean, 0.020, 1e-12);
    assert_near(s->cov, 0.011 / 0.020, 1e-9);
    const struct fv_func *f = function("MPI_Send");
    assert_int_equal(f->sent[10].count, 6);
    assert_int_equal(f->sent[10].bytes, 6000);
    assert_near(f->sent[10].seconds, 0.024, 1e-12);
    assert_int_equal(f->sent[17].count, 1);
    assert_int_equal(f->ranks, 2);
    assert_near(model.comms[0].stat.sum_s, 0.040, 1e-12);
    assert_true(model.complete);
}

/* Deviation of one nanosecond in a hundred seconds: doubles of squares could not tell. */
static void deviations_of_long_calls(void **state)
{
    const uint64_t ticks[] = { 100000000000, 100000000002, 100000000000, 100000000002 };
    (void)state;

    fvr_cell(&file[0], 0, 2, 1, F_SEND, ticks, 4, 0, 0);
    build(4);
    assert_near(fv_call_stat_stddev(&site("MPI_Send")->stat) * 1e9, 1.0, 1e-3);
}

/* ---- call paths ---- */

static void unification(void **state)
{
    const uint64_t ticks[] = { MS };
    struct fvr *f = &file[1];
    (void)state;

    fvr_release(f); /* rank 1: other order of everything, other load address, other path of the same object */
    fvr_init(f, 1, 4);
    name_functions(f, 100);
    fvr_comm(f, 1, FV_COMM_WORLD, 1, 4);
    fvr_module(f, "/lib/libc.so.6", 0x7f0000000000, NULL);
    uint32_t app = fvr_module(f, "/scratch/app", 0x555500000000, "0123456789abcdef0123");
    fvr_path(f, 0, 1, 0x900);
    uint32_t outer = fvr_path(f, 0, app, 0x100);
    fvr_path(f, outer, 1, 0x200); /* same offset, other module */
    uint32_t inner = fvr_path(f, outer, app, 0x200);
    fvr_cell(f, 0, inner, 1, F_SEND + 100, ticks, 1, 8, 0);
    fvr_cell(f, 0, inner, 1, F_BARRIER + 100, ticks, 1, 0, 0);
    fvr_cell(f, 0, outer + 1, 1, F_RECV + 100, ticks, 1, 0, 8);
    for (int i = 0; i < 4; i++)
        if (i != 1)
            fvr_cell(&file[i], 0, 2, 1, F_SEND, ticks, 1, 8, 0);
    build(4);
    assert_int_equal(model.site_count, 3);
    assert_int_equal(site("MPI_Send")->ranks, 4);
    assert_int_equal(site("MPI_Send")->stat.calls, 4);
    assert_int_equal(site("MPI_Recv")->ranks, 1);
    const struct fv_node *n = &model.tree.nodes[site("MPI_Send")->node];
    assert_int_equal(n->offset, 0x200);
    assert_string_equal(model.tree.modules[n->module].path, "/usr/bin/app");
    assert_int_equal(model.tree.nodes[n->parent].offset, 0x100);
    assert_int_equal(model.tree.nodes[n->parent].parent, 0);
}

static void path_cycles_are_cut(void **state)
{
    const uint64_t ticks[] = { MS };
    (void)state;

    fvr_path(&file[0], 4, 1, 0x300); /* id 3: its parent is id 4 */
    fvr_path(&file[0], 3, 1, 0x400);
    fvr_path(&file[0], 5, 1, 0x500); /* itself */
    fvr_cell(&file[0], 0, 4, 1, F_SEND, ticks, 1, 0, 0);
    fvr_cell(&file[0], 0, 5, 1, F_SEND, ticks, 1, 0, 0);
    fvr_cell(&file[0], 0, 999, 1, F_SEND, ticks, 1, 0, 0);
    build(4);
    assert_int_equal(model.site_count, 3);
    for (size_t i = 0; i < model.site_count; i++) {
        unsigned depth = 0;

        for (uint32_t node = model.sites[i].node; node; node = model.tree.nodes[node].parent)
            assert_that(depth++, <, 10);
    }
    assert_true(has_problem(FV_PROBLEM_DAMAGED, "call paths of"));
}

/* ---- the run ---- */

static void efficiency(void **state)
{
    static const uint64_t mpi_ms[4] = { 200, 400, 400, 600 };
    (void)state;

    for (int i = 0; i < 4; i++)
        fvr_thread(&file[i], 0, true, 1, mpi_ms[i] * MS, NULL);
    file[3].header.end_ticks = START + 900 * MS; /* and was paused for some time */
    file[3].header.paused_ticks = 100 * MS;
    build(4);
    assert_near(model.ranks[3].app_time_s, 0.8, 1e-9);
    assert_near(model.efficiency.compute_s, 0.8 + 0.6 + 0.6 + 0.2, 1e-9);
    assert_near(model.efficiency.parallel, 2.2 / 4, 1e-9);
    assert_near(model.efficiency.load_balance, 2.2 / (4 * 0.8), 1e-9);
    assert_near(model.efficiency.communication, 0.8, 1e-9);
    assert_near(model.elapsed_s, 1.0, 1e-9);
    assert_near(model.ranks[0].init_s, 0.001, 1e-9);
}

/* What recording waited, for the disk, is none of the application's time. */
static void recording_waits(void **state)
{
    (void)state;
    file[0].waited = (100 * MS) >> FV_WAITED_SHIFT;
    fvr_thread(&file[0], 0, true, 1, 200 * MS, NULL);
    build(1);
    assert_near(model.ranks[0].waited_s, 0.1, 2e-6);
    assert_near(model.ranks[0].app_time_s, 0.9, 2e-6);
    assert_near(model.efficiency.compute_s, 0.7, 2e-6);
}

/* Of clocks that are damaged; a little more than the whole may be. */
static void impossible_efficiency(void **state)
{
    const struct fv_pop_sums sums = { .ranks = 2, .useful_s = 3, .most_useful_s = 2, .elapsed_s = 2 };

    (void)state;
    assert_near(fv_pop_of(&sums, 1.999).serialization, 2 / 1.999, 1e-9);
    assert_true(isnan(fv_pop_of(&sums, 1).serialization));
    assert_near(fv_pop_of(&sums, 1).transfer, 0.5, 1e-9);
    assert_true(isnan(fv_pop_of(&sums, 20).transfer));
}

/* Two ranks of two threads, 10 s: the first is 2 s in MPI, 4 s in regions (3 s and 2 s of work, of which 0.5 s are
 * waits, 0.6 s for the last, the rest for fork and join) and 4 s alone; the second 5 s in MPI, and alone. */
static void hybrid_efficiencies(void **state)
{
    struct fv_pop_hybrid_sums sums = { 0 };
    const struct fv_pop_regions first = { 2, 4, 8, 5, 0.5, 0.6 }, second = { .threads = 1 },
                                wrong = { 2, 9, 18, 18, 0, 0 };
    (void)state;

    assert_true(fv_pop_hybrid_add(&sums, &first, 10, 2));
    assert_true(fv_pop_hybrid_add(&sums, &second, 10, 5));
    assert_false(fv_pop_hybrid_add(&sums, &wrong, 10, 2));
    const struct fv_pop_hybrid of = fv_pop_hybrid_of(&sums);
    assert_near(sums.useful_s, 4.5 + 4 + 5, 1e-9);
    assert_near(sums.imbalance_s, 1.1, 1e-9);
    assert_near(sums.scheduling_s, 2.4, 1e-9);
    assert_near(sums.serialization_s, 4, 1e-9);
    assert_near(of.parallel, 13.5 / 30, 1e-9);
    assert_near(of.mpi, 21.0 / 30, 1e-9);
    assert_near(of.mpi_load_balance, 21.0 / 24, 1e-9);
    assert_near(of.mpi_communication, 0.8, 1e-9);
    assert_near(of.omp, 13.5 / 21, 1e-9);
    assert_near(of.omp_serialization, 13.5 / 17.5, 1e-9);
    assert_near(of.omp_load_balance, 17.5 / 18.6, 1e-9);
    assert_near(of.omp_scheduling, 18.6 / 21, 1e-9);
}

static void states(void **state)
{
    const struct fv_in_call in = { .begin = START + 300 * MS, .function = F_RECV, .path = 2, .peer = 1, .tag = 9 };
    (void)state;

    file[0].header.state = FV_STATE_RUNNING; /* of another boot: it is gone */
    file[0].header.end_ticks = 0;
    fvr_thread(&file[0], 0, true, 1, 10 * MS, &in);
    file[1].header.state = FV_STATE_EXITED;
    file[1].header.end_ticks = START + 800 * MS;
    fvr_thread(&file[1], 0, true, 1, 10 * MS, NULL);
    file[2].header.state = FV_STATE_ABORTED;
    file[2].header.exit_code = 5;
    file[2].header.end_ticks = START + 700 * MS;
    build(3);
    assert_int_equal(model.ranks[0].state, FV_RANK_KILLED);
    assert_true(model.ranks[0].in_call.active);
    assert_string_equal(model.functions[model.ranks[0].in_call.function].name, "MPI_Recv");
    assert_int_equal(model.ranks[0].in_call.peer, 1);
    assert_int_equal(model.tree.nodes[model.ranks[0].in_call.node].offset, 0x200);
    assert_near(model.ranks[0].in_call.seconds, 0.500, 1e-9); /* until rank 1's sign of life */
    assert_near(model.ranks[0].app_time_s, 0.300, 1e-9);
    assert_int_equal(model.ranks[1].state, FV_RANK_EXITED);
    assert_int_equal(model.ranks[2].state, FV_RANK_KILLED);
    assert_true(model.ranks[2].aborted);
    assert_int_equal(model.ranks[2].exit_code, 5);
    assert_false(model.complete);
}

/* A rank that a signal ended in a call was in MPI until then. */
static void ended_in_a_call(void **state)
{
    const struct fv_in_call in = { .begin = START + 300 * MS, .function = F_RECV, .path = 2, .peer = 1, .tag = 9 };
    (void)state;

    file[0].header.state = FV_STATE_RUNNING;
    file[0].header.end_ticks = 0;
    file[0].header.fatal = (struct fv_fatal){ .signal = 15, .ticks = START + 900 * MS };
    fvr_thread(&file[0], 0, true, 1, 10 * MS, &in);
    build(1);
    assert_int_equal(model.ranks[0].state, FV_RANK_KILLED);
    assert_near(model.ranks[0].app_time_s, 0.900, 1e-9);
    assert_near(model.ranks[0].in_call.seconds, 0.600, 1e-9);
    assert_near(model.ranks[0].mpi_time_s, 0.610, 1e-9);
    assert_near(model.efficiency.compute_s, 0.290, 1e-9);
}

/* A launch of two programs; of the first one a copy on another disk, called in another way. */
static void programs(void **state)
{
    static const uint64_t mpi_ms[4] = { 200, 400, 400, 600 }, ticks[] = { MS };
    (void)state;

    fvr_release(&file[1]);
    fvr_init(&file[1], 1, 4);
    name_functions(&file[1], 0);
    fvr_module(&file[1], "/scratch/app", 0, "0123456789abcdef0123");
    strcpy(file[1].header.program, "/scratch/app");
    fvr_path(&file[1], 0, 1, 0x100);
    fvr_release(&file[2]);
    fvr_init(&file[2], 2, 4);
    name_functions(&file[2], 0);
    fvr_module(&file[2], "/usr/bin/other", 0, "0123456789abcdef0123"); /* the same file by another name */
    strcpy(file[2].header.program, "/usr/bin/other");
    fvr_path(&file[2], 0, 1, 0x100);
    strcpy(file[3].header.command, "app -y");
    for (int i = 0; i < 4; i++) {
        fvr_thread(&file[i], 0, true, 1, mpi_ms[i] * MS, NULL);
        fvr_cell(&file[i], 0, 1, 0, F_SEND, ticks, 1, 8, 0);
    }
    build(4);
    assert_int_equal(model.program_count, 2);
    const struct fv_program *p = model.programs;
    assert_string_equal(p[0].path, "/usr/bin/app");
    assert_string_equal(p[1].label, "other");
    assert_int_equal(p[0].ranks, 3);
    assert_int_equal(p[0].commands, 2);
    assert_int_equal(p[1].commands, 1);
    assert_int_equal(p[0].run_count, 2); /* 0 1, 3 */
    assert_int_equal(p[0].runs[1].first, 3);
    assert_int_equal(model.ranks[2].program, 1);
    assert_int_equal(model.ranks[3].program, 0);
    assert_near(p[0].total_s, 3, 1e-9);
    assert_near(p[0].compute_s, 0.8 + 0.6 + 0.4, 1e-9);
    assert_near(p[1].mpi_s, 0.4, 1e-9);
    assert_near(p[0].compute_s + p[1].compute_s, model.efficiency.compute_s, 1e-9);
    assert_int_equal(model.site_count, 2);
    assert_int_equal(model.sites[0].ranks + model.sites[1].ranks, 4);
    assert_int_equal(model.sites[0].ranks * model.sites[1].ranks, 3);
}

static void programs_of_one_name(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) { /* nothing on a call path is known of them: then the path decides */
        fvr_release(&file[i]);
        fvr_init(&file[i], i, 4);
        strcpy(file[i].header.program, i % 2 ? "/a/app" : "/b/app");
    }
    build(4);
    assert_int_equal(model.program_count, 2);
    assert_string_equal(model.programs[0].label, "/b/app");
    assert_int_equal(model.programs[1].run_count, 1);
    assert_int_equal(model.programs[1].runs[0].stride, 2);
    assert_int_equal(model.programs[1].runs[0].count, 2);
}

static void drops_and_threads(void **state)
{
    (void)state;
    file[1].header.dropped[FV_DROP_CELLS] = 7;
    file[1].header.tool_start_ticks = 2 * MS;
    file[1].header.tool_call_ticks = 256 * 100;
    fvr_thread(&file[1], 1, false, 10, 100 * MS, NULL);
    fvr_thread(&file[1], 0, true, 1000, 200 * MS, NULL);
    build(4);
    assert_near(model.ranks[1].mpi_time_s, 0.200, 1e-9);
    assert_int_equal(model.ranks[1].threads, 2);
    assert_near(model.ranks[1].tool_s, 0.002 + 1010 * 100e-9, 1e-9);
    assert_true(has_problem(FV_PROBLEM_DROPPED, "7 calls were counted without"));
    assert_false(model.complete);
}

/* Calls that are not in a trace: of a trace that ended they are its rest, of one that did not a child's. */
static void calls_of_children(void **state)
{
    static const char both[] =
        "3 calls are counted but not in the trace on 2 ranks (FVMPI_TRACE_MAX was used up, or the "
        "disk was full; or a child of clone()";
    (void)state;
    file[1].header.dropped[FV_DROP_EVENTS] = 2;
    build(4);
    assert_true(
        has_problem(FV_PROBLEM_DROPPED, "2 calls are counted but not in the trace on 1 rank (a child of clone()"));
    tear_down(NULL);

    set_up(NULL);
    file[1].header.dropped[FV_DROP_EVENTS] = 2;
    file[2].header.dropped[FV_DROP_EVENTS] = 1;
    file[2].header.traced = true;
    file[2].header.trace_stop_ticks = 5 * MS;
    build(4);
    assert_true(has_problem(FV_PROBLEM_DROPPED, both));
    tear_down(NULL);

    set_up(NULL);
    file[2].header.dropped[FV_DROP_EVENTS] = 1;
    file[2].header.traced = true;
    file[2].header.trace_stop_ticks = 5 * MS;
    build(4);
    assert_true(has_problem(FV_PROBLEM_DROPPED, "1 call is counted but not in the trace on 1 rank (FVMPI_TRACE_MAX"));
    assert_false(has_problem(FV_PROBLEM_DROPPED, "clone()"));
}

static void older_files_are_left_out(void **state)
{
    struct fvr old, twin, ancient;
    (void)state;

    struct fvr mixed;

    file[3].header.job = 99; /* another host's launcher told it otherwise, but size and time say it belongs here */
    file[3].header.boot_id[0] ^= 1;
    fvr_init(&mixed, 0, 4); /* copied here from another run on this host, a second earlier */
    mixed.header.job = 98;
    mixed.header.first.realtime_ns -= INT64_C(1000000000);
    fvr_join(&mixed, &experiment);
    file[3].header.first.realtime_ns -= INT64_C(60000000000);
    fvr_init(&ancient, 1, 4);
    ancient.header.job = 75;
    ancient.header.first.realtime_ns -= INT64_C(200000000000);
    fvr_join(&ancient, &experiment);

    fvr_init(&old, 5, 8); /* of a larger run, a minute before */
    old.header.job = 76;
    old.header.first.realtime_ns -= INT64_C(60000000000);
    fvr_init(&twin, 2, 4); /* rank 2 again, and older */
    twin.header.first.realtime_ns -= INT64_C(1000000000);
    fvr_join(&old, &experiment);
    fvr_join(&twin, &experiment);
    build(4);
    assert_int_equal(model.rank_count, 4);
    assert_int_equal(model.world_size, 4);
    assert_true(has_problem(FV_PROBLEM_LEFT_OUT, "rank-000005.fvr"));
    assert_true(has_problem(FV_PROBLEM_LEFT_OUT, "newer"));
    unsigned other_runs = 0;
    for (size_t i = 0; i < model.problems.count; i++)
        other_runs += strstr(model.problems.items[i].text, "of another run") != NULL;
    assert_int_equal(other_runs, 3);
    assert_true(model.complete);
    fvr_release(&mixed);
    fvr_release(&ancient);
    fvr_release(&old);
    fvr_release(&twin);
}

static void an_end_that_cannot_be(void **state)
{
    (void)state;
    file[1].header.end_ticks += UINT64_C(2000000000000000);
    build(4);
    assert_true(has_problem(FV_PROBLEM_DAMAGED, "behind its last clock point"));
    assert_true(model.ranks[1].end_s < 60);
}

static void peers_and_timeline(void **state)
{
    struct fv_time_bins *bins = calloc(1, sizeof(*bins));
    (void)state;

    fvr_peer(&file[0], 0, 2, 3, 300);
    fvr_peer(&file[0], 0, 1, 1, 100);
    fvr_peer(&file[0], 4, 2, 1, 50);
    fvr_thread(&file[0], 0, true, 1, 250 * MS, NULL);
    bins->bank.origin = START; /* MPI from 0.25 s to 0.5 s */
    bins->bank.width = 250 * MS;
    bins->bank.ticks[1][FV_CLASS_P2P] = 250 * MS;
    fvr_add(&file[0], FV_CHUNK_TIME_BINS, 0, bins, sizeof(*bins));
    fvr_add(&file[1], FV_CHUNK_TIME_BINS, 0, bins, sizeof(*bins));
    free(bins);
    build(4);
    assert_int_equal(model.edge_count, 2);
    assert_int_equal(model.edges[1].to, 2);
    assert_int_equal(model.edges[1].messages, 4);
    assert_int_equal(model.edges[1].bytes, 350);
    const float *share = model.timeline.share + FV_CLASS_P2P * model.timeline.bins;
    assert_near(model.timeline.bin_s * model.timeline.bins, 1.0, 1e-9);
    assert_near(share[model.timeline.bins / 8], 0, 1e-6);
    assert_near(share[model.timeline.bins * 3 / 8], 1, 1e-4);
    assert_near(share[model.timeline.bins * 3 / 4], 0, 1e-6);
    assert_memory_equal(share + FV_CLASS_COUNT * model.timeline.bins, share, model.timeline.bins * sizeof(*share));
}

/* ---- damage ---- */

/* 1024 threads with a cell each, whose number is as high as the file has room for: what is kept of them grows
 * with the file, not with the product. */
static __attribute__((unused)) void cells_of_high_numbers(void **state)
{
    const uint64_t ticks[] = { MS };
    static struct fv_cell cell[16];
    int status = 0;
    (void)state;

    fvr_cell(&file[0], 0, 1, 0, F_SEND, ticks, 1, 8, 0);
    memcpy(cell, file[0].streams[file[0].stream_count - 1].data, sizeof(*cell));
    for (uint32_t i = 1; i <= 1024; i++)
        fvr_chunk(&file[0], FV_CHUNK_CELLS, i, 30000, cell, sizeof(cell));
    fvr_finish(&file[0]);
    fflush(NULL);
    pid_t child = fork();
    assert_that(child, >=, 0);
    if (!child) {
        struct rlimit all;
        char line[200] = "";
        FILE *f = fopen("/proc/self/statm", "r");
        unsigned long pages = f && fgets(line, sizeof(line), f) ? strtoul(line, NULL, 10) : 0;

        all.rlim_cur = all.rlim_max = pages * (unsigned long)getpagesize() + 16 * file[0].size;
        setrlimit(RLIMIT_AS, &all);
        fvr_join(&file[0], &experiment);
        fv_experiment_choose(&experiment);
        fv_model_build(&model, NULL, &experiment, false);
        _exit(model.site_count == 1 ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- keys ---- */

/* MPI_Send from two places of the program; modules, frames and processes come in another order each time. */
static void one_run(bool other, uint64_t keys[3])
{
    const uint64_t ticks[] = { MS, MS, MS };
    struct fvr *f = &file[3];

    fvr_release(f);
    fvr_init(f, 0, 1);
    f->header.pid = other ? 7 : 8;
    name_functions(f, other);
    uint32_t library = other ? fvr_module(f, "/opt/new/libx.so", 0x5000, NULL) : 0;
    uint32_t app = fvr_module(f, other ? "/scratch/b/app" : "/home/a/app", other ? 0x9000 : 0, "0123456789abcdef0123");
    library = other ? library : fvr_module(f, "/opt/old/libx.so", 0x7000, NULL);
    uint32_t unused = other ? fvr_path(f, 0, library, 3) : 0, main = fvr_path(f, 0, app, 16);
    uint32_t inner = fvr_path(f, main, library, 32), made = fvr_path(f, main, 0, other ? 0x7f0001 : 0x7e0002);
    fvr_cell(f, 0, main, 0, F_SEND + other, ticks, 1, 8, 0);
    fvr_cell(f, 0, inner, 0, F_SEND + other, ticks, 2, 8, 0);
    fvr_cell(f, 0, made, 0, F_SEND + other, ticks, 3, 8, 0);
    fvr_thread(f, 0, true, 6, 6 * MS, NULL);
    (void)unused;
    fvr_join(f, &experiment);
    fv_experiment_choose(&experiment);
    fv_model_build(&model, NULL, &experiment, false);
    for (size_t i = 0; i < model.site_count; i++)
        keys[model.sites[i].stat.calls - 1] = model.sites[i].key;
    fv_model_release(&model);
    fv_experiment_release(&experiment);
    experiment = (struct fv_experiment){ 0 };
}

static void keys_of_runs(void **state)
{
    uint64_t a[3] = { 0 }, b[3] = { 0 };
    (void)state;

    one_run(false, a);
    one_run(true, b);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(a[i] && a[i] == b[i]);
        assert_that(a[i], !=, a[(i + 1) % 3]);
    }
    assert_true(a[0] != fv_key_call(fv_key_frame(FV_KEY_ROOT, fv_key_module(NULL, 0, "app"), 16),
                                    fv_key_function("MPI_Send"))); /* another build of it */
}

/* ---- directories ---- */

static void directories(void **state)
{
    const struct fv_profile_options options = { .no_symbols = true };
    char directory[] = "/tmp/fvmpi-unit-XXXXXX", path[200];
    struct fv_profile *profile = NULL;
    (void)state;

    assert_non_null(mkdtemp(directory));
    assert_int_equal(fv_profile_open(&(char *){ directory }, 1, &options, &profile), -FV_ENOENT);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "rank-%06d.fvr", i);
        fvr_write(&file[i], directory, path);
    }
    snprintf(path, sizeof(path), "mkdir %s/ranks-000000 && mv %s/rank-000002.fvr %s/ranks-000000", directory, directory,
             directory);
    assert_int_equal(system(path), 0); /* as in a large job */
    fvr_write(&file[0], directory, "rank-000000.fvr.1");
    file[3].header.version = 99;
    fvr_write(&file[3], directory, "rank-000003.fvr");
    assert_int_equal(fv_profile_open(&(char *){ directory }, 1, &options, &profile), 0);
    assert_int_equal(profile->model->rank_count, 3);
    model.problems = profile->model->problems;
    assert_true(has_problem(FV_PROBLEM_UNREADABLE, "rank-000003.fvr"));
    assert_true(has_problem(FV_PROBLEM_MISSING, "rank 3"));
    assert_true(has_problem(FV_PROBLEM_NOTE, "ran 1 other program before"));
    model.problems = (struct fv_problems){ 0 };
    assert_false(profile->model->complete);
    snprintf(path, sizeof(path), "rm -r %s", directory);
    assert_int_equal(system(path), 0);
    fv_profile_close(profile);
    assert_int_equal(fv_profile_open(&(char *){ directory }, 1, &options, &profile), -FV_EIO);
}

static const struct fv_size_class *size_class(const char *name, uint32_t comm_size, unsigned bucket)
{
    for (size_t i = 0; i < model.size_class_count; i++) {
        const struct fv_size_class *of = &model.size_classes[i];

        if (of->comm_size == comm_size && of->bucket == bucket && !strcmp(model.functions[of->function].name, name))
            return of;
    }
    fail_msg("%s has no messages of bucket %u on %u ranks", name, bucket, comm_size);
    return NULL;
}

/* One function with messages of one size on communicators of two sizes, two of them alike, over all ranks. */
static void sizes_by_communicator(void **state)
{
    const uint64_t ticks[] = { 100, 100 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        uint32_t pair = fvr_comm(&file[i], 7, 0, i, 2), other = fvr_comm(&file[i], 8, 0, i, 2);

        fvr_cell(&file[i], 0, 2, 1, F_SEND, ticks, 2, 1000, 0);
        fvr_cell(&file[i], 0, 2, pair, F_SEND, ticks, 1, 1000, 0);
        fvr_cell(&file[i], 0, 2, other, F_SEND, ticks, 1, 1000, 0);
        fvr_cell(&file[i], 0, 2, pair, F_RECV, ticks, 1, 0, 8);
        fvr_cell(&file[i], 0, 2, 1, F_BARRIER, ticks, 2, 0, 0);
        fvr_thread(&file[i], 0, true, 7, 700, NULL);
    }
    build(2);
    const struct fv_size_class *of = size_class("MPI_Send", 4, 10);
    assert_int_equal(of->sent.count, 4);
    assert_int_equal(of->sent.bytes, 4000);
    assert_int_equal(of->received.count, 0);
    of = size_class("MPI_Send", 2, 10);
    assert_int_equal(of->sent.count, 4);
    assert_int_equal(of->sent.bytes, 4000);
    assert_true(of->sent.seconds > 0 && fabs(of->sent.seconds - size_class("MPI_Send", 4, 10)->sent.seconds) < 1e-12);
    assert_int_equal(size_class("MPI_Recv", 2, 4)->received.bytes, 16);
    assert_int_equal(model.size_class_count, 3);
}

/* A call site with messages of two classes on two ranks, and one whose cell says what cannot be. */
static void sizes_by_site(void **state)
{
    const uint64_t ticks[] = { 100, 100 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        fvr_cell(&file[i], 0, 2, 1, F_SEND, ticks, 2, i ? 1000 : 600, 0);
        fvr_cell(&file[i], 0, 2, 1, F_SEND, ticks, 1, 8, 0);
        fvr_cell(&file[i], 0, 2, 1, F_RECV, ticks, 1, 0, 100);
        fvr_thread(&file[i], 0, true, 4, 400, NULL);
    }
    struct fv_cell *cells = (struct fv_cell *)(void *)file[1].streams[file[1].stream_count - 2].data;
    assert_int_equal(cells[2].size_min, 100);
    cells[2].size_min = 12345;
    build(2);
    const struct fv_site *s = &model.sites[0], *received = &model.sites[1];
    const struct fv_site_size *of = &model.site_sizes[s->first_size];
    assert_true(model.site_count == 2 && s->sizes == 2 && received->sizes == 1);
    assert_true(of[0].bucket == 4 && of[0].sent.count == 2 && of[0].min == 8 && of[0].max == 8);
    assert_true(of[1].bucket == 10 && of[1].sent.count == 4 && of[1].sent.bytes == 3200 && !of[1].received.count);
    assert_true(of[1].min == 600 && of[1].max == 1000 && !of[1].lost);
    assert_that(of[1].sent.seconds, >, of[0].sent.seconds);
    assert_true(model.site_sizes[received->first_size].lost);
    struct fv_site_rank all = fv_site_messages(&model, s);
    assert_true(all.messages == 6 && all.size_min == 8 && all.size_max == 1000 && !all.sizes_lost);
    all = fv_site_messages(&model, received);
    assert_true(all.messages == 2 && all.sizes_lost);
    assert_int_equal(model.site_ranks[received->first].size_max, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(statistics),
        TEST(an_end_that_cannot_be),
        TEST(sizes_by_communicator),
        TEST(sizes_by_site),
        TEST(deviations_of_long_calls),
        TEST(unification),
        TEST(path_cycles_are_cut),
        TEST(efficiency),
        TEST(recording_waits),
        TEST(impossible_efficiency),
        TEST(hybrid_efficiencies),
        TEST(states),
        TEST(ended_in_a_call),
        TEST(programs),
        TEST(programs_of_one_name),
        TEST(drops_and_threads),
        TEST(calls_of_children),
        TEST(older_files_are_left_out),
        TEST(peers_and_timeline),
#ifndef __SANITIZE_ADDRESS__ /* which reserves more than any limit */
        TEST(cells_of_high_numbers),
#endif
        TEST(keys_of_runs),
        TEST(directories),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
