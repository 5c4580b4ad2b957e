/* SPDX-License-Identifier: BSD-3-Clause */
/* What a statement may do: read, for so long, and no larger than that. */
#include "query/state.h"

#include "base/now.h"

#if FV_SQLITE
#include <signal.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 2000, GRACE_S = 2 }; /* of the virtual machine between two looks at the clock */

bool fv_sql_is_late(struct fv_sql *sql)
{
    sql->expired = sql->expired || (sql->deadline_ns && fv_now_ns() > sql->deadline_ns);
    return sql->expired;
}

static int progress(void *context)
{
    return fv_sql_is_late(context);
}

/* Functions that leave the process, or that tell of it. */
static bool is_denied(const char *function)
{
    static const char *const denied[] = { "load_extension", "readfile", "writefile", "edit", "fts3_tokenizer" };

    for (unsigned i = 0; i < sizeof(denied) / sizeof(*denied); i++)
        if (!strcasecmp(function, denied[i]))
            return true;
    return false;
}

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger)
{
    const struct fv_sql *sql = context;

    (void)first, (void)database, (void)trigger;
    if (sql->is_declaring)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return second && is_denied(second) ? SQLITE_DENY : SQLITE_OK;
    default: return SQLITE_DENY;
    }
}

void fv_sql_guard(struct fv_sql *sql)
{
    static const struct {
        int what, most;
    } limits[] = {
        { SQLITE_LIMIT_LENGTH, 16 << 20 },     { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
        { SQLITE_LIMIT_COLUMN, 2000 },         { SQLITE_LIMIT_EXPR_DEPTH, 200 },
        { SQLITE_LIMIT_COMPOUND_SELECT, 100 }, { SQLITE_LIMIT_VDBE_OP, 250000 },
        { SQLITE_LIMIT_ATTACHED, 0 },          { SQLITE_LIMIT_VARIABLE_NUMBER, 0 },
        { SQLITE_LIMIT_TRIGGER_DEPTH, 0 },     { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500 },
        { SQLITE_LIMIT_WORKER_THREADS, 0 },
    };

    for (unsigned i = 0; i < sizeof(limits) / sizeof(*limits); i++)
        fv_sqlite.limit(sql->db, limits[i].what, limits[i].most);
    fv_sqlite.set_authorizer(sql->db, authorize, sql);
    fv_sqlite.progress_handler(sql->db, STEPS, progress, sql);
}

static int (*before_end)(int status);

/* A function of SQL that works on long texts is one step. */
static void end(int signal)
{
    (void)signal;
    fv_log_code = "timeout";
    fv_log("query: a function of the statement took longer than --timeout allows");
    _exit(before_end(1));
}

void fv_sql_set_timeout(struct fv_sql *sql, const struct fv_sql_asked *asked)
{
    if (!(asked->timeout_s > 0))
        return;
    sql->deadline_ns = fv_now_ns() + (int64_t)(asked->timeout_s * 1e9);
    before_end = asked->end;
    signal(SIGALRM, end);
    alarm((unsigned)asked->timeout_s + GRACE_S);
}
#endif
