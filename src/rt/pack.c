/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression of full chunks of events. The library stays one of libc, MPI and libunwind: libzstd is asked
 * for at run time, and only where the user wants it. What it allocates is the application's heap, outside of
 * calls. */
#include "rt/events.h"
#include "rt/remarks.h"

#include <dlfcn.h>
#include <string.h>

static struct {
    size_t (*compress)(void *to, size_t room, const void *from, size_t bytes, int level);
    size_t (*bound)(size_t bytes);
    unsigned (*is_error)(size_t code);
} zstd;

void fv_pack_init(void)
{
    if (!fv_rt.options.trace_zstd || fv_rt.options.trace_keep) /* chunks of a ring keep their sizes */
        return;
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library) {
        *(void **)&zstd.compress = dlsym(library, "ZSTD_compress");
        *(void **)&zstd.bound = dlsym(library, "ZSTD_compressBound");
        *(void **)&zstd.is_error = dlsym(library, "ZSTD_isError");
    }
    if (!zstd.compress || !zstd.bound || !zstd.is_error) {
        zstd.compress = NULL;
        fv_remark(fv_rt.world_rank == 0,
                  "FVMPI_TRACE_ZSTD: libzstd.so.1: not found; the trace is not compressed. Install libzstd");
    }
}

bool fv_pack_wanted(void)
{
    return zstd.compress != NULL;
}

size_t fv_pack_events(const struct fv_chunk_header *chunk, struct fv_packed_events **out, size_t *room)
{
    size_t need = sizeof(**out) + zstd.bound(chunk->used);

    if (*room < need) {
        if (*room)
            fv_memory_free(*out, *room);
        *out = fv_memory_new(need);
        *room = *out ? need : 0;
        if (!*out)
            return 0;
    }
    size_t bytes = zstd.compress(*out + 1, need - sizeof(**out), chunk + 1, chunk->used, (int)fv_rt.options.trace_zstd);
    if (zstd.is_error(bytes) || bytes < chunk->used / FV_PACKED_MOST + 1)
        return 0;
    **out = (struct fv_packed_events){ .used = chunk->used, .bytes = bytes };
    return sizeof(**out) + bytes;
}
