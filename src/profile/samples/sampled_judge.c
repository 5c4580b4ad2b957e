/* See sampled.h: which functions vary, in what order to look at them, and what to say of them. What counts is CPU time that
 * is computing: outside of MPI, and not waiting for threads, in which libraries spin as long as others let them. */
#include "profile/samples/cost_profile_parts.h"
#include "profile/samples/sampled_gather.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define INSIDE         0.95 /* of the samples of a part of MPI, in MPI; likewise of what waits */
#define BRIEF          0.5 /* of its calls are, if a function is */
#define INSTANCES_KEPT 1024 /* of a function; of each thread that has it, alike */

/* ---- clock samples ---- */

static void add_leaf(struct fv_samples *s, struct fv_cost_sum *to, const struct fv_cost_leaf *l, double tick_s, bool sync)
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

    m->samples.computing_ticks = m->samples.ticks > m->costs.ticks ? m->samples.ticks - m->costs.ticks : 0; /* without a path */
    m->samples.computing_s = (double)m->samples.computing_ticks * m->costs.tick_s;
    for (size_t i = 0; i < m->costs.leaf_count; i++) {
        const struct fv_cost_leaf *l = &m->costs.leaves[i];

        if (l->node != node)
            sync = fv_cost_waits(&path, m, symbols, l->node);
        node = l->node;
        add_leaf(&m->samples, &sums[node], l, m->costs.threads[l->thread].tick_s, sync);
    }
    fv_path_release(&path);
    return sums;
}

static void charge(struct fv_sampled *s, const struct fv_cost_sum *sum)
{
    s->ticks += sum->ticks;
    s->mpi_ticks += sum->in_mpi;
    s->sync_ticks += sum->in_sync;
}

static void charge_costs(const struct fv_contexts *contexts, struct fv_model *m, const struct fv_symbols *symbols)
{
    struct fv_cost_sum *sums = sums_of_leaves(m, symbols);

    for (size_t i = m->tree.node_count; i-- > 1;) { /* callers have smaller numbers */
        struct fv_cost_sum *caller = &sums[m->tree.nodes[i].parent];
        uint32_t context = sums[i].ticks ? fv_contexts_of(contexts, &m->tree.nodes[i]) : FV_NONE;

        if (context != FV_NONE)
            charge(&m->samples.items[context], &sums[i]);
        caller->ticks += sums[i].ticks;
        caller->in_mpi += sums[i].in_mpi;
        caller->in_sync += sums[i].in_sync;
    }
    free(sums);
}

static double computing_ticks(const struct fv_sampled *s)
{
    return (double)s->ticks - (double)s->mpi_ticks - (double)s->sync_ticks;
}

/* ---- statistics ---- */

uint64_t fv_sampled_count(const struct fv_sampled_stat *s, enum fv_metric metric)
{
    return metric < FV_METRIC_EVENT_0 || metric == FV_SAMPLED_COMPUTING ? s->count : s->event_count[metric - FV_METRIC_EVENT_0];
}

double fv_sampled_stddev(const struct fv_sampled_stat *s, enum fv_metric metric)
{
    uint64_t count = fv_sampled_count(s, metric);

    return count > 1 && s->m2[metric] > 0 ? sqrt(s->m2[metric] / (double)(count - 1)) : 0;
}

double fv_sampled_cov(const struct fv_sampled_stat *s, enum fv_metric metric)
{
    return s->mean[metric] > 0 ? fv_sampled_stddev(s, metric) / s->mean[metric] : 0;
}

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

bool fv_sampled_is_brief(const struct fv_sampled *s, enum fv_metric metric)
{
    return metric == FV_METRIC_TIME ? s->brief[0] : (metric == FV_METRIC_CPU || metric == FV_SAMPLED_COMPUTING) && s->brief[1];
}

/* ---- guidance ---- */

