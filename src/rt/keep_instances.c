/* SPDX-License-Identifier: BSD-3-Clause */
/* See keep_instances.h. While a rank copies, others wait for it in their next instances. Were these slow, they would be
 * copied, and the first rank would wait in turn, and so on: until each rank has made all its copies, of nothing but
 * copying. So the time of copies is taken off, of whichever rank. Rejected: to leave out the instance behind a copy,
 * which another rank made; to judge by the time outside of MPI, which is usual where a rank waits for a slow one. */
#include "rt/keep_instances.h"
#include "base/histogram.h"
#include "rt/keep.h"
#include "rt/process.h"
#include "rt/remarks.h"
#include "rt/thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST     16       /* slow instances that are kept */
#define LONGER   1.1      /* times the shortest of them, in whose place another goes: so they do not change for ever */
#define USUAL    10       /* instances, before one is called slow */
#define SLOW     3        /* times the median */
#define CHOSEN   4        /* instances that are copied whatever they take: the 4th, the 16th, ... */
#define TIMES    4        /* from one to the next */
#define GRAIN_NS 10000000 /* of the times of directories */

struct slow {
    uint64_t number, ticks;
};
static struct fv_watched {
    const char *section;
    double factor;
    bool found, told;
    uint64_t looked, quiet_until; /* ticks: when it last looked for copies, and until when those go on */
    unsigned chosen;
    uint64_t next; /* that is chosen */
    struct slow slow[MOST];
    unsigned slow_count;
    uint64_t count, least;
    uint32_t of[FV_OCTAVES][FV_OCTAVE_BUCKETS];
} watched;

struct fv_watched *fv_watched_of(const char *section)
{
    const struct fv_section_number *chosen = &fv_rt.options.trace_iterations, *slow = &fv_rt.options.keep_slow,
                                   *wanted = chosen->section[0] ? chosen : slow;

    if (watched.found || !wanted->section[0] || strcmp(section, wanted->section) || !fv_rt.options.trace_keep ||
        getpid() != (pid_t)syscall(SYS_gettid))
        return NULL;
    watched.section = wanted->section;
    watched.factor = slow->number > 0 && !strcmp(slow->section, wanted->section) ? slow->number : SLOW;
    watched.chosen = wanted == slow ? 0 : chosen->number > 0 ? (unsigned)chosen->number : CHOSEN;
    watched.next = TIMES;
    watched.least = UINT64_MAX;
    watched.found = true;
    return &watched;
}

/* The end of the bucket that has the median: it is no longer. */
static uint64_t median(const struct fv_watched *s)
{
    uint64_t below = 0;

    for (unsigned i = 0; i < FV_OCTAVES * FV_OCTAVE_BUCKETS; i++)
        if ((below += s->of[i / FV_OCTAVE_BUCKETS][i % FV_OCTAVE_BUCKETS]) * 2 > s->count)
            return fv_bucket_first((i + 1) / FV_OCTAVE_BUCKETS, (i + 1) % FV_OCTAVE_BUCKETS);
    return UINT64_MAX;
}

/* ---- time of copies ---- */

struct span {
    int64_t begin_ns, end_ns; /* CLOCK_REALTIME */
};

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* When copies of an instance, or those that the program asked for, held up ranks. False: it is no such directory, or of
 * this instance. What is held up spreads from rank to rank, so it may come a little later. */
static bool is_copy(int directory, const char *name, uint64_t own, struct span *out)
{
    const char *of = strstr(name, "-keep-");
    struct stat s;

    if (!of || (strncmp(name, "program", 7) != 0 && strtoull(of + 6, NULL, 10) == own) ||
        fstatat(directory, name, &s, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(s.st_mode))
        return false;
    const int64_t begin_ns = ns_of(s.st_atim), end_ns = ns_of(s.st_mtim),
                  took_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
    *out = (struct span){ end_ns - took_ns, end_ns + took_ns + GRAIN_NS };
    return true;
}

/* Of this span: what it has of copies. *until_ns: until when they go on. */
static int64_t copying_ns(struct span instance, uint64_t number, int64_t *until_ns)
{
    struct entry { /* getdents64(2) */
        uint64_t ino;
        int64_t off;
        unsigned short length;
        unsigned char type;
        char name[];
    };
    char directory[4096];
    _Alignas(8) char piece[4096];
    int64_t sum = 0;
    struct span copy;

    fv_keep_directory(directory);
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long n; fd >= 0 && (n = syscall(SYS_getdents64, fd, piece, sizeof(piece))) > 0;)
        for (long at = 0; at < n; at += ((struct entry *)(void *)(piece + at))->length) {
            if (!is_copy(fd, ((struct entry *)(void *)(piece + at))->name, number, &copy))
                continue;
            const int64_t from = copy.begin_ns > instance.begin_ns ? copy.begin_ns : instance.begin_ns,
                          to = copy.end_ns < instance.end_ns ? copy.end_ns : instance.end_ns;
            sum += to > from ? to - from : 0;
            *until_ns = copy.end_ns > *until_ns ? copy.end_ns : *until_ns;
        }
    if (fd >= 0)
        close(fd);
    return sum;
}

