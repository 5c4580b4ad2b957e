/* SPDX-License-Identifier: BSD-3-Clause */
/* See catalogue.h. */
#include "query/catalogue.h"
#include "profile/relations.h"
#include "query/questions.h"
#include "timeline/timeline_relations.h"

#include <stdlib.h>
#include <string.h>

static const struct fv_column_def run_column = { "run", "run", "", "The experiment, as the command names it.",
                                                 .type = FV_TYPE_TEXT },
                                  row_column = { "row", "row", "id",
                                                 "A number of the row, which tables within it have "
                                                 "as `parent`.",
                                                 .type = FV_TYPE_NUMBER },
                                  parent_column = { "parent", "parent", "id", "`row` of the table that it lies within.",
                                                    .type = FV_TYPE_NUMBER };

/* ---- tables ---- */

struct adding {
    struct fv_sql_catalogue *to;
    const struct fv_relation *const *set;
    enum fv_sql_origin origin;
};

/* That of the table, else of the one around it and the key in JSON. Where a table has that name, "timeline", what is
 * around it is "timeline_whole". */
static const char *name_of(struct adding *a, const struct fv_relation_place *p, const char *parent)
{
    const struct fv_relation *r = p->chain[p->depth - 1];
    struct fv_arena *arena = &a->to->arena;
    struct fv_relation_place other;
    char key[FV_KEY_BYTES];

    if (r->name)
        return r->name;
    const char *name =
        parent ? fv_arena_printf(arena, "%s_%s", parent, fv_column_flat_key(p->links[p->depth - 1], key)) : r->key;
    return fv_relations_find(a->set, name, &other) ? fv_arena_printf(arena, "%s_whole", name) : name;
}

static void add_column(struct fv_sql_table *t, struct fv_arena *arena, const struct fv_column_def *def,
                       enum fv_sql_part part)
{
    char key[FV_KEY_BYTES];

    fv_column_flat_key(def, key);
    if (fv_sql_find_column(t, key) == SIZE_MAX)
        t->columns[t->count++] = (struct fv_sql_column){ fv_arena_string(arena, key), def, part };
}

/* What flat forms and JSON both have is told once, as JSON has it. */
static void add_columns(struct fv_sql_table *t, struct fv_arena *arena, const struct fv_relation *r)
{
    t->columns = fv_arena_take(arena, (3 + r->outer_count + r->column_count) * sizeof(*t->columns));
    if (t->origin != FV_SQL_OF_CATALOGUE)
        add_column(t, arena, &run_column, FV_SQL_IS_RUN);
    if (t->is_parent)
        add_column(t, arena, &row_column, FV_SQL_IS_ROW);
    if (t->parent)
        add_column(t, arena, &parent_column, FV_SQL_IS_PARENT);
    for (size_t i = 0; i < r->outer_count; i++)
        add_column(t, arena, &r->outer[i], FV_SQL_OUTER);
    for (unsigned flat = 0; flat < 2; flat++)
        for (size_t i = 0; i < r->column_count; i++)
            if (r->columns[i].type != FV_TYPE_RELATION && flat == !!(r->columns[i].flags & FV_FLAT))
                add_column(t, arena, &r->columns[i], FV_SQL_ROW);
}

static bool has_others(const struct fv_relation *r)
{
    for (size_t i = 0; i < r->column_count; i++)
        if (r->columns[i].type == FV_TYPE_RELATION)
            return true;
    return false;
}

static void add_table(struct adding *a, const struct fv_relation_place *p, const char *parent, const char *by)
{
    struct fv_sql_catalogue *c = a->to;
    const struct fv_relation *r = p->chain[p->depth - 1];

    FV_GROW(c->tables, c->room, c->count + 1);
    struct fv_sql_table *t = &c->tables[c->count];
    *t = (struct fv_sql_table){ name_of(a, p, parent), r->doc, a->origin, *p, parent, by, has_others(r), NULL, 0 };
    add_columns(t, &c->arena, r);
    c->count++;
}

static void add(struct adding *a, struct fv_relation_place *p, const char *parent, const char *by)
{
    const struct fv_relation *r = p->chain[p->depth - 1];

    by = r->recorded_by ? r->recorded_by : by;
    add_table(a, p, parent, by);
    const char *name = a->to->tables[a->to->count - 1].name;
    for (size_t i = 0; i < r->column_count; i++) {
        if (r->columns[i].type != FV_TYPE_RELATION)
            continue;
        p->chain[p->depth] = r->columns[i].nested;
        p->links[p->depth++] = &r->columns[i];
        add(a, p, name, by);
        p->depth--;
    }
}

static void add_set(struct fv_sql_catalogue *c, enum fv_sql_origin origin, const struct fv_relation *const *set)
{
    struct adding a = { c, set, origin };

    for (; *set; set++)
        add(&a, &(struct fv_relation_place){ .chain = { *set }, .depth = 1 }, NULL, NULL);
}

const struct fv_sql_table *fv_sql_table(const struct fv_sql_catalogue *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (!strcmp(c->tables[i].name, name))
            return &c->tables[i];
    return NULL;
}

size_t fv_sql_find_column(const struct fv_sql_table *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (!strcmp(t->columns[i].name, name))
            return i;
    return SIZE_MAX;
}

const char *fv_sql_type(const struct fv_sql_column *column)
{
    switch (column->def->type) {
    case FV_TYPE_WHOLE:
    case FV_TYPE_NUMBER:
    case FV_TYPE_TRUTH: return "INTEGER";
    case FV_TYPE_REAL: return "REAL";
    default: return "TEXT";
    }
}

