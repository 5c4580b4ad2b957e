/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread records along time, at constant cost: time bins that double their width, and the log of
 * collective calls that is thinned by sequence number when it is full. */
#include "rt/statistics.h"
#include "rt/counters.h"
#include "rt/usage.h"
#include "trace/bins.h"

#include <string.h>

#define FIRST_SHIFT 21 /* about a millisecond */

/* ---- time bins ---- */

/* All of them are 0, and stay untouched until they are used: a thread of few calls has memory for one or two pages
 * of them. So one that begins late has no narrow bins to fold. */
static void begin_bins(struct fv_thread *t)
{
    uint64_t begin = fv_rt.writer.header->begin_ticks, since = fv_ticks() - begin;

    t->bin_shift = FIRST_SHIFT;
    while (since >> t->bin_shift >= FV_BINS)
        t->bin_shift++;
    t->bin_end = 0;
    t->bins->bank.origin = begin;
    t->bins->bank.width = UINT64_C(1) << t->bin_shift;
}

void fv_bins_init(struct fv_thread *t)
{
    struct fv_chunk_header *chunk =
        fv_writer_chunk(&fv_rt.writer, FV_CHUNK_TIME_BINS, t->id, 0, sizeof(struct fv_time_bins));

    if (!chunk)
        return;
    t->bins = fv_chunk_records(chunk);
    begin_bins(t);
    fv_chunk_commit(chunk, sizeof(struct fv_time_bins));
}

static FV_COLD void fold(struct fv_thread *t)
{
    fv_bins_fold_begin(t->bins);
    for (unsigned i = 0; i < FV_BINS / 2; i++)
        fv_bins_fold_pair(t->bins, i);
    fv_bins_fold_end(t->bins);
    t->bin_shift++;
    if (t->id == 0) { /* the run is twice as long as when this was done last */
        fv_clock_point(&fv_rt.writer.header->last);
        fv_usage_update();
        fv_usage_read_ready(&fv_rt.writer.header->process_last);
    }
}

void fv_bins_clear(struct fv_thread *t)
{
    if (!t->bins)
        return;
    memset(t->bins, 0, sizeof(*t->bins));
    begin_bins(t);
}

/* The bin that a call ended in is the next one's, most likely. */
static void remember_bin(struct fv_thread *t, struct fv_bin_bank *bank, uint64_t end)
{
    uint64_t bin = (end - bank->origin) >> t->bin_shift;

    t->bin = bank->ticks[bin];
    t->bin_begin = bank->origin + (bin << t->bin_shift);
    t->bin_end = t->bin_begin + (UINT64_C(1) << t->bin_shift);
}

FV_COLD void fv_bins_add_across(struct fv_thread *t, unsigned class, uint64_t begin, uint64_t end)
{
    if (!t->bins)
        return;
    struct fv_bin_bank *bank = &t->bins->bank;

    if (begin < bank->origin)
        begin = bank->origin;
    if (end < begin)
        return;
    while ((end - bank->origin) >> t->bin_shift >= FV_BINS)
        fold(t);
    remember_bin(t, bank, end);
    if (FV_UNLIKELY(t->counters != NULL))
        fv_counters_go_on(t);
    while (begin < end) {
        uint64_t bin = (begin - bank->origin) >> t->bin_shift;
        uint64_t stop = bank->origin + ((bin + 1) << t->bin_shift);

        if (stop > end)
            stop = end;
        /* In one access: who reads a page of the file first has its neighbours mapped, too. */
        __atomic_fetch_add(&bank->ticks[bin][class], stop - begin, __ATOMIC_RELAXED);
        begin = stop;
    }
}

/* ---- the log of collective calls ---- */

#define WHOLE 4 /* one in so many of its bytes is not thinned */

static size_t capacity(const struct fv_chunk_header *chunk)
{
    return (fv_chunk_room(chunk) + chunk->used) / sizeof(struct fv_coll_record);
}

/* Chunks of the first quarter, which is not thinned: what repeats in a long run is found in it. 0: there are no others,
 * as the disk is full. */
static unsigned whole_chunks(const struct fv_wait_log *log)
{
    uint64_t bytes = 0;
    unsigned count = 0;

    while (count < log->chunks && (bytes += log->chunk[count]->bytes) <= fv_rt.options.collectives_max / WHOLE)
        count++;
    return count < log->chunks ? count : 0;
}

