/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a merge that need no archive: which files, who reads which, definitions, clocks. The archive's
 * side is in src/cmd/fvunify.c, which calls these in order. All functions are collective. */
#ifndef FV_MERGE_H
#define FV_MERGE_H

#include "merge/calling.h"
#include "merge/contexts.h"
#include "merge/lock_names.h"
#include "merge/rings.h"
#include "merge/source.h"
#include "merge/transport.h"

struct fv_merge_file {
    struct fv_reader *reader; /* NULL: of an archive */
    const char *name;         /* base name */
    struct fv_def_map map;    /* of its numbers in the definitions */
    uint32_t rank;            /* index in the definitions' ranks */
};

struct fv_merge {
    const struct fv_transport *transport;
    const struct fv_record_source *source;
    void *source_context; /* the source's own */
    struct fv_arena arena;
    struct fv_merge_file *files; /* this process's share: neighbours in world rank */
    size_t file_count;
    struct fv_defs defs; /* of all ranks, in their final order */
    struct fv_clocks clocks;
    struct fv_rings rings;       /* what is left of each trace that is a ring */
    struct fv_call_info *calls;  /* by function */
    uint32_t *context_of_node;   /* by call path, ... */
    uint32_t *function_of_node;  /* ... as in struct fv_contexts */
    struct fv_contexts contexts; /* in the first process */
    bool is_later_part; /* from some time on, of an archive of ours, in which no message comes before it is sent */
    bool has_samples;   /* and they are wanted */
    struct fv_calling_node *calling; /* in all: its contexts, on which calling contexts rest. NULL: samples are told
                                      * without them */
    size_t calling_count;
    struct fv_lock_names locks;  /* in all */
    struct fv_problems problems; /* in the first process */
    uint64_t event_bytes;        /* of this process's files, ... */
    uint64_t largest_bytes;      /* ... and of the one that has most */
};

/* Opens the experiment, of one or several directories: the first process chooses among its files, each opens its share
 * of them. False: there is nothing to merge, which was logged. */
bool fv_merge_open(struct fv_merge *merge, const struct fv_transport *transport, char *const *directories,
                   size_t count);
/* Behind it: of each rank the records are those up to so many bytes of its events. False: there are rings. */
bool fv_merge_take_head(struct fv_merge *merge, uint64_t bytes);

/* Are samples left out, in a metric, or in calling contexts? */
enum fv_merge_samples { FV_SAMPLES_NONE, FV_SAMPLES_METRIC, FV_SAMPLES_CONTEXTS };

/* Definitions, call paths (looked up if `symbols`; those of samples if they are not left out), clocks. */
bool fv_merge_unify(struct fv_merge *merge, bool symbols, enum fv_merge_samples samples);

void fv_merge_close(struct fv_merge *merge);

#endif
