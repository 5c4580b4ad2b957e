/* SPDX-License-Identifier: BSD-3-Clause */
/* See weave_sections.h. */
#include "merge/weave_sections.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN 64u /* sections of a set, at most */

enum region_kind { SECTION, INSTANCE, WORK };

/* A section, a measured instance, or worksharing. */
struct region {
    enum region_kind kind;
    uint32_t number;  /* function; of an instance the node */
    uint32_t context; /* of worksharing */
    uint64_t since;   /* when a section began */
};

static const struct {
    uint8_t enter, leave;
} records[] = {
    [SECTION] = { FV_REC_SECTION_ENTER, FV_REC_SECTION_LEAVE },
    [INSTANCE] = { FV_REC_INSTANCE, FV_REC_INSTANCE_END },
    [WORK] = { FV_REC_WORK_ENTER, FV_REC_WORK_LEAVE },
};

struct fv_section_thread {
    struct region *open; /* each in the one before */
    size_t count, room;
    struct region *kept; /* scratch */
    size_t kept_room;
    uint64_t now; /* of the last record */
};

/* ---- what is told ---- */

/* The section ends now. */
static void add_instance(const struct fv_weave_sections *w, uint32_t slot, const struct region *region,
                         struct fv_record *record)
{
    const struct fv_logged_section *i = w->log.count ? fv_section_log_find(&w->log, w->thread_ids[slot], region->number,
                                                                           region->since, w->threads[slot].now)
                                                     : NULL;

    if (!i)
        return;
    record->aux = i->number;
    record->sent = i->mpi_ns;
    record->received = i->bytes;
    record->id = i->calls;
}

static bool tell(struct fv_weave_sections *w, uint32_t slot, uint8_t kind, const struct region *region, bool ends)
{
    struct fv_section_thread *t = &w->threads[slot];
    struct fv_location_stats *l = &w->locations[slot];
    struct fv_record record = { .kind = kind, .ref = region->number, .time_ns = t->now };

    if (region->kind == INSTANCE) { /* it goes on */
        record.context = region->number;
        record.op = 1;
    } else {
        record.context = region->context;
    }
    if (ends)
        add_instance(w, slot, region, &record);
    if (!l->records || t->now < l->first_ns)
        l->first_ns = t->now;
    l->last_ns = t->now > l->last_ns ? t->now : l->last_ns;
    l->records++;
    return w->to->put(w->to, slot, &record);
}

static void push(struct fv_section_thread *t, struct region region)
{
    FV_GROW(t->open, t->room, t->count + 1);
    t->open[t->count++] = region;
}

static bool enter(struct fv_weave_sections *w, uint32_t slot, struct region region)
{
    push(&w->threads[slot], region);
    return tell(w, slot, records[region.kind].enter, &region, false);
}

/* The innermost; `ends`: it is a section that does not go on. */
static bool leave(struct fv_weave_sections *w, uint32_t slot, bool ends)
{
    struct fv_section_thread *t = &w->threads[slot];
    struct region region = t->open[--t->count];

    return tell(w, slot, records[region.kind].leave, &region, ends);
}

/* ---- sets ---- */

static bool is_in(uint32_t number, const uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == number)
            return true;
    return false;
}

/* The functions of a set's sections, outermost first; the file is not trusted. */
static size_t list_of(const struct fv_weave_sections *w, uint64_t set, uint32_t list[CHAIN])
{
    uint32_t inwards[CHAIN];
    size_t count = 0;

    for (uint64_t next; set && set < w->set_count && count < CHAIN; set = next) {
        uint32_t section = w->sets[set].section, function = fv_numbers_get(&w->map->sections, section);

        next = w->sets[set].outer < set ? w->sets[set].outer : 0;
        if (function != FV_NONE && !is_in(function, inwards, count))
            inwards[count++] = function;
    }
    for (size_t i = 0; i < count; i++)
        list[i] = inwards[count - 1 - i];
    return count;
}

static bool goes_on(const struct region *region, const uint32_t *list, size_t count)
{
    return region->kind != SECTION || is_in(region->number, list, count);
}

static bool is_open(const struct fv_section_thread *t, uint32_t function)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->open[i].kind == SECTION && t->open[i].number == function)
            return true;
    return false;
}

/* Leaves what ends and all inside of it, and enters the rest again; then what begins. */
static bool change(struct fv_weave_sections *w, uint32_t slot, const uint32_t *list, size_t count)
{
    struct fv_section_thread *t = &w->threads[slot];
    size_t first = 0, kept = 0;
    bool good = true;

    while (first < t->count && goes_on(&t->open[first], list, count))
        first++;
    for (size_t i = first; i < t->count; i++)
        if (goes_on(&t->open[i], list, count)) {
            FV_GROW(t->kept, t->kept_room, kept + 1);
            t->kept[kept++] = t->open[i];
        }
    while (good && t->count > first)
        good = leave(w, slot, !goes_on(&t->open[t->count - 1], list, count));
    for (size_t i = 0; i < kept && good; i++)
        good = enter(w, slot, t->kept[i]);
    for (size_t i = 0; i < count && good; i++)
        if (!is_open(t, list[i]))
            good = enter(w, slot, (struct region){ .number = list[i], .since = t->now });
    return good;
}

