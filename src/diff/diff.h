/* SPDX-License-Identifier: BSD-3-Clause */
/* Two sides of experiments compared, call path by call path, and row by row of the other tables (diff_tables.h). All
 * amounts are the mean of a rank (sums over ranks divided by their number), so that runs on different numbers of ranks
 * compare, and the change of a call path stands in the same unit as the change of the elapsed time. How paths are
 * joined: diff_join.h; what counts as a change: diff_stats.h. Order of use: fv_diff_load() for each run,
 * fv_diff_compute(), views.
 */
#ifndef FV_DIFF_H
#define FV_DIFF_H

#include "base/list.h"
#include "diff/diff_facts.h"
#include "diff/diff_join.h"
#include "diff/diff_stats.h"
#include "diff/diff_tables.h"
#include "profile/profile.h"
#include "tool/words.h"

/* How a value is said, and whether less of it is better: X(unit, word). */
#define FV_DIFF_UNITS(X)         X(SECONDS, "s") X(COUNT, "count") X(BYTES, "bytes") X(SHARE, "share")
#define FV_DIFF_UNIT(name, word) FV_UNIT_##name,
enum fv_diff_unit { FV_DIFF_UNITS(FV_DIFF_UNIT) };

/* X(metric, key, name, unit) */
#define FV_DIFF_METRIC_LIST(X)                                                                   \
    X(TIME, "time_s", "time", SECONDS)    /* in MPI */                                           \
    X(WAIT, "wait_s", "waiting", SECONDS) /* of these, waiting */                                \
    X(CALLS, "count", "calls", COUNT)                                                            \
    X(BYTES, "bytes", "bytes", BYTES)                 /* sent and received */                    \
    X(EFFICIENCY, "efficiency", "not waiting", SHARE) /* part of the time that is not waiting */ \
    X(BALANCE, "balance", "balance of ranks", SHARE)  /* mean over longest time of a rank */
#define FV_DIFF_METRIC(name, ...) FV_DIFF_##name,
enum fv_diff_metric { FV_DIFF_METRIC_LIST(FV_DIFF_METRIC) FV_DIFF_METRICS };

#define FV_RUN_METRIC_LIST(X)                                                                               \
    X(ELAPSED, "elapsed_s", "elapsed", SECONDS)                                                             \
    X(COMPUTE, "compute_s", "computing", SECONDS)                                                           \
    X(MPI, "mpi_s", "MPI", SECONDS)                                                                         \
    X(WAIT, "wait_s", "  waiting", SECONDS)                                                                 \
    X(CALLS, "count", "MPI calls", COUNT)                                                                   \
    X(BYTES, "bytes", "bytes", BYTES)                                                                       \
    X(PARALLEL, "parallel", "parallel efficiency", SHARE)                                                   \
    X(LOAD_BALANCE, "load_balance", "  load balance", SHARE)                                                \
    X(COMMUNICATION, "communication", "  communication", SHARE)                                             \
    X(SERIALIZATION, "serialization", "    serialization", SHARE) /* this and the next: of analysis.json */ \
    X(TRANSFER, "transfer", "    transfer", SHARE)
#define FV_RUN_METRIC(name, ...) FV_RUN_##name,
enum fv_diff_run_metric { FV_RUN_METRIC_LIST(FV_RUN_METRIC) FV_DIFF_RUN_METRICS };

struct fv_diff_metric_word {
    const char *key, *name;
    enum fv_diff_unit unit;
};
#define FV_DIFF_METRIC_WORD(name, key, words, unit) { key, words, FV_UNIT_##unit },
extern const struct fv_diff_metric_word fv_diff_metrics[FV_DIFF_METRICS];
extern const struct fv_diff_metric_word fv_diff_run_metrics[FV_DIFF_RUN_METRICS];
extern const struct fv_diff_metric_word fv_diff_entry_metrics[FV_ENTRY_METRICS];

struct fv_diff_run {
    const char *directory, *command, *mpi, *program; /* program: base name */
    uint8_t build_id[32];
    uint32_t build_id_bytes;
    size_t ranks, read; /* read: ranks that its numbers are of */
    size_t programs;
    bool complete; /* of these ranks */
    enum fv_wait_kind wait_kind[FV_WAITS];
    bool analysis;                    /* there is an analysis.json that is of its rank files */
    double analysis_lost_s;           /* its waiting, of a rank, in call paths that the profile does not have */
    double efficiency[2];             /* its serialization and transfer; NAN */
    double wait_s[FV_WAITS];          /* of a rank */
    struct fv_pop_hybrid_sums hybrid; /* of the ranks that were read; zeros: no OpenMP, or not known of all */
    double instructions, cycles;      /* of the ranks that were read, outside of MPI; NAN: not counted in all of them */
    double no_processor_s;            /* of a rank, as the finding of that name has it; 0: no such finding */
    double value[FV_DIFF_RUN_METRICS];
};

struct fv_diff_side {
    struct fv_diff_run *runs;
    size_t count, room;
    struct fv_diff_paths paths;
    struct fv_diff_entries tables[FV_DIFF_TABLES];
};

/* A call path, or an MPI function (then there are no paths, and the join says whether both sides call it). */
struct fv_diff_row {
    const char *function;
    enum fv_diff_join join;
    bool uneven;                        /* struct fv_diff_partner */
    const struct fv_diff_path *path[2]; /* NULL: not on that side */
    enum fv_wait_kind wait_kind;        /* fv_wait_kind_of() its parts: ... */
    unsigned wait_kinds;                /* ... call paths and runs */
    struct fv_change change[FV_DIFF_METRICS];
};

struct fv_diff {
    struct fv_arena arena;
    struct fv_diff_side side[2]; /* A, B */
    struct fv_diff_facts facts[2];
    struct fv_problems notes; /* what the reader must know */
    /* by fv_diff_compute() */
    enum fv_diff_waits waits;
    bool noise; /* known: two runs on a side at least */
    struct fv_change run[FV_DIFF_RUN_METRICS];
    struct fv_diff_row *paths, *functions; /* changes that count first, then by size of the change of time */
    size_t path_count, function_count;
    struct fv_diff_fact *differing; /* machine, placement, environment: what differs */
    size_t differing_count;
    size_t joined[FV_DIFF_JOINS];      /* how many call paths, by how */
    struct fv_diff_entry_row *entries; /* of all tables that both sides recorded, likewise */
    size_t entry_count, entry_room;
};

/* Adds an experiment to side 0 or 1, of the ranks whose files are to be read (NULL: all). Has logged when it fails, as
 * fv_profile_open() does. */
int fv_diff_load(struct fv_diff *diff, unsigned side, const char *path, const struct fv_choice *choice);
/* The same of a profile in memory; copies what it needs. */
void fv_diff_add(struct fv_diff *diff, unsigned side, const struct fv_profile *profile);
/* Each side has a run at least. */
void fv_diff_compute(struct fv_diff *diff);
void fv_diff_release(struct fv_diff *diff);

/* In words, "" where it is not known; return out. "1.20 s"; "-2.20 s", "+10.1 points"; "+98.0 %", "x 12",
 * "new", "same";
 * "+- 20.0 ms". */
char *fv_diff_value_word(double value, enum fv_diff_unit unit, char out[FV_WORD]);
char *fv_diff_change_word(double change, enum fv_diff_unit unit, char out[FV_WORD]);
char *fv_diff_percent_word(const struct fv_change *change, char out[FV_WORD]);
char *fv_diff_half_word(const struct fv_change *change, enum fv_diff_unit unit, char out[FV_WORD]);

#endif
