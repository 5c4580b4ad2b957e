/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_threads.h: parallel regions of OpenMP as src/threads/omp.c counts them, and worksharing in them. A
 * team is summed up when it is joined and all its members have ended, whichever comes last. */
#include "transcript/transcript_threads.h"

#include <stdlib.h>

static struct fv_transcript_team *team_at(struct fv_transcript_threads *w, uint32_t slot)
{
    const struct fv_transcript_follow *f = &w->follow[slot];
    uint32_t team = f->place_count ? f->places[f->place_count - 1].team : FV_NONE;

    return team == FV_NONE ? NULL : &w->teams[team];
}

static struct fv_transcript_member *member_at(struct fv_transcript_threads *w, uint32_t slot)
{
    const struct fv_transcript_follow *f = &w->follow[slot];
    struct fv_transcript_team *team = team_at(w, slot);

    return team ? &team->members[f->places[f->place_count - 1].member] : NULL;
}

/* ---- sums ---- */

static struct fv_omp_region *region_of(struct fv_transcript *t, const struct fv_transcript_team *team)
{
    struct fv_transcript_threads *w = t->together;
    struct fv_transcript_region *r = FV_INTERNED(w->region_index, w->regions, w->region_count, w->region_room,
                                                 (uint32_t[]){ team->thread, team->node, team->module });

    if (!r->record.id) {
        uint32_t module = team->module == FV_NONE ? FV_NONE : fv_numbers_get(&t->modules, team->module);

        r->record = (struct fv_omp_region){ .id = (uint32_t)w->region_count,
                                            .thread = team->thread,
                                            .path = fv_transcript_path(t, team->node),
                                            .module = module == FV_NONE ? FV_MODULE_UNKNOWN : module,
                                            .level = team->level,
                                            .first = team->call };
    }
    return &r->record;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

struct numbers {
    uint64_t came, time, wait, join;
};

/* The last barrier is the region's, unless the program asked for it. */
static struct numbers numbers_of(const struct fv_transcript_member *m)
{
    bool is_join = m->came && !m->explicit;
    struct numbers n = { .came = is_join ? m->came : m->end };

