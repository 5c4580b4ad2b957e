/* Views: every key of the JSON contract is there and parses, text keeps its width and says what it cuts,
 * CSV quotes, names are made harmless, and symbols of this very program are found. */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include "fvr_builder.h"
#include "json_rows.h"
#include "symbols/module_files.h"
#include "profile/relations.h"
#include "tool/table.h"
#include "views/flat.h"
#include "views/views.h"
#include "tool/words.h"
#include "unit.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <elf.h>
#include <jansson.h>
#include <link.h>

#define MS UINT64_C(1000000)

static struct fvr file[2];
static struct fv_model model;
static const struct fv_findings no_findings;
static struct fv_symbols symbols;
static const struct fv_cost_profile no_costs;
static struct fv_profile view = { &model, &symbols, &no_costs, &no_findings, 0 };
static char *output;
static size_t output_bytes;

static void build(bool look_up)
{
    struct fv_experiment experiment = { 0 };

    fvr_join(&file[0], &experiment);
    fvr_join(&file[1], &experiment);
    fv_experiment_choose(&experiment);
    fv_model_build(&model, &symbols, &experiment, look_up);
    fv_experiment_release(&experiment);
}

static int set_up(void **state)
{
    const struct fv_in_call in = { .begin = 1500 * MS, .function = 2, .path = 2, .peer = FV_NO_PEER };
    const uint64_t ticks[] = { 3 * MS, 4 * MS };
    (void)state;

    for (int i = 0; i < 2; i++) {
        fvr_init(&file[i], i, 3); /* rank 2 has no file */
        fvr_function(&file[i], 1, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Send");
        fvr_function(&file[i], 2, FV_CLASS_OTHER, FV_RULE_NONE, "MPI_Get_count");
        fvr_module(&file[i], "/no/such/\xff\x1b[31mevil\"file", 0, "0123456789abcdef0123");
        fvr_comm(&file[i], 1, FV_COMM_WORLD, i, 3);
        for (uint32_t k = 0; k < 40; k++)
            fvr_path(&file[i], k, 1, 0x100 + k);
        for (uint32_t k = 1; k <= 40; k++)
            fvr_cell(&file[i], 0, k, 1, k % 2 + 1, ticks, 2, k * 100, 0);
        fvr_peer(&file[i], 0, 1 - i, 10, 1000);
        fvr_thread(&file[i], 0, true, 80, 200 * MS, i ? &in : NULL);
    }
    file[1].header.state = FV_STATE_RUNNING;
    file[1].header.end_ticks = 0;
    strcpy(file[0].header.command, "app \"quoted\" \xc3\xa9 \xff\x07");
    output = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fv_symbols_release(&symbols);
    fv_model_release(&model);
    fvr_release(&file[0]);
    fvr_release(&file[1]);
    free(output);
    return 0;
}

/* ---- JSON ---- */

static json_t *parsed(void)
{
    json_error_t error;
    FILE *out = open_memstream(&output, &output_bytes);

    assert_int_equal(fv_view_json(&view, FV_JSON_RANKS_ALL, out), 0);
    fclose(out);
    json_t *json = json_loadb(output, output_bytes, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("line %d column %d: %s", error.line, error.column, error.text);
    return json_plainly(json);
}

static void expect_keys(const json_t *object, const char *keys)
{
    char copy[500], *rest = copy;

    strcpy(copy, keys);
    assert_true(json_is_object(object));
    for (char *key; (key = strsep(&rest, " "));)
        if (!json_object_get(object, key))
            fail_msg("no key %s", key);
}

static void json_keys(void **state)
{
    (void)state;
    build(false);
    json_t *json = parsed(), *site = json_array_get(json_object_get(json, "callsites"), 0);
    json_t *rank = json_array_get(json_object_get(json, "ranks"), 1);

    expect_keys(json, "schema run programs ranks callsites histograms matrix communicators efficiency "
                      "timeline functions locks "
                      "sections io memory counters sensors noise findings problems mpi_functions");
    assert_string_equal(json_string_value(json_object_get(json, "schema")), "fvmpi-profile-2");
    expect_keys(json_object_get(json, "run"), "command mpi rank_count complete start elapsed_s overhead");
    expect_keys(rank, "rank host pid state app_time_s mpi_time_s wait_s in_call last_call dropped threads");
    expect_keys(json_array_get(json_object_get(json, "programs"), 0),
                "program command command_count rank_runs rank_time");
    assert_int_equal(json_integer_value(json_object_get(rank, "program_id")), 0);
    expect_keys(json_object_get(rank, "in_call"), "function path for_s");
    assert_true(json_is_null(json_object_get(rank, "last_call")));
    assert_string_equal(json_string_value(json_object_get(rank, "state")), "killed");
    assert_true(json_is_null(json_object_get(json_array_get(json_object_get(json, "ranks"), 0), "in_call")));
    expect_keys(site, "id number key function path count time wait_s wait_kind bytes_sent bytes_received cov per_rank");
    expect_keys(json_object_get(site, "time"), "sum_s min_s max_s mean_s stddev_s");
    expect_keys(json_array_get(json_object_get(site, "path"), 0), "function file line module offset");
    expect_keys(json_array_get(json_object_get(site, "per_rank"), 0),
                "rank count time_sum_s wait_s bytes_sent bytes_received");
    expect_keys(json_object_get(json, "efficiency"), "parallel load_balance communication serialization transfer");
    expect_keys(json_array_get(json_object_get(json, "histograms"), 0), "function sent received durations");
    assert_int_equal(json_array_size(json_object_get(json, "callsites")), 40);
    assert_int_equal(json_object_size(json_array_get(json_object_get(json, "matrix"), 0)), 4);
    assert_false(json_is_true(json_object_get(json_object_get(json, "run"), "complete")));
    const char *command = json_string_value(json_object_get(json_object_get(json, "run"), "command"));
    assert_string_equal(command, "app \"quoted\" \xc3\xa9 \\xff\\x07");
    json_decref(json);
}

static void json_numbers(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0, "0.0" },
        { 1, "1.0" },
        { -1.5, "-1.5" },
        { 1e-9, "1e-9" },
        { 0.1, "0.1" },
        { 12345.678, "12345.678" },
        { 1e-13, "1e-13" },
        { -1e-13, "-1e-13" },
        { 999999.9999999999, "1000000.0" },
        { 123456789.5, "123456789.5" },
        { 1e300, "1e300" },
    };
    char text[FV_REAL];
    (void)state;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        size_t bytes = fv_words_real(cases[i].value, text);

        assert_int_equal(bytes, strlen(cases[i].text));
        assert_memory_equal(text, cases[i].text, bytes);
    }
}

