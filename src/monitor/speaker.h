/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process tells of its node: the first of a job there that asks. */
#ifndef FV_SPEAKER_H
#define FV_SPEAKER_H

#include <stdbool.h>

/* The answer stays the same for as long as the process lives, and so does the descriptor that it takes. Where it cannot
 * be found out who is first, all are, and the tools take one. By one thread at a time, once the rank file is there. */
bool fv_speaks_for_node(void);

#endif
