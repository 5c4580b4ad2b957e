/* What is found where two ranks are outside of MPI for different times: who computes, who is blocked, and who only had
 * no processor. The profiles are made up. */
#include "profile/findings/excess.h"
#include "profile/findings/findings.h"
#include "profile/machine/facts.h"
#include "profile/memory/memory.h"
#include "profile/noise/noise.h"
#include "profile/profile.h"
#include "profile/samples/costs.h"
#include "profile/samples/samples.h"
#include "profile/threads/phases.h"
#include "unit.h"
#include "views/views.h"

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
    { "context switches: one is blocked, and both share a processor", { 10, 50 }, { 20, 40 }, { 50, 50 }, { 0, 0 },
      "no_processor blocked_rank", 40, { 38, 0 }, { 20, 20 }, 0, 0 },
    { "... one is kept from its processor", { 10, 50 }, { 50, 50 }, { 45, 5 }, { 0, 0 }, "no_processor", 50, { 1, 0 },
      { 44, 5 }, 0, 0 },
    { "... one has more to compute, which takes longer for that", { 10, 50 }, { 50, 50 }, { 45, 5 }, { 43, 25 },
      "no_processor load_imbalance", 18, { 1, 0 }, { 46, 25 }, 0, 0 },
    { "... or hardly more: caches do as much", { 10, 50 }, { 50, 50 }, { 45, 5 }, { 30, 24 }, "no_processor", 50,
      { 1, 0 }, { 40, 5 }, 1.5, 0 },
    { "both are kept from it, one has more to compute", { 10, 12 }, { 20, 30 }, { 80, 70 }, { 0, 0 },
      "no_processor load_imbalance", 9, { 0, 0 }, { 79, 68 }, 0, 0 },
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
static double ready_part; /* 0: they ended */

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
    r.ready_part = ready_part;
    if (ready_part > 0)
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
        { 1, 3, 0, "was blocked for 3.00 s of that, 1 time: it sleeps, or does I/O, or was stopped by a signal" },
        { 1000, 3, 0,
          "was blocked for 3.00 s of that, 1,000 times: it sleeps, or does I/O, or was stopped by a signal" },
        { 1000, 0.09, 0, "was blocked for 90.0 ms of that, 1,000 times: it sleeps, or does I/O" },
        { 1, 3, 2, "was blocked for 3.00 s of that, 1 time: it waits for its other threads, which compute" },
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

    ready_part = 0.5;
    judge(&killed, NULL);
    ready_part = 0;
    assert_non_null(strstr(said, "had no processor for 50.0 % of their time"));
    assert_int_equal(evidence, FV_EVIDENCE_ESTIMATE);
}

