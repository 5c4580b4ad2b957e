/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of one type, one behind the other in the rank file: in chunks of a size that doubles. A tail is written by
 * its owner, or under his lock. */
#ifndef FV_TAIL_H
#define FV_TAIL_H

#include "trace/writer.h"

/* What several tails may take of the disk together, bytes. */
struct fv_budget {
    uint64_t used;
    const uint64_t *most;
};

struct fv_tail {
    struct fv_chunk_header *chunk; /* being filled; NULL: none yet */
    uint64_t count;                /* of records that are in the file */
};

struct fv_tail_kind {
    enum fv_chunk_type type;
    uint32_t first_pages, most_pages; /* of a chunk, but that the first is a part of a page where one page is enough; a
                                       * record that is longer has one to itself */
    bool varies;                      /* records differ in length */
    bool tries;                       /* in a signal handler: the file's lock is only tried */
    struct fv_budget *budget;         /* NULL: none */
};

/* Room for a record of so many bytes, zeroed. NULL: no room on the disk or, unless it may go beyond it, in the
 * budget. */
void *fv_tail_next(struct fv_tail *tail, const struct fv_tail_kind *kind, uint32_t thread, size_t bytes, bool beyond);

/* It becomes part of the file. */
static inline void fv_tail_commit(struct fv_tail *tail, size_t bytes)
{
    fv_chunk_commit(tail->chunk, bytes);
    tail->count++;
}

#endif
