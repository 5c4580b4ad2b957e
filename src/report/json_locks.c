/* "locks", "thread_waiting" and "phases" of the schema. */
#include "report/json_stream.h"
#include "report/views.h"
#include "base/options.h"

#include <math.h>
#include <stdio.h>

#define NAME_BYTES 1200

static void put_real_if(struct fv_json *j, const char *key, bool known, double value)
{
    fv_json_real(j, key, known ? value : NAN);
}

static void put_count_if(struct fv_json *j, const char *key, bool known, uint64_t count)
{
    if (known)
        fv_json_unsigned(j, key, count);
    else
        fv_json_null(j, key);
}

/* ---- locks ---- */

static bool has_holds(const struct fv_view *v)
{
    return v->model->locks.modes & FV_THREADS_HOLD;
}

static bool has_owners(const struct fv_view *v)
{
    return v->model->locks.modes & FV_THREADS_OWNER;
}

static void begin_site(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                       const struct fv_lock_site *s, const char *role)
{
    fv_json_object(j, NULL);
    fv_json_path(j, v, path, s->node);
    fv_json_bool(j, "whole_path", s->whole);
    fv_json_string(j, "role", role);
    fv_json_string(j, "operation", fv_sync_operation_name(s->operation));
}

static void put_waits(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                      const struct fv_lock_site *s)
{
    begin_site(j, v, path, s, "waits");
    fv_json_unsigned(j, "count", s->n.acquired);
    fv_json_unsigned(j, "contended", s->n.contended);
    fv_json_unsigned(j, "failed", s->n.failed);
    fv_json_real(j, "wait_s", s->n.wait_s);
    fv_json_real(j, "wait_max_s", s->n.wait_max_s);
    fv_json_null(j, "hold_s");
    fv_json_null(j, "hold_max_s");
    fv_json_end(j);
}

/* Waiting of others. */
static void put_holds(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                      const struct fv_lock_site *s)
{
    bool signals = s->n.signals;

    begin_site(j, v, path, s, "holds");
    fv_json_unsigned(j, "count", signals ? s->n.signals : has_holds(v) ? s->n.hold_count : s->n.acquired);
    put_count_if(j, "contended", has_owners(v) && !signals, s->n.blocked);
    fv_json_null(j, "failed");
    put_real_if(j, "wait_s", has_owners(v) && !signals, s->n.blocked_s);
    fv_json_null(j, "wait_max_s");
    put_real_if(j, "hold_s", has_holds(v) && !signals, s->n.hold_s);
    put_real_if(j, "hold_max_s", has_holds(v) && !signals, s->n.hold_max_s);
    fv_json_end(j);
}

static void put_sites(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                      const struct fv_lock *k)
{
    fv_json_array(j, "sites");
    for (uint32_t i = 0; i < k->sites; i++) {
        const struct fv_lock_site *s = &v->model->locks.sites[k->first_site + i];

        if (s->n.acquired || s->n.failed || s->n.wait_s > 0)
            put_waits(j, v, path, s);
        if (s->n.hold_count || s->n.held_at_end || s->n.blocked || s->n.signals)
            put_holds(j, v, path, s);
    }
    fv_json_end(j);
}

/* Of barriers each thread, who waits and who comes last; of all others, whose threads may be many, each rank.
 */
static void put_parts(struct fv_json *j, const struct fv_view *v, const struct fv_lock *k)
{
    const struct fv_lock_part *p = k->parts ? &v->model->locks.parts[k->first_part] : NULL;
    bool threads = k->kind == FV_SYNC_BARRIER;

    fv_json_array(j, threads ? "per_thread" : "per_rank");
    for (uint32_t i = 0, end; i < k->parts; i = end) {
        uint64_t acquired = 0, contended = 0, last = 0;
        double wait_s = 0, hold_s = 0;

        for (end = i; end < k->parts && p[end].rank == p[i].rank && (end == i || !threads); end++) {
            acquired += p[end].n.acquired;
            contended += p[end].n.contended;
            last += p[end].n.last;
            wait_s += p[end].n.wait_s;
            hold_s += p[end].n.hold_s;
        }
        fv_json_object(j, NULL);
        fv_json_signed(j, "rank", v->model->ranks[p[i].rank].world_rank);
        fv_json_unsigned(j, threads ? "thread" : "threads", threads ? p[i].thread : end - i);
        fv_json_unsigned(j, "acquired", acquired);
        fv_json_unsigned(j, "contended", contended);
        fv_json_real(j, "wait_s", wait_s);
        if (threads)
            fv_json_unsigned(j, "last", last);
        else
            put_real_if(j, "hold_s", has_holds(v), hold_s);
        fv_json_end(j);
    }
    fv_json_end(j);
    fv_json_array(j, threads ? "per_rank" : "per_thread"); /* every key is there */
    fv_json_end(j);
}

