/* SPDX-License-Identifier: BSD-3-Clause */
/* See ring.h. A chunk keeps its place and its size in the file. The first ones of a thread are small, and double, so
 * that a short run has a small file. One that is too small for what a call did is set aside, to be used by others:
 * leaving it in the queue would take one from the middle, and leave a hole in what is kept.
 *
 * Rejected: a ring for each thread (idle threads would keep what busy ones need); one mapping of the whole ring (it
 * would be in the application's memory). */
#include "rt/ring.h"

#include <string.h>

#define PARTS      16                  /* of the ring: a chunk has no more than such a part, ... */
#define CHUNK_MOST (UINT32_C(1) << 20) /* ... nor more than this */

struct place {
    uint64_t offset, bytes;
};

/* Full ones, the oldest first, or those that were set aside. */
struct places {
    struct place *items;
    uint32_t first, count, room; /* room: a power of 2 */
};

static struct {
    struct fv_lock lock;
    uint64_t used; /* bytes of all chunks */
    uint32_t turns;
    struct places full, aside;
} ring;

static struct place *at(const struct places *p, uint32_t i)
{
    return &p->items[(p->first + i) & (p->room - 1)];
}

/* Room for one more. */
static bool reserve(struct places *p)
{
    if (p->count < p->room)
        return true;
    struct places more = { .count = p->count, .room = p->room ? p->room * 2 : 256 };
    if (!(more.items = fv_memory_new(more.room * sizeof(*more.items))))
        return false;
    for (uint32_t i = 0; i < p->count; i++)
        more.items[i] = *at(p, i);
    if (p->room)
        fv_memory_free(p->items, p->room * sizeof(*p->items));
    *p = more;
    return true;
}

static void add(struct places *p, struct place place)
{
    *at(p, p->count++) = place;
}

/* The first of them that has so many bytes, in whose place the last one goes. */
static bool take_any(struct places *p, uint64_t bytes, struct place *out)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (at(p, i)->bytes < bytes)
            continue;
        *out = *at(p, i);
        *at(p, i) = *at(p, --p->count);
        return true;
    }
    return false;
}

/* Emptied, and mapped. NULL: it cannot be mapped, and is what it was. */
static struct fv_chunk_header *empty(const struct place *place)
{
    struct fv_chunk_header *chunk = fv_writer_map_chunk(&fv_rt.writer, place->offset, place->bytes);

    if (chunk)
        fv_writer_empty(chunk);
    return chunk;
}

/* The oldest go until one has room. */
static struct fv_chunk_header *oldest(uint64_t bytes, struct place *out)
{
    struct fv_chunk_header *chunk;

    if (ring.aside.count && take_any(&ring.aside, bytes, out)) {
        if ((chunk = empty(out)))
            return chunk;
        add(&ring.aside, *out);
    }
    while (ring.full.count) {
        *out = *at(&ring.full, 0);
        if (!reserve(&ring.aside) || !(chunk = empty(out)))
            return NULL;
        ring.full.first++;
        ring.full.count--;
        if (out->bytes >= bytes)
            return chunk;
        fv_writer_release(chunk);
        add(&ring.aside, *out);
    }
    return NULL;
}

static uint64_t most_of_chunk(void)
{
    const uint64_t part = fv_rt.options.trace_keep / PARTS / FV_PAGE * FV_PAGE;

    return part > CHUNK_MOST ? CHUNK_MOST : part < FV_PAGE ? FV_PAGE : part;
}

static uint64_t next_bytes(const struct fv_events *e, uint64_t least)
{
    uint64_t bytes = e->chunk ? e->chunk->bytes * 2 : FV_PAGE, most = most_of_chunk();

    bytes = bytes > most ? most : bytes;
    return bytes < least ? least : bytes;
}

static struct fv_chunk_header *new_chunk(const struct fv_thread *t, uint64_t bytes, struct place *out)
{
    struct fv_chunk_header *chunk =
        fv_writer_ring_chunk(&fv_rt.writer, FV_CHUNK_EVENTS, t->id, t->events.calls, bytes, &out->offset);

    if (chunk) {
        out->bytes = bytes;
        ring.used += bytes;
    }
    return chunk;
}

static struct fv_chunk_header *next(struct fv_thread *t, uint64_t least)
{
    struct fv_events *e = &t->events;
    const uint64_t bytes = next_bytes(e, least);
    const bool is_full = ring.used + bytes > fv_rt.options.trace_keep;
    struct fv_chunk_header *chunk = NULL;
    struct place place;

    if (e->chunk && !reserve(&ring.full)) /* for the present one */
        return NULL;
    if (!is_full)
        chunk = new_chunk(t, bytes, &place);
    if (!chunk && (chunk = oldest(least, &place)))
        fv_writer_fill_again(chunk, t->id, e->calls);
    if (!chunk && is_full) /* all are being filled by threads, or too small */
        chunk = new_chunk(t, least, &place);
    if (!chunk && e->chunk && e->chunk->bytes >= least) { /* no disk: a ring of one */
        fv_writer_empty(e->chunk);
        fv_writer_fill_again(e->chunk, t->id, e->calls);
        e->turn = ++ring.turns;
        return e->chunk;
    }
    if (!chunk)
        return NULL;
    if (e->chunk) {
        add(&ring.full, (struct place){ e->ring_offset, e->chunk->bytes });
        fv_writer_release(e->chunk);
    }
    e->ring_offset = place.offset;
    e->turn = ++ring.turns;
    return chunk;
}

struct fv_chunk_header *fv_ring_next(struct fv_thread *t, size_t need)
{
    const uint64_t least = fv_round_up(sizeof(struct fv_chunk_header) + need, FV_PAGE);
    uint64_t signals = fv_lock_sigsave(&ring.lock);
    struct fv_chunk_header *chunk = next(t, least);

    fv_unlock_sigrestore(&ring.lock, signals);
    return chunk;
}

uint32_t fv_ring_turns(void)
{
    return __atomic_load_n(&ring.turns, __ATOMIC_RELAXED);
}

uint64_t fv_ring_hold(void)
{
    return fv_lock_sigsave(&ring.lock);
}

void fv_ring_let_go(uint64_t held)
{
    fv_unlock_sigrestore(&ring.lock, held);
}
