/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampled functions: which vary, and what part of the time is theirs. */
#include "base/perf_events.h"
#include "profile/samples/samples_shape.h"
#include "views/text/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ADVICE_MAX       5   /* sentences, unless all is asked for */
#define CONTEXTS_MAX     6   /* the same of a function */
#define MEAN_OF          3u  /* instances: a mean of fewer says nothing */
#define PROCESSOR_LITTLE 0.8 /* of the time: less is worth a line */

/* ---- how it was sampled ---- */

static void put_losses(const struct fv_page *p, const struct fv_samples *s)
{
    const struct {
        uint64_t count;
        const char *noun, *what;
    } rows[] = {
        { s->lost, "more call", "not measured: the table of calling contexts of a thread was full" },
        { s->not_followed, "more call",
          "not followed (another stack, too deep, or a recursion where only breakpoints show returns)" },
        { s->no_stack, "sample", "lost on signal stacks of the program that are too small" },
        { s->log_lost, "instance", "counted here but not in the trace: its budget was full, or its file in use" },
        { s->samples_lost, "sample",
          "of the CPU clock counted here but not in the trace: its budget was full, or its file in use" },
    };
    char word[FV_WORD];

    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].count)
            fv_page_paragraph(p, FV_PLAIN, 2, "%s %s%s %s", fv_words_count(rows[i].count, word), rows[i].noun,
                              fv_words_s(rows[i].count), rows[i].what);
    if (s->held_back)
        fv_page_paragraph(p, FV_PLAIN, 2,
                          "%s of the samples measured no instance, because sampling had taken more than "
                          "--sample-budget of the CPU time",
                          fv_words_percent((double)s->held_back, (double)s->ticks, word));
}

static void put_mode(const struct fv_page *p, const struct fv_samples *s)
{
    char why[160] = "";

    if (s->refusal)
        snprintf(why, sizeof(why), "; the kernel refused more on %u thread%s: %s", s->refused_threads,
                 fv_words_s(s->refused_threads), strerror(s->refusal));
    if (s->modes[FV_SAMPLER_COSTS]) {
        fv_page_paragraph(p, FV_PLAIN, 2,
                          "no instances on %u of %u threads, where only CPU time was sampled%s: see section CPU time",
                          s->modes[FV_SAMPLER_COSTS], s->threads, why);
    } else if (s->refusal) {
        fv_page_paragraph(p, FV_PLAIN, 2, "mode: %s%s",
                          s->modes[FV_SAMPLER_CALLS] ? "counted calls" : "clock and breakpoints", why);
    }
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++) {
        const struct fv_sampled_event *e = &s->events[i];

        if (!e->refused)
            continue;
        fv_page_paragraph(p, FV_PLAIN, 2, "event %s is not counted on %u of %u ranks: %s", e->name, e->refused,
                          e->ranks, fv_perf_event_refusal((uint32_t)e->refusal, e->user_only));
    }
    if (s->events_unshown)
        fv_page_paragraph(p, FV_PLAIN, 2,
                          "ranks asked for more than %d different events: %u of single ranks are not shown",
                          FV_METRIC_EVENTS, s->events_unshown);
    if (s->events_scaled || s->events_lost)
        fv_page_paragraph(p, FV_PLAIN, 2,
                          "events are estimates in %" PRIu64
                          " instance%s, where the counters were shared with others, and unknown in %" PRIu64,
                          s->events_scaled, fv_words_s(s->events_scaled), s->events_lost);
}

/* Outside of MPI, over all instances: one within another counts twice, on both sides. */
static double part_on_processor(const struct fv_samples *s)
{
    double cpu_s = 0, time_s = 0;

    for (size_t i = 0; i < s->count; i++) {
        const struct fv_sampled_stat *all = &s->items[i].all;

        if (s->items[i].waits || fv_sampled_is_brief(&s->items[i], FV_METRIC_CPU))
            continue;
        cpu_s += all->mean[FV_METRIC_CPU] * (double)all->count;
        time_s += fmax(all->mean[FV_METRIC_TIME] - all->mean[FV_METRIC_MPI], 0) * (double)all->count;
    }
    return time_s > 0 ? cpu_s / time_s : 1;
}

