/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of what else the machine does, and of limits: tasks, swap, control groups, address spaces. */
#include "doctor/files.h"
#include "doctor/looks.h"
#include "tool/words.h"

#include <stdlib.h>
#include <time.h>

/* ---- other tasks ---- */

/* Tasks that run or could; -1: not known. */
static long long running(struct fv_doctor *d)
{
    const char *text = fv_doctor_text(d, FV_DOCTOR_LONG_TEXT, "proc/stat"),
               *at = text ? strstr(text, "\nprocs_running ") : NULL;
    long long count;

    return at && sscanf(at, "\nprocs_running %lld", &count) == 1 ? count : -1;
}

/* What is seen at each of a few moments: a kernel thread for a moment is no load. */
static long long least_running(struct fv_doctor *d)
{
    const struct timespec moment = { .tv_nsec = 10000000 };
    long long least = running(d);

    for (int i = 0; i < 4 && least > 1; i++) {
        nanosleep(&moment, NULL);
        long long now = running(d);

        least = now < least ? now : least;
    }
    return least;
}

#define PRESSED 1 /* percent of the last 10 s in which a task waited for a processor */

void fv_doctor_look_tasks(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *pressure = fv_doctor_value(d, "proc/pressure/cpu");
    long long count = least_running(d), others = count > 1 ? count - 1 : 0;
    double percent = -1;
    char waits[80] = "";

    if (!pressure || sscanf(pressure, "some avg10=%lf", &percent) != 1 || !(percent >= 0))
        percent = -1;
    else
        snprintf(waits, sizeof(waits), "; tasks waited %.3g %% of the last 10 s for a processor", percent);
    if (count < 0 && percent < 0)
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "neither /proc/stat nor /proc/pressure/cpu shows it");
    else if (count < 0)
        fv_doctor_say(d, r, percent < PRESSED ? FV_DOCTOR_UNKNOWN : FV_DOCTOR_BAD,
                      "/proc/stat does not say how many tasks run%s", waits);
    else
        fv_doctor_say(d, r, others || percent >= PRESSED ? FV_DOCTOR_BAD : FV_DOCTOR_GOOD, "%lld other task%s ran%s",
                      others, others == 1 ? "" : "s", waits);
}

/* ---- swap ---- */

void fv_doctor_look_swap(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *text = fv_doctor_text(d, FV_DOCTOR_TEXT, "proc/swaps");
    unsigned long long used, sum = 0;
    size_t devices = 0;

    if (!text || strncmp(text, "Filename", 8)) {
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /proc/swaps");
        return;
    }
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
        if (sscanf(line + 1, "%*s %*s %*s %llu", &used) == 1) {
            devices++;
            sum += used;
        }
    if (!devices)
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "none");
    else
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "%zu device%s, %.3g MiB used", devices, devices == 1 ? "" : "s",
                      (double)sum / 1024);
}

/* ---- limits of control groups ---- */

enum { LINES = 64, PATH_BYTES = 4096 }; /* of /proc/self/cgroup: more is no such file */

struct group {
    double cpus; /* the least quota of it and those above, in processors; 0: none */
    unsigned long long throttled;
    const char *where; /* of the quota, or where throttling was counted */
    bool is_known, is_damaged;
};

/* "max 100000" or "200000 100000" of version 2; numbers of two files of version 1. False: there is none. */
static bool see_quota(struct fv_doctor *d, struct group *g, const char *where)
{
    const char *max = fv_doctor_value(d, "%s/cpu.max", where), *v1 = fv_doctor_value(d, "%s/cpu.cfs_quota_us", where);
    const char *period_of_v1 = v1 ? fv_doctor_value(d, "%s/cpu.cfs_period_us", where) : NULL;
    double quota = -1, period = 0;

    if (max && strncmp(max, "max", 3) && sscanf(max, "%lf %lf", &quota, &period) != 2)
        g->is_damaged = true;
    if (v1 &&
        (sscanf(v1, "%lf", &quota) != 1 || (quota > 0 && (!period_of_v1 || sscanf(period_of_v1, "%lf", &period) != 1))))
        g->is_damaged = true;
    if (quota > 0 && period > 0 && (!(g->cpus > 0) || quota / period < g->cpus)) {
        g->cpus = quota / period;
        g->where = where;
    }
    return max || v1;
}

static bool see_throttling(struct fv_doctor *d, struct group *g, const char *where)
{
    const char *file = fv_arena_printf(&d->arena, "%s/cpu.stat", where),
               *text = fv_doctor_text(d, FV_DOCTOR_TEXT, file);
    const char *at = text ? strstr(text, "nr_throttled ") : NULL;
    unsigned long long throttled = at ? strtoull(at + strlen("nr_throttled "), NULL, 10) : 0;

    if (throttled > g->throttled) {
        g->throttled = throttled;
        g->where = where;
    }
    return text && *text;
}

/* A group and all above it: each may have a quota. It is known if its own files are there, or if what is mounted is
 * itself a group below the root, as containers have it: then what is above is not to be seen. */
