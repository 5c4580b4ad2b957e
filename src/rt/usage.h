/* What the kernel counts of the process and its threads: CPU time, page faults, switches. A system call each.
 * Where it refuses, *out stays as it is. */
#ifndef FV_USAGE_H
#define FV_USAGE_H

#include "trace/format.h"

/* Of the process; of the calling thread. */
void fv_usage_read(struct fv_usage *out);
void fv_usage_read_thread(struct fv_usage *out);

/* The process's until now, into the rank file's header. Not in a signal handler. */
void fv_usage_update(void);

#endif
