/* Writes an OTF2 archive of one process whose threads do what stdin says, in the order of time for each thread:
 *
 *     together DIR < LINES        writes DIR/traces.otf2; a line: THREAD TIME EVENT A [B], numbers but for EVENT
 *
 * EVENT: enter, leave (A: a region below), fork, join, begin, end (of a part in team A), task (ends), acquire, release (A: 1 of
 * POSIX threads, B: lock), create, start, finish, wait (A: thread). Events with "old-" are those of OTF2 1.1. */
#include "making.h"

#include <string.h>

#define THREADS 8
static const struct region {
    const char *name;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
} regions[] = { { "main", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER },
                { "a barrier", OTF2_REGION_ROLE_BARRIER, OTF2_PARADIGM_OPENMP },
                { "an implicit barrier", OTF2_REGION_ROLE_IMPLICIT_BARRIER, OTF2_PARADIGM_OPENMP },
                { "a critical section", OTF2_REGION_ROLE_CRITICAL, OTF2_PARADIGM_OPENMP },
                { "omp_set_lock", OTF2_REGION_ROLE_WRAPPER, OTF2_PARADIGM_OPENMP },
                { "pthread_mutex_lock", OTF2_REGION_ROLE_WRAPPER, OTF2_PARADIGM_PTHREAD },
                { "pthread_join", OTF2_REGION_ROLE_WRAPPER, OTF2_PARADIGM_PTHREAD },
                { "a task", OTF2_REGION_ROLE_TASK, OTF2_PARADIGM_OPENMP },
                { "pthread_cond_wait", OTF2_REGION_ROLE_WRAPPER, OTF2_PARADIGM_PTHREAD } };
#define REGIONS (sizeof(regions) / sizeof(*regions))

static OTF2_EvtWriter *writers[THREADS];
static uint64_t counts[THREADS];

static OTF2_ErrorCode put(OTF2_EvtWriter *w, uint64_t time, const char *event, uint32_t a, uint32_t b)
{
    const OTF2_Paradigm model = a ? OTF2_PARADIGM_PTHREAD : OTF2_PARADIGM_OPENMP;
#define IS(name) !strcmp(event, name)
    return IS("enter")         ? OTF2_EvtWriter_Enter(w, NULL, time, a)
           : IS("leave")       ? OTF2_EvtWriter_Leave(w, NULL, time, a)
           : IS("fork")        ? OTF2_EvtWriter_ThreadFork(w, NULL, time, OTF2_PARADIGM_OPENMP, 3)
           : IS("join")        ? OTF2_EvtWriter_ThreadJoin(w, NULL, time, OTF2_PARADIGM_OPENMP)
           : IS("begin")       ? OTF2_EvtWriter_ThreadTeamBegin(w, NULL, time, a)
           : IS("end")         ? OTF2_EvtWriter_ThreadTeamEnd(w, NULL, time, a)
           : IS("task")        ? OTF2_EvtWriter_ThreadTaskComplete(w, NULL, time, 0, 0, 1)
           : IS("acquire")     ? OTF2_EvtWriter_ThreadAcquireLock(w, NULL, time, model, b, 1)
           : IS("release")     ? OTF2_EvtWriter_ThreadReleaseLock(w, NULL, time, model, b, 1)
           : IS("old-acquire") ? OTF2_EvtWriter_OmpAcquireLock(w, NULL, time, b, 1)
           : IS("old-release") ? OTF2_EvtWriter_OmpReleaseLock(w, NULL, time, b, 1)
           : IS("create")      ? OTF2_EvtWriter_ThreadCreate(w, NULL, time, 0, a)
           : IS("start")       ? OTF2_EvtWriter_ThreadBegin(w, NULL, time, 0, a)
           : IS("finish")      ? OTF2_EvtWriter_ThreadEnd(w, NULL, time, 0, a)
           : IS("wait")        ? OTF2_EvtWriter_ThreadWait(w, NULL, time, 0, a)
                               : OTF2_ERROR_INVALID_ARGUMENT;
}

static void events(OTF2_Archive *archive)
{
    unsigned long long time;
    unsigned thread, a, b;
    char line[100], event[20];

    for (unsigned i = 0; i < THREADS; i++)
        writers[i] = OTF2_Archive_GetEvtWriter(archive, (uint64_t)i << 32);
    while (fgets(line, sizeof(line), stdin)) {
        a = b = 0;
        if (sscanf(line, "%u %llu %19s %u %u", &thread, &time, event, &a, &b) >= 3)
            MUST(put(writers[thread % THREADS], time, event, a, b));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        MUST(OTF2_EvtWriter_GetNumberOfEvents(writers[i], &counts[i]));
        MUST(OTF2_Archive_CloseEvtWriter(archive, writers[i]));
    }
}

static void definitions(OTF2_GlobalDefWriter *d)
{
    MUST(OTF2_GlobalDefWriter_WriteClockProperties(d, 1000000000, 0, 100000, OTF2_UNDEFINED_TIMESTAMP));
    MUST(OTF2_GlobalDefWriter_WriteString(d, REGIONS, "node"));
    for (uint32_t i = 0; i < REGIONS; i++) {
        MUST(OTF2_GlobalDefWriter_WriteString(d, i, regions[i].name));
        MUST(OTF2_GlobalDefWriter_WriteRegion(d, i, i, i, i, regions[i].role, regions[i].paradigm, OTF2_REGION_FLAG_NONE,
                                              OTF2_UNDEFINED_STRING, 0, 0));
    }
    MUST(OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, REGIONS, REGIONS, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    MUST(OTF2_GlobalDefWriter_WriteLocationGroup(d, 0, REGIONS, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                 OTF2_UNDEFINED_LOCATION_GROUP));
    for (uint64_t i = 0; i < THREADS; i++)
        MUST(OTF2_GlobalDefWriter_WriteLocation(d, i << 32, REGIONS, OTF2_LOCATION_TYPE_CPU_THREAD, counts[i], 0));
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    OTF2_Archive *archive = making_open(argv[1], 1 << 20);
    events(archive);
    MUST(OTF2_Archive_CloseEvtFiles(archive));
    definitions(OTF2_Archive_GetGlobalDefWriter(archive));
    MUST(OTF2_Archive_Close(archive));
    return 0;
}
