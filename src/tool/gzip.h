/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is compressed while it is written, as gzip does. */
#ifndef FV_GZIP_H
#define FV_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

struct fv_gzip {
    FILE *out;
    z_stream stream;
    bool failed;
    unsigned char buffer[1 << 16];
};
void fv_gzip_open(struct fv_gzip *z, FILE *out);
void fv_gzip_put(struct fv_gzip *z, const void *data, size_t bytes);
/* False: something could not be written. */
bool fv_gzip_close(struct fv_gzip *z);

#endif
