/* Prints what a reader finds that knows regions and no calling contexts, as older ones and viewers do: it sets callbacks for Enter
 * and Leave alone, and OTF2 makes these of calling contexts.
 *
 *     regions traces.otf2        a line an event: LOCATION ns enter|leave REGION */
#include <otf2/otf2.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096

static OTF2_Reader *reader;
static char *strings[MOST];
static OTF2_StringRef names[MOST]; /* of regions */
static uint64_t locations[MOST];
static size_t location_count;

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "regions: %s\n", what);
    exit(1);
}

static OTF2_CallbackCode on_string(void *data, OTF2_StringRef self, const char *text)
{
    (void)data;
    must(self < MOST, "too many strings");
    strings[self] = strdup(text);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
                                   OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
                                   OTF2_StringRef file, uint32_t first, uint32_t last)
{
    (void)data, (void)canonical, (void)description, (void)role, (void)paradigm, (void)flags, (void)file, (void)first, (void)last;
    must(self < MOST, "too many regions");
    names[self] = name;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type, uint64_t events,
                                     OTF2_LocationGroupRef group)
{
    (void)data, (void)name, (void)type, (void)events, (void)group;
    must(location_count < MOST, "too many locations");
    locations[location_count++] = self;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode say(OTF2_LocationRef location, OTF2_TimeStamp time, OTF2_RegionRef region, const char *what)
{
    printf("%" PRIu64 " %" PRIu64 " %s %s\n", location, time, what, strings[names[region]]);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, void *data, OTF2_AttributeList *attributes,
                                  OTF2_RegionRef region)
{
    (void)data, (void)attributes;
    return say(location, time, region, "enter");
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, void *data, OTF2_AttributeList *attributes,
                                  OTF2_RegionRef region)
{
    (void)data, (void)attributes;
    return say(location, time, region, "leave");
}

static void read_definitions(void)
{
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    uint64_t count;

    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, NULL);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    must(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &count) == OTF2_SUCCESS, "definitions");
    for (size_t i = 0; i < location_count; i++)
        OTF2_Reader_SelectLocation(reader, locations[i]);
    must(OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS, "local definitions");
    OTF2_Reader_OpenEvtFiles(reader);
    for (size_t i = 0; i < location_count; i++) {
        OTF2_DefReader *local = OTF2_Reader_GetDefReader(reader, locations[i]);

        must(OTF2_Reader_ReadAllLocalDefinitions(reader, local, &count) == OTF2_SUCCESS, "local definitions");
        OTF2_Reader_CloseDefReader(reader, local);
        OTF2_Reader_GetEvtReader(reader, locations[i]);
    }
    OTF2_Reader_CloseDefFiles(reader);
}

int main(int argc, char **argv)
{
    OTF2_GlobalEvtReaderCallbacks *callbacks = OTF2_GlobalEvtReaderCallbacks_New();
    uint64_t count;

    reader = argc == 2 ? OTF2_Reader_Open(argv[1]) : NULL;
    must(reader, "no archive");
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    read_definitions();
    OTF2_GlobalEvtReader *events = OTF2_Reader_GetGlobalEvtReader(reader);
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(callbacks, on_enter);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(callbacks, on_leave);
    OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, callbacks, NULL);
    OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
    must(OTF2_Reader_ReadAllGlobalEvents(reader, events, &count) == OTF2_SUCCESS, "events");
    OTF2_Reader_CloseGlobalEvtReader(reader, events);
    OTF2_Reader_CloseEvtFiles(reader);
    OTF2_Reader_Close(reader);
    for (size_t i = 0; i < MOST; i++)
        free(strings[i]);
    return 0;
}
