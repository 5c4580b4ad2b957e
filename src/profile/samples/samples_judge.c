/* SPDX-License-Identifier: BSD-3-Clause */
/* See samples.h: which functions vary, in what order to look at them, and what to say of them. What counts is CPU time
 * that is computing: outside of MPI, and not waiting for threads, in which libraries spin as long as others let
 * them. */
#include "profile/samples/cost_profile_parts.h"
#include "profile/samples/costs.h"
#include "profile/samples/samples_gather.h"
#include "profile/samples/samples_variation.h"
#include "tool/parallel.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define INSIDE         0.95 /* of the samples of a part of MPI, in MPI; likewise of what waits */
#define BRIEF          0.5  /* of its calls are, if a function is */
#define INTERRUPTED    0.05 /* of short calls at most seem long */
#define LONG_ENOUGH    2    /* calls of a context */
#define DISTURBED      0.02 /* of long calls at most meet what the machine does besides */
#define LITTLE         0.10 /* of the calls' time: less than that may be what it took */
#define TELLING        3.0  /* long calls that a context should have: it has none by chance in 5 % of the cases */
#define INSTANCES_KEPT 1024 /* of a function; of each thread that has it, alike */

/* ---- clock samples ---- */

static void add_leaf(struct fv_samples *s, struct fv_cost_sum *to, const struct fv_cost_leaf *l, double tick_s,
                     bool sync)
{
    uint64_t outside = l->ticks - l->in_mpi;

    to->ticks += l->ticks;
    to->in_mpi += l->in_mpi;
    to->in_sync += sync ? outside : 0;
    s->computing_ticks += sync ? 0 : outside;
    s->computing_s += sync ? 0 : (double)outside * tick_s;
}

/* By node: of the samples taken there. */
static struct fv_cost_sum *sums_of_leaves(struct fv_model *m, const struct fv_symbols *symbols)
{
    struct fv_cost_sum *sums = fv_xcalloc(m->tree.node_count, sizeof(*sums));
    struct fv_path path = { 0 };
    uint32_t node = FV_NONE;
    bool sync = false;

    /* without a path */
    fv_model_samples(m)->computing_ticks = fv_model_samples(m)->ticks > fv_model_costs(m)->ticks
                                               ? fv_model_samples(m)->ticks - fv_model_costs(m)->ticks
                                               : 0;
    fv_model_samples(m)->computing_s = (double)fv_model_samples(m)->computing_ticks * fv_model_costs(m)->tick_s;
    for (size_t i = 0; i < fv_model_costs(m)->leaf_count; i++) {
        const struct fv_cost_leaf *l = &fv_model_costs(m)->leaves[i];

        if (l->node != node)
            sync = fv_cost_waits(&path, m, symbols, l->node);
        node = l->node;
        add_leaf(fv_model_samples(m), &sums[node], l, fv_model_costs(m)->threads[l->thread].tick_s, sync);
    }
    fv_path_release(&path);
    return sums;
}

/* By node: of those samples what is of threads that run below a fork of another thread's, and so did not call it. */
static uint64_t *lent_by_forks(const struct fv_model *m)
{
    const struct fv_costs *costs = fv_model_costs(m);
    uint64_t *lent = fv_xcalloc(m->tree.node_count, sizeof(*lent));

    for (size_t i = 0; i < costs->leaf_count; i++)
        lent[costs->leaves[i].fork] += costs->leaves[i].ticks;
    for (size_t i = m->tree.node_count; i-- > 1;)
        lent[m->tree.nodes[i].parent] += lent[i];
    return lent;
}

static void charge(struct fv_sampled_function *s, const struct fv_cost_sum *sum, uint64_t lent)
{
    s->lent_ticks += lent;
    s->ticks += sum->ticks;
    s->mpi_ticks += sum->in_mpi;
    s->sync_ticks += sum->in_sync;
}

/* Of a function that calls itself the outermost call counts. */
static bool is_outermost(const struct fv_model *m, const uint32_t *functions, size_t node)
{
    for (uint32_t at = m->tree.nodes[node].parent; at; at = m->tree.nodes[at].parent)
        if (functions[at] == functions[node])
            return false;
    return true;
}

