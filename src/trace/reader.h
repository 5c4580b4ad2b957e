/* SPDX-License-Identifier: BSD-3-Clause */
/* The read side of the rank file: opens one file, or the same bytes in memory, and iterates its records.
 *
 * Everything in a file is taken for hostile: sizes, offsets and counts are checked against the bytes that
 * are there before they are used. Damage costs the chunk it is in; the reader goes on at the next page
 * that starts with a chunk header whose check is right, and keeps a list of what it met. Rejected:
 * stopping at the first damage (a killed job's files are just those that people need).
 *
 * The file of a process that still runs is read as it was when it was opened: it may grow meanwhile, and
 * numbers that are updated in place may change between two looks, so callers copy a record first. */
#ifndef FV_READER_H
#define FV_READER_H

#include "base/base.h"
#include "trace/events.h"
#include "trace/format_words.h"

struct fv_reader;

/* Something that is not as it should be. `offset` is in bytes from the start of the file. */
struct fv_damage {
    uint64_t offset;
    char why[160];
};

/* A chunk that passed all checks. `used` holds whole records only. */
struct fv_chunk {
    uint64_t offset; /* of its header */
    uint64_t used;
    uint64_t first; /* index of its first record among its type and thread */
    uint32_t thread;
    uint16_t type; /* enum fv_chunk_type, or one of another version */
    uint16_t version;
};

/* Opens a rank file. On success *out is the caller's; release it with fv_reader_free(). Else `why` holds
 * one clear line, without the file's name, and
 *   -FV_EIO       cannot be opened or read; errno tells
 *   -FV_EFORMAT   foreign, of the other byte order, or shorter than a header
 *   -FV_EVERSION  recorded by another version of fvmpi
 *   -FV_ENOMEM
 * One reader, one thread. */
int fv_reader_open(const char *path, struct fv_reader **out, char *why, size_t why_bytes);

/* The same for bytes in memory, which must outlive the reader. */
int fv_reader_open_memory(const void *data, size_t bytes, struct fv_reader **out, char *why, size_t why_bytes);

void fv_reader_free(struct fv_reader *reader);

/* Until fv_reader_wake() the file is not mapped, and of the reader only what it copied can be asked for:
 * header, bytes, chunks, damage. For readers of many files. Of bytes in memory, and of files that cannot be
 * mapped, both do nothing. */
void fv_reader_rest(struct fv_reader *reader);
/* -FV_EIO: the file is gone, was replaced, or is shorter now: its records read as zeros. Never resting is
 * fine. */
int fv_reader_wake(struct fv_reader *reader);

/* A copy made when the file was opened; its strings end within their arrays. */
const struct fv_file_header *fv_reader_header(const struct fv_reader *reader);

/* Bytes of the file when it was opened. */
uint64_t fv_reader_bytes(const struct fv_reader *reader);

/* From now on it is as it was when so many bytes of its events had been written; at least one event stays. False: it is
 * a ring, whose chunks are in no order of time. */
bool fv_reader_take_head(struct fv_reader *reader, uint64_t bytes);

/* The first damages in the order of their offsets, at most FV_DAMAGE_KEPT; *total counts all. */
#define FV_DAMAGE_KEPT 64
const struct fv_damage *fv_reader_damage(const struct fv_reader *reader, size_t *kept, uint64_t *total);

const struct fv_chunk *fv_reader_chunks(const struct fv_reader *reader, size_t *count);

/* Are there events in it? A thread's chunks follow each other by `first`; where that is more than the calls met
 * so far, the ones between are lost; where it is less, the chunk was met before. */
static inline bool fv_chunk_has_events(const struct fv_chunk *chunk)
{
    return chunk->type == FV_CHUNK_EVENTS || chunk->type == FV_CHUNK_PACKED;
}

/* Memory for what was compressed: zeroed at first, used again and again, released by fv_unpacked_events_release(). */
struct fv_unpacked_events {
    void *bytes;
    size_t room;
};
void fv_unpacked_events_release(struct fv_unpacked_events *unpacked);

/* The events of such a chunk, valid until `unpacked` is used again. `damaged` in the cursor: they could not be
 * decompressed, or there is no memory. */
struct fv_event_cursor fv_reader_events(const struct fv_reader *reader, const struct fv_chunk *chunk,
                                        struct fv_unpacked_events *unpacked);

/* The chunk, or where that is NULL the whole file, will not be looked at soon: its memory is given back, and read again
 * from the file if needed. */
void fv_reader_forget(const struct fv_reader *reader, const struct fv_chunk *chunk);

/* Until it is called again, cursors pass by the chunks of threads for which it is false; NULL: of none. Those of the
 * process are passed by never. */
void fv_reader_choose(struct fv_reader *reader, bool (*wants)(const void *context, uint32_t thread),
                      const void *context);
bool fv_reader_wants(const struct fv_reader *reader, uint32_t thread);

/* Iterates the records of one type over all chunks, in file order:
 *
 *     struct fv_cursor c = fv_cursor(reader, FV_CHUNK_CELLS);
 *     for (const struct fv_cell *cell; (cell = fv_cursor_next(&c));)
 *         ... c.thread, c.index, c.bytes ...
 *
 * Records lie in the file, are 8-byte aligned and whole. Of records with a length of their own it is checked, and that
 * all elements that they count are there and their texts end with NUL; of neighbours, that as many are listed as there
 * are sources and destinations. */
struct fv_cursor {
    const struct fv_reader *reader;
    size_t chunk;     /* the next one to enter */
    uint64_t at, end; /* of the present chunk's records, offsets in the file */
    uint16_t type;
    uint32_t thread; /* owner of the present record */
    uint64_t index;  /* of the present record among its type and thread (fixed-size types) */
    uint64_t next_index;
    uint64_t bytes;  /* of the present record */
    uint64_t offset; /* of the present record */
};

struct fv_cursor fv_cursor(const struct fv_reader *reader, enum fv_chunk_type type);
/* The same for a single chunk. */
struct fv_cursor fv_cursor_chunk(const struct fv_reader *reader, size_t chunk);
const void *fv_cursor_next(struct fv_cursor *cursor);

#endif
