/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator in sections that the program marks. */
#include "profile/build.h"
#include "profile/memory/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* False: damaged. */
static bool find_section(const struct fv_reader *reader, uint32_t id, struct fv_section *out)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SECTIONS);
    uint32_t at = 0;

    for (const void *p; (p = fv_cursor_next(&c));)
        if (++at == id) {
            memcpy(out, p, sizeof(*out));
            return true;
        }
    return false;
}

static double time_of(const struct fv_memory_work *w, double tick_s)
{
    const double shorts = (double)w->calls - (double)w->longs;

    if (shorts > 0 && !w->timed && !w->longs)
        return NAN;
    const double mean = fv_allocation_short_mean(w->timed, (double)w->ticks, w->longs, (double)w->long_ticks);
    return ((double)w->long_ticks + mean * fmax(shorts, 0)) * tick_s;
}

static double seconds_of(const struct fv_memory_extremes *e, uint64_t ticks, double tick_s)
{
    return e->least_ticks <= e->most_ticks ? (double)ticks * tick_s : NAN;
}

void fv_allocation_sections_read(struct fv_build *b, struct fv_allocations *out, uint32_t rank)
{
    const struct fv_reader *reader = b->files[rank].reader;
    const double tick_s = 1 / b->model->clocks[b->model->ranks[rank].clock].hz;
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_MEMORY_SECTIONS);
    struct fv_section section;
    struct fv_memory_section r;
    char name[sizeof(section.name) + 1];

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (!r.count || fv_build_thread(b->model, rank, c.thread) == FV_NONE ||
            !find_section(reader, r.section, &section))
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)sizeof(section.name), section.name);
        FV_GROW(out->sections, out->section_room, out->section_count + 1);
        out->sections[out->section_count++] =
            (struct fv_allocation_section){ .name = fv_arena_string(&b->model->arena, name),
                                            .number = section.number,
                                            .rank = rank,
                                            .thread = c.thread,
                                            .r = r,
                                            .time_s = time_of(&r.sum, tick_s),
                                            .least_s = seconds_of(&r.extremes, r.extremes.least_ticks, tick_s),
                                            .most_s = seconds_of(&r.extremes, r.extremes.most_ticks, tick_s) };
    }
}

static int by_section(const void *a, const void *b)
{
    const struct fv_allocation_section *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (order)
        return order;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

void fv_allocation_sections_order(struct fv_allocations *out)
{
    if (out->section_count)
        qsort(out->sections, out->section_count, sizeof(*out->sections), by_section);
}
