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

/* Which lock it is, by the function that it is waited for with. */
static unsigned kind_of_lock(const struct fv_transcript *t, uint32_t function, bool is_omp)
{
    const char *name = function < t->merge->defs.function_count ? t->merge->defs.functions[function].name : "";

    return is_omp                                 ? FV_SYNC_OMP
           : !strncmp(name, "pthread_rwlock", 14) ? FV_SYNC_RWLOCK
           : !strncmp(name, "pthread_spin", 12)   ? FV_SYNC_SPIN
                                                  : FV_SYNC_MUTEX;
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

/* A lock is acquired next. */
static void waited(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    const struct fv_record *enter = &f->enter;
    bool is_lock = m->op == FV_TW_LOCK || m->op == FV_TW_OMP_LOCK;
    unsigned kind = m->op == FV_TW_LOCK ? kind_of_lock(t, m->ref, false) : kind_of_wait(m->op);

    if (kind)
        add_wait(t, slot, kind, m->sent);
    if (!m->op || m->op == FV_TW_OMP_BARRIER) {
        barrier(t, slot, m, ticks);
        return;
    }
    fv_transcript_member_waited(t, slot, m->sent, 0);
    f->function = m->ref;
    f->is_pending = is_lock;
    f->pending = m->sent;
    if (!is_lock && kind)
        fv_transcript_operate(t, &(struct fv_transcript_operation){
                                     kind, FV_SYNC_WAIT,
                                     fv_transcript_object_of(t, kind, 0, FV_NONE, enter->context, slot, ticks), slot,
                                     enter->context, .waited = m->sent, .contended = true });
}

static void acquire(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_follow *f = &t->together->follow[slot];
    unsigned kind = kind_of_lock(t, f->is_pending ? f->function : FV_NONE, m->op);
    uint32_t lock = m->ref - t->merge->defs.ranks[t->rank].first_object;
    uint32_t object =
        fv_transcript_object_of(t, m->op ? FV_SYNC_OMP : FV_SYNC_MUTEX, lock, FV_NONE, m->context, slot, ticks);

    if (kind != FV_SYNC_OMP && kind != FV_SYNC_MUTEX)
        t->together->objects[object - 1].record.kind = (uint8_t)kind;
    kind = t->together->objects[object - 1].record.kind;
    fv_transcript_operate(t, &(struct fv_transcript_operation){ kind, FV_SYNC_LOCK, object, slot, m->context,
                                                                .waited = f->is_pending ? f->pending : 0,
                                                                .contended = f->is_pending });
    f->is_pending = false;
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
    free(w->objects);
    free(w->syncs);
    free(w->lives);
    free(w);
}
