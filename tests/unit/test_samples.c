/* Samples of synthetic runs with known answers: where CPU time is, exports, the annotated source, sampled
 * functions, loops. */
#include "fvr_builder.h"
#include "json_rows.h"
#include "profile/samples/cost_profile.h"
#include "profile/samples/costs.h"
#include "profile/samples/samples.h"
#include "symbols/loop_graph.h"
#include "views/views.h"
#include "unit.h"

#include <sys/stat.h>
#include <unistd.h>
#include <jansson.h>

#define ID "0123456789abcdef0123"
enum {
    MAIN = 0x100,
    CALLS_F = 0x110,
    CALLS_G = 0x210,
    IN_F = 0x220,
    IN_F2 = 0x221,
    CALLS_F_AGAIN = 0x230,
    IN_G = 0x310,
    LOCK = 0x50
};

static struct fvr file[3];
static struct fv_experiment experiment;
static struct fv_model model;
static const struct fv_findings no_findings;
static struct fv_symbols symbols;
static struct fv_cost_profile profile;
static char directory[64];

/* What debug information would say of these addresses. */
static const struct {
    uint64_t offset;
    const char *module, *function, *file;
    uint32_t line;
} known[] = {
    { MAIN, "app", "main", "/src/app/main.c", 3 },  { CALLS_F, "app", "main", "/src/app/main.c", 4 },
    { CALLS_G, "app", "f", "/src/app/work.c", 10 }, { IN_F, "app", "f", "/src/app/work.c", 11 },
    { IN_F2, "app", "f", "/src/app/work.c", 11 },   { CALLS_F_AGAIN, "app", "f", "/src/app/work.c", 12 },
    { IN_G, "app", "g;h", "/src/lib/work.c", 20 },  { LOCK, "libc.so.6", "pthread_mutex_lock", NULL, 0 },
};

static int set_up(void **state)
{
    (void)state;
    experiment = (struct fv_experiment){ 0 };
    model = (struct fv_model){ 0 };
    symbols = (struct fv_symbols){ 0 };
    profile = (struct fv_cost_profile){ 0 };
    for (int i = 0; i < 3; i++) {
        fvr_init(&file[i], i, 3);
        if (i == 1) /* ids of modules differ from rank to rank */
            fvr_module(&file[i], "/lib/libc.so.6", 0x700000, NULL);
        fvr_module(&file[i], "/usr/bin/app", (uint64_t)i << 20, ID);
        if (i != 1)
            fvr_module(&file[i], "/lib/libc.so.6", 0x900000, NULL);
        fvr_thread(&file[i], 0, true, 0, 0, NULL);
    }
    strcpy(directory, "/tmp/fvmpi-samples-XXXXXX");
    assert_non_null(mkdtemp(directory));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fv_cost_profile_release(&profile);
    fv_symbols_release(&symbols);
    fv_model_release(&model);
    fv_experiment_release(&experiment);
    for (int i = 0; i < 3; i++)
        fvr_release(&file[i]);
    char command[100];
    snprintf(command, sizeof(command), "rm -r '%s'", directory);
    return system(command);
}

static uint32_t app(int rank)
{
    return rank == 1 ? 2 : 1;
}

static void name_frames(void)
{
    for (size_t i = 0; i < symbols.frame_count; i++)
        for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
            if (symbols.frames[i].offset == known[k].offset &&
                !strcmp(model.tree.modules[symbols.frames[i].module].name, known[k].module)) {
                symbols.frames[i].function = known[k].function;
                symbols.frames[i].file = known[k].file;
                symbols.frames[i].line = known[k].line;
            }
}

/* Functions begin at each 0x100. */
static void bound_functions(void)
{
    for (size_t i = 1; i < model.tree.node_count; i++) {
        symbols.of_node[i].begin = model.tree.nodes[i].offset & ~(uint64_t)0xff;
        symbols.of_node[i].size = 0x100;
    }
}

static void build(int ranks)
{
    for (int i = 0; i < ranks; i++)
        fvr_join(&file[i], &experiment);
    fv_experiment_choose(&experiment);
    fv_model_build(&model, &symbols, &experiment, false);
    name_frames();
    bound_functions();
    fv_samples_judge(&model, &symbols, &(struct fv_cost_profile){ 0 });
}

/* Rank 0 and 1: main (1 tick), main>f (20, 10 of them of another instruction, 5 in MPI), main>f>f>g (4),
 * main>f>lock (3). Thread 1 of rank 1: main>f (100) at another rate. */
static void sample_ranks(void)
{
    for (int i = 0; i < 2; i++) {
        fvr_sampler(&file[i], 0, 100, 28);
        uint32_t m = fvr_sample_path(&file[i], 0, 0, app(i), MAIN);
        uint32_t calls = fvr_sample_path(&file[i], 0, 0, app(i), CALLS_F);
        uint32_t f = fvr_sample_path(&file[i], 0, calls, app(i), IN_F);
        uint32_t f2 = fvr_sample_path(&file[i], 0, calls, app(i), IN_F2);
        uint32_t again = fvr_sample_path(&file[i], 0, calls, app(i), CALLS_F_AGAIN);
        uint32_t deep = fvr_sample_path(&file[i], 0, again, app(i), CALLS_G);
        uint32_t g = fvr_sample_path(&file[i], 0, deep, app(i), IN_G);
        uint32_t locks = fvr_sample_path(&file[i], 0, calls, app(i), CALLS_G);
        uint32_t lock = fvr_sample_path(&file[i], 0, locks, i == 1 ? 1 : 2, LOCK);

        fvr_cost(&file[i], 0, m, 1, 0);
        fvr_cost(&file[i], 0, f, 10, 5);
        fvr_cost(&file[i], 0, f2, 10, 0);
        fvr_cost(&file[i], 0, g, 4, 0);
        fvr_cost(&file[i], 0, lock, 3, 0);
    }
    fvr_thread(&file[1], 1, false, 0, 0, NULL);
    fvr_sampler(&file[1], 1, 1000, 100);
    uint32_t calls = fvr_sample_path(&file[1], 1, 0, app(1), CALLS_F);
    fvr_cost(&file[1], 1, fvr_sample_path(&file[1], 1, calls, app(1), IN_F), 100, 0);
}

static void make_profile(uint32_t rank)
{
    fv_cost_profile_init(&profile, &model, &symbols, rank);
}

static const struct fv_cost_procedure *procedure(const char *name)
{
    for (size_t i = 0; i < profile.procedure_count; i++)
        if (!strcmp(profile.procedures[i].name, name))
            return &profile.procedures[i];
    fail_msg("no procedure %s", name);
    return NULL;
}

static void expect_sum(const struct fv_cost_sum *s, unsigned ticks, unsigned in_mpi, unsigned in_sync)
{
    assert_int_equal(s->ticks, ticks);
    assert_int_equal(s->in_mpi, in_mpi);
    assert_int_equal(s->in_sync, in_sync);
}

/* ---- where CPU time is ---- */

static void procedures(void **state)
{
    (void)state;
    sample_ranks();
    build(2);
    make_profile(FV_COST_ALL_RANKS);
    assert_int_equal(fv_model_costs(&model)->ticks, 156);
    expect_sum(&profile.all, 156, 10, 6);
    assert_near(profile.tick_s * 156, 0.56 + 0.1, 1e-12); /* each thread's at its own rate */
    assert_int_equal(profile.procedure_count, 4);
    assert_string_equal(profile.procedures[0].name, "f"); /* most in itself first */
    expect_sum(&procedure("f")->sum.self, 140, 10, 0);
    expect_sum(&procedure("f")->sum.total, 154, 10, 6); /* f>f>g counts once for f */
    expect_sum(&procedure("main")->sum.self, 2, 0, 0);
    expect_sum(&procedure("main")->sum.total, 156, 10, 6);
    expect_sum(&procedure("g;h")->sum.total, 8, 0, 0);
    expect_sum(&procedure("pthread_mutex_lock")->sum.self, 6, 0, 6);
    assert_int_equal(profile.rank_count, 2);
    assert_int_equal(procedure("f")->parts, 3);
    assert_near(procedure("f")->rank_min_s, 0.27, 1e-12);
    assert_near(procedure("f")->rank_max_s, 0.37, 1e-12);
    assert_int_equal(procedure("f")->rank_max, 1);
    const struct fv_cost_part *part = &profile.parts[procedure("f")->first_part];
    expect_sum(&part->sum.self, 20, 5, 0);
    expect_sum(&part->sum.total, 27, 5, 3);
    assert_near(fv_cost_error(100), 20, 1e-12);
}

