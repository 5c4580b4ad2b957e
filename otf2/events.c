/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the archive: the records of the merge, each as OTF2 has it; see archive.h. */
#include "otf2/archive_state.h"
#include "merge/calls.h"

#include <errno.h>
#include <string.h>

/* The table of calls.c speaks OTF2's numbers without knowing its header. */
_Static_assert((int)FV_OP_BARRIER == (int)OTF2_COLLECTIVE_OP_BARRIER, "collectives");
_Static_assert((int)FV_OP_ALLTOALLW == (int)OTF2_COLLECTIVE_OP_ALLTOALLW, "collectives");
_Static_assert((int)FV_OP_EXSCAN == (int)OTF2_COLLECTIVE_OP_EXSCAN, "collectives");
_Static_assert((int)FV_OP_DESTROY_AND_DEALLOCATE == (int)OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE,
               "collectives");
_Static_assert(FV_IO_BYTES_UNKNOWN == OTF2_UNDEFINED_UINT64, "bytes");
_Static_assert(FV_PEER_NONE == (uint32_t)OTF2_COLLECTIVE_ROOT_NONE, "roots");
_Static_assert(FV_PEER_SELF == (uint32_t)OTF2_COLLECTIVE_ROOT_SELF, "roots");
_Static_assert(FV_PEER_OURS == (uint32_t)OTF2_COLLECTIVE_ROOT_THIS_GROUP, "roots");

static OTF2_ErrorCode put_rma(OTF2_EvtWriter *w, const struct fv_record *r)
{
    static const OTF2_RmaAtomicType atomics[] = { OTF2_RMA_ATOMIC_TYPE_ACCUMULATE,
                                                  OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP,
                                                  OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE };
    const OTF2_RmaSyncLevel both = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;

    switch (r->kind) {
    case FV_REC_RMA_COLL_BEGIN: return OTF2_EvtWriter_RmaCollectiveBegin(w, NULL, r->time_ns);
    case FV_REC_RMA_COLL_END:
        return OTF2_EvtWriter_RmaCollectiveEnd(w, NULL, r->time_ns, r->op, both, r->ref, OTF2_COLLECTIVE_ROOT_NONE, 0,
                                               0);
    case FV_REC_WIN_CREATE: return OTF2_EvtWriter_RmaWinCreate(w, NULL, r->time_ns, r->ref);
    case FV_REC_WIN_DESTROY: return OTF2_EvtWriter_RmaWinDestroy(w, NULL, r->time_ns, r->ref);
    case FV_REC_RMA_GROUP:
        return OTF2_EvtWriter_RmaGroupSync(w, NULL, r->time_ns, r->op ? both : OTF2_RMA_SYNC_LEVEL_PROCESS, r->ref,
                                           r->aux + FV_GROUP_FIRST_RMA);
    case FV_REC_RMA_LOCK:
        return OTF2_EvtWriter_RmaAcquireLock(w, NULL, r->time_ns, r->ref, r->peer, r->id,
                                             r->op ? OTF2_LOCK_SHARED : OTF2_LOCK_EXCLUSIVE);
    case FV_REC_RMA_UNLOCK: return OTF2_EvtWriter_RmaReleaseLock(w, NULL, r->time_ns, r->ref, r->peer, r->id);
    case FV_REC_RMA_SYNC:
        return OTF2_EvtWriter_RmaSync(w, NULL, r->time_ns, r->ref, r->peer, OTF2_RMA_SYNC_TYPE_MEMORY);
    case FV_REC_RMA_PUT: return OTF2_EvtWriter_RmaPut(w, NULL, r->time_ns, r->ref, r->peer, r->sent, r->id);
    case FV_REC_RMA_GET: return OTF2_EvtWriter_RmaGet(w, NULL, r->time_ns, r->ref, r->peer, r->received, r->id);
    case FV_REC_RMA_ATOMIC:
        return OTF2_EvtWriter_RmaAtomic(w, NULL, r->time_ns, r->ref, r->peer, atomics[r->op % 3], r->sent, r->received,
                                        r->id);
    default:
        return r->op ? OTF2_EvtWriter_RmaOpCompleteRemote(w, NULL, r->time_ns, r->ref, r->id)
                     : OTF2_EvtWriter_RmaOpCompleteNonBlocking(w, NULL, r->time_ns, r->ref, r->id);
    }
}

