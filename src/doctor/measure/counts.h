/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a measuring thread, by sample of fixed work (fvmpi doctor --measure --events). They are read between the
 * samples, whose times are without that. */
#ifndef FV_MEASURE_COUNTS_H
#define FV_MEASURE_COUNTS_H

#include "base/perf_fd.h"
#include "doctor/measure/measure.h"

/* Which of the events this machine counts beside each other: sets their refusals. */
void fv_counts_try(struct fv_measurement *measured);
/* How many it does. */
size_t fv_counts_known(const struct fv_measurement *measured);

struct fv_sample_counter {
    struct fv_event_fd events[FV_MEASURE_EVENTS]; /* one group, of the thread that opens it */
    size_t count;
    uint64_t last[FV_MEASURE_EVENTS], enabled, running;
};
void fv_counts_open(struct fv_sample_counter *out, const struct fv_measurement *measured);
void fv_counts_close(struct fv_sample_counter *counter);
/* Since the last time: `counter->count` numbers, NAN where they were not counted all the time. */
void fv_counts_take(struct fv_sample_counter *counter, double *out);

#endif
