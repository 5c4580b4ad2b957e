/* SPDX-License-Identifier: BSD-3-Clause */
/* See solo_runs.h. */
#include "cmd/solo_runs.h"
#include "base/base.h"
#include "base/process.h"
#include "cmd/pirate.h"
#include "doctor/files.h"
#include "sensors/sensors.h"
#include "tool/words.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_S      2.0
#define CHASE_S      0.3
#define PROVEN_RATIO 1.25 /* a chase through more than what the pirate leaves takes so many times as long, at least */
#define PROVEN_SAME  1.1  /* and before and after as long as each other, to that */
#define PROVEN_TRIES 3
#define PAGE         4096
#define LINE         64
#define WAIT_NS      200000000

/* ---- sizes ---- */

static double shared_of(const struct fv_shared_cache *c)
{
    return (double)(c->bytes - c->private_bytes);
}

uint64_t fv_solo_pirate_bytes(const struct fv_shared_cache *c, double part)
{
    return (uint64_t)(shared_of(c) * (1 - part)) + c->private_bytes;
}

uint64_t fv_solo_left_bytes(const struct fv_shared_cache *c, double part)
{
    return (uint64_t)(shared_of(c) * part) + c->private_bytes;
}

uint64_t fv_solo_ways(uint64_t all, unsigned least, double part, double *got)
{
    unsigned count = (unsigned)__builtin_popcountll(all), wanted = (unsigned)(part * count + 0.5);
    uint64_t ways = 0;

    wanted = wanted < least ? least : wanted < 1 ? 1 : wanted > count ? count : wanted;
    for (unsigned bit = 0, taken = 0; bit < 64 && taken < wanted; bit++)
        if (all >> bit & 1) {
            ways |= UINT64_C(1) << bit;
            taken++;
        }
    *got = count ? (double)wanted / count : 1;
    return ways;
}

/* ---- resctrl ---- */

static bool write_file(const char *directory, const char *name, const char *text)
{
    char path[PATH_MAX + 32];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    file = fopen(path, "we");
    if (!file)
        return false;
    bool is_written = fputs(text, file) >= 0;
    return !fclose(file) && is_written;
}

static bool move_to(const char *group)
{
    char pid[24];

    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    return write_file(group, "tasks", pid);
}

/* The line of the last cache, L3:0=ffff;1=ffff, with a mask for each domain's ways; *got: the part of the first. False:
 * there is none. */
static bool schemata_of(struct fv_solo_runs *s, double part, char *out, size_t size, double *got)
{
    const char *least = fv_doctor_value(&s->doctor, "sys/fs/resctrl/info/L3/min_cbm_bits");
    unsigned least_bits = least ? (unsigned)strtoul(least, NULL, 10) : 1;
    const char *text = fv_doctor_text(&s->doctor, FV_DOCTOR_TEXT, "sys/fs/resctrl/schemata"),
               *at = text ? strstr(text, "L3:") : NULL;
    size_t used = 0;

    *got = 0;
    if (!at || (at > text && at[-1] != '\n' && at[-1] != ' '))
        return false;
    used += (size_t)snprintf(out, size, "L3:");
    for (at += strlen("L3:"); *at && *at != '\n' && used < size - 48;) {
        char *end;
        unsigned long domain = strtoul(at, &end, 10);
        double this;

        if (*end != '=')
            return false;
        uint64_t ways = fv_solo_ways(strtoull(end + 1, &end, 16), least_bits, part, &this);
        *got = *got > 0 ? *got : this;
        used += (size_t)snprintf(out + used, size - used, "%s%lu=%llx", used > 3 ? ";" : "", domain,
                                 (unsigned long long)ways);
        at = *end == ';' ? end + 1 : end;
    }
    used += (size_t)snprintf(out + used, size - used, "\n");
    return *got > 0;
}

/* A group that is made and thrown away shows whether it can be had. */
static bool has_resctrl(struct fv_solo_runs *s)
{
    char schemata[4096];
    double got;

    if (!schemata_of(s, 1, schemata, sizeof(schemata), &got))
        return false;
    snprintf(s->group, sizeof(s->group), "%s/sys/fs/resctrl/fvmpi-%ld", fv_sensors_root(), (long)getpid());
    if (mkdir(s->group, 0755)) {
        *s->group = '\0';
        return false;
    }
    return true;
}

