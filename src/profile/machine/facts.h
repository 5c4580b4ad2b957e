/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run's times depend on and its program does not say: the machine of each host, variables of the environment,
 * and which processors each thread might run on. Recorded by every run; empty if no rank came so
 * far. */
#ifndef FV_PROFILE_FACTS_H
#define FV_PROFILE_FACTS_H

#include "profile/model.h"
#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fv_model;

/* World ranks. */
struct fv_facts_ranks {
    struct fv_rank_run *runs;
    size_t run_count, room;
    uint32_t count;
};

struct fv_facts_host {
    const char *host;
    struct fv_facts_ranks ranks;
    uint32_t told_by;                        /* rank; FV_NONE: its facts are in no file that was read */
    const char *value[FV_FACT_MACHINE_KEYS]; /* NULL: not known; what has an index is in one text: "0: 0-7; 1:
                                              * 8-15" */
    uint32_t processors;                     /* that are online; 0: not known */
};

struct fv_variable {
    const char *text; /* "NAME=VALUE" */
    const char *name, *value;
    bool is_cut;
    struct fv_facts_ranks ranks; /* that had it so */
};

/* A thread of a rank. */
struct fv_affinity_view {
    uint32_t rank, thread;
    uint32_t cpu, node;          /* it ran on when it began; FV_NONE */
    const char *processors;      /* that it might run on then: a list */
    const char *processors_last; /* at its end; NULL: the same, or not known */
    const char *nodes;           /* NUMA nodes of those, a list; NULL: not known */
    uint32_t count;              /* of those */
    uint32_t others;             /* other ranks of the host that may run on one of them */
    uint32_t of;                 /* processors of the host; 0: not known */
};

struct fv_facts {
    struct fv_facts_host *hosts; /* by their first rank; 0: nothing was recorded */
    size_t host_count, host_room;
    struct fv_variable *variables; /* by name and value */
    size_t variable_count, variable_room;
    struct fv_affinity_view *affinities; /* by rank */
    size_t affinity_count, affinity_room;
    /* More ranks than processors that they are bound to, on a host that has enough for all; NULL: nowhere */
    const char *crowded_host, *crowded_ranks, *crowded_processors;
    uint32_t crowded_count; /* of those processors */
};

void fv_facts_release(void *data); /* struct fv_facts */

/* A host in a line: "2 x Intel ..., 16 processors, SMT on, governor powersave, Linux 6.1"; "": nothing is known.
 * Returns out. */
char *fv_facts_words(const struct fv_facts_host *host, char *out, size_t bytes);

/* hosts 0: none recorded them. */
FV_SUBJECT_DATA(struct fv_facts, facts, facts)

#endif
