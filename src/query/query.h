/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs asked by SQL: SQLite, over the tables of the catalogue as virtual tables. Nothing is copied and nothing can be
 * changed: a statement reads, within limits. */
#ifndef FV_QUERY_H
#define FV_QUERY_H

#include "profile/profile.h"
#include "query/catalogue.h"
#include "timeline/timeline_read.h"

#include <stdio.h>

struct fv_sql_run {
    const char *name;                 /* in the column `run` */
    struct fv_profile *profile;       /* the caller's */
    bool traced;                      /* a statement on its trace fails where that cannot be had */
    struct fv_timeline_file timeline; /* of a trace, once a statement wants it */
    bool has_timeline, was_asked;
};
/* Opens the timeline of a run. False: there is none, which it has said. */
typedef bool fv_sql_timeline_fn(void *context, size_t run, struct fv_timeline_file *out);

struct fv_sql;
/* NULL: there is no SQLite, which was said in the name of the command. The runs are the caller's, and stay. */
struct fv_sql *fv_sql_open(const char *command, struct fv_sql_run *runs, size_t count, fv_sql_timeline_fn *timeline,
                           void *context);
void fv_sql_close(struct fv_sql *sql); /* NULL is fine */
const struct fv_sql_catalogue *fv_sql_catalogue(const struct fv_sql *sql);

enum fv_sql_form { FV_SQL_TEXT, FV_SQL_CSV, FV_SQL_JSON };
struct fv_sql_asked {
    const char *statement;
    enum fv_sql_form form;
    double timeout_s;       /* from here on the process ends within that time; 0: none */
    int (*end)(int status); /* is called before it does so by a signal; allocates nothing */
    const struct fv_page *page;
};
/* Runs a statement and prints its rows. -FV_EFORMAT: the statement is wrong, or not allowed; -FV_ENOMEM: it is over a
 * limit; -FV_ENOENT: there is a trace that cannot be had; these it has said. -FV_EIO: errno tells. */
int fv_sql_print(struct fv_sql *sql, const struct fv_sql_asked *asked, FILE *out);

/* Writes all tables, views and what describes them to a new database at `path`; of a trace a part. Has logged when it
 * fails. */
int fv_sql_write(struct fv_sql *sql, const struct fv_timeline_choice *part, const char *path);

#endif
