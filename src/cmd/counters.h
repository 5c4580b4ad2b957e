/* SPDX-License-Identifier: BSD-3-Clause */
/* --counters of `fvmpi run`: groups and names of events to what the library takes (base/perf_events.h), by the
 * processor of this host. */
#ifndef FV_CMD_COUNTERS_H
#define FV_CMD_COUNTERS_H

#include <stdbool.h>

/* The list, encoded, for the caller to free: the processor's name behind an @ first, then each event once. On failure
 * it has said why. Events that cannot be had here are no failure: the library tells. More than the processor's
 * registers are, unless they are shared. `pass`: of several, "2/3"; "": there is one. */
int fv_counters_encode(const char *list, bool is_shared, const char *pass, char **out);
/* How many passes it takes to count all of the list without sharing registers, 1 at least; 0: has said what is wrong
 * with it. */
unsigned fv_counters_passes(const char *list);
/* Groups, their events here, and what cannot be had. */
void fv_counters_help(void);

#endif
