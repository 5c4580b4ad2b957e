/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion (MPI_Wait, MPI_Test and their families), and the start of persistent operations: the
 * wrappers that care about requests. MPI overwrites handles of completed requests, so followed ones are
 * looked up or copied before the call; statuses of our own are passed only where the caller ignores
 * them and a followed receive needs one. Where nothing is followed, which is the usual case for
 * programs without non-blocking receives, that costs one load. */
#include "complete.h"
#include "done.h"
#include "functions.h"
#include "next.h"

#include <string.h>

/* ---- before the call ---- */

static const struct fv_request *look_up(MPI_Request request, struct fv_request *out)
{
    if (request == MPI_REQUEST_NULL || !fv_request_get(fv_handle(request), out) || (out->persistent && !out->active))
        out->kind = 0;
    return out;
}

static MPI_Request *room_for(struct fv_call *call, int count)
{
    return fv_scratch(call, 2, (size_t)count * sizeof(MPI_Request));
}

MPI_Request *fv_completion_room(struct fv_call *call, bool on, int count)
{
    return on && count > 0 && fv_requests_told() ? room_for(call, count) : NULL;
}

/* Who waits is told what for. */
MPI_Status *fv_completion_keep_one(struct fv_completion *c, const MPI_Request *request, MPI_Status *status)
{
    c->before = NULL;
    c->known = look_up(*request, &c->one);
    if (FV_UNLIKELY(!c->one.kind))
        return status;
    c->count = 1;
    return status == MPI_STATUS_IGNORE || status == MPI_STATUSES_IGNORE ? &c->status : status;
}

/* Programs that compute meanwhile ask again and again: a copy will do, as below. A trace has what was tested. */
static bool keep_tested(struct fv_completion *c, const MPI_Request *request)
{
    if (!c->call->trace && !fv_requests_shared()) {
        c->single = *request;
        c->before = &c->single;
        return fv_request_may_be_known(fv_handle(*request));
    }
    c->known = look_up(*request, &c->one);
    return c->known->kind;
}

/* With one thread in MPI a copy of the handles is enough, and only those that complete are looked up:
 * programs poll thousands. Where another thread may get a handle again before we come to it, all are
 * looked up before the call. */
static bool keep_all(struct fv_completion *c, int count, const MPI_Request *requests)
{
    if (!fv_requests_shared()) {
        MPI_Request *copy = room_for(c->call, count);

        if (copy && copy != requests)
            memcpy(copy, requests, (size_t)count * sizeof(*copy));
        c->before = copy;
        return copy;
    }
    struct fv_request *known = fv_scratch(c->call, 0, (size_t)count * sizeof(*known));

    for (int i = 0; known && i < count; i++)
        look_up(requests[i], &known[i]);
    c->known = known;
    return known;
}

MPI_Status *fv_completion_keep(struct fv_completion *c, bool waits, int count, const MPI_Request *requests, int n,
                               MPI_Status *statuses)
{
    c->before = NULL;
    c->known = NULL;
    if (count <= 0 || !requests || !(count == 1 && !waits ? keep_tested(c, requests) : keep_all(c, count, requests)))
        return statuses;
    if (statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE) {
        MPI_Status *own = n == 1 ? &c->status : fv_scratch(c->call, 1, (size_t)n * sizeof(*own));

        if (!own) /* what cannot be seen is not followed */
            return statuses;
        statuses = own;
    }
    c->count = count;
    return statuses;
}

#define LOOKED_AT 256 /* requests of a call: a program may wait for one of thousands, again and again */

/* Request k, if anything is known of it. */
static bool waited(const struct fv_completion *c, int k, MPI_Request request, struct fv_wait_target *out)
{
    if (!c->count || !c->known || !c->known[k].kind) /* not followed; it may be noted */
        return fv_request_waited(fv_handle(request), out);
    *out = fv_request_as_waited(&c->known[k]);
    return true;
}

