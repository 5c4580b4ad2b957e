/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the catalogue as virtual tables of SQLite (https://www.sqlite.org/vtab.html), which exist without being
 * created. SQLite checks all conditions itself; what a table takes of them spares it rows. A relation takes `run`, and
 * one column that equals something (lookup.h); a table of a trace takes `run`, and stretches of time, lengths, ranks
 * and threads (timeline_relations.h). */
#include "query/state.h"
#include "query/lookup.h"
#include "timeline/timeline_relations.h"

#if FV_SQLITE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BY_RUN   1 /* in idxNum; the first argument is the run */
#define BY_VALUE 2 /* the next one is a value of the column idxNum >> 8 */

struct fv_sql_module {
    struct fv_sql *sql;
    const struct fv_sql_table *table;
    struct fv_sql_lookup *lookups; /* of each column */
    int64_t rows;                  /* of all runs; negative: not counted yet */
};

struct virtual_table {
    sqlite3_vtab base;
    struct fv_sql_module *module;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct fv_sql_module *module;
    struct fv_sql_rows rows; /* of a relation */
    const struct fv_sql_entry *entries;
    size_t entry, entry_count;
    struct fv_timeline_scan *scan; /* of a trace */
    const void *event;
    struct fv_timeline_range ranges[FV_TIMELINE_BOUNDS];
    size_t run, end_run;
    bool is_end;
    int64_t number;
    struct fv_string text;
};

static struct fv_sql_module *module_of(sqlite3_vtab *table)
{
    return ((struct virtual_table *)table)->module;
}

/* ---- tables ---- */

/* A run without a trace has no rows. */
static void open_timelines(struct fv_sql *sql)
{
    for (size_t i = 0; i < sql->run_count; i++) {
        struct fv_sql_run *run = &sql->runs[i];

        if (!run->was_asked && sql->open_timeline)
            run->has_timeline = sql->open_timeline(sql->context, i, &run->timeline);
        run->was_asked = true;
    }
}

const struct fv_sql_run *fv_sql_lost(const struct fv_sql *sql)
{
    for (size_t i = 0; i < sql->run_count; i++)
        if (sql->runs[i].was_asked && sql->runs[i].traced && !sql->runs[i].has_timeline)
            return &sql->runs[i];
    return NULL;
}

static int connect_table(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **out, char **why)
{
    struct fv_sql_module *module = context;
    struct virtual_table *table = fv_xcalloc(1, sizeof(*table));
    char *definition = fv_sql_definition(module->table, "x", false);

    module->sql->is_declaring = true;
    int status = fv_sqlite.declare_vtab(db, definition);
    module->sql->is_declaring = false;

    (void)argc, (void)argv;
    free(definition);
    table->module = module;
    if (module->table->origin == FV_SQL_OF_TRACE)
        open_timelines(module->sql);
    const struct fv_sql_run *lost = module->table->origin == FV_SQL_OF_TRACE ? fv_sql_lost(module->sql) : NULL;
    if (status == SQLITE_OK && !lost) {
        *out = &table->base;
    } else {
        *why = lost ? fv_sqlite.mprintf("the trace of %s cannot be read, as said above", lost->name)
                    : fv_sqlite.mprintf("%s", fv_sqlite.errmsg(db));
        status = lost ? SQLITE_ERROR : status;
        free(table);
    }
    return status;
}

static int disconnect_table(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

/* The catalogue is of no run. */
static size_t run_count(const struct fv_sql_module *m)
{
    return m->table->origin == FV_SQL_OF_CATALOGUE ? 1 : m->sql->run_count;
}

/* ---- plans ---- */

static int64_t count_rows(struct fv_sql_module *m)
{
    const struct fv_sql *sql = m->sql;
    struct fv_sql_rows rows;

    if (m->rows >= 0)
        return m->rows;
    m->rows = 0;
    if (m->table->origin == FV_SQL_OF_TRACE) {
        for (size_t i = 0; i < sql->run_count; i++)
            if (sql->runs[i].has_timeline)
                m->rows += (int64_t)fv_timeline_rows(m->table->place.chain[0], &sql->runs[i].timeline);
        return m->rows;
    }
    fv_sql_rows_init(&rows, m->table, &sql->catalogue, sql->runs, 0, run_count(m));
    while (fv_sql_rows_next(&rows))
        m->rows++;
    fv_sql_rows_release(&rows);
    return m->rows;
}

static const struct fv_sql_column *column_of(const struct fv_sql_table *t, int index)
{
    return index >= 0 && (size_t)index < t->count ? &t->columns[index] : NULL;
}

/* How few rows a value of it has, about: less is better. */
static double share_of(const struct fv_sql_column *c)
{
    return c->part == FV_SQL_IS_ROW ? 0 : c->part == FV_SQL_IS_PARENT || !strcmp(c->def->unit, "id") ? 0.01 : 0.05;
}

static bool is_equal_to(sqlite3_index_info *info, int i)
{
    return info->aConstraint[i].usable && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
           !strcmp(fv_sqlite.vtab_collation(info, i), "BINARY");
}

static void take(sqlite3_index_info *info, int i, int *arguments)
{
    info->aConstraintUsage[i].argvIndex = ++*arguments;
}

static int find_run(const struct fv_sql_table *t, sqlite3_index_info *info)
{
    for (int i = 0; i < info->nConstraint; i++) {
        const struct fv_sql_column *c = column_of(t, info->aConstraint[i].iColumn);

        if (c && c->part == FV_SQL_IS_RUN && is_equal_to(info, i))
            return i;
    }
    return -1;
}

static double plan_relation(const struct fv_sql_module *m, sqlite3_index_info *info, int *arguments)
{
    const struct fv_sql_table *t = m->table;
    int best = -1;
    double share = 1;

    for (int i = 0; i < info->nConstraint; i++) {
        const struct fv_sql_column *c = column_of(t, info->aConstraint[i].iColumn);

        if (!c || c->part == FV_SQL_IS_RUN || !is_equal_to(info, i) || share_of(c) >= share)
            continue;
        best = i;
        share = share_of(c);
    }
    if (best < 0)
        return 1;
    info->idxNum |= BY_VALUE | info->aConstraint[best].iColumn << 8;
    if (share == 0)
        info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    take(info, best, arguments);
    return share;
}

/* '=', '>' or '<'; 0: it bounds nothing. */
static char side_of(int op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: return '=';
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE: return '>';
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE: return '<';
    default: return '\0';
    }
}

/* How much of a trace is read, about: a stretch of time is short, whatever bounds its ends. */
static double share_read(const char *plan)
{
    bool after = false, before = false;
    double share = 1;

    for (; *plan; plan += 2) {
        const bool is_of_time = plan[0] == 'A' + FV_TIMELINE_BY_TIME || plan[0] == 'A' + FV_TIMELINE_BY_END;

        after = after || (is_of_time && plan[1] != '<');
        before = before || (is_of_time && plan[1] != '>');
        if (!is_of_time)
            share *= plan[1] == '=' ? 0.2 : 0.5;
    }
    return share * (after && before ? 0.01 : after || before ? 0.5 : 1);
}

/* Each argument is a letter for what it bounds, and one for the side: "A<". */
static double plan_trace(const struct fv_sql_module *m, sqlite3_index_info *info, int *arguments)
{
    const struct fv_relation *r = m->table->place.chain[0];
    char plan[64] = "";
    size_t used = 0;

    for (int i = 0; i < info->nConstraint && used + 2 < sizeof(plan); i++) {
        const struct fv_sql_column *c = column_of(m->table, info->aConstraint[i].iColumn);
        const char side = info->aConstraint[i].usable ? side_of(info->aConstraint[i].op) : '\0';
        const enum fv_timeline_bound bound =
            side && c && c->part == FV_SQL_ROW ? fv_timeline_bound_of(r, c->def) : FV_TIMELINE_BOUNDS;

        if (bound == FV_TIMELINE_BOUNDS)
            continue;
        plan[used++] = (char)('A' + bound);
        plan[used++] = side;
        take(info, i, arguments);
    }
    plan[used] = '\0';
    info->idxStr = fv_sqlite.mprintf("%s", plan);
    info->needToFreeIdxStr = 1;
    return share_read(plan);
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    struct fv_sql_module *m = module_of(table);
    const double all = (double)count_rows(m) + 1;
    int arguments = 0;
    double rows = all;
    const int run = find_run(m->table, info);

    if (run >= 0) {
        info->idxNum |= BY_RUN;
        take(info, run, &arguments);
        rows /= (double)m->sql->run_count;
    }
    rows *= m->table->origin == FV_SQL_OF_TRACE ? plan_trace(m, info, &arguments) : plan_relation(m, info, &arguments);
    info->estimatedRows = rows > 1 ? (sqlite3_int64)rows : 1;
    info->estimatedCost = 4 + rows;
    return SQLITE_OK;
}

/* ---- cursors ---- */

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct cursor *c = fv_xcalloc(1, sizeof(*c));

    c->module = module_of(table);
    *out = &c->base;
    return SQLITE_OK;
}

