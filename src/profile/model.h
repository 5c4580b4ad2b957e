/* SPDX-License-Identifier: BSD-3-Clause */
/* The profile of a whole run, unified over its ranks. Everything that a report shows is computed here,
 * once; text, JSON and CSV are views. All times are seconds; points in time count from the moment the
 * first rank began (fv_model.origin_ns). Ranks are named by their index in `ranks` unless a field says
 * `world_rank`. The model owns all it points to and keeps no rank file open. */
#ifndef FV_MODEL_H
#define FV_MODEL_H

#include "base/list.h"
#include "profile/align.h"
#include "profile/read_analysis.h"
#include "profile/subject.h"
#include "experiment/definitions.h"
#include "experiment/keys.h"
#include "profile/trace_excerpt.h"
#include "symbols/symbols.h"
#include "tool/pop.h"

/* How well a waiting time is known. */
#define FV_WAIT_KINDS(X)         X(EXACT, "exact") X(ESTIMATE, "estimate")
#define FV_WAIT_KIND(name, word) FV_WAIT_##name,
enum fv_wait_kind {
    FV_WAIT_UNKNOWN = 0, /* fvmpi has no rule for the function, or nothing was logged: shown as null */
    FV_WAIT_KINDS(FV_WAIT_KIND)
};
/* "exact", "estimate"; NULL: not known. */
const char *fv_wait_kind_name(enum fv_wait_kind kind);
/* Of a sum. `kinds` has a bit, 1u << enum fv_wait_kind, for each kind of its parts: it is as good as the
 * worst, with unknown parts an estimate, and of unknown parts alone, or none, unknown. */
enum fv_wait_kind fv_wait_kind_of(unsigned kinds);
/* The same of all calls of a rank, a program, a run: where no call can wait, that nobody waited is exact. */
enum fv_wait_kind fv_wait_kind_of_all(unsigned kinds);

/* Calls taken together. `m2` is the sum of squared deviations from the mean. */
struct fv_call_stat {
    uint64_t calls;
    double sum_s, min_s, max_s, m2;
    uint64_t bytes_sent, bytes_received;
};
double fv_call_stat_mean(const struct fv_call_stat *stat);
double fv_call_stat_stddev(const struct fv_call_stat *stat); /* of the population: divided by calls */
void fv_call_stat_add(struct fv_call_stat *to, const struct fv_call_stat *from);

#define FV_SIZE_BUCKETS 65
struct fv_size_bucket {
    uint64_t count, bytes;
    double seconds;
};

/* Sizes of a bucket, both inclusive. */
uint64_t fv_size_bucket_low(unsigned bucket);
uint64_t fv_size_bucket_high(unsigned bucket);

struct fv_func {
    const char *name;
    uint64_t key;
    uint8_t class; /* enum fv_function_class */
    uint8_t wait;  /* enum fv_wait_rule */
    struct fv_call_stat stat;
    double wait_s;
    double long_s, fastest_s; /* the part of calls that the estimate takes for transfers, though no call of the size
                               * was as fast as a network; the fastest of these. How much of it is waiting an estimate
                               * does not show */
    enum fv_wait_kind wait_kind;
    uint32_t sites, ranks; /* how many call sites, ranks that called it */
    struct fv_size_bucket sent[FV_SIZE_BUCKETS], received[FV_SIZE_BUCKETS]; /* [0]: what is of unknown size, too */
    struct fv_size_bucket empty_sent, empty_received;                       /* of [0]: known to be of 0 bytes */
    uint64_t durations[FV_TIME_BUCKETS]; /* bucket b > 0: from fv_model.duration_unit_s * 2^(b-1) */
};

/* Calls and messages of a function, of one class of sizes, on communicators of so many ranks. */
struct fv_size_class {
    uint32_t function, comm_size; /* of the local group; 0: of no communicator, or one that is not known */
    uint32_t bucket;              /* as in struct fv_func */
    struct fv_size_bucket sent, received;
};

