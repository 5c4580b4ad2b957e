/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the processors: clocks, threads of a core, sleep, the hypervisor. */
#include "doctor/files.h"
#include "doctor/looks.h"
#include "tool/words.h"

#include <stdlib.h>

#define CPU "sys/devices/system/cpu/"

/* The least and the most that the clock may be. */
void fv_doctor_look_clock_range(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *const *path = fv_doctor_glob(d, CPU "cpu*/cpufreq/scaling_max_freq");
    long long least = 0, most = 0;
    size_t bad = 0, good = 0, odd = 0;

    for (; *path; path++) {
        size_t folder = strlen(*path) - strlen("scaling_max_freq");
        char other[512], value[24];
        long long max, min;

        snprintf(other, sizeof(other), "%.*sscaling_min_freq", (int)folder, *path);
        if (!fv_doctor_number(d, *path, &max) || !fv_doctor_number(d, other, &min) || min <= 0 || max < min) {
            odd++;
            continue;
        }
        least = !least || min < least ? min : least;
        most = max > most ? max : most;
        good += min == max;
        bad += min != max;
        snprintf(value, sizeof(value), "%lld", max);
        if (min != max)
            fv_doctor_want(d, r, other, value);
    }
    if (bad)
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "%lld to %lld MHz on %zu processor%s", least / 1000, most / 1000, bad,
                      fv_words_s((uint64_t)bad));
    else if (good && !odd)
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "min = max = %lld MHz", most / 1000);
    else
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /" CPU "cpu*/cpufreq/scaling_max_freq");
}

void fv_doctor_look_thermal(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *const *path = fv_doctor_glob(d, CPU "cpu*/thermal_throttle/*_throttle_count");
    long long count, sum = 0;
    size_t files = 0, odd = 0;

    for (; *path; path++, files++) {
        bool is_known = fv_doctor_number(d, *path, &count) && count >= 0 && count < INT64_MAX - sum;

        sum += is_known ? count : 0;
        odd += !is_known;
    }
    if (!files || (odd && !sum))
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /" CPU "cpu*/thermal_throttle");
    else
        fv_doctor_say(d, r, sum ? FV_DOCTOR_BAD : FV_DOCTOR_GOOD, "throttled %lld time%s since boot", sum,
                      fv_words_s((uint64_t)sum));
}

/* Of old kernels, which have no smt/active. */
static bool find_siblings(struct fv_doctor *d, bool *has)
{
    const char *const *path = fv_doctor_glob(d, CPU "cpu*/topology/thread_siblings_list");
    struct fv_cpus cpus;
    bool is_known = false;

    for (*has = false; *path; path++) {
        const char *list = fv_doctor_value(d, "%s", *path);

        if (!list || !fv_cpus_from_list(list, &cpus) || !fv_cpus_count(&cpus))
            continue;
        is_known = true;
        *has = *has || fv_cpus_count(&cpus) > 1;
    }
    return is_known;
}

void fv_doctor_look_smt(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *active = fv_doctor_value(d, CPU "smt/active");
    bool has = active && !strcmp(active, "1");

    if (active && (has || !strcmp(active, "0")))
        fv_doctor_say(d, r, has ? FV_DOCTOR_BAD : FV_DOCTOR_GOOD,
                      has ? "several hardware threads on a core" : "one hardware thread on a core");
    else if (find_siblings(d, &has))
        fv_doctor_say(d, r, has ? FV_DOCTOR_BAD : FV_DOCTOR_GOOD,
                      has ? "processors share cores (thread_siblings_list)" : "no processors share a core");
    else
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /" CPU "smt/active");
    if (r->state == FV_DOCTOR_BAD)
        fv_doctor_want(d, r, CPU "smt/control", "off");
}

#define DEEP_US 10 /* to wake up from lesser states takes no longer than an interrupt */

