/* Checks of what else the machine does, and of limits: tasks, swap, control groups, address spaces. */
#include "doctor/files.h"
#include "doctor/looks.h"

#include <stdlib.h>
#include <time.h>

/* ---- other tasks ---- */

/* Tasks that run or could; -1: not known. */
static long long running(struct fv_doctor *d)
{
    const char *text = fv_doctor_text(d, FV_DOCTOR_LONG_TEXT, "proc/stat"), *at = text ? strstr(text, "\nprocs_running ") : NULL;
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

    if (pressure && sscanf(pressure, "some avg10=%lf", &percent) == 1)
        snprintf(waits, sizeof(waits), "; tasks waited %.3g %% of the last 10 s for a processor", percent);
    if (count < 0 && percent < 0)
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "neither /proc/stat nor /proc/pressure/cpu tells");
    else if (count < 0)
        fv_doctor_say(d, r, percent < PRESSED ? FV_DOCTOR_UNKNOWN : FV_DOCTOR_BAD, "/proc/stat does not tell how many run%s", waits);
    else
        fv_doctor_say(d, r, others || percent >= PRESSED ? FV_DOCTOR_BAD : FV_DOCTOR_GOOD, "%lld other task%s ran%s", others, others == 1 ? "" : "s", waits);
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
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "%zu device%s, %.3g MiB used", devices, devices == 1 ? "" : "s", (double)sum / 1024);
}

/* ---- limits of control groups ---- */

struct group {
    double cpus;         /* the least quota of it and those above, in processors; 0: none */
    unsigned long long throttled;
    size_t files;        /* that could be read */
    const char *where;   /* of the quota, or where throttling was counted */
};

static void see_quota(struct group *g, const char *where, double quota, double period)
{
    if (!(quota > 0) || !(period > 0) || (g->cpus > 0 && quota / period >= g->cpus))
        return;
    g->cpus = quota / period;
    g->where = where;
}

static void see_folder(struct fv_doctor *d, struct group *g, const char *mount, const char *path)
{
    const char *where = fv_arena_printf(&d->arena, "%s%s", mount, path), *max = fv_doctor_value(d, "%s/cpu.max", where);
    double quota, period;
    long long v1_quota, v1_period;
    char file[PATH_MAX];

    if (max) {
        g->files++;
        if (sscanf(max, "%lf %lf", &quota, &period) == 2)
            see_quota(g, where, quota, period);
    }
    snprintf(file, sizeof(file), "%s/cpu.cfs_quota_us", where);
    if (fv_doctor_number(d, file, &v1_quota)) {
        g->files++;
        snprintf(file, sizeof(file), "%s/cpu.cfs_period_us", where);
        if (fv_doctor_number(d, file, &v1_period))
            see_quota(g, where, (double)v1_quota, (double)v1_period);
    }
    snprintf(file, sizeof(file), "%s/cpu.stat", where);
    const char *text = fv_doctor_text(d, FV_DOCTOR_TEXT, file), *at = text ? strstr(text, "nr_throttled ") : NULL;
    unsigned long long throttled = at ? strtoull(at + strlen("nr_throttled "), NULL, 10) : 0;
    g->files += text && *text;
    if (throttled > g->throttled) {
        g->throttled = throttled;
        g->where = where;
    }
}

/* A group and all above it: each may have a quota. */
static void see_groups(struct fv_doctor *d, struct group *g, const char *mount, const char *path)
{
    char folder[1024];

    if (snprintf(folder, sizeof(folder), "%s", path) >= (int)sizeof(folder) || strstr(folder, ".."))
        folder[0] = '\0'; /* above what is seen from here */
    for (;;) {
        size_t length = strlen(folder);

        while (length && folder[length - 1] == '/')
            folder[--length] = '\0';
        see_folder(d, g, mount, folder);
        char *slash = strrchr(folder, '/');
        if (!slash)
            return;
        *slash = '\0';
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

static void see_line(struct fv_doctor *d, struct group *g, const char *line)
{
    const char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path)
        return;
    size_t length = (size_t)(path - controllers - 1);
    if (!length) { /* version 2, alone or beside version 1 */
        see_groups(d, g, "sys/fs/cgroup", path + 1);
        see_groups(d, g, "sys/fs/cgroup/unified", path + 1);
    } else if (has_cpu(controllers + 1, length)) {
        char mount[200];

        see_groups(d, g, "sys/fs/cgroup/cpu", path + 1);
        snprintf(mount, sizeof(mount), "sys/fs/cgroup/%.*s", length < 100 ? (int)length : 100, controllers + 1);
        see_groups(d, g, mount, path + 1);
    }
}

void fv_doctor_look_cgroup(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *text = fv_doctor_text(d, FV_DOCTOR_TEXT, "proc/self/cgroup");
    char *lines = text ? fv_arena_string(&d->arena, text) : NULL, *rest;
    struct group g = { 0 };

    for (char *line = lines ? strtok_r(lines, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        see_line(d, &g, line);
    double cpus = (double)fv_cpus_count(&d->online);
    if (!text)
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "/proc/self/cgroup cannot be read");
    else if (!g.files)
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "there are no files of the control group below /sys/fs/cgroup");
    else if (g.throttled)
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "throttled %llu times (/%.60s)", g.throttled, g.where);
    else if (g.cpus > 0)
        fv_doctor_say(d, r, g.cpus < cpus ? FV_DOCTOR_BAD : FV_DOCTOR_NOTE, "a quota of %.3g processors (/%.60s), not exceeded yet", g.cpus, g.where);
    else
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "no quota");
}

void fv_doctor_look_realtime(struct fv_doctor *d, struct fv_doctor_result *r)
{
    long long runtime, period;

    if (!fv_doctor_number(d, "proc/sys/kernel/sched_rt_runtime_us", &runtime) || !fv_doctor_number(d, "proc/sys/kernel/sched_rt_period_us", &period) || period <= 0) {
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /proc/sys/kernel/sched_rt_runtime_us");
        return;
    }
    if (runtime < 0 || runtime >= period)
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "real-time tasks are not throttled");
    else
        fv_doctor_say(d, r, runtime ? FV_DOCTOR_NOTE : FV_DOCTOR_BAD, "real-time tasks get %.3g %% of the time", 100. * (double)runtime / (double)period);
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
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "off for what is started from here (setarch -R)");
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
