/* SPDX-License-Identifier: BSD-3-Clause */
/* See tail.h. */
#include "rt/tail.h"
#include "rt/thread.h"

static void give_back(struct fv_budget *budget, uint64_t bytes)
{
    __atomic_sub_fetch(&budget->used, bytes, __ATOMIC_RELAXED);
}

/* False: it is used up, by a look, so that threads do not write the same line at each call. */
static bool take_of(struct fv_budget *budget, uint64_t bytes)
{
    if (__atomic_load_n(&budget->used, __ATOMIC_RELAXED) + bytes > *budget->most)
        return false;
    if (__atomic_add_fetch(&budget->used, bytes, __ATOMIC_RELAXED) <= *budget->most)
        return true;
    give_back(budget, bytes);
    return false;
}

/* The bytes that the next chunk takes; 0: there is no budget for it. What is left may do for a few records more. */
static uint64_t take(const struct fv_tail *tail, const struct fv_tail_kind *kind, uint64_t need, bool beyond)
{
    uint64_t least = kind->first_pages > 1 ? kind->first_pages * FV_PAGE : FV_PAGE / 4,
             bytes = tail->chunk ? tail->chunk->bytes * 2 : least;

    if (bytes > kind->most_pages * FV_PAGE)
        bytes = kind->most_pages * FV_PAGE;
    bytes = bytes < need ? need : bytes;
    least = least < need ? need : least;
    if (!kind->budget || take_of(kind->budget, bytes))
        return bytes;
    if (take_of(kind->budget, least))
        return least;
    if (beyond)
        __atomic_add_fetch(&kind->budget->used, least, __ATOMIC_RELAXED);
    return beyond ? least : 0;
}

static bool grow(struct fv_tail *tail, const struct fv_tail_kind *kind, uint32_t thread, size_t record, bool beyond)
{
    uint64_t bytes = take(tail, kind, fv_round_up(sizeof(struct fv_chunk_header) + record, FV_CHUNK_ALIGN), beyond);
    struct fv_chunk_header *chunk = NULL;

    if (bytes)
        chunk = (kind->tries ? fv_writer_try_chunk : fv_writer_chunk)(
            &fv_rt.writer, kind->type, thread, kind->varies ? 0 : tail->count, bytes - sizeof(*chunk));
    if (chunk)
        tail->chunk = chunk;
    else if (bytes && kind->budget)
        give_back(kind->budget, bytes);
    return chunk;
}

void *fv_tail_next(struct fv_tail *tail, const struct fv_tail_kind *kind, uint32_t thread, size_t bytes, bool beyond)
{
    if ((!tail->chunk || !fv_chunk_fits(tail->chunk, bytes)) && !grow(tail, kind, thread, bytes, beyond))
        return NULL;
    return fv_chunk_next(tail->chunk);
}
