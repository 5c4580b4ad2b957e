/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript.h. */
#include "transcript/transcript_state.h"
#include "base/experiment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t ticks_of(const struct fv_record *m)
{
    return FV_TRANSCRIPT_FIRST + m->time_ns;
}

static void begin_thread(struct fv_transcript *t, uint32_t slot)
{
    struct fv_transcript_thread *h = &t->threads[slot];
    uint64_t length = (uint64_t)fv_clocks_length(&t->merge->clocks, &t->merge->defs);

    h->record = (struct fv_thread_record){ .id = slot, .tid = slot, .threads = 1, .main = slot == 0 };
    h->bins.bank.origin = FV_TRANSCRIPT_FIRST;
    h->bins.bank.width = UINT64_C(1) << 21;
    while (length / h->bins.bank.width >= FV_BINS)
        h->bins.bank.width *= 2;
    h->event_end = FV_TRANSCRIPT_FIRST;
}

static bool open_thread(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    struct fv_transcript *t = (struct fv_transcript *)(void *)sink;

    (void)location;
    begin_thread(t, slot);
    return true;
}

static void see(struct fv_transcript *t, struct fv_transcript_thread *h, uint64_t ticks)
{
    if (!h->record.begin)
        h->record.begin = ticks;
    h->record.end = ticks;
    t->header.end_ticks = ticks > t->header.end_ticks ? ticks : t->header.end_ticks;
}

/* To what threads do together it is as a function that is a construct. */
static void work(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_thread *h = &t->threads[slot];
    struct fv_record as = *m;
    bool begins = m->kind == FV_REC_WORK_ENTER;

    as.kind = begins ? FV_REC_INSTANCE : FV_REC_INSTANCE_END;
    h->works += begins;
    fv_transcript_together(t, slot, &as, ticks);
    h->works -= !begins && h->works;
}

/* False: it is nothing that was measured. */
/* The main thread's pauses are the rank's. */
static void pause_or_resume(struct fv_transcript *t, uint32_t slot, bool resumes, uint64_t ticks)
{
    struct fv_file_header *of = &t->header;

    fv_transcript_event(t, &t->threads[slot], slot, resumes ? FV_EV_RESUME : FV_EV_PAUSE, ticks, 0);
    if (slot)
        return;
    if (!resumes && !of->paused_since) {
        of->paused_since = ticks;
    } else if (resumes && of->paused_since) {
        of->paused_ticks += ticks - of->paused_since;
        of->paused_since = 0;
    }
}

static bool put_value(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m,
                      uint64_t ticks)
{
    switch (m->kind) {
    case FV_REC_SENSOR: fv_transcript_sensor(t, m, ticks); return true;
    case FV_REC_COUNTER: fv_transcript_count(h, m, ticks); return true;
    case FV_REC_SAMPLE: fv_transcript_sample(t, h, m, ticks); return true;
    default: return false;
    }
}

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *m)
{
    struct fv_transcript *t = (struct fv_transcript *)(void *)sink;
    struct fv_transcript_thread *h = &t->threads[slot];
    uint64_t ticks = ticks_of(m);

    if (put_value(t, h, m, ticks))
        return !t->failed;
    see(t, h, ticks);
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_PROGRAM_BEGIN: t->header.begin_ticks = ticks; break;
    case FV_REC_PROGRAM_END:
        t->header.exit_seen = !m->op;
        t->header.exit_status = m->op ? 0 : (int32_t)(int64_t)m->id;
        break;
    case FV_REC_ENTER: fv_transcript_enter(t, h, m, ticks); break;
    case FV_REC_LEAVE:
        if (h->call.is_open)
            fv_transcript_leave(t, h, ticks);
        break;
    case FV_REC_INSTANCE:
        fv_transcript_function_counted(t, h, ticks, false);
        fv_transcript_function_enter(t, h, m, ticks);
        fv_transcript_together(t, slot, m, ticks);
        break;
    case FV_REC_INSTANCE_END:
        fv_transcript_together(t, slot, m, ticks);
        fv_transcript_function_counted(t, h, ticks, true);
        fv_transcript_function_leave(t, h, ticks);
        break;
    case FV_REC_MEASURE:
        if (!h->call.is_open)
            pause_or_resume(t, slot, m->op, ticks);
        break;
    case FV_REC_WORK_ENTER:
    case FV_REC_WORK_LEAVE: work(t, slot, m, ticks); break;
    case FV_REC_LIBRARY_ENTER:
    case FV_REC_LIBRARY_LEAVE: fv_transcript_files_call(t, h, m, ticks); break;
    default:
        if (FV_RECORD_IS_OF_THREAD(m->kind))
            fv_transcript_together(t, slot, m, ticks);
        else if (m->kind >= FV_REC_RMA_COLL_BEGIN && m->kind <= FV_REC_RMA_END)
            fv_transcript_window_done(t, h, m);
        else
            fv_transcript_moved(t, h, m);
    }
    return !t->failed;
}

