/* The profile of a whole run, unified over its ranks. Everything that a report shows is computed here,
 * once; text, JSON and CSV are views. All times are seconds; points in time count from the moment the
 * first rank began (fv_model.origin_ns). Ranks are named by their index in `ranks` unless a field says
 * `world_rank`. The model owns all it points to and keeps no rank file open. */
#ifndef FV_MODEL_H
#define FV_MODEL_H

#include "report/analysis.h"
#include "report/costs.h"
#include "report/experiment.h"
#include "report/locks.h"
#include "report/phases.h"
#include "report/sampled.h"
#include "report/sections.h"

/* How well a waiting time is known. */
enum fv_wait_kind {
    FV_WAIT_UNKNOWN = 0, /* fvmpi has no rule for the function, or nothing was logged: shown as null */
    FV_WAIT_EXACT,
    FV_WAIT_ESTIMATE,
};

/* Calls taken together. `m2` is the sum of squared deviations from the mean. */
struct fv_stat {
    uint64_t calls;
    double sum, min, max, m2;
    uint64_t bytes_sent, bytes_received;
};
double fv_stat_mean(const struct fv_stat *stat);
double fv_stat_stddev(const struct fv_stat *stat); /* of the population: divided by calls */
void fv_stat_add(struct fv_stat *to, const struct fv_stat *from);

struct fv_module {
    const char *path, *name; /* name: base name of path */
    uint8_t build_id[32];
    uint32_t build_id_bytes;
};
/* Modules 0 and 1 are none. */
#define FV_MODEL_NO_MODULE    0u /* address in no known object */
#define FV_MODEL_CUT          1u /* outer frames were cut at the depth limit */
#define FV_MODEL_LOST         2u /* outer frames are in a damaged part of the file */
#define FV_MODEL_FIRST_MODULE 3u

/* A frame of the unified call tree; node 0 is outside of main. `offset` is a return address. */
struct fv_node {
    uint32_t parent, module;
    uint64_t offset;
    uint32_t symbol; /* fv_symbols; FV_NONE until they are looked up */
};

#define FV_SIZE_BUCKETS 65
struct fv_size_bucket {
    uint64_t count, bytes;
    double seconds;
};

struct fv_func {
    const char *name;
    uint8_t class; /* enum fv_function_class */
    uint8_t wait;  /* enum fv_wait_rule */
    struct fv_stat time;
    double wait_s;
    enum fv_wait_kind wait_kind;
    uint32_t sites, ranks; /* how many call sites, ranks that called it */
    struct fv_size_bucket sent[FV_SIZE_BUCKETS], received[FV_SIZE_BUCKETS];
    uint64_t durations[FV_TIME_BUCKETS]; /* bucket b > 0: from fv_model.duration_unit_s * 2^(b-1) */
};

/* A call site is (call path, function): `node` is the innermost frame, 0 if it was not recorded. */
struct fv_site {
    uint32_t function, node;
    uint32_t first, ranks; /* its part of fv_model.site_ranks, by rank */
    struct fv_stat time;
    double wait_s;
    enum fv_wait_kind wait_kind;
    double rank_min, rank_mean, rank_max, cov; /* of seconds per rank, over the ranks that were there */
    uint64_t barriers; /* calls into which fvmpi inserted a barrier (--barrier) ... */
    double barrier_s;  /* ... and the part of their time in it */
};
/* Waiting of other ranks that is put down to this call site on this rank, and what its time is part of. Without
 * an analysis of the trace all but caused_s is 0. */
struct fv_blame {
    double caused_s;             /* they waited for this call to be entered; of collectives alone, as logged */
    double before_s;             /* outside of MPI, before the calls */
    double delay_s[FV_PLACES];   /* charged along chains of waits ... */
    double direct_s[FV_PLACES];  /* ... and the part of those who waited for this rank itself */
    double critical_s[FV_PLACES]; /* on the critical path */
};
void fv_blame_add(struct fv_blame *to, const struct fv_blame *from);
struct fv_site_rank {
    uint32_t site, rank;
    struct fv_stat time;
    double wait_s;
    uint32_t logged; /* calls in the wait log that `wait_s` was computed from */
    uint64_t alone;  /* calls on communicators of one rank, who waits for nobody */
    uint8_t wait_kind;
    uint64_t barriers; /* as in struct fv_site */
    double barrier_s;
    struct fv_blame blame;
};

