/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters inside of instances: the events of --events, of the calling thread, as one group that one system
 * call reads.
 *
 * The handler brackets itself with fv_pmu_enter() and fv_pmu_leave() while instances are open: what counts in
 * between is ours, as is what a trap itself takes (the kernel's part, or the few instructions outside of the
 * brackets), which is calibrated. Rejected: to stop the counters in the handler, by two ioctls that cost more
 * than the two reads, and leave the trap itself in.
 *
 * Where others use the processor's counters as well, the kernel lets ours run part of the time only. Then a
 * count is scaled by the part (an estimate, flagged and counted), or unknown, if there was none.
 *
 * All but start, open and close are for the signal handler: no lock, no memory, no C library. */
#ifndef FV_PMU_H
#define FV_PMU_H

#include "sampler/perf.h"
#include "trace/format.h"

struct fv_pmu_reading {
    uint64_t enabled, running; /* ns; both 0: could not be read */
    uint64_t value[FV_METRIC_EVENTS];
};

struct fv_pmu {
    struct fv_event_fd event[FV_METRIC_EVENTS]; /* by metric; -1: none */
    struct fv_event_fd *leader;                 /* one of them; NULL: nothing is counted */
    uint8_t place[FV_METRIC_EVENTS];            /* of the metric in what is read */
    unsigned count;
    struct fv_pmu_reading now;       /* where the handler began, then where it ends */
    uint64_t tool[FV_METRIC_EVENTS]; /* ours, to be subtracted from all that is open */
};

/* Where an instance began. */
struct fv_pmu_mark {
    struct fv_pmu_reading begin;
    uint64_t tool[FV_METRIC_EVENTS];
};

enum fv_pmu_quality { FV_PMU_EXACT, FV_PMU_SCALED, FV_PMU_LOST };

/* Finds out which events can be had, says once which cannot, and writes METRIC_EVENTS. */
void fv_pmu_start(void);
/* Is anything asked for? From start on. */
bool fv_pmu_wanted(void);
/* For the calling thread. What cannot be had stays out: the sampler goes on. Close it before it is opened
 * again. */
void fv_pmu_open(struct fv_pmu *pmu);
void fv_pmu_close(struct fv_pmu *pmu);

void fv_pmu_enter(struct fv_pmu *pmu);
void fv_pmu_leave(struct fv_pmu *pmu);
/* An instance begins when this handler ends. */
void fv_pmu_mark(const struct fv_pmu *pmu, struct fv_pmu_mark *mark);
/* What was counted from there until this handler began. LOST: nothing is known, out is 0. */
enum fv_pmu_quality fv_pmu_since(const struct fv_pmu *pmu, const struct fv_pmu_mark *mark,
                                 uint64_t out[FV_METRIC_EVENTS]);

/* Calibration: an empty instance has returned; there are no more of them. */
void fv_pmu_learn(const struct fv_pmu *pmu, const struct fv_pmu_mark *mark);
void fv_pmu_learned(void);

#endif
