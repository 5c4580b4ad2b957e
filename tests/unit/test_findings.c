/* What is found where two ranks are outside of MPI for different times: who computes, who is blocked, and who only had
 * no processor. The profiles are made up. */
#include "profile/findings/excess.h"
#include "profile/findings/findings.h"
#include "profile/machine/facts.h"
#include "profile/profile.h"
#include "profile/samples/costs.h"
#include "profile/samples/samples.h"
#include "profile/threads/phases.h"
#include "unit.h"

#define RUN_S  100.0 /* of each rank */
#define TICK_S 0.01

/* What a run without samples and threads has: nothing. */
static const struct fv_symbols no_symbols;
static const struct fv_cost_profile no_costs;
static const struct fv_findings none;

/* Seconds of ranks 0 and 1. */
struct example {
    const char *what;
    double mpi[2], cpu[2], ready[2];
    double sampled[2];               /* CPU time outside of MPI; 0, 0: no samples */
    const char *found;               /* all findings, by lost seconds */
    double lost;                     /* of the last */
    double blocked[2], preempted[2]; /* by context switches; preempted 0: not known */
    double tick_s;                   /* of samples; 0: TICK_S */
    double kernel;                   /* of CPU time, how much more than samples there is; 0: nothing */
};

/* A row is to be seen as one. */
/* clang-format off */
static const struct example examples[] = {
    { "nobody is longer", { 20, 20 }, { 100, 100 }, { 0, 0 }, { 0, 0 }, "", NAN, { 0 }, { 0 }, 0, 0 },
    { "one computes longer", { 10, 50 }, { 100, 100 }, { 0, 0 }, { 0, 0 }, "load_imbalance", 40, { 0 }, { 0 }, 0, 0 },
    { "... by samples", { 10, 50 }, { 100, 100 }, { 0, 0 }, { 90, 50 }, "load_imbalance", 40, { 0 }, { 0 }, 0, 0 },
    { "one sleeps; MPI spins", { 10, 50 }, { 60, 100 }, { 0, 0 }, { 0, 0 }, "blocked_rank", 40, { 0 }, { 0 }, 0, 0 },
    { "... by samples", { 10, 50 }, { 60, 100 }, { 0, 0 }, { 50, 50 }, "blocked_rank", 40, { 0 }, { 0 }, 0, 0 },
    { "one computes longer, and both share a processor", { 10, 50 }, { 50, 50 }, { 50, 50 }, { 40, 25 },
      "no_processor load_imbalance", 15, { 0 }, { 0 }, 0, 0 },
    { "both sleep, one wakes later for want of a processor", { 20, 50 }, { 30, 60 }, { 40, 30 }, { 0, 0 },
      "no_processor", 70, { 0 }, { 0 }, 0, 0 },
    { "both compute as long, one is kept from its processor", { 30, 46 }, { 16, 16 }, { 84, 84 }, { 7.7, 6.0 },
      "no_processor", 168, { 0 }, { 0 }, 0, 0 },
    { "... without samples", { 30, 46 }, { 16, 16 }, { 84, 84 }, { 0, 0 }, "no_processor", 168, { 0 }, { 0 }, 0, 0 },
    { "context switches: one is blocked, and both share a processor", { 10, 50 }, { 32, 40 }, { 30, 50 }, { 0, 0 },
      "no_processor blocked_rank", 40, { 38, 0 }, { 20, 20 }, 0, 0 },
    { "... both sleep as long, and one wakes late", { 10, 50 }, { 15, 35 }, { 55, 35 }, { 0, 0 }, "no_processor", 90,
      { 70, 30 }, { 10, 10 }, 0, 0 },
    { "... one is kept from its processor", { 10, 50 }, { 50, 50 }, { 45, 5 }, { 0, 0 }, "no_processor", 50, { 1, 0 },
      { 44, 5 }, 0, 0 },
    { "... one has more to compute, which takes longer for that", { 10, 50 }, { 50, 50 }, { 45, 5 }, { 43, 25 },
      "no_processor load_imbalance", 18, { 1, 0 }, { 46, 25 }, 0, 0 },
    { "... or hardly more: caches do as much", { 10, 50 }, { 50, 50 }, { 45, 5 }, { 30, 24 }, "no_processor", 50,
      { 1, 0 }, { 40, 5 }, 1.5, 0 },
    { "both are kept from it, one has more to compute", { 10, 12 }, { 20, 30 }, { 80, 70 }, { 0, 0 },
      "no_processor load_imbalance", 9, { 0, 0 }, { 79, 68 }, 0, 0 },
    { "... while the other sleeps as long", { 10, 12 }, { 10, 50 }, { 50, 48 }, { 0, 0 }, "no_processor", 98, { 40, 0 },
      { 48, 48 }, 0, 0 },
    { "... less than 2 % of all time, and much of what they had processors for", { 2, 2 }, { 5, 8 }, { 95, 92 },
      { 0, 0 }, "no_processor load_imbalance", 3, { 0, 0 }, { 93, 90 }, 0, 0 },
    { "... by samples that are too few", { 10, 12 }, { 20, 25 }, { 80, 75 }, { 18, 24 }, "no_processor", 155, { 0, 0 },
      { 0, 0 }, 1.5, 0 },
    { "... one computes, and waits for I/O in MPI", { 10, 50 }, { 90, 100 }, { 0, 0 }, { 0, 0 }, "load_imbalance", 40,
      { 1, 1 }, { 1, 0 }, 0, 0 },
    { "both share a processor, one computes longer, most of it in the kernel", { 10, 50 }, { 50, 50 }, { 50, 50 },
      { 8, 5 }, "no_processor load_imbalance", 15, { 0 }, { 0 }, 0, 4 },
    { "context switches: both share a processor, one computes longer, without samples of it", { 10, 50 }, { 50, 50 },
      { 50, 25 }, { 1, 1 }, "no_processor load_imbalance", 15, { 0, 0 }, { 50, 25 }, 0, 0 },
    { "... without any samples", { 10, 50 }, { 50, 50 }, { 50, 25 }, { 0, 0 }, "no_processor load_imbalance", 15,
      { 0, 0 }, { 50, 25 }, 0, 0 },
    { "context switches of one are missing: it did not compute for longer than it had a processor", { 10, 10 },
      { 50, 50 }, { 50, 50 }, { 0, 0 }, "no_processor", 100, { 0, 0 }, { 1, 45 }, 0, 0 },
    { "samples of one end early", { 10, 10 }, { 100, 100 }, { 0, 0 }, { 1, 90 }, "", NAN, { 0 }, { 0 }, 0, 0 },
};
/* clang-format on */

