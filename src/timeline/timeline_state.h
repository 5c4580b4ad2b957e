/* SPDX-License-Identifier: BSD-3-Clause */
/* What is kept while a timeline is made; shared by its parts: timeline_write.c takes records and makes slices of them,
 * timeline_bins.c sums up what the innermost ones are, timeline_messages.c finds both ends of messages,
 * timeline_together.c puts the calls of collective operations together, timeline_io.c has operations on files,
 * timeline_series.c keeps values along time, timeline_tables.c writes chunks and tables, timeline_limit.c leaves out
 * what there is no room for. */
#ifndef FV_TIMELINE_STATE_H
#define FV_TIMELINE_STATE_H

#include "merge/bytes.h"
#include "merge/groups.h"
#include "merge/requests.h"
#include "timeline/timeline_blocks.h"
#include "timeline/timeline_write.h"

#include <stdio.h>

struct fv_timeline_slice {
    uint64_t begin_ns, ns, wait_ns;
    uint32_t kind, depth;
    uint32_t context, cause;       /* context: FV_TIMELINE_NONE: none; cause: row */
    uint32_t comm, instance, root; /* that it took part in; root: world rank; FV_TIMELINE_NONE: none */
    uint32_t file;
};

/* A stretch of time in which a region was innermost; or a wait: FV_TIMELINE_NONE. */
struct fv_timeline_piece {
    uint64_t begin_ns, end_ns;
    uint32_t region;
};

/* ns are in units: 1 where a bin has less than 2^32 ns, else 2^(width - 32). */
struct fv_timeline_bin {
    uint32_t ns[FV_TIMELINE_CLASS_COUNT], wait_ns;
    uint32_t region, region_ns; /* FV_TIMELINE_NONE: none */
};
static inline unsigned fv_timeline_shift(unsigned width)
{
    return width > 32 ? width - 32 : 0;
}

struct fv_timeline_bins {
    struct fv_timeline_piece *pieces; /* as long as it is not known how fine bins should be */
    size_t piece_count, piece_room;
    unsigned width;  /* log2 ns; 0: not chosen yet */
    uint64_t length; /* [ns] of the run, from then on */
    struct fv_timeline_bin *items;
    size_t count, room;
    /* What each region has of the bin at hand: */
    size_t at;
    struct fv_timeline_share {
        uint32_t region, ns;
    } * shares;
    size_t share_count, share_room;
};

#define FV_TIMELINE_LENGTHS 32 /* 4^0 to 4^31 ns */

struct fv_timeline_open {
    uint64_t begin_ns;
    uint32_t region, context;
    uint32_t comm, instance; /* of the collective operation that it is, the first one; FV_TIMELINE_NONE */
    uint32_t root, file;     /* the operation's, FV_TIMELINE_NONE: none; the first file, likewise */
    bool is_open;            /* samples say what is done in it */
    size_t first_member;     /* of those that it completes, + 1; 0: none */
    uint64_t wait_ns;        /* that was told within it, ... */
    uint32_t cause;          /* ... for a row; FV_TIMELINE_NONE */
};

struct fv_timeline_values { /* a series as it grows */
    uint32_t key[3];        /* row; what it is of, and which (timeline_series.c) */
    struct fv_timeline_series series;
    struct fv_timeline_point *points; /* until they are written */
    size_t count, room;
    bool is_known, is_written;
    uint64_t since_ns; /* of one that grows: when it was `before` */
    double before;
};

struct fv_timeline_thread {
    uint32_t row;
    struct fv_timeline_open *open; /* regions, outermost first */
    size_t depth, room;
    uint64_t since_ns;                /* the innermost one has been that since; or the end of the last one */
    struct fv_timeline_slice sampled; /* that is being put together of samples; ns 0: none is */
    struct {
        struct fv_timeline_slice *items;
        size_t count, room;
    } lengths[FV_TIMELINE_LENGTHS];
    struct fv_timeline_bins bins;
};

struct fv_timeline_end { /* of a message */
    uint32_t channel;
    bool is_send;
    uint64_t order, ns, bytes;
    uint32_t row;
};

/* Messages of one communicator, pair of ranks and tag: one end of those of which the other end is not known yet. */
struct fv_timeline_channel {
    uint32_t key[4]; /* communicator; from, to: ranks of MPI_COMM_WORLD; tag */
    uint32_t waiting;
    bool is_send;
    struct fv_bytes ends;
    size_t taken; /* bytes of these */
    uint64_t last_ns, taken_ns;
};

/* Messages of some ranks, by the time sent, packed. */
struct fv_timeline_run {
    struct fv_bytes bytes;
    uint64_t count;
};

