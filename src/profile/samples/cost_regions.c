/* Which procedures took a region of computing: on the rank that was there longest, and how long the others were in them. A
 * sample tells the call that came before it. Where several regions begin behind one call, they share its samples. */
#include "profile/samples/cost_profile_parts.h"

#include <stdlib.h>

static int by_from(const void *a, const void *b)
{
    const struct fv_cost_region_part *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->procedure != y->procedure)
        return x->procedure < y->procedure ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void merge_parts(struct fv_cost_profile *c)
{
    size_t kept = 0;

    if (c->region_part_count)
        qsort(c->region_parts, c->region_part_count, sizeof(*c->region_parts), by_from);
    for (size_t i = 0; i < c->region_part_count; i++) {
        if (kept && !by_from(&c->region_parts[kept - 1], &c->region_parts[i])) {
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
    double others = m->rank_count > 1 ? (double)m->rank_count - 1 : 1;
    struct fv_region_procedure *last = NULL;
    size_t first = FV_COUNT_BEFORE(i, c->region_part_count, c->region_parts[i].from < r->from);

    for (size_t i = first; i < c->region_part_count && c->region_parts[i].from == r->from; i++) {
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
