/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory by NUMA node, as each thread sees it. */
#include "profile/build.h"
#include "profile/memory/memory.h"

#include <string.h>

static void add_seat(struct fv_allocations *out, uint32_t rank, uint32_t thread, uint32_t node, bool is_heap,
                     const uint64_t on[FV_MEMORY_NODES])
{
    struct fv_allocation_seat s = { rank, thread, is_heap, node, 0, 0, FV_NONE };
    uint64_t most = 0;

    for (uint32_t i = 0; i < FV_MEMORY_NODES; i++) {
        *(i == node ? &s.near : &s.far) += on[i];
        if (i == node || on[i] <= most)
            continue;
        most = on[i];
        s.far_node = i;
    }
    if (!s.near && !s.far)
        return;
    FV_GROW(out->seats, out->seat_room, out->seat_count + 1);
    out->seats[out->seat_count++] = s;
}

void fv_allocation_seats_read(const struct fv_build *b, struct fv_allocations *out, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_MEMORY_PLACES);
    struct fv_memory_place heap = { 0 }, place;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&place, p, sizeof(place));
        if (place.thread == FV_NO_THREAD) {
            heap = place;
            continue;
        }
        const uint32_t thread = fv_build_thread(b->model, rank, place.thread);
        if (thread == FV_NONE || place.node >= FV_MEMORY_NODES)
            continue;
        add_seat(out, rank, thread, place.node, false, place.on);
        add_seat(out, rank, thread, place.node, true, heap.on);
    }
}
