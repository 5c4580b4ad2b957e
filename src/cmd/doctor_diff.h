/* SPDX-License-Identifier: BSD-3-Clause */
/* Two files of fvmpi doctor --json: checks with another result, and measured values that differ. */
#ifndef FV_DOCTOR_DIFF_H
#define FV_DOCTOR_DIFF_H

#include "views/text/text.h"

/* Prints what differs from the first file to the second. 0; -FV_EIO: out, after what is there; -FV_EINVAL: a file
 * cannot be read, or is none of these, which was said. */
int fv_doctor_diff(const char *const files[2], const struct fv_text_options *options, FILE *out);

#endif
