/* SPDX-License-Identifier: BSD-3-Clause */
/* See without.h. */
#include "base/without.h"

#include <stdlib.h>
#include <string.h>

bool fv_without(const char *name)
{
    const char *list = fv_env("FVMPI_WITHOUT");
    size_t length = strlen(name);

    while (list && *list) {
        size_t word = strcspn(list, ",");

        if (word == length && !memcmp(list, name, length))
            return true;
        list += word + (list[word] == ',');
    }
    return false;
}
