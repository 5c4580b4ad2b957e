/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_stats.h. */
#include "timeline/timeline_stats.h"

#include <stdlib.h>

static uint32_t rows_end(const struct fv_timeline_file *t, const struct fv_timeline_window *w)
{
    const uint64_t end = (uint64_t)w->first + w->rows;

    return end < t->header->rows.count ? (uint32_t)end : (uint32_t)t->header->rows.count;
}

struct fv_timeline_counted fv_timeline_count(const struct fv_timeline_file *t, const struct fv_timeline_window *w)
{
    struct fv_timeline_counted out = { 0 };

    for (uint32_t row = w->first; row < rows_end(t, w); row++)
        if (fv_timeline_counts(t, w, row)) {
            out.rows++;
            out.ns += fv_timeline_inside(w, t->rows[row].begin_ns, t->rows[row].end_ns - t->rows[row].begin_ns);
        }
    return out;
}

/* ---- by region ---- */

struct summing {
    const struct fv_timeline_window *window;
    struct fv_timeline_sum *sums; /* of a row */
    uint32_t *open_of;            /* by region: how often it is open */
    uint32_t *open;               /* regions, outermost first */
    size_t room;
};

static void add_slice(const struct summing *s, const struct fv_timeline_seen *slice)
{
    struct fv_timeline_sum *sum = &s->sums[slice->region];
    const uint64_t ns = fv_timeline_inside(s->window, slice->begin_ns, slice->ns);

    sum->inclusive_ns += s->open_of[slice->region] ? 0 : ns;
    sum->exclusive_ns += ns;
    sum->wait_ns += fv_timeline_inside(s->window, slice->begin_ns, slice->wait_ns);
    if (slice->is_sampled) {
        sum->sampled++;
        return;
    }
    sum->shortest_ns = !sum->count || slice->ns < sum->shortest_ns ? slice->ns : sum->shortest_ns;
    sum->longest_ns = slice->ns > sum->longest_ns ? slice->ns : sum->longest_ns;
    sum->whole_ns += slice->ns;
    sum->count++;
}

/* Each region once, where it is in itself. What is around a slice is among them, so that none is deeper than so many
 * are open, unless the file is damaged. */
static void add_row(struct summing *s, const struct fv_timeline_gathering *g)
{
    size_t deep = 0;

    for (size_t i = 0; i < g->count; i++) {
        const struct fv_timeline_seen *slice = &g->items[i];

        while (deep > slice->depth)
            s->open_of[s->open[--deep]]--;
        add_slice(s, slice);
        if (deep)
            s->sums[s->open[deep - 1]].exclusive_ns -= fv_timeline_inside(s->window, slice->begin_ns, slice->ns);
        FV_GROW(s->open, s->room, deep + 1);
        s->open[deep++] = slice->region;
        s->open_of[slice->region]++;
    }
    while (deep)
        s->open_of[s->open[--deep]]--;
}

static void fold(struct fv_timeline_sum *to, const struct fv_timeline_sum *from, uint32_t row, bool is_first)
{
    if (from->count && (!to->count || from->shortest_ns < to->shortest_ns))
        to->shortest_ns = from->shortest_ns;
    if (is_first || from->exclusive_ns < to->least_ns) {
        to->least_ns = from->exclusive_ns;
        to->least_row = row;
    }
    if (is_first || from->exclusive_ns > to->most_ns) {
        to->most_ns = from->exclusive_ns;
        to->most_row = row;
    }
    to->longest_ns = from->longest_ns > to->longest_ns ? from->longest_ns : to->longest_ns;
    to->count += from->count;
    to->sampled += from->sampled;
    to->inclusive_ns += from->inclusive_ns;
    to->exclusive_ns += from->exclusive_ns;
    to->wait_ns += from->wait_ns;
    to->whole_ns += from->whole_ns;
}

void fv_timeline_each_row(const struct fv_timeline_file *t, const struct fv_timeline_window *w,
                          fv_timeline_take_sums *take, void *context)
{
    const size_t regions = t->header->regions.count;
    struct fv_timeline_gathering g = { 0 };
    struct summing s = { .window = w };

    s.sums = fv_xcalloc(regions + 1, sizeof(*s.sums));
    s.open_of = fv_xcalloc(regions + 1, sizeof(*s.open_of));
    for (uint32_t row = w->first; row < rows_end(t, w); row++) {
        if (!fv_timeline_counts(t, w, row))
            continue;
        memset(s.sums, 0, regions * sizeof(*s.sums));
        fv_timeline_gather(t, row, w->from, w->to, &g);
        add_row(&s, &g);
        take(context, row, s.sums);
    }
    free(g.items);
    free(s.sums);
    free(s.open_of);
    free(s.open);
}

struct folding {
    struct fv_timeline_sum *to;
    size_t regions;
    uint32_t first, region;
    bool began;
};

