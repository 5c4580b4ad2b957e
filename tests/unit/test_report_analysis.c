/* What the report takes from fvunify's analysis.json into its model: causes, kinds, regions; ones of other rank
 * files. */
#define _GNU_SOURCE
#include "analysis_file.h"
#include "profile/verdict.h"
#include "views/text/text.h"

extern fv_text_section fv_text_waiting, fv_text_ranks;

static struct fv_model model;
static struct fv_symbols symbols;
static const struct fv_findings no_findings;

static void build(const char *text)
{
    struct fv_experiment experiment = { 0 };
    struct fv_analysis_result a = { 0 };

    if (text)
        assert_null(read_text(text, strlen(text), &a));
    fvr_join(&file[0], &experiment);
    fvr_join(&file[1], &experiment);
    fv_experiment_choose(&experiment);
    experiment.analysed = text ? &a : NULL;
    fv_model_build(&model, &symbols, &experiment, false);
    fv_experiment_release(&experiment);
    fv_analysis_result_release(&a);
}

static void release(void)
{
    fv_symbols_release(&symbols);
    fv_model_release(&model);
}

static const struct fv_site *site_of(const char *function)
{
    for (size_t i = 0; i < model.site_count; i++)
        if (!strcmp(model.functions[model.sites[i].function].name, function))
            return &model.sites[i];
    fail_msg("no %s", function);
    return NULL;
}

static void expect(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-9))
        fail_msg("found %.9f, wanted %.9f", found, wanted);
}

static void takes_over(void **state)
{
    char text[1000];
    (void)state;

    build(good);
    assert_int_equal(model.problems.count, 0);
    const struct fv_causes *c = &model.causes;
    const struct fv_site *receive = site_of("MPI_Recv"), *send = site_of("MPI_Send");
    expect(receive->wait_s, 0.03);
    assert_int_equal(receive->wait_kind, FV_WAIT_EXACT);
    assert_int_equal(send->wait_kind, FV_WAIT_EXACT);
    expect(model.ranks[0].wait_time_s, 0.03);
    assert_that(model.efficiency.wait_kind, ==, FV_WAIT_EXACT);
    expect(model.efficiency.serialization, 0.994 / 0.999); /* rank 1 is 6 ms of its second in MPI */
    expect(model.efficiency.transfer, 0.999);
    expect(model.efficiency.serialization * model.efficiency.transfer, model.efficiency.communication);
    assert_int_equal(c->source, FV_CAUSES_TRACE);
    expect(c->wait_s, 0.03);
    assert_true(c->bin_s == 0.25 && c->bins[0].count == 2 && c->bins[0].wait_s[1] == 0.03);
    assert_true(c->bins[1].count == 0 && c->bins[1].wait_s);
    expect(c->coverage, 1);
    assert_int_equal(c->kind_count, 2);
    assert_true(!c->kinds[0].transfer && c->kinds[1].transfer);
    assert_int_equal(c->culprit_count, 3);
    assert_int_equal(c->culprits[0].rank, 1);
    assert_ptr_equal(&model.sites[c->culprits[0].site], send);
    expect(c->culprits[0].cost_s, 0.028);
    expect(c->culprits[0].direct_s, 0.02);
    assert_int_equal(c->culprits[1].where, FV_PLACE_MPI);
    assert_int_equal(c->region_count, 2);
    expect(c->regions[0].max_s, 0.4);
    expect(c->regions[0].mean_s, 0.2);
    assert_int_equal(c->regions[0].max_rank, 1);
    assert_int_equal(c->regions[0].ranks, 1);
    expect(c->regions[0].critical_s[FV_PLACE_COMPUTING], 0.4);
    assert_int_equal(c->late_count, 1);
    assert_int_equal(c->late[0].rank, 1);
    assert_ptr_equal(&model.sites[c->late[0].site], send);
    expect(c->late[0].delay_s, 0.027);
    struct fv_profile view = { &model, &symbols, NULL, &no_findings, 0 };
    assert_string_equal(
        fv_verdict_waiting(&view, text, sizeof(text)),
        "Rank 1 is to blame for most: 100.0 % of all waiting, in app+0x30 <- app+0x63, before MPI_Send (#2)");
    release();
}

