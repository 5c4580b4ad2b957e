/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that were sampled (fvmpi run --sample), unified over ranks and threads: in their calling contexts, and each
 * over all its contexts. How long their instances took, how much that varies, and what part of the CPU time is
 * theirs. */
#ifndef FV_PROFILE_SAMPLES_H
#define FV_PROFILE_SAMPLES_H

#include "profile/model.h"
#include "profile/noise/shares.h"
#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>

/* The paper's thresholds (FVSampler, section 6.2): part of the time, variation within a thread, between threads.
 * Whether a function has that part of the time is a question about all its contexts: one that six places call with 6 %
 * each has 36 %. How its calls vary is measured in each context, about the context's own mean: see
 * samples_variation.h. */
#define FV_SAMPLED_SHARE   0.10
#define FV_SAMPLED_WITHIN  0.20
#define FV_SAMPLED_BETWEEN 0.10
#define FV_SAMPLED_ENOUGH  8u /* instances of a thread, for its variation to count */
/* What is shorter than so many times the traps' spread, or than this part of a trap, is noise for the most part. */
#define FV_SAMPLED_SPREADS 10
#define FV_SAMPLED_TRAPS   0.5
#define FV_SAMPLED_LONG    3 /* traps: no trap seems as long but by an interrupt */

/* A metric of the report's own: CPU time outside of MPI, of which functions are judged. */
#define FV_SAMPLED_COMPUTING ((enum fv_metric)FV_METRIC_COUNT)
#define FV_SAMPLED_METRICS   (FV_METRIC_COUNT + 1)

/* Instances taken together; times in seconds. `m2`: sum of squared deviations. */
struct fv_sampled_stat {
    double mean[FV_SAMPLED_METRICS], m2[FV_SAMPLED_METRICS];
    uint64_t count;
    uint64_t event_count[FV_METRIC_EVENTS]; /* without those of ranks and threads that could not count it */
};
uint64_t fv_sampled_count(const struct fv_sampled_stat *stat, enum fv_metric metric);
/* Standard deviation of a sample (divided by count - 1) and that over the mean; 0 where there is none. */
double fv_sampled_stddev(const struct fv_sampled_stat *stat, enum fv_metric metric);
double fv_sampled_cov(const struct fv_sampled_stat *stat, enum fv_metric metric);
/* "time_s", ...: as in JSON; an event's own name. NULL: an event that was not asked for, or could not be had.
 */
struct fv_samples;
const char *fv_sampled_metric(const struct fv_samples *samples, enum fv_metric metric);

/* Long calls of a function that mostly returns soon, as clock samples met them. */
struct fv_sampled_long_calls {
    uint64_t count, ticks; /* samples in them */
    double met_s, time_s;  /* CPU time outside of MPI: since the samples, and of all of them, with those that were not
                            * met */
    double calls;          /* of the function, long or not: an estimate; 0: not known */
};
/* Instances of one thread. */
struct fv_sampled_part {
    uint32_t sampled, rank, thread; /* sampled: only while the model is built; thread: its id */
    uint64_t entries, returns, abandoned;
    struct fv_sampled_stat all, window;
    struct fv_sampled_long_calls rare;
};
/* Rare long calls over all threads. */
struct fv_rare_calls {
    uint64_t count;          /* 0: there are none */
    bool exact;              /* is it? Else some were too short for samples to meet them all */
    bool is_callees;         /* they are those of a function that it calls */
    double length_s, time_s; /* CPU time outside of MPI: of one on average, of all; an estimate */
    double typical_s;        /* median of the calls that were measured */
    double calls;            /* of all calls on the threads that have long ones; NAN: not known */
    uint32_t rank;           /* that has most ... */
    double rank_s;           /* ... and how much of time_s */
};
/* One instance, from the random sample that each thread keeps. */
struct fv_sampled_instance {
    uint32_t sampled, rank, thread; /* as above */
    double begin_s, time_s, cpu_s;
    double event[FV_METRIC_EVENTS]; /* counts; NAN: not known */
};

/* Bits: within a thread from call to call, between threads. */
#define FV_VARIES_LIST(X)          X(WITHIN, "within") X(BETWEEN, "between") X(BOTH, "both")
#define FV_VARIES_KIND(name, word) FV_VARIES_##name,
enum fv_varies { FV_VARIES_NOT = 0, FV_VARIES_LIST(FV_VARIES_KIND) };

