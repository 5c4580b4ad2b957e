/* SPDX-License-Identifier: BSD-3-Clause */
/* One statement, and its rows as they come: only text, whose columns are as wide as what is in them, keeps rows, and of
 * these no more than are shown. */
#include "query/state.h"

#if FV_SQLITE
#include "tool/csv_stream.h"
#include "tool/json_stream.h"
#include "tool/words.h"
#include "views/sheet.h"

#include <stdlib.h>

struct statement {
    struct fv_sql *sql;
    sqlite3_stmt *stmt;
    int columns;
    FILE *out;
    const struct fv_page *page;
};

/* ---- text ---- */

/* The rows that are shown, as texts, and the result as a relation, for a sheet. */
struct result {
    struct fv_column_def *columns;
    struct fv_value *values;
    size_t rows, room;
    bool more;
    struct fv_arena arena;
};

static void get_nothing(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->null = true;
}

static void begin_result(struct result *r, const struct statement *s)
{
    const size_t count = (size_t)s->columns;

    *r = (struct result){ .columns = fv_xcalloc(count, sizeof(*r->columns)) };
    for (size_t i = 0; i < count; i++) {
        const char *name = fv_arena_string(&r->arena, fv_sqlite.column_name(s->stmt, (int)i));

        r->columns[i] = (struct fv_column_def){
            name, name, "", "", FV_GET(FV_TYPE_TEXT, get_nothing), .flags = FV_NULLABLE | FV_AMOUNT
        };
    }
}

static void keep_row(struct result *r, const struct statement *s)
{
    FV_GROW(r->values, r->room, (r->rows + 1) * (size_t)s->columns);
    for (int i = 0; i < s->columns; i++) {
        struct fv_value *v = &r->values[r->rows * (size_t)s->columns + (size_t)i];
        const int type = fv_sqlite.column_type(s->stmt, i);

        *v = (struct fv_value){ .type = FV_TYPE_TEXT, .null = type == SQLITE_NULL };
        if (type == SQLITE_FLOAT)
            v->text = fv_arena_printf(&r->arena, "%.6g", fv_sqlite.column_double(s->stmt, i));
        else if (type != SQLITE_NULL)
            v->text = fv_arena_string(&r->arena, (const char *)fv_sqlite.column_text(s->stmt, i));
        if (type == SQLITE_TEXT || type == SQLITE_BLOB)
            r->columns[i].flags = FV_NULLABLE; /* words are aligned to the left */
    }
    r->rows++;
}

static void print_result(const struct result *r, const struct statement *s)
{
    const struct fv_relation relation = { .columns = r->columns, .column_count = (size_t)s->columns };
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, s->page, &relation, "", NULL);
    sheet.table.keeps_empty = true;
    for (int i = 0; i < s->columns; i++)
        sheet.columns[i].weight = 0; /* all of them were asked for */
    for (size_t i = 0; i < r->rows; i++)
        fv_sheet_add_values(&sheet, r->values + i * (size_t)s->columns, FV_PLAIN);
    fv_sheet_print(&sheet);
    if (!r->rows)
        fputs("no rows\n", s->out);
    if (r->more)
        fprintf(s->out, "... and more rows; --all shows them, --csv and --json print all\n");
    fv_sheet_release(&sheet);
}

static int print_text(struct statement *s)
{
    struct result r;
    int status = SQLITE_ROW;

    begin_result(&r, s);
    while (!r.more && (status = fv_sqlite.step(s->stmt)) == SQLITE_ROW) {
        r.more = r.rows == s->page->top;
        if (!r.more)
            keep_row(&r, s);
    }
    if (status == SQLITE_ROW || status == SQLITE_DONE)
        print_result(&r, s);
    free(r.columns);
    free(r.values);
    fv_arena_release(&r.arena);
    return status;
}

/* ---- what programs read ---- */

static int print_csv(struct statement *s)
{
    struct fv_csv csv = { .out = s->out };
    int status;

    for (int i = 0; i < s->columns; i++)
        fv_csv_text(&csv, fv_sqlite.column_name(s->stmt, i));
    fv_csv_line(&csv);
    while ((status = fv_sqlite.step(s->stmt)) == SQLITE_ROW && !ferror(s->out)) {
        for (int i = 0; i < s->columns; i++)
            switch (fv_sqlite.column_type(s->stmt, i)) {
            case SQLITE_NULL: fv_csv_text(&csv, ""); break;
            case SQLITE_INTEGER: fv_csv_number(&csv, fv_sqlite.column_int64(s->stmt, i)); break;
            case SQLITE_FLOAT: fv_csv_real(&csv, fv_sqlite.column_double(s->stmt, i)); break;
            default: fv_csv_text(&csv, (const char *)fv_sqlite.column_text(s->stmt, i)); break;
            }
        fv_csv_line(&csv);
    }
    return status;
}