/* The same of a call site. */
struct fv_site_size {
    uint32_t site, bucket;
    struct fv_size_bucket sent, received;
    uint64_t min, max; /* [bytes] exact, unless ... */
    bool lost;         /* ... the sizes of some are not known */
};

/* A call site is (call path, function): `node` is the innermost frame, 0 if it was not recorded. */
struct fv_site {
    uint32_t function, node;
    uint64_t key;               /* the same in each report of the program, on any run */
    uint32_t first, ranks;      /* its part of fv_model.site_ranks, by rank */
    uint32_t first_size, sizes; /* ... and of fv_model.site_sizes, by bucket */
    struct fv_call_stat stat;
    double wait_s;
    enum fv_wait_kind wait_kind;
    double own_wait_s; /* the same by the rank files alone, without an analysis of the trace */
    enum fv_wait_kind own_wait_kind;
    double rank_min, rank_mean, rank_max, cov; /* of seconds per rank, over the ranks that were there */
    uint64_t barriers;                         /* calls into which fvmpi inserted a barrier (--barrier) ... */
    double barrier_s;                          /* ... and the part of their time in it */
};
/* Waiting of other ranks that is put down to this call site on this rank, and what its time is part of. Without
 * an analysis of the trace all but caused_s is 0. */
struct fv_blame {
    double caused_s;              /* they waited for this call to be entered; of collectives alone, as logged */
    double withheld_s;            /* ... the part of them whose messages were posted, but not moved before that:
                                   * FV_NO_PROGRESS */
    double delay_s[FV_PLACES];    /* charged along chains of waits ... */
    double direct_s[FV_PLACES];   /* ... and the part of those who waited for this rank itself */
    double critical_s[FV_PLACES]; /* on the critical path */
};
void fv_blame_add(struct fv_blame *to, const struct fv_blame *from);
/* What there is as often as ranks times call sites, and so must be small; and what few of them have. */
struct fv_site_rank {
    uint32_t site, rank;
    struct fv_call_stat stat;
    double wait_s;
    uint64_t messages, size_min, size_max; /* messages, and calls that moved data, either way. 0: the others mean
                                            * nothing */
    uint32_t more;                         /* in fv_model.site_more; 0: nothing. fv_site_more() */
    uint8_t wait_kind;
    bool sizes_lost; /* the sizes of some are not known */
    bool unshown;    /* of a thread that is not shown: removed when all is read */
};
/* Sizes of the messages together. */
void fv_site_sizes_add(struct fv_site_rank *to, const struct fv_site_rank *from);
/* ... of all ranks of a call site: messages and their sizes alone. */
struct fv_model;
struct fv_site_rank fv_site_messages(const struct fv_model *model, const struct fv_site *site);
void fv_site_size_add(struct fv_site_size *to, const struct fv_site_size *from);
struct fv_site_more {
    uint64_t alone;    /* calls on communicators of one rank, who waits for nobody */
    uint64_t barriers; /* as in struct fv_site */
    double barrier_s;
    double noise_s; /* what noise cost all ranks, in calls to which this rank came last (noise.h) */
    struct fv_blame blame;
};

/* One of the things that a call waits for. */
struct fv_wait_item {
    uint8_t kind;  /* enum fv_waited_kind */
    uint32_t comm; /* in fv_model.comms; FV_NONE: unknown */
    int peer, tag; /* as in struct fv_wait_target */
};

struct fv_in_call_view {
    bool active;
    uint32_t function, node;    /* FV_NONE, 0: none. Not active: of the last call */
    double begin_s, seconds;    /* entered, and since then. Not active: since the last call */
    int peer, tag;              /* peer in its communicator; FV_NO_PEER none */
    uint32_t comm;              /* in fv_model.comms; FV_NONE: none, or unknown */
    uint32_t first_wait, waits; /* its part of fv_model.wait_items: requests, the halves of a sendrecv */
    uint32_t waits_untold;      /* requests that nothing is known of */
};

/* How far a rank has come on a communicator. */
struct fv_comm_place {
    uint32_t comm, rank;
    uint64_t collectives; /* calls that were made */
};

