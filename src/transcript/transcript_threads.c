/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_state.h: what threads wait for each other, and their lives, as src/threads counts them. An archive
 * says of locks which they are; of all else only where it is waited for, which stands for it. */
#include "transcript/transcript_threads.h"
#include "base/options.h"
#include "merge/threads.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is waited for ---- */

static void add_wait(struct fv_transcript *t, uint32_t slot, unsigned kind, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];

    f->waited[kind] += ticks;
    f->all += ticks;
    f->in_mpi += t->threads[slot].call.is_open ? ticks : 0;
}

/* What is done in a function that threads wait in. */
struct doing {
    unsigned kind, operation; /* enum fv_sync_kind, 0: it is not known; enum fv_sync_operation */
};

static struct doing find_doing(const char *name)
{
    for (unsigned call = 0; call < FV_THREAD_CALLS; call++) {
        const char *of = fv_thread_call_name(call);

        if (of && !strcmp(of, name))
            return (struct doing){ call & 15u, call >> 4 };
    }
    return (struct doing){ 0 };
}

static struct doing doing_of(const struct fv_transcript *t, uint32_t function)
{
    const struct fv_defs *d = &t->merge->defs;
    struct fv_transcript_doing *of = function < d->function_count ? &t->together->doings[function] : NULL;

    if (of && !of->is_known) {
        struct doing found = find_doing(d->functions[function].name);

        *of = (struct fv_transcript_doing){ true, (uint8_t)found.kind, (uint8_t)found.operation };
    }
    return of ? (struct doing){ of->kind, of->operation } : (struct doing){ 0 };
}

static unsigned kind_of_wait(unsigned wait)
{
    static const uint8_t kinds[FV_TW_COUNT] = {
        [FV_TW_LOCK] = FV_SYNC_MUTEX,    [FV_TW_BARRIER] = FV_SYNC_BARRIER, [FV_TW_CONDITION] = FV_SYNC_COND,
        [FV_TW_SEMAPHORE] = FV_SYNC_SEM, [FV_TW_JOIN] = FV_SYNC_JOIN,       [FV_TW_ONCE] = FV_SYNC_ONCE,
        [FV_TW_OMP_LOCK] = FV_SYNC_OMP,  [FV_TW_OMP_BARRIER] = FV_SYNC_OMP,
    };

    return wait < FV_TW_COUNT ? kinds[wait] : 0;
}

static void barrier(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    uint32_t node = t->together->follow[slot].enter.context, object = fv_transcript_barrier(t, slot, ticks);
    struct fv_sync_record *r =
        fv_transcript_operate(t, &(struct fv_transcript_operation){ FV_SYNC_OMP, FV_SYNC_WAIT, object, slot, node,
                                                                    .waited = m->sent, .contended = m->op });

    r->last += !m->op;
    fv_transcript_member_waited(t, slot, m->sent, ticks - m->received - m->sent);
}

/* The module that names what is waited for; FV_NONE: it has no name. */
static uint32_t module_that_names(const struct fv_transcript *t, const struct fv_record *m)
{
    return m->aux ? t->merge->defs.tree.nodes[m->aux].module : FV_NONE;
}

/* Of `m`, which acquires a lock or enters where it is waited for. `kind`: as it seems. */
static uint32_t object_of(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint32_t lock,
                          unsigned *kind, uint64_t ticks)
{
    bool is_key = *kind == FV_SYNC_RWLOCK || *kind == FV_SYNC_SPIN; /* one that is not known yet is a mutex */
    uint32_t object =
        fv_transcript_object_of(t, is_key ? FV_SYNC_MUTEX : *kind, lock, FV_NONE, m->context, slot, ticks);

    fv_transcript_name(t, object, module_that_names(t, m));
    if (is_key || m->tag)
        t->together->objects[object - 1].record.kind = (uint8_t)(m->tag ? m->tag : *kind);
    *kind = t->together->objects[object - 1].record.kind;
    return object;
}

