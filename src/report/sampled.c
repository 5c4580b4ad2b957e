/* See sampled.h. The contexts of all threads first; then each clock sample is charged to the contexts on its
 * call path. */
#include "report/costs.h"
#include "report/sample_paths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INSIDE         0.95 /* of the ticks of a part of MPI, in MPI */
#define INSTANCES_KEPT 1024 /* of a function; of each thread that has it, alike */

struct gather {
    struct fv_build *build;
    struct fv_samples *out;
    struct fv_index by_node, by_parent; /* of out->items */
    bool counted[FV_METRIC_EVENTS];     /* does the present rank count the event? */
};

/* ---- statistics ---- */

uint64_t fv_sampled_count(const struct fv_sampled_stat *s, enum fv_metric metric)
{
    return metric < FV_METRIC_EVENT_0 ? s->count : s->event_count[metric - FV_METRIC_EVENT_0];
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

    if (metric < FV_METRIC_EVENT_0)
        return names[metric];
    event = &samples->events[metric - FV_METRIC_EVENT_0];
    return event->refused < event->ranks ? event->name : NULL;
}

/* Chan, Golub, LeVeque (1979), as for calls in model.c. */
static void add_stat(struct fv_sampled_stat *to, const struct fv_sampled_stat *from)
{
    for (unsigned i = 0; i < FV_METRIC_COUNT; i++) {
        double a = (double)fv_sampled_count(to, i), b = (double)fv_sampled_count(from, i);
        double delta = from->mean[i] - to->mean[i];

        if (b > 0) {
            to->m2[i] += from->m2[i] + delta * delta * a * b / (a + b);
            to->mean[i] += delta * b / (a + b);
        }
    }
    to->count += from->count;
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        to->event_count[i] += from->event_count[i];
}

/* What a thread had collected, in seconds; `counted`: of which events. Damaged numbers count as none. */
static struct fv_sampled_stat take_stat(const struct fv_moments *m, uint64_t count, double tick_s,
                                        const bool counted[FV_METRIC_EVENTS])
{
    const double unit[FV_METRIC_COUNT] = { [FV_METRIC_TIME] = tick_s,
                                           [FV_METRIC_CPU] = 1e-9,
                                           [FV_METRIC_MPI] = tick_s,
                                           [FV_METRIC_MPI_CALLS] = 1,
                                           [FV_METRIC_FAULTS] = 1,
                                           [FV_METRIC_SWITCHES] = 1,
                                           [FV_METRIC_MIGRATIONS] = 1,
                                           [FV_METRIC_MPI_BYTES] = 1,
                                           [FV_METRIC_EVENT_0] = 1,
                                           1,
                                           1,
                                           1 };
    struct fv_sampled_stat s = { .count = count };

    for (unsigned i = 0; i < FV_METRIC_COUNT; i++) {
        if (!isfinite(m[i].mean) || !isfinite(m[i].m2) || m[i].mean < 0 || m[i].m2 < 0)
            return (struct fv_sampled_stat){ 0 };
        s.mean[i] = m[i].mean * unit[i];
        s.m2[i] = m[i].m2 * unit[i] * unit[i];
    }
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        s.event_count[i] = counted[i] ? count : 0;
    return s;
}

/* ---- contexts ---- */

static uint32_t sampled_of(struct gather *g, uint32_t node)
{
    struct fv_samples *s = g->out;
    struct fv_index_probe p = fv_index_probe(&g->by_node, fv_mix2(node, 1));

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (s->items[i].node == node)
            return i;
    uint32_t id = (uint32_t)s->count;
    FV_GROW(s->items, s->room, s->count + 1);
    s->items[s->count++] = (struct fv_sampled){ .node = node, .between = NAN };
    fv_index_add(&g->by_node, fv_mix2(node, 1), id);
    fv_index_add(&g->by_parent, fv_mix2(g->build->model->nodes[node].parent, 2), id);
    return id;
}

/* Reservoirs are in the order that they were filled in: a part of one must be drawn from all of it. */
static void take_instances(struct gather *g, const struct fv_sampled_part *part, const struct fv_instances *r)
{
    struct fv_samples *s = g->out;
    const struct fv_model *m = g->build->model;
    uint64_t count = r->returns < FV_RESERVOIR ? r->returns : FV_RESERVOIR;

    for (uint64_t i = 0; i < count; i++) {
        FV_GROW(s->instances, s->instance_room, s->instance_count + 1);
        s->instances[s->instance_count++] = (struct fv_sampled_instance){
            .sampled = part->sampled,
            .rank = part->rank,
            .thread = part->thread,
            .begin_s = fv_build_time(m, part->rank, r->reservoir[i].begin),
            .time_s = fv_build_seconds(m, part->rank, r->reservoir[i].time),
            .cpu_s = (double)r->reservoir[i].cpu_ns * 1e-9,
        };
    }
}

