/* SPDX-License-Identifier: BSD-3-Clause */
/* See calls.h. */
#include "profile/iterations/calls.h"

#include "experiment/chunks.h"
#include "trace/events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENTERED_MOST 256 /* frames at once */

struct stream {
    struct fv_build *build;
    uint32_t rank, thread;
    const struct fv_iteration_symbols *symbols;
    fv_iteration_call_fn *take;
    void *context;
    double last_s;           /* end of the call before */
    uint32_t last_node;      /* and its path */
    struct fv_numbers sites; /* of events */
};

/* ---- symbols ---- */

static void number_frames(const struct fv_model *m, struct fv_iteration_symbols *s)
{
    const uint32_t *twin = s->twins.of_node;
    size_t room = 0;

    s->count = s->sites + 1;
    s->node = NULL;
    s->of_node = fv_xcalloc(m->tree.node_count, sizeof(*s->of_node));
    memset(s->of_node, 0xff, m->tree.node_count * sizeof(*s->of_node));
    for (size_t i = 0; i < m->site_count; i++)
        for (uint32_t n = twin[m->tree.nodes[m->sites[i].node].parent]; n && s->of_node[n] == FV_NONE;
             n = twin[m->tree.nodes[n].parent]) {
            FV_GROW(s->node, room, s->count - s->sites);
            s->node[s->count - s->sites - 1] = n;
            s->of_node[n] = s->count++;
        }
}

struct fv_iteration_symbols fv_iteration_symbols(const struct fv_build *b, bool traced)
{
    const struct fv_model *m = b->model;
    struct fv_iteration_symbols s = { .sites = (uint32_t)m->site_count };

    s.twins = fv_twins(b, traced);
    s.asks = fv_xcalloc(m->site_count + 1, 1);
    for (size_t i = 0; i < m->site_count; i++)
        s.asks[i] = fv_func_asks(&m->functions[m->sites[i].function]);
    number_frames(m, &s);
    return s;
}

bool fv_iteration_symbols_part(struct fv_iteration_symbols *s, const struct fv_model *m,
                               const struct fv_twin_calls *calls)
{
    if (!fv_twins_part(&s->twins, m, calls))
        return false;
    free(s->of_node);
    free(s->node);
    number_frames(m, s);
    return true;
}

void fv_iteration_symbols_release(struct fv_iteration_symbols *s)
{
    free(s->of_node);
    free(s->node);
    free(s->asks);
    fv_twins_release(&s->twins);
    *s = (struct fv_iteration_symbols){ 0 };
}

uint32_t fv_iteration_node(const struct fv_model *m, uint32_t node, uint32_t depth)
{
    uint32_t at = node, deep = 0;

    for (uint32_t n = at; n; n = m->tree.nodes[n].parent)
        deep++;
    for (; deep > depth + 1; deep--)
        at = m->tree.nodes[at].parent;
    return at;
}

/* Frames of the path to `node` that were not on the last one, outermost first. */
static void enter(struct stream *s, uint32_t node, double at_s)
{
    const struct fv_node *nodes = s->build->model->tree.nodes;
    const uint32_t *twin = s->symbols->twins.of_node;
    uint32_t at = twin[nodes[node].parent], last = s->last_node, entered[ENTERED_MOST];
    size_t count = 0;

    while (at != last) { /* parents have smaller numbers */
        if (at < last) {
            last = twin[nodes[last].parent];
            continue;
        }
        if (count < ENTERED_MOST)
            entered[count++] = at;
        at = twin[nodes[at].parent];
    }
    while (count-- > 0)
        if (s->symbols->of_node[entered[count]] != FV_NONE)
            s->take(s->context,
                    &(struct fv_iteration_call){ s->symbols->of_node[entered[count]], FV_NONE, at_s, at_s });
    s->last_node = node;
}

/* ---- calls ---- */

static void hand_over(struct stream *s, uint32_t site, uint64_t begin, uint64_t end)
{
    const struct fv_model *m = s->build->model;

    if (site != FV_NONE && s->symbols->asks[site])
        return;
    struct fv_iteration_call call = { .symbol = site == FV_NONE ? s->symbols->sites : s->symbols->twins.of_site[site],
                                      .site = site,
                                      .begin_s = fmax(fv_build_time(m, s->rank, begin), s->last_s),
                                      .end_s = fv_build_time(m, s->rank, end) };
    call.end_s = fmax(call.begin_s, call.end_s);
    const uint32_t node = site == FV_NONE ? 0 : s->symbols->twins.of_node[m->sites[site].node];
    if (node && node != s->last_node)
        enter(s, node, isfinite(s->last_s) ? s->last_s : call.begin_s);
    s->last_s = call.end_s;
    s->take(s->context, &call);
}

