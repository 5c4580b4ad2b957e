/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a trace that keeps its end (--trace-keep), while the program runs: when it asks for one, and when a section
 * took much longer than usual (--keep-slow). */
#ifndef FV_KEEP_H
#define FV_KEEP_H

#include "base/base.h"

/* The section that --keep-slow names: on the main thread alone, so that a copy is of one instance. */
struct fv_slow;
/* For the calling thread. NULL: it is not this section. Of the names that agree, the first counts, whatever its
 * number. */
struct fv_slow *fv_slow_of(const char *section);
/* Its instance `number`, from 1 on, has ended. If it is slow, the ring is copied to DIR/slow-keep-NUMBER: ranks that
 * wait for each other in it find the same ones slow. The instance behind that is not judged: it has the copying. */
void fv_slow_ended(struct fv_slow *slow, uint64_t number, uint64_t ticks);

/* Of fvmpi.h. */
FV_PUBLIC void fvmpi_keep_v1(const char *why);

#endif