/* It waited for the lock in vain. */
static void give_up(struct fv_transcript *t, uint32_t slot, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    unsigned kind = f->is_omp ? FV_SYNC_OMP : doing_of(t, f->function).kind;
    const struct fv_record *enter = &f->awaited;

    if (!f->is_pending)
        return;
    f->is_pending = false;
    uint32_t object = object_of(t, slot, enter, f->lock, &kind, ticks);
    fv_transcript_operate(t, &(struct fv_transcript_operation){ kind, doing_of(t, f->function).operation, object, slot,
                                                                enter->context, .waited = f->pending, .contended = true,
                                                                .failed = true });
}

/* What is waited for otherwise, or met without waiting: a barrier, if one came last. */
static void wait_for(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, unsigned kind, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    uint32_t lock = f->enter.peer - t->merge->defs.ranks[t->rank].first_object;
    unsigned operation = doing_of(t, m->ref).operation;
    uint32_t object = object_of(t, slot, &f->enter, lock, &kind, ticks);
    struct fv_sync_record *r = fv_transcript_operate(
        t, &(struct fv_transcript_operation){ kind, operation ? operation : FV_SYNC_WAIT, object, slot,
                                              f->enter.context, .waited = m->sent, .contended = m->op });

    r->last += !m->op && kind == FV_SYNC_BARRIER;
    f->returns = kind == FV_SYNC_COND;
}

/* In the trace, as the region that it is waited in. */
static void put_wait(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, unsigned kind,
                     unsigned operation, uint64_t ticks)
{
    const struct fv_record *enter = &t->together->follow[slot].enter;
    const uint64_t end = ticks - m->received, mine = fv_location_of(t->world, 0);
    uint64_t field[FV_EV_FIELDS_WAIT] = { 0,
                                          0,
                                          0,
                                          fv_transcript_path(t, enter->context),
                                          kind | (operation ? operation : FV_SYNC_WAIT) << 4 | FV_WAITED << 8,
                                          (uint32_t)m->id == (uint32_t)mine ? (m->id >> 32) + 1 : 0 };

    fv_transcript_lasting(t, &t->threads[slot], FV_EV_WAIT, end - m->sent, end, field);
}

/* A lock is acquired next, if it is. */
static void waited(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    struct doing doing = doing_of(t, m->ref);
    bool is_lock = m->op == FV_TW_LOCK || m->op == FV_TW_OMP_LOCK;
    unsigned kind = m->op == FV_TW_LOCK && doing.kind ? doing.kind : kind_of_wait(m->op);

    give_up(t, slot, ticks);
    if (kind)
        add_wait(t, slot, kind, m->sent);
    if (kind && m->sent)
        put_wait(t, slot, m, kind, is_lock ? FV_SYNC_LOCK : doing.operation, ticks);
    if (m->op ? m->op == FV_TW_OMP_BARRIER : doing.kind == FV_SYNC_OMP) {
        barrier(t, slot, m, ticks);
        return;
    }
    fv_transcript_member_waited(t, slot, m->sent, 0);
    if (!is_lock) {
        if (kind || doing.kind)
            wait_for(t, slot, m, kind ? kind : doing.kind, ticks);
        return;
    }
    f->awaited = f->enter;
    f->lock = f->enter.peer - t->merge->defs.ranks[t->rank].first_object;
    f->function = m->ref;
    f->is_omp = m->op == FV_TW_OMP_LOCK;
    f->is_pending = true;
    f->pending = m->sent;
}

