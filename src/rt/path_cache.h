/* SPDX-License-Identifier: BSD-3-Clause */
/* The call paths that a thread has verified, in a radix tree. A path is a return address, where the stack was, and a
 * list of checks: which slot of the stack holds what, from the caller's frame outwards. Paths share the checks they
 * begin with. Where they differ, the slot to look at is the same for all, because what is further in says where the
 * next frame begins; what it holds finds the child. So a lookup compares each slot once, however many callers the same
 * inner frames have.
 *
 * A node has a fixed size and holds some of the checks; a long run of them is a chain of nodes. When nodes
 * run out, paths that were not used since the hand of the clock came by last are forgotten. Rejected: a list
 * of whole paths for each call site (as long as it has callers); a hash over fixed slots (what lies there in
 * other paths is chance). */
#ifndef FV_PATH_CACHE_H
#define FV_PATH_CACHE_H

#include "rt/python.h"
#include "rt/thread.h"

#define FV_PATH_NODES  3072
#define FV_PATH_CHECKS 25 /* a multiple of 4, and 1 */
#define FV_PATH_FRONT  64

struct fv_path_node {
    struct fv_path_entry entry; /* if is_path: its checks end here */
    struct fv_call_place site;  /* frame NULL: of any */
    uint64_t key;               /* in the map; 0: its parent's `only` child */
    int64_t branch;             /* where its children differ, if they are in the map */
    uint32_t parent;            /* 0: none; and: */
    uint32_t children, only;    /* `only`: the one child; 0: none, or they are in the map */
    uint8_t count;              /* of checks */
    bool is_path, is_used;
    const struct fv_path_node *inner;           /* the next one further in that has checks; NULL: none */
    const struct fv_path_check *end;            /* behind the last check, to a multiple of 4, and 1 */
    struct fv_path_check check[FV_PATH_CHECKS]; /* the last one again and again behind it, up to there */
} __attribute__((aligned(64)));

struct fv_path_place {
    uint64_t key; /* of a site, or of a child */
    uint32_t node;
};

struct fv_path_cache {
    struct fv_map map;               /* struct fv_path_place */
    uint32_t made, free, free_count; /* nodes 1..made were in use; the first free one of these, through `only` */
    uint32_t hand;
    uint64_t evicted;
    struct fv_path_entry passing;              /* of a path that is not kept: good until the next one */
    struct fv_path_node *front[FV_PATH_FRONT]; /* that were found last: two for a site */
    struct fv_path_node node[FV_PATH_NODES];
};

/* Adds a path that is not there, under a root's key. The checks are copied; their offsets are from the site's frame.
 * What it returns is good until others are added. */
struct fv_path_entry *fv_path_cache_add(struct fv_path_cache *cache, uint64_t key, struct fv_call_place site,
                                        uint32_t path, const struct fv_path_check *checks, uint32_t count);
/* A path that is not to be kept. */
struct fv_path_entry *fv_path_cache_pass(struct fv_path_cache *cache, uint32_t path);
void fv_path_cache_clear(struct fv_path_cache *cache);
/* Their cells are empty again. */
void fv_path_cache_uncount(struct fv_path_cache *cache);

/* None is remembered any more: what they say may change. From any thread. */
void fv_path_front_clear(struct fv_path_cache *cache);

static inline uint64_t fv_path_root_key(struct fv_call_place site)
{
    return (uintptr_t)site.return_address + (uintptr_t)site.frame * UINT64_C(0xd6e8feb86659fd93);
}

static inline uint64_t fv_path_child_key(uint32_t parent, uintptr_t value)
{
    return value + (parent | UINT64_C(1) << 32) * UINT64_C(0xa0761d6478bd642f);
}

static inline uint32_t fv_path_place_of(const struct fv_path_cache *cache, uint64_t key)
{
    const struct fv_path_place *place = fv_map_find(&cache->map, sizeof(*place), key);

    return place ? place->node : 0;
}

/* What a slot holds. Of one of them the thread may know it, because to read it would trap. */
__attribute__((no_sanitize("address"))) static inline uintptr_t fv_path_slot(const struct fv_thread *thread,
                                                                             uintptr_t at, bool may_trap)
{
    return may_trap && at == thread->watched ? thread->watched_value : *(const uintptr_t *)at;
}

/* 0: the slot holds what it must. */
static inline uintptr_t fv_path_difference(const struct fv_path_check *check, uintptr_t frame,
                                           const struct fv_thread *thread, bool may_trap)
{
    return fv_path_slot(thread, frame + (uintptr_t)check->offset, may_trap) ^ check->value;
}

static inline bool fv_path_is_of(const struct fv_path_node *node, struct fv_call_place site)
{
    return FV_LIKELY(node->site.frame == site.frame) && FV_LIKELY(node->site.return_address == site.return_address);
}