static void charge_costs(const struct fv_sampled_contexts *contexts, struct fv_model *m,
                         const struct fv_symbols *symbols)
{
    struct fv_cost_sum *sums = sums_of_leaves(m, symbols);
    uint64_t *lent = lent_by_forks(m);
    uint32_t *functions = fv_xcalloc(m->tree.node_count, sizeof(*functions)); /* by node */

    for (size_t i = m->tree.node_count; i-- > 1;) { /* callers have smaller numbers */
        struct fv_cost_sum *caller = &sums[m->tree.nodes[i].parent];
        uint32_t context = sums[i].ticks ? fv_sampled_contexts_of(contexts, &m->tree.nodes[i]) : FV_NONE;

        functions[i] = context != FV_NONE ? fv_model_samples(m)->items[context].function
                       : sums[i].ticks    ? fv_sampled_contexts_function(contexts, symbols, i)
                                          : FV_NONE;
        if (context != FV_NONE)
            charge(&fv_model_samples(m)->items[context], &sums[i], lent[i]);
        caller->ticks += sums[i].ticks;
        caller->in_mpi += sums[i].in_mpi;
        caller->in_sync += sums[i].in_sync;
    }
    for (size_t i = 1; i < m->tree.node_count; i++)
        if (functions[i] != FV_NONE && is_outermost(m, functions, i))
            charge(&fv_model_samples(m)->functions[functions[i]], &sums[i], lent[i]);
    free(lent);
    free(functions);
    free(sums);
}

static double computing_ticks(const struct fv_sampled_function *s)
{
    return (double)s->ticks - (double)s->mpi_ticks - (double)s->sync_ticks;
}

/* ---- metrics ---- */

const char *fv_sampled_metric(const struct fv_samples *samples, enum fv_metric metric)
{
    static const char *const names[FV_METRIC_EVENT_0] = { "time_s", "cpu_time_s", "mpi_time_s", "mpi_calls",
                                                          "faults", "switches",   "migrations", "mpi_bytes" };
    const struct fv_sampled_event *event;

    if (metric == FV_SAMPLED_COMPUTING)
        return "computing_s";
    if (metric < FV_METRIC_EVENT_0)
        return names[metric];
    event = &samples->events[metric - FV_METRIC_EVENT_0];
    return event->refused < event->ranks ? event->name : NULL;
}

/* ---- guidance ---- */

/* Calls that were kept, in time or in CPU time: a mean is mostly that of a few that met an interrupt. */
struct lengths {
    size_t count, below, longer; /* than the resolution; than a trap can seem to be */
};

static struct lengths lengths_of(const struct fv_samples *all, const struct fv_sampled_function *contexts, size_t count,
                                 bool cpu)
{
    struct lengths of = { 0 };

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < contexts[i].instances; k++) {
            const struct fv_sampled_instance *call = &all->instances[contexts[i].first_instance + k];
            double took = cpu ? call->cpu_s : call->time_s;

            of.below += took < all->resolution_s;
            of.longer += took >= all->long_s;
        }
        of.count += contexts[i].instances;
    }
    return of;
}

/* More are long than what meets an interrupt, or a cold cache, and what chance adds: three standard deviations. */
static bool has_long(const struct lengths *of)
{
    double n = (double)of->count;

    return (double)of->longer > INTERRUPTED * n + 3 * sqrt(INTERRUPTED * (1 - INTERRUPTED) * n);
}

/* Calls are short if most are, and the traps are all that varies: unless the function, over all its contexts, has long
 * ones, which the context has, too. */
static void find_brief(const struct fv_samples *all, struct fv_sampled_function *contexts, size_t count)
{
    for (unsigned which = 0; which < 2; which++) {
        const struct lengths of = lengths_of(all, contexts, count, which);

        for (size_t i = 0; i < count; i++) {
            const struct lengths own = lengths_of(all, &contexts[i], 1, which);

            contexts[i].brief[which] = own.count && (double)own.below >= BRIEF * (double)own.count &&
                                       (own.longer < LONG_ENOUGH || !has_long(&of));
        }
    }
}

/* A breakpoint at an entry cannot tell a call from a jump. */
static void find_looping(const struct fv_model *m, struct fv_sampled_function *s, size_t count,
                         const struct fv_cost_profile *costs)
{
    for (size_t i = 0; i < count; i++) {
        const struct fv_node *node = &m->tree.nodes[s[i].node];

        for (size_t k = 0; k < costs->loop_count; k++)
            s[i].loops |= costs->loops[k].module == node->module && costs->loops[k].offset == node->offset - 1;
    }
}

