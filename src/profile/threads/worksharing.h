/* SPDX-License-Identifier: BSD-3-Clause */
/* Worksharing of OpenMP (--threads): loops, sections, singles and the like, by the place where they stand, over all
 * ranks and threads. Exact; what the runtime does not tell is not there (struct fv_omp_work). */
#ifndef FV_PROFILE_WORK_H
#define FV_PROFILE_WORK_H

#include "profile/model.h"
#include "tool/vec.h"
#include "trace/format.h"

struct fv_work {
    uint32_t kind, module; /* enum fv_omp_work_kind; with the place in the module its key */
    uint64_t offset;
    uint32_t node;     /* a call path there, of a team's first thread if it has come there */
    uint32_t threads;  /* of all ranks that came there */
    uint64_t times;    /* of each rank, those of the thread that came there most often; of tasks, executed */
    uint64_t executed; /* parts that threads did, ... */
    uint64_t timed;    /* ... and of them, those whose end was told: */
    double seconds, max_s, wait_s; /* of all threads; of the longest part; of seconds, waiting for others in them */
    double thread_max_s;           /* of the thread with most, ... */
    uint32_t max_rank, max_thread; /* ... this one: rank in fv_model.ranks, FV_NONE: none was timed;
                                    * fv_thread_record.id */
};

/* Why they may be missing. */
#define FV_WORKS_UNSEEN "GCC's libgomp does not report loops with a static schedule, nor master"

struct fv_works {
    struct fv_work *items; /* by seconds, longest first */
    size_t count, room;
};
extern const char *const fv_work_kind_names[FV_OMP_WORK_KINDS]; /* by kind - 1, as OpenMP's directives; ends with
                                                                 * NULL */
/* Mean of its threads over the one with most. NAN: it was not timed. */
double fv_work_balance(const struct fv_work *work);
void fv_works_release(void *data); /* struct fv_works */

FV_SUBJECT_DATA(struct fv_works, worksharing, worksharing)

#endif
