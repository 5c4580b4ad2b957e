/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in a timeline as relations (tool/relation.h), and their rows in any stretch of time. The subject is the
 * file, struct fv_timeline_file. Rows are those that fv_timeline_scan_next() gives; there is no other way to them. */
#ifndef FV_TIMELINE_RELATIONS_H
#define FV_TIMELINE_RELATIONS_H

#include "timeline/timeline_read.h"
#include "tool/relation.h"

/* NULL behind the last. */
extern const struct fv_relation *const fv_timeline_relations[];

/* Both ends are in it. */
struct fv_timeline_range {
    double least, most;
};
/* Of what kind a range is: a row's time is its begin. */
enum fv_timeline_bound {
    FV_TIMELINE_BY_TIME,   /* s */
    FV_TIMELINE_BY_END,    /* s */
    FV_TIMELINE_BY_LENGTH, /* s */
    FV_TIMELINE_BY_RANK,
    FV_TIMELINE_BY_THREAD,
    FV_TIMELINE_BOUNDS
};
/* What bounds a column of a relation, or FV_TIMELINE_BOUNDS: it bounds nothing. */
enum fv_timeline_bound fv_timeline_bound_of(const struct fv_relation *relation, const struct fv_column_def *column);
/* How many rows there are, about. */
uint64_t fv_timeline_rows(const struct fv_relation *relation, const struct fv_timeline_file *timeline);

/* Rows of a relation, at least all within the ranges: others may be among them. What is outside is not read, by the
 * index of slices, and by the order of all else. A row is good until the next one. */
struct fv_timeline_scan;
struct fv_timeline_scan *fv_timeline_scan_begin(const struct fv_relation *relation,
                                                const struct fv_timeline_file *timeline,
                                                const struct fv_timeline_range ranges[FV_TIMELINE_BOUNDS]);
const void *fv_timeline_scan_next(struct fv_timeline_scan *scan); /* NULL: there are no more */
void fv_timeline_scan_end(struct fv_timeline_scan *scan);         /* NULL is fine */

#endif
