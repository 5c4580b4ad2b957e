/* Partitioned operations match only each other, and do so by the order of their *_init calls, not of their
 * starts (MPI-4.0, 4.2.1). In a trace they are as messages, which match by communicator, peers and tag in the
 * order in which they begin. So the k-th *_init call of a communicator, peer and tag is given a communicator
 * of its own there, the k-th of all peers and tags the same: both ends count alike. From FOLDED on they are
 * taken in turn. */
#include "rt/comm.h"

#define FOLDED 1024u

/* kind 0: not a count, but the id of the communicator (uid, peer) */
struct entry {
    uint64_t uid;
    int32_t peer, tag;
    uint32_t kind, value;
    bool used;
};

static struct fv_lock lock;
static struct entry *entries;
static uint32_t mask, used;

static struct entry *find(const struct entry *like)
{
    uint64_t hash =
        fv_mix2(like->uid, (uint64_t)(uint32_t)like->peer << 32 | (uint32_t)like->tag) + like->kind;
    uint32_t at = (uint32_t)fv_mix(hash) & mask;

    while (entries[at].used && (entries[at].uid != like->uid || entries[at].peer != like->peer ||
                                entries[at].tag != like->tag || entries[at].kind != like->kind))
        at = (at + 1) & mask;
    return &entries[at];
}

static bool grow(void)
{
    struct entry *old = entries;
    uint32_t old_size = old ? mask + 1 : 0, size = old ? 2 * old_size : 64;
    struct entry *bigger = fv_memory_new(size * sizeof(*bigger));

    if (!bigger)
        return false;
    entries = bigger;
    mask = size - 1;
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].used)
            *find(&old[i]) = old[i];
    if (old)
        fv_memory_free(old, old_size * sizeof(*old));
    return true;
}

/* Its value, 0 at first; NULL: no memory. Valid until the next. */
static uint32_t *value_of(struct entry like)
{
    if ((!entries || used * 2 > mask) && !grow())
        return NULL;
    struct entry *e = find(&like);
    if (!e->used) {
        used++;
        *e = like;
        e->used = true;
    }
    return &e->value;
}

uint32_t fv_comm_channel(struct fv_comm *comm, unsigned kind, int peer, int tag)
{
    uint32_t id = 0;

    if (!comm || !fv_tracing())
        return 0;
    uint64_t signals = fv_lock_sigsave(&lock);
    uint32_t *count = value_of((struct entry){ .uid = comm->uid, .peer = peer, .tag = tag, .kind = kind });
    if (count) {
        uint32_t k = (*count)++ % FOLDED,
                 *known = value_of((struct entry){ .uid = comm->uid, .peer = (int32_t)k });

        if (known && !*known)
            *known = fv_comm_add_channels(comm, k);
        id = known ? *known : 0;
    }
    fv_unlock_sigrestore(&lock, signals);
    if (!id)
        fv_dropped(FV_DROP_COMMS);
    return id;
}
