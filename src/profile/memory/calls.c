/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the allocator by function: exact counts and sizes, and times that are estimates. */
#include "profile/memory/memory.h"
#include "trace/reader.h"

#include <math.h>
#include <string.h>

static void add_calls(struct fv_memory_calls *to, const struct fv_memory_calls *c)
{
    to->calls += c->calls;
    to->failed += c->failed;
    to->bytes += c->bytes;
    fv_memory_widen(&to->least, &to->most, c->least, c->most);
    to->longs += c->longs;
    to->long_ticks += c->long_ticks;
    to->timed += c->timed;
    to->ticks += c->ticks;
    to->squares += c->squares;
    fv_memory_widen(&to->least_ticks, &to->most_ticks, c->least_ticks, c->most_ticks);
}

static void add_sums(struct fv_memory_calls of[FV_MEMORY_FUNCTIONS], struct fv_allocation_rank *to,
                     const struct fv_memory_sums *s)
{
    for (unsigned i = 0; i < FV_MEMORY_FUNCTIONS; i++) {
        const struct fv_memory_extremes *e = &s->earlier[i];

        add_calls(&of[i], &s->of[i]);
        fv_memory_widen(&of[i].least, &of[i].most, e->least, e->most);
        fv_memory_widen(&of[i].least_ticks, &of[i].most_ticks, e->least_ticks, e->most_ticks);
    }
    to->frees += s->freed + s->of[FV_MEMORY_FN_FREE].calls;
    to->unseen += s->unseen;
    to->live = (int64_t)((uint64_t)to->live + (uint64_t)s->held);
}

#define FEW 8 /* times, which tell no error: they may be wrong by all of it */

/* Those that were drawn have the mean of all short ones, give or take its standard error; where none was, which takes
 * few of them, the long ones'. False: no time is known. */
static bool estimate(const struct fv_memory_calls *c, double tick_s, double *time_s, double *error_s)
{
    const double n = (double)c->timed,
                 mean = fv_allocation_short_mean(c->timed, (double)c->ticks, c->longs, (double)c->long_ticks),
                 squares = n > 0 ? (double)c->squares * 256 / n : 0;
    const double shorts = fmax((double)c->calls + (double)c->failed - (double)c->longs, n);

    *time_s = ((double)c->long_ticks + mean * shorts) * tick_s;
    double each = n < FEW && shorts > n ? mean : sqrt(fmax(squares - mean * mean, 0) / fmax(n - 1, 1));
    *error_s = shorts * each * tick_s;
    return n > 0 || c->longs || shorts <= 0;
}

static enum fv_allocation_call call_of(unsigned function)
{
    switch (function) {
    case FV_MEMORY_FN_MALLOC: return FV_ALLOCATION_MALLOC;
    case FV_MEMORY_FN_CALLOC: return FV_ALLOCATION_CALLOC;
    case FV_MEMORY_FN_REALLOC: return FV_ALLOCATION_REALLOC;
    default: return FV_ALLOCATION_ALIGNED;
    }
}

static void add_function(struct fv_allocations *out, const struct fv_memory_calls *c, uint32_t rank, unsigned function,
                         double tick_s)
{
    if (!c->calls && !c->failed)
        return;
    FV_GROW(out->functions, out->function_room, out->function_count + 1);
    struct fv_allocation_function *f = &out->functions[out->function_count++];
    *f = (struct fv_allocation_function){
        .rank = rank, .function = function, .calls = *c, .least_s = NAN, .most_s = NAN
    };
    if (!estimate(c, tick_s, &f->time_s, &f->error_s))
        f->time_s = f->error_s = NAN;
    if (c->least_ticks <= c->most_ticks) {
        f->least_s = (double)c->least_ticks * tick_s;
        f->most_s = (double)c->most_ticks * tick_s;
    }
}

void fv_allocation_calls_read(const struct fv_model *m, struct fv_allocations *out, const struct fv_reader *reader,
                              const struct fv_memory_sums *rest)
{
    struct fv_allocation_rank *rank = &out->ranks[out->rank_count - 1];
    const double tick_s = 1 / m->clocks[m->ranks[rank->rank].clock].hz;
    struct fv_memory_calls of[FV_MEMORY_FUNCTIONS], all = { .least = UINT64_MAX, .least_ticks = UINT64_MAX };
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_MEMORY_SUMS);
    struct fv_memory_sums s;

    for (unsigned i = 0; i < FV_MEMORY_FUNCTIONS; i++)
        of[i] = all;
    add_sums(of, rank, rest);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&s, p, sizeof(s));
        add_sums(of, rank, &s);
    }
    for (unsigned i = 0; i < FV_MEMORY_FUNCTIONS; i++) {
        add_calls(&all, &of[i]);
        add_function(out, &of[i], rank->rank, i, tick_s);
        rank->failed += of[i].failed;
        if (i == FV_MEMORY_FN_FREE)
            continue;
        rank->calls[call_of(i)] += of[i].calls;
        rank->bytes += of[i].bytes;
    }
    rank->timed = all.longs + all.timed;
    estimate(&all, tick_s, &rank->allocator_s, &rank->allocator_error_s);
}
