/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/timelines.h"
#include "base/base.h"
#include "base/experiment.h"
#include "cmd/archives.h"
#include "cmd/child.h"
#include "experiment/experiment.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    HEAD_BYTES = 8 << 20,        /* of events, whose timeline is made in a moment */
    LONG_BYTES = 4 * HEAD_BYTES, /* of a trace that takes longer than that */
    END_PAUSES = 100
};

static struct fv_archive_files look_at(const struct fv_trace_timeline *r)
{
    struct fv_archive_files all = { 0 };
    struct fv_rank_files files;

    if (fv_is_archive(r->trace)) {
        fv_archive_look(r->trace, &all);
        return all;
    }
    fv_rank_files_list(&files, r->trace);
    for (size_t i = 0; i < files.count; i++)
        fv_archive_add_file(&all, AT_FDCWD, files.paths[i]);
    fv_rank_files_release(&files);
    return all;
}

/* Beside the trace, or in the user's cache. */
static bool choose_place(struct fv_trace_timeline *r)
{
    char beside[PATH_MAX - 32];

    if (fv_is_archive(r->trace))
        fv_archive_place(r->trace, beside, sizeof(beside));
    else
        snprintf(beside, sizeof(beside), "%s", r->trace);
    snprintf(r->place, sizeof(r->place), "%s/.fvmpi-view", beside);
    if (!fv_archive_make_place(r->trace, r->place))
        return false;
    snprintf(r->file, sizeof(r->file), "%s/timeline", r->place);
    return true;
}

/* That this process may use. */
static int processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

/* The words of fvunify that makes a timeline in `file`. */
struct making {
    char source[24], processes[24], most[24], head[24], progress[24];
    char *argv[20];
};

static void begin_making(struct making *m, struct fv_trace_timeline *r, char *file)
{
    static char *const options[] = { "--timeline", "--source",        "--processes", "--head",
                                     "--progress", "--timeline-most", "--output" };
    char *const values[] = { file, m->source, m->processes, m->head, m->progress, m->most, r->place };
    size_t count = 1;

    *m = (struct making){ .head = "0", .progress = "0" };
    snprintf(m->most, sizeof(m->most), "%llu", (unsigned long long)r->most_bytes);
    snprintf(m->processes, sizeof(m->processes), "%d", processors());
    snprintf(m->source, sizeof(m->source), "%llx", (unsigned long long)r->source);
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        m->argv[count++] = options[i];
        m->argv[count++] = values[i];
    }
    m->argv[count++] = "--";
    m->argv[count] = (char *)r->trace;
}

/* What is missing in the trace is said. */
static void make(struct fv_trace_timeline *r)
{
    struct making m;

    begin_making(&m, r, r->file);
    fv_archive_unify(r->trace, m.argv);
}

/* Its file needs no name. head: bytes of events; 0: all. */
static bool open_nameless(struct fv_trace_timeline *t, const char *name, unsigned head)
{
    struct making m;
    char file[sizeof(t->file)];

    snprintf(file, sizeof(file), "%s/%s", t->place, name);
    begin_making(&m, t, file);
    snprintf(m.head, sizeof(m.head), "%u", head);
    fv_archive_unify(t->trace, m.argv);
    const bool good = fv_timeline_open(&t->timeline, file, t->source);
    unlink(file);
    return good;
}

/* In the background. */
static bool begin_to_make(struct fv_trace_timeline *t)
{
    struct making m;
    int ends[2];

    if (pipe2(ends, O_NONBLOCK))
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    begin_making(&m, t, t->file);
    snprintf(m.progress, sizeof(m.progress), "%d", ends[1]);
    t->maker = fv_archive_unify_begin(t->trace, m.argv);
    t->progress = ends[0];
    close(ends[1]);
    if (t->maker > 0)
        return true;
    close(t->progress);
    t->maker = 0;
    return false;
}

/* One that is there may have left out what there is room for now, or be larger. */
static bool fits(const struct fv_trace_timeline *t)
{
    const struct fv_timeline_header *h = t->timeline.header;
    static const struct fv_timeline_left_out nothing;

    return h->most_bytes == t->most_bytes ||
           (!memcmp(&h->left_out, &nothing, sizeof(nothing)) && (!t->most_bytes || h->file_bytes <= t->most_bytes));
}

