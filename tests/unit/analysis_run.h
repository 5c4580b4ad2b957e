/* Runs made in memory, call by call, and their analysis: for tests with known answers. Times count from tick
 * 1,000,000,000. */
#ifndef ANALYSIS_RUN_H
#define ANALYSIS_RUN_H

#include "analysis/analysis.h"
#include "trace_builder.h"
#include "unit.h"

#define RANKS_MAX 33
static uint64_t memory; /* of the analysis: little makes many pieces */

struct run {
    struct fvr files[RANKS_MAX];
    struct events events[RANKS_MAX];
    size_t ranks;
    struct fv_merge merge;
    struct fv_analysis analysis;
};

static inline void begin_run(struct run *r, size_t ranks)
{
    *r = (struct run){ .ranks = ranks };
    for (size_t i = 0; i < ranks; i++) {
        rank_file(&r->files[i], (int)i, (int)ranks);
        begin_events(&r->events[i], 1000000000);
    }
}

/* A call of a rank; its details follow. */
static inline struct events *at(struct run *r, size_t rank, unsigned site, uint64_t begin, uint64_t end)
{
    struct events *e = &r->events[rank];

    flush_events(&r->files[rank], e);
    call(e, site, 1000000000 + begin, 1000000000 + end);
    return e;
}

static inline void analyse(struct run *r)
{
    const struct fv_analysis_options options = { .directory = "/tmp", .memory = memory };

    for (size_t i = 0; i < r->ranks; i++)
        end_file(&r->files[i], &r->events[i], NULL);
    merge_files(&r->merge, r->files, r->ranks);
    assert_true(fv_analyse(&r->analysis, &r->merge, &options));
}

static inline void end_run(struct run *r)
{
    fv_analysis_release(&r->analysis);
    fv_merge_close(&r->merge);
    for (size_t i = 0; i < r->ranks; i++)
        fvr_release(&r->files[i]);
}

static inline const char *function_of(const struct run *r, uint32_t site)
{
    return site == FV_NONE ? "" : r->merge.defs.functions[r->analysis.sites.items[site].function].name;
}

/* The sum over all tallies of a kind; rank < 0: of all ranks. */
static inline uint64_t sum(const struct run *r, enum fv_tally_what what, const char *function, int rank, int kind)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < r->analysis.tallies.count; i++) {
        const struct fv_tally *t = &r->analysis.tallies.items[i];

        if (t->what == (uint32_t)what && (!function || !strcmp(function_of(r, t->site), function)) &&
            (rank < 0 || t->rank == (uint32_t)rank) && (kind < 0 || t->kind == (uint32_t)kind))
            ns += t->ns;
    }
    return ns;
}

#endif
