/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI events: communicators and ranks, requests, messages, collectives. */
#include "otf2/check_state.h"

#include <inttypes.h>
#include <string.h>

/* ---- communicators ---- */

/* Said once of a communicator and location. `since`: when the operation began; what was under way when the
 * communicator was freed ends all the same (MPI-4.0, 7.4.3). */
static void check_life(struct fv_check *c, OTF2_CommRef id, struct fv_check_comm *comm, uint64_t since)
{
    const struct fv_definition *d = fv_def_get(c, FV_DEF_COMM, id);

    if (!d->u.comm.events || c->here.shared)
        return; /* another thread may have created it */
    if (!comm->created)
        fv_fault(c, FV_COMM_LIFE, "communicator \"%s\" (%u) is used before its CommCreate",
                 fv_def_text(c, FV_DEF_COMM, id), id);
    else if (comm->destroyed && since <= comm->destroyed_time)
        return;
    else if (comm->destroyed)
        fv_fault(c, FV_COMM_LIFE, "communicator \"%s\" (%u) is used after its CommDestroy",
                 fv_def_text(c, FV_DEF_COMM, id), id);
    comm->created = true;
    comm->destroyed = false;
}

static struct fv_check_comm *member_of(struct fv_check *c, OTF2_CommRef id, const char *field)
{
    struct fv_check_comm *comm;
    uint32_t side;

    if (!fv_check_reference(c, FV_DEF_COMM, id, field))
        return NULL;
    comm = &c->comms[fv_def_find(c, FV_DEF_COMM, id)];
    if (!comm->usable)
        return NULL;
    if (fv_comm_rank(c, comm, &side) != FV_NONE)
        return comm;
    fv_fault(c, FV_MEMBER, "%s: this location is no member of \"%s\" (%u)", field, fv_def_text(c, FV_DEF_COMM, id), id);
    return NULL;
}

static struct fv_check_comm *comm_since(struct fv_check *c, OTF2_CommRef id, uint64_t since)
{
    struct fv_check_comm *comm = member_of(c, id, "communicator");

    if (comm)
        check_life(c, id, comm, since);
    return comm;
}

/* A use of a communicator: its struct and the location's rank; NULL: a fault was reported. */
static struct fv_check_comm *check_comm(struct fv_check *c, OTF2_CommRef id, const char *field)
{
    struct fv_check_comm *comm = member_of(c, id, field);

    if (comm)
        check_life(c, id, comm, UINT64_MAX);
    return comm;
}

bool fv_check_rank(struct fv_check *c, const struct fv_check_comm *comm, unsigned number, uint32_t rank,
                   const char *field)
{
    const struct fv_side *side = &comm->side[number];

    if (side->global) {
        for (uint32_t i = 0; i < side->size; i++)
            if (side->members[i] == rank)
                return true;
        fv_fault(c, FV_RANK, "%s %u is not in the communicator's group of global ranks", field, rank);
        return false;
    }
    if (rank < side->size)
        return true;
    fv_fault(c, FV_RANK, "%s %u, but \"%s\" has %u ranks", field, rank,
             fv_def_text(c, FV_DEF_COMM, c->definitions[FV_DEF_COMM].ids[comm - c->comms]), side->size);
    return false;
}

static OTF2_CallbackCode on_CommCreate(FV_EVENT, OTF2_CommRef id)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "CommCreate");
    struct fv_check_comm *comm = member_of(c, id, "communicator");

    if (!comm)
        return OTF2_CALLBACK_SUCCESS;
    if (!fv_def_get(c, FV_DEF_COMM, id)->u.comm.events)
        fv_fault(c, FV_COMM_LIFE, "communicator %u lacks the flag CREATE_DESTROY_EVENTS", id);
    else if (comm->created)
        fv_fault(c, FV_COMM_LIFE, "communicator %u is created a second time", id);
    comm->created = true;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_CommDestroy(FV_EVENT, OTF2_CommRef id)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "CommDestroy");
    struct fv_check_comm *comm = member_of(c, id, "communicator");

    if (!comm)
        return OTF2_CALLBACK_SUCCESS;
    if (!fv_def_get(c, FV_DEF_COMM, id)->u.comm.events)
        fv_fault(c, FV_COMM_LIFE, "communicator %u lacks the flag CREATE_DESTROY_EVENTS", id);
    else
        check_life(c, id, comm, UINT64_MAX);
    comm->destroyed = true;
    comm->destroyed_time = time;
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- messages ---- */

static uint32_t self_of(const struct fv_check *c, const struct fv_check_comm *comm)
{
    return comm->side[0].self ? c->here.group : FV_NONE;
}

