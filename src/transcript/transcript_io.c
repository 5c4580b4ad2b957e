/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_files.h: what a rank file has of calls of functions for files, as src/io would have written it. */
#include "transcript/transcript_files.h"
#include "trace/io_vote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fv_transcript_files *fv_transcript_files_of(struct fv_transcript *t)
{
    if (!t->files)
        t->files = fv_xcalloc(1, sizeof(*t->files));
    return t->files;
}

/* ---- files, and what is open ---- */

static uint32_t file_id(struct fv_transcript *t, uint32_t file)
{
    struct fv_transcript_files *f = fv_transcript_files_of(t);
    uint32_t id = file == FV_NONE ? 0 : fv_numbers_get(&f->files, file);

    if (id != FV_NONE)
        return id;
    const char *name = t->merge->defs.files[file].name;
    name = *name ? name : "(without a name)";
    size_t length = strlen(name), bytes = fv_round_up(sizeof(struct fv_io_file) + length + 1, 8);
    struct fv_io_file *r = fv_xcalloc(1, bytes);
    *r = (struct fv_io_file){ .bytes = (uint32_t)bytes,
                              .id = id = ++f->file_count,
                              .filesystem = t->merge->defs.files[file].filesystem,
                              .kind = t->merge->defs.files[file].kind,
                              .path_bytes = (uint32_t)length };
    memcpy(r->path, name, length);
    fv_bytes_put(&f->file_records, r, bytes);
    free(r);
    fv_numbers_set(&f->files, file, id);
    return id;
}

static uint32_t mode_of(const struct fv_transcript *t, uint32_t handle)
{
    const struct fv_transcript_files *f = t->files;
    uint32_t mode = f && handle < f->mode_room ? f->modes[handle] : 0;

    return mode ? mode : t->merge->defs.handles[handle].mode;
}

static uint32_t handle_id(struct fv_transcript *t, uint32_t handle)
{
    struct fv_transcript_files *f = fv_transcript_files_of(t);
    uint32_t id = handle == FV_NONE ? 0 : fv_numbers_get(&f->handles, handle), mode;

    if (id != FV_NONE)
        return id;
    const struct fv_def_handle *h = &t->merge->defs.handles[handle];
    mode = mode_of(t, handle);
    const struct fv_io_handle r = { .id = id = ++f->handle_count,
                                    .file = file_id(t, h->file),
                                    .flags = (h->found ? FV_IO_HANDLE_FOUND : 0u) |
                                             (mode & (FV_FILE_RDONLY | FV_FILE_RDWR) ? FV_IO_HANDLE_READS : 0u) |
                                             (mode & (FV_FILE_WRONLY | FV_FILE_RDWR) ? FV_IO_HANDLE_WRITES : 0u) |
                                             (mode & FV_FILE_APPEND ? FV_IO_HANDLE_APPENDS : 0u) };
    fv_bytes_put(&f->handle_records, &r, sizeof(r));
    fv_numbers_set(&f->handles, handle, id);
    return id;
}

static struct fv_transcript_position *new_position(struct fv_transcript *t, uint32_t handle, int64_t at, bool appends)
{
    struct fv_transcript_files *f = fv_transcript_files_of(t);

    FV_GROW(f->opened, f->opened_room, f->opened_count + 1);
    f->opened[f->opened_count] = (struct fv_transcript_position){ at, { -1, -1 }, appends };
    fv_numbers_set(&f->positions, handle, (uint32_t)f->opened_count);
    return &f->opened[f->opened_count++];
}

/* NULL: the handle is not known, or of MPI, whose places are no bytes. */
static struct fv_transcript_position *position_of(struct fv_transcript *t, uint32_t handle)
{
    struct fv_transcript_files *f = fv_transcript_files_of(t);
    uint32_t at = handle == FV_NONE ? FV_NONE : fv_numbers_get(&f->positions, handle);

    if (handle == FV_NONE || t->merge->defs.handles[handle].kind == FV_DEF_IO_MPI)
        return NULL;
    return at == FV_NONE ? new_position(t, handle, -1, (mode_of(t, handle) & FV_FILE_APPEND) != 0) : &f->opened[at];
}