/* Section Waiting of the report, with rows of the first culprit alone: by --top, and by --threshold. */
static void names_nobody_last(void **state)
{
    const struct fv_page pages[] = { { .width = 200, .top = 1 }, { .width = 200, .top = SIZE_MAX, .threshold = 0.5 } };
    (void)state;

    build(good);
    const struct fv_profile view = { &model, &symbols, NULL, &no_findings, 0 };
    for (unsigned i = 0; i < 2; i++) {
        struct fv_page page = pages[i];
        char *text;
        size_t bytes;

        page.out = open_memstream(&text, &bytes);
        assert_non_null(page.out);
        fv_text_waiting(&page, &view);
        fclose(page.out);
        if (!strstr(text, "no rank was slower before") || !strstr(text, "... 2 more culprits, ") ||
            (i && !strstr(text, "; a smaller --threshold shows them\n")))
            fail_msg("%s", text);
        free(text);
    }
    release();
}

/* A finding for each place that is charged for enough: the ranks that are charged for much of it there together, most
 * first. */
static void finds_late_ranks(void **state)
{
    static const struct fv_cost_profile no_samples;
    struct fv_findings findings;
    (void)state;

    build(good);
    const struct fv_profile view = { &model, &symbols, &no_samples, &no_findings, 0 };
    uint32_t send = (uint32_t)(site_of("MPI_Send") - model.sites),
             receive = (uint32_t)(site_of("MPI_Recv") - model.sites);
    struct fv_culprit culprits[] = {
        { .rank = 1, .site = send, .where = FV_PLACE_COMPUTING, .cost_s = 0.10 },
        { .rank = 1, .site = receive, .where = FV_PLACE_COMPUTING, .cost_s = 0.12 },
        { .rank = 0, .site = send, .where = FV_PLACE_COMPUTING, .cost_s = 0.06 },
        /* a tenth of the most: not named */
        { .rank = 0, .site = receive, .where = FV_PLACE_COMPUTING, .cost_s = 0.011 },
        { .rank = 1, .site = send, .where = FV_PLACE_MPI, .cost_s = 0.5 * FV_FINDING_WORTH * model.efficiency.total_s },
    };
    struct fv_culprit *kept = model.causes.culprits;
    size_t kept_count = model.causes.culprit_count;

    model.causes.culprits = culprits;
    model.causes.culprit_count = sizeof(culprits) / sizeof(*culprits);
    fv_findings_make(&findings, &view);
    assert_int_equal(findings.count, 2);
    for (size_t i = 0; i < findings.count; i++)
        assert_string_equal(findings.items[i].def->name, "late_rank");
    expect(findings.items[0].lost_s, 0.16);
    assert_int_equal(findings.items[0].site, send);
    assert_int_equal(findings.items[0].rank, 1);
    assert_int_equal(findings.items[0].evidence, FV_EVIDENCE_EXACT);
    assert_memory_equal(findings.items[0].text, "ranks 0-1 made others wait. They were slow in ", 46);
    expect(findings.items[1].lost_s, 0.131);
    assert_memory_equal(findings.items[1].text, "rank 1 made others wait. It was slow in ", 40);
    assert_non_null(strstr(findings.items[1].text, "before MPI_Recv"));
    fv_findings_release(&findings);
    model.causes.culprits = kept;
    model.causes.culprit_count = kept_count;
    release();
}

