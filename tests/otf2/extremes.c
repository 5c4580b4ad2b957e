/* Writes an OTF2 archive that is valid, but goes to an extreme:
 *
 *     extremes DIR WHAT [COUNT]      writes DIR/traces.otf2
 *
 * WHAT: group (of three ranks, which foreign.t makes 2^31), locations (COUNT more, without files), references (2^32 - 2, of
 * all that is not there), cycle (of calling contexts), contexts (COUNT, each in the one before), regions (COUNT, nested), steps (COUNT, one after the other),
 * names (of a file with a colon, functions of MPI as Fortran has them, one that only looks like it), times (up to the largest), parameters (of a region), resolution (COUNT ticks a second), clocks (offsets below zero). Two ranks; each sends a message
 * to the other. */
#include "making.h"

#include <string.h>

enum { S_EMPTY, S_NODE, S_WORLD, S_MAIN, S_SEND, S_RECV, S_FILE, STRINGS };
enum { R_MAIN, R_SEND, R_RECV };
#define NOWHERE UINT32_C(0xfffffffe)

static const char *what;
static uint64_t count, counts[2];
static OTF2_Archive *archive;

static int is(const char *name)
{
    return !strcmp(what, name);
}

static uint64_t time_of(uint64_t step)
{
    return is("times") && step ? UINT64_MAX - 100 + step : 1000 * step;
}

static void references(OTF2_EvtWriter *w, uint64_t now)
{
    MUST(OTF2_EvtWriter_Enter(w, NULL, now, NOWHERE));
    MUST(OTF2_EvtWriter_CallingContextEnter(w, NULL, now, NOWHERE, 1));
    MUST(OTF2_EvtWriter_MpiSend(w, NULL, now, NOWHERE, NOWHERE, NOWHERE, UINT64_MAX));
    MUST(OTF2_EvtWriter_MpiSend(w, NULL, now, NOWHERE, 0, NOWHERE, UINT64_MAX));
    MUST(OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, now));
    MUST(OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, now, 250, NOWHERE, NOWHERE, 1, 1));
    MUST(OTF2_EvtWriter_RmaPut(w, NULL, now, NOWHERE, NOWHERE, 1, UINT64_MAX));
    MUST(OTF2_EvtWriter_RmaGroupSync(w, NULL, now, OTF2_RMA_SYNC_LEVEL_PROCESS, NOWHERE, NOWHERE));
    MUST(OTF2_EvtWriter_IoSeek(w, NULL, now, NOWHERE, -1, OTF2_IO_SEEK_FROM_END, 1));
    MUST(OTF2_EvtWriter_ThreadFork(w, NULL, now, OTF2_PARADIGM_OPENMP, NOWHERE));
    MUST(OTF2_EvtWriter_ThreadTeamBegin(w, NULL, now, NOWHERE));
    MUST(OTF2_EvtWriter_ThreadAcquireLock(w, NULL, now, OTF2_PARADIGM_OPENMP, NOWHERE, NOWHERE));
    MUST(OTF2_EvtWriter_ThreadReleaseLock(w, NULL, now, OTF2_PARADIGM_OPENMP, NOWHERE, NOWHERE));
    MUST(OTF2_EvtWriter_ThreadBegin(w, NULL, now, NOWHERE, UINT64_MAX));
    MUST(OTF2_EvtWriter_ThreadTeamEnd(w, NULL, now, NOWHERE));
    MUST(OTF2_EvtWriter_Leave(w, NULL, now, NOWHERE));
}

static void events(uint64_t rank)
{
    OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(archive, rank);
    uint32_t peer = (uint32_t)(1 - rank);

    MUST(OTF2_EvtWriter_Enter(w, NULL, time_of(0), R_MAIN));
    for (uint64_t i = 0; is("regions") && i < count; i++)
        MUST(OTF2_EvtWriter_Enter(w, NULL, time_of(0), R_MAIN));
    for (uint64_t i = 0; is("steps") && i < count; i++) {
        MUST(OTF2_EvtWriter_Enter(w, NULL, time_of(0), R_MAIN));
        MUST(OTF2_EvtWriter_Leave(w, NULL, time_of(0), R_MAIN));
    }
    if (is("cycle") || is("contexts"))
        MUST(OTF2_EvtWriter_CallingContextEnter(w, NULL, time_of(0), is("contexts") ? (uint32_t)count - 1 : 1, 1));
    if (is("references"))
        references(w, time_of(0));
    if (is("parameters")) {
        MUST(OTF2_EvtWriter_ParameterString(w, NULL, time_of(0), 0, S_MAIN));
        MUST(OTF2_EvtWriter_ParameterInt(w, NULL, time_of(0), 1, -1));
        MUST(OTF2_EvtWriter_ParameterUnsignedInt(w, NULL, time_of(0), 2, 1));
    }
    MUST(OTF2_EvtWriter_Enter(w, NULL, time_of(1), R_SEND));
    MUST(OTF2_EvtWriter_MpiSend(w, NULL, time_of(2), peer, 0, 1, 8));
    MUST(OTF2_EvtWriter_Leave(w, NULL, time_of(3), R_SEND));
    MUST(OTF2_EvtWriter_Enter(w, NULL, time_of(4), R_RECV));
    MUST(OTF2_EvtWriter_MpiRecv(w, NULL, time_of(5), peer, 0, 1, 8));
    MUST(OTF2_EvtWriter_Leave(w, NULL, time_of(6), R_RECV));
    if (is("cycle") || is("contexts"))
        MUST(OTF2_EvtWriter_CallingContextLeave(w, NULL, time_of(7), is("contexts") ? (uint32_t)count - 1 : 1));
    for (uint64_t i = 0; is("regions") && i < count; i++)
        MUST(OTF2_EvtWriter_Leave(w, NULL, time_of(7), R_MAIN));
    MUST(OTF2_EvtWriter_Leave(w, NULL, time_of(8), R_MAIN));
    MUST(OTF2_EvtWriter_GetNumberOfEvents(w, &counts[rank]));
    MUST(OTF2_Archive_CloseEvtWriter(archive, w));
    OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(archive, rank);
    if (is("clocks") && rank) {
        MUST(OTF2_DefWriter_WriteClockOffset(local, time_of(0), -500, 0));
        MUST(OTF2_DefWriter_WriteClockOffset(local, time_of(8), INT64_MIN / 2, 0));
    }
    MUST(OTF2_Archive_CloseDefWriter(archive, local));
}

