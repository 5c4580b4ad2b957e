/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections that the program marks (fvmpi.h). Each thread has a table of its own of the sections that it used,
 * and a stack of those that are open; what they hold is differences of the thread's counters in the rank
 * file, so that a call inside costs nothing more. Only which sections are open together has a number for the
 * whole process, a *set*: statistics of calls (struct fv_cell) are kept apart by it, which gives call paths,
 * sizes and waiting of each section. */
#ifndef FV_SECTIONS_H
#define FV_SECTIONS_H

#include "base/base.h"

struct fv_thread;
/* Of the sections that are open for a thread, the set: its own, or, where it has none, those of the thread that made
 * it. So workers of a pool belong to what they work for, whenever they were made. For signal handlers. */
uint32_t fv_sections_of(const struct fv_thread *thread);

/* A level below all: of regions that are marked for others (src/annotations), which are many and short, so that their
 * CPU time is not read. */
#define FV_SECTION_MARKED INT32_MIN

/* Who measures something of its own in them, and is told as instances begin and end; NULL: nobody. Recording alone: no
 * lock, no system call. `own` is the watch's, of the thread's section, NULL at first. */
struct fv_section_watch {
    void (*begins)(struct fv_thread *thread, uint32_t section, void **own);
    void (*ends)(struct fv_thread *thread, void *own);
};
extern const struct fv_section_watch *fv_section_watch;

/* What fvmpi.h's functions call, by these names (there weak). */
FV_PUBLIC void fvmpi_section_begin_v1(const char *name, int number, int level);
FV_PUBLIC void fvmpi_section_end_v1(const char *name, int number, int level);

#endif
