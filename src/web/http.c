/* SPDX-License-Identifier: BSD-3-Clause */
/* See http.h. */
#include "web/http.h"
#include "base/base.h"

#if FV_MICROHTTPD
#include <dlfcn.h>

static const char library[] = "libmicrohttpd.so.12"; /* since 2014 */

struct fv_http fv_http;

bool fv_http_load(const char *command)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        fv_log("%s: %s; install the package libmicrohttpd12", command, dlerror());
        return false;
    }
#define FIND(name)                                                                                    \
    if (!(*(void **)&fv_http.name = dlsym(handle, #name))) {                                          \
        fv_log("%s: %s has no %s(); install libmicrohttpd 0.9.71 or later", command, library, #name); \
        return false;                                                                                 \
    }
    FV_HTTP_FUNCTIONS(FIND)
#undef FIND
    return true;
}
#else
bool fv_http_load(const char *command)
{
    fv_log("%s: this fvmpi was built without libmicrohttpd; install the package libmicrohttpd-dev and build it again",
           command);
    return false;
}
#endif