static void contexts(OTF2_GlobalDefWriter *d)
{
    if (is("cycle")) {
        MUST(OTF2_GlobalDefWriter_WriteCallingContext(d, 0, R_MAIN, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, 2));
        MUST(OTF2_GlobalDefWriter_WriteCallingContext(d, 1, R_MAIN, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, 0));
        MUST(OTF2_GlobalDefWriter_WriteCallingContext(d, 2, R_MAIN, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, 1));
    }
    for (uint32_t i = 0; is("contexts") && i < count; i++)
        MUST(OTF2_GlobalDefWriter_WriteCallingContext(d, i, R_MAIN, OTF2_UNDEFINED_SOURCE_CODE_LOCATION,
                                                      i ? i - 1 : OTF2_UNDEFINED_CALLING_CONTEXT));
}

static void definitions(OTF2_GlobalDefWriter *d)
{
    const char *strings[STRINGS] = { "", "node", "MPI_COMM_WORLD", is("names") ? "mpi_helper" : "main",
                                     is("names") ? "mpi_send_" : "MPI_Send", is("names") ? "MPI_RECV" : "MPI_Recv",
                                     is("names") ? "C:/x/main.c" : "" };
    const uint64_t locations[] = { 0, 1 }, ranks[] = { 0x345678, 0x345679, 0x34567a };

    MUST(OTF2_GlobalDefWriter_WriteClockProperties(d, is("resolution") ? count : 1000000000, 0,
                                                   is("times") ? UINT64_MAX : 10000, OTF2_UNDEFINED_TIMESTAMP));
    for (uint32_t i = 0; i < STRINGS; i++)
        MUST(OTF2_GlobalDefWriter_WriteString(d, i, strings[i]));
    for (uint32_t i = 0; i < 3; i++)
        MUST(OTF2_GlobalDefWriter_WriteRegion(d, i, S_MAIN + i, S_MAIN + i, S_EMPTY, OTF2_REGION_ROLE_FUNCTION,
                                              i ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, i ? S_EMPTY : S_FILE, 0, 0));
    contexts(d);
    MUST(OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, S_NODE, S_NODE, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t i = 0; i < 2; i++) {
        MUST(OTF2_GlobalDefWriter_WriteLocationGroup(d, i, S_NODE, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                     OTF2_UNDEFINED_LOCATION_GROUP));
        MUST(OTF2_GlobalDefWriter_WriteLocation(d, i, S_NODE, OTF2_LOCATION_TYPE_CPU_THREAD, counts[i], i));
    }
    for (uint64_t i = 0; is("locations") && i < count; i++)
        MUST(OTF2_GlobalDefWriter_WriteLocation(d, 2 + i, S_NODE, OTF2_LOCATION_TYPE_CPU_THREAD, 1, 1));
    MUST(OTF2_GlobalDefWriter_WriteGroup(d, 0, S_EMPTY, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                         OTF2_GROUP_FLAG_NONE, 2, locations));
    MUST(OTF2_GlobalDefWriter_WriteGroup(d, 1, S_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2,
                                         locations));
    MUST(OTF2_GlobalDefWriter_WriteComm(d, 0, S_WORLD, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    if (is("group"))
        MUST(OTF2_GlobalDefWriter_WriteGroup(d, 2, S_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                             3, ranks));
    if (is("references")) {
        MUST(OTF2_GlobalDefWriter_WriteComm(d, 1, NOWHERE, NOWHERE, NOWHERE, OTF2_COMM_FLAG_NONE));
        MUST(OTF2_GlobalDefWriter_WriteInterComm(d, 2, NOWHERE, NOWHERE, NOWHERE, NOWHERE, OTF2_COMM_FLAG_NONE));
        MUST(OTF2_GlobalDefWriter_WriteRmaWin(d, 0, NOWHERE, NOWHERE, OTF2_RMA_WIN_FLAG_NONE));
        MUST(OTF2_GlobalDefWriter_WriteLocation(d, UINT64_MAX - 1, NOWHERE, OTF2_LOCATION_TYPE_CPU_THREAD, 0, NOWHERE));
        MUST(OTF2_GlobalDefWriter_WriteLocationGroup(d, NOWHERE, NOWHERE, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, NOWHERE, NOWHERE));
        MUST(OTF2_GlobalDefWriter_WriteCallingContext(d, NOWHERE - 1, NOWHERE, NOWHERE, NOWHERE));
        MUST(OTF2_GlobalDefWriter_WriteRegion(d, NOWHERE - 1, NOWHERE, NOWHERE, NOWHERE, 0, 0, 0, NOWHERE, NOWHERE, NOWHERE));
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    what = argv[2];
    count = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    archive = making_open(argv[1], 4 << 20);
    MUST(OTF2_Archive_OpenDefFiles(archive));
    events(0);
    events(1);
    MUST(OTF2_Archive_CloseDefFiles(archive));
    MUST(OTF2_Archive_CloseEvtFiles(archive));
    definitions(OTF2_Archive_GetGlobalDefWriter(archive));
    MUST(OTF2_Archive_Close(archive));
    return 0;
}
