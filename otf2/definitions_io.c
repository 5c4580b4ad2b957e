/* SPDX-License-Identifier: BSD-3-Clause */
/* Files in an archive's global definitions: what the functions that use them are of, the files, and what was opened. */
#include "otf2/definitions_state.h"
#include "otf2/files.h"
#include "trace/io_words.h"

#include <stdio.h>

static const struct {
    const char *identification, *name; /* the first as OTF2 recommends it */
    OTF2_IoParadigmClass class;
    OTF2_IoParadigmFlag flags;
} paradigms[FV_DEF_IO_KINDS] = {
    [FV_DEF_IO_MPI] = { "MPI-IO", "MPI I/O", OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE },
    [FV_DEF_IO_POSIX] = { "POSIX", "POSIX I/O", OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS },
    [FV_DEF_IO_STDIO] = { "ISOC", "ISO C I/O", OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_NONE },
};

OTF2_IoAccessMode fv_io_access(uint32_t mode)
{
    return mode & FV_FILE_RDWR     ? OTF2_IO_ACCESS_MODE_READ_WRITE
           : mode & FV_FILE_WRONLY ? OTF2_IO_ACCESS_MODE_WRITE_ONLY
                                   : OTF2_IO_ACCESS_MODE_READ_ONLY;
}

OTF2_IoStatusFlag fv_io_status(uint32_t mode)
{
    return (mode & FV_FILE_APPEND ? OTF2_IO_STATUS_FLAG_APPEND : 0u) |
           (mode & FV_FILE_DELETE_ON_CLOSE ? OTF2_IO_STATUS_FLAG_DELETE_ON_CLOSE : 0u);
}

/* Those that are used have a number. */
static void write_paradigms(struct writing *w, OTF2_IoParadigmRef numbers[FV_DEF_IO_KINDS])
{
    bool used[FV_DEF_IO_KINDS] = { false };
    OTF2_IoParadigmRef next = 0;

    for (size_t i = 0; i < w->d->handle_count; i++)
        used[w->d->handles[i].kind] = true;
    for (unsigned k = 0; k < FV_DEF_IO_KINDS; k++) {
        if (!used[k])
            continue;
        numbers[k] = next++;
        check(w, OTF2_GlobalDefWriter_WriteIoParadigm(w->w, numbers[k], text(w, paradigms[k].identification),
                                                      text(w, paradigms[k].name), paradigms[k].class,
                                                      paradigms[k].flags, 0, NULL, NULL, NULL));
    }
}

static void write_handle(struct writing *w, uint32_t id, OTF2_IoParadigmRef paradigm)
{
    const struct fv_def_handle *h = &w->d->handles[id];

    check(w, OTF2_GlobalDefWriter_WriteIoHandle(w->w, id, text(w, ""), h->file, paradigm,
                                                h->found ? OTF2_IO_HANDLE_FLAG_PRE_CREATED : OTF2_IO_HANDLE_FLAG_NONE,
                                                h->comm == FV_NONE ? OTF2_UNDEFINED_COMM : h->comm,
                                                OTF2_UNDEFINED_IO_HANDLE));
    if (h->found)
        check(w, OTF2_GlobalDefWriter_WriteIoPreCreatedHandleState(w->w, id, fv_io_access(h->mode),
                                                                   fv_io_status(h->mode)));
}

static void write_property(struct writing *w, uint32_t id, const char *name, const char *value)
{
    const OTF2_AttributeValue of = { .stringRef = text(w, value) };

    check(w, OTF2_GlobalDefWriter_WriteIoFileProperty(w->w, id, text(w, name), OTF2_TYPE_STRING, of));
}

static void write_file(struct writing *w, uint32_t id)
{
    const struct fv_def_file *f = &w->d->files[id];
    uint32_t name = text(w, f->name), node = fv_writing_node(w, f->host);
    const char *system = fv_filesystem_name(f->filesystem);
    char number[24];

    check(w, f->kind == FV_IO_KIND_DIRECTORY ? OTF2_GlobalDefWriter_WriteIoDirectory(w->w, id, name, node)
                                             : OTF2_GlobalDefWriter_WriteIoRegularFile(w->w, id, name, node));
    if (f->kind > FV_IO_KIND_DIRECTORY && f->kind < FV_IO_KINDS)
        write_property(w, id, FV_ARCHIVE_KIND, fv_enum_word(&fv_io_kind_enum, f->kind));
    snprintf(number, sizeof(number), "0x%llx", (unsigned long long)f->filesystem);
    if (f->filesystem)
        write_property(w, id, FV_ARCHIVE_FILESYSTEM, system ? system : number);
}

void fv_writing_files(struct writing *w)
{
    OTF2_IoParadigmRef numbers[FV_DEF_IO_KINDS];

    write_paradigms(w, numbers);
    for (uint32_t i = 0; i < w->d->file_count; i++)
        write_file(w, i);
    for (uint32_t i = 0; i < w->d->handle_count; i++)
        write_handle(w, i, numbers[w->d->handles[i].kind]);
}
