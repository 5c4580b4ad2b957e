/* Completion (MPI_Wait, MPI_Test and their families), and the start of persistent operations: the
 * wrappers that care about requests. MPI overwrites handles of completed requests, so followed ones are
 * looked up and copied before the call; statuses of our own are passed only where the caller ignores
 * them and a followed receive needs one. Where nothing is followed, which is the usual case for
 * programs without non-blocking receives, that costs one load. */
#include "done.h"
#include "functions.h"

#include <string.h>

/* The requests of a call in the caller's order, as they were before it. With one thread in MPI a copy of
 * the handles is enough, and only those that complete are looked up: programs poll thousands. Where another
 * thread may get a handle again before we come to it, all are looked up before the call. */
struct followed {
    const MPI_Request *before; /* NULL: none is followed, or memory is short */
    const struct fv_request *known; /* as looked up; NULL: look up before[k] */
};

static const struct fv_request *look_up(MPI_Request request, struct fv_request *out)
{
    if (request == MPI_REQUEST_NULL || !fv_request_get(fv_handle(request), out) ||
        (out->persistent && !out->active))
        out->kind = 0;
    return out;
}

static struct followed followed(struct fv_call *call, int count, const MPI_Request *requests)
{
    struct followed f = { 0 };

    if (count <= 0 || !requests || !fv_requests_any())
        return f;
    MPI_Request *copy = fv_scratch(call, 2, (size_t)count * sizeof(*copy));
    if (copy && fv_requests_shared()) {
        struct fv_request *known = fv_scratch(call, 0, (size_t)count * sizeof(*known));

        if (!known)
            return f;
        for (int i = 0; i < count; i++)
            look_up(requests[i], &known[i]);
        f.known = known;
    }
    if (copy)
        memcpy(copy, requests, (size_t)count * sizeof(*copy));
    f.before = copy;
    return f;
}

/* A single request; NULL: not followed. */
static const struct fv_request *followed_one(const MPI_Request *request, struct fv_request *out)
{
    return request && look_up(*request, out)->kind ? out : NULL;
}

/* Number k; kind 0: not followed. `out` may be used to hold it. */
static const struct fv_request *followed_at(const struct followed *f, int k, struct fv_request *out)
{
    return f->known ? &f->known[k] : look_up(f->before[k], out);
}

/* The status array to pass on; without memory for one, nothing is followed. */
static MPI_Status *statuses_seen(struct fv_call *call, int count, MPI_Status *statuses,
                                 struct followed *list)
{
    if (!list->before || statuses != MPI_STATUSES_IGNORE)
        return statuses;
    MPI_Status *own = fv_scratch(call, 1, (size_t)count * sizeof(*own));

    if (!own) {
        list->before = NULL;
        return statuses;
    }
    return own;
}

/* A cancelled receive got nothing, and its status tells no count (MPI-4.0 section 3.8.4). */
static uint64_t received_bytes(const struct fv_request *r, const MPI_Status *status)
{
    int cancelled = 0;

    if (r->kind != FV_REQUEST_RECV)
        return 0;
    if (r->bytes) /* known beforehand, because the status need not tell (done-p2p.c) */
        return r->bytes;
    if (PMPI_Test_cancelled(status, &cancelled) == MPI_SUCCESS && cancelled)
        return 0;
    return fv_status_bytes(status);
}

/* A followed request completed without error. */
static void settle(struct fv_call *call, const struct fv_request *r, const MPI_Status *status)
{
    if (r->kind)
        fv_request_completed(call, r, received_bytes(r, status));
}

/* ... or with one: of what MPI took away nothing more will come. */
static void forget(const struct fv_request *r, MPI_Request now)
{
    if (r->kind && now == MPI_REQUEST_NULL)
        fv_request_freed(r);
}

/* `n` requests may have completed, the i-th of them is number at[i] (or i) and has statuses[i]. Single
 * errors are told in the statuses only when the call says MPI_ERR_IN_STATUS. */
static void settle_all(struct fv_call *call, int result, const struct followed *list, int n,
                       const int *at, const MPI_Request *requests, const MPI_Status *statuses)
{
    for (int i = 0; i < n; i++) {
        int k = at ? at[i] : i;
        int error = result == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : result;
        struct fv_request own;
        const struct fv_request *r = followed_at(list, k, &own);

        if (error == MPI_SUCCESS)
            settle(call, r, &statuses[i]);
        else
            forget(r, requests[k]);
    }
}

