/* SPDX-License-Identifier: BSD-3-Clause */
/* See path_cache.h. */
#include "rt/path_cache.h"
#include "rt/statistics.h"

_Static_assert(FV_PATH_NODES *(uint64_t)FV_CELL_UNASKED <= UINT32_MAX - FV_CELL_FULL, "counts of cells may wrap");

static struct fv_path_node *node_at(struct fv_path_cache *cache, uint32_t at)
{
    return &cache->node[at];
}

/* Node 0, which is none and of no call, stands in for none. */
void fv_path_front_clear(struct fv_path_cache *cache)
{
    for (unsigned i = 0; i < FV_PATH_FRONT; i++)
        __atomic_store_n(&cache->front[i], cache->node, __ATOMIC_RELAXED);
}

/* ---- nodes come and go ---- */

static void put_place(struct fv_path_cache *cache, uint64_t key, uint32_t node)
{
    struct fv_path_place *place = fv_map_find(&cache->map, sizeof(*place), key);

    place->node = node;
}

static bool add_place(struct fv_path_cache *cache, uint64_t key, uint32_t node)
{
    struct fv_path_place *place = fv_map_add(&cache->map, sizeof(*place), key, 4 * FV_PATH_NODES);

    if (!place)
        return false;
    place->node = node;
    node_at(cache, node)->key = key;
    return true;
}

static void free_node(struct fv_path_cache *cache, uint32_t at)
{
    *node_at(cache, at) = (struct fv_path_node){ .only = cache->free };
    cache->free = at;
    cache->free_count++;
}

/* There is one: make_room() has seen to it. */
static uint32_t take_node(struct fv_path_cache *cache, struct fv_call_place site)
{
    uint32_t at = cache->free;

    if (at) {
        cache->free = node_at(cache, at)->only;
        cache->free_count--;
    } else {
        at = ++cache->made;
    }
    *node_at(cache, at) = (struct fv_path_node){ .site = site };
    return at;
}

/* A path without children, and what only led to it. */
static void remove_path(struct fv_path_cache *cache, uint32_t at)
{
    uint32_t parent;

    do {
        struct fv_path_node *node = node_at(cache, at);

        parent = node->parent;
        if (node->key)
            fv_map_erase(&cache->map, sizeof(struct fv_path_place),
                         fv_map_find(&cache->map, sizeof(struct fv_path_place), node->key));
        else if (parent)
            node_at(cache, parent)->only = 0;
        if (parent)
            node_at(cache, parent)->children--;
        free_node(cache, at);
        at = parent;
    } while (parent && !node_at(cache, parent)->children && !node_at(cache, parent)->is_path);
}

static bool evict_one(struct fv_path_cache *cache)
{
    for (unsigned i = 0; i < 2 * FV_PATH_NODES; i++) {
        struct fv_path_node *node = node_at(cache, cache->hand = cache->hand % cache->made + 1);

        if (!node->is_path || node->children)
            continue;
        if (!node->is_used) {
            remove_path(cache, cache->hand);
            cache->evicted++;
            return true;
        }
        node->is_used = false;
    }
    return false;
}

static bool make_room(struct fv_path_cache *cache, uint32_t nodes)
{
    while (cache->free_count + (FV_PATH_NODES - 1 - cache->made) < nodes)
        if (!evict_one(cache))
            return false;
    return true;
}

/* ---- the tree ---- */

/* See fv_path_holds(). */
static void set_count(struct fv_path_node *node, uint32_t count)
{
    uint32_t i = count;

    node->count = (uint8_t)count;
    for (; i && i % 4 != 1; i++)
        node->check[i] = node->check[count - 1];
    node->end = node->check + i;
}

static void set_parent(struct fv_path_cache *cache, uint32_t at, uint32_t parent)
{
    const struct fv_path_node *inner = parent ? node_at(cache, parent) : NULL;

    node_at(cache, at)->parent = parent;
    node_at(cache, at)->inner = inner && !inner->count ? inner->inner : inner;
}

/* Parts a node: a new one in its place gets its first `count` checks, which are none at a root whose paths have only
 * the site in common. The node itself stays what it was further out. */
static uint32_t split(struct fv_path_cache *cache, uint32_t at, uint32_t count)
{
    struct fv_path_node *node = node_at(cache, at);
    uint32_t inner = take_node(cache, node->site);
    struct fv_path_node *first = node_at(cache, inner);

    memcpy(first->check, node->check, count * sizeof(node->check[0]));
    set_count(first, count);
    first->key = node->key;
    set_parent(cache, inner, node->parent);
    first->only = at;
    first->children = 1;
    if (first->key)
        put_place(cache, first->key, inner);
    else
        node_at(cache, first->parent)->only = inner;
    memmove(node->check, node->check + count, (node->count - count) * sizeof(node->check[0]));
    set_count(node, node->count - count);
    node->key = 0;
    set_parent(cache, at, inner);
    return inner;
}

/* Nodes for the checks, each the only child of the one before. */
struct chain {
    uint32_t first, last;
};

static struct chain make_chain(struct fv_path_cache *cache, struct fv_call_place site,
                               const struct fv_path_check *checks, uint32_t count)
{
    struct chain c = { 0 };

    do {
        uint32_t at = take_node(cache, site), n = count < FV_PATH_CHECKS ? count : FV_PATH_CHECKS;
        struct fv_path_node *node = node_at(cache, at);

        memcpy(node->check, checks, n * sizeof(*checks));
        set_count(node, n);
        set_parent(cache, at, c.last);
        if (c.last) {
            node_at(cache, c.last)->only = at;
            node_at(cache, c.last)->children = 1;
        } else {
            c.first = at;
        }
        c.last = at;
        checks += n;
        count -= n;
    } while (count);
    return c;
}

