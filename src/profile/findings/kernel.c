/* SPDX-License-Identifier: BSD-3-Clause */
/* See kernel.h. */
#include "profile/findings/kernel.h"
#include "profile/counters/counters.h"
#include "profile/findings/excess.h"
#include "tool/words.h"

#include <stdio.h>
#include <string.h>

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

void fv_kernel_next(struct fv_findings *f, struct fv_finding *finding, const struct fv_model *m)
{
    const struct fv_counts *counts = fv_model_counts(m);

    for (size_t i = 0; i < counts->event_count; i++)
        if (!strcmp(counts->events[i].name, "PAGE-FAULTS")) {
            fv_finding_next(f, finding, "strace -c counts its system calls; page faults of each rank: %s",
                            FV_FINDING_COMMAND(m, "report", "--table", "counter_ranks"));
            return;
        }
    fv_finding_next(f, finding,
                    "fvmpi run --counters=software counts its page faults; strace -c counts its system calls");
}
