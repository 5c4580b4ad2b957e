/* SPDX-License-Identifier: BSD-3-Clause */
/* See threads.h. */
#include "merge/threads.h"

#include <stdlib.h>
#include <string.h>

#define CALL(kind, operation) (FV_SYNC_##kind | FV_SYNC_##operation << 4)

const char *const fv_thread_wait_names[FV_TW_COUNT] = { "none",
#define FV_THREAD_WAIT(wait, name) name,
                                                        FV_THREAD_WAITS(FV_THREAD_WAIT)
#undef FV_THREAD_WAIT
};

enum fv_thread_wait fv_thread_wait_of(unsigned call)
{
    static const uint8_t waits[FV_SYNC_KINDS] = {
        [FV_SYNC_MUTEX] = FV_TW_LOCK,      [FV_SYNC_RWLOCK] = FV_TW_LOCK,    [FV_SYNC_SPIN] = FV_TW_LOCK,
        [FV_SYNC_BARRIER] = FV_TW_BARRIER, [FV_SYNC_COND] = FV_TW_CONDITION, [FV_SYNC_SEM] = FV_TW_SEMAPHORE,
        [FV_SYNC_JOIN] = FV_TW_JOIN,       [FV_SYNC_ONCE] = FV_TW_ONCE,      [FV_SYNC_OMP] = FV_TW_OMP_BARRIER,
    };

    return call == CALL(OMP, LOCK) ? FV_TW_OMP_LOCK : (enum fv_thread_wait)waits[call % FV_SYNC_KINDS];
}

static bool was_waited_for(const struct fv_sync_record *r)
{
    return (r->contended || r->failed || r->last) && r->kind < FV_SYNC_KINDS;
}

/* The records of operations that there was no room for do not say which they were. */
static void mark_record(const struct fv_sync_record *r, void (*mark)(void *, uint32_t, unsigned), void *context)
{
    for (unsigned operation = 1; operation < 16; operation++)
        if (!r->operation || r->operation == operation)
            mark(context, r->path, r->kind | operation << 4);
}

static void mark_regions(const struct fv_reader *reader, void (*mark)(void *, uint32_t, unsigned), void *context)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_OMP);
    struct fv_omp_region r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        mark(context, r.path, FV_THREAD_IMPLICIT_BARRIER);
    }
}

static void mark_works(const struct fv_reader *reader, void (*mark)(void *, uint32_t, unsigned), void *context)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_OMP_WORK);
    struct fv_omp_work r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (r.kind && r.kind < FV_OMP_WORK_KINDS && r.timed)
            mark(context, r.path, FV_THREAD_WORK(r.kind));
    }
}

/* What has no name of its own gets that of who first used it. */
struct marking {
    void (*mark)(void *, uint32_t, unsigned);
    void *context;
};
static void mark_object(void *context, const struct fv_sync_object *o, bool waited_for)
{
    const struct marking *m = context;

    if (waited_for && !(o->flags & FV_SYNC_STATIC))
        m->mark(m->context, o->path, 0);
}

void fv_threads_used(const struct fv_reader *reader, void (*mark)(void *, uint32_t, unsigned), void *context)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SYNC);
    struct fv_sync_thread now;
    struct fv_sync_record r;

    if (!fv_threads_objects(reader))
        return;
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (was_waited_for(&r))
            mark_record(&r, mark, context);
    }
    mark_regions(reader, mark, context);
    mark_works(reader, mark, context);
    fv_threads_each_object(reader, mark_object, &(struct marking){ mark, context });
    c = fv_cursor(reader, FV_CHUNK_SYNC_THREAD);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&now, p, sizeof(now));
        if (now.wait_begin)
            mark(context, now.wait_path, (now.wait_kind & 15u) | (now.wait_operation & 15u) << 4);
    }
}

static bool is_object(const struct fv_reader *reader, const struct fv_sync_object *o)
{
    return o->id <= fv_reader_bytes(reader) / sizeof(*o);
}

void fv_threads_each_object(const struct fv_reader *reader, void (*tell)(void *, const struct fv_sync_object *, bool),
                            void *context)
{
    uint32_t count = fv_threads_objects(reader);
    uint8_t *waited_for = fv_xcalloc((size_t)count + 1, 1);
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SYNC);
    struct fv_sync_record r;

    for (const void *p; count && (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (r.object < count && was_waited_for(&r))
            waited_for[r.object] = 1;
    }
    c = fv_cursor(reader, FV_CHUNK_SYNC_OBJECTS);
    for (const struct fv_sync_object *o; count && (o = fv_cursor_next(&c));)
        if (is_object(reader, o) && o->id)
            tell(context, o, waited_for[o->id]);
    free(waited_for);
}

bool fv_threads_use_omp(const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SYNC_OBJECTS);

    for (const struct fv_sync_object *o; (o = fv_cursor_next(&c));)
        if (o->kind == FV_SYNC_OMP)
            return fv_threads_objects(reader);
    return false;
}

/* Object 0, which is of those that there was no room for, has a number as well. */
uint32_t fv_threads_objects(const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SYNC_THREAD);
    uint32_t most = 0;

    if (!fv_reader_header(reader)->traced || !fv_cursor_next(&c))
        return 0;
    c = fv_cursor(reader, FV_CHUNK_SYNC_OBJECTS);
    for (const struct fv_sync_object *o; (o = fv_cursor_next(&c));)
        if (is_object(reader, o) && o->id > most)
            most = o->id;
    return most + 1;
}

uint32_t fv_defs_object_count(const struct fv_defs *d)
{
    const struct fv_def_rank *last = d->rank_count ? &d->ranks[d->rank_count - 1] : NULL;

    return last ? last->first_object + last->thread_objects : 0;
}

bool fv_defs_has_threads(const struct fv_defs *d)
{
    for (size_t i = 0; i < d->rank_count; i++)
        if (d->ranks[i].thread_objects)
            return true;
    return false;
}

bool fv_thread_call_is_omp(const char *name)
{
    return !strncmp(name, "omp ", 4);
}

bool fv_defs_has_omp(const struct fv_defs *d)
{
    for (size_t i = 0; i < d->rank_count; i++)
        if (d->ranks[i].omp_objects)
            return true;
    for (size_t i = 0; i < d->function_count; i++)
        if (d->functions[i].class == FV_CLASS_OF_THREADS && fv_thread_call_is_omp(d->functions[i].name))
            return true;
    return false;
}