/* What a report of a hung program says about a wait. */
static void tell_peer(struct fv_call *call, const struct fv_request *r)
{
    if (r->comm)
        fv_call_peer(call, fv_comm_handle(r->comm), fv_peer(r->peer), r->tag);
}

/* ---- one request ---- */

#if HAVE_MPI_Wait
FV_PUBLIC int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct fv_call call;
    MPI_Status own;
    bool on = fv_call_enter(&call, FV_FN_MPI_Wait, FV_CALL_SITE());
    struct fv_request r;
    const struct fv_request *list = on ? followed_one(request, &r) : NULL;
    MPI_Status *seen = fv_status_seen(list, status, &own);

    if (list)
        tell_peer(&call, list);
    int result = PMPI_Wait(request, seen);
    if (on) {
        fv_call_end(&call);
        if (list && result == MPI_SUCCESS)
            settle(&call, list, seen);
        else if (list)
            forget(list, *request);
        fv_call_record(&call, NULL, 0, 0);
    }
    return result;
}
#endif

#if HAVE_MPI_Test
FV_PUBLIC int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct fv_call call;
    MPI_Status own;
    bool on = fv_call_enter(&call, FV_FN_MPI_Test, FV_CALL_SITE());
    struct fv_request r;
    const struct fv_request *list = on ? followed_one(request, &r) : NULL;
    MPI_Status *seen = fv_status_seen(list, status, &own);
    int result = PMPI_Test(request, flag, seen);

    if (on) {
        fv_call_end(&call);
        if (list && result != MPI_SUCCESS)
            forget(list, *request);
        else if (list && *flag)
            settle(&call, list, seen);
        fv_call_record(&call, NULL, 0, 0);
    }
    return result;
}
#endif

/* ---- all ---- */

#if HAVE_MPI_Waitall
FV_PUBLIC int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Waitall, FV_CALL_SITE());
    struct followed list = on ? followed(&call, count, array_of_requests) : (struct followed){ 0 };
    MPI_Status *seen = statuses_seen(&call, count, array_of_statuses, &list);
    int result = PMPI_Waitall(count, array_of_requests, seen);

    if (on) {
        fv_call_end(&call);
        if (list.before)
            settle_all(&call, result, &list, count, NULL, array_of_requests, seen);
        fv_call_record(&call, NULL, 0, 0);
    }
    return result;
}
#endif

#if HAVE_MPI_Testall
FV_PUBLIC int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
                          MPI_Status array_of_statuses[])
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Testall, FV_CALL_SITE());
    struct followed list = on ? followed(&call, count, array_of_requests) : (struct followed){ 0 };
    MPI_Status *seen = statuses_seen(&call, count, array_of_statuses, &list);
    int result = PMPI_Testall(count, array_of_requests, flag, seen);

    if (on) {
        fv_call_end(&call);
        if (list.before && (result != MPI_SUCCESS || *flag))
            settle_all(&call, result, &list, count, NULL, array_of_requests, seen);
        fv_call_record(&call, NULL, 0, 0);
    }
    return result;
}
#endif

/* ---- any; an index of MPI_UNDEFINED says that there was nothing to wait for ---- */

#if HAVE_MPI_Waitany
FV_PUBLIC int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
    struct fv_call call;
    MPI_Status own;
    bool on = fv_call_enter(&call, FV_FN_MPI_Waitany, FV_CALL_SITE());
    struct followed list = on ? followed(&call, count, array_of_requests) : (struct followed){ 0 };
    MPI_Status *seen = fv_status_seen(list.before, status, &own);
    int result = PMPI_Waitany(count, array_of_requests, index, seen);

    if (on) {
        fv_call_end(&call);
        if (list.before && *index >= 0 && *index < count)
            settle_all(&call, result, &list, 1, index, array_of_requests, seen);
        fv_call_record(&call, NULL, 0, 0);
    }
    return result;
}
#endif

#if HAVE_MPI_Testany
FV_PUBLIC int MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag,
                          MPI_Status *status)
{
    struct fv_call call;
    MPI_Status own;
    bool on = fv_call_enter(&call, FV_FN_MPI_Testany, FV_CALL_SITE());
    struct followed list = on ? followed(&call, count, array_of_requests) : (struct followed){ 0 };
    MPI_Status *seen = fv_status_seen(list.before, status, &own);
    int result = PMPI_Testany(count, array_of_requests, index, flag, seen);

    if (on) {
        fv_call_end(&call);
        if (list.before && (result != MPI_SUCCESS || *flag) && *index >= 0 && *index < count)
            settle_all(&call, result, &list, 1, index, array_of_requests, seen);
        fv_call_record(&call, NULL, 0, 0);
    }
    return result;
}
#endif