static bool take_set(struct fv_weave_sections *w, uint32_t slot, const struct fv_record *record)
{
    uint32_t list[CHAIN];

    if (record->id && record->id >= w->set_count) {
        w->unknown++;
        return true;
    }
    return change(w, slot, list, list_of(w, record->id, list));
}

/* An instance, or worksharing, ends in sections that began in it. */
static bool end_instance(struct fv_weave_sections *w, uint32_t slot, const struct fv_record *record)
{
    struct fv_section_thread *t = &w->threads[slot];
    size_t at = t->count, kept = 0;
    bool good = true;

    while (at && t->open[at - 1].kind == SECTION)
        at--;
    for (size_t i = at; i < t->count; i++) {
        FV_GROW(t->kept, t->kept_room, kept + 1);
        t->kept[kept++] = t->open[i];
    }
    while (good && t->count > at)
        good = leave(w, slot, false);
    t->count -= at > 0;
    good = good && w->to->put(w->to, slot, record);
    for (size_t i = 0; i < kept && good; i++)
        good = enter(w, slot, t->kept[i]);
    return good;
}

/* ---- the sink ---- */

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *record)
{
    struct fv_weave_sections *w = (struct fv_weave_sections *)(void *)sink;
    struct fv_section_thread *t = &w->threads[slot];

    t->now = record->time_ns > t->now ? record->time_ns : t->now;
    switch (record->kind) {
    case FV_REC_SECTIONS: return take_set(w, slot, record);
    case FV_REC_INSTANCE:
        push(t, (struct region){ .number = record->context, .kind = INSTANCE });
        return w->to->put(w->to, slot, record);
    case FV_REC_WORK_ENTER:
        push(t, (struct region){ .kind = WORK, .number = record->ref, .context = record->context });
        return w->to->put(w->to, slot, record);
    case FV_REC_WORK_LEAVE:
    case FV_REC_INSTANCE_END: return end_instance(w, slot, record);
    case FV_REC_THREAD_END:
    case FV_REC_PROGRAM_END: return change(w, slot, NULL, 0) && w->to->put(w->to, slot, record);
    default: return w->to->put(w->to, slot, record);
    }
}

static bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    struct fv_weave_sections *w = (struct fv_weave_sections *)(void *)sink;

    FV_GROW(w->threads, w->room, (size_t)slot + 1);
    for (; w->thread_count <= slot; w->thread_count++)
        w->threads[w->thread_count] = (struct fv_section_thread){ 0 };
    return w->to->open(w->to, slot, location);
}

static void release_thread(struct fv_section_thread *t)
{
    free(t->open);
    free(t->kept);
    *t = (struct fv_section_thread){ 0 };
}

static bool close_location(struct fv_sink *sink, uint32_t slot)
{
    struct fv_weave_sections *w = (struct fv_weave_sections *)(void *)sink;
    bool good = change(w, slot, NULL, 0);

    release_thread(&w->threads[slot]);
    return w->to->close(w->to, slot) && good;
}

void fv_weave_sections_init(struct fv_weave_sections *w, const struct fv_defs *defs, const struct fv_clocks *clocks,
                            struct fv_sink *to)
{
    *w = (struct fv_weave_sections){ .to = to, .defs = defs, .clocks = clocks };
    w->sink = (struct fv_sink){ .context = w, .open = open_location, .put = put, .close = close_location };
}

void fv_weave_sections_rank(struct fv_weave_sections *w, uint32_t rank, const struct fv_reader *reader,
                            const struct fv_def_map *map, struct fv_location_stats *locations)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SECTION_SETS);

    w->map = map;
    w->thread_ids = w->defs->ranks[rank].threads;
    w->locations = locations;
    fv_section_log_read(&w->log, reader, map, &w->clocks->lines[w->clocks->of_rank[rank]]);
    w->set_count = 0;
    for (const void *p; (p = fv_cursor_next(&c));) { /* the reader bounds the index */
        FV_GROW(w->sets, w->set_room, c.index + 2);
        for (; w->set_count <= c.index + 1; w->set_count++)
            w->sets[w->set_count] = (struct fv_section_set){ 0 };
        memcpy(&w->sets[c.index + 1], p, sizeof(*w->sets));
    }
}

void fv_weave_sections_release(struct fv_weave_sections *w)
{
    while (w->thread_count)
        release_thread(&w->threads[--w->thread_count]);
    free(w->threads);
    free(w->sets);
    fv_section_log_release(&w->log);
    w->threads = NULL;
    w->sets = NULL;
}
