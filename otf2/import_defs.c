/* SPDX-License-Identifier: BSD-3-Clause */
/* See import_state.h: global and local definitions, as the archive has them. */
#include "otf2/import_state.h"
#include "otf2/states.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE        4096 /* definitions that are read at once */
#define LEAST_BYTES  2    /* of one */
#define DIRECT_LEAST 4096 /* references up to so many, or twice the rows, are looked up in an array */

static const size_t row_bytes[FV_IMPORT_KINDS] = {
    [FV_IMPORT_STRING] = sizeof(struct fv_import_string),
    [FV_IMPORT_REGION] = sizeof(struct fv_import_region),
    [FV_IMPORT_LOCATION] = sizeof(struct fv_import_location),
    [FV_IMPORT_PROCESS] = sizeof(struct fv_import_process),
    [FV_IMPORT_NODE] = sizeof(struct fv_import_node),
    [FV_IMPORT_GROUP] = sizeof(struct fv_import_group),
    [FV_IMPORT_COMM] = sizeof(struct fv_import_comm),
    [FV_IMPORT_WINDOW] = sizeof(struct fv_import_window),
    [FV_IMPORT_FILE] = sizeof(struct fv_import_file),
    [FV_IMPORT_HANDLE] = sizeof(struct fv_import_handle),
    [FV_IMPORT_IO_PARADIGM] = sizeof(struct fv_import_io_paradigm),
    [FV_IMPORT_CONTEXT] = sizeof(struct fv_import_context),
    [FV_IMPORT_PLACE] = sizeof(struct fv_import_place),
    [FV_IMPORT_ATTRIBUTE] = sizeof(struct fv_import_attribute),
    [FV_IMPORT_METRIC] = sizeof(struct fv_import_metric),
    [FV_IMPORT_MEMBER] = sizeof(struct fv_import_metric_member),
    [FV_IMPORT_GENERATOR] = sizeof(struct fv_import_generator),
    [FV_IMPORT_DIMENSION] = sizeof(struct fv_grid_dimension),
    [FV_IMPORT_GRID] = sizeof(struct fv_import_grid),
    [FV_IMPORT_LOCK] = sizeof(struct fv_import_lock_name),
};

/* ---- tables ---- */

uint32_t fv_import_number(const struct fv_import *import, enum fv_import_kind kind, uint64_t ref)
{
    const struct fv_import_table *t = &import->tables[kind];

    if (FV_LIKELY(ref < t->direct_count))
        return t->direct[ref];
    struct fv_index_probe p = fv_index_probe(&t->index, fv_mix(ref));
    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (t->refs[i] == ref)
            return i;
    return FV_NONE;
}

void *fv_import_row(struct fv_import *import, enum fv_import_kind kind, uint64_t ref)
{
    struct fv_import_table *t = &import->tables[kind];
    uint32_t number = fv_import_number(import, kind, ref);

    t->bytes = row_bytes[kind];
    if (number == FV_NONE) {
        number = (uint32_t)t->count;
        FV_GROW(t->refs, t->ref_room, t->count + 1);
        t->rows = fv_grow(t->rows, &t->room, t->count + 1, t->bytes);
        t->refs[t->count++] = ref;
        fv_index_add(&t->index, fv_mix(ref), number);
    }
    return memset(t->rows + number * t->bytes, 0, t->bytes);
}

/* Once all are there. */
static void make_direct(struct fv_import_table *t)
{
    uint64_t last = 0;

    for (size_t i = 0; i < t->count; i++)
        last = t->refs[i] > last ? t->refs[i] : last;
    if (!t->count || (last >= DIRECT_LEAST && last >= 2 * t->count))
        return;
    t->direct = fv_xcalloc(last + 1, sizeof(*t->direct));
    memset(t->direct, 0xff, (last + 1) * sizeof(*t->direct));
    for (size_t i = 0; i < t->count; i++)
        t->direct[t->refs[i]] = (uint32_t)i;
    t->direct_count = last + 1;
}

const char *fv_import_text(const struct fv_import *import, uint32_t string)
{
    const struct fv_import_string *s = fv_import_get(import, FV_IMPORT_STRING, string);

    return s ? s->text : "";
}

