/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in front of functions of the C library that programs call far more often than MPI's is in libraries of
 * its own, one for each subject (libfvmpi-io.so): `fvmpi run` preloads them beside the library of the MPI, if they were
 * asked for, so that nobody pays who did not ask. They know nothing of MPI and record nothing. Each exports a table of
 * hooks beside the functions: as long as a hook is NULL its functions only forward. The library in the application
 * (src/io) knows the table by its name, a weak one, and sets the hooks when recording begins. Rejected: a flavour of
 * the library for each subject, which doubles their number each time. */
#ifndef FV_FRONT_H
#define FV_FRONT_H

#include "base/base.h"
#include "rt/rt.h" /* FV_CALL_SITE() */

/* A table's name in both libraries: the newer ends where the older does not know it. NULL: the other one is not
 * loaded. */
#define FV_FRONT_TABLE extern FV_PUBLIC __attribute__((weak))

#endif
