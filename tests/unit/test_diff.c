/* fvmpi diff: Student's t and Welch's interval with known answers, the join of call paths, what several runs
 * of different numbers of ranks add up to, waiting from analysis.json, and the two views. */
#include "fvr_builder.h"
#include "diff/diff.h"
#include "profile/relations.h"
#include "views/views.h"
#include "unit.h"

#include <unistd.h>
#include <jansson.h>

#define MS UINT64_C(1000000)

static void near(double found, double wanted, double relative)
{
    if (!(fabs(found - wanted) <= relative * fabs(wanted) + 1e-15))
        fail_msg("found %.12g, wanted %.12g", found, wanted);
}

/* ---- statistics ---- */

/* Quantiles: any table of Student's t; nu = 1 is tan(0.475 pi), nu = 2 has the closed form 0.95 sqrt(2 /
 * 0.0975). */
static void student(void **state)
{
    (void)state;
    near(fv_student_limit(0.05, 1), 12.706204736174694, 1e-10);
    near(fv_student_limit(0.05, 2), 4.302652729749462, 1e-10);
    near(fv_student_limit(0.05, 4), 2.7764451051977934, 1e-10);
    near(fv_student_limit(0.05, 30), 2.0422724563012378, 1e-10);
    near(fv_student_limit(0.05, 1e7), 1.9599642, 1e-6);
    near(fv_student_beyond(2, 5), 0.101939478, 1e-7);
    near(fv_student_beyond(0, 5), 1, 1e-12);
    near(fv_student_beyond(-2, 5), fv_student_beyond(2, 5), 1e-12);
    near(fv_student_beyond(1e100, 3), 0, 1e-12);
}

/* 10, 12, 14: mean 12, variance 4. 20 to 23: mean 21.5, variance 5/3. se^2 = 4/3 + 5/12 = 1.75,
 * nu = 1.75^2 / ((4/3)^2 / 2 + (5/12)^2 / 3) = 3.23472; t and p by numeric integration of the density. */
static void welch(void **state)
{
    const double a[] = { 10, 12, 14 }, b[] = { 20, 21, 22, 23 };
    struct fv_change c;
    (void)state;

    fv_change_of(&c, a, 3, b, 4);
    near(c.mean[0], 12, 1e-12);
    near(c.mean[1], 21.5, 1e-12);
    near(c.stddev[0], 2, 1e-12);
    near(c.change, 9.5, 1e-12);
    near(c.half, 4.042327954922846, 1e-9);
    near(c.p, 0.004308505128268, 1e-8);
    assert_true(c.significant);
    const double wide[] = { 8, 12, 40 };
    fv_change_of(&c, a, 3, wide, 3); /* 8 of change, but a spread of 17 */
    assert_false(c.significant);
    assert_that(c.half, >, fabs(c.change));
}

static void few_runs(void **state)
{
    const double a[] = { 10, 12, 14 }, one = 30, other = 13, same[] = { 5, 5, 5 }, gap[] = { 10, NAN, 14 };
    struct fv_change c;
    (void)state;

    fv_change_of(&c, a, 3, &one, 1); /* se^2 = 4 (1 + 1/3), nu = 2 */
    near(c.half, 4.302652729749462 * sqrt(16.0 / 3), 1e-9);
    assert_true(c.significant);
    fv_change_of(&c, &other, 1, a, 3);
    near(c.change, -1, 1e-12);
    assert_false(c.significant);
    fv_change_of(&c, &one, 1, &other, 1);
    near(c.change, -17, 1e-12);
    assert_true(isnan(c.half) && isnan(c.p) && !c.significant);
    fv_change_of(&c, same, 3, same, 3);
    assert_true(c.half == 0 && c.p == 1 && !c.significant);
    fv_change_of(&c, same, 3, (double[]){ 6, 6 }, 2); /* counts do not spread: any change is one */
    assert_true(c.half == 0 && c.p == 0 && c.significant);
    fv_change_of(&c, gap, 3, same, 0);
    assert_int_equal(c.runs[0], 2);
    near(c.mean[0], 12, 1e-12);
    assert_true(isnan(c.mean[1]) && isnan(c.change) && isnan(c.p));
}

