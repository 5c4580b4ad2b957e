/* SPDX-License-Identifier: BSD-3-Clause */
/* The tests of noise: pinned threads, a test after the other. */
#ifndef FV_MEASURE_NOISE_H
#define FV_MEASURE_NOISE_H

#include "doctor/measure/measure.h"

/* How much work the fixed work is, and how short the loop's turn: measured->steps, work, quantum, turn and
 * threshold. */
void fv_noise_calibrate(struct fv_measurement *measured);

/* All tests on these processors at once, and adds their rows. */
void fv_noise_measure(struct fv_measurement *measured, struct fv_arena *arena, const struct fv_cpus *cpus,
                      bool together, double seconds);

/* Starts a function for each processor, pinned to it, and waits until all have ended; `data[i]` is of the i-th. Those
 * that cannot be pinned do not run. */
struct fv_pinned_thread {
    unsigned cpu;
    void *data;
    bool ran;
};
typedef void fv_pinned_thread_fn(struct fv_pinned_thread *pinned);
void fv_run_pinned_threads(struct fv_pinned_thread *items, size_t count, fv_pinned_thread_fn *function);

#endif
