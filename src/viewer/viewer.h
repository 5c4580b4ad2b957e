/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of fvmpi view, in the house of web/house.h. It answers from a timeline, whose file it maps.
 *
 * Of two traces, trace=1 asks about the second one. number=N, of /about, asks about what was shown then.
 *
 *     GET /              the page
 *     GET /about         JSON: what there is: span, rows, communicators, regions with their classes, and sums
 *     POST /tiles        from, to (ns), count; the body is lines, "0-3,7;4" (viewer/lines.c): for each line and stretch
 *                        a struct fv_timeline_tile, as arrays: regions (4 bytes), then bytes: their parts, waits, and
 *                        the parts of each class, and of computing; each array is of all lines and stretches
 *     GET /slices        from, to, row, least (ns): JSON: slices, at most SLICES; the shorter ones are left out
 *     GET /chain         row, begin, depth, of a call that waited: JSON: waits of whom it waited for, and so on
 *     GET /call          likewise, of any: JSON: the root of a collective operation, in MPI_COMM_WORLD, and the file
 *     GET /together      likewise, of a collective operation: JSON: its communicator, the calls of its members
 *     GET /critical      from, to, least (ns): JSON: where the critical path is, at most STRETCHES
 *     GET /labels        from, to: JSON: moments that were marked, at most LABELS
 *     GET /series        JSON: what has values along time: sensors, counters, metrics
 *     GET /values        from, to, count, series ("3,17"): struct fv_timeline_value of each series and stretch
 *     GET /path          context: JSON: its functions, innermost first
 *     GET /perfetto      from, to: that stretch for another viewer (timeline/perfetto.h)
 *
 * Of from, to, first, rows (timeline/timeline_stats.h), or `only` ("0-3,7") in place of these, JSON:
 *
 *     GET /rows          of each row ns of waiting and of each class (struct fv_timeline_parts)
 *     GET /sums          regions: struct fv_timeline_sum
 *     GET /shares        region: the same of that region by row
 *     GET /tree          call paths: parents first, at most NODES, those with most time
 *     GET /waits         by region and the row that was late: at most WAITS, the longest
 *     GET /traffic       messages by size and pair; region: as of /messages
 *     GET /collectives   by region: struct fv_timeline_kind
 *     GET /files         operations on files by file and interface, at most FILES, those with most time
 *     GET /profiles      of each row: regions and the time that was spent in each itself, then that of all others,
 *                        which have less than 1 / LEAST of the stretch
 *     GET /messages      most: those on their way with an end in the rows, at most MESSAGES, the largest; of more than
 *                        `most` only how many; region ("3,17"): those that a call of these sent or received
 *     GET /blocked       least (ns), count: calls that waited so long for a row, the longest waits
 *     GET /calls         region ("3,17"), least, most (ns), order, count: calls, at most CALLS, and a histogram;
 *                        partner (rows, "0-3,7"), least_bytes, most_bytes: those that sent or received such a message
 *
 *     GET /more          JSON: whether more was written than is shown, and how often that was taken up; percent: of a
 *                        first part that is shown, how much of the whole is made, null: all; failed: it cannot be
 *     POST /renew        it is wanted
 *
 *     GET /bookmarks     JSON
 *     POST /bookmark     "PLACE\nNOTE"; /forget: the same. They are kept in `folder` */
#ifndef FV_VIEWER_H
#define FV_VIEWER_H

#include "timeline/timeline_read.h"
#include "web/house.h"

struct fv_viewer;
#define FV_VIEWER_TRACES 2
struct fv_viewer_trace {
    const struct fv_timeline_file *timeline;
    const char *title;  /* of the page */
    const char *folder; /* of bookmarks */
    bool is_head;       /* its first part; the whole is being made */
};
/* One trace, or two that are compared. port 0: any that is free. NULL: it has said why. */
struct fv_viewer *fv_viewer_open(const struct fv_viewer_trace *traces, size_t count, unsigned port);
struct fv_web *fv_viewer_web(const struct fv_viewer *viewer);

/* Of a trace that grows: more of it was written than is shown. Who looks may then ask for it, once. */
void fv_viewer_tell_more(struct fv_viewer *viewer, size_t trace);
bool fv_viewer_is_asked(struct fv_viewer *viewer);
/* Of a first part: how much of the whole is made; that it cannot be. */
void fv_viewer_tell_progress(struct fv_viewer *viewer, size_t trace, unsigned percent);
void fv_viewer_tell_failure(struct fv_viewer *viewer, size_t trace);
/* Shows it from now on. The timeline before stays until the viewer is closed. */
void fv_viewer_renew(struct fv_viewer *viewer, size_t trace, const struct fv_viewer_trace *with);
void fv_viewer_close(struct fv_viewer *viewer);

#endif