struct fv_thread_view {
    uint32_t id, tid, used; /* used: threads that took this slot, one after the other */
    bool main, alive;       /* alive: had not ended */
    uint64_t calls;
    double begin_s, end_s, mpi_time_s, tool_s;
    double elapsed_s;        /* to its end, or that of its rank; NAN: several threads had the slot */
    double user_s, system_s; /* CPU time; NAN: not known to its end */
    struct fv_in_call_view in_call;
};

/* Its fv_thread_view.id. */
struct fv_model;
uint32_t fv_main_thread(const struct fv_model *model, uint32_t rank);

#define FV_RANK_STATES(X)     \
    X(FINALIZED, "finalized") \
    X(EXITED, "exited")       \
    X(REPLACED, "replaced")   \
    X(KILLED, "killed")       \
    X(CUT, "cut")             \
    X(RUNNING, "running")
#define FV_RANK_STATE(name, word) FV_RANK_##name,
enum fv_rank_state { FV_RANK_STATES(FV_RANK_STATE) };
const char *fv_rank_state_name(enum fv_rank_state state);

/* The signal that ended a rank, of those whose action was to end it. */
struct fv_signal_view {
    uint32_t number;  /* 0: none was seen */
    uint32_t sender;  /* the process that sent it; 0: the kernel */
    uint64_t address; /* of a fault */
    bool is_fault;    /* an instruction's, so that there is an address */
    double at_s;
    uint32_t node; /* where it was; 0: not known */
};

/* In computing, a thread had no processor. */
struct fv_off_processor {
    uint64_t blocked, preempted;   /* how often it waited for something; another was given its processor */
    double blocked_s, preempted_s; /* until it ran again; NAN: not known. With unseen: of a part */
    uint64_t unseen;               /* switches that there was no room for, at least so many */
};
/* Seconds without a processor, at least. */
static inline double fv_off_least_s(const struct fv_off_processor *off)
{
    return off->blocked_s == off->blocked_s ? off->blocked_s + off->preempted_s : 0;
}

