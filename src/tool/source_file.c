/* SPDX-License-Identifier: BSD-3-Clause */
/* See source_file.h. */
#include "tool/source_file.h"
#include "tool/vec.h"
#include "tool/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

FILE *fv_source_open(const struct fv_source_place *place, const char *file, char path[FV_SOURCE_PATH], struct stat *st,
                     const char **why)
{
    size_t old = place->old_prefix ? strlen(place->old_prefix) : 0;
    bool moved = place->old_prefix && !strncmp(file, place->old_prefix, old);
    FILE *in = NULL;

    snprintf(path, FV_SOURCE_PATH, "%s%s", moved ? place->new_prefix : "", moved ? file + old : file);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        *why = strerror(errno);
        return NULL;
    }
    *why = "not a regular file";
    if (!fstat(fd, st) && S_ISREG(st->st_mode) && !(in = fdopen(fd, "r")))
        *why = strerror(errno);
    if (!in)
        close(fd);
    return in;
}

char *fv_source_line(const char *text, char **memory, size_t *room)
{
    size_t bytes = 8 * strlen(text) + 1, used = 0;
    char *expanded;

    *memory = fv_grow(*memory, room, 2 * bytes, 1);
    expanded = *memory + bytes;
    for (const char *p = text; *p && *p != '\n' && *p != '\r'; p++)
        if (*p == '\t')
            do
                expanded[used++] = ' ';
            while (used % 8);
        else
            expanded[used++] = *p;
    expanded[used] = '\0';
    return fv_words_clean(expanded, *memory, bytes);
}
