/* SPDX-License-Identifier: BSD-3-Clause */
/* All tables in a database on the disk: SQLite copies what the virtual tables give. */
#include "query/query.h"
#include "query/questions.h"
#include "query/state.h"
#include "timeline/timeline_relations.h"

#if FV_SQLITE
#include <stdlib.h>

enum { INDEXED = 100 }; /* rows; fewer are read as fast without an index */

static bool run(struct fv_sql *sql, const char *text)
{
    return fv_sqlite.exec(sql->db, text, NULL, NULL, NULL) == SQLITE_OK;
}

static bool run_made(struct fv_sql *sql, struct fv_string *text)
{
    const bool good = run(sql, text->text);

    fv_string_release(text);
    return good;
}

/* What rows are chosen and joined by; of a trace, which is long, the time alone. */
static bool is_indexed(const struct fv_sql_table *t, const struct fv_sql_column *c)
{
    if (t->origin == FV_SQL_OF_TRACE)
        return c->part == FV_SQL_ROW && fv_timeline_bound_of(t->place.chain[0], c->def) == FV_TIMELINE_BY_TIME;
    return c->part == FV_SQL_IS_PARENT || c->def->flags & (FV_IS_RANK | FV_IS_THREAD) ||
           (c->part != FV_SQL_IS_ROW && !strcmp(c->def->unit, "id"));
}

/* ---- a part of a trace ---- */

/* The bound of a column, if the table has it. */
static void add_time(struct fv_string *text, const struct fv_sql_table *t, const char *name, const char *is,
                     uint64_t ns)
{
    if (fv_sql_find_column(t, name) != SIZE_MAX)
        fv_string_add(text, " AND \"%s\" %s %.9f", name, is, (double)ns / 1e9);
}

/* " AND (rank BETWEEN 0 AND 3 OR ...)" */
static void add_spans(struct fv_string *text, const char *name, const struct fv_spans *spans)
{
    for (size_t i = 0; spans && i < spans->count; i++)
        fv_string_add(text, "%s\"%s\" BETWEEN %lld AND %lld%s", i ? " OR " : " AND (", name,
                      (long long)spans->items[i].first, (long long)spans->items[i].last,
                      i + 1 == spans->count ? ")" : "");
}

/* A row's own; of a message either side's. */
static void add_places(struct fv_string *text, const struct fv_sql_table *t, const struct fv_timeline_choice *part)
{
    static const char *const names[][2] = { { "rank", "thread" },
                                            { "from_rank", "from_thread" },
                                            { "to_rank", "to_thread" } };
    bool any = false;

    for (unsigned i = 0; i < 3; i++) {
        if (fv_sql_find_column(t, names[i][0]) == SIZE_MAX)
            continue;
        fv_string_add(text, any ? " OR (1" : " AND ((1");
        any = true;
        add_spans(text, names[i][0], part->ranks);
        if (fv_sql_find_column(t, names[i][1]) != SIZE_MAX)
            add_spans(text, names[i][1], part->threads);
        fv_string_add(text, ")");
    }
    fv_string_add(text, any ? ")" : "");
}

static void add_part(struct fv_string *text, const struct fv_sql_table *t, const struct fv_timeline_choice *part)
{
    static const char *const begins[] = { "begin_s", "sent_s", "time_s" };
    static const char *const ends[][2] = { { "end_s", ">" }, { "received_s", ">" }, { "time_s", ">=" } };

    fv_string_add(text, " WHERE 1");
    for (unsigned i = 0; i < 3; i++) {
        if (part->to_ns != UINT64_MAX)
            add_time(text, t, begins[i], "<", part->to_ns);
        if (part->from_ns)
            add_time(text, t, ends[i][0], ends[i][1], part->from_ns);
    }
    add_places(text, t, part);
}

/* ---- tables ---- */

static bool copy_table(struct fv_sql *sql, const struct fv_sql_table *t, const struct fv_timeline_choice *part)
{
    struct fv_string text = { 0 };
    char *definition = fv_sql_definition(t, t->name, true);

    fv_string_add(&text, "CREATE TABLE written.%s", definition + strlen("CREATE TABLE "));
    free(definition);
    if (!run_made(sql, &text))
        return false;
    fv_string_add(&text, "INSERT INTO written.\"%s\" SELECT * FROM main.\"%s\"", t->name, t->name);
    if (t->origin == FV_SQL_OF_TRACE)
        add_part(&text, t, part);
    return run_made(sql, &text);
}

/* Of the table that was copied last. */
static bool index_table(struct fv_sql *sql, const struct fv_sql_table *t)
{
    const bool is_large = fv_sqlite.changes(sql->db) >= INDEXED;
    bool good = true;

    for (size_t i = 0; i < t->count && is_large && good; i++) {
        struct fv_string text = { 0 };

        if (!is_indexed(t, &t->columns[i]))
            continue;
        fv_string_add(&text, "CREATE INDEX written.\"%s by %s\" ON \"%s\" (\"%s\")", t->name, t->columns[i].name,
                      t->name, t->columns[i].name);
        good = run_made(sql, &text);
    }
    return good;
}

static bool copy_views(struct fv_sql *sql)
{
    bool good = true;

    for (size_t i = 0; i < fv_question_count && good; i++) {
        struct fv_string text = { 0 };

        fv_string_add(&text, "CREATE VIEW written.\"%s\" AS %s", fv_questions[i].name, fv_questions[i].sql);
        good = run_made(sql, &text);
    }
    return good;
}

static bool attach(struct fv_sql *sql, const char *path)
{
    sqlite3_stmt *stmt = NULL;
    const bool good = fv_sqlite.prepare_v2(sql->db, "ATTACH ? AS written", -1, &stmt, NULL) == SQLITE_OK &&
                      fv_sqlite.bind_text(stmt, 1, path, -1, SQLITE_STATIC) == SQLITE_OK &&
                      fv_sqlite.step(stmt) == SQLITE_DONE;

    fv_sqlite.finalize(stmt);
    return good;
}

/* The file is new and nobody else's: what a crash leaves of it is of no use, so that there is no journal. */
int fv_sql_write(struct fv_sql *sql, const struct fv_timeline_choice *part, const char *path)
{
    bool good = attach(sql, path) && run(sql, "PRAGMA written.journal_mode=OFF") &&
                run(sql, "PRAGMA written.synchronous=OFF") && run(sql, "BEGIN");

    for (size_t i = 0; i < sql->catalogue.count && good; i++)
        good = copy_table(sql, &sql->catalogue.tables[i], part) && index_table(sql, &sql->catalogue.tables[i]);
    good = good && copy_views(sql) && run(sql, "COMMIT") && run(sql, "DETACH written");
    return good ? 0 : fv_sql_fail(sql, path);
}
#endif