/* The example of Benjamini and Hochberg's paper (1995, section 4.2): 15 p values, of which 4 are kept at
 * 0.05. */
static void discovery(void **state)
{
    static const double p[] = { 0.0459, 0.0001, 0.0201, 0.0004, 0.3240, 0.0019, 0.0095, 0.0278,
                                0.0298, 0.0344, 0.4262, 0.5719, 0.6528, 0.7590, 1.0 };
    struct fv_change changes[17] = { 0 }, *list[17] = { 0 };
    size_t kept = 0;
    (void)state;

    for (size_t i = 0; i < 15; i++) {
        changes[i].p = p[i];
        changes[i].significant = p[i] < 0.05;
        list[i] = &changes[i];
    }
    changes[15].p = NAN; /* one run a side: not tested; and a place that is empty */
    list[15] = &changes[15];
    fv_change_discover(list, 17);
    for (size_t i = 0; i < 16; i++) {
        kept += changes[i].significant;
        assert_true(!changes[i].significant || changes[i].p <= 0.0095);
    }
    assert_int_equal(kept, 4);
    fv_change_discover(list, 0);
}

/* ---- the join, of paths made by hand ---- */

static struct fv_arena arena;
static struct fv_diff_paths left, right;

/* "function:line:build ..." from the innermost frame on; a line 0 is none, and then the number is the offset.
 */
static void path(struct fv_diff_paths *to, const char *function, const char *frames)
{
    struct fv_diff_path p = { .function = function, .frames = fv_arena_take(&arena, 8 * sizeof(*p.frames)) };
    char text[200], *rest = text;

    snprintf(text, sizeof(text), "%s", frames);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        struct fv_diff_frame *f = &p.frames[p.count++];
        char name[64], build;
        unsigned line;

        assert_int_equal(sscanf(word, "%63[^:]:%u:%c", name, &line, &build), 3);
        *f = (struct fv_diff_frame){ .module = FV_DIFF_PROGRAM, .build_id_bytes = 1, .build_id = { (uint8_t)build } };
        f->function = strcmp(name, "?") ? fv_arena_string(&arena, name) : NULL;
        f->file = f->function && line < 1000 ? "a.c" : NULL;
        f->line = f->file ? line : 0;
        f->offset = line;
    }
    fv_diff_path_seal(&p);
    if (fv_diff_paths_find(to, &p) == FV_NONE)
        fv_diff_paths_add(to, &p);
}

static int clear(void **state)
{
    (void)state;
    fv_diff_paths_release(&left);
    fv_diff_paths_release(&right);
    fv_arena_release(&arena);
    return 0;
}

/* "0=1 1~0 2?3 4-": left path 0 is right path 1 by position, 1 is 0 by names, 2 is 3 by names and a guess, 4
 * has none. */
static void joins(const char *wanted)
{
    struct fv_diff_partner partner[16];
    char found[200] = "";

    fv_diff_paths_join(&left, &right, partner);
    for (size_t i = 0; i < left.count; i++) {
        size_t used = strlen(found);

        if (partner[i].item == FV_NONE)
            snprintf(found + used, sizeof(found) - used, "%s%zu-", i ? " " : "", i);
        else
            snprintf(found + used, sizeof(found) - used, "%s%zu%c%u", i ? " " : "", i,
                     partner[i].uneven    ? '?'
                     : partner[i].by_name ? '~'
                                          : '=',
                     partner[i].item);
    }
    assert_string_equal(found, wanted);
}

static void join_position(void **state)
{
    (void)state;
    path(&left, "MPI_Send", "f:10:x main:20:x");
    path(&left, "MPI_Send", "f:10:x main:21:x");
    path(&left, "MPI_Recv", "f:10:x main:20:x");
    path(&left, "MPI_Send", "f:10:x main:20:x"); /* the same again */
    assert_int_equal(left.count, 3);
    path(&right, "MPI_Recv", "f:10:y main:20:y");
    path(&right, "MPI_Send", "f:10:y main:20:y");
    joins("0=1 1- 2=0");
}

