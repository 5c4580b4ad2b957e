/* Findings of what ranks wait for: without a known cause, for late ranks of a trace, and beside others. The profiles
 * are made up. */
#include "profile/findings/findings.h"
#include "profile/machine/facts.h"
#include "profile/noise/noise.h"
#include "profile/profile.h"
#include "profile/samples/costs.h"
#include "profile/samples/samples.h"
#include "unit.h"
#include "views/views.h"

#define RUN_S 100.0 /* of each rank */

/* What a run without samples and threads has: nothing. */
static const struct fv_symbols no_symbols;
static const struct fv_cost_profile no_costs;
static const struct fv_findings none;

static const struct {
    double wait_s[2][4], balance, ready_s;
    const char *text; /* NULL: no finding */
    size_t edges;
} waiting_cases[] = {
    { { { 10, 10, 10, 10 }, { 30, 31, 29, 30 } },
      0.98,
      0,
      "Over the run the ranks compute alike (load balance 98.0 %), and all of them wait: the slow rank changes, or "
      "ranks take turns",
      0 },
    { { { 0, 21, 39, 60 }, { 30, 10, 0, 0 } },
      0.98,
      0,
      "waiting grows from rank 0 (0 s) to rank 3 (60.0 s): each rank waits for the one before it, as in a "
      "pipeline",
      0 },
    { { { 60, 39, 21, 0 }, { 10, 10, 10, 10 } },
      0.98,
      0,
      "waiting grows along 3 -> 2 -> 1 -> 0 from rank 3 (0 s) to rank 0 (60.0 s): each rank waits for the one after it",
      3 },
    { { { 0, 0, 0, 0 }, { 0, 80, 80, 0 } }, 0.7, 0, "Rank 1 waits longest: 80.0 s", 0 },
    { { { 10, 10, 10, 10 }, { 30, 31, 29, 30 } }, 0.98, 60, NULL, 0 },
};

/* Each rank to the one before. */
static struct fv_edge edges[] = { { 1, 0, 10, 80 }, { 2, 1, 10, 80 }, { 3, 2, 10, 80 } };

static struct fv_func two_functions[2] = { { .name = "MPI_Recv", .class = FV_CLASS_P2P },
                                           { .name = "MPI_Allreduce", .class = FV_CLASS_COLLECTIVE } };

/* Four ranks that wait for 40 s of 100 s each, on average: what sums over the run can tell of it, in MPI_Recv (site 0)
 * or MPI_Allreduce (1). */
static struct fv_rank half_in_mpi(int rank, double ready_s)
{
    return (struct fv_rank){ .world_rank = rank,
                             .host = "host",
                             .threads = 1,
                             .app_time_s = RUN_S,
                             .end_s = RUN_S,
                             .mpi_time_s = 50,
                             .ready_s = ready_s,
                             .off.blocked_s = NAN };
}

static void what_ranks_wait_for(void **state)
{
    (void)state;

    for (size_t i = 0; i < sizeof(waiting_cases) / sizeof(*waiting_cases); i++) {
        struct fv_rank ranks[4];
        struct fv_site_rank parts[8];
        struct fv_site sites[2] = { { .function = 0, .first = 0, .ranks = 4 },
                                    { .function = 1, .first = 4, .ranks = 4 } };
        struct fv_model model = { .directory = "run",
                                  .ranks = ranks,
                                  .rank_count = 4,
                                  .complete = true,
                                  .functions = two_functions,
                                  .function_count = 2,
                                  .sites = sites,
                                  .site_count = 2,
                                  .site_ranks = parts,
                                  .site_rank_count = 8,
                                  .edges = edges,
                                  .edge_count = waiting_cases[i].edges,
                                  .efficiency = { .total_s = 4 * RUN_S,
                                                  .load_balance = waiting_cases[i].balance,
                                                  .wait_kind = FV_WAIT_ESTIMATE } };
        struct fv_findings findings;
        char rest[600];

        for (uint32_t r = 0; r < 4; r++) {
            ranks[r] = half_in_mpi((int)r, waiting_cases[i].ready_s);
            for (uint32_t k = 0; k < 2; k++) {
                parts[4 * k + r] =
                    (struct fv_site_rank){ .site = k, .rank = r, .wait_s = waiting_cases[i].wait_s[k][r] };
                sites[k].wait_s += waiting_cases[i].wait_s[k][r];
                ranks[r].wait_time_s += waiting_cases[i].wait_s[k][r];
            }
            model.efficiency.wait_s += ranks[r].wait_time_s;
        }
        const struct fv_profile profile = { &model, &no_symbols, &no_costs, &findings, 0 };
        fv_findings_make(&findings, &profile);
        const struct fv_finding *f = fv_findings_named(&findings, "unexplained_waiting");
        fv_findings_rest(&profile, rest, sizeof(rest));
        assert_int_equal(f != NULL, waiting_cases[i].text != NULL);
        if (f && (!strstr(f->text, waiting_cases[i].text) || fabs(f->lost_s - model.efficiency.wait_s) > 1e-9))
            fail_msg("'%s', %g s: wanted '%s'", f->text, f->lost_s, waiting_cases[i].text);
        assert_null(strstr(rest, "nothing")); /* is not denied */
        if (!f)
            assert_non_null(strstr(rest, "no other findings; not judged: "));
        fv_findings_release(&findings);
    }
}

