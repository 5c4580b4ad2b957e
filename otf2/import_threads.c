/* SPDX-License-Identifier: BSD-3-Clause */
/* See import_state.h: what threads of a process do together, and what they wait for: each other at barriers of OpenMP,
 * locks, and threads' ends. A rank's threads are followed in the order of time, so what a thread waited for is known
 * when it goes on: there its waiting is told.
 *
 * A team has one reference for all parallel regions that it takes part in. An instance is one of these: from the first
 * member that begins to the last that ends; where its region is joined before, another one may begin.
 *
 * A member is at a barrier when it has entered, and again with the end of each task that it runs there. */
#include "otf2/import_state.h"

#include <stdlib.h>
#include <string.h>

#define NEARBY 64 /* instances, and teams of a thread, among which one is looked for */

/* That waited for, if it is known: as in records. */
struct fv_import_object {
    uint32_t number, name, kind; /* name: node of the call tree; 0: it has none; kind: enum fv_sync_kind, 0 not known */
};

/* The thread waited in its innermost region, for what the location `cause` did; of that the part that is taken. */
static void tell_wait(struct fv_import_rank *r, struct fv_import_stream *s, unsigned kind, uint64_t ns, uint64_t cause,
                      struct fv_import_object object, uint64_t until)
{
    const struct fv_open_region *o = &s->open[s->depth - 1];
    const struct fv_import_region *g = fv_import_at(r->import, FV_IMPORT_REGION, o->region);
    uint32_t function = fv_import_in_all(r, &r->import->numbers.functions, g->threads);
    const uint64_t most = s->now > r->from_ns ? s->now - r->from_ns : 0;

    ns = ns < most ? ns : most;
    fv_import_put(r, s,
                  (struct fv_record){ .kind = FV_REC_REGION_ENTER,
                                      .ref = function,
                                      .context = fv_import_path_in_all(r, o->node),
                                      .peer = r->first_object + object.number,
                                      .aux = object.name,
                                      .tag = object.kind,
                                      .id = s->now });
    fv_import_put(r, s,
                  (struct fv_record){ .kind = FV_REC_REGION_LEAVE,
                                      .ref = function,
                                      .op = ns ? (uint8_t)kind : 0,
                                      .sent = ns,
                                      .received = s->now - until,
                                      .id = cause });
}

/* In a region of OpenMP or of POSIX threads; NULL: it is in another. */
static const struct fv_import_region *region_of_threads(const struct fv_import_rank *r,
                                                        const struct fv_import_stream *s)
{
    const struct fv_import_region *g =
        s->depth ? fv_import_at(r->import, FV_IMPORT_REGION, s->open[s->depth - 1].region) : NULL;

    return g && g->threads != FV_NONE ? g : NULL;
}

static uint32_t path_of(const struct fv_import_rank *r, const struct fv_import_stream *s)
{
    return fv_import_path_in_all(r, s->depth ? s->open[s->depth - 1].node : 0);
}

/* ---- parallel regions ---- */

static void fork_region(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    const struct fv_import_context *said =
        m->received ? fv_import_get(r->import, FV_IMPORT_CONTEXT, m->received - 1) : NULL;
    uint64_t region = ++r->regions;

    FV_GROW(s->forks, s->fork_room, s->fork_count + 1);
    s->forks[s->fork_count++] = r->forked = region;
    fv_import_put(r, s,
                  (struct fv_record){ .kind = FV_REC_OMP_FORK,
                                      .ref = r->rank,
                                      .id = m->id,
                                      .sent = region,
                                      .context = said ? fv_import_path_in_all(r, said->node) : path_of(r, s) });
}

static void join_region(struct fv_import_rank *r, struct fv_import_stream *s)
{
    if (!s->fork_count)
        return;
    uint64_t region = s->forks[--s->fork_count];
    for (size_t i = r->instance_count, least = i > NEARBY ? i - NEARBY : 0; i-- > least;)
        r->instances[i].joined = r->instances[i].joined || r->instances[i].region == region;
    fv_import_put(r, s, (struct fv_record){ .kind = FV_REC_OMP_JOIN, .ref = r->rank, .sent = region });
}

static uint32_t find_instance(struct fv_import_rank *r, uint32_t team)
{
    size_t place = r->instance_count, least = place > NEARBY ? place - NEARBY : 0;

    for (size_t i = r->instance_count; i-- > least;) {
        if (!r->instances[i].members)
            place = i;
        else if (r->instances[i].team == team && !r->instances[i].joined)
            return (uint32_t)i;
    }
    if (place == r->instance_count) {
        FV_GROW(r->instances, r->instance_room, r->instance_count + 1);
        r->instance_count++;
    }
    r->instances[place] = (struct fv_import_instance){ .team = team, .region = r->forked };
    r->forked = 0;
    return (uint32_t)place;
}

