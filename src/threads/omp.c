/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions and tasks of OpenMP (see struct fv_omp_region). libgomp waits by futexes of its own, which
 * nobody can interpose; so the function that a team runs is ours, which calls the program's, and tells when
 * each thread began and when it came to the barrier at the region's end. That one is over when the last has
 * come. The forking thread adds up, when libgomp has returned: nobody else is in the region then.
 *
 * A thread that waits may run tasks meanwhile, which is no waiting. Thus the function of a task is ours, too,
 * found behind its data: libgomp copies the data by a function of ours, which adds it there.
 *
 * libgomp has no OMPT; run-time libraries that have it tell ompt.c the same. Not seen: programs made by GCC before 4.9,
 * whose forking thread calls its part itself (GOMP_parallel_start). */
#include "rt/counters.h"
#include "threads/omp_entries.h"
#include "threads/omp_work.h"
#include "threads/solo.h"

#include <string.h>

FV_TLS uint64_t fv_omp_worked;
FV_TLS bool fv_omp_forks;
bool fv_omp_is_told;

/* What to call libgomp with in place of what the program did. */
struct call {
    fv_omp_body *body;
    void *data;
    struct fv_omp_team *team; /* NULL: as the program did */
    struct fv_call_place site;
};

/* ---- in a region ---- */

uint64_t fv_omp_waited(const struct fv_omp_member *m)
{
    return m->s ? fv_sync_wait_ticks(m->s) - m->waited_before : 0;
}

void fv_omp_count_begin(const struct fv_omp_member *m)
{
    struct fv_thread *t = m->s ? m->s->thread : NULL;

    if (FV_LIKELY(!t || !t->counters))
        return;
    uint64_t begin = fv_ticks();

    fv_counters_region_begin(t, m->team->entry->record->id);
    t->record->cold_ticks += fv_ticks() - begin;
}

void fv_omp_count_end(const struct fv_omp_member *m, uint64_t ticks, unsigned parts)
{
    struct fv_thread *t = m->s ? m->s->thread : NULL;

    if (FV_LIKELY(!t || !t->counters))
        return;
    uint64_t begin = fv_ticks();

    fv_counters_region_end(t, m->team->entry->record->id, ticks, parts);
    t->record->cold_ticks += fv_ticks() - begin;
}

static void enter(struct fv_omp_member *m, struct fv_omp_team *team)
{
    fv_sync_application = true; /* threads of a team are, whenever they were made */
    m->team = team;
    m->s = fv_sync_enter();
    m->end = 0;
    m->tasks = 0;
    m->waited_before = 0;
    m->waited_before = fv_omp_waited(m);
    fv_omp_current = m;
    fv_omp_count_begin(m);
    m->begin = fv_ticks();
    if (FV_UNLIKELY(team->traced) && m->s)
        fv_sync_trace_team_begin(m->s, team->traced, m->begin);
}

/* For reports of a process that is killed now. */
static void waits_now(const struct fv_omp_member *m)
{
    struct fv_sync_thread *state = m->s->state;
    const struct fv_omp_region *region = m->team->entry->record;

    state->wait_object = region->object;
    state->wait_path = region->path;
    state->wait_kind = FV_SYNC_OMP;
    state->wait_operation = FV_SYNC_WAIT;
    __atomic_store_n(&state->wait_begin, m->end, __ATOMIC_RELEASE);
}

void fv_omp_member_end(struct fv_omp_member *m)
{
    if (FV_UNLIKELY(!__atomic_load_n(&fv_sync_mode, __ATOMIC_RELAXED)))
        return; /* in the child of a fork that was made in there: the file is its parent's */
    if (FV_UNLIKELY(m->team->solo))
        fv_gate_exit();
    fv_omp_work_left(m);
    m->came = fv_ticks();
    m->waited = fv_omp_waited(m);
    m->end = m->came;
    if (!m->s)
        return;
    fv_omp_count_end(m, m->end - m->begin, 1);
    waits_now(m);
    if (FV_UNLIKELY(m->team->traced))
        fv_sync_trace_team_end(m->s, m->team->traced, m->end);
}

struct fv_omp_member *fv_omp_member_begin(struct fv_omp_team *team, unsigned number, unsigned size)
{
    if (FV_UNLIKELY(team->solo))
        fv_gate_enter(team->solo, number, size);
    if (FV_UNLIKELY(number >= FV_OMP_MEMBERS)) {
        __atomic_fetch_add(&team->lost, 1, __ATOMIC_RELAXED);
        return fv_omp_current = NULL;
    }
    enter(&team->member[number], team);
    return &team->member[number];
}

/* In place of the program's function. */
static FV_UNSEEN void run_member(void *arg)
{
    struct fv_omp_team *team = arg;
    unsigned number = (unsigned)team->next->omp_get_thread_num(), size = (unsigned)team->next->omp_get_num_threads();

    if (!number) {
        team->size = size;
        team->level = (uint32_t)team->next->omp_get_level();
    }
    struct fv_omp_member *m = fv_omp_member_begin(team, number, size);
    if (team->work)
        fv_omp_work_of_member(m, (enum fv_omp_work_kind)team->work);
    team->body(team->data);
    if (FV_LIKELY(m != NULL))
        fv_omp_member_end(m);
}