struct fv_rank {
    int world_rank;
    const char *host, *file, *thread_level; /* thread_level: NULL: not known */
    uint32_t pid;
    uint32_t cpus; /* that it may run on; 0 unknown */
    uint64_t cpu_mask[16];
    enum fv_rank_state state;
    char stopped; /* of one that runs: 'T': by a signal, 't': by a debugger; 0: it is not */
    bool aborted;
    int exit_code;  /* argument of MPI_Abort */
    bool exit_seen; /* exit() was called, with: */
    int exit_status;
    struct fv_signal_view signal;
    double begin_s, end_s; /* end: or the latest sign of life */
    double in_vain_s; /* to its last clock sample no call of MPI ended but those that asked in vain; 0: not known */
    bool has_child;   /* ... while a child process lived, that it may wait for */
    double app_time_s, mpi_time_s, wait_time_s, paused_s;
    bool has_children;  /* by fork(), or waited for */
    bool never_on;      /* recording was off from the start to the end */
    double waited_s;    /* the main thread, in recording its calls, for pages of the file; in none of these */
    double forgotten_s; /* before begin_s: MPI_Pcontrol(2) */
    double cpu_s, user_s, system_s; /* of the process: in all, and its parts; NAN: not known to its end */
    double others_cpu_s;  /* of that: of its threads but the main one, recorded or not, and of all in MPI_Init; NAN: not
                           * known */
    double own_threads_s; /* CPU time of its threads but the main one, at least: MPI_Init may have been the main
                           * thread's; NAN: not known */
    double ready_s;       /* of the main thread: it could have run, and had no processor; NAN: not known */
    double ready_least_s; /* the same of a rank that did not end, until this was last read; NAN: not known */
    double throttled_s; /* that the quotas of its control groups kept their tasks, together, from processors meanwhile;
                         * 0: nothing, or not known */
    double stolen_s; /* that a hypervisor took of a processor of the rank's host meanwhile, the mean of all of them: it
                      * stands in CPU times; 0: none, or not known */
    double others_ready_s; /* the same of other threads that lived to the end, or whose ends were seen */
    uint64_t preempted;    /* times that the kernel took a processor from the process */
    /* Most memory that was resident: in all, at the beginning, and when the run was 2^i ticks old for the last time and
     * the one before; 0: not known. */
    /* at the last mark, and those before */
    uint64_t resident_peak, resident_first, resident_half, resident_quarter, resident_eighth;
    double half_s, quarter_s, eighth_s;     /* how old it was then */
    double wait_share;                      /* of the MPI time of all its threads */
    double own_wait_s;                      /* wait_time_s by the rank files alone */
    unsigned wait_kinds, own_wait_kinds;    /* of its calls that can wait, as fv_wait_kind_of_all() takes them */
    double delay_s;                         /* that other ranks waited for this one in collectives: it came last */
    double caused_s, charged_s, critical_s; /* by the trace, as in struct fv_blame; NAN without analysis */
    double withheld_s;                      /* likewise; 0 without */
    double init_s, finalize_s;              /* in MPI_Init, MPI_Finalize */
    double polled_s, polled_off_s;          /* outside of MPI between calls that ask if something has come (regions.c),
                                             * and of that without a processor: it waited */
    double asks_blocked_s;                  /* outside of MPI between calls that ask, and blocked nearly all the time */
    double asked_s;                         /* in those calls, a part of mpi_time_s: it waited, too */
    double tool_s, tool_once_s; /* fvmpi's own CPU time, an estimate; beside it what starting and ending took */
    uint64_t memory_bytes, file_bytes;
    uint64_t dropped[FV_DROP_COUNT];
    uint32_t refused_error; /* errno: why pieces of its file were refused */
    bool traced;
    uint64_t process; /* struct fv_file_identity */
    uint64_t trace_calls, trace_bytes;
    double trace_from_s;            /* the trace begins there, because it keeps its end alone; NAN: it has all */
    double trace_stop_s;            /* the trace ended there, before the run; NAN: it did not */
    unsigned thinned;               /* the wait log holds every 2^thinned-th call */
    struct fv_in_call_view in_call; /* of the main thread, or of the first that is in a call */
    uint32_t first_thread, threads; /* its part of fv_model.threads */
    uint32_t mpi_threads;           /* of them: that called MPI, and ... */
    uint32_t switch_threads;        /* ... whose context switches the kernel told */
    struct fv_off_processor off;    /* in all computing between calls, of one thread that called MPI; else not known */
    uint32_t clock;
    uint32_t program; /* in fv_model.programs */
};
/* Computing: outside of MPI, and no polling. */
static inline double fv_rank_compute_s(const struct fv_rank *r)
{
    return r->app_time_s - r->mpi_time_s - r->polled_s;
}

/* Of so many seconds in MPI, what it waited in other calls than those that poll. */
static inline double fv_rank_wait_s(const struct fv_rank *r, double mpi_s)
{
    double waits = r->wait_share * mpi_s, apart = mpi_s > r->asked_s ? mpi_s - r->asked_s : 0;

    return waits < apart ? waits : apart;
}

/* By itself: it was not killed, and runs no more. */
static inline bool fv_rank_has_ended(const struct fv_rank *r)
{
    return r->state <= FV_RANK_REPLACED;
}

/* Ranks that run the same executable. */
struct fv_program {
    const char *path, *name, *label; /* name: base name; label: the path where two have the same name */
    const char *command;             /* of its first rank */
    uint8_t build_id[32];
    uint32_t build_id_bytes; /* 0: not known */
    uint32_t commands;       /* different command lines among its ranks */
    uint32_t ranks;
    struct fv_rank_run *runs; /* its world ranks */
    size_t run_count, run_room;
    double compute_s, polled_s, asked_s, mpi_s, wait_s, total_s; /* as in struct fv_efficiency */
    unsigned wait_kinds;                                         /* as in struct fv_rank */
    enum fv_wait_kind wait_kind;
};

