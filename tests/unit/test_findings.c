/* What is found where two ranks are outside of MPI for different times: who computes, who is blocked, and who only had no
 * processor. The profiles are made up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/findings/findings.h"
#include "profile/profile.h"

#define RUN_S  100.0 /* of each rank */
#define TICK_S 0.01

/* Seconds of ranks 0 and 1. */
struct example {
    const char *what;
    double mpi[2], cpu[2], ready[2];
    double sampled[2]; /* CPU time outside of MPI; 0, 0: no samples */
    const char *found; /* all findings, by lost seconds */
    double lost;       /* of the last */
};

static const struct example examples[] = {
    { "nobody is longer", { 20, 20 }, { 100, 100 }, { 0, 0 }, { 0, 0 }, "", NAN },
    { "one computes longer", { 10, 50 }, { 100, 100 }, { 0, 0 }, { 0, 0 }, "load_imbalance", 40 },
    { "... by samples", { 10, 50 }, { 100, 100 }, { 0, 0 }, { 90, 50 }, "load_imbalance", 40 },
    { "one sleeps; MPI spins", { 10, 50 }, { 60, 100 }, { 0, 0 }, { 0, 0 }, "blocked_rank", 40 },
    { "... by samples", { 10, 50 }, { 60, 100 }, { 0, 0 }, { 50, 50 }, "blocked_rank", 40 },
    { "one computes longer, and both share a processor", { 10, 50 }, { 50, 50 }, { 50, 50 }, { 40, 25 },
      "no_processor load_imbalance", 15 },
    { "both sleep, one wakes later for want of a processor", { 20, 50 }, { 30, 60 }, { 40, 30 }, { 0, 0 }, "no_processor", 70 },
    { "both compute as long, one is kept from its processor", { 30, 46 }, { 16, 16 }, { 84, 84 }, { 7.7, 6.0 },
      "no_processor", 168 },
    { "... without samples", { 30, 46 }, { 16, 16 }, { 84, 84 }, { 0, 0 }, "no_processor", 168 },
};

static struct fv_rank rank_of(const struct example *e, unsigned i)
{
    struct fv_rank r = { .world_rank = (int)i, .host = "host", .threads = 1 };

    r.app_time_s = r.end_s = RUN_S;
    r.mpi_time_s = e->mpi[i];
    r.cpu_s = e->cpu[i];
    r.ready_s = e->ready[i];
    return r;
}

static void judge(const struct example *e)
{
    const bool sampled = e->sampled[0] > 0;
    struct fv_rank ranks[2] = { rank_of(e, 0), rank_of(e, 1) };
    struct fv_cost_thread threads[2] = { { .rank = 0, .ticks = (uint64_t)(e->sampled[0] / TICK_S), .tick_s = TICK_S },
                                         { .rank = 1, .ticks = (uint64_t)(e->sampled[1] / TICK_S), .tick_s = TICK_S } };
    struct fv_model model = { .directory = "run", .ranks = ranks, .rank_count = 2, .efficiency = { .total_s = 2 * RUN_S } };
    const struct fv_symbols symbols = { 0 };
    const struct fv_cost_profile costs = { 0 };
    const struct fv_findings none = { 0 };
    const struct fv_profile profile = { &model, &symbols, &costs, &none, 0 };
    struct fv_findings findings;
    char found[200] = "";

    if (sampled) {
        model.costs.threads = threads;
        model.costs.thread_count = 2;
        model.costs.ticks = threads[0].ticks + threads[1].ticks;
    }
    fv_findings_make(&findings, &profile);
    for (size_t i = 0; i < findings.count; i++)
        snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", i ? " " : "", findings.items[i].def->name);
    if (strcmp(found, e->found))
        fail_msg("%s: found '%s', wanted '%s'", e->what, found, e->found);
    if (findings.count && fabs(findings.items[findings.count - 1].lost_s - e->lost) > 1e-6)
        fail_msg("%s: lost %g s, wanted %g s", e->what, findings.items[findings.count - 1].lost_s, e->lost);
    fv_findings_release(&findings);
}

static void who_is_longer_outside(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++)
        judge(&examples[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_longer_outside),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
