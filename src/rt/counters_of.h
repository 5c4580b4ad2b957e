/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread is counted with: of counters.c, and of counters_others.c, where others read it. */
#ifndef FV_COUNTERS_OF_H
#define FV_COUNTERS_OF_H

#include "rt/counters.h"
#include "rt/map.h"
#include "rt/tail.h"
#include "rt/thread.h"

struct fv_counter_reading {
    struct fv_perf_count at[FV_COUNTERS];
};

struct fv_thread_counters {
    struct fv_event_fd event[FV_COUNTERS]; /* -1: it is not opened */
    const volatile struct perf_event_mmap_page *page[FV_COUNTERS];
    bool direct;                     /* by these */
    bool is_due;                     /* to be written into the file */
    bool unknown;                    /* they could not be opened */
    struct fv_counter_values *whole; /* in the file */
    struct fv_counter_values before; /* of threads before that had this struct */
    struct fv_counter_values *life;  /* of this one, in the file; NULL: it is not asked for, or there was no room */
    struct fv_counter_values kept;   /* of this one, what was forgotten in `whole` */
    struct fv_counter_reading now;   /* the last one; what cannot be read stays */
    struct fv_counter_reading begun, entered;
    uint64_t in_mpi[FV_COUNTERS];
    uint64_t begun_ticks;
    struct fv_tail tail, phases;
    struct fv_map regions; /* struct region */
};

struct fv_counter_span {
    struct fv_counter_values *sum; /* in the file */
    struct fv_counter_reading since;
    uint64_t in_mpi_since[FV_COUNTERS];
};

/* How many events there are. */
unsigned fv_counters_wanted(void);
/* Of perf events, by any thread. False: some descriptor is not ours any more. */
bool fv_counters_read_groups(const struct fv_thread_counters *counters, struct fv_counter_reading *out);
/* The kernel's accounts, where they are counted. */
void fv_counters_read_accounts_of(const struct fv_thread *thread, struct fv_counter_reading *out);
void fv_counters_add(struct fv_counter_values *sum, const struct fv_counter_reading *now,
                     const struct fv_counter_reading *since);
/* The whole thread until the reading, into the rank file. */
void fv_counters_put_whole(struct fv_thread_counters *counters, const struct fv_counter_reading *now);
/* What of FV_COUNTERS_UNKNOWN and _CUT it is. */
unsigned fv_counters_unknown_flags(const struct fv_thread_counters *counters);

#endif
