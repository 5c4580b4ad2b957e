/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of performance events, for `fvmpi run`: what the library inside the application cannot know is
 * encoded here, by libpfm4 if fvmpi was built with it. */
#ifndef FV_CMD_EVENTS_H
#define FV_CMD_EVENTS_H

#include <stdbool.h>

/* A list of names as the library understands it: generic names stay as they are. *out is the caller's, from
 * malloc(). -FV_ENOENT: has said which name is not known, and what is near; -FV_ENOMEM. */
int fv_events_encode(const char *list, char **out);

/* The processor's precise event of calls, encoded; the caller's. NULL: it has none, or it cannot be had:
 * libpfm4 goes by the processor's model, which in a virtual machine often comes without its counters. */
char *fv_events_calls(void);

struct fv_perf_event;
/* Looks an event's name up. NULL, or why not; "" where libpfm4 does not know it. `user_only`: unless the name says
 * otherwise. */
const char *fv_event_encode(struct fv_perf_event *event, bool user_only);
/* option: with its command, as "run: --events". -FV_ENOENT. */
int fv_event_say_unknown(const char *option, const struct fv_perf_event *event, const char *why);
/* Of the PMUs that libpfm4 finds here, the name of the first that is known; NULL: there is none. */
const char *fv_event_pmu(bool (*is_known)(const char *name));

#endif