void fv_transcript_opened(struct fv_transcript *t, uint32_t handle, uint32_t mode)
{
    struct fv_transcript_files *f = fv_transcript_files_of(t);
    size_t before = f->mode_room;
    uint32_t at = fv_numbers_get(&f->positions, handle);

    FV_GROW(f->modes, f->mode_room, (size_t)handle + 1);
    memset(f->modes + before, 0, (f->mode_room - before) * sizeof(*f->modes));
    f->modes[handle] = mode;
    if (at == FV_NONE)
        new_position(t, handle, 0, (mode & FV_FILE_APPEND) != 0);
    else
        f->opened[at] = (struct fv_transcript_position){ 0, { -1, -1 }, (mode & FV_FILE_APPEND) != 0 };
}

void fv_transcript_same(struct fv_transcript *t, uint32_t handle, uint32_t other)
{
    struct fv_transcript_files *f = fv_transcript_files_of(t);

    if (position_of(t, handle))
        fv_numbers_set(&f->positions, other, fv_numbers_get(&f->positions, handle));
}

/* ---- functions ---- */

/* One of enum fv_io_function that does something; 0: another one. */
uint32_t fv_transcript_file_function(struct fv_transcript *t, uint32_t function)
{
    struct fv_transcript_files *f = fv_transcript_files_of(t);
    uint32_t number = fv_numbers_get(&f->functions, function);
    const struct fv_def_function *d = &t->merge->defs.functions[function];

    if (number != FV_NONE)
        return number;
    number = d->class == FV_CLASS_OF_FILES ? FV_IO_FUNCTIONS - 1 : 0;
    while (number && (strcmp(fv_io_function_name(number), d->name) != 0 || !fv_io_operation_of(number)))
        number--;
    fv_numbers_set(&f->functions, function, number);
    return number;
}

static enum fv_io_operation operation_of(const struct fv_transcript_file_call *c)
{
    bool is_open = c->did & FV_DID_BEGIN || c->id;

    return c->did & FV_DID_WRITE       ? is_open ? FV_IO_OP_ASYNC_WRITE : FV_IO_OP_WRITE
           : c->did & FV_DID_READ      ? is_open ? FV_IO_OP_ASYNC_READ : FV_IO_OP_READ
           : c->did & FV_DID_OPEN      ? FV_IO_OP_OPEN
           : c->did & FV_DID_CLOSE     ? FV_IO_OP_CLOSE
           : c->did & FV_DID_SEEK      ? FV_IO_OP_SEEK
           : c->did & FV_DID_SYNC      ? FV_IO_OP_SYNC
           : c->did & FV_DID_REMOVE    ? FV_IO_OP_REMOVE
           : c->did & FV_DID_DUPLICATE ? FV_IO_OP_DUPLICATE
           : c->did & FV_DID_LOCK      ? FV_IO_OP_LOCK
                                       : FV_IO_OP_OTHER;
}

static uint32_t number_of(struct fv_transcript *t, const struct fv_transcript_file_call *c,
                          enum fv_io_operation *operation)
{
    struct fv_transcript_files *f = fv_transcript_files_of(t);
    uint32_t known = fv_transcript_file_function(t, c->function);
    size_t before = f->other_count;

    *operation = known ? fv_io_operation_of(known) : operation_of(c);
    if (known)
        return known;
    uint32_t i =
        FV_INTERN(f->other_index, f->others, f->other_count, f->other_room, (uint32_t[]){ c->function, *operation });
    if (i >= FV_IO_OTHERS_MOST)
        return FV_IO_OTHER_FUNCTIONS + FV_IO_OTHERS_MOST - 1;
    if (f->other_count > before) {
        struct fv_io_function_record *r = &f->others[i].record;

        r->number = FV_IO_OTHER_FUNCTIONS + i;
        r->operation = (uint8_t)*operation;
        r->layer = c->handle != FV_NONE && t->merge->defs.handles[c->handle].kind == FV_DEF_IO_STDIO ? FV_IO_STDIO
                                                                                                     : FV_IO_POSIX;
        snprintf(r->name, sizeof(r->name), "%s", t->merge->defs.functions[c->function].name);
    }
    return FV_IO_OTHER_FUNCTIONS + i;
}

/* ---- a call ---- */