/* Of procedures that were slow there the one that others were not in, though its callers were as slow. */
static void late_ranks_by_samples(void **state)
{
    struct fv_cost_procedure procedures[] = { { .name = "main", .file = "a.c" },
                                              { .name = "react", .file = "a.c", .first_line = 50 } };
    struct fv_cost_profile costs = { .procedures = procedures, .procedure_count = 2 };
    struct fv_findings findings;
    (void)state;

    build(good);
    for (uint32_t i = 0; i < 2; i++)
        fv_index_add(&costs.names, fv_hash_text(procedures[i].name), i);
    const struct fv_profile view = { &model, &symbols, &costs, &no_findings, 0 };
    uint32_t site = (uint32_t)(site_of("MPI_Send") - model.sites);
    struct fv_late_procedure late[] = { { 1, site, "main", "a.c", 0.9, 0.1, 0 },
                                        { 0, site, "main", "a.c", 0.1, 0, 0 },
                                        { 1, site, "react", "a.c", 0.1, 0.09, 0 },
                                        { 1, site, "tiny", "a.c", 0.001, 0.001, 0 } };
    struct fv_late_procedure *kept = model.causes.late;
    model.causes.culprits[0].cost_s = 0.1;
    model.causes.late = late;
    model.causes.late_count = 4;
    fv_findings_make(&findings, &view);
    assert_string_equal(findings.items[0].def->name, "late_rank");
    assert_string_equal(findings.items[0].function, "react");
    assert_int_equal(findings.items[0].line, 50);
    assert_int_equal(findings.items[0].evidence, FV_EVIDENCE_SAMPLES);
    assert_memory_equal(findings.items[0].text,
                        "rank 1 made others wait. It was slow in react() at a.c:50, for 90.0 ms of that (sampled). ",
                        90);
    fv_findings_release(&findings);
    fv_index_release(&costs.names);
    model.causes.late = kept;
    release();
}

/* Waiting for progress is known by a rule that need not hold for each call: wherever it is part of a sum, that is no
 * longer exact. */
static void no_progress_is_an_estimate(void **state)
{
    char *text = changed("\"kinds\":{}", "\"kinds\":{\"late_sender\":0.01,\"no_progress\":0.02}"),
         *at = strstr(text, "late_sender\",\"count\"");
    (void)state;

    assert_non_null(at);
    memcpy(at, "no_progress", 11);
    build(text);
    assert_int_equal(site_of("MPI_Recv")->wait_kind, FV_WAIT_ESTIMATE);
    assert_int_equal(site_of("MPI_Send")->wait_kind, FV_WAIT_EXACT);
    assert_int_equal(model.efficiency.wait_kind, FV_WAIT_ESTIMATE);
    assert_false(model.causes.exact);
    assert_true(model.causes.is_whole);
    expect(model.causes.estimated_s, 0.02); /* of what MPI_Recv waited the rest is not */
    release();
    free(text);
}

/* The first line says which part of the waiting is an estimate; of more than half of it, that all is. */
static void says_what_is_exact(void **state)
{
    static const struct {
        const char *kinds, *wanted;
    } cases[] = {
        { "\"kinds\":{\"late_sender\":0.02,\"no_progress\":0.01}", " is waiting (exact but for 33.3 % of it), " },
        { "\"kinds\":{\"late_sender\":0.01,\"no_progress\":0.02}", " is waiting (estimate), " },
    };
    static const struct fv_cost_profile no_samples;
    static const struct fv_text_options options = { .width = 200, .top = 10 };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char *text = changed("\"kinds\":{}", cases[i].kinds), *at = strstr(text, "late_sender\",\"count\""), *said;
        size_t bytes;

        memcpy(at, "no_progress", 11);
        build(text);
        const struct fv_profile view = { &model, &symbols, &no_samples, &no_findings, 0 };
        FILE *out = open_memstream(&said, &bytes);
        assert_int_equal(fv_view_first(&view, &options, out), 0);
        fclose(out);
        if (!strstr(said, cases[i].wanted) || !strstr(said, " transfer and overhead\n"))
            fail_msg("%s", said);
        free(said);
        release();
        free(text);
    }
}

