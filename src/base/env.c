/* SPDX-License-Identifier: BSD-3-Clause */
/* See base.h. */
#include "base/base.h"

#include <string.h>
#include <sys/auxv.h>

extern char **environ;

bool fv_has_more_rights(void)
{
    return getauxval(AT_SECURE);
}

const char *fv_env(const char *name)
{
    const bool more_rights = fv_has_more_rights();
    size_t length = strlen(name);

    for (char **entry = environ; entry && *entry && !more_rights; entry++)
        if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}
