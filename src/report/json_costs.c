/* "sampling" and "costs" of the schema: how samples were taken, and where CPU time is by them. */
#include "base/perf_events.h"
#include "report/cost_profile.h"
#include "report/json_stream.h"
#include "report/views.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- sampling ---- */

static const char *const mode_names[] = { "breakpoints", "calls", "costs only" };

static void put_mode(struct fv_json *j, const struct fv_samples *s)
{
    unsigned used = 0, last = 0;

    for (unsigned i = 0; i < 3; i++)
        if (s->modes[i]) {
            used++;
            last = i;
        }
    fv_json_string(j, "mode", used == 1 ? mode_names[last] : "mixed");
    fv_json_string(j, "refusal", s->refusal ? strerror(s->refusal) : NULL);
    fv_json_unsigned(j, "refused_threads", s->refused_threads);
}

static void put_events(struct fv_json *j, const struct fv_samples *s)
{
    fv_json_array(j, "events");
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++) {
        const struct fv_sampled_event *e = &s->events[i];

        if (!e->name)
            continue;
        fv_json_object(j, NULL);
        fv_json_string(j, "name", e->name);
        fv_json_unsigned(j, "ranks", e->ranks);
        fv_json_unsigned(j, "refused_ranks", e->refused);
        fv_json_string(j, "refusal",
                       e->refused ? fv_perf_event_refusal((uint32_t)e->refusal, e->user_only) : NULL);
        fv_json_bool(j, "user_only", e->user_only);
        fv_json_end(j);
    }
    fv_json_end(j);
    fv_json_unsigned(j, "events_estimated", s->events_scaled);
    fv_json_unsigned(j, "events_unknown", s->events_lost);
    fv_json_unsigned(j, "events_unshown", s->events_unshown);
}

void fv_json_sampling(struct fv_json *j, const struct fv_view *v)
{
    const struct fv_samples *s = &v->model->samples;

    if (!s->threads) {
        fv_json_null(j, "sampling");
        return;
    }
    fv_json_object(j, "sampling");
    fv_json_unsigned(j, "rate", s->rate);
    fv_json_unsigned(j, "threads", s->threads);
    put_mode(j, s);
    fv_json_unsigned(j, "ticks", s->ticks);
    fv_json_real(j, "cpu_s", s->cpu_s);
    fv_json_unsigned(j, "traps", s->traps);
    fv_json_unsigned(j, "entries", s->entries);
    fv_json_unsigned(j, "returns", s->returns);
    fv_json_unsigned(j, "abandoned", s->abandoned);
    fv_json_unsigned(j, "open", s->open);
    fv_json_unsigned(j, "lost", s->lost);
    fv_json_unsigned(j, "lost_paths", s->lost_paths);
    fv_json_unsigned(j, "log_lost", s->log_lost);
    fv_json_unsigned(j, "skipped", s->skipped);
    fv_json_unsigned(j, "held_back", s->held_back);
    fv_json_unsigned(j, "no_stack", s->no_stack);
    fv_json_unsigned(j, "not_followed", s->not_followed);
    fv_json_unsigned(j, "cut", s->cut);
    fv_json_real(j, "trap_s", s->trap_s);
    fv_json_real(j, "trap_spread_s", s->trap_spread_s);
    fv_json_real(j, "overhead_s", s->tool_s);
    fv_json_real(j, "overhead_share", s->cpu_s > 0 ? s->tool_s / s->cpu_s : NAN);
    fv_json_bool(j, "migrations_exact", s->migrations_exact);
    put_events(j, s);
    fv_json_end(j);
}

/* ---- costs ---- */

struct costs {
    struct fv_json *j;
    const struct fv_view *view;
    const struct fv_cost_profile *c;
};

static void put_sum(const struct costs *k, const char *key, const struct fv_cost_sum *s)
{
    fv_json_object(k->j, key);
    fv_json_unsigned(k->j, "ticks", s->ticks);
    fv_json_real(k->j, "seconds", (double)s->ticks * k->c->tick_s);
    fv_json_real(k->j, "error_s", fv_cost_error(s->ticks) * k->c->tick_s);
    fv_json_unsigned(k->j, "in_mpi", s->in_mpi);
    fv_json_unsigned(k->j, "in_sync", s->in_sync);
    fv_json_end(k->j);
}

static void put_both(const struct costs *k, const struct fv_cost_both *b)
{
    put_sum(k, "exclusive", &b->self);
    put_sum(k, "inclusive", &b->total);
}

static void put_thread(const struct costs *k, const struct fv_cost_thread *t)
{
    fv_json_object(k->j, NULL);
    fv_json_signed(k->j, "rank", k->view->model->ranks[t->rank].world_rank);
    fv_json_unsigned(k->j, "thread", t->thread);
    fv_json_unsigned(k->j, "ticks", t->ticks);
    fv_json_real(k->j, "seconds", (double)t->ticks * t->tick_s);
    fv_json_unsigned(k->j, "in_mpi", t->in_mpi);
    fv_json_unsigned(k->j, "lost", t->lost);
    fv_json_end(k->j);
}

