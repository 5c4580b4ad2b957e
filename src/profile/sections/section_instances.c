/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances of sections that were recorded by themselves (--section-instances). */
#include "profile/build.h"
#include "profile/sections/section_gather.h"

#include <stdlib.h>
#include <string.h>

void fv_section_read_instances(struct fv_section_gather *g, const struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SECTION_INSTANCES);
    const struct fv_model *m = g->build->model;
    double tick_s = fv_build_seconds(m, rank, 1u << 20) / (1u << 20);
    struct fv_sections_view *out = g->out;
    struct fv_section_instance i;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&i, p, sizeof(i));
        uint32_t thread = fv_build_thread(m, rank, c.thread);
        if (i.section >= g->section_count || g->section[i.section] == FV_NONE || thread == FV_NONE || i.end < i.begin ||
            i.end < f->header->forgotten_ticks)
            continue;
        const struct fv_section_view *section = &out->items[g->section[i.section]];
        FV_GROW(out->instances, out->instance_room, out->instance_count + 1);
        out->instances[out->instance_count++] =
            (struct fv_section_instance_view){ .name = section->name,
                                               .section_number = section->number,
                                               .rank = rank,
                                               .thread = thread,
                                               .number = i.number,
                                               .begin_s = fv_build_time(m, rank, i.begin),
                                               .time_s = (double)i.ticks * tick_s,
                                               .mpi_s = (double)i.mpi_ticks * tick_s,
                                               .calls = i.calls,
                                               .bytes = i.mpi_bytes };
    }
}

static int by_section(const void *a, const void *b)
{
    const struct fv_section_instance_view *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (order)
        return order;
    if (x->section_number != y->section_number)
        return x->section_number < y->section_number ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

void fv_section_order_instances(struct fv_sections_view *s)
{
    if (s->instance_count)
        qsort(s->instances, s->instance_count, sizeof(*s->instances), by_section);
}