/* How much calls differ, in one metric: samples_variation.h. */
struct fv_variation {
    double within, between, by_caller; /* NAN: not known; there are no two to compare */
    bool judged, pooled;               /* `within` is known; ... of all threads together, because none has enough */
    enum fv_varies varies;             /* as of struct fv_sampled_function */
};

/* A function in a calling context; or one over all its contexts. */
struct fv_sampled_function {
    uint32_t node;     /* in fv_model.nodes: one past the function's entry, called from its parents; of all: of
                        * the context with most time */
    uint32_t function; /* of a context: in fv_samples.functions */
    size_t first_context, contexts; /* of all: in fv_samples.items, by share; of a context 0 */
    uint32_t ranks, threads;        /* that have instances */
    uint64_t entries, returns, abandoned;
    struct fv_sampled_stat all, window;
    bool fast;           /* too fast for the window somewhere */
    bool judged;         /* a thread has FV_SAMPLED_ENOUGH instances, or all have them together ... */
    bool pooled;         /* ... only: `within` is the variation of all of them about their threads' means */
    bool brief[2];       /* its calls are mostly shorter than fv_samples.resolution_s, and none are long, in time; in
                          * CPU time: never judged */
    bool disturbed;      /* what differs from call to call is as few calls, and as little time, as the machine may have
                          * taken: no variation */
    bool loops;          /* its entry is the head of a loop, too: calls were begun in the middle of others; never
                          * judged */
    enum fv_metric with; /* where it varies: what varies most, too; FV_SAMPLED_METRICS: nothing else does ... */
    double with_cov;     /* ... and how much */
    size_t first_part, parts;         /* of fv_samples.parts, by rank and thread */
    size_t first_instance, instances; /* of fv_samples.instances */
    size_t first_recent, recents;     /* of a context: of fv_samples.recent */
    struct fv_noise_share off;        /* of the variance of the kept calls' times: their time off the processor */
    /* Clock samples in it or below; those of them in MPI; others in which threads wait for threads. */
    uint64_t ticks, mpi_ticks, sync_ticks;
    uint64_t lent_ticks;       /* of ticks: of threads of a team that it forked, which did not call it */
    bool inside_mpi;           /* all of these are in MPI, or nearly: it is part of an MPI call */
    bool waits;                /* all are one or the other, or nearly: it does not compute */
    double share;              /* of the samples outside of both, fv_samples.computing_ticks; 0..1 */
    double within;             /* coefficient of variation of CPU time, of the thread where it is largest ... */
    double between;            /* ... and of the threads' means, less what chance explains; NAN: not known */
    struct fv_rare_calls rare; /* of all */
    double calls;              /* of all: how often it was called, an estimate; NAN: not known */
    double by_caller;          /* of all: of the contexts' means, likewise; NAN: there is one context */
    /* By the thresholds above, with the share of all contexts. If a function does not vary over all of them, but one
     * with so much of the time does, it has that one's verdict and numbers. */
    enum fv_varies varies;
    struct fv_variation event[FV_METRIC_EVENTS]; /* the same of each counted event, for the same share of CPU time */
    bool event_varies;                           /* one of them does */
    double weight;      /* for the order: share times variation, its own or that of a caller that varies less ... */
    uint32_t inherited; /* ... of which there are so many */
};

/* A counted event, FV_METRIC_EVENT_0 and on. */
struct fv_sampled_event {
    const char *name;        /* as asked for; NULL: there is none */
    uint32_t ranks, refused; /* that asked for it, of which so many could not have it ... */
    int refusal;             /* ... for this errno */
    bool user_only;
};

