/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that were counted over whole threads, in sections and in phases of threads (--counters), by rank; and metrics
 * of them (counters/counters.h). In a section, threads that opened it are counted in their instances, all others while
 * it was open on some thread of the rank. Exact, but where the events took turns with others, or other threads were
 * read for a part of the time: those are scaled by time; and where some thread is not known: then what the others
 * counted is a part. */
#ifndef FV_PROFILE_COUNTERS_H
#define FV_PROFILE_COUNTERS_H

#include "counters/counters.h"
#include "profile/model.h"
#include "tool/vec.h"
#include "trace/format.h"

#define FV_COUNTS_KINDS(X)                          \
    X(EXACT, "exact")                               \
    X(ESTIMATE, "estimate") /* events took turns */ \
    X(PART, "part")         /* threads or ranks are not in it */
#define FV_COUNTS_KIND(name, word) FV_COUNTS_##name,
enum fv_counts_kind { FV_COUNTS_KINDS(FV_COUNTS_KIND) };
static inline enum fv_counts_kind fv_counts_kind_of(bool is_scaled, bool is_part)
{
    return is_part ? FV_COUNTS_PART : is_scaled ? FV_COUNTS_ESTIMATE : FV_COUNTS_EXACT;
}

/* Where: the whole program is the first. */
struct fv_counts_scope {
    const char *name; /* "all", or a section's */
    int32_t number;
};

/* An event, of the ranks that asked for it. */
struct fv_counts_event {
    const char *name;
    const struct fv_quantity *quantity; /* NULL: none that is known */
    uint32_t flags;                     /* enum fv_counter_flags of the first rank */
    uint32_t refusal, refused_ranks;    /* errno of the first of them; 0: none */
};

/* Of a rank, all its threads. */
struct fv_counts_value {
    uint32_t scope, event, rank;  /* rank: in fv_model.ranks */
    uint32_t threads;             /* that counted */
    uint32_t missing;             /* that are not in it: they could not be counted, or the process ended before they
                                   * told */
    double value;                 /* NAN: no thread counted, or one not for a moment, or not to its end */
    double in_mpi;                /* of it; NAN: not known */
    double time_s, thread_time_s; /* of its longest thread, of all together */
    bool is_scaled;
    uint8_t kind; /* enum fv_counts_kind, also below */
};

struct fv_counts_thread {
    uint32_t scope, event, rank, thread; /* fv_thread_record.id */
    double value, in_mpi, time_s;
    bool is_scaled;
    uint8_t kind;
};

/* Over ranks; NAN: none knows. */
struct fv_counts_spread {
    double mean, min, max;
    uint32_t min_rank, max_rank; /* in fv_model.ranks; FV_NONE: there is none */
};

struct fv_counts_sum {
    uint32_t scope, event;
    uint32_t first, ranks;          /* its part of fv_counts.values, by rank */
    uint32_t first_thread, threads; /* its part of fv_counts.threads, by rank and thread */
    uint64_t missing;               /* threads, of all ranks */
    double sum, in_mpi, rate;       /* rate: by the time of the longest rank */
    struct fv_counts_spread of;     /* of ranks that miss no thread */
    bool is_scaled;
    uint8_t kind;
};

/* A metric of one thread that knows all of the formula, by its own time. */
struct fv_counts_thread_metric {
    uint32_t rank, thread;
    double value;
    bool is_scaled;
};

struct fv_counts_rank_metric {
    uint32_t rank;
    double value;
};

struct fv_counts_metric {
    uint32_t scope;
    uint32_t first_rank;            /* its part of fv_counts.rank_metrics, as many as `ranks`, by rank */
    uint32_t first_thread, threads; /* its part of fv_counts.thread_metrics, by rank and thread */
    const struct fv_metric_row *row;
    double value;       /* of the ranks that know all of the formula, together: of the sums of what was counted, and the
                         * longest time */
    uint32_t ranks;     /* these */
    double outside_mpi; /* the same of what was counted outside of MPI; NAN: not known, or of time */
    double peak;        /* NAN: not known */
    struct fv_counts_spread of;
    const char *formula;
    const char *mark; /* why it may be a bottleneck; NULL: it is not marked */
    bool is_scaled;
    uint8_t kind;
};

