/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank's threads did beside calls of MPI: stretches of time in fv_trace_excerpt.spans. trace_excerpt.c hands
 * over the events as it reads them; what ends in another thread's events, as a team's barrier does, is known at the
 * rank's end. */
#ifndef FV_TRACE_SPANS_H
#define FV_TRACE_SPANS_H

#include "profile/build.h"
#include "trace/events.h"

struct fv_trace_spans;

/* Of a rank: of each layer the `most` longest are kept. */
struct fv_trace_spans *fv_trace_spans_begin(struct fv_build *build, uint32_t rank, size_t most);
/* The rank's next thread. */
void fv_trace_spans_thread(struct fv_trace_spans *spans, uint32_t thread);
/* An event that stands between calls (fv_event_is_of_thread()), or a call. */
void fv_trace_spans_event(struct fv_trace_spans *spans, const struct fv_event *event);
/* Releases it. */
void fv_trace_spans_end(struct fv_trace_spans *spans);

/* Of durations, which become sorted, the shortest of the `most` longest; *alike: how many of these are as short. There
 * are more than `most`. */
double fv_trace_least(double *durations, size_t count, size_t most, size_t *alike);

#endif
