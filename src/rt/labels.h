/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels: moments of the run that the program marks with a text, or who runs it from outside (fvmpi label). */
#ifndef FV_LABELS_H
#define FV_LABELS_H

#include "base/base.h"
#include "trace/format.h"

/* Now. Of the text what fits, FV_LABEL_MOST bytes. Any thread; not in a signal handler. Where there is no room it is
 * counted (FV_DROP_MARKS). */
void fv_label(const char *text, size_t length, enum fv_label_origin origin);

/* Of fvmpi.h. */
FV_PUBLIC void fvmpi_label_v1(const char *text);

#endif