/* ---- text ---- */

static void text(size_t width, size_t top, bool color)
{
    const struct fv_text_options options = { .width = width, .top = top, .color = color };
    FILE *out = open_memstream(&output, &output_bytes);

    free(output);
    assert_int_equal(fv_view_text(&view, &options, out), 0);
    fclose(out);
}

static void text_says_what_matters(void **state)
{
    (void)state;
    build(false);
    text(100, 20, false);
    assert_int_equal(strncmp(output, "Killed: 1 of 3 ranks; rank 2 has no rank file", 45), 0);
    assert_non_null(strstr(output, "\ncompute "));
    assert_non_null(strstr(output, "INCOMPLETE"));
    assert_non_null(strstr(output, "rank 2 has no rank file"));
    assert_non_null(strstr(output, "rank 1 killed in MPI_Get_count"));
    assert_non_null(strstr(output, "20 more call sites"));
    assert_non_null(strstr(output, "--all"));
    assert_null(strchr(output, '\033'));
    assert_non_null(strstr(output, "\\xff\\x07")); /* not rung */
    free(output);
    output = NULL;
    text(100, SIZE_MAX, false);
    assert_null(strstr(output, "more call sites"));
    free(output);
    output = NULL;
    text(100, 20, true);
    assert_non_null(strstr(output, "\033[1m"));
}

static void text_counts_in_words(void **state)
{
    const struct fv_in_call in = { .begin = 1600 * MS, .function = 3, .path = 0, .peer = FV_NO_PEER };
    const uint64_t ticks[] = { 90 * MS };
    (void)state;

    fvr_cell(&file[0], 0, 1, 1, 1, ticks, 1, 0, 0); /* the 41st call site */
    fvr_thread(&file[0], 7, false, 1, 1 * MS, NULL);
    file[0].header.dropped[FV_DROP_CALLS] = 1;
    fvr_release(&file[1]);
    fvr_init(&file[1], 1, 3);
    fvr_function(&file[1], 3, FV_CLASS_INIT, FV_RULE_NONE, "MPI_Abort");
    fvr_thread(&file[1], 0, true, 80, 200 * MS, &in);
    file[1].header.state = FV_STATE_ABORTED;
    file[1].header.exit_code = 9;
    build(false);
    text(200, 40, false);
    assert_non_null(strstr(output, "rank 1 called MPI_Abort with error code 9, entered at"));
    assert_non_null(strstr(output, "1 call was not recorded at all on 1 rank ("));
    assert_non_null(strstr(output, "1 more call site, with"));
    assert_non_null(strstr(output, "; --all shows it\n"));
    assert_non_null(strstr(output, "1 rank calls MPI from several threads"));
    assert_non_null(strstr(output, "cov: standard deviation"));
    assert_null(strstr(output, " 1 calls"));
    assert_null(strstr(output, " 1 ranks"));
    assert_null(strstr(output, "last that was recorded")); /* rank 0 ended, after it */
}

/* Nobody saw when the last rank died. */
static void text_of_a_killed_run(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        file[i].header.state = FV_STATE_RUNNING;
        file[i].header.end_ticks = 0;
    }
    build(false);
    text(200, 20, false);
    assert_non_null(strstr(output, "for 1.00 s up to the last that was recorded"));
}

