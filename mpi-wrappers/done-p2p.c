/* SPDX-License-Identifier: BSD-3-Clause */
/* Point to point. Bytes sent are known when a send is posted and are charged to it; bytes received are
 * known from the status, so a non-blocking receive is followed until it completes (complete.c). A send's
 * own request is followed for a trace alone. MPI_PROC_NULL moves nothing (MPI-4.0 section 3.10), and is
 * in no trace. */
#include "done.h"

#define NUMBERS(comm, peer, tag) fv_comm_number(comm), fv_signed(peer), fv_signed(tag)

/* A message came: from whom, the status tells. */
static void event_recv(struct fv_call *call, struct fv_comm *comm, const MPI_Status *status, uint64_t bytes)
{
    if (status->MPI_SOURCE != MPI_PROC_NULL)
        fv_event(call, RECV, NUMBERS(comm, status->MPI_SOURCE, status->MPI_TAG), bytes);
}

static void event_send(struct fv_call *call, struct fv_comm *comm, int dest, int tag, uint64_t bytes)
{
    if (dest != MPI_PROC_NULL)
        fv_event(call, SEND, NUMBERS(comm, dest, tag), bytes);
}

/* Followed from now on; the number it has in the trace. */
static uint64_t follow(struct fv_call *call, struct fv_request *request, MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL || (request->peer == MPI_PROC_NULL && !request->persistent))
        return 0;
    request->handle = fv_handle(handle);
    request->number = fv_event_numbers(1);
    fv_request_post(call, request);
    return request->number;
}

static void record_sent(struct fv_call *call, struct fv_comm *comm, int dest, uint64_t bytes, uint64_t received)
{
    if (dest == MPI_PROC_NULL) {
        fv_call_record(call, comm, 0, received);
        return;
    }
    fv_call_record(call, comm, bytes, received);
    fv_done_sent_to(call, comm, dest, bytes);
}

void fv_done_sent_to(struct fv_call *call, struct fv_comm *comm, int dest, uint64_t bytes)
{
    if (!bytes)
        fv_call_empty(call, 1, 0);
    fv_call_sent_to(call, comm, dest, 1, bytes);
}

static void note_empty(struct fv_call *call, const MPI_Status *status, uint64_t bytes)
{
    if (!bytes && status->MPI_SOURCE != MPI_PROC_NULL)
        fv_call_empty(call, 0, 1);
}

static uint64_t sent_bytes(MPI_Count count, MPI_Datatype type, int dest)
{
    return dest == MPI_PROC_NULL ? 0 : fv_bytes(count, type);
}

/* A handle that belongs to an operation of the same kind that was not completed is the one for all. */
uint64_t fv_done_follow(struct fv_call *call, struct fv_request request, MPI_Request handle, bool *complete)
{
    struct fv_request other;

    *complete = false;
    if (handle == MPI_REQUEST_NULL)
        return 0;
    if (!fv_request_get(fv_handle(handle), &other) || other.kind != request.kind || other.persistent)
        return follow(call, &request, handle);
    *complete = true;
    return fv_event_numbers(1);
}

void fv_done_note(struct fv_call *call, unsigned kind, struct fv_comm *comm, int peer, int tag, MPI_Request handle)
{
    const struct fv_wait_target what = {
        .comm = fv_comm_number(comm), .peer = peer, .tag = tag, .kind = (uint8_t)kind
    };

    if (handle != MPI_REQUEST_NULL)
        fv_request_note(call, fv_handle(handle), &what);
}

static void event_isend(struct fv_call *call, struct fv_comm *comm, int dest, int tag, uint64_t bytes,
                        MPI_Request handle)
{
    const struct fv_request request = { .kind = FV_REQUEST_SEND, .peer = dest, .tag = tag, .comm = comm };
    bool complete;
    uint64_t number = fv_done_follow(call, request, handle, &complete);

    if (!number)
        return;
    fv_event(call, ISEND, number, NUMBERS(comm, dest, tag), bytes);
    if (complete)
        fv_event(call, SENT, number);
}

void fv_done_isend(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, const MPI_Request *request)
{
    if (result != MPI_SUCCESS) {
        fv_call_record(call, NULL, 0, 0);
        return;
    }
    struct fv_comm *c = fv_comm_get(fv_handle(comm));
    uint64_t bytes = sent_bytes(count, type, dest);

    if (fv_tracing() && dest != MPI_PROC_NULL)
        event_isend(call, c, dest, tag, bytes, *request);
    else
        fv_done_note(call, FV_REQUEST_SEND, c, dest, tag, *request);
    record_sent(call, c, dest, bytes, 0);
}

/* A message that was longer than its buffer is received, and the arguments are good. The status names it, but
 * not how much of it came: Open MPI gives the length of the message, MPICH what stood there. So it is 0
 * bytes.
 */
static FV_COLD bool is_truncated(int result)
{
    return fv_failure_of(result) == FV_FAILURE_TRUNCATE;
}