/* Of an instance that ends now, without the time of copies. */
static uint64_t without_copies(struct fv_watched *s, uint64_t number, uint64_t ticks)
{
    const struct fv_clock_point *first = &fv_rt.writer.header->first;
    struct fv_scope scope = fv_scope_enter();
    struct fv_clock_point now;

    fv_clock_point(&now);
    if (now.ticks < s->quiet_until && now.ticks - ticks > s->looked) { /* all of it */
        fv_scope_leave(&scope);
        return 0;
    }
    const double since_ns = (double)(now.monotonic_ns - first->monotonic_ns),
                 tick_ns = now.ticks > first->ticks ? since_ns / (double)(now.ticks - first->ticks) : 1;
    const int64_t took_ns = (int64_t)((double)ticks * tick_ns);
    int64_t until_ns = now.realtime_ns,
            copies_ns = copying_ns((struct span){ until_ns - took_ns, until_ns }, number, &until_ns);
    s->looked = now.ticks;
    s->quiet_until = now.ticks + (uint64_t)((double)(until_ns - now.realtime_ns) / tick_ns);
    fv_scope_leave(&scope);
    return copies_ns < took_ns ? ticks - (uint64_t)((double)copies_ns / tick_ns) : 0;
}

/* ---- instances ---- */

/* Where one that is so long goes, if it is long enough; NULL. */
static struct slow *slot_for(struct fv_watched *s, uint64_t ticks)
{
    struct slow *least = &s->slow[0];

    if (s->slow_count < MOST)
        return &s->slow[s->slow_count];
    for (unsigned i = 1; i < MOST; i++)
        least = s->slow[i].ticks < least->ticks ? &s->slow[i] : least;
    return (double)ticks > LONGER * (double)least->ticks ? least : NULL;
}

static bool keep_instance(const struct fv_watched *s, const char *why, uint64_t number, double times)
{
    char folder[64], label[256];

    snprintf(folder, sizeof(folder), "%s-keep-%llu", why, (unsigned long long)number);
    snprintf(label, sizeof(label), "%s: %s took %.1f times its median", folder, s->section, times);
    return fv_keep(folder, label);
}

static FV_COLD void judge_slow(struct fv_watched *s, uint64_t number, uint64_t ticks)
{
    const double usual = (double)median(s);
    struct slow *to = (double)ticks > s->factor * usual ? slot_for(s, ticks) : NULL;
    char shorter[64];

    if (!to)
        return;
    ticks = without_copies(s, number, ticks);
    if ((double)ticks <= s->factor * usual || !(to = slot_for(s, ticks)) ||
        !keep_instance(s, "slow", number, (double)ticks / usual))
        return;
    if (s->slow_count < MOST) {
        s->slow_count++;
    } else {
        snprintf(shorter, sizeof(shorter), "slow-keep-%llu", (unsigned long long)to->number);
        fv_keep_remove(shorter);
        if (!s->told)
            fv_remark(fv_rt.world_rank == 0, "more than %u instances of section %s were slow: the longest are kept",
                      MOST, s->section);
        s->told = true;
    }
    *to = (struct slow){ number, ticks };
}

void fv_watched_ended(struct fv_watched *s, uint64_t number, uint64_t ticks)
{
    const unsigned octave = fv_octave(ticks);

    if (s->chosen && number == s->next) {
        s->next *= TIMES;
        s->chosen--;
        keep_instance(s, "iteration", number, (double)ticks / (double)median(s));
    } else if (s->count >= USUAL && (double)ticks > s->factor * (double)s->least) {
        judge_slow(s, number, ticks);
    }
    s->least = ticks < s->least ? ticks : s->least;
    s->of[octave][fv_octave_bucket(ticks, octave)]++;
    s->count++;
}