void fv_completion_describe(const struct fv_completion *c, int count, const MPI_Request *requests)
{
    struct fv_waiting *w = fv_call_describe(c->call);
    uint32_t kept = 0, unknown = 0;

    for (int k = 0; w && k < count; k++) {
        if (requests[k] == MPI_REQUEST_NULL)
            continue;
        if (kept == FV_WAITED_MOST || k == LOOKED_AT) {
            unknown += (uint32_t)(count - k);
            break;
        }
        if (waited(c, k, requests[k], &w->item[kept]))
            w->item[kept].peer = fv_peer(w->item[kept].peer), kept++;
        else
            unknown++;
    }
    if (!w)
        return;
    w->kept = kept;
    w->count = kept + unknown;
    fv_call_described(c->call, w);
}

/* ---- after the call ---- */

static bool any_cancelled; /* by MPI_Cancel, ever */

static bool is_cancelled(const MPI_Status *status)
{
    int cancelled = 0;

    return FV_UNLIKELY(__atomic_load_n(&any_cancelled, __ATOMIC_RELAXED)) &&
           PMPI_Test_cancelled(status, &cancelled) == MPI_SUCCESS && cancelled;
}

/* A cancelled receive got nothing, and its status tells no count (MPI-4.0 section 3.8.4). */
static bool has_message(const struct fv_request *r, const MPI_Status *status)
{
    return r->kind == FV_REQUEST_RECV && (r->untold || !is_cancelled(status));
}

/* A receive that got what its status tells. */
static inline bool is_plain(const struct fv_request *r)
{
    return r->kind == FV_REQUEST_RECV && !r->untold && !__atomic_load_n(&any_cancelled, __ATOMIC_RELAXED);
}

static uint64_t received_bytes(const struct fv_request *r, const MPI_Status *status)
{
    if (!has_message(r, status))
        return 0;
    return r->untold ? r->received : fv_status_bytes(status);
}

/* What stands in the trace for the communicator of a receive. Of what a matched probe found: 0, because the message was
 * told there. */
static uint32_t comm_of(const struct fv_request *r)
{
    return r->peer == FV_NO_PEER ? 0 : r->partitioned ? r->channels : fv_comm_number(r->comm);
}

/* Who sent what the status does not tell of is known if a rank and a tag were asked for; else nobody. */
static void event_untold(struct fv_call *call, const struct fv_request *r, uint64_t bytes)
{
    bool is_known = r->peer != MPI_ANY_SOURCE && r->tag != MPI_ANY_TAG;

    fv_event_received(call, comm_of(r), r->number, is_known ? r->peer : FV_NO_PEER, r->tag, bytes);
}

/* For the trace: how operation r ended. */
static void event_ended(struct fv_call *call, const struct fv_request *r, const MPI_Status *status, uint64_t bytes)
{
    if (r->kind == FV_REQUEST_COLLECTIVE || r->kind == FV_REQUEST_OPERATION)
        fv_event(call, DONE, r->number);
    else if (r->untold)
        event_untold(call, r, bytes);
    else if (is_cancelled(status))
        fv_event_cancelled(call, r->kind == FV_REQUEST_SEND, comm_of(r), r->number, r->peer, r->tag);
    else if (r->kind == FV_REQUEST_SEND)
        fv_event(call, SENT, r->number);
    else
        fv_event_received(call, comm_of(r), r->number, status->MPI_SOURCE, status->MPI_TAG, bytes);
}

/* An operation that failed is over where MPI took its request away, and where its message was too long:
 * persistent requests stay. What failed otherwise is not followed further. */
static FV_COLD void settle_failed(struct fv_completion *c, const struct fv_request *r, int error,
                                  const MPI_Request *now, const MPI_Status *status)
{
    bool gone = now && *now == MPI_REQUEST_NULL, truncated = fv_failure_of(error) == FV_FAILURE_TRUNCATE;
    int source = status->MPI_SOURCE, tag = status->MPI_TAG;
    bool over = r->kind == FV_REQUEST_RECV ? truncated : r->kind == FV_REQUEST_COLLECTIVE && (gone || truncated);

    if (r->kind == FV_REQUEST_RECV && (!now || r->untold)) { /* nor here */
        over = over && r->peer != MPI_ANY_SOURCE && r->tag != MPI_ANY_TAG;
        source = r->peer;
        tag = r->tag;
    }
    if (over && fv_request_completed(c->call, r, false, 0) && c->call->trace && r->number) { /* 0: see done-p2p.c */
        if (r->kind == FV_REQUEST_COLLECTIVE)
            fv_event(c->call, DONE, r->number);
        else
            fv_event_received(c->call, comm_of(r), r->number, source, tag, 0);
        fv_event_failed(c->call, error);
    } else if (!over && gone) {
        fv_request_freed(r);
    }
}