/* Two ranks without processors for a tenth of their time: rank 0 computes longer, and most waiting has no known cause.
 * What has a cause stands first, then the rest, though it costs more, then the machine, which costs most. */
static void causes_come_first(void **state)
{
    struct fv_noise_rank noise_ranks[2] = { { .cost_s = 100, .by = FV_NONE }, { .rank = 1, .by = FV_NONE } };
    struct fv_noise_view noise = { .ranks = noise_ranks, .rank_count = 2 };
    struct fv_site site = { .function = 1, .wait_s = 90 };
    struct fv_rank ranks[2];
    struct fv_model model = { .directory = "run",
                              .operands = "run",
                              .ranks = ranks,
                              .rank_count = 2,
                              .functions = two_functions,
                              .function_count = 2,
                              .sites = &site,
                              .site_count = 1,
                              .data[FV_SUBJECT_noise] = &noise,
                              .efficiency = { .total_s = 2 * RUN_S, .wait_s = 90, .wait_kind = FV_WAIT_ESTIMATE } };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;
    const char *names[3] = { "load_imbalance", "unexplained_waiting", "noise" };
    (void)state;

    for (int r = 0; r < 2; r++) {
        ranks[r] = half_in_mpi(r, 10);
        ranks[r].mpi_time_s = r ? 60 : 30;
        ranks[r].off = (struct fv_off_processor){ .preempted_s = 5 };
    }
    fv_findings_make(&findings, &profile);
    assert_non_null(fv_findings_named(&findings, FV_FINDING_DISTURBED));
    size_t at[3] = { SIZE_MAX, SIZE_MAX, SIZE_MAX };
    for (size_t i = 0; i < findings.count; i++)
        for (int k = 0; k < 3; k++)
            if (!strcmp(findings.items[i].def->name, names[k]))
                at[k] = i;
    assert_that(at[0], <, at[1]);
    assert_that(at[1], <, at[2]);
    assert_that(at[2], <, findings.count);
    for (int k = 0; k < 2; k++)
        assert_that(findings.items[at[k]].lost_s, <, findings.items[at[k + 1]].lost_s);
    fv_findings_release(&findings);
}

