/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of whole threads and of sections (--counters): events of the processor and of the kernel, by one group of
 * perf events for each thread, which counts that thread alone; faults, switches and CPU time by the kernel's own
 * accounts of the thread, which need no permission.
 *
 * A thread reads them when it begins and ends, enters and leaves a section or a region of OpenMP and, what the
 * processor counts, an MPI call: by the processor's own instruction where the kernel lets us and all are events of the
 * processor, else by a system call for each group. Without --counters nothing of this is done: who calls MPI finds out
 * by the look that it takes at context switches anyway (rt/switches.h).
 *
 * Rejected: to count the process with its later threads (inherit), because a group of these cannot be read; to stop
 * counters in MPI, which costs more than to read them. */
#ifndef FV_RT_COUNTERS_H
#define FV_RT_COUNTERS_H

#include "base/perf_fd.h"
#include "trace/format.h"

struct fv_thread;
struct fv_thread_counters;
struct fv_counter_span; /* of a section of the thread */

/* Around MPI's calls, of a thread that has counters: what is counted between the two is MPI's. The second may be left
 * out, or come again. */
void fv_counters_enter(struct fv_thread *thread);
void fv_counters_leave(struct fv_thread *thread);

/* The thread has counters: an instance of the section begins, ends after so many ticks (pauses included, as in what is
 * counted), or is to be forgotten, and goes on if it is open. *of is made by the first begin; NULL: there was no
 * room. */
void fv_counters_begin(struct fv_thread *thread, uint32_t section, struct fv_counter_span **of);
void fv_counters_end(struct fv_thread *thread, struct fv_counter_span *of, uint64_t ticks);
void fv_counters_clear(struct fv_thread *thread, struct fv_counter_span *of);

/* Are events counted? Others' are read under fv_rt.lock, by which their descriptors stay open. */
bool fv_counters_are_on(void);
/* Of another thread, while a section is open on this one: *of is made by the first that finds room. Was the thread
 * there at the begin? Else all that it counted so far is in it. */
void fv_counters_other_begin(const struct fv_thread *thread, struct fv_counter_span **of);
void fv_counters_other_end(const struct fv_thread *thread, uint32_t section, struct fv_counter_span **of,
                           bool was_there, uint64_t ticks);
void fv_counters_other_clear(struct fv_counter_span *of);

/* The thread has counters: what it counts until its end is of the phase that its life is in (fv_thread_life.id), too.
 * Once, when it begins. */
void fv_counters_life(struct fv_thread *thread, uint32_t life);
/* Likewise of a region of OpenMP (fv_omp_region.id), between the two, which took so many ticks: `parts` 1, or 0 for
 * more of a part that has ended. A region may stand in itself, and what is inside is told once. */
void fv_counters_region_begin(struct fv_thread *thread, uint32_t region);
void fv_counters_region_end(struct fv_thread *thread, uint32_t region, uint64_t ticks, unsigned parts);
/* Likewise of the times in which it runs alone, by the record of these (fv_solo_record, which one of the file). */
void fv_counters_alone_begin(struct fv_thread *thread, uint32_t record);
void fv_counters_alone_end(struct fv_thread *thread, uint32_t record, uint64_t ticks);

/* A time bin of the thread went on, in a call: its values are to be written into the rank file. */
void fv_counters_go_on(struct fv_thread *thread);
/* Into the rank file. */
void fv_counters_update(struct fv_thread *thread);

/* Of all threads: those of a pool, and those that call no MPI, tell by themselves only when they end. Where the process
 * ends. */
void fv_counters_update_all(struct fv_thread *self);

/* What was counted when it was read last, by the thread and those before it that had its number: events by number, of
 * which it returns how many there are. */
unsigned fv_counters_last(const struct fv_thread *thread, uint8_t numbers[FV_COUNTERS], uint64_t counts[FV_COUNTERS]);

#endif
