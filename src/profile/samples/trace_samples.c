/* SPDX-License-Identifier: BSD-3-Clause */
/* See profile/trace_excerpt.h: samples of the CPU clock in a trace, over time. */
#include "profile/samples/sample_paths.h"

#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b)
{
    const struct fv_trace_sample *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

/* Of the samples of a rank, from `first` on, one of so many that `most` are left; it stands for those of its thread
 * before it. */
static void thin(struct fv_trace_excerpt *t, size_t first, size_t most)
{
    size_t count = t->sample_count - first, kept = first, every = (count + most - 1) / most, skipped = 0;
    uint32_t ticks = 0;

    for (size_t i = first; i < t->sample_count; i++) {
        bool is_last = i + 1 == t->sample_count || t->samples[i + 1].thread != t->samples[i].thread;

        ticks += t->samples[i].ticks;
        if (++skipped < every && !is_last)
            continue;
        t->samples[kept] = t->samples[i];
        t->samples[kept++].ticks = ticks;
        ticks = 0;
        skipped = 0;
    }
    t->samples_left_out += t->sample_count - kept;
    t->sample_count = kept;
}

static void read_traced_samples(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_build_file *f = &b->files[rank];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SAMPLE_LOG);
    struct fv_trace_excerpt *t = &b->model->excerpt;
    struct fv_sample_trees trees = { 0 };
    size_t first = t->sample_count;
    struct fv_logged_sample r;

    (void)state;
    size_t most = b->traced_calls / b->model->rank_count;

    if (!most)
        return;
    fv_sample_trees_read(&trees, b, f);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        uint32_t node = fv_sample_trees_node(&trees, c.thread, r.path);

        if (!r.ticks)
            continue;
        FV_GROW(t->samples, t->sample_room, t->sample_count + 1);
        t->samples[t->sample_count++] = (struct fv_trace_sample){ .rank = rank,
                                                                  .thread = c.thread,
                                                                  .node = node == FV_NONE ? 0 : node,
                                                                  .ticks = 1,
                                                                  .time_s = fv_build_time(b->model, rank, r.ticks) };
    }
    if (t->sample_count > first)
        qsort(t->samples + first, t->sample_count - first, sizeof(*t->samples), by_time);
    thin(t, first, most);
    fv_sample_trees_release(&trees);
}

const struct fv_track fv_track_trace_samples = {
    .name = "traced samples",
    .visit = FV_VISIT_CALLS,
    .types = { FV_CHUNK_SAMPLE_LOG },
    .read = read_traced_samples,
    .needs = { "calls" },
};