/* Request k completed, or failed: of what MPI took away nothing more will come. Single errors are told in
 * the statuses only when the call says MPI_ERR_IN_STATUS. */
static void settle(struct fv_completion *c, int result, int k, const MPI_Request *now, const MPI_Status *status)
{
    int error = result;

    if (k < 0 || k >= c->count)
        return;
    if (FV_UNLIKELY(result == MPI_ERR_IN_STATUS)) {
        if (!now) /* Open MPI's Fortran tells neither requests nor statuses after an error */
            return;
        error = status->MPI_ERROR;
    }
    const struct fv_request *r = c->known ? &c->known[k] : look_up(c->before[k], &c->one);

    if (!r->kind)
        return;
    if (FV_LIKELY(error == MPI_SUCCESS)) {
        bool plain = is_plain(r);
        uint64_t bytes = FV_LIKELY(plain) ? fv_status_bytes(status) : received_bytes(r, status);
        bool message = FV_LIKELY(plain) || has_message(r, status);

        if (fv_request_completed(c->call, r, message, bytes) && c->call->trace && r->number)
            event_ended(c->call, r, status, bytes);
    } else {
        settle_failed(c, r, error, now ? &now[k] : NULL, status);
    }
}

static __attribute__((noinline)) void completed_one(struct fv_completion *c, int result, const MPI_Request *now,
                                                    const MPI_Status *status)
{
    settle(c, result, 0, now, status);
    fv_call_record(c->call, NULL, 0, 0);
}

void fv_completed_one(struct fv_completion *c, int result, const MPI_Request *now, const MPI_Status *status)
{
    const struct fv_request *r = c->known;

    if (FV_LIKELY(result == MPI_SUCCESS && r && is_plain(r) && !fv_tracing()))
        fv_call_record_received(c->call, r, fv_status_bytes(status));
    else
        completed_one(c, result, now, status);
}

void fv_completion_settle_all(struct fv_completion *c, int result, const MPI_Request *now, const MPI_Status *statuses)
{
    for (int k = 0; k < c->count; k++)
        settle(c, result, k, now, &statuses[k]);
}

void fv_completion_settle_any(struct fv_completion *c, int result, int index, const MPI_Request *now,
                              const MPI_Status *status)
{
    settle(c, result, index - c->first, now, status);
}

void fv_completed_some(struct fv_completion *c, int result, const int *outcount, const int *indices,
                       const MPI_Request *now, const MPI_Status *statuses)
{
    bool told = c->count && (result == MPI_SUCCESS || result == MPI_ERR_IN_STATUS);

    if (result == MPI_SUCCESS && !*outcount) /* of MPI_Waitsome it is never 0 */
        fv_call_in_vain(c->call);

    for (int i = 0; told && i < *outcount; i++) /* MPI_UNDEFINED is negative */
        settle(c, result, indices[i] - c->first, now, &statuses[i]);
    fv_call_record(c->call, NULL, 0, 0);
}

/* The request stays, but its operation is over: MPI_Request_free may be all that comes. */
void fv_done_peeked(struct fv_call *call, int result, MPI_Request request, const int *flag, const MPI_Status *status)
{
    struct fv_completion c = { .call = call, .count = 1, .known = &c.one };

    if (result == MPI_SUCCESS && !*flag)
        fv_call_in_vain(call);
    if (result == MPI_SUCCESS && *flag && look_up(request, &c.one)->kind)
        settle(&c, result, 0, NULL, status);
    fv_call_record(call, NULL, 0, 0);
}

void fv_cancelling(void)
{
    __atomic_store_n(&any_cancelled, true, __ATOMIC_RELAXED);
}

/* ---- starts of persistent operations, and requests given up ---- */

/* Operation `number` begins. Persistent collectives may be started in another order by each rank, so the
 * number of the start is part of the sequence (trace/events.h). */