static void put_json_row(struct fv_json *json, const struct statement *s)
{
    fv_json_array(json, NULL);
    for (int i = 0; i < s->columns; i++)
        switch (fv_sqlite.column_type(s->stmt, i)) {
        case SQLITE_NULL: fv_json_null(json, NULL); break;
        case SQLITE_INTEGER: fv_json_signed(json, NULL, fv_sqlite.column_int64(s->stmt, i)); break;
        case SQLITE_FLOAT: fv_json_real(json, NULL, fv_sqlite.column_double(s->stmt, i)); break;
        default: fv_json_string(json, NULL, (const char *)fv_sqlite.column_text(s->stmt, i)); break;
        }
    fv_json_end(json);
}

/* `complete` is the last key: where it is missing or false, so are rows. */
static int print_json(struct statement *s)
{
    struct fv_json json = { .out = s->out };
    int status;

    fv_json_object(&json, NULL);
    fv_json_array(&json, "columns");
    for (int i = 0; i < s->columns; i++)
        fv_json_string(&json, NULL, fv_sqlite.column_name(s->stmt, i));
    fv_json_end(&json);
    fv_json_array(&json, "rows");
    while ((status = fv_sqlite.step(s->stmt)) == SQLITE_ROW && !ferror(s->out))
        put_json_row(&json, s);
    fv_json_end(&json);
    fv_json_bool(&json, "complete", status == SQLITE_DONE);
    fv_json_end(&json);
    return status;
}

/* ---- the statement ---- */

static bool is_blank(struct fv_sql *sql, const char *rest)
{
    sqlite3_stmt *other = NULL;
    const bool blank = fv_sqlite.prepare_v2(sql->db, rest, -1, &other, NULL) == SQLITE_OK && !other;

    fv_sqlite.finalize(other);
    return blank;
}

/* Says what is missing in a statement that SQLite takes. */
static int check(struct statement *s, const char *rest)
{
    if (!s->stmt)
        fv_log("%s: the statement is empty; give one, such as \"SELECT * FROM ranks\"", s->sql->command);
    else if (!s->columns)
        fv_log("%s: the statement gives no rows: only SELECT is allowed", s->sql->command);
    else if (!is_blank(s->sql, rest))
        fv_log("%s: there is more than one statement; give one at a time", s->sql->command);
    else
        return 0;
    return -FV_EFORMAT;
}

static int say_denied(struct statement *s)
{
    fv_log_code = "denied";
    fv_log("%s: %s: only SELECT is allowed; nothing can be changed, opened or set", s->sql->command,
           fv_sqlite.errmsg(s->sql->db));
    return -FV_EFORMAT;
}

static int prepare(struct statement *s, const char *text)
{
    const char *rest = "";
    const int status = fv_sqlite.prepare_v2(s->sql->db, text, -1, &s->stmt, &rest);

    if (status == SQLITE_AUTH)
        return say_denied(s);
    if (status != SQLITE_OK && fv_sql_lost(s->sql)) {
        fv_log_code = "failed";
        fv_log("%s: %s", s->sql->command, fv_sqlite.errmsg(s->sql->db));
        return -FV_ENOENT;
    }
    fv_log_code = "statement";
    if (status != SQLITE_OK) {
        fv_log("%s: %s; fvmpi query --tables lists tables, --columns TABLE columns", s->sql->command,
               fv_sqlite.errmsg(s->sql->db));
        return -FV_EFORMAT;
    }
    s->columns = fv_sqlite.column_count(s->stmt);
    const int err = check(s, rest);
    fv_log_code = err ? fv_log_code : NULL;
    return err;
}

static int ended(struct statement *s, int status)
{
    const struct fv_sql *sql = s->sql;

    if (status == SQLITE_AUTH) /* of what is only known when it runs */
        return say_denied(s);
    if (fflush(s->out) || ferror(s->out))
        return -FV_EIO;
    if (status == SQLITE_DONE || status == SQLITE_ROW)
        return 0;
    fv_log_code = sql->expired ? "timeout" : "limit";
    if (sql->expired)
        fv_log("%s: the statement took longer than --timeout allows; give it more time, or ask for less", sql->command);
    else
        fv_log("%s: %s", sql->command, fv_sqlite.errmsg(sql->db));
    return -FV_ENOMEM;
}

int fv_sql_print(struct fv_sql *sql, const struct fv_sql_asked *asked, FILE *out)
{
    static int (*const forms[])(struct statement *) = { print_text, print_csv, print_json };
    struct statement s = { .sql = sql, .out = out, .page = asked->page };

    fv_sql_guard(sql);
    int err = prepare(&s, asked->statement);
    if (!err) {
        fv_sql_set_timeout(sql, asked);
        err = ended(&s, forms[asked->form](&s));
    }
    fv_sqlite.finalize(s.stmt);
    return err;
}
#endif