/* An option of the recording that was not at its default, and how many ranks had it so. */
struct fv_option_view {
    const char *variable, *flag, *value; /* flag: of `fvmpi run`; NULL: this version has none of the name */
    uint32_t ranks;
};

/* Ranks that read the same clock. */
struct fv_clock {
    uint32_t kind; /* enum fv_clock_kind */
    double hz;
    struct fv_clock_point first;
    double anchor_s; /* of `first`, by CLOCK_REALTIME, from the model's origin */
};

struct fv_comm_view {
    struct fv_def_comm def;
    uint32_t ranks; /* that told of it */
    uint64_t collectives;
    struct fv_call_stat stat;
    double wait_s; /* in its logged collective calls */
};

struct fv_edge {
    int from, to; /* world ranks */
    uint64_t messages, bytes;
};

#define FV_TIMELINE_BINS 200
struct fv_timeline {
    uint32_t bins;
    double bin_s;
    float *share; /* [rank][class][bin]: part of the bin that the main thread spent in MPI */
    bool used[FV_CLASS_COUNT];
};

/* POP efficiencies (pop.h); NAN: not known. */
struct fv_efficiency {
    double parallel, load_balance, communication;
    double serialization, transfer;                     /* whose product is communication; from the trace */
    double ideal_s;                                     /* the time with instant messages; from the trace */
    double compute_s, polled_s, mpi_s, wait_s, total_s; /* sums over ranks of their app time */
    double asked_s, unjudged_s; /* of mpi_s: in calls that poll; in other calls of such functions, all threads' */
    double own_wait_s;          /* wait_s by the rank files alone, without an analysis */
    double long_s;              /* of all functions (struct fv_func); 0: by the trace */
    double files_s;             /* in calls that share a file; 0: by the trace */
    double elsewhere_s;         /* by the trace: in calls with ranks of another MPI_COMM_WORLD, of which it has
                                 * nothing */
    double thread_s;            /* the same, each rank's as often as it has threads that call MPI */
    double serial_s;            /* longest app time of a rank: T */
    enum fv_wait_kind wait_kind, own_wait_kind;
};

/* MPI and OpenMP together (tool/pop.h). */
struct fv_hybrid {
    bool known;                     /* there are teams, and all of them are known */
    struct fv_pop_hybrid_sums sums; /* else zeros; but of a run whose regions all have one thread the same, for fvmpi
                                     * scaling */
};

/* Who made others wait. The lists are made from the parts of call sites. */
enum fv_causes_source {
    FV_CAUSES_NONE,
    FV_CAUSES_PROFILE, /* of logged collectives: the last to come, which may be no fault of its own */
    FV_CAUSES_TRACE,   /* fvunify's analysis */
};
#define FV_NO_PROGRESS "no_progress" /* kind of waiting */
struct fv_culprit {
    uint32_t rank, site; /* site FV_NONE: behind the last call, or at a call site that the profile has not */
    enum fv_place where;
    double cost_s, direct_s;
    double withheld_s; /* by the trace: others waited so long for the call behind this computing, because only then MPI
                        * moved what
                        * had been posted */
};
/* By samples of the trace: a procedure, with what it calls, of the computing before a call. */
struct fv_late_procedure {
    uint32_t rank, site;               /* FV_NONE: at a call site that the profile has not */
    const char *function, *file;       /* NULL: not known */
    double cpu_s, delay_s, critical_s; /* delay_s: waiting of others that it made; critical_s: on the critical path */
};
/* By samples of the trace: a procedure itself in the computing between two calls, sites. */
struct fv_computing_part {
    uint32_t from, site, rank;
    const char *function, *file;
    uint64_t count;
    double cpu_s;
};
struct fv_wait_sum {
    const char *kind; /* as in analysis.json */
    bool transfer;    /* a completion: nobody is waited for, and it is no part of fv_causes.wait_s */
    uint64_t count;
    double wait_s;
};
/* Of the computing between two calls, in functions for files (--io); and what has most of that, if one has the
 * majority. */