static void rewind_cursor(struct cursor *c)
{
    fv_sql_rows_release(&c->rows);
    fv_timeline_scan_end(c->scan);
    c->scan = NULL;
    c->entries = NULL;
    c->entry = c->entry_count = 0;
    c->is_end = false;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;

    rewind_cursor(c);
    fv_string_release(&c->text);
    free(c);
    return SQLITE_OK;
}

/* The next row that is not of another table: long stretches may have none, which is no step for SQLite. */
static int next_event(struct cursor *c)
{
    const struct fv_sql *sql = c->module->sql;

    for (;;) {
        const struct fv_sql_run *run = &sql->runs[c->run];

        if (c->run >= c->end_run) {
            c->is_end = true;
            return SQLITE_OK;
        }
        if (!c->scan && run->has_timeline)
            c->scan = fv_timeline_scan_begin(c->module->table->place.chain[0], &run->timeline, c->ranges);
        if (c->scan && (c->event = fv_timeline_scan_next(c->scan)))
            return SQLITE_OK;
        fv_timeline_scan_end(c->scan);
        c->scan = NULL;
        c->run++;
    }
}

static int next_row(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;

    c->number++;
    if (c->module->table->origin == FV_SQL_OF_TRACE)
        return next_event(c);
    if (c->entries)
        c->is_end = ++c->entry >= c->entry_count;
    else
        c->is_end = !fv_sql_rows_next(&c->rows);
    if (c->entries && !c->is_end)
        fv_sql_rows_seek(&c->rows, &c->entries[c->entry].place);
    return SQLITE_OK;
}

