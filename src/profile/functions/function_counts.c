/* SPDX-License-Identifier: BSD-3-Clause */
/* See function_counts.h. */
#include "profile/functions/function_counts.h"
#include "experiment/chunks.h"

#include <stdlib.h>
#include <string.h>

/* Names of events are the run's, whatever their order in a file. */
static uint32_t event_named(struct fv_instrumentation *out, const char *name)
{
    uint32_t i = 0;

    while (i < out->event_count && strncmp(out->events[i].name, name, sizeof(out->events[i].name)) != 0)
        i++;
    if (i < out->event_count)
        return i;
    FV_GROW(out->events, out->event_room, out->event_count + 1);
    memcpy(out->events[i].name, name, sizeof(out->events[i].name));
    out->events[i].name[sizeof(out->events[i].name) - 1] = '\0';
    return (uint32_t)out->event_count++;
}

static uint32_t event_of(struct fv_instrumentation *out, struct fv_reader *reader, uint32_t number)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_FUNCTION_EVENTS);
    struct fv_function_event e;
    uint32_t i = 0;

    for (const void *p; (p = fv_cursor_next(&c)); i++) {
        memcpy(&e, p, sizeof(e));
        if (i == number)
            return *e.name ? event_named(out, e.name) : FV_NONE;
    }
    return FV_NONE;
}

static bool is_of_counts(const struct fv_chunk *chunk)
{
    return chunk->type == FV_CHUNK_FUNCTION_COUNTS;
}

void fv_function_counts_read(struct fv_instrumentation *out, struct fv_reader *reader, uint32_t rank, uint32_t thread,
                             const uint32_t *functions, size_t count)
{
    size_t chunk_count, all_count;
    const struct fv_chunk **chunks = fv_thread_chunks(reader, thread, is_of_counts, &chunk_count),
                          *all = fv_reader_chunks(reader, &all_count);
    struct fv_function_counts n;

    for (size_t i = 0; i < chunk_count; i++) {
        struct fv_cursor c = fv_cursor_chunk(reader, (size_t)(chunks[i] - all));

        for (const void *p; (p = fv_cursor_next(&c));) {
            memcpy(&n, p, sizeof(n));
            if (!n.function || n.function > count || functions[n.function - 1] == FV_NONE)
                continue;
            const uint32_t event = event_of(out, reader, n.event);
            if (event == FV_NONE)
                continue;
            FV_GROW(out->rank_counts, out->rank_count_room, out->rank_count_count + 1);
            out->rank_counts[out->rank_count_count++] =
                (struct fv_function_count){ .function = functions[n.function - 1],
                                            .event = event,
                                            .rank = rank,
                                            .count = n.count,
                                            .calls = n.calls,
                                            .self = n.self,
                                            .mpi_self = n.mpi_self,
                                            .has_self = !(n.flags & FV_COUNTS_NO_SELF),
                                            .has_mpi = !(n.flags & (FV_COUNTS_NO_SELF | FV_COUNTS_NO_MPI)) };
        }
    }
    free(chunks);
}

/* ---- over the ranks ---- */

static int by_event(const void *a, const void *b)
{
    const struct fv_function_count *x = a, *y = b;

    return x->function != y->function ? (x->function > y->function) - (x->function < y->function)
                                      : (x->event > y->event) - (x->event < y->event);
}

static int by_rank(const void *a, const void *b)
{
    const struct fv_function_count *x = a, *y = b;
    const int order = by_event(a, b);

    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static void add(void *to, const void *from)
{
    struct fv_function_count *x = to;
    const struct fv_function_count *y = from;

    x->count += y->count;
    x->calls += y->calls;
    x->self += y->self;
    x->mpi_self += y->mpi_self;
    x->has_self = x->has_self && y->has_self;
    x->has_mpi = x->has_mpi && y->has_mpi;
}

static uint64_t own(const struct fv_function_count *c)
{
    return c->has_self ? c->self : c->count;
}

void fv_function_counts_finish(struct fv_instrumentation *out, const uint32_t *now)
{
    struct fv_function_count *all;

    for (size_t i = 0; i < out->rank_count_count; i++)
        out->rank_counts[i].function = now[out->rank_counts[i].function];
    out->rank_count_count = fv_fold(out->rank_counts, out->rank_count_count, sizeof(*out->rank_counts), by_rank, add);
    all = fv_xcalloc(out->rank_count_count + 1, sizeof(*all));
    for (size_t i = 0; i < out->rank_count_count; i++) {
        const struct fv_function_count *r = &out->rank_counts[i];
        struct fv_function_count *c = out->count_count ? &all[out->count_count - 1] : NULL;

        if (c && !by_event(c, r)) {
            add(c, r);
        } else {
            c = &all[out->count_count++];
            *c = *r;
            c->rank = FV_NONE;
            c->rank_max = 0;
            c->max_rank = FV_NONE;
        }
        if (c->max_rank == FV_NONE || own(r) > c->rank_max) {
            c->max_rank = r->rank;
            c->rank_max = own(r);
        }
    }
    out->counts = all;
}