static void one_rank(void **state)
{
    (void)state;
    sample_ranks();
    build(2);
    make_profile(0);
    expect_sum(&profile.all, 28, 5, 3);
    expect_sum(&procedure("f")->sum.total, 27, 5, 3);
    assert_int_equal(profile.stack_count, 4);
    assert_int_equal(profile.rank_count, 1);
}

static void lines(void **state)
{
    (void)state;
    sample_ranks();
    build(2);
    make_profile(FV_COST_ALL_RANKS);
    assert_int_equal(profile.lines[0].line, 11);
    expect_sum(&profile.lines[0].sum.self, 140, 10, 0); /* two instructions */
    for (size_t i = 0; i < profile.line_count; i++)
        if (profile.lines[i].line == 10) {
            expect_sum(&profile.lines[i].sum.self, 0, 0, 0);
            expect_sum(&profile.lines[i].sum.total, 14, 0, 6);
            return;
        }
    fail_msg("no line 10");
}

static void call_tree(void **state)
{
    (void)state;
    sample_ranks();
    build(2);
    make_profile(FV_COST_ALL_RANKS);
    assert_int_equal(profile.branch_count, 6); /* root main f f g lock */
    for (uint32_t i = 1; i < profile.branch_count; i++)
        assert_that(profile.branches[i].parent, <, i);
    expect_sum(&profile.branches[0].sum.total, 156, 10, 6);
    expect_sum(&profile.branches[1].sum.total, 156, 10, 6);
    expect_sum(&profile.branches[2].sum.total, 154, 10, 6);
    expect_sum(&profile.branches[2].sum.self, 140, 10, 0);
}

/* Code without symbols is a procedure for each of its modules; functions of OpenMP's library wait. */
static void without_symbols(void **state)
{
    (void)state;
    uint32_t omp = fvr_module(&file[0], "/lib/libgomp.so.1", 0xa00000, NULL);

    fvr_sampler(&file[0], 0, 100, 12);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, omp, 0x10), 5, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, omp, 0x20), 4, 4);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x30), 3, 0);
    build(1);
    make_profile(FV_COST_ALL_RANKS);
    assert_int_equal(profile.procedure_count, 2);
    expect_sum(&procedure("[libgomp.so.1]")->sum.self, 9, 4, 5);
    expect_sum(&procedure("[app]")->sum.self, 3, 0, 0);
    assert_false(profile.loops_known);
}

/* The program's own code behind a barrier that runs tasks is computing. */
static void tasks(void **state)
{
    (void)state;
    uint32_t omp = fvr_module(&file[0], "/lib/libgomp.so.1", 0xa00000, NULL);
    uint32_t barrier = fvr_sample_path(&file[0], 0, 0, omp, 0x10);

    fvr_sampler(&file[0], 0, 100, 5);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, barrier, 1, IN_F), 5, 0);
    build(1);
    make_profile(FV_COST_ALL_RANKS);
    expect_sum(&profile.all, 5, 0, 0);
}

static void damaged(void **state)
{
    (void)state;
    fvr_sampler(&file[0], 0, 100, 30);
    uint32_t calls = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F);
    uint32_t loop = fvr_sample_path(&file[0], 0, 7, 1, IN_F); /* its parent comes after it */
    fvr_cost(&file[0], 0, calls, 4, 9);                       /* more in MPI than there are */
    fvr_cost(&file[0], 0, loop, 5, 0);
    fvr_cost(&file[0], 0, 1000, 6, 0);
    fvr_cost(&file[0], 0, 0, 7, 0);
    fvr_cost(&file[0], 0, calls, UINT64_MAX, 0);
    fvr_cost(&file[0], 3, 1, 8, 0); /* a thread without paths, and without a record */
    struct fv_instances broken = { .path = calls, .returns = 9 };
    broken.all[0].mean = NAN;
    fvr_add(&file[0], FV_CHUNK_INSTANCES, 0, &broken, sizeof(broken));
    build(1);
    make_profile(FV_COST_ALL_RANKS);
    expect_sum(&profile.all, 30, 4, 0);
    expect_sum(&procedure("main")->sum.self, 4, 4, 0);
    assert_int_equal(profile.procedure_count, 2); /* all that is lost is one */
    assert_int_equal(fv_model_samples(&model)->items[0].all.count, 0);
    assert_true(isfinite(profile.tick_s));
}

/* 50 samples of 10 ms of a thread that had 1 s of CPU time, half of it in the kernel; but not where it was sampled for
 * a part of it. */
static void time_in_the_kernel(void **state)
{
    (void)state;
    struct fv_thread_record thread = {
        .id = 1, .tid = 1, .threads = 1, .usage_of = 1, .user_ns = 500000000, .system_ns = 500000000
    };
    struct fv_sampler_record sampler = { .rate = 100, .ticks = 50 };

    for (int i = 0; i < 2; i++) {
        sampler.stopped = i ? FV_SAMPLER_SIGPROF_USED : 0;
        fvr_add(&file[i], FV_CHUNK_THREADS, 1, &thread, sizeof(thread));
        fvr_add(&file[i], FV_CHUNK_SAMPLER, 1, &sampler, sizeof(sampler));
        fvr_cost(&file[i], 1, fvr_sample_path(&file[i], 1, 0, i ? 2 : 1, MAIN), 50, 0);
    }
    build(2);
    assert_int_equal(fv_model_costs(&model)->thread_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_near(fv_model_costs(&model)->threads[i].tick_s, 0.01, 1e-12);
        assert_near(fv_model_costs(&model)->threads[i].cpu_tick_s, i ? 0.01 : 0.02, 1e-12);
    }
}

static void nothing(void **state)
{
    (void)state;
    build(2);
    make_profile(FV_COST_ALL_RANKS);
    assert_int_equal(profile.all.ticks, 0);
    assert_int_equal(profile.procedure_count, 0);
}

/* ---- views ---- */

static int json_view(const struct fv_profile *v, FILE *out)
{
    return fv_view_json(v, FV_JSON_RANKS_ALL, out);
}

static char *shown(int (*view)(const struct fv_profile *, FILE *))
{
    struct fv_cost_profile costs;
    const struct fv_profile v = { &model, &symbols, &costs, &no_findings, 0 };
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fv_cost_profile_init(&costs, &model, &symbols, FV_COST_ALL_RANKS);
    assert_int_equal(view(&v, out), 0);
    fclose(out);
    fv_cost_profile_release(&costs);
    return text;
}

static int text_view(const struct fv_profile *v, FILE *out)
{
    const struct fv_text_options options = { .width = 120, .top = 10 };

    return fv_view_text(v, &options, out);
}

static int wide_view(const struct fv_profile *v, FILE *out)
{
    const struct fv_text_options options = { .width = 1000, .top = 10 };

    return fv_view_text(v, &options, out);
}

static void folded(void **state)
{
    (void)state;
    sample_ranks();
    build(2);
    char *text = shown(fv_view_folded);
    assert_string_equal(text, "rank 0;thread 0;main 1\n"
                              "rank 0;thread 0;main;f 20\n"
                              "rank 0;thread 0;main;f;f;g:h 4\n"
                              "rank 0;thread 0;main;f;pthread_mutex_lock 3\n"
                              "rank 1;thread 0;main 1\n"
                              "rank 1;thread 0;main;f 20\n"
                              "rank 1;thread 0;main;f;f;g:h 4\n"
                              "rank 1;thread 0;main;f;pthread_mutex_lock 3\n"
                              "rank 1;thread 1;main;f 100\n");
    free(text);
}

static void speedscope(void **state)
{
    (void)state;
    sample_ranks();
    build(2);
    char *text = shown(fv_view_speedscope);
    json_t *j = json_loads(text, 0, NULL), *profiles = json_object_get(j, "profiles");
    assert_string_equal(json_string_value(json_object_get(j, "$schema")),
                        "https://www.speedscope.app/file-format-schema.json");
    assert_int_equal(json_array_size(profiles), 3);
    json_t *last = json_array_get(profiles, 2), *frames = json_object_get(json_object_get(j, "shared"), "frames");
    assert_string_equal(json_string_value(json_object_get(last, "type")), "sampled");
    assert_string_equal(json_string_value(json_object_get(last, "unit")), "seconds");
    assert_string_equal(json_string_value(json_object_get(last, "name")), "rank 1 thread 1");
    assert_near(json_real_value(json_object_get(last, "endValue")), 0.1, 1e-12);
    json_t *stack = json_array_get(json_object_get(last, "samples"), 0);
    assert_int_equal(json_array_size(stack), 2);
    const char *const wanted[] = { "main", "f" };
    for (size_t i = 0; i < 2; i++) {
        json_t *frame = json_array_get(frames, (size_t)json_integer_value(json_array_get(stack, i)));
        assert_string_equal(json_string_value(json_object_get(frame, "name")), wanted[i]);
    }
    assert_near(json_real_value(json_array_get(json_object_get(last, "weights"), 0)), 0.1, 1e-12);
    json_decref(j);
    free(text);
}

