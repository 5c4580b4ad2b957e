/* SPDX-License-Identifier: BSD-3-Clause */
/* See replay.h. What a thread did between its calls: each event is one record, waiting two. */
#include "merge/replay_state.h"
#include "merge/threads.h"

#include <string.h>

static uint64_t location_of(const struct fv_rank_replay *r, uint64_t thread)
{
    for (uint32_t slot = 0; slot < r->rank->thread_count; slot++)
        if (r->rank->threads[slot] == thread)
            return fv_location(r->rank, slot);
    return FV_LOCATION_NONE;
}

static uint32_t object_of(const struct fv_rank_replay *r, uint64_t object)
{
    return r->rank->first_object + (object < r->rank->thread_objects ? (uint32_t)object : 0);
}

/* Kinds of its locks, by number. */
void fv_threads_open(struct fv_rank_replay *r)
{
    struct fv_cursor c = fv_cursor(r->reader, FV_CHUNK_SYNC_OBJECTS);

    r->object_count = r->rank->thread_objects;
    r->object_kinds = fv_xcalloc((size_t)r->object_count + 1, 1);
    for (const struct fv_sync_object *o; r->object_count && (o = fv_cursor_next(&c));)
        if (o->id < r->object_count)
            r->object_kinds[o->id] = o->kind;
}

static void tell_region(struct fv_rank_replay *r, struct fv_stream *s, struct fv_record *enter, struct fv_record *leave)
{
    if (enter->ref == FV_NONE) {
        r->stats->lost++;
        return;
    }
    fv_rank_put(r, s, enter, enter->time_ns);
    fv_rank_put(r, s, leave, leave->time_ns);
}

static struct fv_record enter_of(struct fv_rank_replay *r, struct fv_stream *s, unsigned call, uint64_t path,
                                 uint64_t object)
{
    uint32_t node = fv_numbers_get(&r->map->nodes, path);

    return (struct fv_record){ .kind = FV_REC_REGION_ENTER,
                               .ref = fv_rank_thread_call(r, call),
                               .context = node == FV_NONE ? 0 : node,
                               .peer = object_of(r, object),
                               .time_ns = s->begin,
                               .id = s->end };
}

static void tell_wait(struct fv_rank_replay *r, struct fv_stream *s)
{
    const uint64_t *f = s->item.field;
    unsigned call = f[4] & 255;
    bool waited = f[4] >> 8 != FV_WAITED_FOR_NONE;

    s->begin = fv_rank_time(r, s, s->item.begin);
    s->begin = s->begin > s->now ? s->begin : s->now;
    s->end = s->until;
    s->end = s->end > s->begin ? s->end : s->begin;
    struct fv_record enter = enter_of(r, s, call, f[3], f[2]);
    struct fv_record leave = { .kind = FV_REC_REGION_LEAVE,
                               .op = waited ? (uint8_t)fv_thread_wait_of(call) : 0,
                               .ref = enter.ref,
                               .time_ns = s->end,
                               .sent = s->end - s->begin,
                               .id = f[5] ? location_of(r, f[5] - 1) : FV_LOCATION_NONE };
    tell_region(r, s, &enter, &leave);
}

/* ---- parallel regions ---- */

static void begin_team(struct fv_rank_replay *r, struct fv_stream *s)
{
    const uint64_t *f = s->item.field;
    bool is_fork = s->item.kind == FV_EV_OMP_FORK;
    struct fv_record record = { .kind = is_fork ? FV_REC_OMP_FORK : FV_REC_TEAM_BEGIN, .ref = r->index, .sent = f[1] };

    if (is_fork) {
        uint32_t node = fv_numbers_get(&r->map->nodes, f[3]);

        record.id = f[2];
        record.context = node == FV_NONE ? 0 : node;
    }
    FV_GROW(s->teams, s->team_room, s->team_count + 1);
    s->teams[s->team_count++] =
        (struct fv_open_team){ .region = f[1], .is_fork = is_fork, .path = is_fork ? (uint32_t)f[3] : 0 };
    fv_rank_put(r, s, &record, fv_rank_time(r, s, s->item.begin));
}

/* NULL: its begin is not in the trace. */
static struct fv_open_team *find_team(const struct fv_stream *s, uint64_t region, bool is_fork)
{
    for (size_t i = s->team_count; i-- > 0;)
        if (s->teams[i].region == region && s->teams[i].is_fork == is_fork)
            return &s->teams[i];
    return NULL;
}

static void end_innermost(struct fv_rank_replay *r, struct fv_stream *s, uint64_t time)
{
    fv_nested_leave_works(r, s, s->team_count, time);
    const struct fv_open_team *t = &s->teams[--s->team_count];

    fv_rank_put(r, s,
                &(struct fv_record){
                    .kind = t->is_fork ? FV_REC_OMP_JOIN : FV_REC_TEAM_END, .ref = r->index, .sent = t->region },
                time);
}

