/* SPDX-License-Identifier: BSD-3-Clause */
/* What is under way on a rank: what a request's end must know of its beginning, by number. */
#ifndef FV_REQUESTS_H
#define FV_REQUESTS_H

#include "base/base.h"

enum fv_pending_kind {
    FV_PENDING_SEND = 1,
    FV_PENDING_RECEIVE,
    FV_PENDING_MATCHED,
    FV_PENDING_COLLECTIVE,
    FV_PENDING_RMA,
    FV_PENDING_IO,
};

struct fv_pending {
    uint64_t number; /* 0: an empty slot */
    uint64_t sent, received;
    uint32_t ref;  /* communicator, window or handle */
    uint32_t peer; /* root */
    uint32_t tag;
    uint8_t kind, op, neighbour;
    bool lost; /* its beginning was not told: nor is its end */
};

struct fv_pendings {
    struct fv_pending *slots;
    size_t mask, count; /* mask 0: none yet */
};

void fv_pendings_add(struct fv_pendings *p, const struct fv_pending *item);
/* NULL: not there. Valid until the next change. */
struct fv_pending *fv_pendings_find(struct fv_pendings *p, uint64_t number);
void fv_pendings_remove(struct fv_pendings *p, struct fv_pending *item);
void fv_pendings_release(struct fv_pendings *p);

#endif
