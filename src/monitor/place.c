/* SPDX-License-Identifier: BSD-3-Clause */
/* See place.h. Processes of the launcher are children of our parent, as the kernel lists them; without such a list only
 * threads of this process are known. */
#include "monitor/place.h"
#include "base/process.h"
#include "monitor/facts.h"
#include "base/numbers.h"
#include "sensors/sensors.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORDS = 64 }; /* of processors: 4096 */

struct mask {
    uint64_t words[WORDS];
};

struct look {
    pid_t self;                 /* the calling thread */
    uint32_t parent, pid;       /* our parent; the process that is looked at */
    struct mask allowed, taken; /* taken: by threads that are pinned */
};

static bool any(const struct mask *m)
{
    uint64_t all = 0;

    for (int i = 0; i < WORDS; i++)
        all |= m->words[i];
    return all;
}

static struct mask without(const struct mask *m, const struct mask *others)
{
    struct mask out;

    for (int i = 0; i < WORDS; i++)
        out.words[i] = m->words[i] & ~others->words[i];
    return out;
}

static void set(struct mask *m, unsigned long cpu)
{
    if (cpu < 64 * WORDS)
        m->words[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

/* ---- who is pinned ---- */

/* One like the caller, of another job. */
static bool reads_sensors(uint32_t pid, uint32_t tid)
{
    char path[64], name[24];

    snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
    return fv_file_read(path, name, sizeof(name)) > 0 && !strcmp(name, FV_SENSORS_THREAD "\n");
}

static void take_thread(void *look, uint32_t tid)
{
    struct look *l = look;
    struct mask m = { { 0 } };

    if ((pid_t)tid == l->self || syscall(SYS_sched_getaffinity, tid, sizeof(m), &m) <= 0)
        return;
    struct mask elsewhere = without(&l->allowed, &m);
    if (!any(&elsewhere) || reads_sensors(l->pid, tid))
        return;
    for (int i = 0; i < WORDS; i++)
        l->taken.words[i] |= m.words[i] & l->allowed.words[i];
}

static void take_process(struct look *l, uint32_t pid)
{
    char path[40];

    l->pid = pid;
    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    fv_numbers_in(path, take_thread, l);
}

/* Children of one thread of our parent. */
static void take_children(void *look, uint32_t tid)
{
    struct look *l = look;
    char path[64], text[8192];

    snprintf(path, sizeof(path), "/proc/%u/task/%u/children", l->parent, tid);
    if (fv_file_read(path, text, sizeof(text)) <= 0)
        return;
    for (char *at = text, *end; *at; at = end) {
        unsigned long child = strtoul(at, &end, 10);

        if (end == at)
            break;
        if ((pid_t)child != getpid())
            take_process(l, (uint32_t)child);
    }
}

/* ---- which are free ---- */

/* Hardware threads of the cores of those that are taken. */
static struct mask with_cores(const struct mask *taken)
{
    struct mask out = *taken;

    for (unsigned cpu = 0; cpu < 64 * WORDS; cpu++) {
        char path[PATH_MAX], text[256];
        const char *at = text;
        unsigned long first, last;

        if (!(taken->words[cpu / 64] >> cpu % 64 & 1))
            continue;
        snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", fv_sensors_root(),
                 cpu);
        if (fv_file_read(path, text, sizeof(text)) <= 0)
            continue;
        while (fv_next_range(&at, &first, &last))
            for (; first <= last && first < 64 * WORDS; first++)
                set(&out, first);
    }
    return out;
}

static enum fv_sensor_place_kind choose(const struct look *l, struct mask *out)
{
    struct mask cores = with_cores(&l->taken), free_cores = without(&l->allowed, &cores),
                free_processors = without(&l->allowed, &l->taken);

    *out = any(&free_cores) ? free_cores : any(&free_processors) ? free_processors : l->allowed;
    return !any(&l->taken)         ? FV_SENSOR_ANYWHERE
           : any(&free_cores)      ? FV_SENSOR_FREE_CORE
           : any(&free_processors) ? FV_SENSOR_FREE_PROCESSOR
                                   : FV_SENSOR_NONE_FREE;
}

void fv_place_look(struct fv_sensor_place *place)
{
    struct look l = { .self = (pid_t)syscall(SYS_gettid), .parent = (uint32_t)getppid() };
    struct mask chosen;
    char path[40];

    memset(&chosen, 0xff, sizeof(chosen)); /* the kernel takes of them those that the job may use */
    syscall(SYS_sched_setaffinity, 0, sizeof(chosen), &chosen);
    if (syscall(SYS_sched_getaffinity, 0, sizeof(l.allowed), &l.allowed) <= 0)
        return;
    take_process(&l, (uint32_t)getpid());
    snprintf(path, sizeof(path), "/proc/%u/task", l.parent);
    if (l.parent > 1) /* those of the first process have nothing in common */
        fv_numbers_in(path, take_children, &l);
    place->kind = choose(&l, &chosen);
    syscall(SYS_sched_setaffinity, 0, sizeof(chosen), &chosen);
    memcpy(place->processors, chosen.words, sizeof(place->processors));
}