/* Those inside of it end before it: their own ends were lost. */
static void end_inside(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_open_team *t)
{
    while (t != &s->teams[s->team_count - 1])
        end_innermost(r, s, s->now);
}

/* The barrier at a region's end. */
struct meeting {
    uint64_t all;          /* ns: when the last one came, ... */
    uint64_t last;         /* ... its location */
    uint64_t object, path; /* as the file has them */
};

/* A member came, or its last task there ended, at `end`. */
static void tell_barrier(struct fv_rank_replay *r, struct fv_stream *s, uint64_t end, const struct meeting *m)
{
    uint64_t all = m->all;
    bool waited = s->now <= end && all > end; /* else clocks, or the file, are in doubt */

    s->begin = s->now > end ? s->now : end;
    s->end = all;
    if (s->begin > all || s->off)
        return;
    struct fv_record enter = enter_of(r, s, FV_THREAD_IMPLICIT_BARRIER, m->path, m->object);
    struct fv_record leave = { .kind = FV_REC_REGION_LEAVE,
                               .op = waited ? FV_TW_OMP_BARRIER : 0,
                               .ref = enter.ref,
                               .time_ns = all,
                               .sent = all - s->begin,
                               .id = m->last };
    tell_region(r, s, &enter, &leave);
}

/* The members' parts end with it: only now it is known until when they were at the barrier. */
static void join_team(struct fv_rank_replay *r, struct fv_stream *s)
{
    const uint64_t *f = s->item.field;
    uint64_t now = fv_rank_time(r, s, s->item.begin);
    const struct meeting m = { .all = fv_rank_time(r, s, s->item.begin - f[2]),
                               .last = f[5] ? location_of(r, f[5] - 1) : FV_LOCATION_NONE,
                               .object = f[3],
                               .path = f[4] };

    for (uint32_t i = 0; i < r->rank->thread_count; i++) {
        struct fv_stream *member = &r->streams[i];
        struct fv_open_team *t = find_team(member, f[1], false);

        if (!t)
            continue;
        end_inside(r, member, t);
        if (t->came)
            tell_barrier(r, member, t->end, &m);
        end_innermost(r, member, m.all);
    }
    struct fv_open_team *fork = find_team(s, f[1], true);
    if (!fork)
        return;
    end_inside(r, s, fork);
    end_innermost(r, s, now);
}

static void come(struct fv_rank_replay *r, struct fv_stream *s)
{
    struct fv_open_team *t = find_team(s, s->item.field[1], false);

    if (!t)
        return;
    t->came = true;
    t->end = fv_rank_time(r, s, s->item.begin);
}

/* NULL: its fork is not in the trace, or it is joined. */
static struct fv_open_team *find_fork(const struct fv_rank_replay *r, uint64_t region, uint32_t *thread)
{
    for (uint32_t i = 0; i < r->rank->thread_count; i++) {
        struct fv_open_team *t = find_team(&r->streams[i], region, true);

        if (t) {
            *thread = r->streams[i].thread;
            return t;
        }
    }
    return NULL;
}

static uint32_t object_of_region(const struct fv_rank_replay *r, uint32_t thread, uint32_t path)
{
    struct fv_cursor c = fv_cursor(r->reader, FV_CHUNK_OMP);
    struct fv_omp_region region;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&region, p, sizeof(region));
        if (region.thread == thread && region.path == path)
            return region.object;
    }
    return 0;
}

/* The thread ends, and before its region is joined: libgomp's of a nested team do right behind the barrier,
 * so all members came. */
static void leave_nested(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_open_team *t)
{
    uint32_t thread;
    struct fv_open_team *fork = find_fork(r, t->region, &thread);

    if (!fork)
        return;
    for (uint32_t i = 0; i < r->rank->thread_count; i++) {
        const struct fv_open_team *member = find_team(&r->streams[i], t->region, false);

        if (member && !member->came)
            return;
        if (member && member->end > fork->end) {
            fork->end = member->end;
            fork->last = i;
        }
    }
    tell_barrier(r, s, t->end,
                 &(struct meeting){ .all = fork->end,
                                    .last = fv_location(r->rank, fork->last),
                                    .object = object_of_region(r, thread, fork->path),
                                    .path = fork->path });
}

static void end_thread(struct fv_rank_replay *r, struct fv_stream *s)
{
    while (s->team_count) {
        const struct fv_open_team *t = &s->teams[s->team_count - 1];

        if (t->came && !t->is_fork)
            leave_nested(r, s, t);
        end_innermost(r, s, s->now);
    }
    fv_nested_leave_works(r, s, 0, s->now);
}

