/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables for a terminal: columns as wide as what is in them, names cut to fit the width, in the middle where only their
 * ends differ, and columns of little weight left out, with a word about it, where even that does not do. */
#ifndef FV_TABLE_H
#define FV_TABLE_H

#include "tool/vec.h"
#include "tool/words.h"

enum fv_color { FV_PLAIN, FV_BOLD, FV_DIM, FV_RED, FV_YELLOW, FV_GREEN, FV_CYAN };

struct fv_page {
    FILE *out;
    size_t width, top;
    bool brief; /* nobody asked for `top` rows: short sections may show less */
    bool color, utf8;
    double threshold; /* rows with a smaller share of the whole are left out; 0: none */
};
/* Escape sequences; "" without color. */
const char *fv_page_on(const struct fv_page *page, enum fv_color color);
const char *fv_page_off(const struct fv_page *page);
void fv_page_heading(const struct fv_page *page, const char *title, const char *remark);
/* Is everything asked for, however little it is? A threshold asks for less. */
static inline bool fv_page_all(const struct fv_page *page)
{
    return page->top == SIZE_MAX && !(page->threshold > 0);
}
/* The option that shows what is left out of a table of which `shown` rows are there. */
const char *fv_page_more(const struct fv_page *page, size_t shown);
/* "... 12 more rows of it; --all shows them", if any are: noun "row", more " of it". */
void fv_page_cut(const struct fv_page *page, size_t shown, size_t all, const char *noun, const char *more);
/* Prints words with line breaks at the page's width; lines after the first are indented. */
void fv_page_words(const struct fv_page *page, const char *text, size_t indent);
/* Words of their own, `indent` columns in: all lines, or the first one, with the others 2 columns further in.
 */
void fv_page_paragraph(const struct fv_page *page, enum fv_color color, size_t indent, const char *format, ...)
    FV_PRINTF(4, 5);
void fv_page_item(const struct fv_page *page, enum fv_color color, size_t indent, const char *format, ...)
    FV_PRINTF(4, 5);

struct fv_column {
    const char *title;
    bool left;      /* aligned to the left; numbers to the right */
    bool flexible;  /* a name, that may be cut to fit */
    uint8_t weight; /* left out before those of more weight; 0: never */
    bool is_file;   /* of a flexible one: paths, of which the ends stay */
};
struct fv_table {
    const struct fv_column *columns;
    size_t column_count;
    char **cells;
    enum fv_color *colors; /* of rows */
    uint8_t *cell_colors;  /* as `cells`: of cells, in place of their row's; FV_PLAIN: the row's */
    const char **remarks;  /* of rows: words in place of cells; NULL */
    size_t rows, room, color_room, cell_color_room, remark_room;
    bool keeps_empty; /* columns are shown although nothing stands in them */
    struct fv_arena arena;
};
void fv_table_init(struct fv_table *table, const struct fv_column *columns, size_t count);
/* A new row; cells are set by fv_table_set() in any order and are empty before. */
void fv_table_row(struct fv_table *table, enum fv_color color);
void fv_table_set(struct fv_table *table, size_t column, const char *format, ...) FV_PRINTF(3, 4);
void fv_table_color(struct fv_table *table, size_t column, enum fv_color color); /* of one cell of the last row */
/* Words that belong to the row above, as wide as the page. */
void fv_table_remark(struct fv_table *table, const char *text);
void fv_table_print(const struct fv_table *table, const struct fv_page *page);
void fv_table_release(struct fv_table *table);

#endif
