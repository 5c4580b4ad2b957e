/* SPDX-License-Identifier: BSD-3-Clause */
/* Who ran meanwhile: CPU time of all processes of the node, from when recording begins to when it ends, by /proc. One
 * process of each node looks, twice: 12 us for each process, newest first, for as long as it may take; of those that it
 * did not come to nothing is known but their number. The tools say whose processors were whose, and leave ranks out.
 *
 * Rejected: a thread that looks all the time (it would be noise), the kernel's switch records of whole processors,
 * which name who came (for administrators alone). */
#include "base/process.h"
#include "monitor/facts.h"
#include "base/numbers.h"
#include "monitor/speaker.h"
#include "rt/layers.h"
#include "rt/thread.h"
#include "sensors/sensors.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4096, TOLD = 256, LEAST_MS = 20, ANCESTORS = 8 };
#define LOOK_NS INT64_C(4000000) /* each time */

struct process {
    uint32_t pid, parent, cpu;
    uint64_t started, ran; /* the kernel's ticks: since it booted; CPU time */
    char name[16];
};
static struct process *before; /* by pid, largest first */
static size_t before_count, before_missed;
static int64_t began_ns;

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t) ? 0 : (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Of more than there is room for the last. `dropped`: the others. */
struct listing {
    uint32_t *pids;
    size_t count, dropped;
};

static void list(void *context, uint32_t pid)
{
    struct listing *l = context;

    if (l->count == MOST) {
        memmove(l->pids, l->pids + MOST / 2, MOST / 2 * sizeof(*l->pids));
        l->dropped += MOST / 2;
        l->count = MOST / 2;
    }
    l->pids[l->count++] = pid;
}

/* Its line in /proc, proc(5): fields 4, 14 and 15, 22, 39. A name may have any characters. */
static bool read_process(uint32_t pid, struct process *out)
{
    unsigned long long user, system, started;
    char path[32], text[512], *open, *close;

    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    if (fv_file_read(path, text, sizeof(text)) <= 0 || !(open = strchr(text, '(')) || !(close = strrchr(text, ')')) ||
        sscanf(close + 1,
               " %*c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu %*u %*d %*u %*u "
               "%*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d %u",
               &out->parent, &user, &system, &started, &out->cpu) != 5)
        return false;
    out->pid = pid;
    out->started = started;
    out->ran = user + system;
    *close = '\0';
    snprintf(out->name, sizeof(out->name), "%.15s", open + 1);
    return true;
}

/* Newest first, for as long as it may take. `missed`: those that it did not come to. */
static size_t look(struct process *out, size_t *missed)
{
    struct listing l = { .pids = fv_memory_new(MOST * sizeof(*l.pids)) };
    int64_t stop_ns = now_ns(CLOCK_MONOTONIC) + LOOK_NS;
    size_t left, found = 0;

    if (l.pids)
        fv_numbers_in("/proc", list, &l);
    for (left = l.count; left > 0 && (left % 16 || now_ns(CLOCK_MONOTONIC) < stop_ns); left--)
        found += l.pids[left - 1] != (uint32_t)getpid() && read_process(l.pids[left - 1], &out[found]);
    *missed = left + l.dropped;
    fv_memory_free(l.pids, MOST * sizeof(*l.pids));
    return found;
}

static void start(struct fv_thread *self)
{
    (void)self;
    if (before || !fv_speaks_for_node() || !(before = fv_memory_new(MOST * sizeof(*before))))
        return;
    began_ns = now_ns(CLOCK_BOOTTIME);
    before_count = look(before, &before_missed);
}

/* ---- the end ---- */

/* Since recording began, the kernel's ticks; 0: it is not known. */
static uint64_t ran_meanwhile(const struct process *p, double tick_ns)
{
    for (size_t i = 0; i < before_count; i++)
        if (before[i].pid == p->pid && before[i].started == p->started)
            return p->ran - before[i].ran;
    return (double)(p->started + 1) * tick_ns >= (double)began_ns ? p->ran : 0; /* in whole ticks */
}

/* "0-3,8"; "?": it is not known. */
static void list_processors(uint32_t pid, char *out, size_t bytes)
{
    uint64_t mask[FV_MASK_WORDS + 48] = { 0 }; /* the kernel may have more */
    size_t used = 0;

    snprintf(out, bytes, "?");
    if (syscall(SYS_sched_getaffinity, (pid_t)pid, sizeof(mask), mask) <= 0)
        return;
    for (unsigned cpu = 0, last; cpu < 64 * FV_MASK_WORDS && used + 16 < bytes; cpu++) {
        if (!(mask[cpu / 64] >> cpu % 64 & 1))
            continue;
        for (last = cpu; last + 1 < 64 * FV_MASK_WORDS && mask[(last + 1) / 64] >> (last + 1) % 64 & 1;)
            last++;
        used += (size_t)snprintf(out + used, bytes - used, last > cpu ? "%s%u-%u" : "%s%u", used ? "," : "", cpu, last);
        cpu = last;
    }
}

static void tell_service(uint32_t pid)
{
    char path[PATH_MAX], text[4096];
    const char *name;
    size_t length;

    snprintf(path, sizeof(path), "%s/proc/%u/cgroup", fv_sensors_root(), pid);
    if (fv_file_read(path, text, sizeof(text)) <= 0 || !(length = fv_service_name(text, &name)))
        return;
    text[(size_t)(name - text) + length] = '\0';
    fv_fact_put(FV_FACT_OTHER_SERVICE, pid, name);
}

/* Who started whom, of all processes. */
struct link {
    uint32_t pid, parent;
};

static void tell_ancestors(const struct process *p, const struct link *links, size_t count)
{
    char text[16 * ANCESTORS];
    size_t used = 0, at;
    uint32_t pid = p->parent;

    for (unsigned i = 0; i < ANCESTORS && pid; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, used ? " %u" : "%u", pid);
        for (at = 0; at < count && links[at].pid != pid;)
            at++;
        pid = at < count ? links[at].parent : 0;
    }
    if (used)
        fv_fact_put(FV_FACT_OTHER_ANCESTORS, p->pid, text);
}

