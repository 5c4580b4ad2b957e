/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of format.h: what src/io writes into the rank file, with --io: files, and what each thread does to them. */
#ifndef FV_FORMAT_IO_H
#define FV_FORMAT_IO_H

#include <stdint.h>

enum fv_io_operation {
    FV_IO_OP_OPEN = 1,
    FV_IO_OP_CLOSE,
    FV_IO_OP_READ,
    FV_IO_OP_WRITE,
    FV_IO_OP_SEEK,
    FV_IO_OP_STAT,       /* of a file's state: stat(), access() */
    FV_IO_OP_SYNC,       /* fsync() and its like; fflush(), whose data go to the system alone */
    FV_IO_OP_TRUNCATE,   /* or a file's space is reserved */
    FV_IO_OP_MAP,        /* mmap() of a file: what is then read and written is not seen */
    FV_IO_OP_ASYNC_READ, /* the call that begins it: its bytes are those asked for, its time is not that of the
                          * transfer */
    FV_IO_OP_ASYNC_WRITE,
    FV_IO_OP_LOCK,      /* of a file or a stream: taken, tried or released */
    FV_IO_OP_REMOVE,    /* of a name */
    FV_IO_OP_RENAME,    /* a file has another name */
    FV_IO_OP_DUPLICATE, /* another descriptor of an open file */
    FV_IO_OP_OTHER,     /* of an archive, which does not say what the function does */
    FV_IO_OPERATIONS    /* [count] */
};

enum fv_io_layer {
    FV_IO_POSIX, /* the system's own: read(), write() */
    FV_IO_STDIO, /* buffered: fread(), fprintf(); what it asks of the system is not seen */
    FV_IO_LAYERS /* [count] */
};

/* The functions that are recorded, of src/front/io.tbl: {name, enum fv_io_operation, enum fv_io_layer}. Numbers from
 * FV_IO_OTHER_FUNCTIONS on are of struct fv_io_function_record. */
#define FV_IO_OTHER_FUNCTIONS 4096
#define FV_IO_OTHERS_MOST     4096
enum fv_io_function {
    FV_IO_NO_FUNCTION,
#define FV_IO_FUNCTION(name, word, operation, layer) FV_IO_FN_##name,
#include "trace/io-list.h"
#undef FV_IO_FUNCTION
    FV_IO_FUNCTIONS /* [count] */
};

/* A function for files of an archive that another tool wrote, where enum fv_io_function does not have it. */
struct fv_io_function_record {
    uint32_t number;   /* FV_IO_OTHER_FUNCTIONS and up */
    uint8_t operation; /* [enum fv_io_operation] */
    uint8_t layer;     /* [enum fv_io_layer] */
    uint16_t pad;
    char name[64]; /* cut to 63 bytes, NUL-padded */
};
_Static_assert(sizeof(struct fv_io_function_record) == 72, "on-disk size");

enum fv_io_kind {
    FV_IO_KIND_REGULAR = 1,
    FV_IO_KIND_DIRECTORY,
    FV_IO_KIND_TERMINAL, /* a character device, as /dev/null */
    FV_IO_KIND_DEVICE,   /* a block device */
    FV_IO_KIND_PIPE,     /* all of a process are one file, ... */
    FV_IO_KIND_SOCKET,   /* ... as are these ... */
    FV_IO_KIND_OTHER,    /* ... and these: events, timers */
    FV_IO_KINDS          /* [count] */
};

/* A file, by its name; of pipes, sockets and such one for all. */
struct fv_io_file {
    uint32_t bytes;         /* of this record, path included, a multiple of 8 */
    uint32_t id;            /* from 1 */
    uint64_t device, inode; /* when it was first seen */
    uint64_t filesystem;    /* [hex] statfs()'s f_type; 0: not known */
    uint32_t kind;          /* [enum fv_io_kind] */
    uint32_t path_bytes;    /* without the final NUL, which is there */
    char path[];            /* [count path_bytes] */
};
_Static_assert(sizeof(struct fv_io_file) == 40, "on-disk size");

enum fv_io_handle_flags {
    FV_IO_HANDLE_FOUND = 1, /* no function that is recorded opened it: it was there at the start, or made by another */
    FV_IO_HANDLE_READS = 2,
    FV_IO_HANDLE_WRITES = 4,
    FV_IO_HANDLE_APPENDS = 8,
};