/* The first lines have no room for three long findings: what was not judged is counted all the same. */
static void what_is_not_judged_has_a_line(void **state)
{
    static const struct fv_finding_def def = { .name = "load_imbalance", .title = "Load imbalance" };
    char long_text[450];
    struct fv_rank rank = { .host = "host", .threads = 1, .app_time_s = RUN_S };
    struct fv_model model = { .directory = "run",
                              .mpi = "MPI",
                              .complete = true,
                              .ranks = &rank,
                              .rank_count = 1,
                              .efficiency = { .total_s = RUN_S, .compute_s = RUN_S } };
    struct fv_finding items[3];
    const char *left[2] = { long_text, "whether ranks compute alike" };
    struct fv_findings findings = { .items = items, .count = 3, .left = left, .left_count = 2 };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &findings, 0 };
    const struct fv_text_options options = { .width = 80, .top = 10, .brief = true };
    char *text = NULL;
    size_t bytes, lines = 0;
    (void)state;

    for (size_t i = 0; i + 1 < sizeof(long_text); i++)
        long_text[i] = i % 8 ? 'x' : ' ';
    long_text[sizeof(long_text) - 1] = '\0';
    for (size_t i = 0; i < 3; i++)
        items[i] =
            (struct fv_finding){ .def = &def, .title = def.title, .lost_s = 10, .text = long_text, .next = "do this" };
    FILE *out = open_memstream(&text, &bytes);
    assert_int_equal(fv_view_first(&profile, &options, out), 0);
    fclose(out);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_that(lines, <=, 15);
    assert_non_null(strstr(text, "- Load imbalance, 10.0 s (10.0 %): "));
    assert_non_null(strstr(text, "    -> do this\n"));
    assert_non_null(strstr(text, "\nnot judged: 2 things (--all lists them)\n"));
    free(text);
}

static const struct {
    double preempted_s;
    const char *text, *function;
} late_cases[] = {
    { 1, "There rank 1 computes in react() in a.c for 9.80 s of 10.0 s (sampled)", "react" },
    { 30, "rank 1 made others wait because it was preempted for 30.0 s. This was in ", NULL },
};

/* By a trace rank 1 made others wait for 40 s. Samples put 5 s of that down to react(), but that is what the rank
 * computed before the call; or others had its processor. */
static void who_was_late(void **state)
{
    struct fv_func function = { .name = "MPI_Allreduce", .class = FV_CLASS_COLLECTIVE };
    struct fv_site site = { .function = 0 };
    struct fv_culprit culprit = { .rank = 1, .site = 0, .where = FV_PLACE_COMPUTING, .cost_s = 40 };
    struct fv_late_procedure late[] = { { .rank = 1, .function = "main", .file = "a.c", .cpu_s = 10, .delay_s = 5 },
                                        { .rank = 1, .function = "react", .file = "a.c", .cpu_s = 9.8, .delay_s = 5 } };
    struct fv_cost_procedure procedures[] = { { .name = "main", .file = "a.c", .of_program = true },
                                              { .name = "react", .file = "a.c", .of_program = true } };
    struct fv_cost_profile sampled = { .procedures = procedures, .procedure_count = 2 };
    (void)state;

    for (uint32_t i = 0; i < 2; i++)
        fv_index_add(&sampled.names, fv_hash_text(procedures[i].name), i);
    for (size_t i = 0; i < sizeof(late_cases) / sizeof(*late_cases); i++) {
        struct fv_rank ranks[2] = {
            { .host = "host", .threads = 1, .app_time_s = RUN_S, .end_s = RUN_S, .mpi_time_s = 50 }
        };
        struct fv_model model = { .directory = "run",
                                  .ranks = ranks,
                                  .rank_count = 2,
                                  .functions = &function,
                                  .function_count = 1,
                                  .sites = &site,
                                  .site_count = 1,
                                  .efficiency = { .total_s = 2 * RUN_S },
                                  .causes = { .source = FV_CAUSES_TRACE,
                                              .culprits = &culprit,
                                              .culprit_count = 1,
                                              .late = late,
                                              .late_count = 2 } };
        const struct fv_profile profile = { &model, &no_symbols, &sampled, &none, 0 };
        struct fv_findings findings;

        ranks[1] = ranks[0];
        ranks[1].world_rank = 1;
        ranks[1].mpi_time_s = 10;
        ranks[1].off.preempted_s = late_cases[i].preempted_s;
        fv_findings_make(&findings, &profile);
        const struct fv_finding *f = fv_findings_named(&findings, "late_rank");
        assert_non_null(f);
        if (!strstr(f->text, late_cases[i].text))
            fail_msg("'%s': wanted '%s'", f->text, late_cases[i].text);
        assert_int_equal(f->by_machine, !late_cases[i].function);
        if (late_cases[i].function)
            assert_string_equal(f->function, late_cases[i].function);
        fv_findings_release(&findings);
    }
    fv_index_release(&sampled.names);
}

