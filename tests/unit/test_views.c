/* Views: every key of the JSON contract is there and parses, text keeps its width and says what it cuts, CSV quotes,
 * names are made harmless. */
#include "json_rows.h"
#include "profile/relations.h"
#include "tool/table.h"
#include "tool/words.h"
#include "viewed_run.h"
#include "views/flat.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <jansson.h>

static const struct fv_findings no_findings;
static const struct fv_cost_profile no_costs;
static struct fv_profile view = { &model, &symbols, &no_costs, &no_findings, 0 };
static size_t output_bytes;

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
    assert_string_equal(fv_words_times(15873, 2, out), "16,000");
    assert_string_equal(fv_words_times(2.46, 2, out), "2.5");
    assert_string_equal(fv_words_times(1e300, 2, out), "18,446,744,073,709,551,615");
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
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