static unsigned size_class(uint64_t bytes)
{
    static const uint64_t limits[FV_IO_SIZES] = FV_IO_SIZE_LIMITS;
    unsigned class = 0;

    while (bytes > limits[class])
        class ++;
    return class;
}

/* Its place is an argument, which an archive need not say. */
static bool has_place(const char *function)
{
    return strstr(function, "pread") || strstr(function, "pwrite");
}

/* As src/io does it. */
static void follow(struct fv_transcript *t, struct fv_io_record *r, const struct fv_transcript_file_call *c,
                   bool is_write)
{
    struct fv_transcript_position *p = position_of(t, c->handle);
    const bool placed = c->at || has_place(t->merge->defs.functions[c->function].name);

    if (!p)
        return;
    int64_t *end = &p->end[is_write];
    int64_t at = placed ? (int64_t)c->at - 1 : is_write && p->appends && *end >= 0 ? *end : p->at;
    if (at < 0 || !c->has_bytes) {
        *end = -1;
        p->at = placed ? p->at : -1;
        return;
    }
    if (*end >= 0) {
        r->placed++;
        r->consecutive += at == *end;
        r->forward += at > *end;
    }
    *end = at + (int64_t)c->bytes;
    p->at = placed ? p->at : *end;
}

static void add_bytes(struct fv_transcript *t, struct fv_io_record *r, const struct fv_transcript_file_call *c,
                      enum fv_io_operation operation)
{
    bool is_read = operation == FV_IO_OP_READ, is_write = operation == FV_IO_OP_WRITE;
    bool is_async = operation == FV_IO_OP_ASYNC_READ || operation == FV_IO_OP_ASYNC_WRITE;

    if (!is_read && !is_write && !is_async && operation != FV_IO_OP_MAP)
        return;
    r->bytes += c->bytes;
    r->unsized += !c->has_bytes && (is_read || is_write);
    r->empty += is_read && c->has_bytes && !c->bytes;
    if (c->bytes && operation != FV_IO_OP_MAP)
        r->sizes[size_class(c->bytes)]++;
    if ((is_read || is_write) && (c->bytes || !c->has_bytes))
        follow(t, r, c, is_write);
}

enum success { SUCCEEDED, FAILED, NOT_KNOWN };

/* A function that opened nothing failed; of others a failure is not seen, but success may be. */
static enum success success_of(const struct fv_transcript_file_call *c, enum fv_io_operation operation)
{
    if (c->said)
        return c->said == 1 ? SUCCEEDED : FAILED;
    if (operation == FV_IO_OP_OPEN)
        return c->known & FV_DID_OPEN ? SUCCEEDED : FAILED;
    return c->known || c->did & FV_DID_BEGIN ? SUCCEEDED : NOT_KNOWN;
}

static void add(struct fv_transcript *t, struct fv_io_record *r, const struct fv_transcript_file_call *c,
                enum fv_io_operation operation, uint64_t end)
{
    uint64_t took = end - c->begin, ticks = took > c->others ? took - c->others : 0;
    enum success success = success_of(c, operation);
    struct fv_transcript_position *p;

    r->calls++;
    r->ticks += ticks;
    r->ticks_max = ticks > r->ticks_max ? ticks : r->ticks_max;
    r->first = r->first ? r->first : c->begin;
    r->last = end;
    if (success == FAILED) {
        r->failed++;
        return;
    }
    r->flags |= success == NOT_KNOWN ? FV_IO_FAILED_UNKNOWN : 0;
    add_bytes(t, r, c, operation);
    if (operation == FV_IO_OP_SEEK && (p = position_of(t, c->handle)))
        p->at = (int64_t)c->at - 1;
}

/* As trace/events.h has it. */
static uint64_t result_of(const struct fv_transcript_file_call *c, enum fv_io_operation operation)
{
    if (operation == FV_IO_OP_CLOSE)
        return !(c->known & FV_DID_CLOSE);
    if (operation == FV_IO_OP_SEEK)
        return c->at;
    if (operation == FV_IO_OP_READ || operation == FV_IO_OP_WRITE)
        return c->has_bytes ? c->bytes + 1 : 0;
    return success_of(c, operation) == FAILED ? 0 : c->bytes + 1;
}