/* Lines moved by 2 in another build: pairs in the order of the source, whatever the order of the paths. */
static void join_names(void **state)
{
    (void)state;
    path(&left, "MPI_Send", "f:30:x main:20:x");
    path(&left, "MPI_Send", "f:10:x main:20:x");
    path(&left, "MPI_Send", "g:10:x main:20:x");
    path(&left, "MPI_Send", "h.isra.0:10:x main:20:x");
    path(&left, "MPI_Send", "k:10:x main:20:x");
    path(&right, "MPI_Send", "f:12:y main:22:y");
    path(&right, "MPI_Send", "f:32:y main:22:y");
    path(&right, "MPI_Send", "f:40:y main:22:y");
    path(&right, "MPI_Recv", "g:12:y main:22:y"); /* another MPI function */
    path(&right, "MPI_Send", "h:12:y main:22:y");
    path(&right, "MPI_Send", "k:12:y l:5:y main:22:y");
    joins("0?1 1?0 2- 3~4 4-");
}

/* In the very same build another line is another call; only the frame of another build may move. */
static void join_builds(void **state)
{
    (void)state;
    path(&left, "MPI_Send", "f:10:x main:20:x");
    path(&left, "MPI_Send", "solve:10:s main:25:x");
    path(&left, "MPI_Send", "solve:10:s main:28:x"); /* its counterpart is taken */
    path(&right, "MPI_Send", "f:11:x main:20:x");
    path(&right, "MPI_Send", "solve:12:s main:26:y");
    path(&right, "MPI_Send", "solve:10:s main:27:y");
    joins("0- 1~2 2-");
}

/* Without lines the offset counts, and functions without names are joined within a build only. */
static void join_unknown(void **state)
{
    (void)state;
    path(&left, "MPI_Send", "f:1010:x main:2000:x");
    path(&left, "MPI_Send", "f:1020:x main:2000:x");
    path(&left, "MPI_Send", "?:4000:x ?:5000:x");
    path(&left, "MPI_Recv", "?:4000:x main:2000:x");
    path(&left, "MPI_Recv", "?:4000:z main:2000:x");
    path(&right, "MPI_Send", "?:4444:y ?:5555:y");
    path(&right, "MPI_Send", "f:1020:y main:2000:y");
    path(&right, "MPI_Send", "f:1011:y main:2001:y");
    path(&right, "MPI_Recv", "?:4000:y main:2000:x"); /* by chance */
    path(&right, "MPI_Recv", "?:4000:z main:2000:y");
    joins("0~2 1=1 2- 3- 4=4");
}

/* ---- whole runs ---- */

static struct fv_diff diff;

static const struct fv_analysis_result *analysed;                   /* of the next run */
static const struct fv_findings no_findings, *found = &no_findings; /* likewise */
static bool logged; /* its calls are barriers, of which the log has those of `first` */

/* Who wrote a rank file of run(). */
static uint64_t identity_of(int rank)
{
    struct fv_reader *reader;
    struct fvr file;
    char why[200];

    fvr_init(&file, rank, 2);
    fvr_finish(&file);
    assert_int_equal(fv_reader_open_memory(file.bytes, file.size, &reader, why, sizeof(why)), 0);
    uint64_t process = fv_file_identity(reader).process;
    fv_reader_free(reader);
    fvr_release(&file);
    return process;
}

/* A run of so many ranks: `first` at f:10 (each rank ms[0] milliseconds in 2 calls of 100 bytes), `second` at
 * g:30 unless ms[1] is 0, where rank 0 takes nothing. Lines are moved by `moved` in another build. */
