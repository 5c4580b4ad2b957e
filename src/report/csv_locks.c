/* Tables of what threads waited for: locks, their call sites, phases. */
#include "report/csv_stream.h"
#include "base/options.h"

#include <math.h>

#define NAME_BYTES 1200

static void count_fields(struct fv_csv *c, const struct fv_lock_numbers *n)
{
    fv_csv_whole(c, n->acquired);
    fv_csv_whole(c, n->contended);
    fv_csv_whole(c, n->failed);
    fv_csv_whole(c, n->signals);
    fv_csv_real(c, n->wait_s);
    fv_csv_real(c, n->wait_max_s);
}
#define COUNT_TITLES "acquired,contended,failed,signals,wait_s,wait_max_s"

static void locks(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_locks *l = &v->model->locks;
    bool holds = l->modes & FV_THREADS_HOLD, owners = l->modes & FV_THREADS_OWNER;
    char name[NAME_BYTES];

    fputs("id,kind,name,objects,ranks,threads," COUNT_TITLES ",hold_s,hold_max_s,owner_changes,last\r\n",
          c->out);
    for (size_t i = 0; i < l->count; i++) {
        const struct fv_lock *k = &l->items[i];

        fv_csv_whole(c, i + 1);
        fv_csv_text(c, fv_sync_kind_name(k->kind));
        fv_csv_text(c, fv_view_lock_name(v, k, name, sizeof(name)));
        fv_csv_whole(c, k->objects);
        fv_csv_whole(c, k->ranks);
        fv_csv_whole(c, k->threads);
        count_fields(c, &k->n);
        fv_csv_real(c, holds ? k->n.hold_s : NAN);
        fv_csv_real(c, holds ? k->n.hold_max_s : NAN);
        fv_csv_real(c, owners ? (double)k->n.owner_changes : NAN);
        fv_csv_whole(c, k->n.last);
        fv_csv_line(c);
    }
}

static void lock_sites(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_locks *l = &v->model->locks;
    bool holds = l->modes & FV_THREADS_HOLD, owners = l->modes & FV_THREADS_OWNER;
    struct fv_path path = { 0 };

    fputs("lock,operation,file,line,path,whole_path," COUNT_TITLES ",holds,hold_s,blocked,blocked_s\r\n",
          c->out);
    for (size_t i = 0; i < l->site_count; i++) {
        const struct fv_lock_site *s = &l->sites[i];

        fv_csv_whole(c, s->lock + 1);
        fv_csv_text(c, fv_sync_operation_name(s->operation));
        fv_csv_path_fields(c, v, &path, s->node);
        fv_csv_whole(c, s->whole);
        count_fields(c, &s->n);
        fv_csv_real(c, holds ? (double)s->n.hold_count : NAN);
        fv_csv_real(c, holds ? s->n.hold_s : NAN);
        fv_csv_real(c, owners ? (double)s->n.blocked : NAN);
        fv_csv_real(c, owners ? s->n.blocked_s : NAN);
        fv_csv_line(c);
    }
    fv_path_release(&path);
}

/* A line for each phase and rank. */
static void phases(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_phases *s = &v->model->phases;
    struct fv_path path = { 0 };
    char name[NAME_BYTES];

    fputs("phase,kind,function,file,line,path,rank,instances,threads_min,threads_max,elapsed_s,longest_s,"
          "longest_"
          "waitless_s,"
          "thread_s,wait_s,cpu_s,off_cpu_s,creator_s,without_waiting,bound,bound_waitless,synchronisation,"
          "imbalance,cpus,queue_s,join_s,fork_s,few_cpus\r\n",
          c->out);
    for (size_t i = 0; i < s->part_count; i++) {
        const struct fv_phase_sums *u = &s->parts[i].sums;
        const struct fv_phase *p = &s->items[s->parts[i].phase];
        struct fv_phase_bound b = fv_phase_bound(u);
        double cpus = u->cpus ? u->cpus : NAN, join_s = p->kind == FV_PHASE_OMP ? u->join_s : NAN,
               fork_s = p->kind == FV_PHASE_OMP ? u->fork_s : NAN;
        const double reals[] = {
            u->elapsed_s, u->longest_s, u->useful_longest_s, u->time_s, u->wait_s,        u->cpu_s,
            u->off_cpu_s, u->creator_s, b.without_waiting,   b.bound,   b.bound_waitless, b.synchronisation,
            b.imbalance,  cpus,         u->queue_s,          join_s,    fork_s,           b.few_cpus
        };

        fv_csv_whole(c, s->parts[i].phase + 1);
        fv_csv_text(c, fv_phase_kind_name(p->kind));
        fv_csv_text(c, fv_view_routine(v, p->routine, name, sizeof(name)));
        fv_csv_path_fields(c, v, &path, p->node);
        fv_csv_number(c, v->model->ranks[s->parts[i].rank].world_rank);
        fv_csv_whole(c, u->instances);
        fv_csv_whole(c, u->threads_min);
        fv_csv_whole(c, u->threads_max);
        for (unsigned k = 0; k < sizeof(reals) / sizeof(*reals); k++)
            fv_csv_real(c, reals[k]);
        fv_csv_line(c);
    }
    fv_path_release(&path);
}

int fv_csv_locks(const struct fv_view *v, const char *directory)
{
    static const struct fv_csv_table tables[] = { { "locks.csv", locks },
                                                  { "lock_sites.csv", lock_sites },
                                                  { "phases.csv", phases } };

    return v->model->locks.recorded
               ? fv_csv_tables(v, directory, tables, sizeof(tables) / sizeof(*tables), NULL)
               : 0;
}