static void json_costs(void **state)
{
    (void)state;
    sample_ranks();
    build(2);
    char *text = shown(json_view);
    json_t *j = json_plainly(json_loads(text, 0, NULL)), *costs = json_object_get(j, "costs");
    json_t *f = json_array_get(json_object_get(costs, "procedures"), 0);
    assert_string_equal(json_string_value(json_object_get(f, "procedure")), "f");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(f, "inclusive"), "ticks")), 154);
    assert_int_equal(json_array_size(json_object_get(f, "per_thread")), 3);
    assert_true(json_is_null(json_object_get(costs, "loops")));
    assert_int_equal(json_array_size(json_object_get(costs, "sampled_threads")), 3);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "sampling"), "ticks")), 156);
    json_decref(j);
    free(text);
}

static void json_without(void **state)
{
    (void)state;
    build(1);
    char *text = shown(json_view);
    json_t *j = json_loads(text, 0, NULL);
    assert_true(json_is_null(json_object_get(j, "costs")));
    assert_true(json_is_null(json_object_get(j, "sampling")));
    json_decref(j);
    free(text);
    text = shown(text_view);
    assert_null(strstr(text, "CPU time"));
    free(text);
}

static void text_costs(void **state)
{
    (void)state;
    sample_ranks();
    build(2);
    char *text = shown(text_view);
    assert_non_null(strstr(text, "\nCPU time"));
    assert_non_null(
        strstr(text, "156 samples of the CPU clock in user mode, on 3 threads: together 660 ms, 6.4 % in MPI, 3.8 % "));
    assert_non_null(strstr(text, "  100.0 %    1.3 %    6.4 %  main\n"));
    assert_non_null(strstr(text, "   98.7 %   89.7 %    6.5 %    f\n"));
    free(text);
}

/* Branches share a line where their numbers are the same, and only there. */
static void text_chains(void **state)
{
    (void)state;
    fvr_sampler(&file[0], 0, 100, 100);
    uint32_t calls = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F);
    uint32_t f = fvr_sample_path(&file[0], 0, calls, 1, CALLS_G);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, f, 1, IN_G), 94, 0);
    fvr_cost(&file[0], 0, f, 6, 0);
    build(1);
    char *text = shown(text_view);
    assert_non_null(strstr(text, "  100.0 %    6.0 %           main > f\n"));
    assert_non_null(strstr(text, "   94.0 %   94.0 %             g;h\n"));
    free(text);
}

static int narrow_view(const struct fv_profile *v, FILE *out)
{
    const struct fv_text_options options = { .width = 79, .top = 10 };

    return fv_view_text(v, &options, out);
}

/* A chain that is cut keeps its last name whole, also one of C++ with templates. */
static void text_chains_of_templates(void **state)
{
    (void)state;
    fvr_sampler(&file[0], 0, 100, 100);
    uint32_t calls = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F);
    uint32_t f = fvr_sample_path(&file[0], 0, calls, 1, CALLS_G);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, f, 1, IN_G), 100, 0);
    build(1);
    for (size_t i = 0; i < symbols.frame_count; i++)
        symbols.frames[i].function = symbols.frames[i].offset == IN_G      ? "Solver<Mesh<int> >::run"
                                     : symbols.frames[i].offset == CALLS_G ? "a_function_of_a_long_name"
                                                                           : symbols.frames[i].function;
    char *text = shown(narrow_view);
    assert_non_null(strstr(text, "  main > a_function... > Solver<Mesh<int> >::run\n"));
    free(text);
}

/* Samples in fvmpi itself are its own, in one row; the calls that it stands before stay, its threads' begin
 * does not.
 */
static void fvmpi_itself(void **state)
{
    (void)state;
    uint32_t own = fvr_module(&file[0], "/opt/lib/libfvmpi-mpich.so", 0xb00000, NULL);

    fvr_sampler(&file[0], 0, 100, 100);
    uint32_t begin = fvr_sample_path(&file[0], 0, 0, own, 0x500);
    uint32_t calls = fvr_sample_path(&file[0], 0, begin, 1, CALLS_F);
    uint32_t wrapper = fvr_sample_path(&file[0], 0, calls, own, 0x510);
    uint32_t inner = fvr_sample_path(&file[0], 0, wrapper, own, 0x520);
    fvr_cost(&file[0], 0, inner, 10, 0);
    fvr_cost(&file[0], 0, wrapper, 5, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, inner, 2, LOCK), 25, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, IN_F), 60, 0);
    build(1);
    for (size_t i = 0; i < symbols.frame_count; i++) {
        struct fv_frame *frame = &symbols.frames[i];

        if (strcmp(model.tree.modules[frame->module].name, "libfvmpi-mpich.so"))
            continue;
        frame->file = "/src/fvmpi/wrap.c";
        frame->line = 7;
        frame->function = frame->offset == 0x500 ? "begin" : frame->offset == 0x510 ? "MPI_Send" : "record";
    }
    char *text = shown(fv_view_folded);
    assert_string_equal(text, "rank 0;thread 0;main;[fvmpi] 15\n"
                              "rank 0;thread 0;main;MPI_Send;pthread_mutex_lock 25\n"
                              "rank 0;thread 0;main;f 60\n");
    free(text);
    make_profile(FV_COST_ALL_RANKS);
    assert_int_equal(profile.fvmpi_ticks, 15);
    expect_sum(&procedure("[fvmpi]")->sum.self, 15, 0, 0);
    for (size_t i = 0; i < profile.line_count; i++)
        assert_null(strstr(profile.lines[i].file, "fvmpi"));
    text = shown(wide_view);
    assert_non_null(strstr(text, "15.0 % in fvmpi itself"));
    free(text);
    text = shown(json_view);
    json_t *j = json_loads(text, 0, NULL);
    assert_near(json_real_value(json_object_get(json_object_get(j, "costs"), "fvmpi_share")), 0.15, 1e-12);
    json_decref(j);
    free(text);
}

/* ---- serial programs ---- */

static void serial_file(void)
{
    strcpy(file[0].header.mpi, "none");
    file[0].header.world_size = 1;
    file[0].header.state = FV_STATE_EXITED;
    file[0].header.exit_seen = 1;
}

static void serial(void **state)
{
    (void)state;
    serial_file();
    build(1);
    char *text = shown(text_view);
    assert_non_null(strstr(text, "elapsed 1.00 s"));
    assert_non_null(strstr(text, "complete   exited with status 0\n"));
    assert_null(strstr(text, "MPI"));
    assert_null(strstr(text, "Efficiency"));
    assert_null(strstr(text, "finalize"));
    free(text);
}

/* Killed: it ends with the last point in time that anything in the file tells. */
static void serial_killed(void **state)
{
    (void)state;
    const struct fv_thread_life life = { .creator = FV_NO_THREAD, .joiner = FV_NO_THREAD, .begin = 1700000000 };
    const struct fv_sync_thread waits = { .wait_begin = 3500000000 };

    serial_file();
    file[0].header.state = FV_STATE_RUNNING;
    file[0].header.end_ticks = 0;
    fvr_add(&file[0], FV_CHUNK_LIVES, FV_NO_THREAD, &life, sizeof(life));
    fvr_add(&file[0], FV_CHUNK_SYNC_THREAD, 0, &waits, sizeof(waits));
    build(1);
    assert_near(model.ranks[0].end_s - model.ranks[0].begin_s, 2.5, 1e-6);
    char *text = shown(text_view);
    assert_non_null(strstr(text, "for 2.50 s up to the last that was recorded"));
    assert_null(strstr(text, "Ranks that did not finalize"));
    free(text);
}

/* ---- source ---- */

static struct fv_source_options source;

static int source_view(const struct fv_profile *v, FILE *out)
{
    const struct fv_text_options options = { .width = 200 };

    return fv_view_source(v, &source, &options, out);
}

/* Blanks in a row as one. */
static void squeeze(char *text)
{
    char *to = text;

    for (const char *p = text; *p; p++)
        if (*p != ' ' || to == text || to[-1] != ' ')
            *to++ = *p;
    *to = '\0';
}

