/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of how long ranks are outside of MPI: they compute for different times, or one of them has nothing to do for
 * its processor. By the seconds of the profile; what a trace tells is more, and takes their place (late.c). */
#include "profile/findings/excess.h"
#include "profile/findings/findings.h"
#include "profile/findings/kernel.h"
#include "profile/places.h"
#include "profile/samples/costs.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* of time outside of MPI: what the mean is shorter than the longest rank's; what may not be CPU time of computing */
#define UNEVEN      0.05
#define UNEVEN_BUSY 0.1     /* the same of CPU time on a busy machine, where others have the caches, too */
#define BY_SAMPLES  1.0 / 3 /* ... and where samples alone tell it: who yields its processor has too many */
#define MOST        0.5     /* of the excess: then it is the reason */

/* The rank whose time is longest. */
struct longest {
    uint32_t rank;
    double rank_s, others_s; /* others: their mean */
    double lost_s;           /* what all others are shorter */
    bool is_cpu;             /* times are CPU time outside of MPI, else all time outside of it */
    enum fv_doing doing;
};

static struct longest longest_by(const struct fv_model *m, double (*seconds_of)(const struct fv_model *, uint32_t))
{
    struct longest l = { .rank_s = -1 };
    double all = 0;

    for (uint32_t i = 0; i < m->rank_count; i++) {
        double s = seconds_of(m, i);

        all += s;
        if (s > l.rank_s) {
            l.rank = i;
            l.rank_s = s;
        }
    }
    l.others_s = (all - l.rank_s) / (double)(m->rank_count - 1);
    l.lost_s = l.rank_s * (double)m->rank_count - all;
    return l;
}

/* Is it a finding of the trace, that the program is to blame for? */
static bool is_late(const struct fv_finding *finding)
{
    return (!strcmp(finding->def->name, "late_rank") || !strcmp(finding->def->name, FV_NO_PROGRESS)) &&
           !finding->by_machine;
}

/* What is put down to a rank at the call site of a finding; 0 where an earlier one was of the same. */
static double charged_s(const struct fv_model *m, const struct fv_findings *f, size_t of, uint32_t rank)
{
    double sum = 0;

    for (size_t i = 0; i < of; i++)
        if (is_late(&f->items[i]) && f->items[i].site == f->items[of].site)
            return 0;
    for (size_t i = 0; i < m->causes.culprit_count; i++) {
        const struct fv_culprit *c = &m->causes.culprits[i];

        sum += c->rank == rank && c->site == f->items[of].site ? c->cost_s : 0;
    }
    return sum;
}

/* Findings of the trace tell of most of it, and name a function if one is known. A trace may end early, or put the
 * waiting down to many places, each too small for a finding. */
static bool is_told_late(const struct fv_profile *v, const struct fv_findings *f, const struct longest *l)
{
    bool is_named = l->doing != FV_COMPUTES || !fv_excess_of(v, l->rank).procedure;
    double told_s = 0;

    for (size_t i = 0; i < f->count; i++) {
        double s = is_late(&f->items[i]) ? charged_s(v->model, f, i, l->rank) : 0;

        told_s += s;
        is_named = is_named || (f->items[i].rank == l->rank && s > 0 && f->items[i].function);
    }
    return is_named && told_s >= MOST * l->lost_s;
}

/* False: nobody's is so much longer that it is worth a word, or a trace tells more. */
static bool find_longest(const struct fv_profile *v, const struct fv_findings *f, struct longest *l)
{
    const struct fv_model *m = v->model;

    if (m->rank_count < 2)
        return false;
    *l = longest_by(m, fv_outside_s);
    l->doing = fv_excess_doing(v, l->rank, l->rank_s - l->others_s);
    return l->rank_s - l->others_s > UNEVEN * l->rank_s && fv_finding_worth(v, l->lost_s) && !is_told_late(v, f, l);
}

/* Outside of MPI, but for having no processor. */
static double computing_or_blocked_s(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];

    return fv_computing_s(m, rank) + (fv_off_is_known(&r->off) ? fmax(r->off.blocked_s - r->polled_off_s, 0) : 0);
}

