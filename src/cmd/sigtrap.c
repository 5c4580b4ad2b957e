/* SPDX-License-Identifier: BSD-3-Clause */
/* See sigtrap.h. */
#include "cmd/sigtrap.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(PERF_ATTR_SIZE_VER7)

#define PERIOD_NS 100000
#define SPIN_NS   3000000

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* In the child: is the sample pending, and are we still there? */
static bool live_through(void)
{
    struct perf_event_attr attr = { .size = sizeof(attr),
                                    .type = PERF_TYPE_SOFTWARE,
                                    .config = PERF_COUNT_SW_TASK_CLOCK,
                                    .sample_period = PERIOD_NS,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1,
                                    .sigtrap = 1,
                                    .remove_on_exec = 1 };
    sigset_t trap, pending;

    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    sigprocmask(SIG_BLOCK, &trap, NULL);
    if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC) < 0)
        return false;
    for (uint64_t end = cpu_ns() + SPIN_NS; cpu_ns() < end;)
        for (volatile int i = 0; i < 10000; i++)
            ;
    return !sigpending(&pending) && sigismember(&pending, SIGTRAP);
}

bool fv_sigtrap_try(void)
{
    int status = 1;
    pid_t child = fork();

    if (!child) {
        const struct rlimit none = { 0, 0 };

        setrlimit(RLIMIT_CORE, &none);
        prctl(PR_SET_DUMPABLE, 0); /* no core dump is written, by anybody */
        signal(SIGTRAP, SIG_DFL);
        _exit(!live_through());
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

#else

bool fv_sigtrap_try(void)
{
    return false;
}

#endif
