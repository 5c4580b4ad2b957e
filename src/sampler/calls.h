/* SPDX-License-Identifier: BSD-3-Clause */
/* The event of calls: where the processor counts calls precisely, a sample of them is an entry of a function,
 * chosen without a clock or a breakpoint (FVSampler's own way). FVMPI_CALL_EVENT names the event, encoded by
 * `fvmpi run`.
 *
 * A sample holds the instruction and stack pointers of the call's target. The signal comes some instructions
 * later: the instance begins then, short by that much, if its frame is still there.
 *
 * For tests without a PMU an execution breakpoint is an event of calls, of one function:
 * breakpoint@5:0:ADDRESS, where 5 is PERF_TYPE_BREAKPOINT. */
#ifndef FV_CALLS_H
#define FV_CALLS_H

#include "rt/cfi.h"
#include "sampler/perf.h"

struct fv_sampler;

struct fv_calls {
    struct fv_event_fd event;
    void *ring; /* of samples; NULL: the event is not open */
    uint64_t period;
    uint64_t last_cpu_ns;  /* of the sample before */
    unsigned silent_ticks; /* since then */
    bool on;
};

/* Reads FVMPI_CALL_EVENT. */
void fv_calls_start(void);
/* For the calling thread: 0, ENOENT (there is none), or why it cannot be had, an errno. It signals after the
 * first fv_calls_tick(). */
int fv_calls_open(struct fv_calls *calls);
void fv_calls_close(struct fv_calls *calls);

/* In the handler, at a tick: keeps the samples as frequent as ticks. */
void fv_calls_tick(struct fv_sampler *s);
/* In the handler, at the event's signal: the instance that begins, or NULL, and it is counted why. */
struct fv_live_instance *fv_calls_on_sample(struct fv_sampler *s, const struct fv_registers *now, uint64_t now_ns);

#endif
