/* Memory of the report: arrays that grow, strings that live as long as their owner, an open-addressing
 * index. Sizes are bounded by the bytes of the rank files, and a report that ran out of memory half-way
 * has nothing to say: allocation failure ends the tool with a message (never use this in the runtime). */
#ifndef FV_VEC_H
#define FV_VEC_H

#include "base/base.h"

void *fv_xcalloc(size_t count, size_t bytes);
void *fv_xrealloc(void *memory, size_t count, size_t bytes);

/* Makes room for `needed` items of `bytes`; new ones are not cleared. */
void *fv_grow(void *array, size_t *room, size_t needed, size_t bytes);
#define FV_GROW(array, room, needed) ((array) = fv_grow((array), &(room), (needed), sizeof(*(array))))

/* Strings and small objects, freed together. */
struct fv_arena_block;
struct fv_arena {
    struct fv_arena_block *blocks;
    size_t used, room;
};
void *fv_arena_take(struct fv_arena *arena, size_t bytes); /* cleared, 8-byte aligned */
char *fv_arena_string(struct fv_arena *arena, const char *text);
char *fv_arena_bytes(struct fv_arena *arena, const char *text, size_t length); /* adds the NUL */
char *fv_arena_printf(struct fv_arena *arena, const char *format, ...) FV_PRINTF(2, 3);
void fv_arena_release(struct fv_arena *arena);

/* From a hash to indices of an array of the caller's, who compares keys:
 *
 *     struct fv_index_probe p = fv_index_probe(&index, hash);
 *     for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
 *         if (same(&items[i], key)) return i;
 *     fv_index_add(&index, hash, count);
 */
#define FV_NONE UINT32_MAX
struct fv_index_slot {
    uint32_t hash, item; /* item + 1; 0: empty */
};
struct fv_index {
    struct fv_index_slot *slots;
    uint32_t mask;
    uint32_t used;
};
struct fv_index_probe {
    const struct fv_index *index;
    uint32_t at, hash;
};
void fv_index_add(struct fv_index *index, uint64_t hash, uint32_t item);
void fv_index_release(struct fv_index *index);

static inline struct fv_index_probe fv_index_probe(const struct fv_index *index, uint64_t hash)
{
    uint32_t stored = (uint32_t)(hash >> 32);

    return (struct fv_index_probe){ index, (uint32_t)fv_mix(stored) & index->mask, stored };
}

static inline uint32_t fv_index_next(struct fv_index_probe *p)
{
    if (!p->index->slots)
        return FV_NONE;
    for (;;) {
        struct fv_index_slot slot = p->index->slots[p->at];

        if (!slot.item)
            return FV_NONE;
        p->at = (p->at + 1) & p->index->mask;
        if (slot.hash == p->hash)
            return slot.item - 1;
    }
}

uint64_t fv_hash_bytes(const void *bytes, size_t count);

#endif
