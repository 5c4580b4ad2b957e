/* SPDX-License-Identifier: BSD-3-Clause */
/* See cost_profile.h: procedures, lines, loops, parts and stacks in the order that they are shown in. */
#include "profile/samples/cost_profile_parts.h"
#include "profile/samples/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_sums(const struct fv_cost_both *x, const struct fv_cost_both *y)
{
    if (x->self.ticks != y->self.ticks)
        return x->self.ticks > y->self.ticks ? -1 : 1;
    return x->total.ticks > y->total.ticks ? -1 : x->total.ticks < y->total.ticks;
}

static int by_self(const void *a, const void *b)
{
    const struct fv_cost_procedure *x = a, *y = b;
    int order = by_sums(&x->sum, &y->sum);

    return order ? order : (x->first_part > y->first_part) - (x->first_part < y->first_part);
}

static int line_by_self(const void *a, const void *b)
{
    const struct fv_cost_line *x = a, *y = b;
    int order = by_sums(&x->sum, &y->sum);

    if (!order)
        order = strcmp(x->file, y->file);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int part_by_procedure(const void *a, const void *b)
{
    const struct fv_cost_part *x = a, *y = b;

    if (x->procedure != y->procedure)
        return x->procedure < y->procedure ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

static void order_parts(struct fv_cost_part *parts, size_t count)
{
    if (count)
        qsort(parts, count, sizeof(*parts), part_by_procedure);
}

static int part_by_section(const void *a, const void *b)
{
    const struct fv_cost_part *x = a, *y = b;
    int order = by_sums(&x->sum, &y->sum);

    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return order ? order : (x->procedure > y->procedure) - (x->procedure < y->procedure);
}

static int stack_by_thread(const void *a, const void *b)
{
    const struct fv_cost_stack *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->branch > y->branch) - (x->branch < y->branch);
}

static void order_procedures(struct fv_cost_profile *c)
{
    uint32_t *renumbered = fv_xcalloc(c->procedure_count + 1, sizeof(*renumbered));

    for (size_t i = 0; i < c->procedure_count; i++)
        c->procedures[i].first_part = i; /* its old number */
    if (c->procedure_count)
        qsort(c->procedures, c->procedure_count, sizeof(*c->procedures), by_self);
    for (uint32_t i = 0; i < c->procedure_count; i++) {
        renumbered[c->procedures[i].first_part] = i;
        fv_index_add(&c->names, fv_hash_text(c->procedures[i].name), i);
    }
    for (size_t i = 0; i < c->line_count; i++)
        c->lines[i].procedure = renumbered[c->lines[i].procedure];
    for (size_t i = 1; i < c->branch_count; i++)
        c->branches[i].procedure = renumbered[c->branches[i].procedure];
    for (size_t i = 0; i < c->part_count; i++)
        c->parts[i].procedure = renumbered[c->parts[i].procedure];
    for (size_t i = 0; i < c->section_part_count; i++)
        c->section_parts[i].procedure = renumbered[c->section_parts[i].procedure];
    for (size_t i = 0; i < c->region_part_count; i++)
        c->region_parts[i].procedure = renumbered[c->region_parts[i].procedure];
    free(renumbered);
}

static int loop_by_total(const void *a, const void *b)
{
    const struct fv_cost_loop *x = a, *y = b;

    if (x->sum.total.ticks != y->sum.total.ticks)
        return x->sum.total.ticks > y->sum.total.ticks ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void order_lines(struct fv_cost_profile *c)
{
    uint32_t *renumbered = fv_xcalloc(c->line_count + 1, sizeof(*renumbered));

    for (size_t i = 0; i < c->line_count; i++)
        c->lines[i].first_part = i; /* its old number */
    if (c->line_count)
        qsort(c->lines, c->line_count, sizeof(*c->lines), line_by_self);
    for (uint32_t i = 0; i < c->line_count; i++)
        renumbered[c->lines[i].first_part] = i;
    for (size_t i = 0; i < c->line_part_count; i++)
        c->line_parts[i].procedure = renumbered[c->line_parts[i].procedure];
    free(renumbered);
}

/* Those without samples are left out; a loop around another has at least its samples, and came before it. */
static void order_loops(struct fv_cost_profile *c)
{
    uint32_t *renumbered = fv_xcalloc(c->loop_count + 1, sizeof(*renumbered));
    size_t kept = 0;

    for (uint32_t i = 0; i < c->loop_count; i++)
        c->loops[i].number = i;
    if (c->loop_count)
        qsort(c->loops, c->loop_count, sizeof(*c->loops), loop_by_total);
    while (kept < c->loop_count && c->loops[kept].sum.total.ticks)
        kept++;
    for (uint32_t i = 0; i < kept; i++)
        renumbered[c->loops[i].number] = i;
    c->loop_count = kept;
    for (size_t i = 0; i < kept; i++)
        if (c->loops[i].parent != FV_NONE)
            c->loops[i].parent = renumbered[c->loops[i].parent];
    for (size_t i = 0; i < c->loop_part_count; i++) /* which have samples */
        c->loop_parts[i].procedure = renumbered[c->loop_parts[i].procedure];
    free(renumbered);
}

/* Equal stacks of different instructions are one. */
static void merge_stacks(struct fv_cost_profile *c)
{
    size_t kept = 0;

    if (c->stack_count)
        qsort(c->stacks, c->stack_count, sizeof(*c->stacks), stack_by_thread);
    for (size_t i = 0; i < c->stack_count; i++) {
        if (kept && !stack_by_thread(&c->stacks[kept - 1], &c->stacks[i]))
            c->stacks[kept - 1].ticks += c->stacks[i].ticks;
        else
            c->stacks[kept++] = c->stacks[i];
    }
    c->stack_count = kept;
}

/* A rank's share of a procedure; ranks that were never there have none. */
static void spread(struct fv_cost_profile *c, const struct fv_model *m, struct fv_cost_procedure *p)
{
    const struct fv_cost_thread *threads = fv_model_costs(m)->threads;
    uint32_t ranks = 0;
    size_t next, end = p->first_part + p->parts;

    p->rank_min_s = INFINITY;
    for (size_t i = p->first_part; i < end; i = next, ranks++) {
        uint32_t rank = threads[c->parts[i].owner].rank;
        double seconds = 0;

        for (next = i; next < end && threads[c->parts[next].owner].rank == rank; next++)
            seconds += (double)c->parts[next].sum.total.ticks * threads[c->parts[next].owner].tick_s;
        p->rank_min_s = fmin(p->rank_min_s, seconds);
        if (!ranks || seconds > p->rank_max_s) {
            p->rank_max_s = seconds;
            p->rank_max = rank;
        }
    }
    if (ranks < c->rank_count)
        p->rank_min_s = 0;
}

void fv_cost_profile_order(struct fv_cost_profile *c, const struct fv_model *m, uint32_t rank)
{
    const struct fv_costs *costs = fv_model_costs(m);
    uint32_t last = FV_NONE;

    order_procedures(c);
    order_loops(c);
    merge_stacks(c);
    order_lines(c);
    order_parts(c->parts, c->part_count);
    order_parts(c->line_parts, c->line_part_count);
    order_parts(c->loop_parts, c->loop_part_count);
    if (c->section_part_count)
        qsort(c->section_parts, c->section_part_count, sizeof(*c->section_parts), part_by_section);
    for (size_t i = c->part_count; i-- > 0;) {
        c->procedures[c->parts[i].procedure].first_part = i;
        c->procedures[c->parts[i].procedure].parts++;
    }
    for (size_t i = 0; i < c->line_count; i++)
        c->lines[i].first_part = 0;
    for (size_t i = c->line_part_count; i-- > 0;) {
        c->lines[c->line_parts[i].procedure].first_part = i;
        c->lines[c->line_parts[i].procedure].parts++;
    }
    for (size_t i = c->loop_part_count; i-- > 0;) {
        c->loops[c->loop_parts[i].procedure].first_part = i;
        c->loops[c->loop_parts[i].procedure].parts++;
    }
    for (size_t i = 0; i < costs->thread_count; i++)
        if (costs->threads[i].ticks && (rank == FV_COST_ALL_RANKS || costs->threads[i].rank == rank)) {
            c->rank_count += costs->threads[i].rank != last;
            last = costs->threads[i].rank;
        }
    for (size_t i = 0; i < c->procedure_count; i++)
        spread(c, m, &c->procedures[i]);
}