/* pthread_cond_wait() takes its lock again, which is no operation of its own. */
static void acquire(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    uint32_t lock = m->ref - t->merge->defs.ranks[t->rank].first_object;

    if (f->is_pending && f->lock && f->lock != lock)
        give_up(t, slot, ticks);
    struct doing doing = f->is_pending ? doing_of(t, f->function) : (struct doing){ 0 };
    unsigned kind = m->op ? FV_SYNC_OMP : doing.kind ? doing.kind : FV_SYNC_MUTEX;
    uint32_t object = object_of(t, slot, m, lock, &kind, ticks);
    const struct fv_transcript_operation o = { kind,
                                               doing.operation ? doing.operation : FV_SYNC_LOCK,
                                               object,
                                               slot,
                                               f->is_pending ? f->awaited.context : m->context,
                                               .waited = f->is_pending ? f->pending : 0,
                                               .contended = f->is_pending };

    if (!f->returns)
        fv_transcript_operate(t, &o);
    f->returns = f->is_pending = false;
}

/* ---- lives ---- */

static struct fv_thread_life *new_life(struct fv_transcript_threads *w)
{
    FV_GROW(w->lives, w->life_room, w->life_count + 1);
    w->lives[w->life_count] = (struct fv_thread_life){ .id = (uint32_t)w->life_count + 1,
                                                       .thread = FV_NO_THREAD,
                                                       .creator = FV_NO_THREAD,
                                                       .joiner = FV_NO_THREAD,
                                                       .routine_module = FV_MODULE_UNKNOWN };
    return &w->lives[w->life_count++];
}

static struct fv_thread_life *life_of(struct fv_transcript_threads *w, uint64_t number)
{
    const struct fv_pending *p = number ? fv_pendings_find(&w->births, number) : NULL;

    return p ? &w->lives[p->sent] : NULL;
}

static struct fv_thread_life *born(struct fv_transcript_threads *w, uint64_t number)
{
    struct fv_thread_life *life = life_of(w, number);

    if (!life && number)
        fv_pendings_add(&w->births, &(struct fv_pending){ .number = number, .sent = w->life_count });
    return life ? life : new_life(w);
}

static void begin_life(struct fv_transcript *t, uint32_t slot, uint64_t number, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    struct fv_thread_life *life = born(t->together, number);

    if (life->begin)
        return;
    life->thread = life->tid = slot;
    life->begin = ticks;
    life->wait_at_begin = f->all;
    f->life = life->id;
}

static void end_life(struct fv_transcript *t, uint32_t slot, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    struct fv_thread_life *life = f->life ? &t->together->lives[f->life - 1] : NULL;

    if (!life || life->end)
        return;
    life->end = ticks;
    life->wait_at_end = f->all;
}

static void of_life(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    struct fv_thread_life *life;

    switch (m->kind) {
    case FV_REC_THREAD_CREATE:
        life = born(t->together, m->id);
        life->creator = slot;
        life->created = ticks;
        life->create_path = fv_transcript_path(t, m->context);
        break;
    case FV_REC_THREAD_BEGIN: begin_life(t, slot, m->id, ticks); break;
    case FV_REC_THREAD_END: end_life(t, slot, ticks); break;
    default:
        life = life_of(t->together, m->id);
        if (!life)
            return;
        life->joiner = slot;
        life->join_path = fv_transcript_path(t, m->context);
        life->join_begin = ticks - m->sent;
        life->join_end = ticks;
    }
}

/* The first function of the program that a new thread is in is the one it begins with. */
static void of_function(struct fv_transcript *t, uint32_t slot, const struct fv_record *m)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    struct fv_thread_life *life = f->life ? &t->together->lives[f->life - 1] : NULL;

    if (life && life->creator != FV_NO_THREAD && life->routine_module == FV_MODULE_UNKNOWN && !life->end)
        life->routine_module = fv_transcript_module(t, t->merge->defs.tree.nodes[m->context].module);
}

/* ---- all of it ---- */

