/* SPDX-License-Identifier: BSD-3-Clause */
/* What belongs together on a timeline: waits and who caused them, the calls of a collective operation; and values along
 * time. */
#ifndef FV_TIMELINE_LINKS_H
#define FV_TIMELINE_LINKS_H

#include "timeline/timeline_stats.h"

struct fv_timeline_link {
    struct fv_timeline_seen seen;
    uint32_t row;
};

/* The calls that waited longest in a window, the longest first: at most `most`, of those that waited `least_ns`. How
 * many; *all: of so many. */
size_t fv_timeline_blocked(const struct fv_timeline_file *timeline, const struct fv_timeline_window *window,
                           uint64_t least_ns, struct fv_timeline_link *out, size_t most, uint64_t *all);

/* The slice of a row that begins then, so deep. False: there is none. */
bool fv_timeline_slice_at(const struct fv_timeline_file *timeline, uint32_t row, uint64_t begin_ns, uint32_t depth,
                          struct fv_timeline_link *out);

/* From a call that waited: the last wait of the row that it waited for, in that time, and so on; without the first
 * one. How many. */
size_t fv_timeline_chain(const struct fv_timeline_file *timeline, const struct fv_timeline_link *from,
                         struct fv_timeline_link *out, size_t most);

/* The calls of the members of a collective operation, by row, with the given one; at most `most`. *members: that have
 * rows. Those that lie far from it in time are not found. */
size_t fv_timeline_members(const struct fv_timeline_file *timeline, const struct fv_timeline_link *of,
                           struct fv_timeline_link *out, size_t most, uint32_t *members);

/* What a series has in each of `count` stretches of equal length; NAN: nothing. last: the value at its end. */
struct fv_timeline_value {
    double least, most, last;
};
void fv_timeline_values(const struct fv_timeline_file *timeline, uint32_t series, double from, double to,
                        struct fv_timeline_value *out, size_t count);

#endif
