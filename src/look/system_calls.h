/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls by their numbers: what they are called, and what a signal does to them. */
#ifndef FV_SYSTEM_CALLS_H
#define FV_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* "read"; "system call 999". In `buffer` where it must be made. */
const char *fv_system_call_name(int32_t call, char buffer[32]);
/* Is its first argument a file descriptor? */
bool fv_system_call_has_file(int32_t call);
/* Does it go on as if nothing was, when a handler with SA_RESTART returns (signal(7))? `file`: what its descriptor is,
 * as the kernel names it. False also of calls that are not known. */
bool fv_system_call_restarts(int32_t call, const uint64_t argument[4], const char *file);

#endif
