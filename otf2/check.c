/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens an archive, reads it in order, and lets the parts look at each record. */
#include "otf2/check_state.h"
#include "otf2/open.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void unreadable(struct fv_check *c, const char *what)
{
    fv_fault(c, FV_UNREADABLE, "%s cannot be read%s%s", what, *c->library_error ? ": " : "", c->library_error);
    *c->library_error = 0;
}

static void of_archive(struct fv_check *c)
{
    c->where = (struct fv_fault_place){ .scope = FV_OF_ARCHIVE, .location = FV_NONE };
}

static void of_location(struct fv_check *c)
{
    c->where = (struct fv_fault_place){ .scope = FV_OF_LOCATION, .location = c->here.location };
}

static bool property_is(struct fv_check *c, const char *name, bool value)
{
    bool is;

    return OTF2_Reader_GetBoolProperty(c->reader, name, &is) == OTF2_SUCCESS && is == value;
}

/* ---- definitions ---- */

static int read_definitions(struct fv_check *c)
{
    OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(c->reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = fv_check_definition_callbacks();
    uint64_t read = 0, promised = 0;
    int err = 0;

    if (!reader) {
        of_archive(c);
        unreadable(c, "the file of global definitions");
        err = -FV_EFORMAT;
    } else {
        OTF2_Reader_RegisterGlobalDefCallbacks(c->reader, reader, callbacks, c);
        err = OTF2_Reader_ReadAllGlobalDefinitions(c->reader, reader, &read) == OTF2_SUCCESS ? 0 : -FV_EFORMAT;
        of_archive(c);
        if (err)
            unreadable(c, "a global definition");
        else if (OTF2_Reader_GetNumberOfGlobalDefinitions(c->reader, &promised) == OTF2_SUCCESS && promised != read)
            fv_fault(c, FV_DEFINITION_COUNT, "%" PRIu64 " global definitions, but the anchor file says %" PRIu64, read,
                     promised);
        OTF2_Reader_CloseGlobalDefReader(c->reader, reader);
    }
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    if (!err)
        fv_check_definitions_end(c);
    return err;
}

static void check_location_count(struct fv_check *c)
{
    uint64_t promised = 0, defined = c->definitions[FV_DEF_LOCATION].count;

    of_archive(c);
    c->result.locations = defined;
    if (OTF2_Reader_GetNumberOfLocations(c->reader, &promised) == OTF2_SUCCESS && promised != defined)
        fv_fault(c, FV_LOCATION_COUNT, "%" PRIu64 " locations are defined, but the anchor file says %" PRIu64, defined,
                 promised);
}

/* ---- a location ---- */

static void read_local(struct fv_check *c, uint64_t id, const OTF2_DefReaderCallbacks *callbacks)
{
    OTF2_DefReader *reader = OTF2_Reader_GetDefReader(c->reader, id);
    uint64_t read;

    c->mapping_seen = 0;
    if (!reader) {
        *c->library_error = 0;
        of_location(c);
        fv_fault(c, FV_LOCAL_MISSING, "its file of local definitions is missing");
        return;
    }
    OTF2_Reader_RegisterDefCallbacks(c->reader, reader, callbacks, c);
    if (OTF2_Reader_ReadAllLocalDefinitions(c->reader, reader, &read) != OTF2_SUCCESS) {
        of_location(c);
        unreadable(c, "a local definition");
    }
    OTF2_Reader_CloseDefReader(c->reader, reader);
}

enum { PIECE = 1 << 16, LEAST_BYTES = 2 /* of an event */ };

/* Its file of events, where it has one of its own. */
static bool stat_events(const struct fv_check *c, uint64_t id, struct stat *out)
{
    const char *anchor = c->faults.archive;
    int base = (int)strlen(anchor) - (int)strlen(".otf2");
    char path[PATH_MAX];

    return base > 0 && snprintf(path, sizeof(path), "%.*s/%" PRIu64 ".evt", base, anchor, id) < PATH_MAX &&
           !stat(path, out);
}

/* Some damaged files send the library (3.0.2) back to where it was: more comes than they have room for. */
static bool is_endless(const struct fv_check *c, uint64_t id, uint64_t read, uint64_t promised)
{
    struct stat st;

    if (!stat_events(c, id, &st))
        return read > promised;
    return read > (uint64_t)st.st_size / LEAST_BYTES ||
           (read > promised && read > (uint64_t)st.st_blocks * 512 / LEAST_BYTES); /* it may be full of holes */
}

/* If not to its end, that has been said. */
static void read_pieces(struct fv_check *c, OTF2_EvtReader *reader, uint64_t id, uint64_t promised)
{
    uint64_t read = 0, piece = PIECE;

    while (piece == PIECE) {
        bool good = OTF2_Reader_ReadLocalEvents(c->reader, reader, PIECE, &piece) == OTF2_SUCCESS;

        read += piece;
        if (good && !is_endless(c, id, read, promised))
            continue;
        of_location(c);
        if (good)
            fv_fault(c, FV_UNREADABLE,
                     "its file of events has no end: %" PRIu64 " events were read of a file that is too short "
                     "for them; it is damaged",
                     read);
        else
            unreadable(c, "an event");
        return;
    }
}

static void read_events(struct fv_check *c, uint64_t id, const OTF2_EvtReaderCallbacks *callbacks)
{
    uint64_t promised = fv_def_at(c, FV_DEF_LOCATION, c->here.location)->u.location.events;
    OTF2_EvtReader *reader = OTF2_Reader_GetEvtReader(c->reader, id);

    if (!reader) {
        of_location(c);
        if (promised)
            fv_fault(c, FV_EVENTS_MISSING, "its file of events is missing, which should hold %" PRIu64, promised);
        *c->library_error = 0;
        c->any_empty = true;
        return;
    }
    OTF2_EvtReader_ApplyMappingTables(reader, true);
    OTF2_EvtReader_ApplyClockOffsets(reader, true);
    OTF2_Reader_RegisterEvtCallbacks(c->reader, reader, callbacks, c);
    read_pieces(c, reader, id, promised);
    OTF2_Reader_CloseEvtReader(c->reader, reader);
    c->result.events += c->here.events;
    fv_check_location_end(c);
    of_location(c);
    c->any_empty = c->any_empty || !c->here.events; /* a rank that was not recorded */
    if (c->here.events != promised)
        fv_fault(c, FV_EVENT_COUNT, "it has %" PRIu64 " events, but its definition says %" PRIu64, c->here.events,
                 promised);
}

static void read_locations(struct fv_check *c)
{
    const struct fv_definitions *d = &c->definitions[FV_DEF_LOCATION];
    OTF2_EvtReaderCallbacks *events = OTF2_EvtReaderCallbacks_New();
    OTF2_DefReaderCallbacks *local = fv_check_local_callbacks();
    bool definitions, any;

    fv_check_register_flow(events);
    fv_check_register_mpi(events);
    fv_check_register_rma(events);
    fv_check_register_threads(events);
    fv_check_register_io(events);
    for (size_t i = 0; i < d->count; i++)
        OTF2_Reader_SelectLocation(c->reader, d->ids[i]);
    definitions = OTF2_Reader_OpenDefFiles(c->reader) == OTF2_SUCCESS;
    any = OTF2_Reader_OpenEvtFiles(c->reader) == OTF2_SUCCESS;
    *c->library_error = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        fv_check_location_begin(c, i);
        if (definitions) {
            read_local(c, d->ids[i], local);
        } else {
            of_location(c);
            fv_fault(c, FV_LOCAL_MISSING, "its file of local definitions is missing");
        }
        fv_check_location_begin(c, i);
        if (any)
            read_events(c, d->ids[i], events);
    }
    if (definitions)
        OTF2_Reader_CloseDefFiles(c->reader);
    if (any)
        OTF2_Reader_CloseEvtFiles(c->reader);
    OTF2_EvtReaderCallbacks_Delete(events);
    OTF2_DefReaderCallbacks_Delete(local);
}