/* The number of the message's entry plus 1; 0: it cannot be told. */
static uint32_t send(struct fv_check *c, uint32_t receiver, OTF2_CommRef id, uint32_t tag, uint64_t bytes)
{
    struct fv_check_comm *comm = check_comm(c, id, "communicator");
    struct fv_message *m;

    if (!comm || !fv_check_rank(c, comm, comm->inter ? 1 - comm->in_side : 0, receiver, "receiver"))
        return 0;
    m = fv_check_message(c, &(struct fv_message){ .comm = (uint32_t)(comm - c->comms),
                                                  .side = comm->in_side,
                                                  .sender = comm->rank,
                                                  .receiver = receiver,
                                                  .tag = tag,
                                                  .self = self_of(c, comm) });
    if (!m->sent++ || c->where.time < m->first_send)
        m->first_send = c->where.time;
    if (c->where.time > m->last_send)
        m->last_send = c->where.time;
    m->sent_bytes += bytes;
    m->sent_hash += fv_mix(bytes + 1);
    m->from = c->here.location;
    m->send = c->where.record;
    return (uint32_t)(m - c->messages) + 1;
}

/* Did it fail, as fvunify says it (share/archive.md)? A message that was too long is received up to there. */
static bool is_failed(const struct fv_check *c, const OTF2_AttributeList *list)
{
    uint32_t count = OTF2_AttributeList_GetNumberOfElements(list);
    OTF2_AttributeValue value;
    OTF2_AttributeRef attribute;
    OTF2_Type type;

    for (uint32_t i = 0; i < count; i++)
        if (OTF2_AttributeList_GetAttributeByIndex(list, i, &attribute, &type, &value) == OTF2_SUCCESS &&
            !strcmp(fv_def_text(c, FV_DEF_ATTRIBUTE, attribute), "fvmpi::error"))
            return true;
    return false;
}

/* since: when it was posted */
static void receive(struct fv_check *c, const OTF2_AttributeList *attributes, uint64_t since, uint32_t sender,
                    OTF2_CommRef id, uint32_t tag, uint64_t bytes)
{
    struct fv_check_comm *comm = comm_since(c, id, since);
    unsigned remote = comm && comm->inter ? 1 - comm->in_side : 0;
    struct fv_message *m;

    if (!comm || !fv_check_rank(c, comm, remote, sender, "sender"))
        return;
    m = fv_check_message(c, &(struct fv_message){ .comm = (uint32_t)(comm - c->comms),
                                                  .side = remote,
                                                  .sender = sender,
                                                  .receiver = comm->rank,
                                                  .tag = tag,
                                                  .self = self_of(c, comm) });
    if (!m->received++ || c->where.time < m->first_receive)
        m->first_receive = c->where.time;
    if (c->where.time > m->last_receive)
        m->last_receive = c->where.time;
    m->received_bytes += bytes;
    m->received_hash += fv_mix(bytes + 1);
    m->cut = m->cut || is_failed(c, attributes);
    m->to = c->here.location;
    m->receive = c->where.record;
}

