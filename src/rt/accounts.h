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
/* Of another thread: its CPU time by its clock, and, unless that is all, by files below /proc, which take 20 us. */
bool fv_accounts_read_of(uint32_t tid, bool all, uint64_t of[FV_ACCOUNTS]);

#endif