static void fold_row(void *context, uint32_t row, const struct fv_timeline_sum *sums)
{
    struct folding *f = context;

    for (size_t i = 0; i < f->regions; i++)
        fold(&f->to[i], &sums[i], row, !f->began);
    f->began = true;
}

static void keep_row(void *context, uint32_t row, const struct fv_timeline_sum *sums)
{
    const struct folding *f = context;

    f->to[row - f->first] = sums[f->region];
}

void fv_timeline_sums(const struct fv_timeline_file *t, const struct fv_timeline_window *w,
                      struct fv_timeline_sum *sums)
{
    struct folding f = { sums, t->header->regions.count, w->first, 0, false };

    fv_timeline_each_row(t, w, fold_row, &f);
}

void fv_timeline_sums_by_row(const struct fv_timeline_file *t, const struct fv_timeline_window *w, uint32_t region,
                             struct fv_timeline_sum *sums)
{
    struct folding f = { sums, t->header->regions.count, w->first, region, false };

    if (region < f.regions)
        fv_timeline_each_row(t, w, keep_row, &f);
}

/* ---- by call path ---- */

struct growing {
    const struct fv_timeline_file *timeline;
    struct fv_timeline_tree *tree;
    uint32_t *of_context; /* node + 1 of each; 0: not known yet */
    struct region_name {
        uint32_t name, region;
    } * names; /* sorted */
    uint32_t *open;
    size_t room;
};

static int by_name(const void *a, const void *b)
{
    const struct region_name *x = a, *y = b;

    return (x->name > y->name) - (x->name < y->name);
}

static uint32_t node_at(struct growing *g, uint32_t parent, uint32_t region)
{
    struct fv_timeline_tree *t = g->tree;

    return FV_INTERN(t->index, t->nodes, t->count, t->room, (uint32_t[]){ parent, region });
}

/* Functions of call paths have the names of regions. Parents come before their children, unless the file is damaged. */
static uint32_t node_of_context(struct growing *g, uint32_t context)
{
    const struct fv_timeline_file *t = g->timeline;
    const uint32_t name = t->contexts[context].function, parent = t->contexts[context].parent;
    const size_t regions = t->header->regions.count;

    if (!g->of_context[context]) {
        const size_t at = FV_COUNT_BEFORE(i, regions, g->names[i].name < name);
        const uint32_t above = parent < context ? g->of_context[parent] - 1 : FV_NONE;

        g->of_context[context] =
            1 + (at < regions && g->names[at].name == name ? node_at(g, above, g->names[at].region) : above);
    }
    return g->of_context[context] - 1;
}

/* From the outermost on, so that no path is too long for the stack. */
static uint32_t node_of_path(struct growing *g, uint32_t context)
{
    const struct fv_timeline_context *contexts = g->timeline->contexts;
    uint32_t chain[512];
    size_t length = 0;

    for (uint32_t c = context; length < 512 && !g->of_context[c]; c = contexts[c].parent) {
        chain[length++] = c;
        if (contexts[c].parent >= c)
            break;
    }
    while (length)
        node_of_context(g, chain[--length]);
    return node_of_context(g, context);
}

/* A sample is of the innermost function of the program, and its path leads on into libraries: the part of it up to
 * that function. */
static uint32_t context_of(const struct fv_timeline_file *t, const struct fv_timeline_seen *slice)
{
    const uint32_t name = t->regions[slice->region].name;
    uint32_t c = slice->context;

    for (unsigned i = 0; slice->is_sampled && i < 512 && t->contexts[c].function != name; i++) {
        if (t->contexts[c].parent >= c)
            return slice->context;
        c = t->contexts[c].parent;
    }
    return c;
}

static uint32_t node_of(struct growing *g, const struct fv_timeline_seen *slice, size_t deep)
{
    uint32_t around = deep ? g->open[deep - 1] : FV_NONE;

    if (!deep && slice->context != FV_TIMELINE_NONE) {
        around = node_of_path(g, context_of(g->timeline, slice));
        if (around != FV_NONE && g->tree->nodes[around].region == slice->region)
            return around; /* the path has it, too */
    }
    return node_at(g, around, slice->region);
}

static void grow_row(struct growing *g, const struct fv_timeline_window *w,
                     const struct fv_timeline_gathering *gathered)
{
    size_t deep = 0;

    for (size_t i = 0; i < gathered->count; i++) {
        const struct fv_timeline_seen *slice = &gathered->items[i];
        const uint64_t ns = fv_timeline_inside(w, slice->begin_ns, slice->ns);

        deep = deep > slice->depth ? slice->depth : deep;
        const uint32_t at = node_of(g, slice, deep);
        struct fv_timeline_node *node = &g->tree->nodes[at];

        node->count += !slice->is_sampled;
        node->sampled += slice->is_sampled;
        node->exclusive_ns += ns;
        node->wait_ns += fv_timeline_inside(w, slice->begin_ns, slice->wait_ns);
        if (deep)
            g->tree->nodes[g->open[deep - 1]].exclusive_ns -= ns;
        FV_GROW(g->open, g->room, deep + 1);
        g->open[deep++] = at;
    }
}

