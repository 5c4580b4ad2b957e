/* SPDX-License-Identifier: BSD-3-Clause */
/* See weave.h. Among instances, ticks tell which is in which; between instances and calls nanoseconds do, as
 * the records have them, and where these are equal, what takes longer is around. */
#include "merge/weave.h"

#include <stdlib.h>
#include <string.h>

struct instance {
    uint64_t begin_ticks, end_ticks;
    uint64_t begin, end; /* ns */
    uint64_t cpu_ns;
    struct fv_logged_events counts;
    uint32_t node;
    bool cut;
};

struct instances {
    struct instance *items;
    size_t count, room;
};

/* Worksharing that is told to be entered. */
struct work {
    uint32_t function;
    size_t base; /* how many instances were open then */
    bool left;   /* an instance around it has ended */
};

struct fv_weave_thread {
    struct fv_instance_log *log; /* NULL: none */
    struct instance next;
    bool has_next;
    struct instances open;  /* each in the one before */
    struct instances later; /* that began in the present call and end after it: they begin with its end */
    struct work *works;
    size_t work_count, work_room;
    bool in_call, off; /* off: recording is */
    size_t base;       /* how many were open when the call began */
    uint64_t call_end;
    uint64_t now; /* of the last record */
    uint32_t piece;
};

/* ---- what is told ---- */

static bool tell(struct fv_weave *w, uint32_t slot, struct fv_record record, uint64_t time)
{
    struct fv_weave_thread *t = &w->threads[slot];
    struct fv_location_stats *l = &w->locations[slot];

    record.time_ns = t->now = time > t->now ? time : t->now;
    if (!l->records || t->now < l->first_ns)
        l->first_ns = t->now;
    l->last_ns = t->now > l->last_ns ? t->now : l->last_ns;
    l->records++;
    return w->to->put(w->to, slot, &record);
}

static void keep(struct instances *s, const struct instance *i)
{
    FV_GROW(s->items, s->room, s->count + 1);
    s->items[s->count++] = *i;
}

static bool begin_one(struct fv_weave *w, uint32_t slot, const struct instance *i, uint64_t time)
{
    struct fv_weave_thread *t = &w->threads[slot];

    if (t->off) {
        w->stats.off++;
        return true;
    }
    w->stats.told++;
    keep(&t->open, i);
    return tell(w, slot, (struct fv_record){ .kind = FV_REC_INSTANCE, .context = i->node }, time);
}

static bool tell_counts(struct fv_weave *w, uint32_t slot, const struct instance *i, uint64_t time)
{
    bool good = true;

    for (unsigned k = 0; k < FV_METRIC_EVENTS && good; k++)
        if (w->is_counted[k] && i->counts.count[k] != FV_COUNT_UNKNOWN)
            good = tell(w, slot,
                        (struct fv_record){
                            .kind = FV_REC_EVENT_COUNT, .ref = w->rank, .op = (uint8_t)k, .sent = i->counts.count[k] },
                        time);
    return good;
}

/* Regions are in each other: what began inside of the innermost instance. */
static bool leave_works_inside(struct fv_weave *w, uint32_t slot, uint64_t time)
{
    struct fv_weave_thread *t = &w->threads[slot];
    bool good = true;

    for (size_t k = t->work_count; k-- > 0 && t->works[k].base >= t->open.count && good;) {
        if (!t->works[k].left)
            good = tell(w, slot, (struct fv_record){ .kind = FV_REC_WORK_LEAVE, .ref = t->works[k].function }, time);
        t->works[k].left = true;
    }
    return good;
}

/* The innermost; not after `limit`. */
static bool end_one(struct fv_weave *w, uint32_t slot, uint64_t limit)
{
    struct fv_weave_thread *t = &w->threads[slot];
    struct instance i = t->open.items[t->open.count - 1];
    uint64_t end = i.end < limit ? i.end : limit;

    if (!leave_works_inside(w, slot, end))
        return false;
    t->open.count--;
    w->stats.cut += i.end > limit && !i.cut;
    return tell_counts(w, slot, &i, end) &&
           tell(w, slot, (struct fv_record){ .kind = FV_REC_INSTANCE_END, .context = i.node, .sent = i.cpu_ns }, end);
}

/* ---- what comes next ---- */

static uint64_t time_of(const struct fv_weave *w, struct fv_weave_thread *t, uint64_t ticks)
{
    int64_t ns = fv_clock_ns(&w->clocks->lines[w->clocks->of_rank[w->rank]], ticks, &t->piece);

    return ns > 0 ? (uint64_t)ns : 0;
}

