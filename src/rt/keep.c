/* SPDX-License-Identifier: BSD-3-Clause */
/* See keep.h. A copy is the rank file as it is now, in a directory of its own. The n-th call of fvmpi_keep() of each
 * rank goes to the same one, DIR/program-keep-N, so that ranks which call it together are kept together. Meanwhile no
 * chunk of the ring is filled again: other threads that need one wait. */
#include "rt/keep.h"
#include "base/experiment.h"
#include "base/histogram.h"
#include "base/write_at.h"
#include "rt/labels.h"
#include "rt/remarks.h"
#include "rt/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST  16 /* copies of a process, of either kind: a long run must not fill the disk */
#define PIECE (UINT32_C(1) << 16)

static unsigned kept;

/* The experiment's directory, and the file's name in it, which may begin with a folder. */
static void split(char directory[4096], const char **name)
{
    memcpy(directory, fv_rt.writer.path, sizeof(fv_rt.writer.path));
    char *base = directory + (fv_base_name(directory) - directory);
    if (base > directory)
        base[-1] = '\0';
    *name = base;
    char *folder = directory + (fv_base_name(directory) - directory);
    if (base > directory && folder > directory && fv_experiment_is_rank_folder(folder)) {
        base[-1] = '/';
        folder[-1] = '\0';
        *name = folder;
    }
}

static bool make_directory(const char *path)
{
    return !mkdir(path, fv_rt.options.share ? 0777 : 0700) || errno == EEXIST;
}

/* Makes what is above the copy. */
static int make_copy(const char *folder, char path[4200])
{
    char directory[4096];
    const char *name;

    split(directory, &name);
    snprintf(path, 4200, "%s/%s", directory, folder);
    bool good = make_directory(path);
    const size_t length = strlen(path);
    const char *slash = strchr(name, '/');
    if (good && slash) {
        snprintf(path + length, 4200 - length, "/%.*s", (int)(slash - name), name);
        good = make_directory(path);
    }
    snprintf(path + length, 4200 - length, "/%s", name);
    return good ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, fv_rt.options.share ? 0666 : 0600)
                : -1;
}

/* The header comes last: of its process, which goes on, the copy does not know the end. */
static bool copy_bytes(int from, int to, char *piece, uint64_t end)
{
    struct fv_file_header *h = (struct fv_file_header *)(void *)piece;

    for (uint64_t at = FV_PAGE, next; at < end; at = next) {
        const size_t bytes = end - at < PIECE ? (size_t)(end - at) : PIECE;

        next = at + bytes;
        if (pread(from, piece, bytes, (off_t)at) != (ssize_t)bytes || !fv_write_at(to, piece, bytes, at))
            return false;
    }
    if (pread(from, piece, FV_PAGE, 0) != (ssize_t)FV_PAGE)
        return false;
    h->state = FV_STATE_CUT;
    h->file_bytes = end;
    return fv_write_at(to, piece, FV_PAGE, 0);
}

/* errno; 0: it is there. */
static int copy(const char *folder)
{
    char path[4200], *piece = fv_memory_new(PIECE);
    int from = open(fv_rt.writer.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), to = from < 0 ? -1 : make_copy(folder, path);
    const uint64_t held = fv_ring_hold(), end = __atomic_load_n(&fv_rt.writer.header->file_bytes, __ATOMIC_ACQUIRE);
    bool good = piece && to >= 0 && copy_bytes(from, to, piece, end);
    const int why = good ? 0 : errno ? errno : ENOMEM;

    fv_ring_let_go(held);
    if (!good && to >= 0)
        unlink(path);
    if (to >= 0)
        close(to);
    if (from >= 0)
        close(from);
    if (piece)
        fv_memory_free(piece, PIECE);
    return why;
}

static void keep(const char *folder, const char *label)
{
    fv_label(label, strlen(label), FV_LABEL_PROGRAM);
    struct fv_scope scope = fv_scope_enter();
    const int error = copy(folder);

    if (error)
        fv_remark(true, "%s: no copy: %s", folder, strerror(error));
    fv_scope_leave(&scope);
}

FV_PUBLIC void fvmpi_keep_v1(const char *why)
{
    char folder[64], label[FV_LABEL_MOST];

    if (!fv_rt_here() || !fv_rt.options.trace_keep || !fv_rt.writer.header)
        return;
    const unsigned number = __atomic_add_fetch(&kept, 1, __ATOMIC_RELAXED);
    if (number > MOST) {
        fv_remark(number == MOST + 1 && fv_rt.world_rank == 0,
                  "fvmpi_keep(): only the first 16 calls of a process make a copy");
        return;
    }
    snprintf(folder, sizeof(folder), "program-keep-%u", number);
    snprintf(label, sizeof(label), "fvmpi_keep %u: %.1000s", number, why ? why : "");
    keep(folder, label);
}

/* ---- a section's instances ---- */

#define USUAL  10 /* instances, before one is called slow */
#define SLOW   3  /* times the median */
#define CHOSEN 4  /* instances that are copied whatever they take: the 4th, the 16th, ... */
#define TIMES  4

static struct fv_watched {
    const char *section;
    double factor;
    bool found, copied; /* copied: the instance before */
    unsigned copies, chosen;
    uint64_t next; /* that is chosen */
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

static FV_COLD void keep_instance(struct fv_watched *s, const char *why, uint64_t number, double times)
{
    char folder[64], label[256];

    s->copied = true;
    if (++s->copies > MOST) {
        fv_remark(s->copies == MOST + 1 && fv_rt.world_rank == 0, "only 16 instances of section %s were copied",
                  s->section);
        return;
    }
    snprintf(folder, sizeof(folder), "%s-keep-%llu", why, (unsigned long long)number);
    snprintf(label, sizeof(label), "%s: %s took %.1f times its median", folder, s->section, times);
    keep(folder, label);
}

static void judge(struct fv_watched *s, uint64_t number, uint64_t ticks)
{
    const bool is_chosen = s->chosen && number == s->next,
               may_be_slow = s->count >= USUAL && !s->copied && (double)ticks > s->factor * (double)s->least;

    s->copied = false;
    if (!is_chosen && !may_be_slow)
        return;
    const double times = (double)ticks / (double)median(s);
    if (is_chosen) {
        s->next *= TIMES;
        s->chosen--;
    }
    if (is_chosen || times > s->factor)
        keep_instance(s, is_chosen ? "iteration" : "slow", number, times);
}

void fv_watched_ended(struct fv_watched *s, uint64_t number, uint64_t ticks)
{
    const unsigned octave = fv_octave(ticks);

    judge(s, number, ticks);
    s->least = ticks < s->least ? ticks : s->least;
    s->of[octave][fv_octave_bucket(ticks, octave)]++;
    s->count++;
}