/* By the calls that were kept: a mean is mostly that of a few that met an interrupt. */
static void find_brief(const struct fv_samples *all, struct fv_sampled *s)
{
    size_t below[2] = { 0 };

    for (size_t i = 0; i < s->instances; i++) {
        below[0] += all->instances[s->first_instance + i].time_s < all->resolution_s;
        below[1] += all->instances[s->first_instance + i].cpu_s < all->resolution_s;
    }
    for (unsigned i = 0; i < 2; i++)
        s->brief[i] = s->instances && (double)below[i] >= BRIEF * (double)s->instances;
}

static const struct fv_sampled_stat *best_stat(const struct fv_sampled_part *p)
{
    return p->window.count >= FV_SAMPLED_ENOUGH ? &p->window : &p->all;
}

/* Of the threads' means, beyond what the spread within them makes likely. */
static double between(const struct fv_sampled_part *parts, size_t count)
{
    double sum = 0, squares = 0, noise = 0, n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct fv_sampled_stat *s = best_stat(&parts[i]);
        double stddev = fv_sampled_stddev(s, FV_SAMPLED_COMPUTING);

        if (s->count < FV_SAMPLED_ENOUGH)
            continue;
        n++;
        sum += s->mean[FV_SAMPLED_COMPUTING];
        squares += s->mean[FV_SAMPLED_COMPUTING] * s->mean[FV_SAMPLED_COMPUTING];
        noise += stddev * stddev / (double)s->count;
    }
    if (n < 2 || sum <= 0)
        return NAN;
    double mean = sum / n, variance = (squares - sum * mean) / (n - 1) - noise / n;
    return variance > 0 ? sqrt(variance) / mean : 0;
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
static void find_companion(const struct fv_samples *samples, struct fv_sampled *s)
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

/* Where no thread has enough instances of its own: of all threads, each about its own mean. */
static void judge_pooled(struct fv_sampled *s, const struct fv_sampled_part *parts)
{
    double m2 = 0, sum = 0;
    uint64_t count = 0, free = 0; /* free: degrees of freedom */

    for (size_t i = 0; i < s->parts; i++) {
        const struct fv_sampled_stat *stat = &parts[i].all;

        m2 += stat->m2[FV_SAMPLED_COMPUTING];
        sum += stat->mean[FV_SAMPLED_COMPUTING] * (double)stat->count;
        count += stat->count;
        free += stat->count ? stat->count - 1 : 0;
    }
    if (free + 1 < FV_SAMPLED_ENOUGH)
        return;
    s->judged = s->pooled = true;
    s->within = sum > 0 ? sqrt(m2 / (double)free) / (sum / (double)count) : 0;
}

static void judge_times(struct fv_sampled *s, const struct fv_sampled_part *parts)
{
    for (size_t i = 0; i < s->parts; i++) {
        const struct fv_sampled_stat *stat = best_stat(&parts[i]);

        s->judged |= stat->count >= FV_SAMPLED_ENOUGH;
        if (stat->count >= FV_SAMPLED_ENOUGH)
            s->within = fmax(s->within, fv_sampled_cov(stat, FV_SAMPLED_COMPUTING));
    }
    if (!s->judged)
        judge_pooled(s, parts);
    s->between = between(parts, s->parts);
}

/* Called before the functions are put in order. */
static void judge_one(struct fv_samples *all, struct fv_sampled *s)
{
    const struct fv_sampled_part *parts = all->parts + s->first_part;

    for (size_t i = 0; i < s->parts; i++)
        s->ranks += !i || parts[i].rank != parts[i - 1].rank;
    find_brief(all, s);
    if (fv_sampled_is_brief(s, FV_METRIC_CPU))
        s->within = NAN;
    else
        judge_times(s, parts);
    s->share = all->computing_ticks ? fmin(computing_ticks(s) / (double)all->computing_ticks, 1) : 0;
    s->inside_mpi = s->ticks && (double)s->mpi_ticks > INSIDE * (double)s->ticks;
    s->waits = s->ticks && computing_ticks(s) < (1 - INSIDE) * (double)s->ticks;
    if (s->share > FV_SAMPLED_SHARE && !s->waits)
        s->varies = (s->within > FV_SAMPLED_WITHIN ? FV_VARIES_WITHIN : 0) |
                    (s->between > FV_SAMPLED_BETWEEN ? FV_VARIES_BETWEEN : 0);
    find_companion(all, s);
}