    n.time = less(n.came, m->begin);
    n.wait = m->waited + (is_join ? 0 : m->join);
    n.wait = n.wait < n.time ? n.wait : n.time;
    n.join = is_join ? m->join : 0;
    return n;
}

static void add_part(struct fv_transcript_threads *w, const struct fv_transcript_team *team, uint32_t region,
                     const struct fv_transcript_member *m, bool is_last)
{
    struct numbers n = numbers_of(m);
    struct fv_omp_thread *r =
        &FV_INTERNED(w->part_index, w->parts, w->part_count, w->part_room, (uint32_t[]){ region, m->thread })->record;

    r->region = region;
    r->number = r->thread = m->thread;
    r->count++;
    r->time += n.time;
    r->time_max = n.time > r->time_max ? n.time : r->time_max;
    r->wait += n.wait;
    r->join += n.join;
    r->join_max = n.join > r->join_max ? n.join : r->join_max;
    r->fork += less(m->begin, team->call);
    r->last += is_last;
}

static void add_members(struct fv_transcript_threads *w, const struct fv_transcript_team *team, struct fv_omp_region *r)
{
    uint64_t all_came = 0, longest = 0, useful = 0;

    for (size_t i = 0; i < team->count; i++) {
        uint64_t came = numbers_of(&team->members[i]).came;

        all_came = came > all_came ? came : all_came;
    }
    for (size_t i = 0; i < team->count; i++) {
        const struct fv_transcript_member *m = &team->members[i];
        struct numbers n = numbers_of(m);

        add_part(w, team, r->id, m, n.came == all_came);
        r->time += n.time;
        r->wait += n.wait;
        r->join += n.join;
        r->fork += less(m->begin, team->call);
        longest = n.time > longest ? n.time : longest;
        useful = n.time - n.wait > useful ? n.time - n.wait : useful;
    }
    r->longest += longest;
    r->useful_longest += useful;
    r->weighted += team->count * longest;
}

static void finish(struct fv_transcript *t, uint32_t index)
{
    struct fv_transcript_threads *w = t->together;
    struct fv_transcript_team *team = &w->teams[index];
    struct fv_omp_region *r = region_of(t, team);
    uint64_t elapsed = less(team->joined, team->call);
    uint32_t size = (uint32_t)team->count;

    r->path = team->path ? fv_transcript_path(t, team->path) : r->path;
    r->object = fv_transcript_object_of(t, FV_SYNC_OMP, 0, team->module, team->node, team->thread, team->call);
    r->threads_min = r->count && r->threads_min < size ? r->threads_min : size;
    r->threads_max = r->threads_max > size ? r->threads_max : size;
    r->threads += size;
    r->elapsed += elapsed;
    r->elapsed_max = elapsed > r->elapsed_max ? elapsed : r->elapsed_max;
    r->last = team->joined > r->last ? team->joined : r->last;
    r->count++;
    add_members(w, team, r);
    team->used = false;
    team->count = 0;
    FV_GROW(w->unused, w->unused_room, w->unused_count + 1);
    w->unused[w->unused_count++] = index;
}

/* ---- events ---- */

static void fork_team(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_threads *w = t->together;
    uint32_t index = w->unused_count ? w->unused[--w->unused_count] : (uint32_t)w->team_count;

    if (index == w->team_count) {
        FV_GROW(w->teams, w->team_room, w->team_count + 1);
        w->teams[w->team_count++] = (struct fv_transcript_team){ .used = false };
    }
    struct fv_transcript_team *team = &w->teams[index];
    struct fv_transcript_member *members = team->members;
    size_t room = team->room;
    *team = (struct fv_transcript_team){ .region = m->sent,
                                         .call = ticks,
                                         .thread = slot,
                                         .node = m->context,
                                         .module = FV_NONE,
                                         .level = (uint32_t)w->follow[slot].place_count + 1,
                                         .members = members,
                                         .room = room,
                                         .used = true };
    fv_pendings_add(&w->open, &(struct fv_pending){ .number = m->sent, .sent = index });
}

static void begin_member(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_threads *w = t->together;
    struct fv_transcript_follow *f = &w->follow[slot];
    const struct fv_pending *p = m->sent ? fv_pendings_find(&w->open, m->sent) : NULL;
    struct fv_transcript_place place = { FV_NONE, 0 };

    if (p) {
        struct fv_transcript_team *team = &w->teams[p->sent];

        place = (struct fv_transcript_place){ (uint32_t)p->sent, (uint32_t)team->count };
        FV_GROW(team->members, team->room, team->count + 1);
        team->members[team->count++] = (struct fv_transcript_member){ .thread = slot, .begin = ticks };
        team->inside++;
    }
    FV_GROW(f->places, f->place_room, f->place_count + 1);
    f->places[f->place_count++] = place;
}

static void end_if_over(struct fv_transcript *t, uint32_t index)
{
    struct fv_transcript_team *team = &t->together->teams[index];
    struct fv_pending *p = fv_pendings_find(&t->together->open, team->region);

    if (!team->joined || team->inside)
        return;
    if (p)
        fv_pendings_remove(&t->together->open, p);
    finish(t, index);
}

static void end_member(struct fv_transcript *t, uint32_t slot, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    struct fv_transcript_member *m = member_at(t->together, slot);

    if (!f->place_count)
        return;
    uint32_t index = f->places[--f->place_count].team;
    if (!m)
        return;
    m->end = ticks;
    t->together->teams[index].inside--;
    end_if_over(t, index);
}

static void join_team(struct fv_transcript *t, const struct fv_record *m, uint64_t ticks)
{
    const struct fv_pending *p = m->sent ? fv_pendings_find(&t->together->open, m->sent) : NULL;

    if (!p)
        return;
    uint32_t index = (uint32_t)p->sent;
    t->together->teams[index].joined = ticks;
    end_if_over(t, index);
}

void fv_transcript_team(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    switch (m->kind) {
    case FV_REC_OMP_FORK: fork_team(t, slot, m, ticks); break;
    case FV_REC_TEAM_BEGIN: begin_member(t, slot, m, ticks); break;
    case FV_REC_TEAM_END: end_member(t, slot, ticks); break;
    case FV_REC_OMP_JOIN: join_team(t, m, ticks); break;
    default: break;
    }
}

/* ---- waiting ---- */

uint32_t fv_transcript_barrier(struct fv_transcript *t, uint32_t slot, uint64_t ticks)
{
    const struct fv_transcript_team *team = team_at(t->together, slot);
    uint32_t node = team ? team->node : t->together->follow[slot].enter.context;

    return fv_transcript_object_of(t, FV_SYNC_OMP, 0, team ? team->module : FV_NONE, node, slot, ticks);
}

void fv_transcript_member_waited(struct fv_transcript *t, uint32_t slot, uint64_t waited, uint64_t came)
{
    struct fv_transcript_member *m = member_at(t->together, slot);

    if (!m)
        return;
    if (!came) {
        m->waited += waited;
        return;
    }
    m->waited += m->join;
    m->join = waited;
    m->came = came;
    m->explicit = t->together->follow[slot].at_explicit;
}

/* ---- worksharing ---- */

/* What the construct's barrier is waited for is no part of it. */
static void end_part(const struct fv_transcript_follow *f, struct fv_transcript_open_work *o, uint64_t ticks)
{
    if (o->end)
        return;
    o->end = ticks;
    o->waited = f->all - o->waited;
}

static void begin_work(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_threads *w = t->together;
    struct fv_transcript_follow *f = &w->follow[slot];
    const struct fv_transcript_team *team = team_at(w, slot);
    uint32_t kind = m->op % FV_CONSTRUCT_MET, region = team ? region_of(t, team)->id : 0;
    size_t before = w->work_count;
    uint32_t work =
        FV_INTERN(w->work_index, w->works, w->work_count, w->work_room, (uint32_t[]){ slot, region, m->context, kind });

    if (w->work_count > before)
        w->works[work].record =
            (struct fv_omp_work){ .region = region, .path = fv_transcript_path(t, m->context), .kind = kind };
    FV_GROW(f->works, f->work_room, f->work_count + 1);
    f->works[f->work_count++] = (struct fv_transcript_open_work){ .depth = fv_transcript_depth(&t->threads[slot]),
                                                                  .work = work,
                                                                  .begin = ticks,
                                                                  .waited = f->all,
                                                                  .takes_part = m->op >= FV_CONSTRUCT_WORK };
}

void fv_transcript_construct(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    struct fv_transcript_open_work *o = f->work_count ? &f->works[f->work_count - 1] : NULL;
    struct fv_transcript_team *team = team_at(t->together, slot);
    bool inside = o && fv_transcript_depth(&t->threads[slot]) == o->depth + 1;

    switch (m->op) {
    case FV_CONSTRUCT_NONE: break;
    case FV_CONSTRUCT_PARALLEL:
        if (team && team->module == FV_NONE)
            team->module = t->merge->defs.tree.nodes[m->context].module;
        if (team && team->thread == slot)
            team->path = m->context;
        break;
    case FV_CONSTRUCT_BARRIER:
    case FV_CONSTRUCT_EXPLICIT_BARRIER:
        f->at_explicit = m->op == FV_CONSTRUCT_EXPLICIT_BARRIER;
        if (inside)
            end_part(f, o, ticks);
        break;
    case FV_CONSTRUCT_BLOCK:
        if (inside)
            o->takes_part = true;
        break;
    default: begin_work(t, slot, m, ticks);
    }
}

void fv_transcript_construct_end(struct fv_transcript *t, uint32_t slot, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    struct fv_transcript_open_work *o = f->work_count ? &f->works[f->work_count - 1] : NULL;

    if (!o || o->depth != fv_transcript_depth(&t->threads[slot]))
        return;
    struct fv_omp_work *r = &t->together->works[o->work].record;
    end_part(f, o, ticks);
    f->work_count--;
    r->count++;
    if (!o->takes_part)
        return;
    uint64_t time = less(o->end, o->begin);
    r->executed++;
    r->timed++;
    r->time += time;
    r->time_max = time > r->time_max ? time : r->time_max;
    r->wait += o->waited;
}

/* ---- the end ---- */

/* Regions that were not joined are open. */
static void finish_rest(struct fv_transcript *t, uint32_t index)
{
    struct fv_transcript_team *team = &t->together->teams[index];

    for (size_t i = 0; i < team->count; i++)
        if (!team->members[i].end)
            team->members[i].end = t->threads[team->members[i].thread].record.end;
    if (team->joined)
        finish(t, index);
    else
        region_of(t, team)->open = team->call;
}

static int by_thread(const void *a, const void *b)
{
    const struct fv_transcript_work *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->region > y->region) - (x->region < y->region);
}

