/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of this program: all that a launcher started of it, or one. Of its two implementations each
 * flavour of fvunify has one. */
#ifndef FV_PROCESSES_H
#define FV_PROCESSES_H

#include "merge/transport.h"

/* NULL: failed, and has logged. */
const struct fv_transport *fv_processes_start(int *argc, char ***argv);
/* In a handler of signals: the others of this program get it, too, unless whoever started them sees to that. */
void fv_processes_interrupt(void);
/* Collective. */
void fv_processes_stop(void);

#endif
