/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program did to files, for its rank's file: transcript_files.c follows the calls, transcript_io.c keeps what
 * becomes of them (trace/format_io.h). */
#ifndef FV_TRANSCRIPT_FILES_H
#define FV_TRANSCRIPT_FILES_H

#include "trace/io_words.h"
#include "transcript/transcript_state.h"

enum fv_transcript_did {
    FV_DID_OPEN = 1,
    FV_DID_CLOSE = 2,
    FV_DID_READ = 4,
    FV_DID_WRITE = 8,
    FV_DID_SYNC = 16,
    FV_DID_SEEK = 32,
    FV_DID_REMOVE = 64,
    FV_DID_DUPLICATE = 128,
    FV_DID_LOCK = 256,
    FV_DID_BEGIN = 512, /* an operation that did not end in the call */
};

/* A call of a function for files, or of MPI, that a thread is in. */
struct fv_transcript_file_call {
    uint32_t function, node; /* of the definitions */
    uint32_t handle, file;   /* likewise; FV_NONE: not said */
    uint64_t begin, others;  /* ticks; others: in calls inside of it that are counted by themselves */
    uint64_t id;             /* of the operation that it is in; 0: none */
    uint64_t bytes, at;      /* at: the new position + 1, or where in the file it began + 1; 0: not known */
    uint32_t did, known;     /* known: of that, what is known to be done */
    uint8_t said;            /* 1: it succeeded, 2: it failed; 0: not said */
    bool unsized, hidden, in_mpi, has_bytes;
};

/* Where the next read or write of what is open begins; -1: not known. */
struct fv_transcript_position {
    int64_t at, end[2]; /* end: of the last read, write */
    bool appends;
};

/* Of a process. */
struct fv_transcript_files {
    struct fv_numbers files, handles; /* ids by the definitions' numbers */
    struct fv_numbers positions;      /* of handles, in `opened` */
    struct fv_numbers functions;      /* enum fv_io_function by the definitions' numbers */
    uint32_t file_count, handle_count;
    struct fv_bytes file_records, handle_records;
    struct fv_transcript_position *opened;
    size_t opened_count, opened_room;
    uint32_t *modes; /* by handle, as it was opened */
    size_t mode_room;
    struct fv_transcript_other {
        uint32_t function, operation; /* its key */
        struct fv_io_function_record record;
    } * others;
    size_t other_count, other_room;
    struct fv_index other_index;
};

/* Of a thread. */
struct fv_transcript_io {
    struct fv_transcript_file_call *open, mpi; /* mpi: the call of MPI */
    size_t depth, room;
    struct fv_transcript_io_record {
        uint32_t file, path, function, in_mpi; /* its key, as the record has it */
        struct fv_io_record record;
    } * records;
    size_t count, record_room;
    struct fv_index index;
    struct fv_io_region *regions;
    size_t region_count, region_room;
    struct fv_index region_index;
    struct fv_io_region since; /* since the last call of MPI */
    struct fv_io_thread thread;
};

/* transcript_io.c */
/* Those of the process, made when they are first needed. */
struct fv_transcript_files *fv_transcript_files_of(struct fv_transcript *t);
/* One of enum fv_io_function; 0: another one. */
uint32_t fv_transcript_file_function(struct fv_transcript *t, uint32_t function);
/* enum fv_file_mode_flags */
void fv_transcript_opened(struct fv_transcript *t, uint32_t handle, uint32_t mode);
/* Another handle of what is open. */
void fv_transcript_same(struct fv_transcript *t, uint32_t handle, uint32_t other);
/* It is over. */
void fv_transcript_file_call(struct fv_transcript *t, struct fv_transcript_thread *h,
                             const struct fv_transcript_file_call *call, uint64_t end);

#endif
