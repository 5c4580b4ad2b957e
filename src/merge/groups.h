/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is in a communicator: world ranks of the peers that its members name. Built once from the definitions;
 * a lookup is a binary search in runs of equal stride. */
#ifndef FV_GROUPS_H
#define FV_GROUPS_H

#include "merge/defs.h"

struct fv_member_run {
    uint32_t before; /* members before it */
    struct fv_rank_run run;
};
struct fv_group {
    struct fv_member_run *runs;
    uint32_t run_count, size;
    uint32_t traced; /* members whose rank has a trace */
};
struct fv_groups {
    struct fv_group *local, *remote; /* by communicator */
    uint32_t *rank_of_world;         /* index in fv_defs.ranks; FV_NONE: no trace */
    const struct fv_defs *defs;
};

void fv_groups_init(struct fv_groups *groups, const struct fv_defs *defs);
void fv_groups_release(struct fv_groups *groups);

/* World rank of the peer that a process of a communicator names; FV_NONE: not known. */
uint32_t fv_groups_peer(const struct fv_groups *groups, uint32_t comm, uint32_t own_world, uint32_t peer);
/* The rank in the communicator, in its own group, of a world rank; FV_NONE: it is in none. */
uint32_t fv_groups_rank(const struct fv_groups *groups, uint32_t comm, uint32_t world);
/* Of its ranks, how many have a trace, and so take part in what can be seen of its collectives. */
uint32_t fv_groups_traced(const struct fv_groups *groups, uint32_t comm);

#endif
