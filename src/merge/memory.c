/* SPDX-License-Identifier: BSD-3-Clause */
/* See memory.h. */
#include "merge/memory.h"
#include "merge/calls.h"
#include "merge/defs_add.h"
#include "trace/format_words.h"

#include <string.h>

struct replay {
    struct fv_sink *sink;
    struct fv_location_stats *location;
    const struct fv_clock_line *line;
    uint64_t end_ticks;
    uint32_t rank, piece;
};

static const struct fv_memory_series *series_of(const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_MEMORY_SERIES);
    const struct fv_memory_series *s = fv_cursor_next(&c);

    return s && s->active <= 1 && s->bank[s->active].width ? s : NULL;
}

bool fv_memory_is_in(const struct fv_reader *reader)
{
    return series_of(reader) != NULL;
}

/* No later than the rank's last event. */
static bool put(struct replay *r, uint64_t ticks, int64_t bytes)
{
    int64_t ns = fv_clock_ns(r->line, ticks < r->end_ticks ? ticks : r->end_ticks, &r->piece);
    uint64_t time_ns = ns > 0 ? (uint64_t)ns : 0;

    time_ns = time_ns > r->location->last_ns ? time_ns : r->location->last_ns;
    r->location->first_ns = r->location->records++ ? r->location->first_ns : time_ns;
    r->location->last_ns = time_ns;
    return r->sink->put(
        r->sink, 0,
        &(struct fv_record){
            .kind = FV_REC_MEMORY, .ref = r->rank, .sent = bytes > 0 ? (uint64_t)bytes : 0, .time_ns = time_ns });
}

bool fv_memory_replay(const struct fv_defs *d, const struct fv_clocks *clocks, uint32_t rank,
                      const struct fv_reader *reader, struct fv_sink *sink, struct fv_location_stats *location)
{
    const struct fv_memory_series *s = series_of(reader);
    const struct fv_memory_bank *bank = s ? &s->bank[s->active] : NULL;
    struct replay r = { sink, location, &clocks->lines[clocks->of_rank[rank]], d->ranks[rank].last_ticks, rank, 0 };

    *location = (struct fv_location_stats){ .location = fv_memory_location(&d->ranks[rank]) };
    bool good = sink->open(sink, 0, location->location);
    for (uint64_t i = 0; i < FV_MEMORY_BINS && bank && good && bank->origin + i * bank->width < r.end_ticks; i++) {
        const struct fv_memory_bin *bin = &bank->bin[i];

        if (bin->changes)
            good = put(&r, bank->origin + i * bank->width, bin->most) &&
                   put(&r, bank->origin + (i + 1) * bank->width, bin->last);
    }
    return sink->close(sink, 0) && good;
}

/* ---- calls ---- */

static bool has_calls(const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_MEMORY_PROCESS);
    const struct fv_memory_process *p = fv_cursor_next(&c);

    return fv_reader_header(reader)->traced && p && p->flags & FV_MEMORY_IN_TRACE;
}

void fv_memory_used(const struct fv_reader *reader, void (*mark)(void *, uint32_t), void *context)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_MEMORY_SITES);
    struct fv_memory_site s;

    for (const void *p; has_calls(reader) && (p = fv_cursor_next(&c));) {
        memcpy(&s, p, sizeof(s));
        mark(context, s.path);
    }
}

/* What the threads called, as bits, and what of it is not in the trace. */
static uint64_t called(const struct fv_reader *reader, uint64_t *lost)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_MEMORY_SUMS);
    struct fv_memory_sums sums;
    uint64_t functions = 0;

    for (const void *p; has_calls(reader) && (p = fv_cursor_next(&c));) {
        memcpy(&sums, p, sizeof(sums));
        functions |= sums.functions;
        *lost += sums.untraced;
    }
    return functions;
}

void fv_memory_define(struct fv_defs *d, const struct fv_reader *reader, struct fv_def_map *map)
{
    uint64_t lost = 0, functions = called(reader, &lost);

    for (unsigned i = 0; i < FV_MEMORY_FUNCTIONS; i++)
        if (functions >> i & 1)
            fv_numbers_set(&map->memory_calls, i, fv_defs_function(d, fv_memory_function_name(i), FV_CLASS_OF_MEMORY));
}

uint64_t fv_memory_lost(const struct fv_reader *reader)
{
    uint64_t lost = 0;

    called(reader, &lost);
    return lost;
}
