/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a table by the value of a column, for joins: places sorted by the hash of the value, made at the second
 * question. SQLite compares values itself, so that others of the same hash do no harm. */
#ifndef FV_QUERY_LOOKUP_H
#define FV_QUERY_LOOKUP_H

#include "query/rows.h"

struct fv_sql_entry {
    uint64_t hash;
    struct fv_sql_place place;
};
struct fv_sql_lookup {
    struct fv_sql_entry *entries;
    size_t count, room;
    unsigned asked;
    bool made;
};

uint64_t fv_sql_hash_number(double value);
uint64_t fv_sql_hash_text(const char *text);
/* True: fv_sql_lookup_find() may be asked. It is made at the second time. */
bool fv_sql_lookup_ready(struct fv_sql_lookup *lookup, const struct fv_sql_table *table, size_t column,
                         const struct fv_sql_catalogue *catalogue, const struct fv_sql_run *runs, size_t run_count);
/* Entries with that hash, in the order of rows: from *first, so many. */
size_t fv_sql_lookup_find(const struct fv_sql_lookup *lookup, uint64_t hash, size_t *first);
void fv_sql_lookup_release(struct fv_sql_lookup *lookup);

#endif
