/* SPDX-License-Identifier: BSD-3-Clause */
/* What every rank did when: the time bins of each rank's main thread, spread over bins that are common to
 * the whole run. A source bin gives each common bin the part by which they overlap. */
#include "profile/build.h"
#include "trace/bins.h"

#include <string.h>

static float *row(struct fv_timeline *t, uint32_t rank, unsigned class)
{
    return t->share + ((size_t)rank * FV_CLASS_COUNT + class) * t->bins;
}

static void spread(struct fv_timeline *t, uint32_t rank, unsigned class, double begin_s, double end_s, double seconds)
{
    float *bins = row(t, rank, class);
    double width = t->bin_s, scale = end_s > begin_s ? seconds / (end_s - begin_s) : 0;

    if (begin_s < 0)
        begin_s = 0;
    for (uint32_t i = begin_s < width * t->bins ? (uint32_t)(begin_s / width) : t->bins; i < t->bins; i++) {
        double from = i * width, to = from + width;

        if (from >= end_s)
            break;
        from = from > begin_s ? from : begin_s;
        to = to < end_s ? to : end_s;
        if (to > from)
            bins[i] += (float)((to - from) * scale / width);
    }
}

static void add_bank(struct fv_build *b, uint32_t rank, const struct fv_bin_bank *bank)
{
    const struct fv_model *m = b->model;
    struct fv_timeline *t = &b->model->timeline;
    double width_s = fv_build_seconds(m, rank, bank->width), until_s = m->ranks[rank].end_s;
    double origin_s = fv_build_time(m, rank, bank->origin);

    if (!bank->width || !(width_s < 1e9))
        return;
    for (unsigned i = 0; i < FV_BINS; i++)
        for (unsigned c = 0; c < FV_CLASS_COUNT; c++) {
            double begin = origin_s + i * width_s, end = begin + width_s;

            if (!bank->ticks[i][c])
                continue;
            double seconds = fv_build_seconds(m, rank, bank->ticks[i][c]);
            if (end > until_s && until_s > begin)
                end = until_s; /* the last bin is cut by the rank's end */
            if (seconds > end - begin)
                seconds = end - begin;
            t->used[c] = true;
            spread(t, rank, c, begin, end, seconds);
        }
}

uint32_t fv_main_thread(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];

    for (uint32_t i = 0; i < r->threads; i++)
        if (m->threads[r->first_thread + i].main)
            return m->threads[r->first_thread + i].id;
    return 0;
}

/* elapsed_s may still be unknown: what it is made of is. */
static void *begin_timeline(struct fv_build *b)
{
    struct fv_model *m = b->model;
    struct fv_timeline *t = &m->timeline;
    double end_s = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        end_s = m->ranks[i].end_s > end_s ? m->ranks[i].end_s : end_s;
    t->bins = FV_TIMELINE_BINS;
    t->bin_s = end_s > 0 ? end_s / FV_TIMELINE_BINS : 1;
    t->share = fv_xcalloc(m->rank_count * FV_CLASS_COUNT * FV_TIMELINE_BINS, sizeof(*t->share));
    return NULL;
}

static void read_timeline(struct fv_build *b, void *state, uint32_t rank)
{
    uint32_t thread = fv_main_thread(b->model, rank);
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_TIME_BINS);
    struct fv_bin_bank bank;
    (void)state;

    for (const void *p; (p = fv_cursor_next(&c));)
        if (c.thread == thread) {
            fv_bins_read(p, &bank);
            add_bank(b, rank, &bank);
        }
}

const struct fv_track fv_track_timeline = {
    .name = "timeline",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_TIME_BINS },
    .begin = begin_timeline,
    .read = read_timeline,
};
