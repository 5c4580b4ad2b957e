/* SPDX-License-Identifier: BSD-3-Clause */
/* See import_state.h: events of a location, some ahead. They are told as records in the archive's numbers; what the
 * analysis and the reports have no use for is passed over. */
#include "otf2/import_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <limits.h>
#include <stdio.h>

#define LEAST_BYTES 2   /* of an event, or a definition */
#define DEFINITIONS 256 /* that are read at once */

/* An event's first arguments. The rest of them differ. */
#define EVENT(name, ...)                                                                                              \
    static OTF2_CallbackCode on_##name(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data, \
                                       OTF2_AttributeList *attributes, ##__VA_ARGS__)
#define UNUSED (void)location, (void)position, (void)attributes

/* There is room: a stream is filled up to FV_IMPORT_AHEAD, and no event makes more than two. */
static OTF2_CallbackCode add(void *data, OTF2_TimeStamp time, struct fv_record record)
{
    struct fv_import_stream *s = data;

    record.time_ns = time;
    s->ahead[s->count++] = record;
    return OTF2_CALLBACK_SUCCESS;
}
#define ADD(...) (UNUSED, add(data, time, (struct fv_record){ __VA_ARGS__ }))

/* ---- regions ---- */

EVENT(unknown)
{
    (void)time;
    UNUSED;
    FV_IMPORT_ODD(((struct fv_import_stream *)data)->import, unknown, 1);
    return OTF2_CALLBACK_SUCCESS;
}