/* One of the things that a call waits for. */
struct fv_wait_item {
    uint8_t kind;  /* enum fv_waited_kind */
    uint32_t comm; /* in fv_model.comms; FV_NONE: unknown */
    int peer, tag; /* as in struct fv_waited */
};

struct fv_in_call_view {
    bool active;
    uint32_t function, node; /* FV_NONE, 0: none. Not active: of the last call */
    double begin_s, seconds; /* entered, and since then. Not active: since the last call */
    int peer, tag;           /* peer in its communicator; FV_NO_PEER none */
    uint32_t comm;           /* in fv_model.comms; FV_NONE: none, or unknown */
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
    struct fv_in_call_view in_call;
};

enum fv_rank_state { FV_RANK_FINALIZED, FV_RANK_EXITED, FV_RANK_KILLED, FV_RANK_RUNNING };
const char *fv_rank_state_name(enum fv_rank_state state);

struct fv_rank {
    int world_rank;
    const char *host, *file, *thread_level;
    uint32_t pid;
    uint32_t cpus; /* that it may run on; 0 unknown */
    uint64_t cpu_mask[16];
    enum fv_rank_state state;
    bool aborted;
    int exit_code;         /* argument of MPI_Abort */
    bool exit_seen;        /* exit() was called, with: */
    int exit_status;
    double begin_s, end_s; /* end: or the latest sign of life */
    double app_time_s, mpi_time_s, wait_time_s, paused_s;
    double cpu_s;              /* of the process; NAN: not known to its end */
    double wait_share;         /* of the MPI time of all its threads */
    double delay_s;            /* that other ranks waited for this one in collectives: it came last */
    double caused_s, charged_s, critical_s; /* by the trace, as in struct fv_blame; NAN without analysis */
    double init_s, finalize_s; /* in MPI_Init, MPI_Finalize */
    double tool_s;             /* fvmpi's own time */
    uint64_t memory_bytes, file_bytes;
    uint64_t dropped[FV_DROP_COUNT];
    bool traced;
    uint64_t trace_calls, trace_bytes;
    double trace_stop_s;            /* the trace ended there, before the run; NAN: it did not */
    unsigned thinned;               /* the wait log holds every 2^thinned-th call */
    struct fv_in_call_view in_call; /* of the main thread, or of the first that is in a call */
    uint32_t first_thread, threads; /* its part of fv_model.threads */
    uint32_t mpi_threads;           /* of them: that called MPI */
    uint32_t clock;
    uint32_t program; /* in fv_model.programs */
};

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
    double compute_s, mpi_s, wait_s, total_s; /* as in struct fv_efficiency */
    bool wait_exact;
};

/* Ranks that read the same clock. */
struct fv_clock {
    uint8_t boot_id[16];
    uint32_t kind; /* enum fv_clock_kind */
    double hz;
    uint64_t anchor;   /* ticks at ... */
    int64_t anchor_ns; /* ... this CLOCK_REALTIME */
    double anchor_s;   /* the same, from the model's origin */
};

