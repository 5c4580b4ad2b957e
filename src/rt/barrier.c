/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers of our own around collectives (--barrier): the ranks that insert them, and what they cost.
 *
 * Where one rank of a communicator inserts a barrier and another does not, the program hangs. So before
 * anyone inserts any, the ranks agree which of them do, and a communicator gets barriers only if all its
 * members are of those. They cannot agree by a message: a rank that runs without fvmpi would never answer.
 * They agree in the directory of the experiment, at the end of MPI_Init. Each rank puts up a mark that says
 * what it was asked for; the first one to come waits, for a time, until all marks are there; then it names
 * those that are there, by the text of a symbolic link, which appears whole or not at all, and once: whoever
 * comes later or waited in vain reads the same text, and is not in it. Ranks that see different directories
 * are in different texts, and have no communicator with all its members in one.
 *
 * Whether a communicator gets them is decided when it is registered, of what is the same on all its ranks:
 * its members and that its creation was seen. Not by its record in the file, which a rank may have no room
 * for. */
#include "rt/comm.h"

#include "base/now.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX      1000 /* of the link: file systems take 1023 bytes or more */
#define RANGES_MAX    (TEXT_MAX / 2)
#define GRACE_NS      INT64_C(5000000000)  /* how much longer the others wait for the one that names them ... */
#define GRACE_EACH_NS 2000000              /* ... who looks for each */
#define HOPELESS_NS   INT64_C(60000000000) /* ... and longer still, for a directory that takes no link */

#define DECISION ".barrier"
#define NAMER    ".barrier-namer"

uint32_t fv_barriers;

/* The ranks that insert barriers, in order. */
static struct {
    int first, last;
} range[RANGES_MAX];
static unsigned ranges;

/* ---- the directory ---- */

struct meeting {
    const char *directory, *mode;
    int rank, size;
};

