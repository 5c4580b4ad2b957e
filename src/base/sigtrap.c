/* SPDX-License-Identifier: BSD-3-Clause */
/* See sigtrap.h. */
#include "base/sigtrap.h"

#include <stdlib.h>
#include <sys/utsname.h>

static uint64_t add(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = fv_mix2(hash, (unsigned char)*text);
    return fv_mix2(hash, 0);
}

void fv_sigtrap_kernel(char out[17])
{
    static const char digits[] = "0123456789abcdef";
    struct utsname name;
    uint64_t hash = uname(&name) ? 0 : add(add(1, name.release), name.version);

    for (unsigned i = 0; i < 16; i++)
        out[i] = digits[hash >> 4 * i & 15];
    out[16] = '\0';
}

bool fv_sigtrap_is_safe(void)
{
    const char *tried = fv_env(FV_SIGTRAP_VARIABLE);
    char kernel[17];

    fv_sigtrap_kernel(kernel);
    return tried && !strcmp(tried, kernel);
}