/* Another program preempted rank 1 for 30 s, and the trace puts waiting of 40 s down to that: one finding says both. */
static void preemption_is_said_once(void **state)
{
    struct fv_func function = { .name = "MPI_Allreduce", .class = FV_CLASS_COLLECTIVE };
    struct fv_site site = { .function = 0 };
    struct fv_culprit culprit = { .rank = 1, .site = 0, .where = FV_PLACE_COMPUTING, .cost_s = 40 };
    struct fv_noise_rank noise_ranks[2] = { { .rank = 0, .cost_s = NAN, .by = FV_NONE },
                                            { .rank = 1, .cost_s = NAN, .by = FV_NONE } };
    struct fv_noise_view noise = { .ranks = noise_ranks, .rank_count = 2 };
    struct fv_rank ranks[2] = {
        { .host = "host", .threads = 1, .app_time_s = RUN_S, .end_s = RUN_S, .mpi_time_s = 50 },
        { .world_rank = 1, .host = "host", .threads = 1, .app_time_s = RUN_S, .end_s = RUN_S, .mpi_time_s = 10 }
    };
    struct fv_model model = { .directory = "run",
                              .ranks = ranks,
                              .rank_count = 2,
                              .functions = &function,
                              .function_count = 1,
                              .sites = &site,
                              .site_count = 1,
                              .data[FV_SUBJECT_noise] = &noise,
                              .efficiency = { .total_s = 2 * RUN_S, .wait_s = 50, .wait_kind = FV_WAIT_EXACT },
                              .causes = { .source = FV_CAUSES_TRACE, .culprits = &culprit, .culprit_count = 1 } };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;
    (void)state;

    ranks[1].off.preempted_s = 30;
    fv_findings_make(&findings, &profile);
    const struct fv_finding *f = fv_findings_named(&findings, "noise");
    assert_non_null(f);
    assert_int_equal(f->rank, 1);
    assert_string_equal(f->text,
                        "rank 1 was preempted outside of MPI for 30.0 s. By the trace, others waited 40.0 s for this");
    assert_null(fv_findings_named(&findings, "late_rank"));
    assert_null(fv_findings_named(&findings, "unexplained_waiting")); /* 10 s are left, which is too little */
    fv_findings_release(&findings);
}

/* Rank 1 was preempted for 30 s. Who is named used at least half of that; who is told to bind ranks has a processor for
 * each. */
static void who_preempted_it(void **state)
{
    static const struct {
        double cpu_s;
        unsigned processors;
        uint32_t started_by;
        const char *who, *next;
    } cases[] = { { 10, 2, FV_NONE, NULL, "bind each rank to processors of its own" },
                  { 20, 2, FV_NONE, "`cc1` did it: ", "bind each rank to processors of its own" },
                  { 20, 2, 0, "`cc1` did it, which rank 0 started: ", "leave processors for what ranks start" },
                  { 20, 1, FV_NONE, "`cc1`", "use an idle machine, or run no more ranks on a host than it has" } };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct fv_noise_other other = { .host = "host",
                                        .name = "cc1",
                                        .pid = 7,
                                        .rank = FV_NONE,
                                        .started_by = cases[i].started_by,
                                        .cpu_s = cases[i].cpu_s };
        struct fv_noise_rank noise_ranks[2] = {
            { .rank = 0, .cost_s = NAN, .by = FV_NONE },
            { .rank = 1, .cost_s = NAN, .by = 0, .by_count = 1, .by_cpu_s = cases[i].cpu_s }
        };
        struct fv_noise_view noise = { .ranks = noise_ranks, .rank_count = 2, .others = &other, .other_count = 1 };
        struct fv_facts_host host = { .host = "host", .processors = cases[i].processors };
        struct fv_rank ranks[2] = { half_in_mpi(0, 0), half_in_mpi(1, 0) };
        struct fv_model model = { .directory = "run",
                                  .ranks = ranks,
                                  .rank_count = 2,
                                  .data[FV_SUBJECT_noise] = &noise,
                                  .data[FV_SUBJECT_facts] = &(struct fv_facts){ .hosts = &host, .host_count = 1 },
                                  .efficiency = { .total_s = 2 * RUN_S } };
        const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
        struct fv_findings findings;

        ranks[1].off.preempted_s = 30;
        fv_findings_make(&findings, &profile);
        const struct fv_finding *f = fv_findings_named(&findings, "noise");
        assert_non_null(f);
        if (!strstr(f->text, cases[i].who ? cases[i].who : "") || (!cases[i].who && strstr(f->text, "`cc1`")) ||
            !strstr(f->next, cases[i].next))
            fail_msg("%zu: '%s', '%s'", i, f->text, f->next);
        fv_findings_release(&findings);
    }
}