#define PARAMETER(kind, type)                                                    \
    EVENT(parameter_##kind, OTF2_ParameterRef parameter, type value)             \
    {                                                                            \
        (void)time, (void)parameter, (void)value;                                \
        UNUSED;                                                                  \
        FV_IMPORT_ODD(((struct fv_import_stream *)data)->import, parameters, 1); \
        return OTF2_CALLBACK_SUCCESS;                                            \
    }
PARAMETER(string, OTF2_StringRef)
PARAMETER(int, int64_t)
PARAMETER(unsigned, uint64_t)

/* Our own archives say the call path so; 0: none, else the calling context + 1. */
static uint64_t path_in(const struct fv_import *import, const OTF2_AttributeList *attributes)
{
    uint32_t context;

    if (!fv_import_has(attributes, import->call_path) ||
        OTF2_AttributeList_GetCallingContextRef(attributes, import->call_path, &context) != OTF2_SUCCESS)
        return 0;
    return (uint64_t)context + 1;
}

/* Likewise what threads wait for: it, + 1. */
static uint32_t lock_in(const struct fv_import *import, const OTF2_AttributeList *attributes)
{
    uint32_t lock;

    return fv_import_has(attributes, import->lock) &&
                   OTF2_AttributeList_GetUint32(attributes, import->lock, &lock) == OTF2_SUCCESS
               ? lock + 1
               : 0;
}

EVENT(enter, OTF2_RegionRef region)
{
    const struct fv_import *import = ((struct fv_import_stream *)data)->import;

    return ADD(.kind = FV_REC_ENTER, .ref = region, .id = path_in(import, attributes),
               .aux = lock_in(import, attributes));
}

/* How long a thread waited, for what and for whom: the location, + 1. */
static void waiting(const struct fv_import *import, const OTF2_AttributeList *attributes, struct fv_record *m)
{
    uint32_t kind;
    uint64_t cause;

    if (!fv_import_has(attributes, import->wait_kind) ||
        OTF2_AttributeList_GetStringRef(attributes, import->wait_kind, &kind) != OTF2_SUCCESS)
        return;
    for (unsigned i = 1; i < FV_TW_COUNT; i++)
        m->tag = import->wait_kinds[i] == kind ? i : m->tag;
    if (fv_import_has(attributes, import->wait))
        OTF2_AttributeList_GetUint64(attributes, import->wait, &m->received);
    if (fv_import_has(attributes, import->cause) &&
        OTF2_AttributeList_GetLocationRef(attributes, import->cause, &cause) == OTF2_SUCCESS)
        m->id = cause + 1;
}

/* What our own archives say of a call of a function for files where no other event does (import_files.c), and of
 * waiting (import_threads.c). */
static struct fv_record leaving(const struct fv_import *import, unsigned kind, uint32_t ref,
                                const OTF2_AttributeList *attributes)
{
    struct fv_record m = { .kind = (uint8_t)kind, .ref = ref };
    uint32_t handle;
    uint64_t bytes;
    uint8_t failed;

    if (fv_import_has(attributes, import->io_handle) &&
        OTF2_AttributeList_GetIoHandleRef(attributes, import->io_handle, &handle) == OTF2_SUCCESS)
        m.aux = handle + 1;
    if (fv_import_has(attributes, import->io_failed) &&
        OTF2_AttributeList_GetUint8(attributes, import->io_failed, &failed) == OTF2_SUCCESS)
        m.op = failed ? 2 : 1;
    if (fv_import_has(attributes, import->io_bytes) &&
        OTF2_AttributeList_GetUint64(attributes, import->io_bytes, &bytes) == OTF2_SUCCESS)
        m.sent = bytes + 1;
    waiting(import, attributes, &m);
    return m;
}

EVENT(leave, OTF2_RegionRef region)
{
    (void)location, (void)position;
    return add(data, time, leaving(((struct fv_import_stream *)data)->import, FV_REC_LEAVE, region, attributes));
}

EVENT(context_enter, OTF2_CallingContextRef context, uint32_t distance)
{
    (void)distance;
    return ADD(.kind = FV_RAW_CONTEXT_ENTER, .ref = context,
               .aux = lock_in(((struct fv_import_stream *)data)->import, attributes));
}

EVENT(context_leave, OTF2_CallingContextRef context)
{
    (void)location, (void)position;
    return add(data, time,
               leaving(((struct fv_import_stream *)data)->import, FV_RAW_CONTEXT_LEAVE, context, attributes));
}

EVENT(context_sample, OTF2_CallingContextRef context, uint32_t distance, OTF2_InterruptGeneratorRef generator)
{
    const struct fv_import *import = ((struct fv_import_stream *)data)->import;
    const struct fv_import_generator *g = fv_import_get(import, FV_IMPORT_GENERATOR, generator);
    uint64_t ns = g ? g->ns : 0;

    (void)distance;
    if (fv_import_has(attributes, import->cpu_time))
        OTF2_AttributeList_GetUint64(attributes, import->cpu_time, &ns);
    return ADD(.kind = FV_RAW_SAMPLE, .ref = context, .sent = ns);
}

EVENT(measurement, OTF2_MeasurementMode mode)
{
    return ADD(.kind = FV_REC_MEASURE, .op = mode == OTF2_MEASUREMENT_ON);
}

/* The tool wrote its buffer meanwhile: nothing was recorded. */
EVENT(flush, OTF2_TimeStamp stop)
{
    ADD(.kind = FV_REC_MEASURE, .op = 0);
    time = stop;
    return ADD(.kind = FV_REC_MEASURE, .op = 1);
}

EVENT(program_begin, OTF2_StringRef name, uint32_t count, const OTF2_StringRef *arguments)
{
    (void)count, (void)arguments;
    return ADD(.kind = FV_REC_PROGRAM_BEGIN, .ref = name);
}

EVENT(program_end, int64_t status)
{
    return ADD(.kind = FV_REC_PROGRAM_END, .id = (uint64_t)status);
}

/* ---- MPI ---- */

EVENT(send, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    return ADD(.kind = FV_REC_SEND, .ref = comm, .peer = peer, .tag = tag, .sent = bytes);
}

EVENT(isend, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t id)
{
    return ADD(.kind = FV_REC_ISEND, .ref = comm, .peer = peer, .tag = tag, .sent = bytes, .id = id);
}

EVENT(isend_end, uint64_t id)
{
    return ADD(.kind = FV_REC_ISEND_END, .id = id);
}

EVENT(irecv_request, uint64_t id)
{
    return ADD(.kind = FV_REC_IRECEIVE, .id = id);
}

EVENT(recv, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    return ADD(.kind = FV_REC_RECEIVE, .ref = comm, .peer = peer, .tag = tag, .received = bytes);
}

EVENT(irecv, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t id)
{
    return ADD(.kind = FV_REC_IRECEIVE_END, .ref = comm, .peer = peer, .tag = tag, .received = bytes, .id = id);
}

EVENT(test, uint64_t id)
{
    return ADD(.kind = FV_REC_TEST, .id = id);
}

EVENT(cancelled, uint64_t id)
{
    return ADD(.kind = FV_REC_CANCEL, .id = id);
}

EVENT(collective_begin)
{
    return ADD(.kind = FV_REC_COLL_BEGIN);
}

EVENT(collective_end, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received)
{
    return ADD(.kind = FV_REC_COLL_END, .op = op, .ref = comm, .peer = root, .sent = sent, .received = received);
}

EVENT(icollective, uint64_t id)
{
    return ADD(.kind = FV_REC_ICOLL_BEGIN, .id = id);
}

EVENT(icollective_end, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received,
      uint64_t id)
{
    return ADD(.kind = FV_REC_ICOLL_END, .op = op, .ref = comm, .peer = root, .sent = sent, .received = received,
               .id = id);
}

EVENT(comm_create, OTF2_CommRef comm)
{
    return ADD(.kind = FV_REC_COMM_CREATE, .ref = comm);
}

EVENT(comm_destroy, OTF2_CommRef comm)
{
    return ADD(.kind = FV_REC_COMM_DESTROY, .ref = comm);
}

/* ---- windows ---- */

EVENT(rma_begin)
{
    return ADD(.kind = FV_REC_RMA_COLL_BEGIN);
}

EVENT(rma_end, OTF2_CollectiveOp op, OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, uint32_t root, uint64_t sent,
      uint64_t received)
{
    (void)level, (void)root, (void)sent, (void)received;
    return ADD(.kind = FV_REC_RMA_COLL_END, .op = op, .ref = window);
}

EVENT(window_create, OTF2_RmaWinRef window)
{
    return ADD(.kind = FV_REC_WIN_CREATE, .ref = window);
}

EVENT(window_destroy, OTF2_RmaWinRef window)
{
    return ADD(.kind = FV_REC_WIN_DESTROY, .ref = window);
}

EVENT(rma_group, OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, OTF2_GroupRef group)
{
    return ADD(.kind = FV_REC_RMA_GROUP, .ref = window, .aux = group, .op = (level & OTF2_RMA_SYNC_LEVEL_MEMORY) != 0);
}

EVENT(rma_lock, OTF2_RmaWinRef window, uint32_t peer, uint64_t id, OTF2_LockType type)
{
    return ADD(.kind = FV_REC_RMA_LOCK, .ref = window, .peer = peer, .id = id, .op = type == OTF2_LOCK_SHARED);
}

EVENT(rma_unlock, OTF2_RmaWinRef window, uint32_t peer, uint64_t id)
{
    return ADD(.kind = FV_REC_RMA_UNLOCK, .ref = window, .peer = peer, .id = id);
}

EVENT(rma_sync, OTF2_RmaWinRef window, uint32_t peer, OTF2_RmaSyncType type)
{
    (void)type;
    return ADD(.kind = FV_REC_RMA_SYNC, .ref = window, .peer = peer);
}

EVENT(rma_put, OTF2_RmaWinRef window, uint32_t peer, uint64_t bytes, uint64_t id)
{
    return ADD(.kind = FV_REC_RMA_PUT, .ref = window, .peer = peer, .sent = bytes, .id = id);
}

EVENT(rma_get, OTF2_RmaWinRef window, uint32_t peer, uint64_t bytes, uint64_t id)
{
    return ADD(.kind = FV_REC_RMA_GET, .ref = window, .peer = peer, .received = bytes, .id = id);
}

EVENT(rma_atomic, OTF2_RmaWinRef window, uint32_t peer, OTF2_RmaAtomicType type, uint64_t sent, uint64_t received,
      uint64_t id)
{
    (void)type;
    return ADD(.kind = FV_REC_RMA_ATOMIC, .ref = window, .peer = peer, .sent = sent, .received = received, .id = id);
}

EVENT(rma_complete, OTF2_RmaWinRef window, uint64_t id)
{
    return ADD(.kind = FV_REC_RMA_END, .ref = window, .id = id);
}

EVENT(rma_complete_remote, OTF2_RmaWinRef window, uint64_t id)
{
    return ADD(.kind = FV_REC_RMA_END, .ref = window, .id = id, .op = 1);
}

/* ---- files ---- */

EVENT(io_open, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode, OTF2_IoCreationFlag creation, OTF2_IoStatusFlag status)
{
    (void)creation;
    return ADD(.kind = FV_REC_IO_OPEN, .ref = handle, .aux = fv_import_mode(mode, status));
}

EVENT(io_close, OTF2_IoHandleRef handle)
{
    return ADD(.kind = FV_REC_IO_CLOSE, .ref = handle);
}

EVENT(io_seek, OTF2_IoHandleRef handle, int64_t offset, OTF2_IoSeekOption whence, uint64_t result)
{
    return ADD(.kind = FV_REC_IO_SEEK, .ref = handle, .op = whence, .sent = (uint64_t)offset, .received = result + 1);
}

EVENT(io_begin, OTF2_IoHandleRef handle, OTF2_IoOperationMode mode, OTF2_IoOperationFlag flags, uint64_t bytes,
      uint64_t id)
{
    const struct fv_import *import = ((struct fv_import_stream *)data)->import;
    uint64_t offset = UINT64_MAX;

    if (fv_import_has(attributes, import->io_offset))
        OTF2_AttributeList_GetUint64(attributes, import->io_offset, &offset);
    return ADD(.kind = FV_REC_IO_BEGIN, .ref = handle, .sent = bytes, .id = id, .received = offset + 1,
               .op = (uint8_t)((mode == OTF2_IO_OPERATION_MODE_WRITE ? FV_IO_WRITE : 0) |
                               (mode == OTF2_IO_OPERATION_MODE_FLUSH ? FV_IO_FLUSH : 0) |
                               (flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING ? FV_IO_ASYNC : 0) |
                               (flags & OTF2_IO_OPERATION_FLAG_COLLECTIVE ? FV_IO_COLLECTIVE : 0)));
}

EVENT(io_issued, OTF2_IoHandleRef handle, uint64_t id)
{
    return ADD(.kind = FV_REC_IO_ISSUED, .ref = handle, .id = id);
}

EVENT(io_end, OTF2_IoHandleRef handle, uint64_t bytes, uint64_t id)
{
    return ADD(.kind = FV_REC_IO_END, .ref = handle, .sent = bytes, .id = id);
}

EVENT(io_cancelled, OTF2_IoHandleRef handle, uint64_t id)
{
    return ADD(.kind = FV_REC_IO_CANCEL, .ref = handle, .id = id);
}

EVENT(io_same, OTF2_IoHandleRef handle, OTF2_IoHandleRef other, OTF2_IoStatusFlag status)
{
    (void)status;
    return ADD(.kind = FV_REC_IO_SAME, .ref = handle, .aux = other);
}

EVENT(io_delete, OTF2_IoParadigmRef paradigm, OTF2_IoFileRef file)
{
    (void)paradigm;
    return ADD(.kind = FV_REC_IO_DELETE, .ref = file);
}

EVENT(io_lock, OTF2_IoHandleRef handle, OTF2_LockType type)
{
    (void)type;
    return ADD(.kind = FV_REC_IO_LOCK, .ref = handle);
}

/* ---- threads ---- */

EVENT(fork, OTF2_Paradigm model, uint32_t threads)
{
    uint64_t path = path_in(((struct fv_import_stream *)data)->import, attributes);

    (void)model;
    return ADD(.kind = FV_REC_OMP_FORK, .id = threads, .received = path);
}

EVENT(join, OTF2_Paradigm model)
{
    (void)model;
    return ADD(.kind = FV_REC_OMP_JOIN);
}

EVENT(team_begin, OTF2_CommRef team)
{
    return ADD(.kind = FV_REC_TEAM_BEGIN, .ref = team);
}

EVENT(team_end, OTF2_CommRef team)
{
    return ADD(.kind = FV_REC_TEAM_END, .ref = team);
}

EVENT(task_end, OTF2_CommRef team, uint32_t creator, uint32_t generation)
{
    (void)team, (void)creator, (void)generation;
    return ADD(.kind = FV_RAW_TASK_END);
}

EVENT(acquire, OTF2_Paradigm model, uint32_t lock, uint32_t order)
{
    return ADD(.kind = FV_REC_ACQUIRE, .ref = lock, .aux = model, .id = order);
}

EVENT(release, OTF2_Paradigm model, uint32_t lock, uint32_t order)
{
    return ADD(.kind = FV_REC_RELEASE, .ref = lock, .aux = model, .id = order);
}

/* Of OTF2 1.1, which knew OpenMP alone: */
EVENT(omp_fork, uint32_t threads)
{
    return ADD(.kind = FV_REC_OMP_FORK, .id = threads);
}

EVENT(omp_join)
{
    return ADD(.kind = FV_REC_OMP_JOIN);
}

EVENT(omp_acquire, uint32_t lock, uint32_t order)
{
    return ADD(.kind = FV_REC_ACQUIRE, .ref = lock, .aux = OTF2_PARADIGM_OPENMP, .id = order);
}

EVENT(omp_release, uint32_t lock, uint32_t order)
{
    return ADD(.kind = FV_REC_RELEASE, .ref = lock, .aux = OTF2_PARADIGM_OPENMP, .id = order);
}

EVENT(omp_task_end, uint64_t task)
{
    (void)task;
    return ADD(.kind = FV_RAW_TASK_END);
}

/* Number of a creation, which is not 0. */
static uint64_t creation(OTF2_CommRef contingent, uint64_t sequence)
{
    return fv_mix2(contingent, sequence) | 1;
}

EVENT(thread_create, OTF2_CommRef contingent, uint64_t sequence)
{
    return ADD(.kind = FV_REC_THREAD_CREATE, .id = creation(contingent, sequence));
}

EVENT(thread_begin, OTF2_CommRef contingent, uint64_t sequence)
{
    return ADD(.kind = FV_REC_THREAD_BEGIN, .id = creation(contingent, sequence));
}

EVENT(thread_end, OTF2_CommRef contingent, uint64_t sequence)
{
    return ADD(.kind = FV_REC_THREAD_END, .id = creation(contingent, sequence));
}

EVENT(thread_wait, OTF2_CommRef contingent, uint64_t sequence)
{
    return ADD(.kind = FV_REC_THREAD_JOIN, .id = creation(contingent, sequence));
}

/* ---- the stream ---- */

static void set_mpi(OTF2_EvtReaderCallbacks *c)
{
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_isend_end);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(c, on_test);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, on_collective_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_collective_end);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, on_icollective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, on_icollective_end);
    OTF2_EvtReaderCallbacks_SetCommCreateCallback(c, on_comm_create);
    OTF2_EvtReaderCallbacks_SetCommDestroyCallback(c, on_comm_destroy);
}