/* One is blocked. `own`: CPU time of other threads than the main one. */
static const struct {
    struct example e;
    double own[2];
} awaiting[] = {
    { { "the main thread waits for another, which computes",
        { 10, 50 },
        { 98, 100 },
        { 0, 0 },
        { 0, 0 },
        "load_imbalance",
        40,
        { 38, 0 },
        { 1, 0 },
        0,
        0 },
      { 36, 0 } },
    { { "... for want of a processor for a part of that",
        { 10, 50 },
        { 76, 100 },
        { 0, 0 },
        { 0, 0 },
        "blocked_rank",
        40,
        { 38, 0 },
        { 1, 0 },
        0,
        0 },
      { 14, 0 } },
    { { "it sleeps, and threads of both compute",
        { 10, 50 },
        { 100, 140 },
        { 0, 0 },
        { 0, 0 },
        "blocked_rank",
        40,
        { 38, 0 },
        { 1, 0 },
        0,
        0 },
      { 40, 40 } },
};

static bool has_children;
static double ready_least_s; /* 0: they ended */

static struct fv_rank rank_of(const struct example *e, const double own[2], unsigned i)
{
    struct fv_rank r = { .world_rank = (int)i, .host = "host", .threads = 1 };

    r.app_time_s = r.end_s = RUN_S;
    r.mpi_time_s = e->mpi[i];
    r.cpu_s = e->cpu[i];
    r.ready_s = e->ready[i];
    r.others_cpu_s = own ? own[i] : 0;
    r.off.blocked_s = e->preempted[0] > 0 ? e->blocked[i] : NAN;
    r.off.preempted_s = e->preempted[0] > 0 ? e->preempted[i] : NAN;
    r.has_children = has_children;
    r.ready_least_s = ready_least_s;
    if (ready_least_s > 0)
        r.ready_s = r.cpu_s = NAN;
    return r;
}

