/* SPDX-License-Identifier: BSD-3-Clause */
/* A disturbed run: what the preemption of ranks cost, before which call, and by which process. */
#include "profile/findings/findings.h"
#include "profile/machine/facts.h"
#include "profile/noise/noise.h"
#include "profile/places.h"
#include "profile/profile.h"
#include "tool/words.h"

#include <stdio.h>
#include <string.h>

/* ". Most likely `python3` did it: process 123 used 3.10 s of CPU time and may run on the same processors"; "": it is
 * not known. */
static char *say_who(const struct fv_model *m, uint32_t rank, char *out, size_t bytes)
{
    const struct fv_noise_rank *culprit = fv_noise_culprit(m, rank, fv_noise_preempted_of(m, rank));
    const struct fv_rank *r = &m->ranks[rank];
    char cpu[FV_WORD], started[60] = "";

    out[0] = '\0';
    if (r->cpus && fv_threads_at_least(m, r) > r->cpus) {
        snprintf(out, bytes, ". Most likely its own threads did it: at least %u threads have %u processor%s",
                 fv_threads_at_least(m, r), r->cpus, fv_words_s(r->cpus));
        return out;
    }
    if (!culprit)
        return out;
    const struct fv_noise_other *o = &fv_model_noise(m)->others[culprit->by];
    if (o->started_by != FV_NONE)
        snprintf(started, sizeof(started), ", which rank %d started", m->ranks[o->started_by].world_rank);
    if (o->rank != FV_NONE)
        snprintf(out, bytes, ". Most likely rank %d did it, which is bound to the same processor",
                 m->ranks[o->rank].world_rank);
    else if (culprit->by_count > 1)
        snprintf(out, bytes,
                 ". Most likely `%s` did it: %u processes of that name used %s of CPU time and may run on the same "
                 "processors",
                 o->name, culprit->by_count, fv_words_seconds(culprit->by_cpu_s, cpu));
    else
        snprintf(out, bytes,
                 ". Most likely `%s` did it%s: process %u used %s of CPU time and may run on the same processors",
                 o->name, started, o->pid, fv_words_seconds(o->cpu_s, cpu));
    return out;
}

/* ", mostly between MPI_Allreduce in solve() at cg.c:212 and the collective call before it"; "": of no single place.
 * Of what the loss is of. */
static char *say_where(const struct fv_profile *v, struct fv_finding *finding, const struct fv_noise_loss *loss,
                       char *out, size_t bytes)
{
    const struct fv_noise_view *n = fv_model_noise(v->model);
    char place[400];

    out[0] = '\0';
    for (size_t i = 0; i < n->place_count; i++)
        if ((loss->is_of_calls ? n->places[i].cost_s : n->places[i].preempted_s) > 0.5 * loss->seconds)
            finding->site = n->places[i].site;
    if (finding->site != FV_NONE)
        snprintf(out, bytes, ", mostly between %s in %s and the collective call before it",
                 fv_place_function(v->model, finding->site), fv_place_inner(v, finding->site, place, sizeof(place)));
    return out;
}

static const struct fv_facts_host *host_of(const struct fv_model *m, uint32_t rank)
{
    for (size_t i = 0; i < fv_model_facts(m)->host_count; i++)
        if (!strcmp(fv_model_facts(m)->hosts[i].host, m->ranks[rank].host))
            return &fv_model_facts(m)->hosts[i];
    return NULL;
}

static unsigned ranks_on(const struct fv_model *m, const char *host)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < m->rank_count; i++)
        count += !strcmp(m->ranks[i].host, host);
    return count;
}

static const char *next_of(const struct fv_model *m, uint32_t rank, bool is_throttled)
{
    const struct fv_facts_host *host = host_of(m, rank);
    const struct fv_rank *r = &m->ranks[rank];

    if (is_throttled)
        return "raise the quota, or run only as many ranks and threads as it has processors for; fvmpi doctor names "
               "the control group";
    if (r->cpus && fv_threads_at_least(m, r) > r->cpus)
        return "give each rank more processors (mpiexec: --bind-to none, or --map-by socket:PE=N, under Open MPI, "
               "-bind-to none under MPICH), or run fewer threads";
    if (fv_noise_is_own(m, rank, fv_noise_preempted_of(m, rank)))
        return FV_NEXT_OWN;
    if (r->cpus && host && r->cpus < host->processors)
        return "the rank is bound already: keep other programs off its processors, or use an idle machine; fvmpi "
               "doctor shows what disturbs the run";
    if (host && ranks_on(m, r->host) > host->processors)
        return "use an idle machine, or run no more ranks on a host than it has processors; fvmpi doctor shows what "
               "disturbs the run";
    return "bind each rank to processors of its own: fvmpi run --pin cores -- mpiexec ...; fvmpi doctor shows what "
           "disturbs the run";
}

/* Where ranks share processors they preempt each other, which is no noise, and has its own finding (machine.c). */
FV_FINDING(noise)
{
    const struct fv_model *m = v->model;
    struct fv_noise_loss loss = fv_noise_loss(m);
    uint32_t rank = fv_model_noise(m)->rank_count ? loss.rank : FV_NONE;
    char own[FV_WORD], waited[FV_WORD], who[300], where[600], charged[80] = "";

    bool is_throttled = rank != FV_NONE && fv_throttled_s(m, rank) > 0.5 * fv_noise_preempted_of(m, rank);
    if (rank == FV_NONE || !fv_finding_worth(v, loss.seconds) || fv_ranks_crowd(m, rank))
        return;
    struct fv_finding *finding = fv_finding_add(f, loss.seconds, FV_EVIDENCE_ESTIMATE);
    finding->rank = rank;
    finding->by_machine = true;
    finding->charged_s = fv_late_by_preemption_s(v, f, rank);
    if (finding->charged_s > 0)
        snprintf(charged, sizeof(charged), ". By the trace, others waited %s for this",
                 fv_words_seconds(finding->charged_s, waited));
    say_where(v, finding, &loss, where, sizeof(where));
    if (is_throttled)
        snprintf(who, sizeof(who), ", by the quota of processor time of its control group (cpu.max)");
    else
        say_who(m, rank, who, sizeof(who));
    fv_finding_say(f, finding,
                   loss.rank_s > 0.5 * loss.seconds ? "rank %d was preempted outside of MPI for %s%s%s%s"
                   : loss.is_of_calls
                       ? "several ranks were preempted outside of MPI. Rank %d cost the others most: it was preempted "
                         "for %s%s%s%s"
                       : "several ranks were preempted outside of MPI, rank %d longest: for %s%s%s%s",
                   m->ranks[rank].world_rank, fv_words_seconds(fv_noise_preempted_of(m, rank), own), where, who,
                   charged);
    fv_finding_next(f, finding, "%s", next_of(m, rank, is_throttled));
}
