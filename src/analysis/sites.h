/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites of the run: (function, call path), numbered alike in all processes; and what the analysis must
 * know of functions and communicators beyond their definitions. */
#ifndef FV_ANALYSIS_SITES_H
#define FV_ANALYSIS_SITES_H

#include "merge/merge.h"

struct fv_site_key {
    uint32_t function, node; /* of fv_defs; node 0: not known */
};

struct fv_sites {
    struct fv_site_key *items; /* sorted */
    uint32_t count;
    uint32_t *of_node; /* the first site of a call path; a function has one, but where paths were cut */
};

/* Collective. */
void fv_sites_collect(struct fv_sites *sites, const struct fv_merge *merge);
void fv_sites_release(struct fv_sites *sites);

/* FV_NONE: not there. */
uint32_t fv_sites_find(const struct fv_sites *sites, uint32_t function, uint32_t node);

/* ---- functions ---- */

enum fv_call_traits {
    FV_CALL_TEST = 1, /* looks and goes on: it never waits */
    FV_CALL_PROBE = 2,
    FV_CALL_IMRECV = 4,
    FV_CALL_INIT = 8,
    FV_CALL_FINALIZE = 16,
    FV_CALL_READY = 32, /* a part of a partitioned send goes */
};
unsigned fv_call_traits(const char *function);

#endif
