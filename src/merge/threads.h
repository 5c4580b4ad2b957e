/* What threads do between calls of MPI, see trace/events.h: names of what they wait in, which of them a rank
 * file uses, and the numbers of their locks. */
#ifndef FV_MERGE_THREADS_H
#define FV_MERGE_THREADS_H

#include "merge/calls.h"
#include "merge/defs.h"

#define FV_THREAD_CALLS 256 /* enum fv_sync_kind | enum fv_sync_operation << 4 */

/* In place of an operation: the barrier at the end of a parallel region, which no call is of its own. */
#define FV_THREAD_IMPLICIT_BARRIER (FV_SYNC_OMP | 15 << 4)

/* What waits there: the C library's function, or a name of OpenMP's. NULL: nothing does. */
const char *fv_thread_call_name(unsigned call);
/* Of waiting, for an archive; kind: enum fv_sync_kind. NULL: there is none. */
const char *fv_thread_wait_name(unsigned kind);

/* What the threads' records of a file refer to is told to `mark`: call paths of the process, and calls. */
void fv_threads_used(const struct fv_reader *reader,
                     void (*mark)(void *context, uint32_t path, unsigned call), void *context);
/* Numbers that its locks and other objects need; 0: threads are not in its trace. */
uint32_t fv_threads_objects(const struct fv_reader *reader);

/* Locks are numbered over all ranks: object 0 of a rank has this number. */
uint32_t fv_threads_first_object(const struct fv_defs *defs, uint32_t rank);
/* Is a function of class FV_CLASS_OF_THREADS one of OpenMP? */
bool fv_thread_call_is_omp(const char *name);
/* Are threads in some rank's trace, and what OpenMP does? */
bool fv_defs_has_threads(const struct fv_defs *defs);
bool fv_defs_has_omp(const struct fv_defs *defs);

#endif
