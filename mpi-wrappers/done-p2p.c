/* Point to point. Bytes sent are known when a send is posted and are charged to it; bytes received are
 * known from the status, so a non-blocking receive is followed until it completes (complete.c). A send's
 * own request is not followed: nothing is learned from it, and MPICH hands out one completed request
 * for many small sends. MPI_PROC_NULL moves nothing (MPI-4.0 section 3.10). */
#include "done.h"

static void record_sent(struct fv_call *call, struct fv_comm *comm, int dest, uint64_t bytes,
                        uint64_t received)
{
    if (dest == MPI_PROC_NULL) {
        fv_call_record(call, comm, 0, received);
        return;
    }
    fv_call_record(call, comm, bytes, received);
    fv_call_sent_to(call, comm, dest, 1, bytes);
}

static uint64_t sent_bytes(MPI_Count count, MPI_Datatype type, int dest)
{
    return dest == MPI_PROC_NULL ? 0 : fv_bytes(count, type);
}

void fv_done_send(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest,
                  MPI_Comm comm)
{
    if (result == MPI_SUCCESS)
        record_sent(call, fv_comm_get(fv_handle(comm)), dest, sent_bytes(count, type, dest), 0);
    else
        fv_call_record(call, NULL, 0, 0);
}

void fv_done_recv(struct fv_call *call, int result, int source, MPI_Comm comm, const MPI_Status *status)
{
    if (result == MPI_SUCCESS)
        fv_call_record(call, fv_comm_get(fv_handle(comm)), 0,
                       source == MPI_PROC_NULL ? 0 : fv_status_bytes(status));
    else
        fv_call_record(call, NULL, 0, 0);
}

/* The message handle does not tell its communicator, and MPI has none to ask. */
void fv_done_mrecv(struct fv_call *call, int result, const MPI_Status *status)
{
    fv_call_record(call, NULL, 0, result == MPI_SUCCESS ? fv_status_bytes(status) : 0);
}

void fv_done_sendrecv(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest,
                      int source, MPI_Comm comm, const MPI_Status *status)
{
    if (result == MPI_SUCCESS)
        record_sent(call, fv_comm_get(fv_handle(comm)), dest, sent_bytes(count, type, dest),
                    source == MPI_PROC_NULL ? 0 : fv_status_bytes(status));
    else
        fv_call_record(call, NULL, 0, 0);
}

/* ---- receives that complete later ---- */

static void follow(struct fv_call *call, struct fv_request request, MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL || request.peer == MPI_PROC_NULL)
        return;
    request.handle = fv_handle(handle);
    fv_request_post(call, &request);
}

void fv_done_irecv(struct fv_call *call, int result, int source, int tag, MPI_Comm comm,
                   const MPI_Request *request)
{
    struct fv_comm *c = result == MPI_SUCCESS ? fv_comm_get(fv_handle(comm)) : NULL;

    fv_call_record(call, c, 0, 0);
    if (result == MPI_SUCCESS)
        follow(call, (struct fv_request){ .kind = FV_REQUEST_RECV, .peer = source, .tag = tag, .comm = c },
               *request);
}

void fv_done_imrecv(struct fv_call *call, int result, const MPI_Request *request)
{
    fv_call_record(call, NULL, 0, 0);
    if (result == MPI_SUCCESS)
        follow(call, (struct fv_request){ .kind = FV_REQUEST_RECV, .peer = FV_NO_PEER }, *request);
}

/* MPICH (4.0.2) leaves the status of these as it finds it, with the count of an earlier request: there
 * the room for the message is counted. */
#ifdef MPICH_NUMVERSION
#define ISENDRECV_STATUS_TELLS false
#else
#define ISENDRECV_STATUS_TELLS true
#endif

void fv_done_isendrecv(struct fv_call *call, int result, MPI_Count count, MPI_Datatype type, int dest,
                       MPI_Count room, MPI_Datatype room_type, int source, int tag, MPI_Comm comm,
                       const MPI_Request *request)
{
    if (result != MPI_SUCCESS) {
        fv_call_record(call, NULL, 0, 0);
        return;
    }
    struct fv_request r = { .kind = FV_REQUEST_RECV, .peer = source, .tag = tag,
                            .comm = fv_comm_get(fv_handle(comm)) };
    uint64_t sent = sent_bytes(count, type, dest);

    if (!ISENDRECV_STATUS_TELLS && source != MPI_PROC_NULL)
        r.received = fv_bytes(room, room_type);
    record_sent(call, r.comm, dest, sent, 0);
    follow(call, r, *request);
}

/* ---- persistent and partitioned: planned here, charged to each MPI_Start ---- */

void fv_done_planned(struct fv_call *call, struct fv_comm *comm, struct fv_request plan, MPI_Request handle)
{
    plan.comm = comm;
    plan.persistent = 1;
    fv_call_record(call, comm, 0, 0);
    follow(call, plan, handle);
}

static void plan(struct fv_call *call, int result, struct fv_request request, MPI_Comm comm,
                 const MPI_Request *handle)
{
    if (result == MPI_SUCCESS)
        fv_done_planned(call, fv_comm_get(fv_handle(comm)), request, *handle);
    else
        fv_call_record(call, NULL, 0, 0);
}

void fv_done_send_init(struct fv_call *call, int result, int partitions, MPI_Count count,
                       MPI_Datatype type, int dest, int tag, MPI_Comm comm, const MPI_Request *request)
{
    uint64_t bytes = result == MPI_SUCCESS ? (uint64_t)partitions * sent_bytes(count, type, dest) : 0;

    plan(call, result,
         (struct fv_request){ .kind = FV_REQUEST_SEND, .peer = dest, .tag = tag, .sent = bytes }, comm,
         request);
}

void fv_done_recv_init(struct fv_call *call, int result, int source, int tag, MPI_Comm comm,
                       const MPI_Request *request)
{
    plan(call, result, (struct fv_request){ .kind = FV_REQUEST_RECV, .peer = source, .tag = tag }, comm,
         request);
}

/* A partitioned receive always gets all its partitions (MPI-4.0 section 4.2.1), and its status need
 * not say how much that was: the bytes are known here. */
void fv_done_precv_init(struct fv_call *call, int result, int partitions, MPI_Count count,
                        MPI_Datatype type, int source, int tag, MPI_Comm comm, const MPI_Request *request)
{
    uint64_t bytes = result == MPI_SUCCESS ? (uint64_t)partitions * sent_bytes(count, type, source) : 0;

    plan(call, result,
         (struct fv_request){ .kind = FV_REQUEST_RECV, .peer = source, .tag = tag, .received = bytes }, comm,
         request);
}

void fv_done_on_comm(struct fv_call *call, int result, MPI_Comm comm)
{
    fv_call_record(call, result == MPI_SUCCESS ? fv_comm_get(fv_handle(comm)) : NULL, 0, 0);
}
