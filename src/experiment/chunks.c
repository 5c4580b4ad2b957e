/* SPDX-License-Identifier: BSD-3-Clause */
/* See chunks.h. */
#include "experiment/chunks.h"
#include "tool/vec.h"

#include <stdlib.h>

/* Of a thread what is first. A chunk may have been emptied when the process died. */
static int by_thread(const void *a, const void *b)
{
    const struct fv_chunk *x = *(const struct fv_chunk *const *)a, *y = *(const struct fv_chunk *const *)b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

const struct fv_chunk **fv_thread_chunks(const struct fv_reader *reader, uint32_t thread,
                                         bool (*is_wanted)(const struct fv_chunk *chunk), size_t *count)
{
    size_t all, room = 0;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &all), **out = NULL;

    *count = 0;
    for (size_t i = 0; i < all; i++) {
        if ((thread != FV_NONE && chunk[i].thread != thread) || !is_wanted(&chunk[i]))
            continue;
        out = fv_grow(out, &room, *count + 1, sizeof(*out));
        out[(*count)++] = &chunk[i];
    }
    if (*count)
        qsort(out, *count, sizeof(*out), by_thread);
    return out;
}

static bool has_an_event(const struct fv_chunk *chunk)
{
    return chunk->type == FV_CHUNK_EVENTS && chunk->used >= sizeof(struct fv_event_base);
}

uint64_t fv_ring_begin(const struct fv_reader *reader, uint64_t *lost)
{
    uint64_t latest = 0;
    size_t count = 0;

    *lost = 0;
    if (!fv_reader_header(reader)->trace_keep)
        return 0;
    const struct fv_chunk **chunks = fv_thread_chunks(reader, FV_NONE, has_an_event, &count);
    for (size_t i = 0; i < count; i++) {
        if ((i && chunks[i]->thread == chunks[i - 1]->thread) || !chunks[i]->first)
            continue;
        uint64_t begin = fv_reader_events(reader, chunks[i], NULL).begin;

        *lost += chunks[i]->first;
        if (!latest || (int64_t)(begin - latest) > 0)
            latest = begin;
    }
    free(chunks);
    return latest;
}