/* Without one, all runs. */
static void choose_runs(struct cursor *c, sqlite3_value *wanted)
{
    const struct fv_sql *sql = c->module->sql;
    const char *name = wanted ? (const char *)fv_sqlite.value_text(wanted) : NULL;

    c->run = 0;
    c->end_run = run_count(c->module);
    if (!wanted)
        return;
    while (c->run < c->end_run && !(name && !strcmp(sql->runs[c->run].name, name)))
        c->run++;
    c->end_run = c->run < c->end_run ? c->run + 1 : c->run;
}

/* False: the value is of another kind than the column, and SQLite compares as it does. */
static bool hash_value(const struct fv_sql_column *column, sqlite3_value *value, uint64_t *out)
{
    const bool is_text = !strcmp(fv_sql_type(column), "TEXT");
    const int type = is_text ? fv_sqlite.value_type(value) : fv_sqlite.value_numeric_type(value);

    if (is_text && type == SQLITE_TEXT)
        *out = fv_sql_hash_text((const char *)fv_sqlite.value_text(value));
    else if (!is_text && (type == SQLITE_INTEGER || type == SQLITE_FLOAT))
        *out = fv_sql_hash_number(fv_sqlite.value_double(value));
    else
        return false;
    return true;
}

static void look_up(struct cursor *c, int column, sqlite3_value *value)
{
    struct fv_sql_module *m = c->module;
    struct fv_sql_lookup *lookup = &m->lookups[column];
    const struct fv_sql *sql = m->sql;
    uint64_t hash;
    size_t first;

    if (!hash_value(&m->table->columns[column], value, &hash) ||
        !fv_sql_lookup_ready(lookup, m->table, (size_t)column, &sql->catalogue, sql->runs, run_count(m)))
        return;
    c->entry_count = fv_sql_lookup_find(lookup, hash, &first);
    c->entries = lookup->entries + first;
    c->is_end = !c->entry_count;
    if (c->entry_count)
        fv_sql_rows_seek(&c->rows, &c->entries[0].place);
}

static int filter_relation(struct cursor *c, int plan, sqlite3_value **values)
{
    struct fv_sql_module *m = c->module;

    fv_sql_rows_init(&c->rows, m->table, &m->sql->catalogue, m->sql->runs, c->run, c->end_run);
    if (plan & BY_VALUE)
        look_up(c, plan >> 8, values[plan & BY_RUN]);
    if (!c->entries && !c->is_end)
        c->is_end = !fv_sql_rows_next(&c->rows);
    return SQLITE_OK;
}

