/* SPDX-License-Identifier: BSD-3-Clause */
/* What tables of SQL there are: all relations of a profile, those within others as well, the tables of a trace, and
 * what describes them. Names, types, units and meanings are the relations' own, so whoever adds a relation or a column
 * has it here.
 *
 * A table has the columns that JSON and flat forms have. Before them, where it is of runs: `run`; where other tables
 * lie within it: `row`, a number of the row; where it lies within another: `parent`, the `row` of that. */
#ifndef FV_QUERY_CATALOGUE_H
#define FV_QUERY_CATALOGUE_H

#include "tool/relation.h"
#include "tool/vec.h"

enum fv_sql_origin { FV_SQL_OF_PROFILE, FV_SQL_OF_TRACE, FV_SQL_OF_CATALOGUE };
/* What a column is of: the row, the row around it (fv_relation.outer), or one of those before them. */
enum fv_sql_part { FV_SQL_ROW, FV_SQL_OUTER, FV_SQL_IS_RUN, FV_SQL_IS_ROW, FV_SQL_IS_PARENT };

struct fv_sql_column {
    const char *name;
    const struct fv_column_def *def;
    enum fv_sql_part part;
};
struct fv_sql_table {
    const char *name, *doc;
    enum fv_sql_origin origin;
    struct fv_relation_place place;
    const char *parent; /* the table that it lies within; NULL: none */
    const char *recorded_by;
    bool is_parent; /* others lie within it */
    struct fv_sql_column *columns;
    size_t count;
};

struct fv_sql_described { /* a column, in words */
    const char *table, *name, *type, *unit, *exactness, *doc;
    bool nullable;
};
struct fv_sql_catalogue {
    struct fv_sql_table *tables;
    size_t count, room;
    struct fv_sql_described *described;
    size_t described_count;
    struct fv_arena arena;
};
void fv_sql_catalogue_init(struct fv_sql_catalogue *catalogue);
void fv_sql_catalogue_release(struct fv_sql_catalogue *catalogue);
/* NULL: there is none of that name. */
const struct fv_sql_table *fv_sql_table(const struct fv_sql_catalogue *catalogue, const char *name);
/* SIZE_MAX: there is none. */
size_t fv_sql_find_column(const struct fv_sql_table *table, const char *name);
/* "INTEGER", "REAL", "TEXT" */
const char *fv_sql_type(const struct fv_sql_column *column);
/* Its definition, CREATE TABLE "name" (...). Stored: `row` is its key, as a virtual table has none. The caller frees
 * it. */
char *fv_sql_definition(const struct fv_sql_table *table, const char *name, bool is_stored);

/* Tables, their columns, and the views (questions.h), as relations whose subject is the catalogue. */
extern const struct fv_relation *const fv_sql_relations[];

#endif