struct fv_region_io {
    double seconds, weight_s; /* weight_s: what that has more than all others, at least */
    uint64_t calls;
    uint32_t node, function; /* node 0: not known */
    const char *file;        /* NULL: not known */
};
/* Computing between two calls of a thread, from the end of one to the begin of the next: outside of MPI. Means are over
 * all ranks, also those that never came by. */
struct fv_region {
    uint32_t site, from; /* the call behind it; the one before: FV_NONE: there was none, or it is not known */
    uint32_t max_rank;
    uint32_t first, ranks; /* its part of fv_model.region_ranks, by rank */
    uint64_t count;        /* how often */
    double mean_s, max_s;
    struct fv_off_processor off;  /* of max_rank */
    struct fv_region_io io;       /* likewise */
    double imbalance_s;           /* what the ranks would save if each took the mean: ranks * (max - mean) */
    double critical_s[FV_PLACES]; /* of the call site, in the region with the largest max_s before it; in others 0 */
};
struct fv_region_rank {
    uint32_t site, from, rank;
    uint64_t count, main_count; /* main: of them by the main thread, whose times are the rank's */
    double seconds, main_s;
    struct fv_off_processor off;
    struct fv_region_io io;
    bool polls; /* it is between calls of MPI_Test and its like, one or several in turn, with nothing done between
                 * them */
};
struct fv_model;
/* MPI_Test, MPI_Iprobe and their like. */
bool fv_func_asks(const struct fv_func *function);
/* Do the calls before and behind it ask, both? */
bool fv_region_asks(const struct fv_model *model, const struct fv_region *region);
/* Collective on a file, without a rule for waiting: ranks may wait for each other there, and only a trace tells. */
bool fv_func_shares_file(const struct fv_func *function);
/* fvunify was there, though its analysis may be of too little of the run. */
bool fv_is_analysed(const struct fv_model *model);
/* Seconds of the main thread in the calls that end it: of all at that place its part. */
double fv_region_call_s(const struct fv_model *model, const struct fv_region_rank *region);
#define FV_CAUSES_WHOLE 0.99 /* coverage from which on a trace stands for the run */
/* Of the main thread of a rank. Behind them it does not wait. NULL: it is not known. */
struct fv_wait_bins {
    double *wait_s;
    size_t count;
};

struct fv_causes {
    enum fv_causes_source source;
    bool exact;           /* all of it; else clocks were aligned, or the log or the trace is not whole, or ... */
    bool is_whole;        /* ... only kinds of waiting that are estimates by themselves are not exact */
    double estimated_s;   /* of what ranks waited in calls, by a trace, the part that is an estimate */
    uint64_t unmatched;   /* messages and collectives of which the trace has one side only: nobody waits in them */
    uint64_t early;       /* messages that were received before they were sent: clocks were not in step */
    uint64_t cut_short;   /* waits whose delay was looked for in a rank's last calls only */
    bool left_out;        /* the trace was analysed, but holds too little of the run */
    double wait_s;        /* all waiting that is spoken of */
    double coverage;      /* part of the MPI time that the trace holds; it may have ended early */
    double unexplained_s; /* of it: for nobody who was slower than the waiter before */
    double critical_path_s;
    double lock_wait_s;        /* waiting in MPI, because threads of the rank that was waited for waited for locks */
    uint64_t switches;         /* of the critical path, from rank to rank */
    struct fv_wait_sum *kinds; /* largest first */
    size_t kind_count, kind_room;
    double bin_s;                 /* waiting over time, in bins of this length; 0: it is not known */
    double bins_from_s;           /* ... nor before that */
    struct fv_wait_bins *bins;    /* by rank */
    double elsewhere_s;           /* waiting, by the analysis, at no call site of the profile */
    struct fv_culprit *elsewhere; /* that no part of a call site holds */
    size_t elsewhere_count, elsewhere_room;
    struct fv_culprit *culprits; /* largest first */
    size_t culprit_count, culprit_room;
    struct fv_late_procedure *late; /* by delay, largest first */
    size_t late_count, late_room;
    bool late_by_regions;               /* an archive's, without samples: their time stands for CPU time */
    struct fv_computing_part *computed; /* of the whole run; empty: nothing is known of that */
    size_t computed_count, computed_room;
    struct fv_region *regions; /* by max_s, largest first */
    size_t region_count, region_room;
};

