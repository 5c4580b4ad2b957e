/* Labels: moments that the program marked, or who ran it. */
#include "profile/build.h"

#include <stdlib.h>

static void read_labels(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_LABELS);
    struct fv_model *m = b->model;
    (void)state;

    for (const struct fv_label_record *r; (r = fv_cursor_next(&c));) {
        FV_GROW(m->labels, m->label_room, m->label_count + 1);
        m->labels[m->label_count++] =
            (struct fv_label_view){ fv_build_time(m, rank, r->ticks), rank, r->origin == FV_LABEL_OUTSIDE, fv_arena_string(&m->arena, r->text) };
    }
}

static int by_time(const void *a, const void *b)
{
    const struct fv_label_view *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void finish_labels(struct fv_build *b, void *state)
{
    (void)state;
    if (b->model->label_count)
        qsort(b->model->labels, b->model->label_count, sizeof(*b->model->labels), by_time);
}

const struct fv_track fv_track_labels = { "labels", FV_VISIT_REST, { FV_CHUNK_LABELS }, NULL, read_labels, finish_labels };
