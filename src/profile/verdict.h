/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader should know first, in a sentence each, for all views. */
#ifndef FV_VERDICT_H
#define FV_VERDICT_H

#include "profile/profile.h"

/* Who is to blame for waiting; without a trace, who came last to collectives and computes longest. "": nobody. Returns
 * out. */
char *fv_verdict_waiting(const struct fv_profile *profile, char *out, size_t bytes);
/* Does what the wait log tells make up enough of all waiting to speak for it? */
bool fv_verdict_tells_enough(const struct fv_model *model);
/* Does one rank compute so much longer than others that it should be told? */
bool fv_verdict_unbalanced(const struct fv_model *model);

#endif
