/* SPDX-License-Identifier: BSD-3-Clause */
/* See labels.h. */
#include "merge/labels.h"
#include "trace/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *fv_labels_text(const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_LABELS);
    size_t used = 0, room = 0;
    char *out = NULL;

    FV_GROW(out, room, 1);
    for (const struct fv_label_record *l; (l = fv_cursor_next(&c));) {
        FV_GROW(out, room, used + l->text_bytes + 32);
        used += (size_t)sprintf(out + used, "%" PRIu64 "\t", l->ticks);
        for (size_t i = 0; i < l->text_bytes; i++)
            out[used++] = l->text[i] == '\n' || !l->text[i] ? ' ' : l->text[i];
        out[used++] = '\n';
    }
    out[used] = '\0';
    return out;
}

static int by_time(const void *a, const void *b)
{
    const struct fv_label *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

struct fv_label *fv_labels_of_all(const struct fv_defs *d, const struct fv_clocks *clocks, size_t *count)
{
    struct fv_label *all = NULL;
    size_t room = 0;

    *count = 0;
    for (uint32_t i = 0; i < d->rank_count; i++) {
        uint32_t piece = 0;

        for (const char *at = d->ranks[i].labels, *end; (end = strchr(at, '\n')); at = end + 1) {
            const char *text = strchr(at, '\t') + 1;
            int64_t ns = fv_clock_ns(&clocks->lines[clocks->of_rank[i]], strtoull(at, NULL, 10), &piece);

            FV_GROW(all, room, *count + 1);
            all[(*count)++] = (struct fv_label){ ns > 0 ? (uint64_t)ns : 0, i, text, (size_t)(end - text) };
        }
    }
    if (*count)
        qsort(all, *count, sizeof(*all), by_time);
    return all;
}
