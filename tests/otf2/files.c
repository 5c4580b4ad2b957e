/* Writes an OTF2 archive of one process that does to files what stdin says, in the order of time:
 *
 *     files DIR < LINES        writes DIR/traces.otf2; a line: TIME EVENT [A] [B] [C], numbers but for EVENT
 *
 * EVENT: enter, leave (A: a region below), create, append, destroy (A: a handle below), read, write, flush, async (begin: A: handle,
 * B: bytes, C: where + 1), done, cancel (A: handle, B: bytes; -1 not known), seek (A: handle, B: where to), same (A: handle, B: another),
 * delete (A: a file below), lock (A: handle). */
#include "making.h"

#include <string.h>

static const struct region {
    const char *name;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
} regions[] = { { "main", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER },
                { "open", OTF2_REGION_ROLE_FILE_IO_METADATA, OTF2_PARADIGM_NONE },
                { "read", OTF2_REGION_ROLE_FILE_IO, OTF2_PARADIGM_NONE },
                { "write", OTF2_REGION_ROLE_FILE_IO, OTF2_PARADIGM_NONE },
                { "pread", OTF2_REGION_ROLE_FILE_IO, OTF2_PARADIGM_NONE },
                { "close", OTF2_REGION_ROLE_FILE_IO_METADATA, OTF2_PARADIGM_NONE },
                { "lseek", OTF2_REGION_ROLE_FILE_IO_METADATA, OTF2_PARADIGM_NONE },
                { "fopen", OTF2_REGION_ROLE_FILE_IO_METADATA, OTF2_PARADIGM_NONE },
                { "H5Dwrite", OTF2_REGION_ROLE_FILE_IO, OTF2_PARADIGM_NONE },
                { "unlink", OTF2_REGION_ROLE_FILE_IO_METADATA, OTF2_PARADIGM_NONE },
                { "fcntl", OTF2_REGION_ROLE_FILE_IO_METADATA, OTF2_PARADIGM_NONE },
                { "MPI_File_iwrite", OTF2_REGION_ROLE_FILE_IO, OTF2_PARADIGM_MPI },
                { "MPI_Wait", OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI },
                { "MPI_File_read", OTF2_REGION_ROLE_FILE_IO, OTF2_PARADIGM_MPI } };
#define REGIONS (sizeof(regions) / sizeof(*regions))

static const struct {
    const char *file; /* NULL: it was there before, under that name */
    const char *name;
    OTF2_IoParadigmRef paradigm;
} handles[] = { { "/d/a", "", 0 }, { "/d/a", "", 1 }, { "/d/b", "", 0 }, { "/d/m", "", 2 }, { NULL, "STDIN_FILENO", 0 } };
#define HANDLES (sizeof(handles) / sizeof(*handles))

static OTF2_AttributeList *list;

static OTF2_ErrorCode begin(OTF2_EvtWriter *w, uint64_t time, OTF2_IoOperationMode mode, OTF2_IoOperationFlag flags, const long long *v)
{
    if (v[2])
        OTF2_AttributeList_AddUint64(list, 0, (uint64_t)v[2] - 1);
    return OTF2_EvtWriter_IoOperationBegin(w, list, time, (uint32_t)v[0], mode, flags, (uint64_t)v[1], 1);
}

static OTF2_ErrorCode put(OTF2_EvtWriter *w, uint64_t time, const char *event, const long long *v)
{
    const uint32_t a = (uint32_t)v[0];
#define IS(name) !strcmp(event, name)
    return IS("enter")     ? OTF2_EvtWriter_Enter(w, NULL, time, a)
           : IS("leave")   ? OTF2_EvtWriter_Leave(w, NULL, time, a)
           : IS("create")  ? OTF2_EvtWriter_IoCreateHandle(w, NULL, time, a, OTF2_IO_ACCESS_MODE_READ_WRITE, 0, 0)
           : IS("append")  ? OTF2_EvtWriter_IoCreateHandle(w, NULL, time, a, OTF2_IO_ACCESS_MODE_READ_WRITE, 0, OTF2_IO_STATUS_FLAG_APPEND)
           : IS("destroy") ? OTF2_EvtWriter_IoDestroyHandle(w, NULL, time, a)
           : IS("read")    ? begin(w, time, OTF2_IO_OPERATION_MODE_READ, OTF2_IO_OPERATION_FLAG_NONE, v)
           : IS("write")   ? begin(w, time, OTF2_IO_OPERATION_MODE_WRITE, OTF2_IO_OPERATION_FLAG_NONE, v)
           : IS("flush")   ? begin(w, time, OTF2_IO_OPERATION_MODE_FLUSH, OTF2_IO_OPERATION_FLAG_NONE, v)
           : IS("async")   ? begin(w, time, OTF2_IO_OPERATION_MODE_WRITE, OTF2_IO_OPERATION_FLAG_NON_BLOCKING, v)
           : IS("done")    ? OTF2_EvtWriter_IoOperationComplete(w, NULL, time, a, (uint64_t)v[1], 1)
           : IS("cancel")  ? OTF2_EvtWriter_IoOperationCancelled(w, NULL, time, a, 1)
           : IS("seek")    ? OTF2_EvtWriter_IoSeek(w, NULL, time, a, v[1], OTF2_IO_SEEK_FROM_START, (uint64_t)v[1])
           : IS("same")    ? OTF2_EvtWriter_IoDuplicateHandle(w, NULL, time, a, (uint32_t)v[1], 0)
           : IS("delete")  ? OTF2_EvtWriter_IoDeleteFile(w, NULL, time, 0, a)
           : IS("lock")    ? OTF2_EvtWriter_IoAcquireLock(w, NULL, time, a, OTF2_LOCK_EXCLUSIVE)
                           : OTF2_ERROR_INVALID_ARGUMENT;
}

