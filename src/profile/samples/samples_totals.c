/* SPDX-License-Identifier: BSD-3-Clause */
/* See samples_gather.h: functions over all their contexts. */
#include "profile/samples/samples_gather.h"

#include <math.h>
#include <stdlib.h>

static const struct fv_node *sort_nodes; /* for qsort() alone */

static int compare_functions(const struct fv_sampled_function *x, const struct fv_sampled_function *y)
{
    return fv_sampled_contexts_compare(&sort_nodes[x->node], &sort_nodes[y->node]);
}

static int by_function(const void *a, const void *b)
{
    const struct fv_sampled_function *x = a, *y = b;
    int order = compare_functions(x, y);

    return order ? order : (x->node > y->node) - (x->node < y->node);
}

/* Where contexts went that were sorted, by where they were: each was marked with its place, in `function`. */
static void move_contexts(struct fv_samples *s)
{
    uint32_t *now = fv_xcalloc(s->count + 1, sizeof(*now));

    for (size_t i = 0; i < s->count; i++)
        now[s->items[i].function] = (uint32_t)i;
    for (size_t i = 0; i < s->part_count; i++)
        s->parts[i].sampled = now[s->parts[i].sampled];
    for (size_t i = 0; i < s->instance_count; i++)
        s->instances[i].sampled = now[s->instances[i].sampled];
    for (size_t i = 0; i < s->recent_count; i++)
        s->recent[i].sampled = now[s->recent[i].sampled];
    free(now);
}

void fv_sampled_find_functions(struct fv_model *m)
{
    struct fv_samples *s = fv_model_samples(m);

    sort_nodes = m->tree.nodes;
    for (size_t i = 0; i < s->count; i++)
        s->items[i].function = (uint32_t)i;
    if (s->count)
        qsort(s->items, s->count, sizeof(*s->items), by_function);
    move_contexts(s);
    s->functions = fv_xcalloc(s->count + 1, sizeof(*s->functions));
    for (size_t i = 0; i < s->count; i++) {
        bool is_first = !i || compare_functions(&s->items[i - 1], &s->items[i]);
        struct fv_sampled_function *f = &s->functions[is_first ? s->function_count++ : s->function_count - 1];

        if (is_first)
            *f = (struct fv_sampled_function){
                .node = s->items[i].node, .first_context = i, .between = NAN, .by_caller = NAN
            };
        f->contexts++;
        s->items[i].function = (uint32_t)(f - s->functions);
    }
}

/* ---- sums ---- */

static int by_thread(const void *a, const void *b)
{
    const struct fv_sampled_part *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static void add_part(void *to, const void *from)
{
    struct fv_sampled_part *sum = to;
    const struct fv_sampled_part *part = from;

    sum->entries += part->entries;
    sum->returns += part->returns;
    sum->abandoned += part->abandoned;
    fv_sampled_add_stat(&sum->all, &part->all);
    fv_sampled_add_stat(&sum->window, &part->window);
    fv_sampled_add_long(&sum->rare, &part->rare);
}

/* A part for each thread, behind those of the contexts, which are one behind the other. */
static void add_parts(struct fv_samples *s, struct fv_sampled_function *f)
{
    size_t first = f->first_part, count = f->parts;

    FV_GROW(s->parts, s->part_room, s->part_count + count);
    memcpy(s->parts + s->part_count, s->parts + first, count * sizeof(*s->parts));
    f->first_part = s->part_count;
    f->parts = fv_fold(s->parts + f->first_part, count, sizeof(*s->parts), by_thread, add_part);
    s->part_count += f->parts;
}

static void add_context(struct fv_sampled_function *f, const struct fv_sampled_function *c)
{
    f->entries += c->entries;
    f->returns += c->returns;
    f->abandoned += c->abandoned;
    f->fast |= c->fast;
    f->first_part = f->parts ? f->first_part : c->first_part;
    f->parts += c->parts;
    f->first_instance = f->instances ? f->first_instance : c->first_instance;
    f->instances += c->instances;
    fv_sampled_add_stat(&f->all, &c->all);
    fv_sampled_add_stat(&f->window, &c->window);
}

void fv_sampled_add_contexts(struct fv_samples *s)
{
    for (size_t i = 0; i < s->function_count; i++) {
        struct fv_sampled_function *f = &s->functions[i];

        for (size_t k = 0; k < f->contexts; k++)
            add_context(f, &s->items[f->first_context + k]);
        if (f->contexts > 1)
            add_parts(s, f);
        f->threads = (uint32_t)f->parts;
    }
}

/* ---- order ---- */

static int by_share(const void *a, const void *b)
{
    const struct fv_sampled_function *x = a, *y = b;

    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

void fv_sampled_order(struct fv_samples *s, int (*by_guidance)(const void *, const void *))
{
    struct fv_sampled_function *items = fv_xcalloc(s->count + 1, sizeof(*items));
    size_t count = 0;

    if (s->function_count)
        qsort(s->functions, s->function_count, sizeof(*s->functions), by_guidance);
    for (uint32_t i = 0; i < s->function_count; i++) {
        struct fv_sampled_function *f = &s->functions[i];

        memcpy(items + count, s->items + f->first_context, f->contexts * sizeof(*items));
        qsort(items + count, f->contexts, sizeof(*items), by_share);
        f->first_context = count;
        f->node = items[count].node;
        for (; count < f->first_context + f->contexts; count++)
            items[count].function = i;
    }
    free(s->items);
    s->items = items;
    s->room = s->count + 1;
}
