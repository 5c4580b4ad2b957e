/* SPDX-License-Identifier: BSD-3-Clause */
/* When a thread has no processor outside of MPI: the kernel's records of its context switches say from when to when,
 * and whether it waited for something (a sleep, I/O, a page, a lock) or another thread was given its processor. No
 * signal, no system call: the kernel writes into pages that are looked at when a call begins and when it ends. By the
 * thread itself.
 *
 * Where the kernel does not let us, nothing is known: struct fv_thread_record.switches says so. */
#ifndef FV_SWITCHES_H
#define FV_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

struct fv_thread;

struct fv_switches {
    const uint64_t *head; /* bytes that the kernel has written, ever; never NULL */
    const uint64_t *look; /* the same, or what never equals `tail`: where each call is to look */
    uint64_t tail;        /* of them read */
    char *pages;          /* NULL: there are none */
    bool tried;           /* to have them */
    bool full;            /* records were lost in a call */
    bool any;             /* came since its last call, or I/O did (fv_thread.io_since): */
    struct fv_switch_sums {
        uint64_t blocked, blocked_ns; /* times, and how long, until it ran again */
        uint64_t preempted, preempted_ns;
        uint64_t unseen; /* switches for which there was no room, at least so many */
    } since;
    uint64_t left_out; /* ticks that recording waited since then, which are no computing */
};

/* A new thread's. */
void fv_switches_init(struct fv_switches *switches);
/* From now on, to the thread's end, unless that was tried already; its record says whether the kernel lets us. */
void fv_switches_begin(struct fv_thread *thread);
void fv_switches_read(struct fv_switches *switches);
void fv_switches_skip(struct fv_switches *switches);

/* Or is each call to look, whatever came (rt/counters.h)? The record path's one question. */
static inline bool fv_switches_look(const struct fv_switches *s)
{
    return __atomic_load_n(s->look, __ATOMIC_RELAXED) != s->tail;
}
void fv_switches_look_always(struct fv_switches *switches);

static inline bool fv_switches_came(const struct fv_switches *s)
{
    return __atomic_load_n(s->head, __ATOMIC_RELAXED) != s->tail;
}

static inline void fv_switches_forget(struct fv_switches *s)
{
    s->since = (struct fv_switch_sums){ 0 };
    s->left_out = 0;
    s->any = false;
}

/* What came until now is in no computing that is counted. */
static inline void fv_switches_ignore(struct fv_switches *s)
{
    if (fv_switches_came(s))
        fv_switches_skip(s);
    fv_switches_forget(s);
}

#endif