static void put_processor(const struct fv_page *p, const struct fv_samples *s)
{
    double part = part_on_processor(s);
    char a[FV_WORD];

    if (s->returns < FV_SAMPLED_ENOUGH || part >= PROCESSOR_LITTLE)
        return;
    fv_page_paragraph(p, FV_PLAIN, 2,
                      "the functions had a processor for %s of their time outside of MPI: they waited or slept, or "
                      "other processes ran. Judge by the CPU times",
                      fv_words_percent(part, 1, a));
}

static void put_summary(const struct fv_page *p, const struct fv_samples *s)
{
    char a[FV_WORD], b[FV_WORD], c[FV_WORD], d[FV_WORD], e[FV_WORD], f[FV_WORD], g[FV_WORD], h[FV_WORD];

    fv_page_paragraph(
        p, FV_PLAIN, 2,
        "%s sample%s of the CPU clock, %s instance%s measured on %u thread%s (%s ended by longjmp, exceptions or the "
        "thread's end). Sampling itself took %s, %s of the CPU time. %s are subtracted from each instance for its "
        "traps. "
        "This varies by %s, so functions shorter than %s are not judged",
        fv_words_count(s->ticks, a), fv_words_s(s->ticks), fv_words_count(s->returns, b), fv_words_s(s->returns),
        s->threads, fv_words_s(s->threads), fv_words_count(s->abandoned, c), fv_words_seconds(s->tool_s, d),
        fv_words_percent(s->tool_s, s->cpu_s, g), fv_words_seconds(s->trap_s, e), fv_words_seconds(s->trap_spread_s, f),
        fv_words_seconds(s->resolution_s, h));
    put_processor(p, s);
    put_mode(p, s);
    put_losses(p, s);
}

/* ---- what to do about it ---- */

static void put_advice(const struct fv_page *p, const struct fv_profile *v, struct fv_path *path, size_t count)
{
    const struct fv_samples *s = fv_model_samples(v->model);
    char name[512], percent[FV_WORD], advice[400], events[400], trend[FV_SAMPLED_TREND_TEXT];
    size_t said = 0;
    bool judged = false, untold = false, has_trend = false;

    for (size_t i = 0; i < count; i++) {
        judged |= s->functions[i].judged && s->functions[i].share > FV_SAMPLED_SHARE;
        untold |= (fv_sampled_says_brief(&s->functions[i]) || s->functions[i].loops) &&
                  s->functions[i].share > FV_SAMPLED_SHARE;
    }
    for (size_t i = 0; i < count && (said < ADVICE_MAX || fv_page_all(p)); i++) {
        const struct fv_sampled_function *one = &s->functions[i];

        fv_sampled_advice(s, one, advice, sizeof(advice));
        fv_sampled_event_advice(s, one, events, sizeof(events));
        fv_sampled_trend_words(s, one, trend, sizeof(trend));
        if (one->share <= FV_SAMPLED_SHARE)
            trend[0] = '\0';
        if ((!*advice && !*events && !*trend) || one->waits)
            continue;
        size_t own = fv_sampled_path(path, v->symbols, one);
        bool varies = one->varies || one->event_varies;
        fv_page_item(p, varies ? FV_YELLOW : FV_PLAIN, 2, "%s, %s of the CPU time outside of MPI, %s%s%s%s%s",
                     own < path->count ? fv_frame_brief(&path->frames[own], v->symbols, name, sizeof(name)) : "?",
                     fv_words_percent(one->share, 1, percent), advice, *advice && *events ? "; " : "", events,
                     *trend && (*advice || *events) ? "; " : "", trend);
        said += varies;
        has_trend |= *trend != '\0';
    }
    if (!said && !has_trend && s->function_count)
        fv_page_paragraph(
            p, FV_PLAIN, 2, "%s",
            judged   ? "of the functions with more than 10 % of the CPU time and enough instances, none varies"
            : untold ? "of the functions with more than 10 % of the CPU time, none could be judged; the table says why"
                     : "of the functions with more than 10 % of the CPU time, none had enough instances to judge: "
                       "run longer, or with a higher --sample=RATE");
}