/* Others may compute less, and sleep as long: who computes more makes nobody wait then. */
static bool are_blocked_instead(const struct fv_model *m, const struct longest *l)
{
    double others_s = 0;

    for (uint32_t i = 0; i < m->rank_count; i++)
        others_s += i == l->rank ? 0 : computing_or_blocked_s(m, i) / (double)(m->rank_count - 1);
    return computing_or_blocked_s(m, l->rank) - others_s < MOST * (l->rank_s - l->others_s);
}

/* CPU time is what a rank computes, however often others have its processor. The same by it. */
static bool find_computing(const struct fv_profile *v, const struct fv_findings *f, struct longest *l)
{
    const struct fv_model *m = v->model;

    if (m->rank_count < 2)
        return false;
    *l = longest_by(m, fv_computing_s);
    l->is_cpu = true;
    l->doing = FV_COMPUTES;
    double uneven = fv_excess_is_measured(m) ? UNEVEN_BUSY : BY_SAMPLES;
    return l->rank_s - l->others_s > uneven * l->rank_s && l->rank_s - l->others_s > fv_computing_error(v, l->rank) &&
           fv_finding_worth_cpu(v, f, l->lost_s) && !is_told_late(v, f, l) && !are_blocked_instead(m, l);
}

/* The times are CPU time, but for a little. */
static bool are_computing(const struct fv_model *m)
{
    double outside = 0, computing = 0;

    for (uint32_t i = 0; i < m->rank_count; i++) {
        outside += fv_outside_s(m, i);
        computing += fv_computing_s(m, i);
    }
    return computing > (1 - UNEVEN) * outside;
}

/* "rank 1 is outside of MPI for 2.98 s, the others for 1.06 s on average" */
static void say_times(const struct fv_model *m, const struct longest *l, const char *verb, char out[200])
{
    char mine[FV_WORD], others[FV_WORD];

    snprintf(out, 200, "rank %d %s %s%s, %s %s%s", m->ranks[l->rank].world_rank, verb,
             fv_words_seconds(l->rank_s, mine), l->is_cpu ? " of CPU time" : "",
             m->rank_count > 2 ? "the others" : "the other", fv_words_seconds(l->others_s, others),
             m->rank_count > 2 ? " on average" : "");
    if (l->is_cpu && l->others_s > 0)
        fv_words_add(out, 200, ": %s times as much", fv_words_times(l->rank_s / l->others_s, 3, mine));
}

/* Between which calls most of that is; NULL: between no two. */
static const struct fv_region *region_of(const struct fv_model *m, const struct longest *l)
{
    double least = MOST * (l->rank_s - l->others_s) * (double)(m->rank_count - 1) / (double)m->rank_count;

    return l->is_cpu ? fv_excess_region_cpu(m, l->rank, least) : fv_excess_region(m, l->rank, FV_NONE, least);
}

/* The same as words behind the times; "": between no two. Notes the call behind it. */
static const char *say_region(const struct fv_profile *v, const struct longest *l, struct fv_finding *finding,
                              char out[700])
{
    const struct fv_region *most = region_of(v->model, l);
    char calls[600];

    out[0] = '\0';
    if (!most)
        return out;
    finding->site = most->site;
    snprintf(out, 700, "; the difference is mostly %s",
             fv_place_region(v, most->from, most->site, calls, sizeof(calls)));
    return out;
}

FV_FINDING(blocked_rank)
{
    struct longest l;
    char times[200], region[700], blocked[FV_IO_WORDS];

    if (!find_longest(v, f, &l) || l.doing != FV_IS_BLOCKED)
        return;
    struct fv_finding *finding = fv_finding_add(
        f, l.lost_s, fv_off_is_known(&v->model->ranks[l.rank].off) ? FV_EVIDENCE_EXACT : FV_EVIDENCE_ESTIMATE);
    const struct fv_region *region_at = region_of(v->model, &l);
    finding->rank = l.rank;
    say_times(v->model, &l, "is outside of MPI for", times);
    bool is_io = fv_io_words(v, region_at, l.rank, MOST * (l.rank_s - l.others_s), blocked);
    finding->is_io = is_io;
    if (!is_io)
        fv_blocked_words(v->model, l.rank, region_at, blocked);
    say_region(v, &l, finding, region);
    fv_finding_say(f, finding, "%s%s. %s %s", times, region, *region ? "There it" : "It", blocked);
    fv_finding_next(f, finding, "%s",
                    is_io                                 ? fv_io_next(v->model, region_at)
                    : fv_region_asks(v->model, region_at) ? FV_NEXT_ASKS
                                                          : FV_NEXT_BLOCKED);
}