void fv_doctor_look_c_states(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const char *const *path = fv_doctor_glob(d, CPU "cpu*/cpuidle/state*/latency");
    const char *idle = fv_doctor_parameter(d, "idle");
    long long longest = 0;
    size_t states = 0, odd = 0;

    for (; *path; path++) {
        size_t folder = strlen(*path) - strlen("latency");
        char off[512];
        long long us, is_off;

        snprintf(off, sizeof(off), "%.*sdisable", (int)folder, *path);
        if (!fv_doctor_number(d, *path, &us) || !fv_doctor_number(d, off, &is_off) || us < 0) {
            odd++;
            continue;
        }
        states++;
        if (is_off)
            continue;
        longest = us > longest ? us : longest;
        if (us > DEEP_US)
            fv_doctor_want(d, r, off, "1");
    }
    if (longest > DEEP_US || (states && !odd))
        fv_doctor_say(d, r, longest > DEEP_US ? FV_DOCTOR_BAD : FV_DOCTOR_GOOD,
                      "an idle processor needs up to %lld us to wake up", longest);
    else if (!odd && idle && !strcmp(idle, "poll"))
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "idle=poll");
    else
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /" CPU "cpu*/cpuidle/state*/latency");
}

void fv_doctor_look_clock_source(struct fv_doctor *d, struct fv_doctor_result *r)
{
    static const char *const good[] = { "tsc", "arch_sys_counter", "timebase", "tod", "riscv_clocksource" };
    static const char *const fair[] = { "kvm-clock", "hyperv_clocksource_tsc_page" };
#define CLOCK "sys/devices/system/clocksource/clocksource0/"
    const char *now = fv_doctor_value(d, CLOCK "current_clocksource"),
               *all = fv_doctor_value(d, CLOCK "available_clocksource");
    enum fv_doctor_state state = FV_DOCTOR_BAD;

    if (!now || !*now || strlen(now) > 60) {
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /" CLOCK "current_clocksource");
        return;
    }
    for (size_t i = 0; i < sizeof(fair) / sizeof(fair[0]); i++)
        state = strcmp(now, fair[i]) ? state : FV_DOCTOR_NOTE;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        state = strcmp(now, good[i]) ? state : FV_DOCTOR_GOOD;
    fv_doctor_say(d, r, state,
                  state == FV_DOCTOR_NOTE ? "%s: the hypervisor's clock, read without a system call" : "%s", now);
    if (state == FV_DOCTOR_GOOD)
        return;
    if (all && (strstr(all, "tsc ") || (strlen(all) >= 3 && !strcmp(all + strlen(all) - 3, "tsc"))))
        fv_doctor_want(d, r, CLOCK "current_clocksource", "tsc");
    else
        r->fix = "none at run time: the kernel trusts no TSC (available_clocksource)";
}

/* The times of all processors, in ticks: user, nice, system, idle, iowait, irq, softirq, steal. */
static bool read_times(struct fv_doctor *d, unsigned long long out[8])
{
    const char *text = fv_doctor_text(d, FV_DOCTOR_LONG_TEXT, "proc/stat");

    return text && sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &out[0], &out[1], &out[2], &out[3],
                          &out[4], &out[5], &out[6], &out[7]) == 8;
}

int fv_doctor_has_hypervisor(struct fv_doctor *d)
{
    const char *flags = fv_doctor_text(d, FV_DOCTOR_TEXT, "proc/cpuinfo");

    while (flags && strncmp(flags, "flags", 5)) {
        flags = strchr(flags, '\n');
        flags = flags ? flags + 1 : NULL;
    }
    return !flags ? -1 : memmem(flags, strcspn(flags, "\n"), " hypervisor", strlen(" hypervisor")) != NULL;
}

#define STOLEN 0.001

void fv_doctor_look_steal(struct fv_doctor *d, struct fv_doctor_result *r)
{
    unsigned long long times[8];
    int is_guest = fv_doctor_has_hypervisor(d);
    bool is_known = read_times(d, times);
    double all = 0, share;

    for (size_t i = 0; is_known && i < 8; i++)
        all += (double)times[i];
    share = is_known && all > 0 ? (double)times[7] / all : 0;
    if (share >= STOLEN)
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "the hypervisor took %.2g %% of the time since boot", 100 * share);
    else if (is_guest > 0)
        fv_doctor_say(d, r, FV_DOCTOR_NOTE, "a virtual machine; %s",
                      is_known ? "hardly any time was stolen since boot" : "stolen time is not known");
    else if (is_guest == 0 && is_known)
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "no hypervisor");
    else
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "no flags in /proc/cpuinfo, or no /proc/stat");
}
