/* SPDX-License-Identifier: BSD-3-Clause */
/* The cells of a thread: one struct fv_cell per (call path, communicator, function, size bucket, sections). They
 * lie in the rank file; the table that finds them is private. When the budget or the disk is used up,
 * calls go to coarser cells (per function, at last one for all): time and bytes stay right, what is
 * lost is where they came from, and that is counted. */
#include "rt/statistics.h"

/* Coarse cells are few and always may. */
struct fv_budget fv_cells_budget = { .most = &fv_rt.options.profile_max };
static const struct fv_tail_kind kind = {
    .type = FV_CHUNK_CELLS, .first_pages = 1, .most_pages = 64, .budget = &fv_cells_budget
};

static uint32_t place(uint32_t path, uint32_t comm, unsigned function, unsigned bucket, uint32_t section)
{
    return (uint32_t)fv_mix(((uint64_t)path << 32 | comm) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)function << 8 ^
                            bucket ^ (uint64_t)section << 32);
}

static bool grow(struct fv_cells *cells)
{
    uint32_t size = cells->slots ? (cells->mask + 1) * 2 : 256;
    struct fv_cell_slot *bigger = fv_memory_new(size * sizeof(*bigger)), *old = cells->slots;

    if (!bigger)
        return false;
    for (uint32_t i = 0; old && i <= cells->mask; i++) {
        const struct fv_cell *c = old[i].cell;

        if (!c)
            continue;
        uint32_t at = place(c->path, c->comm, c->function, c->size_bucket, c->section) & (size - 1);
        while (bigger[at].cell)
            at = (at + 1) & (size - 1);
        bigger[at] = old[i];
    }
    if (old)
        fv_memory_free(old, (cells->mask + 1) * sizeof(*old));
    cells->slots = bigger;
    cells->mask = size - 1;
    return true;
}

static FV_COLD struct fv_cell_slot make(struct fv_thread *t, uint32_t path, uint32_t comm, unsigned function,
                                        unsigned bucket, uint32_t section, bool coarse)
{
    struct fv_cells *cells = &t->cells;
    struct fv_cell_slot slot = { 0 };

    if ((cells->used * 2 >= cells->mask && !grow(cells)) ||
        !(slot.cell = fv_tail_next(&cells->tail, &kind, t->id, sizeof(*slot.cell), coarse)))
        return slot;
    slot.index = (uint32_t)cells->tail.count;
    slot.cell->path = path;
    slot.cell->comm = comm;
    slot.cell->function = (uint16_t)function;
    slot.cell->size_bucket = (uint8_t)bucket;
    slot.cell->section = section;
    slot.cell->time_min = slot.cell->size_min = UINT64_MAX;
    fv_tail_commit(&cells->tail, sizeof(struct fv_cell));
    uint32_t at = place(path, comm, function, bucket, section) & cells->mask;
    while (cells->slots[at].cell)
        at = (at + 1) & cells->mask;
    cells->slots[at] = slot;
    cells->used++;
    fv_function_used(function); /* the one for the rest is never called */
    if (fv_shadows && !coarse)
        fv_shadow_came(function, path);
    return slot;
}

/* Inline: a seventh argument goes over the stack, half of a word of it, and is then read as a whole, which stalls. */
static inline __attribute__((always_inline)) struct fv_cell_slot
lookup(const struct fv_cells *cells, uint32_t path, uint32_t comm, unsigned function, unsigned bucket, uint32_t section)
{
    uint32_t at = place(path, comm, function, bucket, section) & cells->mask;

    for (; cells->slots[at].cell; at = (at + 1) & cells->mask)
        if (fv_cell_is(cells->slots[at].cell, path, comm, function, bucket, section))
            return cells->slots[at];
    return (struct fv_cell_slot){ 0 };
}

/* Over budget: the function's own cell without call path, section and size, else the one for everything. */
static FV_COLD struct fv_cell_slot coarse(struct fv_thread *t, unsigned function)
{
    struct fv_cell_slot slot = lookup(&t->cells, 0, 0, function, 0, 0);

    fv_dropped(FV_DROP_CELLS);
    if (!slot.cell)
        slot = make(t, 0, 0, function, 0, 0, true);
    return slot.cell ? slot : t->cells.rest;
}

struct fv_cell_slot fv_cell_find(struct fv_thread *t, uint32_t path, uint32_t comm, unsigned function, unsigned bucket,
                                 uint32_t section)
{
    struct fv_cell_slot slot = lookup(&t->cells, path, comm, function, bucket, section);

    if (!slot.cell)
        slot = make(t, path, comm, function, bucket, section, false);
    return slot.cell ? slot : coarse(t, function);
}

bool fv_cells_init(struct fv_thread *t)
{
    t->cells.rest = make(t, 0, 0, FV_FUNCTION_REST, 0, 0, true);
    return t->cells.rest.cell != NULL;
}
