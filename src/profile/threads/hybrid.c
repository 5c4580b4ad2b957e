/* SPDX-License-Identifier: BSD-3-Clause */
/* Efficiencies of MPI and OpenMP together, see tool/pop.h. Told of runs in which each rank's teams are known, and that
 * are as the formulas have it: one thread of a rank calls MPI, between regions. */
#include "profile/build.h"
#include "profile/relations.h"
#include "profile/threads/phases.h"

#include <math.h>
#include <stdlib.h>

#define IN_REGIONS 0.01 /* of the time outside of MPI: MPI's calls in regions are left where they are */

static bool is_in_region(const struct fv_model *m, uint32_t node)
{
    for (; node; node = m->tree.nodes[node].parent)
        if (m->tree.modules[m->tree.nodes[node].module].kind == FV_MODULE_OF_OPENMP)
            return true;
    return false;
}

/* MPI's time in regions, by rank. */
static double *in_regions(const struct fv_model *m)
{
    double *sums = fv_xcalloc(m->rank_count, sizeof(*sums));

    for (size_t i = 0; i < m->site_count; i++)
        for (uint32_t k = 0; is_in_region(m, m->sites[i].node) && k < m->sites[i].ranks; k++) {
            const struct fv_site_rank *part = &m->site_ranks[m->sites[i].first + k];

            sums[part->rank] += part->stat.sum_s;
        }
    return sums;
}

void fv_build_hybrid(struct fv_model *m)
{
    struct fv_hybrid hybrid = { .known = true };
    double *mpi_s = in_regions(m);
    bool teams = false, regions_of_one = false;

    for (size_t i = 0; i < m->rank_count && hybrid.known; i++) {
        const struct fv_rank *r = &m->ranks[i];
        struct fv_rank_regions regions = fv_model_phases(m)->regions[i];

        teams |= regions.sums.threads > 1;
        regions_of_one |= regions.sums.threads == 1;
        regions.sums.threads = fmax(regions.sums.threads, 1);
        hybrid.known = !regions.unknown && r->mpi_threads <= 1 && !(r->paused_s > 0) &&
                       mpi_s[i] <= IN_REGIONS * (r->app_time_s - r->mpi_time_s) &&
                       fv_pop_hybrid_add(&hybrid.sums, &regions.sums, r->app_time_s, r->mpi_time_s + r->polled_s);
    }
    if (hybrid.known && (teams || regions_of_one))
        m->hybrid = (struct fv_hybrid){ .known = teams, .sums = hybrid.sums };
    free(mpi_s);
}

/* ---- as a table ---- */

static const void *the_hybrid(void *subject, const void *parent)
{
    return &fv_tables_model(subject)->hybrid;
}

static void get_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_hybrid *of = row;
    const struct fv_pop_hybrid shares = fv_pop_hybrid_of(&of->sums);

    v->real = of->known ? *(const double *)(const void *)((const char *)&shares + c->argument) : NAN;
}

static bool is_known(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_hybrid *)row)->known;
}

#define SHARE(k, t, m, d)                                                                                \
    {                                                                                                    \
        k, t, "share", d, FV_GET(FV_TYPE_REAL, get_share), .flags = FV_NULLABLE,                         \
                                                           .argument = offsetof(struct fv_pop_hybrid, m) \
    }
#define SECONDS(k, t, m, d)                                                                       \
    {                                                                                             \
        k, t, "s", d, FV_FIELD(struct fv_hybrid, sums.m), .flags = FV_NULLABLE, .known = is_known \
    }
static const struct fv_column_def hybrid_columns[] = {
    SHARE("parallel", "parallel efficiency", parallel,
          "Share of the time of all threads that is computing: mpi_parallel x omp_parallel = sum U / (T sum N). N: "
          "threads of a rank, the most of a team."),
    SHARE("mpi_parallel", "MPI", mpi,
          "Share of the time of all threads outside of MPI: mpi_load_balance x mpi_communication. While a rank is in "
          "MPI, all its threads count as in MPI."),
    SHARE("mpi_load_balance", "MPI balance", mpi_load_balance,
          "Mean over maximum of the ranks' time outside of MPI, weighted by threads: sum N A / (max A sum N)."),
    SHARE("mpi_communication", "communication", mpi_communication,
          "Longest time of a rank outside of MPI over the longest time of a rank: max A / T."),
    SHARE("omp_parallel", "OpenMP", omp,
          "Share of the threads' time outside of MPI that is computing: omp_load_balance x omp_scheduling x "
          "omp_serialization = sum U / sum N A."),
    SHARE("omp_load_balance", "OpenMP balance", omp_load_balance,
          "Efficiency left by waiting in regions (imbalance_s): for the last thread at the end, at barriers, for "
          "criticals and locks."),
    SHARE("omp_scheduling", "scheduling", omp_scheduling,
          "Efficiency left by fork and join of regions (scheduling_s)."),
    SHARE("omp_serialization", "serialization", omp_serialization,
          "Efficiency left by threads outside of regions (serialization_s): idle workers while the main thread "
          "computes alone, and smaller teams."),
    SECONDS("useful_s", "useful", useful_s,
            "Computing time of all threads. Null, as the following: the efficiencies are not known."),
    SECONDS("imbalance_s", "imbalance", imbalance_s, "Time that threads waited for each other in regions."),
    SECONDS("scheduling_s", "scheduling", scheduling_s,
            "Time from the fork of regions until each thread began, and from the end of its last part to the join."),
    SECONDS("serialization_s", "serialization", serialization_s,
            "Time outside of MPI in which threads of a team are in no region."),
};
const struct fv_relation fv_hybrid_efficiency_relation = {
    .recorded_by = "fvmpi run --threads, where OpenMP's regions are seen",
    .name = "hybrid_efficiency",
    .key = "hybrid_efficiency",
    .title = "Efficiency of MPI and OpenMP",
    .group = "Threads and locks",
    .doc = "Efficiency metrics of the POP project for MPI and OpenMP together, as in TALP; formulas in src/tool/pop.h. "
           "Null: no OpenMP team was recorded. Also null with nested teams, teams of more than 256 threads, regions "
           "open at the end, pauses, MPI calls in regions, or MPI calls by several threads of a rank.",
    .shape = FV_ONE,
    FV_COLUMNS(hybrid_columns),
    .base = the_hybrid,
};