static int by_sampled(const void *a, const void *b)
{
    const struct fv_sampled_part *x = a, *y = b;

    if (x->sampled != y->sampled)
        return x->sampled < y->sampled ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static int by_sampled_instance(const void *a, const void *b)
{
    const struct fv_sampled_instance *x = a, *y = b;

    if (x->sampled != y->sampled)
        return x->sampled < y->sampled ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->begin_s > y->begin_s) - (x->begin_s < y->begin_s);
}

/* Counts of rare things vary by chance alone, as Poisson has it: that part is left out. */
static double own_cov(const struct fv_sampled_stat *s, enum fv_metric metric)
{
    double mean = s->mean[metric], stddev = fv_sampled_stddev(s, metric);

    if (metric == FV_METRIC_MPI)
        return s->mean[FV_METRIC_TIME] > 0 ? stddev / s->mean[FV_METRIC_TIME] : 0; /* weighted by its share */
    if (mean < 1)
        return 0;
    return stddev * stddev > mean ? sqrt(stddev * stddev - mean) / mean : 0;
}

/* What varies most, too. That both vary is no proof that one makes the other vary. */
static void find_companion(const struct fv_samples *samples, struct fv_sampled_function *s)
{
    double best = FV_SAMPLED_BETWEEN;

    s->with = FV_SAMPLED_METRICS;
    for (unsigned i = FV_METRIC_MPI; i < FV_METRIC_COUNT; i++)
        if (fv_sampled_metric(samples, i) && own_cov(&s->all, i) > best) {
            best = own_cov(&s->all, i);
            s->with = i;
            s->with_cov = fv_sampled_cov(&s->all, i);
        }
}

static bool is_known(const struct fv_sampled_function *s)
{
    return !s->loops && !fv_sampled_is_brief(s, FV_METRIC_CPU);
}

/* Of the contexts whose times are known, each thread's instances in each: those in the window, where they are enough.
 * Returns how many; *out is to be freed. */
static size_t groups_of(const struct fv_samples *all, const struct fv_sampled_function *contexts, size_t count,
                        enum fv_metric metric, struct fv_variation_group **out)
{
    size_t n = 0, room = 0;
    double weight = 0;

    *out = NULL;
    for (size_t i = 0; i < count; i++)
        weight += computing_ticks(&contexts[i]);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < contexts[i].parts && is_known(&contexts[i]); k++) {
            const struct fv_sampled_part *p = &all->parts[contexts[i].first_part + k];
            bool enough = fv_sampled_count(&p->window, metric) >= FV_SAMPLED_ENOUGH;

            FV_GROW(*out, room, n + 1);
            (*out)[n++] = (struct fv_variation_group){ .context = (uint32_t)i,
                                                       .rank = p->rank,
                                                       .thread = p->thread,
                                                       .weight = weight > 0 ? computing_ticks(&contexts[i]) : 1,
                                                       .stat = enough ? &p->window : &p->all };
        }
    }
    return n;
}

static struct fv_variation variation_in(const struct fv_samples *all, const struct fv_sampled_function *contexts,
                                        size_t count, enum fv_metric metric)
{
    struct fv_variation_group *groups;
    size_t n = groups_of(all, contexts, count, metric, &groups);
    struct fv_variation v = fv_variation_of(groups, n, metric);

    free(groups);
    return v;
}

/* `share`: of its function. */
static enum fv_varies varies(const struct fv_sampled_function *s, double share, const struct fv_variation *v)
{
    if (share <= FV_SAMPLED_SHARE || s->waits)
        return FV_VARIES_NOT;
    return (v->within > FV_SAMPLED_WITHIN ? FV_VARIES_WITHIN : 0) |
           (v->between > FV_SAMPLED_BETWEEN ? FV_VARIES_BETWEEN : 0);
}

/* The machine is no variation of the function's. */
static enum fv_varies varies_by_itself(const struct fv_sampled_function *s, enum fv_varies varies)
{
    return s->disturbed ? varies & ~FV_VARIES_WITHIN : varies;
}

