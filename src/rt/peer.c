/* Who sent how much to whom: a sparse table per thread, keyed by world rank. */
#include "rt/runtime.h"

#define PEERS_MAX (UINT32_C(1) << 20)

static bool grow(struct fv_peers *peers)
{
    uint32_t size = peers->slots ? (peers->mask + 1) * 2 : 64;
    struct fv_peer_record **bigger = fv_memory_new(size * sizeof(*bigger)), **old = peers->slots;

    if (!bigger)
        return false;
    for (uint32_t i = 0; old && i <= peers->mask; i++) {
        if (!old[i])
            continue;
        uint32_t at = (uint32_t)fv_mix((uint32_t)old[i]->world_rank) & (size - 1);
        while (bigger[at])
            at = (at + 1) & (size - 1);
        bigger[at] = old[i];
    }
    if (old)
        fv_memory_free(old, (peers->mask + 1) * sizeof(*old));
    peers->slots = bigger;
    peers->mask = size - 1;
    return true;
}

static FV_COLD struct fv_peer_record *make(struct fv_thread *t, int world_rank)
{
    struct fv_peers *peers = &t->peers;

    if (peers->count == PEERS_MAX || (peers->used * 2 >= peers->mask && !grow(peers)))
        return NULL;
    if (!peers->chunk || fv_chunk_room(peers->chunk) < sizeof(struct fv_peer_record)) {
        struct fv_chunk_header *chunk =
            fv_writer_chunk(&fv_rt.writer, FV_CHUNK_PEERS, t->id, peers->count,
                            (peers->count < 1000 ? FV_PAGE : 8 * FV_PAGE) - sizeof(struct fv_chunk_header));
        if (!chunk)
            return NULL;
        peers->chunk = chunk;
    }
    struct fv_peer_record *record = fv_chunk_next(peers->chunk);
    record->world_rank = world_rank;
    fv_chunk_commit(peers->chunk, sizeof(*record));
    uint32_t at = (uint32_t)fv_mix((uint32_t)world_rank) & peers->mask;
    while (peers->slots[at])
        at = (at + 1) & peers->mask;
    peers->slots[at] = record;
    peers->used++;
    peers->count++;
    return record;
}

void fv_peer_add(struct fv_thread *t, int world_rank, uint64_t messages, uint64_t bytes)
{
    struct fv_peer_record *record = NULL;

    if (t->peers.slots) {
        uint32_t at = (uint32_t)fv_mix((uint32_t)world_rank) & t->peers.mask;

        for (; (record = t->peers.slots[at]); at = (at + 1) & t->peers.mask)
            if (record->world_rank == world_rank)
                break;
    }
    if (FV_UNLIKELY(!record) && !(record = make(t, world_rank))) {
        fv_dropped(FV_DROP_PEERS);
        return;
    }
    record->messages += messages;
    record->bytes += bytes;
}
