/* SPDX-License-Identifier: BSD-3-Clause */
/* What a machine can do, as `fvmpi doctor --measure --json FILE` measured it. */
#ifndef FV_PEAKS_H
#define FV_PEAKS_H

/* The most that its processors together read from memory and wrote to it in a second. NAN: has said why it is not
 * known. */
double fv_peaks_memory(const char *file);

#endif
