/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi view of the job that is followed, in a process of its own, which ends with this one. */
#ifndef FV_LIVE_JOB_VIEW_H
#define FV_LIVE_JOB_VIEW_H

#include <stdbool.h>
#include <sys/types.h>

enum fv_job_view_state {
    FV_JOB_VIEW_NONE,
    FV_JOB_VIEW_ASKED,
    FV_JOB_VIEW_STARTS,
    FV_JOB_VIEW_SERVES,
    FV_JOB_VIEW_ENDED
};
struct fv_job_view {
    _Atomic enum fv_job_view_state state;
    char address[200]; /* once it serves */
    size_t used;
    int out; /* its stdout */
    pid_t pid;
};

/* By any thread. */
void fv_job_view_ask(struct fv_job_view *view);
/* By the thread that lasts, now and then: starts what was asked for, and reads its address. */
void fv_job_view_go_on(struct fv_job_view *view, const char *directory);
void fv_job_view_stop(struct fv_job_view *view);

#endif