static OTF2_ErrorCode put_open(struct fv_archive *a, OTF2_EvtWriter *w, const struct fv_record *r)
{
    uint32_t mode = a->defs->handles[r->ref].mode;
    OTF2_IoCreationFlag creation = (mode & FV_FILE_CREATE ? OTF2_IO_CREATION_FLAG_CREATE : 0u) |
                                   (mode & FV_FILE_EXCL ? OTF2_IO_CREATION_FLAG_EXCLUSIVE : 0u);

    return OTF2_EvtWriter_IoCreateHandle(w, NULL, r->time_ns, r->ref, fv_io_access(mode), creation, fv_io_status(mode));
}

static OTF2_ErrorCode put_io(struct fv_archive *a, OTF2_EvtWriter *w, const struct fv_record *r)
{
    OTF2_IoOperationFlag flags = (r->op & FV_IO_ASYNC ? OTF2_IO_OPERATION_FLAG_NON_BLOCKING : 0u) |
                                 (r->op & FV_IO_COLLECTIVE ? OTF2_IO_OPERATION_FLAG_COLLECTIVE : 0u);

    OTF2_IoOperationMode mode = r->op & FV_IO_FLUSH   ? OTF2_IO_OPERATION_MODE_FLUSH
                                : r->op & FV_IO_WRITE ? OTF2_IO_OPERATION_MODE_WRITE
                                                      : OTF2_IO_OPERATION_MODE_READ;

    switch (r->kind) {
    case FV_REC_IO_OPEN: return put_open(a, w, r);
    case FV_REC_IO_CLOSE: return OTF2_EvtWriter_IoDestroyHandle(w, NULL, r->time_ns, r->ref);
    case FV_REC_IO_SEEK:
        return OTF2_EvtWriter_IoSeek(w, NULL, r->time_ns, r->ref, (int64_t)r->sent, r->op % 3,
                                     r->op ? OTF2_UNDEFINED_UINT64 : r->sent);
    case FV_REC_IO_BEGIN:
        return OTF2_EvtWriter_IoOperationBegin(w, NULL, r->time_ns, r->ref, mode, flags, r->sent, r->id);
    case FV_REC_IO_ISSUED: return OTF2_EvtWriter_IoOperationIssued(w, NULL, r->time_ns, r->ref, r->id);
    default: return OTF2_EvtWriter_IoOperationComplete(w, NULL, r->time_ns, r->ref, r->sent, r->id);
    }
}

/* ---- regions ---- */

/* Lists of attributes are empty again after each event. */
static OTF2_ErrorCode enter(struct fv_archive *a, const struct fv_location_writer *w, enum fv_calling_kind kind,
                            const struct fv_record *r, uint32_t region, uint32_t node)
{
    uint32_t path = a->context_of_node[node];

    if (a->in_contexts) {
        struct fv_calling_event e = fv_calling_enter(&a->calling, w->index, kind, path, region);

        return OTF2_EvtWriter_CallingContextEnter(w->otf2, a->attributes, r->time_ns, e.node, e.distance);
    }
    if (path != FV_NONE)
        OTF2_AttributeList_AddCallingContextRef(a->attributes, FV_ATTRIBUTE_CALL_PATH, path);
    return OTF2_EvtWriter_Enter(w->otf2, a->attributes, r->time_ns, region);
}

static OTF2_ErrorCode leave(struct fv_archive *a, const struct fv_location_writer *w, const struct fv_record *r,
                            uint32_t region)
{
    if (a->in_contexts)
        return OTF2_EvtWriter_CallingContextLeave(w->otf2, a->attributes, r->time_ns,
                                                  fv_calling_leave(&a->calling, w->index));
    return OTF2_EvtWriter_Leave(w->otf2, a->attributes, r->time_ns, region);
}

