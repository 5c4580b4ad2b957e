/* SPDX-License-Identifier: BSD-3-Clause */
/* Which procedures took a region of computing: on the rank that was there longest, and how long the others were in
 * them. By the samples of the trace, which lie between two calls. Where there is none, a sample tells only the call
 * that came before it: several regions that begin behind one call share its samples. */
#include "profile/samples/cost_profile_parts.h"

#include <stdlib.h>
#include <string.h>

static int by_calls(const struct fv_cost_region_part *x, const struct fv_cost_region_part *y)
{
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

static int by_key(const void *a, const void *b)
{
    const struct fv_cost_region_part *x = a, *y = b;
    int order = by_calls(x, y);

    if (order)
        return order;
    if (x->procedure != y->procedure)
        return x->procedure < y->procedure ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

const struct fv_cost_procedure *fv_cost_procedure_named(const struct fv_cost_profile *c, const char *name,
                                                        const char *file)
{
    struct fv_index_probe p = fv_index_probe(&c->names, fv_hash_text(name));
    uint32_t found = FV_NONE;

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i < found && !strcmp(c->procedures[i].name, name) && fv_same_text(c->procedures[i].file, file))
            found = i;
    return found == FV_NONE ? NULL : &c->procedures[found];
}

#define FOUND 0.99 /* of the samples: else the trace was analysed with other symbols */

/* In place of the profile's. */
static void take_traced(struct fv_cost_profile *c, const struct fv_causes *causes)
{
    struct fv_cost_region_part *parts = fv_xcalloc(causes->computed_count + 1, sizeof(*parts));
    uint64_t all = 0, found = 0;
    size_t count = 0;

    for (size_t i = 0; i < causes->computed_count; i++) {
        const struct fv_computing_part *of = &causes->computed[i];
        const struct fv_cost_procedure *p = of->function ? fv_cost_procedure_named(c, of->function, of->file) : NULL;

        all += of->count;
        if (!p)
            continue;
        found += of->count;
        parts[count++] = (struct fv_cost_region_part){ .from = of->from,
                                                       .site = of->site,
                                                       .procedure = (uint32_t)(p - c->procedures),
                                                       .rank = of->rank,
                                                       .ticks = of->count,
                                                       .seconds = of->cpu_s };
    }
    c->regions_traced = count && (double)found >= FOUND * (double)all;
    if (c->regions_traced) {
        free(c->region_parts);
        c->region_parts = parts;
        c->region_part_count = c->region_part_room = count;
    } else {
        free(parts);
    }
}

static void merge_parts(struct fv_cost_profile *c)
{
    size_t kept = 0;

    if (c->region_part_count)
        qsort(c->region_parts, c->region_part_count, sizeof(*c->region_parts), by_key);
    for (size_t i = 0; i < c->region_part_count; i++) {
        if (kept && !by_key(&c->region_parts[kept - 1], &c->region_parts[i])) {
            c->region_parts[kept - 1].ticks += c->region_parts[i].ticks;
            c->region_parts[kept - 1].seconds += c->region_parts[i].seconds;
        } else {
            c->region_parts[kept++] = c->region_parts[i];
        }
    }
    c->region_part_count = kept;
}

static int by_seconds(const void *a, const void *b)
{
    const struct fv_region_procedure *x = a, *y = b;

    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    if (x->others_s != y->others_s)
        return x->others_s > y->others_s ? -1 : 1;
    return (x->procedure > y->procedure) - (x->procedure < y->procedure);
}

static void add_procedures(struct fv_cost_profile *c, const struct fv_model *m, const struct fv_region *r)
{
    const struct fv_cost_region_part calls = { .from = r->from, .site = c->regions_traced ? r->site : FV_NONE };
    double others = m->rank_count > 1 ? (double)m->rank_count - 1 : 1;
    struct fv_region_procedure *last = NULL;
    size_t first = FV_COUNT_BEFORE(i, c->region_part_count, by_calls(&c->region_parts[i], &calls) < 0);

    for (size_t i = first; i < c->region_part_count && !by_calls(&c->region_parts[i], &calls); i++) {
        const struct fv_cost_region_part *p = &c->region_parts[i];

        if (!last || last->procedure != p->procedure) {
            FV_GROW(c->region_procedures, c->region_procedure_room, c->region_procedure_count + 1);
            last = &c->region_procedures[c->region_procedure_count++];
            *last = (struct fv_region_procedure){ .procedure = p->procedure, .rank = r->max_rank };
        }
        if (p->rank == r->max_rank) {
            last->samples = p->ticks;
            last->seconds = p->seconds;
        } else {
            last->others_s += p->seconds / others;
        }
    }
}

void fv_cost_regions(struct fv_cost_profile *c, const struct fv_model *m)
{
    take_traced(c, &m->causes);
    merge_parts(c);
    c->regions = fv_xcalloc(m->causes.region_count + 1, sizeof(*c->regions));
    for (size_t i = 0; i < m->causes.region_count; i++) {
        struct fv_cost_slice *slice = &c->regions[i];

        slice->first = c->region_procedure_count;
        if (m->causes.regions[i].from != FV_NONE)
            add_procedures(c, m, &m->causes.regions[i]);
        slice->count = c->region_procedure_count - slice->first;
        if (slice->count)
            qsort(&c->region_procedures[slice->first], slice->count, sizeof(*c->region_procedures), by_seconds);
        if (slice->count > FV_REGION_PROCEDURES)
            slice->count = FV_REGION_PROCEDURES;
        c->region_procedure_count = slice->first + slice->count;
    }
}
