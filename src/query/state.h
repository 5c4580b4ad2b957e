/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of a query share. */
#ifndef FV_QUERY_STATE_H
#define FV_QUERY_STATE_H

#include "query/query.h"
#include "query/sqlite.h"

struct fv_sql_module;
struct fv_sql {
    const char *command;
    struct fv_sql_catalogue catalogue;
    struct fv_sql_run *runs;
    size_t run_count;
    fv_sql_timeline_fn *open_timeline;
    void *context;
    struct fv_sql_module *modules; /* of each table */
    int64_t deadline_ns;           /* CLOCK_MONOTONIC; 0: none */
    bool expired, is_declaring;    /* declaring: SQLite asks whether a virtual table may be created */
#if FV_SQLITE
    sqlite3 *db;
#endif
};

#if FV_SQLITE
/* One virtual table for each of the catalogue, under its name, which is there without being created. False: SQLite
 * said why. */
bool fv_sql_modules_make(struct fv_sql *sql);
void fv_sql_modules_release(struct fv_sql *sql);
/* The first run whose trace is there, and cannot be had; NULL: none that was asked. */
const struct fv_sql_run *fv_sql_lost(const struct fv_sql *sql);

/* From here on statements only read, within limits. */
void fv_sql_guard(struct fv_sql *sql);
/* No statement goes on for longer, and the process ends soon behind that if one function of SQL does. */
void fv_sql_set_timeout(struct fv_sql *sql, const struct fv_sql_asked *asked);
bool fv_sql_is_late(struct fv_sql *sql);

/* Logs SQLite's own words. -FV_EFORMAT. */
int fv_sql_fail(struct fv_sql *sql, const char *what);
#endif

#endif
