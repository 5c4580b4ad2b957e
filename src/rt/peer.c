/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sent how much to whom: a sparse table per thread, keyed by world rank. */
#include "rt/statistics.h"

#define PEERS_MAX (UINT32_C(1) << 20)

struct peer {
    uint64_t key;
    struct fv_peer_record *record;
};

static uint64_t key_of(int world_rank) /* -1: unknown */
{
    return (uint64_t)(uint32_t)world_rank + 1;
}

static struct fv_peer_record *new_record(struct fv_thread *t, int world_rank)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_PEERS, .first_pages = 1, .most_pages = 8 };
    struct fv_peer_record *record = fv_tail_next(&t->peers.tail, &kind, t->id, sizeof(*record), false);

    if (!record)
        return NULL;
    record->world_rank = world_rank;
    fv_tail_commit(&t->peers.tail, sizeof(*record));
    return record;
}

/* NULL: no room. */
static FV_COLD struct fv_peer_record *make(struct fv_thread *t, int world_rank)
{
    struct peer *peer = fv_map_add(&t->peers.table, sizeof(*peer), key_of(world_rank), 2 * PEERS_MAX);

    if (peer && !(peer->record = new_record(t, world_rank)))
        fv_map_erase(&t->peers.table, sizeof(*peer), peer);
    return peer ? peer->record : NULL;
}

static struct fv_peer_record *find(struct fv_thread *t, int world_rank)
{
    const struct peer *peer = fv_map_find(&t->peers.table, sizeof(*peer), key_of(world_rank));

    return FV_LIKELY(peer != NULL) ? peer->record : make(t, world_rank);
}

void fv_peers_clear(struct fv_peers *peers)
{
    for (uint32_t i = 0; peers->table.place && i <= peers->table.mask; i++) {
        const struct peer *peer = fv_map_at(&peers->table, sizeof(*peer), i);

        if (peer->key)
            peer->record->messages = peer->record->bytes = 0;
    }
}

bool fv_peer_add(struct fv_thread *t, int world_rank, uint64_t messages, uint64_t bytes)
{
    struct fv_peer_record *record = t->peers.last;

    t->peers.generation = 0;

    if (FV_UNLIKELY(!record || record->world_rank != world_rank))
        record = find(t, world_rank);
    if (FV_UNLIKELY(!record)) {
        fv_dropped(FV_DROP_PEERS);
        return false;
    }
    t->peers.last = record;
    record->messages += messages;
    record->bytes += bytes;
    return true;
}
