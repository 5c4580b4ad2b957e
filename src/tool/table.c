/* SPDX-License-Identifier: BSD-3-Clause */
/* See table.h. */
#include "tool/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GAP      2  /* between columns */
#define SHORTEST 12 /* a name is not cut below this */

/* ---- the page ---- */

const char *fv_page_on(const struct fv_page *p, enum fv_color color)
{
    static const char *const codes[] = { "", "\033[1m", "\033[2m", "\033[31m", "\033[33m", "\033[32m", "\033[36m" };

    return p->color ? codes[color] : "";
}

const char *fv_page_off(const struct fv_page *p)
{
    return p->color ? "\033[0m" : "";
}

void fv_page_heading(const struct fv_page *p, const char *title, const char *remark)
{
    fprintf(p->out, "\n%s%s%s", fv_page_on(p, FV_BOLD), title, fv_page_off(p));
    if (remark && *remark && strlen(title) + strlen(remark) + 2 <= p->width)
        fprintf(p->out, "  %s%s%s\n", fv_page_on(p, FV_DIM), remark, fv_page_off(p));
    else if (remark && *remark) {
        fputs("\n  ", p->out);
        fv_page_words(p, remark, 2);
    } else
        putc('\n', p->out);
}

void fv_page_words(const struct fv_page *p, const char *text, size_t indent)
{
    size_t at = indent;

    while (*text) {
        size_t bytes = strcspn(text, " "), columns = 0;

        for (size_t i = 0; i < bytes; i++)
            columns += (text[i] & 0xc0) != 0x80;
        if (at > indent && at + 1 + columns > p->width) {
            fprintf(p->out, "\n%*s", (int)indent, "");
            at = indent;
        }
        if (at > indent) {
            putc(' ', p->out);
            at++;
        }
        fwrite(text, 1, bytes, p->out);
        at += columns;
        text += bytes;
        text += strspn(text, " ");
    }
    putc('\n', p->out);
}

static FV_PRINTF(5, 0) void put_words(const struct fv_page *p, enum fv_color color, size_t indent, size_t further,
                                      const char *format, va_list args)
{
    char *text;
    int bytes = vasprintf(&text, format, args);

    if (bytes < 0)
        return;
    char *clean = fv_xcalloc(4 * (size_t)bytes + 1, 1);
    fprintf(p->out, "%*s%s", (int)indent, "", fv_page_on(p, color));
    fv_page_words(p, fv_words_clean(text, clean, 4 * (size_t)bytes + 1), indent + further);
    fputs(color == FV_PLAIN ? "" : fv_page_off(p), p->out);
    free(clean);
    free(text);
}

void fv_page_paragraph(const struct fv_page *p, enum fv_color color, size_t indent, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_words(p, color, indent, 0, format, args);
    va_end(args);
}

void fv_page_item(const struct fv_page *p, enum fv_color color, size_t indent, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_words(p, color, indent, 2, format, args);
    va_end(args);
}

const char *fv_page_more(const struct fv_page *p, size_t shown)
{
    return p->threshold > 0 && shown < p->top ? "a smaller --threshold" : "--all";
}

void fv_page_cut(const struct fv_page *p, size_t shown, size_t all, const char *noun, const char *more)
{
    char count[FV_WORD];

    if (shown < all)
        fv_page_paragraph(p, FV_DIM, 2, "... %s%s %s%s%s; %s shows %s", fv_words_count(all - shown, count),
                          shown ? " more" : "", noun, fv_words_plural(noun, all - shown), more, fv_page_more(p, shown),
                          all - shown == 1 ? "it" : "them");
}

/* ---- the table ---- */

void fv_table_init(struct fv_table *t, const struct fv_column *columns, size_t count)
{
    *t = (struct fv_table){ .columns = columns, .column_count = count };
}

void fv_table_release(struct fv_table *t)
{
    free(t->cells);
    free(t->colors);
    free(t->cell_colors);
    free(t->remarks);
    fv_arena_release(&t->arena);
    *t = (struct fv_table){ 0 };
}

