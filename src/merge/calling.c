/* SPDX-License-Identifier: BSD-3-Clause */
/* See calling.h. */
#include "merge/calling.h"

#include <stdlib.h>
#include <string.h>

struct entered {
    uint32_t node;
    /* How a path continues in it: it leads through `path`, of the base (FV_NONE: from its beginning), then through a
     * frame of `function` (FV_NONE: any), which `skip` says stands for the region itself; what is left stands below
     * `at`. */
    uint32_t at, path, function;
    bool skip, opaque; /* opaque: no path leads on */
};

struct fv_calling_thread {
    uint64_t location;
    struct fv_calling_node *nodes; /* their numbers follow those of the base */
    uint32_t *depths;
    size_t count, room, depth_room;
    struct fv_index index;
    struct entered *open; /* each in the one before */
    size_t depth, open_room;
    uint32_t last;    /* where it was; FV_NONE: outside of all */
    uint32_t *frames; /* scratch */
    size_t frame_room;
};

/* ---- nodes ---- */

static const struct fv_calling_node *node_at(const struct fv_calling *c, const struct fv_calling_thread *t,
                                             uint32_t node)
{
    return node < c->base_count ? &c->base[node] : &t->nodes[node - c->base_count];
}

static uint32_t parent_of(const struct fv_calling *c, const struct fv_calling_thread *t, uint32_t node)
{
    return node_at(c, t, node)->parent;
}

static uint32_t depth_of(const struct fv_calling *c, const struct fv_calling_thread *t, uint32_t node)
{
    return node == FV_NONE ? 0 : node < c->base_count ? c->depths[node] : t->depths[node - c->base_count];
}

static uint32_t child(const struct fv_calling *c, struct fv_calling_thread *t, uint32_t parent, uint32_t region,
                      uint32_t like)
{
    size_t before = t->count;
    uint32_t own = FV_INTERN(t->index, t->nodes, t->count, t->room, (uint32_t[]){ parent, region, like });

    if (t->count > before) {
        FV_GROW(t->depths, t->depth_room, t->count);
        t->depths[own] = depth_of(c, t, parent) + 1;
    }
    return (uint32_t)c->base_count + own;
}

/* ---- paths within what is entered ---- */

static const struct entered *innermost(const struct fv_calling_thread *t)
{
    return t->depth ? &t->open[t->depth - 1] : NULL;
}

/* The frames of a path below `around`, the innermost first; false: it does not lead through that. */
static bool frames_below(const struct fv_calling *c, struct fv_calling_thread *t, uint32_t path, uint32_t around,
                         size_t *count)
{
    *count = 0;
    for (; path != around && path != FV_NONE; path = c->base[path].parent) {
        FV_GROW(t->frames, t->frame_room, *count + 1);
        t->frames[(*count)++] = path;
    }
    return path == around;
}

/* The node of a path where the thread is now. False: none leads there, and *node is the innermost region. */
static bool place(const struct fv_calling *c, struct fv_calling_thread *t, uint32_t path, uint32_t *node)
{
    const struct entered *e = innermost(t);
    size_t count;

    *node = e ? e->node : path;
    if (!e)
        return true;
    if (e->opaque || path == FV_NONE || !frames_below(c, t, path, e->path, &count))
        return false;
    if (e->function != FV_NONE && (!count || c->base[t->frames[count - 1]].region != e->function))
        return false;
    count -= e->skip;
    *node = e->at;
    if (e->at == e->path && !e->skip)
        *node = path; /* it is as the base has it */
    else
        while (count--)
            *node = child(c, t, *node, c->base[t->frames[count]].region, t->frames[count]);
    return true;
}

/* ---- what changed since the event before ---- */

/* `entering`: the node itself is new. */
static uint32_t distance_to(const struct fv_calling *c, const struct fv_calling_thread *t, uint32_t node, bool entering)
{
    uint32_t a = t->last, b = node, under_a = FV_NONE, under_b = FV_NONE;

    while (a != b) { /* the node that they have in common; those below it on both sides */
        bool lift_a = depth_of(c, t, a) >= depth_of(c, t, b), lift_b = depth_of(c, t, b) >= depth_of(c, t, a);

        if (lift_a) {
            under_a = a;
            a = parent_of(c, t, a);
        }
        if (lift_b) {
            under_b = b;
            b = parent_of(c, t, b);
        }
    }
    uint32_t steps = depth_of(c, t, node) - depth_of(c, t, b);
    if (!steps)
        return 1;
    bool goes_on = under_a != FV_NONE && node_at(c, t, under_a)->region == node_at(c, t, under_b)->region;
    return goes_on && !(entering && under_b == node) ? steps : steps + 1;
}

static struct fv_calling_event go_to(const struct fv_calling *c, struct fv_calling_thread *t, uint32_t node,
                                     bool entering)
{
    const struct fv_calling_event event = { node, node == FV_NONE ? 0 : distance_to(c, t, node, entering) };

    t->last = node;
    return event;
}

/* ---- events ---- */

