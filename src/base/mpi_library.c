/* SPDX-License-Identifier: BSD-3-Clause */
/* See mpi_library.h. MPICH and its derivatives agreed in 2014 on one binary interface, whose C library has
 * the soname libmpi.so.12; distributions that install several MPIs have libmpich.so.12, Cray has one for each
 * compiler (libmpi_cray.so.12, libmpi_gnu_91.so.12). MPI-5.0 (chapter 20) calls the library of the standard
 * ABI mpi_abi; its soname has the version of the ABI, 1, or 0 by mistake (MPICH 5.0.1). What drafts were
 * called, libmpi_abi.so.12, is something else. */
#include "base/mpi_library.h"

#include <fnmatch.h>
#include <stddef.h>

enum fv_mpi_library fv_mpi_of_library(const char *name)
{
    static const struct {
        const char *pattern;
        enum fv_mpi_library mpi;
    } known[] = {
        { "libmpi.so.12*", FV_MPI_MPICH },
        { "libmpich.so.12*", FV_MPI_MPICH },
        { "libmpi_cray.so.12*", FV_MPI_MPICH },
        { "libmpi_gnu*.so.12*", FV_MPI_MPICH },
        { "libmpi_intel*.so.12*", FV_MPI_MPICH },
        { "libmpi_nvidia*.so.12*", FV_MPI_MPICH },
        { "libmpi_pgi*.so.12*", FV_MPI_MPICH },
        { "libmpi_amd*.so.12*", FV_MPI_MPICH },
        { "libmpi_aocc*.so.12*", FV_MPI_MPICH },
        { "libmpi.so.40*", FV_MPI_OPENMPI },
        { "libmpi.so*", FV_MPI_UNKNOWN }, /* Open MPI 1 and 2, HPE's, Fujitsu's */
        { "libmpi_ibm.so*", FV_MPI_UNKNOWN },
        { "libmpi_abi.so.[01]", FV_MPI_STANDARD },
        { "libmpi_abi.so.[01].*", FV_MPI_STANDARD },
        { "libmpi_abi.so", FV_MPI_STANDARD },
        { "libmpi_abi.so*", FV_MPI_UNKNOWN },
        { "libmpich.so*", FV_MPI_UNKNOWN },   /* before they agreed */
        { "libmpich_*.so*", FV_MPI_UNKNOWN }, /* Cray's, likewise */
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (!fnmatch(known[i].pattern, name, 0))
            return known[i].mpi;
    return FV_MPI_NONE;
}

static const struct {
    const char *name, *flavour;
} known_as[] = {
    [FV_MPI_MPICH] = { "MPICH", "mpich" },
    [FV_MPI_OPENMPI] = { "Open MPI", "openmpi" },
    [FV_MPI_STANDARD] = { "MPI's standard ABI", "abi" },
    [FV_MPI_UNKNOWN] = { NULL, NULL },
};

const char *fv_mpi_name(enum fv_mpi_library mpi)
{
    return known_as[mpi].name;
}

const char *fv_mpi_flavour(enum fv_mpi_library mpi)
{
    return known_as[mpi].flavour;
}