void fv_table_row(struct fv_table *t, enum fv_color color)
{
    FV_GROW(t->cells, t->room, (t->rows + 1) * t->column_count);
    FV_GROW(t->colors, t->color_room, t->rows + 1);
    FV_GROW(t->cell_colors, t->cell_color_room, (t->rows + 1) * t->column_count);
    for (size_t i = 0; i < t->column_count; i++) {
        t->cells[t->rows * t->column_count + i] = "";
        t->cell_colors[t->rows * t->column_count + i] = FV_PLAIN;
    }
    FV_GROW(t->remarks, t->remark_room, t->rows + 1);
    t->remarks[t->rows] = NULL;
    t->colors[t->rows++] = color;
}

void fv_table_color(struct fv_table *t, size_t column, enum fv_color color)
{
    t->cell_colors[(t->rows - 1) * t->column_count + column] = (uint8_t)color;
}

void fv_table_set(struct fv_table *t, size_t column, const char *format, ...)
{
    char *text;
    va_list args;

    va_start(args, format);
    int bytes = vasprintf(&text, format, args);
    va_end(args);
    if (bytes < 0)
        return;
    char *clean = fv_xcalloc(4 * (size_t)bytes + 1, 1);
    t->cells[(t->rows - 1) * t->column_count + column] =
        fv_arena_string(&t->arena, fv_words_clean(text, clean, 4 * (size_t)bytes + 1));
    free(clean);
    free(text);
}

void fv_table_remark(struct fv_table *t, const char *text)
{
    size_t bytes = 4 * strlen(text) + 1;
    char *clean = fv_xcalloc(bytes, 1);

    fv_table_row(t, FV_DIM);
    t->remarks[t->rows - 1] = fv_arena_string(&t->arena, fv_words_clean(text, clean, bytes));
    free(clean);
}

static bool is_empty(const struct fv_table *t, size_t column)
{
    for (size_t r = 0; r < t->rows; r++)
        if (t->cells[r * t->column_count + column][0])
            return false;
    return true;
}

static size_t sum_widths(const struct fv_table *t, const size_t *widths)
{
    size_t sum = 0;

    for (size_t c = 0; c < t->column_count; c++)
        sum += widths[c] ? widths[c] + GAP : 0;
    return sum;
}

/* Cuts the widest names first, then leaves out the lightest columns. */
static void fit(const struct fv_table *t, size_t *widths, size_t page_width)
{
    while (sum_widths(t, widths) > page_width) {
        size_t widest = SIZE_MAX, lightest = SIZE_MAX;

        for (size_t c = 0; c < t->column_count; c++) {
            const struct fv_column *col = &t->columns[c];

            if (col->flexible && widths[c] > SHORTEST && (widest == SIZE_MAX || widths[c] > widths[widest]))
                widest = c;
            if (col->weight && widths[c] && (lightest == SIZE_MAX || col->weight < t->columns[lightest].weight))
                lightest = c;
        }
        bool roomy = widest != SIZE_MAX && widths[widest] > 24;
        if (widest != SIZE_MAX && (roomy || lightest == SIZE_MAX))
            widths[widest]--;
        else if (lightest != SIZE_MAX)
            widths[lightest] = 0;
        else
            break;
    }
}

/* Would two names that differ look the same, cut at their ends? */
static bool ends_differ(const struct fv_table *t, size_t column, size_t width)
{
    struct fv_index index = { 0 };
    bool found = false;

    for (size_t r = 0; r < t->rows && !found; r++) {
        const char *text = t->cells[r * t->column_count + column];
        size_t bytes = fv_words_prefix(text, width - 3);

        if (fv_words_columns(text) <= width)
            continue;
        struct fv_index_probe p = fv_index_probe(&index, fv_hash_bytes(text, bytes));
        for (uint32_t i; !found && (i = fv_index_next(&p)) != FV_NONE;) {
            const char *other = t->cells[i * t->column_count + column];

            found = !strncmp(other, text, bytes) && strcmp(other, text) != 0;
        }
        fv_index_add(&index, fv_hash_bytes(text, bytes), (uint32_t)r);
    }
    fv_index_release(&index);
    return found;
}

