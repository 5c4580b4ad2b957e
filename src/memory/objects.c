/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects by address, in shards with a lock each. A free's first question is answered by a filter without any
 * (front/memory.h). A thread asks while nobody in it is told of anything else, so that a signal handler never waits
 * here for what it has interrupted; one that leaves by longjmp() in the few nanoseconds that a shard is held, spoils
 * that shard, which others give up after a while. */
#include "memory/memory.h"

enum {
    SHARDS = 64,
    MOST = 1 << 26,   /* places of a shard */
    PATIENCE = 20000, /* tries: about a second */
};

static struct shard {
    struct fv_lock lock;
    bool is_spoilt;
    struct fv_map map;
} __attribute__((aligned(64))) shards[SHARDS];

static struct shard *shard_of(uint64_t address)
{
    return &shards[fv_mix(address >> 4) % SHARDS];
}

static bool hold(struct shard *s)
{
    if (FV_UNLIKELY(__atomic_load_n(&s->is_spoilt, __ATOMIC_RELAXED)))
        return false;
    for (unsigned tries = 0; !fv_try_lock(&s->lock); tries++) {
        if (tries == PATIENCE) {
            __atomic_store_n(&s->is_spoilt, true, __ATOMIC_RELAXED);
            return false;
        }
        fv_lock_wait(tries);
    }
    return true;
}

/* It may take long: no handler comes in between. */
static FV_COLD bool grow(struct shard *s)
{
    uint64_t signals = fv_signals_hold();
    bool done = fv_map_grow(&s->map, sizeof(struct fv_object), MOST);

    fv_signals_go_on(signals);
    return done;
}

static void filter_more(uint32_t hash)
{
    uint8_t *count = &fvmpi_memory_v1.filter[hash], was = __atomic_load_n(count, __ATOMIC_RELAXED);

    while (was < UINT8_MAX &&
           !__atomic_compare_exchange_n(count, &was, (uint8_t)(was + 1), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void filter_less(uint32_t hash)
{
    uint8_t *count = &fvmpi_memory_v1.filter[hash], was = __atomic_load_n(count, __ATOMIC_RELAXED);

    while (was && was < UINT8_MAX &&
           !__atomic_compare_exchange_n(count, &was, (uint8_t)(was - 1), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

bool fv_object_add(struct fv_object object)
{
    struct shard *s = shard_of(object.address);
    struct fv_object *place = NULL;

    if (!hold(s))
        return false;
    if (FV_LIKELY(s->map.used * 2 < s->map.mask) || grow(s)) {
        bool was_there = s->map.place && fv_map_find(&s->map, sizeof(object), object.address);

        place = fv_map_add(&s->map, sizeof(object), object.address, MOST);
        if (place)
            *place = object;
        if (place && !was_there && !fvmpi_memory_v1.is_exact)
            filter_more(fv_front_hash((const void *)(uintptr_t)object.address));
    }
    fv_unlock(&s->lock);
    return place;
}

struct fv_object fv_object_take(const void *address)
{
    struct shard *s = shard_of((uintptr_t)address);
    struct fv_object found = { 0 };

    if (!hold(s))
        return found;
    struct fv_object *place = fv_map_find(&s->map, sizeof(found), (uintptr_t)address);
    if (place) {
        found = *place;
        fv_map_erase(&s->map, sizeof(found), place);
        if (!fvmpi_memory_v1.is_exact)
            filter_less(fv_front_hash(address));
    }
    fv_unlock(&s->lock);
    return found;
}
