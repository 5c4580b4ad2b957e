/* SPDX-License-Identifier: BSD-3-Clause */
/* See call_waits.h. The n-th call of a thread is the same in both: clocks may differ, durations and names do not. */
#include "cmd/call_waits.h"
#include "cmd/timelines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE  (1u << 18) /* slices in memory, about */
#define STEPS    4096u
#define ROUND_NS 1000 /* that rounding changes of a duration, and clocks of several hosts of a ns: */
#define DRIFT    1e-3
#define TRACE    (UINT64_C(256) << 20) /* bytes of the largest whose timeline is made for this */

struct joining {
    const struct fv_model *model;
    const struct fv_timeline_file *timeline;
    const struct fv_trace_call *calls; /* of a thread */
    struct fv_call_wait *out;          /* likewise */
    size_t count, at;
    uint64_t number; /* of the timeline's next call */
};

static bool is_call(const struct fv_timeline_file *t, const struct fv_timeline_seen *s)
{
    return !s->is_sampled && t->regions[s->region].class != FV_TIMELINE_FUNCTION &&
           !strncmp(fv_timeline_text(t, t->regions[s->region].name), "MPI_", strlen("MPI_"));
}

static bool is_same(const struct joining *j, const struct fv_trace_call *call, const struct fv_timeline_seen *s)
{
    const struct fv_model *m = j->model;

    return fabs(call->duration_s * 1e9 - (double)s->ns) <= ROUND_NS + DRIFT * (double)s->ns &&
           (call->site == FV_NONE || !strcmp(m->functions[m->sites[call->site].function].name,
                                             fv_timeline_text(j->timeline, j->timeline->regions[s->region].name)));
}

/* False: it is another call. */
static bool take(struct joining *j, const struct fv_timeline_seen *s)
{
    if (!is_call(j->timeline, s) || j->at == j->count || j->calls[j->at].number != j->number++)
        return true;
    if (!is_same(j, &j->calls[j->at], s))
        return false;
    struct fv_call_wait *w = &j->out[j->at++];

    const struct fv_timeline_row *cause = s->cause == FV_TIMELINE_NONE ? NULL : &j->timeline->rows[s->cause];

    if (s->wait_ns)
        *w =
            (struct fv_call_wait){ (double)s->wait_ns / 1e9, cause ? cause->rank : FV_NONE, cause ? cause->thread : 0 };
    return true;
}

/* Slices by begin, some at a time: each belongs to the stretch that it begins in. */
static bool join_row(struct joining *j, uint32_t row, struct fv_timeline_gathering *g)
{
    const struct fv_timeline_row *r = &j->timeline->rows[row];
    const uint64_t steps = r->slices / AT_ONCE < STEPS ? r->slices / AT_ONCE + 1 : STEPS, wide = r->end_ns / steps + 1;
    bool good = !r->left_out;

    for (uint64_t from = 0; good && j->at < j->count && from <= r->end_ns; from += wide) {
        /* what begins there without a length has no part of the stretch */
        fv_timeline_gather(j->timeline, row, from ? from - 1 : 0, from + wide, g);
        for (size_t i = 0; good && i < g->count; i++)
            good = g->items[i].begin_ns < from || take(j, &g->items[i]);
    }
    return good && j->at == j->count;
}

/* near: it is looked for from there on first. */
static uint32_t row_of(const struct fv_timeline_file *t, int64_t rank, uint32_t thread, uint32_t near)
{
    const uint32_t count = (uint32_t)t->header->rows.count;

    for (uint32_t i = 0; i < count; i++) {
        const struct fv_timeline_row *row = &t->rows[(near + i) % count];

        if (row->rank == rank && row->thread == thread && !row->name)
            return (near + i) % count;
    }
    return FV_TIMELINE_NONE;
}

static struct fv_call_wait *join(const struct fv_model *m, const struct fv_timeline_file *t)
{
    const struct fv_trace_excerpt *x = &m->excerpt;
    struct fv_call_wait *out = fv_xcalloc(x->call_count + 1, sizeof(*out));
    struct fv_timeline_gathering g = { .has_all = true };
    uint32_t row = 0;
    bool good = true;

    for (size_t i = 0, end; good && i < x->call_count; i = end) {
        for (end = i; end < x->call_count && x->calls[end].rank == x->calls[i].rank &&
                      x->calls[end].thread == x->calls[i].thread;)
            end++;
        struct joining j = { m, t, &x->calls[i], &out[i], end - i, 0, 0 };

        row = row_of(t, m->ranks[x->calls[i].rank].world_rank, x->calls[i].thread, row);
        good = row != FV_TIMELINE_NONE && join_row(&j, row, &g);
    }
    free(g.items);
    if (good)
        return out;
    free(out);
    return NULL;
}

struct fv_call_wait *fv_call_waits_of(const struct fv_model *m, const char *directory)
{
    struct fv_timeline_file timeline;
    struct fv_call_wait *waits;

    if (!fv_is_analysed(m) || !m->excerpt.call_count || !fv_trace_timeline_once(directory, TRACE, &timeline))
        return NULL;
    waits = join(m, &timeline);
    fv_timeline_close(&timeline);
    return waits;
}
