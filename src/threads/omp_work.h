/* SPDX-License-Identifier: BSD-3-Clause */
/* Worksharing of OpenMP (omp_work.c): a thread's part in a loop, sections, a single and the like, as struct fv_omp_work
 * sums it up. All are called by the thread itself. */
#ifndef FV_OMP_WORK_H
#define FV_OMP_WORK_H

#include "threads/omp.h"

/* It begins its part; an open one of the same team ends. */
void fv_omp_work_begin(enum fv_omp_work_kind kind, struct fv_call_place site);
/* The same, of a construct that is the region itself: its place is the fork's. */
void fv_omp_work_of_member(struct fv_omp_member *m, enum fv_omp_work_kind kind);
/* It ends its part, before the barrier; nothing if it is in none. */
void fv_omp_work_end(enum fv_omp_work_kind kind);
/* It runs a task, which is known by an address in its function, or of the call that made it. False: it is not recorded,
 * nor must be its end. */
bool fv_omp_work_task_begin(const void *place);
void fv_omp_work_task_end(void);
/* The thread comes to its team's end. */
void fv_omp_work_left(const struct fv_omp_member *m);
/* It came to a construct whose end is not told, or which is another thread's to do. */
void fv_omp_work_met(enum fv_omp_work_kind kind, bool executes, struct fv_call_place site);

#endif
