/* SPDX-License-Identifier: BSD-3-Clause */
/* See calls.h. */
#include "profile/iterations/calls.h"

#include "experiment/chunks.h"
#include "trace/events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct stream {
    struct fv_build *build;
    uint32_t rank, thread;
    fv_iteration_call_fn *take;
    void *context;
    double last_s; /* end of the call before */
};

static bool is_asking(const char *name)
{
    return !strncmp(name, "MPI_Test", 8) || !strcmp(name, "MPI_Iprobe") || !strcmp(name, "MPI_Improbe");
}

static void hand_over(struct stream *s, uint32_t site, uint64_t begin, uint64_t end)
{
    const struct fv_model *m = s->build->model;

    if (site != FV_NONE && is_asking(m->functions[m->sites[site].function].name))
        return;
    struct fv_iteration_call call = { .site = site,
                                      .begin_s = fmax(fv_build_time(m, s->rank, begin), s->last_s),
                                      .end_s = fv_build_time(m, s->rank, end) };
    call.end_s = fmax(call.begin_s, call.end_s);
    s->last_s = call.end_s;
    s->take(s->context, &call);
}

static bool has_events(const struct fv_chunk *chunk)
{
    return fv_chunk_has_events(chunk);
}

static void take_traced(struct stream *s)
{
    struct fv_build_file *f = &s->build->files[s->rank];
    struct fv_unpacked_events unpacked = { 0 };
    struct fv_numbers sites = { 0 };
    size_t count;
    const struct fv_chunk **chunks = fv_thread_chunks(f->reader, s->thread, has_events, &count);
    struct fv_event e;

    if (count)
        fv_build_event_sites(s->build, s->rank, s->thread, &sites);
    for (size_t i = 0; i < count; i++) {
        if (i && chunks[i]->first == chunks[i - 1]->first) /* the same calls, compressed */
            continue;
        struct fv_event_cursor c = fv_reader_events(f->reader, chunks[i], &unpacked);

        while (fv_event_next(&c, &e))
            if (e.kind == FV_EV_CALL)
                hand_over(s, fv_numbers_get(&sites, e.field[0]), e.begin, e.end);
        fv_reader_forget(f->reader, chunks[i]);
    }
    free(chunks);
    fv_unpacked_events_release(&unpacked);
    fv_numbers_release(&sites);
}

static void take_logged(struct stream *s)
{
    const struct fv_build_file *f = &s->build->files[s->rank];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_COLLECTIVES);
    struct fv_coll_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.thread != s->thread)
            continue;
        memcpy(&r, p, sizeof(r));
        const struct fv_cell_place *place = fv_build_place(f, c.thread, r.cell_flags >> 3);

        if (place && place->site_rank != FV_NONE)
            hand_over(s, s->build->model->site_ranks[place->site_rank].site, r.begin, r.end);
    }
}

uint32_t fv_iteration_thread(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];

    for (uint32_t i = 0; i < r->threads; i++)
        if (m->threads[r->first_thread + i].main)
            return m->threads[r->first_thread + i].id;
    return 0;
}

void fv_iteration_calls(struct fv_build *b, uint32_t rank, bool traced, fv_iteration_call_fn *take, void *context)
{
    struct stream s = { .build = b,
                        .rank = rank,
                        .thread = fv_iteration_thread(b->model, rank),
                        .take = take,
                        .context = context,
                        .last_s = -INFINITY };

    if (traced)
        take_traced(&s);
    else
        take_logged(&s);
}