void fv_transcript_together(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    if (!t->merge->defs.ranks[t->rank].thread_objects)
        return;
    if (!t->together) {
        t->together = fv_xcalloc(1, sizeof(*t->together));
        t->together->follow = fv_xcalloc((size_t)t->thread_count + 1, sizeof(*t->together->follow));
        t->together->doings = fv_xcalloc(t->merge->defs.function_count + 1, sizeof(*t->together->doings));
    }
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_INSTANCE:
        of_function(t, slot, m);
        fv_transcript_construct(t, slot, m, ticks);
        break;
    case FV_REC_INSTANCE_END: fv_transcript_construct_end(t, slot, ticks); break;
    case FV_REC_REGION_ENTER: t->together->follow[slot].enter = *m; break;
    case FV_REC_REGION_LEAVE: waited(t, slot, m, ticks); break;
    case FV_REC_ACQUIRE: acquire(t, slot, m, ticks); break;
    case FV_REC_RELEASE: break;
    case FV_REC_THREAD_CREATE:
    case FV_REC_THREAD_BEGIN:
    case FV_REC_THREAD_END:
    case FV_REC_THREAD_JOIN: of_life(t, slot, m, ticks); break;
    default: fv_transcript_team(t, slot, m, ticks);
    }
}

/* A thread that nobody is seen to make, one of OpenMP's, lives as long as there are events of it. */
static void put_lives(struct fv_transcript *t)
{
    struct fv_transcript_threads *w = t->together;

    for (uint32_t slot = 0; slot < t->thread_count; slot++) {
        const struct fv_thread_record *r = &t->threads[slot].record;

        if (w->follow[slot].life)
            end_life(t, slot, r->end);
        else if (r->begin) {
            begin_life(t, slot, 0, r->begin);
            w->lives[w->life_count - 1].wait_at_begin = 0;
            end_life(t, slot, r->end);
        }
    }
    fv_transcript_chunk(t, FV_CHUNK_LIVES, FV_NO_THREAD, 0, w->lives, w->life_count * sizeof(*w->lives));
}

static void put_waits(struct fv_transcript *t)
{
    struct fv_transcript_threads *w = t->together;
    struct fv_bytes objects = { 0 }, syncs = { 0 };

    for (size_t i = 0; i < w->object_count; i++)
        fv_bytes_put(&objects, &w->objects[i].record, sizeof(w->objects[i].record));
    for (size_t i = 0; i < w->sync_count; i++)
        fv_bytes_put(&syncs, &w->syncs[i].record, sizeof(w->syncs[i].record));
    fv_transcript_chunk(t, FV_CHUNK_SYNC_OBJECTS, FV_NO_THREAD, 0, objects.data, objects.count);
    fv_transcript_chunk(t, FV_CHUNK_SYNC, 0, 0, syncs.data, syncs.count);
    free(objects.data);
    free(syncs.data);
    for (uint32_t slot = 0; slot < t->thread_count; slot++) {
        struct fv_sync_thread r = { .mode = FV_THREADS_ON, .in_mpi_ticks = w->follow[slot].in_mpi };

        memcpy(r.wait_ticks, w->follow[slot].waited, sizeof(r.wait_ticks));
        fv_transcript_chunk(t, FV_CHUNK_SYNC_THREAD, slot, 0, &r, sizeof(r));
    }
}

void fv_transcript_together_close(struct fv_transcript *t)
{
    struct fv_transcript_threads *w = t->together;

    if (!w)
        return;
    for (uint32_t slot = 0; slot < t->thread_count; slot++)
        give_up(t, slot, t->threads[slot].record.end);
    fv_transcript_teams_close(t);
    put_waits(t);
    put_lives(t);
    for (uint32_t slot = 0; slot < t->thread_count; slot++) {
        free(w->follow[slot].places);
        free(w->follow[slot].works);
    }
    fv_index_release(&w->object_index);
    fv_index_release(&w->sync_index);
    fv_pendings_release(&w->births);
    free(w->follow);
    free(w->doings);
    free(w->objects);
    free(w->syncs);
    free(w->lives);
    free(w);
}