static void source_lines(void **state)
{
    (void)state;
    char path[100], *text;
    sample_ranks();
    build(2);
    snprintf(path, sizeof(path), "%s/work.c", directory);
    FILE *out = fopen(path, "w");
    for (int i = 1; i <= 12; i++)
        fprintf(out, "\tline %d\n", i);
    fclose(out);
    source = (struct fv_source_options){ .file = "app/work.c", .rank = -1, .place = { "/src/app", directory } };
    text = shown(source_view);
    squeeze(text);
    assert_non_null(strstr(text, "\n 9 line 9\n"));
    assert_non_null(strstr(text, "\n 89.7 % 592 ms 140 89.7 % 592 ms 7.1 % 11 line 11\n"));
    assert_non_null(strstr(text, "\n 9.0 % 59.2 ms 42.9 % 10 line 10\n"));
    free(text);
    source.rank = 1;
    text = shown(source_view);
    assert_non_null(strstr(text, "120 of 128 samples of rank 1 are in this file"));
    free(text);
}

/* Where the file is not there, lines are shown by number, with one word about it. */
static void source_gone(void **state)
{
    (void)state;
    sample_ranks();
    build(2);
    source = (struct fv_source_options){ .file = "lib/work.c", .rank = -1 };
    char *text = shown(source_view);
    assert_non_null(strstr(text, "/src/lib/work.c: No such file or directory: lines are shown by number"));
    assert_non_null(strstr(text, "       8    5.1 %   33.8 ms     20\n"));
    free(text);
}

/* A FIFO that nobody writes: to open it would wait for ever. */
static void source_fifo(void **state)
{
    (void)state;
    char path[100];
    sample_ranks();
    build(2);
    snprintf(path, sizeof(path), "%s/work.c", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    source = (struct fv_source_options){ .file = "app/work.c", .rank = -1, .place = { "/src/app", directory } };
    alarm(10);
    char *text = shown(source_view);
    alarm(0);
    assert_non_null(strstr(text, "/work.c: not a regular file: lines are shown by number"));
    free(text);
}

static int source_error(const char *file, long rank)
{
    struct fv_cost_profile costs;
    const struct fv_profile v = { &model, &symbols, &costs, &no_findings, 0 };
    const struct fv_text_options options = { .width = 200 };

    fv_cost_profile_init(&costs, &model, &symbols, FV_COST_ALL_RANKS);
    source = (struct fv_source_options){ .file = file, .rank = rank };
    int err = fv_view_source(&v, &source, &options, stdout);
    fv_cost_profile_release(&costs);
    return err;
}

static void source_errors(void **state)
{
    (void)state;
    sample_ranks();
    build(2);
    assert_int_equal(source_error("work.c", -1), -FV_EINVAL); /* two files */
    assert_int_equal(source_error("ork.c", -1), -FV_ENOENT);  /* part of a name */
    assert_int_equal(source_error("other.c", -1), -FV_ENOENT);
    assert_int_equal(source_error("app/work.c", 7), -FV_ENOENT);
}

/* ---- functions ---- */

static const struct fv_sampled_function *sampled(uint64_t offset, uint32_t parent_offset)
{
    const struct fv_sampled_function *found = NULL;

    for (size_t i = 0; i < fv_model_samples(&model)->count; i++) {
        const struct fv_node *n = &model.tree.nodes[fv_model_samples(&model)->items[i].node];

        if (n->offset == offset && model.tree.nodes[n->parent].offset == parent_offset) {
            assert_null(found);
            found = &fv_model_samples(&model)->items[i];
        }
    }
    assert_non_null(found);
    return found;
}

/* The same function from two places of two ranks: two contexts, each of both ranks. 1, 2, 3 and 5, 6, 7, 8, 9
 * ns: mean 5.125, squares of deviations 2 + 10 + 25 * 3 * 5 / 8. */
static void merged(void **state)
{
    (void)state;
    const uint64_t few[] = { 1, 2, 3 }, more[] = { 5, 6, 7, 8, 9 };

    for (int i = 0; i < 2; i++) {
        fvr_sampler(&file[i], 0, 100, 10);
        uint32_t a = fvr_sample_path(&file[i], 0, 0, app(i), CALLS_F);
        uint32_t b = fvr_sample_path(&file[i], 0, 0, app(i), CALLS_G);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, a, app(i), 0x201), i ? more : few, i ? 5 : 3, i ? 2 : 0,
                      NULL);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, b, app(i), 0x201), few, 3, 0, NULL);
    }
    build(2);
    assert_int_equal(fv_model_samples(&model)->count, 2);
    const struct fv_sampled_function *s = sampled(0x201, CALLS_F);
    assert_int_equal(s->all.count, 8);
    assert_int_equal(s->ranks, 2);
    assert_int_equal(s->entries, 8);
    assert_near(s->all.mean[FV_METRIC_CPU], 5.125e-9, 1e-18);
    assert_near(s->all.m2[FV_METRIC_CPU], 58.875e-18, 1e-27);
    assert_int_equal(s->window.count, 2);
    assert_near(s->window.mean[FV_METRIC_TIME], 5.5e-9, 1e-18);
    assert_int_equal(s->parts, 2);
    assert_int_equal(s->instances, 8);
    assert_near(fv_model_samples(&model)->instances[s->first_instance + 7].cpu_s, 9e-9, 1e-18);
    assert_int_equal(sampled(0x201, CALLS_G)->all.count, 6);
    assert_false(s->judged); /* no thread has enough */
}

static void not_merged(void **state)
{
    (void)state;
    const uint64_t ns[] = { 1, 2, 3 };
    uint32_t other = fvr_module(&file[0], "/usr/bin/app", 0x500000, "another build, which");

    fvr_sampler(&file[0], 0, 100, 10);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 3, 0, NULL);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, other, 0x201), ns, 3, 0, NULL);
    build(1);
    assert_int_equal(fv_model_samples(&model)->count, 2);
}

/* The function's own label is its entry, where it has no name. */
static void entry_of_function(void **state)
{
    (void)state;
    const uint64_t ns[] = { 1, 2 };

    fvr_sampler(&file[0], 0, 100, 10);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0xbb41), ns, 2, 0, NULL);
    build(1);
    char *text = shown(wide_view);
    assert_non_null(strstr(text, "app+0xbb40"));
    assert_null(strstr(text, "app+0xbb41"));
    assert_non_null(strstr(text, "none had enough instances to judge"));
    free(text);
}

/* Twelve threads with three calls each: none can be judged alone. Within each 1, 2, 3 us: variance 1, mean 2.
 */
static void pooled(void **state)
{
    (void)state;
    const uint64_t ns[] = { 1000, 2000, 3000 };

    for (uint32_t i = 0; i < 12; i++) {
        if (i)
            fvr_thread(&file[0], i, false, 0, 0, NULL);
        fvr_sampler(&file[0], i, 100, 10);
        fvr_instances(&file[0], i, fvr_sample_path(&file[0], i, 0, 1, 0x201), ns, 3, 0, NULL);
        fvr_cost(&file[0], i, fvr_sample_path(&file[0], i, 0, 1, IN_F), 10, 0);
    }
    build(1);
    const struct fv_sampled_function *s = &fv_model_samples(&model)->items[0];
    assert_true(s->judged);
    assert_true(s->pooled);
    assert_near(s->within, 0.5, 1e-9);
    assert_int_equal(s->varies, FV_VARIES_WITHIN);
    char *text = shown(text_view);
    assert_non_null(strstr(text, "varies from call to call (cov 0.50, all threads together)"));
    assert_non_null(strstr(text, "0.50  *"));
    free(text);
}

/* What varies but has 2 % of the CPU time is not called steady, nor is what nobody can compare between threads. */
static void verdicts(void **state)
{
    (void)state;
    uint64_t ns[10];

    for (int k = 0; k < 10; k++)
        ns[k] = k % 2 ? 100000u : 300000u;
    for (int i = 0; i < 2; i++) {
        uint32_t call = fvr_sample_path(&file[i], 0, 0, app(i), CALLS_F);

        fvr_sampler(&file[i], 0, 100, 50);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, call, app(i), 0x201), ns, 10, 0, NULL);
        fvr_cost(&file[i], 0, fvr_sample_path(&file[i], 0, call, app(i), IN_F), 2, 0);
    }
    build(2);
    assert_int_equal(sampled(0x201, CALLS_F)->varies, FV_VARIES_NOT);
    char *text = shown(text_view);
    assert_non_null(strstr(text, "small share"));
    assert_null(strstr(text, "steady"));
    free(text);
}

