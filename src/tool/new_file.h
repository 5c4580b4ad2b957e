/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that the tools write under names of their own, in directories where others may have put something under
 * the same name: nothing that stands there is followed or written to. */
#ifndef FV_TOOL_NEW_FILE_H
#define FV_TOOL_NEW_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/* A new file in the place of whatever has that name: a link, a FIFO, what a killed process left behind. `flags` as for
 * open(); close-on-exec. -1: errno. */
int fv_new_file(const char *path, int flags, mode_t mode);

#endif
