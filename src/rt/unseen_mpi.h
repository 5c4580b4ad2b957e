/* SPDX-License-Identifier: BSD-3-Clause */
/* What of MPI was used and not seen: said when a process ends, or becomes a program that fvmpi is not in. */
#ifndef FV_RT_UNSEEN_MPI_H
#define FV_RT_UNSEEN_MPI_H

#include "base/mpi_library.h"

#include <stdbool.h>

/* Of this library: FV_MPI_NONE is the flavour without MPI. By the MPI-dependent layer. */
extern const enum fv_mpi_library fv_our_mpi;
/* Code of the MPI that this library calls; NULL: it knows of none. */
const void *fv_mpi_code(void);

/* This process ends, with this status; -1: it is not known yet. Not `may_ask`: it may be in a signal handler, where
 * neither the dynamic linker nor an MPI can be asked. Once. */
void fv_unseen_end(bool may_ask, int status);

/* This process, or a forked child, is about to become `path`. No lock, no memory. */
void fv_unseen_exec(const char *path, char *const environment[]);

#endif