static bool begin_resctrl(struct fv_solo_runs *s, double part)
{
    char schemata[4096];
    double got;

    if (schemata_of(s, part, schemata, sizeof(schemata), &got) && write_file(s->group, "schemata", schemata) &&
        move_to(s->group))
        return true;
    fv_log("run: %s: %s; that part of the cache is not measured", s->group, strerror(errno));
    return false;
}

static void end_resctrl(void)
{
    char root[PATH_MAX];

    snprintf(root, sizeof(root), "%s/sys/fs/resctrl", fv_sensors_root());
    move_to(root);
}

/* ---- the pirate, tried ---- */

static uint32_t first_cpu(void)
{
    cpu_set_t set;

    if (!sched_getaffinity(0, sizeof(set), &set))
        for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &set))
                return cpu;
    return 0;
}

static void reset_page(struct fv_solo_page *page, enum fv_solo_how how)
{
    memset(page, 0, offsetof(struct fv_solo_page, domains));
    page->magic = FV_SOLO_MAGIC;
    page->how = how;
}

/* Last caches are numbered as they come, by the first of their processors; where there is one, they are not. */
static void find_domains(struct fv_solo_runs *s)
{
    unsigned first_of[UINT8_MAX], count = 0;

    for (unsigned cpu = 0; cpu < FV_SOLO_CPUS; cpu++) {
        const char *list = NULL;
        unsigned k = 0;

        for (int index = 9; index >= 0 && !list; index--)
            list =
                fv_doctor_value(&s->doctor, "sys/devices/system/cpu/cpu%u/cache/index%d/shared_cpu_list", cpu, index);
        if (!list)
            continue;
        unsigned first = (unsigned)strtoul(list, NULL, 10);
        while (k < count && first_of[k] != first)
            k++;
        if (k == count && count == UINT8_MAX)
            continue;
        if (k == count)
            first_of[count++] = first;
        s->page->domains[cpu] = (uint8_t)(k + 1);
    }
    if (count < 2)
        memset(s->page->domains, 0, sizeof(s->page->domains));
}

/* Does a chase through more than it leaves become slower, and is it as fast as before when the pirate rests? *why: what
 * was found. */
static bool is_proven(struct fv_solo_runs *s, uint32_t cpu, char *why, size_t size)
{
    uint64_t left = fv_solo_left_bytes(&s->cache, 0.5), set = (left + s->cache.bytes) / 2;

    reset_page(s->page, FV_SOLO_PIRATE);
    pid_t pirate = fv_pirate_begin(s->page, fv_solo_pirate_bytes(&s->cache, 0.5));
    double before = fv_memory_chase(&s->doctor, cpu, set, CHASE_S), with = NAN, after = NAN, missed = 1;
    s->page->cpu = cpu;
    if (pirate > 0 && fv_solo_call(s->page)) {
        uint64_t probes = s->page->probes, misses = s->page->misses;

        with = fv_memory_chase(&s->doctor, cpu, set, CHASE_S);
        missed = (double)(s->page->misses - misses) / fmax((double)(s->page->probes - probes), 1);
        fv_solo_rest(s->page);
        after = fv_memory_chase(&s->doctor, cpu, set, CHASE_S);
    }
    fv_pirate_end(pirate);
    if (isnan(with))
        snprintf(why, size, "no other processor has the same last cache, or its latency is that of memory");
    else if (missed > FV_SOLO_MISSES)
        snprintf(why, size, "a process that held half of it lost %.0f %% of its lines", missed * 100);
    else if (fmax(before, after) > PROVEN_SAME * fmin(before, after))
        snprintf(why, size, "a pointer chase took %.0f ns per step before, and %.0f ns after: others use it", before,
                 after);
    else
        snprintf(why, size,
                 "a pointer chase that should not fit beside a process with half of it took %.0f ns per step without "
                 "it, and %.0f ns with it",
                 before, with);
    return missed <= FV_SOLO_MISSES && fmax(before, after) <= PROVEN_SAME * fmin(before, after) &&
           with >= PROVEN_RATIO * fmax(before, after);
}

/* Others on the machine may disturb a try. */
static bool is_ever_proven(struct fv_solo_runs *s, uint32_t cpu, char *why, size_t size)
{
    for (int i = 0; i < PROVEN_TRIES; i++)
        if (is_proven(s, cpu, why, size))
            return true;
    return false;
}

