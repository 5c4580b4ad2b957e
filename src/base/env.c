/* See base.h. */
#include "base/base.h"

#include <string.h>

extern char **environ;

const char *fv_env(const char *name)
{
    size_t length = strlen(name);

    for (char **entry = environ; entry && *entry; entry++)
        if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}