struct fv_samples {
    struct fv_sampled_function *items; /* contexts: by function, then by share */
    size_t count, room;
    struct fv_sampled_function *functions; /* what waits last; those that vary first, by share times variation, others
                                            * by share */
    size_t function_count;
    struct fv_sampled_part *parts;
    size_t part_count, part_room;
    struct fv_sampled_instance *instances;
    size_t instance_count, instance_room;
    struct fv_sampled_instance *recent; /* of each context and thread those that were measured last, all of them, by
                                         * time */
    size_t recent_count, recent_room;
    struct fv_sampled_event events[FV_METRIC_EVENTS]; /* of all ranks, by name */
    uint32_t events_unshown;                          /* further ones, over all ranks: there is room for these only */
    uint64_t events_scaled, events_lost; /* instances: counted part of the time, an estimate; not known, left out */
    uint32_t modes[FV_SAMPLER_MODES];    /* threads by enum fv_sampler_mode */
    uint32_t by_event;                   /* of FV_SAMPLER_CLOCK: those whose CPU time ticks, not the kernel */
    uint32_t stopped_threads;            /* without clock samples, or not to the end ... */
    enum fv_sampler_stop stopped;        /* ... for this reason, the last one's */
    uint32_t refused_threads;            /* that could not have a better mode ... */
    int refusal;                         /* ... for this errno; 0: all could */
    bool migrations_exact;               /* on all threads */
    uint64_t log_lost, samples_lost, skipped, not_followed, lost_paths, cut;
    uint64_t held_back; /* ticks that armed nothing: sampling had taken its share */
    uint64_t no_stack;  /* signals that found a signal stack too small to work on */
    uint64_t ticks, traps;
    uint64_t entries, returns, abandoned, open, lost; /* lost: without a context of their own, over budget */
    uint32_t threads;                                 /* that were sampled */
    uint64_t rate;
    double cpu_s;             /* CPU time of these threads, by the clock samples */
    uint64_t computing_ticks; /* of the clock samples: neither in MPI nor where threads wait for threads ... */
    double computing_s;       /* ... and the CPU time that these stand for */
    double tool_s;            /* CPU time of the sampler, over all threads */
    double trap_s;            /* of one trap: what is subtracted from an instance, and ... */
    double trap_spread_s;     /* ... between the quartiles of that */
    double resolution_s;      /* of a call: shorter times are not known */
    double long_s;            /* a call that takes it is surely long */
};

/* Why there are no clock samples, or no more; NULL: there are. */
const char *fv_sampled_stopped(const struct fv_samples *samples);
/* Are the function's calls mostly shorter than traps can tell, in that metric? Counts never are. Of its few longer ones
 * nobody knows whether they are its own or a trap's that met an interrupt. */
bool fv_sampled_is_brief(const struct fv_sampled_function *sampled, enum fv_metric metric);
/* In CPU time, by enough calls to say so of all. */
static inline bool fv_sampled_says_brief(const struct fv_sampled_function *sampled)
{
    return fv_sampled_is_brief(sampled, FV_METRIC_CPU) && sampled->all.count >= FV_SAMPLED_ENOUGH;
}
/* When symbols and loops are known: charges each clock sample to the contexts on its call path, finds which functions
 * vary, puts them, their parts and instances in order. */
struct fv_model;
struct fv_symbols;
struct fv_cost_profile;
void fv_samples_judge(struct fv_model *model, const struct fv_symbols *symbols, const struct fv_cost_profile *costs);

/* Part of that: struct fv_sampled_function.off. */
void fv_samples_find_off(struct fv_samples *samples);

/* Its calls differ by who calls it, more than those of one caller differ among themselves may: it does different
 * work. */
bool fv_sampled_differs_by_caller(const struct fv_sampled_function *function);
/* How calls differ in computing_s, or in an event; of other metrics that is not judged: judged is false then. */
struct fv_variation fv_sampled_variation(const struct fv_sampled_function *sampled, enum fv_metric metric);
/* How the counted events differ, "PAGE-FAULTS varies from call to call (cov 0.50)"; "": they do not. Returns out. */
char *fv_sampled_event_advice(const struct fv_samples *samples, const struct fv_sampled_function *sampled, char *out,
                              size_t bytes);
/* Of the CPU times of the calls that were kept; NAN: there are none. */
double fv_sampled_median(const struct fv_samples *samples, const struct fv_sampled_function *sampled);
/* What to say of a function: how it varies, and what varies with it. "": nothing. Returns out. */
char *fv_sampled_advice(const struct fv_samples *samples, const struct fv_sampled_function *sampled, char *out,
                        size_t bytes);

/* The call path of a sampled function: makes *path, and returns the index of its own frame there, behind which
 * its callers stand. What is before it was inlined where it begins. Its own frame has its entry as offset:
 * there is no call that it returns to. path->count: there is none. */
struct fv_path;
size_t fv_sampled_path(struct fv_path *path, const struct fv_symbols *symbols,
                       const struct fv_sampled_function *sampled);
/* That index in a path that has been made, whose own frame has one past its entry. */
size_t fv_sampled_own_frame(const struct fv_path *path);

void fv_samples_release(void *data); /* struct fv_samples */

/* count 0: none. */
FV_SUBJECT_DATA(struct fv_samples, samples, samples)

#endif
