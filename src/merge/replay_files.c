/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for files outside of MPI's calls (--io): each call is a region, with what it opened, moved or closed. What
 * the C library asks of the system on behalf of a stream is not seen, so that nothing is told twice. */
#include "merge/replay_state.h"
#include "trace/io_words.h"

#include <stdlib.h>
#include <string.h>

static uint64_t number_of(uint64_t handle, unsigned layer)
{
    return handle * FV_IO_LAYERS + layer;
}

/* FV_NONE: the call is about a name alone, or there was no room for it. */
static uint32_t handle_of(const struct fv_rank_replay *r, uint64_t handle, unsigned layer)
{
    return handle ? fv_numbers_get(&r->map->file_handles, number_of(handle, layer)) : FV_NONE;
}

/* Whether it is open here. What was open before it was used is from the start. */
static bool *state_of(struct fv_rank_replay *r, uint64_t handle, unsigned layer)
{
    size_t count = r->map->file_handles.count;

    if (!r->open_handles) {
        r->open_handles = fv_xcalloc(count + 1, sizeof(*r->open_handles));
        for (size_t i = 0; i < count; i++)
            r->open_handles[i] =
                r->map->file_handles.of[i] != FV_NONE && r->replay->defs->handles[r->map->file_handles.of[i]].found;
    }
    return &r->open_handles[number_of(handle, layer)];
}

static void change(struct fv_rank_replay *r, struct fv_stream *s, uint64_t handle, unsigned layer, bool open,
                   uint64_t time)
{
    bool *is_open = state_of(r, handle, layer);

    if (*is_open != open)
        fv_rank_put(
            r, s,
            &(struct fv_record){ .kind = open ? FV_REC_IO_OPEN : FV_REC_IO_CLOSE, .ref = handle_of(r, handle, layer) },
            time);
    *is_open = open;
}

/* The last descriptor goes, and with it the stream on it. */
static void close_all(struct fv_rank_replay *r, struct fv_stream *s, uint64_t handle)
{
    for (unsigned layer = 0; layer < FV_IO_LAYERS; layer++)
        if (handle_of(r, handle, layer) != FV_NONE)
            change(r, s, handle, layer, false, s->end);
}

static void move(struct fv_rank_replay *r, struct fv_stream *s, uint32_t handle, unsigned flags, uint64_t bytes)
{
    struct fv_record record = {
        .kind = FV_REC_IO_BEGIN, .op = (uint8_t)flags, .ref = handle, .sent = bytes, .id = ++r->io_ids
    };

    fv_rank_put(r, s, &record, s->begin);
    record.kind = FV_REC_IO_END;
    fv_rank_put(r, s, &record, s->end);
}

/* What the call did to what is open. False: no record says what it was about. */
static bool tell_operation(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_io_function_words *words,
                           uint64_t handle, uint64_t result)
{
    unsigned operation = words->operation, layer = words->layer;
    uint32_t ref = handle_of(r, handle, layer);

    if (operation == FV_IO_OP_CLOSE) {
        if (!result)
            close_all(r, s, handle);
        return !result;
    }
    if (ref == FV_NONE)
        return false;
    if (operation == FV_IO_OP_OPEN) {
        if (result) {
            change(r, s, handle, layer, false, s->end); /* it was open: its descriptor became another file's */
            change(r, s, handle, layer, true, s->end);
        }
        return true;
    }
    change(r, s, handle, layer, true, s->begin);
    if (operation == FV_IO_OP_READ || operation == FV_IO_OP_WRITE)
        move(r, s, ref, operation == FV_IO_OP_WRITE ? FV_IO_WRITE : 0, result ? result - 1 : FV_IO_BYTES_UNKNOWN);
    else if (operation == FV_IO_OP_SYNC)
        move(r, s, ref, FV_IO_FLUSH, FV_IO_BYTES_UNKNOWN);
    else if (operation == FV_IO_OP_SEEK && result)
        fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_IO_SEEK, .ref = ref, .sent = result - 1 }, s->end);
    else
        return false;
    return true;
}