static FV_COLD void recv_failed(struct fv_call *call, int result, MPI_Comm comm, const MPI_Status *status)
{
    struct fv_comm *c = is_truncated(result) ? fv_comm_get(fv_handle(comm)) : NULL;

    if (c && status->MPI_SOURCE != MPI_PROC_NULL) {
        fv_event(call, RECV, NUMBERS(c, status->MPI_SOURCE, status->MPI_TAG), 0);
        fv_event_failed(call, result);
    }
    fv_call_record(call, c, 0, 0);
}

void fv_done_recv(struct fv_call *call, int result, int source, MPI_Comm comm, const MPI_Status *status)
{
    if (FV_UNLIKELY(result != MPI_SUCCESS)) {
        recv_failed(call, result, comm, status);
        return;
    }
    struct fv_comm *c = fv_comm_get(fv_handle(comm));
    uint64_t bytes = source == MPI_PROC_NULL ? 0 : fv_status_bytes(status);

    event_recv(call, c, status, bytes);
    fv_call_record(call, c, 0, bytes);
    note_empty(call, status, bytes);
}

/* ---- matched probes ---- */

/* Messages have handles of their own, which may be equal to a request's. */
static uint64_t message_key(uint64_t handle)
{
    return ~handle;
}

/* The message handle does not tell its communicator, and MPI has none to ask: for a trace it is kept. */
void fv_done_mprobe(struct fv_call *call, int result, const int *flag, MPI_Comm comm, const MPI_Message *message,
                    const MPI_Status *status)
{
    if (result != MPI_SUCCESS) {
        fv_call_record(call, NULL, 0, 0);
        return;
    }
    struct fv_request r = { .kind = FV_REQUEST_MESSAGE, .comm = fv_comm_get(fv_handle(comm)) };

    if (flag && !*flag)
        fv_call_in_vain(call);
    if (fv_tracing() && (!flag || *flag) && *message != MPI_MESSAGE_NO_PROC && *message != MPI_MESSAGE_NULL) {
        r.handle = message_key(fv_handle(*message));
        r.number = fv_event_numbers(1);
        r.peer = status->MPI_SOURCE;
        r.tag = status->MPI_TAG;
        fv_request_post(call, &r);
        fv_event(call, MATCHED, r.number, NUMBERS(r.comm, r.peer, r.tag));
    }
    fv_call_record(call, r.comm, 0, 0);
}

/* Takes the message away; kind 0: unknown. */
static struct fv_request take_message(uint64_t handle)
{
    struct fv_request r = { 0 };

    if (!fv_tracing() || !fv_request_get(message_key(handle), &r) || r.kind != FV_REQUEST_MESSAGE)
        return (struct fv_request){ 0 };
    fv_request_freed(&r);
    return r;
}

void fv_done_mrecv(struct fv_call *call, int result, uint64_t was, const MPI_Status *status)
{
    bool came = FV_LIKELY(result == MPI_SUCCESS) || is_truncated(result);
    uint64_t bytes = FV_LIKELY(result == MPI_SUCCESS) ? fv_status_bytes(status) : 0;
    struct fv_request message = take_message(was);

    if (message.kind && came)
        fv_event(call, MRECV, message.number, bytes);
    if (FV_UNLIKELY(result != MPI_SUCCESS) && message.kind && came)
        fv_event_failed(call, result);
    fv_call_record(call, NULL, 0, bytes);
    if (result == MPI_SUCCESS)
        note_empty(call, status, bytes);
}

void fv_done_imrecv(struct fv_call *call, int result, uint64_t was, const MPI_Request *request)
{
    struct fv_request message = take_message(was);

    if (result == MPI_SUCCESS && (message.kind || !fv_tracing())) { /* else: MPI_MESSAGE_NO_PROC */
        struct fv_request r = { .kind = FV_REQUEST_RECV, .peer = FV_NO_PEER, .tag = message.tag, .comm = message.comm };
        uint64_t number = follow(call, &r, *request);

        if (message.kind && number)
            fv_event(call, IRECV, number, NUMBERS(message.comm, message.peer, message.tag));
    }
    fv_call_record(call, NULL, 0, 0);
}

/* ---- both directions, and receives that complete later ---- */

/* The message that was received was too long: the one that was sent has gone. */
static FV_COLD void sendrecv_failed(struct fv_call *call, int result, uint64_t sent, int dest, int tag, MPI_Comm comm,
                                    const MPI_Status *status)
{
    struct fv_comm *c = fv_comm_get(fv_handle(comm));

    if (dest != MPI_PROC_NULL)
        fv_event(call, SEND, NUMBERS(c, dest, tag), sent);
    if (status->MPI_SOURCE != MPI_PROC_NULL) {
        fv_event(call, RECV, NUMBERS(c, status->MPI_SOURCE, status->MPI_TAG), 0);
        fv_event_failed(call, result);
    }
    record_sent(call, c, dest, sent, 0);
}