/* No function is known for it. */
static void say_procedures(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding)
{
    if (fv_model_costs(v->model)->ticks)
        fv_finding_next(f, finding, "CPU time of all functions: %s",
                        FV_FINDING_COMMAND(v->model, "report", "--table", "cpu_procedures"));
    else
        fv_finding_next(f, finding, "fvmpi run --sample names the function");
}

/* Which rank computes longest, and by samples in which function. */
static void say_computing(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                          const char *times, const char *region)
{
    const struct fv_excess by_samples = fv_excess_of(v, finding->rank);
    char name[400], mine[FV_WORD], others[FV_OTHERS_WORDS], calls[FV_EXCESS_WORDS], kernel[FV_KERNEL_WORDS];

    if (!by_samples.procedure && fv_excess_by_calls(v, f, finding, finding->rank, 0, 0, calls)) {
        fv_finding_say(f, finding, "%s. It %s", times, calls);
        return;
    }
    if (fv_kernel_words(v, finding->rank, 0, kernel)) {
        fv_finding_say(f, finding, "%s%s. Most of the difference is in the kernel: %s", times, region, kernel);
        fv_kernel_next(f, finding, v->model);
        return;
    }
    if (!by_samples.procedure) {
        fv_finding_say(f, finding, "%s%s", times, region);
        if (fv_excess_is_interpreted(v))
            fv_finding_next(
                f, finding,
                "samples name the interpreter's functions, none of Python; run cProfile on that rank to see these");
        else if (isfinite(fv_excess_missed_by_ticks(v->model, finding->rank)))
            fv_finding_next(
                f, finding,
                "no function is named: on this busy machine the kernel's ticks sampled only %s of that, and "
                "unevenly. Run it on an idle machine, or where perf_event_open is permitted and "
                "descriptors are free (ulimit -n)",
                fv_words_seconds(fv_excess_missed_by_ticks(v->model, finding->rank), mine));
        else
            say_procedures(v, f, finding);
        return;
    }
    fv_excess_place(v, f, finding, &by_samples);
    fv_finding_say(f, finding, "%s. It spends %s of CPU time in %s, %s (sampled)", times,
                   fv_words_seconds(by_samples.rank_s, mine),
                   fv_procedure_words(by_samples.procedure, name, sizeof(name)),
                   fv_excess_others(v->model, by_samples.others_s, others));
}

/* What functions for files took, or other threads of the rank. */
static void say_not_computing(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                              const struct longest *l, const char *times, const char *region)
{
    char blocked[FV_IO_WORDS];

    if (fv_io_words(v, region_of(v->model, l), l->rank, MOST * (l->rank_s - l->others_s), blocked)) {
        finding->is_io = true;
        fv_finding_say(f, finding, "%s%s. %s %s%s", times, region, *region ? "There it" : "It", blocked,
                       l->doing == FV_IS_DISTURBED ? ". This includes waiting for a processor in them" : "");
        fv_finding_next(f, finding, "%s", fv_io_next(v->model, region_of(v->model, l)));
        return;
    }
    if (l->doing == FV_AWAITS_OWN) {
        fv_finding_say(f, finding, "%s%s. %s %s", times, region, *region ? "There it" : "It",
                       fv_blocked_words(v->model, l->rank, region_of(v->model, l), blocked));
        fv_finding_next(f, finding, FV_NEXT_AWAITS);
        return;
    }
    fv_finding_say(f, finding,
                   "%s%s. How much of that it computed is not known: it was off its processor for much of it", times,
                   region);
    fv_finding_next(f, finding,
                    fv_model_costs(v->model)->ticks ? "repeat the run on an idle machine"
                                                    : "repeat the run on an idle machine, or with fvmpi run --sample");
}

/* Without a trace: most of the waiting is in calls that complete requests. It may be that what they wait for was posted
 * in time, and MPI moves it only in the rank's next call (kind FV_NO_PROGRESS of a trace). */
