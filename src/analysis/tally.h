/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums under keys: what the analysis counts, in each process and then in all. */
#ifndef FV_TALLY_H
#define FV_TALLY_H

#include "merge/transport.h"

enum fv_tally_what {
    FV_TALLY_CALLS,      /* site, rank: calls and their time */
    FV_TALLY_BEFORE,     /* site, rank: time outside of MPI that ended in the call */
    FV_TALLY_LOCKED,     /* ... the part of it in which locks of the rank's threads were waited for */
    FV_TALLY_WAIT,       /* site, rank, kind */
    FV_TALLY_CAUSE,      /* kind, site, rank (FV_NONE: of all), other_site, other_rank: who was waited for */
    FV_TALLY_DIRECT,     /* site, rank, kind (enum fv_where): delay that others waited for */
    FV_TALLY_PROPAGATED, /* ... along chains of waits */
    FV_TALLY_CRITICAL,   /* site, rank, kind (enum fv_where): on the critical path */
    FV_TALLY_LINE_MPI,   /* rank is a line: calls and their time; ... */
    FV_TALLY_LINE_WAIT,
    FV_TALLY_LINE_PAUSED,
    FV_TALLY_FOR_LOCKS,    /* rank, other_rank: waiting in MPI, because the other's threads waited for locks */
    FV_TALLY_THREAD_SITE,  /* threads' waiting: site is a node, kind a function << 8 | enum fv_thread_wait,
                            * rank, ... other_site: lock, as in the archive */
    FV_TALLY_THREAD_LINE,  /* ... rank is a line that waits, kind: enum fv_thread_wait */
    FV_TALLY_THREAD_CAUSE, /* ... rank is a line that was waited for */
    FV_TALLY_COMPUTED,     /* CPU time by samples: site, rank, kind: node of the call path, other_site: the call
                            * before */
    FV_TALLY_CRITICAL_AT,  /* ... on the critical path: site, rank, kind: node */
    FV_TALLY_DELAY_AT,     /* ... by which the rank was slower than those who waited for it, weighted as the delay it
                            * made: site,
                            * rank, kind: node. Signed */
    FV_TALLY_WHATS
};
/* Of the time outside of MPI, what the rank's threads waited for locks is told apart. */
enum fv_where { FV_COMPUTING, FV_IN_MPI, FV_FOR_LOCKS, FV_WHERES };

struct fv_tally {
    uint32_t what, site, rank, kind, other_site, other_rank;
    uint64_t count, ns;
};

struct fv_tallies {
    struct fv_tally *items;
    size_t count, room;
    struct fv_index index;
};

/* Adds to the tally of the same key (all but count and ns). */
void fv_tallies_add(struct fv_tallies *tallies, const struct fv_tally *item);
/* Collective: all of them come to the first process. */
void fv_tallies_gather(struct fv_tallies *tallies, const struct fv_transport *t);
/* In the order of keys, when no more is added. */
void fv_tallies_sort(struct fv_tallies *tallies);
/* Of sorted ones, that of the same key; 0: there is none. */
uint64_t fv_tallies_ns(const struct fv_tallies *tallies, const struct fv_tally *key);
void fv_tallies_release(struct fv_tallies *tallies);

#endif