/* Ten calls of 1 or 3 us on each rank; rank 1 takes twice as long. 40 of 100 ticks, the others are in MPI. */
static void guidance(void **state)
{
    (void)state;
    const double others[FV_METRIC_COUNT] = { [FV_METRIC_FAULTS] = 20 };
    char advice[400];

    for (int i = 0; i < 2; i++) {
        uint64_t ns[10], steady[10];
        for (int k = 0; k < 10; k++) {
            ns[k] = (k % 2 ? 1000u : 3000u) << i;
            steady[k] = 5000;
        }
        fvr_sampler(&file[i], 0, 100, 50);
        uint32_t call = fvr_sample_path(&file[i], 0, 0, app(i), CALLS_F);
        uint32_t mpi = fvr_sample_path(&file[i], 0, 0, app(i), CALLS_G);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, call, app(i), 0x201), ns, 10, 0, others);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, mpi, app(i), 0x301), ns, 10, 0, NULL);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, 0, app(i), 0x101), steady, 10, 0, NULL);
        fvr_cost(&file[i], 0, fvr_sample_path(&file[i], 0, call, app(i), IN_F), 20, 0);
        fvr_cost(&file[i], 0, fvr_sample_path(&file[i], 0, mpi, app(i), IN_G), 30, 30);
    }
    build(2);
    const struct fv_sampled_function *s = &fv_model_samples(&model)->items[0], *main_ = sampled(0x101, 0),
                                     *in_mpi = sampled(0x301, CALLS_G);
    assert_ptr_equal(s, sampled(0x201, CALLS_F)); /* though the other has more ticks */
    assert_near(s->share, 1, 1e-12);              /* of what is outside of MPI */
    assert_near(in_mpi->share, 0, 1e-12);
    assert_near(fv_model_samples(&model)->computing_s, 0.4, 1e-12);
    assert_int_equal(s->mpi_ticks, 0);
    assert_near(s->within, sqrt(10.0 / 9) / 2, 1e-9);
    assert_int_equal(s->varies, FV_VARIES_BOTH);
    assert_int_equal(s->with, FV_METRIC_FAULTS);
    fv_sampled_advice(fv_model_samples(&model), s, advice, sizeof(advice));
    assert_non_null(strstr(advice, "varies from call to call (cov 0.53) and from thread to thread (cov 0."));
    assert_non_null(strstr(advice, "; its page faults vary, too (cov 0."));
    assert_near(main_->share, 1, 1e-12);
    assert_int_equal(main_->varies, FV_VARIES_NOT);
    assert_true(main_->judged);
    assert_true(in_mpi->inside_mpi);
    assert_ptr_equal(in_mpi, &fv_model_samples(&model)->items[2]);
    char *text = shown(text_view);
    assert_non_null(strstr(text, "100.0 % of the CPU time outside of MPI, varies from call to call"));
    assert_null(strstr(text, "\n  g;h, "));
    free(text);
}

/* 100 calls of 300 us: five of them longer, by much or by little, or one of two. */
static enum fv_varies when_longer(uint64_t longer_ns, unsigned every)
{
    uint64_t ns[100];

    for (unsigned k = 0; k < 100; k++)
        ns[k] = k % every ? 300000 + k * 100 : longer_ns;
    fvr_sampler(&file[0], 0, 100, 100);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 100, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_F), 100, 0);
    build(1);
    assert_that(sampled(0x201, 0)->within, >, FV_SAMPLED_WITHIN);
    return sampled(0x201, 0)->varies;
}

/* What a hypervisor may have taken is no variation of the function; what takes much of its time is, and what every
 * other call has. */
static void single_calls(void **state)
{
    (void)state;
    assert_int_equal(when_longer(700000, 20), FV_VARIES_NOT);
    char *text = shown(wide_view);
    assert_non_null(strstr(text, "single calls"));
    free(text);
}
static void few_that_take_much(void **state)
{
    (void)state;
    assert_int_equal(when_longer(3000000, 20), FV_VARIES_WITHIN);
}
static void half_of_them(void **state)
{
    (void)state;
    assert_int_equal(when_longer(600000, 2), FV_VARIES_WITHIN);
}
/* 12 % of the time of all. */
static void one_alone(void **state)
{
    (void)state;
    assert_int_equal(when_longer(4000000, 100), FV_VARIES_NOT);
}

/* Calls of 20 ns, where traps vary by 100 ns: what varies is the traps. */
static void too_short(void **state)
{
    (void)state;
    const struct fv_sampler_record r = { .rate = 100, .ticks = 100, .trap_ticks = 2000, .trap_spread_ticks = 100 };
    uint64_t ns[10], longer[10];

    for (int k = 0; k < 10; k++) {
        ns[k] = k ? 20 : 200000; /* a trap that met an interrupt */
        longer[k] = k % 2 ? 2000 : 6000;
    }
    fvr_add(&file[0], FV_CHUNK_SAMPLER, 0, &r, sizeof(r));
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 10, 0, NULL);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x301), longer, 10, 0, NULL);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x401), ns + 1, 3, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_F), 60, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_G), 40, 0);
    build(1);
    assert_near(fv_model_samples(&model)->resolution_s, 1e-6, 1e-15);
    assert_true(fv_sampled_is_brief(sampled(0x201, 0), FV_METRIC_CPU));
    assert_int_equal(sampled(0x201, 0)->varies, FV_VARIES_NOT);
    assert_int_equal(sampled(0x301, 0)->varies, FV_VARIES_WITHIN);
    char *text = shown(json_view);
    json_t *j = json_plainly(json_loads(text, 0, NULL)), *functions = json_object_get(j, "functions");
    json_t *f = json_array_get(functions, 1);
    assert_true(json_is_null(json_object_get(f, "within")));
    json_t *cpu = json_object_get(json_object_get(f, "metrics"), "cpu_time_s");
    assert_true(json_is_null(json_object_get(cpu, "mean")));
    assert_true(json_is_null(json_object_get(cpu, "p50")));
    assert_that(json_real_value(json_object_get(cpu, "p99")), >, 100e-6);
    assert_int_equal(json_integer_value(json_object_get(cpu, "sample_count")), 10);
    json_decref(j);
    free(text);
    text = shown(wide_view);
    assert_non_null(strstr(text, "too short"));
    assert_non_null(strstr(text, "< 20.0 us"));
    assert_non_null(strstr(text, "too few")); /* of three nobody knows how long the others are */
    free(text);
}

/* A quarter of the calls are long: interrupts do not explain that, and it varies, short as the others are. */
static void mostly_short(void **state)
{
    (void)state;
    const struct fv_sampler_record r = { .rate = 100, .ticks = 100, .trap_ticks = 2000, .trap_spread_ticks = 100 };
    uint64_t ns[20];

    fvr_add(&file[0], FV_CHUNK_SAMPLER, 0, &r, sizeof(r));
    for (unsigned longer = 3; longer <= 5; longer += 2) {
        for (unsigned k = 0; k < 20; k++)
            ns[k] = k < longer ? 7000 : 500; /* three traps, and more */
        fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, longer == 3 ? 0x201 : 0x301), ns, 20, 0, NULL);
    }
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_F), 50, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_G), 50, 0);
    build(1);
    assert_true(fv_sampled_is_brief(sampled(0x201, 0), FV_METRIC_CPU)); /* 3 of 20 may be interrupts, of which 5 % meet
                                                                         * one */
    assert_int_equal(sampled(0x301, 0)->varies, FV_VARIES_WITHIN);
    char *text = shown(wide_view);
    assert_non_null(strstr(text, "most calls take less than 1.00 us"));
    free(text);
}

/* MPI's spinning, and OpenMP's: of what the program itself computes, f has 3 of 4. Its CPU time varies with MPI's,
 * which is not its own. */
static void spinning(void **state)
{
    (void)state;
    uint32_t omp = fvr_module(&file[0], "/lib/libgomp.so.1", 0xa00000, NULL);
    uint64_t ns[10];
    struct fv_instance_computing own = { { 100000, 0 }, { 100000, 0 } };

    for (int k = 0; k < 10; k++)
        ns[k] = k % 2 ? 200000 : 900000;
    fvr_sampler(&file[0], 0, 100, 400);
    uint32_t calls = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x201), ns, 10, 0, NULL);
    fvr_add(&file[0], FV_CHUNK_INSTANCE_COMPUTING, 0, &own, sizeof(own));
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, omp, 0x401), ns, 10, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, IN_F), 60, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, IN_F2), 200, 200);
    fvr_cost(&file[0], 0, calls, 20, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, omp, 0x410), 120, 0);
    build(1);
    const struct fv_sampled_function *f = sampled(0x201, CALLS_F), *spins = sampled(0x401, CALLS_F);
    assert_near(f->share, 0.75, 1e-12);
    assert_int_equal(f->varies, FV_VARIES_NOT);
    assert_true(spins->waits);
    assert_int_equal(spins->varies, FV_VARIES_NOT);
    assert_int_equal(spins->sync_ticks, 120);
    assert_ptr_equal(spins, &fv_model_samples(&model)->items[1]);
    assert_near(fv_model_samples(&model)->computing_s, 0.8, 1e-12);
}

