/* SPDX-License-Identifier: BSD-3-Clause */
/* The final order of definitions; see defs.h. It depends on content alone: on names, or on the first rank
 * that used a thing and its number there; never on the order in which definitions came together. */
#include "merge/defs_add.h"

#include <stdlib.h>
#include <string.h>

struct sorting {
    const struct fv_defs *defs;
    const uint32_t *modules, *nodes; /* places in the final order */
};

static int numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_origin(struct fv_origin a, struct fv_origin b)
{
    return a.rank != b.rank ? numbers(a.rank, b.rank) : numbers(a.number, b.number);
}

static int by_function(const void *a, const void *b, void *c)
{
    const struct fv_defs *d = ((struct sorting *)c)->defs;

    return strcmp(d->functions[*(const uint32_t *)a].name, d->functions[*(const uint32_t *)b].name);
}

static int by_module(const void *a, const void *b, void *c)
{
    const struct fv_module *x = &((struct sorting *)c)->defs->tree.modules[*(const uint32_t *)a];
    const struct fv_module *y = &((struct sorting *)c)->defs->tree.modules[*(const uint32_t *)b];
    int order = strcmp(x->path, y->path);

    return order ? order : memcmp(x->build_id, y->build_id, sizeof(x->build_id));
}

static int by_node(const void *a, const void *b, void *c)
{
    const struct sorting *s = c;
    const struct fv_node *x = &s->defs->tree.nodes[*(const uint32_t *)a];
    const struct fv_node *y = &s->defs->tree.nodes[*(const uint32_t *)b];

    if (x->parent != y->parent)
        return numbers(s->nodes[x->parent], s->nodes[y->parent]);
    if (x->module != y->module)
        return numbers(s->modules[x->module], s->modules[y->module]);
    return numbers(x->offset, y->offset);
}

/* MPI_COMM_WORLD and MPI_COMM_SELF come first. */
static unsigned comm_class(const struct fv_def_comm *c)
{
    return c->flags & FV_COMM_WORLD ? 0 : c->flags & FV_COMM_SELF ? 1 : 2;
}

static int by_comm(const void *a, const void *b, void *c)
{
    const struct fv_def_comm *x = &((struct sorting *)c)->defs->comms[*(const uint32_t *)a];
    const struct fv_def_comm *y = &((struct sorting *)c)->defs->comms[*(const uint32_t *)b];

    if (comm_class(x) != comm_class(y))
        return numbers(comm_class(x), comm_class(y));
    return by_origin(x->origin, y->origin);
}

static int by_window(const void *a, const void *b, void *c)
{
    const struct fv_defs *d = ((struct sorting *)c)->defs;

    return by_origin(d->windows[*(const uint32_t *)a].origin, d->windows[*(const uint32_t *)b].origin);
}

static int by_file(const void *a, const void *b, void *c)
{
    const struct fv_def_file *x = &((struct sorting *)c)->defs->files[*(const uint32_t *)a];
    const struct fv_def_file *y = &((struct sorting *)c)->defs->files[*(const uint32_t *)b];
    int order = strcmp(x->name, y->name);

    return order ? order : strcmp(x->host, y->host);
}

static int by_handle(const void *a, const void *b, void *c)
{
    const struct fv_defs *d = ((struct sorting *)c)->defs;

    return by_origin(d->handles[*(const uint32_t *)a].origin, d->handles[*(const uint32_t *)b].origin);
}

static int by_group(const void *a, const void *b, void *c)
{
    const struct fv_def_group *x = &((struct sorting *)c)->defs->groups[*(const uint32_t *)a];
    const struct fv_def_group *y = &((struct sorting *)c)->defs->groups[*(const uint32_t *)b];

    if (x->count != y->count)
        return numbers(x->count, y->count);
    for (uint32_t i = 0; i < x->count; i++)
        if (x->ranks[i] != y->ranks[i])
            return numbers(x->ranks[i], y->ranks[i]);
    return 0;
}

