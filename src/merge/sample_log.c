/* SPDX-License-Identifier: BSD-3-Clause */
/* See sample_log.h. */
#include "merge/sample_log.h"
#include "experiment/chunks.h"

#include <stdlib.h>
#include <string.h>

/* None that is empty: room that was made ahead. */
static bool is_log(const struct fv_chunk *chunk)
{
    return chunk->type == FV_CHUNK_SAMPLE_LOG && chunk->used;
}

static void begin_chunk(struct fv_logged_samples *log)
{
    const struct fv_chunk *chunk = log->chunks[log->next++];
    size_t count;

    if (chunk->first > log->records) /* a damaged part of the file */
        log->damaged += chunk->first - log->records;
    log->records = chunk->first + chunk->used / sizeof(struct fv_logged_sample);
    log->cursor = fv_cursor_chunk(log->reader, (size_t)(chunk - fv_reader_chunks(log->reader, &count)));
}

void fv_logged_samples_open(struct fv_logged_samples *log, const struct fv_reader *reader, const struct fv_def_map *map,
                            const struct fv_def_rank *rank, uint32_t thread)
{
    uint64_t alive = fv_reader_header(reader)->alive_ticks;

    *log =
        (struct fv_logged_samples){ .reader = reader,
                                    .sampled = fv_def_map_sampled(map, thread),
                                    .ticks = rank->first_ticks,
                                    .last_ticks =
                                        alive && (int64_t)(alive - rank->last_ticks) > 0 ? alive : rank->last_ticks };
    if (log->sampled)
        log->chunks = fv_thread_chunks(reader, thread, is_log, &log->count);
    if (log->count)
        begin_chunk(log);
}

/* What is out of order is damaged, and what is of a call path that is not there. */
static bool is_good(struct fv_logged_samples *log, const struct fv_logged_sample *r)
{
    if (r->path == FV_NONE || (int64_t)(r->ticks - log->ticks) < 0)
        log->damaged++;
    else if ((int64_t)(r->ticks - log->last_ticks) > 0)
        log->behind++;
    else
        return true;
    return false;
}

bool fv_logged_samples_next(struct fv_logged_samples *log, struct fv_logged_sample *out)
{
    while (log->count) {
        const void *record = fv_cursor_next(&log->cursor);

        if (!record) {
            fv_reader_forget(log->reader, log->chunks[log->next - 1]);
            if (log->next == log->count)
                return false;
            begin_chunk(log);
            continue;
        }
        memcpy(out, record, sizeof(*out));
        out->path = fv_numbers_get(&log->sampled->samples, out->path);
        if (is_good(log, out)) {
            log->ticks = out->ticks;
            return true;
        }
    }
    return false;
}

void fv_logged_samples_close(struct fv_logged_samples *log)
{
    free(log->chunks);
    log->chunks = NULL;
    log->count = 0;
}