/* Opened anew for each look: that is when a network file system asks what other nodes put there. */
static int look(const struct meeting *m)
{
    return open(m->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void mark_name(const struct meeting *m, int rank, char out[64])
{
    snprintf(out, 64, ".barrier-%s-%d-%06d", m->mode, m->size, rank);
}

static bool put_link(const struct meeting *m, const char *text, const char *name)
{
    int folder = look(m);
    bool made = folder >= 0 && !symlinkat(text, folder, name);
    int why = errno;

    if (folder >= 0)
        close(folder);
    errno = why;
    return made;
}

static void remove_link(const struct meeting *m, const char *name)
{
    int folder = look(m);

    if (folder >= 0) {
        unlinkat(folder, name, 0);
        close(folder);
    }
}

static bool read_link(const struct meeting *m, const char *name, char out[TEXT_MAX + 1])
{
    int folder = look(m);
    ssize_t n = folder < 0 ? -1 : readlinkat(folder, name, out, TEXT_MAX);

    if (folder >= 0)
        close(folder);
    out[n < 0 ? 0 : n] = '\0';
    return n >= 0;
}

static void pause_for(int64_t *ns)
{
    nanosleep(&(struct timespec){ .tv_nsec = (long)*ns }, NULL);
    *ns = *ns < 25000000 ? 2 * *ns : 50000000;
}

/* ---- who is there ---- */

/* Most marks are there at the first look, which opens nothing. */
static bool is_there(const struct meeting *m, int *folder, int rank, int64_t until_ns)
{
    char name[64], text;
    int64_t pause_ns = 1000000;

    mark_name(m, rank, name);
    while (*folder < 0 || readlinkat(*folder, name, &text, 1) < 0) {
        if (fv_now_ns() >= until_ns)
            return false;
        pause_for(&pause_ns);
        if (*folder >= 0)
            close(*folder);
        *folder = look(m);
    }
    return true;
}

static size_t put_range(char *text, size_t used, int first, int last)
{
    int n = last > first ? snprintf(text + used, TEXT_MAX - used, "%d-%d,", first, last)
                         : snprintf(text + used, TEXT_MAX - used, "%d,", first);

    return n > 0 && used + (size_t)n < TEXT_MAX ? used + (size_t)n : 0;
}

/* The text: "before/8:0-3,5-7,". Where it gets too long the ranks behind are left out. */
static void name_ranks(const struct meeting *m, int64_t until_ns, char text[TEXT_MAX + 1])
{
    size_t used = (size_t)snprintf(text, TEXT_MAX, "%s/%d:", m->mode, m->size), more;
    int first = -1, missing = 0, one = 0, folder = look(m);

    for (int rank = 0; rank <= m->size; rank++) {
        bool there = rank < m->size && is_there(m, &folder, rank, until_ns);

        if (rank < m->size && !there && !missing++)
            one = rank;
        if (there && first < 0)
            first = rank;
        if (there || first < 0)
            continue;
        if (!(more = put_range(text, used, first, rank - 1)))
            break;
        used = more;
        first = -1;
    }
    text[used] = '\0';
    if (folder >= 0)
        close(folder);
    if (missing)
        fv_log("--barrier %s: rank %d%s of %d did not start with it; communicators with such ranks get no barriers",
               m->mode, one, missing > 1 ? " and others" : "", m->size);
}

/* Names the ranks if nobody does, or did; then waits for the text. False: there is none, for nobody. */
static bool decide(const struct meeting *m, int64_t wait_ns, char text[TEXT_MAX + 1])
{
    int64_t begin = fv_now_ns(), pause_ns = 1000000;
    int64_t patience_ns = wait_ns + GRACE_NS + (int64_t)m->size * GRACE_EACH_NS;

    if (read_link(m, DECISION, text))
        return true;
    if (put_link(m, m->mode, NAMER)) {
        name_ranks(m, begin + wait_ns, text);
        put_link(m, text, DECISION);
    }
    while (!read_link(m, DECISION, text)) {
        int64_t waited = fv_now_ns() - begin;

        if (waited > patience_ns)
            put_link(m, "none", DECISION); /* who names the ranks is gone */
        if (waited > patience_ns + HOPELESS_NS)
            return false;
        pause_for(&pause_ns);
    }
    return true;
}

/* ---- the agreement ---- */

static void read_ranges(const struct meeting *m, const char *text)
{
    char begin[64], *end;
    size_t n = (size_t)snprintf(begin, sizeof(begin), "%s/%d:", m->mode, m->size);

    if (strncmp(text, begin, n))
        return;
    for (text += n; *text && ranges < RANGES_MAX; text = end + (*end == ',')) {
        long first = strtol(text, &end, 10), last = first;

        if (end == text)
            break;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        range[ranges].first = (int)first;
        range[ranges++].last = (int)last;
    }
}

static bool takes_part(int rank)
{
    unsigned low = 0, high = ranges;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (range[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranges && range[low].first <= rank;
}

_Static_assert((int)FV_BARRIER_CHOICE_BEFORE == FV_BARRIER_BEFORE && (int)FV_BARRIER_CHOICE_AFTER == FV_BARRIER_AFTER,
               "an option's value is the rank file's");

void fv_barriers_agree(const char *directory, const struct fv_start_info *info)
{
    static const char *const modes[] = { FV_BARRIER_CHOICES(FV_LIST_WORD) };
    struct fv_file_header *h = fv_rt.writer.header;
    struct meeting m = { directory, modes[fv_rt.options.barrier], info->world_rank, info->world_size };
    char mark[64], text[TEXT_MAX + 1];

    h->barrier = (uint32_t)fv_rt.options.barrier;
    if (!fv_rt.options.barrier || info->world_size < 2)
        return;
    mark_name(&m, m.rank, mark);
    if (!put_link(&m, m.mode, mark)) {
        fv_log("--barrier %s: %s: cannot make a symbolic link: %s; rank %d inserts no barriers", m.mode, directory,
               strerror(errno), m.rank);
        return;
    }
    if (decide(&m, (int64_t)fv_rt.options.barrier_wait * 1000000000, text))
        read_ranges(&m, text);
    remove_link(&m, mark);
    if (!takes_part(m.rank))
        return;
    for (unsigned i = 0; i < ranges; i++)
        h->barrier_ranks += (uint32_t)(range[i].last - range[i].first + 1);
    fv_barriers = h->barrier;
}

/* ---- communicators ---- */

bool fv_barriers_on(const struct fv_comm_info *info)
{
    int members = info->size + info->remote_size;

    if (!fv_barriers || members < 2 || info->flags & FV_COMM_INFERRED)
        return false;
    if (!info->world_ranks)
        return info->parent->barriers;
    for (int i = 0; i < info->size; i++)
        if (!takes_part(info->world_ranks[i]))
            return false;
    for (int i = 0; i < info->remote_size; i++)
        if (!takes_part(info->remote_world_ranks[i]))
            return false;
    return true;
}
