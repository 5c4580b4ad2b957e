/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads do between calls of MPI, see trace/events.h: names of what they wait in, which of them a rank
 * file uses, and the numbers of their locks. */
#ifndef FV_MERGE_THREADS_H
#define FV_MERGE_THREADS_H

#include "merge/calls.h"
#include "merge/defs.h"
#include "trace/format_words.h"

/* Kinds of waiting for a thread of the same process, with their names in archives and in analysis.json, where
 * each is described: share/analysis.md. */
#define FV_THREAD_WAITS(X)       \
    X(LOCK, "lock_contention")   \
    X(BARRIER, "thread_barrier") \
    X(CONDITION, "condition")    \
    X(SEMAPHORE, "semaphore")    \
    X(JOIN, "thread_join")       \
    X(ONCE, "once")              \
    X(OMP_LOCK, "omp_lock")      \
    X(OMP_BARRIER, "omp_barrier")

enum fv_thread_wait {
    FV_TW_NONE,
#define FV_THREAD_WAIT(wait, name) FV_TW_##wait,
    FV_THREAD_WAITS(FV_THREAD_WAIT)
#undef FV_THREAD_WAIT
        FV_TW_COUNT
};
extern const char *const fv_thread_wait_names[FV_TW_COUNT];

/* What waiting in a call is; FV_TW_NONE: nothing waits there. */
enum fv_thread_wait fv_thread_wait_of(unsigned call);

/* What the threads' records of a file refer to is told to `mark`: call paths of the process, and calls. */
void fv_threads_used(const struct fv_reader *reader, void (*mark)(void *context, uint32_t path, unsigned call),
                     void *context);
/* Its locks and other objects, but those whose description is damaged. */
void fv_threads_each_object(const struct fv_reader *reader,
                            void (*tell)(void *context, const struct fv_sync_object *object, bool waited_for),
                            void *context);
/* Numbers that its locks and other objects need; 0: threads are not in its trace. */
uint32_t fv_threads_objects(const struct fv_reader *reader);

/* Has it objects of OpenMP's? */
bool fv_threads_use_omp(const struct fv_reader *reader);

/* Of all ranks, which are in their final order. */
uint32_t fv_defs_object_count(const struct fv_defs *defs);
/* Is a function of class FV_CLASS_OF_THREADS one of OpenMP? */
bool fv_thread_call_is_omp(const char *name);
/* Are threads in some rank's trace, and what OpenMP does? */
bool fv_defs_has_threads(const struct fv_defs *defs);
bool fv_defs_has_omp(const struct fv_defs *defs);

#endif
