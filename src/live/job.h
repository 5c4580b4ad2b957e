/* SPDX-License-Identifier: BSD-3-Clause */
/* A job that runs, followed by its experiment alone: nothing in the application changes for it, but that one that hangs
 * is looked at (job_where.h). A thread of its own
 * reads the rank files again and again, as `fvmpi report` would, and puts what they say among the samples (live.h), as
 * lines:
 *
 *     {"time_s":9.5,"job":{...}}     seconds of each rank so far, and what it is doing: every FV_JOB_LEAST_S, call
 *                                    paths not looked up
 *     {"time_s":9.5,"told":{...}}    in words: how it stands, who waits for whom, what took time so far, with call
 *                                    paths; where everybody is (job_where.h)
 *
 * Both less often where reading takes long: it has FV_JOB_SHARE of a processor, each of them, and up to
 * FV_JOB_SHARE_MOST so that what is told is no older than a quarter of the run. Of ranks on other hosts it is not seen
 * whether they live: who has not ended by itself is taken to run. When all ranks have ended there is one more of each,
 * and then nothing until another run is in its place. */
#ifndef FV_JOB_H
#define FV_JOB_H

#include "live/live.h"

#define FV_JOB_LEAST_S    1.0
#define FV_JOB_TOLD_S     3.0
#define FV_JOB_SHARE      0.025
#define FV_JOB_SHARE_MOST 0.1
#define FV_JOB_AGE        0.25 /* of the run's time so far */
#define FV_JOB_WAITS      64   /* ranks whose waiting is told in words */

struct fv_job;
/* The experiment need not be there yet. `path` stays the caller's. */
struct fv_job *fv_job_start(struct fv_live *live, char *path);
void fv_job_stop(struct fv_job *job); /* NULL is fine */

#endif
