/* SPDX-License-Identifier: BSD-3-Clause */
/* The write side of the rank file: creates it and hands out chunks that are mapped shared.
 *
 * Rejected: write(2) from a buffer (what is buffered dies with the process), one large mapping made in
 * advance (fails under a limit on address space, and a store past a full disk is SIGBUS). Here the space
 * of each chunk is reserved before it is mapped; where that does not hold, see fv_writer_lost(). */
#ifndef FV_WRITER_H
#define FV_WRITER_H

#include "base/lock.h"
#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fv_writer {
    struct fv_lock lock;
    int fd;
    dev_t device; /* of fd: an application that closes all its descriptors, and gets ours again for a */
    ino_t inode;  /* file of its own, must never find our bytes in it */
    char path[4096];
    struct fv_file_header *header; /* mapped; NULL: not open */
    uint64_t end;                  /* of the file */
    char *rest;                    /* of a page, mapped, zeroed, behind its last chunk: small chunks share pages. NULL:
                                    * none */
    uint64_t rest_bytes;
    uint64_t refused_bytes; /* the chunk that was refused last; 0: none since one as large was had */
    int64_t retry_ns;       /* CLOCK_MONOTONIC_COARSE: when it may be tried again. Both are read without the lock */
    pid_t pid;              /* whose file it is: that of a child in which nobody knows, does not grow */
    bool warned;
    bool share; /* set before it is opened: others may read the file, as the umask says */
    bool lost;  /* pages of it: fv_writer_lost() */
};

/* Creates the file, which must not exist, relative to a directory's descriptor, and maps its header page: magic,
 * version, byte order and state are set. `path`: where it is, whatever becomes of the working directory.
 * -FV_EIO: errno tells. */
int fv_writer_open(struct fv_writer *writer, int folder, const char *name, const char *path);

/* A new chunk with room for `payload` bytes of records, or a few more; records start behind the
 * header. It stays mapped for good. Any thread. One that leaves half of a page free shares it with others.
 * NULL: disk full, or the like; counted in the header, said once. The next try of as much is a second later:
 * until then a refusal takes no lock and no system call. */
struct fv_chunk_header *fv_writer_chunk(struct fv_writer *writer, enum fv_chunk_type type, uint32_t thread,
                                        uint64_t first, size_t payload);

/* A chunk of whole pages that can be used again, for a ring: *offset, in the file, is what fv_writer_map_chunk()
 * takes. */
struct fv_chunk_header *fv_writer_ring_chunk(struct fv_writer *writer, enum fv_chunk_type type, uint32_t thread,
                                             uint64_t first, uint64_t bytes, uint64_t *offset);
/* Maps it again after fv_writer_release(). NULL: that failed. */
struct fv_chunk_header *fv_writer_map_chunk(struct fv_writer *writer, uint64_t offset, uint64_t bytes);
/* What is in it is no part of the file any more, ... */
void fv_writer_empty(struct fv_chunk_header *chunk);
/* ... and then it is one of that thread. Where the process dies in between, readers pass it by. */
void fv_writer_fill_again(struct fv_chunk_header *chunk, uint32_t thread, uint64_t first);

/* The same as fv_writer_chunk() for a signal handler: NULL, too, if the file is being worked on. */
struct fv_chunk_header *fv_writer_try_chunk(struct fv_writer *writer, enum fv_chunk_type type, uint32_t thread,
                                            uint64_t first, size_t payload);

/* Unmaps a chunk that is full, unless others are in its page: what is in it stays in the file. */
void fv_writer_release(struct fv_chunk_header *chunk);

/* For a handler of SIGBUS: the file has lost the page at an address (somebody made it shorter; a file system that
 * copies on write is full). Memory takes the page's place, so that the store that found out goes on, and the file grows
 * no more. False: the address is in no page of the file. */
bool fv_writer_lost(struct fv_writer *writer, void *address);

/* Of an errno of making the file, or of a chunk: why, and what the user can do about it. */
const char *fv_writer_why(int error);
const char *fv_writer_advice(int error);

/* The directory that the file is in, with its last slash. Returns out. */
const char *fv_writer_directory(const struct fv_writer *writer, char out[sizeof(writer->path)]);

/* fv_first_on_node() and fv_elect_on_node(), of the ranks that write to the same directory. */
bool fv_writer_first_on_node(const struct fv_writer *writer, const char *what);
int fv_writer_elect_on_node(const struct fv_writer *writer, const char *what);

/* Forgets everything without touching the file: for the child of a fork. */
void fv_writer_forget(struct fv_writer *writer);

static inline void *fv_chunk_records(struct fv_chunk_header *chunk)
{
    return chunk + 1;
}

/* None, where the file has lost the header's page: see fv_writer_lost(). */
static inline size_t fv_chunk_room(const struct fv_chunk_header *chunk)
{
    const size_t filled = sizeof(*chunk) + chunk->used;

    return chunk->bytes > filled ? chunk->bytes - filled : 0;
}

static inline bool fv_chunk_fits(const struct fv_chunk_header *chunk, size_t bytes)
{
    return sizeof(*chunk) + chunk->used + bytes <= chunk->bytes;
}

/* Where the next record goes. It becomes part of the file by fv_chunk_commit(). */
static inline void *fv_chunk_next(struct fv_chunk_header *chunk)
{
    return (char *)(chunk + 1) + chunk->used;
}

/* The record must be whole before a reader can see it: release order, for a reader of a live file and
 * for the compiler. */
static inline void fv_chunk_commit(struct fv_chunk_header *chunk, size_t bytes)
{
    __atomic_store_n(&chunk->used, chunk->used + bytes, __ATOMIC_RELEASE);
}

#endif
