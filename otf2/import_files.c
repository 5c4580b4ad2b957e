/* SPDX-License-Identifier: BSD-3-Clause */
/* See import_state.h: files. A region of a function for files and the operation in it are one call. Where an archive
 * has an operation outside of such a region and of MPI, a call is put around it. */
#include "otf2/files.h"
#include "merge/defs_add.h"
#include "otf2/import_state.h"
#include "trace/io_words.h"

#include <string.h>

/* ---- definitions ---- */

static OTF2_CallbackCode define(void *data, OTF2_IoFileRef self, OTF2_StringRef name, enum fv_io_kind kind)
{
    *(struct fv_import_file *)fv_import_row(data, FV_IMPORT_FILE, self) =
        (struct fv_import_file){ .name = name, .kind = kind, .filesystem = FV_NONE };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_file(void *data, OTF2_IoFileRef self, OTF2_StringRef name, OTF2_SystemTreeNodeRef scope)
{
    (void)scope;
    return define(data, self, name, FV_IO_KIND_REGULAR);
}

static OTF2_CallbackCode on_directory(void *data, OTF2_IoFileRef self, OTF2_StringRef name,
                                      OTF2_SystemTreeNodeRef scope)
{
    (void)scope;
    return define(data, self, name, FV_IO_KIND_DIRECTORY);
}

static OTF2_CallbackCode on_file_property(void *data, OTF2_IoFileRef file, OTF2_StringRef name, OTF2_Type type,
                                          OTF2_AttributeValue value)
{
    struct fv_import *import = data;
    struct fv_import_file *f = fv_import_get(import, FV_IMPORT_FILE, file);
    const char *what = fv_import_text(import, name);

    if (!f || type != OTF2_TYPE_STRING)
        return OTF2_CALLBACK_SUCCESS;
    if (!strcmp(what, FV_ARCHIVE_FILESYSTEM))
        f->filesystem = value.stringRef;
    if (!strcmp(what, FV_ARCHIVE_KIND))
        f->kind = fv_archive_kind_of(fv_import_text(import, value.stringRef));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_paradigm(void *data, OTF2_IoParadigmRef self, OTF2_StringRef identification,
                                     OTF2_StringRef name, OTF2_IoParadigmClass class, OTF2_IoParadigmFlag flags,
                                     uint8_t count, const OTF2_IoParadigmProperty *properties, const OTF2_Type *types,
                                     const OTF2_AttributeValue *values)
{
    (void)name, (void)class, (void)flags, (void)count, (void)properties, (void)types, (void)values;
    ((struct fv_import_io_paradigm *)fv_import_row(data, FV_IMPORT_IO_PARADIGM, self))->identification = identification;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_handle(void *data, OTF2_IoHandleRef self, OTF2_StringRef name, OTF2_IoFileRef file,
                                   OTF2_IoParadigmRef paradigm, OTF2_IoHandleFlag flags, OTF2_CommRef comm,
                                   OTF2_IoHandleRef parent)
{
    (void)parent;
    *(struct fv_import_handle *)fv_import_row(data, FV_IMPORT_HANDLE, self) =
        (struct fv_import_handle){ .name = name,
                                   .file = file,
                                   .paradigm = paradigm,
                                   .comm = comm,
                                   .number = FV_NONE,
                                   .found = flags & OTF2_IO_HANDLE_FLAG_PRE_CREATED };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_found(void *data, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode, OTF2_IoStatusFlag flags)
{
    struct fv_import_handle *h = fv_import_get(data, FV_IMPORT_HANDLE, handle);

    if (h)
        h->mode = fv_import_mode(mode, flags);
    return OTF2_CALLBACK_SUCCESS;
}

void fv_import_read_files(OTF2_GlobalDefReaderCallbacks *c)
{
    OTF2_GlobalDefReaderCallbacks_SetIoRegularFileCallback(c, on_file);
    OTF2_GlobalDefReaderCallbacks_SetIoDirectoryCallback(c, on_directory);
    OTF2_GlobalDefReaderCallbacks_SetIoFilePropertyCallback(c, on_file_property);
    OTF2_GlobalDefReaderCallbacks_SetIoParadigmCallback(c, on_paradigm);
    OTF2_GlobalDefReaderCallbacks_SetIoHandleCallback(c, on_handle);
    OTF2_GlobalDefReaderCallbacks_SetIoPreCreatedHandleStateCallback(c, on_found);
}

static uint32_t kind_of(const struct fv_import *import, uint32_t paradigm)
{
    const struct fv_import_io_paradigm *p = fv_import_get(import, FV_IMPORT_IO_PARADIGM, paradigm);
    const char *name = p ? fv_import_text(import, p->identification) : "";

    return !strcmp(name, "MPI-IO") ? FV_DEF_IO_MPI : !strcmp(name, "ISOC") ? FV_DEF_IO_STDIO : FV_DEF_IO_POSIX;
}

static void build_handle(struct fv_import *import, struct fv_defs *own, struct fv_import_handle *h, uint32_t number)
{
    const struct fv_import_file *f = fv_import_get(import, FV_IMPORT_FILE, h->file);
    const struct fv_import_comm *c = fv_import_get(import, FV_IMPORT_COMM, h->comm);
    const struct fv_def_file nameless = { .name = fv_import_text(import, h->name), .host = "" };
    uint32_t kind = kind_of(import, h->paradigm), comm = c ? c->number : FV_NONE;
    bool together = kind == FV_DEF_IO_MPI && comm != FV_NONE && !(own->comms[comm].flags & FV_COMM_SELF);

    h->number =
        fv_defs_add_handle(own, &(struct fv_def_handle){ .file = f ? f->number : fv_defs_add_file_name(own, &nameless),
                                                         .comm = comm,
                                                         .occurrence = number,
                                                         .owner = together ? FV_NOBODY : 0,
                                                         .kind = kind,
                                                         .mode = h->mode,
                                                         .found = h->found,
                                                         .origin = { 0, number } });
}

void fv_import_build_files(struct fv_import *import, struct fv_defs *own)
{
    for (uint32_t i = 0; i < import->tables[FV_IMPORT_FILE].count; i++) {
        struct fv_import_file *f = fv_import_at(import, FV_IMPORT_FILE, i);

        f->number = fv_defs_add_file_name(
            own, &(struct fv_def_file){ fv_import_text(import, f->name), "",
                                        fv_filesystem_of(fv_import_text(import, f->filesystem)), f->kind });
    }
    for (uint32_t i = 0; i < import->tables[FV_IMPORT_HANDLE].count; i++)
        build_handle(import, own, fv_import_at(import, FV_IMPORT_HANDLE, i), i);
}

/* ---- calls ---- */

static uint32_t handle_of(const struct fv_import_rank *r, uint64_t ref)
{
    const struct fv_import_handle *h = fv_import_get(r->import, FV_IMPORT_HANDLE, ref);

    return fv_import_find(r, h ? h->number : FV_NONE, &r->import->numbers.handles);
}

static void put_enter(struct fv_import_rank *r, struct fv_import_stream *s, uint32_t function, uint32_t node)
{
    fv_import_put(r, s,
                  (struct fv_record){ .kind = FV_REC_LIBRARY_ENTER,
                                      .ref = fv_import_in_all(r, &r->import->numbers.functions, function),
                                      .context = fv_import_path_in_all(r, node) });
}

static void put_leave(struct fv_import_rank *r, struct fv_import_stream *s, uint32_t function,
                      const struct fv_record *event)
{
    uint32_t handle = event && event->aux ? handle_of(r, event->aux - 1) : FV_NONE;

    fv_import_put(r, s,
                  (struct fv_record){ .kind = FV_REC_LIBRARY_LEAVE,
                                      .ref = fv_import_in_all(r, &r->import->numbers.functions, function),
                                      .op = event ? event->op : 0,
                                      .aux = handle == FV_NONE ? 0 : handle + 1,
                                      .sent = event ? event->sent : 0 });
}

void fv_import_enter_library(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_import_region *g,
                             uint32_t node)
{
    s->files += g->is_files;
    put_enter(r, s, g->library, node);
}

void fv_import_go_on_in_library(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_import_region *g)
{
    put_enter(r, s, g ? g->library : r->import->any_files, s->depth ? s->open[s->depth - 1].node : 0);
}

void fv_import_leave_library(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_import_region *g,
                             const struct fv_record *event)
{
    s->files -= g->is_files;
    put_leave(r, s, g->library, g->is_files ? event : NULL);
}

/* ---- operations ---- */

void fv_import_end_bare(struct fv_import_rank *r, struct fv_import_stream *s)
{
    s->bare = 0;
    put_leave(r, s, r->import->any_files, NULL);
}

static void begin_bare(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    s->bare = s->depth + 1;
    s->bare_id = m->id;
    put_enter(r, s, r->import->any_files, s->depth ? s->open[s->depth - 1].node : 0);
}

/* Outside of calls: one that lasts is one call, what has no end as well. */
static void put_bare(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    bool is_end = m->kind == FV_REC_IO_END || m->kind == FV_REC_IO_CANCEL;
    bool lasts = m->kind == FV_REC_IO_BEGIN && !(m->op & FV_IO_ASYNC);
    bool is_new = !s->bare && !is_end && m->kind != FV_REC_IO_ISSUED;

    if (is_new)
        begin_bare(r, s, m);
    fv_import_put(r, s, *m);
    if (s->bare && ((is_new && !lasts) || (is_end && s->bare_id == m->id)))
        fv_import_end_bare(r, s);
}

void fv_import_file(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *m)
{
    struct fv_record out = *m;
    const struct fv_import_file *f;

    if (m->kind == FV_REC_IO_DELETE) {
        f = fv_import_get(r->import, FV_IMPORT_FILE, m->ref);
        out.ref = fv_import_find(r, f ? f->number : FV_NONE, &r->import->numbers.files);
    } else
        out.ref = handle_of(r, m->ref);
    if (m->kind == FV_REC_IO_SAME && (out.aux = handle_of(r, m->aux)) == FV_NONE)
        return;
    if (out.ref == FV_NONE)
        return;
    if (s->call || s->files)
        fv_import_put(r, s, out);
    else
        put_bare(r, s, &out);
}