/* Of a directory that holds an archive and no rank files, the archive. False: it has several, which was said. */
static bool find_trace(struct fv_trace_timeline *t, const char *trace)
{
    struct fv_rank_files files = { 0 };
    size_t rank_files, archives;
    struct stat st;

    t->trace = trace;
    if (stat(trace, &st) || !S_ISDIR(st.st_mode))
        return true;
    fv_rank_files_list(&files, trace);
    rank_files = files.count;
    fv_rank_files_release(&files);
    archives = rank_files ? 0 : fv_archive_in(trace, t->archive);
    if (archives == 1)
        t->trace = t->archive;
    else if (archives)
        fv_log("%s: it has %zu archives; name one, such as %s", trace, archives, t->archive);
    return archives <= 1;
}

/* Is it there, and made of the trace as it is? Else it can be made, unless *good is false. */
static bool is_there(struct fv_trace_timeline *t, const char *trace, uint64_t most_bytes, bool *good)
{
    *good = false;
    if (!find_trace(t, trace))
        return false;
    const struct fv_archive_files files = look_at(t);
    t->most_bytes = most_bytes;
    t->source = files.hash;
    t->bytes = files.bytes;
    *good = choose_place(t);
    if (!*good || !fv_timeline_open(&t->timeline, t->file, t->source))
        return false;
    if (fits(t))
        return true;
    fv_timeline_close(&t->timeline);
    return false;
}

bool fv_trace_timeline_open(struct fv_trace_timeline *t, const char *trace, uint64_t most_bytes)
{
    bool good;

    if (is_there(t, trace, most_bytes, &good))
        return true;
    if (good)
        make(t);
    return good && fv_timeline_open(&t->timeline, t->file, t->source);
}

bool fv_trace_timeline_open_soon(struct fv_trace_timeline *t, const char *trace, uint64_t most_bytes)
{
    bool good;

    if (is_there(t, trace, most_bytes, &good))
        return true;
    if (!good)
        return false;
    t->is_head = t->bytes > LONG_BYTES && open_nameless(t, "head", HEAD_BYTES);
    if (t->is_head)
        return true;
    if (fv_spawn_is_to_end())
        return false;
    make(t);
    return fv_timeline_open(&t->timeline, t->file, t->source);
}

bool fv_trace_timeline_begin(struct fv_trace_timeline *t, const char *trace, uint64_t most_bytes)
{
    bool good;

    if (!is_there(t, trace, most_bytes, &good))
        return good && begin_to_make(t);
    fv_timeline_close(&t->timeline);
    return true;
}

bool fv_trace_timeline_is_made(struct fv_trace_timeline *t)
{
    uint8_t percent[128];
    int status, signal_number;

    if (!t->maker)
        return true;
    for (ssize_t n; (n = read(t->progress, percent, sizeof(percent))) > 0;)
        t->percent = percent[n - 1];
    if (!fv_spawn_ended(t->maker, false, &status, &signal_number))
        return false;
    if (signal_number)
        fv_log("%s: signal %d ended fvunify, which made what the page needs", t->trace, signal_number);
    close(t->progress);
    t->maker = 0;
    return true;
}

bool fv_trace_timeline_open_made(struct fv_trace_timeline *t)
{
    return fv_timeline_open(&t->timeline, t->file, t->source);
}

bool fv_trace_timeline_is_old(const struct fv_trace_timeline *t)
{
    return look_at(t).hash != t->source;
}

/* It ends soon, unless it writes the last of the file; that cannot be opened then. */
static void end_maker(struct fv_trace_timeline *t)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    int status;
    bool has_ended;

    kill(t->maker, SIGTERM);
    for (int i = 0; !(has_ended = fv_spawn_ended(t->maker, false, &status, NULL)) && i < END_PAUSES; i++)
        nanosleep(&pause, NULL);
    if (!has_ended) {
        kill(t->maker, SIGKILL);
        fv_spawn_ended(t->maker, true, &status, NULL);
        unlink(t->file);
    }
    close(t->progress);
    t->maker = 0;
}

void fv_trace_timeline_close(struct fv_trace_timeline *t)
{
    if (t->maker)
        end_maker(t);
    fv_timeline_close(&t->timeline);
}

bool fv_trace_timeline_of(const char *trace, struct fv_timeline_file *out)
{
    struct fv_trace_timeline *t = fv_xcalloc(1, sizeof(*t));
    const bool good = fv_trace_timeline_open(t, trace, 0);

    if (good)
        *out = t->timeline;
    free(t);
    return good;
}

bool fv_trace_timeline_once(const char *trace, uint64_t most_bytes, struct fv_timeline_file *out)
{
    struct fv_trace_timeline *t = fv_xcalloc(1, sizeof(*t));
    char name[32];
    bool can, good = is_there(t, trace, 0, &can);

    snprintf(name, sizeof(name), "once-%ld", (long)getpid());
    good = good || (can && t->bytes <= most_bytes && open_nameless(t, name, 0));
    if (good)
        *out = t->timeline;
    free(t);
    return good;
}