static uint64_t events(OTF2_Archive *archive)
{
    OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(archive, 0);
    char line[100], event[20];
    unsigned long long time;
    uint64_t count;

    while (fgets(line, sizeof(line), stdin)) {
        long long v[3] = { 0 };

        if (sscanf(line, "%llu %19s %lld %lld %lld", &time, event, &v[0], &v[1], &v[2]) >= 2)
            MUST(put(w, time, event, v));
    }
    MUST(OTF2_EvtWriter_GetNumberOfEvents(w, &count));
    MUST(OTF2_Archive_CloseEvtWriter(archive, w));
    return count;
}

static OTF2_GlobalDefWriter *d;
static uint32_t strings;

static uint32_t text(const char *of)
{
    MUST(OTF2_GlobalDefWriter_WriteString(d, strings, of));
    return strings++;
}

static void define_files(void)
{
    static const char *const paradigms[] = { "POSIX", "ISOC", "MPI-IO" };
    const OTF2_AttributeValue system = { .stringRef = text("nfs4") };

    for (uint32_t i = 0; i < 3; i++)
        MUST(OTF2_GlobalDefWriter_WriteIoParadigm(d, i, text(paradigms[i]), text(paradigms[i]),
                                                  i == 2 ? OTF2_IO_PARADIGM_CLASS_PARALLEL : OTF2_IO_PARADIGM_CLASS_SERIAL, 0, 0, NULL,
                                                  NULL, NULL));
    for (uint32_t i = 0; i < HANDLES; i++) {
        if (handles[i].file)
            MUST(OTF2_GlobalDefWriter_WriteIoRegularFile(d, i, text(handles[i].file), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        MUST(OTF2_GlobalDefWriter_WriteIoHandle(d, i, text(handles[i].name), handles[i].file ? i : OTF2_UNDEFINED_IO_FILE,
                                                handles[i].paradigm, handles[i].file ? 0 : OTF2_IO_HANDLE_FLAG_PRE_CREATED,
                                                OTF2_UNDEFINED_COMM, OTF2_UNDEFINED_IO_HANDLE));
    }
    MUST(OTF2_GlobalDefWriter_WriteIoPreCreatedHandleState(d, HANDLES - 1, OTF2_IO_ACCESS_MODE_READ_ONLY, 0));
    MUST(OTF2_GlobalDefWriter_WriteIoFileProperty(d, 0, text("File system"), OTF2_TYPE_STRING, system));
}

static void definitions(uint64_t count)
{
    uint32_t name;

    MUST(OTF2_GlobalDefWriter_WriteClockProperties(d, 1000000000, 0, 100000, OTF2_UNDEFINED_TIMESTAMP));
    for (uint32_t i = 0; i < REGIONS; i++) {
        name = text(regions[i].name);
        MUST(OTF2_GlobalDefWriter_WriteRegion(d, i, name, name, name, regions[i].role, regions[i].paradigm, OTF2_REGION_FLAG_NONE,
                                              OTF2_UNDEFINED_STRING, 0, 0));
    }
    name = text("node");
    MUST(OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, name, name, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    MUST(OTF2_GlobalDefWriter_WriteLocationGroup(d, 0, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP));
    MUST(OTF2_GlobalDefWriter_WriteLocation(d, 0, name, OTF2_LOCATION_TYPE_CPU_THREAD, count, 0));
    MUST(OTF2_GlobalDefWriter_WriteAttribute(d, 0, text("Offset"), name, OTF2_TYPE_UINT64));
    define_files();
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    OTF2_Archive *archive = making_open(argv[1], 1 << 20);
    list = OTF2_AttributeList_New();
    uint64_t count = events(archive);
    MUST(OTF2_Archive_CloseEvtFiles(archive));
    d = OTF2_Archive_GetGlobalDefWriter(archive);
    definitions(count);
    OTF2_AttributeList_Delete(list);
    MUST(OTF2_Archive_Close(archive));
    return 0;
}