/* Counted events, an instance. Each function in a line of its own: names of events are long. */
static void put_events(const struct fv_page *p, const struct fv_profile *v, struct fv_path *path, const bool *shown)
{
    const struct fv_samples *s = fv_model_samples(v->model);
    char name[512], text[1600];
    bool said = false;

    for (size_t i = 0; i < s->function_count; i++) {
        const struct fv_sampled_function *one = &s->functions[i];
        size_t own = fv_sampled_path(path, v->symbols, one);

        text[0] = '\0';
        for (unsigned k = FV_METRIC_EVENT_0; k < FV_METRIC_COUNT; k++) {
            const char *event = fv_sampled_metric(s, (enum fv_metric)k);
            char count[FV_WORD];

            if (!event || !fv_sampled_count(&one->all, (enum fv_metric)k))
                continue;
            if (one->all.mean[k] < 100)
                snprintf(count, sizeof(count), "%.3g", one->all.mean[k]);
            else
                fv_words_count((uint64_t)fmin(one->all.mean[k] + 0.5, 1e18), count);
            fv_words_add(text, sizeof(text), "%s%s %s", *text ? ", " : "", event, count);
            if (one->all.mean[k] > 0)
                fv_words_add(text, sizeof(text), " (cov %.2f)", fv_sampled_cov(&one->all, (enum fv_metric)k));
        }
        if (!*text || !shown[i])
            continue;
        if (!said)
            fv_text_title(p, "Events", "mean of an instance");
        said = true;
        fprintf(p->out,
                "  %s: ", own < path->count ? fv_frame_brief(&path->frames[own], v->symbols, name, sizeof(name)) : "?");
        fv_page_words(p, text, 6);
    }
}

/* Parts of MPI, and what waits for threads, are not the user's to change: other sections have them. */
static size_t that_compute(const struct fv_samples *s)
{
    size_t count = 0;

    while (count < s->function_count && !s->functions[count].waits)
        count++;
    return count;
}

/* What is below the resolution is one. */
static void put_buckets(const struct fv_samples *s, const double *values, size_t count, char *text, size_t bytes)
{
    size_t before = FV_COUNT_BEFORE(i, count, values[i] < s->resolution_s);
    char a[FV_WORD], b[FV_WORD], c[FV_WORD];

    if (before)
        fv_words_add(text, bytes, "; below %s %s", fv_words_seconds(s->resolution_s, a),
                     fv_words_percent((double)before, (double)count, b));
    for (unsigned k = 0; k < FV_SAMPLED_BUCKETS; k++) {
        double end = fv_sampled_bucket_begin(FV_METRIC_CPU, k + 1);
        size_t until = FV_COUNT_BEFORE(i, count, values[i] < end);

        if (until <= before)
            continue;
        fv_words_add(text, bytes, "; %s to %s %s", fv_words_seconds(end / 2, a), fv_words_seconds(end, b),
                     fv_words_percent((double)(until - before), (double)count, c));
        before = until;
    }
}

/* CPU times of the calls that were kept: percentiles, and which part of them is how long. */
static void put_distributions(const struct fv_page *p, const struct fv_profile *v, struct fv_path *path,
                              const bool *shown)
{
    const struct fv_samples *s = fv_model_samples(v->model);
    char name[512], text[2400], a[FV_WORD], b[FV_WORD], c[FV_WORD];
    double *values = NULL;
    size_t room = 0;
    bool said = false;

    for (size_t i = 0; i < s->function_count; i++) {
        const struct fv_sampled_function *one = &s->functions[i];
        size_t count = shown[i] && !fv_sampled_is_brief(one, FV_METRIC_CPU)
                           ? fv_sampled_values(s, one, FV_METRIC_CPU, &values, &room)
                           : 0;

        if (count < FV_SAMPLED_ENOUGH)
            continue;
        snprintf(text, sizeof(text), "median %s, 90 %% %s, 99 %% %s",
                 fv_words_seconds(fv_quantile(values, sizeof(*values), count, 0.5), a),
                 fv_words_seconds(fv_quantile(values, sizeof(*values), count, 0.9), b),
                 fv_words_seconds(fv_quantile(values, sizeof(*values), count, 0.99), c));
        put_buckets(s, values, count, text, sizeof(text));
        if (!said)
            fv_text_title(p, "Distribution",
                          "CPU time of the calls that were kept, a random choice; the part of them that is so long");
        said = true;
        size_t own = fv_sampled_path(path, v->symbols, one);
        fprintf(p->out,
                "  %s: ", own < path->count ? fv_frame_brief(&path->frames[own], v->symbols, name, sizeof(name)) : "?");
        fv_page_words(p, text, 6);
    }
    free(values);
}

