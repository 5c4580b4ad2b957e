/* Samples of synthetic runs with known answers: where CPU time is, exports, the annotated source. */
#include "json_rows.h"
#include "profile/samples/costs.h"
#include "sampled_run.h"

#include <sys/stat.h>
#include <jansson.h>

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
    cmocka_unit_test_setup_teardown(time_in_the_kernel, set_up, tear_down),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
