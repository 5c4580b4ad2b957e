/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a table of the catalogue one by one, of one run after the other; those of a relation also by a place that
 * was kept. */
#ifndef FV_QUERY_ROWS_H
#define FV_QUERY_ROWS_H

#include "profile/relations.h"
#include "query/query.h"

/* Numbers of rows of the second run begin behind that, and so on: they are a run's own, and unique. */
#define FV_SQL_RUN_ROWS INT64_C(1000000000)

struct fv_sql_place {
    uint32_t run, index[FV_RELATION_DEPTH];
    int64_t number[FV_RELATION_DEPTH];
};

struct fv_sql_rows {
    const struct fv_sql_table *table;
    const struct fv_sql_catalogue *catalogue;
    const struct fv_sql_run *runs;
    struct fv_sql_place place;
    size_t end_run, level;
    const void *row[FV_RELATION_DEPTH];
    size_t count[FV_RELATION_DEPTH];
    struct fv_tables tables; /* of the run: callbacks make rows in it */
    bool has_tables;
};
/* Before the first row, of the runs from `first` to `end` - 1. */
void fv_sql_rows_init(struct fv_sql_rows *rows, const struct fv_sql_table *table,
                      const struct fv_sql_catalogue *catalogue, const struct fv_sql_run *runs, size_t first,
                      size_t end);
void fv_sql_rows_release(struct fv_sql_rows *rows);
bool fv_sql_rows_next(struct fv_sql_rows *rows);
void fv_sql_rows_seek(struct fv_sql_rows *rows, const struct fv_sql_place *place);
struct fv_value fv_sql_rows_value(struct fv_sql_rows *rows, const struct fv_sql_column *column);

/* What SQL has of a text or a list: clean as in JSON, a list as JSON has it. NULL: the value is a number, or null. */
const char *fv_sql_words(const struct fv_value *value, struct fv_string *out);

#endif