void fv_transcript_file_call(struct fv_transcript *t, struct fv_transcript_thread *h,
                             const struct fv_transcript_file_call *c, uint64_t end)
{
    struct fv_transcript_io *io = h->io;
    const uint32_t file = c->handle == FV_NONE ? c->file : t->merge->defs.handles[c->handle].file;
    enum fv_io_operation operation;
    const uint32_t number = number_of(t, c, &operation);
    struct fv_io_record key = { .file = file_id(t, file),
                                .path = fv_transcript_path(t, c->node),
                                .function = number,
                                .flags = c->in_mpi ? FV_IO_IN_MPI : 0 };
    size_t before = io->count;
    uint32_t i = FV_INTERN(io->index, io->records, io->count, io->record_room,
                           (uint32_t[]){ key.file, key.path, key.function, c->in_mpi });

    if (io->count > before)
        io->records[i].record = key;
    struct fv_io_record *r = &io->records[i].record;
    uint64_t already = r->ticks;
    add(t, r, c, operation, end);
    if (c->in_mpi)
        return;
    io->thread.ticks += r->ticks - already;
    FV_IO_VOTE(&io->since, r, 1, r->ticks - already, r->ticks - already);
    uint64_t field[FV_EVENT_FIELDS] = { 0, 0, r->path, number, handle_id(t, c->handle), result_of(c, operation) };
    fv_transcript_lasting(t, h, FV_EV_IO, c->begin, end, field);
}

void fv_transcript_files_between(struct fv_transcript_thread *h, uint32_t cell)
{
    struct fv_transcript_io *io = h->io;

    if (!io || !io->since.calls)
        return;
    struct fv_io_region s = io->since;
    io->since = (struct fv_io_region){ 0 };
    if (!h->last_end)
        return;
    struct fv_io_region *r = FV_INTERNED(io->region_index, io->regions, io->region_count, io->region_room,
                                         (uint32_t[]){ h->last_from, cell });
    FV_IO_VOTE(r, &s, s.calls, s.ticks, s.weight);
}

/* ---- the end ---- */

void fv_transcript_files_thread(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot)
{
    struct fv_transcript_io *io = h->io;

    if (!io)
        return;
    struct fv_bytes records = { 0 };
    for (size_t i = 0; i < io->count; i++)
        fv_bytes_put(&records, &io->records[i].record, sizeof(io->records[i].record));
    fv_transcript_chunk(t, FV_CHUNK_IO, slot, 0, records.data, records.count);
    fv_transcript_chunk(t, FV_CHUNK_IO_REGIONS, slot, 0, io->regions, io->region_count * sizeof(*io->regions));
    if (io->count)
        fv_transcript_chunk(t, FV_CHUNK_IO_THREAD, slot, 0, &io->thread, sizeof(io->thread));
    fv_index_release(&io->index);
    fv_index_release(&io->region_index);
    free(records.data);
    free(io->records);
    free(io->regions);
    free(io->open);
    free(io);
    h->io = NULL;
}

void fv_transcript_files_close(struct fv_transcript *t)
{
    struct fv_transcript_files *f = t->files;

    if (!f)
        return;
    struct fv_bytes others = { 0 };
    for (size_t i = 0; i < f->other_count && i < FV_IO_OTHERS_MOST; i++)
        fv_bytes_put(&others, &f->others[i].record, sizeof(f->others[i].record));
    fv_transcript_chunk(t, FV_CHUNK_IO_FUNCTIONS, FV_NO_THREAD, 0, others.data, others.count);
    free(others.data);
    fv_transcript_chunk(t, FV_CHUNK_IO_FILES, FV_NO_THREAD, 0, f->file_records.data, f->file_records.count);
    fv_transcript_chunk(t, FV_CHUNK_IO_HANDLES, FV_NO_THREAD, 0, f->handle_records.data, f->handle_records.count);
    fv_numbers_release(&f->files);
    fv_numbers_release(&f->handles);
    fv_numbers_release(&f->positions);
    fv_numbers_release(&f->functions);
    fv_index_release(&f->other_index);
    free(f->file_records.data);
    free(f->handle_records.data);
    free(f->opened);
    free(f->modes);
    free(f->others);
    free(f);
    t->files = NULL;
}