static void text_keeps_its_width(void **state)
{
    (void)state;
    build(false);
    for (size_t width = 60; width <= 200; width += 7) {
        text(width, 20, false);
        char *rest = output;
        for (char *line; (line = strsep(&rest, "\n"));)
            if (fv_words_columns(line) > width)
                fail_msg("width %zu: %s", width, line);
        free(output);
        output = NULL;
    }
}

/* Runs of ranks, and an end that says so where there are more than fit. */
static void rank_lists(void **state)
{
    struct fv_rank_list few = FV_RANK_LIST_INIT, many = FV_RANK_LIST_INIT, none = FV_RANK_LIST_INIT;
    const int ranks[] = { 0, 1, 2, 3, 7, 9, 10 };
    (void)state;

    assert_string_equal(fv_rank_list_text(&none), "");
    for (unsigned i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
        fv_rank_list_add(&few, ranks[i]);
    assert_string_equal(fv_rank_list_text(&few), "0-3, 7, 9-10");
    for (int i = 0; i < 1000; i++)
        fv_rank_list_add(&many, 2 * i);
    const char *text = fv_rank_list_text(&many);
    assert_memory_equal(text, "0, 2, 4, ", 9);
    assert_that(strlen(text), <, sizeof(many.text));
    assert_string_equal(text + strlen(text) - 8, " 98, ...");
}

static void words(void **state)
{
    char out[FV_WORD], clean[64];
    (void)state;

    char region[64];

    assert_string_equal(fv_words_region("solve._omp_fn.0", region, sizeof(region)), "OpenMP region in solve()");
    assert_string_equal(fv_words_region("solve._omp_fn.3", region, sizeof(region)), "OpenMP region 3 in solve()");
    assert_string_equal(fv_words_region("a::f(int) [clone ._omp_fn.1]", region, sizeof(region)),
                        "OpenMP region 1 in a::f(int)");
    assert_string_equal(fv_words_region("solve.omp_outlined", region, sizeof(region)), "OpenMP region in solve()");
    assert_string_equal(fv_words_region(".omp_outlined..2", region, sizeof(region)), "OpenMP region 2");
    assert_string_equal(fv_words_region("omp_fn", region, sizeof(region)), "omp_fn");
    assert_string_equal(fv_words_brief("a::b::solve(int) [clone ._omp_fn.0]", region, sizeof(region)),
                        "OpenMP region in b::solve()");
    assert_string_equal(fv_words_plural("call path", 2), "s");
    assert_string_equal(fv_words_plural("process", 2), "es");
    assert_string_equal(fv_words_plural("process", 1), "");
    assert_string_equal(fv_words_seconds(0, out), "0 s");
    assert_string_equal(fv_words_seconds(12e-9, out), "12.0 ns");
    assert_string_equal(fv_words_seconds(999.6e-6, out), "1.00 ms");
    assert_string_equal(fv_words_seconds(1.5, out), "1.50 s");
    assert_string_equal(fv_words_seconds(7200 * 5 + 60, out), "10 h 01 min");
    assert_string_equal(fv_words_bytes(1023, out), "1023 B");
    assert_string_equal(fv_words_bytes(1024, out), "1 KiB");
    assert_string_equal(fv_words_bytes(1536, out), "1.50 KiB");
    assert_string_equal(fv_words_bytes(UINT64_MAX, out), "16 EiB");
    assert_string_equal(fv_words_count(1234567, out), "1,234,567");
    assert_string_equal(fv_words_percent(1, 3, out), "33.3 %");
    assert_string_equal(fv_words_clean("a\tb\xc3\xa9\xff\xed\xa0\x80", clean, sizeof(clean)),
                        "a\\x09b\xc3\xa9\\xff\\xed\\xa0\\x80");
    assert_string_equal(fv_words_clean("\xc3\xa9\xc3\xa9", clean, 4), "\xc3\xa9");
    strcpy(clean, "\xc3\xa9ternel");
    fv_words_fit(clean, 5);
    assert_string_equal(clean, "\xc3\xa9t...");
    strcpy(clean, "\xc3\xa9ternellement\xc3\xa9");
    fv_words_fit_middle(clean, 8);
    assert_string_equal(clean, "\xc3\xa9t...nt\xc3\xa9");
    fv_words_fit_middle(clean, 8);
    assert_string_equal(clean, "\xc3\xa9t...nt\xc3\xa9");
    strcpy(clean, "/usr/lib/\xc3\xa9/os.pyc");
    fv_words_fit_path(clean, 11);
    assert_string_equal(clean, "...\xc3\xa9/os.pyc");
    strcpy(clean, "/usr/lib/threading.pyc");
    fv_words_fit_path(clean, 11);
    assert_string_equal(clean, "thre....pyc");
}

/* Names that only their ends tell apart keep these; others keep their beginnings. */
static void names_are_cut_where_they_are_alike(void **state)
{
    static const struct fv_column columns[] = { { "alike", true, true, 0, false }, { "other", true, true, 0, false } };
    struct fv_table table;
    char *line;
    (void)state;
    FILE *out = open_memstream(&output, &output_bytes);
    const struct fv_page page = { .out = out, .width = 52, .top = SIZE_MAX };

    fv_table_init(&table, columns, 2);
    for (int i = 0; i < 2; i++) {
        fv_table_row(&table, FV_PLAIN);
        fv_table_set(&table, 0, "used in md::Pool::submit() at pool.cpp:%d", i + 12);
        fv_table_set(&table, 1, "%c used in md::Pool::submit() at pool.cpp", 'a' + i);
    }
    fv_table_print(&table, &page);
    fv_table_release(&table);
    fclose(out);
    line = strchr(output, '\n') + 1;
    assert_int_equal(strcspn(line, "\n"), 52);
    assert_true(strstr(line, "  used in md...") == line);
    assert_non_null(strstr(line, "pool.cpp:12  a used in md::Pool"));
    assert_non_null(strstr(line, "pool.cpp:13  b used in md::Pool"));
    assert_string_equal(line + 49, strstr(line + 49, "..."));
}

/* What is said of a row is not cut to a column. */
static void remarks_are_whole(void **state)
{
    static const struct fv_column columns[] = { { "name", true, true, 0, false },
                                                { "number", false, false, 0, false } };
    struct fv_table table;
    (void)state;
    FILE *out = open_memstream(&output, &output_bytes);
    const struct fv_page page = { .out = out, .width = 52, .top = SIZE_MAX };

    fv_table_init(&table, columns, 2);
    fv_table_row(&table, FV_PLAIN);
    fv_table_set(&table, 0, "f");
    fv_table_set(&table, 1, "12");
    fv_table_remark(&table, "rank 1: 5.30 s in react(), others 12.0 ms; blocked for 1.20 s");
    fv_table_print(&table, &page);
    fv_table_release(&table);
    fclose(out);
    assert_string_equal(output, "  name  number\n"
                                "  f         12\n"
                                "    rank 1: 5.30 s in react(), others 12.0 ms;\n"
                                "      blocked for 1.20 s\n");
}

/* ---- CSV ---- */

static void csv(void **state)
{
    char directory[] = "/tmp/fvmpi-unit-XXXXXX", path[100], line[1000];
    (void)state;

    build(false);
    assert_non_null(mkdtemp(directory));
    assert_int_equal(fv_view_csv(&view, directory), 0);
    snprintf(path, sizeof(path), "%s/callsites.csv", directory);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof(line), in));
    assert_int_equal(strncmp(line, "id,number,key,function,", 23), 0);
    assert_non_null(fgets(line, sizeof(line), in));
    assert_non_null(strstr(line, "evil\"\"file+0x")); /* quoted */
    fclose(in);
    snprintf(path, sizeof(path), "rm -r %s", directory);
    assert_int_equal(system(path), 0);
    assert_int_equal(fv_view_csv(&view, "/proc/no such place"), -FV_EIO);
}