static void set_windows_and_files(OTF2_EvtReaderCallbacks *c)
{
    OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(c, on_rma_begin);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c, on_rma_end);
    OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback(c, on_window_create);
    OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback(c, on_window_destroy);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(c, on_rma_group);
    OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(c, on_rma_lock);
    OTF2_EvtReaderCallbacks_SetRmaTryLockCallback(c, on_rma_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(c, on_rma_unlock);
    OTF2_EvtReaderCallbacks_SetRmaSyncCallback(c, on_rma_sync);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, on_rma_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, on_rma_get);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, on_rma_atomic);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(c, on_rma_complete);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(c, on_rma_complete);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(c, on_rma_complete_remote);
    OTF2_EvtReaderCallbacks_SetIoCreateHandleCallback(c, on_io_open);
    OTF2_EvtReaderCallbacks_SetIoDestroyHandleCallback(c, on_io_close);
    OTF2_EvtReaderCallbacks_SetIoSeekCallback(c, on_io_seek);
    OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(c, on_io_begin);
    OTF2_EvtReaderCallbacks_SetIoOperationIssuedCallback(c, on_io_issued);
    OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(c, on_io_end);
    OTF2_EvtReaderCallbacks_SetIoOperationCancelledCallback(c, on_io_cancelled);
    OTF2_EvtReaderCallbacks_SetIoDuplicateHandleCallback(c, on_io_same);
    OTF2_EvtReaderCallbacks_SetIoDeleteFileCallback(c, on_io_delete);
    OTF2_EvtReaderCallbacks_SetIoAcquireLockCallback(c, on_io_lock);
    OTF2_EvtReaderCallbacks_SetIoReleaseLockCallback(c, on_io_lock);
    OTF2_EvtReaderCallbacks_SetIoTryLockCallback(c, on_io_lock);
}