static void choose(struct fv_solo_runs *s, bool is_quiet)
{
    char why[200] = "a pointer chase does not distinguish it from memory, or from the caches of a processor",
         size[FV_WORD];
    uint32_t cpu = first_cpu();

    fv_memory_shared_cache(&s->doctor, cpu, CACHE_S, &s->cache);
    s->how = has_resctrl(s)                                               ? FV_SOLO_RESCTRL
             : s->cache.bytes && is_ever_proven(s, cpu, why, sizeof(why)) ? FV_SOLO_PIRATE
                                                                          : FV_SOLO_WHOLE;
    if (s->how == FV_SOLO_WHOLE && !is_quiet)
        fv_log("run: cache and memory cannot be separated here: the shared cache%s%s: %s",
               s->cache.bytes ? ", measured as " : "", s->cache.bytes ? fv_words_bytes(s->cache.bytes, size) : "", why);
    else if (!is_quiet)
        fv_log("run: the shared cache%s%s: parts of it by %s", s->cache.bytes ? ", measured as " : "",
               s->cache.bytes ? fv_words_bytes(s->cache.bytes, size) : "",
               s->how == FV_SOLO_RESCTRL ? "resctrl" : "a process that holds the rest");
}

/* ---- all ---- */

bool fv_solo_runs_init(struct fv_solo_runs *s, const char *directory, bool takes_turns, bool is_quiet)
{
    void *memory = MAP_FAILED;

    *s = (struct fv_solo_runs){ .how = FV_SOLO_WHOLE, .takes_turns = takes_turns };
    fv_doctor_init(&s->doctor);
    snprintf(s->path, sizeof(s->path), "%s/solo.page", directory);
    int fd = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC | O_TRUNC, 0600);
    if (fd >= 0 && !ftruncate(fd, PAGE))
        memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        fv_log("run: %s: %s; threads and ranks are not run alone", s->path, strerror(errno));
    if (fd >= 0)
        close(fd);
    s->page = memory == MAP_FAILED ? NULL : memory;
    if (s->page) {
        find_domains(s);
        choose(s, is_quiet);
    }
    return s->page;
}

void fv_solo_runs_release(struct fv_solo_runs *s)
{
    if (s->page)
        munmap(s->page, PAGE);
    if (*s->path)
        unlink(s->path);
    if (*s->group)
        rmdir(s->group);
    fv_doctor_release(&s->doctor);
    s->page = NULL;
}

double fv_solo_runs_part(struct fv_solo_runs *s, double part)
{
    char schemata[4096];
    double got = part;

    if (s->how == FV_SOLO_RESCTRL)
        schemata_of(s, part, schemata, sizeof(schemata), &got);
    return got;
}

bool fv_solo_runs_begin(struct fv_solo_runs *s, double part, double limit_s)
{
    enum fv_solo_how how = part < 1 ? s->how : FV_SOLO_WHOLE;

    reset_page(s->page, how);
    s->page->cache_bytes = s->cache.bytes;
    s->page->part_ppm = (uint64_t)(part * 1e6 + 0.5);
    s->page->left_bytes = s->cache.bytes ? fv_solo_left_bytes(&s->cache, part) : 0;
    s->page->limit_ns = (uint64_t)((2 * limit_s + 1) * 1e9);
    s->page->budget_ns = (uint64_t)((5 * limit_s + 10) * 1e9);
    s->page->wait_ns = WAIT_NS;
    s->page->takes_turns = s->takes_turns;
    s->page->fill_ns = (uint64_t)((double)s->cache.bytes / LINE * fmax(s->cache.memory_ns, 0));
    s->page->turns_why = s->page->turn = s->page->turns_drawn = s->page->turn_process = 0;
    s->page->turn_since_ns = 0;
    fv_boot_id(s->page->boot);
    if (how == FV_SOLO_PIRATE && (s->pirate = fv_pirate_begin(s->page, fv_solo_pirate_bytes(&s->cache, part))) < 0)
        return false;
    if (how == FV_SOLO_RESCTRL && !begin_resctrl(s, part))
        return false;
    setenv("FVMPI_SOLO", s->path, 1);
    return true;
}

void fv_solo_runs_end(struct fv_solo_runs *s)
{
    unsetenv("FVMPI_SOLO");
    fv_pirate_end(s->pirate);
    s->pirate = 0;
    if (s->page->how == FV_SOLO_RESCTRL)
        end_resctrl();
}
