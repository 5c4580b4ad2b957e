/* SPDX-License-Identifier: BSD-3-Clause */
/* How the processes of a merge talk to each other: bytes from one to another, nothing else, so that the
 * merge knows no MPI and its tests need none. Messages between two processes arrive in order. A failing
 * transport does not return (MPI aborts the job). */
#ifndef FV_TRANSPORT_H
#define FV_TRANSPORT_H

#include "merge/bytes.h"

struct fv_transport {
    int rank, size;
    void *context;
    void (*send)(const struct fv_transport *t, int to, const void *data, size_t bytes);
    void (*receive)(const struct fv_transport *t, int from, void *data, size_t bytes);
};

/* One process, alone. */
extern const struct fv_transport fv_transport_alone;

/* A string of bytes whose length the receiver does not know. Receiving appends. */
void fv_transport_put(const struct fv_transport *t, int to, const struct fv_bytes *bytes);
void fv_transport_get(const struct fv_transport *t, int from, struct fv_bytes *bytes);

/* Rank 0's bytes become everyone's, by a binomial tree. */
void fv_transport_share(const struct fv_transport *t, struct fv_bytes *bytes);

/* Does any process say yes? All learn it. A barrier as well. */
bool fv_transport_any(const struct fv_transport *t, bool yes);

/* Sum over all processes, in place; rank 0 and all others get it. */
void fv_transport_sum(const struct fv_transport *t, uint64_t *values, size_t count);

/* The largest of each value over all processes, in place, for all of them. */
void fv_transport_max(const struct fv_transport *t, uint64_t *values, size_t count);

/* Each process gets from each other what that has for it: out[i] goes to process i; what comes, and what a
 * process has for itself, is appended to `in` in the order of the processes. Returns how many bytes came of
 * those before this one. */
size_t fv_transport_exchange(const struct fv_transport *t, struct fv_bytes *out, struct fv_bytes *in);

#endif