/* The ten calls that were measured, of 100 or so, take 20 us; samples met 4 of 50 ms. */
static void rare_long_calls(void **state)
{
    (void)state;
    const struct fv_long_calls damaged = { .count = 4, .ticks = 3, .ns = 1, .all_ns = 200000000 };
    const struct fv_long_calls met = { 4, 20, 180000000, 200000000, 25, 500000000, 2000000000 };
    uint64_t ns[10];

    for (int k = 0; k < 10; k++)
        ns[k] = 20000;
    for (int is_damaged = 0; is_damaged < 2; is_damaged++) {
        fvr_sampler(&file[0], 0, 100, 200);
        uint32_t calls = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F);
        fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x201), ns, 10, 0, NULL);
        fvr_add(&file[0], FV_CHUNK_LONG_CALLS, 0, is_damaged ? &damaged : &met, sizeof(met));
        fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, IN_F), 20, 0);
        build(1);
        const struct fv_rare_calls *rare = &fv_model_samples(&model)->functions[0].rare;
        assert_int_equal(rare->count, is_damaged ? 0 : 4);
        if (is_damaged)
            break;
        assert_true(rare->exact && !rare->is_callees && rare->rank == 0);
        assert_near(rare->length_s, 0.05, 1e-9);
        assert_near(rare->calls, 100, 1e-9);
        assert_near(rare->typical_s, 20e-6, 1e-9);
        assert_near(fv_model_samples(&model)->functions[0].calls, 100, 1e-9);
        tear_down(state);
        set_up(state);
    }
}

/* Samples 2.5 ms apart met 48 calls with 1.15 ms left on average: at least 0.88 ms were, eight times what most calls
 * take, so they take 1.42 ms, and samples met few. They are rare where none of those measured took as long, and not
 * where every fourth did. */
static void long_calls_met_by_chance(void **state)
{
    (void)state;
    const struct fv_long_calls met = { 48, 48, 55200000, 120000000, 200, 50000000, 1000000000 };
    uint64_t ns[20];

    for (int fourth_is_long = 0; fourth_is_long < 2; fourth_is_long++) {
        for (int k = 0; k < 20; k++)
            ns[k] = fourth_is_long && k % 4 == 0 ? 1120000 : 110000;
        fvr_sampler(&file[0], 0, 400, 400);
        fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 20, 0, NULL);
        fvr_add(&file[0], FV_CHUNK_LONG_CALLS, 0, &met, sizeof(met));
        fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_F), 400, 0);
        build(1);
        const struct fv_rare_calls *rare = &fv_model_samples(&model)->functions[0].rare;
        if (fourth_is_long) {
            assert_int_equal(rare->count, 0);
            break;
        }
        assert_false(rare->exact);
        assert_near(rare->length_s, 1.42e-3, 1e-9);
        assert_near(rare->time_s, 0.120 * 1.42 / 0.54, 1e-9);
        assert_near(rare->rank_s, rare->time_s, 1e-9);
        assert_int_equal(rare->count, 222);
        assert_near(rare->calls, 4000, 1e-9);
        tear_down(state);
        set_up(state);
    }
}

/* Three calls of 100 us, of a function with 1 s of the CPU time: a host may have taken as much. */
static void rare_and_little(void **state)
{
    (void)state;
    const struct fv_long_calls met = { 3, 3, 300000, 300000, 25, 500000000, 2000000000 };
    uint64_t ns[10];

    for (int k = 0; k < 10; k++)
        ns[k] = 2000;
    fvr_sampler(&file[0], 0, 100, 100);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 10, 0, NULL);
    fvr_add(&file[0], FV_CHUNK_LONG_CALLS, 0, &met, sizeof(met));
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_F), 100, 0);
    build(1);
    assert_int_equal(fv_model_samples(&model)->functions[0].rare.count, 0);
}

static void events(void **state)
{
    (void)state;
    const struct fv_metric_event counted = { .name = "INSTRUCTIONS", .user_only = 1 },
                                 refused = { .name = "CYCLES", .refusal = 2 },
                                 elsewhere = { .name = "INSTRUCTIONS", .refusal = 2 };
    const double others[FV_METRIC_COUNT] = { [FV_METRIC_EVENT_0] = 7, [FV_METRIC_EVENT_0 + 1] = 7 };
    const uint64_t ns[] = { 1, 2, 3 };

    fvr_add(&file[0], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &counted, sizeof(counted));
    fvr_add(&file[0], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &refused, sizeof(refused));
    fvr_sampler(&file[0], 0, 100, 10);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, app(0), 0x201), ns, 3, 0, others);
    fvr_add(&file[1], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &elsewhere, sizeof(elsewhere));
    fvr_add(&file[1], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &refused, sizeof(refused));
    fvr_sampler(&file[1], 0, 100, 10);
    fvr_instances(&file[1], 0, fvr_sample_path(&file[1], 0, 0, app(1), 0x201), ns, 3, 0, NULL);
    build(2);
    assert_string_equal(fv_sampled_metric(fv_model_samples(&model), FV_METRIC_EVENT_0), "INSTRUCTIONS");
    assert_int_equal(fv_model_samples(&model)->items[0].all.count, 6);
    assert_null(fv_sampled_metric(fv_model_samples(&model), FV_METRIC_EVENT_0 + 1));
    assert_null(fv_sampled_metric(fv_model_samples(&model), FV_METRIC_EVENT_0 + 2));
    char *text = shown(json_view);
    json_t *j = json_plainly(json_loads(text, 0, NULL)), *functions = json_object_get(j, "functions");
    json_t *metrics = json_object_get(json_array_get(functions, 0), "metrics");
    assert_int_equal(json_object_size(metrics), 4); /* time, CPU time, that outside of MPI, the event */
    json_t *event = json_object_get(metrics, "INSTRUCTIONS");
    assert_int_equal(json_integer_value(json_object_get(event, "sample_count")), 3);
    assert_near(json_real_value(json_object_get(event, "mean")), 14, 1e-9);
    json_decref(j);
    free(text);
    text = shown(text_view);
    assert_non_null(strstr(text, "event CYCLES is not counted on 2 of 2 ranks: this machine has no"));
    assert_non_null(strstr(text, "INSTRUCTIONS 14 (cov 0."));
    free(text);
}

static void add_event(int rank, const char *name)
{
    struct fv_metric_event event = { .refusal = 0 };

    strcpy(event.name, name);
    fvr_add(&file[rank], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &event, sizeof(event));
}

/* Three calls of a function, that count `a`, 2 a, 3 a and `b`, 2 b, 3 b. */
static void add_counted(int rank, double a, double b)
{
    const double others[FV_METRIC_COUNT] = { [FV_METRIC_EVENT_0] = a, [FV_METRIC_EVENT_0 + 1] = b };
    const uint64_t ns[] = { 1, 2, 3 };

    fvr_sampler(&file[rank], 0, 100, 10);
    fvr_instances(&file[rank], 0, fvr_sample_path(&file[rank], 0, 0, app(rank), 0x201), ns, 3, 2, others);
}

/* Ranks may ask for other events, or in another order. */
static void events_by_name(void **state)
{
    (void)state;
    add_event(0, "CYCLES");
    add_event(0, "INSTRUCTIONS");
    add_counted(0, 10, 20);
    add_event(1, "instructions");
    add_event(1, "CYCLES");
    add_counted(1, 20, 10);
    add_event(2, "CS");
    add_event(2, "FAULTS");
    add_event(2, "BRANCHES");
    add_event(2, "MIGRATIONS");
    add_counted(2, 7, 8);
    build(3);
    const struct fv_samples *s = fv_model_samples(&model);
    const struct fv_sampled_stat *all = &s->items[0].all;
    const char *const names[] = { "CYCLES", "INSTRUCTIONS", "CS", "FAULTS" };
    const double means[] = { 20, 40, 14, 16 };
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(fv_sampled_metric(s, FV_METRIC_EVENT_0 + i), names[i]);
        assert_int_equal(fv_sampled_count(all, FV_METRIC_EVENT_0 + i), i < 2 ? 6 : 3);
        assert_near(all->mean[FV_METRIC_EVENT_0 + i], means[i], 1e-9);
    }
    assert_near(fv_sampled_stddev(all, FV_METRIC_EVENT_0), sqrt(4 * 100 / 5.), 1e-9);
    assert_int_equal(s->events_unshown, 2);
    char *text = shown(wide_view);
    assert_non_null(strstr(text, "more than 4 different events: 2 of single ranks are not shown"));
    free(text);
}