static int by_rank(const void *a, const void *b, void *c)
{
    const struct fv_defs *d = ((struct sorting *)c)->defs;

    return numbers(d->ranks[*(const uint32_t *)a].world_rank, d->ranks[*(const uint32_t *)b].world_rank);
}

/* Numbers 0 .. count-1, those from `first` on sorted. */
static uint32_t *sorted(size_t first, size_t count, int (*order)(const void *, const void *, void *), struct sorting *s)
{
    uint32_t *items = fv_xcalloc(count + 1, sizeof(*items));

    for (size_t i = 0; i < count; i++)
        items[i] = (uint32_t)i;
    if (count > first)
        qsort_r(items + first, count - first, sizeof(*items), order, s);
    return items;
}

static uint32_t *places(const uint32_t *order, size_t count)
{
    uint32_t *place = fv_xcalloc(count + 1, sizeof(*place));

    for (size_t i = 0; i < count; i++)
        place[order[i]] = (uint32_t)i;
    return place;
}

/* Level by level, so that the places of all parents are known: a parent comes before its children. */
static uint32_t *sorted_nodes(const struct fv_defs *d, struct sorting *s)
{
    uint32_t *order = fv_xcalloc(d->tree.node_count + 1, sizeof(*order));
    uint32_t *level = fv_xcalloc(d->tree.node_count + 1, sizeof(*level));
    uint32_t *place = fv_xcalloc(d->tree.node_count + 1, sizeof(*place));
    uint32_t *start, deepest = 0;

    for (size_t i = 1; i < d->tree.node_count; i++) {
        level[i] = level[d->tree.nodes[i].parent] + 1; /* parents have lower numbers */
        deepest = level[i] > deepest ? level[i] : deepest;
    }
    start = fv_xcalloc((size_t)deepest + 2, sizeof(*start));
    for (size_t i = 0; i < d->tree.node_count; i++)
        start[level[i] + 1]++;
    for (uint32_t l = 0; l <= deepest; l++)
        start[l + 1] += start[l];
    for (size_t i = 0; i < d->tree.node_count; i++)
        order[start[level[i]]++] = (uint32_t)i; /* start[l] is then the end of level l */
    s->nodes = place;
    for (uint32_t l = 1; l <= deepest; l++) {
        qsort_r(order + start[l - 1], start[l] - start[l - 1], sizeof(*order), by_node, s);
        for (uint32_t i = start[l - 1]; i < start[l]; i++)
            place[order[i]] = i;
    }
    free(start);
    free(level);
    free(place);
    return order;
}

static void number_objects(struct fv_defs *d)
{
    uint32_t next = 0;

    for (size_t i = 0; i < d->rank_count; i++) {
        d->ranks[i].first_object = next;
        next += d->ranks[i].thread_objects;
    }
}

void fv_defs_sort(struct fv_defs *out, const struct fv_defs *f)
{
    struct sorting s = { .defs = f };
    struct fv_def_orders o = {
        .functions = sorted(0, f->function_count, by_function, &s),
        .modules = sorted(FV_MODEL_FIRST_MODULE, f->tree.module_count, by_module, &s),
        .comms = sorted(0, f->comm_count, by_comm, &s),
        .windows = sorted(0, f->window_count, by_window, &s),
        .files = sorted(0, f->file_count, by_file, &s),
        .handles = sorted(0, f->handle_count, by_handle, &s),
        .groups = sorted(0, f->group_count, by_group, &s),
        .ranks = sorted(0, f->rank_count, by_rank, &s),
    };
    uint32_t *module_places = places(o.modules, f->tree.module_count);

    s.modules = module_places;
    o.nodes = sorted_nodes(f, &s);
    fv_defs_init(out, f->world_size);
    fv_defs_merge_in_order(out, f, &o);
    number_objects(out);
    free(o.functions);
    free(o.modules);
    free(o.nodes);
    free(o.comms);
    free(o.windows);
    free(o.files);
    free(o.handles);
    free(o.groups);
    free(o.ranks);
    free(module_places);
}
