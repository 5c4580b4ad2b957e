/* SPDX-License-Identifier: BSD-3-Clause */
/* See database.h. */
#include "cmd/database.h"
#include "cmd/output.h"
#include "cmd/timelines.h"
#include "query/query.h"

#include <errno.h>

static const char option[] = "--sqlite";

bool fv_is_traced(const struct fv_model *m)
{
    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].traced)
            return true;
    return false;
}

static bool open_timeline(void *context, size_t run, struct fv_timeline_file *out)
{
    const char *trace = context;

    (void)run;
    return trace && fv_trace_timeline_of(trace, out);
}

/* SQLite opens files by name: that of the new file, which then takes its place. */
int fv_database_write(const struct fv_profile *profile, const char *name, const char *trace,
                      const struct fv_timeline_choice *part, const char *path)
{
    struct fv_sql_run run = { .name = name, .profile = (struct fv_profile *)(uintptr_t)profile, .traced = trace };
    struct fv_sql *sql = fv_sql_open("report", &run, 1, open_timeline, (void *)(uintptr_t)trace);
    struct fv_whole_file file;
    int err = sql ? fv_output_open(&file, path, option) : -FV_ENOENT;

    if (!err && !file.part) {
        fv_log("%s: it is no file of its own, which a database needs; name another for %s", path, option);
        fv_whole_file_close(&file, err = -FV_EINVAL);
    } else if (!err && (err = fv_sql_write(sql, part, file.part)))
        fv_whole_file_close(&file, err); /* which has said why */
    else if (!err)
        err = fv_output_close(&file, path, option, 0);
    fv_sql_close(sql);
    return err;
}
