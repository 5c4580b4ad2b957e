/* SPDX-License-Identifier: BSD-3-Clause */
/* What the file of a program tells, without its dynamic linker. Any thread, no malloc; errno may change. */
#ifndef FV_PROGRAM_H
#define FV_PROGRAM_H

#include "base/base.h"

/* An ELF file of this machine that starts without a dynamic linker. */
bool fv_program_is_static(const char *path);
/* An ELF file with MPI's names in it: it calls MPI, or has it within. */
bool fv_program_names_mpi(const char *path);
/* ... with names that only MPI's own code has: a library was linked into it. */
bool fv_program_has_mpi(const char *path);
#define FV_SAYS_HAS_MPI                                                                             \
    "seems to contain an MPI library, whose calls fvmpi cannot see; link it with its MPI's shared " \
    "library, or with libfvmpi-mpich.a "                                                            \
    "(share/doc/running.md)"

#endif