static void put_worst(struct fv_json *j, const struct fv_view *v, const struct fv_lock *k)
{
    char address[32];

    if (k->worst.rank == FV_NONE) {
        fv_json_null(j, "worst");
        return;
    }
    snprintf(address, sizeof(address), "0x%llx", (unsigned long long)k->worst.address);
    fv_json_object(j, "worst");
    fv_json_signed(j, "rank", v->model->ranks[k->worst.rank].world_rank);
    fv_json_string(j, "address", address);
    fv_json_real(j, "wait_s", k->worst.wait_s);
    fv_json_end(j);
}

static void put_histogram(struct fv_json *j, const struct fv_model *m, const struct fv_lock *k)
{
    fv_json_array(j, "histogram");
    for (unsigned i = 0; i < FV_TIME_BUCKETS; i++) {
        if (!k->histogram[i])
            continue;
        fv_json_object(j, NULL);
        fv_json_real(j, "low_s", i ? ldexp(m->duration_unit_s, (int)i - 1) : 0);
        fv_json_real(j, "high_s", i + 1 < FV_TIME_BUCKETS ? ldexp(m->duration_unit_s, (int)i) : NAN);
        fv_json_unsigned(j, "count", k->histogram[i]);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_lock(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                     const struct fv_lock *k)
{
    const struct fv_model *m = v->model;
    const struct fv_address *a = k->address == FV_NONE ? NULL : &m->addresses[k->address];
    char name[NAME_BYTES];

    fv_json_object(j, NULL);
    fv_json_string(j, "kind", fv_sync_kind_name(k->kind));
    fv_json_string(j, "name", fv_view_lock_name(v, k, name, sizeof(name)));
    fv_json_string(j, "symbol", a ? a->name : NULL);
    fv_json_string(j, "module", a ? m->modules[a->module].path : NULL);
    put_count_if(j, "offset", a, a ? a->offset : 0);
    fv_json_object(j, "first_use");
    fv_json_path(j, v, path, k->node);
    fv_json_end(j);
    fv_json_unsigned(j, "objects", k->objects);
    fv_json_bool(j, "inside_mpi", k->inside_mpi);
    fv_json_bool(j, "rest", k->rest);
    fv_json_bool(j, "process_shared", k->shared);
    put_count_if(j, "parties", k->parties, k->parties);
    fv_json_unsigned(j, "ranks", k->ranks);
    fv_json_unsigned(j, "threads", k->threads);
    fv_json_unsigned(j, "acquired", k->n.acquired);
    fv_json_unsigned(j, "contended", k->n.contended);
    fv_json_unsigned(j, "failed", k->n.failed);
    fv_json_unsigned(j, "signals", k->n.signals);
    fv_json_object(j, "wait_s");
    fv_json_real(j, "sum", k->n.wait_s);
    fv_json_real(j, "max", k->n.wait_max_s);
    fv_json_end(j);
    put_real_if(j, "hold_s", has_holds(v), k->n.hold_s);
    put_real_if(j, "hold_max_s", has_holds(v), k->n.hold_max_s);
    fv_json_unsigned(j, "held_at_end", k->n.held_at_end);
    put_count_if(j, "owner_changes", has_owners(v), k->n.owner_changes);
    put_worst(j, v, k);
    put_histogram(j, m, k);
    put_sites(j, v, path, k);
    put_parts(j, v, k);
    fv_json_end(j);
}

/* ---- threads ---- */

static void put_now(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                    const struct fv_lock_wait *w)
{
    const struct fv_locks *l = &v->model->locks;
    char name[NAME_BYTES];

    fv_json_object(j, NULL);
    fv_json_signed(j, "rank", v->model->ranks[w->rank].world_rank);
    fv_json_unsigned(j, "thread", w->thread);
    fv_json_unsigned(j, "tid", w->tid);
    fv_json_string(j, "kind", fv_sync_kind_name(w->kind));
    fv_json_string(j, "operation", fv_sync_operation_name(w->operation));
    fv_json_string(j, "name",
                   w->lock == FV_NONE ? NULL : fv_view_lock_name(v, &l->items[w->lock], name, sizeof(name)));
    fv_json_path(j, v, path, w->node);
    fv_json_real(j, "since_s", w->begin_s);
    fv_json_real(j, "seconds", w->seconds);
    fv_json_end(j);
}

static void put_kinds(struct fv_json *j, const struct fv_locks *l)
{
    fv_json_array(j, "kinds");
    for (unsigned i = 1; i < FV_SYNC_KINDS; i++) {
        if (l->kind_s[i] <= 0)
            continue;
        fv_json_object(j, NULL);
        fv_json_string(j, "kind", fv_sync_kind_name(i));
        fv_json_real(j, "wait_s", l->kind_s[i]);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_ranks(struct fv_json *j, const struct fv_view *v)
{
    fv_json_array(j, "ranks");
    for (size_t i = 0; i < v->model->rank_count; i++) {
        const struct fv_lock_rank *r = &v->model->locks.ranks[i];

        if (!r->recorded)
            continue;
        fv_json_object(j, NULL);
        fv_json_signed(j, "rank", v->model->ranks[i].world_rank);
        fv_json_real(j, "thread_s", r->thread_s);
        fv_json_real(j, "wait_s", r->wait_s);
        fv_json_real(j, "in_mpi_s", r->in_mpi_s);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_threads(struct fv_json *j, const struct fv_view *v, struct fv_path *path)
{
    const struct fv_locks *l = &v->model->locks;

    if (!l->recorded) {
        fv_json_null(j, "thread_waiting");
        return;
    }
    fv_json_object(j, "thread_waiting");
    fv_json_real(j, "thread_s", l->thread_s);
    fv_json_real(j, "wait_s", l->wait_s);
    fv_json_real(j, "in_mpi_s", l->in_mpi_s);
    put_kinds(j, l);
    fv_json_bool(j, "hold", has_holds(v));
    fv_json_bool(j, "owner", has_owners(v));
    fv_json_object(j, "lost");
    fv_json_unsigned(j, "in_signal_handlers", l->lost.missed);
    fv_json_unsigned(j, "without_record", l->lost.overflow);
    fv_json_unsigned(j, "holds", l->lost.holds);
    fv_json_unsigned(j, "thread_lives", l->lost.lives);
    fv_json_end(j);
    put_ranks(j, v);
    fv_json_array(j, "now");
    for (size_t i = 0; i < l->now_count; i++)
        put_now(j, v, path, &l->now[i]);
    fv_json_end(j);
    fv_json_end(j);
}

void fv_json_locks(struct fv_json *j, const struct fv_view *v)
{
    struct fv_path path = { 0 };

    fv_json_array(j, "locks");
    for (size_t i = 0; i < v->model->locks.count; i++)
        put_lock(j, v, &path, &v->model->locks.items[i]);
    fv_json_end(j);
    put_threads(j, v, &path);
    fv_path_release(&path);
}

/* ---- phases ---- */

static void put_sums(struct fv_json *j, enum fv_phase_kind kind, const struct fv_phase_sums *s)
{
    struct fv_phase_bound b = fv_phase_bound(s);

    fv_json_unsigned(j, "instances", s->instances);
    fv_json_object(j, "threads");
    fv_json_real(j, "mean", b.threads);
    fv_json_unsigned(j, "min", s->threads_min);
    fv_json_unsigned(j, "max", s->threads_max);
    fv_json_end(j);
    fv_json_real(j, "elapsed_s", s->elapsed_s);
    fv_json_real(j, "longest_s", s->longest_s);
    fv_json_real(j, "longest_waitless_s", s->useful_longest_s);
    fv_json_real(j, "thread_s", s->time_s);
    fv_json_real(j, "wait_s", s->wait_s);
    fv_json_real(j, "cpu_s", s->cpu_s);
    fv_json_real(j, "off_cpu_s", s->off_cpu_s);
    fv_json_real(j, "creator_s", s->creator_s);
    put_count_if(j, "cpus", s->cpus, s->cpus);
    fv_json_real(j, "queue_s", s->queue_s);
    put_real_if(j, "join_s", kind == FV_PHASE_OMP, s->join_s);
    put_real_if(j, "fork_s", kind == FV_PHASE_OMP, s->fork_s);
    put_count_if(j, "lost_threads", kind == FV_PHASE_OMP, s->lost_threads);
    put_count_if(j, "untimed_tasks", kind == FV_PHASE_OMP, s->untimed_tasks);
    fv_json_real(j, "without_waiting", b.without_waiting);
    fv_json_real(j, "bound", b.bound);
    fv_json_real(j, "bound_waitless", b.bound_waitless);
    fv_json_real(j, "synchronisation", b.synchronisation);
    fv_json_real(j, "imbalance", b.imbalance);
    fv_json_real(j, "few_cpus", b.few_cpus);
}

void fv_json_phases(struct fv_json *j, const struct fv_view *v)
{
    const struct fv_phases *s = &v->model->phases;
    struct fv_path path = { 0 };
    char name[NAME_BYTES];

    fv_json_array(j, "phases");
    for (size_t i = 0; i < s->count; i++) {
        const struct fv_phase *p = &s->items[i];

        fv_json_object(j, NULL);
        fv_json_string(j, "kind", fv_phase_kind_name(p->kind));
        fv_json_string(j, "function", fv_view_routine(v, p->routine, name, sizeof(name)));
        fv_json_path(j, v, &path, p->node);
        fv_json_bool(j, "open", p->open);
        fv_json_unsigned(j, "ranks", p->ranks);
        put_sums(j, p->kind, &p->sums);
        fv_json_array(j, "per_rank");
        for (uint32_t k = 0; k < p->ranks; k++) {
            fv_json_object(j, NULL);
            fv_json_signed(j, "rank", v->model->ranks[s->parts[p->first + k].rank].world_rank);
            put_sums(j, p->kind, &s->parts[p->first + k].sums);
            fv_json_end(j);
        }
        fv_json_end(j);
        fv_json_end(j);
    }
    fv_json_end(j);
    fv_path_release(&path);
}