static OTF2_CallbackCode on_MpiSend(FV_EVENT, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    send(fv_check_event(data, time, attributes, "MpiSend"), receiver, comm, tag, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MpiRecv(FV_EVENT, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    receive(fv_check_event(data, time, attributes, "MpiRecv"), attributes, UINT64_MAX, sender, comm, tag, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- requests: what is the kind, and for sends also the message, in case it is cancelled ---- */

static const char *const request_names[] = { FV_REQUESTS(FV_LIST_WORD) };

/* When it was started; 0: elsewhere, or never. */
static uint64_t complete(struct fv_check *c, uint64_t request, enum fv_check_request kind)
{
    struct fv_entry entry;

    if (!fv_check_complete(c, FV_ACTIVE_REQUEST, request, 0, &entry))
        return 0;
    if ((entry.what & 3) != kind)
        fv_fault(c, FV_REQUEST_WRONG, "request %" PRIu64 " is completed as %s, but was started as %s", request,
                 request_names[kind], request_names[entry.what & 3]);
    return entry.time;
}

static OTF2_CallbackCode on_MpiIsend(FV_EVENT, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                     uint64_t request)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "MpiIsend");
    uint32_t message = send(c, receiver, comm, tag, bytes);

    fv_check_start(c, FV_ACTIVE_REQUEST, request, 0, FV_REQUEST_SEND | message << 2, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MpiIsendComplete(FV_EVENT, uint64_t request)
{
    complete(fv_check_event(data, time, attributes, "MpiIsendComplete"), request, FV_REQUEST_SEND);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MpiIrecvRequest(FV_EVENT, uint64_t request)
{
    fv_check_start(fv_check_event(data, time, attributes, "MpiIrecvRequest"), FV_ACTIVE_REQUEST, request, 0,
                   FV_REQUEST_RECEIVE, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MpiIrecv(FV_EVENT, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                     uint64_t request)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "MpiIrecv");

    uint64_t since = complete(c, request, FV_REQUEST_RECEIVE);
    receive(c, attributes, since, sender, comm, tag, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MpiRequestTest(FV_EVENT, uint64_t request)
{
    fv_check_goes_on(fv_check_event(data, time, attributes, "MpiRequestTest"), FV_ACTIVE_REQUEST, request, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MpiRequestCancelled(FV_EVENT, uint64_t request)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "MpiRequestCancelled");
    struct fv_entry entry;

    if (fv_check_complete(c, FV_ACTIVE_REQUEST, request, 0, &entry) && entry.what >> 2) {
        struct fv_message *m = &c->messages[(entry.what >> 2) - 1];

        m->sent--; /* it was never sent */
        m->sent_bytes -= entry.value;
        m->sent_hash -= fv_mix(entry.value + 1);
    }
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- collectives ---- */

void fv_check_root(struct fv_check *c, const struct fv_check_comm *comm, OTF2_CollectiveOp op, uint32_t root)
{
    bool special = root == OTF2_COLLECTIVE_ROOT_SELF || root == OTF2_COLLECTIVE_ROOT_THIS_GROUP;

    if (!fv_collective_is_known(op)) {
        fv_fault(c, FV_ENUM, "collective operation %u is unknown", op);
    } else if (!fv_collective_has_root(op)) {
        if (root != OTF2_COLLECTIVE_ROOT_NONE)
            fv_fault(c, FV_ROOT, "%s has no root, but root %u is given", fv_collective_name(op), root);
    } else if (root == OTF2_COLLECTIVE_ROOT_NONE) {
        fv_fault(c, FV_ROOT, "%s needs a root, but NONE is given", fv_collective_name(op));
    } else if (special && !comm->inter) {
        fv_fault(c, FV_ROOT, "%s: roots SELF and THIS_GROUP are for inter-communicators", fv_collective_name(op));
    } else if (!special) {
        fv_check_rank(c, comm, comm->inter ? 1 - comm->in_side : 0, root, "root");
    }
}

/* Creating is left out of the comparison: MPI_Comm_create_group calls only some of the parent's ranks. */
static void collective(struct fv_check *c, uint64_t since, OTF2_CollectiveOp op, OTF2_CommRef id, uint32_t root,
                       bool ordered)
{
    bool handle = op == OTF2_COLLECTIVE_OP_CREATE_HANDLE || op == OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
    struct fv_check_comm *comm = handle ? member_of(c, id, "communicator") : comm_since(c, id, since);

    if (!comm)
        return;
    fv_check_root(c, comm, op, root);
    if (op != OTF2_COLLECTIVE_OP_CREATE_HANDLE && !comm->side[0].self)
        fv_check_sequence(c, (uint32_t)(comm - c->comms), op, comm->inter ? 0 : root, ordered);
}

static OTF2_CallbackCode on_MpiCollectiveBegin(FV_EVENT)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "MpiCollectiveBegin");

    if (c->here.collective)
        fv_fault(c, FV_COLLECTIVE_PAIR, "it begins while another one has not ended");
    c->here.collective = 1;
    c->here.collective_time = time;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_MpiCollectiveEnd(FV_EVENT, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                                             __attribute__((unused)) uint64_t sent,
                                             __attribute__((unused)) uint64_t received)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "MpiCollectiveEnd");

    if (!c->here.collective)
        fv_fault(c, FV_COLLECTIVE_PAIR, "%s ends, but no collective has begun", fv_collective_name(op));
    c->here.collective = 0;
    collective(c, UINT64_MAX, op, comm, root, true);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_NonBlockingCollectiveRequest(FV_EVENT, uint64_t request)
{
    fv_check_start(fv_check_event(data, time, attributes, "NonBlockingCollectiveRequest"), FV_ACTIVE_REQUEST, request,
                   0, FV_REQUEST_COLLECTIVE, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_NonBlockingCollectiveComplete(FV_EVENT, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                                          uint32_t root, __attribute__((unused)) uint64_t sent,
                                                          __attribute__((unused)) uint64_t received, uint64_t request)
{
    struct fv_check *c = fv_check_event(data, time, attributes, "NonBlockingCollectiveComplete");

    collective(c, complete(c, request, FV_REQUEST_COLLECTIVE), op, comm, root, false);
    return OTF2_CALLBACK_SUCCESS;
}

#define EVENTS(X)          \
    X(MpiSend)             \
    X(MpiIsend)            \
    X(MpiIsendComplete)    \
    X(MpiIrecvRequest)     \
    X(MpiRecv)             \
    X(MpiIrecv)            \
    X(MpiRequestTest)      \
    X(MpiRequestCancelled) \
    X(MpiCollectiveBegin)  \
    X(MpiCollectiveEnd) X(NonBlockingCollectiveRequest) X(NonBlockingCollectiveComplete) X(CommCreate) X(CommDestroy)

void fv_check_register_mpi(OTF2_EvtReaderCallbacks *callbacks)
{
#define REGISTER(name) OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, on_##name);
    EVENTS(REGISTER)
#undef REGISTER
}
