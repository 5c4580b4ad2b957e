/* SPDX-License-Identifier: BSD-3-Clause */
/* See sheet.h. */
#include "views/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRIP 60 /* columns of a drawing, at most */

/* ---- columns ---- */

static bool is_drawn(const struct fv_column_def *c)
{
    return c->type == FV_TYPE_REALS && !strcmp(c->unit, "share");
}

/* Words of a few are as wide as they are; others may be cut. */
static struct fv_column column_of(const struct fv_flat_column *of, bool key, uint8_t weight)
{
    const struct fv_column_def *c = of->column;
    bool words = (c->type == FV_TYPE_TEXT || c->type > FV_TYPE_HEX) && !(c->flags & FV_AMOUNT), drawn = is_drawn(c);

    return (struct fv_column){ key ? of->key : c->title, words || c->type == FV_TYPE_TRUTH,
                               words && !drawn && !c->words, weight, c->flags & FV_FILE };
}

void fv_sheet_init(struct fv_sheet *s, const struct fv_page *page, const struct fv_relation *r, const char *keys,
                   void *subject)
{
    const char *chosen = keys ? keys : r->shown;

    *s = (struct fv_sheet){
        .page = page, .relation = r, .subject = subject, .top = page->top, .least = page->threshold
    };
    fv_flat_init(&s->flat, r);
    s->share = r->share ? fv_flat_find(&s->flat, r->share, strlen(r->share)) : SIZE_MAX;
    s->marked = fv_flat_find(&s->flat, "marked", strlen("marked"));
    uint8_t *weights = fv_xcalloc(s->flat.count + 1, sizeof(*weights));
    s->shown = fv_xcalloc(s->flat.count + 1, sizeof(*s->shown));
    s->columns = fv_xcalloc(s->flat.count + 1, sizeof(*s->columns));
    size_t count = fv_flat_choose(&s->flat, chosen, s->shown, weights);
    for (size_t i = 0; i < count; i++)
        s->columns[i] = column_of(&s->flat.items[s->shown[i]], keys, weights[i]);
    free(weights);
    fv_table_init(&s->table, s->columns, count);
}

void fv_sheet_release(struct fv_sheet *s)
{
    fv_table_release(&s->table);
    fv_flat_release(&s->flat);
    fv_string_release(&s->text);
    free(s->shown);
    free(s->columns);
    *s = (struct fv_sheet){ 0 };
}

void fv_sheet_hide(struct fv_sheet *s, const char *key)
{
    size_t at = fv_flat_find(&s->flat, key, strlen(key)), count = 0;

    for (size_t i = 0; i < s->table.column_count; i++)
        if (s->shown[i] != at) {
            s->shown[count] = s->shown[i];
            s->columns[count++] = s->columns[i];
        }
    s->table.column_count = count;
}

/* ---- cells ---- */

/* Shares over time as a strip. */
static void draw(const struct fv_page *p, const struct fv_value *v, char out[4 * STRIP])
{
    static const char *const drawn[] = { " ",
                                         "\xe2\x96\x81",
                                         "\xe2\x96\x82",
                                         "\xe2\x96\x83",
                                         "\xe2\x96\x84",
                                         "\xe2\x96\x85",
                                         "\xe2\x96\x86",
                                         "\xe2\x96\x87",
                                         "\xe2\x96\x88" };
    static const char *const plain[] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };
    size_t columns = p->width < 90 ? 20 : p->width < 70 + STRIP ? p->width - 70 : STRIP;
    const double *shares = v->items;

    out[0] = '\0';
    for (size_t i = 0; i < columns; i++) {
        size_t from = i * v->count / columns, to = (i + 1) * v->count / columns;
        double sum = 0;

        for (size_t k = from; k < to; k++)
            sum += shares[k];
        double share = to > from ? sum / (double)(to - from) : 0;
        unsigned level = share <= 0.005 ? 0 : share >= 1 ? 8 : (unsigned)(share * 8) + (share < 1);
        strcat(out, (p->utf8 ? drawn : plain)[level]);
    }
}

static const char *real_word(const char *unit, double real, char out[FV_WORD])
{
    if ((!strcmp(unit, "s") && real < -1e-9) || (!strcmp(unit, "bytes") && real <= -0.5)) {
        char positive[FV_WORD];

        snprintf(out, FV_WORD, "-%.*s", FV_WORD - 2, real_word(unit, -real, positive));
        return out;
    }
    if (!strcmp(unit, "s"))
        return fv_words_seconds(real, out);
    if (!strcmp(unit, "share"))
        return fv_words_percent(real, 1, out);
    if (!strcmp(unit, "bytes"))
        return fv_words_bytes(fv_words_whole(real), out);
    if (!strcmp(unit, "count"))
        return fv_words_mean(real, out);
    if (!strcmp(unit, "percent"))
        snprintf(out, FV_WORD, fabs(real) < 1000 ? "%.3g" : "%.0f", real);
    else
        snprintf(out, FV_WORD, strcmp(unit, "ratio") ? "%.4g" : real < 100 ? "%.2f" : "%.0f", real);
    return out;
}

static const char *whole_word(const char *unit, uint64_t whole, char out[FV_WORD])
{
    if (!strcmp(unit, "bytes"))
        return fv_words_bytes(whole, out);
    if (strcmp(unit, "id"))
        return fv_words_count(whole, out);
    snprintf(out, FV_WORD, "%llu", (unsigned long long)whole);
    return out;
}