static void load(const struct fv_weave *w, struct fv_weave_thread *t)
{
    struct fv_logged_instance r;
    struct fv_logged_events counts;

    t->has_next = fv_instance_log_next(t->log, &r, &counts);
    if (!t->has_next)
        return;
    t->next = (struct instance){ .begin_ticks = r.begin,
                                 .end_ticks = r.end,
                                 .begin = time_of(w, t, r.begin),
                                 .end = time_of(w, t, r.end),
                                 .cpu_ns = r.cpu_ns,
                                 .counts = counts,
                                 .node = r.context };
    if (t->next.end < t->next.begin)
        t->next.end = t->next.begin;
}

static bool begin_next(struct fv_weave *w, uint32_t slot)
{
    struct fv_weave_thread *t = &w->threads[slot];
    struct instance i = t->next;

    load(w, t);
    if (!t->in_call || i.end <= t->call_end)
        return begin_one(w, slot, &i, i.begin);
    keep(&t->later, &i);
    return true;
}

/* Does the innermost end before the next begins? */
static bool ends_first(const struct fv_weave_thread *t)
{
    return t->open.count &&
           (!t->has_next || (int64_t)(t->next.begin_ticks - t->open.items[t->open.count - 1].end_ticks) >= 0);
}

/* All that is before a time. */
static bool go_on(struct fv_weave *w, uint32_t slot, uint64_t time)
{
    struct fv_weave_thread *t = &w->threads[slot];
    bool good = true;

    while (good) {
        if (ends_first(t)) {
            if (t->open.items[t->open.count - 1].end >= time)
                break;
            good = end_one(w, slot, UINT64_MAX);
        } else {
            if (!t->has_next || t->next.begin >= time)
                break;
            good = begin_next(w, slot);
        }
    }
    return good;
}

/* ---- calls ---- */

/* What ends or begins together with the call's begin, but is not in the call; then nothing stays open that
 * ends in it. */
static bool before_call(struct fv_weave *w, uint32_t slot, uint64_t begin, uint64_t end)
{
    struct fv_weave_thread *t = &w->threads[slot];
    bool good = go_on(w, slot, begin);

    while (good) {
        if (ends_first(t)) {
            if (t->open.items[t->open.count - 1].end > begin)
                break;
            good = end_one(w, slot, UINT64_MAX);
        } else {
            if (!t->has_next || t->next.begin > begin || (t->next.end > begin && t->next.end < end))
                break;
            good = begin_next(w, slot);
        }
    }
    while (good && t->open.count && t->open.items[t->open.count - 1].end < end)
        good = end_one(w, slot, begin);
    t->in_call = true;
    t->base = t->open.count;
    t->call_end = end;
    return good;
}

static bool end_in_call(struct fv_weave *w, uint32_t slot, uint64_t end)
{
    struct fv_weave_thread *t = &w->threads[slot];
    bool good = go_on(w, slot, end);

    while (good && t->open.count > t->base)
        good = end_one(w, slot, end);
    t->in_call = false;
    return good;
}

static bool after_call(struct fv_weave *w, uint32_t slot, uint64_t end)
{
    struct fv_weave_thread *t = &w->threads[slot];
    bool good = true;

    for (size_t i = 0; i < t->later.count && good; i++) {
        t->later.items[i].cut = true;
        w->stats.cut += !t->off;
        good = begin_one(w, slot, &t->later.items[i], end);
    }
    t->later.count = 0;
    return good;
}

/* ---- the sink ---- */

static bool pass(struct fv_weave *w, uint32_t slot, const struct fv_record *record)
{
    struct fv_weave_thread *t = &w->threads[slot];
    struct fv_record later;

    if (FV_LIKELY(record->time_ns >= t->now)) {
        t->now = record->time_ns;
        return w->to->put(w->to, slot, record);
    }
    later = *record; /* the program's end, after which instances ended */
    later.time_ns = w->locations[slot].last_ns = t->now;
    return w->to->put(w->to, slot, &later);
}

static bool enter_work(struct fv_weave *w, uint32_t slot, const struct fv_record *record)
{
    struct fv_weave_thread *t = &w->threads[slot];

    if (!go_on(w, slot, record->time_ns))
        return false;
    FV_GROW(t->works, t->work_room, t->work_count + 1);
    t->works[t->work_count++] = (struct work){ .function = record->ref, .base = t->open.count };
    return pass(w, slot, record);
}

