/* SPDX-License-Identifier: BSD-3-Clause */
/* See weave_samples.h. */
#include "merge/weave_samples.h"

#include <stdlib.h>

struct fv_sample_thread {
    struct fv_logged_samples log;
    struct fv_record next;
    bool has_next, off; /* off: recording is */
    uint64_t now;       /* of the last record */
    uint32_t piece;
};

static void load(const struct fv_weave_samples *w, struct fv_sample_thread *t)
{
    struct fv_logged_sample r;

    t->has_next = fv_logged_samples_next(&t->log, &r);
    if (!t->has_next)
        return;
    int64_t ns = fv_clock_ns(&w->clocks->lines[w->clocks->of_rank[w->rank]], r.ticks, &t->piece);
    t->next = (struct fv_record){
        .kind = FV_REC_SAMPLE, .ref = w->rank, .context = r.path, .sent = r.cpu_ns, .time_ns = ns > 0 ? (uint64_t)ns : 0
    };
}

static bool tell(struct fv_weave_samples *w, uint32_t slot)
{
    struct fv_sample_thread *t = &w->threads[slot];
    struct fv_location_stats *l = &w->locations[slot];

    if (t->off) {
        w->counts.off++;
        return true;
    }
    if (t->next.time_ns < t->now)
        t->next.time_ns = t->now;
    t->now = t->next.time_ns;
    if (!l->records || t->now < l->first_ns)
        l->first_ns = t->now;
    l->last_ns = t->now > l->last_ns ? t->now : l->last_ns;
    l->records++;
    w->counts.told++;
    return w->to->put(w->to, slot, &t->next);
}

/* All until a time. */
static bool go_on(struct fv_weave_samples *w, uint32_t slot, uint64_t time)
{
    struct fv_sample_thread *t = &w->threads[slot];
    bool good = true;

    while (good && t->has_next && t->next.time_ns <= time) {
        good = tell(w, slot);
        load(w, t);
    }
    return good;
}

/* ---- the sink ---- */

/* The program is around its samples. */
static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *record)
{
    struct fv_weave_samples *w = (struct fv_weave_samples *)(void *)sink;
    struct fv_sample_thread *t = &w->threads[slot];
    struct fv_record later = *record;
    bool good = record->kind == FV_REC_PROGRAM_BEGIN ||
                go_on(w, slot, record->kind == FV_REC_PROGRAM_END ? UINT64_MAX : record->time_ns);

    if (record->kind == FV_REC_MEASURE)
        t->off = !record->op;
    if (t->now < record->time_ns)
        t->now = record->time_ns;
    later.time_ns = t->now;
    return good && w->to->put(w->to, slot, &later);
}

static bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    struct fv_weave_samples *w = (struct fv_weave_samples *)(void *)sink;
    const struct fv_def_rank *rank = &w->defs->ranks[w->rank];

    FV_GROW(w->threads, w->room, (size_t)slot + 1);
    for (; w->thread_count <= slot; w->thread_count++)
        w->threads[w->thread_count] = (struct fv_sample_thread){ 0 };
    w->threads[slot] = (struct fv_sample_thread){ 0 };
    fv_logged_samples_open(&w->threads[slot].log, w->reader, w->map, rank, rank->threads[slot]);
    load(w, &w->threads[slot]);
    return w->to->open(w->to, slot, location);
}

static bool close_location(struct fv_sink *sink, uint32_t slot)
{
    struct fv_weave_samples *w = (struct fv_weave_samples *)(void *)sink;
    struct fv_sample_thread *t = &w->threads[slot];
    bool good = go_on(w, slot, UINT64_MAX);

    w->counts.damaged += t->log.damaged;
    w->counts.behind += t->log.behind;
    fv_logged_samples_close(&t->log);
    return w->to->close(w->to, slot) && good;
}

void fv_weave_samples_init(struct fv_weave_samples *w, const struct fv_defs *defs, const struct fv_clocks *clocks,
                           struct fv_sink *to)
{
    *w = (struct fv_weave_samples){ .to = to, .defs = defs, .clocks = clocks };
    w->sink = (struct fv_sink){ .context = w, .open = open_location, .put = put, .close = close_location };
}

void fv_weave_samples_rank(struct fv_weave_samples *w, uint32_t rank, const struct fv_reader *reader,
                           const struct fv_def_map *map, struct fv_location_stats *locations)
{
    w->rank = rank;
    w->reader = reader;
    w->map = map;
    w->locations = locations;
}

void fv_weave_samples_release(struct fv_weave_samples *w)
{
    while (w->thread_count) /* of a merge that failed */
        fv_logged_samples_close(&w->threads[--w->thread_count].log);
    free(w->threads);
    w->threads = NULL;
}