static int filter_trace(struct cursor *c, const char *plan, sqlite3_value **values)
{
    for (unsigned i = 0; i < FV_TIMELINE_BOUNDS; i++)
        c->ranges[i] = (struct fv_timeline_range){ -INFINITY, INFINITY };
    for (; *plan; plan += 2, values++) {
        struct fv_timeline_range *range = &c->ranges[plan[0] - 'A'];
        const int type = fv_sqlite.value_numeric_type(*values);
        const double value = fv_sqlite.value_double(*values);

        if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
            continue;
        if (plan[1] != '<' && value > range->least)
            range->least = value;
        if (plan[1] != '>' && value < range->most)
            range->most = value;
    }
    return next_event(c);
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **values)
{
    struct cursor *c = (struct cursor *)base;

    (void)argc;
    rewind_cursor(c);
    c->number = 0;
    choose_runs(c, plan & BY_RUN ? values[0] : NULL);
    return c->module->table->origin == FV_SQL_OF_TRACE ? filter_trace(c, text, values + (plan & BY_RUN))
                                                       : filter_relation(c, plan, values);
}

static int is_end(sqlite3_vtab_cursor *base)
{
    const struct cursor *c = (const struct cursor *)base;

    return c->is_end;
}

static int give_number(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((const struct cursor *)base)->number;
    return SQLITE_OK;
}

/* ---- values ---- */

static void put_value(sqlite3_context *to, const struct fv_value *v, struct fv_string *text)
{
    const char *words;

    if (v->null)
        fv_sqlite.result_null(to);
    else if (v->type == FV_TYPE_WHOLE && v->whole > INT64_MAX)
        fv_sqlite.result_double(to, (double)v->whole);
    else if (v->type == FV_TYPE_WHOLE || v->type == FV_TYPE_NUMBER)
        fv_sqlite.result_int64(to, v->number);
    else if (v->type == FV_TYPE_REAL)
        fv_sqlite.result_double(to, v->real);
    else if (v->type == FV_TYPE_TRUTH)
        fv_sqlite.result_int64(to, v->truth);
    else if ((words = fv_sql_words(v, text)))
        fv_sqlite.result_text(to, words, (int)strlen(words), SQLITE_TRANSIENT);
}

static int give_value(sqlite3_vtab_cursor *base, sqlite3_context *to, int index)
{
    struct cursor *c = (struct cursor *)base;
    const struct fv_sql_column *column = &c->module->table->columns[index];
    const struct fv_sql_run *run = &c->module->sql->runs[c->run];
    const bool is_trace = c->module->table->origin == FV_SQL_OF_TRACE;
    const struct fv_value v = !is_trace ? fv_sql_rows_value(&c->rows, column)
                              : column->part == FV_SQL_IS_RUN
                                  ? (struct fv_value){ .type = FV_TYPE_TEXT, .text = run->name }
                                  : fv_column_value(column->def, (void *)(uintptr_t)&run->timeline, c->event);

    put_value(to, &v, &c->text);
    return SQLITE_OK;
}

/* ---- all ---- */

bool fv_sql_modules_make(struct fv_sql *sql)
{
    static const sqlite3_module methods = {
        .iVersion = 1,
        .xConnect = connect_table,
        .xBestIndex = best_index,
        .xDisconnect = disconnect_table,
        .xDestroy = disconnect_table,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next_row,
        .xEof = is_end,
        .xColumn = give_value,
        .xRowid = give_number,
    };

    sql->modules = fv_xcalloc(sql->catalogue.count, sizeof(*sql->modules));
    for (size_t i = 0; i < sql->catalogue.count; i++) {
        const struct fv_sql_table *t = &sql->catalogue.tables[i];

        sql->modules[i] = (struct fv_sql_module){ sql, t, fv_xcalloc(t->count + 1, sizeof(struct fv_sql_lookup)), -1 };
        if (fv_sqlite.create_module(sql->db, t->name, &methods, &sql->modules[i]) != SQLITE_OK)
            return false;
    }
    return true;
}

void fv_sql_modules_release(struct fv_sql *sql)
{
    for (size_t i = 0; sql->modules && i < sql->catalogue.count; i++) {
        struct fv_sql_module *m = &sql->modules[i];

        for (size_t k = 0; m->lookups && k < m->table->count; k++)
            fv_sql_lookup_release(&m->lookups[k]);
        free(m->lookups);
    }
    free(sql->modules);
    sql->modules = NULL;
}
#endif
