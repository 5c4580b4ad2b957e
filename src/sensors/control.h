/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands to who samples, while it runs, by a FIFO: one a line.
 *
 *     label TEXT    marks the present with this text
 *     pause         nothing is read or recorded
 *     resume        ... until now
 *     interval S    seconds from sample to sample, from now on
 *     rotate        goes on in a new file
 *     record FILE   ends the recording, and begins another one
 *
 * The FIFO is made by who reads it, for its user alone. Lines may come in pieces, or many at once, and by many writers:
 * what is written in one piece, of FV_CONTROL_LINE bytes at most, is not mixed with what others write. Whatever else
 * comes is no command and harms nothing. The FIFO's reader holds it open for writing, too, so that it never ends. No
 * malloc, no stdio; one thread. */
#ifndef FV_CONTROL_H
#define FV_CONTROL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FV_CONTROL_LINE    4096       /* PIPE_BUF, with the newline; of a longer line the rest is cut off */
#define FV_CONTROL_NAME    ".control" /* in a directory */
#define FV_CONTROL_LEAST_S 0.001      /* intervals */
#define FV_CONTROL_MOST_S  86400

enum fv_control_verb {
    FV_CONTROL_WRONG, /* `why` tells */
    FV_CONTROL_LABEL,
    FV_CONTROL_PAUSE,
    FV_CONTROL_RESUME,
    FV_CONTROL_INTERVAL,
    FV_CONTROL_ROTATE,
    FV_CONTROL_RECORD,
};

struct fv_control_command {
    enum fv_control_verb verb;
    const char *text; /* of a label, a file, or the word that is wrong; until the next call. Any bytes but NUL and
                       * newline */
    double interval_s;
    bool is_cut; /* the line was too long */
    const char *why;
};

struct fv_control {
    int fd; /* -1: there is none */
    char path[PATH_MAX];
    dev_t device;
    ino_t inode;
    bool is_cut;
    size_t used, at, end;
    char line[FV_CONTROL_LINE + 1], read[FV_CONTROL_LINE];
};

/* The FIFO that `path` stands for: in a directory it is named FV_CONTROL_NAME. False: too long. */
bool fv_control_path(const char *path, char out[PATH_MAX]);

/* Makes it. What has that name stays, unless it is a FIFO of this user that nobody reads: a killed process left it.
 * -FV_EIO: errno tells, and there is nothing to close; EEXIST: something else is there. */
int fv_control_open(struct fv_control *control, const char *path);
/* Takes what is there, a pipe's page at most, without waiting; then take all commands. False: nothing is, or there is
 * no FIFO. */
bool fv_control_load(struct fv_control *control);
/* False: there is no further whole line. Empty lines are none. */
bool fv_control_next(struct fv_control *control, struct fv_control_command *out);
/* Removes it. Of one that was never opened: zeros and an fd of -1. */
void fv_control_close(struct fv_control *control);

/* What one line of `line`, with its NUL, says. It is changed. */
void fv_control_parse(char *line, struct fv_control_command *out);

/* Writes a line, without its newline, to a FIFO that somebody reads. -FV_EIO: errno tells; ENXIO: nobody reads it,
 * EAGAIN: it is full; -FV_EINVAL: the line has a newline or is too long; -FV_EFORMAT: no FIFO. */
int fv_control_send(const char *path, const char *line);

#endif
