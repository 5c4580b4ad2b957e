/* Names of performance events, for `fvmpi run`: what the library inside the application cannot know is
 * encoded here, by libpfm4 if fvmpi was built with it. */
#ifndef FV_CMD_EVENTS_H
#define FV_CMD_EVENTS_H

/* A list of names as the library understands it: generic names stay as they are. *out is the caller's, from
 * malloc(). -FV_ENOENT: has said which name is not known, and what is near; -FV_ENOMEM. */
int fv_events_encode(const char *list, char **out);

/* The processor's precise event of calls, encoded; the caller's. NULL: it has none, or it cannot be had:
 * libpfm4 goes by the processor's model, which in a virtual machine often comes without its counters. */
char *fv_events_calls(void);

#endif
