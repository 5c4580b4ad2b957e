/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank computes longer than others in the kernel, of which there are no samples. */
#ifndef FV_FINDINGS_KERNEL_H
#define FV_FINDINGS_KERNEL_H

#include "profile/profile.h"

/* Is most of what the rank computes longer than others the kernel's, and most of `longer_s`? No function of the program
 * is known for it. Then "1.20 s of system time, the other 180 ms". */
#define FV_KERNEL_WORDS 160
bool fv_kernel_words(const struct fv_profile *profile, uint32_t rank, double longer_s, char out[FV_KERNEL_WORDS]);
/* What counts its page faults, or has counted them, and its system calls. */
struct fv_findings;
struct fv_finding;
void fv_kernel_next(struct fv_findings *findings, struct fv_finding *finding, const struct fv_model *model);

#endif