static void say_requests(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding)
{
    const struct fv_model *m = v->model;
    struct fv_places places = { .view = v };
    double all_s = 0, requests_s = 0, most_s = 0;
    uint32_t site = FV_NONE;
    char where[700];

    for (uint32_t i = 0; i < m->site_count; i++) {
        const struct fv_site *s = &m->sites[i];

        all_s += s->wait_s;
        if (m->functions[s->function].class != FV_CLASS_COMPLETION)
            continue;
        requests_s += s->wait_s;
        if (s->wait_s <= most_s)
            continue;
        most_s = s->wait_s;
        site = i;
    }
    if (m->causes.source == FV_CAUSES_TRACE || m->ranks[0].traced || site == FV_NONE || requests_s < 0.5 * all_s ||
        !fv_finding_worth(v, requests_s))
        return;
    fv_places_add(&places, site);
    fv_place_words(&places, site, FV_PLACE_MPI, where, sizeof(where));
    fv_places_release(&places);
    fv_finding_say(
        f, finding,
        "%s. Others wait for requests, longest in %s: the messages are sent late, or MPI moves them only when "
        "rank %d calls MPI again",
        finding->text, where, m->ranks[finding->rank].world_rank);
    fv_finding_next(
        f, finding,
        "a trace shows which of the two: fvmpi run --trace, then fvunify; if the second, call MPI_Test while "
        "computing%s%s",
        *finding->next ? "; " : "", finding->next);
}

static void add_imbalance(const struct fv_profile *v, struct fv_findings *f, const struct longest *l)
{
    const struct fv_model *m = v->model;
    char times[200], region[700], io[FV_IO_WORDS];
    bool is_io = !l->is_cpu && fv_io_words(v, region_of(m, l), l->rank, MOST * (l->rank_s - l->others_s), io);
    bool by_samples = l->is_cpu && !fv_excess_is_measured(m);
    struct fv_finding *finding = fv_finding_add(f, l->lost_s,
                                                by_samples                             ? FV_EVIDENCE_SAMPLES
                                                : l->doing == FV_IS_DISTURBED && is_io ? FV_EVIDENCE_ESTIMATE
                                                                                       : FV_EVIDENCE_EXACT);

    finding->rank = l->rank;
    say_times(m, l,
              l->is_cpu || (l->doing == FV_COMPUTES && are_computing(m)) ? by_samples ? "computes about" : "computes"
                                                                         : "is outside of MPI for",
              times);
    say_region(v, l, finding, region);
    if (is_io || l->doing == FV_AWAITS_OWN || l->doing == FV_IS_DISTURBED)
        say_not_computing(v, f, finding, l, times, region);
    else
        say_computing(v, f, finding, times, region);
    say_requests(v, f, finding);
}

/* On a busy machine who comes back from a file waits for a processor. The file is why it gave its own away. */
static bool is_for_files(const struct fv_profile *v, const struct longest *l)
{
    char io[FV_IO_WORDS];

    return fv_io_words(v, region_of(v->model, l), l->rank, MOST * (l->rank_s - l->others_s), io);
}

FV_FINDING(imbalance)
{
    const struct fv_model *m = v->model;
    bool disturbed = fv_findings_named(f, FV_FINDING_DISTURBED), is_longer;
    struct longest l, cpu;

    is_longer = find_longest(v, f, &l);
    if (is_longer && l.doing != FV_IS_BLOCKED && (l.doing == FV_AWAITS_OWN || is_for_files(v, &l))) {
        add_imbalance(v, f, &l);
        return;
    }
    bool is_kept =
        is_longer && (l.doing == FV_IS_DISTURBED ||
                      (l.doing == FV_COMPUTES && fv_excess_computing(v, l.rank) < MOST * (l.rank_s - l.others_s)));
    if (disturbed || is_kept) {
        if (find_computing(v, f, &cpu))
            add_imbalance(v, f, &cpu);
        if (m->rank_count < 2 || isfinite(fv_excess_computing(v, 0))) /* CPU time tells all */
            return;
        fv_findings_leave(f, "whether ranks compute alike: the CPU time of each outside of MPI is not known%s",
                          fv_model_costs(m)->ticks ? "" : " (fvmpi run --sample measures it)");
    }
    if (is_longer && l.doing != FV_IS_BLOCKED &&
        !(l.doing == FV_IS_DISTURBED && fv_finding_is_disturbance(f, l.lost_s)))
        add_imbalance(v, f, &l);
}