/* Of a sum that is not exact, each row that is says so: a rank that withheld nothing, and that nobody waited for but
 * for its own sake. */
static void rows_say_what_is_exact(void **state)
{
    static struct fv_wait_sum withheld[] = { { .kind = "late_sender" }, { .kind = "no_progress" } },
                              taker[] = { { .kind = "late_taker" } };
    static const struct {
        struct fv_causes causes;
        struct fv_culprit culprit;
        bool is_exact;
    } cases[] = {
        { { .exact = true, .is_whole = true }, { .cost_s = 2, .direct_s = 1 }, true },
        { { .is_whole = true, .kinds = withheld, .kind_count = 2 }, { .cost_s = 1, .direct_s = 1 }, true },
        { { .is_whole = true, .kinds = withheld, .kind_count = 2 }, { .cost_s = 2, .direct_s = 1 }, false },
        { { .is_whole = true, .kinds = withheld, .kind_count = 2 },
          { .cost_s = 1, .direct_s = 1, .withheld_s = 0.5 },
          false },
        { { .is_whole = true, .kinds = withheld, .kind_count = 2 },
          { .cost_s = 1, .direct_s = 1, .site = FV_NONE },
          false },
        { { .is_whole = true, .kinds = taker, .kind_count = 1 }, { .cost_s = 1, .direct_s = 1 }, false },
        { { .is_whole = false }, { .cost_s = 1, .direct_s = 1 }, false },
    };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (fv_culprit_is_exact(&cases[i].causes, &cases[i].culprit) != cases[i].is_exact)
            fail_msg("case %zu", i);
}

/* The rank whose next call moved what it had posted: the finding says so, whom the computing is to be looked for in,
 * and what lets MPI go on meanwhile. */
static void finds_withheld_progress(void **state)
{
    static const struct fv_cost_profile no_samples;
    struct fv_findings findings;
    (void)state;

    build(good);
    const struct fv_profile view = { &model, &symbols, &no_samples, &no_findings, 0 };
    uint32_t send = (uint32_t)(site_of("MPI_Send") - model.sites);
    struct fv_culprit culprits[] = {
        { .rank = 1, .site = send, .where = FV_PLACE_COMPUTING, .cost_s = 0.10, .direct_s = 0.08, .withheld_s = 0.05 },
        { .rank = 1, .site = send, .where = FV_PLACE_MPI, .cost_s = 0.09, .direct_s = 0.08, .withheld_s = 0.08 },
    };
    struct fv_culprit *kept = model.causes.culprits;
    size_t kept_count = model.causes.culprit_count;
    const char *mpi = model.mpi;

    model.causes.culprits = culprits;
    model.causes.culprit_count = 2;
    model.mpi = "MPICH Version: 4.0.2";
    fv_findings_make(&findings, &view);
    assert_int_equal(findings.count, 2);
    assert_string_equal(findings.items[0].def->name, "no_progress");
    assert_int_equal(findings.items[0].evidence, FV_EVIDENCE_ESTIMATE);
    assert_non_null(strstr(findings.items[0].text, "others waited for rank 1"));
    assert_non_null(strstr(findings.items[0].next, "MPI_Test"));
    assert_non_null(strstr(findings.items[0].next, "MPICH_ASYNC_PROGRESS=1"));
    assert_string_equal(findings.items[1].def->name, "late_rank"); /* what it was slow in was MPI itself */
    fv_findings_release(&findings);
    culprits[0].withheld_s = 0.03; /* less than half of it */
    fv_findings_make(&findings, &view);
    assert_string_equal(findings.items[0].def->name, "late_rank");
    fv_findings_release(&findings);
    model.mpi = mpi;
    model.causes.culprits = kept;
    model.causes.culprit_count = kept_count;
    release();
}