static void event_started(struct fv_call *call, const struct fv_request *r, uint64_t number)
{
    uint32_t comm = r->partitioned ? r->channels : fv_comm_number(r->comm);

    if (r->kind == FV_REQUEST_SEND)
        fv_event(call, ISEND, number, comm, fv_signed(r->peer), fv_signed(r->tag), r->sent);
    else if (r->kind == FV_REQUEST_RECV)
        fv_event(call, IRECV, number, comm, fv_signed(fv_peer(r->peer)), fv_signed(r->tag));
    else if (r->kind == FV_REQUEST_COLLECTIVE) {
        fv_event(call, ICOLLECTIVE, number, comm, fv_signed(r->tag), r->sent, r->received,
                 r->sequence | (uint64_t)(r->starts + 1) << 32);
        fv_event(call, OPERATION, number, r->made_by);
    }
}

const struct fv_request *fv_start_keep(struct fv_call *call, bool on, int count, const MPI_Request *requests,
                                       struct fv_request *one)
{
    struct fv_request *known = one;

    if (!on || count <= 0 || !requests)
        return NULL;
    if (count > 1 && !(known = fv_scratch(call, 0, (size_t)count * sizeof(*known))))
        return NULL;
    for (int i = 0; i < count; i++)
        if (requests[i] == MPI_REQUEST_NULL || !fv_request_get(fv_handle(requests[i]), &known[i]))
            known[i].kind = 0;
    return known;
}

/* Of several sends each is counted by its own size. */
static bool is_counted_alone(const struct fv_request *r, int count)
{
    return r->kind == FV_REQUEST_SEND && count > 1;
}

/* Counted with a communicator only if all are of the same one. */
static void record_start(struct fv_call *call, int count, const struct fv_request *known, uint64_t number)
{
    struct fv_comm *comm = NULL;
    uint64_t sent = 0, received = 0;
    bool mixed = false;

    for (int i = 0; i < count; i++) {
        const struct fv_request *r = &known[i];

        if (!r->kind)
            continue;
        if (call->trace)
            event_started(call, r, number + (uint64_t)i);
        sent += is_counted_alone(r, count) ? 0 : r->sent;
        received += r->kind == FV_REQUEST_COLLECTIVE ? r->received : 0; /* a receive's come when it completes */
        mixed = mixed || (comm && comm != r->comm);
        comm = r->comm;
    }
    fv_call_record(call, mixed ? NULL : comm, sent, received);
}

void fv_done_start(struct fv_call *call, int result, int count, const struct fv_request *known, const MPI_Request *now)
{
    bool any = result == MPI_SUCCESS && count > 0;
    uint64_t number = any && known ? fv_event_numbers((uint64_t)count) : 0;

    record_start(call, any && known ? count : 0, known, number);
    for (int i = 0; any && i < count; i++) {
        if (!known || !known[i].kind) {
            fv_request_unknown();
            continue;
        }
        if (is_counted_alone(&known[i], count))
            fv_call_sent_one(call, known[i].sent);
        if (known[i].kind == FV_REQUEST_SEND)
            fv_done_sent_to(call, known[i].comm, known[i].peer, known[i].sent);
        fv_request_start(call, &known[i], fv_handle(now[i]), number + (uint64_t)i);
    }
}

void fv_done_request_free(struct fv_call *call, int result, const struct fv_request *known)
{
    if (known && result == MPI_SUCCESS) {
        if (known->number && (!known->persistent || known->active))
            fv_event(call, FREED, known->number);
        fv_request_freed(known);
    }
    fv_call_record(call, NULL, 0, 0);
}

/* ---- the wrappers ---- */

#if HAVE_MPI_Wait
FV_PUBLIC int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct fv_call call;
    struct fv_completion c;
    bool on = fv_call_enter(&call, FV_FN_MPI_Wait, FV_CALL_SITE());
    MPI_Status *seen = fv_completion_before(&c, &call, on, true, 1, request, 1, status);

    fv_completion_tell(&c, on, 1, request);
    int result = fv_next_MPI_Wait(request, seen);
    if (on && fv_call_end(&call)) {
        fv_completed_all(&c, result, NULL, request, seen);
    }
    return result;
}
#endif

#if HAVE_MPI_Test
FV_PUBLIC int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct fv_call call;
    struct fv_completion c;
    bool on = fv_call_enter(&call, FV_FN_MPI_Test, FV_CALL_SITE());
    MPI_Status *seen = fv_completion_before(&c, &call, on, false, 1, request, 1, status);
    int result = fv_next_MPI_Test(request, flag, seen);

    if (on && fv_call_end(&call)) {
        fv_completed_all(&c, result, flag, request, seen);
    }
    return result;
}
#endif

