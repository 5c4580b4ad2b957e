/* SPDX-License-Identifier: BSD-3-Clause */
/* Worksharing of OpenMP: loops, sections, singles and the like, as each thread of a team does its part. What GCC calls
 * says where loops begin that are not scheduled statically, sections, and who does a single; OMPT tells of all
 * (ompt.c).
 *
 * Of one team, or in one task, a thread is in one such construct at a time: so what is open is found by its team, and
 * what was never ended (the program left it by a cancellation) ends with the next, or with the task or the team's
 * part. */
#include "threads/omp_work.h"
#include "rt/map.h"
#include "threads/omp_entries.h"

enum {
    OPEN_MOST = 64,      /* tasks within tasks, most of all */
    RECORDS_MOST = 4096, /* of a thread */
};

struct open {
    struct fv_omp_work *record;
    const struct fv_omp_member *member; /* NULL: of no team that is recorded */
    uint64_t begin, waited;
    bool traced;
};

struct fv_omp_works {
    struct fv_map map;
    struct fv_tail tail;
    unsigned depth;
    struct open open[OPEN_MOST];
};

struct place {
    uint64_t key, where; /* the path; of tasks the address in their function, or of the call that makes them */
    struct fv_omp_work *record;
};

/* ---- records ---- */

static bool is_of(const struct place *p, uint32_t region, uint64_t where, unsigned kind)
{
    return p->where == where && p->record->region == region && p->record->kind == kind;
}

static struct fv_omp_work *new_record(struct fv_sync *s, uint32_t region, uint32_t path, unsigned kind)
{
    static const struct fv_tail_kind tail = { .type = FV_CHUNK_OMP_WORK, .first_pages = 1, .most_pages = 4 };
    struct fv_omp_work *record = fv_tail_next(&s->works->tail, &tail, s->thread->id, sizeof(*record), false);

    if (!record)
        return NULL;
    *record = (struct fv_omp_work){ .region = region, .path = path, .kind = kind };
    fv_tail_commit(&s->works->tail, sizeof(*record));
    return record;
}

/* Files are written, locks taken: nothing of that is the application's. NULL: no room, which is counted. */
static FV_COLD struct fv_omp_work *make_record(struct fv_sync *s, uint64_t key, uint32_t region, uint64_t where,
                                               unsigned kind)
{
    struct fv_thread *current = fv_current;
    struct fv_scope scope = fv_scope_enter();

    fv_current = NULL;
    struct place *place = fv_map_add(&s->works->map, sizeof(*place), key, 4 * RECORDS_MOST);
    uint32_t path = kind == FV_OMP_WORK_TASK ? fv_sync_site_path((uintptr_t)where) : (uint32_t)where;
    struct fv_omp_work *record = place ? new_record(s, region, path, kind) : NULL;
    if (place && record) {
        place->where = where;
        place->record = record;
    } else if (place) {
        fv_map_erase(&s->works->map, sizeof(*place), place);
    }
    s->state->overflow += !record;
    fv_current = current;
    fv_scope_leave(&scope);
    return record;
}

static struct fv_omp_work *record_of(struct fv_sync *s, const struct fv_omp_member *m, unsigned kind, uint64_t where)
{
    uint32_t region = m ? m->team->entry->record->id : 0;
    uint64_t key = fv_mix2(where, (uint64_t)region << 32 | kind) | 1;
    struct place *place;

    if (!s->works && !(s->works = fv_memory_new(sizeof(*s->works))))
        return NULL;
    while ((place = fv_map_find(&s->works->map, sizeof(*place), key)) && !is_of(place, region, where, kind))
        key += 2;
    return FV_LIKELY(place != NULL) ? place->record : make_record(s, key, region, where, kind);
}

/* ---- begin and end ---- */

static void close_open(struct fv_sync *s, struct open *open)
{
    uint64_t now = fv_ticks(), time = now - open->begin;
    struct fv_omp_work *r = open->record;

    r->timed++;
    r->time += time;
    r->time_max = time > r->time_max ? time : r->time_max;
    r->wait += fv_sync_wait_ticks(s) - open->waited;
    if (FV_UNLIKELY(open->traced))
        fv_sync_trace_work_end(s, r->kind, now);
}

/* What of the team is inside of the task that the thread runs, if it runs one; `all`: and that, too. */
static void end_of(struct fv_sync *s, const struct fv_omp_member *m, bool all)
{
    struct fv_omp_works *w = s->works;

    while (w && w->depth && w->open[w->depth - 1].member == m &&
           (all || w->open[w->depth - 1].record->kind != FV_OMP_WORK_TASK))
        close_open(s, &w->open[--w->depth]);
}

