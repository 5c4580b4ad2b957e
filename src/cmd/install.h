/* SPDX-License-Identifier: BSD-3-Clause */
/* Where fvmpi's own libraries are. */
#ifndef FV_INSTALL_H
#define FV_INSTALL_H

#include "cmd/flavour.h"

/* The path of a flavour's library, that with --threads if so: $FVMPI_LIBDIR, else .libs beside the fvmpi executable (a
 * build tree), else where installation put it, also when the whole tree was moved. -FV_ENOENT: there is none; out then
 * holds where it should be. */
int fv_install_library(enum fv_flavour flavour, bool threads, char *out, size_t size);

/* Likewise of a library of src/front. */
int fv_install_front(const char *subject, char *out, size_t size);

/* Says that this library is not there, and why. option: that needs it, NULL: all runs do. Returns -FV_ENOENT. */
int fv_install_say_missing(const struct fv_flavour_result *finding, const char *library, const char *option);

/* The path of what is beside the fvmpi executable. False: it is not known where that is. */
bool fv_install_beside(const char *name, char *out, size_t size);

/* The run-time library of a sanitizer, if this fvmpi was built with one that must be loaded before all
 * others; NULL in builds for users. */
const char *fv_install_sanitizer(void);

#endif
