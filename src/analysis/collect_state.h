/* SPDX-License-Identifier: BSD-3-Clause */
/* What is kept of a rank between its records, and the parts of collect.c: threads, steps, messages, groups,
 * windows. Only they include this. */
#ifndef FV_COLLECT_STATE_H
#define FV_COLLECT_STATE_H

#include "analysis/collect.h"
#include "analysis/receives.h"

/* How much earlier a thread would be, had nobody in its process waited for a lock: what its own waits for
 * locks took, or those of who came last where it waited for another (a barrier, a join). It is the lateness
 * of the thread against a clock as the ideal network's (graph.h), but for locks. */
struct fv_lock_clock {
    uint64_t late_ns, at_call_ns; /* at_call: when its last call of MPI ended */
    uint64_t last_ns;             /* time of what it did last, but for calls */
};

/* The call that a thread is in. */
struct fv_call_thread {
    uint32_t line, first; /* first: its step */
    uint32_t used;        /* dependencies so far */
    uint32_t site;
    uint32_t function;
    uint8_t traits;
    bool met;            /* an event of it */
    uint64_t end_before; /* of the call before it, or the line's begin */
    uint64_t begin, off; /* off: since when recording is paused; 0: it is not */
    struct fv_lock_clock locks;
    struct fv_record region; /* in which it waits for another thread */
};

/* What is counted so that it has the same number on all ranks: operations on windows and files. */
struct counter {
    uint64_t key;
    uint64_t count;
};

struct held_lock {
    uint64_t key, begin, end;
    uint32_t line, site, step;
    bool shared;
};

/* A partitioned send that was started. It is told when it ends: its message is late by who made its last part ready. */
struct parts {
    uint64_t id;
    struct fv_item item;
};

/* Whom the rank exchanges with in the neighbourhood of a communicator. */
struct neighbours {
    uint32_t comm;
    const struct fv_neighbours *record; /* sources, then destinations: ranks in the communicator */
};

/* Targets of operations on windows that no call has waited for yet; of more than so many, the first. */
#define USED_TARGETS 16
struct used_targets {
    struct used_target {
        uint32_t window, peer;
    } of[USED_TARGETS];
    uint32_t count;
};

struct fv_rank_collect {
    struct fv_sink sink; /* first: a sink is one of these */
    struct fv_collect *all;
    uint32_t world;
    struct fv_call_thread *threads;
    uint32_t thread_count;
    struct fv_receives posted;
    struct fv_pendings receives;     /* by request: among the posted */
    struct fv_pendings begun;        /* collectives: time, line, site and step of their beginning */
    struct fv_pendings sends;        /* by number of the send: see fv_collect_send_end() */
    struct fv_pendings send_numbers; /* by request: number and receiver of the send */
    struct fv_pendings matched;      /* requests of matched probes: they were told with the probe */
    uint64_t send_count;
    struct parts *parts;
    size_t parts_count, parts_room;
    struct fv_pendings cancelled; /* sends that take no part: see fv_collect_look_ahead() */
    struct counter *counters;
    size_t counter_count, counter_room;
    struct fv_index counter_index;
    struct held_lock *locks;
    size_t lock_count, lock_room;
    struct neighbours *neighbours; /* few: communicators with a topology */
    size_t neighbour_count, neighbour_room;
    struct fv_pendings births, forks; /* by creation, by parallel region: how late who made them was */
    uint64_t last_op_ns;              /* end of the last operation on a window */
    struct used_targets used;
};

/* Each part calls what stands above it here, and collect.c calls them all. */

/* ---- collect_threads.c ---- */
void fv_collect_of_thread(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
/* Of the time from the thread's call before to the next one's begin; then that is the call before. */
uint16_t fv_collect_locked(struct fv_call_thread *t, uint64_t ns);

/* ---- collect_steps.c ---- */
void fv_collect_begin_step(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t ns, uint32_t site);
void fv_collect_end_step(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t ns);
struct fv_step *fv_collect_dependency(struct fv_rank_collect *r, struct fv_call_thread *t, uint32_t *number);
void fv_collect_tell(struct fv_rank_collect *r, const struct fv_item *item);
struct fv_item fv_collect_item(const struct fv_call_thread *t, enum fv_item_kind kind, uint64_t key);
uint64_t fv_collect_channel(uint32_t space, uint32_t from, uint32_t to, uint32_t tag);

/* ---- collect_messages.c ---- */
void fv_collect_send(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_cause(struct fv_steps *steps, struct fv_step *s, const struct fv_answer *a);
/* A part of a partitioned send is ready: which one is not known, so that all that are in progress may be. */
void fv_collect_ready(struct fv_rank_collect *r, const struct fv_call_thread *t);
/* Those that did not end. */
void fv_collect_rest_of_parts(struct fv_rank_collect *r);
void fv_collect_send_end(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t id);
void fv_collect_send_answer(struct fv_rank_collect *r, const struct fv_answer *a);
void fv_collect_receive(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_matched(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_posted(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_receive_end(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_cancel(struct fv_rank_collect *r, const struct fv_record *m);
/* For fv_receives_init(). */
void fv_collect_tell_receive(void *context, const struct fv_item *item);

/* ---- collect_groups.c ---- */
void fv_collect_group(struct fv_rank_collect *r, struct fv_call_thread *t, struct fv_item item, uint32_t comm,
                      uint64_t end);
void fv_collect_collective(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m,
                           const struct fv_pending *begun);
void fv_collect_withheld(struct fv_steps *steps, struct fv_step *s, const struct fv_answer *a);
/* key: of what it belongs to, where its end does not say. */
void fv_collect_request(struct fv_rank_collect *r, const struct fv_call_thread *t, uint64_t id, uint64_t key);
void fv_collect_set_begun(struct fv_item *item, const struct fv_pending *begun);
void fv_collect_request_end(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);

/* ---- collect_windows.c ---- */
void fv_collect_whole(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t end);
void fv_collect_window(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_file(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_file_end(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_epoch(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_operation(struct fv_rank_collect *r, const struct fv_record *m);
void fv_collect_operation_end(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_flush(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_lock(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);
void fv_collect_unlock(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m);

#endif