void fv_timeline_tree_make(const struct fv_timeline_file *t, const struct fv_timeline_window *w,
                           struct fv_timeline_tree *tree)
{
    struct growing g = { .timeline = t, .tree = tree };
    struct fv_timeline_gathering gathered = { .has_all = true };
    const size_t regions = t->header->regions.count;

    *tree = (struct fv_timeline_tree){ 0 };
    g.of_context = fv_xcalloc(t->header->contexts.count + 1, sizeof(*g.of_context));
    g.names = fv_xcalloc(regions + 1, sizeof(*g.names));
    for (size_t i = 0; i < regions; i++)
        g.names[i] = (struct region_name){ t->regions[i].name, (uint32_t)i };
    qsort(g.names, regions, sizeof(*g.names), by_name);
    for (uint32_t row = w->first; row < rows_end(t, w); row++) {
        if (!fv_timeline_wants(w, row))
            continue;
        fv_timeline_gather(t, row, w->from, w->to, &gathered);
        grow_row(&g, w, &gathered);
    }
    for (size_t i = tree->count; i--;) {
        struct fv_timeline_node *node = &tree->nodes[i];

        node->inclusive_ns += node->exclusive_ns;
        if (node->parent != FV_NONE)
            tree->nodes[node->parent].inclusive_ns += node->inclusive_ns;
    }
    free(gathered.items);
    free(g.of_context);
    free(g.names);
    free(g.open);
}

void fv_timeline_tree_release(struct fv_timeline_tree *tree)
{
    free(tree->nodes);
    fv_index_release(&tree->index);
    *tree = (struct fv_timeline_tree){ 0 };
}

/* ---- by who was waited for ---- */

struct waiting {
    const struct fv_timeline_window *window;
    struct fv_timeline_waits *waits;
};

static bool take_wait(void *context, const struct fv_timeline_seen *slice)
{
    const struct waiting *w = context;
    struct fv_timeline_waits *all = w->waits;
    const uint64_t ns = fv_timeline_inside(w->window, slice->begin_ns, slice->wait_ns);

    if (!ns)
        return true;
    struct fv_timeline_wait *wait =
        FV_INTERNED(all->index, all->items, all->count, all->room, (uint32_t[]){ slice->region, slice->cause });

    wait->count++;
    wait->ns += ns;
    wait->longest_ns = slice->wait_ns > wait->longest_ns ? slice->wait_ns : wait->longest_ns;
    return true;
}

void fv_timeline_waits_make(const struct fv_timeline_file *t, const struct fv_timeline_window *w,
                            struct fv_timeline_waits *waits)
{
    struct waiting waiting = { w, waits };

    *waits = (struct fv_timeline_waits){ 0 };
    for (uint32_t row = w->first; row < rows_end(t, w); row++)
        if (fv_timeline_wants(w, row))
            fv_timeline_slices(t, row, w->from, w->to, 1, take_wait, &waiting);
}

void fv_timeline_waits_release(struct fv_timeline_waits *waits)
{
    free(waits->items);
    fv_index_release(&waits->index);
    *waits = (struct fv_timeline_waits){ 0 };
}

/* ---- messages ---- */

static void carry(struct fv_timeline_traffic *to, uint64_t bytes)
{
    to->count++;
    to->bytes += bytes;
}

struct counting {
    const struct fv_timeline_window *window;
    struct fv_timeline_traffics *out;
    uint32_t rows;
    fv_timeline_is_of *is_of;
    void *context;
};

static void count_message(void *context, const struct fv_timeline_message *m)
{
    const struct counting *c = context;
    struct fv_timeline_traffics *out = c->out;

    if (m->from >= c->rows || m->to >= c->rows ||
        (!fv_timeline_wants(c->window, m->from) && !fv_timeline_wants(c->window, m->to)) ||
        (c->is_of && !c->is_of(c->context, m)))
        return;
    carry(&out->sizes[m->bytes ? 64 - __builtin_clzll(m->bytes) : 0], m->bytes);
    carry(&out->cells[m->from / out->merge * out->groups + m->to / out->merge], m->bytes);
}

void fv_timeline_traffic(const struct fv_timeline_file *t, const struct fv_timeline_window *w, fv_timeline_is_of *is_of,
                         void *context, struct fv_timeline_traffics *out)
{
    const uint32_t rows = (uint32_t)t->header->rows.count;
    struct counting counting = { w, out, rows, is_of, context };

    *out = (struct fv_timeline_traffics){ .merge = rows ? (rows + FV_TIMELINE_GROUPS - 1) / FV_TIMELINE_GROUPS : 1 };
    out->groups = (rows + out->merge - 1) / out->merge;
    fv_timeline_messages(t, w->from, w->to, count_message, &counting);
}