static void set_threads(OTF2_EvtReaderCallbacks *c)
{
    OTF2_EvtReaderCallbacks_SetThreadForkCallback(c, on_fork);
    OTF2_EvtReaderCallbacks_SetThreadJoinCallback(c, on_join);
    OTF2_EvtReaderCallbacks_SetThreadTeamBeginCallback(c, on_team_begin);
    OTF2_EvtReaderCallbacks_SetThreadTeamEndCallback(c, on_team_end);
    OTF2_EvtReaderCallbacks_SetThreadTaskCompleteCallback(c, on_task_end);
    OTF2_EvtReaderCallbacks_SetThreadAcquireLockCallback(c, on_acquire);
    OTF2_EvtReaderCallbacks_SetThreadReleaseLockCallback(c, on_release);
    OTF2_EvtReaderCallbacks_SetOmpForkCallback(c, on_omp_fork);
    OTF2_EvtReaderCallbacks_SetOmpJoinCallback(c, on_omp_join);
    OTF2_EvtReaderCallbacks_SetOmpAcquireLockCallback(c, on_omp_acquire);
    OTF2_EvtReaderCallbacks_SetOmpReleaseLockCallback(c, on_omp_release);
    OTF2_EvtReaderCallbacks_SetOmpTaskCompleteCallback(c, on_omp_task_end);
    OTF2_EvtReaderCallbacks_SetThreadCreateCallback(c, on_thread_create);
    OTF2_EvtReaderCallbacks_SetThreadBeginCallback(c, on_thread_begin);
    OTF2_EvtReaderCallbacks_SetThreadEndCallback(c, on_thread_end);
    OTF2_EvtReaderCallbacks_SetThreadWaitCallback(c, on_thread_wait);
}

