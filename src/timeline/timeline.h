/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a timeline: all that a run's locations did over time, made once of its records (merge/record.h) and then
 * looked at in any stretch of time and at any zoom without the trace. Byte order and sizes are this machine's: it is a
 * cache, made again where it does not fit.
 *
 *     header, then in any order: chunks of slices, bins, messages, and tables, which the header leads to
 *
 * Times are ns after the run's origin. A *row* is a location: a thread of a rank. A *slice* is a region that a row was
 * in, or, sampled, a function that samples found outside of all regions. Slices of a row are in chunks by the length of
 * their time, 4^k to 4^(k+1) ns: those that a stretch of time holds are few chunks, and those that are too short to be
 * seen need not be read. A *bin* is a stretch of a row with the time of each class of regions in it; bins of the next
 * level are twice as long. */
#ifndef FV_TIMELINE_H
#define FV_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

/* Classes of regions. What is left of a bin is computing, of which nothing is known. */
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
#define FV_TIMELINE_VERSION 2
#define FV_TIMELINE_NONE    UINT32_MAX

/* A stretch of the file: `count` of what it is of. */
struct fv_timeline_part {
    uint64_t offset, count;
};

struct fv_timeline_header {
    char magic[8];
    uint32_t version, complete; /* complete: 0 it is being made */
    uint64_t source;            /* hash of the trace that it is of: names, sizes and times of its files */
    uint64_t span_ns;           /* all ends before */
    uint64_t file_bytes;
    uint64_t slices, samples, bins;        /* of all rows */
    uint64_t unmatched;                    /* sends and receives without the other end */
    struct fv_timeline_part rows, regions; /* struct fv_timeline_row, fv_timeline_region */
    struct fv_timeline_part chunks;        /* struct fv_timeline_chunk, by row, then by length class, then by begin */
    struct fv_timeline_part messages;      /* struct fv_timeline_message, by the time sent */
    struct fv_timeline_part contexts;      /* struct fv_timeline_context */
    struct fv_timeline_part series;        /* struct fv_timeline_series */
    struct fv_timeline_part labels;        /* struct fv_timeline_label, by time */
    struct fv_timeline_part critical;      /* struct fv_timeline_stretch: the critical path, by time; none: no
                                            * analysis */
    struct fv_timeline_part comms;         /* uint32_t: of each communicator, members that have rows */
    struct fv_timeline_part strings;       /* bytes: each ends with a NUL, and what refers to it is its offset */
};

struct fv_timeline_row {
    uint32_t rank, thread;    /* of MPI_COMM_WORLD; slot of the rank */
    uint32_t host;            /* string */
    uint32_t levels;          /* of bins: the finest, then half as many, rounded up, ... one behind the other */
    uint64_t bins, bin_count; /* where; of the finest, so many */
    uint32_t width;           /* log2 of a finest bin's ns */
    uint32_t depth;           /* of slices in each other, at most */
    uint64_t first_chunk, chunk_count;
    uint64_t slices, samples;
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

/* Of slices in varints (events.h): begin, from that of the one before; ns; region * 8 + flags: 1 sampled, 2 it waited,
 * 4 it took part in a collective operation; depth; context + 1; if it waited, ns of that, and the row that it waited
 * for + 1; if it took part, the communicator and a number that all members' calls have. */
struct fv_timeline_chunk {
    uint64_t offset;
    uint32_t bytes, count;
    uint64_t begin_ns, end_ns; /* of the first one to begin; of the last one to end */
    uint32_t row, length;      /* length: log4 of the ns of its slices */
};

/* ns are in units of the level: 1 where a bin has less than 2^32 ns, else 2^(width - 32). */
struct fv_timeline_bin {
    uint32_t ns[FV_TIMELINE_CLASS_COUNT]; /* innermost: each moment once */
    uint32_t wait_ns;                     /* of that: calls that waited, from the analysis */
    uint32_t region, region_ns;           /* that has most of it, of several bins by an estimate; FV_TIMELINE_NONE */
    uint32_t longest_ns, longest_for;     /* the longest wait that ends in it, and its row; FV_TIMELINE_NONE */
};

struct fv_timeline_message {
    uint64_t sent_ns, received_ns, bytes;
    uint32_t from, to; /* rows */
    uint32_t tag, comm;
};

/* Values along time: what a sensor, a counter or a metric told. */
enum fv_timeline_scope { FV_TIMELINE_OF_THREAD, FV_TIMELINE_OF_PROCESS, FV_TIMELINE_OF_NODE };
struct fv_timeline_series {
    uint32_t name, unit;    /* strings */
    uint32_t row, scope;    /* of a process or a node the first row of the rank that recorded it */
    uint32_t is_rate, pad;  /* 1: a second's, and a value is of the time since the one before; else it holds until the
                             * next one */
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

static inline unsigned fv_timeline_shift(unsigned width)
{
    return width > 32 ? width - 32 : 0;
}

#endif
