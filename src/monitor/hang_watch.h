/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the threads of the process once no rank has made progress for as long as --hang-after says: no call of MPI
 * has ended but those that asked in vain, such as MPI_Test. By the thread of sensors, which each process has for
 * that. */
#ifndef FV_HANG_WATCH_H
#define FV_HANG_WATCH_H

#include <stdint.h>

/* Once due; returns when it is due again. Times of CLOCK_MONOTONIC. */
int64_t fv_hang_watch_step(int64_t now_ns);

#endif