/* A call of a collective operation: struct fv_timeline_header's member_blocks. */
struct fv_timeline_member_call {
    uint64_t begin_ns, ns, wait_ns, wait_begin_ns, sent, received;
    uint32_t row, region;
    uint32_t comm, instance; /* instance: FV_NONE: not known */
    bool is_whole;           /* it was left */
    bool is_on_window;
};

struct fv_timeline_io {
    uint64_t begin_ns, ns, bytes; /* bytes: FV_IO_BYTES_UNKNOWN */
    uint32_t row, file, kind;     /* kind: as the file has it */
};

struct fv_timeline_begun { /* and did not end yet: an operation on a file, or a non-blocking collective one */
    uint64_t id, begin_ns;
    uint32_t ref; /* handle; region */
    uint32_t op;
};

/* Slices of a file of limited size are in a file of their own until all are known: what is left out later is taken out
 * of that. */
struct fv_timeline_limit {
    FILE *slices;   /* NULL: the size is not limited */
    uint64_t at;    /* its bytes */
    uint64_t bytes; /* that this process may write */
    unsigned least; /* slices that are shorter than 4^least ns are left out; 0: none are */
};

struct fv_timeline_writer {
    struct fv_sink sink; /* first: a sink is one of these */
    const struct fv_merge *merge;
    uint8_t *code; /* by module, enum fv_code; NULL: not known, of an archive */
    struct fv_groups groups;
    char *path;
    FILE *out;
    uint64_t at; /* bytes so far */
    bool failed;
    struct fv_timeline_packer packer;
    struct fv_timeline_limit limit;
    struct fv_timeline_header header;
    struct fv_timeline_row *rows; /* in the order of ranks and threads */
    size_t row_count;
    uint32_t *first_row; /* by rank of the definitions */
    struct fv_timeline_region *regions;
    size_t region_count;
    struct fv_timeline_slice_kind *kinds;
    size_t kind_count, kind_room;
    struct fv_index kind_index;
    struct fv_timeline_chunk *chunks;
    size_t chunk_count, chunk_room;
    struct fv_bytes strings;
    uint32_t *function_of_context; /* of the program; then, of each, the innermost in the program's own code */
    uint32_t parallel;             /* region: a thread takes part in a parallel one; FV_TIMELINE_NONE: there is none */
    size_t context_count;
    struct fv_timeline_thread *threads; /* of the rank at hand, by slot */
    size_t thread_room;
    struct fv_timeline_end *ends; /* of the rank at hand */
    size_t end_count, end_room;
    struct fv_pendings posted; /* receives of the rank at hand: their order */
    struct fv_timeline_channel *channels;
    size_t channel_count, channel_room;
    struct fv_index channel_index;
    struct fv_timeline_message *messages; /* of which both ends are known, and that are in no run yet */
    size_t message_count, message_room;
    struct fv_timeline_run *runs;
    size_t run_count, run_room;
    uint64_t order;
    struct fv_timeline_member_call *members;
    size_t member_count, member_room;
    struct fv_timeline_io *io;
    size_t io_count, io_room;
    struct fv_timeline_begun *begun_members, *begun_io; /* of the rank at hand */
    size_t begun_member_count, begun_member_room, begun_io_count, begun_io_room;
    uint32_t *window_counts; /* of the rank at hand, by window: what made or freed it, fences; NULL: none yet */
    struct fv_timeline_values *values;
    size_t value_count, value_room, value_written;
    struct fv_index value_index;
    struct fv_sink metrics; /* see fv_timeline_metrics() */
    uint32_t metrics_row;
    struct fv_timeline_label *labels;
    size_t label_count, label_room;
    struct fv_timeline_stretch *critical;
    size_t critical_count, critical_room;
};

/* Writes, and says where. */
typedef uint64_t fv_timeline_putter(struct fv_timeline_writer *w, const void *data, size_t bytes);

/* timeline_bins.c. Pieces come in the order of time, waits in any. */
void fv_timeline_add_piece(struct fv_timeline_writer *w, struct fv_timeline_bins *bins,
                           const struct fv_timeline_piece *piece);
/* Writes the bins and those of all levels above. */
void fv_timeline_end_bins(struct fv_timeline_writer *w, struct fv_timeline_bins *bins, struct fv_timeline_row *row);

/* timeline_messages.c */
void fv_timeline_message_record(struct fv_timeline_writer *w, uint32_t row, const struct fv_record *r);
void fv_timeline_match(struct fv_timeline_writer *w);                   /* of the rank at hand all is known */
void fv_timeline_send_messages(struct fv_timeline_writer *w);           /* to the first process */
void fv_timeline_take_messages(struct fv_timeline_writer *w, int from); /* by it */
void fv_timeline_write_messages(struct fv_timeline_writer *w);
void fv_timeline_release_messages(struct fv_timeline_writer *w);

