/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication: windows, operations and their completions, locks. A remote completion may follow
 * the local one; that an operation of its number was started is all that is asked of it then, so that nothing
 * has to be remembered of operations that completed. */
#include "otf2/check_state.h"

#include <inttypes.h>

#define ALL_RANKS UINT32_MAX /* Score-P's lock_all and flush_all */

static struct fv_window *state_of(struct fv_check *c, OTF2_RmaWinRef id)
{
    struct fv_window *w = &c->windows[fv_def_find(c, FV_DEF_RMA_WIN, id)];

    if (w->epoch != c->here.epoch)
        *w = (struct fv_window){ .epoch = c->here.epoch };
    return w;
}

/* The window's communicator; NULL: it cannot be used, which was reported. */
static struct fv_check_comm *member_of(struct fv_check *c, OTF2_RmaWinRef id)
{
    const struct fv_definition *d;
    struct fv_check_comm *comm;
    uint32_t index, side;

    if (!fv_check_reference(c, FV_DEF_RMA_WIN, id, "window"))
        return NULL;
    d = fv_def_get(c, FV_DEF_RMA_WIN, id);
    index = fv_def_find(c, FV_DEF_COMM, d->u.window.comm);
    comm = index == FV_NONE ? NULL : &c->comms[index];
    if (!comm || !comm->usable)
        return NULL;
    if (fv_comm_rank(c, comm, &side) != FV_NONE)
        return comm;
    fv_fault(c, FV_MEMBER, "this location is no member of the communicator of window \"%s\" (%u)",
             fv_def_text(c, FV_DEF_RMA_WIN, id), id);
    return NULL;
}

/* The same for what may happen only while the window is there. */
static struct fv_check_comm *window(struct fv_check *c, OTF2_RmaWinRef id)
{
    struct fv_check_comm *comm = member_of(c, id);
    struct fv_window *w = comm ? state_of(c, id) : NULL;

    if (!comm || c->here.shared || !fv_def_get(c, FV_DEF_RMA_WIN, id)->u.window.events)
        return comm;
    if (!w->created)
        fv_fault(c, FV_COMM_LIFE, "window \"%s\" (%u) is used before its RmaWinCreate",
                 fv_def_text(c, FV_DEF_RMA_WIN, id), id);
    else if (w->destroyed)
        fv_fault(c, FV_COMM_LIFE, "window \"%s\" (%u) is used after its RmaWinDestroy",
                 fv_def_text(c, FV_DEF_RMA_WIN, id), id);
    w->created = true; /* it is said once */
    w->destroyed = false;
    return comm;
}

static void check_remote(struct fv_check *c, OTF2_RmaWinRef id, uint32_t remote, bool all_allowed)
{
    const struct fv_check_comm *comm = window(c, id);

    if (comm && !(all_allowed && remote == ALL_RANKS))
        fv_check_rank(c, comm, 0, remote, "remote");
}

static bool has_life(struct fv_check *c, OTF2_RmaWinRef id)
{
    if (!member_of(c, id))
        return false;
    if (!fv_def_get(c, FV_DEF_RMA_WIN, id)->u.window.events)
        fv_fault(c, FV_COMM_LIFE, "window %u lacks the flag CREATE_DESTROY_EVENTS", id);
    return true;
}

static OTF2_CallbackCode on_RmaWinCreate(FV_EVENT, OTF2_RmaWinRef id)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaWinCreate");

    if (!has_life(c, id))
        return OTF2_CALLBACK_SUCCESS;
    if (state_of(c, id)->created)
        fv_fault(c, FV_COMM_LIFE, "window %u is created a second time", id);
    state_of(c, id)->created = true;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaWinDestroy(FV_EVENT, OTF2_RmaWinRef id)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaWinDestroy");

    if (!has_life(c, id))
        return OTF2_CALLBACK_SUCCESS;
    window(c, id);
    state_of(c, id)->destroyed = true;
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- synchronisation ---- */

static OTF2_CallbackCode on_RmaCollectiveBegin(FV_EVENT)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaCollectiveBegin");

    if (c->here.rma_collective)
        fv_fault(c, FV_COLLECTIVE_PAIR, "it begins while another one has not ended");
    c->here.rma_collective = 1;
    c->here.collective_time = time;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaCollectiveEnd(FV_EVENT, OTF2_CollectiveOp op,
                                             __attribute__((unused)) OTF2_RmaSyncLevel level, OTF2_RmaWinRef id,
                                             uint32_t root, __attribute__((unused)) uint64_t sent,
                                             __attribute__((unused)) uint64_t received)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaCollectiveEnd");
    const struct fv_check_comm *comm = member_of(c, id); /* its end comes after RmaWinDestroy */

    if (!c->here.rma_collective)
        fv_fault(c, FV_COLLECTIVE_PAIR, "%s ends, but no collective has begun", fv_collective_name(op));
    c->here.rma_collective = 0;
    if (!comm)
        return OTF2_CALLBACK_SUCCESS;
    fv_check_root(c, comm, op, root);
    if (!comm->side[0].self)
        fv_check_sequence(c, (uint32_t)c->definitions[FV_DEF_COMM].count + fv_def_find(c, FV_DEF_RMA_WIN, id), op, root,
                          true);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaGroupSync(FV_EVENT, __attribute__((unused)) OTF2_RmaSyncLevel level, OTF2_RmaWinRef id,
                                         OTF2_GroupRef group)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaGroupSync");

    window(c, id);
    fv_check_reference(c, FV_DEF_GROUP, group, "group");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaSync(FV_EVENT, OTF2_RmaWinRef id, uint32_t remote, OTF2_RmaSyncType type)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaSync");

    check_remote(c, id, remote, true);
    if (type > OTF2_RMA_SYNC_TYPE_NOTIFY_OUT)
        fv_fault(c, FV_ENUM, "synchronisation type %u is unknown", type);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaWaitChange(FV_EVENT, OTF2_RmaWinRef id)
{
    window(fv_check_event(data, time, attributes, "RmaWaitChange"), id);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- locks ---- */

static uint64_t lock_key(OTF2_RmaWinRef id, uint32_t remote)
{
    return (uint64_t)id << 32 | remote;
}

static OTF2_CallbackCode on_RmaRequestLock(FV_EVENT, OTF2_RmaWinRef id, uint32_t remote,
                                           __attribute__((unused)) uint64_t lock, OTF2_LockType type)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaRequestLock");

    check_remote(c, id, remote, true);
    if (type > OTF2_LOCK_SHARED)
        fv_fault(c, FV_ENUM, "lock type %u is unknown", type);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaAcquireLock(FV_EVENT, OTF2_RmaWinRef id, uint32_t remote, uint64_t lock,
                                           __attribute__((unused)) OTF2_LockType type)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaAcquireLock");

    check_remote(c, id, remote, true);
    fv_check_start(c, FV_ACTIVE_RMA_LOCK, lock_key(id, remote), lock, 1, 0);
    return OTF2_CALLBACK_SUCCESS;
}

