/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads of a rank do together, for its file; shared by transcript_threads.c (what they wait for, their lives)
 * and transcript_teams.c (parallel regions of OpenMP, and worksharing in them). */
#ifndef FV_TRANSCRIPT_THREADS_H
#define FV_TRANSCRIPT_THREADS_H

#include "transcript/transcript_state.h"

/* What is waited for, by its number in the archive; 0: by its place. */
struct fv_transcript_object {
    uint32_t kind, lock, module, node; /* its key */
    struct fv_sync_object record;
};

struct fv_transcript_sync {
    uint32_t object, thread, node; /* its key ... */
    uint8_t kind, operation;
    uint16_t pad;
    struct fv_sync_record record;
};

struct fv_transcript_region {
    uint32_t thread, node, module; /* its key: who forks, where; of the function, FV_NONE not known */
    struct fv_omp_region record;
};

struct fv_transcript_part {
    uint32_t region, thread; /* its key */
    struct fv_omp_thread record;
};

struct fv_transcript_work {
    uint32_t thread, region, node, kind; /* its key */
    struct fv_omp_work record;
};

struct fv_transcript_member {
    uint32_t thread;
    uint64_t begin, end, came; /* ticks; came: to the last barrier, or ended a task there; 0: it was at none */
    uint64_t waited, join;     /* join: its wait there */
    bool explicit;             /* the program asked for that barrier */
};

struct fv_transcript_team {
    uint64_t region, call, joined; /* joined: ticks, 0: not yet */
    uint32_t thread, node, module; /* as in its region */
    uint32_t path;                 /* that the forking thread is at in the region; 0: not known */
    uint32_t level, inside;        /* inside: members that have not ended */
    struct fv_transcript_member *members;
    size_t count, room;
    bool used;
};

struct fv_transcript_open_work {
    size_t depth;    /* of functions that the thread was in */
    uint32_t work;   /* among all */
    uint64_t begin;  /* ticks */
    uint64_t end;    /* it came to the construct's barrier; 0: not yet */
    uint64_t waited; /* by the thread when it began; then what it waited */
    bool takes_part;
};

/* What is kept of a thread. */
struct fv_transcript_follow {
    uint64_t waited[FV_SYNC_KINDS], in_mpi;
    uint64_t all; /* sum of `waited` */
    struct fv_record enter;
    struct fv_record awaited; /* where it began to wait for the lock that it acquires next, ... */
    uint64_t pending;         /* ... ticks that it waited, ... */
    bool is_pending;          /* ... if it did; ... */
    bool is_omp;
    uint32_t lock, function; /* ... the lock, 0: not known; that it waited in */
    bool returns;            /* a lock is taken again, behind waiting for a condition */
    struct fv_transcript_place {
        uint32_t team, member;
    } * places; /* teams that it is in, outermost first */
    size_t place_count, place_room;
    struct fv_transcript_open_work *works;
    size_t work_count, work_room;
    bool at_explicit; /* the last barrier that it came to is one that the program asked for */
    uint32_t life;    /* its present one, + 1; 0: none */
};

struct fv_transcript_threads {
    struct fv_transcript_follow *follow; /* by slot */
    struct fv_transcript_doing {
        bool is_known;
        uint8_t kind, operation; /* enum fv_sync_kind, 0: none; enum fv_sync_operation */
    } * doings;                  /* what a function does, by its number */
    struct fv_transcript_object *objects;
    size_t object_count, object_room;
    struct fv_index object_index;
    struct fv_transcript_sync *syncs;
    size_t sync_count, sync_room;
    struct fv_index sync_index;
    struct fv_transcript_region *regions;
    size_t region_count, region_room;
    struct fv_index region_index;
    struct fv_transcript_part *parts;
    size_t part_count, part_room;
    struct fv_index part_index;
    struct fv_transcript_work *works;
    size_t work_count, work_room;
    struct fv_index work_index;
    struct fv_transcript_team *teams;
    size_t team_count, team_room;
    struct fv_pendings open;   /* teams by region */
    struct fv_pendings births; /* lives by creation */
    uint32_t *unused;          /* teams that can be used again */
    size_t unused_count, unused_room;
    struct fv_thread_life *lives;
    size_t life_count, life_room;
};

/* transcript_objects.c. An operation, at a place of the program; waited: ticks, of a contended one. */
struct fv_transcript_operation {
    uint32_t kind, operation, object, slot, node;
    uint64_t waited;
    bool contended, failed;
};
struct fv_sync_record *fv_transcript_operate(struct fv_transcript *t, const struct fv_transcript_operation *operation);
/* Its id in the file, where a call path has it; else FV_MODULE_UNKNOWN. */
uint32_t fv_transcript_module(struct fv_transcript *t, uint32_t module);
/* The module names the object, whichever thread uses it first; FV_NONE: nothing does. */
void fv_transcript_name(struct fv_transcript *t, uint32_t object, uint32_t module);
/* The number of an object. */
uint32_t fv_transcript_object_of(struct fv_transcript *t, unsigned kind, uint32_t lock, uint32_t module, uint32_t node,
                                 uint32_t slot, uint64_t ticks);

/* transcript_teams.c */
void fv_transcript_team(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks);
/* The barrier's object; 0: the thread is in no team. */
uint32_t fv_transcript_barrier(struct fv_transcript *t, uint32_t slot, uint64_t ticks);
/* It waited, at a barrier (came: when it came there) or for something else (0). */
void fv_transcript_member_waited(struct fv_transcript *t, uint32_t slot, uint64_t waited, uint64_t came);
void fv_transcript_construct(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks);
void fv_transcript_construct_end(struct fv_transcript *t, uint32_t slot, uint64_t ticks);
void fv_transcript_teams_close(struct fv_transcript *t);

#endif