/* ---- some; an outcount of MPI_UNDEFINED, which is negative, likewise ---- */

#if HAVE_MPI_Waitsome
FV_PUBLIC int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
                           int array_of_indices[], MPI_Status array_of_statuses[])
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Waitsome, FV_CALL_SITE());
    struct followed list = on ? followed(&call, incount, array_of_requests) : (struct followed){ 0 };
    MPI_Status *seen = statuses_seen(&call, incount, array_of_statuses, &list);
    int result = PMPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, seen);

    if (on) {
        fv_call_end(&call);
        if (list.before && (result == MPI_SUCCESS || result == MPI_ERR_IN_STATUS))
            settle_all(&call, result, &list, *outcount, array_of_indices, array_of_requests, seen);
        fv_call_record(&call, NULL, 0, 0);
    }
    return result;
}
#endif

#if HAVE_MPI_Testsome
FV_PUBLIC int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
                           int array_of_indices[], MPI_Status array_of_statuses[])
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Testsome, FV_CALL_SITE());
    struct followed list = on ? followed(&call, incount, array_of_requests) : (struct followed){ 0 };
    MPI_Status *seen = statuses_seen(&call, incount, array_of_statuses, &list);
    int result = PMPI_Testsome(incount, array_of_requests, outcount, array_of_indices, seen);

    if (on) {
        fv_call_end(&call);
        if (list.before && (result == MPI_SUCCESS || result == MPI_ERR_IN_STATUS))
            settle_all(&call, result, &list, *outcount, array_of_indices, array_of_requests, seen);
        fv_call_record(&call, NULL, 0, 0);
    }
    return result;
}
#endif

/* ---- the other end: starts of persistent operations, and requests given up ---- */

#if HAVE_MPI_Start
FV_PUBLIC int MPI_Start(MPI_Request *request)
{
    struct fv_call call;
    struct fv_request r = { 0 };
    bool on = fv_call_enter(&call, FV_FN_MPI_Start, FV_CALL_SITE());
    bool known = on && request && fv_request_get(fv_handle(*request), &r);
    int result = PMPI_Start(request);

    if (on) {
        fv_call_end(&call);
        known = known && result == MPI_SUCCESS;
        bool sends = known && r.kind == FV_REQUEST_SEND;
        fv_call_record(&call, known ? r.comm : NULL, sends ? r.bytes : 0, 0);
        if (sends)
            fv_call_sent_to(&call, r.comm, r.peer, 1, r.bytes);
        if (known)
            fv_request_start(&call, r.handle);
    }
    return result;
}
#endif

#if HAVE_MPI_Startall
/* Counted with a communicator only if all are of the same one. */
static void started(struct fv_call *call, int count, const MPI_Request *requests)
{
    struct fv_comm *comm = NULL;
    uint64_t bytes = 0;
    bool mixed = false;
    struct fv_request r;

    for (int i = 0; i < count; i++) {
        if (!fv_request_get(fv_handle(requests[i]), &r))
            continue;
        bytes += r.kind == FV_REQUEST_SEND ? r.bytes : 0;
        mixed = mixed || (comm && comm != r.comm);
        comm = r.comm;
    }
    fv_call_record(call, mixed ? NULL : comm, bytes, 0);
    for (int i = 0; i < count; i++) {
        if (!fv_request_get(fv_handle(requests[i]), &r))
            continue;
        if (r.kind == FV_REQUEST_SEND)
            fv_call_sent_to(call, r.comm, r.peer, 1, r.bytes);
        fv_request_start(call, r.handle);
    }
}

FV_PUBLIC int MPI_Startall(int count, MPI_Request array_of_requests[])
{
    struct fv_call call;
    bool on = fv_call_enter(&call, FV_FN_MPI_Startall, FV_CALL_SITE());
    int result = PMPI_Startall(count, array_of_requests);

    if (on) {
        fv_call_end(&call);
        if (result == MPI_SUCCESS && fv_requests_any())
            started(&call, count, array_of_requests);
        else
            fv_call_record(&call, NULL, 0, 0);
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
    int result = PMPI_Request_free(request);

    if (on) {
        fv_call_end(&call);
        if (known && result == MPI_SUCCESS)
            fv_request_freed(&r);
        fv_call_record(&call, NULL, 0, 0);
    }
    return result;
}
#endif