static void put_works(struct fv_transcript *t)
{
    struct fv_transcript_threads *w = t->together;
    struct fv_bytes out = { 0 };

    if (w->work_count)
        qsort(w->works, w->work_count, sizeof(*w->works), by_thread);
    for (size_t i = 0; i < w->work_count; i++) {
        if (w->works[i].record.count)
            fv_bytes_put(&out, &w->works[i].record, sizeof(w->works[i].record));
        if (i + 1 < w->work_count && w->works[i + 1].thread == w->works[i].thread)
            continue;
        fv_transcript_chunk(t, FV_CHUNK_OMP_WORK, w->works[i].thread, 0, out.data, out.count);
        out.count = 0;
    }
    free(out.data);
}

void fv_transcript_teams_close(struct fv_transcript *t)
{
    struct fv_transcript_threads *w = t->together;
    struct fv_bytes regions = { 0 }, parts = { 0 };

    for (uint32_t i = 0; i < w->team_count; i++) {
        if (w->teams[i].used)
            finish_rest(t, i);
        free(w->teams[i].members);
    }
    for (size_t i = 0; i < w->region_count; i++)
        fv_bytes_put(&regions, &w->regions[i].record, sizeof(w->regions[i].record));
    for (size_t i = 0; i < w->part_count; i++)
        fv_bytes_put(&parts, &w->parts[i].record, sizeof(w->parts[i].record));
    fv_transcript_chunk(t, FV_CHUNK_OMP, 0, 0, regions.data, regions.count);
    fv_transcript_chunk(t, FV_CHUNK_OMP_THREADS, 0, 0, parts.data, parts.count);
    put_works(t);
    free(regions.data);
    free(parts.data);
    fv_index_release(&w->region_index);
    fv_index_release(&w->part_index);
    fv_index_release(&w->work_index);
    fv_pendings_release(&w->open);
    free(w->regions);
    free(w->parts);
    free(w->works);
    free(w->teams);
    free(w->unused);
}
