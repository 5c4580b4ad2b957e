/* SPDX-License-Identifier: BSD-3-Clause */
/* The measured instances of one thread in the order of their begins, outer ones before those in them. The
 * file has them in the order of their ends. It is read backwards, where an instance comes before what is in
 * it, so that those that are open make a stack; what leaves the stack has the begins in order, backwards. To
 * have them forwards, the first pass keeps the stack at the beginning of each piece of the log, and a second
 * one reads the pieces from the first to the last, each backwards again. Memory: one piece, and one stack a
 * piece. */
#ifndef FV_INSTANCE_LOG_H
#define FV_INSTANCE_LOG_H

#include "merge/defs.h"

struct fv_instance_stats {
    uint64_t told;
    uint64_t cut;        /* of them, what lay in a call of MPI that they began or ended in is cut off */
    uint64_t off;        /* not told: they began while recording was switched off */
    uint64_t no_context; /* ... their function is not known, ... */
    uint64_t crossed;    /* ... they overlap another one, and neither is in the other, ... */
    uint64_t damaged;    /* ... or they end before they begin, or before the ones ahead of them; or are missing */
};

struct fv_instance_log;

/* NULL: the thread has none. What will not come is added to `stats`. */
struct fv_instance_log *fv_instance_log_open(const struct fv_reader *reader, const struct fv_def_map *map,
                                             uint32_t thread, struct fv_instance_stats *stats);
/* `context` is the node of the function's entry; `counts`: of the events in it, FV_COUNT_UNKNOWN where they are not
 * known. False: there are no more. */
bool fv_instance_log_next(struct fv_instance_log *log, struct fv_logged_instance *out, struct fv_logged_events *counts);
void fv_instance_log_free(struct fv_instance_log *log);

#endif
