/* SPDX-License-Identifier: BSD-3-Clause */
/* See check_map.h. */
#include "otf2/check_map.h"

#include "tool/vec.h"

#include <stdlib.h>
#include <string.h>

static size_t home(const struct fv_check_map *map, const struct fv_key *key)
{
    return (size_t)fv_mix2(fv_mix2(key->a, key->b), key->kind) & (map->room - 1);
}

struct fv_entry *fv_check_map_find(const struct fv_check_map *map, const struct fv_key *key)
{
    if (!map->room)
        return NULL;
    for (size_t i = home(map, key); map->slots[i].what; i = (i + 1) & (map->room - 1))
        if (fv_key_equal(&map->slots[i].key, key))
            return &map->slots[i];
    return NULL;
}

static void place(struct fv_check_map *map, const struct fv_entry *entry)
{
    size_t i = home(map, &entry->key);

    while (map->slots[i].what)
        i = (i + 1) & (map->room - 1);
    map->slots[i] = *entry;
}

static void widen(struct fv_check_map *map)
{
    struct fv_check_map old = *map;

    map->room = old.room ? old.room * 2 : 64;
    map->slots = fv_xcalloc(map->room, sizeof(*map->slots));
    for (size_t i = 0; i < old.room; i++)
        if (old.slots[i].what)
            place(map, &old.slots[i]);
    free(old.slots);
}

void fv_check_map_add(struct fv_check_map *map, const struct fv_entry *entry)
{
    if (map->used * 2 >= map->room)
        widen(map);
    place(map, entry);
    map->used++;
}

void fv_check_map_remove(struct fv_check_map *map, struct fv_entry *entry)
{
    size_t mask = map->room - 1, hole = (size_t)(entry - map->slots);

    for (size_t i = (hole + 1) & mask; map->slots[i].what; i = (i + 1) & mask) {
        size_t want = home(map, &map->slots[i].key);

        if (((i - want) & mask) < ((i - hole) & mask))
            continue; /* it would come before its home */
        map->slots[hole] = map->slots[i];
        hole = i;
    }
    map->slots[hole].what = 0;
    map->used--;
}

void fv_check_map_clear(struct fv_check_map *map)
{
    if (map->used)
        memset(map->slots, 0, map->room * sizeof(*map->slots));
    map->used = 0;
}

void fv_check_map_release(struct fv_check_map *map)
{
    free(map->slots);
    *map = (struct fv_check_map){ 0 };
}
