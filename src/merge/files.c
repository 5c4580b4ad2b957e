/* SPDX-License-Identifier: BSD-3-Clause */
/* See files.h. */
#include "merge/files.h"
#include "merge/calls.h"
#include "merge/defs_add.h"
#include "trace/io_words.h"

#include <stdlib.h>
#include <string.h>

/* What a file's records say of its calls: bits by enum fv_io_layer. */
struct seen {
    const struct fv_reader *reader;
    uint8_t *layers; /* by fv_io_file.id */
    size_t count, room;
    struct fv_numbers functions; /* by number: their layer; FV_NONE: there are no calls */
};

/* Of each function, file and call path that there are calls of, and of the call that a thread is in (file 0). */
typedef void call_fn(void *context, uint32_t function, uint32_t file, uint32_t path);

static void each_call(const struct fv_reader *reader, call_fn *tell, void *context)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_IO);
    struct fv_io_record r;
    struct fv_io_thread t;

    if (!fv_reader_header(reader)->traced)
        return;
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (!(r.flags & FV_IO_IN_MPI))
            tell(context, r.function, r.file, r.path);
    }
    c = fv_cursor(reader, FV_CHUNK_IO_THREAD);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        if (t.begin)
            tell(context, t.function, 0, t.path);
    }
}

struct marking {
    void (*mark)(void *, uint32_t);
    void *context;
};

static void mark_path(void *context, uint32_t function, uint32_t file, uint32_t path)
{
    const struct marking *m = context;
    (void)function, (void)file;

    m->mark(m->context, path);
}

void fv_files_used(const struct fv_reader *reader, void (*mark)(void *, uint32_t), void *context)
{
    each_call(reader, mark_path, &(struct marking){ mark, context });
}

static void see(void *context, uint32_t function, uint32_t file, uint32_t path)
{
    struct seen *s = context;
    (void)path;

    if (fv_numbers_get(&s->functions, function) == FV_NONE) {
        struct fv_io_function_record room;
        const struct fv_io_function_words words = fv_io_function_in(s->reader, function, &room);

        if (!words.operation)
            return;
        fv_numbers_set(&s->functions, function, words.layer);
    }
    if (!fv_number_is_id(s->reader, file))
        return;
    if (file >= s->count) {
        FV_GROW(s->layers, s->room, (size_t)file + 1);
        memset(s->layers + s->count, 0, file + 1 - s->count);
        s->count = (size_t)file + 1;
    }
    s->layers[file] |= (uint8_t)(1u << s->functions.of[function]);
}

static uint32_t mode_of(uint32_t flags)
{
    uint32_t reads = flags & FV_IO_HANDLE_READS, writes = flags & FV_IO_HANDLE_WRITES;
    uint32_t mode = reads && writes ? FV_FILE_RDWR : writes ? FV_FILE_WRONLY : FV_FILE_RDONLY;

    return mode | (flags & FV_IO_HANDLE_APPENDS ? FV_FILE_APPEND : 0);
}

static void define_handle(struct fv_defs *d, const struct fv_io_handle *h, uint32_t rank, uint32_t file,
                          const struct seen *seen, uint32_t occurrence, struct fv_def_map *map)
{
    for (unsigned layer = 0; layer < FV_IO_LAYERS; layer++) {
        uint64_t number = (uint64_t)h->id * FV_IO_LAYERS + layer;
        const struct fv_def_handle handle = { .file = file,
                                              .comm = FV_NONE,
                                              .occurrence = occurrence,
                                              .owner = (int32_t)rank,
                                              .kind = FV_DEF_IO_POSIX + layer,
                                              .mode = mode_of(h->flags),
                                              .found = h->flags & FV_IO_HANDLE_FOUND ? 1 : 0,
                                              /* behind those that MPI opened */
                                              .origin = { rank, UINT32_C(1) << 31 | (uint32_t)number } };

        if (h->file < seen->count && seen->layers[h->file] & 1u << layer)
            fv_numbers_set(&map->file_handles, number, fv_defs_add_handle(d, &handle));
    }
}

/* Definitions of files by the rank's numbers. */
static struct fv_numbers define_files(struct fv_defs *d, const struct fv_reader *reader, const char *host,
                                      const struct seen *seen)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_IO_FILES);
    struct fv_numbers files = { 0 };

    for (const struct fv_io_file *f; (f = fv_cursor_next(&c));)
        if (f->id < seen->count && seen->layers[f->id])
            fv_numbers_set(&files, f->id,
                           fv_defs_add_file_name(d, &(struct fv_def_file){ f->path, host, f->filesystem, f->kind }));
    return files;
}

static void define_functions(struct fv_defs *d, const struct seen *seen, struct fv_def_map *map)
{
    struct fv_io_function_record room;

    for (uint32_t i = 1; i < seen->functions.count; i++)
        if (seen->functions.of[i] != FV_NONE)
            fv_numbers_set(&map->file_calls, i,
                           fv_defs_function(d, fv_io_function_in(seen->reader, i, &room).name, FV_CLASS_OF_FILES));
}

void fv_files_define(struct fv_defs *d, const struct fv_reader *reader, uint32_t rank, const char *host,
                     struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_IO_HANDLES);
    struct fv_io_handle h;
    struct seen seen = { .reader = reader };

    if (!fv_reader_header(reader)->traced)
        return;
    each_call(reader, see, &seen);
    define_functions(d, &seen, map);
    struct fv_numbers files = define_files(d, reader, host, &seen);
    uint32_t *occurrences = fv_xcalloc(seen.count + 1, sizeof(*occurrences));
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&h, p, sizeof(h));
        if (fv_number_is_id(reader, h.id) && fv_numbers_get(&files, h.file) != FV_NONE)
            define_handle(d, &h, rank, files.of[h.file], &seen, occurrences[h.file]++, map);
    }
    free(occurrences);
    fv_numbers_release(&files);
    fv_numbers_release(&seen.functions);
    free(seen.layers);
}

uint64_t fv_files_lost(const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_IO_THREAD);
    struct fv_io_thread t;
    uint64_t lost = 0;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        lost += t.untraced;
    }
    return lost;
}