struct fv_comm_view {
    uint64_t uid, parent;
    const char *name;
    uint32_t flags; /* enum fv_comm_flags */
    int size, remote_size;
    uint32_t ranks;                 /* that told of it */
    const struct fv_rank_run *runs; /* world ranks: local group, then remote group */
    uint32_t run_count, remote_run_count;
    uint64_t collectives;
    struct fv_stat time;
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

/* POP efficiencies; NAN: not known. */
struct fv_efficiency {
    double parallel, load_balance, communication;
    double serialization, transfer; /* whose product is communication; from the trace */
    double compute_s, mpi_s, wait_s, total_s; /* sums over ranks of their app time */
    double thread_s; /* the same, each rank's as often as it has threads that call MPI */
    double serial_s; /* longest app time of a rank: T */
    bool wait_exact;
};

/* Who made others wait. The lists are made from the parts of call sites, anew when these are merged. */
enum fv_causes_source {
    FV_CAUSES_NONE,
    FV_CAUSES_PROFILE, /* of logged collectives: the last to come, which may be no fault of its own */
    FV_CAUSES_TRACE,   /* fvunify's analysis */
};
struct fv_culprit {
    uint32_t rank, site; /* site FV_NONE: behind the last call, or at a call site that the profile has not */
    enum fv_place where;
    double cost_s, direct_s;
};
struct fv_wait_sum {
    const char *kind; /* as in analysis.json */
    bool transfer;    /* a completion: nobody is waited for, and it is no part of fv_causes.wait_s */
    uint64_t count;
    double wait_s;
};
/* Computing before the calls of a call site. The mean is over all ranks, also those that never came by. */
struct fv_region {
    uint32_t site, ranks, max_rank;
    double mean_s, max_s, critical_s[FV_PLACES];
};
#define FV_CAUSES_WHOLE 0.99 /* coverage from which on a trace stands for the run */
struct fv_causes {
    enum fv_causes_source source;
    bool exact;           /* else clocks were aligned, or the log or the trace is not whole */
    uint64_t unmatched;   /* messages and collectives of which the trace has one side only: nobody waits in them */
    bool left_out;        /* the trace was analysed, but holds too little of the run */
    double wait_s;        /* all waiting that is spoken of */
    double coverage;      /* part of the MPI time that the trace holds; it may have ended early */
    double unexplained_s; /* of it: for nobody who was slower than the waiter before */
    double critical_path_s;
    double lock_wait_s; /* waiting in MPI, because threads of the rank that was waited for waited for locks */
    uint64_t switches; /* of the critical path, from rank to rank */
    struct fv_wait_sum *kinds; /* largest first */
    size_t kind_count, kind_room;
    struct fv_culprit *elsewhere; /* that no part of a call site holds */
    size_t elsewhere_count, elsewhere_room;
    struct fv_culprit *culprits; /* largest first */
    size_t culprit_count, culprit_room;
    struct fv_region *regions; /* by max_s, largest first */
    size_t region_count, region_room;
};

struct fv_model {
    struct fv_arena arena;
    const char *directory, *command, *program, *mpi, *fvmpi;
    int world_size;
    int64_t origin_ns; /* CLOCK_REALTIME of time 0 */
    double elapsed_s, tool_s, duration_unit_s;
    uint32_t barrier;       /* enum fv_barrier_mode: what any rank was asked for */
    uint32_t barrier_ranks; /* that inserted them, at most; 0: nobody did */
    bool complete, same_clock; /* same_clock: waits between ranks need no clock alignment */
    struct fv_problems problems;
    struct fv_clock *clocks;
    size_t clock_count, clock_room;
    struct fv_rank *ranks;
    size_t rank_count;
    struct fv_program *programs; /* by their first rank */
    size_t program_count, program_room;
    struct fv_thread_view *threads;
    size_t thread_count, thread_room;
    struct fv_module *modules;
    size_t module_count, module_room;
    struct fv_node *nodes;
    size_t node_count, node_room;
    struct fv_func *functions; /* by time, longest first */
    size_t function_count, function_room;
    struct fv_site *sites; /* by time, longest first; the site's id is its index + 1 */
    size_t site_count, site_room;
    struct fv_site_rank *site_ranks;
    size_t site_rank_count, site_rank_room;
    struct fv_comm_view *comms;
    size_t comm_count, comm_room;
    struct fv_edge *edges; /* by from, to */
    size_t edge_count, edge_room;
    struct fv_wait_item *wait_items;
    size_t wait_item_count, wait_item_room;
    struct fv_comm_place *comm_places; /* by comm, rank; none where all ranks finalized */
    size_t comm_place_count, comm_place_room;
    struct fv_hang *hang; /* who waits for whom (hang.h); NULL where all ranks finalized or one called MPI_Abort */
    struct fv_timeline timeline;
    struct fv_efficiency efficiency;
    struct fv_causes causes;
    struct fv_samples samples; /* of functions; count 0: none */
    struct fv_sections_view sections;
    struct fv_address *addresses; /* that are to be named: of locks, of the functions of threads */
    size_t address_count, address_room;
    struct fv_phases phases;
    struct fv_locks locks;
    struct fv_costs costs;     /* clock samples; ticks 0: none */
};

/* Computes the profile of an experiment with at least one file; takes its problems over. */
/* Of the TSC, from the file's first point until now, if it is of this host and boot; else 0. */
double fv_clock_hz_since(const struct fv_file_header *header);

void fv_model_build(struct fv_model *out, struct fv_experiment *experiment);
/* Opens the experiment and computes its profile. Has logged when it fails (fv_experiment_open()). */
int fv_model_load(struct fv_model *out, const char *path);
/* The same with what fvunify's analysis of the trace says, where there is one that belongs to the rank files. */
int fv_model_load_analysed(struct fv_model *out, const char *path);
void fv_model_release(struct fv_model *model);

#endif
