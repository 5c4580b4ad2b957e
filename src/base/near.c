/* SPDX-License-Identifier: BSD-3-Clause */
/* See near.h. */
#include "base/near.h"

#include <string.h>

static unsigned edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned row[64];

    if (a_length >= 64 || b_length >= 64)
        return 64;
    for (unsigned j = 0; j <= b_length; j++)
        row[j] = j;
    for (unsigned i = 0; i < a_length; i++) {
        unsigned diagonal = row[0]; /* of the row above, one to the left */
        row[0] = i + 1;
        for (unsigned j = 0; j < b_length; j++) {
            unsigned best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            if (diagonal + 1 < best)
                best = diagonal + 1;
            if (row[j] + 1 < best)
                best = row[j] + 1;
            row[j + 1] = best;
        }
    }
    return row[b_length];
}

void fv_near_try(struct fv_near *n, const char *name, const void *item)
{
    unsigned needed = edits(name, strlen(name), n->word, n->length);

    if (!n->item || needed < n->edits) {
        n->edits = needed;
        n->item = item;
    }
}

const void *fv_near_item(const struct fv_near *n, size_t common)
{
    return n->length > common && n->edits <= 1 + (n->length - common) / 3 ? n->item : NULL;
}
