/* See replay.h. Reads the events of one thread, over its chunks, as items: a call with its details, or what
 * stands between calls. */
#include "merge/replay_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- what there is ---- */

static int by_first(const void *a, const void *b)
{
    const struct fv_chunk *x = *(const struct fv_chunk *const *)a, *y = *(const struct fv_chunk *const *)b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void find_chunks(struct fv_stream *s, const struct fv_reader *reader)
{
    size_t count, room = 0;
    const struct fv_chunk *all = fv_reader_chunks(reader, &count);

    for (size_t i = 0; i < count; i++) {
        if (all[i].thread != s->thread || !fv_chunk_has_events(&all[i]))
            continue;
        s->chunks = fv_grow(s->chunks, &room, s->chunk_count + 1, sizeof(*s->chunks));
        s->chunks[s->chunk_count++] = &all[i];
    }
    if (s->chunk_count)
        qsort(s->chunks, s->chunk_count, sizeof(*s->chunks), by_first);
}

static void find_sites(struct fv_stream *s, const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SITES);
    size_t room = 0;

    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.thread != s->thread)
            continue;
        if (c.index >= s->site_count) {
            s->sites = fv_grow(s->sites, &room, c.index + 1, sizeof(*s->sites));
            memset(s->sites + s->site_count, 0xff, (c.index + 1 - s->site_count) * sizeof(*s->sites));
            s->site_count = c.index + 1;
        }
        memcpy(&s->sites[c.index], p, sizeof(*s->sites));
    }
}

static void find_in_call(struct fv_stream *s, const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_THREADS);
    struct fv_thread_record t;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        if (t.id == s->thread)
            s->in_call = t.in_call;
    }
}

/* ---- items ---- */

/* The next event of the thread, over its chunks. */
static bool next_event(struct fv_rank_replay *r, struct fv_stream *s)
{
    while (!fv_event_next(&s->cursor, &s->ahead)) {
        if (s->cursor.damaged)
            r->stats->damaged++;
        s->cursor.damaged = false;
        if (s->next_chunk == s->chunk_count)
            return s->has_ahead = false;
        if (s->next_chunk)
            fv_reader_forget(r->reader, s->chunks[s->next_chunk - 1]);
        const struct fv_chunk *chunk = s->chunks[s->next_chunk++];
        if (chunk->first < s->calls) /* met before, compressed */
            continue;
        s->cursor = fv_reader_events(r->reader, chunk, &s->unpacked);
        if (chunk->first > s->calls) { /* a damaged part of the file */
            s->missing_ahead += chunk->first - s->calls;
            s->calls = chunk->first;
        }
        if (r->replay->progress)
            r->replay->progress(r->replay->progress_context, chunk->used);
    }
    return s->has_ahead = true;
}

static void add_detail(struct fv_stream *s)
{
    FV_GROW(s->details, s->detail_room, s->detail_count + 1);
    s->details[s->detail_count].kind = s->ahead.kind;
    memcpy(s->details[s->detail_count].field, s->ahead.field, sizeof(s->ahead.field));
    s->detail_count++;
}

void fv_stream_load(struct fv_rank_replay *r, struct fv_stream *s)
{
    s->detail_count = 0;
    s->missing = s->missing_ahead;
    s->missing_ahead = 0;
    s->loaded = s->has_ahead;
    if (!s->loaded)
        return;
    s->item = s->ahead.kind;
    s->site = s->ahead.field[0];
    s->begin_ticks = s->ahead.begin;
    s->end_ticks = s->ahead.end;
    memcpy(s->field, s->ahead.field, sizeof(s->field));
    /* before looking ahead, maybe into the next chunk, which counts it */
    s->calls += s->item == FV_EV_CALL || fv_event_is_of_thread(s->item);
    next_event(r, s);
    if (s->item != FV_EV_CALL)
        return;
    while (s->has_ahead && s->ahead.kind != FV_EV_CALL && s->ahead.kind != FV_EV_PAUSE &&
           s->ahead.kind != FV_EV_RESUME && s->ahead.kind != FV_EV_LOST &&
           !fv_event_is_of_thread(s->ahead.kind)) {
        add_detail(s);
        next_event(r, s);
    }
}

void fv_stream_open(struct fv_rank_replay *r, struct fv_stream *s)
{
    find_chunks(s, r->reader);
    find_sites(s, r->reader);
    find_in_call(s, r->reader);
    next_event(r, s);
    fv_stream_load(r, s);
}

void fv_stream_release(struct fv_stream *s)
{
    free(s->chunks);
    fv_unpacked_release(&s->unpacked);
    free(s->sites);
    free(s->details);
}
