/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the tools: arrays and strings that grow, strings that live as long as their owner, an open-addressing
 * index. Sizes are bounded by the bytes of the files that are read, and a tool that ran out of memory half-way
 * has nothing to say: allocation failure ends it with a message (never use this in the runtime). */
#ifndef FV_VEC_H
#define FV_VEC_H

#include "base/base.h"

#include <string.h>

void *fv_xcalloc(size_t count, size_t bytes);
void *fv_xrealloc(void *memory, size_t count, size_t bytes);

/* Makes room for `needed` items of `bytes`; new ones are not cleared. */
void *fv_grow_more(void *array, size_t *room, size_t needed, size_t bytes);
static inline void *fv_grow(void *array, size_t *room, size_t needed, size_t bytes)
{
    return FV_LIKELY(needed <= *room) ? array : fv_grow_more(array, room, needed, bytes);
}
#define FV_GROW(array, room, needed) ((array) = fv_grow((array), &(room), (needed), sizeof(*(array))))

/* Sorts, and adds up neighbours that are equal: into the first of them, by `add`; NULL: the first is kept.
 * Returns how many are left. */
typedef int fv_compare_fn(const void *a, const void *b);
typedef void fv_add_fn(void *to, const void *from);
size_t fv_fold(void *items, size_t count, size_t bytes, fv_compare_fn *compare, fv_add_fn *add);

/* Sorts pointers to items that are in order in a few pieces, such as one of each process: neighbouring ones are
 * merged. `compare` gets items. */
void fv_sort_pieces(const void **items, size_t count, fv_compare_fn *compare);

/* How many items of a sorted array come before a place: `before` says of the i-th whether it does. By halving:
 *
 *     size_t first = FV_COUNT_BEFORE(i, count, items[i].rank < rank);
 */
#define FV_COUNT_BEFORE(i, count, before)         \
    ({                                            \
        size_t low_ = 0, high_ = (count);         \
        while (low_ < high_) {                    \
            size_t i = low_ + (high_ - low_) / 2; \
            if (before)                           \
                low_ = i + 1;                     \
            else                                  \
                high_ = i;                        \
        }                                         \
        low_;                                     \
    })

/* A string that grows by what is added. It begins as zeros; `text` is never NULL once it was cleared or added to. */
struct fv_string {
    char *text;
    size_t used, room;
};
void fv_string_clear(struct fv_string *string); /* keeps the memory */
void fv_string_add(struct fv_string *string, const char *format, ...) FV_PRINTF(2, 3);
void fv_string_release(struct fv_string *string);

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

/* The hash of a key of whole numbers, as FV_FIND() and FV_INTERN() have it. */
static inline uint64_t fv_hash_key(const void *key, size_t bytes)
{
    const unsigned char *at = key;
    uint64_t hash = 0, part;

#pragma GCC unroll 4
    for (; bytes > sizeof(part); bytes -= sizeof(part), at += sizeof(part)) {
        memcpy(&part, at, sizeof(part));
        hash = fv_mix2(hash, part);
    }
    part = 0;
    memcpy(&part, at, bytes);
    return fv_mix2(hash, part);
}

static inline uint32_t fv_find(const struct fv_index *index, const void *items, size_t item_bytes, const void *key,
                               size_t bytes)
{
    struct fv_index_probe p = fv_index_probe(index, fv_hash_key(key, bytes));
    uint32_t i;

    while ((i = fv_index_next(&p)) != FV_NONE && memcmp((const char *)items + i * item_bytes, key, bytes))
        continue;
    return i;
}

/* `items` have room for one more. */
static inline uint32_t fv_add_item(struct fv_index *index, void *items, size_t item_bytes, size_t *count,
                                   const void *key, size_t bytes)
{
    uint32_t i = (uint32_t)(*count)++;

    memset((char *)items + i * item_bytes, 0, item_bytes);
    memcpy((char *)items + i * item_bytes, key, bytes);
    fv_index_add(index, fv_hash_key(key, bytes), i);
    return i;
}

uint32_t fv_find_name(const struct fv_index *index, const void *items, size_t item_bytes, const char *name);
uint32_t fv_add_name(struct fv_index *index, void *items, size_t item_bytes, size_t *count, struct fv_arena *arena,
                     const char *name);

/* Where items begin with their key, and its parts with no padding between them: the number of the item with
 * a key, which FV_INTERN() adds if there is none, as zeros behind its key; FV_FIND() gives FV_NONE. Items move only
 * when one is added.
 *
 *     FV_INTERN(index, items, count, room, (uint32_t[]){ lock, node })
 */
#define FV_FIND(index, items, ...) fv_find(&(index), (items), sizeof(*(items)), &(__VA_ARGS__), sizeof(__VA_ARGS__))
#define FV_INTERN(index, items, count, room, ...)                                                                     \
    ({                                                                                                                \
        uint32_t found_ = FV_FIND(index, items, __VA_ARGS__);                                                         \
        if (found_ == FV_NONE) {                                                                                      \
            FV_GROW(items, room, (count) + 1);                                                                        \
            found_ = fv_add_item(&(index), (items), sizeof(*(items)), &(count), &(__VA_ARGS__), sizeof(__VA_ARGS__)); \
        }                                                                                                             \
        found_;                                                                                                       \
    })
/* Likewise where items begin with a name, which is copied into the arena. */
#define FV_INTERN_NAME(index, items, count, room, arena, name)                                    \
    ({                                                                                            \
        uint32_t found_ = fv_find_name(&(index), (items), sizeof(*(items)), (name));              \
        if (found_ == FV_NONE) {                                                                  \
            FV_GROW(items, room, (count) + 1);                                                    \
            found_ = fv_add_name(&(index), (items), sizeof(*(items)), &(count), (arena), (name)); \
        }                                                                                         \
        found_;                                                                                   \
    })
/* The item itself. items[FV_INTERN(...)] may read `items` before they move. */
#define FV_INTERNED(index, items, count, room, ...)                     \
    ({                                                                  \
        size_t at_ = FV_INTERN(index, items, count, room, __VA_ARGS__); \
        &(items)[at_];                                                  \
    })

uint64_t fv_hash_bytes(const void *bytes, size_t count);

/* Strings; NULL is one that is not known, and equals itself alone. */
static inline bool fv_same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static inline uint64_t fv_hash_text(const char *text)
{
    return text ? fv_hash_bytes(text, strlen(text)) : 0;
}

/* For qsort() of doubles, or of structs that begin with one: smallest first. */
int fv_by_real(const void *a, const void *b);
/* Of what is sorted so, items of `bytes` bytes, at least one: between neighbours, as R's default (Hyndman and Fan,
 * 1996, type 7). */
double fv_quantile(const void *sorted, size_t bytes, size_t count, double part);
/* The same of values in any order, at least one, in time that is linear in them. They get another order. */
double fv_select(double *values, size_t count, double part);

#endif