static const char *const slow_texts[] = { "It was slow in react() in a.c, where rank 1 spends 40.0 s",
                                          "It was slow in a call path that was not recorded, before MPI_Allreduce",
                                          "It was slow in react() in a.c, where rank 1 spends 40.0 s" };

/* Rank 1 computes in react(), in the whole run. By the samples of the trace that is before the call that it came late
 * to, before another one, or not known. */
static void who_is_slow_elsewhere(void **state)
{
    struct fv_func function = { .name = "MPI_Allreduce", .class = FV_CLASS_COLLECTIVE };
    struct fv_site sites[2] = { { .function = 0 }, { .function = 0 } };
    struct fv_culprit culprit = { .rank = 1, .site = 0, .where = FV_PLACE_COMPUTING, .cost_s = 40 };
    struct fv_cost_procedure react = { .name = "react", .file = "a.c", .of_program = true, .parts = 1 };
    struct fv_cost_thread threads[] = { { .rank = 0, .tick_s = 0.01, .cpu_tick_s = 0.01 },
                                        { .rank = 1, .ticks = 4000, .tick_s = 0.01, .cpu_tick_s = 0.01 } };
    struct fv_cost_part part = { .owner = 1, .sum.total.ticks = 4000 };
    struct fv_cost_profile sampled = { .procedures = &react, .procedure_count = 1, .parts = &part };
    struct fv_rank ranks[2] = { { .host = "host",
                                  .threads = 1,
                                  .app_time_s = RUN_S,
                                  .end_s = RUN_S,
                                  .mpi_time_s = 50,
                                  .cpu_s = RUN_S,
                                  .off.blocked_s = NAN } };
    (void)state;

    fv_index_add(&sampled.names, fv_hash_text(react.name), 0);
    ranks[1] = ranks[0];
    ranks[1].world_rank = 1;
    for (uint32_t i = 0; i < 3; i++) {
        struct fv_late_procedure late = { .rank = 1, .site = i, .function = "react", .file = "a.c", .cpu_s = 40 };
        struct fv_model model = { .directory = "run",
                                  .ranks = ranks,
                                  .rank_count = 2,
                                  .functions = &function,
                                  .function_count = 1,
                                  .sites = sites,
                                  .site_count = 2,
                                  .data[FV_SUBJECT_costs] =
                                      &(struct fv_costs){ .threads = threads, .thread_count = 2, .ticks = 4000 },
                                  .efficiency = { .total_s = 2 * RUN_S },
                                  .causes = { .source = FV_CAUSES_TRACE,
                                              .culprits = &culprit,
                                              .culprit_count = 1,
                                              .late = &late,
                                              .late_count = i < 2 } };
        const struct fv_profile profile = { &model, &no_symbols, &sampled, &none, 0 };
        struct fv_findings findings;

        fv_findings_make(&findings, &profile);
        const struct fv_finding *f = fv_findings_named(&findings, "late_rank");
        assert_non_null(f);
        if (!strstr(f->text, slow_texts[i]))
            fail_msg("%u: '%s': wanted '%s'", i, f->text, slow_texts[i]);
        fv_findings_release(&findings);
    }
    fv_index_release(&sampled.names);
}

/* Rank 1 computes 40 s longer than the other in react(), or in the kernel. The trace puts all of the waiting down to it
 * at one call, or a part that is worth a finding, because it ended early, or a little at each of many calls. */
struct left_out {
    double charged_s;
    bool in_kernel;
    const char *late, *imbalance;
};

