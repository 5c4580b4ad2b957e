/* SPDX-License-Identifier: BSD-3-Clause */
/* What fvunify found out from the trace: analysis.json (share/analysis.md), as far as a report needs it.
 * Nothing in the file is trusted: numbers that are none, or negative, or rows that refer to what is not there
 * make it damaged. One call site at a time is in memory as JSON, however many there are. */
#ifndef FV_READ_ANALYSIS_H
#define FV_READ_ANALYSIS_H

#include "base/list.h"
#include "experiment/keys.h"
#include "tool/vec.h"

/* Where time or its cost was: outside of MPI before a call, or in the call. */
#define FV_PLACE_LIST(X)     X(COMPUTING, "computing") X(MPI, "mpi")
#define FV_PLACE(name, word) FV_PLACE_##name,
enum fv_place { FV_PLACE_LIST(FV_PLACE) FV_PLACES };
extern const char *const fv_place_names[]; /* as in analysis.json; NULL behind the last */

/* Of waiting whose rule need not hold for each call: sums that hold some are estimates. */
bool fv_kind_is_estimate(const char *kind);

struct fv_analysed_site {
    uint64_t id, key; /* key: 0: not a call, but what is behind the last one */
    uint32_t first_part, parts;
};
/* A call site on one rank. */
struct fv_analysed_part {
    uint32_t rank; /* world rank */
    uint64_t count;
    double time_s, wait_s, caused_s, delay_s[FV_PLACES], critical_s[FV_PLACES];
    double estimated_s, withheld_s; /* of wait_s what kinds have whose rule need not hold for each call; of caused_s
                                     * what was withheld */
};
struct fv_analysed_rank {
    uint32_t rank;
    struct fv_file_identity identity; /* of the rank file that was analysed */
    double caused_s, delay_s, critical_s;
};
struct fv_analysed_bins {
    uint32_t rank;
    double *wait_s;
    size_t count;
};
struct fv_analysed_kind {
    const char *kind;
    uint64_t count;
    double wait_s;
};
struct fv_analysed_delay {
    uint32_t rank, site; /* world rank; in fv_analysis_result.sites */
    enum fv_place where;
    double cost_s, direct_s;
};

/* Time of a procedure before calls of a site, by samples, with what it calls. */
struct fv_analysed_procedure {
    uint32_t rank, site;         /* as of a delay */
    const char *function, *file; /* NULL: not known */
    double cpu_s, delay_s, critical_s;
};

/* Time of a procedure itself between two calls, by samples. */
struct fv_analysed_computing {
    uint32_t rank, from, site;   /* call sites: as of a delay */
    const char *function, *file; /* NULL: not known */
    uint64_t count;
    double cpu_s;
};

struct fv_analysis_result {
    struct fv_arena arena;
    uint32_t world_size;
    bool one_clock;
    uint64_t unmatched; /* messages and collectives of which a side is missing */
    uint64_t cut_calls; /* calls that go on behind an edge of the part that is taken: as long as they wait there */
    uint64_t early;     /* messages that were received before they were sent */
    uint64_t cut_short; /* waits whose delay was looked for in a rank's last calls only */
    double unexplained_s, critical_path_s;
    double lock_wait_s; /* waiting in MPI that threads' waiting for locks is to blame for; 0: none, or not known */
    uint64_t switches;
    double ideal_s; /* how long it would have taken with instant messages; NAN: not known */
    struct fv_analysed_rank *ranks;
    size_t rank_count, rank_room;
    struct fv_analysed_kind *kinds;
    size_t kind_count, kind_room;
    double bin_s; /* waiting over time, in bins of this length; 0: there is none */
    struct fv_analysed_bins *bins;
    size_t bins_count, bins_room;
    double from_s; /* only what is behind it was analysed */
    struct fv_analysed_site *sites;
    size_t site_count, site_room;
    struct fv_analysed_part *parts;
    size_t part_count, part_room;
    struct fv_analysed_delay *delays; /* largest first */
    size_t delay_count, delay_room;
    struct fv_analysed_procedure *procedures; /* by delay, largest first */
    size_t procedure_count, procedure_room;
    struct fv_analysed_computing *computed; /* largest first; those behind the first call and before the last alone */
    size_t computed_count, computed_room;
    bool by_regions;     /* no samples: both are by the program's regions */
    bool computed_whole; /* no sample between calls is missing from the rank files, nor from the list */
};

/* -FV_ENOENT: there is none; -FV_EFORMAT, with a word why in `why`: it cannot be read, or is not to be
 * believed. Release it in any case. */
#define FV_ANALYSIS_WHY  200
#define FV_ANALYSIS_FILE "analysis.json" /* in the directory of the experiment */
int fv_analysis_result_read(struct fv_analysis_result *out, const char *path, char why[FV_ANALYSIS_WHY]);
void fv_analysis_result_release(struct fv_analysis_result *analysed);

#endif