/* One note, and the report is the profile's. */
static void expect_left_out(const char *from, const char *to, const char *why)
{
    char *text = changed(from, to);

    build(text);
    if (model.problems.count != 1 || !strstr(model.problems.items[0].text, why))
        fail_msg("%s -> %s: %zu notes, %s", from, to, model.problems.count,
                 model.problems.count ? model.problems.items[0].text : "");
    assert_int_equal(model.problems.items[0].kind, FV_PROBLEM_NOTE);
    assert_int_equal(site_of("MPI_Recv")->wait_kind, FV_WAIT_ESTIMATE);
    assert_int_equal(model.causes.culprit_count, 0);
    assert_true(isnan(model.efficiency.serialization));
    release();
    free(text);
}

static void expect_no_regions(const char *from, const char *to)
{
    char *text = changed(from, to);

    build(text);
    assert_int_equal(model.causes.source, FV_CAUSES_TRACE);
    if (model.causes.computed_count)
        fail_msg("%s -> %s: %zu rows", from, to, model.causes.computed_count);
    release();
    free(text);
}

/* Which procedures took a region is taken from a trace that has all samples alone. */
static void regions_of_whole_traces(void **state)
{
    (void)state;
    build(good);
    assert_int_equal(model.causes.computed_count, 1);
    const struct fv_computing_part *c = &model.causes.computed[0];
    assert_ptr_equal(&model.sites[c->from], site_of("MPI_Send"));
    assert_ptr_equal(&model.sites[c->site], site_of("MPI_Send"));
    assert_string_equal(c->function, "react");
    assert_int_equal(model.ranks[c->rank].world_rank, 1);
    release();
    expect_no_regions("\"samples\":{\"count\":3", "\"samples\":{\"count\":4"); /* the list was cut */
    expect_no_regions("\"lost\":0", "\"lost\":1");
    expect_no_regions("\"damaged\":0", "\"damaged\":1");
    expect_no_regions("\"count\":3,\"time_s\":0.04", "\"count\":3,\"time_s\":0.03"); /* the trace ended early */
}

static void knows_its_rank_files(void **state)
{
    (void)state;
    expect_left_out("\"traced_calls\":3", "\"traced_calls\":4", "not of these rank files");
    expect_left_out("\"traced_calls\":3", "\"traced_calls\":2", "not of these rank files");
    expect_left_out("\"process\":\"", "\"process\":\"fedcba9876543210\",\"was\":\"", "not of these rank files");
    expect_left_out("{\"rank\":0,\"process\"", "{\"rank\":1,\"process\"", "not of these rank files");
    expect_left_out("\"ranks\":2", "\"ranks\":3", "not of these rank files");
}

/* Of a trace that ended early: what is missing is put in by proportion, and called an estimate; of too little
 * of it nothing is taken. */
static void trace_ends_early(void **state)
{
    char *text;
    (void)state;

    file[0].header.dropped[FV_DROP_EVENTS] = 1;
    make_good();
    text = changed("\"count\":3,\"time_s\":0.04,\"wait_s\":0.03", "\"count\":2,\"time_s\":0.03,\"wait_s\":0.02");
    build(text);
    expect(site_of("MPI_Recv")->wait_s, 0.03);
    assert_int_equal(site_of("MPI_Recv")->wait_kind, FV_WAIT_ESTIMATE);
    expect(model.causes.coverage, 0.036 / 0.046);
    assert_true(isnan(model.efficiency.serialization));
    release();
    free(text);

    file[0].header.dropped[FV_DROP_EVENTS] = 2;
    make_good();
    text = changed("\"count\":3,\"time_s\":0.04,\"wait_s\":0.03", "\"count\":1,\"time_s\":0.001,\"wait_s\":0.001");
    build(text);
    assert_int_equal(model.causes.source, FV_CAUSES_NONE);
    assert_int_equal(site_of("MPI_Recv")->wait_kind, FV_WAIT_ESTIMATE);
    assert_non_null(strstr(model.problems.items[0].text, "15 % of the MPI time only"));
    assert_true(model.causes.left_out);
    release();
    free(text);
}

