/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives of one rank, from their posting until they are told to where they are matched.
 *
 * A receive's place among those of its key is that of its posting. It is told as soon as no receive that was
 * posted before it, and is still open, could have taken its message: then the k-th send and the k-th receive
 * of a key belong together, in the order in which they are told. */
#ifndef FV_RECEIVES_H
#define FV_RECEIVES_H

#include "analysis/collect.h"
#include "merge/requests.h"

#define FV_ANY_TAG FV_NONE

struct fv_envelope {
    uint32_t comm, peer, tag; /* FV_ANY_PEER, FV_ANY_TAG: as posted */
};

struct fv_receive; /* see receives.c */
struct fv_receives {
    void (*tell)(void *context, const struct fv_item *item);
    void *context;
    struct fv_receive *items;
    size_t count, room;
    uint32_t free;   /* the first of those that are over; FV_NONE */
    uint32_t *order; /* scratch */
    size_t order_room;
    uint64_t posted;           /* so far */
    struct fv_pendings chains; /* open ones, by envelope: the first and the last that was posted */
};

void fv_receives_init(struct fv_receives *receives, void (*tell)(void *context, const struct fv_item *item),
                      void *context);
void fv_receives_release(struct fv_receives *receives);

/* A receive is open; to be named by what this returns until it comes or is cancelled. */
uint32_t fv_receives_post(struct fv_receives *receives, struct fv_envelope as_posted, const struct fv_item *item);
struct fv_item *fv_receives_item(struct fv_receives *receives, uint32_t receive);
/* The message has come. */
void fv_receives_come(struct fv_receives *receives, uint32_t receive, struct fv_envelope message);
/* It will not be told. */
void fv_receives_cancel(struct fv_receives *receives, uint32_t receive);
/* Posted and come at once. */
void fv_receives_now(struct fv_receives *receives, struct fv_envelope message, const struct fv_item *item);
/* Tells those that have come and were held back. */
void fv_receives_rest(struct fv_receives *receives);

#endif
