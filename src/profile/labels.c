/* SPDX-License-Identifier: BSD-3-Clause */
/* See labels.h. */
#include "profile/labels.h"
#include "profile/build.h"

#include <stdlib.h>

static void read_labels(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_LABELS);
    struct fv_model *m = b->model;
    struct fv_labels *out = fv_model_labels(m);
    (void)state;

    for (const struct fv_label_record *r; (r = fv_cursor_next(&c));) {
        FV_GROW(out->items, out->room, out->count + 1);
        out->items[out->count++] =
            (struct fv_label_view){ fv_build_time(m, rank, r->ticks), rank, r->origin == FV_LABEL_OUTSIDE,
                                    fv_arena_string(&m->arena, r->text) };
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
    struct fv_labels *out = fv_model_labels(b->model);
    (void)state;

    if (out->count)
        qsort(out->items, out->count, sizeof(*out->items), by_time);
}

const struct fv_track fv_track_labels = {
    .name = "labels",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_LABELS },
    .read = read_labels,
    .finish = finish_labels,
};

void fv_labels_release(void *labels)
{
    free(((struct fv_labels *)labels)->items);
}