/* Two call paths that differ in their outermost frames differ in the file, too. */
static void csv_of_deep_paths(void **state)
{
    char directory[] = "/tmp/fvmpi-unit-XXXXXX", path[100], *line[2] = { NULL, NULL };
    const uint64_t ticks[] = { 1000 * MS };
    size_t room[2] = { 0, 0 };
    (void)state;

    for (uint32_t k = 0; k < 2; k++) {
        uint32_t node = fvr_path(&file[0], 0, 1, 0x10000 + k);

        for (unsigned i = 0; i < 400; i++)
            node = fvr_path(&file[0], node, 1, 0x20000);
        fvr_cell(&file[0], 0, node, 1, 1, ticks, 1, 0, 0);
    }
    build(false);
    assert_non_null(mkdtemp(directory));
    assert_int_equal(fv_view_csv(&view, directory), 0);
    snprintf(path, sizeof(path), "%s/callsites.csv", directory);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_that(getline(&line[0], &room[0], in), >, 0);
    for (unsigned i = 0; i < 2; i++)
        assert_that(getline(&line[i], &room[i], in), >, 8000);
    assert_true(strstr(line[0], "file+0x10000") || strstr(line[1], "file+0x10000"));
    assert_true(strstr(line[0], "file+0x10001") || strstr(line[1], "file+0x10001"));
    fclose(in);
    free(line[0]);
    free(line[1]);
    snprintf(path, sizeof(path), "rm -r %s", directory);
    assert_int_equal(system(path), 0);
}

/* ---- symbols ---- */

