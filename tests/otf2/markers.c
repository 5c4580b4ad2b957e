/* Prints the markers of an archive, in the file's order, a line each: NANOSECONDS SCOPE TEXT.
 *
 *     markers traces.otf2 */
#include <otf2/otf2.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "markers: %s\n", what);
    exit(1);
}

static OTF2_CallbackCode on_marker(void *data, OTF2_TimeStamp time, OTF2_TimeStamp duration, OTF2_MarkerRef marker, OTF2_MarkerScope scope, uint64_t of,
                                   const char *text)
{
    (void)data, (void)duration, (void)marker, (void)scope;
    printf("%" PRIu64 " %" PRIu64 " %s\n", time, of, text);
    return OTF2_CALLBACK_SUCCESS;
}

int main(int argc, char **argv)
{
    OTF2_MarkerReaderCallbacks *callbacks = OTF2_MarkerReaderCallbacks_New();
    OTF2_Reader *reader = argc == 2 ? OTF2_Reader_Open(argv[1]) : NULL;
    uint64_t count;

    must(reader, "no archive");
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    OTF2_MarkerReader *markers = OTF2_Reader_GetMarkerReader(reader);
    must(markers, "no markers");
    OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks, on_marker);
    OTF2_Reader_RegisterMarkerCallbacks(reader, markers, callbacks, NULL);
    OTF2_MarkerReaderCallbacks_Delete(callbacks);
    must(OTF2_Reader_ReadAllMarkers(reader, markers, &count) == OTF2_SUCCESS, "unreadable");
    OTF2_Reader_CloseMarkerReader(reader, markers);
    OTF2_Reader_Close(reader);
    return 0;
}
