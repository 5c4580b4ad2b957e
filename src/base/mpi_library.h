/* Which MPI a library is, by its file's name. */
#ifndef FV_MPI_LIBRARY_H
#define FV_MPI_LIBRARY_H

enum fv_mpi_library {
    FV_MPI_NONE,    /* no MPI's C library */
    FV_MPI_MPICH,   /* MPICH's binary interface: also Intel's, Cray's, MVAPICH, ParaStation */
    FV_MPI_OPENMPI, /* Open MPI 3, 4 and 5 */
    FV_MPI_UNKNOWN, /* another one, or of another binary interface */
};

/* `name` without its directory: libmpi.so.40 */
enum fv_mpi_library fv_mpi_of_library(const char *name);

#endif