static void run(unsigned side, int ranks, const unsigned ms[2], unsigned moved)
{
    static const char *const functions[] = { "main", "f", "g" };
    struct fv_experiment experiment = { 0 };
    struct fvr file[4];
    struct fv_symbols symbols;
    struct fv_model model;

    for (int i = 0; i < ranks; i++) {
        const uint64_t halves[] = { ms[0] * MS / 2, ms[0] * MS / 2 }, whole = ms[1] * MS;

        fvr_init(&file[i], i, ranks);
        if (logged)
            fvr_function(&file[i], 1, FV_CLASS_COLLECTIVE, FV_RULE_BARRIER, "MPI_Barrier");
        else
            fvr_function(&file[i], 1, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Send");
        fvr_module(&file[i], "/b/app", 0, moved ? "9123456789abcdef0123" : "0123456789abcdef0123");
        snprintf(file[i].header.program, sizeof(file[i].header.program), "/b/app");
        fvr_comm(&file[i], 1, FV_COMM_WORLD, i, ranks);
        fvr_path(&file[i], 0, 1, 20);
        fvr_path(&file[i], 1, 1, 10);
        fvr_path(&file[i], 1, 1, 30);
        fvr_cell(&file[i], 0, 2, 1, 1, halves, 2, 100, 0);
        for (uint32_t k = 0; logged && k < 2; k++)
            fvr_collective(&file[i], 0, 0, k, 0, 1100 * MS + k * 100 * MS + (uint64_t)i * 2 * MS,
                           1105 * MS + k * 100 * MS);
        if (ms[1] && i)
            fvr_cell(&file[i], 0, 3, 1, 1, &whole, 1, 10, 0);
        fvr_thread(&file[i], 0, true, 2, (ms[0] + (i ? ms[1] : 0)) * MS, NULL);
        fvr_join(&file[i], &experiment);
    }
    fv_experiment_choose(&experiment);
    experiment.analysed = analysed;
    fv_model_build(&model, &symbols, &experiment, false);
    for (size_t i = 0; i < symbols.frame_count; i++) {
        struct fv_frame *f = &symbols.frames[i];

        f->function = f->offset == 20 ? functions[0] : f->offset == 10 ? functions[1] : functions[2];
        f->file = "/src/a.c";
        f->line = (uint32_t)f->offset + moved;
    }
    fv_diff_add(&diff, side,
                &(struct fv_profile){ &model, &symbols, NULL, found, .recorded_problems = model.problems.count });
    fv_symbols_release(&symbols);
    fv_model_release(&model);
    fv_experiment_release(&experiment);
    for (int i = 0; i < ranks; i++)
        fvr_release(&file[i]);
}

static int release(void **state)
{
    (void)state;
    fv_diff_release(&diff);
    return 0;
}

static const struct fv_diff_row *row_of(const char *function)
{
    for (size_t i = 0; i < diff.path_count; i++) {
        const struct fv_diff_row *r = &diff.paths[i];

        if (!strcmp((r->path[0] ? r->path[0] : r->path[1])->frames[0].function, function))
            return r;
    }
    fail_msg("no row of %s", function);
    return NULL;
}

/* 100, 102, 104 ms against 200, 201 ms, on 2 and 4 ranks, moved lines: the mean of a rank. */
static void several_runs(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        run(0, 2, (unsigned[]){ 100 + 2 * i, 40 }, 0);
    for (unsigned i = 0; i < 2; i++)
        run(1, 4, (unsigned[]){ 200 + i, 0 }, 5);
    fv_diff_compute(&diff);
    assert_true(diff.noise);
    assert_int_equal(diff.path_count, 2);
    assert_int_equal(diff.joined[FV_JOIN_NAMES], 1);
    assert_int_equal(diff.joined[FV_JOIN_ONLY_A], 1);
    const struct fv_diff_row *f = row_of("f"), *g = row_of("g");
    assert_ptr_equal(f, &diff.paths[0]); /* the largest change */
    assert_int_equal(f->join, FV_JOIN_NAMES);
    near(f->change[FV_DIFF_TIME].mean[0], 0.102, 1e-6);
    near(f->change[FV_DIFF_TIME].mean[1], 0.2005, 1e-6);
    near(f->change[FV_DIFF_TIME].stddev[0], 0.002, 1e-6);
    assert_true(f->change[FV_DIFF_TIME].significant);
    near(f->change[FV_DIFF_CALLS].mean[0], 2, 1e-12);
    near(f->change[FV_DIFF_BYTES].mean[1], 200, 1e-12);
    assert_false(f->change[FV_DIFF_BYTES].significant);
    near(f->change[FV_DIFF_BALANCE].mean[0], 1, 1e-6);
    assert_int_equal(g->join, FV_JOIN_ONLY_A);
    near(g->change[FV_DIFF_TIME].mean[0], 0.020, 1e-6); /* one rank of two */
    near(g->change[FV_DIFF_BALANCE].mean[0], 0.5, 1e-6);
    near(g->change[FV_DIFF_CALLS].change, -0.5, 1e-12);
    assert_true(g->change[FV_DIFF_TIME].mean[1] == 0 && isnan(g->change[FV_DIFF_BALANCE].mean[1]));
    assert_int_equal(diff.function_count, 1);
    near(diff.functions[0].change[FV_DIFF_TIME].mean[0], 0.122, 1e-6);
    near(diff.run[FV_RUN_MPI].mean[0], 0.122, 1e-6);
    near(diff.run[FV_RUN_CALLS].mean[0], 2.5, 1e-9);
    assert_int_equal(diff.notes.count, 1); /* 2 and 4 ranks */
}

/* The program's directory may differ: two builds are compared. What it was to do may not. */
static void commands(void **state)
{
    static const char *const of_b[] = { "/new/app -x 1", "/new/app -x 2", "other -x 1" };
    (void)state;

    for (unsigned i = 0; i < 3; i++) {
        run(0, 2, (unsigned[]){ 100, 40 }, 0);
        run(1, 2, (unsigned[]){ 100, 40 }, 0);
        diff.side[0].runs[0].command = "/old/build/app -x 1";
        diff.side[1].runs[0].command = of_b[i];
        fv_diff_compute(&diff);
        assert_int_equal(diff.notes.count, i > 0);
        fv_diff_release(&diff);
    }
}

/* A call path that one run of a side does not take counts as 0 there. */
static void absent_in_a_run(void **state)
{
    (void)state;
    run(0, 2, (unsigned[]){ 100, 40 }, 0);
    run(0, 2, (unsigned[]){ 100, 0 }, 0);
    run(1, 2, (unsigned[]){ 100, 40 }, 0);
    fv_diff_compute(&diff);
    assert_int_equal(diff.joined[FV_JOIN_POSITION], 2);
    near(row_of("g")->change[FV_DIFF_TIME].mean[0], 0.010, 1e-6);
    near(row_of("g")->change[FV_DIFF_TIME].change, 0.010, 1e-6);
    near(row_of("g")->change[FV_DIFF_BALANCE].mean[0], 0.5, 1e-6);
    assert_false(row_of("g")->change[FV_DIFF_TIME].significant);
}

/* ---- views ---- */

static char *shown(int (*view)(FILE *))
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_int_equal(view(out), 0);
    fclose(out);
    return text;
}

