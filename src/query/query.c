/* SPDX-License-Identifier: BSD-3-Clause */
/* See query.h: a database in memory, with nothing in it but views. */
#include "query/query.h"
#include "query/questions.h"
#include "query/state.h"

#include <stdlib.h>

const struct fv_sql_catalogue *fv_sql_catalogue(const struct fv_sql *sql)
{
    return &sql->catalogue;
}

#if FV_SQLITE
int fv_sql_fail(struct fv_sql *sql, const char *what)
{
    fv_log("%s: %s: %s", sql->command, what, fv_sqlite.errmsg(sql->db));
    return -FV_EFORMAT;
}

/* SQLite's own tables are made when they are first named, which is not allowed later. */
static void name_functions(struct fv_sql *sql)
{
    fv_sqlite.exec(sql->db, "SELECT 1 FROM json_each('[]'), json_tree('[]')", NULL, NULL, NULL); /* if it has them */
}

static bool make_views(struct fv_sql *sql)
{
    bool good = true;

    for (size_t i = 0; i < fv_question_count && good; i++) {
        struct fv_string text = { 0 };

        fv_string_add(&text, "CREATE VIEW \"%s\" AS %s", fv_questions[i].name, fv_questions[i].sql);
        good = fv_sqlite.exec(sql->db, text.text, NULL, NULL, NULL) == SQLITE_OK;
        fv_string_release(&text);
    }
    return good;
}

struct fv_sql *fv_sql_open(const char *command, struct fv_sql_run *runs, size_t count, fv_sql_timeline_fn *timeline,
                           void *context)
{
    struct fv_sql *sql = fv_xcalloc(1, sizeof(*sql));

    *sql = (struct fv_sql){
        .command = command, .runs = runs, .run_count = count, .open_timeline = timeline, .context = context
    };
    if (!fv_sqlite_load(command)) {
        free(sql);
        return NULL;
    }
    fv_sql_catalogue_init(&sql->catalogue);
    if (fv_sqlite.open_v2(":memory:", &sql->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
        fv_sql_modules_make(sql) && make_views(sql)) {
        name_functions(sql);
        return sql;
    }
    fv_sql_fail(sql, "SQLite");
    fv_sql_close(sql);
    return NULL;
}

void fv_sql_close(struct fv_sql *sql)
{
    if (!sql)
        return;
    fv_sqlite.close(sql->db);
    fv_sql_modules_release(sql);
    for (size_t i = 0; i < sql->run_count; i++)
        if (sql->runs[i].has_timeline)
            fv_timeline_close(&sql->runs[i].timeline);
    fv_sql_catalogue_release(&sql->catalogue);
    free(sql);
}
#else
struct fv_sql *fv_sql_open(const char *command, struct fv_sql_run *runs, size_t count, fv_sql_timeline_fn *timeline,
                           void *context)
{
    (void)runs, (void)count, (void)timeline, (void)context;
    fv_sqlite_load(command);
    return NULL;
}

void fv_sql_close(struct fv_sql *sql)
{
    (void)sql;
}

int fv_sql_print(struct fv_sql *sql, const struct fv_sql_asked *asked, FILE *out)
{
    (void)sql, (void)asked, (void)out;
    return -FV_ENOENT;
}

int fv_sql_write(struct fv_sql *sql, const struct fv_timeline_choice *part, const char *path)
{
    (void)sql, (void)part, (void)path;
    return -FV_ENOENT;
}
#endif
