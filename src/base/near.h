/* SPDX-License-Identifier: BSD-3-Clause */
/* "Did you mean ...?": which of several names a word was meant to be, by the fewest edits (Levenshtein). */
#ifndef FV_NEAR_H
#define FV_NEAR_H

#include <stddef.h>

struct fv_near {
    const char *word;
    size_t length;
    const void *item; /* of the nearest name so far; NULL: there was none */
    unsigned edits;   /* of that name; words past 63 bytes are far from all */
};

void fv_near_try(struct fv_near *near, const char *name, const void *item);
/* The item, if its name is near enough to be told; NULL: it is not. `common`: so many bytes begin all names.
 */
const void *fv_near_item(const struct fv_near *near, size_t common);

#endif
