/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of format.h: communicators, and what belongs to one: files of MPI, windows, grids, neighbours. */
#ifndef FV_FORMAT_COMMS_H
#define FV_FORMAT_COMMS_H

#include <stdint.h>

/* A run of ranks: first, first + stride, ... */
struct fv_rank_run {
    int32_t first, stride, count; /* the first rank; from one to the next; how many */
};

enum fv_comm_flags {
    FV_COMM_WORLD = 1,
    FV_COMM_SELF = 2,
    FV_COMM_INTER = 4,
    FV_COMM_INFERRED = 8, /* met without having seen its creation: uid is of this process alone */
    FV_COMM_FREED = 16,
#define FV_CHANNELS_NAME "partitioned %u" /* from 1 on */
    FV_COMM_CHANNELS = 32, /* none of MPI's: partitioned operations of `parent`, in a trace (src/rt/channels.c) */
    FV_COMM_UNLISTED = 64, /* no runs here: some of its other ranks list the members (src/rt/comm.c) */
};

/* A communicator. `uid` is equal on all its ranks and unique in the job (see src/rt/comm.h). The runs
 * give the world ranks of the local group in order, then of the remote group. */
struct fv_comm_record {
    uint32_t bytes;             /* of this record, runs included, a multiple of 8 */
    uint32_t id;                /* of this process, from 1; 0 in a cell: no communicator */
    uint64_t uid;               /* [hex] */
    uint64_t parent;            /* [hex] uid; 0 none */
    uint64_t handle;            /* [hex] as the application holds it */
    uint64_t created, freed;    /* [ticks] 0: not seen */
    uint32_t flags;             /* [enum fv_comm_flags] */
    int32_t rank, size;         /* in the local group */
    int32_t remote_size;        /* 0 unless FV_COMM_INTER */
    uint32_t runs, remote_runs; /* how many runs of ranks the groups have */
    uint64_t collectives;       /* collective calls seen on it */
    char name[64];              /* NUL-padded; "" unless MPI_Comm_set_name or predefined */
    struct fv_rank_run run[];   /* [count runs + remote_runs] world ranks of the local group, then of the remote one */
};
_Static_assert(sizeof(struct fv_comm_record) == 144, "on-disk size");

/* A file that was opened with MPI_File_open. */
struct fv_file_record {
    uint32_t bytes;      /* of this record, name included, a multiple of 8 */
    uint32_t id;         /* of this process, from 1 */
    uint32_t comm;       /* fv_comm_record.id */
    uint32_t mode;       /* [enum fv_file_mode_flags] MPI_MODE_* differ between MPIs */
    uint32_t name_bytes; /* without the final NUL, which is there */
    uint32_t pad;
    char name[]; /* [count name_bytes] of the file */
};
_Static_assert(sizeof(struct fv_file_record) == 24, "on-disk size");

/* Whom a rank exchanges with in the neighbourhood collectives of a communicator, in the order of their buffers:
 * ranks in the communicator, one that stands there twice is there twice. Beyond the edge of a grid is nobody,
 * who is left out. */
struct fv_neighbours {
    uint32_t bytes;                 /* of this record, ranks included, a multiple of 8 */
    uint32_t comm;                  /* fv_comm_record.id */
    uint32_t sources, destinations; /* how many */
    uint32_t listed;                /* sources + destinations; 0: over budget, they are unknown */
    uint32_t pad;
    int32_t rank[]; /* [count listed] sources, then destinations */
};
_Static_assert(sizeof(struct fv_neighbours) == 24, "on-disk size");

struct fv_grid_dimension {
    uint32_t size;     /* ranks */
    uint32_t periodic; /* 1: the last is beside the first */
};

/* The Cartesian grid of a communicator, the same on all its ranks. Their coordinates follow from their ranks in
 * it: the last dimension counts fastest (MPI-4.1, 8.5: row-major). */
struct fv_grid {
    uint32_t bytes;      /* of this record, dimensions included, a multiple of 8 */
    uint32_t comm;       /* fv_comm_record.id */
    uint32_t dimensions; /* how many */
    uint32_t pad;
    struct fv_grid_dimension dimension[]; /* [count dimensions] */
};
_Static_assert(sizeof(struct fv_grid) == 16, "on-disk size");

/* A window of one-sided communication. With the communicator's uid, `sequence` (of the collective call that
 * made it) is the same on all ranks and no other window's. */
struct fv_window_record {
    uint32_t id;       /* of this process, from 1 */
    uint32_t comm;     /* fv_comm_record.id */
    uint64_t sequence; /* of the call that made it, among those on the communicator */
};
_Static_assert(sizeof(struct fv_window_record) == 16, "on-disk size");

enum fv_file_mode_flags {
    FV_FILE_RDONLY = 1,
    FV_FILE_WRONLY = 2,
    FV_FILE_RDWR = 4,
    FV_FILE_CREATE = 8,
    FV_FILE_EXCL = 16,
    FV_FILE_APPEND = 32,
    FV_FILE_DELETE_ON_CLOSE = 64,
};

#endif
