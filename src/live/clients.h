/* SPDX-License-Identifier: BSD-3-Clause */
/* Who gets samples: by server-sent events, or all that is kept, once. Each has its place in the ring, and a buffer of
 * at most FV_CLIENT_BYTES and a line. */
#ifndef FV_CLIENTS_H
#define FV_CLIENTS_H

#include "live/live.h"

#define FV_CLIENT_BYTES     ((size_t)64 << 10)
#define FV_CLIENT_STATUS_NS ((int64_t)2000000000)

struct fv_client {
    struct fv_client *next, **before;
    void *owner, *connection;                       /* the caller's */
    bool is_record, is_begun, is_waiting, is_ended; /* is_ended: a recording has its last line */
    bool is_late;                                   /* it comes back, and what it has not seen is gone in part */
    uint64_t line, until;                           /* numbers: the next one, and, of a recording, behind the last */
    size_t own, values; /* of each of its samples, of a recording: this machine's, and all */
    int64_t status_ns;  /* of the last line about ourselves */
    struct fv_jsonl out;
    size_t given; /* of `out` */
};

/* Under the lock, too. False: there is nothing for it now; of a recording: that was all. */
bool fv_client_fill(struct fv_client *client, struct fv_live *live, size_t clients);

#endif
