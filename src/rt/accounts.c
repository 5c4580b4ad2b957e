/* SPDX-License-Identifier: BSD-3-Clause */
/* See accounts.h. */
#include "rt/accounts.h"
#include "base/process.h"
#include "base/thread_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

bool fv_accounts_read(uint64_t of[FV_ACCOUNTS])
{
    struct timespec cpu;
    struct rusage u;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) || getrusage(RUSAGE_THREAD, &u))
        return false;
    of[FV_ACCOUNT_CPU_NS] = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    of[FV_ACCOUNT_MINOR] = (uint64_t)u.ru_minflt;
    of[FV_ACCOUNT_MAJOR] = (uint64_t)u.ru_majflt;
    of[FV_ACCOUNT_FAULTS] = of[FV_ACCOUNT_MINOR] + of[FV_ACCOUNT_MAJOR];
    of[FV_ACCOUNT_SWITCHES] = (uint64_t)u.ru_nvcsw + (uint64_t)u.ru_nivcsw;
    return true;
}

bool fv_accounts_read_of(uint32_t tid, bool all, uint64_t of[FV_ACCOUNTS])
{
    unsigned long long minor = 0, major = 0;
    char path[64], text[2048];
    struct timespec cpu;

    if (clock_gettime(fv_thread_clock(tid, FV_THREAD_CPU), &cpu))
        return false;
    of[FV_ACCOUNT_CPU_NS] = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    if (!all)
        return true;
    snprintf(path, sizeof(path), "/proc/self/task/%u/stat", tid);
    const char *fields = fv_file_read(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
    if (!fields || sscanf(fields, ") %*c %*s %*s %*s %*s %*s %*s %llu %*s %llu", &minor, &major) != 2)
        return false;
    snprintf(path, sizeof(path), "/proc/self/task/%u/status", tid);
    if (fv_file_read(path, text, sizeof(text)) <= 0)
        return false;
    of[FV_ACCOUNT_MINOR] = minor;
    of[FV_ACCOUNT_MAJOR] = major;
    of[FV_ACCOUNT_FAULTS] = minor + major;
    of[FV_ACCOUNT_SWITCHES] = strtoull(fv_file_value(text, "\nvoluntary_ctxt_switches:"), NULL, 10) +
                              strtoull(fv_file_value(text, "\nnonvoluntary_ctxt_switches:"), NULL, 10);
    return true;
}
