/* SPDX-License-Identifier: BSD-3-Clause */
/* Performance events of the calling thread that signal it as SIGTRAP: a clock of its CPU time, breakpoints,
 * watchpoints. And counters, which signal nothing.
 *
 * There are two ways. An event may signal by itself (attr.sigtrap, Linux 5.13), which is taken where it is known not to
 * kill (base/sigtrap.h). Else its descriptor does (O_ASYNC, F_SETSIG, F_SETOWN_EX), at twice the cost, on any kernel.
 * Which one is tried with the first event, and stands for the process. A signal by descriptor says which event it is
 * from, and not of which use of it: who is told looks where the thread stands.
 *
 * Nothing here takes a lock or memory: all but open and close may be called by the signal handler. */
#ifndef FV_PERF_H
#define FV_PERF_H

#include "base/perf_fd.h"

enum fv_trap {
    FV_TRAP_TICK = 1,
    FV_TRAP_X,
    FV_TRAP_RW,
    FV_TRAP_CALL,
    FV_TRAP_AGAIN, /* breakpoints, as X */
    FV_TRAP_STEP
};

/* What a signal says of the event that it comes from. */
struct fv_trap_source {
    enum fv_trap kind;
    unsigned slot;
    uint32_t generation;
    bool any_generation; /* it is not known */
    bool late;           /* it was blocked when it happened: the thread is elsewhere by now */
};
/* From the siginfo_t of a SIGTRAP, or of a SIGPROF. False: it is nothing of ours. */
bool fv_perf_source(const void *siginfo, struct fv_trap_source *out);
/* Is that the present use of the event? */
static inline bool fv_perf_is_of(const struct fv_trap_source *from, const struct fv_event_fd *event)
{
    return from->any_generation || from->generation == event->generation;
}

/* Events begin disabled. False: errno tells, and fd is -1 or to be closed. */
bool fv_perf_open_tick(struct fv_event_fd *event, uint64_t period_ns);
/* The same, signalled as SIGPROF by its descriptor. */
bool fv_perf_open_clock(struct fv_event_fd *event, uint64_t period_ns);
bool fv_perf_open_breakpoint(struct fv_event_fd *event, enum fv_trap kind, unsigned slot);
/* A breakpoint for fv_perf_arm_return() alone, where a watchpoint is of no use. */
bool fv_perf_open_return(struct fv_event_fd *event);
/* Counts how often the thread moves to another processor, from now on. Needs kernel.perf_event_paranoid < 2,
 * or a capability. */
bool fv_perf_open_migrations(struct fv_event_fd *event);
struct perf_event_attr;
/* Any event of the calling thread that signals it; the attributes that make it do so are set here. */
bool fv_perf_open_signal(struct fv_event_fd *event, struct perf_event_attr *attr, enum fv_trap kind, unsigned slot);
/* These leave alone what the application has put in the descriptor's place. */
void fv_perf_set_period(const struct fv_event_fd *event, uint64_t period_ns);
/* Enables a breakpoint at an address under a new generation. */
bool fv_perf_arm(struct fv_event_fd *event, enum fv_trap kind, unsigned slot, uintptr_t address);
/* Makes the watchpoint a breakpoint, whose traps say FV_TRAP_RW all the same, until it is armed otherwise. */
bool fv_perf_arm_return(struct fv_event_fd *event, uintptr_t address);
/* Whatever still comes of it is stale. */
void fv_perf_disarm(struct fv_event_fd *event);
/* For good: when this returns, no processor sends one any more. */
void fv_perf_silence(const struct fv_event_fd *event);

#endif
