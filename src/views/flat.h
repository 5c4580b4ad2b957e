/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns of a relation in a flat form, looked up once for all rows; and values as words. */
#ifndef FV_FLAT_H
#define FV_FLAT_H

#include "tool/relation.h"
#include "tool/vec.h"

struct fv_flat_column {
    const struct fv_column_def *column;
    const struct fv_column_def *kind; /* of FV_AS_KIND: the column that says whether it is an estimate; NULL: none */
    bool outer;                       /* of the parent */
    char key[FV_KEY_BYTES];
};
struct fv_flat {
    struct fv_flat_column *items;
    size_t count;
};
void fv_flat_init(struct fv_flat *flat, const struct fv_relation *relation);
void fv_flat_release(struct fv_flat *flat);
/* Columns by their keys, "A B/N" or "A,B" (fv_relation.shown), NULL or "": all; with their weights. Both have
 * room for flat.count. Returns how many there are. */
size_t fv_flat_choose(const struct fv_flat *flat, const char *keys, size_t *chosen, uint8_t *weights);
/* Index of the column with that key; SIZE_MAX: there is none. */
size_t fv_flat_find(const struct fv_flat *flat, const char *key, size_t bytes);
/* Of the first column with that title, as text prints it; so many others have it, too. */
size_t fv_flat_find_titled(const struct fv_flat *flat, const char *title, size_t bytes, size_t *others);

static inline struct fv_value fv_flat_read(const struct fv_flat_column *c, void *subject, const struct fv_flat_row *row)
{
    return fv_column_value(c->column, subject, c->outer ? row->parent : row->row);
}
/* The same, and whether it is an estimate. */
struct fv_value fv_flat_judge(const struct fv_flat_column *c, void *subject, const struct fv_flat_row *row);

/* Keys and lists as words, whole: "00c0ffee00c0ffee", "0-3, 7", "0-8/2" (every second), "0.1 0.2". Returns out's text;
 * other types are the caller's. */
const char *fv_flat_text(const struct fv_value *value, struct fv_string *out);

#endif
