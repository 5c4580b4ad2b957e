/* SPDX-License-Identifier: BSD-3-Clause */
/* See map.h. */
#include "rt/map.h"
#include "rt/process.h"

#define FIRST 64

FV_COLD bool fv_map_grow(struct fv_map *map, size_t bytes, uint32_t most)
{
    uint32_t places = map->place ? (map->mask + 1) * 2 : FIRST;
    struct fv_map bigger = { .mask = places - 1, .shift = (uint32_t)__builtin_clzll(places) + 1, .used = map->used };

    if (places > most || !(bigger.place = fv_memory_new(places * bytes)))
        return false;
    for (uint32_t i = 0; map->place && i <= map->mask; i++) {
        const void *record = fv_map_at(map, bytes, i);

        if (fv_map_key(record))
            memcpy(fv_map_place(&bigger, bytes, fv_map_key(record)), record, bytes);
    }
    if (map->place)
        fv_memory_free(map->place, (map->mask + 1) * bytes);
    *map = bigger;
    return true;
}
