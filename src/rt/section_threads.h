/* SPDX-License-Identifier: BSD-3-Clause */
/* What other threads do while a section is open: those of OpenMP, and others that are recorded, whether they were made
 * before it or in it, and live at its end or not. Never fvmpi's own, nor MPI's.
 *
 * A section of the process is open from the first thread's begin to the last one's end: its span. At both the CPU
 * clocks of the other threads are read, and with --counters their events; what came in between is theirs. So a thread
 * is counted once, however many others have the section open; nested and overlapping sections each count it. A thread
 * that opens the section itself is measured by its own begins and ends alone (sections.h), and the reader takes those.
 *
 * Nobody waits: where another thread is reading, or changes the list of descriptors, a span is not read. Nor is it
 * where reading has taken 1 % of the time since recording began, so that short sections cost little. What was read
 * then stands for the rest, by time: an estimate. Else times are exact to what the reading itself takes, and the
 * kernel's ticks tell user mode from the kernel.
 *
 * Rejected: that threads read their own clocks, since workers of OpenMP come to no place where they could; events that
 * later threads inherit (rt/counters.h); a list of readings per instance, which grows with the run. */
#ifndef FV_SECTION_THREADS_H
#define FV_SECTION_THREADS_H

#include "base/base.h"

#include <stdbool.h>

struct fv_thread;
struct fv_section_span_of; /* of a section of the process */

/* Of a section's id; NULL: there is no room. Takes locks. */
struct fv_section_span_of *fv_section_span_of(uint32_t section);
/* A thread begins it, before it reads its own clocks; ends it, after that, at `now`. Each begin has an end. */
void fv_section_span_begin(struct fv_section_span_of *span, const struct fv_thread *self);
void fv_section_span_end(struct fv_section_span_of *span, const struct fv_thread *self, uint64_t now);
/* Instead of an end, which did not come: the span is not read. */
void fv_section_span_drop(struct fv_section_span_of *span);
/* What spans have is forgotten, once an era (MPI_Pcontrol(2)). */
void fv_section_spans_forget(void);

/* Has any section a span? Then threads are recorded from their begin. */
extern bool fv_section_spans;

#endif