static struct fv_cost_profile costs; /* of what is judged: a test may have some */
static char said[300], next[300];    /* by the last finding of what was judged last, and ... */
static enum fv_evidence evidence;    /* ... its own */

static void judge(const struct example *e, const double own[2])
{
    const bool sampled = e->sampled[0] > 0;
    struct fv_rank ranks[2] = { rank_of(e, own, 0), rank_of(e, own, 1) };
    const double tick_s = e->tick_s > 0 ? e->tick_s : TICK_S;
    const double cpu_tick_s = tick_s * (1 + e->kernel);
    struct fv_cost_thread threads[2] = {
        { .rank = 0, .ticks = (uint64_t)(e->sampled[0] / tick_s), .tick_s = tick_s, .cpu_tick_s = cpu_tick_s },
        { .rank = 1, .ticks = (uint64_t)(e->sampled[1] / tick_s), .tick_s = tick_s, .cpu_tick_s = cpu_tick_s },
    };
    struct fv_model model = {
        .directory = "run", .operands = "run", .ranks = ranks, .rank_count = 2, .efficiency = { .total_s = 2 * RUN_S }
    };
    struct fv_costs clock_samples = {
        .threads = threads, .thread_count = 2, .ticks = threads[0].ticks + threads[1].ticks, .tick_s = tick_s
    };
    const struct fv_symbols symbols = { 0 };
    const struct fv_profile profile = { &model, &symbols, &costs, &none, 0 };
    struct fv_findings findings;
    char found[200] = "";

    if (sampled)
        model.data[FV_SUBJECT_costs] = &clock_samples;
    fv_findings_make(&findings, &profile);
    for (size_t i = 0; i < findings.count; i++)
        snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", i ? " " : "",
                 findings.items[i].def->name);
    if (strcmp(found, e->found))
        fail_msg("%s: found '%s', wanted '%s'", e->what, found, e->found);
    if (findings.count && fabs(findings.items[findings.count - 1].lost_s - e->lost) > 1e-6)
        fail_msg("%s: lost %g s, wanted %g s", e->what, findings.items[findings.count - 1].lost_s, e->lost);
    snprintf(said, sizeof(said), "%s", findings.count ? findings.items[findings.count - 1].text : "");
    evidence = findings.count ? findings.items[findings.count - 1].evidence : FV_EVIDENCE_EXACT;
    snprintf(next, sizeof(next), "%s", findings.count ? findings.items[findings.count - 1].next : "");
    fv_findings_release(&findings);
}

static void who_is_longer_outside(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++)
        judge(&examples[i], NULL);
    for (size_t i = 0; i < sizeof(awaiting) / sizeof(*awaiting); i++)
        judge(&awaiting[i].e, awaiting[i].own);
}

static const struct example said_computing[] = {
    { "CPU time by samples", { 10, 50 }, { 100, 100 }, { 0, 0 }, { 89, 50 }, "load_imbalance", 40, { 0 }, { 0 }, 0, 0 },
    { "... by context switches",
      { 10, 50 },
      { 98, 99 },
      { 0, 0 },
      { 0, 0 },
      "load_imbalance",
      40,
      { 1, 0 },
      { 1, 1 },
      0,
      0 },
};
static const struct example said_outside[] = {
    { "preempted as well",
      { 10, 50 },
      { 85, 85 },
      { 4, 4 },
      { 80, 45 },
      "load_imbalance",
      40,
      { 1, 0 },
      { 9, 5 },
      0,
      0 },
    { "CPU time is not known", { 10, 50 }, { 100, 100 }, { 0, 0 }, { 0, 0 }, "load_imbalance", 40, { 0 }, { 0 }, 0, 0 },
};
static const struct example said_more[] = {
    { "shared processor, by samples",
      { 10, 50 },
      { 50, 50 },
      { 50, 50 },
      { 40, 25 },
      "no_processor load_imbalance",
      15,
      { 0 },
      { 0 },
      0,
      0 },
    { "... measured",
      { 10, 50 },
      { 50, 50 },
      { 50, 25 },
      { 0, 0 },
      "no_processor load_imbalance",
      15,
      { 0 },
      { 50, 25 },
      0,
      0 },
};

