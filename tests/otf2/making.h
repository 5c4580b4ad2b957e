/* For programs that write archives with the OTF2 library: what ends one that fails, and opening. */
#ifndef FV_TEST_MAKING_H
#define FV_TEST_MAKING_H

#include <otf2/otf2.h>

#include <stdio.h>
#include <stdlib.h>

static inline void must(OTF2_ErrorCode code, const char *file, int line)
{
    if (code == OTF2_SUCCESS)
        return;
    fprintf(stderr, "%s: line %d: %s\n", file, line, OTF2_Error_GetDescription(code));
    exit(1);
}
#define MUST(call) must(call, __FILE__, __LINE__)

static inline OTF2_FlushType making_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void)final;
    return OTF2_FLUSH;
}

static inline OTF2_TimeStamp making_flushed(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
    (void)data, (void)type, (void)location;
    return 0;
}

/* DIR/traces.otf2, by one process, whose files of events can be written to. */
static inline OTF2_Archive *making_open(const char *directory, uint64_t definition_bytes)
{
    static const OTF2_FlushCallbacks flush = { making_flush, making_flushed };
    OTF2_Archive *archive = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, 1 << 20, definition_bytes,
                                              OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);

    if (!archive)
        exit(1);
    MUST(OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL));
    MUST(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    MUST(OTF2_Archive_OpenEvtFiles(archive));
    return archive;
}

#endif
