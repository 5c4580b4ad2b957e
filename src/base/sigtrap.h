/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that signal as SIGTRAP by themselves (perf_event_attr.sigtrap) cost half of what others do, and may kill:
 * before Linux 5.19 a sample of a thread that blocks SIGTRAP, as each does while it makes another, ended the process;
 * distributions may have it mended earlier. Whether it does cannot be asked, only tried, by a process that may die of
 * it. `fvmpi run` has one (cmd/sigtrap.h), and says in FVMPI_SIGTRAP on which kernel it lived; the library takes such
 * events on that very kernel only. Rejected: to try it in the library, which would fork the application. */
#ifndef FV_SIGTRAP_H
#define FV_SIGTRAP_H

#include "base/base.h"

#define FV_SIGTRAP_VARIABLE "FVMPI_SIGTRAP"

/* What tells this kernel from others: of its release and version, as uname(2) has them. */
void fv_sigtrap_kernel(char out[17]);
/* Has this kernel been tried, and is it safe? Reads the environment. */
bool fv_sigtrap_is_safe(void);

#endif