/* Instances that began in it end with it. */
static bool leave_work(struct fv_weave *w, uint32_t slot, const struct fv_record *record)
{
    struct fv_weave_thread *t = &w->threads[slot];
    bool good = go_on(w, slot, record->time_ns);

    while (good && t->work_count && t->open.count > t->works[t->work_count - 1].base)
        good = end_one(w, slot, record->time_ns);
    if (t->work_count && !t->works[--t->work_count].left)
        return good && pass(w, slot, record);
    w->locations[slot].records--; /* it was told with the instance around it, and counted then */
    return good;
}

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *record)
{
    struct fv_weave *w = (struct fv_weave *)(void *)sink;
    struct fv_weave_thread *t = &w->threads[slot];
    uint64_t time = record->time_ns;

    if (!t->log)
        return w->to->put(w->to, slot, record);
    switch (record->kind) {
    case FV_REC_PROGRAM_BEGIN: return pass(w, slot, record);
    case FV_REC_PROGRAM_END: return go_on(w, slot, UINT64_MAX) && pass(w, slot, record);
    case FV_REC_REGION_ENTER:
    case FV_REC_LIBRARY_ENTER:
    case FV_REC_ENTER: return before_call(w, slot, time, record->id) && pass(w, slot, record);
    case FV_REC_REGION_LEAVE:
    case FV_REC_LIBRARY_LEAVE:
    case FV_REC_LEAVE: return end_in_call(w, slot, time) && pass(w, slot, record) && after_call(w, slot, time);
    case FV_REC_WORK_ENTER: return enter_work(w, slot, record);
    case FV_REC_WORK_LEAVE: return leave_work(w, slot, record);
    case FV_REC_MEASURE:
        if (!go_on(w, slot, time))
            return false;
        t->off = !record->op;
        return pass(w, slot, record);
    default: return go_on(w, slot, time) && pass(w, slot, record);
    }
}

static bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    struct fv_weave *w = (struct fv_weave *)(void *)sink;
    uint32_t thread = w->defs->ranks[w->rank].threads[slot];

    FV_GROW(w->threads, w->room, (size_t)slot + 1);
    w->thread_count = slot >= w->thread_count ? (size_t)slot + 1 : w->thread_count;
    w->threads[slot] =
        (struct fv_weave_thread){ .log = w->has_calls ? NULL
                                                      : fv_instance_log_open(w->reader, w->map, thread, &w->stats) };
    if (w->threads[slot].log)
        load(w, &w->threads[slot]);
    return w->to->open(w->to, slot, location);
}

static void release_thread(struct fv_weave_thread *t)
{
    fv_instance_log_free(t->log);
    free(t->open.items);
    free(t->later.items);
    free(t->works);
    *t = (struct fv_weave_thread){ 0 };
}

static bool close_location(struct fv_sink *sink, uint32_t slot)
{
    struct fv_weave *w = (struct fv_weave *)(void *)sink;
    struct fv_weave_thread *t = &w->threads[slot];
    bool good = !t->log || go_on(w, slot, UINT64_MAX);

    release_thread(t);
    return w->to->close(w->to, slot) && good;
}

void fv_weave_init(struct fv_weave *w, const struct fv_defs *defs, const struct fv_clocks *clocks, struct fv_sink *to)
{
    *w = (struct fv_weave){ .to = to, .defs = defs, .clocks = clocks };
    w->sink = (struct fv_sink){ .context = w, .open = open_location, .put = put, .close = close_location };
}

void fv_weave_rank(struct fv_weave *w, uint32_t rank, const struct fv_reader *reader, const struct fv_def_map *map,
                   struct fv_location_stats *locations)
{
    char name[64];

    for (unsigned k = 0; k < FV_METRIC_EVENTS; k++)
        w->is_counted[k] = fv_def_event(w->defs->ranks[rank].events, k, name);
    struct fv_cursor calls = fv_cursor(reader, FV_CHUNK_FUNCTION_CALLS);

    w->has_calls = fv_cursor_next(&calls);
    w->rank = rank;
    w->reader = reader;
    w->map = map;
    w->locations = locations;
}

void fv_weave_release(struct fv_weave *w)
{
    while (w->thread_count) /* of a merge that failed */
        release_thread(&w->threads[--w->thread_count]);
    free(w->threads);
    w->threads = NULL;
}
