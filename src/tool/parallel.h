/* SPDX-License-Identifier: BSD-3-Clause */
/* Work on many items by as many threads as the process may use processors, at most FV_PARALLEL_MOST. */
#ifndef FV_PARALLEL_H
#define FV_PARALLEL_H

#include <stddef.h>

#define FV_PARALLEL_MOST 16

/* Returns when all items are done. They are begun in their order, and none may depend on another. Where no threads can
 * be had, the caller's does it all. */
typedef void fv_parallel_work(void *context, size_t item);
void fv_parallel(size_t count, fv_parallel_work *work, void *context);

#endif