static bool close_thread(struct fv_sink *sink, uint32_t slot)
{
    struct fv_transcript *t = (struct fv_transcript *)(void *)sink;
    struct fv_transcript_thread *h = &t->threads[slot];

    while (h->depth)
        fv_transcript_function_leave(t, h, h->record.end);
    fv_transcript_events(t, h, slot);
    fv_transcript_function_counts(t, h, slot);
    fv_transcript_functions(t, h, slot);
    fv_transcript_counts(t, h, slot);
    fv_transcript_samples(t, h, slot);
    fv_transcript_files_thread(t, h, slot);
    fv_transcript_statistics(t, h, slot);
    return !t->failed;
}

/* The file must not be there: nobody's is overwritten. */
static bool create(struct fv_transcript *t, const char *directory)
{
    char name[48];
    int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int in = folder >= 0 ? fv_experiment_rank_folder(folder, (int)t->world, t->header.world_size) : -1;
    const char *slash;

    fv_experiment_rank_file(name, (int)t->world, t->header.world_size);
    slash = strrchr(name, '/');
    snprintf(t->path, sizeof(t->path), "%s/%s", directory, name);
    t->file =
        in >= 0 ? openat(in, slash ? slash + 1 : name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644) : -1;
    if (t->file < 0)
        fv_log("%s: %s; name a directory that can be written to: fvunify -o DIR", t->path, strerror(errno));
    if (in >= 0)
        close(in);
    if (folder >= 0)
        close(folder);
    return t->file >= 0;
}

struct fv_transcript *fv_transcript_open(const struct fv_merge *merge, const struct fv_groups *groups, uint32_t rank,
                                         const struct fv_file_header *header, const char *directory)
{
    struct fv_transcript *t = fv_xcalloc(1, sizeof(*t));

    t->sink = (struct fv_sink){ .open = open_thread, .put = put, .close = close_thread };
    t->merge = merge;
    t->groups = groups;
    t->rank = rank;
    t->world = merge->defs.ranks[rank].world_rank;
    t->header = *header;
    t->end = FV_PAGE;
    t->grain = 1;
    t->thread_count = merge->defs.ranks[rank].thread_count;
    if (!create(t, directory)) {
        free(t);
        return NULL;
    }
    t->threads = fv_xcalloc((size_t)t->thread_count + 1, sizeof(*t->threads));
    t->function_ids = fv_xcalloc(merge->defs.function_count + 1, sizeof(*t->function_ids));
    return t;
}

struct fv_sink *fv_transcript_sink(struct fv_transcript *t)
{
    return &t->sink;
}

bool fv_transcript_close(struct fv_transcript *t)
{
    struct fv_file_header *h = &t->header;

    h->begin_ticks = h->begin_ticks ? h->begin_ticks : FV_TRANSCRIPT_FIRST;
    h->end_ticks = h->end_ticks ? h->end_ticks : h->begin_ticks + 1;
    h->last = h->first;
    h->last.ticks = h->end_ticks;
    h->last.realtime_ns += (int64_t)(h->end_ticks - h->first.ticks);
    h->last.monotonic_ns += (int64_t)(h->end_ticks - h->first.ticks);
    fv_transcript_together_close(t);
    fv_transcript_metrics(t);
    fv_transcript_chunk(t, FV_CHUNK_STREAMS, FV_NO_THREAD, 0, t->streams.data, t->streams.count);
    free(t->streams.data);
    fv_transcript_files_close(t);
    fv_transcript_definitions(t);
    h->file_bytes = t->end;
    if (!t->failed && (ftruncate(t->file, (off_t)t->end) || pwrite(t->file, h, sizeof(*h), 0) != (ssize_t)sizeof(*h))) {
        fv_log("%s: %s; is there room on the disk?", t->path, strerror(errno));
        t->failed = true;
    }
    bool good = !t->failed;
    close(t->file);
    fv_pendings_release(&t->requests);
    free(t->function_ids);
    free(t->threads);
    free(t);
    return good;
}
