/* SPDX-License-Identifier: BSD-3-Clause */
/* See kernel.h. */
#include "profile/findings/kernel.h"
#include "profile/findings/excess.h"
#include "tool/words.h"

#include <stdio.h>

#define MOST 0.5

bool fv_kernel_words(const struct fv_profile *v, uint32_t rank, double longer_s, char out[FV_KERNEL_WORDS])
{
    const struct fv_model *m = v->model;
    double more = fv_excess_in_kernel(m, rank), mine = m->ranks[rank].system_s;
    char mine_words[FV_WORD], others[FV_OTHERS_WORDS];

    if (!(more > MOST * fv_excess_computing(v, rank)) || !(more > MOST * longer_s) || fv_excess_of(v, rank).procedure)
        return false;
    snprintf(out, FV_KERNEL_WORDS, "%s of system time, %s", fv_words_seconds(mine, mine_words),
             fv_excess_others(m, fv_others_in_kernel(m, rank), others));
    return true;
}
