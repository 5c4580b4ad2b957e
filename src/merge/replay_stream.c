/* SPDX-License-Identifier: BSD-3-Clause */
/* See replay.h. Reads the events of one thread, over its chunks, as items: a call with its details, or what
 * stands between calls. */
#include "experiment/chunks.h"
#include "merge/replay_state.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(FV_EV_COUNT <= 64, "kinds of details are bits");

/* ---- what there is ---- */

static void find_sites(const struct fv_rank_replay *r, struct fv_stream *s)
{
    const struct fv_def_map *map = r->map;
    struct fv_cursor c = fv_cursor(r->reader, FV_CHUNK_SITES);
    struct fv_site_record site;
    size_t room = 0;

    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.thread != s->thread)
            continue;
        for (FV_GROW(s->sites, room, c.index + 1); s->site_count <= c.index; s->site_count++)
            s->sites[s->site_count] = (struct fv_call_site){ 0 };
        memcpy(&site, p, sizeof(site));
        uint32_t function = fv_numbers_get(&map->functions, site.function),
                 node = fv_numbers_get(&map->nodes, site.path);
        s->sites[c.index] = (struct fv_call_site){ function == FV_NONE ? NULL : &r->replay->calls[function], function,
                                                   node == FV_NONE ? 0 : node };
    }
}

static void find_thread(struct fv_stream *s, const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_THREADS);
    struct fv_thread_record t;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        if (t.id == s->thread) {
            s->in_call = t.in_call;
            s->recorded = t.calls;
        }
    }
}

/* ---- items ---- */

/* The events of the chunk are over: to the thread's next one that has some. */
static bool next_chunk(struct fv_rank_replay *r, struct fv_stream *s)
{
    if (s->cursor.damaged)
        r->stats->damaged++;
    s->cursor.damaged = false;
    if (s->next_chunk == s->chunk_count)
        return false;
    if (s->next_chunk)
        fv_reader_forget(r->reader, s->chunks[s->next_chunk - 1]);
    const struct fv_chunk *chunk = s->chunks[s->next_chunk++];
    if (chunk->first < s->calls) /* met before, compressed */
        return true;
    s->cursor = fv_reader_events(r->reader, chunk, &s->unpacked);
    if (chunk->first > s->calls) { /* a damaged part of the file */
        s->missing_ahead += chunk->first - s->calls;
        s->mpi_calls += chunk->first - s->calls;
        s->calls = chunk->first;
    }
    if (r->replay->progress)
        r->replay->progress(r->replay->progress_context, chunk->used);
    return true;
}

/* Behind the details. */
static inline void read_ahead(struct fv_rank_replay *r, struct fv_stream *s)
{
    FV_GROW(s->details, s->detail_room, s->detail_count + 1);
    s->has_ahead = true;
    while (FV_UNLIKELY(!fv_event_next(&s->cursor, &s->details[s->detail_count])))
        if (!next_chunk(r, s)) {
            s->has_ahead = false;
            return;
        }
}

static bool is_detail(unsigned kind)
{
    return kind > FV_EV_LOST && !fv_event_is_of_thread(kind);
}

/* What was read ahead is one more detail. */
static inline void take_detail(struct fv_stream *s)
{
    struct fv_event *d = &s->details[s->detail_count];

    if (FV_UNLIKELY(d->kind == FV_EV_FAILED)) {
        uint64_t error = d->field[0];

        if (s->detail_count)
            d[-1].error = error && error < FV_FAILURE_KINDS ? (uint8_t)error : FV_FAILURE_OTHER;
        return;
    }
    d->error = FV_FAILURE_NONE;
    s->detail_kinds |= UINT64_C(1) << d->kind;
    s->detail_count++;
}

void fv_stream_load(struct fv_rank_replay *r, struct fv_stream *s)
{
    s->missing = s->missing_ahead;
    s->missing_ahead = 0;
    s->loaded = s->has_ahead;
    if (!s->loaded)
        return;
    s->item = *fv_stream_ahead(s);
    s->until = fv_rank_time(r, s, s->item.end);
    s->detail_count = 0;
    s->detail_kinds = 0;
    /* before looking ahead, maybe into the next chunk, which counts it */
    s->calls += s->item.kind == FV_EV_CALL || fv_event_is_of_thread(s->item.kind);
    s->mpi_calls += s->item.kind == FV_EV_CALL ? 1 : s->item.kind == FV_EV_LOST ? s->item.field[0] : 0;
    read_ahead(r, s);
    if (s->item.kind != FV_EV_CALL)
        return;
    while (s->has_ahead && is_detail(fv_stream_ahead(s)->kind)) {
        take_detail(s);
        read_ahead(r, s);
    }
}

void fv_stream_open(struct fv_rank_replay *r, struct fv_stream *s)
{
    s->chunks = fv_thread_chunks(r->reader, s->thread, fv_chunk_has_events, &s->chunk_count);
    find_sites(r, s);
    find_thread(s, r->reader);
    read_ahead(r, s);
    fv_stream_load(r, s);
}

/* A call is counted a moment before it is in the trace; of a process that still runs, others are made meanwhile. */
uint64_t fv_stream_missing_at_end(const struct fv_rank_replay *r, const struct fv_stream *s)
{
    uint64_t known = s->mpi_calls + r->rank->dropped;

    return !r->rank->runs && r->rank->state != FV_STATE_CUT && s->recorded > known + 1 ? s->recorded - known : 0;
}

void fv_stream_release(struct fv_stream *s)
{
    free(s->chunks);
    fv_unpacked_events_release(&s->unpacked);
    free(s->sites);
    free(s->details);
}
