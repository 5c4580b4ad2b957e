/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that reads debug information: what stands behind lines.h. */
#ifndef FV_LINES_READER_H
#define FV_LINES_READER_H

#include "symbols/lines.h"

struct fv_lines_reader {
    void *(*open)(const char *path, const char *program);
    size_t (*find)(void *object, uint64_t address, struct fv_code_line *out, size_t room);
    bool (*unread)(const void *object, char *out, size_t bytes);
    void (*close)(void *object);
};

extern const struct fv_lines_reader fv_lines_bfd;
extern const struct fv_lines_reader fv_lines_dw; /* where the build has libdw */

#endif