/* Of a function, or a context, over these contexts. */
static struct fv_variation variation_of(const struct fv_samples *all, const struct fv_sampled_function *s,
                                        const struct fv_sampled_function *contexts, size_t count, enum fv_metric metric)
{
    struct fv_variation v = variation_in(all, contexts, count, metric);

    if (!is_known(s))
        v.within = NAN;
    if (isnan(v.between) && count > 1) /* no two threads share a context */
        v.between = variation_in(all, s, 1, metric).between;
    v.varies = varies(s, s->contexts ? s->share : all->functions[s->function].share, &v);
    return v;
}

static int by_distance(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

    return (x > y) - (x < y);
}

/* How far calls are from the median of their context and thread, in parts of it; from the nearest to the farthest.
 * Returns how many; *out is to be freed. */
static size_t distances_of(const struct fv_samples *all, const struct fv_sampled_function *contexts, size_t count,
                           double **out)
{
    size_t n = 0, room = 0;

    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct fv_sampled_instance *calls = all->instances + contexts[i].first_instance;

        for (size_t k = 0, next; k < contexts[i].instances; k = next) {
            size_t begin = n;

            for (next = k; next < contexts[i].instances && calls[next].rank == calls[k].rank &&
                           calls[next].thread == calls[k].thread;
                 next++) {
                FV_GROW(*out, room, n + 1);
                (*out)[n++] = calls[next].cpu_s;
            }
            qsort(*out + begin, n - begin, sizeof(**out), fv_by_real);
            double median = (*out)[begin + (n - begin) / 2];
            for (size_t at = begin; at < n; at++)
                (*out)[at] = median > 0 ? (*out)[at] / median - 1 : 0;
        }
    }
    if (n)
        qsort(*out, n, sizeof(**out), by_distance);
    return n;
}

/* So few calls make it vary, and take so little time, that the machine may have: without them it would not vary by half
 * as much as it would have to. However long one alone was, it proves nothing. */
static bool is_disturbed(const struct fv_samples *all, const struct fv_sampled_function *contexts, size_t count)
{
    double *distances, squares = 0, far = 0;
    size_t n = distances_of(all, contexts, count, &distances);
    size_t few = (size_t)(DISTURBED * (double)n + 3 * sqrt(DISTURBED * (1 - DISTURBED) * (double)n));

    for (size_t i = 0; i < n; i++) {
        squares += i + few < n ? distances[i] * distances[i] : 0;
        far += i + few < n || i + 1 == n ? 0 : distances[i];
    }
    free(distances);
    return n > few && sqrt(squares / (double)(n - few)) < FV_SAMPLED_WITHIN / 2 && far < LITTLE * (double)n;
}

static void judge_calls(const struct fv_samples *all, struct fv_sampled_function *s,
                        const struct fv_sampled_function *contexts, size_t count)
{
    struct fv_variation v = variation_of(all, s, contexts, count, FV_SAMPLED_COMPUTING);

    s->judged = v.judged;
    s->pooled = v.pooled;
    s->within = v.within;
    s->between = v.between;
    s->by_caller = v.by_caller;
    s->disturbed = (v.varies & FV_VARIES_WITHIN) && is_disturbed(all, contexts, count);
    s->varies = varies_by_itself(s, v.varies);
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++) {
        if (fv_sampled_metric(all, FV_METRIC_EVENT_0 + i))
            s->event[i] = variation_of(all, s, contexts, count, FV_METRIC_EVENT_0 + i);
        s->event_varies |= s->event[i].varies != FV_VARIES_NOT;
    }
}

static void find_share(const struct fv_samples *all, struct fv_sampled_function *s)
{
    s->share = all->computing_ticks ? fmin(computing_ticks(s) / (double)all->computing_ticks, 1) : 0;
    s->inside_mpi = s->ticks && (double)s->mpi_ticks > INSIDE * (double)s->ticks;
    s->waits = s->ticks && computing_ticks(s) < (1 - INSIDE) * (double)s->ticks;
    for (size_t i = 0; i < s->parts; i++)
        s->ranks += !i || all->parts[s->first_part + i].rank != all->parts[s->first_part + i - 1].rank;
}

static void judge_context(const struct fv_samples *all, struct fv_sampled_function *s)
{
    judge_calls(all, s, s, 1);
    find_companion(all, s);
}

/* Most of its time is in contexts whose calls are brief. Of a function that has long calls, a context with so few calls
 * that none need be long does not count. */
