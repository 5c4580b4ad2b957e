/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at threads, in the process itself: see look.c. */
#ifndef FV_RT_LOOK_H
#define FV_RT_LOOK_H

#include "look/look.h"

/* Puts what was seen of a thread beside the answers, in the rank file. */
void fv_look_note(const struct fv_look *look);

#endif