/* Of one of the three instances the events are not known: mean and deviation are of two. */
static void events_lost(void **state)
{
    (void)state;
    struct fv_event_counts counts = { 2, 1 };

    add_event(0, "CYCLES");
    add_counted(0, 10, 0);
    fvr_add(&file[0], FV_CHUNK_EVENT_COUNTS, 0, &counts, sizeof(counts));
    add_event(1, "CYCLES");
    add_counted(1, 10, 0);
    counts = (struct fv_event_counts){ 1000, 1000 }; /* damaged: more than there are */
    fvr_add(&file[1], FV_CHUNK_EVENT_COUNTS, 0, &counts, sizeof(counts));
    build(2);
    const struct fv_sampled_part *part = fv_model_samples(&model)->parts;
    assert_int_equal(part[0].all.count, 3);
    assert_int_equal(fv_sampled_count(&part[0].all, FV_METRIC_EVENT_0), 2);
    assert_int_equal(fv_sampled_count(&part[0].window, FV_METRIC_EVENT_0), 1);
    assert_near(fv_sampled_stddev(&part[0].all, FV_METRIC_EVENT_0), sqrt(200), 1e-9); /* m2 over 2 - 1 */
    assert_int_equal(fv_sampled_count(&part[1].all, FV_METRIC_EVENT_0), 3);
    assert_int_equal(fv_sampled_count(&part[1].window, FV_METRIC_EVENT_0), 2);
}

/* Addresses in objects that the process met after the thread: ranges may hold one another. */
static void late_modules(void **state)
{
    (void)state;
    uint32_t last = 0;

    for (int i = 0; i < 100; i++)
        last = fvr_module(&file[0], i % 2 ? "/lib/odd.so" : "/lib/even.so", (uint64_t)(1000 - i) << 24, NULL);
    fvr_sampler(&file[0], 0, 100, 12);
    const uint64_t first = UINT64_C(1000) << 24, other = UINT64_C(901) << 24;
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, FV_MODULE_UNKNOWN, first + 0x11), 5, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, FV_MODULE_UNKNOWN, other + 0x11), 4, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, FV_MODULE_UNKNOWN, other + 0x100001), 2, 0); /* behind it */
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, FV_MODULE_UNKNOWN, UINT64_C(1) << 60), 1, 0);
    build(1);
    make_profile(FV_COST_ALL_RANKS);
    assert_int_equal(last, 102);
    expect_sum(&procedure("[even.so]")->sum.self, 5, 0, 0);
    expect_sum(&procedure("[odd.so]")->sum.self, 4, 0, 0);
    expect_sum(&procedure("[unknown code]")->sum.self, 3, 0, 0);
}

/* A frame belongs to the nearest function before it that is called from the same place, of the same module.
 */
static void nearest_context(void **state)
{
    (void)state;
    const uint64_t ns[] = { 10000000, 10000000, 10000000 };

    fvr_sampler(&file[0], 0, 100, 100);
    uint32_t calls = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F);
    for (uint64_t entry = 0x1001; entry <= 0x5001; entry += 0x1000)
        fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, entry), ns, 3, 0, NULL);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 2, 0x3801), ns, 3, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x3fff), 60, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x4001), 30, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x800), 10, 0); /* before all */
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 2, 0x800), 10, 0); /* likewise, behind the other's */
    build(1);
    const struct fv_samples *s = fv_model_samples(&model);
    uint64_t ticks = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct fv_node *n = &model.tree.nodes[s->items[i].node];
        bool in_app = !strcmp(model.tree.modules[n->module].name, "app");

        assert_int_equal(s->items[i].ticks, !in_app ? 0 : n->offset == 0x3001 ? 60 : n->offset == 0x4001 ? 30 : 0);
        ticks += s->items[i].ticks;
    }
    assert_int_equal(ticks, 90);
}

/* A function's time is that of all paths, with those on which none of its calls was measured. */
static void path_without_instances(void **state)
{
    (void)state;
    const uint64_t ns[] = { 10000000, 10000000, 10000000 };

    fvr_sampler(&file[0], 0, 100, 100);
    uint32_t calls = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F),
             elsewhere = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F + 8);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x201), ns, 3, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, IN_F), 30, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, elsewhere, 1, IN_F), 50, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, elsewhere, 1, IN_G), 20, 0); /* another's */
    build(1);
    assert_int_equal(sampled(0x201, CALLS_F)->ticks, 30);
    assert_int_equal(fv_model_samples(&model)->functions[0].ticks, 80);
    assert_near(fv_model_samples(&model)->functions[0].share, 0.8, 1e-12);
}

/* Lines that are there only where there is something to say. */
static void fast_and_off_processor(void **state)
{
    (void)state;
    const uint64_t ns[] = { 10000, 10000, 10000, 10000, 10000, 10000, 10000, 10000 };
    struct fv_instances slow = { .entries = 8, .returns = 8 };

    fvr_sampler(&file[0], 0, 100, 100);
    fvr_sampler(&file[1], 0, 100, 100);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 8, 0, NULL);
    build(1);
    char *text = shown(wide_view);
    assert_null(strstr(text, "~ calls"));
    assert_null(strstr(text, "had a processor"));
    free(text);
    tear_down(NULL);
    set_up(NULL);
    struct fv_sampler_record r = { .rate = 100, .ticks = 100, .entries = 8, .returns = 8, .trap_ticks = 12000 };
    fvr_add(&file[0], FV_CHUNK_SAMPLER, 0, &r, sizeof(r));
    slow.path = fvr_sample_path(&file[0], 0, 0, 1, 0x201);
    slow.flags = FV_INSTANCES_FAST;
    for (int i = 0; i < 8; i++)
        slow.reservoir[i] = (struct fv_instance){ .time = 100000, .cpu_ns = 14000 };
    slow.all[FV_METRIC_TIME].mean = 100000;
    slow.all[FV_METRIC_CPU].mean = 14000;
    fvr_add(&file[0], FV_CHUNK_INSTANCES, 0, &slow, sizeof(slow));
    build(1);
    text = shown(wide_view);
    assert_non_null(strstr(text, "14.0 us  *"));
    assert_non_null(strstr(text, "fast: calls are about as short as the 12.0 us that a trap takes"));
    assert_non_null(strstr(text, "the functions had a processor for 14.0 % of their time outside of MPI"));
    free(text);
}

/* ---- loops ---- */

static struct fv_instruction at(uint64_t address, enum fv_flow flow, uint64_t target)
{
    return (struct fv_instruction){ .address = address, .target = target, .bytes = 1, .flow = flow };
}

static void nested_loops(void **state)
{
    (void)state;
    const struct fv_instruction list[] = {
        at(0, FV_FLOW_ON, 0),     at(1, FV_FLOW_JUMP, 4), at(2, FV_FLOW_NOTHING, 0), /* padding runs into the
                                                                                      * loop */
        at(3, FV_FLOW_ON, 0),                                                        /* outer header by 7 */
        at(4, FV_FLOW_ON, 0),                                                        /* inner header */
        at(5, FV_FLOW_BRANCH, 4), at(6, FV_FLOW_ON, 0),   at(7, FV_FLOW_BRANCH, 3),  at(8, FV_FLOW_BRANCH, 4),
        at(9, FV_FLOW_END, 0),
    };
    struct fv_loop_graph g;

    assert_int_equal(fv_loop_graph_build(&g, list, 10), 0);
    assert_int_equal(g.loop_count, 1); /* 3 does not dominate 7: all is one loop at 4 */
    assert_int_equal(g.blocks[g.loops[0].header].begin, 4);
    assert_int_equal(fv_loop_graph_loop_at(&g, 0), FV_NONE);
    assert_int_equal(fv_loop_graph_loop_at(&g, 6), 0);
    assert_int_equal(fv_loop_graph_loop_at(&g, 3), 0);
    assert_int_equal(fv_loop_graph_loop_at(&g, 9), FV_NONE);
    fv_loop_graph_release(&g);
}

