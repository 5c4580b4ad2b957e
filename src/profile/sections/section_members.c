/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of sections; see sections.h. One that opened the section has what it measured itself; any other has what was
 * read of it while the section was open, for all of that time where some of it was not read. */
#include "profile/sections/section_gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fv_section_member *fv_section_member_of(struct fv_section_gather *g, uint32_t section, uint32_t rank,
                                               uint32_t thread)
{
    struct fv_sections_view *s = g->out;
    size_t before = s->member_count;
    struct fv_section_member *m =
        FV_INTERNED(g->members, s->members, s->member_count, s->member_room, (uint32_t[]){ section, rank, thread });

    if (s->member_count > before) /* not known yet */
        m->time_s = m->cpu_s = m->user_s = m->system_s = m->mpi_s = m->sampled_s = m->faults = NAN;
    return m;
}

void fv_section_read_spans(const struct fv_reader *reader, struct fv_section_span *out, size_t count)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SECTION_SPANS);
    struct fv_section_span r;

    for (size_t i = 0; i < count; i++)
        out[i] = (struct fv_section_span){ 0 };
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (r.section < count && r.read_ticks <= r.ticks && r.read_times <= r.times)
            out[r.section] = r;
    }
}

/* What was read is of a part of the time. */
static void add_other(struct fv_section_gather *g, uint32_t rank, const struct fv_section_other *t)
{
    const struct fv_section_span *span = &g->spans[t->section];
    struct fv_section_member *m = fv_section_member_of(g, g->section[t->section], rank, t->thread);
    double part = span->ticks ? (double)span->read_ticks / (double)span->ticks : 0;

    if (m->is_opener || !(part > 0))
        return;
    m->count = span->times;
    m->time_s = fv_build_seconds(g->build->model, rank, span->ticks);
    m->cpu_s = (double)t->cpu_ns * 1e-9 / part;
    m->user_s = t->user_ns < t->ticked_ns ? m->cpu_s * (double)t->user_ns / (double)t->ticked_ns : m->cpu_s;
    m->system_s = m->cpu_s - m->user_s;
    m->is_scaled = span->read_times < span->times;
}

void fv_section_read_others(struct fv_section_gather *g, const struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SECTION_THREADS);
    struct fv_section_other t;

    FV_GROW(g->spans, g->span_room, g->section_count + 1);
    fv_section_read_spans(f->reader, g->spans, g->section_count);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        if (t.section < g->section_count && g->section[t.section] != FV_NONE)
            add_other(g, rank, &t);
    }
}

/* The whole program's are the rank's. */
void fv_section_add_all_threads(struct fv_section_gather *g, uint32_t section, uint32_t rank)
{
    const struct fv_model *model = g->build->model;
    const struct fv_rank *k = &model->ranks[rank];

    for (uint32_t i = 0; i < k->threads; i++) {
        const struct fv_thread_view *t = &model->threads[k->first_thread + i];
        struct fv_section_member *m = fv_section_member_of(g, section, rank, t->id);

        m->is_opener = true;
        m->count = 1;
        m->time_s = isnan(t->elapsed_s) ? k->app_time_s : t->elapsed_s;
        m->user_s = t->user_s;
        m->system_s = t->system_s;
        m->cpu_s = t->user_s + t->system_s;
        m->mpi_s = t->mpi_time_s;
    }
}

/* To the sums of the ranks: what openers measured is there. */
void fv_section_add_others(struct fv_section_gather *g, size_t first)
{
    for (size_t i = first; i < g->out->member_count; i++) {
        const struct fv_section_member *m = &g->out->members[i];

        if (m->is_opener || isnan(m->cpu_s))
            continue;
        struct fv_section_rank *r = fv_section_rank_of(g, m->section, m->rank);
        r->other_threads++;
        r->is_scaled = r->is_scaled || m->is_scaled;
        r->value[FV_SECTION_USER] += m->user_s;
        r->value[FV_SECTION_SYSTEM] += m->system_s;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct fv_section_member *x = a, *y = b;

    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

void fv_section_order_members(struct fv_sections_view *s)
{
    if (s->member_count)
        qsort(s->members, s->member_count, sizeof(*s->members), by_place);
    for (size_t i = 0, next; i < s->member_count; i = next) {
        struct fv_section_view *v = &s->items[s->members[i].section];

        for (next = i + 1; next < s->member_count && s->members[next].section == s->members[i].section;)
            next++;
        v->first_member = (uint32_t)i;
        v->members = (uint32_t)(next - i);
    }
}
