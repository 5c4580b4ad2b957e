/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel counts of the process and its threads: CPU time, page faults, switches. A system call each.
 * Where it refuses, *out stays as it is. */
#ifndef FV_USAGE_H
#define FV_USAGE_H

#include "trace/format.h"

/* Of the process; of the calling thread. `more`, which may be NULL, gets what costs no other call. */
void fv_usage_read(struct fv_usage *out, struct fv_usage_process *more);
void fv_usage_read_thread(struct fv_usage *out);

/* CPU time of all threads that had this struct, in ns, by any thread: exact, by the thread's clock; and what the
 * kernel's ticks of 1 to 10 ms tell of user mode and of both, by which it is divided. Three system calls. errno
 * changes. */
struct fv_thread;
struct fv_usage_other {
    uint64_t cpu_ns, user_ns, ticked_ns;
};
void fv_usage_read_other(const struct fv_thread *thread, struct fv_usage_other *out);
/* Into the records of the threads that live but `self`. At the process's end. */
void fv_usage_update_others(const struct fv_thread *self);

/* How long the main thread was ready to run and had no processor, from /proc: opens a file, so that it is for start and
 * end, and for moments as rare. */
void fv_usage_read_ready(struct fv_usage_process *out);
/* How long threads but the process's first one were ready to run and had no processor, ns: those that live, and whose
 * ends were seen. */
uint64_t fv_usage_others_ready(void);

/* What a hypervisor took of a processor of this machine, the mean of all, since it booted, ns; 0: it is not known. From
 * /proc, for start and end. */
uint64_t fv_usage_stolen(void);
/* What quotas of processor time (cpu.max, cpu.cfs_quota_us) kept all tasks of this process's control groups from
 * running, in ns, since they were made; 0: not known. */
uint64_t fv_usage_throttled(void);

/* The process's until now, into the rank file's header. Not in a signal handler. */
void fv_usage_update(void);
/* Updates the peak of resident memory from time to time: for programs that rarely call MPI, and runs that go on.
 * Signal handlers may call it. */
void fv_usage_watch_memory(uint64_t now);

#endif