static OTF2_EvtReaderCallbacks *new_callbacks(void)
{
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, on_unknown);
    OTF2_EvtReaderCallbacks_SetParameterStringCallback(c, on_parameter_string);
    OTF2_EvtReaderCallbacks_SetParameterIntCallback(c, on_parameter_int);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(c, on_parameter_unsigned);
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback(c, on_context_enter);
    OTF2_EvtReaderCallbacks_SetCallingContextLeaveCallback(c, on_context_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(c, on_context_sample);
    OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(c, on_measurement);
    OTF2_EvtReaderCallbacks_SetBufferFlushCallback(c, on_flush);
    OTF2_EvtReaderCallbacks_SetProgramBeginCallback(c, on_program_begin);
    OTF2_EvtReaderCallbacks_SetProgramEndCallback(c, on_program_end);
    OTF2_EvtReaderCallbacks_SetMetricCallback(c, fv_import_on_metric);
    set_mpi(c);
    set_windows_and_files(c);
    set_threads(c);
    return c;
}

/* A file of a location; the library makes room for one also where there is none, and waits for ever in a FIFO. */
static bool find_file(const struct fv_import *import, uint64_t id, const char *kind, struct stat *out)
{
    int base = (int)strlen(import->anchor) - (int)strlen(".otf2");
    char path[PATH_MAX];

    return base > 0 &&
           snprintf(path, sizeof(path), "%.*s/%llu.%s", base, import->anchor, (unsigned long long)id, kind) <
               PATH_MAX &&
           !stat(path, out) && S_ISREG(out->st_mode);
}