static void names(void **state)
{
    struct fv_arena arena = { 0 };
    (void)state;

    assert_string_equal(fv_demangle(&arena, "main", false), "main");
    assert_string_equal(fv_demangle(&arena, "_ZN4work4GridIiE8exchangeEi", false), "work::Grid<int>::exchange(int)");
    assert_string_equal(fv_demangle(&arena, "_ZN4work4GridIiE8exchangeEi.isra.0", false),
                        "work::Grid<int>::exchange(int)");
    assert_string_equal(fv_demangle(&arena, "solve_.constprop.3", true), "solve");
    assert_string_equal(fv_demangle(&arena, "", true), "");
    assert_string_equal(fv_demangle(&arena, "__heat_MOD_solve", false), "heat::solve");
    assert_string_equal(fv_demangle(&arena, "solve_", true), "solve");
    assert_string_equal(fv_demangle(&arena, "solve_", false), "solve_");
    assert_string_equal(fv_demangle(&arena, "MAIN__", true), "MAIN__");
    assert_string_equal(fv_demangle(&arena, "slow.0", true), "slow"); /* within another procedure */
    assert_string_equal(fv_demangle(&arena, "main._omp_fn.0", false), "main._omp_fn.0");
    assert_string_equal(fv_demangle(&arena, "memcpy@@GLIBC_2.14", false), "memcpy");
    fv_arena_release(&arena);
}

__attribute__((noinline)) int fv_test_landmark(int x);
__attribute__((noinline)) int fv_test_landmark(int x)
{
    __asm__ volatile("");
    return x + 1;
}

static uintptr_t bias;
static int find_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    bias = info->dlpi_addr; /* the program comes first */
    return 1;
}

static void own_symbols(void **state)
{
    char self[4096] = "", frame[300];
    const uint64_t ticks[] = { 50 * MS };
    struct fv_elf object;
    struct fv_path path = { 0 };
    (void)state;

    assert_that(readlink("/proc/self/exe", self, sizeof(self) - 1), >, 0);
    dl_iterate_phdr(find_bias, NULL);
    assert_int_equal(fv_elf_open(&object, self), 0);
    char id[21] = "";
    memcpy(id, object.build_id, 20);
    bool has_id = object.build_id_bytes == 20;
    uint32_t module = fvr_module(&file[0], self, bias, has_id ? id : NULL);
    uint32_t node = fvr_path(&file[0], 0, module, (uintptr_t)fv_test_landmark - bias + (uint64_t)fv_test_landmark(0));
    fvr_cell(&file[0], 0, node, 1, 1, ticks, 1, 1, 0);
    fv_elf_close(&object);
    build(true);
    fv_path_of(&path, &symbols, model.sites[0].node);
    assert_int_equal(path.count, 1);
    assert_string_equal(fv_frame_label(&path.frames[0], &symbols, frame, sizeof(frame)), "fv_test_landmark");
    fv_path_release(&path);
    bool said = false; /* the other module is gone */
    for (size_t i = 0; i < model.module_problems.count; i++)
        said = said || strstr(model.module_problems.items[i].text, "missing or not readable");
    assert_true(said);
}

/* The program is gone, and its debug file is in the last of three directories. */
static void debug_path_is_a_list(void **state)
{
    char self[4096] = "", copy[9000], directory[] = "/tmp/fvmpi-unit-XXXXXX", list[200], file_name[200], frame[300];
    const uint64_t ticks[] = { 50 * MS };
    struct fv_elf object;
    struct fv_path path = { 0 };
    size_t n;
    (void)state;

    assert_that(readlink("/proc/self/exe", self, sizeof(self) - 1), >, 0);
    dl_iterate_phdr(find_bias, NULL);
    assert_int_equal(fv_elf_open(&object, self), 0);
    if (object.build_id_bytes != 20) {
        fv_elf_close(&object);
        build(false);
        skip(); /* a linker that writes none */
    }
    assert_non_null(mkdtemp(directory));
    n = (size_t)snprintf(file_name, sizeof(file_name), "%s/.build-id/%02x/", directory, object.build_id[0]);
    snprintf(copy, sizeof(copy), "mkdir -p %s", file_name);
    assert_int_equal(system(copy), 0);
    for (unsigned i = 1; i < 20; i++)
        n += (size_t)snprintf(file_name + n, sizeof(file_name) - n, "%02x", object.build_id[i]);
    snprintf(copy, sizeof(copy), "cp '%s' %s.debug", self, file_name);
    assert_int_equal(system(copy), 0);
    char id[21] = "";
    memcpy(id, object.build_id, 20);
    fv_elf_close(&object);
    uint32_t module = fvr_module(&file[0], "/no/such/program", bias, id);
    uint32_t node = fvr_path(&file[0], 0, module, (uintptr_t)fv_test_landmark - bias + (uint64_t)fv_test_landmark(0));
    fvr_cell(&file[0], 0, node, 1, 1, ticks, 1, 1, 0);
    snprintf(list, sizeof(list), "/no/such:%s/empty::%s", directory, directory);
    setenv("FVMPI_DEBUG_PATH", list, 1);
    build(true);
    unsetenv("FVMPI_DEBUG_PATH");
    fv_path_of(&path, &symbols, model.sites[0].node);
    assert_string_equal(fv_frame_label(&path.frames[0], &symbols, frame, sizeof(frame)), "fv_test_landmark");
    fv_path_release(&path);
    snprintf(copy, sizeof(copy), "rm -r %s", directory);
    assert_int_equal(system(copy), 0);
}

/* ---- call sites that look the same ---- */

