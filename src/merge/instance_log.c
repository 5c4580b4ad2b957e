/* SPDX-License-Identifier: BSD-3-Clause */
/* See instance_log.h. */
#include "merge/instance_log.h"
#include "experiment/chunks.h"

#include <stdlib.h>
#include <string.h>

#define PIECE 4096u /* records */

struct piece {
    const struct fv_chunk *chunk;
    const uint8_t *records;
    uint64_t first; /* number of the first record in the log */
    uint32_t count;
    size_t saved; /* where its stack ends in `saved`; it begins where the one of the next piece ends */
};

struct item {
    struct fv_logged_instance r;
    uint64_t number; /* in the log */
};

struct stack {
    struct item *items;
    size_t count, room;
};

/* Counts of events: the record of this number stands beside the instance of the same number. */
struct counts {
    const uint8_t *records;
    uint64_t first, count;
};

struct fv_instance_log {
    const struct fv_reader *reader;
    const uint32_t *entries; /* by context */
    uint32_t entry_count;
    struct fv_instance_stats found; /* in the first pass; the second finds the same again */
    struct piece *pieces;
    size_t piece_count, piece_room, next_piece;
    struct stack saved;    /* of all pieces, the last one's first */
    struct stack open;     /* each is in the one before */
    struct stack begun;    /* what left it in this piece, by falling begins */
    struct counts *counts; /* by their first numbers */
    size_t counts_count;
};

/* Ticks may wrap. */
static bool is_before(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0;
}

static void push(struct stack *s, const struct item *item)
{
    FV_GROW(s->items, s->room, s->count + 1);
    s->items[s->count++] = *item;
}

static struct fv_logged_instance record_of(const struct piece *p, uint32_t number)
{
    struct fv_logged_instance r;

    memcpy(&r, p->records + (size_t)number * sizeof(r), sizeof(r));
    return r;
}

/* ---- the order of the log ---- */

/* Those that do not begin before `end` are complete. */
static void begin_until(struct fv_instance_log *log, uint64_t end)
{
    struct stack *s = &log->open;

    while (s->count && !is_before(s->items[s->count - 1].r.begin, end))
        push(&log->begun, &s->items[--s->count]);
}

/* Is it in order? `previous` is the end of the record before it in the file: where that is later, it is this
 * one that stands out, and the others are not measured by it. */
static bool is_good(struct fv_instance_log *log, struct fv_logged_instance *r, uint64_t previous)
{
    const struct stack *s = &log->open;

    if (is_before(r->end, r->begin) || is_before(r->end, previous) ||
        (s->count && is_before(s->items[s->count - 1].r.end, r->end))) {
        log->found.damaged++;
        return false;
    }
    r->context = r->context < log->entry_count ? log->entries[r->context] : FV_NONE;
    log->found.no_context += r->context == FV_NONE;
    return r->context != FV_NONE;
}

/* In the innermost that is open. Of those that end together the log may have the outer ones first. */
static void open_one(struct fv_instance_log *log, const struct item *item)
{
    struct stack *s = &log->open;
    size_t at = s->count;

    while (at && s->items[at - 1].r.end == item->r.end && is_before(item->r.begin, s->items[at - 1].r.begin))
        at--;
    if (at && is_before(item->r.begin, s->items[at - 1].r.begin)) {
        log->found.crossed++;
        return;
    }
    push(s, item);
    memmove(s->items + at + 1, s->items + at, (s->count - 1 - at) * sizeof(*item));
    s->items[at] = *item;
}

static uint64_t end_before(const struct fv_instance_log *log, size_t piece, uint32_t number,
                           const struct fv_logged_instance *r)
{
    const struct piece *p = &log->pieces[piece];

    if (number)
        return record_of(p, number - 1).end;
    return piece ? record_of(p - 1, p[-1].count - 1).end : r->end;
}

static void read_piece(struct fv_instance_log *log, size_t piece)
{
    const struct piece *p = &log->pieces[piece];

    for (uint32_t i = p->count; i-- > 0;) {
        struct item item = { record_of(p, i), p->first + i };

        if (!is_good(log, &item.r, end_before(log, piece, i, &item.r)))
            continue;
        begin_until(log, item.r.end);
        open_one(log, &item);
    }
}

/* From one piece to the next: its chunk is not needed soon, unless the other is of it as well. */
static void forget(const struct fv_instance_log *log, size_t piece, size_t next)
{
    const struct fv_chunk *chunk = log->pieces[piece].chunk;

    if (next >= log->piece_count || log->pieces[next].chunk != chunk)
        fv_reader_forget(log->reader, chunk);
}

static void first_pass(struct fv_instance_log *log)
{
    for (size_t i = log->piece_count; i-- > 0;) {
        for (size_t k = 0; k < log->open.count; k++)
            push(&log->saved, &log->open.items[k]);
        log->pieces[i].saved = log->saved.count;
        read_piece(log, i);
        forget(log, i, i - 1);
        log->begun.count = 0;
    }
    log->open.count = 0;
}