struct fv_counts {
    struct fv_arena arena;
    struct fv_index scope_index, event_index; /* by name */
    enum fv_processor_kind processor;         /* of the first rank that knows */
    struct fv_counts_scope *scopes;
    size_t scope_count, scope_room;
    struct fv_counts_event *events; /* as asked for; 0: nothing was counted */
    size_t event_count, event_room;
    struct fv_counts_value *values; /* by scope, event, rank */
    size_t value_count, value_room;
    struct fv_counts_thread *threads; /* by scope, event, rank, thread */
    size_t thread_count, thread_room;
    struct fv_counts_sum *sums; /* by scope and event; of the whole program first, of each event */
    size_t sum_count, sum_room;
    size_t whole_count;               /* of them of the whole program */
    struct fv_counts_metric *metrics; /* by scope, in the order of fv_metric_rows */
    size_t metric_count, metric_room;
    struct fv_counts_thread_metric *thread_metrics; /* by metric */
    size_t thread_metric_count, thread_metric_room;
    struct fv_counts_rank_metric *rank_metrics; /* by metric */
    size_t rank_metric_count, rank_metric_room;
};
/* Takes over what another run of the program counted that this one did not: of ranks and sections that are in both.
 * `finish` must follow. events: room for as many as `from` has; what number each has got, FV_NONE: it is not taken
 * over. */
void fv_counts_join(struct fv_counts *to, const struct fv_counts *from, const uint32_t *ranks, uint32_t *events);
/* Computes sums and metrics. */
void fv_counts_finish(struct fv_counts *view, size_t rank_count);
void fv_counts_release(struct fv_counts *view);
/* Is enough known for a sheet: what became of the processor's slots or cycles, the mix of instructions, or misses? */
bool fv_counts_fill_sheets(const struct fv_counts *view);
/* NULL: it is not known there. */
const struct fv_counts_metric *fv_counts_metric_named(const struct fv_counts *view, uint32_t scope, const char *name);
/* Of a rank or, unless that is FV_NONE, of one thread of it; NAN: not known. */
double fv_counts_metric_of(const struct fv_counts *view, const struct fv_counts_metric *metric, uint32_t rank,
                           uint32_t thread);
/* The peak of a metric, which was measured elsewhere. */
void fv_counts_set_peak(struct fv_counts *view, const char *metric, double peak);

/* In phases of threads. Values are as those of other scopes, but `threads` and `missing` are parts of threads: a thread
 * of a team has one in each region; time_s is the phase's longest_s. */
struct fv_model;
/* From what phases.counted has, when phases are those of the report; again when that has changed. */
void fv_counts_phases(struct fv_model *model);
/* fv_counts_join() of other runs, and the same of phases that are in both: these have one call path, as it was
 * recorded, and one function. So call paths are not named yet, on either side. */
void fv_counts_join_runs(struct fv_model *model, const struct fv_model *runs, size_t count);

/* What was counted of a quantity on a rank in a scope, outside of MPI if that is wanted; NAN: it is not known. */
double fv_counts_of(const struct fv_counts *view, uint32_t scope, uint32_t rank, const char *quantity,
                    bool outside_mpi);

/* The same of one thread, MPI included. */
double fv_counts_of_thread(const struct fv_counts *view, uint32_t scope, uint32_t rank, uint32_t thread,
                           const char *quantity);
/* The section's place in scopes; FV_NONE: nothing was counted in it. */
struct fv_section_view;
uint32_t fv_counts_scope_of(const struct fv_counts *view, const struct fv_section_view *section);

/* Over whole threads and sections; events 0: nothing was counted. In phases of threads (fv_counts_phases()): scope 0
 * is none, then fv_phases.items in their order; it has no threads. */
struct fv_counters {
    struct fv_counts counted, phases;
};
FV_SUBJECT_DATA(struct fv_counters, counters, counters)
static inline struct fv_counts *fv_model_counts(const struct fv_model *model)
{
    return &fv_model_counters(model)->counted;
}
static inline struct fv_counts *fv_model_phase_counts(const struct fv_model *model)
{
    return &fv_model_counters(model)->phases;
}

#endif