/* The only child goes into the map, to be one of several. */
static bool branch_out(struct fv_path_cache *cache, uint32_t parent)
{
    struct fv_path_node *node = node_at(cache, parent);
    const struct fv_path_check *first = node_at(cache, node->only)->check;

    if (!add_place(cache, fv_path_child_key(parent, first->value), node->only))
        return false;
    node->branch = first->offset;
    node->only = 0;
    return true;
}

static bool attach(struct fv_path_cache *cache, uint32_t parent, uint32_t child)
{
    struct fv_path_node *node = node_at(cache, parent);
    uintptr_t value = node_at(cache, child)->check[0].value;

    if (node->only && !branch_out(cache, parent))
        return false;
    if (!node->children)
        node->only = child;
    else if (!add_place(cache, fv_path_child_key(parent, value), child))
        return false;
    set_parent(cache, child, parent);
    node->children++;
    return true;
}

/* How far checks lead into the tree. */
struct way {
    uint32_t end;  /* the last node, of which all checks hold; 0: none */
    uint32_t done; /* checks */
    bool fails;    /* there they differ in where to look: no slot tells them apart */
};

static uint32_t child_of(struct fv_path_cache *cache, struct way *way, const struct fv_path_check *next)
{
    const struct fv_path_node *node = node_at(cache, way->end);
    const struct fv_path_check *only = node->only ? node_at(cache, node->only)->check : NULL;

    if (!node->children)
        return 0;
    way->fails = (only ? only->offset : node->branch) != next->offset;
    if (way->fails)
        return 0;
    if (only)
        return only->value == next->value ? node->only : 0;
    return fv_path_place_of(cache, fv_path_child_key(way->end, next->value));
}

static uint32_t common(const struct fv_path_node *node, const struct fv_path_check *checks, uint32_t count)
{
    uint32_t same = 0;

    while (same < node->count && same < count && node->check[same].offset == checks[same].offset &&
           node->check[same].value == checks[same].value)
        same++;
    return same;
}

/* From a root on. The node in which the checks leave the tree is split there. */
static struct way follow(struct fv_path_cache *cache, uint32_t at, const struct fv_path_check *checks, uint32_t count)
{
    struct way way = { 0 };

    while (at) {
        const struct fv_path_node *node = node_at(cache, at);
        const struct fv_path_check *next = checks + way.done;
        uint32_t left = count - way.done, same = common(node, next, left);

        if (same < node->count) {
            way.fails = same < left && node->check[same].offset != next[same].offset;
            way.end = way.fails ? way.end : split(cache, at, same);
            way.done += same;
            return way;
        }
        way.end = at;
        way.done += same;
        at = way.done < count ? child_of(cache, &way, checks + way.done) : 0;
    }
    return way;
}

/* ---- paths ---- */

struct fv_path_entry *fv_path_cache_pass(struct fv_path_cache *cache, uint32_t path)
{
    cache->passing = (struct fv_path_entry){ .path = path, .function = FV_PATH_UNCOUNTED, .comm = FV_PATH_UNCOUNTED };
    return &cache->passing;
}

static struct fv_path_entry *become_path(struct fv_path_node *node, uint32_t path)
{
    node->entry = (struct fv_path_entry){ .path = path, .function = FV_PATH_UNCOUNTED, .comm = FV_PATH_UNCOUNTED };
    node->is_path = node->is_used = true;
    return &node->entry;
}

struct fv_path_entry *fv_path_cache_add(struct fv_path_cache *cache, uint64_t key, struct fv_call_place site,
                                        uint32_t path, const struct fv_path_check *checks, uint32_t count)
{
    const uint64_t evicted = cache->evicted;
    const bool has_room = make_room(cache, count / FV_PATH_CHECKS + 3); /* a chain, and a node that is split */
    const uint32_t root = fv_path_place_of(cache, key);

    if (root || cache->evicted != evicted) /* else nothing that was there is changed */
        fv_path_front_clear(cache);
    if (!has_room || (root && !fv_path_is_of(node_at(cache, root), site)))
        return fv_path_cache_pass(cache, path);
    struct way way = follow(cache, root, checks, count);

    if (way.fails)
        return fv_path_cache_pass(cache, path);
    if (way.end && way.done == count)
        return become_path(node_at(cache, way.end), path);
    struct chain chain = make_chain(cache, site, checks + way.done, count - way.done);
    struct fv_path_entry *e = become_path(node_at(cache, chain.last), path);

    if (way.end ? attach(cache, way.end, chain.first) : add_place(cache, key, chain.first))
        return e;
    remove_path(cache, chain.last); /* no memory */
    return fv_path_cache_pass(cache, path);
}

void fv_path_cache_uncount(struct fv_path_cache *cache)
{
    for (uint32_t i = 1; i <= cache->made; i++)
        node_at(cache, i)->entry.comm = FV_PATH_UNCOUNTED;
}

void fv_path_cache_clear(struct fv_path_cache *cache)
{
    if (cache->map.place)
        memset(cache->map.place, 0, (cache->map.mask + 1) * sizeof(struct fv_path_place));
    cache->map.used = 0;
    cache->made = cache->free = cache->free_count = 0;
    fv_path_front_clear(cache);
}