static int as_text(FILE *out)
{
    const struct fv_text_options options = { .width = 100, .top = 10 };

    return fv_diff_text(&diff, &options, out);
}

static int as_json(FILE *out)
{
    return fv_diff_json(&diff, out);
}

static void contains(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("no \"%s\" in:\n%s", wanted, text);
}

/* ---- other tables ---- */

static const struct fv_diff_entry_row *finding_of(const char *name, long rank)
{
    for (size_t i = 0; i < diff.entry_count; i++)
        if (!strcmp(fv_diff_tables[diff.entries[i].table].relation, "findings") &&
            !strcmp(diff.entries[i].name, name) && diff.entries[i].rank == rank)
            return &diff.entries[i];
    fail_msg("no finding %s of rank %ld", name, rank);
    return NULL;
}

static const struct fv_column_def *has_column(const struct fv_relation *r, const char *key)
{
    char flat[FV_KEY_BYTES];

    for (size_t i = 0; key && i < r->column_count; i++)
        if (!strcmp(fv_column_flat_key(&r->columns[i], flat), key))
            return &r->columns[i];
    if (key)
        fail_msg("%s has no column %s", r->key, key);
    return NULL;
}

/* A table is compared by columns that its relation has: a key that was renamed would compare nothing. */
static void tables_have_their_columns(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FV_DIFF_TABLES; i++) {
        const struct fv_diff_table *t = &fv_diff_tables[i];
        const char *const keys[] = { t->names[0], t->names[1], t->file,    t->line, t->place, t->rank,
                                     t->text,     t->left_out, t->seconds, t->less, t->count, t->mean };
        struct fv_relation_place place;

        assert_true(fv_relations_find(fv_profile_relations, t->relation, &place));
        const struct fv_relation *r = place.chain[place.depth - 1];
        for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
            has_column(r, keys[k]);
        const struct fv_column_def *parts = has_column(r, t->parts);
        if (parts) {
            has_column(parts->nested, "rank");
            has_column(parts->nested, t->part_seconds);
            has_column(parts->nested, t->part_less);
        }
    }
}

