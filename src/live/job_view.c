/* SPDX-License-Identifier: BSD-3-Clause */
/* See job_view.h. */
#include "live/job_view.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void fv_job_view_ask(struct fv_job_view *v)
{
    enum fv_job_view_state none = FV_JOB_VIEW_NONE, ended = FV_JOB_VIEW_ENDED;

    if (!atomic_compare_exchange_strong(&v->state, &none, FV_JOB_VIEW_ASKED))
        atomic_compare_exchange_strong(&v->state, &ended, FV_JOB_VIEW_ASKED);
}

static void run(const char *directory, int out)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(out, STDOUT_FILENO);
    execl("/proc/self/exe", "fvmpi", "view", "--", directory, (char *)NULL);
    _exit(1);
}

static void start(struct fv_job_view *v, const char *directory)
{
    int ends[2];

    v->used = 0;
    v->state = FV_JOB_VIEW_ENDED;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return;
    v->pid = fork();
    if (!v->pid)
        run(directory, ends[1]);
    close(ends[1]);
    v->out = ends[0];
    if (v->pid > 0)
        v->state = FV_JOB_VIEW_STARTS;
    else
        close(v->out);
}

static void end(struct fv_job_view *v)
{
    close(v->out);
    kill(v->pid, SIGTERM);
    waitpid(v->pid, NULL, 0);
    v->state = FV_JOB_VIEW_ENDED;
}

/* Its first line begins with the address. */
static void read_address(struct fv_job_view *v)
{
    const ssize_t got = read(v->out, v->address + v->used, sizeof(v->address) - 1 - v->used);

    if (got < 0)
        return; /* nothing yet */
    v->used += (size_t)got;
    v->address[v->used] = '\0';
    if (!got || v->used == sizeof(v->address) - 1) {
        if (!strpbrk(v->address, " \n")) {
            end(v);
            return;
        }
    } else if (!strchr(v->address, '\n'))
        return;
    v->address[strcspn(v->address, " \n")] = '\0';
    v->state = FV_JOB_VIEW_SERVES;
}

void fv_job_view_go_on(struct fv_job_view *v, const char *directory)
{
    if (v->state == FV_JOB_VIEW_ASKED)
        start(v, directory);
    else if (v->state == FV_JOB_VIEW_STARTS)
        read_address(v);
    else if (v->state == FV_JOB_VIEW_SERVES && waitpid(v->pid, NULL, WNOHANG) == v->pid) {
        close(v->out);
        v->state = FV_JOB_VIEW_ENDED;
    }
}

void fv_job_view_stop(struct fv_job_view *v)
{
    if (v->state == FV_JOB_VIEW_STARTS || v->state == FV_JOB_VIEW_SERVES)
        end(v);
}
