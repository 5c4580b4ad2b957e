/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of a node that compute one at a time (fvmpi run --throughput): who comes out of an MPI call waits for his turn,
 * and gives it up in the next one that may wait. So whoever computes has the node's caches and memory to himself; ranks
 * that wait in MPI for others do it there. Turns are given in the order in which ranks came for them.
 *
 * The time of a turn is that between MPI's calls of the process's first thread, as it is where all ranks compute
 * together; those of its other threads are in it. Calls that are local (datatypes, MPI_Isend(), ...) do not give up a
 * turn: their time is left out.
 *
 * It never hangs: who waits for a turn looks whether its holder goes on. If that one is gone, uses no CPU time for a
 * while, or computes for longer than the page's limit (it waits for another rank by other means than MPI), all are let
 * go, for good, and what was measured does not count. So they are when it has taken as long as all ranks' limits
 * together: each change costs some 10 us, and a program may have millions of calls. No thread, no signal: where ranks
 * do not take turns, nothing of this is called. */
#ifndef FV_TURNS_H
#define FV_TURNS_H

struct fv_thread;

/* Around each MPI call of the thread, if the process takes turns. errno stays the application's. */
void fv_turns_enter(const struct fv_thread *thread, unsigned function);
void fv_turns_leave(const struct fv_thread *thread);

/* Recording pauses, goes on, or forgets what was, by the first thread: what it measures does, too. */
void fv_turns_pause(void);
void fv_turns_resume(void);
void fv_turns_forget(void);

/* The process ends, by whichever thread, or handler. */
void fv_turns_end(void);

#endif