#if HAVE_MPI_Waitall
FV_PUBLIC int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
{
    struct fv_call call;
    struct fv_completion c;
    bool on = fv_call_enter(&call, FV_FN_MPI_Waitall, FV_CALL_SITE());
    MPI_Status *seen = fv_completion_before(&c, &call, on, true, count, array_of_requests, count, array_of_statuses);

    fv_completion_tell(&c, on, count, array_of_requests);
    int result = fv_next_MPI_Waitall(count, array_of_requests, seen);
    if (on && fv_call_end(&call)) {
        fv_completed_all(&c, result, NULL, array_of_requests, seen);
    }
    return result;
}
#endif

#if HAVE_MPI_Testall
FV_PUBLIC int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[])
{
    struct fv_call call;
    struct fv_completion c;
    bool on = fv_call_enter(&call, FV_FN_MPI_Testall, FV_CALL_SITE());
    MPI_Status *seen = fv_completion_before(&c, &call, on, false, count, array_of_requests, count, array_of_statuses);
    int result = fv_next_MPI_Testall(count, array_of_requests, flag, seen);

    if (on && fv_call_end(&call)) {
        fv_completed_all(&c, result, flag, array_of_requests, seen);
    }
    return result;
}
#endif

#if HAVE_MPI_Waitany
FV_PUBLIC int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
    struct fv_call call;
    struct fv_completion c;
    bool on = fv_call_enter(&call, FV_FN_MPI_Waitany, FV_CALL_SITE());
    MPI_Status *seen = fv_completion_before(&c, &call, on, true, count, array_of_requests, 1, status);

    fv_completion_tell(&c, on, count, array_of_requests);
    int result = fv_next_MPI_Waitany(count, array_of_requests, index, seen);
    if (on && fv_call_end(&call)) {
        fv_completed_any(&c, result, NULL, index, array_of_requests, seen);
    }
    return result;
}
#endif

#if HAVE_MPI_Testany
FV_PUBLIC int MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status)
{
    struct fv_call call;
    struct fv_completion c;
    bool on = fv_call_enter(&call, FV_FN_MPI_Testany, FV_CALL_SITE());
    MPI_Status *seen = fv_completion_before(&c, &call, on, false, count, array_of_requests, 1, status);
    int result = fv_next_MPI_Testany(count, array_of_requests, index, flag, seen);

    if (on && fv_call_end(&call)) {
        fv_completed_any(&c, result, flag, index, array_of_requests, seen);
    }
    return result;
}
#endif

#if HAVE_MPI_Waitsome
FV_PUBLIC int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                           MPI_Status array_of_statuses[])
{
    struct fv_call call;
    struct fv_completion c;
    bool on = fv_call_enter(&call, FV_FN_MPI_Waitsome, FV_CALL_SITE());
    MPI_Status *seen =
        fv_completion_before(&c, &call, on, true, incount, array_of_requests, incount, array_of_statuses);

    fv_completion_tell(&c, on, incount, array_of_requests);
    int result = fv_next_MPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, seen);
    if (on && fv_call_end(&call)) {
        fv_completed_some(&c, result, outcount, array_of_indices, array_of_requests, seen);
    }
    return result;
}
#endif

#if HAVE_MPI_Testsome
FV_PUBLIC int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                           MPI_Status array_of_statuses[])
{
    struct fv_call call;
    struct fv_completion c;
    bool on = fv_call_enter(&call, FV_FN_MPI_Testsome, FV_CALL_SITE());
    MPI_Status *seen =
        fv_completion_before(&c, &call, on, false, incount, array_of_requests, incount, array_of_statuses);
    int result = fv_next_MPI_Testsome(incount, array_of_requests, outcount, array_of_indices, seen);

    if (on && fv_call_end(&call)) {
        fv_completed_some(&c, result, outcount, array_of_indices, array_of_requests, seen);
    }
    return result;
}
#endif