static uint64_t calls_from[3];
static unsigned noted;
__attribute__((noinline)) void fv_test_note(void);
__attribute__((noinline)) void fv_test_note(void)
{
    calls_from[noted++] = (uintptr_t)__builtin_return_address(0);
    __asm__ volatile("");
}

/* As a compiler makes them of a loop: two calls on one line, and a third on another. */
__attribute__((noinline)) void fv_test_unrolled(void);
__attribute__((noinline)) void fv_test_unrolled(void)
{
    noted = 0;
    fv_test_note(), fv_test_note();
    fv_test_note();
    __asm__ volatile("");
}

/* Paths of the three calls in this program, and in a copy of it under another name. */
static void add_calls(struct fvr *f, const char *path, const char *id, uint32_t nodes[3])
{
    uint32_t module = fvr_module(f, path, bias, id);

    for (unsigned i = 0; i < 3; i++)
        nodes[i] = fvr_path(f, 0, module, calls_from[i] - bias);
}

static unsigned sites_of(const char *module, uint32_t *first)
{
    struct fv_path path = { 0 };
    unsigned count = 0;

    for (uint32_t i = 0; i < model.site_count; i++) {
        fv_path_of(&path, &symbols, model.sites[i].node);
        const struct fv_frame *f = &path.frames[0];
        if (!path.count || !f->function || strcmp(f->function, "fv_test_unrolled") ||
            strcmp(model.tree.modules[f->module].path, module))
            continue;
        if (!count++)
            *first = i;
        if (!f->line)
            count = 99; /* built without -g */
    }
    fv_path_release(&path);
    return count;
}

/* The sites of its function are those that the function tells. */
static void expect_all_of_function(const struct fv_site *s)
{
    uint64_t calls = 0, of_function = 0;

    for (size_t i = 0; i < model.site_count; i++) {
        calls += model.sites[i].function == s->function ? model.sites[i].stat.calls : 0;
        of_function += model.sites[i].function == s->function;
    }
    assert_int_equal(calls, model.functions[s->function].stat.calls);
    assert_int_equal(of_function, model.functions[s->function].sites);
}

static void same_line_is_one_site(void **state)
{
    char self[4096] = "", directory[] = "/tmp/fvmpi-unit-XXXXXX", copy[64], command[4300];
    const uint64_t ticks[] = { 10 * MS, 30 * MS, 1 * MS };
    struct fv_elf object;
    uint32_t nodes[3], first = 0, first_of_copy = 0;
    (void)state;

    assert_that(readlink("/proc/self/exe", self, sizeof(self) - 1), >, 0);
    assert_non_null(mkdtemp(directory));
    snprintf(copy, sizeof(copy), "%s/copy", directory);
    snprintf(command, sizeof(command), "cp '%s' %s", self, copy);
    assert_int_equal(system(command), 0);
    dl_iterate_phdr(find_bias, NULL);
    fv_test_unrolled();
    assert_int_equal(fv_elf_open(&object, self), 0);
    char id[21] = "";
    memcpy(id, object.build_id, 20);
    const char *known = object.build_id_bytes == 20 ? id : NULL;
    fv_elf_close(&object);
    add_calls(&file[0], self, known, nodes);
    fvr_cell(&file[0], 0, nodes[0], 1, 1, ticks, 1, 100, 0);
    fvr_cell(&file[0], 0, nodes[1], 1, 1, ticks + 1, 1, 50, 0);
    fvr_cell(&file[0], 0, nodes[2], 1, 1, ticks + 2, 1, 0, 0);
    fvr_cell(&file[0], 0, nodes[1], 1, 2, ticks, 1, 0, 0); /* another function on the same line */
    add_calls(&file[1], self, known, nodes);
    fvr_cell(&file[1], 0, nodes[0], 1, 1, ticks, 2, 7, 0);
    const struct fv_in_call in = { .begin = 1500 * MS, .function = 1, .path = nodes[0], .peer = FV_NO_PEER };
    fvr_thread(&file[1], 3, false, 1, 1 * MS, &in);
    add_calls(&file[1], copy, known, nodes);
    fvr_cell(&file[1], 0, nodes[1], 1, 1, ticks, 1, 7, 0);
    build(true);
    snprintf(command, sizeof(command), "rm -r %s", directory);
    assert_int_equal(system(command), 0);
    unsigned count = sites_of(self, &first);
    if (count >= 99)
        skip();
    assert_int_equal(count, 3);
    assert_int_equal(sites_of(copy, &first_of_copy), 1);
    const struct fv_site *s = &model.sites[first];
    assert_string_equal(model.functions[s->function].name, "MPI_Send");
    assert_int_equal(s->stat.calls, 4);
    assert_int_equal(s->stat.bytes_sent, 164);
    assert_int_equal(s->ranks, 2);
    assert_true(fabs(s->stat.sum_s - 0.080) < 1e-9 && fabs(s->stat.max_s - 0.030) < 1e-9);
    assert_true(fabs(s->rank_mean - 0.040) < 1e-9 && fabs(s->cov) < 1e-9); /* 10 + 30 and 10 + 30 */
    assert_int_equal(model.site_ranks[s->first].rank, 0);
    assert_int_equal(model.site_ranks[s->first].stat.calls, 2);
    assert_int_equal(model.site_ranks[s->first + 1].stat.bytes_sent, 14);
    assert_int_equal(model.threads[model.thread_count - 1].in_call.node, s->node);
    expect_all_of_function(s);
}

