/* SPDX-License-Identifier: BSD-3-Clause */
/* Computing between two calls: the time that a thread was outside of MPI, by the call before (its path) and the cell
 * of the call behind it. A cell sums up what came behind the same call as last time, so that a loop's calls touch no
 * other memory; when the call before is another one, that sum goes to a record of the pair. */
#include "rt/statistics.h"
#include "trace/io_vote.h"

#include <string.h>

#define REGIONS_MAX (UINT32_C(1) << 16) /* of a thread */

/* What records of both kinds begin with. */
struct ends {
    uint32_t from, cell;
};

struct region {
    uint64_t key;
    struct ends *record;
};

static const struct kind {
    struct fv_tail_kind tail;
    size_t bytes;
} regions = { { .type = FV_CHUNK_REGIONS, .first_pages = 1, .most_pages = 8, .budget = &fv_cells_budget },
              sizeof(struct fv_region_record) },
  switched = { { .type = FV_CHUNK_SWITCHES, .first_pages = 1, .most_pages = 8, .budget = &fv_cells_budget },
               sizeof(struct fv_switch_record) },
  with_io = { { .type = FV_CHUNK_IO_REGIONS, .first_pages = 1, .most_pages = 8, .budget = &fv_cells_budget },
              sizeof(struct fv_io_region) };

static struct ends *new_record(struct fv_regions *r, const struct kind *kind, uint32_t thread, struct ends ends)
{
    struct ends *record = fv_tail_next(&r->tail, &kind->tail, thread, kind->bytes, false);

    if (!record)
        return NULL;
    *record = ends;
    fv_tail_commit(&r->tail, kind->bytes);
    return record;
}

static uint64_t key_of(struct ends ends)
{
    return (uint64_t)ends.from << 32 | (ends.cell + 1);
}

/* NULL: no room. */
static FV_COLD struct ends *make(struct fv_regions *r, const struct kind *kind, uint32_t thread, struct ends ends)
{
    struct region *region = fv_map_add(&r->table, sizeof(*region), key_of(ends), 2 * REGIONS_MAX);
    struct ends *record = region ? new_record(r, kind, thread, ends) : NULL;

    if (record)
        region->record = record;
    else if (region)
        fv_map_erase(&r->table, sizeof(*region), region);
    return record;
}

static void *find(struct fv_regions *r, const struct kind *kind, uint32_t thread, struct ends ends)
{
    const struct region *region = fv_map_find(&r->table, sizeof(*region), key_of(ends));

    return FV_LIKELY(region != NULL) ? region->record : make(r, kind, thread, ends);
}

void fv_region_change(const struct fv_call *call, struct fv_cell *cell, uint32_t from)
{
    if (cell->from == FV_FROM_SEVERAL)
        return;
    if (cell->calls > cell->from_calls) {
        struct fv_thread *t = call->thread;
        struct fv_region_record *r =
            find(&t->regions, &regions, t->id, (struct ends){ cell->from, call->path->cell_index });

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

FV_COLD uint64_t fv_region_switched(const struct fv_call *call, uint32_t from)
{
    struct fv_thread *t = call->thread;
    struct fv_switch_sums s = t->switches.since;
    uint64_t left_out = t->switches.left_out;
    struct fv_switch_record *r = NULL;

    fv_switches_forget(&t->switches);
    if (s.blocked || s.preempted || s.unseen) {
        fv_noise_add(&t->noise, &s);
        r = find(&t->switched, &switched, t->id, (struct ends){ from, call->path->cell_index });
    }
    if (!r)
        return left_out;
    r->blocked += s.blocked;
    r->blocked_ns += s.blocked_ns;
    r->preempted += s.preempted;
    r->preempted_ns += s.preempted_ns;
    r->unseen += s.unseen;
    return left_out;
}

FV_COLD void fv_region_with_io(const struct fv_call *call, uint32_t from)
{
    struct fv_thread *t = call->thread;
    const struct fv_io_sums s = t->io_since;
    struct fv_io_region *r = find(&t->io_regions, &with_io, t->id, (struct ends){ from, call->path->cell_index });

    t->io_since = (struct fv_io_sums){ 0 };
    if (!r)
        return;
    FV_IO_VOTE(r, &s, s.calls, s.ticks, s.weight);
}

static void clear(const struct fv_regions *r, const struct kind *kind)
{
    for (uint32_t i = 0; r->table.place && i <= r->table.mask; i++) {
        const struct region *region = fv_map_at(&r->table, sizeof(*region), i);

        if (region->key)
            memset(region->record + 1, 0, kind->bytes - sizeof(*region->record));
    }
}

void fv_regions_clear(struct fv_thread *t)
{
    clear(&t->regions, &regions);
    clear(&t->switched, &switched);
    clear(&t->io_regions, &with_io);
    t->io_since = (struct fv_io_sums){ 0 };
    fv_switches_forget(&t->switches);
    fv_noise_forget(&t->noise);
}

void fv_region_begin(struct fv_thread *t, uint32_t from)
{
    fv_switches_ignore(&t->switches);
    fv_noise_forget(&t->noise);
    t->record->last = fv_ticks();
    t->io_since = (struct fv_io_sums){ 0 };
    t->previous = from;
}
