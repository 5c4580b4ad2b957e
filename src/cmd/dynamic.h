/* SPDX-License-Identifier: BSD-3-Clause */
/* What the loader would read in an ELF file: the libraries it needs and where it looks for them. Only
 * that; symbols are the report's affair. The file may be anything, so every offset and size in it is
 * checked against the bytes that are there. Bytes come through a source, so that a test feeds memory. */
#ifndef FV_DYNAMIC_H
#define FV_DYNAMIC_H

#include "base/base.h"

#include <sys/types.h>

struct fv_source {
    /* Reads exactly n bytes at offset; false: they are not all there. */
    bool (*read)(const struct fv_source *source, uint64_t offset, void *out, size_t n);
    int fd;
    const unsigned char *bytes;
    size_t size;
};

struct fv_source fv_source_of_file(int fd);
struct fv_source fv_source_of_memory(const void *bytes, size_t size);

struct fv_dynamic {
    char *strings;       /* the dynamic string table, NUL-terminated; the rest points into it */
    const char **needed; /* [needed_count] */
    size_t needed_count;
    const char *rpath, *runpath, *soname; /* NULL: none */
    uint16_t machine;
    bool has_interpreter;    /* the loader starts it: a program, and not a static one */
    bool is_program;         /* may be executed: has an entry point */
    bool has_asan, has_tsan; /* it takes from AddressSanitizer's, or ThreadSanitizer's, run-time library, or has it */
};

/* On success *out is the caller's; release it with fv_dynamic_release().
 * -FV_ENOENT: not an ELF file. -FV_EINVAL: an ELF file, but not a 64-bit one of this machine's.
 * -FV_EFORMAT: damaged. -FV_ENOMEM. */
int fv_dynamic_read(const struct fv_source *source, struct fv_dynamic *out);
void fv_dynamic_release(struct fv_dynamic *elf);

/* The same of a file; -FV_EIO: errno tells. */
int fv_dynamic_read_file(const char *path, struct fv_dynamic *out);

#endif
