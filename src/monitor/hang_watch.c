/* SPDX-License-Identifier: BSD-3-Clause */
/* See hang_watch.h. Each process says in its rank file's header when it made progress last. Of those that make none the
 * first rank that watches looks at the headers of all others, and says in its own which look to take: so a job that
 * hangs reads a header a second on each rank, and one that does not hang reads none. A rank that is stopped or dead
 * says nothing any more, and counts as one that makes no progress. */
#include "monitor/hang_watch.h"
#include "base/experiment.h"
#include "look/look.h"
#include "rt/look.h"
#include "rt/thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EVERY_NS    INT64_C(1000000000)
#define BETWEEN_MS  500 /* looks */
#define SILENT_NS   INT64_C(10000000000)
#define REQUEST_NS  INT64_C(60000000000)
#define LOOKS       3
#define EVERY_OTHER 2 /* watch a request is looked for */

static struct {
    uint64_t calls;               /* of progress so far, the most that it has seen */
    unsigned times;               /* that it watched */
    struct fv_look_request taken; /* that is, or was last */
    unsigned looks_left;
    bool is_looked; /* since it made progress last */
} watch;

static uint64_t realtime_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t limit_ns(void)
{
    return fv_rt.options.hang_after * UINT64_C(1000000000);
}

/* ---- progress ---- */

/* Calls that ended, but for those that asked in vain. A call that is being recorded may count as one less. */
static uint64_t calls_so_far(void)
{
    uint64_t calls = 0;

    for (const struct fv_thread *t = __atomic_load_n(&fv_rt.threads, __ATOMIC_ACQUIRE); t; t = t->next_all) {
        uint64_t all = __atomic_load_n(&t->asked.forgotten, __ATOMIC_ACQUIRE);

        all += __atomic_load_n(&t->record->calls, __ATOMIC_ACQUIRE);
        uint64_t in_vain = __atomic_load_n(&t->asked.in_vain, __ATOMIC_RELAXED);
        calls += all > in_vain ? all - in_vain : 0;
    }
    return calls;
}

/* Before its first call a process starts. */
static void note_progress(struct fv_file_header *h, uint64_t now_ns)
{
    uint64_t calls = calls_so_far();

    if (!calls || calls > watch.calls || !h->progress_ns) {
        __atomic_store_n(&h->progress_ns, now_ns, __ATOMIC_RELAXED);
        watch.is_looked = false;
    }
    if (calls > watch.calls)
        watch.calls = calls;
    __atomic_store_n(&h->watched_ns, now_ns, __ATOMIC_RELEASE);
}

/* ---- other ranks ---- */

#define PATH (sizeof(fv_rt.writer.path) + 64)

/* A file in the directory that all ranks of the node, or of the job, write to. False: it is not known. */
static bool path_of(const char *name, char out[PATH])
{
    const struct fv_file_header *own = fv_rt.writer.header;
    size_t length = strlen(fv_rt.writer.path);
    char mine[48];

    fv_experiment_rank_file(mine, own->world_rank, own->world_size);
    if (length < strlen(mine) || strcmp(fv_rt.writer.path + length - strlen(mine), mine))
        return false;
    snprintf(out, PATH, "%.*s%s", (int)(length - strlen(mine)), fv_rt.writer.path, name);
    return true;
}

static bool read_header(int rank, struct fv_file_header *out)
{
    char name[48], path[PATH];

    fv_experiment_rank_file(name, rank, fv_rt.writer.header->world_size);
    if (!path_of(name, path))
        return false;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long bytes = fd >= 0 ? syscall(SYS_pread64, fd, out, sizeof(*out), 0) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
    return bytes == sizeof(*out) && out->state == FV_STATE_RUNNING;
}

static bool is_watched(const struct fv_file_header *h, uint64_t now_ns)
{
    return h->watched_ns && (int64_t)(now_ns - h->watched_ns) < SILENT_NS;
}

/* The first rank that watches and makes no progress; what it says. */
static int find_first(struct fv_file_header *out, uint64_t now_ns)
{
    const struct fv_file_header *own = fv_rt.writer.header;

    for (int rank = 0; rank < own->world_rank; rank++)
        if (read_header(rank, out) && is_watched(out, now_ns))
            return rank;
    return own->world_rank;
}

static bool all_others_stand(uint64_t now_ns)
{
    const struct fv_file_header *own = fv_rt.writer.header;
    struct fv_file_header other;

    for (int rank = 0; rank < own->world_size; rank++)
        if (rank != own->world_rank && read_header(rank, &other) && is_watched(&other, now_ns) &&
            (int64_t)(now_ns - other.progress_ns) < (int64_t)limit_ns())
            return false;
    return true;
}

/* Which look to take now; 0: none. */
static uint64_t look_to_take(uint64_t now_ns)
{
    struct fv_file_header *own = fv_rt.writer.header, first;

    if (find_first(&first, now_ns) != own->world_rank)
        return (int64_t)(now_ns - first.progress_ns) >= (int64_t)limit_ns() ? first.look_request : 0;
    if (!all_others_stand(now_ns))
        return 0;
    if (!watch.is_looked)
        __atomic_store_n(&own->look_request, fv_look_number(), __ATOMIC_RELEASE);
    return own->look_request;
}

/* ---- looks ---- */

static void note(void *context, const struct fv_look *look)
{
    (void)context;
    fv_look_note(look);
}

static void take_look(void)
{
    fv_look_ask(fv_rt.pid, fv_rt.writer.header->look_signal,
                watch.taken.number + (watch.taken.looks - watch.looks_left), note, NULL);
    watch.looks_left--;
}

/* Once threads had time to answer. What is mapped gets to other hosts when it is written. */
static void say_done(void)
{
    struct fv_file_header *h = fv_rt.writer.header;

    if (h->look_done == watch.taken.number)
        return;
    __atomic_store_n(&h->look_done, watch.taken.number, __ATOMIC_RELEASE);
    syscall(SYS_fdatasync, fv_rt.writer.fd);
}

static void begin(const struct fv_look_request *request)
{
    watch.taken = *request;
    watch.looks_left = request->looks;
}

/* Somebody asks. An old request is none. */
static void look_for_request(uint64_t now_ns)
{
    char path[PATH], text[80];
    struct fv_look_request request;

    if (watch.times++ % EVERY_OTHER || !path_of(FV_LOOK_REQUEST, path) || fv_file_read(path, text, sizeof(text)) <= 0 ||
        !fv_look_request_parse(text, &request))
        return;
    uint64_t asked_ns = (request.number >> FV_LOOK_SHIFT) * 1000000;
    if (request.number > watch.taken.number && (int64_t)(now_ns - asked_ns) < (int64_t)REQUEST_NS)
        begin(&request);
}

int64_t fv_hang_watch_step(int64_t now_ns)
{
    struct fv_file_header *h = fv_rt.writer.header;
    struct fv_look_request own = { 0, LOOKS, BETWEEN_MS };
    uint64_t real_ns = realtime_ns();

    note_progress(h, real_ns);
    if (!watch.looks_left)
        say_done();
    if (!watch.looks_left && (int64_t)(real_ns - h->progress_ns) >= (int64_t)limit_ns() &&
        (own.number = look_to_take(real_ns)) > watch.taken.number) {
        begin(&own);
        watch.is_looked = true;
    }
    if (!watch.looks_left)
        look_for_request(real_ns);
    if (!watch.looks_left)
        return now_ns + EVERY_NS;
    take_look();
    return now_ns + (watch.looks_left ? INT64_C(1000000) * watch.taken.between_ms : EVERY_NS);
}
