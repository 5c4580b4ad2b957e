/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of sampled functions (fvmpi run --sample): rare long calls among short ones; calls of different times. */
#include "profile/findings/excess.h"
#include "profile/findings/findings.h"
#include "profile/samples/samples.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* of the time in rare long calls is on one rank: of two that are alike, chance seldom gives one so much */
#define MOSTLY 0.75
/* of the time of all ranks they waited for a processor */
#define CROWDED 0.5

static double rare_of(const struct fv_sampled_part *part)
{
    return part->rare.time_s;
}

static double measured_of(const struct fv_sampled_part *part)
{
    return part->all.mean[FV_METRIC_CPU] * (double)part->all.count;
}

/* Threads compute side by side: a rank is spared the seconds of its thread that has most of them. That part of the
 * function's seconds on all threads; seconds_of: those of a thread. */
static double part_of_ranks(const struct fv_profile *v, const struct fv_sampled_function *f,
                            double (*seconds_of)(const struct fv_sampled_part *))
{
    const struct fv_sampled_part *parts = fv_model_samples(v->model)->parts + f->first_part;
    double all_s = 0, ranks_s = 0, longest_s = 0;

    for (size_t i = 0; i < f->parts; i++) {
        double s = seconds_of(&parts[i]);

        all_s += s;
        longest_s = i && parts[i - 1].rank == parts[i].rank ? longest_s : 0;
        ranks_s += fmax(s - longest_s, 0);
        longest_s = fmax(s, longest_s);
    }
    return all_s > 0 ? ranks_s / all_s : 1;
}

/* Makes the function the finding's place; where: words for it. */
static void place(const struct fv_profile *v, struct fv_finding *finding, const struct fv_sampled_function *f,
                  char *where, size_t bytes)
{
    struct fv_path path = { 0 };
    size_t own = fv_sampled_path(&path, v->symbols, f);

    snprintf(where, bytes, "a function");
    if (path.count) {
        finding->function = path.frames[own].function;
        finding->file = path.frames[own].file;
        finding->line = path.frames[own].line;
        fv_frame_words(&path.frames[own], v->symbols, where, bytes);
    }
    fv_path_release(&path);
}

/* ---- rare long calls ---- */

static double two_digits(double value)
{
    double unit = pow(10, floor(log10(value)) - 1);

    return round(value / unit) * unit;
}

static void say_rare(const struct fv_profile *v, struct fv_findings *findings, const struct fv_sampled_function *f,
                     double lost_s)
{
    const struct fv_model *m = v->model;
    const struct fv_rare_calls *rare = &f->rare;
    struct fv_finding *finding = fv_finding_add(findings, lost_s, FV_EVIDENCE_SAMPLES);
    char where[1600], all[FV_WORD] = "", length[FV_WORD], typical[FV_WORD], on[60] = "";
    bool brief = rare->typical_s < fv_model_samples(m)->resolution_s;

    place(v, finding, f, where, sizeof(where));
    if (isfinite(rare->calls))
        fv_words_count((uint64_t)two_digits(rare->calls), all);
    if (m->rank_count > 1 && rare->rank_s > MOSTLY * rare->time_s) {
        finding->rank = rare->rank;
        snprintf(on, sizeof(on), ". They were %son rank %d", rare->rank_s < rare->time_s ? "mostly " : "",
                 m->ranks[rare->rank].world_rank);
    }
    fv_finding_say(findings, finding, "%s%llu%s%s calls of %s took %s on average, the others %s%s%s",
                   rare->exact ? "" : "about ", (unsigned long long)rare->count, *all ? " of about " : " of the", all,
                   where, fv_words_seconds(rare->length_s, length), brief ? "less than " : "",
                   fv_words_seconds(brief ? fv_model_samples(m)->resolution_s : rare->typical_s, typical), on);
    if (finding->file)
        fv_finding_next(findings, finding, "lines of that function: %s",
                        FV_FINDING_COMMAND(m, "report", "--source", finding->file));
}

static double lost_by_rare(const struct fv_profile *v, const struct fv_sampled_function *f)
{
    const struct fv_rare_calls *rare = &f->rare;

    if (!rare->count || rare->is_callees)
        return 0;
    return (rare->time_s - (double)rare->count * rare->typical_s) * part_of_ranks(v, f, rare_of);
}

FV_FINDING(rare_slow_calls)
{
    const struct fv_samples *s = fv_model_samples(v->model);

    for (size_t i = 0; i < s->function_count; i++) {
        double lost_s = lost_by_rare(v, &s->functions[i]);

        if (fv_finding_worth_cpu(v, f, lost_s))
            say_rare(v, f, &s->functions[i], lost_s);
    }
}

