/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as a user lists them: "0-63,1024". */
#ifndef FV_SPANS_H
#define FV_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fv_spans {
    const char *text; /* as it was given; NULL: nothing was chosen, which is everything */
    struct fv_span {
        int64_t first, last;
    } * items;
    size_t count, room;
};

/* False: it is no such list, and nothing is in it. The text must outlive it. */
bool fv_spans_parse(struct fv_spans *out, const char *text);
bool fv_spans_have(const struct fv_spans *spans, int64_t number);
void fv_spans_release(struct fv_spans *spans);

#endif