static void assert_said(const struct left_out *c, const struct fv_findings *findings)
{
    const char *wanted[] = { c->late, c->imbalance }, *names[] = { "late_rank", "load_imbalance" };

    for (int k = 0; k < 2; k++) {
        const struct fv_finding *f = fv_findings_named(findings, names[k]);

        if (!wanted[k] != !f || (f && !strstr(f->text, wanted[k])))
            fail_msg("%s, %g s: '%s': wanted '%s'", names[k], c->charged_s, f ? f->text : "-",
                     wanted[k] ? wanted[k] : "-");
    }
}

static void judge_left_out(const struct left_out *c, struct fv_cost_profile *sampled, struct fv_cost_part *part)
{
    uint64_t ticks = c->in_kernel ? 10 : 4000;
    struct fv_func function = { .name = "MPI_Allreduce", .class = FV_CLASS_COLLECTIVE };
    struct fv_site site = { .function = 0 };
    struct fv_cost_thread threads[] = { { .rank = 0, .tick_s = 0.01, .cpu_tick_s = 0.01 },
                                        { .rank = 1, .ticks = ticks, .tick_s = 0.01, .cpu_tick_s = 0.01 } };
    struct fv_rank ranks[2];
    struct fv_culprit culprit = { .rank = 1, .site = 0, .where = FV_PLACE_COMPUTING, .cost_s = c->charged_s };
    struct fv_costs costs = { .threads = threads, .thread_count = 2, .ticks = ticks };
    struct fv_model model = { .directory = "run",
                              .ranks = ranks,
                              .rank_count = 2,
                              .functions = &function,
                              .function_count = 1,
                              .sites = &site,
                              .site_count = 1,
                              .data[FV_SUBJECT_costs] = &costs,
                              .efficiency = { .total_s = 2 * RUN_S },
                              .causes = { .source = FV_CAUSES_TRACE, .culprits = &culprit, .culprit_count = 1 } };
    const struct fv_profile profile = { &model, &no_symbols, sampled, &none, 0 };
    struct fv_findings findings;

    part->sum.total.ticks = ticks;
    for (int r = 0; r < 2; r++)
        ranks[r] = (struct fv_rank){ .host = "host",
                                     .world_rank = r,
                                     .threads = 1,
                                     .app_time_s = RUN_S,
                                     .end_s = RUN_S,
                                     .mpi_time_s = r ? 50 : 90,
                                     .cpu_s = r ? 52 : 12, /* little of it in MPI */
                                     .system_s = 1 + (r && c->in_kernel ? 40 : 0) };
    fv_findings_make(&findings, &profile);
    assert_said(c, &findings);
    fv_findings_release(&findings);
}

static void what_a_trace_leaves_out(void **state)
{
    static const struct left_out cases[] = {
        { 40, false, "slow in react() in a.c, where rank 1 spends 49.0 s", NULL },
        { 10, false, "slow in react() in a.c, where rank 1 spends 49.0 s",
          "It spends 49.0 s of CPU time in react() in a.c" },
        { 1, false, NULL, "It spends 49.0 s of CPU time in react() in a.c" },
        { 40, true, "slow in the kernel, where rank 1 spends 41.0 s of system time, the other 1.00 s", NULL },
        { 1, true, NULL, "Most of the difference is in the kernel: 41.0 s of system time, the other 1.00 s" },
    };
    struct fv_cost_procedure react = { .name = "react", .file = "a.c", .of_program = true, .parts = 1 };
    struct fv_cost_part part = { .owner = 1 };
    struct fv_cost_profile sampled = { .procedures = &react, .procedure_count = 1, .parts = &part };
    (void)state;

    fv_index_add(&sampled.names, fv_hash_text(react.name), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        judge_left_out(&cases[i], &sampled, &part);
    fv_index_release(&sampled.names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ranks_wait_for),     cmocka_unit_test(who_was_late),
        cmocka_unit_test(preemption_is_said_once), cmocka_unit_test(who_preempted_it),
        cmocka_unit_test(causes_come_first),       cmocka_unit_test(what_is_not_judged_has_a_line),
        cmocka_unit_test(who_is_slow_elsewhere),   cmocka_unit_test(what_a_trace_leaves_out),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("findings_waiting", tests, NULL, NULL);
}
