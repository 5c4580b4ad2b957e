/* SPDX-License-Identifier: BSD-3-Clause */
/* See keys.h. */
#include "experiment/keys.h"
#include "experiment/chunks.h"
#include "tool/vec.h"

#include <string.h>

uint64_t fv_key_module(const uint8_t *build_id, size_t build_id_bytes, const char *path)
{
    uint64_t key = fv_mix2(fv_hash_bytes(build_id, build_id_bytes), fv_hash_text(fv_base_name(path)));

    return fv_key_is_no_module(key) ? ~key : key;
}

uint64_t fv_key_function(const char *name)
{
    return fv_hash_text(name);
}

uint64_t fv_key_process(const struct fv_file_header *h)
{
    uint64_t key = fv_hash_bytes(h->boot_id, sizeof(h->boot_id));

    key = fv_mix2(key, (uint64_t)(uint32_t)h->world_rank << 32 | h->pid);
    key = fv_mix2(key, h->process_start);
    key = fv_mix2(key, h->job);
    key = fv_mix2(key, h->first.ticks);
    return fv_mix2(key, (uint64_t)h->first.realtime_ns);
}

struct fv_file_identity fv_file_identity(const struct fv_reader *reader)
{
    const struct fv_file_header *h = fv_reader_header(reader);
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_THREADS);
    struct fv_file_identity out = { .process = fv_key_process(h) };
    struct fv_thread_record t;

    if (!h->traced)
        return out;
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        out.traced_calls += t.calls;
    }
    uint64_t lost, dropped = h->dropped[FV_DROP_EVENTS];
    fv_ring_begin(reader, &lost);
    dropped += lost;
    out.traced_calls -= dropped < out.traced_calls ? dropped : out.traced_calls;
    return out;
}