/* Times are said to be computing where they are CPU time. */
static void what_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        judge(&said_computing[i], NULL);
        assert_string_equal(said, "rank 0 computes 90.0 s, the other 50.0 s");
        judge(&said_outside[i], NULL);
        assert_string_equal(said, "rank 0 is outside of MPI for 90.0 s, the other 50.0 s");
    }
    judge(&said_more[0], NULL);
    assert_string_equal(said, "rank 0 computes about 40.0 s of CPU time, the other 25.0 s: 1.6 times as much");
    assert_int_equal(evidence, FV_EVIDENCE_SAMPLES);
    judge(&said_more[1], NULL);
    assert_string_equal(said, "rank 0 computes 40.0 s of CPU time, the other 25.0 s: 1.6 times as much");
    assert_int_equal(evidence, FV_EVIDENCE_EXACT);
}

/* SIGSTOP looks like a long sleep. Among many short ones one may be long; not where all together are short, nor where
 * the main thread waits for the rank's own. */
static void may_have_been_stopped(void **state)
{
    static const struct {
        uint64_t blocked;
        double blocked_s, own_s;
        const char *words;
    } cases[] = {
        { 1, 3, 0, "was blocked for 3.00 s, 1 time: it sleeps, or does I/O, or was stopped by a signal" },
        { 1000, 3, 0, "was blocked for 3.00 s, 1,000 times: it sleeps, or does I/O, or was stopped by a signal" },
        { 1000, 0.09, 0, "was blocked for 90.0 ms, 1,000 times: it sleeps, or does I/O" },
        { 1, 3, 2, "was blocked for 3.00 s, 1 time: it waits for its other threads, which compute" },
    };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct fv_rank ranks[2] = { { .off = { .blocked = cases[i].blocked, .blocked_s = cases[i].blocked_s },
                                      .others_cpu_s = cases[i].own_s } };
        struct fv_model model = { .ranks = ranks, .rank_count = 2 };
        char words[200];

        assert_string_equal(fv_blocked_words(&model, 0, NULL, words), cases[i].words);
    }
}

/* Where it is outside of MPI for longest, a rank may hardly be blocked. */
static void is_blocked_elsewhere(void **state)
{
    struct fv_rank ranks[2] = { { .off = { .blocked = 115, .blocked_s = 0.08 } } };
    struct fv_model model = { .ranks = ranks, .rank_count = 2 };
    struct fv_region region = { .max_rank = 0 };
    char words[200];

    (void)state;
    assert_string_equal(fv_blocked_words(&model, 0, &region, words),
                        "was blocked for 0 s, 0 times (80.0 ms in all): it sleeps, or does I/O");
}

/* Who starts programs waits for them. */
static void why_it_is_blocked(void **state)
{
    (void)state;
    static const struct example sleeps = { "one sleeps", { 10, 50 }, { 60, 100 }, { 0, 0 }, { 0, 0 }, "blocked_rank",
                                           40,           { 0 },      { 0 },       0,        0 };

    judge(&sleeps, NULL);
    assert_non_null(strstr(said, "it sleeps, or does I/O, or was stopped by a signal")); /* how often is not known */
    has_children = true;
    judge(&sleeps, NULL);
    has_children = false;
    assert_non_null(strstr(said, "it sleeps, does I/O, or waits for child processes"));
}