/* A finding of a function is the same where its line has moved, and another on another rank; seconds are those of a
 * rank. */
static void findings(void **state)
{
    static const struct fv_finding_def late = { .name = "late" }, memory = { .name = "memory" };
    struct fv_finding
        a[] = { { .def = &late,
                  .lost_s = 0.4,
                  .rank = 0,
                  .site = FV_NONE,
                  .function = "f",
                  .file = "/x/a.c",
                  .line = 10 },
                { .def = &memory, .lost_s = NAN, .rank = 1, .site = FV_NONE, .text = "memory grows" } },
        b[] = {
            { .def = &late, .lost_s = 0.2, .rank = 1, .site = FV_NONE, .text = "rank 1 is late" },
            { .def = &late, .lost_s = 1.6, .rank = 0, .site = FV_NONE, .function = "f", .file = "/y/a.c", .line = 15 }
        };
    const struct fv_findings of[] = { { .items = a, .count = 2 }, { .items = b, .count = 2 } };
    (void)state;

    found = &of[0];
    run(0, 2, (unsigned[]){ 100, 0 }, 0);
    run(0, 2, (unsigned[]){ 100, 0 }, 0);
    found = &of[1];
    run(1, 2, (unsigned[]){ 100, 0 }, 5);
    found = &no_findings;
    fv_diff_compute(&diff);
    const struct fv_diff_entry_row *moved = finding_of("late", 0), *new = finding_of("late", 1),
                                   *gone = finding_of("memory", 1);
    assert_int_equal(moved->join, FV_JOIN_NAMES);
    assert_string_equal(moved->place, "f() at a.c:15");
    near(moved->change[FV_ENTRY_TIME].mean[0], 0.2, 1e-12);
    near(moved->change[FV_ENTRY_TIME].change, 0.6, 1e-12);
    assert_true(moved->change[FV_ENTRY_TIME].significant); /* A does not spread */
    assert_int_equal(new->join, FV_JOIN_ONLY_B);
    near(new->change[FV_ENTRY_TIME].change, 0.1, 1e-12);
    assert_int_equal(gone->join, FV_JOIN_ONLY_A);
    assert_true(isnan(gone->change[FV_ENTRY_TIME].change));
    assert_int_equal(gone->runs[0], 2);
    assert_true(moved < new &&new < gone); /* the largest change first, whichever side has it */
    char *said = shown(as_text);
    contains(said, "new: 100 ms, rank 1 is late");
    contains(said, "gone: memory grows");
    assert_null(strstr(said, "noisy: "));
    free(said);
}

/* A side that had not its processors is told before what changed. */
static void not_quiet(void **state)
{
    static const struct fv_finding_def disturbed = { .name = FV_FINDING_DISTURBED };
    struct fv_finding b[] = { { .def = &disturbed, .lost_s = 0.3, .rank = 1, .site = FV_NONE } };
    const struct fv_findings of_b = { .items = b, .count = 1 };
    (void)state;

    run(0, 2, (unsigned[]){ 100, 0 }, 0);
    found = &of_b;
    run(1, 2, (unsigned[]){ 100, 0 }, 5);
    found = &no_findings;
    fv_diff_compute(&diff);
    near(diff.side[1].runs[0].no_processor_s, 0.15, 1e-12);
    char *said = shown(as_text);
    assert_ptr_equal(strstr(said, "noisy: "), said);
    assert_null(strstr(said, "new, or gone")); /* it is told */
    contains(said, "had no processor for 15.0 % of the time of B. ");
    free(said);
}

/* ---- analysis.json ---- */

/* What fvunify found of a run on two ranks: MPI_Send in f waits, and so does what is in no call path of the
 * profile. NULL: nothing. */
