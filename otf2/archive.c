/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of the archive; see archive.h. Its events are in events.c. */
#include "otf2/archive_state.h"
#include "merge/threads.h"
#include "fvmpi.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- memory: each event buffer holds a few chunks, then it is written ---- */

#define CHUNKS      4
#define CHUNK_LEAST (256 << 10) /* OTF2's */
#define CHUNK_MOST  (1 << 20)   /* OTF2's default: a reader has two chunks of each location that it has open */

struct buffer {
    void *chunks[CHUNKS];
    unsigned used;
};

static void *take_chunk(void *data, OTF2_FileType type, OTF2_LocationRef location, void **own, uint64_t bytes)
{
    struct buffer *b = *own;

    (void)data, (void)location;
    if (!b && !(b = *own = calloc(1, sizeof(*b))))
        return NULL;
    if (b->used == CHUNKS && type == OTF2_FILETYPE_EVENTS)
        return NULL; /* it is written, and comes again */
    if (b->used == CHUNKS)
        return NULL;
    return b->chunks[b->used++] = malloc(bytes);
}

static void free_chunks(void *data, OTF2_FileType type, OTF2_LocationRef location, void **own, bool final)
{
    struct buffer *b = *own;

    (void)data, (void)type, (void)location;
    if (!b)
        return;
    while (b->used)
        free(b->chunks[--b->used]);
    if (final) {
        free(b);
        *own = NULL;
    }
}

