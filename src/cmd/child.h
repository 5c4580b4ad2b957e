/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting the command: in place, or as a child that is waited for. */
#ifndef FV_CHILD_H
#define FV_CHILD_H

#include "base/base.h"

#include <sys/types.h>

/* execvp(); comes back only on failure, which it has reported: the exit status to end with. */
int fv_exec(char **argv);

/* Starts the command, hands SIGINT, SIGTERM and SIGHUP on to it, waits. Returns its exit status, 128 + the
 * signal that ended it, or what fv_exec() says. `before` runs in the child. *signal (may be NULL): what ended it, or
 * 0. */
int fv_spawn(char **argv, void (*before)(void), int *signal);
/* The same in two steps, for who has something to do meanwhile, or starts several: signals are handed on to FV_CHILDREN
 * of them. -1: it could not be started, which was said. */
#define FV_CHILDREN 1024
pid_t fv_spawn_begin(char **argv, void (*before)(void));
/* Has it ended? `wait`: not before it has. *signal (may be NULL): what ended it, or 0. */
bool fv_spawn_ended(pid_t pid, bool wait, int *status, int *signal);

/* Since the first was started a signal came that ends programs: 128 + it. Else 0. For who starts others behind those
 * that come through it. */
int fv_spawn_is_to_end(void);

/* The same for a rank, between it and its launcher. Launchers signal the whole process group, so nothing is handed on;
 * but this process outlives what it can, to do what is left to do, and where it is killed the rank is, too. *signal:
 * what ended the rank, or 0. */
int fv_spawn_rank(char **argv, void (*before)(void), int *signal);
/* Ends this process by that signal, without a core dump, so that the launcher sees what it would have seen. */
void fv_end_by(int signal);

#endif