/* ---- calls of different times ---- */

/* Those of equal chance where there are enough. */
static const struct fv_sampled_stat *calls_of(const struct fv_sampled_function *k)
{
    return k->window.count >= FV_SAMPLED_ENOUGH ? &k->window : &k->all;
}

/* What a context's calls take where nothing makes them longer. Half of a few calls may be long: only where callers ask
 * for different work does a context's own median say more than that of all. */
static double typical_of(const struct fv_samples *s, const struct fv_sampled_function *f,
                         const struct fv_sampled_function *context)
{
    return fv_sampled_median(s, f->by_caller > 0 ? context : f);
}

/* Seconds of the ranks that calls take longer than is typical: of all contexts together, since the mean of a few calls
 * is off by much. Contexts with too few calls for a median count as the others do. */
static double lost_of(const struct fv_profile *v, const struct fv_sampled_function *f)
{
    const struct fv_samples *s = fv_model_samples(v->model);
    double longer_s = 0, all_s = 0;

    for (size_t i = 0; i < f->contexts; i++) {
        const struct fv_sampled_function *k = &s->items[f->first_context + i];
        const struct fv_sampled_stat *calls = calls_of(k);

        if (k->loops || fv_sampled_is_brief(k, FV_METRIC_CPU) || k->instances < FV_SAMPLED_ENOUGH)
            continue;
        longer_s += (double)calls->count * (calls->mean[FV_METRIC_CPU] - typical_of(s, f, k));
        all_s += (double)calls->count * calls->mean[FV_METRIC_CPU];
    }
    /* rare long calls, of its own or of what it calls, are not among those that were measured */
    double rare_s = f->rare.count ? f->rare.time_s : 0;
    return all_s > 0 ? fmax(s->computing_s * f->share - rare_s, 0) * longer_s / all_s * part_of_ranks(v, f, measured_of)
                     : 0;
}

/* CPU time grows, too, where others use the caches and the cores' other threads: "" or a sentence about it. */
static void add_machine(const struct fv_model *m, char *out, size_t bytes)
{
    double ready_s = 0, all_s = 0;

    for (uint32_t i = 0; i < m->rank_count; i++) {
        ready_s += m->ranks[i].ready_s;
        all_s += m->ranks[i].app_time_s;
    }
    if (ready_s > CROWDED * all_s)
        snprintf(out, bytes, ". Ranks waited for processors for %.0f %% of the run, which may be why",
                 100 * ready_s / all_s);
}

static void say(const struct fv_profile *v, struct fv_findings *findings, const struct fv_sampled_function *f,
                double lost_s)
{
    const struct fv_samples *s = fv_model_samples(v->model);
    struct fv_finding *finding = fv_finding_add(findings, lost_s, FV_EVIDENCE_SAMPLES);
    char median_word[FV_WORD], mean_word[FV_WORD], where[1600], paths[64] = "", machine[100] = "";
    double median_s = fv_sampled_median(s, f);

    place(v, finding, f, where, sizeof(where));
    if (f->contexts > 1)
        snprintf(paths, sizeof(paths), " (on %zu call paths)", f->contexts);
    add_machine(v->model, machine, sizeof(machine));
    fv_finding_say(findings, finding, "calls of %s%s take different times: median %s%s of CPU time, mean %s%s", where,
                   paths, median_s < s->resolution_s ? "below " : "",
                   fv_words_seconds(fmax(median_s, s->resolution_s), median_word),
                   fv_words_seconds(calls_of(f)->mean[FV_METRIC_CPU], mean_word), machine);
    fv_finding_next(findings, finding, "measured calls: %s",
                    FV_FINDING_COMMAND(v->model, "report", "--table", "sampled_instances"));
}

/* The first that varies, in the order of the functions: its callers, which vary because it does, stand behind it. */
FV_FINDING(varying_function)
{
    const struct fv_samples *s = fv_model_samples(v->model);

    for (size_t i = 0; i < s->function_count; i++) {
        const struct fv_sampled_function *sampled = &s->functions[i];
        double lost_s = sampled->varies & FV_VARIES_WITHIN ? lost_of(v, sampled) : 0;

        if (fv_finding_worth_cpu(v, f, lost_by_rare(v, sampled))) /* has its finding already */
            continue;
        if (!fv_finding_worth_cpu(v, f, lost_s))
            continue;
        say(v, f, sampled, lost_s);
        return;
    }
}