/* Nothing of a team is denied. */
static void disturbed_teams_are_not_judged(void **state)
{
    (void)state;
    struct fv_rank ranks[1] = {
        { .host = "host", .threads = 1, .app_time_s = RUN_S, .cpu_s = 20, .ready_s = 60, .ready_part = NAN }
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
          "The ranks used only 1.60 s of the 200 s that these processors can do; which process used the rest is not "
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

static const struct {
    double wait_s[2][4], balance, ready_s;
    const char *text; /* NULL: no finding */
} waiting_cases[] = {
    { { { 10, 10, 10, 10 }, { 30, 31, 29, 30 } },
      0.98,
      0,
      "Over the run the ranks compute alike (load balance 98.0 %), and all of them wait: the slow rank changes, or "
      "ranks take turns" },
    { { { 0, 21, 39, 60 }, { 30, 10, 0, 0 } },
      0.98,
      0,
      "waiting grows from rank 0 (0 s) to rank 3 (60.0 s): each rank waits for the one before it, as in a "
      "pipeline" },
    { { { 60, 39, 21, 0 }, { 10, 10, 10, 10 } },
      0.98,
      0,
      "waiting falls from rank 0 (60.0 s) to rank 3 (0 s): each rank waits for the one after it" },
    { { { 0, 0, 0, 0 }, { 0, 80, 80, 0 } }, 0.7, 0, "Rank 1 waits longest: 80.0 s" },
    { { { 10, 10, 10, 10 }, { 30, 31, 29, 30 } }, 0.98, 60, NULL },
};

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
 * What has a cause stands first, and then the rest, though it costs more. */
static void causes_come_first(void **state)
{
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
                              .efficiency = { .total_s = 2 * RUN_S, .wait_s = 90, .wait_kind = FV_WAIT_ESTIMATE } };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;
    const char *names[2] = { "load_imbalance", "unexplained_waiting" };
    (void)state;

    for (int r = 0; r < 2; r++) {
        ranks[r] = half_in_mpi(r, 10);
        ranks[r].mpi_time_s = r ? 60 : 30;
        ranks[r].off = (struct fv_off_processor){ .preempted_s = 5 };
    }
    fv_findings_make(&findings, &profile);
    assert_non_null(fv_findings_named(&findings, FV_FINDING_DISTURBED));
    size_t at[2] = { SIZE_MAX, SIZE_MAX };
    for (size_t i = 0; i < findings.count; i++)
        for (int k = 0; k < 2; k++)
            if (!strcmp(findings.items[i].def->name, names[k]))
                at[k] = i;
    assert_that(at[0], <, at[1]);
    assert_that(at[1], <, findings.count);
    assert_that(findings.items[at[0]].lost_s, <, findings.items[at[1]].lost_s);
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
        items[i] = (struct fv_finding){ .def = &def, .lost_s = 10, .text = long_text, .next = "do this" };
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

/* Of two ranks that had a processor for a hundredth of their time: 0.3 s of 1 s of CPU time are fvmpi's. */
static void what_fvmpi_itself_costs(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) { /* all of it, what starting and ending took, or little */
        struct fv_rank ranks[2] = { { .host = "host",
                                      .threads = 1,
                                      .app_time_s = RUN_S,
                                      .end_s = RUN_S,
                                      .cpu_s = 0.5,
                                      .ready_s = 99,
                                      .off.blocked_s = NAN } };
        struct fv_model model = { .directory = "run",
                                  .ranks = ranks,
                                  .rank_count = 2,
                                  .efficiency = { .total_s = 2 * RUN_S },
                                  .overhead = { .time_s = i == 2 ? 0.09 : 0.3, .once_s = i == 1 ? 0.25 : 0 } };
        const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
        struct fv_findings findings;

        ranks[1] = ranks[0];
        fv_findings_make(&findings, &profile);
        const struct fv_finding *f = fv_findings_named(&findings, "own_cost");
        assert_int_equal(f != NULL, i == 0);
        assert_true(!f || strstr(f->text, "fvmpi itself takes 30.0 % of the CPU time"));
        fv_findings_release(&findings);
    }
}

/* Rank 0 of a program of its own: bytes when it was 1/4, 1/2 as old as its last mark, and at the end, in MiB. */
static uint64_t eighth_mib; /* 0: not known */
static bool is_growing_as(enum fv_memory_mode mode, double allocated_bytes, double quarter_s, const uint64_t mib[3],
                          char text[300])
{
    struct fv_allocation_rank recorded = { .mode = mode };
    struct fv_allocation_part part = { .sum.allocated = { 1, allocated_bytes, 0 } };
    struct fv_clock clock = { .hz = 1e9 };
    struct fv_rank rank = { .host = "host", .threads = 1, .app_time_s = RUN_S, .end_s = RUN_S, .cpu_s = RUN_S };
    struct fv_model model = {
        .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
    };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;

    for (unsigned i = 0; i < FV_MEMORY_OCTAVES; i++)
        part.at[i] = NAN; /* all of it came since */
    struct fv_allocations allocated = { .ranks = &recorded, .rank_count = 1, .parts = &part, .part_count = 1 };
    if (mode) {
        model.clocks = &clock;
        model.data[FV_SUBJECT_memory] = &allocated;
    }
    rank.resident_eighth = eighth_mib << 20;
    rank.eighth_s = quarter_s / 2;
    rank.resident_quarter = mib[0] << 20;
    rank.quarter_s = quarter_s;
    rank.resident_half = mib[1] << 20;
    rank.half_s = 2 * quarter_s;
    rank.resident_peak = mib[2] << 20;
    fv_findings_make(&findings, &profile);
    const struct fv_finding *f = fv_findings_named(&findings, "growing_memory");
    snprintf(text, 300, "%s", f ? f->text : "");
    fv_findings_release(&findings);
    return text[0] != '\0';
}

static bool is_growing(double quarter_s, const uint64_t mib[3], char text[300])
{
    return is_growing_as(0, 0, quarter_s, mib, text);
}

/* Marks are at powers of two of the clock's ticks: the last one is anywhere in the second half of the run. */
static void what_grows(void **state)
{
    (void)state;
    char text[300];

    assert_true(is_growing(25, (const uint64_t[]){ 125, 150, 200 }, text));
    assert_non_null(strstr(text, "from 150 MiB at about 50.0 s to 200 MiB, about 1 MiB a second"));
    assert_true(is_growing(45, (const uint64_t[]){ 145, 190, 200 }, text));
    assert_non_null(strstr(text, "from 145 MiB at about 45.0 s to 200 MiB, about 1 MiB a second"));
    assert_false(is_growing(45, (const uint64_t[]){ 145, 200, 200 }, text)); /* it came to rest */
    assert_false(is_growing(45, (const uint64_t[]){ 190, 195, 196 }, text)); /* not worth a word */
    eighth_mib = 122; /* it grew up to the last mark, which the run ended soon after: how soon is chance */
    assert_true(is_growing(45, (const uint64_t[]){ 145, 200, 200 }, text));
    eighth_mib = 20; /* what came early is done */
    assert_false(is_growing(45, (const uint64_t[]){ 145, 155, 156 }, text));
    eighth_mib = 0;
    /* Where each object is known fvmpi's own records grow with them: no more is told than the program allocated. */
    assert_false(is_growing_as(FV_MEMORY_EXACT, 1 << 20, 25, (const uint64_t[]){ 125, 150, 200 }, text));
    assert_true(is_growing_as(FV_MEMORY_EXACT, 40 << 20, 25, (const uint64_t[]){ 125, 150, 200 }, text));
    assert_non_null(strstr(text, "from 150 MiB at about 50.0 s to 190 MiB"));
    assert_true(is_growing_as(FV_MEMORY_SAMPLED, 1 << 20, 25, (const uint64_t[]){ 125, 150, 200 }, text));
}

/* Long calls of one function on two threads of each of two ranks, seconds. Returns rank and lost seconds of the
 * finding. */
static struct fv_finding rare_calls(const double seconds[4], char text[300])
{
    struct fv_rank ranks[2] = {
        { .host = "host", .threads = 2, .app_time_s = RUN_S, .mpi_time_s = RUN_S },
        { .world_rank = 1, .host = "host", .threads = 2, .app_time_s = RUN_S, .mpi_time_s = RUN_S }
    };
    struct fv_sampled_part parts[4];
    const double rank_s[2] = { seconds[0] + seconds[1], seconds[2] + seconds[3] }, all_s = rank_s[0] + rank_s[1];
    struct fv_sampled_function function = { .parts = 4, .threads = 4, .contexts = 1, .calls = 1000 };
    struct fv_model model = {
        .directory = "run", .operands = "run", .ranks = ranks, .rank_count = 2, .efficiency = { .total_s = 2 * RUN_S }
    };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;

    for (uint32_t i = 0; i < 4; i++)
        parts[i] = (struct fv_sampled_part){ .rank = i / 2, .thread = i % 2, .rare.time_s = seconds[i] };
    function.rare =
        (struct fv_rare_calls){ .count = 20, .exact = true, .length_s = all_s / 20, .time_s = all_s, .calls = 1000 };
    function.rare.rank = rank_s[1] > rank_s[0];
    function.rare.rank_s = rank_s[function.rare.rank];
    model.data[FV_SUBJECT_samples] = &(struct fv_samples){
        .functions = &function, .function_count = 1, .parts = parts, .part_count = 4, .threads = 8
    };
    fv_findings_make(&findings, &profile);
    const struct fv_finding *f = fv_findings_named(&findings, "rare_slow_calls");
    assert_non_null(f);
    snprintf(text, 300, "%s", f->text);
    struct fv_finding found = *f;
    fv_findings_release(&findings);
    return found;
}

/* A rank is named that has most of the long calls by far: of two that are alike, one has a little more. */
static void who_has_rare_calls(void **state)
{
    (void)state;
    char text[300];

    assert_int_equal(rare_calls((const double[]){ 9, 0, 11, 0 }, text).rank, FV_NONE);
    assert_null(strstr(text, "rank"));
    assert_int_equal(rare_calls((const double[]){ 4, 0, 16, 0 }, text).rank, 1);
    assert_non_null(strstr(text, ". They were mostly on rank 1"));
    assert_int_equal(rare_calls((const double[]){ 20, 0, 0, 0 }, text).rank, 0);
    assert_non_null(strstr(text, ". They were on rank 0"));
}

/* Threads compute side by side; those that do nothing of it count for nothing. */
static void whose_rare_calls_cost(void **state)
{
    (void)state;
    char text[300];

    assert_near(rare_calls((const double[]){ 0, 0, 20, 0 }, text).lost_s, 20, 1e-9);
    assert_near(rare_calls((const double[]){ 10, 10, 10, 10 }, text).lost_s, 20, 1e-9);
    assert_near(rare_calls((const double[]){ 4, 6, 12, 0 }, text).lost_s, 18, 1e-9);
}

/* What a function is told to lose whose calls take 1 s in the median and 2 s on average, 100 s in all, of which rare
 * long calls of its callee take some. */
static double varying_s(double rare_s)
{
    struct fv_rank rank = { .host = "host", .threads = 1, .app_time_s = RUN_S, .mpi_time_s = 0 };
    struct fv_sampled_instance instances[8] = { { 0 } };
    struct fv_sampled_part part = { .all = { .count = 8, .mean[FV_METRIC_CPU] = 2 } };
    struct fv_sampled_function function = { .parts = 1,
                                            .threads = 1,
                                            .contexts = 1,
                                            .share = 1,
                                            .varies = FV_VARIES_WITHIN,
                                            .instances = 8,
                                            .judged = true,
                                            .all = part.all,
                                            .rare = { .count = rare_s > 0, .time_s = rare_s, .is_callees = true } };
    struct fv_sampled_function context = function;
    struct fv_model model = {
        .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
    };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;

    for (unsigned i = 0; i < 8; i++)
        instances[i].cpu_s = i < 5 ? 1 : 11.0 / 3;
    model.data[FV_SUBJECT_samples] = &(struct fv_samples){ .functions = &function,
                                                           .function_count = 1,
                                                           .items = &context,
                                                           .count = 1,
                                                           .parts = &part,
                                                           .part_count = 1,
                                                           .instances = instances,
                                                           .instance_count = 8,
                                                           .threads = 1,
                                                           .computing_s = RUN_S };
    fv_findings_make(&findings, &profile);
    const struct fv_finding *f = fv_findings_named(&findings, "varying_function");
    double lost_s = f ? f->lost_s : 0;
    fv_findings_release(&findings);
    return lost_s;
}

/* Rare long calls are not among those that were measured: what these are longer is not of the time in them. */
static void what_varying_calls_cost(void **state)
{
    (void)state;
    assert_near(varying_s(0), 50, 1e-9); /* the median is 1 s, the mean 2 s */
    assert_near(varying_s(60), 20, 1e-9);
}

/* A function of two contexts with 8 calls each, of 1 s or 9 s: 2 and 5 of them are long. */
static double varying_by_chance_s(double by_caller)
{
    struct fv_rank rank = { .host = "host", .threads = 1, .app_time_s = RUN_S, .mpi_time_s = 0 };
    struct fv_sampled_instance instances[16] = { { 0 } };
    struct fv_sampled_part part = { .all = { .count = 16, .mean[FV_METRIC_CPU] = 4.5 } };
    struct fv_sampled_function contexts[2] = {
        { .share = 0.5, .instances = 8, .judged = true, .all = { .count = 8, .mean[FV_METRIC_CPU] = 3 } },
        { .share = 0.5,
          .first_instance = 8,
          .instances = 8,
          .judged = true,
          .all = { .count = 8, .mean[FV_METRIC_CPU] = 6 } }
    };
    struct fv_sampled_function function = { .parts = 1,
                                            .threads = 1,
                                            .contexts = 2,
                                            .share = 1,
                                            .varies = FV_VARIES_WITHIN,
                                            .instances = 16,
                                            .judged = true,
                                            .by_caller = by_caller,
                                            .all = part.all };
    struct fv_model model = {
        .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
    };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;

    for (unsigned i = 0; i < 16; i++)
        instances[i].cpu_s = i < 2 || (i >= 8 && i < 13) ? 9 : 1;
    model.data[FV_SUBJECT_samples] = &(struct fv_samples){ .functions = &function,
                                                           .function_count = 1,
                                                           .items = contexts,
                                                           .count = 2,
                                                           .parts = &part,
                                                           .part_count = 1,
                                                           .instances = instances,
                                                           .instance_count = 16,
                                                           .threads = 1,
                                                           .computing_s = RUN_S };
    fv_findings_make(&findings, &profile);
    const struct fv_finding *f = fv_findings_named(&findings, "varying_function");
    double lost_s = f ? f->lost_s : 0;
    fv_findings_release(&findings);
    return lost_s;
}

/* Half of a few calls may be long by chance: where callers ask for the same, the median is that of all calls. */
static void what_is_typical(void **state)
{
    (void)state;
    assert_near(varying_by_chance_s(0), 100 * 3.5 / 4.5, 1e-9);
    assert_that(varying_by_chance_s(0.5), <, 1e-9); /* the second's are long: 5 of 8 are its own median */
}

/* Ticks of 10 ms, of rank 0 and rank 1: all is in main(), and some of it in two functions, the first of the program,
 * the second as told. */
static const char *most_of_ranks(struct fv_rank ranks[2], const uint64_t ticks[3][2], const char *first,
                                 const char *second, bool is_program)
{
    const char *const names[3] = { "main", first, second };
    struct fv_cost_thread threads[2];
    struct fv_cost_part parts[6];
    struct fv_cost_procedure procedures[3];

    for (uint32_t i = 0; i < 2; i++)
        threads[i] = (struct fv_cost_thread){ .rank = i, .ticks = ticks[0][i], .tick_s = 0.01, .cpu_tick_s = 0.01 };
    for (uint32_t i = 0; i < 6; i++)
        parts[i] = (struct fv_cost_part){ .owner = i % 2, .sum.total.ticks = ticks[i / 2][i % 2] };
    for (size_t i = 0; i < 3; i++)
        procedures[i] = (struct fv_cost_procedure){
            .name = names[i], .of_program = i < 2 || is_program, .first_part = 2 * i, .parts = 2
        };
    struct fv_model model = { .ranks = ranks,
                              .rank_count = 2,
                              .data[FV_SUBJECT_costs] =
                                  &(struct fv_costs){ .threads = threads, .thread_count = 2, .ticks = 160 } };
    const struct fv_cost_profile costs = { .parts = parts, .procedures = procedures, .procedure_count = 3 };
    const struct fv_profile profile = { &model, &no_symbols, &costs, &none, 0 };
    const struct fv_excess excess = fv_excess_of(&profile, 1);

    return excess.procedure ? excess.procedure->name : "";
}

/* CPU time is not measured: samples alone tell it. */
static const char *most_of_it(const uint64_t ticks[3][2], const char *first, const char *second, bool is_program)
{
    struct fv_rank ranks[2] = { { .threads = 1, .off.blocked_s = NAN }, { .threads = 1, .off.blocked_s = NAN } };

    return most_of_ranks(ranks, ticks, first, second, is_program);
}

/* A library's function is no place to look at where one of the program's own calls it. */
static void whose_function(void **state)
{
    (void)state;
    assert_string_equal(
        most_of_it((const uint64_t[3][2]){ { 60, 100 }, { 50, 90 }, { 20, 50 } }, "react", "pow", false), "react");
    /* main() would say nothing */
    assert_string_equal(most_of_it((const uint64_t[3][2]){ { 60, 100 }, { 0, 0 }, { 20, 50 } }, "react", "pow", false),
                        "pow");
    /* nor does Python's */
    assert_string_equal(
        most_of_it((const uint64_t[3][2]){ { 60, 100 }, { 60, 100 }, { 58, 97 } }, "<module>", "compute", true),
        "compute");
}

/* Samples may, by chance, tell more of a function that all use than the rank has more: it is the function that is
 * called more. */
static void more_than_the_whole(void **state)
{
    (void)state;
    assert_string_equal(
        most_of_it((const uint64_t[3][2]){ { 37, 97 }, { 25, 97 }, { 12, 66 } }, "compute", "react", true), "react");
}

/* Rank 1 computes longer in the kernel, where no samples are. Of that its system time tells too little: it is counted
 * by whole ticks of the kernel. */
static void kernel_time_is_nobodys(void **state)
{
    (void)state;
    struct fv_rank ranks[2] = { { .threads = 1, .app_time_s = 0.5, .system_s = 0.23 },
                                { .threads = 1, .app_time_s = 1.07, .system_s = 0.1 } };

    assert_string_equal(
        most_of_ranks(ranks, (const uint64_t[3][2]){ { 27, 35 }, { 27, 32 }, { 0, 3 } }, "compute", "touch", true), "");
    assert_string_equal(
        most_of_ranks(ranks, (const uint64_t[3][2]){ { 25, 44 }, { 25, 41 }, { 0, 3 } }, "compute", "touch", true), "");
    assert_string_equal(
        most_of_ranks(ranks, (const uint64_t[3][2]){ { 27, 97 }, { 25, 32 }, { 2, 65 } }, "compute", "react", true),
        "react");
}

/* A rank that has its processor for short times computes between the kernel's ticks: then samples by CPU time are to be
 * had. */
static double missed_s(uint64_t ticks, enum fv_sampler_mode mode, double blocked_s, double preempted_s, bool by_event)
{
    struct fv_rank rank = { .threads = 1,
                            .app_time_s = 1,
                            .off = { .blocked_s = blocked_s, .preempted_s = preempted_s } };
    struct fv_cost_thread thread = { .ticks = ticks, .tick_s = 0.01, .cpu_tick_s = 0.01 };
    struct fv_samples samples = { .threads = 1, .by_event = by_event };
    struct fv_model model = { .ranks = &rank,
                              .rank_count = 1,
                              .data = { [FV_SUBJECT_samples] = &samples,
                                        [FV_SUBJECT_costs] = &(struct fv_costs){
                                            .threads = &thread, .thread_count = 1, .ticks = ticks } } };

    samples.modes[mode] = 1;
    return fv_excess_missed_by_ticks(&model, 0);
}

static void ticks_miss_what_is_computed(void **state)
{
    (void)state;
    assert_near(missed_s(10, FV_SAMPLER_CLOCK, 0, 0, false), 0.1, 1e-9);
    assert_true(isnan(missed_s(60, FV_SAMPLER_CLOCK, 0, 0, false)));
    assert_near(missed_s(60, FV_SAMPLER_CLOCK, 0, 0.2, false), 0.6, 1e-9); /* they meet a busy machine unevenly */
    assert_true(isnan(missed_s(10, FV_SAMPLER_CLOCK, 0, 0.2, true)));
    assert_true(isnan(missed_s(10, FV_SAMPLER_COSTS, 0, 0, false)));
    assert_true(isnan(missed_s(10, FV_SAMPLER_CLOCK, NAN, 0, false))); /* how long it computed is not known */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_function),
        cmocka_unit_test(kernel_time_is_nobodys),
        cmocka_unit_test(ticks_miss_what_is_computed),
        cmocka_unit_test(more_than_the_whole),
        cmocka_unit_test(what_is_typical),
        cmocka_unit_test(who_is_longer_outside),
        cmocka_unit_test(what_is_said),
        cmocka_unit_test(what_is_next),
        cmocka_unit_test(why_it_is_blocked),
        cmocka_unit_test(may_have_been_stopped),
        cmocka_unit_test(disturbed_teams_are_not_judged),
        cmocka_unit_test(killed_ranks_had_no_processor),
        cmocka_unit_test(what_disturbs),
        cmocka_unit_test(others_disturb),
        cmocka_unit_test(hypervisor_disturbs),
        cmocka_unit_test(who_works_longest),
        cmocka_unit_test(who_had_the_processor),
        cmocka_unit_test(who_shares_the_processors),
        cmocka_unit_test(what_ranks_wait_for),
        cmocka_unit_test(who_was_late),
        cmocka_unit_test(preemption_is_said_once),
        cmocka_unit_test(causes_come_first),
        cmocka_unit_test(what_is_not_judged_has_a_line),
        cmocka_unit_test(who_is_slow_elsewhere),
        cmocka_unit_test(what_a_trace_leaves_out),
        cmocka_unit_test(what_fvmpi_itself_costs),
        cmocka_unit_test(startup),
        cmocka_unit_test(startup_alone),
        cmocka_unit_test(what_grows),
        cmocka_unit_test(who_has_rare_calls),
        cmocka_unit_test(what_varying_calls_cost),
        cmocka_unit_test(whose_rare_calls_cost),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