/* False: no room. */
static bool begin(struct fv_sync *s, const struct fv_omp_member *m, unsigned kind, uint64_t where)
{
    struct fv_omp_work *record = record_of(s, m, kind, where);

    if (!record)
        return false;
    record->count++;
    record->executed++;
    if (FV_UNLIKELY(s->works->depth == OPEN_MOST))
        return false;
    struct open *open = &s->works->open[s->works->depth++];
    *open = (struct open){ .record = record, .member = m, .waited = fv_sync_wait_ticks(s), .begin = fv_ticks() };
    open->traced =
        FV_UNLIKELY(fv_sync_wants(FV_SYNC_TRACED)) && fv_sync_trace_work_begin(s, kind, record->path, open->begin);
    return true;
}

void fv_omp_work_begin(enum fv_omp_work_kind kind, struct fv_call_place site)
{
    struct fv_sync *s = fv_sync_enter();
    const struct fv_omp_member *m = fv_omp_member();

    if (!s)
        return;
    end_of(s, m, false);
    begin(s, m, kind, fv_omp_path(s, site));
}

void fv_omp_work_of_member(struct fv_omp_member *m, enum fv_omp_work_kind kind)
{
    if (m && m->s)
        begin(m->s, m, kind, m->team->entry->record->path);
}

void fv_omp_work_end(enum fv_omp_work_kind kind)
{
    struct fv_sync *s = fv_sync_enter();
    struct fv_omp_works *w = s ? s->works : NULL;
    const struct fv_omp_member *m = fv_omp_member();

    if (w && w->depth && w->open[w->depth - 1].member == m && w->open[w->depth - 1].record->kind == kind)
        close_open(s, &w->open[--w->depth]);
}

bool fv_omp_work_task_begin(const void *place)
{
    struct fv_sync *s = fv_sync_enter();

    return s && begin(s, fv_omp_member(), FV_OMP_WORK_TASK, (uintptr_t)place);
}

void fv_omp_work_task_end(void)
{
    struct fv_sync *s = fv_sync_enter();

    if (s)
        end_of(s, fv_omp_member(), false);
    fv_omp_work_end(FV_OMP_WORK_TASK);
}

void fv_omp_work_left(const struct fv_omp_member *m)
{
    if (m->s)
        end_of(m->s, m, true);
}

void fv_omp_work_met(enum fv_omp_work_kind kind, bool executes, struct fv_call_place site)
{
    struct fv_sync *s = fv_sync_enter();
    struct fv_omp_work *record = s ? record_of(s, fv_omp_member(), kind, fv_omp_path(s, site)) : NULL;

    if (!record)
        return;
    record->count++;
    record->executed += executes;
}

/* ---- what GCC calls ---- */