void fv_done_sendrecv(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag,
                      int source, MPI_Comm comm, const MPI_Status *status)
{
    if (FV_UNLIKELY(result != MPI_SUCCESS)) {
        if (is_truncated(result))
            sendrecv_failed(call, result, sent_bytes(count, type, dest), dest, tag, comm, status);
        else
            fv_call_record(call, NULL, 0, 0);
        return;
    }
    struct fv_comm *c = fv_comm_get(fv_handle(comm));
    uint64_t sent = sent_bytes(count, type, dest);
    uint64_t received = source == MPI_PROC_NULL ? 0 : fv_status_bytes(status);

    event_send(call, c, dest, tag, sent);
    event_recv(call, c, status, received);
    record_sent(call, c, dest, sent, received);
    note_empty(call, status, received);
}

static void event_irecv(struct fv_call *call, uint64_t number, struct fv_comm *comm, int source, int tag)
{
    if (number)
        fv_event(call, IRECV, number, NUMBERS(comm, fv_peer(source), tag));
}

/* MPICH (4.0.2) leaves the status of these as it finds it, with sender, tag and count of an earlier request: there
 * the room for the message is counted. */
#ifdef MPICH_NUMVERSION
#define ISENDRECV_STATUS_TELLS false
#else
#define ISENDRECV_STATUS_TELLS true
#endif

/* One request for both: in the trace the send is complete at once. */
void fv_done_isendrecv(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag,
                       MPI_Count room, MPI_Datatype room_type, int source, int recv_tag, MPI_Comm comm,
                       const MPI_Request *request)
{
    if (result != MPI_SUCCESS) {
        fv_call_record(call, NULL, 0, 0);
        return;
    }
    struct fv_request r = {
        .kind = FV_REQUEST_RECV, .peer = source, .tag = recv_tag, .comm = fv_comm_get(fv_handle(comm))
    };
    uint64_t sent = sent_bytes(count, type, dest);

    r.untold = !ISENDRECV_STATUS_TELLS;
    if (r.untold && source != MPI_PROC_NULL)
        r.received = fv_bytes(room, room_type);
    event_send(call, r.comm, dest, tag, sent);
    event_irecv(call, follow(call, &r, *request), r.comm, source, recv_tag);
    record_sent(call, r.comm, dest, sent, 0);
}

/* ---- persistent and partitioned: planned here, charged to each MPI_Start ---- */

void fv_done_planned(struct fv_call *call, struct fv_comm *comm, struct fv_request plan, MPI_Request handle)
{
    plan.comm = comm;
    plan.persistent = 1;
    if (plan.peer == MPI_PROC_NULL)
        plan.kind = FV_REQUEST_NOTHING;
    fv_call_record(call, comm, 0, 0);
    follow(call, &plan, handle);
}

static void plan(struct fv_call *call, int result, struct fv_request request, MPI_Comm comm, const MPI_Request *handle)
{
    if (result == MPI_SUCCESS)
        fv_done_planned(call, fv_comm_get(fv_handle(comm)), request, *handle);
    else
        fv_call_record(call, NULL, 0, 0);
}

void fv_done_send_init(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag,
                       MPI_Comm comm, const MPI_Request *request)
{
    uint64_t bytes = result == MPI_SUCCESS ? sent_bytes(count, type, dest) : 0;

    plan(call, result, (struct fv_request){ .kind = FV_REQUEST_SEND, .peer = dest, .tag = tag, .sent = bytes }, comm,
         request);
}

void fv_done_recv_init(struct fv_call *call, int result, int source, int tag, MPI_Comm comm, const MPI_Request *request)
{
    plan(call, result, (struct fv_request){ .kind = FV_REQUEST_RECV, .peer = source, .tag = tag }, comm, request);
}

/* Partitioned operations match only each other (MPI-4.0, 4.2.1). */
static struct fv_request partitioned(int result, struct fv_request request, MPI_Comm comm)
{
    request.partitioned = true;
    if (result == MPI_SUCCESS && request.peer != MPI_PROC_NULL)
        request.channels = fv_comm_channel(fv_comm_get(fv_handle(comm)), request.kind, request.peer, request.tag);
    return request;
}

void fv_done_psend_init(struct fv_call *call, int result, int partitions, MPI_Count count, MPI_Datatype type, int dest,
                        int tag, MPI_Comm comm, const MPI_Request *request)
{
    uint64_t bytes = result == MPI_SUCCESS ? (uint64_t)partitions * sent_bytes(count, type, dest) : 0;
    const struct fv_request r = { .kind = FV_REQUEST_SEND, .peer = dest, .tag = tag, .sent = bytes };

    plan(call, result, partitioned(result, r, comm), comm, request);
}

/* A partitioned receive always gets all its partitions (MPI-4.0 section 4.2.1), and its status need
 * not say how much that was: the bytes are known here. */
void fv_done_precv_init(struct fv_call *call, int result, int partitions, MPI_Count count, MPI_Datatype type,
                        int source, int tag, MPI_Comm comm, const MPI_Request *request)
{
    uint64_t bytes = result == MPI_SUCCESS ? (uint64_t)partitions * sent_bytes(count, type, source) : 0;

    const struct fv_request r = { .kind = FV_REQUEST_RECV, .peer = source, .tag = tag, .received = bytes, .untold = 1 };

    plan(call, result, partitioned(result, r, comm), comm, request);
}
