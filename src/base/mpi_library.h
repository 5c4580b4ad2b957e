/* SPDX-License-Identifier: BSD-3-Clause */
/* Which MPI a library is, by its file's name. */
#ifndef FV_MPI_LIBRARY_H
#define FV_MPI_LIBRARY_H

enum fv_mpi_library {
    FV_MPI_NONE,     /* no MPI's C library */
    FV_MPI_MPICH,    /* MPICH's binary interface: also Intel's, Cray's, MVAPICH, ParaStation */
    FV_MPI_OPENMPI,  /* Open MPI 3, 4 and 5 */
    FV_MPI_STANDARD, /* the standard's own binary interface, which may stand before another MPI's */
    FV_MPI_UNKNOWN,  /* another one, or of another binary interface */
};

/* `name` without its directory: libmpi.so.40 */
enum fv_mpi_library fv_mpi_of_library(const char *name);

/* "Open MPI" in a sentence, and "openmpi" in libfvmpi-openmpi.so; NULL of FV_MPI_NONE and FV_MPI_UNKNOWN. */
const char *fv_mpi_name(enum fv_mpi_library mpi);
const char *fv_mpi_flavour(enum fv_mpi_library mpi);

#endif
