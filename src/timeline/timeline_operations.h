/* SPDX-License-Identifier: BSD-3-Clause */
/* What a stretch of time has of collective operations, by kind, and of operations on files, by file. Calls, bytes and
 * times are of calls of the window's rows that have a part of it; times are those inside of it. How far the members of
 * a collective operation were apart is of the whole operation, and of all its members. All is exact. */
#ifndef FV_TIMELINE_OPERATIONS_H
#define FV_TIMELINE_OPERATIONS_H

#include "timeline/timeline_stats.h"

/* A collective operation, of those of its members' calls that are there. */
struct fv_timeline_operation {
    uint64_t begin_ns, last_ns, end_ns; /* the first member begins, the last one begins, all have left it */
    uint64_t wait_ns, sent, received;
    uint32_t calls, last_row;
    uint32_t region, comm, instance, flags; /* of struct fv_timeline_member */
};
/* One that BEGINS makes it another operation. */
void fv_timeline_operation_add(struct fv_timeline_operation *operation, const struct fv_timeline_member *member);

/* Collective operations that began in calls of one region. */
struct fv_timeline_kind {
    uint64_t calls, ns, wait_ns, sent, received;
    uint64_t alone;      /* calls of which it is not known to which operation they belong: in no other number below */
    uint64_t operations; /* with a call that is counted */
    uint64_t partial;    /* of these, without some members' calls: they are not in what follows */
    uint64_t spread_ns;  /* from the first member's begin to the last one's, of all operations */
    uint64_t longest_ns; /* the longest one of that: when, until all members have left it, and the row that is last */
    uint64_t longest_begin_ns, longest_end_ns;
    uint32_t longest_row;
};
/* `kinds`: zeros, by region. */
void fv_timeline_kinds(const struct fv_timeline_file *timeline, const struct fv_timeline_window *window,
                       struct fv_timeline_kind *kinds);

/* A file, as one interface is used for it. */
struct fv_timeline_io_sum {
    uint32_t file, interface; /* enum fv_def_io */
    uint64_t opens, reads, writes, others;
    uint64_t ns;            /* of all of these */
    uint64_t read, written; /* bytes */
    uint64_t unknown;       /* reads and writes of which it is not known how many bytes they moved: they failed */
    uint64_t moving_ns;     /* whole time of the other ones */
    uint64_t longest_ns;    /* the longest operation, where and when */
    uint64_t longest_begin_ns;
    uint32_t longest_row;
};
struct fv_timeline_io_sums {
    struct fv_timeline_io_sum *items;
    size_t count, room;
    struct fv_index index;
};
void fv_timeline_io_make(const struct fv_timeline_file *timeline, const struct fv_timeline_window *window,
                         struct fv_timeline_io_sums *sums);
void fv_timeline_io_release(struct fv_timeline_io_sums *sums);

#endif
