/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a thread's own stack lies. */
#ifndef FV_STACK_H
#define FV_STACK_H

#include "base/base.h"

/* Of the calling thread: its frames are in [*low, *high); 0, 0: not known. Below *low is nothing that may be read;
 * where its pages and what lies below them are one mapping (no guard between them, or glibc's from 2.42 on), *low is
 * that mapping's. No lock is taken, and nothing allocated: a signal handler may ask. */
void fv_stack_bounds(bool initial_thread, uintptr_t *low, uintptr_t *high);

#endif
