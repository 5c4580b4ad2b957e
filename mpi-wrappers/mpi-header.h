/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h, and where Open MPI has them the extensions that rows of mpi-api.tbl name. For probe.sh, too. */
#ifndef FV_MPI_HEADER_H
#define FV_MPI_HEADER_H

#include <mpi.h>
#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

#endif
