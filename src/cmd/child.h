/* Starting the command: in place, or as a child that is waited for. */
#ifndef FV_CHILD_H
#define FV_CHILD_H

#include "base/base.h"

/* execvp(); comes back only on failure, which it has reported: the exit status to end with. */
int fv_exec(char **argv);

/* Starts the command, hands SIGINT, SIGTERM and SIGHUP on to it, waits. Returns its exit status, 128 + the
 * signal that ended it, or what fv_exec() says. `before` runs in the child. */
int fv_spawn(char **argv, void (*before)(void));

#endif
