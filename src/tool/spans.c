/* SPDX-License-Identifier: BSD-3-Clause */
/* See spans.h. */
#include "tool/spans.h"
#include "tool/vec.h"

#include <stdlib.h>

bool fv_spans_parse(struct fv_spans *out, const char *text)
{
    *out = (struct fv_spans){ .text = text };
    for (const char *p = text;; p++) {
        struct fv_span span;
        char *end;

        span.first = span.last = strtol(p, &end, 10);
        if (end != p && *end == '-') {
            p = end + 1;
            span.last = strtol(p, &end, 10);
        }
        if (end == p || (*end && *end != ',') || span.first < 0 || span.last < span.first) {
            fv_spans_release(out);
            return false;
        }
        FV_GROW(out->items, out->room, out->count + 1);
        out->items[out->count++] = span;
        if (!*end)
            return true;
        p = end;
    }
}

bool fv_spans_have(const struct fv_spans *s, int64_t number)
{
    bool found = !s->text;

    for (size_t i = 0; i < s->count && !found; i++)
        found = number >= s->items[i].first && number <= s->items[i].last;
    return found;
}

void fv_spans_release(struct fv_spans *s)
{
    free(s->items);
    *s = (struct fv_spans){ 0 };
}