/* What events of a trace call open: a file, as descriptors that share it have it. When it is closed the next that opens
 * the file has it. */
struct fv_io_handle {
    uint32_t id;    /* from 1 */
    uint32_t file;  /* fv_io_file.id */
    uint32_t flags; /* [enum fv_io_handle_flags] */
    uint32_t pad;
};
_Static_assert(sizeof(struct fv_io_handle) == 16, "on-disk size");

/* Upper bounds of the sizes of reads and writes, as Darshan's; the last class is all above. */
#define FV_IO_SIZES 10
#define FV_IO_SIZE_LIMITS                                                                       \
    {                                                                                           \
        100, 1000, 10000, 100000, 1000000, 4000000, 10000000, 100000000, 1000000000, UINT64_MAX \
    }

enum fv_io_record_flags {
    FV_IO_IN_MPI = 1, /* by MPI's own functions for files: `path` is that of the MPI call, which holds its time */
    FV_IO_FAILED_UNKNOWN = 2, /* of an archive: it does not say whether these calls failed */
};

/* What a thread did to a file by one function at one call path. Each call is in one record. Times in ticks. */
struct fv_io_record {
    uint32_t file;     /* fv_io_file.id; 0: by name alone (stat(), or an open() that failed), or there was no room for
                        * it */
    uint32_t path;     /* PATHS; 0: not known */
    uint32_t function; /* [enum fv_io_function] */
    uint32_t flags;    /* [enum fv_io_record_flags] */
    uint64_t calls, failed; /* failed: of calls */
    uint64_t bytes;         /* read, written, mapped */
    uint64_t ticks, ticks_max;
    uint64_t untimed;     /* of calls: from or into a buffer alone (getc(), putc()), which took some ns */
    uint64_t unsized;     /* of calls: bytes are not known (fscanf() of a pipe) */
    uint64_t empty;       /* of reads: nothing was there, as at the file's end */
    uint64_t consecutive; /* of reads and writes that moved bytes: it began where the last one of its kind ended, ... */
    uint64_t forward;     /* ... or behind that; ... */
    uint64_t placed;      /* ... of so many where that is known: a file has places, and it was not the first */
    uint64_t first, last; /* [ticks] begin of the first call, end of the last */
    uint64_t sizes[FV_IO_SIZES]; /* of calls that moved bytes, by bytes */
};
_Static_assert(sizeof(struct fv_io_record) == 200, "on-disk size");

/* A thread: the call that it is in, and what is missing. */
struct fv_io_thread {
    uint64_t begin;                /* [ticks] 0: it is in none */
    uint32_t function, file, path; /* of that call, as in struct fv_io_record */
    uint32_t pad;
    uint64_t ticks;       /* of all calls that are not in MPI: what records add up to */
    uint64_t no_room;     /* calls in records with file 0 or path 0, because there was no room */
    uint64_t interrupted; /* calls of signal handlers that interrupted the recording of another: not recorded */
    uint64_t untraced;    /* calls that are missing in the trace, because there was no room */
};
_Static_assert(sizeof(struct fv_io_thread) == 56, "on-disk size");

/* I/O between two calls of MPI: part of that pair's time (struct fv_region_record). */
struct fv_io_region {
    uint32_t from, cell;           /* as in struct fv_region_record */
    uint64_t calls, ticks;         /* of functions for files */
    uint32_t file, path, function; /* of what has most of it, if one has the majority of ticks */
    uint32_t pad;
    uint64_t weight; /* [ticks] of that: those by which it is ahead of all others, at least */
};
_Static_assert(sizeof(struct fv_io_region) == 48, "on-disk size");

/* What the kernel counts of the process: /proc/self/io. */
struct fv_io_counts {
    uint64_t asked_read, asked_written;   /* [bytes] of read() and write(), whatever file it is */
    uint64_t reads, writes;               /* system calls */
    uint64_t device_read, device_written; /* [bytes] that storage moved, or will, on its behalf; not of network file
                                           * systems */
};
struct fv_io_process {
    struct fv_io_counts first, last; /* at the start and at `ticks` */
    uint64_t ticks;                  /* 0: not known */
    uint64_t known;                  /* 1: the kernel tells */
};
_Static_assert(sizeof(struct fv_io_process) == 112, "on-disk size");

#endif
