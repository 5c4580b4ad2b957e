/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks said that they could not record. */
#include "profile/build.h"

#include <stdlib.h>
#include <string.h>

/* The same words on so many ranks. */
struct remark {
    struct fv_remark_record record;
    uint32_t ranks;
};
struct remarks {
    struct remark *items;
    size_t count, room;
};
#define REMARKS_MOST 32 /* different ones */

static void *begin_remarks(struct fv_build *b)
{
    (void)b;
    return fv_xcalloc(1, sizeof(struct remarks));
}

static bool is_of_children(uint32_t kind)
{
    return kind == FV_REMARK_FORKS || kind == FV_REMARK_CHILDREN || kind == FV_REMARK_WORKERS;
}

static void read_remarks(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_REMARKS);
    struct remarks *all = state;

    for (const struct fv_remark_record *r; (r = fv_cursor_next(&c));) {
        size_t i = 0;

        b->model->ranks[rank].has_children |= is_of_children(r->kind);
        if (r->kind == FV_REMARK_CHILDREN)
            continue;

        while (i < all->count && memcmp(&all->items[i].record, r, sizeof(*r)))
            i++;
        if (i == all->count) {
            if (i == REMARKS_MOST)
                continue;
            FV_GROW(all->items, all->room, all->count + 1);
            all->items[all->count++] = (struct remark){ *r, 0 };
        }
        all->items[i].ranks++;
    }
}

static void finish_remarks(struct fv_build *b, void *state)
{
    struct remarks *all = state;

    for (size_t i = 0; i < all->count; i++) {
        const struct fv_remark_record *r = &all->items[i].record;
        const int length = (int)strnlen(r->text, sizeof(r->text));
        const char *text = fv_arena_printf(&b->model->arena, "%.*s (%u %s)", length, r->text, all->items[i].ranks,
                                           all->items[i].ranks == 1 ? "rank" : "ranks");

        switch (r->kind) {
        case FV_REMARK_ARCHIVE:
            fv_problem_add(&b->model->problems, FV_PROBLEM_NOTE, NULL, "the archive: %.*s", length, r->text);
            break;
        case FV_REMARK_FORKS: b->model->not_recorded = text; break;
        case FV_REMARK_WORKERS: /* of fork(), most likely, if that is known */
            if (!b->model->not_recorded)
                b->model->not_recorded = text;
            break;
        default: fv_problem_add(&b->model->problems, FV_PROBLEM_NOTE, NULL, "%s", text);
        }
    }
    free(all->items);
    free(all);
}

const struct fv_track fv_track_remarks = {
    .name = "remarks",
    .visit = FV_VISIT_CALLS,
    .types = { FV_CHUNK_REMARKS },
    .begin = begin_remarks,
    .read = read_remarks,
    .finish = finish_remarks,
};
