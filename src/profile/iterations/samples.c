/* SPDX-License-Identifier: BSD-3-Clause */
/* See samples.h. */
#include "profile/iterations/samples.h"

#include "profile/iterations/calls.h"
#include "profile/places.h"
#include "profile/samples/sample_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 20  /* samples that long iterations have more */
#define MOST  0.5 /* of them: that the function has */

static struct fv_iteration_sample *sample_of(struct fv_iterations *it, uint32_t unit, uint32_t node)
{
    return FV_INTERNED(it->sample_index, it->samples, it->sample_count, it->sample_room, (uint32_t[]){ unit, node });
}

/* A thread's, in order. */
struct logged {
    double *times_s;
    uint32_t *nodes;
    size_t count, times_room, nodes_room;
};

static struct logged read_log(struct fv_build *b, uint32_t rank, uint32_t thread)
{
    struct fv_build_file *f = &b->files[rank];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SAMPLE_LOG);
    struct fv_sample_trees trees = { 0 };
    struct fv_logged_sample r;
    struct logged log = { .count = 0 };
    bool any = false;

    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.thread != thread)
            continue;
        if (!any)
            fv_sample_trees_read(&trees, b, f);
        any = true;
        memcpy(&r, p, sizeof(r));
        const uint32_t node = fv_sample_trees_node(&trees, c.thread, r.path);
        const double time_s = fv_build_time(b->model, rank, r.ticks);

        if (!node || node == FV_NONE || (log.count && time_s < log.times_s[log.count - 1]))
            continue;
        FV_GROW(log.times_s, log.times_room, log.count + 1);
        FV_GROW(log.nodes, log.nodes_room, log.count + 1);
        log.times_s[log.count] = time_s;
        log.nodes[log.count++] = node;
    }
    fv_sample_trees_release(&trees);
    return log;
}

void fv_iteration_samples_read(struct fv_build *b, uint32_t rank, uint32_t thread, uint32_t unit,
                               const struct fv_iteration_span *spans, size_t count)
{
    struct logged log = read_log(b, rank, thread);
    bool *within = fv_xcalloc(log.count + 1, sizeof(*within));

    fv_iteration_within_calls(b, rank, log.times_s, log.count, within);
    for (size_t i = 0; i < log.count; i++) {
        const double time_s = log.times_s[i];
        const size_t at = FV_COUNT_BEFORE(k, count, spans[k].end_s <= time_s);

        if (within[i] || at == count || spans[at].begin_s > time_s)
            continue;
        struct fv_iteration_sample *s = sample_of(fv_model_iterations(b->model), unit, log.nodes[i]);
        s->in_long += spans[at].is_long;
        s->in_others += !spans[at].is_long;
    }
    free(within);
    free(log.times_s);
    free(log.nodes);
}

/* A function of the program, by its name. */
struct function {
    const char *name;
    double more, all; /* samples of long iterations: more than as many others have; all */
    uint32_t node;    /* a path with it ... */
    size_t frame;     /* ... which it is there */
    double most;
};
struct tally {
    const struct fv_profile *view;
    struct function *items;
    size_t count, room;
    double more; /* of all samples */
};

static void add_path(struct tally *t, const struct fv_path *path, uint32_t node, double more, double in_long)
{
    for (size_t i = 0; i < path->count; i++) {
        const struct fv_frame *frame = &path->frames[i];
        bool again =
            !frame->function || !fv_frame_is_of_program(t->view->model, frame) || !strcmp(frame->function, "main");
        size_t k = 0;

        for (size_t before = 0; before < i && !again; before++)
            again = fv_same_text(path->frames[before].function, frame->function);
        if (again)
            continue;
        while (k < t->count && strcmp(t->items[k].name, frame->function) != 0)
            k++;
        if (k == t->count) {
            FV_GROW(t->items, t->room, t->count + 1);
            t->items[t->count++] = (struct function){ .name = frame->function };
        }
        struct function *of = &t->items[k];
        of->more += more;
        of->all += in_long;
        if (in_long > of->most || !of->node) {
            of->most = in_long;
            of->node = node;
            of->frame = i;
        }
    }
}

static const struct function *best_of(const struct tally *t)
{
    const struct function *best = NULL;
    double most = 0;

    for (size_t i = 0; i < t->count; i++) {
        const struct function *of = &t->items[i];
        double score = of->all > 0 && of->more > 0 ? of->more * of->more / of->all : 0;

        if (of->more >= MOST * t->more && score > most) {
            most = score;
            best = of;
        }
    }
    return best;
}

const struct fv_frame *fv_iteration_sampled(const struct fv_profile *v, uint32_t unit, struct fv_path *path)
{
    const struct fv_iterations *it = fv_model_iterations(v->model);
    const struct fv_iteration_unit *u = &it->units[unit];
    struct tally t = { .view = v };
    double scale = u->others ? (double)u->longs / (double)u->others : 0;

    for (size_t i = 0; i < it->sample_count; i++) {
        const struct fv_iteration_sample *s = &it->samples[i];

        if (s->unit != unit)
            continue;
        double more = (double)s->in_long - scale * (double)s->in_others;
        t.more += more;
        fv_path_of(path, v->symbols, s->node);
        add_path(&t, path, s->node, more, (double)s->in_long);
    }
    const struct function *best = t.more >= LEAST ? best_of(&t) : NULL;
    size_t frame = best ? best->frame : 0;
    if (best)
        fv_path_of(path, v->symbols, best->node);
    free(t.items);
    return best && frame < path->count ? &path->frames[frame] : NULL;
}
