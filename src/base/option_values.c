/* SPDX-License-Identifier: BSD-3-Clause */
/* See options.h: values of options that others read, too. No locale decides what a number is. */
#include "base/options.h"

#include <string.h>

const char *fv_parse_size(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return "too large";
    if (p == text)
        return "not a size, such as 4M, 512k or 1G";

    static const char units[] = "kmgt";
    const char *unit = *p ? strchr(units, *p | 0x20) : NULL;
    if (unit) {
        if (__builtin_mul_overflow(value, UINT64_C(1) << 10 * (unit - units + 1), &value))
            return "too large";
        p++;
        if (*p == 'i' && p[1] == 'B')
            p++;
    }
    if (*p == 'B')
        p++;
    if (*p)
        return "not a size, such as 4M, 512k or 1G";
    *out = value;
    return NULL;
}

bool fv_parse_section_number(const char *text, struct fv_section_number *out)
{
    const char *colon = strrchr(text, ':'), *p = colon ? colon + 1 : "";
    double value = 0, unit = 1;

    for (bool behind = false; (*p >= '0' && *p <= '9') || (*p == '.' && !behind); p++) {
        if (*p != '.')
            value = value * 10 + (*p - '0');
        unit *= behind ? 10 : 1;
        behind = behind || *p == '.';
    }
    const bool is_number = colon && p > colon + 1 && !*p;
    const size_t length = is_number ? (size_t)(colon - text) : strlen(text);
    if (!length || length >= sizeof(out->section) || (is_number && !(value > 0)))
        return false;
    *out = (struct fv_section_number){ .number = is_number ? value / unit : 0 };
    memcpy(out->section, text, length);
    return true;
}