static OTF2_ErrorCode put_instance(struct fv_archive *a, const struct fv_location_writer *w, const struct fv_record *r)
{
    uint32_t region = (uint32_t)a->defs->function_count + a->function_of_node[r->context];

    if (r->kind == FV_REC_INSTANCE)
        return enter(a, w, FV_CALLING_FUNCTION, r, region, a->defs->tree.nodes[r->context].parent);
    if (!r->op)
        OTF2_AttributeList_AddUint64(a->attributes, FV_ATTRIBUTE_CPU_TIME, r->sent);
    return leave(a, w, r, region);
}

static OTF2_ErrorCode put_section_leave(struct fv_archive *a, const struct fv_location_writer *w,
                                        const struct fv_record *r)
{
    if (r->aux) {
        OTF2_AttributeList_AddUint64(a->attributes, FV_ATTRIBUTE_INSTANCE, r->aux);
        OTF2_AttributeList_AddUint64(a->attributes, FV_ATTRIBUTE_MPI_TIME, r->sent);
        OTF2_AttributeList_AddUint64(a->attributes, FV_ATTRIBUTE_MPI_CALLS, r->id);
        OTF2_AttributeList_AddUint64(a->attributes, FV_ATTRIBUTE_MPI_BYTES, r->received);
    }
    return leave(a, w, r, r->ref);
}

static OTF2_ErrorCode put_whole(OTF2_EvtWriter *w, OTF2_AttributeList *attributes, const struct fv_record *r,
                                OTF2_MetricRef metric)
{
    const OTF2_Type type = OTF2_TYPE_UINT64;

    return OTF2_EvtWriter_Metric(w, attributes, r->time_ns, metric, 1, &type,
                                 &(OTF2_MetricValue){ .unsigned_int = r->sent });
}

static OTF2_ErrorCode put_sensor(struct fv_archive *a, OTF2_EvtWriter *w, const struct fv_record *r)
{
    const OTF2_Type type = OTF2_TYPE_DOUBLE;
    OTF2_MetricValue value;

    memcpy(&value.floating_point, &r->sent, sizeof(value.floating_point));
    return OTF2_EvtWriter_Metric(w, NULL, r->time_ns, fv_sensor_metric(a, a->first_sensor[r->ref] + r->id), 1, &type,
                                 &value);
}

static OTF2_ErrorCode put_leave(struct fv_archive *a, const struct fv_location_writer *w, const struct fv_record *r)
{
    if (FV_UNLIKELY(r->op)) {
        OTF2_AttributeList_AddUint64(a->attributes, FV_ATTRIBUTE_WAIT, r->sent);
        OTF2_AttributeList_AddStringRef(a->attributes, FV_ATTRIBUTE_WAIT_KIND, a->wait_kinds[r->op]);
        OTF2_AttributeList_AddLocationRef(a->attributes, FV_ATTRIBUTE_CAUSE, r->id);
    }
    return leave(a, w, r, r->ref);
}

static OTF2_ErrorCode put_library_enter(struct fv_archive *a, const struct fv_location_writer *w,
                                        const struct fv_record *r)
{
    if (r->sent)
        OTF2_AttributeList_AddUint64(a->attributes, FV_ATTRIBUTE_ALLOCATED, r->sent - 1);
    if (r->received)
        OTF2_AttributeList_AddUint64(a->attributes, FV_ATTRIBUTE_FREED, r->received - 1);
    return enter(a, w, FV_CALLING_CALL, r, r->ref, r->context);
}

static OTF2_ErrorCode put_library_leave(struct fv_archive *a, const struct fv_location_writer *w,
                                        const struct fv_record *r)
{
    if (r->aux)
        OTF2_AttributeList_AddIoHandleRef(a->attributes, FV_ATTRIBUTE_IO_HANDLE, r->aux - 1);
    if (r->op)
        OTF2_AttributeList_AddUint8(a->attributes, FV_ATTRIBUTE_IO_FAILED, r->op == 2);
    if (r->sent)
        OTF2_AttributeList_AddUint64(a->attributes, FV_ATTRIBUTE_IO_BYTES, r->sent - 1);
    return leave(a, w, r, r->ref);
}