/* After the first one four checks are one branch, also the last ones, behind which the last is repeated: what lies in
 * the slots behind one that differs may be read, as part of the stack. */
static inline bool fv_path_holds(const struct fv_path_node *node, uintptr_t frame, const struct fv_thread *thread,
                                 bool may_trap)
{
    if (node->count && fv_path_difference(node->check, frame, thread, may_trap))
        return false;
    for (const struct fv_path_check *c = node->check + 1; c < node->end; c += 4)
        if (fv_path_difference(c, frame, thread, may_trap) | fv_path_difference(c + 1, frame, thread, may_trap) |
            fv_path_difference(c + 2, frame, thread, may_trap) | fv_path_difference(c + 3, frame, thread, may_trap))
            return false;
    return true;
}

/* Below a root (0: none). NULL: it is not there. */
static inline __attribute__((always_inline)) struct fv_path_entry *
fv_path_cache_find(struct fv_path_cache *cache, const struct fv_thread *thread, uint32_t root,
                   struct fv_call_place site, bool may_trap)
{
    const uintptr_t frame = (uintptr_t)site.frame;
    uint32_t at = fv_path_is_of(&cache->node[root], site) ? root : 0;
    struct fv_path_node *found = NULL;

    while (at) {
        struct fv_path_node *node = &cache->node[at];

        if (!fv_path_holds(node, frame, thread, may_trap))
            break;
        if (node->is_path)
            found = node;
        if (!node->children)
            break;
        at = node->only;
        if (!at) {
            uintptr_t value = fv_path_slot(thread, frame + (uintptr_t)node->branch, may_trap);

            at = fv_path_place_of(cache, fv_path_child_key((uint32_t)(node - cache->node), value));
        }
    }
    if (FV_UNLIKELY(!found))
        return NULL;
    if (FV_UNLIKELY(!found->is_used))
        found->is_used = true;
    return &found->entry;
}

/* ---- the front: most calls are from where one was before, on the same path ---- */

static inline struct fv_path_node **fv_path_front_place(struct fv_path_cache *cache, struct fv_call_place site)
{
    uint32_t mixed =
        ((uint32_t)(uintptr_t)site.return_address ^ (uint32_t)(uintptr_t)site.frame) * UINT32_C(0x9e3779b1);

    return &cache->front[mixed / (UINT32_MAX / (FV_PATH_FRONT / 2) + 1) * 2];
}

/* From memory, when it is asked the next time: a register to hold it would have to be saved first. */
#define FV_READ_AGAIN(pointer) __asm__("" : "+m"(*(const void **)(uintptr_t) & (pointer)))

/* The path of a call if it is the one that was found last (way 0), or before (way 1), of a call from there. Of a path
 * that no other one goes on, all checks stand in its node and those further in, which are looked at last: paths of one
 * place differ further out. NULL: look it up. */
static inline __attribute__((always_inline)) struct fv_path_entry *
fv_path_again(const struct fv_thread *thread, struct fv_call_place site, unsigned way)
{
    struct fv_path_cache *cache = thread->path_cache;
    struct fv_path_node *last = __atomic_load_n(&fv_path_front_place(cache, site)[way], __ATOMIC_RELAXED);
    const uintptr_t frame = (uintptr_t)site.frame;

    if (FV_UNLIKELY(!fv_path_is_of(last, site)) ||
        FV_UNLIKELY(thread->watched | (uintptr_t)__atomic_load_n(&fv_python, __ATOMIC_RELAXED)))
        return NULL;
    for (const struct fv_path_node *node = last;;) {
        const struct fv_path_check *c = node->check;

        if (FV_UNLIKELY(fv_path_difference(c, frame, thread, false)))
            return NULL;
        for (c++; c < node->end; c += 4) {
            if (FV_UNLIKELY(
                    fv_path_difference(c, frame, thread, false) | fv_path_difference(c + 1, frame, thread, false) |
                    fv_path_difference(c + 2, frame, thread, false) | fv_path_difference(c + 3, frame, thread, false)))
                return NULL;
            FV_READ_AGAIN(node->end);
        }
        if (FV_LIKELY(!node->inner))
            return &last->entry;
        FV_READ_AGAIN(node->inner);
        node = node->inner;
    }
}

/* A path that was found is looked for here first, where the clock is the counter: who finds it reads that. */
static inline void fv_path_front_keep(struct fv_path_cache *cache, struct fv_call_place site,
                                      struct fv_path_entry *entry)
{
    struct fv_path_node *node = (struct fv_path_node *)entry; /* which begins with it */
    struct fv_path_node **place = fv_path_front_place(cache, site);

    if (FV_LIKELY(node->count && !node->children && fv_clock_is_counter())) {
        __atomic_store_n(&place[1], __atomic_load_n(&place[0], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        __atomic_store_n(&place[0], node, __ATOMIC_RELAXED);
    }
}

#endif