bool fv_import_has_events(const struct fv_import *import, uint32_t location)
{
    struct stat status;

    return find_file(import, import->tables[FV_IMPORT_LOCATION].refs[location], "evt", &status);
}

void fv_import_limit_events(struct fv_import *import)
{
    for (uint32_t i = 0; i < import->tables[FV_IMPORT_LOCATION].count; i++) {
        struct fv_import_location *l = fv_import_at(import, FV_IMPORT_LOCATION, i);
        struct stat status;
        uint64_t most = find_file(import, import->tables[FV_IMPORT_LOCATION].refs[i], "evt", &status)
                            ? (uint64_t)status.st_size / LEAST_BYTES
                            : 0;

        most = most ? most : 1; /* that there should be some is to be seen */
        l->events = l->events < most ? l->events : most;
    }
}

/* Clocks and mapping tables are in the local definitions; the library applies them. */
static void read_local(struct fv_import *import, uint64_t id)
{
    struct stat status;
    OTF2_DefReader *reader =
        find_file(import, id, "def", &status) ? OTF2_Reader_GetDefReader(import->reader, id) : NULL;
    uint64_t read, all = 0;

    if (!reader)
        return;
    do
        if (OTF2_Reader_ReadLocalDefinitions(import->reader, reader, DEFINITIONS, &read) != OTF2_SUCCESS)
            break;
    while (read == DEFINITIONS && (all += read) <= (uint64_t)status.st_size / LEAST_BYTES);
    OTF2_Reader_CloseDefReader(import->reader, reader);
}

