/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a trace that keeps its end, each of one instance of a section: of some by their number
 * (--trace-iterations), and of those that took much longer than usual (--keep-slow). */
#ifndef FV_KEEP_INSTANCES_H
#define FV_KEEP_INSTANCES_H

#include "base/base.h"

/* The section that --trace-iterations names, or else --keep-slow: on the main thread alone, so that a copy is of one
 * instance. */
struct fv_watched;
/* For the calling thread. NULL: it is not this section. Of the names that agree, the first counts, whatever its
 * number. */
struct fv_watched *fv_watched_of(const char *section);
/* Its instance `number`, from 1 on, has just ended. Numbers 4, 16, 64, ... are copied to DIR/iteration-keep-NUMBER, as
 * many as are wanted. One that is slow is copied to DIR/slow-keep-NUMBER: ranks that wait for each other in it find the
 * same ones slow. The longest stay. Time while ranks copied other instances does not count. */
void fv_watched_ended(struct fv_watched *watched, uint64_t number, uint64_t ticks);

#endif