static void killed_ranks_had_no_processor(void **state)
{
    (void)state;
    static const struct example killed = {
        "half of the time", { 50, 50 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, "no_processor", RUN_S, { 0 }, { 0 }, 0, 0
    };

    ready_least_s = 0.5 * RUN_S;
    judge(&killed, NULL);
    ready_least_s = 0;
    assert_non_null(strstr(said, "had no processor for 50.0 % of their time"));
    assert_int_equal(evidence, FV_EVIDENCE_ESTIMATE);
}

/* Nothing of a team is denied. */
static void disturbed_teams_are_not_judged(void **state)
{
    (void)state;
    struct fv_rank ranks[1] = {
        { .host = "host", .threads = 1, .app_time_s = RUN_S, .cpu_s = 20, .ready_s = 60, .ready_least_s = NAN }
    };
    struct fv_phase phase = {
        .kind = FV_PHASE_OMP,
        .node = 1,
        .sums = { .threads = 2, .threads_max = 2, .instances = 1, .time_s = 80, .wait_s = 30, .useful_longest_s = 40 }
    };
    struct fv_model model = { .directory = "run",
                              .operands = "run",
                              .ranks = ranks,
                              .rank_count = 1,
                              .efficiency = { .total_s = RUN_S },
                              .data[FV_SUBJECT_phases] = &(struct fv_phases){ .items = &phase, .count = 1 } };
    const struct fv_symbols symbols = { 0 };
    const struct fv_profile profile = { &model, &symbols, &costs, &none, 0 };
    struct fv_findings findings;

    fv_findings_make(&findings, &profile);
    assert_int_equal(findings.count, 1);
    assert_int_equal(findings.left_count, 1);
    assert_non_null(strstr(findings.left[0], "whether the threads of a team work alike"));
    fv_findings_release(&findings);
}

/* Samples name none of a Python program's functions: no table of procedures helps. */
static void what_is_next(void **state)
{
    (void)state;
    static const struct example computing = {
        "one computes longer", { 10, 50 }, { 100, 100 }, { 0, 0 }, { 90, 50 }, "load_imbalance", 40, { 0 }, { 0 }, 0, 0
    };
    struct fv_cost_procedure procedure = { .name = "PyEval_EvalFrameDefault", .sum.total.ticks = 90 };

    judge(&computing, NULL);
    assert_string_equal(next, "CPU time of all functions: fvmpi report run --table cpu_procedures");
    costs = (struct fv_cost_profile){ .procedures = &procedure, .procedure_count = 1, .all.ticks = 100 };
    judge(&computing, NULL);
    assert_non_null(strstr(next, "none of Python"));
    costs = (struct fv_cost_profile){ 0 };
}

/* A turn of the scheduler is no disturbance, however short the run. */
static void what_disturbs(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const double run_s = i ? 0.1 : 0.001;
        struct fv_rank rank = {
            .host = "host", .threads = 1, .app_time_s = run_s, .end_s = run_s, .ready_s = 0.1 * run_s
        };
        struct fv_model model = {
            .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = run_s }
        };
        const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
        struct fv_findings findings;

        fv_findings_make(&findings, &profile);
        assert_int_equal(fv_findings_named(&findings, FV_FINDING_DISTURBED) != NULL, i);
        fv_findings_release(&findings);
    }
}

/* Waiting in MPI_Finalize is for a rank that comes late, and no part of starting and ending. */
static void startup(void **state)
{
    (void)state;
    for (unsigned waits = 0; waits < 2; waits++) {
        struct fv_rank rank = { .host = "host",
                                .threads = 1,
                                .app_time_s = RUN_S,
                                .end_s = RUN_S,
                                .init_s = 0.1 * RUN_S,
                                .finalize_s = 0.2 * RUN_S };
        struct fv_func finalize = { .name = "MPI_Finalize", .wait_s = waits ? 0.1 * RUN_S : 0 };
        struct fv_model model = { .directory = "run",
                                  .operands = "run",
                                  .ranks = &rank,
                                  .rank_count = 1,
                                  .functions = &finalize,
                                  .function_count = 1,
                                  .efficiency = { .total_s = RUN_S } };
        const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
        struct fv_findings findings;

        fv_findings_make(&findings, &profile);
        assert_int_equal(findings.count, !waits);
        assert_true(waits || !strcmp(findings.items[0].def->name, "startup"));
        fv_findings_release(&findings);
    }
}