/* It was not granted. */
static OTF2_CallbackCode on_RmaTryLock(FV_EVENT, OTF2_RmaWinRef id, uint32_t remote,
                                       __attribute__((unused)) uint64_t lock,
                                       __attribute__((unused)) OTF2_LockType type)
{
    check_remote(fv_check_event(data, time, attributes, "RmaTryLock"), id, remote, true);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaReleaseLock(FV_EVENT, OTF2_RmaWinRef id, uint32_t remote, uint64_t lock)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaReleaseLock");
    struct fv_entry entry;

    check_remote(c, id, remote, true);
    fv_check_complete(c, FV_ACTIVE_RMA_LOCK, lock_key(id, remote), lock, &entry);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- operations ---- */

static void operation(struct fv_check *c, OTF2_RmaWinRef id, uint32_t remote, uint64_t matching)
{
    check_remote(c, id, remote, false);
    fv_check_start(c, FV_ACTIVE_RMA, id, matching, 1, 0);
    if (!c->here.rma_started++ || matching > c->here.rma_highest)
        c->here.rma_highest = matching;
}

static OTF2_CallbackCode on_RmaPut(FV_EVENT, OTF2_RmaWinRef id, uint32_t remote, __attribute__((unused)) uint64_t bytes,
                                   uint64_t matching)
{
    operation(fv_check_event(data, time, attributes, "RmaPut"), id, remote, matching);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaGet(FV_EVENT, OTF2_RmaWinRef id, uint32_t remote, __attribute__((unused)) uint64_t bytes,
                                   uint64_t matching)
{
    operation(fv_check_event(data, time, attributes, "RmaGet"), id, remote, matching);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaAtomic(FV_EVENT, OTF2_RmaWinRef id, uint32_t remote, OTF2_RmaAtomicType type,
                                      __attribute__((unused)) uint64_t sent, __attribute__((unused)) uint64_t received,
                                      uint64_t matching)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaAtomic");

    operation(c, id, remote, matching);
    if (type > OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE)
        fv_fault(c, FV_ENUM, "atomic operation %u is unknown", type);
    return OTF2_CALLBACK_SUCCESS;
}

static void complete(struct fv_check *c, OTF2_RmaWinRef id, uint64_t matching)
{
    struct fv_entry entry;

    window(c, id);
    fv_check_complete(c, FV_ACTIVE_RMA, id, matching, &entry);
}

static OTF2_CallbackCode on_RmaOpCompleteBlocking(FV_EVENT, OTF2_RmaWinRef id, uint64_t matching)
{
    complete(fv_check_event(data, time, attributes, "RmaOpCompleteBlocking"), id, matching);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaOpCompleteNonBlocking(FV_EVENT, OTF2_RmaWinRef id, uint64_t matching)
{
    complete(fv_check_event(data, time, attributes, "RmaOpCompleteNonBlocking"), id, matching);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaOpTest(FV_EVENT, OTF2_RmaWinRef id, uint64_t matching)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaOpTest");

    window(c, id);
    fv_check_goes_on(c, FV_ACTIVE_RMA, id, matching);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_RmaOpCompleteRemote(FV_EVENT, OTF2_RmaWinRef id, uint64_t matching)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "RmaOpCompleteRemote");
    const struct fv_key key = { FV_ACTIVE_RMA, id, matching };

    if (fv_check_map_find(&c->here.active, &key) || !c->here.rma_started || matching > c->here.rma_highest)
        complete(c, id, matching);
    else
        window(c, id); /* its local completion came before */
    return OTF2_CALLBACK_SUCCESS;
}

#define EVENTS(X)         \
    X(RmaWinCreate)       \
    X(RmaWinDestroy)      \
    X(RmaCollectiveBegin) \
    X(RmaCollectiveEnd)   \
    X(RmaGroupSync)       \
    X(RmaSync)            \
    X(RmaWaitChange)      \
    X(RmaRequestLock)     \
    X(RmaAcquireLock)     \
    X(RmaTryLock)         \
    X(RmaReleaseLock)     \
    X(RmaPut)             \
    X(RmaGet) X(RmaAtomic) X(RmaOpCompleteBlocking) X(RmaOpCompleteNonBlocking) X(RmaOpTest) X(RmaOpCompleteRemote)

void fv_check_register_rma(OTF2_EvtReaderCallbacks *callbacks)
{
#define REGISTER(name) OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, on_##name);
    EVENTS(REGISTER)
#undef REGISTER
}
