/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals that ended ranks, for all views. */
#ifndef FV_FATAL_WORDS_H
#define FV_FATAL_WORDS_H

#include "profile/profile.h"

/* "SIGSEGV"; of those that fvmpi does not watch "signal 63". Returns it, or `buffer`. */
const char *fv_signal_name(uint32_t signal, char buffer[24]);
/* "SIGSEGV (address 0x10)", "SIGTERM (sent by process 812)". Returns out. */
char *fv_signal_words(const struct fv_signal_view *signal, char *out, size_t bytes);
/* Sent from outside, to ranks wherever they are: by a launcher, a batch system, or somebody who waits no longer. */
bool fv_signal_is_request(const struct fv_signal_view *signal);
/* Is where it was worth telling? Not of one that was sent from outside. */
bool fv_signal_has_place(const struct fv_signal_view *signal);
/* Of the ranks that a signal ended, the first: "rank 1 was ended by SIGSEGV (address 0x10) after 2.10 s, in bad() at
 * a.c:7 <- main() at a.c:20"; or, from outside, "4 ranks were ended by SIGTERM, the first after 2.10 s". "": none was.
 * Returns out. */
char *fv_fatal_words(const struct fv_profile *profile, char *out, size_t bytes);
/* Of a run that did not end well, or still runs, the first thing to know: the signal, and what a hang looked like where
 * that may be why; one line each. "": nothing. Returns out. */
char *fv_end_words(const struct fv_profile *profile, char *out, size_t bytes);
/* Was it the program's own fault, so that nothing else need be looked for? */
bool fv_fatal_is_own(const struct fv_model *model);

#endif
