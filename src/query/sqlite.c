/* SPDX-License-Identifier: BSD-3-Clause */
/* See sqlite.h. */
#include "query/sqlite.h"
#include "base/base.h"

#if FV_SQLITE
#include <dlfcn.h>

static const char library[] = "libsqlite3.so.0"; /* since 2004 */

struct fv_sqlite fv_sqlite;

bool fv_sqlite_load(const char *command)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        fv_log("%s: %s; install the package libsqlite3-0", command, dlerror());
        return false;
    }
#define FIND(name)                                                                                   \
    if (!(*(void **)&fv_sqlite.name = dlsym(handle, "sqlite3_" #name))) {                            \
        fv_log("%s: %s has no sqlite3_%s(); install SQLite 3.22 or later", command, library, #name); \
        return false;                                                                                \
    }
    FV_SQLITE_FUNCTIONS(FIND)
#undef FIND
    return true;
}
#else
bool fv_sqlite_load(const char *command)
{
    fv_log("%s: this fvmpi was built without SQLite; install the package libsqlite3-dev and build it again", command);
    return false;
}
#endif
