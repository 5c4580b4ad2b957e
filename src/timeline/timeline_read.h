/* SPDX-License-Identifier: BSD-3-Clause */
/* A timeline as it is looked at: the file is mapped, and nothing of it is trusted. Any number of threads may ask at
 * once. */
#ifndef FV_TIMELINE_READ_H
#define FV_TIMELINE_READ_H

#include "timeline/timeline.h"
#include "tool/spans.h"

#include <stddef.h>

struct fv_timeline_file {
    const struct fv_timeline_header *header;
    const struct fv_timeline_row *rows;
    const struct fv_timeline_region *regions;
    const struct fv_timeline_slice_kind *kinds;
    const struct fv_timeline_chunk *chunks;
    const struct fv_timeline_message_block *messages;
    const struct fv_timeline_span_block *members, *io;
    const struct fv_timeline_io_file *files;
    const struct fv_timeline_context *contexts;
    const struct fv_timeline_series *series;
    const struct fv_timeline_label *labels;
    const struct fv_timeline_stretch *critical;
    const uint32_t *comms, *comm_names;
    const char *strings;
    const uint8_t *map;
    size_t bytes;
};

/* False: there is none that is whole and of this source (FV_TIMELINE_ANY: of any); nothing is said. */
#define FV_TIMELINE_ANY UINT64_MAX
bool fv_timeline_open(struct fv_timeline_file *timeline, const char *path, uint64_t source);
void fv_timeline_close(struct fv_timeline_file *timeline);

/* "" where it is damaged. */
const char *fv_timeline_text(const struct fv_timeline_file *timeline, uint32_t string);
/* "": it has none, or there is no such. */
const char *fv_timeline_comm_name(const struct fv_timeline_file *timeline, uint32_t comm);
const char *fv_timeline_file_name(const struct fv_timeline_file *timeline, uint32_t file);

/* A thread without events, such as a helper of the tool: it counts in no mean and no share. A rank's main thread
 * computes where it has none. */
static inline bool fv_timeline_is_idle(const struct fv_timeline_row *row)
{
    return (row->thread || row->name) && !row->slices && !row->samples && !row->left_out;
}

/* What is taken out of a timeline: what has a part of [from_ns, to_ns), whole; of these rows. */
struct fv_timeline_choice {
    uint64_t from_ns, to_ns;
    const struct fv_spans *ranks, *threads; /* NULL, or without a text: all */
};
bool fv_timeline_choice_has(const struct fv_timeline_choice *part, const struct fv_timeline_row *row);

/* What rows have of a stretch of time, in parts of 255: of several rows the mean. */
struct fv_timeline_tile {
    uint8_t parts[FV_TIMELINE_CLASS_COUNT];
    uint8_t computing; /* main threads between calls, where neither regions nor samples say what is done */
    uint8_t wait, region_part;
    uint32_t region; /* that has most of it, an estimate of several bins or rows; FV_TIMELINE_NONE */
};
/* `count` stretches of equal length from `from` to `to`; of `rows` together. */
void fv_timeline_tiles(const struct fv_timeline_file *timeline, const uint32_t *rows, size_t row_count, double from,
                       double to, struct fv_timeline_tile *out, size_t count);

/* What a row has of a stretch of time: of each class of regions, innermost, and waiting, which is in these. */
struct fv_timeline_parts {
    double ns[FV_TIMELINE_CLASS_COUNT], wait_ns;
};
void fv_timeline_parts(const struct fv_timeline_file *timeline, uint32_t row, double from, double to,
                       struct fv_timeline_parts *out);

struct fv_timeline_seen {
    uint64_t begin_ns, ns, wait_ns;
    uint32_t region, context, cause; /* FV_TIMELINE_NONE: none */
    uint32_t depth;
    uint32_t comm, instance; /* a collective operation that it took part in; comm: FV_TIMELINE_NONE: in none */
    uint32_t root;           /* of that, in MPI_COMM_WORLD; FV_TIMELINE_NONE: none */
    uint32_t file;           /* FV_TIMELINE_NONE: it is of none */
    bool is_sampled;
};
/* By its number in the row. */
struct fv_timeline_slice_kind fv_timeline_slice_kind_of(const struct fv_timeline_file *timeline, uint32_t row,
                                                        uint64_t kind);
