/* SPDX-License-Identifier: BSD-3-Clause */
/* What the sections of the text report share. */
#ifndef FV_TEXT_H
#define FV_TEXT_H

#include "profile/places.h"
#include "profile/relations.h"
#include "tool/table.h"
#include "views/sheet.h"
#include "views/views.h"

/* A table of the report: rows of a relation, in the columns that it shows (fv_relation.shown). */
struct fv_text_table {
    struct fv_tables tables;
    struct fv_sheet sheet;
};
void fv_text_table_begin(struct fv_text_table *table, const struct fv_page *page, const struct fv_profile *view,
                         const char *relation);
/* As fv_sheet_add(): all rows that there are, in their order; the table takes what is to be shown. */
static inline bool fv_text_table_add(struct fv_text_table *t, const void *row, enum fv_color color)
{
    return fv_sheet_add(&t->sheet, NULL, row, color);
}
/* The rows of its relation, which stand in an array, by a column, largest first; to be freed by free(). */
const void **fv_text_table_sorted(struct fv_text_table *table, const void *parent, const char *key, size_t *count);
/* Prints it, unless it has no rows, and how many were left out ("function", " of it"; NULL: is not said), and
 * releases it. */
void fv_text_table_end(struct fv_text_table *table, const char *noun, const char *more);
/* All of that, with a heading, of a relation that has rows. */
void fv_text_relation(const struct fv_page *page, const struct fv_profile *view, const char *relation, const char *noun,
                      const char *about);

struct fv_page fv_text_page(const struct fv_text_options *options, FILE *out);
/* "of which 12.3 % is waiting (exact)"; `remark` stands behind "exact", `more`: it may be more. Returns out. */
#define FV_TEXT_WAITING 160
char *fv_text_waiting_part(double wait_s, double mpi_s, bool more, enum fv_wait_kind kind, const char *remark,
                           char out[FV_TEXT_WAITING]);
/* A part of the time that is said, if it is not less. */
#define FV_TEXT_TOLD 0.001
/* "polling 12.3 %, ", or nothing. Returns out. */
#define FV_TEXT_POLLING 40
char *fv_text_polling_part(double polling_s, double total_s, char out[FV_TEXT_POLLING]);
/* Rows of the less important tables. */
size_t fv_text_few(const struct fv_page *page);
/* A remark with a mark before it, "!" if it is red, else "-". */
void fv_text_note(const struct fv_page *page, enum fv_color color, const char *format, ...) FV_PRINTF(3, 4);
/* What was lost, a remark for each row that has any: of, count, noun, what. */
struct fv_text_loss {
    uint64_t count;
    const char *noun, *what;
};
void fv_text_losses(const struct fv_page *page, const char *of, const struct fv_text_loss *rows, size_t count);
/* Of a table within a section. */
void fv_text_title(const struct fv_page *page, const char *title, const char *remark);
/* A name, `width` columns wide, and what there is to say. */
void fv_text_field(const struct fv_page *page, unsigned width, const char *name, const char *format, ...)
    FV_PRINTF(4, 5);
/* A frame of a call path; `clean` is cut to fit. */
void fv_text_frame(const struct fv_page *page, size_t indent, char *clean, bool inlined, const char *where);
/* How many frames further out there are. */
void fv_text_outer(const struct fv_page *page, size_t indent, size_t count);
/* The frames of a call path, innermost first: not more than `most`, unless all is asked for. */
void fv_text_path(const struct fv_page *page, const struct fv_profile *view, struct fv_path *path, uint32_t node,
                  size_t indent, size_t most);

/* A program without MPI, or whose calls of it were left out: sections that speak of MPI alone are left out. */
bool fv_text_serial(const struct fv_model *model);
/* How many lines tell what went wrong, also with a small --top. */
size_t fv_text_losses_shown(const struct fv_page *page);

/* A section of the report: FV_TEXT_SECTION(io) { ... } defines fv_text_io(p, v), which prints it, or nothing where
 * nothing was recorded. text.c has their order. */
typedef void fv_text_section(const struct fv_page *p, const struct fv_profile *v);
#define FV_TEXT_SECTION(name)       \
    fv_text_section fv_text_##name; \
    void fv_text_##name(const struct fv_page *p, const struct fv_profile *v)

#endif