static void see_groups(struct fv_doctor *d, struct group *g, const char *mount, const char *path)
{
    bool is_own = !strstr(path, "..") && strlen(path) < PATH_BYTES;
    char *folder = fv_arena_printf(&d->arena, "%s%s", mount, is_own ? path : "");

    for (size_t length = strlen(folder);; is_own = false) {
        while (folder[length - 1] == '/')
            folder[--length] = '\0';
        const char *where = fv_arena_string(&d->arena, folder);
        bool has_quota = see_quota(d, g, where), has_counts = see_throttling(d, g, where);

        g->is_known = g->is_known || (is_own && (has_quota || has_counts)) || (has_quota && length == strlen(mount));
        if (length <= strlen(mount))
            return;
        while (folder[length - 1] != '/')
            folder[--length] = '\0';
    }
}

/* Is "cpu" one of them? "cpu,cpuacct" */
static bool has_cpu(const char *controllers, size_t length)
{
    while (length) {
        size_t word = strcspn(controllers, ",:");

        if (word == 3 && !memcmp(controllers, "cpu", 3))
            return true;
        word = word < length ? word + 1 : length;
        controllers += word;
        length -= word;
    }
    return false;
}

/* "3:cpu,cpuacct:/path" of version 1, "0::/path" of version 2. Where version 1 has the processors, version 2 has not:
 * *has_v1 says what was found. */
static void see_line(struct fv_doctor *d, struct group *g, const char *line, bool v1, bool *has_v1)
{
    const char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    size_t length = path ? (size_t)(path - controllers - 1) : 0;

    if (!path || path[1] != '/')
        return;
    if (!v1 && !length) {
        see_groups(d, g, "sys/fs/cgroup", path + 1);
        see_groups(d, g, "sys/fs/cgroup/unified", path + 1);
    }
    if (!v1 || !has_cpu(controllers + 1, length))
        return;
    *has_v1 = true;
    see_groups(d, g, "sys/fs/cgroup/cpu", path + 1);
    see_groups(d, g, fv_arena_printf(&d->arena, "sys/fs/cgroup/%.*s", (int)length, controllers + 1), path + 1);
}

void fv_doctor_look_cgroup(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *text = fv_doctor_text(d, FV_DOCTOR_TEXT, "proc/self/cgroup");
    const char *lines = text ? fv_arena_string(&d->arena, text) : "";
    struct group g = { 0 };
    bool has_v1 = false;

    for (int v1 = 1; v1 >= 0 && !has_v1; v1--) {
        const char *line = lines;

        for (size_t i = 0; *line && i < LINES; i++) {
            see_line(d, &g, fv_arena_bytes(&d->arena, line, strcspn(line, "\n")), v1, &has_v1);
            line += strcspn(line, "\n");
            line += *line == '\n';
        }
    }
    double cpus = (double)fv_cpus_count(&d->online);
    if (!text)
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "/proc/self/cgroup cannot be read");
    else if (g.throttled)
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "throttled %llu time%s (/%.60s)", g.throttled, fv_words_s(g.throttled),
                      g.where);
    else if (g.cpus > 0)
        fv_doctor_say(d, r, g.cpus < cpus ? FV_DOCTOR_BAD : FV_DOCTOR_NOTE,
                      "a quota of %.3g processors (/%.60s), not exceeded yet", g.cpus, g.where);
    else if (g.is_known && !g.is_damaged)
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "no quota");
    else
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read the limits of this control group below /sys/fs/cgroup");
}

void fv_doctor_look_realtime(struct fv_doctor *d, struct fv_doctor_result *r)
{
    long long runtime, period;

    if (!fv_doctor_number(d, "proc/sys/kernel/sched_rt_runtime_us", &runtime) ||
        !fv_doctor_number(d, "proc/sys/kernel/sched_rt_period_us", &period) || period <= 0) {
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /proc/sys/kernel/sched_rt_runtime_us");
        return;
    }
    if (runtime < 0 || runtime >= period)
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "real-time tasks are not throttled");
    else
        fv_doctor_say(d, r, runtime ? FV_DOCTOR_NOTE : FV_DOCTOR_BAD, "real-time tasks get %.3g %% of the time",
                      100. * (double)runtime / (double)period);
    if (r->state != FV_DOCTOR_GOOD)
        fv_doctor_want(d, r, "proc/sys/kernel/sched_rt_runtime_us", "-1");
}

/* ---- address spaces ---- */

#define NO_RANDOMIZE 0x0040000 /* ADDR_NO_RANDOMIZE of personality(2) */

void fv_doctor_look_aslr(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *personality = fv_doctor_value(d, "proc/self/personality");
    long long mode;

    if (personality && strtoul(personality, NULL, 16) & NO_RANDOMIZE)
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "off for programs started from here (setarch -R)");
    else if (!fv_doctor_number(d, "proc/sys/kernel/randomize_va_space", &mode))
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /proc/sys/kernel/randomize_va_space");
    else
        fv_doctor_say(d, r, mode ? FV_DOCTOR_BAD : FV_DOCTOR_GOOD, "randomize_va_space %lld", mode);
}

/* ---- what no file tells ---- */

void fv_doctor_look_warm_up(struct fv_doctor *d, struct fv_doctor_result *r)
{
    fv_doctor_say(d, r, FV_DOCTOR_NOTE, "no file tells");
}