static const char *brief(const char *name, struct fv_string *out)
{
    size_t bytes = 4 * strlen(name) + 1;

    FV_GROW(out->text, out->room, bytes);
    return fv_words_brief(name, out->text, bytes);
}

static const char *words_of(struct fv_sheet *s, const struct fv_column_def *c, const struct fv_value *v,
                            char out[4 * STRIP])
{
    switch (v->type) {
    case FV_TYPE_WHOLE: return whole_word(c->unit, v->whole, out);
    case FV_TYPE_REAL: return real_word(c->unit, v->real, out);
    case FV_TYPE_NUMBER:
        if (c->flags & FV_IS_RANK && v->number < 0)
            return "(another job)"; /* spawned or connected processes */
        snprintf(out, FV_WORD, "%lld", (long long)v->number);
        return out;
    case FV_TYPE_TRUTH: return c->flags & FV_BLANK ? "*" : v->truth ? "true" : "false";
    case FV_TYPE_TEXT: return c->flags & FV_NAME ? brief(v->text, &s->text) : v->text;
    default: break;
    }
    if (v->type != FV_TYPE_REALS || !is_drawn(c))
        return fv_flat_text(v, &s->text);
    draw(s->page, v, out);
    return out;
}

static bool is_zero(const struct fv_value *v)
{
    return v->type == FV_TYPE_REAL    ? v->real == 0
           : v->type == FV_TYPE_TRUTH ? !v->truth
                                      : v->type <= FV_TYPE_NUMBER && !v->whole;
}

static void set(struct fv_sheet *s, size_t column, const struct fv_value *v)
{
    const struct fv_column_def *c = s->flat.items[s->shown[column]].column;
    char text[4 * STRIP];

    if (v->null && v->below)
        fv_table_set(&s->table, column, "< %s", real_word(c->unit, v->real, text));
    else if (!v->null && !(c->flags & FV_BLANK && is_zero(v)))
        fv_table_set(&s->table, column, "%s%s", v->estimate && !is_zero(v) ? "~" : "", words_of(s, c, v, text));
}

void fv_sheet_mark(struct fv_sheet *s, const char *key, size_t bytes)
{
    const size_t at = fv_flat_find(&s->flat, key, bytes);

    for (size_t i = 0; i < s->table.column_count; i++)
        if (s->shown[i] == at)
            fv_table_color(&s->table, i, FV_YELLOW);
}

/* The cells that the row names, "l1_s ipc", and why. */
static void mark_cells(struct fv_sheet *s, const struct fv_flat_row *at)
{
    struct fv_value v = s->marked == SIZE_MAX ? (struct fv_value){ .null = true }
                                              : fv_flat_read(&s->flat.items[s->marked], s->subject, at);

    if (v.null)
        return;
    for (const char *key = v.text; *key; key += strspn(key, " ")) {
        const size_t bytes = strcspn(key, " ");

        fv_sheet_mark(s, key, bytes);
        key += bytes;
    }
    fv_sheet_mark(s, "mark", strlen("mark"));
}

void fv_sheet_add_values(struct fv_sheet *s, const struct fv_value *values, enum fv_color color)
{
    fv_table_row(&s->table, color);
    for (size_t i = 0; i < s->table.column_count; i++)
        set(s, i, &values[i]);
}

/* What has no share stays. */
static bool is_worth(const struct fv_sheet *s, const struct fv_flat_row *at)
{
    if (s->share == SIZE_MAX || !(s->least > 0))
        return true;
    const struct fv_value share = fv_flat_read(&s->flat.items[s->share], s->subject, at);
    return share.null || share.real >= s->least;
}

bool fv_sheet_choose(struct fv_sheet *s, const void *parent, const void *row)
{
    const struct fv_flat_row at = { .parent = parent, .row = row };

    if (!row)
        return false;
    s->all_rows++;
    if (s->shown_rows >= s->top || !is_worth(s, &at))
        return false;
    s->shown_rows++;
    return true;
}

void fv_sheet_put(struct fv_sheet *s, const void *parent, const void *row, enum fv_color color)
{
    const struct fv_flat_row at = { .parent = parent, .row = row };

    fv_table_row(&s->table, color);
    for (size_t i = 0; i < s->table.column_count; i++) {
        const struct fv_value v = fv_flat_judge(&s->flat.items[s->shown[i]], s->subject, &at);

        set(s, i, &v);
    }
    mark_cells(s, &at);
}

bool fv_sheet_add(struct fv_sheet *s, const void *parent, const void *row, enum fv_color color)
{
    bool chosen = fv_sheet_choose(s, parent, row);

    if (chosen)
        fv_sheet_put(s, parent, row, color);
    return chosen;
}

void fv_sheet_remark(struct fv_sheet *s, const char *text)
{
    fv_table_remark(&s->table, text);
}

void fv_sheet_print(const struct fv_sheet *s)
{
    if (s->table.rows)
        fv_table_print(&s->table, s->page);
}

void fv_sheet_cut(const struct fv_sheet *s, const char *noun, const char *more)
{
    struct fv_page page = *s->page;

    page.top = s->top;
    fv_page_cut(&page, s->shown_rows, s->all_rows, noun, more);
}
