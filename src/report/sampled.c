/* See sampled.h. Only contexts with instances come into the model's tree; the call paths of clock samples are
 * looked up in it, frame by frame, because there are far more of them than anybody wants symbols for. */
#include "report/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One thread's instances in one context. */
struct part {
    uint32_t sampled, rank, thread;
    struct fv_sampled_stat all, window;
};

/* The call tree of one thread. */
struct tree {
    uint32_t thread;
    struct fv_path_record *raw; /* by id - 1 */
    uint32_t *node;             /* in the model; FV_NONE: not asked yet */
    size_t count, room, node_room;
};

struct gather {
    struct fv_build *build;
    struct fv_samples *out;
    struct part *parts;
    size_t part_count, part_room;
    struct fv_index by_node, by_parent; /* of out->items */
    struct tree *trees;                 /* of the present file */
    size_t tree_count, tree_room;
};

/* ---- statistics ---- */

double fv_sampled_stddev(const struct fv_sampled_stat *s, enum fv_metric metric)
{
    return s->count > 1 && s->m2[metric] > 0 ? sqrt(s->m2[metric] / (double)(s->count - 1)) : 0;
}

double fv_sampled_cov(const struct fv_sampled_stat *s, enum fv_metric metric)
{
    return s->mean[metric] > 0 ? fv_sampled_stddev(s, metric) / s->mean[metric] : 0;
}

const char *fv_metric_name(enum fv_metric metric)
{
    static const char *const names[] = { "time_s",  "cpu_time_s", "mpi_time_s", "mpi_calls",
                                         "faults",  "switches",   "migrations", "mpi_bytes",
                                         "event_0", "event_1",    "event_2",    "event_3" };

    return metric < FV_METRIC_COUNT ? names[metric] : "?";
}

/* Chan, Golub, LeVeque (1979), as for calls in model.c. */
static void add_stat(struct fv_sampled_stat *to, const struct fv_sampled_stat *from)
{
    double a = (double)to->count, b = (double)from->count;

    if (!from->count)
        return;
    for (unsigned i = 0; i < FV_METRIC_COUNT; i++) {
        double delta = from->mean[i] - to->mean[i];

        to->m2[i] += from->m2[i] + delta * delta * a * b / (a + b);
        to->mean[i] += delta * b / (a + b);
    }
    to->count += from->count;
}

/* What a thread had collected, in seconds. Damaged numbers count as none. */
static struct fv_sampled_stat take_stat(const struct fv_moments *m, uint64_t count, double tick_s)
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
    return s;
}

/* ---- contexts ---- */

static struct tree *tree_of(struct gather *g, uint32_t thread)
{
    for (size_t i = g->tree_count; i-- > 0;)
        if (g->trees[i].thread == thread)
            return &g->trees[i];
    FV_GROW(g->trees, g->tree_room, g->tree_count + 1);
    g->trees[g->tree_count] = (struct tree){ .thread = thread };
    return &g->trees[g->tree_count++];
}

/* An address in an object that the thread met before the process knew it: by now it may. */
static void place(const struct fv_build_file *f, struct fv_path_record *r)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_MODULES);

    for (const struct fv_module_record *m; (m = fv_cursor_next(&c));)
        if (r->offset - 1 >= m->begin && r->offset - 1 < m->end) {
            r->module = m->id;
            r->offset -= m->bias;
            return;
        }
}

static void read_trees(struct gather *g, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SAMPLE_PATHS);

    for (const void *p; (p = fv_cursor_next(&c));) {
        struct tree *t = tree_of(g, c.thread);

        if (c.index != t->count)
            continue; /* damage before it: its id is not known */
        FV_GROW(t->raw, t->room, t->count + 1);
        FV_GROW(t->node, t->node_room, t->count + 1);
        memcpy(&t->raw[t->count], p, sizeof(*t->raw));
        if (t->raw[t->count].module == FV_MODULE_UNKNOWN)
            place(f, &t->raw[t->count]);
        t->node[t->count++] = FV_NONE;
    }
}

/* The node of a thread's path in the model, made where it is new; FV_NONE: of a damaged file. */
static uint32_t node_of(struct gather *g, struct fv_build_file *f, struct tree *t, uint32_t id, bool make)
{
    const struct fv_path_record *r;
    uint32_t parent, module;

    if (!id)
        return 0;
    if (id > t->count)
        return FV_NONE;
    if (t->node[id - 1] != FV_NONE)
        return t->node[id - 1];
    r = &t->raw[id - 1];
    if (r->parent >= id)
        return FV_NONE;
    parent = node_of(g, f, t, r->parent, make);
    if (parent == FV_NONE)
        return FV_NONE;
    module = fv_build_module_of(f, r->module);
    uint32_t node = make ? fv_build_node_add(g->build, parent, module, r->offset)
                         : fv_build_node_find(g->build, parent, module, r->offset);
    return t->node[id - 1] = node;
}

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

static void read_instances(struct gather *g, struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_INSTANCES);
    double tick_s = fv_build_seconds(g->build->model, rank, 1u << 20) / (1u << 20);
    struct fv_instances r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        uint32_t node = node_of(g, f, tree_of(g, c.thread), r.path, true);

        if (!node || node == FV_NONE)
            continue;
        struct part part = { .sampled = sampled_of(g, node),
                             .rank = rank,
                             .thread = c.thread,
                             .all = take_stat(r.all, r.returns, tick_s),
                             .window = take_stat(r.in_window, r.window, tick_s) };
        struct fv_sampled *s = &g->out->items[part.sampled];
        s->entries += r.entries;
        s->abandoned += r.abandoned;
        s->fast |= r.flags & FV_INSTANCES_FAST;
        s->threads++;
        add_stat(&s->all, &part.all);
        add_stat(&s->window, &part.window);
        FV_GROW(g->parts, g->part_room, g->part_count + 1);
        g->parts[g->part_count++] = part;
    }
}