void fv_import_stream_open(struct fv_import *import, uint32_t location, struct fv_import_stream *s)
{
    const struct fv_import_location *l = fv_import_at(import, FV_IMPORT_LOCATION, location);
    struct stat status;

    *s = (struct fv_import_stream){ .import = import,
                                    .location = location,
                                    .id = import->tables[FV_IMPORT_LOCATION].refs[location],
                                    .collective = FV_NONE };
    if (find_file(import, s->id, "evt", &status)) {
        read_local(import, s->id);
        s->reader = OTF2_Reader_GetEvtReader(import->reader, s->id);
    }
    if (!s->reader) {
        FV_IMPORT_ODD(import, missing, l->events > 0);
        return;
    }
    s->most = (uint64_t)status.st_size / LEAST_BYTES;
    s->ahead = fv_xcalloc(FV_IMPORT_AHEAD + 4, sizeof(*s->ahead));
    OTF2_EvtReader_ApplyMappingTables(s->reader, true);
    OTF2_EvtReader_ApplyClockOffsets(s->reader, true);
    OTF2_EvtReaderCallbacks *callbacks = new_callbacks();
    OTF2_Reader_RegisterEvtCallbacks(import->reader, s->reader, callbacks, s);
    OTF2_EvtReaderCallbacks_Delete(callbacks);
}

void fv_import_stream_close(struct fv_import_stream *s)
{
    if (s->reader)
        OTF2_Reader_CloseEvtReader(s->import->reader, s->reader);
    s->reader = NULL;
    free(s->ahead);
    free(s->open);
    free(s->values);
    free(s->teams);
    free(s->forks);
    s->ahead = NULL;
    s->open = NULL;
    s->values = NULL;
    s->teams = NULL;
    s->forks = NULL;
}

/* Some damaged files send the library (3.0.2) back to where it was: more comes than they have room for. */
static bool is_endless(const struct fv_import_stream *s)
{
    const struct fv_import_location *l = fv_import_at(s->import, FV_IMPORT_LOCATION, s->location);

    return s->read > l->events && s->read > s->most;
}

/* Until there is one that is of use, or the end: where the first pass found it, because the library does not read a
 * damaged file each time alike. */
static void fill(struct fv_import_stream *s)
{
    struct fv_import_location *l = fv_import_at(s->import, FV_IMPORT_LOCATION, s->location);

    while (s->reader && s->next == s->count) {
        bool is_read = s->import->is_known && l->rank != FV_NONE; /* those that are no threads are read once */
        const uint64_t most = s->import->most_events ? s->import->most_events : UINT64_MAX;
        uint64_t left = (is_read ? l->read : most) - s->read, read = 0;
        uint64_t piece = left < FV_IMPORT_AHEAD / 2 ? left : FV_IMPORT_AHEAD / 2;

        s->next = s->count = s->value_count = 0;
        bool good = !piece || OTF2_Reader_ReadLocalEvents(s->import->reader, s->reader, piece, &read) == OTF2_SUCCESS;
        s->read += read;
        bool endless = good && is_endless(s);
        FV_IMPORT_ODD(s->import, cut, !good || endless || (l->events && !s->read));
        l->read = s->import->is_known ? l->read : s->read;
        if (good && !endless && read == FV_IMPORT_AHEAD / 2)
            continue;
        OTF2_Reader_CloseEvtReader(s->import->reader, s->reader);
        s->reader = NULL;
    }
}

const struct fv_record *fv_import_stream_peek(struct fv_import_stream *s)
{
    if (FV_UNLIKELY(s->next == s->count))
        fill(s);
    return s->next < s->count ? &s->ahead[s->next] : NULL;
}