static void tell(const struct process *p, double tick_ms)
{
    char text[512], processors[400];

    list_processors(p->pid, processors, sizeof(processors));
    snprintf(text, sizeof(text), "%.0f %u %s %s", (double)p->ran * tick_ms, p->cpu, processors, p->name);
    fv_fact_put(FV_FACT_OTHER, p->pid, text);
    tell_service(p->pid);
}

/* Of those that are left; not by qsort(), which may allocate: exit() may be called anywhere. */
static struct process *take_most(struct process *p, size_t count)
{
    struct process *most = NULL;

    for (size_t i = 0; i < count; i++)
        if (p[i].ran && (!most || p[i].ran > most->ran))
            most = &p[i];
    return most;
}

/* Those that ran for a hundredth of the time at least; all smaller ones together have the number 0. */
static void all_end(struct fv_thread *self)
{
    static bool is_told;
    char text[100];
    double tick_ns = 1e9 / (double)sysconf(_SC_CLK_TCK), most_ms = (double)(now_ns(CLOCK_BOOTTIME) - began_ns) * 1e-6;
    struct process *after = before && !is_told ? fv_memory_new(MOST * sizeof(*after)) : NULL;
    struct link *links = after ? fv_memory_new(MOST * sizeof(*links)) : NULL;
    uint64_t small = 0;
    size_t count, kept = 0, missed;
    (void)self;

    if (!after)
        return;
    is_told = true;
    count = look(after, &missed);
    for (size_t i = 0; links && i < count; i++)
        links[i] = (struct link){ after[i].pid, after[i].parent };
    for (size_t i = 0; i < count; i++) {
        after[i].ran = ran_meanwhile(&after[i], tick_ns);
        if ((double)after[i].ran * tick_ns * 1e-6 >= (0.01 * most_ms > LEAST_MS ? 0.01 * most_ms : LEAST_MS))
            after[kept++] = after[i];
        else
            small += after[i].ran;
    }
    struct process *p;
    for (size_t i = 0; i < TOLD && (p = take_most(after, kept)); i++) {
        tell(p, tick_ns * 1e-6);
        if (links)
            tell_ancestors(p, links, count);
        p->ran = 0;
    }
    for (size_t i = 0; i < kept; i++) /* beyond those that are told one by one */
        small += after[i].ran;
    missed = missed > before_missed ? missed : before_missed;
    int used = snprintf(text, sizeof(text), "%.0f 0 ? (others)", (double)small * tick_ns * 1e-6);
    if (missed)
        snprintf(text + used, sizeof(text) - (size_t)used, " and %zu unknown", missed);
    fv_fact_put(FV_FACT_OTHER, 0, text);
    fv_memory_free(after, MOST * sizeof(*after));
    if (links)
        fv_memory_free(links, MOST * sizeof(*links));
}

const struct fv_layer fv_others_layer = {
    .at = { [FV_AT_START] = start, [FV_AT_FINALIZE] = all_end, [FV_AT_EXIT] = all_end }
};