#define BEGIN(kind, function, ...)                             \
    {                                                          \
        fv_omp_work_begin(FV_OMP_WORK_##kind, FV_CALL_SITE()); \
        return FV_OMP_NEXT()->function(__VA_ARGS__);           \
    }
#define LOOP(function)                                                                            \
    FV_PUBLIC bool function(long start, long end, long step, long chunk, long *first, long *last) \
        BEGIN(LOOP, function, start, end, step, chunk, first, last)
#define LOOP_AT_RUNTIME(function)                                                     \
    FV_PUBLIC bool function(long start, long end, long step, long *first, long *last) \
        BEGIN(LOOP, function, start, end, step, first, last)
#define LOOP_ULL(function)                                                                                             \
    FV_PUBLIC bool function(bool up, fv_ull start, fv_ull end, fv_ull step, fv_ull chunk, fv_ull *first, fv_ull *last) \
        BEGIN(LOOP, function, up, start, end, step, chunk, first, last)
#define LOOP_ULL_AT_RUNTIME(function)                                                                    \
    FV_PUBLIC bool function(bool up, fv_ull start, fv_ull end, fv_ull step, fv_ull *first, fv_ull *last) \
        BEGIN(LOOP, function, up, start, end, step, first, last)
#define DOACROSS(function, type)                                                               \
    FV_PUBLIC bool function(unsigned count, type *counts, type chunk, type *first, type *last) \
        BEGIN(LOOP, function, count, counts, chunk, first, last)
#define DOACROSS_AT_RUNTIME(function, type)                                        \
    FV_PUBLIC bool function(unsigned count, type *counts, type *first, type *last) \
        BEGIN(LOOP, function, count, counts, first, last)
/* With reductions over tasks. */
#define LOOP_WITH(function)                                                                                 \
    FV_PUBLIC bool function(long start, long end, long step, long how, long chunk, long *first, long *last, \
                            uintptr_t *reductions, void **memory)                                           \
        BEGIN(LOOP, function, start, end, step, how, chunk, first, last, reductions, memory)
#define LOOP_ULL_WITH(function)                                                                                    \
    FV_PUBLIC bool function(bool up, fv_ull start, fv_ull end, fv_ull step, long how, fv_ull chunk, fv_ull *first, \
                            fv_ull *last, uintptr_t *reductions, void **memory)                                    \
        BEGIN(LOOP, function, up, start, end, step, how, chunk, first, last, reductions, memory)
#define DOACROSS_WITH(function, type)                                                                    \
    FV_PUBLIC bool function(unsigned count, type *counts, long how, type chunk, type *first, type *last, \
                            uintptr_t *reductions, void **memory)                                        \
        BEGIN(LOOP, function, count, counts, how, chunk, first, last, reductions, memory)

LOOP(GOMP_loop_static_start)
LOOP(GOMP_loop_dynamic_start)
LOOP(GOMP_loop_guided_start)
LOOP(GOMP_loop_nonmonotonic_dynamic_start)
LOOP(GOMP_loop_nonmonotonic_guided_start)
LOOP(GOMP_loop_ordered_static_start)
LOOP(GOMP_loop_ordered_dynamic_start)
LOOP(GOMP_loop_ordered_guided_start)
LOOP_AT_RUNTIME(GOMP_loop_runtime_start)
LOOP_AT_RUNTIME(GOMP_loop_nonmonotonic_runtime_start)
LOOP_AT_RUNTIME(GOMP_loop_maybe_nonmonotonic_runtime_start)
LOOP_AT_RUNTIME(GOMP_loop_ordered_runtime_start)
LOOP_ULL(GOMP_loop_ull_static_start)
LOOP_ULL(GOMP_loop_ull_dynamic_start)
LOOP_ULL(GOMP_loop_ull_guided_start)
LOOP_ULL(GOMP_loop_ull_nonmonotonic_dynamic_start)
LOOP_ULL(GOMP_loop_ull_nonmonotonic_guided_start)
LOOP_ULL(GOMP_loop_ull_ordered_static_start)
LOOP_ULL(GOMP_loop_ull_ordered_dynamic_start)
LOOP_ULL(GOMP_loop_ull_ordered_guided_start)
LOOP_ULL_AT_RUNTIME(GOMP_loop_ull_runtime_start)
LOOP_ULL_AT_RUNTIME(GOMP_loop_ull_nonmonotonic_runtime_start)
LOOP_ULL_AT_RUNTIME(GOMP_loop_ull_maybe_nonmonotonic_runtime_start)
LOOP_ULL_AT_RUNTIME(GOMP_loop_ull_ordered_runtime_start)
DOACROSS(GOMP_loop_doacross_static_start, long)
DOACROSS(GOMP_loop_doacross_dynamic_start, long)
DOACROSS(GOMP_loop_doacross_guided_start, long)
DOACROSS_AT_RUNTIME(GOMP_loop_doacross_runtime_start, long)
DOACROSS(GOMP_loop_ull_doacross_static_start, fv_ull)
DOACROSS(GOMP_loop_ull_doacross_dynamic_start, fv_ull)
DOACROSS(GOMP_loop_ull_doacross_guided_start, fv_ull)
DOACROSS_AT_RUNTIME(GOMP_loop_ull_doacross_runtime_start, fv_ull)
LOOP_WITH(GOMP_loop_start)
LOOP_WITH(GOMP_loop_ordered_start)
LOOP_ULL_WITH(GOMP_loop_ull_start)
LOOP_ULL_WITH(GOMP_loop_ull_ordered_start)
DOACROSS_WITH(GOMP_loop_doacross_start, long)
DOACROSS_WITH(GOMP_loop_ull_doacross_start, fv_ull)

FV_PUBLIC unsigned GOMP_sections_start(unsigned count) BEGIN(SECTIONS, GOMP_sections_start, count) FV_PUBLIC
    unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
        BEGIN(SECTIONS, GOMP_sections2_start, count, reductions, memory)

            FV_PUBLIC void GOMP_loop_end_nowait(void)
{
    fv_omp_work_end(FV_OMP_WORK_LOOP);
    FV_OMP_NEXT()->GOMP_loop_end_nowait();
}

FV_PUBLIC void GOMP_sections_end_nowait(void)
{
    fv_omp_work_end(FV_OMP_WORK_SECTIONS);
    FV_OMP_NEXT()->GOMP_sections_end_nowait();
}

/* When it ends nothing tells. */
FV_PUBLIC bool GOMP_single_start(void)
{
    bool executes = FV_OMP_NEXT()->GOMP_single_start();

    fv_omp_work_met(FV_OMP_WORK_SINGLE, executes, FV_CALL_SITE());
    return executes;
}