static OTF2_ErrorCode put_sample(struct fv_archive *a, const struct fv_location_writer *w, const struct fv_record *r)
{
    uint32_t path = a->context_of_node[r->context];

    if (!a->in_contexts) {
        if (path != FV_NONE)
            OTF2_AttributeList_AddCallingContextRef(a->attributes, FV_ATTRIBUTE_CALL_PATH, path);
        return put_whole(w->otf2, a->attributes, r, fv_samples_class(a));
    }
    struct fv_calling_event e = fv_calling_sample(&a->calling, w->index, path);
    OTF2_AttributeList_AddUint64(a->attributes, FV_ATTRIBUTE_CPU_TIME, r->sent);
    return OTF2_EvtWriter_CallingContextSample(w->otf2, a->attributes, r->time_ns, e.node, e.distance,
                                               a->generators[r->ref]);
}

void fv_generators_init(struct fv_archive *a)
{
    const struct fv_defs *d = a->defs;
    uint32_t count = 0;

    a->generators = fv_xcalloc(d->rank_count + 1, sizeof(*a->generators));
    for (size_t i = 0; i < d->rank_count; i++) {
        size_t same = 0;

        while (d->ranks[same].sample_rate != d->ranks[i].sample_rate)
            same++;
        a->generators[i] = same < i ? a->generators[same] : count++;
    }
}

/* ---- threads ---- */

static OTF2_ErrorCode put_region_enter(struct fv_archive *a, const struct fv_location_writer *w,
                                       const struct fv_record *r)
{
    OTF2_AttributeList_AddUint32(a->attributes, FV_ATTRIBUTE_LOCK, r->peer);
    if (a->lock_strings[r->peer])
        OTF2_AttributeList_AddStringRef(a->attributes, FV_ATTRIBUTE_LOCK_NAME, a->lock_strings[r->peer]);
    return enter(a, w, FV_CALLING_CALL, r, r->ref, r->context);
}

static OTF2_ErrorCode put_region_leave(struct fv_archive *a, const struct fv_location_writer *w,
                                       const struct fv_record *r)
{
    if (r->op) {
        OTF2_AttributeList_AddUint64(a->attributes, FV_ATTRIBUTE_WAIT, r->sent);
        OTF2_AttributeList_AddStringRef(a->attributes, FV_ATTRIBUTE_WAIT_KIND, a->thread_wait_kinds[r->op]);
    }
    if (r->op && r->id != FV_LOCATION_NONE)
        OTF2_AttributeList_AddLocationRef(a->attributes, FV_ATTRIBUTE_CAUSE, r->id);
    return leave(a, w, r, r->ref);
}

static OTF2_ErrorCode put_fork(struct fv_archive *a, OTF2_EvtWriter *w, const struct fv_record *r)
{
    if (a->context_of_node[r->context] != FV_NONE)
        OTF2_AttributeList_AddCallingContextRef(a->attributes, FV_ATTRIBUTE_CALL_PATH, a->context_of_node[r->context]);
    return OTF2_EvtWriter_ThreadFork(w, a->attributes, r->time_ns, OTF2_PARADIGM_OPENMP, (uint32_t)r->id);
}

static OTF2_ErrorCode put_thread(struct fv_archive *a, const struct fv_location_writer *writer,
                                 const struct fv_record *r)
{
    OTF2_EvtWriter *w = writer->otf2;
    uint32_t comm = fv_thread_comm(a->defs, r->ref), order = (uint32_t)r->id;
    uint32_t team = fv_team_comm(a->defs, r->ref);
    uint64_t t = r->time_ns;

    switch (r->kind) {
    case FV_REC_REGION_ENTER: return put_region_enter(a, writer, r);
    case FV_REC_REGION_LEAVE: return put_region_leave(a, writer, r);
    case FV_REC_THREAD_CREATE: return OTF2_EvtWriter_ThreadCreate(w, NULL, t, comm, r->id);
    case FV_REC_THREAD_BEGIN: return OTF2_EvtWriter_ThreadBegin(w, NULL, t, comm, r->id);
    case FV_REC_THREAD_END: return OTF2_EvtWriter_ThreadEnd(w, NULL, t, comm, r->id);
    case FV_REC_THREAD_JOIN: return OTF2_EvtWriter_ThreadWait(w, NULL, t, comm, r->id);
    case FV_REC_OMP_FORK: return put_fork(a, w, r);
    case FV_REC_TEAM_BEGIN: return OTF2_EvtWriter_ThreadTeamBegin(w, NULL, t, team);
    case FV_REC_TEAM_END: return OTF2_EvtWriter_ThreadTeamEnd(w, NULL, t, team);
    case FV_REC_OMP_JOIN: return OTF2_EvtWriter_ThreadJoin(w, NULL, t, OTF2_PARADIGM_OPENMP);
    case FV_REC_ACQUIRE:
        return OTF2_EvtWriter_ThreadAcquireLock(w, NULL, t, r->op ? OTF2_PARADIGM_OPENMP : OTF2_PARADIGM_PTHREAD,
                                                r->ref, order);
    default:
        return OTF2_EvtWriter_ThreadReleaseLock(w, NULL, t, r->op ? OTF2_PARADIGM_OPENMP : OTF2_PARADIGM_PTHREAD,
                                                r->ref, order);
    }
}

