/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a timeline: all that a run's locations did over time, made once of its records (merge/record.h) and then
 * looked at in any stretch of time and at any zoom without the trace. Byte order and sizes are this machine's: it is a
 * cache, made again where it does not fit.
 *
 *     header, then in any order: blocks of slices and of messages, bins, and tables, which the header leads to
 *
 * Times are ns after the run's origin. A *row* is a location: a thread of a rank. A *slice* is a region that a row was
 * in, or, sampled, a function that samples found outside of all regions but sections. Slices of a row are in chunks by
 * the length of their time, 4^k to 4^(k+1) ns: those that a stretch of time holds are few chunks, and those that are
 * too short to be seen need not be read. A *bin* is a stretch of a row with the time of each class of regions in it;
 * bins of the next level are twice as long. */
#ifndef FV_TIMELINE_H
#define FV_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

/* Classes of regions. What is left of a bin is computing, of which nothing is known, if it is of a main thread between
 * its first and its last slice; else nothing was done. */
#define FV_TIMELINE_CLASSES(X)                                \
    X(FUNCTION, "function", "the program's own functions")    \
    X(P2P, "point-to-point", "MPI: messages")                 \
    X(COLLECTIVE, "collective", "MPI: collective operations") \
    X(RMA, "one-sided", "MPI: one-sided communication")       \
    X(MPI, "MPI", "MPI: all else")                            \
    X(OPENMP, "OpenMP", "worksharing and tasks of OpenMP")    \
    X(THREADS, "threads", "waits of threads")                 \
    X(IO, "I/O", "files")                                     \
    X(MEMORY, "memory", "the allocator")
enum fv_timeline_class {
#define FV_TIMELINE_ENUM(name, word, about) FV_TIMELINE_##name,
    FV_TIMELINE_CLASSES(FV_TIMELINE_ENUM)
#undef FV_TIMELINE_ENUM
        FV_TIMELINE_CLASS_COUNT
};

#define FV_TIMELINE_MAGIC   "FVTIMELN"
#define FV_TIMELINE_VERSION 13
#define FV_TIMELINE_NONE    UINT32_MAX

/* A stretch of the file: `count` of what it is of. */
struct fv_timeline_part {
    uint64_t offset, count;
};

/* What there was no room for. Bins, counts and times of regions are of all slices. */
struct fv_timeline_left_out {
    uint64_t slices;           /* all of them are shorter than least_ns */
    uint64_t least_ns;         /* all slices that take as long are there */
    uint64_t messages, series; /* all messages, or none; of series some */
    uint64_t critical;         /* all stretches of the critical path, or none */
    uint64_t members, io;      /* all calls of collective operations, all operations on files, or none */
};

/* What there is to say against its waiting, and against the trace. */
struct fv_timeline_doubts {
    uint64_t missing, early; /* messages and collective operations without the other side; that came before they were
                              * sent */
    uint64_t estimated_ns;   /* waiting of kinds that are estimates by themselves */
    uint32_t clocks;         /* that were aligned, of hosts */
    uint32_t is_damaged;     /* 1: a part of the trace is missing or damaged */
};

struct fv_timeline_header {
    char magic[8];
    uint32_t version, complete; /* complete: 0 it is being made */
    uint64_t source;            /* hash of the trace that it is of: names, sizes and times of its files */
    uint64_t span_ns;           /* all ends before */
    uint64_t file_bytes;
    uint64_t slices, samples, bins;       /* of all rows */
    uint64_t messages, unmatched;         /* unmatched: sends and receives without the other end */
    uint64_t members, io;                 /* calls of collective operations; operations on files */
    uint64_t most_bytes;                  /* that the file was allowed to have; 0: any number */
    struct fv_timeline_left_out left_out; /* so that it has no more */
    struct fv_timeline_doubts doubts;
    struct fv_timeline_part rows, regions;  /* struct fv_timeline_row, fv_timeline_region */
    struct fv_timeline_part kinds;          /* struct fv_timeline_slice_kind, of each process that made it */
    struct fv_timeline_part chunks;         /* struct fv_timeline_chunk, by row, then by length class, then by begin */
    struct fv_timeline_part message_blocks; /* struct fv_timeline_message_block, by the time sent */
    struct fv_timeline_part member_blocks;  /* struct fv_timeline_span_block, by the begin of the operation */
    struct fv_timeline_part io_blocks;      /* the same, by begin */
    struct fv_timeline_part files;          /* struct fv_timeline_io_file */
    struct fv_timeline_part contexts;       /* struct fv_timeline_context */
    struct fv_timeline_part series;         /* struct fv_timeline_series */
    struct fv_timeline_part labels;         /* struct fv_timeline_label, by time */
    struct fv_timeline_part critical;       /* struct fv_timeline_stretch: the critical path, by time; none: no
                                             * analysis */
    struct fv_timeline_part comms;          /* uint32_t: of each communicator, members that have rows */
    struct fv_timeline_part comm_names;     /* uint32_t: string of each communicator; "": it has none */
    struct fv_timeline_part strings;        /* bytes: each ends with a NUL, and what refers to it is its offset */
};