/* Nothing but the offset tells calls apart whose line is not known. */
static void unknown_lines_stay_apart(void **state)
{
    const uint64_t ticks[] = { 10 * MS };
    uint32_t nodes[3];
    (void)state;

    fv_test_unrolled();
    add_calls(&file[0], "/no/such/program", NULL, nodes);
    add_calls(&file[1], "/no/such/program", NULL, nodes);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 2; k++)
            fvr_cell(&file[k], 0, nodes[i], 1, 1, ticks, 1, 0, 0);
    build(true);
    assert_int_equal(model.site_count, 43);
}

/* What a relation shows in text are keys that it has, each once. */
static bool shows_its_columns(void *context, const struct fv_relation_place *place)
{
    const struct fv_relation *r = place->chain[place->depth - 1];
    struct fv_flat flat;
    size_t *chosen, words = 0;
    uint8_t *weights;
    (void)context;

    if (!r->shown)
        return true;
    fv_flat_init(&flat, r);
    chosen = calloc(flat.count, sizeof(*chosen));
    weights = calloc(flat.count, 1);
    for (const char *p = r->shown; *p; p += strspn(p, " "), words++)
        p += strcspn(p, " ");
    if (fv_flat_choose(&flat, r->shown, chosen, weights) != words)
        fail_msg("%s: %s", r->name, r->shown);
    for (size_t i = 0; i < words; i++)
        for (size_t k = 0; k < i; k++)
            if (chosen[i] == chosen[k])
                fail_msg("%s: %s twice", r->name, flat.items[chosen[i]].key);
    free(chosen);
    free(weights);
    fv_flat_release(&flat);
    return true;
}

static void relations_show_columns_of_theirs(void **state)
{
    (void)state;
    assert_true(fv_relations_visit(fv_profile_relations, shows_its_columns, NULL));
}

static const char *problem(const char *words)
{
    for (size_t i = 0; i < model.problems.count; i++)
        if (strstr(model.problems.items[i].text, words))
            return model.problems.items[i].text;
    return "";
}

/* Beyond what is listed: the ranks of those that are go on to be counted, and the others, too. */
static void long_lists_are_counted(void **state)
{
    struct fv_option_record option = { .variable = "FVMPI_TRACE" };
    struct fv_shadow_record shadow = { .names = "MPI_Send", .named = 1, .functions = 1 };
    (void)state;

    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 1100; k++) {
            snprintf(option.value, sizeof(option.value), "%u", k);
            fvr_add(&file[i], FV_CHUNK_OPTIONS, FV_NO_THREAD, &option, sizeof(option));
            snprintf(shadow.object, sizeof(shadow.object), "lib%02u.so", k % 18);
            if (k < 18)
                fvr_add(&file[i], FV_CHUNK_SHADOWS, FV_NO_THREAD, &shadow, sizeof(shadow));
        }
    build(false);
    assert_int_equal(model.option_count, 1000);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(model.options[i].ranks, 2);
    assert_non_null(strstr(problem("values of options"), ": 200 more are not listed"));
    assert_non_null(strstr(problem("more than 16 objects"), ": 4 more, of all ranks,"));
}

/* Of ranks whose Python cannot be read. */
static void unread_python_is_told(void **state)
{
    struct fv_interpreter_record record = { .version = "3.12.1", .state = FV_INTERPRETER_READ, .unread = 7 };
    (void)state;

    fvr_add(&file[0], FV_CHUNK_INTERPRETER, FV_NO_THREAD, &record, sizeof(record));
    record = (struct fv_interpreter_record){ .version = "3.99.0", .state = FV_INTERPRETER_UNKNOWN };
    fvr_add(&file[1], FV_CHUNK_INTERPRETER, FV_NO_THREAD, &record, sizeof(record));
    build(false);
    assert_string_equal(problem("3.12"), "");
    assert_non_null(strstr(problem("Python 3.99.0: fvmpi cannot read"), "(1 rank)"));
    assert_non_null(strstr(problem("could not be read"), " 7 times on 1 rank:"));
}

/* Of many samples chance has more. */
static void few_unread_frames_are_no_problem(void **state)
{
    struct fv_interpreter_record record = { .version = "3.12.1", .state = FV_INTERPRETER_READ, .unread = 7 };
    (void)state;

    fvr_add(&file[0], FV_CHUNK_INTERPRETER, FV_NO_THREAD, &record, sizeof(record));
    fvr_sampler(&file[0], 0, 100, 100);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, FV_NONE, fvr_module(&file[0], "/a/app", 0, NULL), 0x10), 100, 0);
    build(false);
    assert_int_equal(fv_model_costs(&model)->ticks, 100);
    assert_string_equal(problem("could not be read"), "");
}

