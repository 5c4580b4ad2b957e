/* SPDX-License-Identifier: BSD-3-Clause */
/* Who defines MPI functions in front of fvmpi: their calls are missing, and it is said so. */
#include "profile/build.h"

#include <stdlib.h>
#include <string.h>

/* The same on so many ranks; the first file's record stands for all. */
struct shadow {
    struct fv_shadow_record record;
    uint32_t ranks;
};
struct shadows {
    struct shadow *items;
    size_t count, room;
    size_t left_out; /* records of others, one a rank */
};
#define SHADOWS_MOST 16 /* different ones, that are told */

static void *begin_shadows(struct fv_build *b)
{
    (void)b;
    return fv_xcalloc(1, sizeof(struct shadows));
}

static void count_shadow(struct shadows *s, const struct fv_shadow_record *r)
{
    size_t i = 0;

    while (i < s->count && memcmp(&s->items[i].record, r, sizeof(*r)))
        i++;
    if (i == s->count) {
        if (i == SHADOWS_MOST) {
            s->left_out++;
            return;
        }
        FV_GROW(s->items, s->room, s->count + 1);
        s->items[s->count++] = (struct shadow){ *r, 0 };
    }
    s->items[i].ranks++;
}

static void read_shadows(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_SHADOWS);
    bool finalize = false;

    for (const struct fv_shadow_record *r; (r = fv_cursor_next(&c));) {
        if (r->functions) /* else it handed all calls on to fvmpi */
            count_shadow(state, r);
        finalize |= r->finalize;
    }
    b->model->own_finalize += finalize;
}

static void finish_shadows(struct fv_build *b, void *state)
{
    struct shadows *s = state;

    for (size_t i = 0; i < s->count; i++) {
        const struct fv_shadow_record *r = &s->items[i].record;

        fv_problem_add(
            &b->model->problems, FV_PROBLEM_DROPPED, NULL,
            "%.*s defines %u MPI function%s itself, in front of fvmpi: calls of %.*s%s are not recorded (%u %s)",
            (int)strnlen(r->object, sizeof(r->object)), r->object, r->functions, r->functions == 1 ? "" : "s",
            (int)strnlen(r->names, sizeof(r->names)), r->names, r->named < r->functions ? " ..." : "",
            s->items[i].ranks, s->items[i].ranks == 1 ? "rank" : "ranks");
    }
    if (s->left_out)
        fv_problem_add(
            &b->model->problems, FV_PROBLEM_DROPPED, NULL,
            "more than %d objects define MPI functions in front of fvmpi: %zu more, of all ranks, are not listed",
            SHADOWS_MOST, s->left_out);
    free(s->items);
    free(s);
}

const struct fv_track fv_track_shadows = {
    .name = "shadows",
    .visit = FV_VISIT_CALLS,
    .types = { FV_CHUNK_SHADOWS },
    .begin = begin_shadows,
    .read = read_shadows,
    .finish = finish_shadows,
};