static OTF2_ErrorCode put_begin(struct fv_archive *a, OTF2_EvtWriter *w, const struct fv_record *r)
{
    const struct fv_command *c = &a->commands[r->ref];

    return OTF2_EvtWriter_ProgramBegin(w, NULL, r->time_ns, c->program, c->argument_count, c->arguments);
}

/* The list is empty again after the event. */
static inline OTF2_AttributeList *error_of(struct fv_archive *a, const struct fv_record *r)
{
    if (FV_LIKELY(!r->error))
        return NULL;
    OTF2_AttributeList_AddStringRef(a->attributes, FV_ATTRIBUTE_ERROR, a->errors[r->error]);
    return a->attributes;
}

/* Of messages, and of collectives. */
static OTF2_ErrorCode put_message(struct fv_archive *a, OTF2_EvtWriter *w, const struct fv_record *r)
{
    uint64_t t = r->time_ns;

    switch ((enum fv_record_kind)r->kind) {
    case FV_REC_SEND: return OTF2_EvtWriter_MpiSend(w, NULL, t, r->peer, r->ref, r->tag, r->sent);
    case FV_REC_RECEIVE: return OTF2_EvtWriter_MpiRecv(w, error_of(a, r), t, r->peer, r->ref, r->tag, r->received);
    case FV_REC_ISEND: return OTF2_EvtWriter_MpiIsend(w, NULL, t, r->peer, r->ref, r->tag, r->sent, r->id);
    case FV_REC_ISEND_END: return OTF2_EvtWriter_MpiIsendComplete(w, NULL, t, r->id);
    case FV_REC_IRECEIVE: return OTF2_EvtWriter_MpiIrecvRequest(w, NULL, t, r->id);
    case FV_REC_IRECEIVE_END:
        return OTF2_EvtWriter_MpiIrecv(w, error_of(a, r), t, r->peer, r->ref, r->tag, r->received, r->id);
    case FV_REC_TEST: return OTF2_EvtWriter_MpiRequestTest(w, NULL, t, r->id);
    case FV_REC_CANCEL: return OTF2_EvtWriter_MpiRequestCancelled(w, NULL, t, r->id);
    case FV_REC_COLL_BEGIN: return OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, t);
    case FV_REC_COLL_END:
        return OTF2_EvtWriter_MpiCollectiveEnd(w, error_of(a, r), t, r->op, r->ref, r->peer, r->sent, r->received);
    case FV_REC_ICOLL_BEGIN: return OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, t, r->id);
    case FV_REC_ICOLL_END:
        return OTF2_EvtWriter_NonBlockingCollectiveComplete(w, error_of(a, r), t, r->op, r->ref, r->peer, r->sent,
                                                            r->received, r->id);
    default: return put_rma(w, r);
    }
}