static bool is_brief(const struct fv_samples *all, const struct fv_sampled_function *contexts, size_t count,
                     unsigned which)
{
    const struct lengths of = lengths_of(all, contexts, count, which);
    double brief = 0, time = 0;
    size_t number = 0;

    for (size_t i = 0; i < count; i++) {
        bool tells = !has_long(&of) || (double)of.longer * (double)contexts[i].instances >= TELLING * (double)of.count;

        if (contexts[i].brief[which] && !tells)
            continue;
        number += contexts[i].brief[which];
        brief += contexts[i].brief[which] ? computing_ticks(&contexts[i]) : 0;
        time += computing_ticks(&contexts[i]);
    }
    return time > 0 ? brief >= BRIEF * time : number == count;
}

/* One context alone is enough, whatever the others are like. */
static void take_verdict(struct fv_sampled_function *f, const struct fv_sampled_function *context)
{
    const struct fv_variation v = fv_sampled_variation(context, FV_SAMPLED_COMPUTING);

    f->varies = f->waits ? FV_VARIES_NOT : varies_by_itself(context, varies(context, context->share, &v));
    if (f->varies & FV_VARIES_WITHIN) {
        f->within = context->within;
        f->pooled = context->pooled;
    }
    if (f->varies & FV_VARIES_BETWEEN)
        f->between = context->between;
}

static void judge_function(const struct fv_samples *all, struct fv_sampled_function *f)
{
    const struct fv_sampled_function *contexts = all->items + f->first_context;

    for (unsigned i = 0; i < 2; i++)
        f->brief[i] = is_brief(all, contexts, f->contexts, i);
    judge_calls(all, f, contexts, f->contexts);
    for (size_t i = 0; i < f->contexts && !f->varies; i++)
        take_verdict(f, &contexts[i]);
    find_companion(all, f);
}

struct contexts {
    struct fv_sampled_instance *instances; /* of one context after the other */
    size_t *first;                         /* of each context, and behind the last */
};

static void sort_context(void *context, size_t i)
{
    const struct contexts *c = context;

    if (c->first[i] < c->first[i + 1])
        qsort(c->instances + c->first[i], c->first[i + 1] - c->first[i], sizeof(*c->instances), by_sampled_instance);
}

/* As by_sampled_instance() has them. There may be millions, from hundreds of ranks, but not in one context: each goes
 * to its context, in the place of one that does not belong there. */
static void sort_instances(struct fv_samples *s)
{
    struct contexts c = { s->instances, fv_xcalloc(s->count + 1, sizeof(*c.first)) };
    size_t *next = fv_xcalloc(s->count + 1, sizeof(*next));

    for (size_t i = 0; i < s->instance_count; i++)
        c.first[s->instances[i].sampled + 1]++;
    for (size_t i = 0; i < s->count; i++) {
        next[i] = c.first[i];
        c.first[i + 1] += c.first[i];
    }
    for (size_t i = 0; i < s->count; i++)
        while (next[i] < c.first[i + 1]) {
            struct fv_sampled_instance *at = &s->instances[next[i]], *to = &s->instances[next[at->sampled]++];
            const struct fv_sampled_instance moved = *to;

            *to = *at;
            *at = moved;
        }
    fv_parallel(s->count, sort_context, &c);
    free(c.first);
    free(next);
}

/* Keeps of each thread's instances, which lie together, as many as of the others. */
static void thin_instances(struct fv_samples *s)
{
    size_t kept = 0, next;

    sort_instances(s);
    for (size_t i = 0; i < s->instance_count; i = next) {
        struct fv_sampled_function *of = &s->items[s->instances[i].sampled];
        size_t most = INSTANCES_KEPT / (of->threads ? of->threads : 1), count, step;

        for (next = i; next < s->instance_count && s->instances[next].sampled == s->instances[i].sampled &&
                       s->instances[next].rank == s->instances[i].rank &&
                       s->instances[next].thread == s->instances[i].thread;)
            next++;
        most = most < 4 ? 4 : most;
        count = next - i;
        step = (count + most - 1) / most;
        if (!of->instances)
            of->first_instance = kept;
        for (size_t k = i; k < next; k += step, of->instances++)
            s->instances[kept++] = s->instances[k];
    }
    s->instance_count = kept;
}