/* What no run records is said, and is no problem of this one. */
static void children_are_no_problem(void **state)
{
    struct fv_remark_record record = { .text = "it made child processes by fork()", .kind = FV_REMARK_FORKS };
    (void)state;

    fvr_add(&file[0], FV_CHUNK_REMARKS, FV_NO_THREAD, &record, sizeof(record));
    record = (struct fv_remark_record){ .text = "it waited", .kind = FV_REMARK_CHILDREN };
    fvr_add(&file[1], FV_CHUNK_REMARKS, FV_NO_THREAD, &record, sizeof(record));
    record = (struct fv_remark_record){ .text = "no room", .kind = FV_REMARK_LOSS };
    fvr_add(&file[1], FV_CHUNK_REMARKS, FV_NO_THREAD, &record, sizeof(record));
    build(false);
    assert_string_equal(model.not_recorded, "it made child processes by fork() (1 rank)");
    assert_true(model.ranks[0].has_children && model.ranks[1].has_children);
    assert_string_equal(problem("fork()"), "");
    assert_string_equal(problem("waited"), "");
    assert_string_equal(problem("no room"), "no room (1 rank)");
}

/* A relation too deep for a place is a mistake of whoever wrote it: nobody is to look for its table in vain. */
static void deep_relations_fail(void **state)
{
    static struct fv_relation nest[FV_RELATION_DEPTH + 1];
    static struct fv_column_def links[FV_RELATION_DEPTH];
    const struct fv_relation *const set[] = { nest, NULL };
    struct fv_relation_place place;
    int status;
    (void)state;

    for (unsigned i = 0; i <= FV_RELATION_DEPTH; i++)
        nest[i] = (struct fv_relation){ .key = "nest", .columns = &links[i], .column_count = i < FV_RELATION_DEPTH };
    for (unsigned i = 0; i < FV_RELATION_DEPTH; i++)
        links[i] = (struct fv_column_def){ .key = "nest", .type = FV_TYPE_RELATION, .nested = &nest[i + 1] };
    nest[FV_RELATION_DEPTH].name = "deep";
    pid_t child = fork();
    if (!child) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
        _exit(fv_relations_find(set, "deep", &place));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* Of a communicator whose members are in no order: longer than any line, and whole. A table for people is cut, and says
 * so. */
static void long_lists_are_whole(void **state)
{
    enum { MEMBERS = 40000 };
    const struct fv_column column = { "members", true, true, 0, false };
    struct fv_rank_run *runs = malloc(MEMBERS * sizeof(*runs));
    struct fv_value value = { .type = FV_TYPE_RUNS, .items = runs, .count = MEMBERS };
    struct fv_string words = { 0 };
    struct fv_table table;
    char numbers[40];
    (void)state;

    for (int i = 0; i < MEMBERS; i++)
        runs[i] = (struct fv_rank_run){ 3 * i, 1, 1 + i % 2 };
    fv_flat_text(&value, &words);
    assert_int_equal(strncmp(words.text, "0, 3-4, 6, 9-10, ", 17), 0);
    snprintf(numbers, sizeof(numbers), ", %d, %d-%d", 3 * (MEMBERS - 2), 3 * (MEMBERS - 1), 3 * MEMBERS - 2);
    assert_string_equal(words.text + words.used - strlen(numbers), numbers);
    for (size_t width = 3000; width < 1000000; width *= 300) {
        FILE *out = open_memstream(&output, &output_bytes);
        const struct fv_page page = { .out = out, .width = width, .top = 1 };

        fv_table_init(&table, &column, 1);
        fv_table_row(&table, FV_PLAIN);
        fv_table_set(&table, 0, "%s", words.text);
        fv_table_print(&table, &page);
        fv_table_release(&table);
        fclose(out);
        assert_int_equal(output_bytes, strlen("  members\n") + (width < words.used ? width : words.used + 2) + 1);
        output[output_bytes - 1] = '\0';
        const char *end = width < words.used ? "..." : numbers;
        assert_string_equal(output + output_bytes - 1 - strlen(end), end);
        free(output);
        output = NULL;
    }
    fv_string_release(&words);
    free(runs);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(json_keys),
        TEST(json_numbers),
        TEST(text_says_what_matters),
        TEST(text_counts_in_words),
        TEST(text_of_a_killed_run),
        TEST(text_keeps_its_width),
        TEST(words),
        TEST(rank_lists),
        TEST(csv),
        TEST(relations_show_columns_of_theirs),
        TEST(csv_of_deep_paths),
        TEST(names_are_cut_where_they_are_alike),
        TEST(remarks_are_whole),
        TEST(long_lists_are_whole),
        TEST(long_lists_are_counted),
        TEST(unread_python_is_told),
        TEST(few_unread_frames_are_no_problem),
        TEST(children_are_no_problem),
        TEST(deep_relations_fail),
        TEST(names),
        TEST(own_symbols),
        TEST(debug_path_is_a_list),
        TEST(same_line_is_one_site),
        TEST(unknown_lines_stay_apart),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