struct fv_calling_event fv_calling_enter(struct fv_calling *c, size_t index, enum fv_calling_kind kind, uint32_t path,
                                         uint32_t region)
{
    struct fv_calling_thread *t = &c->threads[index];
    struct entered next = { .path = path, .function = FV_NONE, .opaque = kind == FV_CALLING_CALL };

    if (kind == FV_CALLING_SECTION) {
        const struct entered *e = innermost(t);

        if (e)
            next = *e;
        else
            next.path = FV_NONE;
        next.at = e ? e->node : FV_NONE;
        next.skip = next.function != FV_NONE;
    } else if (!place(c, t, path, &next.at)) {
        next.opaque = true;
    } else if (kind == FV_CALLING_FUNCTION) {
        next.function = region;
    }
    next.node = child(c, t, next.at, region, FV_NONE);
    if (kind == FV_CALLING_SECTION)
        next.at = next.node;
    FV_GROW(t->open, t->open_room, t->depth + 1);
    t->open[t->depth++] = next;
    return go_to(c, t, next.node, true);
}

uint32_t fv_calling_leave(struct fv_calling *c, size_t index)
{
    struct fv_calling_thread *t = &c->threads[index];

    if (!t->depth)
        return FV_NONE;
    uint32_t node = t->open[--t->depth].node;
    t->last = parent_of(c, t, node);
    return node;
}

struct fv_calling_event fv_calling_sample(struct fv_calling *c, size_t index, uint32_t path)
{
    struct fv_calling_thread *t = &c->threads[index];
    uint32_t node;

    place(c, t, path, &node);
    return go_to(c, t, node, false);
}

/* ---- locations ---- */

void fv_calling_init(struct fv_calling *c, const struct fv_calling_node *base, size_t base_count)
{
    *c = (struct fv_calling){ .base_count = base_count };
    c->base = fv_xcalloc(base_count + 1, sizeof(*c->base));
    c->depths = fv_xcalloc(base_count + 1, sizeof(*c->depths));
    for (size_t i = 0; i < base_count; i++) {
        c->base[i] = base[i];
        c->depths[i] = depth_of(c, NULL, base[i].parent) + 1;
    }
}

size_t fv_calling_open(struct fv_calling *c, uint64_t location)
{
    FV_GROW(c->threads, c->room, c->count + 1);
    c->threads[c->count] = (struct fv_calling_thread){ .location = location, .last = FV_NONE };
    return c->count++;
}

void fv_calling_close(struct fv_calling *c, size_t index)
{
    struct fv_calling_thread *t = &c->threads[index];

    free(t->open);
    free(t->frames);
    free(t->depths);
    fv_index_release(&t->index);
    t->open = NULL;
    t->frames = NULL;
    t->depths = NULL;
}

void fv_calling_release(struct fv_calling *c)
{
    for (size_t i = 0; i < c->count; i++) {
        fv_calling_close(c, i);
        free(c->threads[i].nodes);
        if (c->locations)
            free(c->locations[i].global);
    }
    free(c->threads);
    free(c->locations);
    free(c->base);
    free(c->depths);
    free(c->nodes);
    fv_index_release(&c->index);
    *c = (struct fv_calling){ 0 };
}

/* ---- one numbering ---- */

/* Of a process's locations, one behind the other: a count and its nodes each. The numbers go to `out`, likewise. */
static void number(struct fv_calling *c, const struct fv_bytes *in, struct fv_bytes *out)
{
    struct fv_bytes_reader r = { .at = in->data, .stop = in->data + in->count };

    while (r.at < r.stop) {
        uint64_t count = fv_bytes_take(&r);
        size_t first = out->count;

        for (uint64_t i = 0; i < count; i++) {
            struct fv_calling_node n;

            fv_bytes_get(&r, &n, sizeof(n));
            if (n.parent != FV_NONE && n.parent >= c->base_count)
                memcpy(&n.parent, out->data + first + (n.parent - c->base_count) * sizeof(uint32_t), sizeof(n.parent));
            uint32_t id = (uint32_t)c->base_count + FV_INTERN(c->index, c->nodes, c->node_count, c->node_room,
                                                              (uint32_t[]){ n.parent, n.region, n.like });
            fv_bytes_put(out, &id, sizeof(id));
        }
    }
}

void fv_calling_unify(struct fv_calling *c, const struct fv_transport *transport)
{
    struct fv_bytes own = { 0 }, numbers = { 0 };

    for (size_t i = 0; i < c->count; i++) {
        fv_bytes_number(&own, c->threads[i].count);
        fv_bytes_put(&own, c->threads[i].nodes, c->threads[i].count * sizeof(*c->threads[i].nodes));
    }
    if (transport->rank) {
        fv_transport_put(transport, 0, &own);
        fv_transport_get(transport, 0, &numbers);
    } else {
        number(c, &own, &numbers);
    }
    for (int i = 1; !transport->rank && i < transport->size; i++) {
        struct fv_bytes out = { 0 };

        own.count = 0;
        fv_transport_get(transport, i, &own);
        number(c, &own, &out);
        fv_transport_put(transport, i, &out);
        free(out.data);
    }
    struct fv_bytes_reader r = { .at = numbers.data, .stop = numbers.data + numbers.count };
    c->locations = fv_xcalloc(c->count + 1, sizeof(*c->locations));
    for (size_t i = 0; i < c->count; i++) {
        struct fv_calling_location *l = &c->locations[i];

        *l = (struct fv_calling_location){ .location = c->threads[i].location, .count = c->threads[i].count };
        l->global = fv_xcalloc(l->count + 1, sizeof(*l->global));
        fv_bytes_get(&r, l->global, l->count * sizeof(*l->global));
    }
    free(own.data);
    free(numbers.data);
}
