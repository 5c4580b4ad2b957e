/* SPDX-License-Identifier: BSD-3-Clause */
/* See lines.h: which library reads. What libdw finds no units in, as sections that it cannot decompress,
 * libbfd is asked about. */
#include "symbols/lines_reader.h"
#include "base/without.h"
#include "tool/vec.h"

#include <stdlib.h>

struct fv_lines {
    const struct fv_lines_reader *reader;
    void *object;
};

static bool try_to_open(struct fv_lines *l, const struct fv_lines_reader *reader, const char *path, const char *program)
{
    l->reader = reader;
    l->object = reader->open(path, program);
    return l->object;
}

struct fv_lines *fv_lines_open(const char *path, const char *program)
{
    struct fv_lines l, *lines;

#ifdef HAVE_LIBDW
    if ((fv_without("libdw") || !try_to_open(&l, &fv_lines_dw, path, program)) &&
        !try_to_open(&l, &fv_lines_bfd, path, program))
        return NULL;
#else
    if (!try_to_open(&l, &fv_lines_bfd, path, program))
        return NULL;
#endif
    lines = fv_xcalloc(1, sizeof(*lines));
    *lines = l;
    return lines;
}

size_t fv_lines_find(struct fv_lines *l, uint64_t address, struct fv_code_line *out, size_t room)
{
    return l->reader->find(l->object, address, out, room);
}

bool fv_lines_unread(const struct fv_lines *l, char *out, size_t bytes)
{
    return l->reader->unread(l->object, out, bytes);
}

void fv_lines_close(struct fv_lines *l)
{
    if (!l)
        return;
    l->reader->close(l->object);
    free(l);
}
