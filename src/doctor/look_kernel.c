/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of what the kernel itself does on processors that measure: ticks, callbacks, interrupts, work of its own. */
#include "doctor/files.h"
#include "doctor/looks.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#define CPU "sys/devices/system/cpu/"

/* ---- isolation ---- */

/* A control group whose processors are nobody else's. */
static const char *find_partition(struct fv_doctor *d)
{
    static const char *const patterns[] = { "sys/fs/cgroup/*/cpuset.cpus.partition",
                                            "sys/fs/cgroup/*/*/cpuset.cpus.partition",
                                            "sys/fs/cgroup/*/*/*/cpuset.cpus.partition" };

    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        for (const char *const *path = fv_doctor_glob(d, patterns[i]); *path; path++) {
            const char *value = fv_doctor_value(d, "%s", *path);

            if (value && !strcmp(value, "isolated"))
                return *path;
        }
    return NULL;
}

void fv_doctor_look_isolation(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *list = fv_doctor_value(d, CPU "isolated"), *partition = find_partition(d);
    struct fv_cpus cpus;
    bool is_known = list && fv_cpus_from_list(list, &cpus);

    if (is_known && fv_cpus_count(&cpus))
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "processors %.60s", list);
    else if (partition)
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "%s: isolated", partition);
    else if (is_known)
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "no processor is isolated");
    else
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /" CPU "isolated");
}

/* ---- tick, RCU ---- */

void fv_doctor_look_tick(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *list = fv_doctor_value(d, CPU "nohz_full"), *hz = fv_doctor_config(d, "CONFIG_HZ"),
               *able = fv_doctor_config(d, "CONFIG_NO_HZ_FULL");
    struct fv_cpus cpus;
    bool is_known = list && fv_cpus_from_list(list, &cpus);
    char rate[60] = "";

    if (hz && *hz)
        snprintf(rate, sizeof(rate), "%.10s ticks/s (CONFIG_HZ), ", hz);
    if (is_known && fv_cpus_count(&cpus))
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "no tick on processors %.60s while they run one task", list);
    else if (able && strcmp(able, "y"))
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "%sa kernel without CONFIG_NO_HZ_FULL", rate);
    else if (is_known || (able && !list))
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "%son every processor (nohz_full)", rate);
    else
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "neither /" CPU "nohz_full nor the kernel's configuration can be read");
    if (r->state == FV_DOCTOR_BAD && able && strcmp(able, "y"))
        r->fix = "none with this kernel; use one built with CONFIG_NO_HZ_FULL=y";
}

void fv_doctor_look_rcu(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *all = fv_doctor_config(d, "CONFIG_RCU_NOCB_CPU_DEFAULT_ALL"),
               *able = fv_doctor_config(d, "CONFIG_RCU_NOCB_CPU");
    const char *list = fv_doctor_parameter(d, "rcu_nocbs"), *tickless = fv_doctor_parameter(d, "nohz_full");
    bool is_known = fv_doctor_text(d, FV_DOCTOR_TEXT, "proc/cmdline") && *d->text.text;

    if (able && strcmp(able, "y")) {
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "a kernel without CONFIG_RCU_NOCB_CPU");
        r->fix = "none with this kernel; use one built with CONFIG_RCU_NOCB_CPU=y";
    } else if (all && !strcmp(all, "y")) {
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "callbacks are kept away from all processors");
    } else if (list || tickless) {
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "callbacks are kept away from processors %.60s",
                      list && *list           ? list
                      : tickless && *tickless ? tickless
                                              : "of isolation");
    } else if (is_known) {
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "callbacks run on every processor (no rcu_nocbs)");
    } else {
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "/proc/cmdline cannot be read");
    }
}

/* ---- interrupts, work queues ---- */

/* Of an interrupt: where it goes. Some have no effective affinity: nobody uses them. */
static const char *affinity_of(struct fv_doctor *d, const char *path)
{
    size_t folder = strlen(path) - strlen("smp_affinity_list");
    const char *effective = fv_doctor_value(d, "%.*seffective_affinity_list", (int)folder, path);

    return effective && *effective ? effective : fv_doctor_value(d, "%s", path);
}

