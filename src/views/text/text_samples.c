/* Sampled functions: which vary, and what part of the time is theirs. */
#include "base/perf_events.h"
#include "views/text/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ADVICE_MAX       5   /* sentences, unless all is asked for */
#define MEAN_OF          3u  /* instances: a mean of fewer says nothing */
#define PROCESSOR_LITTLE 0.8 /* of the time: less is worth a line */

static const char *label(const struct fv_profile *v, const struct fv_frame *f, char *out, size_t bytes)
{
    char name[512];

    return fv_words_brief(fv_frame_label(f, v->symbols, name, sizeof(name)), out, bytes);
}

/* ---- how it was sampled ---- */

static void put_losses(const struct fv_page *p, const struct fv_samples *s)
{
    const struct {
        uint64_t count;
        const char *what;
    } rows[] = {
        { s->lost, "more calls were not measured: the table of calling contexts of a thread was full" },
        { s->not_followed, "more calls could not be followed (another stack, or too deep)" },
        { s->no_stack, "samples were lost on signal stacks of the program, too small for them" },
        { s->log_lost, "instances are counted here but not in the trace: its budget was full, or its file in use" },
    };
    char word[FV_WORD];

    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].count)
            fv_page_paragraph(p, FV_PLAIN, 2, "%s %s", fv_words_count(rows[i].count, word), rows[i].what);
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
        fv_page_paragraph(
            p, FV_PLAIN, 2,
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
        fv_page_paragraph(p, FV_PLAIN, 2, "event %s is not counted on %u of %u ranks: %s", e->name,
                          e->refused, e->ranks, fv_perf_event_refusal((uint32_t)e->refusal, e->user_only));
    }
    if (s->events_unshown)
        fv_page_paragraph(p, FV_PLAIN, 2,
                          "ranks asked for more than %d different events: %u of single ranks are not shown",
                          FV_METRIC_EVENTS, s->events_unshown);
    if (s->events_scaled || s->events_lost)
        fv_page_paragraph(p, FV_PLAIN, 2,
                          "events are estimates in %" PRIu64
                          " instances, where the counters were shared with others, and unknown "
                          "in %" PRIu64,
                          s->events_scaled, s->events_lost);
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
    fv_page_paragraph(
        p, FV_PLAIN, 2,
        "the functions had a processor %s of their time outside of MPI: they waited or slept, or the "
        "machine was "
        "busy with others; judge by the CPU times",
        fv_words_percent(part, 1, a));
}

static void put_summary(const struct fv_page *p, const struct fv_samples *s)
{
    char a[FV_WORD], b[FV_WORD], c[FV_WORD], d[FV_WORD], e[FV_WORD], f[FV_WORD], g[FV_WORD], h[FV_WORD];

    fv_page_paragraph(
        p, FV_PLAIN, 2,
        "%s samples of the CPU clock, %s instances measured on %u thread%s (%s ended by longjmp, "
        "exceptions or the thread's end); sampling itself took %s, %s of the CPU time. Of each instance %s "
        "are subtracted for its traps; that varies by %s, so that functions of less than %s are not judged",
        fv_words_count(s->ticks, a), fv_words_count(s->returns, b), s->threads, fv_words_s(s->threads),
        fv_words_count(s->abandoned, c), fv_words_seconds(s->tool_s, d),
        fv_words_percent(s->tool_s, s->cpu_s, g), fv_words_seconds(s->trap_s, e),
        fv_words_seconds(s->trap_spread_s, f), fv_words_seconds(s->resolution_s, h));
    put_processor(p, s);
    put_mode(p, s);
    put_losses(p, s);
}

/* ---- what to do about it ---- */

static void put_advice(const struct fv_page *p, const struct fv_profile *v, struct fv_path *path,
                       size_t count)
{
    const struct fv_samples *s = &v->model->samples;
    char name[512], percent[FV_WORD], advice[400];
    size_t said = 0;
    bool judged = false;

    for (size_t i = 0; i < count; i++)
        judged |= s->items[i].judged && s->items[i].share > FV_SAMPLED_SHARE;
    for (size_t i = 0; i < count && (said < ADVICE_MAX || fv_page_all(p)); i++) {
        const struct fv_sampled *one = &s->items[i];

        if (!fv_sampled_advice(s, one, advice, sizeof(advice))[0] || one->waits)
            continue;
        size_t own = fv_sampled_path(path, v->symbols, one);
        fv_page_item(p, FV_YELLOW, 2, "%s, %s of the CPU time outside of MPI, %s",
                     own < path->count ? label(v, &path->frames[own], name, sizeof(name)) : "?",
                     fv_words_percent(one->share, 1, percent), advice);
        said++;
    }
    if (!said && s->count)
        fv_page_paragraph(
            p, FV_PLAIN, 2, "%s",
            judged
                ? "no function varies that has more than 10 % of the CPU time and enough instances"
                : "of the functions with more than 10 % of the CPU time none had enough instances to judge: "
                  "run longer, or with a higher --sample=RATE");
}

/* Counted events, an instance. Each function in a line of its own: names of events are long. */
static void put_events(const struct fv_page *p, const struct fv_profile *v, struct fv_path *path,
                       const bool *shown)
{
    const struct fv_samples *s = &v->model->samples;
    char name[512], text[1600];
    bool said = false;

    for (size_t i = 0; i < s->count; i++) {
        const struct fv_sampled *one = &s->items[i];
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
        fprintf(p->out, "  %s: ", own < path->count ? label(v, &path->frames[own], name, sizeof(name)) : "?");
        fv_page_words(p, text, 6);
    }
}

/* Parts of MPI, and what waits for threads, are not the user's to change: other sections tell of them. */
static size_t that_compute(const struct fv_samples *s)
{
    size_t count = 0;

    while (count < s->count && !s->items[count].waits)
        count++;
    return count;
}

void fv_text_samples(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_samples *s = &v->model->samples;
    size_t count = that_compute(s);
    struct fv_path path = { 0 };
    struct fv_text_table t;
    char trap[FV_WORD];
    bool fast = false;

    if (!s->threads)
        return;
    bool *shown = fv_xcalloc(s->count, sizeof(*shown));
    fv_page_heading(
        p, "Functions",
        "sampled whole instances. within, between: standard deviation of the CPU time over its mean, in a "
        "thread, and of the means of threads; a function varies that has more than 10 % of the CPU time that is computing (outside of MPI, not waiting for threads) and "
        "more than 0.20 within or 0.10 between; with less than 8 instances in a thread all threads are taken "
        "together (*), and with less than that (too few) it is not judged. bias: "
        "mean of the instances chosen without bias (in window) over that of all");
    put_summary(p, s);
    put_advice(p, v, &path, count);
    fv_text_table_begin(&t, p, v, "sampled_functions");
    for (size_t i = 0; i < (p->top == SIZE_MAX ? s->count : count); i++) {
        const struct fv_sampled *one = &s->items[i];

        shown[i] = fv_text_table_add(&t, one, one->varies && !one->waits ? FV_YELLOW : FV_PLAIN);
        fast |= shown[i] && one->fast && !fv_sampled_is_brief(one, FV_METRIC_CPU) && one->all.count >= MEAN_OF;
    }
    t.sheet.all_rows = s->count;
    fv_text_table_end(&t, "function",
                      count < s->count ? ", what waits among them" : " in its calling context");
    if (fast)
        fv_page_paragraph(
            p, FV_PLAIN, 2,
            "fast: calls are about as short as the %s that a trap takes: their mean may be off by as much",
            fv_words_seconds(s->trap_s, trap));
    put_events(p, v, &path, shown);
    fv_path_release(&path);
    free(shown);
}
