/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of the process that threads wait for, and the call sites where. */
#ifndef FV_THREADS_OBJECTS_H
#define FV_THREADS_OBJECTS_H

#include "threads/state.h"

extern uint64_t fv_sync_retirements; /* of objects, so far */

/* The object at an address, made when new; NULL: no room. `outside`: the thread, unless it is inside an MPI
 * call. */
struct fv_sync_thing *fv_sync_thing_at(struct fv_sync *s, struct fv_thread *outside, uintptr_t address, unsigned kind,
                                       struct fv_call_place site);
bool fv_sync_thing_is_at(const struct fv_sync_thing *thing, uintptr_t address);
/* A call site alone, and its whole path: not inside an MPI call, where the path cache's entries are in use.
 * 0: no room. */
uint32_t fv_sync_site_path(uintptr_t return_address);
uint32_t fv_sync_whole_path(struct fv_thread *outside, struct fv_call_place site);
/* What fvmpi and libunwind lock is not the application's; nor how a run-time library of OpenMP waits that tells us of
 * it (ompt.c). `code`: an address in it. */
void fv_sync_ignore_tools(void);
void fv_sync_ignore_runtime(uintptr_t code);
bool fv_sync_is_ignored(uintptr_t return_address); /* either: */
bool fv_sync_is_tools(uintptr_t return_address);
bool fv_sync_is_runtimes(uintptr_t return_address);
/* An object ends, or begins: its address is another's from now on. */
void fv_sync_retire(const volatile void *object, unsigned kind);
/* Can who holds a lock acquire it once more? If not, another thread has released it, which binary semaphores
 * made of mutexes do: when is not known. `held`: the object that is held at that address; NULL: no room for
 * one. The other two are of the acquisition that was just made. */
bool fv_sync_is_again(const struct fv_sync_thing *held, const struct fv_sync_record *record,
                      const struct fv_sync_thing *thing);

#endif
