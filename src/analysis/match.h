/* SPDX-License-Identifier: BSD-3-Clause */
/* Where items of one key meet. A message's answer goes out as soon as both sides are there, a group's as soon
 * as all its members are, so that memory holds only what is under way. */
#ifndef FV_MATCH_H
#define FV_MATCH_H

#include "analysis/collect.h"

struct fv_unmatched_counts {
    uint64_t sends, receives, groups;
    uint64_t unknown; /* messages whose other rank is not known, or has no trace; not counted here */
    uint64_t cut;     /* calls that an edge of the part that is taken cuts; not counted here */
    uint64_t early;   /* messages with both sides that were there before they were sent: clocks were not in step */
};

struct fv_match;
/* is_later_part: as of the merge. */
struct fv_match *fv_match_new(uint32_t world_size, bool is_later_part);
void fv_match_free(struct fv_match *match);

/* Takes items in the order in which their ranks told them; appends answers (struct fv_answer). */
void fv_match_items(struct fv_match *match, const struct fv_item *items, size_t count, struct fv_bytes *answers);
/* At the end: what is kept until all are there. Locks, because who held a lock before tells only their order;
 * and groups of damaged traces, to which a member came twice, so that their answers do not depend on the
 * order in which items come. */
void fv_match_end(struct fv_match *match, struct fv_bytes *answers);
/* What is still there. */
struct fv_unmatched_counts fv_match_rest(const struct fv_match *match);

#endif
