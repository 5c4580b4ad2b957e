/* SPDX-License-Identifier: BSD-3-Clause */
/* Where fvmpi's own libraries are. */
#ifndef FV_INSTALL_H
#define FV_INSTALL_H

#include "cmd/launcher.h"

/* The path of a flavour's library, that with --threads if so: $FVMPI_LIBDIR, else .libs beside the fvmpi executable (a
 * build tree), else where installation put it, also when the whole tree was moved. -FV_ENOENT: there is none; out then
 * holds where it should be. */
int fv_install_library(enum fv_flavour flavour, bool threads, char *out, size_t size);

/* Likewise of a library of src/front. */
int fv_install_front(const char *subject, char *out, size_t size);

/* The path of what is beside the fvmpi executable. False: /proc is not mounted. */
bool fv_install_beside(const char *name, char *out, size_t size);

/* The run-time library of a sanitizer, if this fvmpi was built with one that must be loaded before all
 * others; NULL in builds for users. */
const char *fv_install_sanitizer(void);

#endif
