/* SPDX-License-Identifier: BSD-3-Clause */
/* Instruction balance: does the rank that is outside of MPI longest have more work, or slower work? By what was counted
 * outside of MPI (--counters), which is the only place where instructions are work: who waits in MPI polls. */
#include "profile/findings/excess.h"
#include "profile/counters/counters.h"
#include "profile/findings/findings.h"
#include "profile/places.h"
#include "profile/profile.h"
#include "tool/words.h"

#include <math.h>
#include <string.h>

/* of a rank's instructions: more, and threads beside the main one work, and spin where they wait for each other */
#define OTHERS 0.1
#define UNEVEN 0.05 /* of the time outside of MPI, as of load_imbalance */
/* of the logarithm of the times' ratio, of which those of instructions, of cycles an instruction and of the clock are
 * the sum */
#define MOST   0.5
#define LITTLE 0.25

/* The rank that is outside of MPI longest, and the mean of the others. */
struct longest {
    uint32_t rank;
    double rank_s, others_s, lost_s;
    double instructions, others_instructions, ipc, others_ipc; /* of ipc NAN: cycles are not known */
    bool is_scaled;
};

static double ipc_of(double instructions, double cycles)
{
    return cycles > 0 ? instructions / cycles : NAN;
}

/* Instructions outside of MPI are work as long as one thread does it: threads of a team spin. */
static bool has_team(const struct fv_counts *v)
{
    for (size_t i = 0; i < v->whole_count; i++) {
        const struct fv_counts_sum *s = &v->sums[i];
        const struct fv_quantity *q = v->events[s->event].quantity;

        for (uint32_t k = 0; q && !strcmp(q->name, "instructions") && k < s->threads; k++) {
            const struct fv_counts_thread *t = &v->threads[s->first_thread + k];
            double all = fv_counts_of(v, 0, t->rank, "instructions", true);

            if (t->thread && t->value - t->in_mpi > OTHERS * all)
                return true;
        }
    }
    return false;
}

static bool is_scaled(const struct fv_counts *v)
{
    bool found = false;

    for (size_t i = 0; i < v->whole_count; i++)
        found = found || v->sums[i].is_scaled;
    return found;
}

/* False: it is not known of all ranks. */
static bool add_counts(const struct fv_model *m, struct longest *l)
{
    double others = 0, others_cycles = 0, own_cycles = 0;

    for (uint32_t i = 0; i < m->rank_count; i++) {
        double instructions = fv_counts_of(fv_model_counts(m), 0, i, "instructions", true),
               cycles = fv_counts_of(fv_model_counts(m), 0, i, "cycles", true);

        if (!(instructions > 0))
            return false;
        if (i == l->rank) {
            l->instructions = instructions;
            own_cycles = cycles;
        } else {
            others += instructions;
            others_cycles += cycles;
        }
    }
    l->others_instructions = others / (double)(m->rank_count - 1);
    l->is_scaled = is_scaled(fv_model_counts(m));
    l->ipc = ipc_of(l->instructions, own_cycles);
    l->others_ipc = ipc_of(others, others_cycles);
    return true;
}

static bool find_longest(const struct fv_profile *v, struct longest *l)
{
    const struct fv_model *m = v->model;
    double all = 0;

    *l = (struct longest){ .rank_s = -1 };
    if (m->rank_count < 2 || !fv_model_counts(m)->event_count)
        return false;
    for (uint32_t i = 0; i < m->rank_count; i++) {
        double s = fv_outside_s(m, i);

        all += s;
        if (s > l->rank_s) {
            l->rank = i;
            l->rank_s = s;
        }
    }
    l->others_s = (all - l->rank_s) / (double)(m->rank_count - 1);
    l->lost_s = l->rank_s * (double)m->rank_count - all;
    return l->others_s > 0 && l->rank_s - l->others_s > UNEVEN * l->rank_s && fv_finding_worth(v, l->lost_s) &&
           !has_team(fv_model_counts(m)) && add_counts(m, l);
}

/* " in react() at heat.c:31"; "": samples tell no single function. */
static const char *say_where(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                             char out[500])
{
    const struct fv_excess by_samples = fv_excess_of(v, finding->rank);
    char name[400];

    out[0] = '\0';
    if (!by_samples.procedure)
        return out;
    fv_excess_place(v, f, finding, &by_samples);
    snprintf(out, 500, ". Most of its time is in %s (sampled)",
             fv_procedure_words(by_samples.procedure, name, sizeof(name)));
    return out;
}

static void say_ipc(const struct longest *l, char out[80])
{
    out[0] = '\0';
    if (isfinite(l->ipc) && isfinite(l->others_ipc))
        snprintf(out, 80, "; %.2f per cycle, else %.2f", l->ipc, l->others_ipc);
}

FV_FINDING(instruction_balance)
{
    char ipc[80], where[500];
    struct longest l;

    if (!find_longest(v, &l))
        return;
    double whole = log(l.rank_s / l.others_s), work = log(l.instructions / l.others_instructions) / whole;
    double slow = isfinite(l.ipc) && isfinite(l.others_ipc) ? log(l.others_ipc / l.ipc) / whole : 0;
    if (work < LITTLE && slow < LITTLE)
        return; /* it did neither: it waited for something, or had a slower clock */
    struct fv_finding *finding = fv_finding_add(f, NAN, FV_EVIDENCE_EXACT);
    finding->rank = l.rank;
    say_ipc(&l, ipc);
    say_where(v, f, finding, where);
    if (l.is_scaled)
        finding->evidence = FV_EVIDENCE_ESTIMATE; /* whatever tells the place */
    fv_finding_say(f, finding,
                   "rank %d computes longer because it has %s: %.3g instructions outside of MPI, %s %.3g%s%s%s",
                   v->model->ranks[l.rank].world_rank,
                   work >= MOST && slow >= LITTLE ? "more work and slower work"
                   : work >= slow                 ? "more work"
                                                  : "slower work",
                   l.instructions, v->model->rank_count > 2 ? "the others" : "the other", l.others_instructions,
                   v->model->rank_count > 2 ? " on average" : "", ipc, where);
    fv_finding_next(f, finding,
                    work >= slow
                        ? "distribute the work by its cost, not by the number of items"
                        : "fvmpi run --counters stalls, then cache and memory, show what the processor waits for");
}
