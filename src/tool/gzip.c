/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/gzip.h"

#define GZIP_WINDOW (15 + 16) /* zlib's sign for gzip's format */
#define PIECE       ((size_t)1 << 30)

void fv_gzip_open(struct fv_gzip *z, FILE *out)
{
    z->out = out;
    z->stream = (z_stream){ 0 };
    z->failed = deflateInit2(&z->stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK;
}

static void pump(struct fv_gzip *z, int flush)
{
    do {
        z->stream.next_out = z->buffer;
        z->stream.avail_out = sizeof(z->buffer);
        z->failed = z->failed || deflate(&z->stream, flush) == Z_STREAM_ERROR;
        size_t bytes = sizeof(z->buffer) - z->stream.avail_out;
        z->failed = z->failed || fwrite(z->buffer, 1, bytes, z->out) != bytes;
    } while (!z->failed && !z->stream.avail_out);
}

void fv_gzip_put(struct fv_gzip *z, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t piece; bytes && !z->failed; bytes -= piece, at += piece) {
        piece = bytes < PIECE ? bytes : PIECE;
        z->stream.next_in = (unsigned char *)(size_t)at;
        z->stream.avail_in = (unsigned)piece;
        pump(z, Z_NO_FLUSH);
    }
}

bool fv_gzip_close(struct fv_gzip *z)
{
    if (!z->failed)
        pump(z, Z_FINISH);
    deflateEnd(&z->stream);
    return !z->failed && !fflush(z->out) && !ferror(z->out);
}
