/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a parallel phase that are let through one at a time (fvmpi run --stacks --solo): *the one* runs alone from
 * the fork to a barrier, the others are parked; then they catch up to that barrier while the one waits in it; behind it
 * they are parked again, and so on, until the one has ended, when all run on. Method: Eklov, Nikoleris, Hagersten, "A
 * profiling method for analyzing scalability bottlenecks on multicores", section 6.1.
 *
 * A phase has seats, one for each thread. Rounds are counted: a parked thread goes on when its round is released, which
 * the one does when it comes to the round's barrier.
 *
 * The application never hangs by it: parked threads wait with a time limit, and whoever is awake looks whether the one
 * goes on. If it waits for a lock or a condition for longer than `wait_ns` (for a parked thread, most likely), uses no
 * CPU time for `still_ns`, runs for longer than `limit_ns`, or if threads do not come together again, all are let go,
 * for good, and the phase is not separable. No thread of ours looks, so none is added to the application.
 *
 * One phase at a time in the process. Nothing is held while a thread is parked: signals are handled, cancellation is.
 * Its own lock (base/lock.h) is held for moments. It knows nothing of what is recorded: solo.c does. */
#ifndef FV_GATE_H
#define FV_GATE_H

#include "base/solo.h"

#include <stdbool.h>
#include <stdint.h>

#define FV_GATE_SEATS 256

struct fv_gate_rules {
    uint64_t limit_ns, wait_ns, still_ns, gather_ns;
    /* By the one, alone: it is about to run; it has. What is not FV_GATE_GOOD lets all go. */
    enum fv_gate_why (*begin)(void);
    void (*end)(void);
    /* By any thread, under the gate's lock: all were let go while the one ran alone, or was about to. May be told more
     * than once. NULL: nobody asks. */
    void (*rest)(void);
    /* By the thread of a seat: it catches up from here on; or it does no more, before it goes on otherwise. NULL:
     * nobody asks. */
    void (*catch_up)(uint32_t seat, bool begins);
};

/* A phase begins. Its number, which its threads are given; 0: another one is under way. `pick`: chooses the one, modulo
 * the threads. */
uint32_t fv_gate_open(const struct fv_gate_rules *rules, uint32_t pick);

/* Threads that are made one by one: a seat for each, -1: none; and when their creator first waits, all are there. It is
 * told by these calls' thread. */
int fv_gate_seat(uint32_t phase);
bool fv_gate_seat_empty(uint32_t phase, int seat); /* its thread was not made, or won't come in. True: it was the last
                                                    * of all seats */
void fv_gate_full(uint32_t phase);

/* By a thread of the phase: it comes in, and may be parked. `count`: of threads; 0: as many as have seats when it is
 * full. */
void fv_gate_enter(uint32_t phase, uint32_t seat, uint32_t count);
/* It comes to a barrier of so many (0: all), and is behind it. */
void fv_gate_arrive(uint32_t parties);
void fv_gate_leave(void);
/* It has done its part. True: it was the last of all seats. */
bool fv_gate_exit(void);
/* It waits for a lock or the like; no more. */
void fv_gate_waits(void);
void fv_gate_works(void);
/* Has the calling thread a seat in the phase that is under way? Its number; 0: none. */
uint32_t fv_gate_mine(void);

/* All are let go, if it is that phase. */
void fv_gate_give_up(uint32_t phase, enum fv_gate_why why);
/* The phase is over. How it went; *count: its threads. */
enum fv_gate_why fv_gate_close(uint32_t phase, uint32_t *count);

/* The calling thread catches up no more, as for the rules, though it does: it is about to make a thread, which would
 * take after it. */
void fv_gate_come_back(void);

/* In the child of a fork: nobody is parked any more, nor catches up. */
void fv_gate_forget(void);

#endif