/* Recording waited for its file in MPI_Finalize, which is no time of the rank's: nearly all of that is starting and
 * ending. */
static void startup_alone(void **state)
{
    struct fv_rank rank = { .host = "host",
                            .threads = 1,
                            .app_time_s = RUN_S,
                            .end_s = 1.2 * RUN_S,
                            .waited_s = 0.2 * RUN_S,
                            .init_s = 0.9 * RUN_S,
                            .finalize_s = 0.2 * RUN_S };
    struct fv_model model = {
        .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
    };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;
    (void)state;

    fv_findings_make(&findings, &profile);
    assert_int_equal(findings.count, 1);
    assert_string_equal(findings.items[0].def->name, "startup");
    assert_near(findings.items[0].lost_s, RUN_S, 1e-9);
    fv_findings_release(&findings);
}

/* What a hypervisor took stands in CPU times, and is told as what disturbed the run. */
static void hypervisor_disturbs(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct fv_rank rank = {
            .host = "host", .threads = 1, .app_time_s = RUN_S, .end_s = RUN_S, .ready_s = 1, .stolen_s = i ? 20 : 1
        };
        struct fv_model model = {
            .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
        };
        const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
        struct fv_findings findings;

        fv_findings_make(&findings, &profile);
        const struct fv_finding *f = fv_findings_named(&findings, FV_FINDING_DISTURBED);
        assert_int_equal(f != NULL, i);
        assert_true(!f || (fabs(f->lost_s - 21) < 1e-9 && f->evidence == FV_EVIDENCE_ESTIMATE &&
                           strstr(f->text, "The hypervisor")));
        fv_findings_release(&findings);
    }
}
static void others_disturb(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct fv_rank rank = { .host = "host",
                                .threads = 1,
                                .app_time_s = RUN_S,
                                .end_s = RUN_S,
                                .others_cpu_s = 80,
                                .others_ready_s = i ? 80 : 4 };
        struct fv_model model = {
            .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
        };
        const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
        struct fv_findings findings;

        fv_findings_make(&findings, &profile);
        const struct fv_finding *f = fv_findings_named(&findings, FV_FINDING_DISTURBED);
        assert_int_equal(f != NULL, i);
        assert_true(!f || fabs(f->lost_s - 50) < 1e-9);
        fv_findings_release(&findings);
    }
}

/* Threads of a team lose their processors, too: what they work longest holds that. */
static void who_works_longest(void **state)
{
    (void)state;
    static const struct {
        double ready_s;
        const char *evidence; /* NULL: not found */
    } cases[] = { { 0, "exact" }, { 6, "estimate" }, { 60, NULL } };
    static const struct fv_module program = { .path = "program", .name = "program" };
    static struct fv_frame frame = { .function = "relax" };
    static struct fv_symbol of_node[2] = { { 0 }, { .count = 1 } };
    static const struct fv_node nodes[2];
    static const struct fv_symbols symbols = {
        .modules = &program, .nodes = nodes, .frames = &frame, .frame_count = 1, .of_node = of_node
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct fv_rank rank = {
            .host = "host", .threads = 2, .app_time_s = RUN_S, .end_s = RUN_S, .ready_s = cases[i].ready_s
        };
        struct fv_phase phase = {
            .kind = FV_PHASE_OMP,
            .node = 1,
            .sums = { .instances = 10, .threads = 20, .threads_max = 2, .time_s = 120, .useful_longest_s = 80 }
        };
        struct fv_model model = {
            .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
        };
        const struct fv_profile profile = { &model, &symbols, &no_costs, &none, 0 };
        struct fv_findings findings;

        model.data[FV_SUBJECT_phases] = &(struct fv_phases){ .items = &phase, .count = 1 };
        fv_findings_make(&findings, &profile);
        const struct fv_finding *f = fv_findings_named(&findings, "thread_imbalance");
        assert_int_equal(f != NULL, cases[i].evidence != NULL);
        if (f)
            assert_string_equal(fv_evidence_words[f->evidence], cases[i].evidence);
        fv_findings_release(&findings);
    }
}

