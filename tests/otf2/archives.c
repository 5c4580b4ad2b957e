/* Writes an OTF2 archive that has something of everything, or the same with one fault:
 *
 *     archives DIR FAULT[+PART]      writes DIR/traces.otf2; FAULT good: none
 *
 * PART is how the archive says that it does not hold everything: off (location 2 switches recording off and
 * on), empty (a fourth process whose location has no events), incomplete (the archive's property). Three
 * processes with one location each (0, 1, 2) and a thread of the first (1 << 32), which has calling contexts.
 * Faults are made on location 1 unless they need another one; there, each is one `is("...")`. */
#include <otf2/otf2.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREAD (UINT64_C(1) << 32)
enum {
    S_EMPTY,
    S_NAME,
    S_NODE,
    S_WORLD,
    S_SUB,
    S_INTER,
    S_WINDOW,
    S_MAIN,
    S_SEND,
    S_PROGRAM,
    S_BASE,
    S_LINE,
    S_ERROR,
    STRINGS
};
enum { R_MAIN, R_SEND, REGIONS, R_PROGRAM = 40 };
enum { G_WORLD, G_ALL, G_EVEN, G_SELF, G_A, G_B, G_TEAM_WORLD, G_TEAM };
enum { C_WORLD, C_SELF, C_EVEN, C_INTER, C_TEAM };

static const char *fault, *part = "";
static bool used; /* the fault's name exists */

static bool is(const char *name)
{
    bool same = !strcmp(fault, name);

    used = used || same;
    return same;
}

static bool says(const char *name)
{
    return !strcmp(part, name);
}

static void must(OTF2_ErrorCode code, const char *what, int line)
{
    if (code == OTF2_SUCCESS)
        return;
    fprintf(stderr, "archives: line %d: %s: %s\n", line, what, OTF2_Error_GetDescription(code));
    exit(1);
}
#define MUST(call) must(call, #call, __LINE__)

/* ---- events ---- */

static OTF2_EvtWriter *w;
static uint64_t now, counts[4];
static OTF2_AttributeList *attributes;

static uint64_t tick(void)
{
    return now += 10;
}
#define E(event, ...) MUST(OTF2_EvtWriter_##event(w, NULL, tick(), ##__VA_ARGS__))

static void gap(void)
{
    E(MeasurementOnOff, OTF2_MEASUREMENT_OFF);
    E(MeasurementOnOff, OTF2_MEASUREMENT_ON);
}

static void ring(int rank)
{
    bool open = rank == 1 ? is("request-open") || is("request-off") || is("request-off-before")
                          : rank == 0 && is("request-off-thread");
    uint64_t request = 100;
    uint32_t next = (uint32_t)(rank + 1) % 3, previous = (uint32_t)(rank + 2) % 3;

    E(MpiIrecvRequest, request);
    if (rank == 1 && is("request-reused"))
        E(MpiIrecvRequest, request);
    if (rank == 1 && is("request-off-before"))
        gap();
    E(MpiIsend, rank == 1 && is("rank-range") ? 7 : next, rank == 1 && is("comm-undefined") ? 99 : C_WORLD, 5,
      64, request + 1);
    E(MpiRequestTest, rank == 1 && is("test-unknown") ? 77 : request);
    if (rank == 1 && is("request-off"))
        gap();
    now = 3000; /* all have sent */
    if (!open)
        E(MpiIsendComplete, rank == 1 && is("complete-unknown") ? 55
                            : rank == 1 && is("request-wrong")  ? request
                                                                : request + 1);
    if (rank == 1 && is("message-cut")) {
        MUST(OTF2_AttributeList_AddStringRef(attributes, 2, S_NAME));
        MUST(OTF2_EvtWriter_MpiIrecv(w, attributes, tick(), previous, C_WORLD, 5, 0, request));
    } else if (!(rank == 1 && is("not-received")))
        E(MpiIrecv, previous, C_WORLD, rank == 1 && is("tag") ? 6 : 5, rank == 1 && is("size") ? 63 : 64,
          request);
}

