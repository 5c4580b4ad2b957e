/* SPDX-License-Identifier: BSD-3-Clause */
/* An open-addressed table of records, each of which begins with its key, a uint64_t that is not 0. At most
 * half of the places are taken; what is erased leaves no gap, so that a search ends at the first empty place.
 * The hash is one multiplication: keys are handles and ids, which differ in their lower bits.
 *
 * `bytes` is the size of a record, the same in each call for a map: a constant, which the compiler sees.
 * Records move when others come and go: a pointer is good until then. The owner sees to it that one thread at
 * a time is inside. */
#ifndef FV_MAP_H
#define FV_MAP_H

#include "base/base.h"

struct fv_map { /* all 0: empty */
    char *place;
    uint32_t mask, shift; /* 64 - log2 of the places */
    uint32_t used;
};

/* Twice the places, at most `most` of them. False: no memory, or no more. */
bool fv_map_grow(struct fv_map *map, size_t bytes, uint32_t most);

static inline uint64_t fv_map_hash(uint64_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint32_t fv_map_home(const struct fv_map *map, uint64_t key)
{
    return (uint32_t)(fv_map_hash(key) >> map->shift);
}

static inline void *fv_map_at(const struct fv_map *map, size_t bytes, uint32_t at)
{
    return map->place + at * bytes;
}

static inline uint64_t fv_map_key(const void *record)
{
    return *(const uint64_t *)record;
}

/* The key's record, or the empty place where it would be. The map has places. */
static inline void *fv_map_place(const struct fv_map *map, size_t bytes, uint64_t key)
{
    uint32_t at = fv_map_home(map, key);
    void *record;

    while (fv_map_key(record = fv_map_at(map, bytes, at)) && fv_map_key(record) != key)
        at = (at + 1) & map->mask;
    return record;
}

/* NULL: there is none. */
static inline void *fv_map_find(const struct fv_map *map, size_t bytes, uint64_t key)
{
    void *record = FV_LIKELY(map->used) ? fv_map_place(map, bytes, key) : NULL;

    return record && fv_map_key(record) ? record : NULL;
}

/* The key's record; if there was none, a new one, of which only the key is set. NULL: no room. */
static inline void *fv_map_add(struct fv_map *map, size_t bytes, uint64_t key, uint32_t most)
{
    if (FV_UNLIKELY(map->used * 2 >= map->mask) && !fv_map_grow(map, bytes, most))
        return fv_map_find(map, bytes, key);
    void *record = fv_map_place(map, bytes, key);

    map->used += !fv_map_key(record);
    *(uint64_t *)record = key;
    return record;
}

/* Who probed past the record finds its own one place nearer. */
static inline void fv_map_erase(struct fv_map *map, size_t bytes, void *record)
{
    uint32_t hole = (uint32_t)((size_t)((char *)record - map->place) / bytes), at = hole;
    uint64_t key;

    while ((key = fv_map_key(fv_map_at(map, bytes, at = (at + 1) & map->mask))))
        if (((at - fv_map_home(map, key)) & map->mask) >= ((at - hole) & map->mask)) {
            memcpy(fv_map_at(map, bytes, hole), fv_map_at(map, bytes, at), bytes);
            hole = at;
        }
    *(uint64_t *)fv_map_at(map, bytes, hole) = 0;
    map->used--;
}

#endif