static void loop_depths(void **state)
{
    (void)state;
    const struct fv_instruction list[] = {
        at(0, FV_FLOW_ON, 0),     at(1, FV_FLOW_ON, 0),     at(2, FV_FLOW_ON, 0),  at(3, FV_FLOW_BRANCH, 2),
        at(4, FV_FLOW_BRANCH, 8), at(5, FV_FLOW_BRANCH, 1), at(6, FV_FLOW_END, 0), at(7, FV_FLOW_NOTHING, 0),
        at(8, FV_FLOW_JUMP, 5), /* of the outer loop, behind the end */
    };
    struct fv_loop_graph g;

    assert_int_equal(fv_loop_graph_build(&g, list, 9), 0);
    assert_int_equal(g.loop_count, 2);
    assert_int_equal(g.loops[0].depth, 1);
    assert_int_equal(g.loops[1].depth, 2);
    assert_int_equal(g.loops[1].parent, 0);
    assert_int_equal(fv_loop_graph_loop_at(&g, 2), 1);
    assert_int_equal(fv_loop_graph_loop_at(&g, 8), 0);
    assert_int_equal(fv_loop_graph_loop_at(&g, 6), FV_NONE);
    fv_loop_graph_release(&g);
}

/* Packed arithmetic is told of the innermost loop that it is in. */
static void packed_loops(void **state)
{
    (void)state;
    struct fv_instruction list[] = {
        at(0, FV_FLOW_ON, 0), at(1, FV_FLOW_ON, 0),     at(2, FV_FLOW_ON, 0), at(3, FV_FLOW_BRANCH, 2),
        at(4, FV_FLOW_ON, 0), at(5, FV_FLOW_BRANCH, 1), at(6, FV_FLOW_ON, 0), at(7, FV_FLOW_END, 0),
    };
    /* in the inner loop, the outer one, none */
    static const struct {
        unsigned where;
        bool outer, inner;
    } want[] = { { 2, false, true }, { 4, true, false }, { 6, false, false } };

    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        struct fv_loop_graph g;

        list[want[i].where].packed = true;
        assert_int_equal(fv_loop_graph_build(&g, list, 8), 0);
        list[want[i].where].packed = false;
        assert_int_equal(g.loop_count, 2);
        assert_int_equal(g.loops[0].packed, want[i].outer);
        assert_int_equal(g.loops[1].packed, want[i].inner);
        fv_loop_graph_release(&g);
    }
}

static void packed_instructions(void **state)
{
    static const struct {
        const char *bytes, *what;
        bool packed;
    } want[] = {
        { "\x66\x0f\x58\xc1", "addpd", true },
        { "\xf2\x0f\x58\xc1", "addsd", false },
        { "\xc5\xf4\x58\xc2", "vaddps", true },
        { "\xc4\xe2\xf5\xb8\xc2", "vfmadd231pd", true },
        { "\xc4\xe2\xf1\xb9\xc2", "vfmadd231sd", false },
        { "\x66\x0f\xfe\xc1", "paddd", true },
        { "\x0f\x57\xc0", "xorps, which clears a register", false },
        { "\x66\x0f\x54\xc1", "andpd, which takes a sign away", false },
        { "\x66\x0f\x28\xc1", "movapd", false },
        { "\x58", "pop", false },
    };
    struct fv_instruction *list;
    (void)state;

    if (!fv_machine_code_available())
        skip();
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        size_t count = fv_machine_code_decode((const uint8_t *)want[i].bytes, 0, strlen(want[i].bytes), &list);

        if (count != 1 || list[0].packed != want[i].packed)
            fail_msg("%s: %zu instructions, packed: %d", want[i].what, count, count && list[0].packed);
        free(list);
    }
}

/* A switch in a loop: cases are reached by the table alone. A jump back that is no loop: its target does not
 * dominate. */
static void tables_and_tangles(void **state)
{
    (void)state;
    const struct fv_instruction table[] = {
        at(0, FV_FLOW_ON, 0), at(1, FV_FLOW_TABLE, 0),  at(2, FV_FLOW_NOTHING, 0), at(3, FV_FLOW_JUMP, 5),
        at(4, FV_FLOW_ON, 0), at(5, FV_FLOW_BRANCH, 1), at(6, FV_FLOW_END, 0),
    };
    /* Padding behind a table jump, before a loop that is entered in its middle. */
    const struct fv_instruction padded[] = {
        at(0, FV_FLOW_BRANCH, 7), at(1, FV_FLOW_TABLE, 0),  at(2, FV_FLOW_NOTHING, 0), at(3, FV_FLOW_ON, 0),
        at(4, FV_FLOW_ON, 0),     at(5, FV_FLOW_BRANCH, 3), at(6, FV_FLOW_END, 0),     at(7, FV_FLOW_JUMP, 4),
    };
    const struct fv_instruction tangle[] = { at(0, FV_FLOW_BRANCH, 2), at(1, FV_FLOW_ON, 0), at(2, FV_FLOW_BRANCH, 1),
                                             at(3, FV_FLOW_END, 0) };
    struct fv_loop_graph g;

    assert_int_equal(fv_loop_graph_build(&g, table, 7), 0);
    assert_int_equal(g.loop_count, 1);
    assert_int_equal(fv_loop_graph_loop_at(&g, 3), 0);
    assert_int_equal(fv_loop_graph_loop_at(&g, 4), 0);
    fv_loop_graph_release(&g);
    assert_int_equal(fv_loop_graph_build(&g, padded, 8), 0);
    assert_int_equal(g.loop_count, 1);
    assert_int_equal(g.blocks[g.loops[0].header].begin, 4);
    assert_int_equal(fv_loop_graph_loop_at(&g, 3), 0);
    fv_loop_graph_release(&g);
    assert_int_equal(fv_loop_graph_build(&g, tangle, 4), 0);
    assert_int_equal(g.loop_count, 0);
    fv_loop_graph_release(&g);
    assert_int_equal(fv_loop_graph_build(&g, tangle, 0), -FV_EFORMAT);
}

/* Any instructions make some graph. */
static void any_graph(void **state)
{
    (void)state;
    struct fv_instruction list[200];
    uint64_t x = 88172645463325252u;
    struct fv_loop_graph g;

    for (int round = 0; round < 2000; round++) {
        size_t count = 1 + (size_t)round % 200;
        for (size_t i = 0; i < count; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            list[i] = at(i, (enum fv_flow)(x >> 8 & 7) > FV_FLOW_END ? FV_FLOW_ON : (enum fv_flow)(x >> 8 & 7),
                         (x >> 20) % (count + 5));
        }
        assert_int_equal(fv_loop_graph_build(&g, list, count), 0);
        for (size_t i = 0; i < g.loop_count; i++)
            assert_true(g.loops[i].parent == FV_NONE || g.loops[i].parent < i);
        fv_loop_graph_release(&g);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
    TEST(procedures),
    TEST(one_rank),
    TEST(lines),
    TEST(call_tree),
    TEST(without_symbols),
    TEST(tasks),
    TEST(damaged),
    TEST(nothing),
    TEST(folded),
    TEST(speedscope),
    TEST(json_costs),
    TEST(json_without),
    TEST(text_costs),
    TEST(text_chains),
    TEST(text_chains_of_templates),
    TEST(fvmpi_itself),
    TEST(serial),
    TEST(serial_killed),
    TEST(source_lines),
    TEST(source_gone),
    TEST(source_fifo),
    TEST(source_errors),
    TEST(merged),
    TEST(not_merged),
    TEST(verdicts),
    TEST(guidance),
    TEST(single_calls),
    TEST(few_that_take_much),
    TEST(half_of_them),
    TEST(one_alone),
    TEST(too_short),
    TEST(mostly_short),
    TEST(spinning),
    TEST(rare_long_calls),
    TEST(long_calls_met_by_chance),
    TEST(rare_and_little),
    TEST(entry_of_function),
    TEST(pooled),
    TEST(events),
    TEST(events_by_name),
    TEST(events_lost),
    TEST(late_modules),
    TEST(nearest_context),
    TEST(path_without_instances),
    TEST(fast_and_off_processor),
    cmocka_unit_test(nested_loops),
    cmocka_unit_test(loop_depths),
    cmocka_unit_test(packed_loops),
    cmocka_unit_test_setup_teardown(time_in_the_kernel, set_up, tear_down),
    cmocka_unit_test(packed_instructions),
    cmocka_unit_test(tables_and_tangles),
    cmocka_unit_test(any_graph),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
