/* SPDX-License-Identifier: BSD-3-Clause */
/* What a stretch of time has, summed up: by region, by call path, by who was waited for, by message size; and the calls
 * of regions. Rows are those from `first` on, `rows` of them, as far as there are. Times are of what is inside of the
 * stretch, durations (shortest, longest, whole) those of whole calls that have a part of it. All is exact but for what
 * samples say. */
#ifndef FV_TIMELINE_STATS_H
#define FV_TIMELINE_STATS_H

#include "timeline/timeline_read.h"
#include "tool/vec.h"

struct fv_timeline_window {
    uint64_t from, to; /* ns */
    uint32_t first, rows;
    const char *wanted; /* by row of all: not 0 those of them that count; NULL: each does */
};
static inline bool fv_timeline_wants(const struct fv_timeline_window *window, uint32_t row)
{
    return row >= window->first && row - window->first < window->rows && (!window->wanted || window->wanted[row]);
}

/* Rows without events are in no sum. */
static inline bool fv_timeline_counts(const struct fv_timeline_file *timeline, const struct fv_timeline_window *window,
                                      uint32_t row)
{
    return fv_timeline_wants(window, row) && !fv_timeline_is_idle(&timeline->rows[row]);
}

/* ns of something that are inside. */
static inline uint64_t fv_timeline_inside(const struct fv_timeline_window *window, uint64_t begin_ns, uint64_t ns)
{
    const uint64_t end = begin_ns + ns, first = begin_ns > window->from ? begin_ns : window->from,
                   last = end < window->to ? end : window->to;

    return last > first ? last - first : 0;
}

/* Of a region. */
struct fv_timeline_sum {
    uint64_t count, sampled, inclusive_ns, exclusive_ns, wait_ns;
    uint64_t whole_ns, shortest_ns, longest_ns; /* of `count` calls */
    uint64_t least_ns, most_ns;                 /* exclusive, of a row */
    uint32_t least_row, most_row;
};
/* Rows that count, and of the stretch what they are known of: of each row from its first slice to its last one. */
struct fv_timeline_counted {
    uint32_t rows;
    uint64_t ns;
};
struct fv_timeline_counted fv_timeline_count(const struct fv_timeline_file *timeline,
                                             const struct fv_timeline_window *window);

/* `sums`: zeros, by region. Those that count nothing are not there. */
void fv_timeline_sums(const struct fv_timeline_file *timeline, const struct fv_timeline_window *window,
                      struct fv_timeline_sum *sums);
/* Of one region by row, whole_ns and the like of the row; `sums`: zeros, of the window's rows. */
void fv_timeline_sums_by_row(const struct fv_timeline_file *timeline, const struct fv_timeline_window *window,
                             uint32_t region, struct fv_timeline_sum *sums);

/* The sums of one row after the other, by region. */
typedef void fv_timeline_take_sums(void *context, uint32_t row, const struct fv_timeline_sum *sums);
void fv_timeline_each_row(const struct fv_timeline_file *timeline, const struct fv_timeline_window *window,
                          fv_timeline_take_sums *take, void *context);

/* A region in those around it, or in the call path of the outermost one. Parents come first. */
struct fv_timeline_node {
    uint32_t parent, region; /* parent: FV_NONE: outermost */
    uint64_t count, sampled, inclusive_ns, exclusive_ns, wait_ns;
};
struct fv_timeline_tree {
    struct fv_timeline_node *nodes;
    size_t count, room;
    struct fv_index index;
};
void fv_timeline_tree_make(const struct fv_timeline_file *timeline, const struct fv_timeline_window *window,
                           struct fv_timeline_tree *tree);
void fv_timeline_tree_release(struct fv_timeline_tree *tree);

/* What calls of a region waited for one row; FV_TIMELINE_NONE: it is not known for which. */
struct fv_timeline_wait {
    uint32_t region, cause;
    uint64_t count, ns, longest_ns;
};
struct fv_timeline_waits {
    struct fv_timeline_wait *items;
    size_t count, room;
    struct fv_index index;
};
void fv_timeline_waits_make(const struct fv_timeline_file *timeline, const struct fv_timeline_window *window,
                            struct fv_timeline_waits *waits);
void fv_timeline_waits_release(struct fv_timeline_waits *waits);

/* Messages that were on their way, with an end in the rows: by size, and from group to group of `merge` rows of all. */
#define FV_TIMELINE_GROUPS 128
struct fv_timeline_traffic {
    uint64_t count, bytes;
};
struct fv_timeline_traffics {
    uint32_t merge, groups;
    struct fv_timeline_traffic sizes[65]; /* [0]: no bytes; [k]: less than 2^k of them */
    struct fv_timeline_traffic cells[FV_TIMELINE_GROUPS * FV_TIMELINE_GROUPS]; /* from * groups + to */
};
/* is_of: which of them; NULL: all. */
typedef bool fv_timeline_is_of(void *context, const struct fv_timeline_message *message);
void fv_timeline_traffic(const struct fv_timeline_file *timeline, const struct fv_timeline_window *window,
                         fv_timeline_is_of *is_of, void *context, struct fv_timeline_traffics *out);

/* Calls of regions, the first `most` in an order; the earliest and latest are of those that begin in the stretch. */
enum fv_timeline_order { FV_TIMELINE_LONGEST, FV_TIMELINE_EARLIEST, FV_TIMELINE_LATEST };
struct fv_timeline_call {
    struct fv_timeline_seen seen;
    uint32_t row;
};
#define FV_TIMELINE_BARS 256
/* Of calls that sent or received a message: which messages. */
struct fv_timeline_partners {
    const char *rows; /* by row: not 0: it is the other end; NULL: any is */
    uint64_t least_bytes, most_bytes;
};
struct fv_timeline_search {
    const bool *wanted;                          /* by region */
    const struct fv_timeline_partners *partners; /* NULL: any call, with messages or without */
    uint64_t least_ns, most_ns;
    enum fv_timeline_order order;
    size_t most;
    struct fv_timeline_call *found; /* the caller frees it */
    size_t count, room;
    uint64_t all, all_ns, in_range;  /* calls; those as long as that */
    uint64_t bars[FV_TIMELINE_BARS]; /* of all: calls of fv_timeline_bar() */
};
void fv_timeline_find(const struct fv_timeline_file *timeline, const struct fv_timeline_window *window,
                      struct fv_timeline_search *search);
/* Four bars for each power of two, each from (4 + bar % 4) * 2^(bar / 4 - 2) ns on. */
unsigned fv_timeline_bar(uint64_t ns);

#endif
