/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the text report share. */
#include "views/text/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

size_t fv_text_losses_shown(const struct fv_page *p)
{
    return p->top > 20 ? p->top : 20;
}

void fv_text_table_begin(struct fv_text_table *t, const struct fv_page *p, const struct fv_profile *v,
                         const char *relation)
{
    struct fv_relation_place place;

    if (!fv_relations_find(fv_profile_relations, relation, &place)) {
        fv_log("the text has no table %s: there is no such relation", relation);
        abort();
    }
    fv_tables_init(&t->tables, v);
    fv_sheet_init(&t->sheet, p, place.chain[place.depth - 1], NULL, &t->tables);
}

struct sorted {
    double value;
    const void *row;
};

static int largest_first(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;

    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

const void **fv_text_table_sorted(struct fv_text_table *t, const void *parent, const char *key, size_t *count)
{
    const struct fv_relation *r = t->sheet.relation;
    const struct fv_flat_column *column = &t->sheet.flat.items[fv_flat_find(&t->sheet.flat, key, strlen(key))];
    size_t rows = *count = fv_relation_count(r, &t->tables, parent);
    struct sorted *sorted = fv_xcalloc(rows, sizeof(*sorted));
    const void **out = fv_xcalloc(rows, sizeof(*out));

    for (size_t i = 0; i < rows; i++) {
        const struct fv_flat_row at = { .row = fv_relation_row(r, &t->tables, parent, i) };
        const struct fv_value v = fv_flat_read(column, &t->tables, &at);

        sorted[i] = (struct sorted){ v.type == FV_TYPE_REAL ? v.real : (double)v.whole, at.row };
    }
    qsort(sorted, rows, sizeof(*sorted), largest_first);
    for (size_t i = 0; i < rows; i++)
        out[i] = sorted[i].row;
    free(sorted);
    return out;
}

void fv_text_table_end(struct fv_text_table *t, const char *noun, const char *more)
{
    fv_sheet_print(&t->sheet);
    if (noun)
        fv_sheet_cut(&t->sheet, noun, more);
    fv_sheet_release(&t->sheet);
    fv_tables_release(&t->tables);
}

struct fv_page fv_text_page(const struct fv_text_options *o, FILE *out)
{
    return (struct fv_page){ .out = out,
                             .width = o->width,
                             .top = o->top,
                             .brief = o->brief,
                             .color = o->color,
                             .utf8 = o->utf8,
                             .threshold = o->threshold };
}

size_t fv_text_few(const struct fv_page *p)
{
    return p->top == SIZE_MAX ? SIZE_MAX : (p->top + 1) / 2;
}

/* Words behind what begins their line; the further lines are `indent` columns in. */
static FV_PRINTF(3, 0) void put_clean(const struct fv_page *p, size_t indent, const char *format, va_list args)
{
    char text[2048], clean[2048];

    vsnprintf(text, sizeof(text), format, args);
    fv_page_words(p, fv_words_clean(text, clean, sizeof(clean)), indent);
}

char *fv_text_waiting_part(double wait_s, double mpi_s, bool more, enum fv_wait_kind kind, const char *remark,
                           char out[FV_TEXT_WAITING])
{
    char part[FV_WORD];

    if (kind == FV_WAIT_UNKNOWN || (more && wait_s < 0.001 * mpi_s))
        snprintf(out, FV_TEXT_WAITING, "of which it is not known how much is waiting");
    else
        snprintf(out, FV_TEXT_WAITING, "of which %s is waiting (%s%s%s)", fv_words_percent(wait_s, mpi_s, part),
                 fv_wait_kind_name(kind), remark, more ? "; perhaps more" : "");
    return out;
}

char *fv_text_polling_part(double polling_s, double total_s, char out[FV_TEXT_POLLING])
{
    char part[FV_WORD];

    *out = '\0';
    if (polling_s > FV_TEXT_TOLD * total_s)
        snprintf(out, FV_TEXT_POLLING, "polling %s, ", fv_words_percent(polling_s, total_s, part));
    return out;
}

void fv_text_note(const struct fv_page *p, enum fv_color color, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(p->out, "  %s%s%s ", fv_page_on(p, color), color == FV_RED ? "!" : "-", fv_page_off(p));
    put_clean(p, 4, format, args);
    va_end(args);
}

void fv_text_losses(const struct fv_page *p, const char *of, const struct fv_text_loss *rows, size_t count)
{
    char word[FV_WORD];

    for (size_t i = 0; i < count; i++)
        if (rows[i].count)
            fv_text_note(p, FV_YELLOW, "%s%s %s%s %s", of, fv_words_count(rows[i].count, word), rows[i].noun,
                         fv_words_s(rows[i].count), rows[i].what);
}

void fv_text_title(const struct fv_page *p, const char *title, const char *remark)
{
    fprintf(p->out, "\n  %s%s%s", fv_page_on(p, FV_BOLD), title, fv_page_off(p));
    if (*remark && strlen(title) + strlen(remark) + 4 <= p->width)
        fprintf(p->out, "  %s%s%s", fv_page_on(p, FV_DIM), remark, fv_page_off(p));
    putc('\n', p->out);
}

void fv_text_field(const struct fv_page *p, unsigned width, const char *name, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(p->out, "  %s%-*s%s ", fv_page_on(p, FV_DIM), (int)width, name, fv_page_off(p));
    put_clean(p, width + 3, format, args);
    va_end(args);
}

/* ---- call paths ---- */

void fv_text_frame(const struct fv_page *p, size_t indent, char *clean, bool inlined, const char *where)
{
    size_t room = p->width > indent + 20 ? p->width - indent : 20,
           taken = fv_words_columns(where) + (*where ? 2 : 0) + (inlined ? 10 : 0);

    fv_words_fit(clean, room > taken + 12 ? room - taken : 12);
    fprintf(p->out, "%*s%s%s%s%s%s%s\n", (int)indent, "", clean, inlined ? " [inlined]" : "", *where ? "  " : "",
            fv_page_on(p, FV_DIM), where, fv_page_off(p));
}

void fv_text_outer(const struct fv_page *p, size_t indent, size_t count)
{
    fprintf(p->out, "%*s%s... %zu outer frame%s; --all shows all%s\n", (int)indent, "", fv_page_on(p, FV_DIM), count,
            fv_words_s(count), fv_page_off(p));
}

void fv_text_path(const struct fv_page *p, const struct fv_profile *v, struct fv_path *path, uint32_t node,
                  size_t indent, size_t most)
{
    size_t depth = fv_page_all(p) ? SIZE_MAX : most;
    char label[512], clean[512], where[300];

    fv_path_of(path, v->symbols, node);
    for (size_t i = 0; i < path->count && i < depth; i++) {
        const struct fv_frame *f = &path->frames[i];

        fv_words_clean(fv_frame_label(f, v->symbols, label, sizeof(label)), clean, sizeof(clean));
        fv_frame_location(f, v->symbols, where, sizeof(where));
        fv_text_frame(p, indent, clean, f->inlined, where);
    }
    if (path->count > depth)
        fv_text_outer(p, indent, path->count - depth);
}

bool fv_text_serial(const struct fv_model *m)
{
    return !strcmp(m->mpi, "none") || m->calls_left_out;
}

void fv_text_relation(const struct fv_page *p, const struct fv_profile *v, const char *relation, const char *noun,
                      const char *about)
{
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, relation);
    size_t count = fv_relation_count(t.sheet.relation, &t.tables, v->model);
    for (size_t i = 0; i < count; i++) {
        const void *row = fv_relation_row(t.sheet.relation, &t.tables, v->model, i);

        if (row)
            fv_text_table_add(&t, row, FV_PLAIN);
    }
    if (t.sheet.table.rows)
        fv_page_heading(p, t.sheet.relation->title, about);
    fv_text_table_end(&t, noun, "");
}