/* How long others waited for a rank is marked as their waiting is. */
static void expect_marked(const char *waited)
{
    const struct fv_profile view = { &model, NULL, NULL, &no_findings, 0 };
    char *text;
    size_t bytes;
    const struct fv_page page = { .out = open_memstream(&text, &bytes), .width = 200, .top = SIZE_MAX };

    assert_non_null(page.out);
    fv_text_ranks(&page, &view);
    fclose(page.out);
    if (!strstr(text, waited))
        fail_msg("%s", text);
    free(text);
}

/* What of the run is not in the trace may have waited, too. */
static void expect_estimate(const char *from, const char *to, uint64_t unmatched)
{
    char *text = changed(from, to);

    build(text);
    assert_int_equal(model.problems.count, 0);
    assert_int_equal(model.causes.source, FV_CAUSES_TRACE);
    assert_int_equal(model.causes.unmatched, unmatched);
    assert_false(model.causes.exact);
    assert_int_not_equal(model.efficiency.wait_kind, FV_WAIT_EXACT);
    assert_int_equal(site_of("MPI_Recv")->wait_kind, FV_WAIT_ESTIMATE);
    expect_marked("  ~30.0 ms");
    release();
    free(text);
}

static void not_exact_where_something_is_missing(void **state)
{
    (void)state;
    expect_estimate("\"efficiency\"",
                    "\"unmatched\":{\"sends\":1,\"receives\":2,\"collectives\":0,\"unknown\":4},\"efficiency\"", 7);
    expect_estimate("\"one\"", "\"aligned\"", 0);
    expect_refused("\"efficiency\"", "\"unmatched\":{\"sends\":-1},\"efficiency\"", "sends");
    file[0].header.traced = 0; /* it is not among the analysis' ranks then */
    make_good();
    char *listed = strstr(good, "{\"rank\":0,"), *next = strstr(good, "{\"rank\":1,"),
         *row = strndup(listed, (size_t)(next - listed));
    expect_estimate(row, "", 0);
    free(row);
}

static void waits_cut_short_are_told(void **state)
{
    char *text = changed("\"efficiency\"", "\"merge\":{\"waits_cut_short\":3},\"efficiency\"");

    (void)state;
    build(text);
    assert_int_equal(model.causes.cut_short, 3);
    release();
    free(text);
}

/* Two paths through the same four functions, and one of its own. */
static void paths_are_told_apart(void **state)
{
    uint32_t app = fvr_module(&file[0], "/bin/wrap", 0, NULL), site[3];
    const uint64_t ticks[] = { MS };
    char text[1000];
    (void)state;

    for (uint32_t i = 0; i < 3; i++) {
        uint32_t path = fvr_path(&file[0], fvr_path(&file[0], 0, app, 1), app, 0xa0 + i);

        for (uint64_t depth = 4; depth; depth--)
            path = fvr_path(&file[0], path, app, i == 2 && depth == 1 ? 0x200 : 0x100 + depth);
        fvr_cell(&file[0], 0, path, 1, 1, ticks, 1, 1000 + i, 0);
    }
    build(NULL);
    for (uint32_t i = 0; i < model.site_count; i++)
        if (model.sites[i].stat.bytes_sent >= 1000)
            site[model.sites[i].stat.bytes_sent - 1000] = i;
    struct fv_profile view = { &model, &symbols, NULL, &no_findings, 0 };
    struct fv_places places = { .view = &view };
    assert_string_equal(fv_place_inner(&view, site[0], text, sizeof(text)), "wrap+0x101");
    for (unsigned i = 0; i < 3; i++)
        fv_places_add(&places, site[i]);
    fv_places_add(&places, site[1]); /* another rank's row */
    assert_string_equal(fv_place_outer(&places, site[0], 0, text, sizeof(text)), "<- wrap+0x102 <- ... <- wrap+0xa0");
    assert_string_equal(fv_place_outer(&places, site[1], 1, text, sizeof(text)), "<- wrap+0x102 <- ... <- wrap+0xa1");
    assert_string_equal(fv_place_outer(&places, site[2], 0, text, sizeof(text)), "");
    assert_string_equal(fv_place_outer(&places, site[2], 1, text, sizeof(text)), "<- wrap+0x102");
    assert_string_equal(fv_place_outer(&places, site[2], 9, text, sizeof(text)), "<- wrap+0x102 <- ... <- wrap+0x1");
    fv_place_outer(&places, site[0], 0, text, 10);
    assert_int_equal(strlen(text), 9);
    fv_places_release(&places);
    release();
}