static void order_recent(struct fv_samples *s)
{
    if (s->recent_count)
        qsort(s->recent, s->recent_count, sizeof(*s->recent), by_sampled_instance);
    for (size_t i = 0; i < s->count; i++)
        s->items[i].recents = 0; /* until now only how many there are */
    for (size_t i = s->recent_count; i-- > 0;) {
        s->items[s->recent[i].sampled].first_recent = i;
        s->items[s->recent[i].sampled].recents++;
    }
}

static double variation(const struct fv_sampled_function *s)
{
    return fmax(fmax(s->within, s->between), 0);
}

/* What varies makes its callers vary, by the same time and so by a smaller part. Share times variation is
 * about the same for both then, and the one inside is the one to look at. `counted`: the functions that this one was
 * weighed with, by its own number and one. */
static void weigh_with_callers(const struct fv_sampled_contexts *contexts, struct fv_sampled_function *f, uint32_t node,
                               uint32_t *counted)
{
    const struct fv_samples *all = fv_model_samples(contexts->model);
    const struct fv_node *nodes = contexts->model->tree.nodes;
    uint32_t number = (uint32_t)(f - all->functions) + 1;

    for (uint32_t at = nodes[node].parent; at; at = nodes[at].parent) {
        uint32_t context = fv_sampled_contexts_of(contexts, &nodes[at]);
        const struct fv_sampled_function *caller =
            context == FV_NONE ? NULL : &all->functions[all->items[context].function];

        if (!caller || !caller->varies || variation(caller) >= variation(f) ||
            counted[caller - all->functions] == number)
            continue;
        counted[caller - all->functions] = number;
        f->weight = fmax(f->weight, caller->share * variation(caller));
        f->inherited++;
    }
}

static void weigh(const struct fv_sampled_contexts *contexts, struct fv_samples *s)
{
    uint32_t *counted = fv_xcalloc(s->function_count + 1, sizeof(*counted));

    for (size_t i = 0; i < s->function_count; i++) {
        struct fv_sampled_function *f = &s->functions[i];

        f->weight = f->share * variation(f);
        for (size_t k = 0; f->varies && k < f->contexts; k++)
            weigh_with_callers(contexts, f, s->items[f->first_context + k].node, counted);
    }
    free(counted);
}

static void judge_all(const struct fv_sampled_contexts *contexts, struct fv_samples *s)
{
    if (s->part_count)
        qsort(s->parts, s->part_count, sizeof(*s->parts), by_sampled);
    for (size_t i = s->part_count; i-- > 0;) {
        s->items[s->parts[i].sampled].first_part = i;
        s->items[s->parts[i].sampled].parts++;
    }
    thin_instances(s);
    order_recent(s);
    fv_sampled_add_contexts(s);
    for (size_t i = 0; i < s->function_count; i++) {
        find_share(s, &s->functions[i]);
        find_brief(s, s->items + s->functions[i].first_context, s->functions[i].contexts);
    }
    for (size_t i = 0; i < s->count; i++) {
        find_share(s, &s->items[i]);
        judge_context(s, &s->items[i]);
    }
    for (size_t i = 0; i < s->function_count; i++)
        judge_function(s, &s->functions[i]);
    fv_sampled_find_rare(contexts, s);
    weigh(contexts, s);
}

static int by_guidance(const void *a, const void *b)
{
    const struct fv_sampled_function *x = a, *y = b;
    double of_x = x->share * variation(x), of_y = y->share * variation(y);

    if (x->waits != y->waits)
        return x->waits ? 1 : -1;
    if (!x->varies != !y->varies)
        return x->varies ? -1 : 1;
    if (!x->varies && x->event_varies != y->event_varies)
        return x->event_varies ? -1 : 1;
    if (!x->varies && x->share != y->share)
        return x->share > y->share ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->inherited != y->inherited)
        return x->inherited > y->inherited ? -1 : 1;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

void fv_samples_judge(struct fv_model *m, const struct fv_symbols *symbols, const struct fv_cost_profile *costs)
{
    struct fv_sampled_contexts contexts;

    fv_sampled_find_functions(m);
    fv_sampled_contexts_init(&contexts, m);
    charge_costs(&contexts, m, symbols);
    find_looping(m, fv_model_samples(m)->items, fv_model_samples(m)->count, costs);
    find_looping(m, fv_model_samples(m)->functions, fv_model_samples(m)->function_count, costs);
    judge_all(&contexts, fv_model_samples(m));
    fv_sampled_contexts_release(&contexts);
    fv_sampled_order(fv_model_samples(m), by_guidance);
    fv_samples_find_off(fv_model_samples(m));
}

