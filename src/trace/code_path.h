/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of a module that is a function of source code: FV_CODE_ID of format.h. */
#ifndef FV_CODE_PATH_H
#define FV_CODE_PATH_H

#include <stddef.h>

/* Cut to `room` bytes with its NUL; FILE to half of them. Its length. */
static inline size_t fv_code_path(const char *file, const char *function, char *out, size_t room)
{
    size_t n = 0;

    for (; *file && n + 4 < room / 2; file++) {
        out[n++] = *file;
        if (*file == ':')
            out[n++] = ':';
    }
    out[n++] = ':';
    for (; *function && n + 1 < room; function++)
        out[n++] = *function;
    out[n] = '\0';
    return n;
}

#endif
