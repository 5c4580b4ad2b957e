/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections that differ in their number alone, as steps do: what they are together. A rank's numbers are added up first,
 * so that means and extremes over ranks are of all of them. */
#include "profile/sections/section_gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    const struct fv_section_view *x = *(const struct fv_section_view *const *)a,
                                 *y = *(const struct fv_section_view *const *)b;
    int order = strcmp(x->name, y->name);

    return order ? order : (x > y) - (x < y);
}

static int by_rank(const void *a, const void *b)
{
    const struct fv_section_rank *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->section > y->section) - (x->section < y->section);
}

static int by_elapsed(const void *a, const void *b)
{
    double x = ((const struct fv_section_view *)a)->value[FV_SECTION_ELAPSED].sum;
    double y = ((const struct fv_section_view *)b)->value[FV_SECTION_ELAPSED].sum;

    return (x < y) - (x > y);
}

/* The ranks of the sections, each once. */
static struct fv_section_rank *ranks_of(const struct fv_sections_view *s, struct fv_section_view *const *sections,
                                        size_t count, size_t *out)
{
    size_t all = 0, kept = 0;

    for (size_t i = 0; i < count; i++)
        all += sections[i]->ranks;
    struct fv_section_rank *ranks = fv_xcalloc(all, sizeof(*ranks));
    for (size_t i = 0, at = 0; i < count; at += sections[i++]->ranks)
        if (sections[i]->ranks)
            memcpy(&ranks[at], &s->ranks[sections[i]->first], sections[i]->ranks * sizeof(*ranks));
    if (all)
        qsort(ranks, all, sizeof(*ranks), by_rank);
    for (size_t i = 0; i < all; i++) {
        if (kept && ranks[kept - 1].rank == ranks[i].rank)
            fv_section_rank_add(&ranks[kept - 1], &ranks[i]);
        else
            ranks[kept++] = ranks[i];
    }
    *out = kept;
    return ranks;
}

static void add_name(struct fv_sections_view *s, struct fv_section_view *const *sections, size_t count)
{
    struct fv_section_view v = { .name = sections[0]->name, .level = sections[0]->level, .numbers = (uint32_t)count };
    double longest_s = -1;
    size_t ranks_count;
    struct fv_section_rank *ranks = ranks_of(s, sections, count, &ranks_count);

    for (size_t i = 0; i < count; i++) {
        double elapsed_s = sections[i]->value[FV_SECTION_ELAPSED].sum;

        fv_distribution_add(&v.durations, &sections[i]->durations);
        if (elapsed_s > longest_s) {
            longest_s = elapsed_s;
            v.longest_number = sections[i]->number;
        }
    }
    fv_section_sum(&v, ranks, ranks_count);
    free(ranks);
    FV_GROW(s->names, s->name_room, s->name_count + 1);
    s->names[s->name_count++] = v;
}

void fv_section_find_names(struct fv_sections_view *s)
{
    struct fv_section_view **order = fv_xcalloc(s->count, sizeof(*order));
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++)
        if (!s->items[i].whole && !s->items[i].others)
            order[count++] = &s->items[i];
    if (count)
        qsort(order, count, sizeof(*order), by_name);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && !strcmp(order[next]->name, order[i]->name);)
            next++;
        if (next > i + 1)
            add_name(s, &order[i], next - i);
    }
    if (s->name_count)
        qsort(s->names, s->name_count, sizeof(*s->names), by_elapsed);
    free(order);
}