static void read_instances(struct gather *g, struct fv_build_file *f, const struct fv_sample_trees *trees,
                           uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_INSTANCES);
    double tick_s = fv_build_seconds(g->build->model, rank, 1u << 20) / (1u << 20);
    static const bool none[FV_METRIC_EVENTS];
    struct fv_samples *out = g->out;
    struct fv_instances r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        uint32_t node = fv_sample_trees_node(trees, c.thread, r.path);
        const bool *counted = r.flags & FV_INSTANCES_UNCOUNTED ? none : g->counted;

        if (!node || node == FV_NONE)
            continue;
        struct fv_sampled_part part = { .sampled = sampled_of(g, node),
                                        .rank = rank,
                                        .thread = c.thread,
                                        .entries = r.entries,
                                        .returns = r.returns,
                                        .abandoned = r.abandoned,
                                        .all = take_stat(r.all, r.returns, tick_s, counted),
                                        .window = take_stat(r.in_window, r.window, tick_s, counted) };
        struct fv_sampled *s = &out->items[part.sampled];
        s->entries += r.entries;
        s->returns += r.returns;
        s->abandoned += r.abandoned;
        s->fast |= r.flags & FV_INSTANCES_FAST;
        s->threads++;
        add_stat(&s->all, &part.all);
        add_stat(&s->window, &part.window);
        take_instances(g, &part, &r);
        FV_GROW(out->parts, out->part_room, out->part_count + 1);
        out->parts[out->part_count++] = part;
    }
}

/* ---- clock samples ---- */

/* The context that a frame is of: called from the same place, of the functions that begin before it the
 * nearest. */
static struct fv_sampled *context_of(const struct gather *g, const struct fv_node *frame)
{
    const struct fv_model *m = g->build->model;
    struct fv_index_probe p = fv_index_probe(&g->by_parent, fv_mix2(frame->parent, 2));
    uint32_t best = FV_NONE;

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        const struct fv_node *n = &m->nodes[g->out->items[i].node];

        if (n->parent == frame->parent && n->module == frame->module && n->offset <= frame->offset &&
            (best == FV_NONE || n->offset > m->nodes[g->out->items[best].node].offset))
            best = i;
    }
    return best == FV_NONE ? NULL : &g->out->items[best];
}

static void charge(struct gather *g, const struct fv_node *frame, uint64_t ticks, uint64_t mpi_ticks)
{
    struct fv_sampled *s = context_of(g, frame);

    if (s) {
        s->ticks += ticks;
        s->mpi_ticks += mpi_ticks;
    }
}

static void charge_costs(struct gather *g)
{
    const struct fv_model *m = g->build->model;
    uint64_t *ticks = fv_xcalloc(m->node_count, sizeof(*ticks)),
             *mpi = fv_xcalloc(m->node_count, sizeof(*mpi));

    for (size_t i = 0; i < m->costs.leaf_count; i++) {
        ticks[m->costs.leaves[i].node] += m->costs.leaves[i].ticks;
        mpi[m->costs.leaves[i].node] += m->costs.leaves[i].in_mpi;
    }
    for (size_t i = m->node_count; i-- > 1;) { /* callers have smaller numbers */
        if (ticks[i])
            charge(g, &m->nodes[i], ticks[i], mpi[i]);
        ticks[m->nodes[i].parent] += ticks[i];
        mpi[m->nodes[i].parent] += mpi[i];
    }
    free(ticks);
    free(mpi);
}

static void add_sampler(struct gather *g, const struct fv_sampler_record *r, uint32_t rank)
{
    const struct fv_model *m = g->build->model;
    struct fv_samples *s = g->out;

    s->migrations_exact = (s->migrations_exact || !s->threads) && r->migrations_exact;
    s->threads++;
    s->rate = r->rate;
    s->ticks += r->ticks;
    s->cpu_s += (double)r->ticks / (double)r->rate;
    s->traps += r->traps;
    s->entries += r->entries;
    s->returns += r->returns;
    s->abandoned += r->abandoned;
    s->open += r->open;
    s->lost += r->lost_contexts;
    s->lost_paths += r->lost_paths;
    s->log_lost += r->log_lost;
    s->events_scaled += r->events_scaled;
    s->events_lost += r->events_lost;
    s->skipped += r->skipped;
    s->held_back += r->held_back;
    s->no_stack += r->no_stack;
    s->not_followed += r->refused;
    s->cut += r->cut;
    s->modes[r->mode <= FV_SAMPLER_COSTS ? r->mode : FV_SAMPLER_COSTS]++;
    if (r->refusal) {
        s->refused_threads++;
        s->refusal = (int)(r->refusal & 0xffff);
    }
    s->tool_s += (double)r->tool_ns * 1e-9;
    s->trap_s = fmax(s->trap_s, fv_build_seconds(m, rank, r->trap_ticks));
    s->trap_spread_s = fmax(s->trap_spread_s, fv_build_seconds(m, rank, r->trap_spread_ticks));
}

static void read_samplers(struct gather *g, const struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SAMPLER);
    struct fv_sampler_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (r.rate)
            add_sampler(g, &r, rank);
    }
}

