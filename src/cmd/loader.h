/* SPDX-License-Identifier: BSD-3-Clause */
/* Which libraries the dynamic loader would bring into a program: ld.so(8)'s search, over files that are
 * only read. Rejected: ldd, which runs the program's own interpreter. */
#ifndef FV_LOADER_H
#define FV_LOADER_H

#include "base/base.h"

struct fv_library {
    char *name; /* as needed: a soname, mostly */
    char *path; /* NULL: not found */
    char *by;   /* path of the file that needs it first */
};

struct fv_libraries {
    struct fv_library *items;
    size_t count, room;
};

/* All libraries that the program needs, itself not among them, in the loader's order (breadth first).
 * On success *out is the caller's; release it. Errors as of fv_dynamic_read_file(), of the program alone: a
 * library that is damaged is listed and not followed. */
int fv_loader_scan(const char *program, struct fv_libraries *out);
void fv_libraries_release(struct fv_libraries *libraries);

/* ---- /etc/ld.so.cache, for tests ---- */

struct fv_loader_cache {
    unsigned char *bytes;
    size_t size;
    size_t base; /* of the part in the new format */
};
/* Looks at a cache in memory, which must be NUL-terminated behind `size`. false: not one we know. */
bool fv_loader_cache_check(struct fv_loader_cache *cache);
/* The index-th path that the cache has for a name, from 0; NULL: no more. */
const char *fv_loader_cache_find(const struct fv_loader_cache *cache, const char *name, unsigned index);

#endif
