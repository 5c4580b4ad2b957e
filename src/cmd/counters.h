/* --counters of `fvmpi run`: groups and names of events to what the library takes (base/perf_events.h), by the processor of this host. */
#ifndef FV_CMD_COUNTERS_H
#define FV_CMD_COUNTERS_H

#include <stdbool.h>

/* The list, encoded, for the caller to free: the processor's name behind an @ first, then each event once. On failure it has said why. Events that cannot be had
 * here are no failure: the library tells. More than the processor's registers are, unless they are shared. */
int fv_counters_encode(const char *list, bool is_shared, char **out);
/* Groups, their events here, and what cannot be had. */
void fv_counters_help(void);

#endif
