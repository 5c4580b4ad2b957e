/* SPDX-License-Identifier: BSD-3-Clause */
/* See clean.h. */
#include "base/clean.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- UTF-8 (RFC 3629) ---- */

int32_t fv_utf8_next(const char **p)
{
    const unsigned char *s = (const unsigned char *)*p;
    int more = s[0] < 0x80                   ? 0
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 1
               : (s[0] & 0xf0) == 0xe0       ? 2
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 3
                                             : -1;
    int32_t c = more == 0 ? s[0] : more > 0 ? s[0] & (0x3f >> more) : -1;

    for (int i = 1; i <= more && c >= 0; i++)
        c = (s[i] & 0xc0) == 0x80 ? c << 6 | (s[i] & 0x3f) : -1;
    /* Overlong forms, surrogates, and beyond Unicode. */
    if ((more == 2 && c < 0x800) || (more == 3 && (c < 0x10000 || c > 0x10ffff)) || (c >= 0xd800 && c < 0xe000))
        c = -1;
    *p += c < 0 ? 1 : more + 1;
    return c;
}

size_t fv_words_clean_next(const char **text, char out[FV_CLEAN])
{
    static const char hex[] = "0123456789abcdef";
    const char *begin = *text;

    if (!*begin)
        return 0;
    int32_t c = fv_utf8_next(text);
    size_t length = (size_t)(*text - begin);
    bool plain = c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && !(c >= 0x202a && c <= 0x202e) &&
                 !(c >= 0x2066 && c <= 0x2069); /* also no changes of writing direction */

    if (plain) {
        memcpy(out, begin, length);
        return length;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)begin[i];

        memcpy(out + 4 * i, (const char[]){ '\\', 'x', hex[byte >> 4], hex[byte & 15] }, 4);
    }
    return 4 * length;
}

char *fv_words_clean(const char *text, char *out, size_t bytes)
{
    char next[FV_CLEAN];
    size_t used = 0;

    for (size_t length; (length = fv_words_clean_next(&text, next)) && used + length + 1 <= bytes; used += length)
        memcpy(out + used, next, length);
    out[used] = '\0';
    return out;
}
