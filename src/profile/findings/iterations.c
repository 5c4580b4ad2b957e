/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings that speak of iterations (iterations/iterations.h): some take longer than others, they grow, or another rank
 * is the slowest every few of them. */
#include "profile/findings/findings.h"
#include "profile/iterations/samples.h"
#include "profile/places.h"
#include "profile/profile.h"
#include "profile/sections/sections.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORDS 1400

static void set_place(struct fv_finding *finding, const struct fv_frame *frame)
{
    finding->function = frame->function;
    finding->file = frame->file;
    finding->line = frame->file ? frame->line : 0;
}

/* "save() at io.c:88", which becomes the finding's place. */
static void place_of(const struct fv_profile *v, struct fv_finding *finding, uint32_t node, char *out, size_t bytes)
{
    struct fv_path path = { 0 };
    const struct fv_frame *frame;

    snprintf(out, bytes, "a call path that was not recorded");
    fv_path_of(&path, v->symbols, node);
    frame = path.count ? &path.frames[0] : NULL;
    if (frame) {
        fv_frame_words(frame, v->symbols, out, bytes);
        set_place(finding, frame);
    }
    fv_path_release(&path);
}

/* ": save() at io.c:80 computes longer (sampled)". False: samples do not tell. */
static bool say_sampled(const struct fv_profile *v, struct fv_finding *finding, const struct fv_iteration_unit *u,
                        char *out, size_t bytes)
{
    struct fv_path path = { 0 };
    uint32_t unit = (uint32_t)(u - fv_model_iterations(v->model)->units);
    const struct fv_frame *frame = fv_iteration_sampled(v, unit, &path);
    char place[600];

    if (frame) {
        set_place(finding, frame);
        finding->evidence = FV_EVIDENCE_SAMPLES;
        finding->site = u->cause_site;
        snprintf(out, bytes, ": %s computes longer (sampled)", fv_frame_words(frame, v->symbols, place, sizeof(place)));
    }
    fv_path_release(&path);
    return frame;
}

#define MORE_OFTEN 1.25 /* calls of it, beside others: that is why it takes longer */

/* ": MPI_Reduce in solve() at a.c:20 is called 24 times, in others 6". False: it is not called more often. */
static bool say_more_calls(const struct fv_profile *v, const struct fv_iteration_unit *u, char *out, size_t bytes)
{
    char inner[600], more[FV_WORD], less[FV_WORD];

    if (!(u->calls_in_others > 0) || u->calls_in_long < MORE_OFTEN * u->calls_in_others)
        return false;
    snprintf(out, bytes, ": %s in %s is called %s times, %s %s", fv_place_function(v->model, u->cause_site),
             fv_place_inner(v, u->cause_site, inner, sizeof(inner)), fv_words_times(u->calls_in_long, 2, more),
             u->times.is_trend ? "in early ones" : "in others", fv_words_times(u->calls_in_others, 2, less));
    return true;
}

/* Of a call, or the time before it, that is not called more often. place: of the function that the loop calls. */
static void say_change(const struct fv_profile *v, const struct fv_iteration_unit *u, const char *place, char *out,
                       size_t bytes)
{
    char inner[600];

    if (u->cause_is_alone)
        snprintf(out, bytes, ": %s, which %s", place,
                 u->times.is_trend ? "early iterations do not call" : "no other iteration calls");
    else if (u->cause_is_call)
        snprintf(out, bytes, ": %s takes longer in %s", fv_place_function(v->model, u->cause_site),
                 fv_place_inner(v, u->cause_site, inner, sizeof(inner)));
    else
        snprintf(out, bytes, ": the time before %s in %s is longer", fv_place_function(v->model, u->cause_site),
                 fv_place_inner(v, u->cause_site, inner, sizeof(inner)));
}

/* ": save() at io.c:88, which no other iteration calls", of what is longer in some. "": nobody knows. */
static void say_cause(const struct fv_profile *v, struct fv_finding *finding, const struct fv_iteration_unit *u,
                      char *out, size_t bytes)
{
    const struct fv_model *m = v->model;
    char place[600];

    out[0] = '\0';
    if (u->cause_site == FV_NONE)
        return;
    const bool is_more = say_more_calls(v, u, out, bytes);

    if (!is_more && !u->cause_is_alone && say_sampled(v, finding, u, out, bytes))
        return;
    place_of(v, finding, u->cause_node, place, sizeof(place));
    finding->site = u->cause_site;
    if (!is_more)
        say_change(v, u, place, out, bytes);
    if (!u->cause_is_call && u->cause_rank != FV_NONE && m->rank_count > 1) {
        finding->rank = u->cause_rank;
        fv_words_add(out, bytes, ", longest on rank %d", m->ranks[u->cause_rank].world_rank);
    }
}