#if HAVE_MPI_Start
FV_PUBLIC int MPI_Start(MPI_Request *request)
{
    struct fv_call call;
    struct fv_request one;
    bool on = fv_call_enter(&call, FV_FN_MPI_Start, FV_CALL_SITE());
    const struct fv_request *known = fv_start_keep(&call, on, 1, request, &one);
    int result = fv_next_MPI_Start(request);

    if (on && fv_call_end(&call)) {
        fv_done_start(&call, result, 1, known, request);
    }
    return result;
}
#endif

#if HAVE_MPI_Startall
FV_PUBLIC int MPI_Startall(int count, MPI_Request array_of_requests[])
{
    struct fv_call call;
    struct fv_request one;
    bool on = fv_call_enter(&call, FV_FN_MPI_Startall, FV_CALL_SITE());
    const struct fv_request *known = fv_start_keep(&call, on, count, array_of_requests, &one);
    int result = fv_next_MPI_Startall(count, array_of_requests);

    if (on && fv_call_end(&call)) {
        fv_done_start(&call, result, count, known, array_of_requests);
    }
    return result;
}
#endif

#if HAVE_MPI_Cancel
FV_PUBLIC int MPI_Cancel(MPI_Request *request)
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Cancel, FV_CALL_SITE());

    fv_cancelling();
    int result = PMPI_Cancel(request);
    if (on && fv_call_end(&call)) {
        fv_done_plainly(&call, result);
    }
    return result;
}
#endif

#if HAVE_MPI_Request_free
FV_PUBLIC int MPI_Request_free(MPI_Request *request)
{
    struct fv_call call;
    struct fv_request r;
    bool on = fv_call_enter(&call, FV_FN_MPI_Request_free, FV_CALL_SITE());
    bool known = on && request && fv_request_get(fv_handle(*request), &r);
    int result = fv_next_MPI_Request_free(request);

    if (on && fv_call_end(&call)) {
        fv_done_request_free(&call, result, known ? &r : NULL);
    }
    return result;
}
#endif

/* ---- the requests stay, but their operations may be over: MPI_Request_free may be all that comes ---- */

#if FV_WRAPS(MPI_Request_get_status_all)
FV_PUBLIC int MPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
                                         MPI_Status array_of_statuses[])
{
    struct fv_call call;
    struct fv_completion c;
    bool on = fv_call_enter(&call, FV_FN_MPI_Request_get_status_all, FV_CALL_SITE());
    MPI_Status *seen = fv_completion_before(&c, &call, on, false, count, array_of_requests, count, array_of_statuses);
    int result = fv_next_MPI_Request_get_status_all(count, array_of_requests, flag, seen);

    if (on && fv_call_end(&call)) {
        fv_completion_peeked(&c, result);
        fv_completed_all(&c, result, flag, array_of_requests, seen);
    }
    return result;
}
#endif

#if FV_WRAPS(MPI_Request_get_status_any)
FV_PUBLIC int MPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *index, int *flag,
                                         MPI_Status *status)
{
    struct fv_call call;
    struct fv_completion c;
    bool on = fv_call_enter(&call, FV_FN_MPI_Request_get_status_any, FV_CALL_SITE());
    MPI_Status *seen = fv_completion_before(&c, &call, on, false, count, array_of_requests, 1, status);
    int result = fv_next_MPI_Request_get_status_any(count, array_of_requests, index, flag, seen);

    if (on && fv_call_end(&call)) {
        fv_completion_peeked(&c, result);
        fv_completed_any(&c, result, flag, index, array_of_requests, seen);
    }
    return result;
}
#endif

#if FV_WRAPS(MPI_Request_get_status_some)
FV_PUBLIC int MPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
                                          int array_of_indices[], MPI_Status array_of_statuses[])
{
    struct fv_call call;
    struct fv_completion c;
    bool on = fv_call_enter(&call, FV_FN_MPI_Request_get_status_some, FV_CALL_SITE());
    MPI_Status *seen =
        fv_completion_before(&c, &call, on, false, incount, array_of_requests, incount, array_of_statuses);
    int result = fv_next_MPI_Request_get_status_some(incount, array_of_requests, outcount, array_of_indices, seen);

    if (on && fv_call_end(&call)) {
        fv_completion_peeked(&c, result);
        fv_completed_some(&c, result, outcount, array_of_indices, array_of_requests, seen);
    }
    return result;
}
#endif
