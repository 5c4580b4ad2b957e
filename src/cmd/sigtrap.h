/* SPDX-License-Identifier: BSD-3-Clause */
/* Do threads that block SIGTRAP live through samples that signal as SIGTRAP? See base/sigtrap.h. */
#ifndef FV_CMD_SIGTRAP_H
#define FV_CMD_SIGTRAP_H

#include "base/base.h"

/* Lets a process of its own try, for some milliseconds. False: no, or there are no such events here. */
bool fv_sigtrap_try(void);

#endif
