/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting of items that come as a few long runs, such as those of several ranks, each in the order of time: neighbours
 * are merged, two runs at a time. Inline, so that the comparison is. Rejected: qsort(), which took most of a sum's
 * time. */
#ifndef FV_RUNS_H
#define FV_RUNS_H

#include "tool/vec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Does x come before y? */
typedef bool fv_comes_before(const void *x, const void *y);

struct fv_runs {
    size_t *ends; /* of each */
    size_t count, room;
};

static inline __attribute__((always_inline)) void fv_runs_find(struct fv_runs *r, const char *items, size_t count,
                                                               size_t bytes, fv_comes_before *before)
{
    for (size_t i = 1; i <= count; i++)
        if (i == count || before(items + i * bytes, items + (i - 1) * bytes)) {
            FV_GROW(r->ends, r->room, r->count + 1);
            r->ends[r->count++] = i;
        }
}

/* The runs up to `middle` and up to `end` are one in `to`. */
static inline __attribute__((always_inline)) void fv_runs_merge(const char *from, size_t begin, size_t middle,
                                                                size_t end, char *to, size_t bytes,
                                                                fv_comes_before *before)
{
    size_t i = begin, k = middle;

    for (size_t at = begin; at < end; at++) {
        const bool is_first = k == end || (i < middle && !before(from + k * bytes, from + i * bytes));

        memcpy(to + at * bytes, from + (is_first ? i++ : k++) * bytes, bytes);
    }
}

/* `items` is of `room`, and becomes other memory. Equal ones stay in their order. */
static inline __attribute__((always_inline)) void *fv_runs_sort(void *items, size_t count, size_t room, size_t bytes,
                                                                fv_comes_before *before)
{
    struct fv_runs r = { 0 };
    char *from = items, *to;

    fv_runs_find(&r, from, count, bytes, before);
    to = r.count > 1 ? fv_xcalloc(room, bytes) : NULL;
    while (r.count > 1) {
        size_t merged = 0, begin = 0;
        char *other = from;

        for (size_t i = 0; i < r.count; i += 2) {
            const size_t middle = r.ends[i], end = i + 1 < r.count ? r.ends[i + 1] : middle;

            fv_runs_merge(from, begin, middle, end, to, bytes, before);
            r.ends[merged++] = begin = end;
        }
        r.count = merged;
        from = to;
        to = other;
    }
    free(to);
    free(r.ends);
    return from;
}

#endif