typedef bool fv_timeline_take(void *context, const struct fv_timeline_seen *slice); /* false: enough */
/* Slices of a row that have a part of [from, to) and take `least_ns` or more; short ones first. False: not all. */
bool fv_timeline_slices(const struct fv_timeline_file *timeline, uint32_t row, uint64_t from, uint64_t to,
                        uint64_t least_ns, fv_timeline_take *take, void *context);
/* All of them, but without context, cause, file, comm, instance and root, which takes less time. */
void fv_timeline_times(const struct fv_timeline_file *timeline, uint32_t row, uint64_t from, uint64_t to,
                       fv_timeline_take *take, void *context);
/* The same as fv_timeline_slices() of one chunk, in the order of begins. */
bool fv_timeline_chunk_slices(const struct fv_timeline_file *timeline, uint64_t chunk, uint64_t from, uint64_t to,
                              uint64_t least_ns, fv_timeline_take *take, void *context);

/* Messages that are on their way in [from, to], in the order in which they are sent. What is sent and received before
 * is not read. */
typedef void fv_timeline_take_message(void *context, const struct fv_timeline_message *message);
void fv_timeline_messages(const struct fv_timeline_file *timeline, uint64_t from, uint64_t to,
                          fv_timeline_take_message *take, void *context);
/* How many these are. */
uint64_t fv_timeline_message_count(const struct fv_timeline_file *timeline, uint64_t from, uint64_t to);
/* Of one of header->message_blocks. */
void fv_timeline_block_messages(const struct fv_timeline_file *timeline, uint64_t block, uint64_t from, uint64_t to,
                                fv_timeline_take_message *take, void *context);

/* A call of a collective operation (struct fv_timeline_header). */
struct fv_timeline_member {
    uint64_t begin_ns, ns, wait_ns, wait_begin_ns, sent, received;
    uint32_t row, region;
    uint32_t flags;          /* enum fv_timeline_member_flags */
    uint32_t comm, instance; /* as struct fv_timeline_seen has them; instance: FV_TIMELINE_NONE: it is not known */
};
/* Those of all operations that have a part of [from, to), with some that have none: of an operation all, behind each
 * other, and the first of them BEGINS. */
typedef void fv_timeline_take_member(void *context, const struct fv_timeline_member *member);
void fv_timeline_members_of(const struct fv_timeline_file *timeline, uint64_t from, uint64_t to,
                            fv_timeline_take_member *take, void *context);
/* Of one of header->member_blocks, which may begin within an operation. */
void fv_timeline_block_members(const struct fv_timeline_file *timeline, uint64_t block, fv_timeline_take_member *take,
                               void *context);

/* Operations on files that have a part of [from, to), with some that have none, by begin. */
struct fv_timeline_io_operation {
    uint64_t begin_ns, ns, bytes; /* bytes: UINT64_MAX: not known */
    uint32_t row, file, kind;
    uint32_t interface; /* enum fv_def_io */
};
typedef void fv_timeline_take_io(void *context, const struct fv_timeline_io_operation *operation);
void fv_timeline_io_of(const struct fv_timeline_file *timeline, uint64_t from, uint64_t to, fv_timeline_take_io *take,
                       void *context);
/* Of one of header->io_blocks. */
void fv_timeline_block_io(const struct fv_timeline_file *timeline, uint64_t block, fv_timeline_take_io *take,
                          void *context);

/* Slices of a row that have a part of [from, to), in the order of their begins, outer ones first. `g` begins as zeros,
 * is used for one row after the other, and its items are the caller's. */
struct fv_timeline_gathering {
    struct fv_timeline_seen *items;
    size_t count, room;
    bool has_all; /* also what fv_timeline_times() leaves out */
};
void fv_timeline_gather(const struct fv_timeline_file *timeline, uint32_t row, uint64_t from, uint64_t to,
                        struct fv_timeline_gathering *g);

#endif