struct fv_timeline_row {
    uint32_t rank, thread; /* of MPI_COMM_WORLD; slot of the rank */
    uint32_t host;         /* string */
    uint32_t name;         /* string; of a stream of an accelerator, else 0 */
    uint32_t pad;
    uint32_t levels;                  /* of bins: the finest, then half as many, rounded up, ... one behind the other */
    uint32_t classes;                 /* a bit for each class that its bins have; FV_TIMELINE_WAITS: they have waits */
    uint32_t region_bytes;            /* of the number of a region in a bin: 1, 2 or 4 */
    uint64_t bins, bin_count;         /* where; of the finest, so many */
    uint64_t leaves;                  /* where: struct fv_timeline_block of each FV_TIMELINE_LEAVES leaves */
    uint32_t leaf_blocks, leaf_width; /* how many; log2 of a leaf's ns */
    uint32_t width;                   /* log2 of a finest bin's ns */
    uint32_t depth;                   /* of slices in each other, at most */
    uint64_t first_chunk, chunk_count;
    uint64_t first_kind; /* of those that its slices have */
    uint64_t slices, samples;
    uint64_t left_out;         /* of slices: see struct fv_timeline_left_out */
    uint64_t begin_ns, end_ns; /* of the first slice, and of the last one */
};

struct fv_timeline_region {
    uint32_t name;  /* string */
    uint32_t file;  /* string; of a function of the program */
    uint32_t class; /* enum fv_timeline_class */
    uint32_t pad;
    uint64_t count, ns; /* slices, and their time with what is in them, in all rows */
};

/* A function of a call path. */
struct fv_timeline_context {
    uint32_t parent;               /* FV_TIMELINE_NONE: outermost */
    uint32_t function, file, line; /* strings; of the call */
};

/* Rows of numbers, stored column by column, and of each column the lowest bytes of all its numbers, then the next ones,
 * ...: planes. Varints (events.h): of each column 16 * its numbers + its planes, of those with planes also a byte with
 * a bit for each that is stored as it is; behind the last column, and the last one of those that can be read without
 * the others, the bytes of its other planes, and how many they are by zstd. Then the planes that are stored as they
 * are, and the others by zstd, or, if that takes as many, as they are. */
struct fv_timeline_block {
    uint64_t offset;
    uint32_t bytes, count;
};

/* What slices are alike in. */
struct fv_timeline_slice_kind {
    uint32_t region, outer; /* outer: the region around it; FV_TIMELINE_NONE: there is none */
    uint32_t depth;
    uint32_t flags; /* enum fv_timeline_slice_flags */
};
enum fv_timeline_slice_flags {
    FV_TIMELINE_SAMPLED = 1,
    FV_TIMELINE_TOGETHER = 2, /* it took part in a collective operation */
    FV_TIMELINE_OF_FILE = 4
};

/* Slices: begin, from that of the one before, of the first from the chunk's; ns; kind, from the row's first one on, * 2
 * + 1 if it waited; of those that waited ns of that. Then context + 1; of those that waited the row that it waited for,
 * + 1 - the own row, zigzag; of those that took part the communicator, a number that all members' calls have, and the
 * rank of the root in MPI_COMM_WORLD, + 1; 0: it has none; of those of a file its number. */
#define FV_TIMELINE_TIME_COLUMNS  4 /* of these, which can be read without the others */
#define FV_TIMELINE_SLICE_COLUMNS 10
struct fv_timeline_chunk {
    struct fv_timeline_block block;
    uint64_t begin_ns, end_ns; /* of the first one to begin; of the last one to end */
    uint32_t row, length;      /* length: log4 of the ns of its slices */
};

/* Messages: sent, from that of the one before, of the first from the block's begin; ns until received, zigzag; bytes;
 * from; to - from, zigzag; tag; comm. */
#define FV_TIMELINE_MESSAGE_COLUMNS 7
struct fv_timeline_message_block {
    struct fv_timeline_block block;
    uint64_t begin_ns, end_ns;  /* the first one is sent, the last one is received */
    uint64_t first_received_ns; /* of any of them */
};

/* What takes time and has no place in a row. */
struct fv_timeline_span_block {
    struct fv_timeline_block block;
    uint64_t begin_ns, end_ns; /* of the first one to begin; of the last one to end; of collective operations, of the
                                * whole operations */
};

