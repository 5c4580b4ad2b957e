/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that was to go to a directory with another run in it went to DIR-2, the next to DIR-3: whoever asks for DIR may
 * mean the last one. */
#ifndef FV_NEWER_H
#define FV_NEWER_H

/* Says in a line which runs are there beside this one and began after it. */
void fv_newer_say(const char *directory);

#endif