static void begin_team(struct fv_import_rank *r, struct fv_import_stream *s, uint32_t team)
{
    uint32_t i = find_instance(r, team);

    r->instances[i].members++;
    FV_GROW(s->teams, s->team_room, s->team_count + 1);
    s->teams[s->team_count++] = (struct fv_import_member){ .instance = i, .team = team };
    fv_import_put(r, s,
                  (struct fv_record){ .kind = FV_REC_TEAM_BEGIN, .ref = r->rank, .sent = r->instances[i].region });
}

/* And those inside of it, whose ends are missing. */
static void end_team(struct fv_import_rank *r, struct fv_import_stream *s, uint32_t team)
{
    size_t at = s->team_count, least = at > NEARBY ? at - NEARBY : 0;

    while (at > least && s->teams[at - 1].team != team)
        at--;
    while (at > least && s->team_count >= at) {
        struct fv_import_instance *i = &r->instances[s->teams[--s->team_count].instance];

        i->members--;
        fv_import_put(r, s, (struct fv_record){ .kind = FV_REC_TEAM_END, .ref = r->rank, .sent = i->region });
    }
}

void fv_import_begin_teams(struct fv_import_rank *r, struct fv_import_stream *s)
{
    for (size_t i = 0; i < s->fork_count; i++)
        fv_import_put(r, s, (struct fv_record){ .kind = FV_REC_OMP_FORK, .ref = r->rank, .sent = s->forks[i] });
    for (size_t i = 0; i < s->team_count; i++)
        fv_import_put(r, s,
                      (struct fv_record){ .kind = FV_REC_TEAM_BEGIN,
                                          .ref = r->rank,
                                          .sent = r->instances[s->teams[i].instance].region });
}

/* ---- barriers ---- */

static struct fv_import_meeting *meeting_of(struct fv_import_rank *r, const struct fv_import_member *t)
{
    struct fv_import_meeting *m = &r->instances[t->instance].meetings[t->barriers % FV_IMPORT_MEETINGS];

    if (m->number != t->barriers)
        *m = (struct fv_import_meeting){ .number = t->barriers };
    return m;
}

static void come(struct fv_import_rank *r, struct fv_import_stream *s, struct fv_import_member *t)
{
    struct fv_import_meeting *m = meeting_of(r, t);

    t->came = s->now;
    if (s->now >= m->last) {
        m->last = s->now;
        m->slot = fv_import_slot(r, s);
    }
}

void fv_import_enter_barrier(struct fv_import_rank *r, struct fv_import_stream *s)
{
    struct fv_import_member *t = s->team_count ? &s->teams[s->team_count - 1] : NULL;

    r->has_threads = true;
    if (!t)
        return;
    t->barriers++;
    t->in_barrier = true;
    come(r, s, t);
}

void fv_import_leave_barrier(struct fv_import_rank *r, struct fv_import_stream *s)
{
    struct fv_import_member *t = s->team_count ? &s->teams[s->team_count - 1] : NULL;

    if (!t || !t->in_barrier)
        return;
    const struct fv_import_meeting *m = meeting_of(r, t);
    t->in_barrier = false;
    uint64_t until = m->last > t->came ? m->last : t->came;
    tell_wait(r, s, FV_TW_OMP_BARRIER, until - t->came, fv_location_of(r->rank, m->slot),
              (struct fv_import_object){ 0 }, until);
}

static void end_task(struct fv_import_rank *r, struct fv_import_stream *s)
{
    struct fv_import_member *t = s->team_count ? &s->teams[s->team_count - 1] : NULL;

    if (t && t->in_barrier)
        come(r, s, t);
}

/* ---- locks ---- */

static uint32_t name_of(const struct fv_import_rank *r, uint32_t lock)
{
    const struct fv_import_table *processes = &r->import->tables[FV_IMPORT_PROCESS];
    uint32_t process = r->import->ranks[r->rank].process; /* FV_NONE: the archive does not define it */

    if (process >= processes->count)
        return FV_NONE;
    return fv_import_number(r->import, FV_IMPORT_LOCK, fv_import_lock_ref((uint32_t)processes->refs[process], lock));
}

static struct fv_import_lock *lock_of(struct fv_import_rank *r, uint32_t lock, uint32_t paradigm,
                                      struct fv_import_object *object)
{
    uint32_t i =
        FV_INTERN(r->lock_index, r->lock_keys, r->lock_count, r->lock_key_room, (uint32_t[]){ lock, paradigm });
    const struct fv_import_lock_name *name;

    while (r->lock_state_count <= i) {
        FV_GROW(r->locks, r->lock_room, r->lock_state_count + 1);
        r->locks[r->lock_state_count++] = (struct fv_import_lock){ .slot = FV_NONE, .name = name_of(r, lock) };
    }
    name = fv_import_at(r->import, FV_IMPORT_LOCK, r->locks[i].name);
    *object = (struct fv_import_object){
        .number = !r->survey || i < r->survey->locks ? i + 1 : 0,
        .name = name && name->node ? fv_import_path_in_all(r, name->node) : 0,
        .kind = name ? name->kind : 0,
    };
    return &r->locks[i];
}