char *fv_sql_definition(const struct fv_sql_table *t, const char *name, bool is_stored)
{
    struct fv_string text = { 0 };

    fv_string_add(&text, "CREATE TABLE \"%s\" (", name);
    for (size_t i = 0; i < t->count; i++)
        fv_string_add(&text, "%s\"%s\" %s%s", i ? ", " : "", t->columns[i].name, fv_sql_type(&t->columns[i]),
                      is_stored && t->columns[i].part == FV_SQL_IS_ROW ? " PRIMARY KEY" : "");
    fv_string_add(&text, ")");
    return text.text;
}

/* ---- the catalogue's own tables ---- */

static void get_table_text(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    static const char *const origins[] = { "profile", "trace", "catalogue" };
    const struct fv_sql_table *t = row;

    v->text = c->argument ? t->recorded_by : origins[t->origin];
}

static const struct fv_column_def table_columns[] = {
    { "name", "table", "", "The table.", FV_FIELD(struct fv_sql_table, name) },
    { "origin", "of", "", "What it belongs to: the profile, the trace, or the catalogue.",
      FV_GET(FV_TYPE_TEXT, get_table_text) },
    { "lies_within", "within", "", "The table whose `row` is this one's `parent`.",
      FV_FIELD(struct fv_sql_table, parent), .flags = FV_NULLABLE },
    { "recorded_by", "recorded by", "", "What records its rows. Null: every run.", FV_GET(FV_TYPE_TEXT, get_table_text),
      .flags = FV_NULLABLE, .argument = 1 },
    { "doc", "rows", "", "What a row is, and the order of rows.", FV_FIELD(struct fv_sql_table, doc) },
};

static size_t table_count(void *subject, const void *parent)
{
    return ((const struct fv_sql_catalogue *)subject)->count;
}

static const void *table_at(void *subject, const void *parent, size_t i)
{
    return &((const struct fv_sql_catalogue *)subject)->tables[i];
}

static const struct fv_relation tables_relation = {
    .name = "about_tables",
    .key = "about_tables",
    .title = "Tables",
    .doc = "The tables.",
    FV_COLUMNS(table_columns),
    .count = table_count,
    .row = table_at,
};

static const struct fv_column_def described_columns[] = {
    { "of_table", "table", "", "The table.", FV_FIELD(struct fv_sql_described, table) },
    { "name", "column", "", "The column.", FV_FIELD(struct fv_sql_described, name) },
    { "type", "type", "", "INTEGER, REAL or TEXT.", FV_FIELD(struct fv_sql_described, type) },
    { "unit", "unit", "", "s, bytes, share (0 to 1), ratio, id, or count (a mean of such). Null: a count, or a word.",
      FV_FIELD(struct fv_sql_described, unit), .flags = FV_NULLABLE },
    { "exactness", "exactness", "", "exact, estimate, or what says which. Null: that is no question.",
      FV_FIELD(struct fv_sql_described, exactness), .flags = FV_NULLABLE },
    { "may_be_null", "may be null", "", "1: the value may be unknown.", FV_FIELD(struct fv_sql_described, nullable) },
    { "doc", "meaning", "", "What it means.", FV_FIELD(struct fv_sql_described, doc) },
};

static size_t described_count(void *subject, const void *parent)
{
    return ((const struct fv_sql_catalogue *)subject)->described_count;
}

static const void *described_at(void *subject, const void *parent, size_t i)
{
    return &((const struct fv_sql_catalogue *)subject)->described[i];
}

static const struct fv_relation described_relation = {
    .name = "about_columns",
    .key = "about_columns",
    .title = "Columns",
    .doc = "The columns of all tables, table by table.",
    FV_COLUMNS(described_columns),
    .count = described_count,
    .row = described_at,
};

static const struct fv_column_def question_columns[] = {
    { "name", "view", "", "The view.", FV_FIELD(struct fv_question, name) },
    { "question", "question", "", "What it answers.", FV_FIELD(struct fv_question, question) },
    { "sql", "SQL", "", "Its SELECT.", FV_FIELD(struct fv_question, sql) },
};

static size_t question_count(void *subject, const void *parent)
{
    return fv_question_count;
}

static const void *question_at(void *subject, const void *parent, size_t i)
{
    return &fv_questions[i];
}

static const struct fv_relation questions_relation = {
    .name = "about_views",
    .key = "about_views",
    .title = "Views",
    .doc = "Views, which answer what is asked first.",
    FV_COLUMNS(question_columns),
    .count = question_count,
    .row = question_at,
};

const struct fv_relation *const fv_sql_relations[] = { &tables_relation, &described_relation, &questions_relation,
                                                       NULL };

static void describe(struct fv_sql_catalogue *c)
{
    size_t count = 0;

    for (size_t i = 0; i < c->count; i++)
        count += c->tables[i].count;
    c->described = fv_arena_take(&c->arena, (count + 1) * sizeof(*c->described));
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->tables[i].count; k++) {
            const struct fv_sql_column *of = &c->tables[i].columns[k];
            const struct fv_column_def *def = of->def;

            c->described[c->described_count++] = (struct fv_sql_described){
                c->tables[i].name,        of->name, fv_sql_type(of),         *def->unit ? def->unit : NULL,
                fv_column_exactness(def), def->doc, def->flags & FV_NULLABLE
            };
        }
}

void fv_sql_catalogue_init(struct fv_sql_catalogue *c)
{
    *c = (struct fv_sql_catalogue){ 0 };
    add_set(c, FV_SQL_OF_PROFILE, fv_profile_relations);
    add_set(c, FV_SQL_OF_TRACE, fv_timeline_relations);
    add_set(c, FV_SQL_OF_CATALOGUE, fv_sql_relations);
    describe(c);
}

void fv_sql_catalogue_release(struct fv_sql_catalogue *c)
{
    free(c->tables);
    fv_arena_release(&c->arena);
    *c = (struct fv_sql_catalogue){ 0 };
}
