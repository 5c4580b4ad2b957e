/* Computing between two calls: the time that a thread was outside of MPI, by the call before (its path) and the cell
 * of the call behind it. A cell sums up what came behind the same call as last time, so that a loop's calls touch no
 * other memory; when the call before is another one, that sum goes to a record of the pair. */
#include "rt/statistics.h"

#define REGIONS_MAX (UINT32_C(1) << 16) /* of a thread */

struct region {
    uint64_t key;
    struct fv_region_record *record;
};

static struct fv_region_record *new_record(struct fv_thread *t, uint32_t from, uint32_t cell)
{
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_REGIONS, .first_pages = 1, .most_pages = 8, .budget = &fv_cells_budget
    };
    struct fv_region_record *record = fv_tail_next(&t->regions.tail, &kind, t->id, sizeof(*record), false);

    if (!record)
        return NULL;
    record->from = from;
    record->cell = cell;
    fv_tail_commit(&t->regions.tail, sizeof(*record));
    return record;
}

/* NULL: no room. */
static FV_COLD struct fv_region_record *make(struct fv_thread *t, uint64_t key, uint32_t from, uint32_t cell)
{
    struct region *region = fv_map_add(&t->regions.table, sizeof(*region), key, 2 * REGIONS_MAX);
    struct fv_region_record *record = region ? new_record(t, from, cell) : NULL;

    if (record)
        region->record = record;
    else if (region)
        fv_map_erase(&t->regions.table, sizeof(*region), region);
    return record;
}

static struct fv_region_record *find(struct fv_thread *t, uint32_t from, uint32_t cell)
{
    uint64_t key = (uint64_t)from << 32 | (cell + 1);
    const struct region *region = fv_map_find(&t->regions.table, sizeof(*region), key);

    return FV_LIKELY(region != NULL) ? region->record : make(t, key, from, cell);
}

void fv_region_change(const struct fv_call *call, struct fv_cell *cell, uint32_t from)
{
    if (cell->from == FV_FROM_SEVERAL)
        return;
    if (cell->calls > cell->from_calls) {
        struct fv_region_record *r = find(call->thread, cell->from, call->path->cell_index);

        if (!r) {
            cell->from = FV_FROM_SEVERAL; /* time stays right; what is lost is what came before */
            return;
        }
        r->count += cell->calls - cell->from_calls;
        r->ticks += cell->before_ticks;
        cell->before_ticks = 0;
        cell->from_calls = cell->calls;
    }
    cell->from = from;
}

void fv_regions_clear(struct fv_regions *regions)
{
    for (uint32_t i = 0; regions->table.place && i <= regions->table.mask; i++) {
        const struct region *region = fv_map_at(&regions->table, sizeof(*region), i);

        if (region->key)
            region->record->count = region->record->ticks = 0;
    }
}

void fv_region_begin(struct fv_thread *t, uint32_t from)
{
    t->record->last = fv_ticks();
    t->previous = from;
}