void fv_doctor_look_irq(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *const *path = fv_doctor_glob(d, "proc/irq/*/smp_affinity_list");
    const struct fv_cpus *keepers = &d->keepers;
    struct fv_cpus cpus, all = { 0 };
    size_t known = 0, bad = 0, odd = 0;

    if (!fv_cpus_count(keepers)) {
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /" CPU "online");
        return;
    }
    for (; *path; path++) {
        const char *list = affinity_of(d, *path);

        if (!list || !fv_cpus_from_list(list, &cpus)) {
            odd++;
            continue;
        }
        known += fv_cpus_count(&cpus) > 0;
        fv_cpus_add(&all, &cpus);
        if (fv_cpus_within(&cpus, keepers))
            continue;
        bad++;
        fv_doctor_want(d, r, *path, fv_cpus_list(keepers, &d->arena));
    }
    if (bad)
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "%zu of %zu interrupts go to processors other than %s", bad, known,
                      fv_cpus_list(keepers, &d->arena));
    else if (odd || !known)
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /proc/irq/*/smp_affinity_list (%zu of %zu)", odd,
                      known + odd);
    else
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "all %zu interrupts go to processors %s", known,
                      fv_cpus_list(&all, &d->arena));
}

void fv_doctor_look_irqbalance(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *kernel = fv_doctor_value(d, "proc/2/comm"); /* hidden where others' processes are, and not there in a
                                                             * container */

    if (!kernel || strcmp(kernel, "kthreadd")) {
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "processes of the host are hidden: /proc/2/comm is not a kernel thread");
        return;
    }
    for (const char *const *path = fv_doctor_glob(d, "proc/*/comm"); *path; path++) {
        const char *name = isdigit((unsigned char)(*path)[strlen("proc/")]) ? fv_doctor_value(d, "%s", *path) : NULL;

        if (name && !strcmp(name, "irqbalance")) {
            fv_doctor_say(d, r, FV_DOCTOR_BAD, "it runs: process %.*s", (int)strcspn(*path + 5, "/"), *path + 5);
            return;
        }
    }
    fv_doctor_say(d, r, FV_DOCTOR_GOOD, "it does not run");
}

void fv_doctor_look_workqueues(struct fv_doctor *d, struct fv_doctor_result *r)
{
#define QUEUES "sys/devices/virtual/workqueue/"
    const char *const *path = fv_doctor_glob(d, QUEUES "*/cpumask");
    const struct fv_cpus *keepers = &d->keepers;
    struct fv_cpus cpus, all = { 0 };
    size_t known = 0, bad = 0, odd = 0;

    if (!fv_cpus_count(keepers)) {
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /" CPU "online");
        return;
    }
    for (const char *file = QUEUES "cpumask"; file; file = *path ? *path++ : NULL) {
        const char *mask = fv_doctor_value(d, "%s", file);

        if (!mask || !fv_cpus_from_mask(mask, &cpus)) {
            odd++;
            continue;
        }
        known++;
        fv_cpus_add(&all, &cpus);
        if (fv_cpus_within(&cpus, keepers))
            continue;
        bad++;
        fv_doctor_want(d, r, file, fv_cpus_mask(keepers, &d->arena));
    }
    if (bad)
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "%zu of %zu masks allow processors other than %s", bad, known,
                      fv_cpus_list(keepers, &d->arena));
    else if (odd)
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /" QUEUES "{,*/}cpumask (%zu of %zu)", odd, known + odd);
    else
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "all %zu masks allow processors %s", known, fv_cpus_list(&all, &d->arena));
}

/* ---- interrupts between processors ---- */

#define OFTEN_HZ 100 /* on each processor: 0.01 % and more of its time, at a microsecond or more each */

/* The sum of a row's columns. NAN: there is no such row. */
static double row_of(const char *text, const char *name)
{
    char begin[16];
    double sum = 0;
    const char *at = text;

    snprintf(begin, sizeof(begin), "%s:", name);
    for (;; at += strcspn(at, "\n") + 1) {
        if (!strncmp(at + strspn(at, " "), begin, strlen(begin)))
            break;
        if (!at[strcspn(at, "\n")])
            return NAN;
    }
    for (at = strchr(at, ':') + 1;;) {
        char *end;

        at += strspn(at, " ");
        if (!isdigit((unsigned char)*at))
            return sum;
        sum += strtod(at, &end);
        at = end;
    }
}

void fv_doctor_look_ipi(struct fv_doctor *d, struct fv_doctor_result *r)
{
    static const char *const names[] = { "RES", "CAL", "TLB" };
    const char *uptime = fv_doctor_value(d, "proc/uptime"),
               *text = fv_doctor_text(d, FV_DOCTOR_LONG_TEXT, "proc/interrupts");
    double seconds = uptime ? strtod(uptime, NULL) : 0, rates[3], sum = 0, cpus = (double)fv_cpus_count(&d->online);
    size_t known = 0;

    for (size_t i = 0; text && i < 3; i++) {
        rates[i] = row_of(text, names[i]) / seconds / cpus;
        known += isfinite(rates[i]);
        rates[i] = isfinite(rates[i]) ? rates[i] : 0;
        sum += rates[i];
    }
    if (!known || !(seconds > 0))
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "there are no RES, CAL and TLB in /proc/interrupts, or no /proc/uptime");
    else
        fv_doctor_say(d, r, sum >= OFTEN_HZ ? FV_DOCTOR_BAD : FV_DOCTOR_GOOD,
                      "a processor gets %.3g rescheduling, %.3g call, %.3g TLB interrupts/s (mean since boot)",
                      rates[0], rates[1], rates[2]);
}
