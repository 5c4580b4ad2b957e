/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned operations match only each other, and do so by the order of their *_init calls, not of their
 * starts (MPI-4.0, 4.2.1). In a trace they are as messages, which match by communicator, peers and tag in the
 * order in which they begin. So the k-th *_init call of a communicator, peer and tag is given a communicator
 * of its own there, the k-th of all peers and tags the same: both ends count alike. From FOLDED on they are
 * taken in turn. */
#include "rt/comm.h"
#include "rt/map.h"

#define FOLDED 1024u

/* By communicator, peer, tag and kind: how many there were. By communicator and number, with kind 0: the id of the
 * communicator that stands for it. The key is a hash, as the uid is. */
struct entry {
    uint64_t key;
    uint32_t value;
};

static struct fv_lock lock;
static struct fv_map entries;

/* 0 at first; NULL: no memory. Valid until the next. */
static uint32_t *value_of(uint64_t uid, unsigned kind, int peer, int tag)
{
    uint64_t key = fv_mix(fv_mix2(uid, (uint64_t)(uint32_t)peer << 32 | (uint32_t)tag) + kind) | 1;
    struct entry *e = fv_map_add(&entries, sizeof(*e), key, 1u << 30);

    return e ? &e->value : NULL;
}

uint32_t fv_comm_channel(struct fv_comm *comm, unsigned kind, int peer, int tag)
{
    uint32_t id = 0;

    if (!comm || !fv_tracing())
        return 0;
    uint64_t signals = fv_lock_sigsave(&lock);
    uint32_t *count = value_of(comm->uid, kind, peer, tag);
    if (count) {
        uint32_t k = (*count)++ % FOLDED, *known = value_of(comm->uid, 0, (int)k, 0);

        if (known && !*known)
            *known = fv_comm_add_channels(comm, k);
        id = known ? *known : 0;
    }
    fv_unlock_sigrestore(&lock, signals);
    if (!id)
        fv_dropped(FV_DROP_COMMS);
    return id;
}
