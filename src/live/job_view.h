/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi view of the job that is followed, in a process of its own, which ends with this one. */
#ifndef FV_LIVE_JOB_VIEW_H
#define FV_LIVE_JOB_VIEW_H

#include <stdbool.h>
#include <sys/types.h>

/* With what the page is told. */
#define FV_JOB_VIEW_STATES(X) \
    X(NONE, "none") X(ASKED, "starts") X(STARTS, "starts") X(SERVES, "serves") X(ENDED, "ended")
#define FV_JOB_VIEW_STATE(name, word) FV_JOB_VIEW_##name,
enum fv_job_view_state { FV_JOB_VIEW_STATES(FV_JOB_VIEW_STATE) };
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