static void analysed_run(unsigned side, const unsigned ms[2], double wait_s, uint64_t process)
{
    uint64_t path = fv_key_frame(FV_KEY_ROOT, fv_key_module((const uint8_t *)"0123456789abcdef0123", 20, "/b/app"), 20);
    struct fv_analysed_part parts[] = { { .rank = 0, .count = 2, .time_s = ms[0] * 1e-3, .wait_s = wait_s },
                                        { .rank = 1, .count = 2, .time_s = (ms[0] + ms[1]) * 1e-3 },
                                        { .rank = 1, .wait_s = 0.006 } };
    struct fv_analysed_rank ranks[] = { { .rank = 0 }, { .rank = 1 } };
    struct fv_analysed_site sites[] = { { .id = 1, .first_part = 0, .parts = 2 },
                                        { .id = 2, .key = 1, .first_part = 2, .parts = 1 } };
    struct fv_analysis_result a = { .world_size = 2,
                                    .one_clock = true,
                                    .ideal_s = 0.95, /* rank 0 computes longest, 0.9 s of 1 s */
                                    .ranks = ranks,
                                    .rank_count = 2,
                                    .sites = sites,
                                    .site_count = 2,
                                    .parts = parts,
                                    .part_count = 3 };

    path = fv_key_frame(path, fv_key_module((const uint8_t *)"0123456789abcdef0123", 20, "/b/app"), 10);
    sites[0].key = fv_key_call(path, fv_key_function("MPI_Send"));
    for (unsigned i = 0; i < 2; i++)
        ranks[i].identity = (struct fv_file_identity){ identity_of((int)i) ^ process, 0 };
    analysed = &a;
    run(side, 2, ms, 0);
    analysed = NULL;
}

static void waits_of_the_trace(void **state)
{
    (void)state;
    analysed_run(0, (unsigned[]){ 100, 0 }, 0.02, 0);
    analysed_run(1, (unsigned[]){ 100, 40 }, 0.1, 0);
    fv_diff_compute(&diff);
    assert_int_equal(diff.waits, FV_WAITS_ANALYSIS);
    near(row_of("f")->change[FV_DIFF_WAIT].mean[0], 0.01, 1e-9);
    near(row_of("f")->change[FV_DIFF_WAIT].change, 0.04, 1e-9);
    near(row_of("f")->change[FV_DIFF_EFFICIENCY].mean[1], 0.5, 1e-6);
    assert_int_equal(row_of("f")->wait_kind, FV_WAIT_EXACT);
    near(diff.run[FV_RUN_WAIT].mean[0], 0.013, 1e-9); /* with what is in no known call path ... */
    near(diff.run[FV_RUN_SERIALIZATION].mean[1], 0.9 / 0.95, 1e-9);
    near(diff.run[FV_RUN_TRANSFER].mean[0], 0.95, 1e-9);
    assert_int_equal(diff.notes.count, 2); /* ... which is said of both */
}

/* The sum of what is exact and what is not known is an estimate, as in the report of a run. */
static void waits_partly_unknown(void **state)
{
    (void)state;
    logged = true;
    run(0, 2, (unsigned[]){ 10, 20 }, 0);
    run(1, 2, (unsigned[]){ 10, 20 }, 0);
    logged = false;
    fv_diff_compute(&diff);
    assert_int_equal(row_of("f")->wait_kind, FV_WAIT_EXACT);
    near(row_of("f")->change[FV_DIFF_WAIT].mean[0], 0.002, 1e-9); /* 4 ms of one of two ranks */
    assert_int_equal(row_of("g")->wait_kind, FV_WAIT_UNKNOWN);
    assert_int_equal(diff.function_count, 1);
    assert_int_equal(diff.functions[0].wait_kind, FV_WAIT_ESTIMATE);
}

/* One analysis is missing, one is of other files: then the profiles' own waiting is compared. */
static void waits_of_some_traces(void **state)
{
    (void)state;
    analysed_run(0, (unsigned[]){ 100, 0 }, 0.02, 0);
    run(1, 2, (unsigned[]){ 100, 40 }, 0);
    analysed_run(1, (unsigned[]){ 100, 40 }, 0.1, 1);
    fv_diff_compute(&diff);
    assert_int_equal(diff.waits, FV_WAITS_PROFILE);
    assert_true(isnan(diff.run[FV_RUN_SERIALIZATION].mean[0]) && isnan(diff.run[FV_RUN_TRANSFER].mean[0]));
    assert_int_equal(row_of("f")->wait_kind, FV_WAIT_UNKNOWN); /* nothing waits beyond the fastest */
    near(row_of("f")->change[FV_DIFF_WAIT].mean[0], 0, 1e-9);
    assert_int_equal(diff.notes.count, 2); /* one left out, and why none is used */
}