/* Below their function, which they are part of: they are no rows of their own. */
static void put_contexts(struct fv_text_table *t, const struct fv_samples *s, const struct fv_sampled_function *f)
{
    size_t most = fv_page_all(t->sheet.page) ? SIZE_MAX : CONTEXTS_MAX;

    for (size_t i = 0; f->contexts > 1 && i < f->contexts && i < most; i++) {
        const struct fv_sampled_function *context = &s->items[f->first_context + i];

        if (context->share >= t->sheet.least)
            fv_sheet_put(&t->sheet, NULL, context, FV_PLAIN);
    }
}

/* What words of the table mean. */
static void put_marks(const struct fv_page *p, const struct fv_samples *s, bool fast, bool too_short)
{
    char trap[FV_WORD], longer[FV_WORD];

    if (fast)
        fv_page_paragraph(
            p, FV_PLAIN, 2,
            "fast: calls are about as short as the %s that a trap takes: their mean may be off by as much",
            fv_words_seconds(s->trap_s, trap));
    if (too_short)
        fv_page_paragraph(p, FV_PLAIN, 2,
                          "too short: most calls take less than %s, and hardly one takes %s (three traps), so the "
                          "function is not judged. The first is ten times the variation of traps, and at least half of "
                          "their time",
                          fv_words_seconds(s->resolution_s, trap), fv_words_seconds(s->long_s, longer));
}

FV_TEXT_SECTION(samples)
{
    const struct fv_samples *s = fv_model_samples(v->model);
    size_t count = that_compute(s);
    struct fv_path path = { 0 };
    struct fv_text_table t;
    bool fast = false, too_short = false;

    if (s->threads == s->modes[FV_SAMPLER_CLOCK])
        return; /* no instances were asked for */
    bool *shown = fv_xcalloc(s->function_count + 1, sizeof(*shown));
    fv_page_heading(
        p, "Functions",
        "calls that were timed as a whole. cov calls: standard deviation of their CPU time over its mean, in a thread "
        "and call path. cov threads: the same of the means of threads. A function varies if it has more than 10 % of "
        "the "
        "CPU time that is computing, and cov calls is above 0.20 or cov threads above 0.10. Computing is outside of "
        "MPI "
        "and not waiting for threads. With fewer than 8 calls in a thread, all threads are taken together (*); with "
        "fewer than "
        "8 "
        "in all (too few), it is not judged. window: calls that were chosen independently of the length of the "
        "call before. window/all: their mean over the mean of all");
    put_summary(p, s);
    put_advice(p, v, &path, count);
    fv_text_table_begin(&t, p, v, "sampled_totals");
    for (size_t i = 0; i < (p->top == SIZE_MAX ? s->function_count : count); i++) {
        const struct fv_sampled_function *one = &s->functions[i];

        shown[i] = fv_text_table_add(&t, one, (one->varies || one->event_varies) && !one->waits ? FV_YELLOW : FV_PLAIN);
        if (shown[i])
            put_contexts(&t, s, one);
        too_short |= shown[i] && !one->waits && fv_sampled_says_brief(one);
        fast |= shown[i] && one->fast && !one->loops && !fv_sampled_is_brief(one, FV_METRIC_CPU) &&
                one->all.count >= MEAN_OF;
    }
    t.sheet.all_rows = s->function_count;
    fv_text_table_end(&t, "function", count < s->function_count ? ", those that wait included" : "");
    put_marks(p, s, fast, too_short);
    put_events(p, v, &path, shown);
    if (fv_page_all(p))
        put_distributions(p, v, &path, shown);
    fv_path_release(&path);
    free(shown);
}