void fv_threads_close(struct fv_rank_replay *r, struct fv_stream *s)
{
    while (s->team_count) {
        const struct fv_open_team *t = &s->teams[s->team_count - 1];

        end_innermost(r, s, t->came && t->end > s->now ? t->end : s->now);
    }
    fv_nested_leave_works(r, s, 0, s->now);
}

static bool tell_team(struct fv_rank_replay *r, struct fv_stream *s)
{
    switch (s->item.kind) {
    case FV_EV_OMP_FORK:
    case FV_EV_TEAM_BEGIN: begin_team(r, s); return true;
    case FV_EV_TEAM_END: come(r, s); return true;
    case FV_EV_OMP_JOIN: join_team(r, s); return true;
    case FV_EV_WORK_BEGIN:
    case FV_EV_WORK_END: fv_nested_work(r, s); return true;
    default: return false;
    }
}

/* ---- all of it ---- */

bool fv_threads_is_end(const struct fv_stream *s)
{
    return s->item.kind == FV_EV_THREAD_BEGIN || s->item.kind == FV_EV_THREAD_END ||
           s->item.kind == FV_EV_THREAD_FAILED || s->item.kind == FV_EV_TEAM_END || s->item.kind == FV_EV_OMP_JOIN ||
           s->item.kind == FV_EV_WORK_END;
}

/* A creation that failed is none; the next record says so. */
static bool is_failed(const struct fv_stream *s)
{
    return s->item.kind == FV_EV_THREAD_FAILED ||
           (s->item.kind == FV_EV_THREAD_CREATE && s->has_ahead && fv_stream_ahead(s)->kind == FV_EV_THREAD_FAILED &&
            fv_stream_ahead(s)->field[1] == s->item.field[1]);
}

void fv_threads_tell(struct fv_rank_replay *r, struct fv_stream *s)
{
    static const uint8_t kinds[] = {
        [FV_EV_THREAD_CREATE] = FV_REC_THREAD_CREATE,
        [FV_EV_THREAD_BEGIN] = FV_REC_THREAD_BEGIN,
        [FV_EV_THREAD_END] = FV_REC_THREAD_END,
        [FV_EV_THREAD_JOIN] = FV_REC_THREAD_JOIN,
        [FV_EV_ACQUIRE] = FV_REC_ACQUIRE,
        [FV_EV_RELEASE] = FV_REC_RELEASE,
    };
    struct fv_record record = { .ref = r->index, .id = s->item.field[1] };

    if (s->item.kind == FV_EV_WAIT) {
        tell_wait(r, s);
        return;
    }
    if (is_failed(s) || tell_team(r, s))
        return;
    if (s->item.kind == FV_EV_THREAD_END)
        end_thread(r, s);
    record.kind = kinds[s->item.kind];
    if (s->item.kind == FV_EV_ACQUIRE || s->item.kind == FV_EV_RELEASE) {
        record.ref = object_of(r, s->item.field[1]);
        record.id = s->item.field[2];
        record.op = s->item.field[1] < r->object_count && r->object_kinds[s->item.field[1]] == FV_SYNC_OMP;
    }
    fv_rank_put(r, s, &record, fv_rank_time(r, s, s->item.begin));
}

/* A thread that still waited when its process ended. */
void fv_threads_tell_open(struct fv_rank_replay *r, struct fv_stream *s, uint64_t end)
{
    struct fv_cursor c = fv_cursor(r->reader, FV_CHUNK_SYNC_THREAD);
    struct fv_sync_thread now = { 0 }, t;

    for (const void *p; r->rank->thread_objects && (p = fv_cursor_next(&c));)
        if (c.thread == s->thread) {
            memcpy(&t, p, sizeof(t));
            now = t;
        }
    if (!now.wait_begin || !r->is_open)
        return;
    for (uint32_t i = 0; i < r->rank->thread_count; i++) /* the others went on */
        end = r->streams[i].now > end ? r->streams[i].now : end;
    s->begin = fv_rank_time(r, s, now.wait_begin);
    s->begin = s->begin > s->now ? s->begin : s->now;
    s->end = end > s->begin ? end : s->begin;
    unsigned call = (now.wait_kind & 15u) | (now.wait_operation & 15u) << 4;
    struct fv_record enter = enter_of(r, s, call, now.wait_path, now.wait_object);
    struct fv_record leave = { .kind = FV_REC_REGION_LEAVE,
                               .op = (uint8_t)fv_thread_wait_of(call),
                               .ref = enter.ref,
                               .time_ns = s->end,
                               .sent = s->end - s->begin,
                               .id = FV_LOCATION_NONE };
    tell_region(r, s, &enter, &leave);
}
