/* SPDX-License-Identifier: BSD-3-Clause */
/* SQLite's functions, found when they are first needed. Without the library, or built without it, fv_sqlite_load() says
 * what to install. */
#ifndef FV_QUERY_SQLITE_H
#define FV_QUERY_SQLITE_H

#include <stdbool.h>

#if FV_SQLITE
#include <sqlite3.h>

#define FV_SQLITE_FUNCTIONS(X) \
    X(open_v2)                 \
    X(close)                   \
    X(errmsg)                  \
    X(changes)                 \
    X(exec)                    \
    X(free)                    \
    X(prepare_v2)              \
    X(step)                    \
    X(finalize)                \
    X(bind_text)               \
    X(column_count)            \
    X(column_name)             \
    X(column_type)             \
    X(column_int64)            \
    X(column_double)           \
    X(column_text)             \
    X(column_bytes)            \
    X(create_module)           \
    X(declare_vtab)            \
    X(vtab_collation)          \
    X(mprintf)                 \
    X(result_null)             \
    X(result_int64)            \
    X(result_double)           \
    X(result_text)             \
    X(value_type)              \
    X(value_numeric_type)      \
    X(value_int64)             \
    X(value_double)            \
    X(value_text)              \
    X(set_authorizer)          \
    X(progress_handler)        \
    X(limit)

struct fv_sqlite {
#define FV_SQLITE_MEMBER(name) __typeof__(sqlite3_##name) *name;
    FV_SQLITE_FUNCTIONS(FV_SQLITE_MEMBER)
#undef FV_SQLITE_MEMBER
};
extern struct fv_sqlite fv_sqlite;
#endif

/* False: it has said why, in the name of a command. */
bool fv_sqlite_load(const char *command);

#endif