/* ---- the archive ---- */

static int open_archive(struct fv_check *c, const char *path)
{
    struct stat status;

    if (stat(path, &status))
        status.st_mode = 0;
    c->reader = fv_otf2_open(path, c->library_error);
    if (!c->reader)
        return status.st_mode == 0 ? -FV_ENOENT : S_ISDIR(status.st_mode) ? -FV_EINVAL : -FV_EFORMAT;
    c->communication_incomplete = property_is(c, "OTF2::MPI_COMMUNICATION_COMPLETE", false);
    c->locks_complete = property_is(c, "OTF2::THREAD_LOCK_EVENT_COMPLETE", true);
    *c->library_error = 0;
    return 0;
}

static void release(struct fv_check *c)
{
    size_t sequences = c->definitions[FV_DEF_COMM].count + c->definitions[FV_DEF_RMA_WIN].count;

    for (size_t i = 0; c->sequences && i < sequences; i++)
        free(c->sequences[i].items);
    for (unsigned i = 0; i < 256; i++) {
        free(c->world_by_location[i]);
        free(c->world_by_group[i]);
    }
    for (unsigned i = 0; i < FV_DEF_COUNT; i++) {
        fv_index_release(&c->definitions[i].index);
        free(c->definitions[i].ids);
        free(c->definitions[i].items);
    }
    fv_index_release(&c->message_index);
    fv_index_release(&c->link_index);
    fv_index_release(&c->lock_index);
    fv_check_map_release(&c->here.active);
    void *arrays[] = { c->pending,  c->comms, c->sequences,  c->touched,    c->parts,
                       c->messages, c->loose, c->links,      c->locks,      c->handles,
                       c->windows,  c,        c->here.stack, c->here.teams, c->programs };
    fv_arena_release(&c->arena);
    for (unsigned i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
        free(arrays[i]);
}

int fv_check_archive(const char *path, const struct fv_check_options *options, struct fv_check_result *out)
{
    struct fv_check *c = fv_xcalloc(1, sizeof(*c));
    int err;

    fv_otf2_catch(c->library_error, sizeof(c->library_error));
    c->faults.archive = path;
    c->faults.options = options;
    err = open_archive(c, path);
    if (!err) {
        if (options->json)
            fv_json_array(options->json, "faults");
        if (!read_definitions(c)) {
            check_location_count(c);
            read_locations(c);
            fv_check_matches(c);
        }
        fv_faults_end(c);
        *out = c->result;
        OTF2_Reader_Close(c->reader);
    }
    fv_otf2_catch(NULL, 0);
    release(c);
    return err;
}
