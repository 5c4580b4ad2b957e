/* SPDX-License-Identifier: BSD-3-Clause */
/* See chunks.h. */
#include "experiment/chunks.h"
#include "tool/vec.h"

#include <stdlib.h>

static int by_first(const void *a, const void *b)
{
    const struct fv_chunk *x = *(const struct fv_chunk *const *)a, *y = *(const struct fv_chunk *const *)b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

const struct fv_chunk **fv_thread_chunks(const struct fv_reader *reader, uint32_t thread,
                                         bool (*is_wanted)(const struct fv_chunk *chunk), size_t *count)
{
    size_t all, room = 0;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &all), **out = NULL;

    *count = 0;
    for (size_t i = 0; i < all; i++) {
        if (chunk[i].thread != thread || !is_wanted(&chunk[i]))
            continue;
        out = fv_grow(out, &room, *count + 1, sizeof(*out));
        out[(*count)++] = &chunk[i];
    }
    if (*count)
        qsort(out, *count, sizeof(*out), by_first);
    return out;
}