static OTF2_ErrorCode put_record(struct fv_archive *a, const struct fv_location_writer *writer,
                                 const struct fv_record *r)
{
    OTF2_EvtWriter *w = writer->otf2;
    uint64_t t = r->time_ns;

    if (FV_RECORD_IS_OF_THREAD(r->kind))
        return put_thread(a, writer, r);
    switch ((enum fv_record_kind)r->kind) {
    case FV_REC_ENTER: return enter(a, writer, FV_CALLING_CALL, r, r->ref, r->context);
    case FV_REC_LEAVE: return put_leave(a, writer, r);
    case FV_REC_COMM_CREATE: return OTF2_EvtWriter_CommCreate(w, NULL, t, r->ref);
    case FV_REC_COMM_DESTROY: return OTF2_EvtWriter_CommDestroy(w, NULL, t, r->ref);
    case FV_REC_PROGRAM_BEGIN: return put_begin(a, w, r);
    case FV_REC_PROGRAM_END: return OTF2_EvtWriter_ProgramEnd(w, NULL, t, (int64_t)r->id);
    case FV_REC_MEASURE:
        return OTF2_EvtWriter_MeasurementOnOff(w, NULL, t, r->op ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF);
    case FV_REC_MATCHED: return OTF2_SUCCESS;  /* its message is received later */
    case FV_REC_SECTIONS: return OTF2_SUCCESS; /* of a rank whose file names none */
    case FV_REC_INSTANCE:
    case FV_REC_INSTANCE_END: return put_instance(a, writer, r);
    case FV_REC_COUNTER: return put_whole(w, NULL, r, fv_strings_named(&a->metrics) + a->counter_of[r->ref][r->op] - 1);
    case FV_REC_SENSOR: return put_sensor(a, w, r);
    case FV_REC_MEMORY: return put_whole(w, NULL, r, fv_memory_class(a) + a->memory_metric[r->ref]);
    case FV_REC_EVENT_COUNT: return put_whole(w, NULL, r, a->metric_of[r->ref][r->op] - 1);
    case FV_REC_LIBRARY_ENTER: return put_library_enter(a, writer, r);
    case FV_REC_LIBRARY_LEAVE: return put_library_leave(a, writer, r);
    case FV_REC_WORK_ENTER: return enter(a, writer, FV_CALLING_SECTION, r, r->ref, r->context);
    case FV_REC_WORK_LEAVE: return leave(a, writer, r, r->ref);
    case FV_REC_SECTION_ENTER: return enter(a, writer, FV_CALLING_SECTION, r, r->ref, 0);
    case FV_REC_SECTION_LEAVE: return put_section_leave(a, writer, r);
    case FV_REC_SAMPLE: return put_sample(a, writer, r);
    case FV_REC_IO_OPEN:
    case FV_REC_IO_CLOSE:
    case FV_REC_IO_SEEK:
    case FV_REC_IO_BEGIN:
    case FV_REC_IO_ISSUED:
    case FV_REC_IO_END: return put_io(a, w, r);
    case FV_REC_IO_CANCEL: /* only archives have these */
    case FV_REC_IO_SAME:
    case FV_REC_IO_DELETE:
    case FV_REC_IO_LOCK: return OTF2_SUCCESS;
    default: return put_message(a, w, r);
    }
}

static bool sink_put(struct fv_sink *sink, uint32_t slot, const struct fv_record *record)
{
    struct fv_archive *a = sink->context;
    OTF2_ErrorCode code = put_record(a, &a->writers[slot], record);

    return FV_LIKELY(code == OTF2_SUCCESS) || fv_archive_check(a, code, "events");
}

static bool sink_open(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    struct fv_archive *a = sink->context;

    FV_GROW(a->writers, a->writer_room, (size_t)slot + 1);
    errno = 0;
    a->writers[slot] = (struct fv_location_writer){ OTF2_Archive_GetEvtWriter(a->otf2, location),
                                                    a->in_contexts ? fv_calling_open(&a->calling, location) : 0 };
    return a->writers[slot].otf2 || fv_archive_check(a, OTF2_ERROR_PROCESSED_WITH_FAULTS, "an event file");
}

static bool sink_close(struct fv_sink *sink, uint32_t slot)
{
    struct fv_archive *a = sink->context;

    errno = 0;
    if (a->in_contexts)
        fv_calling_close(&a->calling, a->writers[slot].index);
    return fv_archive_check(a, OTF2_Archive_CloseEvtWriter(a->otf2, a->writers[slot].otf2), "an event file");
}

struct fv_sink *fv_archive_sink(struct fv_archive *a)
{
    a->sink = (struct fv_sink){ .context = a, .open = sink_open, .put = sink_put, .close = sink_close };
    return &a->sink;
}
