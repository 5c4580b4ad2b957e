/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program did to files (--io): by file, by call path and function, by rank. Exact; times are of calls, those
 * of MPI's own reads and writes apart, since the MPI call holds them. */
#ifndef FV_PROFILE_IO_H
#define FV_PROFILE_IO_H

#include "profile/model.h"
#include "tool/vec.h"
#include "trace/io_words.h"

struct fv_build;

/* Ranks that did something, as they come. */
struct fv_io_ranks {
    uint32_t count, last, min_rank, max_rank; /* indices in fv_model.ranks; FV_NONE */
    double last_s, min_s, max_s;
};

struct fv_io_sum {
    uint64_t calls, failed, bytes, untimed, unsized, empty, consecutive, forward, placed;
    double seconds, in_mpi_s, max_s; /* in_mpi_s: of calls within MPI's functions for files, which is not in
                                      * `seconds` */
    uint64_t sizes[FV_IO_SIZES];
    bool failed_unknown;
};

/* A function at a call path, on a file. */
struct fv_io_place {
    uint32_t file, node, function, flags; /* file: in fv_io_view.files; FV_NONE: by name alone. flags: enum
                                           * fv_io_record_flags */
};

/* Of a rank. */
struct fv_io_part {
    struct fv_io_place place;
    uint32_t rank;
    struct fv_io_sum sum;
};

struct fv_io_call_view {
    struct fv_io_place place;
    struct fv_io_sum sum;
    struct fv_io_ranks ranks;
};

struct fv_io_file_view {
    const char *path;
    uint32_t kind;       /* enum fv_io_kind */
    uint64_t filesystem; /* 0: not known */
    struct fv_io_sum read, write, other;
    uint64_t opens, seeks, syncs, states;
    double seconds, in_mpi_s; /* of all: outside of MPI, and within its functions for files */
    struct fv_io_ranks ranks; /* by both */
};

/* A function for files; those of archives have numbers from FV_IO_OTHER_FUNCTIONS on, in the order of `others`. */
struct fv_io_function_view {
    const char *name;
    uint32_t operation; /* enum fv_io_operation */
};

struct fv_io_rank_view {
    uint32_t rank;
    double seconds;
    uint64_t read, written;
    bool is_known; /* what the kernel counts: */
    struct fv_io_counts counts;
};

struct fv_io_view {
    struct fv_io_part *parts; /* by place and rank */
    size_t part_count, part_room;
    struct fv_io_call_view *calls; /* of them, by seconds and in_mpi_s together, longest first */
    size_t call_count, call_room;
    struct fv_io_file_view *files; /* likewise */
    size_t file_count, file_room;
    struct fv_io_rank_view *ranks;
    size_t rank_count, rank_room;
    struct fv_io_function_view *others;
    size_t other_count, other_room;
    struct fv_index other_index;
    double seconds; /* of all ranks */
    uint64_t no_room, interrupted;
};

struct fv_io_function_view fv_io_function(const struct fv_io_view *view, uint32_t number);
/* The number of a rank file's function. */
uint32_t fv_io_function_number(struct fv_build *build, uint32_t rank, uint32_t number);

/* Makes the calls anew, of the parts, of which some may be at one place now. */
void fv_io_fold(struct fv_io_view *view);
void fv_io_view_release(void *data); /* struct fv_io_view */

/* calls 0: none. */
FV_SUBJECT_DATA(struct fv_io_view, io, io)

#endif