static unsigned kind_of(const struct fv_import_rank *r, const struct fv_import_stream *s, bool is_omp)
{
    const struct fv_import_region *g = region_of_threads(r, s);

    if (is_omp)
        return FV_TW_OMP_LOCK;
    return strncmp(fv_import_text(r->import, g->name), "pthread_cond", 12) ? FV_TW_LOCK : FV_TW_CONDITION;
}

/* It waited from its call to when another thread released the lock last; in pthread_cond_wait(), which takes it again,
 * until that thread had signalled as well. */
static void acquire(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    bool is_omp = m->aux == OTF2_PARADIGM_OPENMP;
    uint32_t slot = fv_import_slot(r, s);
    struct fv_import_object object;
    const struct fv_import_lock *l = lock_of(r, m->ref, m->aux, &object);
    uint64_t since = region_of_threads(r, s) ? s->open[s->depth - 1].since : UINT64_MAX;

    if (l->slot != FV_NONE && l->slot != slot && l->released > since)
        tell_wait(r, s, kind_of(r, s, is_omp), l->released - since, fv_location_of(r->rank, l->slot), object,
                  l->released);
    fv_import_put(r, s,
                  (struct fv_record){ .kind = FV_REC_ACQUIRE,
                                      .ref = r->first_object + object.number,
                                      .aux = object.name,
                                      .tag = object.kind,
                                      .id = m->id,
                                      .op = is_omp,
                                      .context = path_of(r, s) });
}

static void release(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    struct fv_import_object object;
    struct fv_import_lock *l = lock_of(r, m->ref, m->aux, &object);

    l->released = s->now;
    l->slot = fv_import_slot(r, s);
    fv_import_put(r, s,
                  (struct fv_record){ .kind = FV_REC_RELEASE,
                                      .ref = r->first_object + object.number,
                                      .id = m->id,
                                      .op = m->aux == OTF2_PARADIGM_OPENMP });
}

void fv_import_leave_wait(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    bool is_omp = m->tag == FV_TW_OMP_LOCK || m->tag == FV_TW_OMP_BARRIER;
    const struct fv_import_location *cause = m->id ? fv_import_get(r->import, FV_IMPORT_LOCATION, m->id - 1) : NULL;
    uint32_t lock = s->open[s->depth - 1].lock;
    struct fv_import_object object = { 0 };

    r->has_threads = true;
    if (s->team_count)
        s->teams[s->team_count - 1].in_barrier = false;
    if (lock)
        lock_of(r, lock - 1, is_omp ? OTF2_PARADIGM_OPENMP : OTF2_PARADIGM_PTHREAD, &object);
    tell_wait(r, s, m->tag, m->received,
              cause && cause->rank == r->rank ? fv_location_of(r->rank, cause->slot) : FV_LOCATION_NONE, object,
              s->now);
}

/* ---- threads ---- */

static void end_thread(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    if (!fv_pendings_find(&r->gone, m->id))
        fv_pendings_add(&r->gone,
                        &(struct fv_pending){ .number = m->id, .sent = s->now, .peer = fv_import_slot(r, s) });
}

static void join_thread(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    struct fv_pending *p = fv_pendings_find(&r->gone, m->id);
    uint64_t since = region_of_threads(r, s) ? s->open[s->depth - 1].since : UINT64_MAX;

    if (!p)
        return;
    if (p->sent > since)
        tell_wait(r, s, FV_TW_JOIN, p->sent - since, fv_location_of(r->rank, p->peer), (struct fv_import_object){ 0 },
                  p->sent);
    fv_pendings_remove(&r->gone, p);
}

void fv_import_of_threads(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    r->has_threads = true;
    switch (m->kind) {
    case FV_REC_OMP_FORK: fork_region(r, s, m); return;
    case FV_REC_OMP_JOIN: join_region(r, s); return;
    case FV_REC_TEAM_BEGIN: begin_team(r, s, m->ref); return;
    case FV_REC_TEAM_END: end_team(r, s, m->ref); return;
    case FV_RAW_TASK_END: end_task(r, s); return;
    case FV_REC_ACQUIRE: acquire(r, s, m); return;
    case FV_REC_RELEASE: release(r, s, m); return;
    case FV_REC_THREAD_END: end_thread(r, s, m); break;
    case FV_REC_THREAD_JOIN: join_thread(r, s, m); break;
    default: break;
    }
    fv_import_put(r, s,
                  (struct fv_record){ .kind = m->kind,
                                      .ref = r->rank,
                                      .id = m->id,
                                      .context = path_of(r, s),
                                      .sent = region_of_threads(r, s) ? s->now - s->open[s->depth - 1].since : 0 });
}

void fv_import_threads_release(struct fv_import_rank *r)
{
    fv_index_release(&r->lock_index);
    fv_pendings_release(&r->gone);
    free(r->lock_keys);
    free(r->locks);
    free(r->instances);
}