static void read_events(struct gather *g, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_METRIC_EVENTS);
    struct fv_arena *arena = &g->build->model->arena;
    struct fv_metric_event r;
    unsigned i = 0;

    memset(g->counted, 0, sizeof(g->counted));
    for (const void *p; i < FV_METRIC_EVENTS && (p = fv_cursor_next(&c)); i++) {
        struct fv_sampled_event *e = &g->out->events[i];

        memcpy(&r, p, sizeof(r));
        if (!e->name)
            e->name = fv_arena_bytes(arena, r.name, strnlen(r.name, sizeof(r.name)));
        e->ranks++;
        e->user_only |= r.user_only;
        g->counted[i] = !r.refusal;
        if (r.refusal) {
            e->refused++;
            e->refusal = (int)(r.refusal & 0xffff);
        }
    }
}

/* ---- guidance ---- */

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
        double stddev = fv_sampled_stddev(s, FV_METRIC_CPU);

        if (s->count < FV_SAMPLED_ENOUGH)
            continue;
        n++;
        sum += s->mean[FV_METRIC_CPU];
        squares += s->mean[FV_METRIC_CPU] * s->mean[FV_METRIC_CPU];
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

    s->with = FV_METRIC_COUNT;
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

        m2 += stat->m2[FV_METRIC_CPU];
        sum += stat->mean[FV_METRIC_CPU] * (double)stat->count;
        count += stat->count;
        free += stat->count ? stat->count - 1 : 0;
    }
    if (free + 1 < FV_SAMPLED_ENOUGH)
        return;
    s->judged = s->pooled = true;
    s->within = sum > 0 ? sqrt(m2 / (double)free) / (sum / (double)count) : 0;
}

/* Called before the functions are put in order. */
static void judge_one(struct fv_samples *all, struct fv_sampled *s)
{
    const struct fv_sampled_part *parts = all->parts + s->first_part;

    for (size_t i = 0; i < s->parts; i++) {
        const struct fv_sampled_stat *stat = best_stat(&parts[i]);

        s->ranks += !i || parts[i].rank != parts[i - 1].rank;
        s->judged |= stat->count >= FV_SAMPLED_ENOUGH;
        if (stat->count >= FV_SAMPLED_ENOUGH)
            s->within = fmax(s->within, fv_sampled_cov(stat, FV_METRIC_CPU));
    }
    if (!s->judged)
        judge_pooled(s, parts);
    s->between = between(parts, s->parts);
    s->share = all->ticks ? fmin((double)s->ticks / (double)all->ticks, 1) : 0;
    s->inside_mpi = s->ticks && (double)s->mpi_ticks > INSIDE * (double)s->ticks;
    if (s->share > FV_SAMPLED_SHARE)
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
    return fmax(s->within, fmax(s->between, 0));
}

/* What varies makes its callers vary, by the same time and so by a smaller part. Share times variation is about the same
 * for both then, and the one inside is the one to look at. */
static void weigh_one(const struct gather *g, struct fv_sampled *s)
{
    const struct fv_node *nodes = g->build->model->nodes;

    s->weight = s->share * variation(s);
    for (uint32_t at = s->varies ? nodes[s->node].parent : 0; at; at = nodes[at].parent) {
        const struct fv_sampled *caller = context_of(g, &nodes[at]);

        if (!caller || !caller->varies || variation(caller) >= variation(s))
            continue;
        s->weight = fmax(s->weight, caller->share * variation(caller));
        s->inherited++;
    }
}

static void judge(struct gather *g)
{
    struct fv_samples *s = g->out;

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
        weigh_one(g, &s->items[i]);
}

static int by_guidance(const void *a, const void *b)
{
    const struct fv_sampled *x = a, *y = b;
    double of_x = x->share * variation(x), of_y = y->share * variation(y);

    if (x->inside_mpi != y->inside_mpi)
        return x->inside_mpi ? 1 : -1;
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

void fv_build_samples(struct fv_build *b)
{
    struct gather g = { .build = b, .out = &b->model->samples };

    for (uint32_t i = 0; i < b->model->rank_count; i++) {
        struct fv_sample_trees trees = { 0 };

        fv_sample_trees_read(&trees, b, &b->files[i]);
        read_samplers(&g, &b->files[i], i);
        read_events(&g, &b->files[i]);
        read_instances(&g, &b->files[i], &trees, i);
        fv_build_costs(b, &b->files[i], &trees, i);
        fv_sample_trees_release(&trees);
    }
    charge_costs(&g);
    judge(&g);
    if (g.out->count)
        qsort(g.out->items, g.out->count, sizeof(*g.out->items), by_guidance);
    fv_index_release(&g.by_node);
    fv_index_release(&g.by_parent);
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
    if (s->with < FV_METRIC_COUNT)
        snprintf(with, sizeof(with), "; %s%s (cov %.2f)", companion(samples, s->with),
                 s->with < FV_METRIC_EVENT_0 ? ", too" : " varies, too", s->with_cov);
    snprintf(out, bytes, "varies %s%s%s%s", within, s->varies == FV_VARIES_BOTH ? " and " : "", between,
             with);
    return out;
}