/* ---- text and JSON ---- */

static void text(void **state)
{
    (void)state;
    run(0, 2, (unsigned[]){ 100, 40 }, 0);
    run(1, 2, (unsigned[]){ 200, 0 }, 5);
    fv_diff_compute(&diff);
    char *said = shown(as_text);
    contains(said, "one run each, so noise is unknown");
    contains(said, "0 call paths by function, file and line; 1 by the names of functions");
    contains(said, "MPI_Send  100 ms -> 200 ms: +100 ms, +100.0 %");
    contains(said, "f  a.c:10 -> a.c:15");
    contains(said, "MPI_Send  -20.0 ms, only in A");
    assert_null(strstr(said, "*"));
    assert_null(strstr(said, "only in B "));
    free(said);
}

static void text_noise(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        run(0, 2, (unsigned[]){ 100 + i, 40 }, 0);
    run(1, 2, (unsigned[]){ 200, 40 }, 0);
    fv_diff_compute(&diff);
    char *said = shown(as_text);
    contains(said, "within the noise"); /* all runs take a second */
    contains(said, "Student's t (B has one run, taken to spread as");
    contains(said, "MPI_Send  101 ms -> 200 ms: +99.0 ms, +98.0 % (+- 4.97 ms) *");
    free(said);
}

static void json(void **state)
{
    static const char *const keys[] = { "schema",      "comparison", "differences",   "runs_a",    "runs_b",
                                        "run_changes", "entries",    "mpi_functions", "callsites", "problems" };
    (void)state;
    run(0, 2, (unsigned[]){ 100, 40 }, 0);
    run(1, 2, (unsigned[]){ 200, 0 }, 5);
    fv_diff_compute(&diff);
    char *said = shown(as_json);
    json_t *root = json_loads(said, 0, NULL), *site, *time;
    assert_non_null(root);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        assert_non_null(json_object_get(root, keys[i]));
    site = json_array_get(json_object_get(root, "callsites"), 0);
    time = json_array_get(json_object_get(site, "changes"), FV_DIFF_TIME);
    assert_string_equal(json_string_value(json_object_get(time, "metric")), "time_s");
    assert_string_equal(json_string_value(json_object_get(time, "unit")), "s");
    near(json_number_value(json_object_get(time, "change")), 0.1, 1e-6);
    near(json_number_value(json_object_get(time, "ratio")), 2, 1e-6);
    assert_true(json_is_null(json_object_get(time, "significant")));
    assert_string_equal(json_string_value(json_object_get(site, "joined")), "names");
    assert_int_equal(json_array_size(json_object_get(site, "path_b")), 2);
    site = json_array_get(json_object_get(root, "callsites"), 1);
    assert_string_equal(json_string_value(json_object_get(site, "joined")), "only_a");
    assert_int_equal(json_array_size(json_object_get(site, "path_b")), 0);
    json_decref(root);
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student),
        cmocka_unit_test(welch),
        cmocka_unit_test(few_runs),
        cmocka_unit_test(discovery),
        cmocka_unit_test_teardown(join_position, clear),
        cmocka_unit_test_teardown(join_names, clear),
        cmocka_unit_test_teardown(join_builds, clear),
        cmocka_unit_test_teardown(join_unknown, clear),
        cmocka_unit_test_teardown(several_runs, release),
        cmocka_unit_test_teardown(commands, release),
        cmocka_unit_test_teardown(absent_in_a_run, release),
        cmocka_unit_test(tables_have_their_columns),
        cmocka_unit_test_teardown(findings, release),
        cmocka_unit_test_teardown(not_quiet, release),
        cmocka_unit_test_teardown(waits_of_the_trace, release),
        cmocka_unit_test_teardown(waits_partly_unknown, release),
        cmocka_unit_test_teardown(waits_of_some_traces, release),
        cmocka_unit_test_teardown(text, release),
        cmocka_unit_test_teardown(text_noise, release),
        cmocka_unit_test_teardown(json, release),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