static void messages(int rank)
{
    if (rank == 0) {
        if (is("receive-before-send"))
            now += 2000;
        E(MpiSend, 1, C_WORLD, 1, 8);
        E(MpiIrecvRequest, is("loose-unknown") ? 801 : 800); /* the thread completes it */
        E(MpiSend, 0, C_INTER, 2, 16);                       /* to rank 0 of the other group */
        E(MpiSend, 0, C_SELF, 9, 4);
        E(MpiRecv, 0, C_SELF, 9, 4);
    } else if (rank == 1) {
        now += 1000;
        E(MpiRecv, 0, C_WORLD, 1, 8);
        E(MpiRecv, is("inter-rank") ? 1 : 0, C_INTER, 2, 16);
        if (is("not-sent"))
            E(MpiRecv, 2, C_WORLD, 33, 1);
        if (is("not-a-member"))
            E(MpiSend, 0, C_EVEN, 1, 1);
        E(MpiIsend, 2, C_WORLD, 44, 1, 500); /* cancelled: never sent */
        E(MpiRequestCancelled, 500);
    }
}

static void collective(OTF2_CollectiveOp op, uint32_t comm, uint32_t root)
{
    MUST(OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, tick()));
    E(MpiCollectiveEnd, op, comm, root, 8, 8);
}

static void collectives(int rank)
{
    const uint32_t none = OTF2_COLLECTIVE_ROOT_NONE;

    collective(OTF2_COLLECTIVE_OP_BARRIER, C_WORLD, rank == 1 && is("root-of-barrier") ? 0 : none);
    if (rank == 1 && is("collective-order")) {
        collective(OTF2_COLLECTIVE_OP_ALLREDUCE, C_WORLD, none);
        collective(OTF2_COLLECTIVE_OP_BCAST, C_WORLD, 0);
    } else {
        collective(OTF2_COLLECTIVE_OP_BCAST, C_WORLD,
                   rank != 1            ? 0
                   : is("root-differs") ? 1
                   : is("root-none")    ? none
                   : is("root-range")   ? 3
                   : is("root-self")    ? OTF2_COLLECTIVE_ROOT_SELF
                                        : 0);
        collective(OTF2_COLLECTIVE_OP_ALLREDUCE, C_WORLD, none);
    }
    if (!(rank == 1 && is("collective-count")))
        collective(OTF2_COLLECTIVE_OP_BARRIER, C_WORLD, none);
    if (rank == 1 && is("collective-end"))
        E(MpiCollectiveEnd, OTF2_COLLECTIVE_OP_BARRIER, C_WORLD, none, 0, 0);
    if (rank == 1 && is("collective-twice"))
        E(MpiCollectiveBegin);
    E(NonBlockingCollectiveRequest, 900);
    E(NonBlockingCollectiveComplete, OTF2_COLLECTIVE_OP_ALLREDUCE, C_WORLD, none, 8, 8,
      rank == 1 && is("nonblocking-unknown") ? 901 : 900);
    if (rank != 1) { /* C_EVEN has ranks 0 and 2 */
        E(MpiCollectiveBegin);
        if (!(rank == 2 && is("comm-not-created")))
            E(CommCreate, C_EVEN);
        E(MpiCollectiveEnd, OTF2_COLLECTIVE_OP_CREATE_HANDLE, C_WORLD, none, 0, 0);
        if (!(rank == 2 && is("collective-missing")))
            collective(OTF2_COLLECTIVE_OP_BARRIER, C_EVEN, none);
        if (rank == 0 && is("comm-pending"))
            E(MpiSend, 1, C_EVEN, 3, 1);
        if (rank == 2 && is("comm-pending"))
            E(MpiIrecvRequest, 700);
        E(MpiCollectiveBegin);
        E(CommDestroy, C_EVEN);
        E(MpiCollectiveEnd, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, C_EVEN, none, 0, 0);
        if (rank == 2 && is("comm-pending"))
            E(MpiIrecv, 0, C_EVEN, 3, 1, 700);
        if (rank == 2 && is("comm-destroyed"))
            E(MpiSend, 0, C_EVEN, 1, 1);
    }
    if (!(rank == 1 && is("collective-none")))
        collective(OTF2_COLLECTIVE_OP_BCAST, C_INTER,
                   rank == 0   ? OTF2_COLLECTIVE_ROOT_SELF
                   : rank == 2 ? OTF2_COLLECTIVE_ROOT_THIS_GROUP
                               : 0);
    if (rank == 1 && is("collective-open"))
        E(MpiCollectiveBegin);
}