/* Without a trace, the last to come to collectives. */
static void add_collective(void)
{
    for (int i = 0; i < 2; i++) {
        const uint64_t ticks[] = { i ? 5 * MS : 45 * MS };

        fvr_function(&file[i], 3, FV_CLASS_COLLECTIVE, FV_RULE_NXN, "MPI_Allreduce");
        uint32_t cell = fvr_cell(&file[i], 0, 1, 1, 3, ticks, 1, 8, 8);
        fvr_collective(&file[i], 0, cell, 0, FV_COLL_SENDS | FV_COLL_RECEIVES, (uint64_t)(1100 + 40 * i) * MS,
                       1145 * MS);
    }
}

static void expect_headline(const char *wanted)
{
    char text[1000];

    struct fv_profile view = { &model, &symbols, NULL, &no_findings, 0 };
    assert_string_equal(fv_verdict_waiting(&view, text, sizeof(text)), wanted);
}

static void profile_alone(void **state)
{
    (void)state;
    add_collective();
    build(NULL);
    const struct fv_causes *c = &model.causes;
    assert_int_equal(c->source, FV_CAUSES_PROFILE);
    expect(c->wait_s, 0.04);
    assert_int_equal(c->culprit_count, 1);
    assert_int_equal(c->culprits[0].rank, 1);
    assert_ptr_equal(&model.sites[c->culprits[0].site], site_of("MPI_Allreduce"));
    expect(c->culprits[0].cost_s, 0.04);
    assert_int_equal(c->kind_count, 1);
    assert_string_equal(c->kinds[0].kind, "wait_at_nxn");
    assert_int_equal(c->kinds[0].count, 1);
    assert_int_equal(c->region_count, 2);
    assert_true(c->exact);
    expect_headline("40.0 ms of about 74.0 ms of waiting (54.1 %) is in collectives. Rank 1 came last for most: "
                    "100.0 % of it, in app+0x63, before MPI_Allreduce (#1)");
    release();
}

/* Most of the waiting is for messages: then the last to come to collectives is not the one to name. */
static void collectives_are_not_all(void **state)
{
    const uint64_t ticks[] = { 300 * MS };
    (void)state;

    add_collective();
    fvr_cell(&file[0], 0, 1, 1, 2, ticks, 1, 8, 0);
    build(NULL);
    expect_headline("40.0 ms of about 372 ms of waiting (10.8 %) is in collectives, too little to name a rank");
    release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(takes_over),
        TEST(names_nobody_last),
        TEST(finds_late_ranks),
        TEST(late_ranks_by_samples),
        TEST(no_progress_is_an_estimate),
        TEST(says_what_is_exact),
        TEST(rows_say_what_is_exact),
        TEST(finds_withheld_progress),
        TEST(regions_of_whole_traces),
        TEST(knows_its_rank_files),
        TEST(trace_ends_early),
        TEST(profile_alone),
        TEST(not_exact_where_something_is_missing),
        TEST(waits_cut_short_are_told),
        TEST(paths_are_told_apart),
        TEST(collectives_are_not_all),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