/* Iterations, or instances of a section. */
struct looked {
    const struct fv_iteration_unit *unit;
    const char *section; /* NULL: it is none */
    bool is_first;       /* ... of which there are more instances */
    char what[200];      /* "iterations", of what was looked at */
};

static void say_next(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                     const struct looked *of)
{
    const struct fv_iteration_unit *u = of->unit;

    if (of->section)
        fv_finding_next(f, finding, "each instance: %s",
                        FV_FINDING_COMMAND(v->model, "report", "--table", "section_instances"));
    else if (!fv_model_iterations(v->model)->traced && !u->cause_is_alone)
        fv_finding_next(f, finding, "a trace has all calls of an iteration: fvmpi run --trace");
    else
        fv_finding_next(f, finding, "each iteration: %s",
                        FV_FINDING_COMMAND(v->model, "report", "--table", "iterations_by_number"));
}

static const char *ordinal(uint32_t n)
{
    if (n % 100 / 10 == 1)
        return "th";
    return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

/* What was looked at, if it is a part, is judged as if the run went on so. */
static double times_of_run(const struct fv_model *m, const struct fv_iteration_unit *u)
{
    const double looked_s = (u->end_s - u->begin_s) * u->ranks;

    const struct fv_iterations *it = fv_model_iterations(m);

    return (it->is_part || it->is_kept) && looked_s > 0 ? fmax(1, m->efficiency.total_s / looked_s) : 1;
}

/* What is looked at: first the units that were found; then, unless they made a finding, sections. False: no more. */
static bool next_looked(const struct fv_profile *v, size_t at, bool found, struct looked *of)
{
    const struct fv_iterations *it = fv_model_iterations(v->model);
    const struct fv_sections_view *s = fv_model_sections(v->model);
    char calls[FV_WORD];

    *of = (struct looked){ .what = "iterations" };
    if (at < it->count) {
        of->unit = &it->units[at];
        if (it->is_kept)
            fv_words_add(of->what, sizeof(of->what), " that the trace has kept");
        if (it->is_part)
            fv_words_add(of->what, sizeof(of->what), ", of the first %s collective calls",
                         fv_words_count(it->first_calls, calls));
    } else if (!found && at - it->count < s->series_count) {
        const struct fv_section_series *series = &s->series[at - it->count];

        of->unit = &series->unit;
        of->section = series->name;
        of->is_first = series->is_part;
        snprintf(of->what, sizeof(of->what), "instances of section \"%.80s\"", series->name);
    }
    return of->unit;
}

/* "400 iterations", "50 of the first 300 instances of section "step"". */
static const char *say_count(const struct looked *of, uint64_t count, char *out, size_t bytes)
{
    char some[FV_WORD], all[FV_WORD];

    out[0] = '\0';
    if (of->is_first && count < of->unit->count)
        fv_words_add(out, bytes, "%s of ", fv_words_count(count, some));
    fv_words_add(out, bytes, "%s%s %s", of->is_first ? "the first " : "",
                 fv_words_count(of->is_first ? of->unit->count : count, all), of->what);
    return out;
}

/* Outliers are the machine's, unless the program calls something in them that it does not call otherwise. So may be
 * what has no pattern, where the machine took more. */
static bool is_worth(const struct fv_profile *v, const struct fv_findings *f, const struct fv_iteration_unit *u,
                     double lost_s, bool has_pattern)
{
    return u->is_main && fv_finding_worth(v, lost_s * times_of_run(v->model, u)) &&
           (has_pattern || !fv_finding_is_disturbance(f, lost_s));
}

/* Behind a pattern, where the machine took more. */
static const char *say_noise(const struct fv_findings *f, double lost_s, char *out, size_t bytes)
{
    char seconds[FV_WORD];

    out[0] = '\0';
    if (fv_finding_is_disturbance(f, lost_s))
        snprintf(out, bytes, ". The noise of this run (no processor for %s) makes no such pattern",
                 fv_words_seconds(fv_findings_named(f, FV_FINDING_DISTURBED)->lost_s, seconds));
    return out;
}

/* What they took longer, of all ranks: on a disturbed run, without the noise. */
static double longer_s(const struct fv_findings *f, const struct fv_iteration_unit *u)
{
    const struct fv_iteration_times *t = &u->times;

    if (!t->period)
        return u->cause_is_alone ? fmin(t->outliers_s * u->ranks, u->cause_s) : 0;
    const bool is_disturbed = t->is_exact && fv_finding_is_disturbance(f, t->period_s * u->ranks);
    return u->ranks * (is_disturbed ? t->typical_s : t->period_s);
}

FV_FINDING(slow_iterations)
{
    char cause[WORDS], count[300], some[FV_WORD], times[FV_WORD], noise[160];
    bool found = false;
    struct looked of;

    for (size_t i = 0; next_looked(v, i, found, &of); i++) {
        const struct fv_iteration_unit *u = of.unit;
        const struct fv_iteration_times *t = &u->times;
        const double lost_s = longer_s(f, u);
        const bool has_pattern = t->period ? t->is_exact : u->cause_is_alone;

        if (t->is_trend || !is_worth(v, f, u, lost_s, has_pattern))
            continue;
        struct fv_finding *finding = fv_finding_add(f, lost_s, FV_EVIDENCE_EXACT);
        found |= !of.section;
        say_cause(v, finding, u, cause, sizeof(cause));
        say_count(&of, u->count, count, sizeof(count));
        say_noise(f, lost_s, noise, sizeof(noise));
        if (t->period)
            fv_finding_say(f, finding, "every %u%s of %s takes %s times as long%s%s", t->period, ordinal(t->period),
                           count, fv_words_times(t->factor, 2, times), cause, noise);
        else
            fv_finding_say(f, finding, "%s of %s take %s times as long%s%s", fv_words_count(u->cause_in, some), count,
                           fv_words_times(u->cause_in_s / t->p50_s, 2, times), cause, noise);
        say_next(v, f, finding, &of);
    }
}

FV_FINDING(growing_iterations)
{
    char cause[WORDS], count[300], first[FV_WORD], last[FV_WORD];
    bool found = false;
    struct looked of;

    for (size_t i = 0; next_looked(v, i, found, &of); i++) {
        const struct fv_iteration_unit *u = of.unit;
        double lost_s = u->times.is_trend ? u->times.grown_s * u->ranks : 0;

        if (!is_worth(v, f, u, lost_s, false))
            continue;
        struct fv_finding *finding = fv_finding_add(f, lost_s, FV_EVIDENCE_EXACT);
        found |= !of.section;
        say_cause(v, finding, u, cause, sizeof(cause));
        if (u->times.step)
            fv_finding_say(f, finding, "from number %s on, %s take %s times as long%s",
                           fv_words_count(u->times.step, first),
                           say_count(&of, u->count - u->times.step, count, sizeof(count)),
                           fv_words_times(u->times.factor, 2, last), cause);
        else
            fv_finding_say(f, finding, "%s grow from %s to %s (medians of the first and the last tenth)%s",
                           say_count(&of, u->count, count, sizeof(count)), fv_words_seconds(u->times.first_s, first),
                           fv_words_seconds(u->times.last_s, last), cause);
        say_next(v, f, finding, &of);
    }
}

/* Where the loop is. */
static void say_loop(const struct fv_profile *v, struct fv_finding *finding, const struct looked *of, char *out,
                     size_t bytes)
{
    char place[600];

    out[0] = '\0';
    if (of->section)
        return;
    place_of(v, finding, of->unit->node, place, sizeof(place));
    finding->site = of->unit->site;
    snprintf(out, bytes, ". The loop is in or around %s", place);
}

FV_FINDING(moving_imbalance)
{
    const struct fv_iterations *it = fv_model_iterations(v->model);
    char count[300], every[FV_WORD], loop[700], noise[160];
    bool found = false;
    struct looked of;

    for (size_t i = 0; next_looked(v, i, found, &of); i++) {
        const struct fv_iteration_unit *u = of.unit;
        const bool is_all = of.section || it->traced, is_part = !of.section && (it->is_part || it->is_kept);

        if (!u->load.moves || !is_worth(v, f, u, u->load.lost_s, u->load.is_fixed))
            continue;
        struct fv_finding *finding =
            fv_finding_add(f, u->load.lost_s, is_all ? FV_EVIDENCE_EXACT : FV_EVIDENCE_ESTIMATE);
        found |= !of.section;
        say_loop(v, finding, &of, loop, sizeof(loop));
        fv_finding_say(f, finding,
                       "the slowest rank changes every ~%s of %s, among %u ranks. Over %s they %s for about the "
                       "same time%s%s",
                       fv_words_times(u->load.every, 2, every), say_count(&of, u->count, count, sizeof(count)),
                       u->load.ranks, of.section || is_part ? "these" : "the run",
                       is_all ? "compute" : "are outside of collective calls", loop,
                       say_noise(f, u->load.lost_s, noise, sizeof(noise)));
        say_next(v, f, finding, &of);
    }
}