static void rma_collective(OTF2_CollectiveOp op)
{
    E(RmaCollectiveEnd, op, OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY, 0,
      OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
}

static void one_sided(int rank)
{
    bool broken = rank == 1;

    E(RmaCollectiveBegin);
    if (!(broken && is("window-not-created")))
        E(RmaWinCreate, 0);
    rma_collective(OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE);
    if (broken && is("rma-collective-count")) {
        E(RmaCollectiveBegin);
        rma_collective(OTF2_COLLECTIVE_OP_BARRIER);
    }
    E(RmaRequestLock, 0, 2, 0, OTF2_LOCK_SHARED);
    E(RmaTryLock, 0, 2, 0, OTF2_LOCK_SHARED); /* not granted, as IoTryLock */
    if (!(broken && is("rma-lock-not-acquired")))
        E(RmaAcquireLock, 0, 2, 0, OTF2_LOCK_SHARED);
    if (broken && is("lock-off")) { /* released unseen, and acquired again */
        gap();
        E(RmaAcquireLock, 0, 2, 0, OTF2_LOCK_SHARED);
    }
    E(RmaPut, broken && is("window-undefined") ? 9 : 0, broken && is("rma-rank") ? 3 : 2, 8, 1);
    E(RmaGet, 0, 2, 8, 2);
    E(RmaAtomic, 0, 2, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD, 8, 8, 3);
    if (broken && is("rma-reused"))
        E(RmaGet, 0, 2, 8, 2);
    E(RmaOpCompleteNonBlocking, 0, broken && is("rma-unknown") ? 8 : 1);
    E(RmaOpCompleteRemote, 0, 1);
    if (!(broken && is("rma-open")))
        E(RmaOpCompleteBlocking, 0, 2);
    E(RmaOpCompleteBlocking, 0, 3);
    E(RmaGroupSync, OTF2_RMA_SYNC_LEVEL_PROCESS, 0, broken && is("group-undefined") ? 99 : G_ALL);
    E(RmaSync, 0, 2, OTF2_RMA_SYNC_TYPE_MEMORY);
    if (!(broken && is("rma-lock-held")))
        E(RmaReleaseLock, 0, 2, 0);
    E(RmaCollectiveBegin);
    E(RmaWinDestroy, 0);
    rma_collective(OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE);
}

static void input_output(int rank)
{
    bool broken = rank == 1;

    E(IoOperationBegin, 0, OTF2_IO_OPERATION_MODE_WRITE, OTF2_IO_OPERATION_FLAG_NONE, 10,
      1); /* pre-created */
    E(IoOperationComplete, 0, 10, broken && is("io-unknown") ? 2 : 1);
    if (!(broken && is("io-not-created")))
        E(IoCreateHandle, 1, OTF2_IO_ACCESS_MODE_READ_WRITE, OTF2_IO_CREATION_FLAG_CREATE,
          OTF2_IO_STATUS_FLAG_NONE);
    E(IoSeek, broken && is("handle-undefined") ? 44 : 1, 0, OTF2_IO_SEEK_FROM_START, 0);
    E(IoTryLock, 1, OTF2_LOCK_EXCLUSIVE);
    E(IoAcquireLock, 1, OTF2_LOCK_EXCLUSIVE);
    if (!(broken && is("io-lock")))
        E(IoReleaseLock, 1, OTF2_LOCK_EXCLUSIVE);
    E(IoOperationBegin, 1, OTF2_IO_OPERATION_MODE_READ, OTF2_IO_OPERATION_FLAG_NON_BLOCKING, 10, 7);
    if (broken && is("io-reused"))
        E(IoOperationBegin, 1, OTF2_IO_OPERATION_MODE_READ, OTF2_IO_OPERATION_FLAG_NON_BLOCKING, 10, 7);
    E(IoOperationIssued, 1, 7);
    E(IoOperationTest, 1, 7);
    if (!(broken && is("io-open")))
        E(IoOperationComplete, 1, 10, 7);
    E(IoDestroyHandle, 1);
    if (broken && is("io-after-destroy"))
        E(IoSeek, 1, 0, OTF2_IO_SEEK_FROM_START, 0);
}

static void values(int rank)
{
    OTF2_Type types[2] = { OTF2_TYPE_UINT64,
                           rank == 1 && is("metric-type") ? OTF2_TYPE_INT64 : OTF2_TYPE_DOUBLE };
    OTF2_MetricValue value[2] = { { .unsigned_int = 7 }, { .floating_point = 1.5 } };

    E(Metric, rank == 1 && is("metric-undefined") ? 9 : 0, rank == 1 && is("metric-count") ? 1 : 2, types,
      value);
    E(ParameterInt, rank == 1 && is("parameter-type") ? 1 : 0, -1);
    E(ParameterString, rank == 1 && is("parameter-undefined") ? 9 : 1,
      rank == 1 && is("string-undefined") ? 99 : S_NAME);
    if (rank == 1 && is("attribute-type"))
        MUST(OTF2_AttributeList_AddInt64(attributes, 0, 5));
    else if (rank == 1 && is("attribute-undefined"))
        MUST(OTF2_AttributeList_AddUint32(attributes, 9, 5));
    else
        MUST(OTF2_AttributeList_AddUint32(attributes, 0, 5));
    MUST(OTF2_AttributeList_AddStringRef(attributes, 1, rank == 1 && is("attribute-value") ? 99 : S_NAME));
    MUST(OTF2_EvtWriter_MeasurementOnOff(w, attributes, tick(), OTF2_MEASUREMENT_ON));
    MUST(OTF2_AttributeList_RemoveAllAttributes(attributes));
    MUST(OTF2_EvtWriter_BufferFlush(w, NULL, tick(), rank == 1 && is("buffer-flush") ? 1 : now + 100));
}

static void threads(int rank)
{
    bool broken = rank == 1;

    if (!(broken && is("join")))
        E(ThreadFork, OTF2_PARADIGM_OPENMP, 2);
    E(ThreadJoin, OTF2_PARADIGM_OPENMP);
    if (broken && is("fork-open"))
        E(ThreadFork, OTF2_PARADIGM_OPENMP, 2);
    uint32_t twice = is("lock-order-twice") && rank == 1;
    E(ThreadAcquireLock, OTF2_PARADIGM_PTHREAD, 1, (uint32_t)rank + (broken && is("lock-order") ? 5 : twice));
    if (!(broken && is("lock-held")))
        E(ThreadReleaseLock, OTF2_PARADIGM_PTHREAD, 1,
          (uint32_t)rank + (broken && is("lock-order")       ? 5
                            : broken && is("lock-unmatched") ? 7
                                                             : twice));
    if (rank == 0) {
        E(ThreadTeamBegin, C_TEAM);
        E(ThreadTeamEnd, C_TEAM);
        if (is("thread-time"))
            now = 25000;
        E(ThreadCreate, C_TEAM, 1);
    }
    if (broken && is("team"))
        E(ThreadTeamEnd, C_TEAM);
}

static void process_events(int rank)
{
    bool broken = rank == 1;
    const OTF2_StringRef arguments[] = { S_NAME, rank == 1 && is("program-arguments") ? S_SEND : S_MAIN };

    now = 1000;
    if (broken && is("time-range"))
        now = 10;
    if (!(broken && is("program-end-only")))
        E(ProgramBegin, S_PROGRAM, 2, arguments);
    E(Enter, R_MAIN);
    if (rank == 2 && says("off"))
        gap();
    if (broken && is("program-late"))
        E(ProgramBegin, S_PROGRAM, 2, arguments);
    E(Enter, broken && is("region-undefined") ? 99 : R_SEND);
    ring(rank);
    if (broken && is("leave-wrong"))
        E(Leave, R_MAIN);
    else
        E(Leave, broken && is("region-undefined") ? 99 : R_SEND);
    messages(rank);
    now = 6000;
    collectives(rank);
    one_sided(rank);
    input_output(rank);
    values(rank);
    threads(rank);
    if (broken && is("leave-unmatched"))
        E(Leave, R_SEND);
    if (broken && is("mixed-enter")) {
        E(CallingContextEnter, 0, 1);
        E(CallingContextLeave, 0);
    }
    if (!(broken && (is("region-open") || is("leave-wrong"))))
        E(Leave, R_MAIN);
    if (!(broken && is("program-begin-only")))
        E(ProgramEnd, 0);
    if (broken && is("program-after")) {
        E(Enter, R_MAIN);
        E(Leave, R_MAIN);
    }
    if (broken && is("after-end"))
        MUST(OTF2_EvtWriter_MeasurementOnOff(w, NULL, 200000, OTF2_MEASUREMENT_ON));
}

static void thread_events(void)
{
    now = 20000;
    if (!is("thread-open"))
        E(ThreadBegin, is("contingent-undefined") ? 77 : C_TEAM, is("thread-unmatched") ? 3 : 1);
    E(CallingContextEnter, 0, 1);
    E(CallingContextEnter, is("context-undefined") ? 9 : 1, is("unwind-far") ? 4 : 2);
    E(CallingContextSample, is("unwind-other") ? 3 : 1, 1, is("generator-undefined") ? 9 : 0);
    E(CallingContextSample, is("unwind-entered") ? 0 : 1, 1, 0);
    E(MpiSend, 0, C_WORLD, 70, 1); /* a thread has its process's rank */
    E(MpiRecv, 0, C_WORLD, 70, 1);
    E(MpiSend, 0, C_WORLD, 71, 1);
    E(MpiIrecv, 0, C_WORLD, 71, 1, 800);
    E(CallingContextLeave, is("context-undefined") ? 9 : 1);
    if (!is("context-open"))
        E(CallingContextLeave, 0);
    E(ThreadAcquireLock, OTF2_PARADIGM_PTHREAD, 1, 3);
    E(ThreadReleaseLock, OTF2_PARADIGM_PTHREAD, 1, 3);
    if (is("request-off-thread"))
        gap();
    if (!is("thread-open"))
        E(ThreadEnd, C_TEAM, 1);
}

/* ---- definitions ---- */

static OTF2_GlobalDefWriter *g;
#define D(definition, ...) MUST(OTF2_GlobalDefWriter_Write##definition(g, ##__VA_ARGS__))

static void system_tree(void)
{
    D(SystemTreeNode, 0, is("node-string") ? 99 : S_NODE, S_NAME,
      is("node-cycle") ? 1 : OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    D(SystemTreeNode, 1, S_NODE, S_NAME, is("node-parent") ? 9 : 0);
    D(SystemTreeNodeDomain, 1, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
    for (uint32_t i = 0; i < 3; i++)
        D(LocationGroup, i, S_NAME, OTF2_LOCATION_GROUP_TYPE_PROCESS, i == 1 && is("group-node") ? 9 : 1,
          OTF2_UNDEFINED_LOCATION_GROUP);
    if (is("empty-location-group") || says("empty"))
        D(LocationGroup, 3, S_NAME, OTF2_LOCATION_GROUP_TYPE_PROCESS, 1, OTF2_UNDEFINED_LOCATION_GROUP);
    for (uint32_t i = 0; i < 3; i++)
        D(Location, i, S_NAME,
          i == 1 && is("location-type")   ? OTF2_LOCATION_TYPE_METRIC
          : i == 1 && is("unknown-value") ? 17
                                          : OTF2_LOCATION_TYPE_CPU_THREAD,
          i == 1 && is("event-count") ? 3 : counts[i], i == 1 && is("location-group-undefined") ? 9 : i);
    D(Location, THREAD, S_NAME, OTF2_LOCATION_TYPE_CPU_THREAD, counts[3], 0);
    if (says("empty"))
        D(Location, 3, S_NAME, OTF2_LOCATION_TYPE_CPU_THREAD, 0, 3);
    if (is("location-count"))
        D(Location, 5, S_NAME, OTF2_LOCATION_TYPE_CPU_THREAD, 0, 0);
}

static void groups(void)
{
    const uint64_t world[] = { 0, is("world-location") ? 9 : 1, 2, THREAD },
                   ranks[] = { 0, is("group-index") ? 3 : 1, 2 };
    const uint64_t twice[] = { 0, 0, 2 }, even[] = { 0, 2 }, odd[] = { is("inter-overlap") ? 0 : 1 };
    const uint64_t team[] = { 0, 1 }, team_world[] = { 0, THREAD };

    D(Group, G_WORLD, S_EMPTY, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, 0, 3, world);
    if (is("group-twice"))
        D(Group, 20, S_EMPTY, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, 0, 3, world);
    D(Group, G_ALL, S_WORLD, is("comm-group") ? OTF2_GROUP_TYPE_LOCATIONS : OTF2_GROUP_TYPE_COMM_GROUP,
      OTF2_PARADIGM_MPI, 0, 3, is("member-twice") ? twice : ranks);
    D(Group, G_EVEN, S_SUB, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, 0, 2, even);
    D(Group, G_SELF, S_EMPTY, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, 0, is("group-self") ? 1 : 0,
      even);
    D(Group, G_A, S_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, 0, 2, even);
    D(Group, G_B, S_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, 0, 1, odd);
    D(Group, G_TEAM_WORLD, S_EMPTY, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_OPENMP, 0, 2, team_world);
    D(Group, G_TEAM, S_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_OPENMP, 0, 2, team);
    D(Comm, C_WORLD, S_WORLD, is("comm-group-undefined") ? 99 : G_ALL,
      is("comm-cycle") ? C_EVEN : OTF2_UNDEFINED_COMM, 0);
    D(Comm, C_SELF, S_WORLD, G_SELF, OTF2_UNDEFINED_COMM, 0);
    D(Comm, C_EVEN, S_SUB, G_EVEN, is("comm-parent-undefined") ? 99 : C_WORLD,
      OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS);
    if (is("comm-parent"))
        D(Comm, 21, S_SUB, G_B, C_EVEN, 0);
    D(InterComm, C_INTER, S_INTER, G_A, G_B, C_WORLD, 0);
    D(Comm, C_TEAM, S_EMPTY, G_TEAM, OTF2_UNDEFINED_COMM, 0);
    D(RmaWin, 0, S_WINDOW, is("window-comm") ? 99 : C_WORLD, OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS);
}

static void metrics_and_more(void)
{
    const OTF2_MetricMemberRef members[] = { 0, is("metric-member") ? 9 : 1 };
    const OTF2_CartDimensionRef dimension = 0;
    const uint32_t coordinate = is("topology") ? 3 : 2;
    OTF2_AttributeValue none = { .uint32 = 0 };

    D(MetricMember, 0, S_NAME, S_EMPTY, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64,
      OTF2_BASE_DECIMAL, 0, S_EMPTY);
    D(MetricMember, 1, S_NAME, S_EMPTY, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE,
      OTF2_BASE_DECIMAL, 0, S_EMPTY);
    D(MetricClass, 0, 2, members, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
    D(MetricInstance, 1, is("metric-class") ? 1 : 0, 0, OTF2_SCOPE_LOCATION_GROUP, 0);
    D(Parameter, 0, S_NAME, OTF2_PARAMETER_TYPE_INT64);
    D(Parameter, 1, S_NAME, OTF2_PARAMETER_TYPE_STRING);
    D(Attribute, 0, S_NAME, S_EMPTY, OTF2_TYPE_UINT32);
    D(Attribute, 1, S_NAME, S_EMPTY, OTF2_TYPE_STRING);
    D(Attribute, 2, S_ERROR, S_EMPTY, OTF2_TYPE_STRING);
    D(SourceCodeLocation, 0, S_NAME, 12);
    D(CallingContext, 0, is("context-region") ? 99 : R_MAIN, 0,
      is("context-cycle") ? 1 : OTF2_UNDEFINED_CALLING_CONTEXT);
    D(CallingContext, 1, R_SEND, is("context-source") ? 9 : 0, 0);
    D(CallingContext, 2, R_MAIN, 0, OTF2_UNDEFINED_CALLING_CONTEXT);
    D(CallingContext, 3, R_SEND, 0, 2);
    D(InterruptGenerator, 0, S_NAME, OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -3, 10);
    D(CartDimension, 0, S_NAME, 3, OTF2_CART_PERIODIC_TRUE);
    D(CartTopology, 0, S_NAME, C_WORLD, 1, &dimension);
    D(CartCoordinate, 0, 2, 1, &coordinate);
    D(IoRegularFile, 0, S_NAME, is("file-scope") ? 9 : 1);
    D(IoHandle, 0, S_NAME, OTF2_UNDEFINED_IO_FILE, 0, OTF2_IO_HANDLE_FLAG_PRE_CREATED, OTF2_UNDEFINED_COMM,
      OTF2_UNDEFINED_IO_HANDLE);
    if (!is("io-pre-created"))
        D(IoPreCreatedHandleState, 0, OTF2_IO_ACCESS_MODE_WRITE_ONLY, OTF2_IO_STATUS_FLAG_NONE);
    D(IoHandle, 1, S_NAME, is("handle-file") ? 9 : 0, is("io-paradigm") ? 9 : 0, 0, C_WORLD,
      OTF2_UNDEFINED_IO_HANDLE);
    D(LocationProperty, is("property-of") ? 9 : 1, S_NAME, OTF2_TYPE_UINT32, none);
}

static void definitions(OTF2_Archive *archive)
{
    static const char *const strings[] = { "",
                                           "name",
                                           "node",
                                           "world",
                                           "sub",
                                           "inter",
                                           "window",
                                           "main",
                                           "MPI_Send",
                                           "/bin/program",
                                           "program",
                                           "/bin/program name main",
                                           "fvmpi::error" };

    g = OTF2_Archive_GetGlobalDefWriter(archive);
    if (!is("clock-missing"))
        D(ClockProperties, is("clock-resolution") ? 0 : 1000000000, 1000,
          is("clock-range") ? UINT64_MAX : 100000, 1700000000000000000);
    if (is("clock-twice"))
        D(ClockProperties, 1000000000, 1000, 100000, 0);
    if (is("forward"))
        D(Region, REGIONS, S_MAIN, S_MAIN, S_EMPTY, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER, 0, S_EMPTY,
          0, 0);
    for (uint32_t i = is("string-0-missing"); i < STRINGS; i++)
        D(String, i, i == 0 && is("string-0") ? "not empty" : strings[i]);
    if (is("string-0-missing"))
        D(String, 90, "");
    if (is("duplicate"))
        D(String, S_NAME, "another");
    if (!is("paradigm-missing"))
        D(Paradigm, OTF2_PARADIGM_MPI, S_NAME, OTF2_PARADIGM_CLASS_PROCESS);
    D(Paradigm, OTF2_PARADIGM_OPENMP, S_NAME, OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN);
    D(Paradigm, OTF2_PARADIGM_PTHREAD, S_NAME, OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT);
    D(IoParadigm, 0, S_NAME, S_NAME, OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS, 0, NULL, NULL,
      NULL);
    system_tree();
    for (uint32_t i = 0; i < REGIONS; i++)
        D(Region, i, S_MAIN + i, S_MAIN + i, i == 1 && is("region-string") ? 99 : S_EMPTY,
          OTF2_REGION_ROLE_FUNCTION, i ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, 0, S_EMPTY, 0, 0);
    if (!is("program-region"))
        D(Region, R_PROGRAM, is("program-name") ? S_PROGRAM : S_BASE, S_LINE, S_EMPTY,
          is("program-role") ? OTF2_REGION_ROLE_FUNCTION : OTF2_REGION_ROLE_ARTIFICIAL,
          OTF2_PARADIGM_MEASUREMENT_SYSTEM, 0, S_EMPTY, 0, 0);
    groups();
    metrics_and_more();
}

static void local_definitions(OTF2_Archive *archive, uint64_t location)
{
    OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(archive, location);
    const uint32_t table[] = { 0, location == 1 && is("mapping") ? 99 : 1 };
    OTF2_IdMap *map = OTF2_IdMap_CreateFromUint32Array(2, table, false);

    MUST(OTF2_DefWriter_WriteMappingTable(writer, OTF2_MAPPING_STRING, map));
    if (location == 1 && is("mapping-twice"))
        MUST(OTF2_DefWriter_WriteMappingTable(writer, OTF2_MAPPING_STRING, map));
    MUST(OTF2_DefWriter_WriteClockOffset(writer, 0, 0, 0));
    if (location == 1 && is("time-order")) {
        MUST(OTF2_DefWriter_WriteClockOffset(writer, 6000, 900, 0));
        MUST(OTF2_DefWriter_WriteClockOffset(writer, 6100, -900, 0));
    }
    MUST(OTF2_DefWriter_WriteClockOffset(writer, 200000, 0, 0));
    OTF2_IdMap_Free(map);
    MUST(OTF2_Archive_CloseDefWriter(archive, writer));
}

/* ---- the archive ---- */

static OTF2_FlushType before_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                   bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
    (void)data, (void)type, (void)location;
    return now;
}

static void write_location(OTF2_Archive *archive, unsigned i)
{
    w = OTF2_Archive_GetEvtWriter(archive, i == 3 ? THREAD : i);
    if (i == 3)
        thread_events();
    else
        process_events((int)i);
    if (i == 0) { /* the thread is waited for */
        now = 30000;
        if (!is("thread-open") && !is("detached"))
            E(ThreadWait, C_TEAM, 1);
    }
    MUST(OTF2_EvtWriter_GetNumberOfEvents(w, &counts[i]));
    MUST(OTF2_Archive_CloseEvtWriter(archive, w));
}

/* Of the anchor file, OTF2 3.0: the numbers of locations and of global definitions are at 0x1e and 0x26. */
static void put_byte(const char *path, long offset, int byte)
{
    FILE *file = fopen(path, "r+b");

    if (!file || fseek(file, offset, SEEK_SET) || putc(byte, file) == EOF || fclose(file))
        exit(1);
}

static void damage(const char *directory)
{
    char path[4096];
    FILE *file;

    if (is("local-missing")) {
        snprintf(path, sizeof(path), "%s/traces/1.def", directory);
        unlink(path);
    }
    if (is("events-missing")) {
        snprintf(path, sizeof(path), "%s/traces/1.evt", directory);
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s/traces/1.evt", directory);
    if (is("unreadable") && (file = fopen(path, "r+b"))) {
        fseek(file, 60, SEEK_SET);
        for (int i = 0; i < 40; i++)
            putc(0xff, file);
        fclose(file);
    }
    snprintf(path, sizeof(path), "%s/traces.otf2", directory);
    if (is("location-count-anchor"))
        put_byte(path, 0x1e, 5);
    if (is("anchor-endless")) /* the description's end: the number of properties is read in a wrong place */
        put_byte(path, 0x3a, 1);
    if (is("definition-count"))
        put_byte(path, 0x26, 1);
    snprintf(path, sizeof(path), "%s/traces.def", directory);
    if (is("definitions-unreadable"))
        unlink(path);
}

int main(int argc, char **argv)
{
    static const OTF2_FlushCallbacks flush = { before_flush, after_flush };
    OTF2_Archive *archive;

    if (argc != 3)
        return 2;
    fault = strtok(argv[2], "+");
    part = strtok(NULL, "");
    part = part ? part : "";
    archive = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, 256 * 1024, 256 * 1024,
                                OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    attributes = OTF2_AttributeList_New();
    MUST(OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL));
    MUST(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    MUST(OTF2_Archive_SetCreator(archive, "fvmpi test"));
    MUST(OTF2_Archive_SetBoolProperty(archive, "OTF2::MPI_COMMUNICATION_COMPLETE", !says("incomplete"),
                                      false));
    MUST(OTF2_Archive_SetBoolProperty(archive, "OTF2::THREAD_LOCK_EVENT_COMPLETE", true, false));
    MUST(OTF2_Archive_OpenEvtFiles(archive));
    for (unsigned i = 0; i < 4; i++)
        write_location(archive, i);
    MUST(OTF2_Archive_CloseEvtFiles(archive));
    MUST(OTF2_Archive_OpenDefFiles(archive));
    for (unsigned i = 0; i < 4; i++)
        local_definitions(archive, i == 3 ? THREAD : i);
    if (says("empty"))
        local_definitions(archive, 3);
    MUST(OTF2_Archive_CloseDefFiles(archive));
    definitions(archive);
    MUST(OTF2_Archive_Close(archive));
    OTF2_AttributeList_Delete(attributes);
    damage(argv[1]);
    if (!used && strcmp(fault, "good")) {
        fprintf(stderr, "archives: %s: no such fault\n", fault);
        return 1;
    }
    return 0;
}
