/* Rank files as the fuzzers take them. A rank file is mostly zeros; an input has its pages one behind the
 * other, each as two bytes (length, lowest first) and so many bytes, the rest of the page being zeros. A
 * length above a page begins the next file of the run, with the length modulo 8192. So an input is small, any
 * file can be written as one, and a change of one byte does not move a page's end.
 *
 * Damaged checks would stop the fuzzer at the door: headers and chunk checks are put right, unless the
 * input's first byte is 0xff. tests/fuzz/pages makes inputs of rank files. */
#ifndef FV_FUZZ_PAGES_H
#define FV_FUZZ_PAGES_H

#include "trace/format.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FUZZ_FILES = 3, FUZZ_PAGES = 64 /* of all files */ };

struct fuzz_file {
    uint8_t *bytes; /* an array of exactly this size, so that no look behind its end goes unseen */
    size_t size;
};

static inline void fuzz_put_right(uint8_t *data, size_t bytes)
{
    struct fv_file_header h;
    struct fv_chunk_header c;

    if (bytes < FV_PAGE)
        return;
    memcpy(&h, data, sizeof(h));
    memcpy(h.magic, FV_FILE_MAGIC, sizeof(h.magic));
    h.version = FV_FILE_VERSION;
    h.byte_order = FV_BYTE_ORDER;
    memcpy(data, &h, sizeof(h));
    for (size_t at = FV_PAGE; at + sizeof(c) <= bytes; at += FV_CHUNK_ALIGN) {
        memcpy(&c, data + at, sizeof(c));
        if (c.magic != FV_CHUNK_MAGIC)
            continue;
        if (!c.bytes || c.bytes % FV_CHUNK_ALIGN || c.bytes > bytes - at)
            c.bytes = (c.bytes / FV_PAGE % 8 + 1) * FV_PAGE;
        c.check = fv_chunk_check(&c);
        memcpy(data + at, &c, sizeof(c));
    }
}

/* A last page that is cut off has what is there. The bytes are the caller's. */
static inline size_t fuzz_files(const uint8_t *data, size_t size, struct fuzz_file files[FUZZ_FILES])
{
    bool repair = size && data[0] != 0xff;
    size_t count = 0;

    if (size < 3)
        return 0;
    files[count++] = (struct fuzz_file){ 0 };
    for (size_t at = 1, pages = 0; at + 2 <= size && pages < FUZZ_PAGES; pages++) {
        size_t length = (size_t)data[at] | (size_t)data[at + 1] << 8;
        struct fuzz_file *f = &files[count - 1];

        at += 2;
        if (length > FV_PAGE && f->size && count < FUZZ_FILES) {
            files[count++] = (struct fuzz_file){ 0 };
            f++;
        }
        length %= 2 * FV_PAGE;
        length = length > FV_PAGE ? FV_PAGE : length;
        length = length > size - at ? size - at : length;
        f->bytes = realloc(f->bytes, f->size + FV_PAGE);
        if (!f->bytes)
            abort();
        memset(f->bytes + f->size, 0, FV_PAGE);
        memcpy(f->bytes + f->size, data + at, length);
        f->size += FV_PAGE;
        at += length;
    }
    for (size_t i = 0; i < count && repair; i++)
        fuzz_put_right(files[i].bytes, files[i].size);
    return count;
}

static inline void fuzz_files_release(struct fuzz_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(files[i].bytes);
}

/* ---- a directory for all inputs, for what only writes or reads files ---- */

enum { FUZZ_PATH = 64 };

static inline char *fuzz_directory_path(void)
{
    static char path[FUZZ_PATH];

    return path;
}

static inline void fuzz_remove_directory(void)
{
    DIR *list = opendir(fuzz_directory_path());
    struct dirent *entry;

    while (list && (entry = readdir(list)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(list), entry->d_name, 0);
    if (list)
        closedir(list);
    rmdir(fuzz_directory_path());
}

/* Made by the first call, removed with all in it when the fuzzer ends. In memory, where there is such a file
 * system. */
static inline const char *fuzz_directory(void)
{
    char *path = fuzz_directory_path();

    if (*path)
        return path;
    snprintf(path, FUZZ_PATH, "%s/fvmpi-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(path))
        abort();
    atexit(fuzz_remove_directory);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