static void print_cell(const struct fv_page *p, const struct fv_column *c, const char *text, size_t width, bool middle,
                       bool last)
{
    size_t bytes = strlen(text) + 1;
    char *clean = memcpy(fv_xcalloc(bytes, 1), text, bytes);

    (c->is_file ? fv_words_fit_path : middle ? fv_words_fit_middle : fv_words_fit)(clean, width);
    size_t pad = width - fv_words_columns(clean);
    if (!c->left)
        fprintf(p->out, "%*s", (int)pad, "");
    fputs(clean, p->out);
    if (c->left && !last)
        fprintf(p->out, "%*s", (int)pad, "");
    free(clean);
}

static void print_row(const struct fv_table *t, const struct fv_page *p, const size_t *widths, const bool *middle,
                      size_t row)
{
    size_t last = 0;

    for (size_t c = 0; c < t->column_count; c++)
        last = widths[c] ? c : last;
    fputs(row == SIZE_MAX ? fv_page_on(p, FV_DIM) : fv_page_on(p, t->colors[row]), p->out);
    for (size_t c = 0; c < t->column_count; c++) {
        if (!widths[c])
            continue;
        const enum fv_color color = row == SIZE_MAX ? FV_PLAIN : t->cell_colors[row * t->column_count + c];
        fprintf(p->out, "%*s%s", GAP, "", fv_page_on(p, color));
        print_cell(p, &t->columns[c], row == SIZE_MAX ? t->columns[c].title : t->cells[row * t->column_count + c],
                   widths[c], middle[c], c == last);
        if (color != FV_PLAIN)
            fprintf(p->out, "%s%s", fv_page_off(p), fv_page_on(p, t->colors[row]));
    }
    fprintf(p->out, "%s\n", fv_page_off(p));
}

static void say_hidden(const struct fv_table *t, const struct fv_page *p, const size_t *widths)
{
    char text[512];
    size_t used = 0, more = 0;

    for (size_t c = 0; c < t->column_count; c++) {
        if (widths[c] || is_empty(t, c))
            continue;
        if (used + strlen(t->columns[c].title) + 64 > sizeof(text))
            more++;
        else
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                     used ? ", " : "columns left out: ", t->columns[c].title);
    }
    if (!used)
        return;
    if (more)
        used += (size_t)snprintf(text + used, sizeof(text) - used, " and %zu more", more);
    fprintf(p->out, "  %s", fv_page_on(p, FV_DIM));
    snprintf(text + used, sizeof(text) - used, "; a larger --width shows them");
    fv_page_words(p, text, 2);
    fputs(fv_page_off(p), p->out);
}

void fv_table_print(const struct fv_table *t, const struct fv_page *p)
{
    size_t *widths = fv_xcalloc(t->column_count, sizeof(*widths));

    for (size_t c = 0; c < t->column_count; c++) {
        if (is_empty(t, c) && !t->keeps_empty)
            continue;
        widths[c] = fv_words_columns(t->columns[c].title);
        for (size_t r = 0; r < t->rows; r++) {
            size_t columns = fv_words_columns(t->cells[r * t->column_count + c]);

            widths[c] = columns > widths[c] ? columns : widths[c];
        }
    }
    fit(t, widths, p->width);
    bool *middle = fv_xcalloc(t->column_count, sizeof(*middle));

    for (size_t c = 0; c < t->column_count; c++)
        middle[c] = t->columns[c].flexible && widths[c] > 3 && ends_differ(t, c, widths[c]);
    print_row(t, p, widths, middle, SIZE_MAX);
    for (size_t r = 0; r < t->rows; r++)
        if (t->remarks[r])
            fv_page_item(p, t->colors[r], 2 * GAP, "%s", t->remarks[r]);
        else
            print_row(t, p, widths, middle, r);
    say_hidden(t, p, widths);
    free(middle);
    free(widths);
}