/* ---- a region's end ---- */

static void stop_waiting(const struct fv_omp_member *m)
{
    uint64_t began = m->came;

    __atomic_compare_exchange_n(&m->s->state->wait_begin, &began, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void count_join(const struct fv_omp_part *part, const struct fv_omp_member *m, uint64_t ticks, bool is_last)
{
    if (part->join) {
        part->join->acquired++;
        part->join->last += is_last;
        part->join->contended += !is_last;
    }
    if (is_last || !m->s)
        return;
    fv_sync_waited_for(m->s, FV_SYNC_OMP, ticks);
    if (part->join)
        fv_sync_add_wait(part->join, ticks);
}

struct numbers {
    uint64_t time, wait, join, fork;
};

static struct numbers numbers_of(const struct fv_omp_member *m, uint64_t all_came)
{
    struct numbers n = { .time = m->end - m->begin + m->tasks, .wait = m->waited };
    uint64_t join = all_came - m->end;

    n.join = join > m->tasks ? join - m->tasks : 0;
    n.wait = n.wait < n.time ? n.wait : n.time;
    n.fork = m->begin - m->team->call;
    return n;
}

static void add_part(struct fv_omp_part *part, const struct fv_omp_member *m, const struct numbers *n, bool is_last)
{
    struct fv_omp_thread *r = part->record;

    r->count++;
    r->time += n->time;
    r->time_max = n->time > r->time_max ? n->time : r->time_max;
    r->wait += n->wait;
    r->join += n->join;
    r->join_max = n->join > r->join_max ? n->join : r->join_max;
    r->fork += n->fork;
    r->tasks += m->tasks;
    r->last += is_last;
    count_join(part, m, n->join, is_last);
}

struct sums {
    uint64_t time, wait, join, fork, tasks, longest, useful;
    uint64_t all_came;
    uint32_t last; /* thread + 1; 0: not known */
};

static struct sums add_members(struct fv_omp_team *team, uint32_t size, struct fv_call_place site)
{
    struct sums sums = { .all_came = 0 };
    struct fv_omp_part *part = NULL;
    bool has_last = false;

    for (uint32_t i = 0; i < size; i++)
        if (team->member[i].came > sums.all_came)
            sums.all_came = team->member[i].came;
    for (uint32_t i = 0; i < size; i++) {
        const struct fv_omp_member *m = &team->member[i];
        struct numbers n = numbers_of(m, sums.all_came);
        bool is_last = !has_last && m->came == sums.all_came; /* of two in the same tick one */

        has_last = has_last || is_last;
        if (m->s)
            stop_waiting(m);
        if (is_last && m->s)
            sums.last = m->s->thread->id + 1;
        struct fv_omp_part *found =
            fv_omp_part_of(team->s, team->entry, part, i, m->s ? m->s->thread->id : FV_NO_THREAD, site);
        if (found) {
            add_part(found, m, &n, is_last);
            part = found;
        }
        sums.time += n.time;
        sums.wait += n.wait;
        sums.join += n.join;
        sums.fork += n.fork;
        sums.tasks += m->tasks;
        sums.longest = n.time > sums.longest ? n.time : sums.longest;
        sums.useful = n.time - n.wait > sums.useful ? n.time - n.wait : sums.useful;
    }
    return sums;
}

static void add_region(const struct fv_omp_team *team, const struct sums *sums, uint64_t now)
{
    struct fv_omp_region *r = team->entry->record;
    uint64_t elapsed = now - team->call;

    r->level = r->count ? r->level : team->level;
    r->threads_min = r->count && r->threads_min < team->size ? r->threads_min : team->size;
    r->threads_max = r->threads_max > team->size ? r->threads_max : team->size;
    r->threads += team->size;
    r->elapsed += elapsed;
    r->elapsed_max = elapsed > r->elapsed_max ? elapsed : r->elapsed_max;
    r->time += sums->time;
    r->wait += sums->wait;
    r->join += sums->join;
    r->fork += sums->fork;
    r->tasks += sums->tasks;
    r->longest += sums->longest;
    r->useful_longest += sums->useful;
    r->weighted += team->size * sums->longest;
    r->untimed += team->untimed;
    r->lost += team->lost;
    r->last = now;
    r->open = team->open_before;
    r->count++;
}

/* ---- begin and end of a region ---- */

static struct fv_omp_team *take_team(struct fv_sync *s)
{
    struct fv_omp_team *team = s->omp->unused;

    if (team)
        s->omp->unused = team->unused;
    else
        team = fv_memory_new(sizeof(*team));
    return team;
}

struct fv_omp_team *fv_omp_fork(struct fv_sync *s, fv_omp_body *body, unsigned threads, struct fv_call_place site)
{
    struct fv_omp_entry *entry = fv_omp_entry_of(s, body, site);
    struct fv_omp_team *team = entry ? take_team(s) : NULL;

    if (!team)
        return NULL;
    team->body = body;
    team->next = NULL;
    team->s = s;
    team->entry = entry;
    team->outer = fv_omp_current;
    team->arrivals = team->tasks = team->untimed = team->lost = 0;
    team->size = team->last = team->work = 0;
    team->call = fv_ticks();
    team->open_before = entry->record->open;
    entry->record->open = team->call;
    __atomic_store_n(&team->runs, true, __ATOMIC_RELAXED);
    team->traced = fv_sync_mode & FV_SYNC_TRACED ? fv_sync_trace_fork(s, team->call, threads, entry->record->path) : 0;
    team->solo = fv_solo_is_on() ? fv_solo_fork(s, entry->record) : 0;
    return team;
}

void fv_omp_join(struct fv_omp_team *team, struct fv_call_place site)
{
    uint64_t now = fv_ticks();

    __atomic_store_n(&team->runs, false, __ATOMIC_RELAXED);
    fv_omp_current = team->outer;
    if (!__atomic_load_n(&fv_sync_mode, __ATOMIC_RELAXED))
        return; /* in the child of a fork that was made in there */
    if (FV_UNLIKELY(team->solo))
        fv_solo_join(team->solo);
    uint32_t size = team->size < FV_OMP_MEMBERS ? team->size : FV_OMP_MEMBERS;
    struct sums sums = add_members(team, size, site);
    add_region(team, &sums, now);
    if (FV_UNLIKELY(team->traced))
        fv_sync_trace_omp_join(team->s, team->traced, now, now - sums.all_came, sums.last, team->entry->record);
    team->unused = team->s->omp->unused;
    team->s->omp->unused = team;
}

/* ---- around libgomp's call ---- */

static struct call begin_region(const struct fv_omp_next *next, fv_omp_body *body, void *data, unsigned threads,
                                unsigned work, struct fv_call_place site)
{
    struct fv_sync *s = fv_sync_enter();
    struct fv_omp_team *team = s ? fv_omp_fork(s, body, threads, site) : NULL;

    fv_omp_forks = true;
    if (!team)
        return (struct call){ .body = body, .data = data };
    team->data = data;
    team->next = next;
    team->work = work;
    return (struct call){ run_member, team, team, site };
}

static void end_region(const struct call *call)
{
    fv_omp_forks = false;
    if (call->team)
        fv_omp_join(call->team, call->site);
}

#define REGION(function, work, threads, ...)                                          \
    const struct fv_omp_next *next = FV_OMP_NEXT();                                   \
    struct call call = begin_region(next, body, data, threads, work, FV_CALL_SITE()); \
    next->function(call.body, call.data, threads, __VA_ARGS__);                       \
    end_region(&call)

FV_PUBLIC FV_UNSEEN void GOMP_parallel(fv_omp_body *body, void *data, unsigned threads, unsigned flags)
{
    REGION(GOMP_parallel, 0, threads, flags);
}

/* libgomp looks at the first word of the data. */
FV_PUBLIC FV_UNSEEN unsigned GOMP_parallel_reductions(fv_omp_body *body, void *data, unsigned threads, unsigned flags)
{
    const struct fv_omp_next *next = FV_OMP_NEXT();
    struct call call = begin_region(next, body, data, threads, 0, FV_CALL_SITE());

    if (call.team)
        memcpy(&call.team->reductions, data, sizeof(call.team->reductions));
    unsigned team = next->GOMP_parallel_reductions(call.body, call.data, threads, flags);
    end_region(&call);
    return team;
}

FV_PUBLIC FV_UNSEEN void GOMP_parallel_sections(fv_omp_body *body, void *data, unsigned threads, unsigned count,
                                                unsigned flags)
{
    REGION(GOMP_parallel_sections, FV_OMP_WORK_SECTIONS, threads, count, flags);
}

#define LOOP(function)                                                                                       \
    FV_PUBLIC FV_UNSEEN void function(fv_omp_body *body, void *data, unsigned threads, long start, long end, \
                                      long step, long chunk, unsigned flags)                                 \
    {                                                                                                        \
        REGION(function, FV_OMP_WORK_LOOP, threads, start, end, step, chunk, flags);                         \
    }
#define LOOP_AT_RUNTIME(function)                                                                            \
    FV_PUBLIC FV_UNSEEN void function(fv_omp_body *body, void *data, unsigned threads, long start, long end, \
                                      long step, unsigned flags)                                             \
    {                                                                                                        \
        REGION(function, FV_OMP_WORK_LOOP, threads, start, end, step, flags);                                \
    }

LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)
LOOP_AT_RUNTIME(GOMP_parallel_loop_runtime)
LOOP_AT_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
LOOP_AT_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