/* Threads of a rank that is bound to fewer processors are in each other's way: to bind ranks is no cure. */
static void who_had_the_processor(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) { /* one; as many as threads; one, and threads that sleep: others had it */
        unsigned cpus = 1 + i % 2;
        struct fv_rank rank = { .host = "host",
                                .threads = 1,
                                .cpus = cpus,
                                .cpu_mask = { 3 },
                                .app_time_s = RUN_S,
                                .end_s = RUN_S,
                                .ready_s = 40,
                                .cpu_s = i == 2 ? 20 : 90,
                                .own_threads_s = 40 };
        struct fv_model model = {
            .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
        };
        const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
        struct fv_findings findings;

        fv_findings_make(&findings, &profile);
        const struct fv_finding *f = fv_findings_named(&findings, FV_FINDING_DISTURBED);
        assert_non_null(f);
        assert_int_equal(strstr(f->text, "2 threads of a rank have 1 processor") != NULL, i == 0);
        assert_int_equal(strstr(f->next, "--bind-to none") != NULL, i == 0);
        fv_findings_release(&findings);
    }
}

/* Of four ranks, which wait for a processor for half of their time: what they may run on, and what they used of it,
 * tells why. */
static void who_shares_the_processors(void **state)
{
    static const struct {
        unsigned cpus;
        uint64_t mask;
        double cpu_s;
        const char *text, *next;
    } cases[] = {
        { 2, 3, 0.4,
          "The ranks used only 1.60 s of the 200 s of CPU time that these processors have; what ran there while they "
          "waited is "
          "not "
          "known",
          "use an idle machine" },
        { 2, 3, 45, "4 ranks share the 2 processors of host", "run fewer ranks" },
        { 1, 1, 24, "4 ranks are bound to 1 processor of host, which has 2", "--bind-to none" },
    };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct fv_facts_host host = { .host = "host", .processors = 2 };
        struct fv_rank ranks[4];
        struct fv_model model = { .directory = "run",
                                  .ranks = ranks,
                                  .rank_count = 4,
                                  .efficiency = { .total_s = 4 * RUN_S },
                                  .data[FV_SUBJECT_facts] = &(struct fv_facts){ .hosts = &host, .host_count = 1 } };
        const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
        struct fv_findings findings;

        for (int r = 0; r < 4; r++)
            ranks[r] = (struct fv_rank){ .world_rank = r,
                                         .host = "host",
                                         .threads = 1,
                                         .cpus = cases[i].cpus,
                                         .cpu_mask = { cases[i].mask },
                                         .app_time_s = RUN_S,
                                         .end_s = RUN_S,
                                         .ready_s = 50,
                                         .cpu_s = cases[i].cpu_s,
                                         .off.blocked_s = NAN };
        fv_findings_make(&findings, &profile);
        const struct fv_finding *f = fv_findings_named(&findings, FV_FINDING_DISTURBED);
        assert_non_null(f);
        if (!strstr(f->text, cases[i].text) || !strstr(f->next, cases[i].next))
            fail_msg("'%s', '%s': wanted '%s', '%s'", f->text, f->next, cases[i].text, cases[i].next);
        assert_int_equal(findings.left_count, 1); /* whether they compute alike */
        fv_findings_release(&findings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_longer_outside),
        cmocka_unit_test(what_is_said),
        cmocka_unit_test(what_is_next),
        cmocka_unit_test(why_it_is_blocked),
        cmocka_unit_test(may_have_been_stopped),
        cmocka_unit_test(is_blocked_elsewhere),
        cmocka_unit_test(disturbed_teams_are_not_judged),
        cmocka_unit_test(killed_ranks_had_no_processor),
        cmocka_unit_test(what_disturbs),
        cmocka_unit_test(others_disturb),
        cmocka_unit_test(hypervisor_disturbs),
        cmocka_unit_test(who_works_longest),
        cmocka_unit_test(who_had_the_processor),
        cmocka_unit_test(who_shares_the_processors),
        cmocka_unit_test(startup),
        cmocka_unit_test(startup_alone),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
