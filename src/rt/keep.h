/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a trace that keeps its end (--trace-keep), while the program runs: when it asks for one, and of some
 * instances of a section (keep_instances.h). */
#ifndef FV_KEEP_H
#define FV_KEEP_H

#include "base/base.h"

#include <stdbool.h>

/* Copies to DIR/FOLDER, and says so by a label. False: there is no copy; a remark says why. */
bool fv_keep(const char *folder, const char *label);
/* Removes this rank's copy. */
void fv_keep_remove(const char *folder);
/* DIR, where all ranks copy. A copy there has a name with "-keep-". Its times say when it was made by ranks: last
 * access, from when on; last change, until when. */
void fv_keep_directory(char directory[4096]);

/* Of fvmpi.h. */
FV_PUBLIC void fvmpi_keep_v1(const char *why);

#endif
