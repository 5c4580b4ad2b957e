/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of text whose columns are those of a relation: heading, unit, alignment, form and value of each
 * cell come from the column's definition. Nothing else fills tables. */
#ifndef FV_SHEET_H
#define FV_SHEET_H

#include "tool/table.h"
#include "views/flat.h"

struct fv_sheet {
    const struct fv_page *page;
    const struct fv_relation *relation;
    void *subject;
    struct fv_flat flat;
    size_t *shown; /* indices in flat */
    struct fv_column *columns;
    struct fv_table table;
    struct fv_string text; /* of the cell that is being filled */
    size_t share;          /* in flat: what --threshold is compared with; SIZE_MAX: nothing */
    size_t marked;         /* in flat: keys of the columns whose cells stand out (column "marked"); SIZE_MAX: nothing */
    size_t top;            /* at most so many rows are shown; the page's, unless it is changed before the first */
    double least;          /* rows with a smaller share are left out; the page's threshold, likewise */
    size_t shown_rows, all_rows;
};

/* The relation's own choice of columns under their titles. `keys`, if not NULL: those, with blanks or commas
 * between them, under their keys; "": all. Keys that there are not are left out. The page must live as long.
 */
void fv_sheet_init(struct fv_sheet *sheet, const struct fv_page *page, const struct fv_relation *relation,
                   const char *keys, void *subject);
void fv_sheet_release(struct fv_sheet *sheet);

/* A column that says nothing here is not shown. */
void fv_sheet_hide(struct fv_sheet *sheet, const char *key);
/* Counts a row. True: it is to be shown, as there are not `top` yet and its share of the whole (fv_relation.share) is
 * not below `least`. `parent`: NULL if no column is of it. `row`: NULL is left out. */
bool fv_sheet_choose(struct fv_sheet *sheet, const void *parent, const void *row);
/* Adds a row that was chosen, in any order. */
void fv_sheet_put(struct fv_sheet *sheet, const void *parent, const void *row, enum fv_color color);
/* Both: adds a row if it is chosen. */
bool fv_sheet_add(struct fv_sheet *sheet, const void *parent, const void *row, enum fv_color color);
/* The same of values that were read before, one for each column. */
void fv_sheet_add_values(struct fv_sheet *sheet, const struct fv_value *values, enum fv_color color);
/* A cell of the last row stands out, if its column is shown. `bytes` of its key. */
void fv_sheet_mark(struct fv_sheet *sheet, const char *key, size_t bytes);
/* Words that belong to the row above, as wide as the page. */
void fv_sheet_remark(struct fv_sheet *sheet, const char *text);
/* Nothing, if there are no rows. */
void fv_sheet_print(const struct fv_sheet *sheet);
/* How many rows were left out, as fv_page_cut() says it. */
void fv_sheet_cut(const struct fv_sheet *sheet, const char *noun, const char *more);

#endif