static void second_pass(struct fv_instance_log *log)
{
    size_t piece = log->next_piece++;
    size_t from = piece + 1 < log->piece_count ? log->pieces[piece + 1].saved : 0;

    log->open.count = 0;
    for (size_t i = from; i < log->pieces[piece].saved; i++)
        push(&log->open, &log->saved.items[i]);
    read_piece(log, piece);
    forget(log, piece, log->next_piece);
    while (!piece && log->open.count)
        push(&log->begun, &log->open.items[--log->open.count]);
}

static void find_counts(const struct fv_instance_log *log, uint64_t number, struct fv_logged_events *out)
{
    size_t low = 0, high = log->counts_count; /* the last one that begins until then is before `low` */

    memset(out, 0xff, sizeof(*out)); /* FV_COUNT_UNKNOWN */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (log->counts[middle].first <= number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && number - log->counts[low - 1].first < log->counts[low - 1].count)
        memcpy(out, log->counts[low - 1].records + (number - log->counts[low - 1].first) * sizeof(*out), sizeof(*out));
}

bool fv_instance_log_next(struct fv_instance_log *log, struct fv_logged_instance *out, struct fv_logged_events *counts)
{
    while (!log->begun.count && log->next_piece < log->piece_count)
        second_pass(log);
    if (!log->begun.count)
        return false;
    const struct item *item = &log->begun.items[--log->begun.count];
    *out = item->r;
    find_counts(log, item->number, counts);
    return true;
}

/* ---- pieces ---- */

static bool is_log(const struct fv_chunk *chunk)
{
    return chunk->type == FV_CHUNK_INSTANCE_LOG && chunk->used;
}

static void add_pieces(struct fv_instance_log *log, const struct fv_chunk *chunk)
{
    size_t count;
    struct fv_cursor c = fv_cursor_chunk(log->reader, (size_t)(chunk - fv_reader_chunks(log->reader, &count)));
    const uint8_t *records = fv_cursor_next(&c);

    count = chunk->used / sizeof(struct fv_logged_instance);
    for (size_t i = 0; records && i < count; i += PIECE) {
        FV_GROW(log->pieces, log->piece_room, log->piece_count + 1);
        log->pieces[log->piece_count++] = (struct piece){ .chunk = chunk,
                                                          .records = records + i * sizeof(struct fv_logged_instance),
                                                          .first = chunk->first + i,
                                                          .count = (uint32_t)(count - i < PIECE ? count - i : PIECE) };
    }
}

static void find_pieces(struct fv_instance_log *log, uint32_t thread)
{
    size_t count;
    const struct fv_chunk **chunks = fv_thread_chunks(log->reader, thread, is_log, &count);
    uint64_t next = 0;

    for (size_t i = 0; i < count; i++) {
        if (chunks[i]->first > next) /* a damaged part of the file */
            log->found.damaged += chunks[i]->first - next;
        next = chunks[i]->first + chunks[i]->used / sizeof(struct fv_logged_instance);
        add_pieces(log, chunks[i]);
    }
    free(chunks);
}

static bool has_counts(const struct fv_chunk *chunk)
{
    return chunk->type == FV_CHUNK_LOGGED_EVENTS && chunk->used;
}

static void find_all_counts(struct fv_instance_log *log, uint32_t thread)
{
    size_t count, all;
    const struct fv_chunk **chunks = fv_thread_chunks(log->reader, thread, has_counts, &count);

    log->counts = fv_xcalloc(count + 1, sizeof(*log->counts));
    for (size_t i = 0; i < count; i++) {
        struct fv_cursor c = fv_cursor_chunk(log->reader, (size_t)(chunks[i] - fv_reader_chunks(log->reader, &all)));
        const uint8_t *records = fv_cursor_next(&c);

        if (records)
            log->counts[log->counts_count++] =
                (struct counts){ records, chunks[i]->first, chunks[i]->used / sizeof(struct fv_logged_events) };
    }
    free(chunks);
}

struct fv_instance_log *fv_instance_log_open(const struct fv_reader *reader, const struct fv_def_map *map,
                                             uint32_t thread, struct fv_instance_stats *stats)
{
    const struct fv_def_sampled *sampled = fv_def_map_sampled(map, thread);
    struct fv_instance_log *log;

    if (!sampled)
        return NULL;
    log = fv_xcalloc(1, sizeof(*log));
    *log = (struct fv_instance_log){ .reader = reader,
                                     .entries = map->entries + sampled->first,
                                     .entry_count = sampled->count };
    find_pieces(log, thread);
    find_all_counts(log, thread);
    if (!log->piece_count) {
        fv_instance_log_free(log);
        return NULL;
    }
    first_pass(log);
    stats->no_context += log->found.no_context;
    stats->crossed += log->found.crossed;
    stats->damaged += log->found.damaged;
    return log;
}

void fv_instance_log_free(struct fv_instance_log *log)
{
    if (!log)
        return;
    free(log->pieces);
    free(log->counts);
    free(log->saved.items);
    free(log->open.items);
    free(log->begun.items);
    free(log);
}