/* ---- words ---- */

static const char *companion(const struct fv_samples *samples, enum fv_metric metric)
{
    static const char *const words[FV_METRIC_EVENT_0] = {
        [FV_METRIC_MPI] = "its time in MPI varies",     [FV_METRIC_MPI_CALLS] = "its MPI calls vary",
        [FV_METRIC_FAULTS] = "its page faults vary",    [FV_METRIC_SWITCHES] = "its context switches vary",
        [FV_METRIC_MIGRATIONS] = "its migrations vary", [FV_METRIC_MPI_BYTES] = "its MPI bytes vary"
    };

    return metric < FV_METRIC_EVENT_0 ? words[metric] : fv_sampled_metric(samples, metric);
}

struct fv_variation fv_sampled_variation(const struct fv_sampled_function *s, enum fv_metric metric)
{
    if (metric == FV_SAMPLED_COMPUTING)
        return (struct fv_variation){ s->within, s->between, s->by_caller, s->judged, s->pooled, s->varies };
    if (metric >= FV_METRIC_EVENT_0)
        return s->event[metric - FV_METRIC_EVENT_0];
    return (struct fv_variation){ NAN, NAN, NAN, false, false, FV_VARIES_NOT };
}

/* "from call to call (cov 0.50) and from thread to thread (cov 0.20)". */
static char *how(const struct fv_variation *v, char *out, size_t bytes)
{
    out[0] = '\0';
    if (v->varies & FV_VARIES_WITHIN)
        fv_words_add(out, bytes, "from call to call (cov %.2f%s)", v->within,
                     v->pooled ? ", all threads together" : "");
    if (v->varies & FV_VARIES_BETWEEN)
        fv_words_add(out, bytes, "%sfrom thread to thread (cov %.2f)", v->varies == FV_VARIES_BOTH ? " and " : "",
                     v->between);
    return out;
}

char *fv_sampled_event_advice(const struct fv_samples *samples, const struct fv_sampled_function *s, char *out,
                              size_t bytes)
{
    char words[160];

    out[0] = '\0';
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        if (s->event[i].varies)
            fv_words_add(out, bytes, "%s%s varies %s", *out ? "; " : "",
                         fv_sampled_metric(samples, FV_METRIC_EVENT_0 + i), how(&s->event[i], words, sizeof(words)));
    return out;
}

bool fv_sampled_differs_by_caller(const struct fv_sampled_function *f)
{
    return f->share > FV_SAMPLED_SHARE && !f->waits && f->by_caller > FV_SAMPLED_WITHIN;
}

char *fv_sampled_advice(const struct fv_samples *samples, const struct fv_sampled_function *s, char *out, size_t bytes)
{
    const struct fv_variation v = fv_sampled_variation(s, FV_SAMPLED_COMPUTING);
    char with[160] = "", words[160], caller[64] = "";

    out[0] = '\0';
    if (!s->varies && fv_sampled_differs_by_caller(s))
        snprintf(out, bytes, "differs by caller (cov %.2f), not from call to call: the callers ask for different work",
                 s->by_caller);
    if (!s->varies)
        return out;
    if (s->with < FV_SAMPLED_METRICS)
        snprintf(with, sizeof(with), "; %s%s (cov %.2f)", companion(samples, s->with),
                 s->with < FV_METRIC_EVENT_0 ? ", too" : " varies, too", s->with_cov);
    if (fv_sampled_differs_by_caller(s))
        snprintf(caller, sizeof(caller), "; differs by caller, too (cov %.2f)", s->by_caller);
    snprintf(out, bytes, "varies %s%s%s", how(&v, words, sizeof(words)), caller, with);
    return out;
}

/* ---- call paths ---- */

size_t fv_sampled_own_frame(const struct fv_path *path)
{
    size_t own = 0;

    while (own + 1 < path->count && path->frames[own].inlined)
        own++;
    return own;
}

size_t fv_sampled_path(struct fv_path *path, const struct fv_symbols *symbols,
                       const struct fv_sampled_function *sampled)
{
    fv_path_of(path, symbols, sampled->node);
    size_t own = fv_sampled_own_frame(path);

    if (own < path->count && path->frames[own].offset)
        path->frames[own].offset--;
    return own;
}