void fv_import_release_definitions(struct fv_import *import)
{
    for (unsigned i = 0; i < FV_IMPORT_KINDS; i++) {
        fv_index_release(&import->tables[i].index);
        free(import->tables[i].refs);
        free(import->tables[i].rows);
        free(import->tables[i].direct);
    }
    fv_arena_release(&import->arena);
}

/* ---- what the library reads ---- */

#define LATEST_REALTIME (UINT64_C(1) << 62) /* ns: the year 2116 */

static OTF2_CallbackCode on_clock(void *data, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t realtime)
{
    struct fv_import *import = data;

    import->resolution = resolution;
    import->offset = offset;
    import->length = length;
    import->realtime = realtime > LATEST_REALTIME ? 0 : realtime; /* not known */
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *data, OTF2_StringRef self, const char *text)
{
    struct fv_import *import = data;
    struct fv_import_string *s = fv_import_row(import, FV_IMPORT_STRING, self);

    s->text = fv_arena_string(&import->arena, text ? text : "");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
                                   OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin, uint32_t end)
{
    (void)canonical, (void)description, (void)flags, (void)end;
    *(struct fv_import_region *)fv_import_row(data, FV_IMPORT_REGION, self) =
        (struct fv_import_region){ .name = name,
                                   .file = file,
                                   .line = begin,
                                   .role = role,
                                   .paradigm = paradigm,
                                   .function = FV_NONE,
                                   .library = FV_NONE,
                                   .threads = FV_NONE,
                                   .module = FV_MODEL_NO_MODULE };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_node(void *data, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef class,
                                 OTF2_SystemTreeNodeRef parent)
{
    *(struct fv_import_node *)fv_import_row(data, FV_IMPORT_NODE, self) =
        (struct fv_import_node){ name, class, parent };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process(void *data, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node,
                                    OTF2_LocationGroupRef creator)
{
    *(struct fv_import_process *)fv_import_row(data, FV_IMPORT_PROCESS, self) =
        (struct fv_import_process){ .name = name,
                                    .node = node,
                                    .creator = creator,
                                    .type = type,
                                    .pid = FV_NONE,
                                    .mpi = FV_NONE,
                                    .thread_level = FV_NONE,
                                    .rank = FV_NONE };
    return OTF2_CALLBACK_SUCCESS;
}

/* "fvmpi::LOCK::7": "mutex queue" */
static void name_lock(struct fv_import *import, uint32_t process, const char *key, uint32_t text)
{
    static const char before[] = "fvmpi::LOCK::";
    char *end = NULL;
    unsigned long lock =
        strncmp(key, before, sizeof(before) - 1) ? ULONG_MAX : strtoul(key + sizeof(before) - 1, &end, 10);

    if (end && !*end && lock < FV_NONE)
        ((struct fv_import_lock_name *)fv_import_row(import, FV_IMPORT_LOCK,
                                                     fv_import_lock_ref(process, (uint32_t)lock)))
            ->text = text;
}

static OTF2_CallbackCode on_process_property(void *data, OTF2_LocationGroupRef process, OTF2_StringRef name,
                                             OTF2_Type type, OTF2_AttributeValue value)
{
    struct fv_import *import = data;
    struct fv_import_process *p = fv_import_get(import, FV_IMPORT_PROCESS, process);

    if (!p || type != OTF2_TYPE_STRING)
        return OTF2_CALLBACK_SUCCESS;
    const char *key = fv_import_text(import, name);
    name_lock(import, process, key, value.stringRef);
    if (!strcmp(key, FV_ARCHIVE_PID))
        p->pid = value.stringRef;
    if (!strcmp(key, FV_ARCHIVE_MPI))
        p->mpi = value.stringRef;
    if (!strcmp(key, FV_ARCHIVE_THREAD_LEVEL))
        p->thread_level = value.stringRef;
    if (strcmp(key, FV_ARCHIVE_STATE) != 0)
        return OTF2_CALLBACK_SUCCESS;
    const char *said = fv_import_text(import, value.stringRef);
    p->state = fv_archive_state_of(said);
    p->is_missing = !strcmp(said, FV_ARCHIVE_MISSING);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                                     uint64_t events, OTF2_LocationGroupRef process)
{
    *(struct fv_import_location *)fv_import_row(data, FV_IMPORT_LOCATION, self) = (struct fv_import_location){
        .events = events, .name = name, .type = type, .process = process, .rank = FV_NONE, .slot = FV_NONE
    };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *data, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count, const uint64_t *members)
{
    struct fv_import *import = data;
    uint64_t *copy = fv_arena_take(&import->arena, ((size_t)count + 1) * sizeof(*copy));

    (void)flags;
    if (count)
        memcpy(copy, members, count * sizeof(*copy));
    *(struct fv_import_group *)fv_import_row(import, FV_IMPORT_GROUP, fv_import_group_ref(self, type)) =
        (struct fv_import_group){ type, paradigm, count, copy, FV_NONE, name };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                 OTF2_CommRef parent, OTF2_CommFlag flags)
{
    (void)flags;
    *(struct fv_import_comm *)fv_import_row(data, FV_IMPORT_COMM, self) =
        (struct fv_import_comm){ .name = name, .group = group, .parent = parent, .number = FV_NONE };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_inter_comm(void *data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                       OTF2_GroupRef other_group, OTF2_CommRef common, OTF2_CommFlag flags)
{
    (void)flags;
    *(struct fv_import_comm *)fv_import_row(data, FV_IMPORT_COMM, self) = (struct fv_import_comm){
        .name = name, .group = group, .other_group = other_group, .parent = common, .number = FV_NONE, .is_inter = true
    };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_window(void *data, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm,
                                   OTF2_RmaWinFlag flags)
{
    (void)flags;
    *(struct fv_import_window *)fv_import_row(data, FV_IMPORT_WINDOW, self) =
        (struct fv_import_window){ name, comm, FV_NONE };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_place(void *data, OTF2_SourceCodeLocationRef self, OTF2_StringRef file, uint32_t line)
{
    *(struct fv_import_place *)fv_import_row(data, FV_IMPORT_PLACE, self) = (struct fv_import_place){ file, line };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_context(void *data, OTF2_CallingContextRef self, OTF2_RegionRef region,
                                    OTF2_SourceCodeLocationRef place, OTF2_CallingContextRef parent)
{
    *(struct fv_import_context *)fv_import_row(data, FV_IMPORT_CONTEXT, self) =
        (struct fv_import_context){ .region = region, .place = place, .parent = parent };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_attribute(void *data, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    (void)description, (void)type;
    ((struct fv_import_attribute *)fv_import_row(data, FV_IMPORT_ATTRIBUTE, self))->name = name;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_GlobalDefReaderCallbacks *new_callbacks(void)
{
    OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();

    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_string);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, on_node);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, on_process);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(c, on_process_property);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, on_inter_comm);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, on_window);
    OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(c, on_place);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(c, on_context);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(c, on_attribute);
    return c;
}

/* No more than there is room for: some damaged files send the library (3.0.2) back to where it was. */
static bool read_all(struct fv_import *import, OTF2_GlobalDefReader *reader)
{
    uint64_t read = PIECE, all = 0, most = UINT64_MAX;
    char path[PATH_MAX];
    struct stat status;

    snprintf(path, sizeof(path), "%.*s.def", (int)(strlen(import->anchor) - strlen(".otf2")), import->anchor);
    if (!stat(path, &status))
        most = (uint64_t)status.st_size / LEAST_BYTES;
    while (read == PIECE && all <= most) {
        if (OTF2_Reader_ReadGlobalDefinitions(import->reader, reader, PIECE, &read) != OTF2_SUCCESS)
            return false;
        all += read;
    }
    return all <= most;
}

bool fv_import_read_definitions(struct fv_import *import, void (*further)(OTF2_GlobalDefReaderCallbacks *callbacks))
{
    OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(import->reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = new_callbacks();
    bool good = reader != NULL;

    further(callbacks);
    if (good) {
        OTF2_Reader_RegisterGlobalDefCallbacks(import->reader, reader, callbacks, import);
        good = read_all(import, reader);
        OTF2_Reader_CloseGlobalDefReader(import->reader, reader);
    }
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    for (unsigned i = 0; i < FV_IMPORT_KINDS; i++)
        make_direct(&import->tables[i]);
    return good;
}