/* ---- clock samples ---- */

/* The context that a frame is of: called from the same place, of the functions that begin before it the
 * nearest. */
static void charge(struct gather *g, uint32_t parent, uint32_t module, uint64_t offset, uint64_t ticks)
{
    const struct fv_model *m = g->build->model;
    struct fv_index_probe p = fv_index_probe(&g->by_parent, fv_mix2(parent, 2));
    uint32_t best = FV_NONE;

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        const struct fv_node *n = &m->nodes[g->out->items[i].node];

        if (n->parent == parent && n->module == module && n->offset <= offset &&
            (best == FV_NONE || n->offset > m->nodes[g->out->items[best].node].offset))
            best = i;
    }
    if (best != FV_NONE)
        g->out->items[best].ticks += ticks;
}

static void read_costs(struct gather *g, struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_COSTS);
    struct fv_cost r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        struct tree *t = tree_of(g, c.thread);

        memcpy(&r, p, sizeof(r));
        for (uint32_t id = r.path; id && id <= t->count && t->raw[id - 1].parent < id;
             id = t->raw[id - 1].parent) {
            const struct fv_path_record *raw = &t->raw[id - 1];
            uint32_t parent = node_of(g, f, t, raw->parent, false);

            if (parent != FV_NONE)
                charge(g, parent, fv_build_module_of(f, raw->module), raw->offset, r.ticks);
        }
    }
}

static void read_samplers(struct gather *g, const struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SAMPLER);
    const struct fv_model *m = g->build->model;
    struct fv_samples *s = g->out;
    struct fv_sampler_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (!r.rate)
            continue;
        s->threads++;
        s->rate = r.rate;
        s->ticks += r.ticks;
        s->traps += r.traps;
        s->entries += r.entries;
        s->returns += r.returns;
        s->abandoned += r.abandoned;
        s->open += r.open;
        s->lost += r.lost_contexts;
        s->tool_s += (double)r.tool_ns * 1e-9;
        s->trap_s = fmax(s->trap_s, fv_build_seconds(m, rank, r.trap_ticks));
        s->trap_spread_s = fmax(s->trap_spread_s, fv_build_seconds(m, rank, r.trap_spread_ticks));
    }
}

/* ---- guidance ---- */

static const struct fv_sampled_stat *best_stat(const struct part *p)
{
    return p->window.count >= FV_SAMPLED_ENOUGH ? &p->window : &p->all;
}

/* Of the threads' means, beyond what the spread within them makes likely. */
static double between(const struct part *parts, size_t count)
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
    const struct part *x = a, *y = b;

    if (x->sampled != y->sampled)
        return x->sampled < y->sampled ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static void judge(struct gather *g)
{
    size_t next;

    qsort(g->parts, g->part_count, sizeof(*g->parts), by_sampled);
    for (size_t i = 0; i < g->part_count; i = next) {
        struct fv_sampled *s = &g->out->items[g->parts[i].sampled];

        for (next = i; next < g->part_count && g->parts[next].sampled == g->parts[i].sampled; next++) {
            const struct fv_sampled_stat *stat = best_stat(&g->parts[next]);

            s->ranks += next == i || g->parts[next].rank != g->parts[next - 1].rank;
            if (stat->count >= FV_SAMPLED_ENOUGH)
                s->within = fmax(s->within, fv_sampled_cov(stat, FV_METRIC_CPU));
        }
        s->between = between(&g->parts[i], next - i);
        s->share = g->out->ticks ? fmin((double)s->ticks / (double)g->out->ticks, 1) : 0;
        s->varies =
            s->share > FV_SAMPLED_SHARE && (s->within > FV_SAMPLED_WITHIN || s->between > FV_SAMPLED_BETWEEN);
    }
}

static int by_guidance(const void *a, const void *b)
{
    const struct fv_sampled *x = a, *y = b;
    double of_x = x->share * fmax(x->within, fmax(x->between, 0)),
           of_y = y->share * fmax(y->within, fmax(y->between, 0));

    if (x->varies != y->varies)
        return x->varies ? -1 : 1;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

void fv_build_samples(struct fv_build *b)
{
    struct gather g = { .build = b, .out = &b->model->samples };

    for (uint32_t pass = 0; pass < 2; pass++) /* all contexts first, then what is charged to them */
        for (uint32_t i = 0; i < b->model->rank_count; i++) {
            struct fv_build_file *f = &b->files[i];

            read_trees(&g, f);
            if (!pass) {
                read_samplers(&g, f, i);
                read_instances(&g, f, i);
            } else {
                read_costs(&g, f);
            }
            while (g.tree_count > 0) {
                free(g.trees[--g.tree_count].raw);
                free(g.trees[g.tree_count].node);
            }
        }
    judge(&g);
    qsort(g.out->items, g.out->count, sizeof(*g.out->items), by_guidance);
    free(g.trees);
    free(g.parts);
    fv_index_release(&g.by_node);
    fv_index_release(&g.by_parent);
}
