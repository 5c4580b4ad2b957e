/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for files by the numbers that a rank file has: those of enum fv_io_function, and those of its own. File
 * systems by the numbers that Linux gives them (statfs(2)). */
#ifndef FV_IO_WORDS_H
#define FV_IO_WORDS_H

#include "trace/format_words.h"
#include "trace/reader.h"

struct fv_io_function_words {
    const char *name; /* of a function of the file: valid as long as `room` */
    enum fv_io_operation operation;
    enum fv_io_layer layer;
};
/* Unknown ones are "?" and do nothing. */
struct fv_io_function_words fv_io_function_in(const struct fv_reader *reader, uint64_t number,
                                              struct fv_io_function_record *room);

/* NULL, and 0: not known. What mounts have behind a name, as in "nfs4" or "fuse.sshfs", is no part of it. */
const char *fv_filesystem_name(uint64_t type);
uint64_t fv_filesystem_of(const char *name);

#endif