static bool has_events(const struct fv_chunk *chunk)
{
    return fv_chunk_has_events(chunk);
}

static void each_traced(struct stream *s, void (*visit)(struct stream *s, const struct fv_event *call))
{
    struct fv_build_file *f = &s->build->files[s->rank];
    struct fv_unpacked_events unpacked = { 0 };
    size_t count;
    const struct fv_chunk **chunks = fv_thread_chunks(f->reader, s->thread, has_events, &count);
    struct fv_event e;

    if (count)
        fv_build_event_sites(s->build, s->rank, s->thread, &s->sites);
    for (size_t i = 0; i < count; i++) {
        if (i && chunks[i]->first == chunks[i - 1]->first) /* the same calls, compressed */
            continue;
        struct fv_event_cursor c = fv_reader_events(f->reader, chunks[i], &unpacked);

        while (fv_event_next(&c, &e))
            if (e.kind == FV_EV_CALL)
                visit(s, &e);
        fv_reader_forget(f->reader, chunks[i]);
    }
    free(chunks);
    fv_unpacked_events_release(&unpacked);
    fv_numbers_release(&s->sites);
}

static void hand_over_traced(struct stream *s, const struct fv_event *e)
{
    hand_over(s, fv_numbers_get(&s->sites, e->field[0]), e->begin, e->end);
}

struct within {
    const double *times_s;
    size_t count, at; /* at: the first that is not before the present call */
    bool *within;
};

static void mark_within(struct stream *s, const struct fv_event *e)
{
    struct within *w = s->context;
    const double begin_s = fv_build_time(s->build->model, s->rank, e->begin),
                 end_s = fv_build_time(s->build->model, s->rank, e->end);

    while (w->at < w->count && w->times_s[w->at] < begin_s)
        w->at++;
    for (; w->at < w->count && w->times_s[w->at] < end_s; w->at++)
        w->within[w->at] = true;
}

/* Behind the first ones, the log has multiples of 2^thinned alone. */
uint64_t fv_iteration_logged(const struct fv_build *b, uint32_t rank)
{
    const uint32_t thinned = b->model->ranks[rank].thinned, thread = fv_iteration_thread(b->model, rank);
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_COLLECTIVES);
    uint64_t count = 0, whole = 0;
    struct fv_coll_record r;

    if (!thinned)
        return UINT64_MAX;
    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.thread != thread)
            continue;
        memcpy(&r, p, sizeof(r));
        count++;
        whole = r.sequence & ((UINT32_C(1) << thinned) - 1) ? count : whole;
    }
    return whole;
}

static void take_logged(struct stream *s, uint64_t most)
{
    struct fv_build_file *f = &s->build->files[s->rank];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_COLLECTIVES);
    struct fv_coll_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.thread != s->thread)
            continue;
        if (!most--)
            return;
        memcpy(&r, p, sizeof(r));
        const struct fv_cell_place *place = fv_build_place(f, c.thread, r.cell_flags >> 3);

        if (place && place->site_rank != FV_NONE)
            hand_over(s, s->build->model->site_ranks[place->site_rank].site, r.begin, r.end);
    }
}

uint32_t fv_iteration_thread(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];

    for (uint32_t i = 0; i < r->threads; i++)
        if (m->threads[r->first_thread + i].main)
            return m->threads[r->first_thread + i].id;
    return 0;
}

void fv_iteration_calls(struct fv_build *b, uint32_t rank, bool traced, const struct fv_iteration_symbols *symbols,
                        fv_iteration_call_fn *take, void *context)
{
    struct stream s = { .build = b,
                        .rank = rank,
                        .thread = fv_iteration_thread(b->model, rank),
                        .symbols = symbols,
                        .take = take,
                        .context = context,
                        .last_s = -INFINITY };

    if (traced)
        each_traced(&s, hand_over_traced);
    else
        take_logged(&s, fv_iteration_logged(b, rank));
}

void fv_iteration_within_calls(struct fv_build *b, uint32_t rank, const double *times_s, size_t count, bool *within)
{
    struct within w = { times_s, count, 0, within };
    struct stream s = { .build = b, .rank = rank, .thread = fv_iteration_thread(b->model, rank), .context = &w };

    if (count)
        each_traced(&s, mark_within);
}
