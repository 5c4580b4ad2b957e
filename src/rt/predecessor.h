/* SPDX-License-Identifier: BSD-3-Clause */
/* What the process was before it called exec(): its experiment is this program's, too. */
#ifndef FV_RT_PREDECESSOR_H
#define FV_RT_PREDECESSOR_H

#include <stdbool.h>

/* If the rank file `name` of the directory is of this process, which was another program then, it becomes NAME.1, or
 * .2, ..., and the run.json that it wrote likewise. False: it is not, or it could not; nothing has changed. */
bool fv_predecessor_steps_aside(int directory, const char *name);

#endif
