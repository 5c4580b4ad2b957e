/* SPDX-License-Identifier: BSD-3-Clause */
/* Result files that are whole or not there: written beside their place under another name, and renamed when
 * all is written. What stood there before stays as it was until then, so a full disk costs no good file;
 * nothing is synced to the disk. SIGINT, SIGTERM and SIGHUP remove what was written; one file at a time. */
#ifndef FV_WHOLE_FILE_H
#define FV_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct fv_whole_file {
    FILE *stream;
    char *path, *part; /* part NULL: the stream is written to in place */
};

/* "-" is stdout. A pipe, a device or a link that the user, or root, put there (/dev/stdout) gets what is
 * written as it comes; a link of others is replaced, a pipe or device of theirs refused, as is a file that
 * may not be written to. -FV_EIO: errno tells, and there is nothing to close. */
int fv_whole_file_open(struct fv_whole_file *out, const char *path);
/* Puts it into its place, if `err` is 0 and it could be written; else removes what was written. Returns err,
 * or -FV_EIO: errno tells. */
int fv_whole_file_close(struct fv_whole_file *file, int err);

#endif