/* With what the call did if its records do not say it. */
static struct fv_record leaving(const struct fv_rank_replay *r, uint32_t region,
                                const struct fv_io_function_words *words, uint64_t handle, uint64_t result, bool said)
{
    struct fv_record m = { .kind = FV_REC_LIBRARY_LEAVE, .ref = region };
    const unsigned operation = words->operation;
    uint32_t ref = handle_of(r, handle, words->layer);

    if (!said && ref != FV_NONE)
        m.aux = ref + 1;
    if (operation == FV_IO_OP_CLOSE)
        m.op = !said && handle ? 1 : 0;
    else if (!said && (operation == FV_IO_OP_READ || operation == FV_IO_OP_WRITE || operation == FV_IO_OP_SEEK))
        m.op = result ? 1 : 0;
    else if (operation == FV_IO_OP_SYNC || (!said && operation != FV_IO_OP_OPEN))
        m.op = result ? 1 : 2;
    if (operation == FV_IO_OP_MAP || operation == FV_IO_OP_ASYNC_READ || operation == FV_IO_OP_ASYNC_WRITE)
        m.sent = result;
    return m;
}

/* is_over: it returned. */
static void tell(struct fv_rank_replay *r, struct fv_stream *s, uint64_t path, uint64_t function, uint64_t handle,
                 uint64_t result, bool is_over)
{
    if (function == FV_IO_FN_close_range) { /* no region: a descriptor was closed by what is not recorded as a call */
        if (!result)
            close_all(r, s, handle);
        return;
    }
    uint32_t region = fv_numbers_get(&r->map->file_calls, function), node = fv_numbers_get(&r->map->nodes, path);
    struct fv_io_function_record room;

    if (region == FV_NONE) {
        r->stats->lost++;
        return;
    }
    fv_rank_put(r, s,
                &(struct fv_record){
                    .kind = FV_REC_LIBRARY_ENTER, .ref = region, .context = node == FV_NONE ? 0 : node, .id = s->end },
                s->begin);
    const struct fv_io_function_words words = fv_io_function_in(r->reader, function, &room);
    bool said = tell_operation(r, s, &words, handle, result);
    struct fv_record end = leaving(r, region, &words, handle, result, said);
    end.op = is_over ? end.op : 0;
    fv_rank_put(r, s, &end, s->end);
}

static void set_times(struct fv_rank_replay *r, struct fv_stream *s)
{
    s->begin = fv_rank_time(r, s, s->item.begin);
    s->begin = s->begin > s->now ? s->begin : s->now;
    s->end = s->until > s->begin ? s->until : s->begin;
}

/* A call of the allocator. */
void fv_memory_tell(struct fv_rank_replay *r, struct fv_stream *s)
{
    const uint64_t *f = s->item.field;
    uint32_t region = fv_numbers_get(&r->map->memory_calls, f[3]), node = fv_numbers_get(&r->map->nodes, f[2]);

    if (region == FV_NONE) {
        r->stats->lost++;
        return;
    }
    set_times(r, s);
    struct fv_record record = { .kind = FV_REC_LIBRARY_ENTER,
                                .ref = region,
                                .context = node == FV_NONE ? 0 : node,
                                .id = s->end,
                                .sent = f[4],
                                .received = f[5] };
    fv_rank_put(r, s, &record, s->begin);
    fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_LIBRARY_LEAVE, .ref = region }, s->end);
}

void fv_files_tell(struct fv_rank_replay *r, struct fv_stream *s)
{
    const uint64_t *f = s->item.field;

    set_times(r, s);
    tell(r, s, f[2], f[3], f[4], f[5], true);
}

/* A thread that was in such a call when its process ended. */
void fv_files_tell_open(struct fv_rank_replay *r, struct fv_stream *s, uint64_t end)
{
    struct fv_cursor c = fv_cursor(r->reader, FV_CHUNK_IO_THREAD);
    struct fv_io_thread now = { 0 }, t;

    for (const void *p; r->is_open && (p = fv_cursor_next(&c));)
        if (c.thread == s->thread) {
            memcpy(&t, p, sizeof(t));
            now = t;
        }
    uint64_t begin = now.begin ? fv_rank_time(r, s, now.begin) : 0;
    if (!now.begin || begin < s->now) /* it has left it by a jump */
        return;
    s->begin = begin;
    s->end = end > begin ? end : begin;
    tell(r, s, now.path, now.function, 0, 0, false);
}

void fv_files_release(struct fv_rank_replay *r)
{
    free(r->open_handles);
}
