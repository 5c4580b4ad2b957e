/* SPDX-License-Identifier: BSD-3-Clause */
/* See rows.h. Callbacks of relations make rows in their subject, which is therefore each walk's own. */
#include "query/rows.h"
#include "tool/words.h"
#include "views/flat.h"

static void *subject_of(struct fv_sql_rows *r)
{
    return r->table->origin == FV_SQL_OF_CATALOGUE ? (void *)(uintptr_t)r->catalogue : &r->tables;
}

/* The catalogue is of no run: it is read once. */
static void enter(struct fv_sql_rows *r, uint32_t run)
{
    const int64_t before = run * FV_SQL_RUN_ROWS;

    if (r->has_tables)
        fv_tables_release(&r->tables);
    r->has_tables = r->table->origin == FV_SQL_OF_PROFILE;
    if (r->has_tables)
        fv_tables_init(&r->tables, r->runs[run].profile);
    r->place = (struct fv_sql_place){ .run = run, .number = { before, before, before, before } };
    _Static_assert(FV_RELATION_DEPTH == 4, "numbers of all levels");
    r->level = SIZE_MAX;
}

void fv_sql_rows_init(struct fv_sql_rows *r, const struct fv_sql_table *table, const struct fv_sql_catalogue *catalogue,
                      const struct fv_sql_run *runs, size_t first, size_t end)
{
    *r = (struct fv_sql_rows){ .table = table, .catalogue = catalogue, .runs = runs, .end_run = end };
    if (first < end)
        enter(r, (uint32_t)first);
    else
        r->place.run = (uint32_t)end;
}

void fv_sql_rows_release(struct fv_sql_rows *r)
{
    if (r->has_tables)
        fv_tables_release(&r->tables);
    r->has_tables = false;
}

static const void *parent_at(const struct fv_sql_rows *r, size_t level)
{
    return level ? fv_column_parent(r->table->place.links[level], r->row[level - 1]) : NULL;
}

/* Of the rows of a level, the one at its index or the first behind that is not left out. */
static bool take(struct fv_sql_rows *r, size_t level)
{
    const struct fv_relation *of = r->table->place.chain[level];

    for (; r->place.index[level] < r->count[level]; r->place.index[level]++)
        if ((r->row[level] = fv_relation_row(of, subject_of(r), parent_at(r, level), r->place.index[level]))) {
            r->place.number[level]++;
            return true;
        }
    return false;
}

static void begin_level(struct fv_sql_rows *r, size_t level)
{
    r->level = level;
    r->place.index[level] = 0;
    r->count[level] = fv_relation_count(r->table->place.chain[level], subject_of(r), parent_at(r, level));
}

static bool next_in_run(struct fv_sql_rows *r)
{
    const size_t innermost = r->table->place.depth - 1;
    bool found;

    if (r->level == SIZE_MAX)
        begin_level(r, 0);
    else
        r->place.index[r->level]++;
    for (;;) {
        found = take(r, r->level);
        if (found && r->level == innermost)
            return true;
        if (!found && !r->level)
            return false;
        if (found)
            begin_level(r, r->level + 1);
        else
            r->place.index[--r->level]++;
    }
}

bool fv_sql_rows_next(struct fv_sql_rows *r)
{
    while (r->place.run < r->end_run) {
        if (next_in_run(r))
            return true;
        if (r->place.run + 1 < r->end_run)
            enter(r, r->place.run + 1);
        else
            r->place.run++;
    }
    return false;
}

void fv_sql_rows_seek(struct fv_sql_rows *r, const struct fv_sql_place *to)
{
    const size_t depth = r->table->place.depth;

    if (r->level == SIZE_MAX || r->place.run != to->run)
        enter(r, to->run);
    r->place = *to;
    for (size_t i = 0; i < depth; i++)
        r->row[i] = fv_relation_row(r->table->place.chain[i], subject_of(r), parent_at(r, i), to->index[i]);
    r->level = depth - 1;
}

struct fv_value fv_sql_rows_value(struct fv_sql_rows *r, const struct fv_sql_column *c)
{
    const size_t innermost = r->table->place.depth - 1;

    switch (c->part) {
    case FV_SQL_IS_RUN: return (struct fv_value){ .type = FV_TYPE_TEXT, .text = r->runs[r->place.run].name };
    case FV_SQL_IS_ROW: return (struct fv_value){ .type = FV_TYPE_NUMBER, .number = r->place.number[innermost] };
    case FV_SQL_IS_PARENT: return (struct fv_value){ .type = FV_TYPE_NUMBER, .number = r->place.number[innermost - 1] };
    case FV_SQL_OUTER: return fv_column_value(c->def, subject_of(r), r->row[innermost - 1]);
    default: return fv_column_value(c->def, subject_of(r), r->row[innermost]);
    }
}

/* ---- texts ---- */

static const char *clean(const char *text, struct fv_string *out)
{
    const char *p = text;

    while (*p >= 0x20 && *p < 0x7f)
        p++;
    if (!*p)
        return text;
    fv_string_clear(out);
    FV_GROW(out->text, out->room, 4 * strlen(text) + FV_CLEAN);
    while (*text)
        out->used += fv_words_clean_next(&text, out->text + out->used);
    out->text[out->used] = '\0';
    return out->text;
}

static const char *list(const struct fv_value *v, struct fv_string *out)
{
    const struct fv_rank_run *runs = v->items;
    const double *reals = v->items;
    char word[FV_REAL];

    fv_string_clear(out);
    for (size_t i = 0; i < v->count; i++) {
        fv_string_add(out, i ? "," : "[");
        if (v->type == FV_TYPE_REALS)
            fv_string_add(out, "%.*s", (int)fv_words_real(reals[i], word), word);
        else if (v->type == FV_TYPE_RANKS)
            fv_string_add(out, "%d", ((const int *)v->items)[i]);
        else
            fv_string_add(out, "[%d,%d,%d]", (int)runs[i].first, (int)runs[i].stride, (int)runs[i].count);
    }
    fv_string_add(out, v->count ? "]" : "[]");
    return out->text;
}

const char *fv_sql_words(const struct fv_value *v, struct fv_string *out)
{
    if (v->null || v->type < FV_TYPE_TEXT)
        return NULL;
    return v->type == FV_TYPE_TEXT ? clean(v->text, out) : v->type == FV_TYPE_HEX ? fv_flat_text(v, out) : list(v, out);
}