/* What fvmpi itself took in the application. */
struct fv_overhead {
    double time_s, sampling_s, once_s; /* over all ranks and threads; of it the sampler's, and that of starting and
                                        * ending */
    double share;                      /* of the ranks' time, in pauses too; NAN: there is none */
    uint64_t memory_bytes, rank_memory_bytes; /* beside the files: over all ranks, and of the rank with most */
    uint64_t file_bytes;
};

/* fv_overhead.share, of its time_s. */
struct fv_model;
double fv_overhead_share(const struct fv_model *model);

struct fv_model {
    struct fv_arena arena;
    const char *operands; /* the directories, as a shell takes them */
    const char *directory, *command, *program, *mpi, *fvmpi;
    bool is_part; /* of that run: an experiment that is gone with the report */
    int world_size;
    int64_t origin_ns; /* CLOCK_REALTIME of time 0 */
    double elapsed_s, duration_unit_s;
    uint32_t barrier;                                     /* enum fv_barrier_mode: what any rank was asked for */
    uint32_t barrier_ranks;                               /* that inserted them, at most; 0: nobody did */
    const char *read_ranks, *shown_ranks, *shown_threads; /* as they were chosen (struct fv_choice); NULL: all */
    size_t passed_by;                                     /* rank files that were not read */
    size_t unshown;                                       /* ranks that were read and are not shown */
    bool part_complete;                                   /* as `complete`, but for the ranks that were not read */
    bool calls_left_out;       /* --mpi-calls 0, on some rank: MPI's time counts as computing */
    bool complete, same_clock; /* same_clock: waits between ranks need no clock alignment */
    struct fv_problems problems;
    struct fv_problems module_problems; /* of the files of modules, by the look-up of symbols; fv_profile_new() puts
                                         * them behind the others */
    const char *not_recorded;      /* what the program did that is recorded of no program, a sentence; NULL: nothing */
    struct fv_alignment alignment; /* of clocks, where there are several: only what compares ranks by their wait logs */
    uint64_t waits_in_doubt;       /* waits for ranks of other clocks, shorter than the clocks' error, which count
                                    * as 0 */
    double wait_in_doubt_s;        /* ... their sum */
    struct fv_clock *clocks;
    size_t clock_count, clock_room;
    struct fv_rank *ranks;
    size_t rank_count;
    struct fv_program *programs; /* by their first rank */
    size_t program_count, program_room;
    uint32_t own_finalize;          /* ranks whose MPI_Finalize is not fvmpi's, and is not seen */
    struct fv_option_view *options; /* by variable */
    size_t option_count, option_room;
    struct fv_thread_view *threads;
    size_t thread_count, thread_room;
    struct fv_call_tree tree;
    struct fv_func *functions; /* by time, longest first */
    size_t function_count, function_room;
    struct fv_site *sites; /* by time, longest first; the site's id is its index + 1 */
    size_t site_count, site_room;
    struct fv_site_rank *site_ranks;
    size_t site_rank_count, site_rank_room;
    struct fv_site_more *site_more; /* the first is of those that have nothing */
    size_t site_more_count, site_more_room;
    struct fv_region_rank *region_ranks; /* by site, from, rank */
    size_t region_rank_count, region_rank_room;
    struct fv_comm_view *comms;
    size_t comm_count, comm_room;
    struct fv_site_size *site_sizes; /* by site, bucket */
    size_t site_size_count, site_size_room;
    struct fv_size_class *size_classes; /* by function, longest first, size of communicators, bucket */
    size_t size_class_count, size_class_room;
    struct fv_edge *edges; /* by from, to */
    size_t edge_count, edge_room;
    struct fv_wait_item *wait_items;
    size_t wait_item_count, wait_item_room;
    struct fv_comm_place *comm_places; /* by comm, rank; none where all ranks finalized */
    size_t comm_place_count, comm_place_room;
    struct fv_timeline timeline;
    struct fv_efficiency efficiency;
    struct fv_overhead overhead;
    struct fv_causes causes;
    struct fv_address *addresses; /* that are to be named: of locks, of the functions of threads */
    size_t address_count, address_room;
    struct fv_hybrid hybrid;
    struct fv_trace_excerpt excerpt; /* calls 0: none, or not asked for */
    void *data[FV_SUBJECT_COUNT];    /* of its subjects; NULL: all zeros */
};

