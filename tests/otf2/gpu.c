/* Writes an OTF2 archive of a process that used an accelerator, as Score-P writes it:
 *
 *     gpu DIR [beside]        writes DIR/traces.otf2; beside: the streams are in the process itself, as older versions have it
 *
 * The process: main from 0 to 100 us. Stream 0: kernel "saxpy" at 10, 30 and 60 us, of 10, 20 and 30 us; stream 1: copies "memcpy HtoD"
 * at 5 and 40 us, of 2 and 3 us, and a synchronisation of 1 us at 90 us. */
#include "making.h"

#include <string.h>

enum { S_NODE, S_MAIN, S_KERNEL, S_COPY, S_SYNC, S_PROCESS, S_DEVICE, S_STREAM_0, S_STREAM_1, S_FILE, S_COUNT };
static const char *const strings[] = { "node",   "main",           "saxpy(int, float)", "memcpy HtoD", "sync", "rank",
                                       "GPU 0", "CUDA[0:1]", "CUDA[0:2]",           "saxpy.cu" };
enum { MAIN, KERNEL, COPY, SYNC };

static void region(OTF2_EvtWriter *w, uint32_t number, uint64_t begin_us, uint64_t us)
{
    MUST(OTF2_EvtWriter_Enter(w, NULL, 1000 * begin_us, number));
    MUST(OTF2_EvtWriter_Leave(w, NULL, 1000 * (begin_us + us), number));
}

static void events(OTF2_Archive *archive, uint64_t counts[3])
{
    OTF2_EvtWriter *w[3];

    for (unsigned i = 0; i < 3; i++)
        w[i] = OTF2_Archive_GetEvtWriter(archive, i);
    region(w[0], MAIN, 0, 100);
    region(w[1], KERNEL, 10, 10);
    region(w[1], KERNEL, 30, 20);
    region(w[1], KERNEL, 60, 30);
    region(w[2], COPY, 5, 2);
    region(w[2], COPY, 40, 3);
    region(w[2], SYNC, 90, 1);
    for (unsigned i = 0; i < 3; i++) {
        MUST(OTF2_EvtWriter_GetNumberOfEvents(w[i], &counts[i]));
        MUST(OTF2_Archive_CloseEvtWriter(archive, w[i]));
    }
}

static void definitions(OTF2_Archive *archive, const uint64_t counts[3], bool is_beside)
{
    static const struct {
        uint32_t name;
        OTF2_RegionRole role;
        OTF2_Paradigm paradigm;
    } regions[] = { { S_MAIN, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER },
                    { S_KERNEL, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_CUDA },
                    { S_COPY, OTF2_REGION_ROLE_DATA_TRANSFER, OTF2_PARADIGM_CUDA },
                    { S_SYNC, OTF2_REGION_ROLE_BARRIER, OTF2_PARADIGM_CUDA } };
    OTF2_GlobalDefWriter *d = OTF2_Archive_GetGlobalDefWriter(archive);

    for (uint32_t i = 0; i < S_COUNT; i++)
        MUST(OTF2_GlobalDefWriter_WriteString(d, i, strings[i]));
    MUST(OTF2_GlobalDefWriter_WriteClockProperties(d, 1000000000, 0, 100000, OTF2_UNDEFINED_TIMESTAMP));
    MUST(OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, S_NODE, S_NODE, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    MUST(OTF2_GlobalDefWriter_WriteLocationGroup(d, 0, S_PROCESS, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                 OTF2_UNDEFINED_LOCATION_GROUP));
    if (!is_beside)
        MUST(OTF2_GlobalDefWriter_WriteLocationGroup(d, 1, S_DEVICE, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 0, 0));
    MUST(OTF2_GlobalDefWriter_WriteLocation(d, 0, S_PROCESS, OTF2_LOCATION_TYPE_CPU_THREAD, counts[0], 0));
    for (uint32_t i = 0; i < 2; i++)
        MUST(OTF2_GlobalDefWriter_WriteLocation(d, 1 + i, S_STREAM_0 + i, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
                                                counts[1 + i], !is_beside));
    for (uint32_t i = 0; i < sizeof(regions) / sizeof(*regions); i++)
        MUST(OTF2_GlobalDefWriter_WriteRegion(d, i, regions[i].name, regions[i].name, S_NODE, regions[i].role,
                                              regions[i].paradigm, OTF2_REGION_FLAG_NONE, i == KERNEL ? S_FILE : OTF2_UNDEFINED_STRING,
                                              i == KERNEL ? 17 : 0, 0));
}

int main(int argc, char **argv)
{
    uint64_t counts[3];

    if (argc < 2)
        return 2;
    OTF2_Archive *archive = making_open(argv[1], 1 << 20);
    events(archive, counts);
    MUST(OTF2_Archive_CloseEvtFiles(archive));
    definitions(archive, counts, argc > 2);
    MUST(OTF2_Archive_Close(archive));
    return 0;
}