static OTF2_FlushType always(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

/* ---- OTF2's collective operations, over the transport ---- */

struct OTF2_CollectiveContext {
    const struct fv_transport *transport; /* NULL: this process alone */
};

static size_t bytes_of(OTF2_Type type)
{
    switch (type) {
    case OTF2_TYPE_UINT8:
    case OTF2_TYPE_INT8: return 1;
    case OTF2_TYPE_UINT16:
    case OTF2_TYPE_INT16: return 2;
    case OTF2_TYPE_UINT32:
    case OTF2_TYPE_INT32:
    case OTF2_TYPE_FLOAT: return 4;
    default: return 8;
    }
}

static OTF2_CallbackCode coll_size(void *data, OTF2_CollectiveContext *c, uint32_t *size)
{
    (void)data;
    *size = (uint32_t)c->transport->size;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode coll_rank(void *data, OTF2_CollectiveContext *c, uint32_t *rank)
{
    (void)data;
    *rank = (uint32_t)c->transport->rank;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode coll_barrier(void *data, OTF2_CollectiveContext *c)
{
    (void)data;
    fv_transport_any(c->transport, false);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode coll_bcast(void *data, OTF2_CollectiveContext *c, void *buffer, uint32_t count, OTF2_Type type,
                                    uint32_t root)
{
    const struct fv_transport *t = c->transport;
    size_t bytes = count * bytes_of(type);

    (void)data;
    if ((uint32_t)t->rank != root)
        t->receive(t, (int)root, buffer, bytes);
    for (int i = 0; (uint32_t)t->rank == root && i < t->size; i++)
        if ((uint32_t)i != root)
            t->send(t, i, buffer, bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode coll_gatherv(void *data, OTF2_CollectiveContext *c, const void *in, uint32_t count, void *out,
                                      const uint32_t *counts, OTF2_Type type, uint32_t root)
{
    const struct fv_transport *t = c->transport;
    uint8_t *at = out;

    (void)data;
    if ((uint32_t)t->rank != root) {
        t->send(t, (int)root, in, count * bytes_of(type));
        return OTF2_CALLBACK_SUCCESS;
    }
    for (int i = 0; i < t->size; i++) {
        size_t bytes = (counts ? counts[i] : count) * bytes_of(type);

        if (i == t->rank)
            memcpy(at, in, bytes);
        else
            t->receive(t, i, at, bytes);
        at += bytes;
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode coll_gather(void *data, OTF2_CollectiveContext *c, const void *in, void *out, uint32_t count,
                                     OTF2_Type type, uint32_t root)
{
    return coll_gatherv(data, c, in, count, out, NULL, type, root);
}

static OTF2_CallbackCode coll_scatterv(void *data, OTF2_CollectiveContext *c, const void *in, const uint32_t *counts,
                                       void *out, uint32_t count, OTF2_Type type, uint32_t root)
{
    const struct fv_transport *t = c->transport;
    const uint8_t *at = in;

    (void)data;
    if ((uint32_t)t->rank != root) {
        t->receive(t, (int)root, out, count * bytes_of(type));
        return OTF2_CALLBACK_SUCCESS;
    }
    for (int i = 0; i < t->size; i++) {
        size_t bytes = (counts ? counts[i] : count) * bytes_of(type);

        if (i == t->rank)
            memcpy(out, at, bytes);
        else
            t->send(t, i, at, bytes);
        at += bytes;
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode coll_scatter(void *data, OTF2_CollectiveContext *c, const void *in, void *out, uint32_t count,
                                      OTF2_Type type, uint32_t root)
{
    return coll_scatterv(data, c, in, NULL, out, count, type, root);
}

/* Each process writes its own files: its local group is itself. */
static OTF2_CallbackCode coll_local(void *data, OTF2_CollectiveContext **local, OTF2_CollectiveContext *all,
                                    uint32_t rank, uint32_t size, uint32_t local_rank, uint32_t local_size,
                                    uint32_t file, uint32_t files)
{
    static OTF2_CollectiveContext alone = { &fv_transport_alone };

    (void)data, (void)all, (void)rank, (void)size, (void)local_rank, (void)local_size, (void)file, (void)files;
    *local = &alone;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode coll_free(void *data, OTF2_CollectiveContext *local)
{
    (void)data, (void)local;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CollectiveContext whole, self = { &fv_transport_alone };

static bool set_callbacks(struct fv_archive *a)
{
    static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = always };
    static const OTF2_MemoryCallbacks memory = { .otf2_allocate = take_chunk, .otf2_free_all = free_chunks };

    a->collectives = (OTF2_CollectiveCallbacks){ .otf2_get_size = coll_size,
                                                 .otf2_get_rank = coll_rank,
                                                 .otf2_create_local_comm = coll_local,
                                                 .otf2_free_local_comm = coll_free,
                                                 .otf2_barrier = coll_barrier,
                                                 .otf2_bcast = coll_bcast,
                                                 .otf2_gather = coll_gather,
                                                 .otf2_gatherv = coll_gatherv,
                                                 .otf2_scatter = coll_scatter,
                                                 .otf2_scatterv = coll_scatterv };
    whole.transport = a->transport;
    return fv_archive_check(a, OTF2_Archive_SetFlushCallbacks(a->otf2, &flush, NULL), "flushing") &&
           fv_archive_check(a, OTF2_Archive_SetMemoryCallbacks(a->otf2, &memory, NULL), "memory") &&
           fv_archive_check(a, OTF2_Archive_SetCollectiveCallbacks(a->otf2, &a->collectives, NULL, &whole, &self),
                            "processes");
}

/* ---- files ---- */

static char *path_of(const char *directory, const char *name)
{
    size_t bytes = strlen(directory) + strlen(name) + 2;
    char *path = fv_xcalloc(bytes, 1);

    snprintf(path, bytes, "%s/%s", directory, name);
    return path;
}

/* What an archive is made of. The anchor is last: without it the others are nothing that a viewer opens. */
enum { EVENTS, DEFINITIONS, MARKERS, ANCHOR, PARTS };
static const char *const parts[PARTS] = { "traces", "traces.def", "traces.marker", "traces.otf2" };

/* Of an archive: <number>.evt, .def, .snap. */
static bool is_ours(const char *name)
{
    size_t digits = strspn(name, "0123456789");

    return digits &&
           (!strcmp(name + digits, ".evt") || !strcmp(name + digits, ".def") || !strcmp(name + digits, ".snap"));
}

static bool holds_foreign(const char *events)
{
    DIR *dir = opendir(events);
    bool foreign = !dir;

    for (struct dirent *d; dir && (d = readdir(dir));)
        foreign = foreign || (!is_ours(d->d_name) && strcmp(d->d_name, ".") && strcmp(d->d_name, ".."));
    if (dir)
        closedir(dir);
    return foreign;
}

/* By their first bytes, not by OTF2: on a damaged anchor file the library may hang. The creator's name stands
 * near the beginning of the anchor. */
static bool is_foreign_file(const char *path, bool anchor)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    uint8_t bytes[256];
    ssize_t n = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : -1;

    if (fd >= 0)
        close(fd);
    if (n < 8 || bytes[0] != 3 || (bytes[1] != 'B' && bytes[1] != '#')) /* a buffer, and its byte order */
        return true;
    return anchor && (memcmp(bytes + 2, "OTF2", 4) != 0 || !memmem(bytes, (size_t)n, "fvmpi ", 6));
}

/* What fvunify did not write is not replaced. NULL: there is nothing of the kind. */
static const char *find_foreign(const char *directory)
{
    const char *found = NULL;

    for (unsigned i = 0; i < PARTS && !found; i++) {
        char *path = path_of(directory, parts[i]);
        struct stat st;

        if (!lstat(path, &st) &&
            (i == EVENTS ? !S_ISDIR(st.st_mode) || holds_foreign(path) : is_foreign_file(path, i == ANCHOR)))
            found = parts[i];
        free(path);
    }
    return found;
}

/* Removes an archive's files, and nothing else; true if none is left. */
static bool remove_archive(const char *directory)
{
    char *events = path_of(directory, parts[EVENTS]);
    DIR *dir;

    for (unsigned i = PARTS; --i > EVENTS;) {
        char *path = path_of(directory, parts[i]);

        unlink(path);
        free(path);
    }
    dir = opendir(events);
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (is_ours(d->d_name))
            unlinkat(dirfd(dir), d->d_name, 0);
    if (dir)
        closedir(dir);
    bool gone = !rmdir(events) || errno == ENOENT;
    free(events);
    return gone;
}

/* ---- the new archive in the old one's place ---- */

static bool has_part(const char *directory, unsigned part)
{
    char *path = path_of(directory, parts[part]);
    struct stat st;
    bool there = !lstat(path, &st);

    free(path);
    return there;
}

static bool move_part(const char *from, const char *to, unsigned part)
{
    char *old = path_of(from, parts[part]), *new = path_of(to, parts[part]);
    bool good = !rename(old, new);

    free(old);
    free(new);
    return good;
}

static bool swap(const struct fv_archive *a)
{
    bool good = !mkdir(a->old, 0777);

    for (unsigned i = PARTS; i-- && good;)
        good = move_part(a->final, a->old, i) || errno == ENOENT;
    for (unsigned i = 0; i < PARTS && good; i++)
        good = move_part(a->work, a->final, i);
    return good;
}

/* Of a swap that stopped anywhere before its last step: the new parts go back, the old ones to their place.
 */
static void undo_swap(const struct fv_archive *a)
{
    for (unsigned i = 0; i < PARTS; i++) {
        if (!has_part(a->work, i))
            move_part(a->final, a->work, i);
        if (has_part(a->old, i))
            move_part(a->old, a->final, i);
    }
    rmdir(a->old);
}

/* A swap in which fvunify was killed. Its last step takes the new anchor away from the working directory. */
static void end_swap(const struct fv_archive *a)
{
    struct stat st;

    if (lstat(a->old, &st))
        return;
    if (has_part(a->work, ANCHOR))
        undo_swap(a);
    remove_archive(a->old);
    rmdir(a->old);
}

static bool take_place(struct fv_archive *a)
{
    const char *foreign = find_foreign(a->final);

    if (foreign) {
        fv_log("%s/%s: not written by fvunify; the new archive is left in %s", a->final, foreign, a->work);
        return false;
    }
    if (!swap(a)) {
        int error = errno;

        undo_swap(a);
        fv_log("%s: the new archive cannot be moved here (%s); it is left in %s", a->final, strerror(error), a->work);
        return false;
    }
    remove_archive(a->old);
    rmdir(a->old);
    rmdir(a->work);
    return true;
}

static bool make_directory(const char *path)
{
    if (!mkdir(path, 0777) || errno == EEXIST)
        return true;
    fv_log("%s: %s; name a directory that can be written to with -o", path, strerror(errno));
    return false;
}

/* What stands in it is removed and written: not where somebody else led it, or could lead us from it. */
static bool make_work(struct fv_archive *a)
{
    struct stat st;

    if (!make_directory(a->work))
        return false;
    if (!lstat(a->work, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
        return true;
    fv_log("%s: a link, a file, or owned by another user; remove it, or name another directory with -o", a->work);
    return false;
}

static bool make_directories(struct fv_archive *a)
{
    if (!make_work(a))
        return false;
    end_swap(a);
    remove_archive(a->work); /* of a merge that was interrupted */
    const char *foreign = find_foreign(a->final);
    if (foreign) {
        fv_log("%s/%s: not written by fvunify; move it away, or name another directory with -o", a->final, foreign);
        rmdir(a->work);
    }
    return !foreign;
}

static void free_archive(struct fv_archive *a)
{
    free(a->final);
    free(a->work);
    free(a->old);
    free(a);
}

/* A definition, such as a group of so many members, must fit into one; but each location has one, and OTF2
 * clears all of it. */
static uint64_t definition_chunk(uint64_t members)
{
    uint64_t bytes = fv_round_up(members * 16 + 1, 1 << 20);

    return bytes < 16 << 20 ? bytes : 16 << 20; /* OTF2's most */
}

#define ZLIB 2 /* OTF2_COMPRESSION_ZLIB, whose name OTF2 3.0 deprecates, as it cannot do it any more */

static OTF2_Archive *open_otf2(const struct fv_archive *a, uint64_t members, OTF2_Compression compression)
{
    errno = 0;
    return OTF2_Archive_Open(a->work, "traces", OTF2_FILEMODE_WRITE, a->chunk_bytes, definition_chunk(members),
                             OTF2_SUBSTRATE_POSIX, compression);
}

struct fv_archive *fv_archive_open(const char *directory, const struct fv_transport *transport, uint64_t buffer_bytes,
                                   uint64_t members, bool compress)
{
    struct fv_archive *a = fv_xcalloc(1, sizeof(*a));
    uint64_t chunk = buffer_bytes / CHUNKS;

    a->transport = transport;
    a->final = path_of(directory, "");
    a->final[strlen(directory)] = '\0';
    a->work = path_of(directory, ".traces-unfinished");
    a->old = path_of(a->work, "old");
    a->chunk_bytes = chunk < CHUNK_LEAST ? CHUNK_LEAST : chunk > CHUNK_MOST ? CHUNK_MOST : chunk;
    fv_archive_note_errors();
    if (fv_transport_any(transport, !transport->rank && !make_directories(a))) {
        free_archive(a);
        return NULL;
    }
    a->otf2 = open_otf2(a, members, compress ? ZLIB : OTF2_COMPRESSION_NONE);
    if (!a->otf2 && compress) { /* likewise in all processes */
        fv_archive_forget_errors();
        a->otf2 = open_otf2(a, members, OTF2_COMPRESSION_NONE);
        if (a->otf2 && !transport->rank)
            fv_log("--compress: OTF2 %d.%d cannot compress, so the archive is as without; versions before 3.0 may, and "
                   "tar -czf packs an archive to store it",
                   OTF2_VERSION_MAJOR, OTF2_VERSION_MINOR);
    }
    bool good = a->otf2 || fv_archive_check(a, OTF2_ERROR_PROCESSED_WITH_FAULTS, "open");
    good = good && set_callbacks(a);
    if (fv_transport_any(transport, !good)) {
        fv_archive_close(a, false, false);
        return NULL;
    }
    a->attributes = OTF2_AttributeList_New();
    return a;
}

bool fv_archive_begin_events(struct fv_archive *a, const struct fv_archive_names *names)
{
    a->defs = names->defs;
    a->locks = names->locks;
    a->context_of_node = names->context_of_node;
    a->function_of_node = names->function_of_node;
    a->samples = names->samples;
    a->in_contexts = names->calling;
    fv_calling_init(&a->calling, names->calling, names->calling_count);
    fv_generators_init(a);
    fv_event_strings_init(a);
    return fv_archive_check(a, OTF2_Archive_OpenEvtFiles(a->otf2), "event files");
}

bool fv_archive_end_events(struct fv_archive *a)
{
    return fv_archive_check(a, OTF2_Archive_CloseEvtFiles(a->otf2), "event files") && fv_archive_check_untold(a);
}

/* From a location's own numbers of calling contexts to those of all. */
static OTF2_ErrorCode write_mapping(struct fv_archive *a, OTF2_DefWriter *w, const struct fv_calling_location *l)
{
    if (!l->count)
        return OTF2_SUCCESS;
    OTF2_IdMap *map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, l->count);
    if (!map)
        return OTF2_ERROR_MEM_ALLOC_FAILED;
    for (size_t i = 0; i < l->count; i++)
        OTF2_IdMap_AddIdPair(map, a->calling.base_count + i, l->global[i]);
    OTF2_ErrorCode code = OTF2_DefWriter_WriteMappingTable(w, OTF2_MAPPING_CALLING_CONTEXT, map);
    OTF2_IdMap_Free(map);
    return code;
}

static void write_local(struct fv_archive *a, const uint64_t *own, size_t count)
{
    for (size_t i = 0; i < count && !a->failed; i++) {
        errno = 0;
        OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(a->otf2, own[i]);

        if (!w) {
            fv_archive_check(a, OTF2_ERROR_PROCESSED_WITH_FAULTS, "a definition file");
            continue;
        }
        if (a->in_contexts) /* the locations were opened in this order */
            fv_archive_check(a, write_mapping(a, w, &a->calling.locations[i]), "a definition file");
        fv_archive_check(a, OTF2_Archive_CloseDefWriter(a->otf2, w), "a definition file");
    }
}

/* Was every rank recorded from its start to its end, and is every communicator known to all? Then every
 * message has both its sides. */
static bool is_complete(const struct fv_defs *d, const struct fv_archive_location *locations, size_t count)
{
    bool complete = d->rank_count == d->world_size;

    for (size_t i = 0; i < count; i++)
        complete = complete && !locations[i].gaps && !locations[i].given_up;
    for (size_t i = 0; i < d->comm_count; i++)
        complete = complete && (d->comms[i].owner == FV_NOBODY || d->comms[i].size + d->comms[i].remote_size < 2);

    for (size_t i = 0; i < d->rank_count; i++) {
        const struct fv_def_rank *r = &d->ranks[i];

        complete = complete && r->traced && r->state == FV_STATE_FINALIZED && !r->dropped && !r->stop_ticks;
    }
    return complete;
}

/* Is every acquisition of a lock in the trace? */
static bool are_locks_complete(const struct fv_defs *d, const struct fv_archive_location *locations, size_t count)
{
    bool complete = d->rank_count == d->world_size;

    for (size_t i = 0; i < count; i++)
        complete = complete && !locations[i].gaps;
    for (size_t i = 0; i < d->rank_count; i++) {
        const struct fv_def_rank *r = &d->ranks[i];

        complete =
            complete && fv_state_is_end(r->state) && r->thread_objects && !r->dropped_of_threads && !r->stop_ticks;
    }
    return complete;
}

/* There is a file of them in any archive, so that all its parts are always there. */
static bool begin_markers(struct fv_archive *a)
{
    errno = 0;
    a->markers = OTF2_Archive_GetMarkerWriter(a->otf2);
    return a->markers
               ? fv_archive_check(a,
                                  OTF2_MarkerWriter_WriteDefMarker(a->markers, 0, "fvmpi", "label", OTF2_SEVERITY_NONE),
                                  "markers")
               : fv_archive_check(a, OTF2_ERROR_PROCESSED_WITH_FAULTS, "markers");
}

bool fv_archive_definitions(struct fv_archive *a, const uint64_t *own, size_t own_count,
                            const struct fv_archive_location *locations, size_t location_count,
                            const struct fv_archive_times *times, const struct fv_contexts *contexts)
{
    bool good = fv_archive_check(a, OTF2_Archive_OpenDefFiles(a->otf2), "definition files");

    if (a->in_contexts)
        fv_calling_unify(&a->calling, a->transport);
    write_local(a, own, own_count);
    good = fv_archive_check(a, OTF2_Archive_CloseDefFiles(a->otf2), "definition files") && good && !a->failed;
    if (!locations || !good)
        return good;
    OTF2_Archive_SetCreator(a->otf2, "fvmpi " FVMPI_VERSION);
    OTF2_Archive_SetDescription(a->otf2, "MPI calls recorded by fvmpi, merged by fvunify");
    OTF2_Archive_SetBoolProperty(a->otf2, "OTF2::MPI_COMMUNICATION_COMPLETE",
                                 is_complete(a->defs, locations, location_count), true);
    if (fv_defs_has_threads(a->defs))
        OTF2_Archive_SetBoolProperty(a->otf2, "OTF2::THREAD_LOCK_EVENT_COMPLETE",
                                     are_locks_complete(a->defs, locations, location_count), true);
    errno = 0;
    OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(a->otf2);
    if (!w)
        return fv_archive_check(a, OTF2_ERROR_PROCESSED_WITH_FAULTS, "definitions");
    good = fv_definitions_write(a, w, locations, location_count, times, contexts) && begin_markers(a);
    return fv_archive_check(a, OTF2_Archive_CloseGlobalDefWriter(a->otf2, w), "definitions") && good;
}

bool fv_archive_label(struct fv_archive *a, uint64_t time_ns, uint64_t location, const char *text, size_t length)
{
    char copy[FV_LABEL_MOST + 1];

    snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
    errno = 0;
    return fv_archive_check(
        a, OTF2_MarkerWriter_WriteMarker(a->markers, time_ns, 0, 0, OTF2_MARKER_SCOPE_LOCATION, location, copy),
        "markers");
}

bool fv_archive_close(struct fv_archive *a, bool good, bool keep)
{
    const struct fv_transport *t = a->transport;

    errno = 0;
    if (a->attributes)
        OTF2_AttributeList_Delete(a->attributes);
    if (a->markers)
        good = fv_archive_check(a, OTF2_Archive_CloseMarkerWriter(a->otf2, a->markers), "markers") && good;
    errno = 0;
    if (a->otf2)
        good = fv_archive_check(a, OTF2_Archive_Close(a->otf2), "close") && fv_archive_check_untold(a) && good;
    good = !fv_transport_any(t, !good);
    if (!t->rank && good)
        good = take_place(a);
    else if (!t->rank && !keep && remove_archive(a->work))
        rmdir(a->work);
    else if (!t->rank)
        fv_log("%s: the unfinished archive is kept here", a->work);
    good = !fv_transport_any(t, !good);
    fv_event_strings_release(a);
    fv_strings_release(&a->strings);
    fv_calling_release(&a->calling);
    free(a->generators);
    free(a->writers);
    free_archive(a);
    return good;
}
