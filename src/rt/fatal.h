/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal that ends the process: see fatal.c. */
#ifndef FV_FATAL_H
#define FV_FATAL_H

#include <signal.h>

/* In a handler, of a signal that is going to end the process: writes it into the rank file. */
void fv_fatal_tell(int signal, const siginfo_t *info, void *context);

#endif