/* Keeps the calls whose sequence number is a multiple of 2^shift; all ranks that thin as far keep the
 * same ones. Records move down before `used` shrinks: a kill in between leaves duplicates, never gaps. */
static uint64_t keep_multiples(struct fv_wait_log *log)
{
    uint32_t below = (UINT32_C(1) << log->shift) - 1;
    unsigned to = whole_chunks(log);
    const unsigned first = to;
    size_t at = 0, count[FV_WAIT_LOG_CHUNKS] = { 0 };
    uint64_t gone = 0;

    for (unsigned from = first; from < log->chunks; from++) {
        const struct fv_coll_record *records = fv_chunk_records(log->chunk[from]);

        for (size_t i = 0; i < log->chunk[from]->used / sizeof(*records); i++) {
            if (records[i].sequence & below) {
                gone++;
                continue;
            }
            if (at == capacity(log->chunk[to]))
                to++, at = 0;
            ((struct fv_coll_record *)fv_chunk_records(log->chunk[to]))[at++] = records[i];
            count[to] = at;
        }
    }
    for (unsigned i = first; i < log->chunks; i++)
        __atomic_store_n(&log->chunk[i]->used, count[i] * sizeof(struct fv_coll_record), __ATOMIC_RELEASE);
    log->current = to;
    return gone;
}

static FV_COLD void thin(struct fv_wait_log *log)
{
    struct fv_file_header *header = fv_rt.writer.header;
    uint64_t gone = 0;

    while (!gone && log->shift < FV_WAIT_LOG_SHIFT_MAX) {
        log->shift++;
        gone = keep_multiples(log);
    }
    __atomic_fetch_add(&header->dropped[FV_DROP_COLLECTIVES], gone, __ATOMIC_RELAXED);
    if (log->shift > header->coll_shift_ceiling)
        header->coll_shift_ceiling = log->shift;
}

/* The next chunk: one that thinning emptied, else a new one of twice the size, within the budget. */
static FV_COLD struct fv_chunk_header *next_chunk(struct fv_thread *t)
{
    struct fv_wait_log *log = &t->log;
    uint64_t bytes = log->chunks ? log->chunk[log->chunks - 1]->bytes * 2 : FV_PAGE / 4;
    struct fv_chunk_header *chunk;

    if (log->chunks && log->current + 1 < log->chunks)
        return log->chunk[++log->current];
    if (log->chunks == FV_WAIT_LOG_CHUNKS || log->bytes + bytes > fv_rt.options.collectives_max)
        return NULL;
    chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_COLLECTIVES, t->id, 0, bytes - sizeof(*chunk));
    if (!chunk)
        return NULL;
    log->bytes += bytes;
    log->current = log->chunks;
    log->chunk[log->chunks++] = chunk;
    return chunk;
}

static FV_COLD struct fv_chunk_header *make_room(struct fv_thread *t)
{
    struct fv_chunk_header *chunk = next_chunk(t);

    if (chunk || !t->log.chunks)
        return chunk;
    thin(&t->log);
    chunk = t->log.chunk[t->log.current];
    return fv_chunk_room(chunk) < sizeof(struct fv_coll_record) ? next_chunk(t) : chunk;
}

void fv_wait_log_clear(struct fv_wait_log *log)
{
    for (unsigned i = 0; i < log->chunks; i++)
        __atomic_store_n(&log->chunk[i]->used, 0, __ATOMIC_RELEASE);
    log->current = 0;
}

void fv_wait_log_add(struct fv_thread *t, const struct fv_coll_record *record)
{
    struct fv_wait_log *log = &t->log;
    struct fv_chunk_header *chunk = log->chunks ? log->chunk[log->current] : NULL;

    if (FV_UNLIKELY(!chunk || !fv_chunk_fits(chunk, sizeof(*record))))
        chunk = make_room(t);
    if (!chunk || record->sequence & ((UINT32_C(1) << log->shift) - 1)) {
        fv_dropped(FV_DROP_COLLECTIVES);
        return;
    }
    memcpy(fv_chunk_next(chunk), record, sizeof(*record));
    fv_chunk_commit(chunk, sizeof(*record));
}