/* Calls of collective operations, those on windows also, the members' of each behind each other: of the first one of a
 * block or of an operation, when the first member began, from that of the one before, at first from the block's begin;
 * begin, from that; ns; row, from that of the one before, zigzag; region * 16 + flags: enum fv_timeline_member_flags;
 * bytes sent; bytes received; of those that waited ns of that, and where it begins, from the call's begin, zigzag.
 * Where the first column has a number: the communicator; and what slices have as the number of the operation, + 1, 0:
 * it is not known, from that of the operation before in the block, zigzag. */
#define FV_TIMELINE_MEMBER_COLUMNS 11
enum fv_timeline_member_flags {
    FV_TIMELINE_MEMBER_BEGINS = 1, /* another operation than the one before */
    FV_TIMELINE_MEMBER_WAITED = 2,
    FV_TIMELINE_MEMBER_ALONE = 4,  /* which calls belong to it is not known, or they do not all depend on each other */
    FV_TIMELINE_MEMBER_PARTIAL = 8 /* not all members' calls are there */
};

/* Operations on files: begin, from that of the one before, of the first from the block's; ns; row, from that of the one
 * before, zigzag; file; enum fv_timeline_io_kind + FV_TIMELINE_IO_KINDS * enum fv_def_io; bytes + 1, 0: not known. */
#define FV_TIMELINE_IO_COLUMNS 6
enum fv_timeline_io_kind {
    FV_TIMELINE_IO_READ,
    FV_TIMELINE_IO_WRITE,
    FV_TIMELINE_IO_OPEN,
    FV_TIMELINE_IO_OTHER, /* closes, moves, synchronises */
    FV_TIMELINE_IO_KINDS
};
struct fv_timeline_io_file {
    uint32_t name, host; /* strings */
};
#define FV_TIMELINE_COLUMNS 12      /* at most */
#define FV_TIMELINE_RAW     1000000 /* rows, and bytes that zstd has of one, at most */

/* A bin, in the file 2 bytes for each part that the row has, and the region: parts of its time in 1 / 65535, those of
 * the innermost regions (each moment once); calls that waited, which are in these; the region that has most, of several
 * bins by an estimate, and its part. No region: all bits are 1. */
#define FV_TIMELINE_WAITS (1u << 31)
#define FV_TIMELINE_WHOLE 65535

/* A leaf: a bin that is finer than those, in a block, whose offset is from the row's bins on. Columns: of each class of
 * the row its part, of waits, the region's part, in 1 / 255, the region + 1. */
#define FV_TIMELINE_LEAVES     1024
#define FV_TIMELINE_LEAF_WHOLE 255

static inline unsigned fv_timeline_bin_bytes(uint32_t classes, uint32_t region_bytes)
{
    return 2 * (unsigned)__builtin_popcount(classes) + 2 + region_bytes;
}

struct fv_timeline_message {
    uint64_t sent_ns, received_ns, bytes;
    uint32_t from, to; /* rows */
    uint32_t tag, comm;
};

/* Values along time: what a sensor, a counter or a metric told. */
#define FV_TIMELINE_SCOPES(X)         X(THREAD, "thread") X(PROCESS, "process") X(NODE, "node")
#define FV_TIMELINE_SCOPE(name, word) FV_TIMELINE_OF_##name,
enum fv_timeline_scope { FV_TIMELINE_SCOPES(FV_TIMELINE_SCOPE) };
struct fv_timeline_series {
    uint32_t name, unit;    /* strings */
    uint32_t row, scope;    /* of a process or a node the first row of the rank that recorded it */
    uint32_t is_rate;       /* 1: a value is of the time since the one before; else it holds until the next one */
    uint32_t is_ratio;      /* of one that is_rate: 0: a second's */
    uint64_t points, count; /* where: struct fv_timeline_point, by time */
    uint64_t extremes;      /* where: of FV_TIMELINE_FAN points each, then of so many of these, ... until it is one */
};
#define FV_TIMELINE_FAN 16
struct fv_timeline_point {
    uint64_t ns;
    double value;
};
struct fv_timeline_extremes {
    double least, most;
};

static inline uint64_t fv_timeline_extremes_of(uint64_t count)
{
    uint64_t all = 0;

    do {
        count = (count + FV_TIMELINE_FAN - 1) / FV_TIMELINE_FAN;
        all += count;
    } while (count > 1);
    return all;
}

struct fv_timeline_label {
    uint64_t ns;
    uint32_t row, text; /* string */
};

struct fv_timeline_stretch {
    uint64_t begin_ns, end_ns;
    uint32_t row, pad;
};

#endif