/* timeline_together.c. A call is left once all records in it were taken. */
void fv_timeline_member_record(struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_record *r);
void fv_timeline_member_leave(struct fv_timeline_writer *w, const struct fv_timeline_thread *t,
                              const struct fv_timeline_open *call, uint64_t now, uint64_t wait_ns);
void fv_timeline_write_members(struct fv_timeline_writer *w);

/* timeline_io.c */
void fv_timeline_io_record(struct fv_timeline_writer *w, const struct fv_timeline_thread *t, const struct fv_record *r);
void fv_timeline_write_io(struct fv_timeline_writer *w);

/* Of an operation on a window, equal on all ranks that take part in it, and of no other one on a window; FV_NONE: not
 * known. */
uint32_t fv_timeline_window_number(struct fv_timeline_writer *w, const struct fv_record *r);

/* What a rank began and did not end, and what it counted, is not of the next one. */
void fv_timeline_forget_rank(struct fv_timeline_writer *w);
struct fv_timeline_begun *fv_timeline_find_begun(struct fv_timeline_begun *begun, size_t count, uint32_t ref,
                                                 uint64_t id); /* NULL: there is none */

/* timeline_series.c */
void fv_timeline_count_record(struct fv_timeline_writer *w, uint32_t row, const struct fv_record *r); /* COUNTER */
/* A rate of a row, by a number that its name has alone. */
struct fv_timeline_values *fv_timeline_io_values(struct fv_timeline_writer *w, uint32_t row, uint32_t number,
                                                 const char *text);
void fv_timeline_write_values(struct fv_timeline_writer *w); /* of the rank so far, of which there come no more */
void fv_timeline_write_series(struct fv_timeline_writer *w); /* the table */

/* What timeline_derived.c needs of it. */
struct fv_timeline_values *fv_timeline_derived_values(struct fv_timeline_writer *w, uint32_t row, uint32_t number);
void fv_timeline_add_point(struct fv_timeline_values *v, uint64_t ns, double value);
void fv_timeline_derive(struct fv_timeline_writer *w); /* timeline_derived.c: of counters that are not written yet */

/* timeline_limit.c: what a file of limited size has. most_bytes: of all processes together; 0: any number. */
bool fv_timeline_limit_open(struct fv_timeline_limit *limit, const char *path, const struct fv_merge *merge,
                            uint64_t most_bytes); /* false: logged */
void fv_timeline_limit_close(struct fv_timeline_limit *limit);
size_t fv_timeline_limit_bins(const struct fv_timeline_writer *w);                  /* leaves of a row, at most */
bool fv_timeline_limit_has_room(const struct fv_timeline_writer *w, uint64_t more); /* for values */
bool fv_timeline_limit_takes(const struct fv_timeline_writer *w, uint64_t more);    /* the file, with its tables */
/* A table of blocks that were written from `before` on; false: there is no room for it, and they are left out. */
bool fv_timeline_limit_blocks(struct fv_timeline_writer *w, struct fv_timeline_part *out, uint64_t before,
                              const void *blocks, size_t count, size_t bytes);
fv_timeline_putter fv_timeline_limit_put;                   /* slices of a chunk */
void fv_timeline_limit_apply(struct fv_timeline_writer *w); /* behind a chunk */
void fv_timeline_limit_end(struct fv_timeline_writer *w);   /* all slices are known */

/* timeline_join.c: both collective. In all processes what the regions are; at the end in the first what all wrote. */
void fv_timeline_share(struct fv_timeline_writer *w);
void fv_timeline_join(struct fv_timeline_writer *w);

/* timeline_tables.c */
/* Of a location; FV_TIMELINE_NONE: there is none. */
uint32_t fv_timeline_row_of(const struct fv_timeline_writer *w, uint64_t location);
uint64_t fv_timeline_put(struct fv_timeline_writer *w, const void *data, size_t bytes); /* where */
/* A block of so many rows by `put`: w->packer.columns, which are empty then. */
struct fv_timeline_block fv_timeline_put_block(struct fv_timeline_writer *w, fv_timeline_putter *put, size_t first,
                                               size_t columns, size_t rows);
void fv_timeline_put_chunk(struct fv_timeline_writer *w, fv_timeline_putter *put, struct fv_timeline_thread *t,
                           unsigned length);
bool fv_timeline_has_teams(const struct fv_timeline_writer *w); /* then the last region is that of these */
uint32_t fv_timeline_string(struct fv_timeline_writer *w, const char *text);
void fv_timeline_make_tables(struct fv_timeline_writer *w);
void fv_timeline_write_tables(struct fv_timeline_writer *w);

#endif
