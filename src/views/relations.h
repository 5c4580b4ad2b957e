/* SPDX-License-Identifier: BSD-3-Clause */
/* What is written from relations alone (tool/relation.h): JSON and its schema, CSV, one table as text. */
#ifndef FV_VIEWS_RELATIONS_H
#define FV_VIEWS_RELATIONS_H

#include "tool/json_stream.h"
#include "tool/relation.h"
#include "tool/table.h"

#include <stdio.h>

/* What to write of relations with a row for each rank (struct fv_relation.by_rank). */
enum fv_json_ranks {
    FV_JSON_RANKS_ALL,
    FV_JSON_RANKS_SUMMARY, /* of each column: count, mean, deviation, smallest and largest, quartiles */
    FV_JSON_RANKS_NONE,
};

/* Each relation of the set under its key, in the outermost object, which is open. A relation by rank is two
 * keys, KEY and KEY_summary, one of which is null. */
void fv_json_relations(struct fv_json *json, const struct fv_relation *const *set, void *subject,
                       enum fv_json_ranks ranks);

#define FV_JSON_SUMMARY_KEYS 11
extern const char *const fv_json_summary_keys[FV_JSON_SUMMARY_KEYS];

void fv_json_value(struct fv_json *json, const char *key, const struct fv_value *value);

/* The JSON Schema (draft 2020-12) of an object with `schema` and the set's keys. -FV_EIO: errno tells. */
int fv_json_schema(const char *schema, const char *title, const struct fv_relation *const *set, FILE *out);

/* An object of the set's tables, or of one, as --table has them: {NAME: {"description", "columns": {KEY: the JSON
 * Schema of its values}}}. -FV_EIO: errno tells. */
int fv_json_tables(const char *table, const struct fv_relation *const *set, FILE *out);

struct fv_csv;
void fv_csv_values(struct fv_csv *csv, const struct fv_value *values, size_t count);
/* One file for each relation that has a name: NAME.csv in the directory, which is made. Those of which
 * nothing was recorded are left out, and the file that an earlier report left of such a table is removed. Has logged
 * when it fails. */
int fv_csv_relations(const struct fv_relation *const *set, void *subject, const char *directory);

/* What `fvmpi report --table` asks of a relation. Texts are the user's words. */
struct fv_query {
    const char *table;
    const char *columns;      /* "A,B"; NULL: all */
    const char *sort;         /* "COL", or "-COL": largest first; NULL: the relation's order */
    const char *const *where; /* "COL>VALUE", with one of < <= = != >= > ~ (contains); "COL=": not known, "COL!=":
                               * known */
    size_t where_count;
    const char *ranks, *threads; /* "0-3,7"; NULL: all */
    const char *function;        /* rows of this function, or of what it called; NULL: all */
    size_t *met;                 /* rows are added to it, and a table without any is not printed; NULL: it is */
    size_t top;                  /* SIZE_MAX: all */
    /* was it recorded with this option? NULL: not known */
    bool (*asked_for)(const void *subject, const char *flag, size_t bytes);
};
enum fv_query_form { FV_QUERY_TEXT, FV_QUERY_CSV, FV_QUERY_JSON };
/* -FV_EFORMAT: the query names what there is not, which has been logged. */
int fv_query_check(const struct fv_query *query, const struct fv_relation *const *set);
/* Says on stderr what the rows do not: that nothing was recorded, or not of ranks or threads that are asked for.
 * -FV_EFORMAT as above; -FV_EIO: errno tells. */
int fv_query_print(const struct fv_query *query, const struct fv_relation *const *set, void *subject,
                   enum fv_query_form form, const struct fv_page *page, FILE *out);

/* What tables there are, or the columns of one of them, with their meaning. -FV_EFORMAT as above. */
int fv_query_columns(const char *table, const struct fv_relation *const *set, const struct fv_page *page, FILE *out);
/* Says that there is no table of the name, and which was meant. -FV_EFORMAT. */
int fv_query_no_table(const struct fv_relation *const *set, const char *table);

#endif
