/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's own accounts of a thread, by enum fv_perf_account: CPU time, faults and context switches. They need no
 * permission. False: they cannot be read, and nothing is written. */
#ifndef FV_RT_ACCOUNTS_H
#define FV_RT_ACCOUNTS_H

#include "base/perf_events.h"

#include <stdbool.h>
#include <stdint.h>

/* Of the thread itself. */
bool fv_accounts_read(uint64_t of[FV_ACCOUNTS]);
/* Of another thread, by /proc: for the process's end. */
bool fv_accounts_read_of(uint32_t tid, uint64_t of[FV_ACCOUNTS]);

#endif
