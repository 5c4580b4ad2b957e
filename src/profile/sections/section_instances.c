/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances of sections that were recorded by themselves (--section-instances). */
#include "profile/build.h"
#include "profile/noise/shares.h"
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
        if (i.section >= g->section_count || g->section[i.section] == FV_NONE ||
            fv_build_thread(m, rank, c.thread) == FV_NONE || i.end < i.begin || i.end < f->header->forgotten_ticks)
            continue;
        const struct fv_section_view *section = &out->items[g->section[i.section]];
        FV_GROW(out->instances, out->instance_room, out->instance_count + 1);
        out->instances[out->instance_count++] =
            (struct fv_section_instance_view){ .name = section->name,
                                               .section_number = section->number,
                                               .rank = rank,
                                               .thread = c.thread,
                                               .number = i.number,
                                               .begin_s = fv_build_time(m, rank, i.begin),
                                               .end_s = fv_build_time(m, rank, i.end),
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

/* ---- warm-up ---- */

static bool is_same_section(const struct fv_section_instance_view *a, const struct fv_section_instance_view *b)
{
    return !strcmp(a->name, b->name) && a->section_number == b->section_number;
}

static bool is_same_thread(const struct fv_section_instance_view *a, const struct fv_section_instance_view *b)
{
    return is_same_section(a, b) && a->rank == b->rank && a->thread == b->thread;
}

/* Of one thread. Sums stay sums until all threads are there. */
static void add_thread(struct fv_section_warm_up *w, uint64_t *rest, const struct fv_section_instance_view *first,
                       size_t count)
{
    double *times = fv_xcalloc(count, sizeof(*times));

    for (size_t i = 0; i < count; i++)
        times[i] = first[i].time_s;
    const size_t warm = fv_warm_up(times, count);
    w->of_threads += count >= FV_WARM_UP_LEAST;
    w->threads += warm > 0;
    w->instances += warm;
    *rest += warm ? count - warm : 0;
    for (size_t i = 0; warm && i < count; i++)
        *(i < warm ? &w->first_s : &w->steady_s) += times[i];
    free(times);
}

void fv_section_find_warm_ups(struct fv_sections_view *s)
{
    for (size_t at = 0, next; at < s->instance_count; at = next) {
        const struct fv_section_instance_view *first = &s->instances[at];
        struct fv_section_warm_up w = { .name = first->name, .section_number = first->section_number };
        uint64_t rest = 0;

        for (next = at; next < s->instance_count && is_same_section(first, &s->instances[next]);) {
            size_t begin = next;

            while (next < s->instance_count && is_same_thread(&s->instances[begin], &s->instances[next]))
                next++;
            add_thread(&w, &rest, &s->instances[begin], next - begin);
        }
        if (!w.of_threads)
            continue;
        w.first_s /= (double)w.instances; /* NAN: there is none */
        w.steady_s /= (double)rest;
        FV_GROW(s->warm_ups, s->warm_up_room, s->warm_up_count + 1);
        s->warm_ups[s->warm_up_count++] = w;
    }
}