/* [rank, thread, exclusive, inclusive, in MPI, in synchronisation], in ticks */
static void put_parts(const struct costs *k, const struct fv_cost_procedure *p)
{
    fv_json_array(k->j, "per_thread");
    for (size_t i = p->first_part; i < p->first_part + p->parts; i++) {
        const struct fv_cost_part *part = &k->c->parts[i];
        const struct fv_cost_thread *t = &k->view->model->costs.threads[part->owner];

        fv_json_array(k->j, NULL);
        fv_json_signed(k->j, NULL, k->view->model->ranks[t->rank].world_rank);
        fv_json_unsigned(k->j, NULL, t->thread);
        fv_json_unsigned(k->j, NULL, part->sum.self.ticks);
        fv_json_unsigned(k->j, NULL, part->sum.total.ticks);
        fv_json_unsigned(k->j, NULL, part->sum.total.in_mpi);
        fv_json_unsigned(k->j, NULL, part->sum.total.in_sync);
        fv_json_end(k->j);
    }
    fv_json_end(k->j);
}

static void put_procedure(const struct costs *k, const struct fv_cost_procedure *p)
{
    fv_json_object(k->j, NULL);
    fv_json_string(k->j, "procedure", p->name);
    fv_json_string(k->j, "file", p->file);
    fv_json_string(k->j, "module",
                   p->module >= FV_MODEL_FIRST_MODULE ? k->view->model->modules[p->module].path : NULL);
    fv_json_bool(k->j, "inlined", p->inlined);
    put_both(k, &p->sum);
    fv_json_real(k->j, "rank_min_s", p->rank_min_s);
    fv_json_real(k->j, "rank_max_s", p->rank_max_s);
    fv_json_signed(k->j, "rank_max", k->view->model->ranks[p->rank_max].world_rank);
    put_parts(k, p);
    fv_json_end(k->j);
}

static void put_loop(const struct costs *k, const struct fv_cost_loop *l)
{
    char address[32];

    fv_json_object(k->j, NULL);
    fv_json_string(k->j, "function", l->function);
    fv_json_string(k->j, "file", l->file);
    if (l->file) {
        fv_json_unsigned(k->j, "first_line", l->first_line);
        fv_json_unsigned(k->j, "last_line", l->last_line);
    } else {
        fv_json_null(k->j, "first_line");
        fv_json_null(k->j, "last_line");
    }
    snprintf(address, sizeof(address), "0x%llx", (unsigned long long)l->offset);
    fv_json_string(k->j, "module", k->view->model->modules[l->module].path);
    fv_json_string(k->j, "offset", address);
    fv_json_unsigned(k->j, "depth", l->depth);
    if (l->parent == FV_NONE)
        fv_json_null(k->j, "parent");
    else
        fv_json_unsigned(k->j, "parent", l->parent);
    put_both(k, &l->sum);
    fv_json_end(k->j);
}

static void put_loops(const struct costs *k)
{
    if (!k->c->loops_known) {
        fv_json_null(k->j, "loops");
        return;
    }
    fv_json_array(k->j, "loops");
    for (size_t i = 0; i < k->c->loop_count; i++)
        put_loop(k, &k->c->loops[i]);
    fv_json_end(k->j);
}

static void put_lines(const struct costs *k)
{
    fv_json_array(k->j, "lines");
    for (size_t i = 0; i < k->c->line_count; i++) {
        const struct fv_cost_line *l = &k->c->lines[i];

        fv_json_object(k->j, NULL);
        fv_json_string(k->j, "file", l->file);
        fv_json_unsigned(k->j, "line", l->line);
        fv_json_unsigned(k->j, "procedure", l->procedure);
        put_both(k, &l->sum);
        fv_json_end(k->j);
    }
    fv_json_end(k->j);
}

/* A parent stands before its children. */
static void put_tree(const struct costs *k)
{
    fv_json_array(k->j, "call_tree");
    for (size_t i = 1; i < k->c->branch_count; i++) {
        const struct fv_cost_branch *b = &k->c->branches[i];

        fv_json_object(k->j, NULL);
        if (b->parent)
            fv_json_unsigned(k->j, "parent", b->parent - 1u);
        else
            fv_json_null(k->j, "parent");
        fv_json_unsigned(k->j, "procedure", b->procedure);
        fv_json_unsigned(k->j, "exclusive", b->sum.self.ticks);
        fv_json_unsigned(k->j, "inclusive", b->sum.total.ticks);
        fv_json_unsigned(k->j, "in_mpi", b->sum.total.in_mpi);
        fv_json_unsigned(k->j, "in_sync", b->sum.total.in_sync);
        fv_json_end(k->j);
    }
    fv_json_end(k->j);
}

void fv_json_costs(struct fv_json *j, const struct fv_view *v)
{
    const struct fv_costs *costs = &v->model->costs;
    struct fv_cost_profile profile;
    const struct costs k = { j, v, &profile };

    if (!costs->thread_count) {
        fv_json_null(j, "costs");
        return;
    }
    fv_cost_profile_init(&profile, v->model, v->symbols, FV_COST_ALL_RANKS);
    fv_json_object(j, "costs");
    put_sum(&k, "all", &profile.all);
    fv_json_real(j, "fvmpi_share",
                 profile.all.ticks ? (double)profile.fvmpi_ticks / (double)profile.all.ticks : NAN);
    fv_json_unsigned(j, "lost", costs->lost);
    fv_json_array(j, "threads");
    for (size_t i = 0; i < costs->thread_count; i++)
        put_thread(&k, &costs->threads[i]);
    fv_json_end(j);
    fv_json_array(j, "procedures");
    for (size_t i = 0; i < profile.procedure_count; i++)
        put_procedure(&k, &profile.procedures[i]);
    fv_json_end(j);
    put_loops(&k);
    put_lines(&k);
    put_tree(&k);
    fv_json_end(j);
    fv_cost_profile_release(&profile);
}
