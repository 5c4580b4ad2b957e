/* See dump.h. */
#include "cmd/dump.h"

#include <stdio.h>

void fv_dump_text(const char *key, const char *text, size_t bytes)
{
    printf(" %s=\"", key);
    for (size_t i = 0; i < bytes && text[i]; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            printf("\\x%02x", c);
        else
            putchar(c);
    }
    putchar('"');
}
