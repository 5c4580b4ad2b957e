/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel counts of the process and its threads: CPU time, page faults, switches. A system call each.
 * Where it refuses, *out stays as it is. */
#ifndef FV_USAGE_H
#define FV_USAGE_H

#include "trace/format.h"

/* Of the process; of the calling thread. `more`, which may be NULL, gets what costs no other call. */
void fv_usage_read(struct fv_usage *out, struct fv_usage_process *more);
void fv_usage_read_thread(struct fv_usage *out);

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

#endif