/* Keeps of each thread's instances, which lie together, as many as of the others. */
static void thin_instances(struct fv_samples *s)
{
    size_t kept = 0, next;

    if (s->instance_count)
        qsort(s->instances, s->instance_count, sizeof(*s->instances), by_sampled_instance);
    for (size_t i = 0; i < s->instance_count; i = next) {
        struct fv_sampled *of = &s->items[s->instances[i].sampled];
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

static double variation(const struct fv_sampled *s)
{
    return fmax(fmax(s->within, s->between), 0);
}

/* What varies makes its callers vary, by the same time and so by a smaller part. Share times variation is
 * about the same for both then, and the one inside is the one to look at. */
static void weigh_one(const struct fv_contexts *contexts, struct fv_sampled *s)
{
    const struct fv_samples *all = &contexts->model->samples;
    const struct fv_node *nodes = contexts->model->tree.nodes;

    s->weight = s->share * variation(s);
    for (uint32_t at = s->varies ? nodes[s->node].parent : 0; at; at = nodes[at].parent) {
        uint32_t context = fv_contexts_of(contexts, &nodes[at]);
        const struct fv_sampled *caller = context == FV_NONE ? NULL : &all->items[context];

        if (!caller || !caller->varies || variation(caller) >= variation(s))
            continue;
        s->weight = fmax(s->weight, caller->share * variation(caller));
        s->inherited++;
    }
}

static void judge_all(const struct fv_contexts *contexts, struct fv_samples *s)
{
    if (s->part_count)
        qsort(s->parts, s->part_count, sizeof(*s->parts), by_sampled);
    for (size_t i = s->part_count; i-- > 0;) {
        s->items[s->parts[i].sampled].first_part = i;
        s->items[s->parts[i].sampled].parts++;
    }
    thin_instances(s);
    for (size_t i = 0; i < s->count; i++)
        judge_one(s, &s->items[i]);
    for (size_t i = 0; i < s->count; i++)
        weigh_one(contexts, &s->items[i]);
}

static int by_guidance(const void *a, const void *b)
{
    const struct fv_sampled *x = a, *y = b;
    double of_x = x->share * variation(x), of_y = y->share * variation(y);

    if (x->waits != y->waits)
        return x->waits ? 1 : -1;
    if (!x->varies != !y->varies)
        return x->varies ? -1 : 1;
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

void fv_samples_judge(struct fv_model *m, const struct fv_symbols *symbols)
{
    struct fv_samples *s = &m->samples;
    struct fv_contexts contexts;

    fv_contexts_init(&contexts, m);
    charge_costs(&contexts, m, symbols);
    judge_all(&contexts, s);
    fv_contexts_release(&contexts);
    if (s->count)
        qsort(s->items, s->count, sizeof(*s->items), by_guidance);
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

char *fv_sampled_advice(const struct fv_samples *samples, const struct fv_sampled *s, char *out, size_t bytes)
{
    char with[160] = "", within[64] = "", between[64] = "";

    out[0] = '\0';
    if (!s->varies)
        return out;
    if (s->varies & FV_VARIES_WITHIN)
        snprintf(within, sizeof(within), "from call to call (cov %.2f%s)", s->within,
                 s->pooled ? ", all threads together" : "");
    if (s->varies & FV_VARIES_BETWEEN)
        snprintf(between, sizeof(between), "from thread to thread (cov %.2f)", s->between);
    if (s->with < FV_SAMPLED_METRICS)
        snprintf(with, sizeof(with), "; %s%s (cov %.2f)", companion(samples, s->with),
                 s->with < FV_METRIC_EVENT_0 ? ", too" : " varies, too", s->with_cov);
    snprintf(out, bytes, "varies %s%s%s%s", within, s->varies == FV_VARIES_BOTH ? " and " : "", between,
             with);
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
                       const struct fv_sampled *sampled)
{
    fv_path_of(path, symbols, sampled->node);
    size_t own = fv_sampled_own_frame(path);

    if (own < path->count && path->frames[own].offset)
        path->frames[own].offset--;
    return own;
}