/* A subject's data in the model, by a function of the type: FV_SUBJECT_DATA(struct fv_works, worksharing, worksharing)
 * declares fv_model_worksharing(model), of the subject worksharing. Never NULL. */
#define FV_SUBJECT_NO_DATA 2048
extern const uint64_t fv_subject_no_data[FV_SUBJECT_NO_DATA / 8];
#define FV_SUBJECT_DATA(T, name, subject)                                                       \
    _Static_assert(sizeof(T) <= FV_SUBJECT_NO_DATA, "FV_SUBJECT_NO_DATA is too small for " #T); \
    static inline T *fv_model_##name(const struct fv_model *model)                              \
    {                                                                                           \
        void *data = model->data[FV_SUBJECT_##subject];                                         \
                                                                                                \
        return data ? data : (void *)(uintptr_t)fv_subject_no_data;                             \
    }

/* Computes the profile of an experiment with at least one file; takes its problems over. Commands take
 * fv_profile_open() (profile.h), which finishes it.
 *
 * Looks up the symbols of its call tree, and of its addresses if `look_up`: else they are module+offset. Call sites of
 * an MPI function whose paths, as fv_path_of() gives them, are equal, because their frames are alike, are one, and so
 * are other things at such call paths: unrolled and inlined loops, but not different executables. symbols NULL: call
 * paths stay as they were recorded. */
void fv_model_build(struct fv_model *out, struct fv_symbols *symbols, struct fv_experiment *experiment, bool look_up);
void fv_model_release(struct fv_model *model);

/* The ranks of a host, and the processors that they may run on together. */
struct fv_crowd {
    size_t ranks;
    unsigned cpus; /* 0: not known */
    bool shared;   /* there are more ranks than processors: computing and waiting both hold time without one */
};
struct fv_crowd fv_crowd_of(const struct fv_model *model, const char *host);
/* A module of the tree: is it one of the programs, or in the directory of one, or below? */
bool fv_model_is_of_program(const struct fv_model *model, uint32_t module);

static inline const struct fv_site_more *fv_site_more(const struct fv_model *model, const struct fv_site_rank *part)
{
    return &model->site_more[part->more];
}

/* The name of a wait state in words: "late sender", "late rank in an N x N collective". Returns out, or a
 * constant. */
#define FV_WAIT_WORDS 64
const char *fv_wait_words(const char *kind, char out[FV_WAIT_WORDS]);
/* The only estimates in them are waits of kind FV_NO_PROGRESS, for what was withheld. */
bool fv_causes_by_withheld(const struct fv_causes *causes);
/* Is the cost of a culprit free of estimates? */
bool fv_culprit_is_exact(const struct fv_causes *causes, const struct fv_culprit *culprit);
/* How long others waited for the rank itself: by the trace, else by the wait log. */
static inline double fv_rank_caused_s(const struct fv_model *model, const struct fv_rank *rank)
{
    return model->causes.source == FV_CAUSES_TRACE ? rank->caused_s : rank->delay_s;
}

/* The value that an option of the recording had, by its variable, on some rank; NULL: it was at its default. */
const char *fv_model_option(const struct fv_model *model, const char *variable);

/* Was it read of an archive, which tells nothing of what recording it took? */
bool fv_model_is_of_archive(const struct fv_model *model);
/* Is it known when the run began? Not of an archive without a date, whose times count from 1970. */
static inline bool fv_model_knows_start(const struct fv_model *m)
{
    return m->origin_ns > INT64_C(86400000000000);
}

#endif
