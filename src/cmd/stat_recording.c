/* SPDX-License-Identifier: BSD-3-Clause */
/* See stat_recording.h. */
#include "cmd/stat_recording.h"
#include "base/near.h"
#include "cmd/cmd.h"
#include "cmd/columns.h"
#include "cmd/recording_reader.h"
#include "tool/vec.h"
#include "tool/words.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEADING_EACH = 24, LABEL_BYTES = 200 };

/* A series, and what the summary knows of it. */
struct chosen {
    size_t series;
    double *values;
    size_t count, room;
    double sum, weight_s, last_s; /* the mean is one over time. NAN: since when the next value is, is not known */
};

struct print {
    const struct fv_stat_recording *options;
    struct fv_recording_reader from;
    struct chosen *chosen;
    size_t count, room;
    char (*texts)[LABEL_BYTES]; /* labels: the file may be anybody's, a terminal gets them clean */
    const char **labels;
    double *values;
    size_t samples;
    json_t *end; /* the last line; NULL: there is none */
};

/* ---- which ---- */

/* As fvmpi stat understands them; without a source all sources, be they recorded together or each. */
static bool fits(const char *pattern, const char *label)
{
    const char *at = strchr(pattern, '@');
    int front = at ? (int)(at - pattern) : (int)strlen(pattern);
    bool has_name = memchr(pattern, '.', (size_t)front);
    char text[512];

    snprintf(text, sizeof(text), "%.*s%s%s", front, pattern, has_name ? "" : ".*", at ? at : "");
    if (!fnmatch(text, label, 0))
        return true;
    snprintf(text, sizeof(text), "%.*s%s@*", front, pattern, has_name ? "" : ".*");
    return !at && !fnmatch(text, label, 0);
}

static void choose_series(struct print *p, size_t series)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->chosen[i].series == series)
            return;
    FV_GROW(p->chosen, p->room, p->count + 1);
    p->chosen[p->count++] = (struct chosen){ .series = series, .last_s = p->from.number > 1 ? NAN : 0 };
}

static int say_none(const struct print *p, const char *pattern)
{
    struct fv_near near = { pattern, strlen(pattern), NULL, 0 };
    const char *meant;
    char text[LABEL_BYTES];

    for (size_t i = 0; i < p->from.count; i++)
        fv_near_try(&near, p->from.labels[i], p->from.labels[i]);
    meant = fv_near_item(&near, 0);
    fv_words_clean(meant ? meant : p->from.labels[0], text, sizeof(text));
    fv_log("stat: %s: not in %s, which has %zu series; %s %s", pattern, p->options->path, p->from.count,
           meant ? "did you mean" : "the first is", text);
    return FV_EXIT_USAGE;
}

static int choose(struct print *p)
{
    const struct fv_operands *patterns = &p->options->patterns;

    for (size_t k = 0; k < patterns->count; k++) {
        size_t found = 0;

        for (size_t i = 0; i < p->from.count; i++)
            if (fits(patterns->items[k], p->from.labels[i])) {
                choose_series(p, i);
                found++;
            }
        if (!found)
            return say_none(p, patterns->items[k]);
    }
    for (size_t i = 0; !patterns->count && i < p->from.count; i++)
        choose_series(p, i);
    p->texts = fv_xcalloc(p->count, sizeof(*p->texts));
    p->labels = fv_xcalloc(p->count, sizeof(*p->labels));
    p->values = fv_xcalloc(p->count, sizeof(*p->values));
    for (size_t i = 0; i < p->count; i++)
        p->labels[i] = fv_words_clean(p->from.labels[p->chosen[i].series], p->texts[i], sizeof(p->texts[i]));
    return FV_GO_ON;
}

/* ---- each line ---- */

static void print_line(struct print *p, const struct fv_columns *columns, const struct fv_recording_line *line)
{
    switch (line->kind) {
    case FV_RECORDED_SAMPLE:
        for (size_t i = 0; i < p->count; i++)
            p->values[i] = line->values[p->chosen[i].series];
        if (p->samples && !columns->is_csv && p->samples % HEADING_EACH == 0)
            fv_columns_heading(columns);
        fv_columns_sample(columns, line->time_s, line->late_s, p->values);
        break;
    case FV_RECORDED_LABEL: fv_columns_mark(columns, line->time_s, line->text); break;
    case FV_RECORDED_PAUSE: fv_columns_mark(columns, line->time_s, "paused"); break;
    case FV_RECORDED_RESUME: fv_columns_mark(columns, line->time_s, "resumed"); break;
    default: break;
    }
}

/* ---- the summary ---- */

static void add_value(struct chosen *c, double time_s, double value)
{
    if (!isfinite(value))
        return;
    FV_GROW(c->values, c->room, c->count + 1);
    c->values[c->count++] = value;
    if (isfinite(c->last_s)) {
        c->sum += value * (time_s - c->last_s);
        c->weight_s += time_s - c->last_s;
    }
    c->last_s = time_s;
}

/* A pause is no part of the time that values are of. */
static void sum_line(struct print *p, const struct fv_recording_line *line)
{
    for (size_t i = 0; i < p->count; i++)
        if (line->kind == FV_RECORDED_SAMPLE)
            add_value(&p->chosen[i], line->time_s, line->values[p->chosen[i].series]);
        else if (line->kind == FV_RECORDED_RESUME)
            p->chosen[i].last_s = line->time_s;
}

static void print_row(const struct print *p, const struct chosen *c, int width)
{
    bool is_gauge = fv_recording_reader_is_gauge(&p->from, c->series);
    const char *label = p->labels[c - p->chosen];
    double known[] = { c->weight_s > 0 ? c->sum / c->weight_s : NAN, NAN, NAN, NAN, NAN };
    char text[64];

    fv_words_clean(fv_recording_reader_unit(&p->from, c->series), text, sizeof(text) - 2);
    if (!is_gauge)
        strcat(text, "/s");
    if (c->count) {
        qsort(c->values, c->count, sizeof(*c->values), fv_by_real);
        known[1] = c->values[0];
        known[2] = fv_quantile(c->values, sizeof(*c->values), c->count, 0.5);
        known[3] = fv_quantile(c->values, sizeof(*c->values), c->count, 0.99);
        known[4] = c->values[c->count - 1];
    }
    if (p->options->is_csv)
        printf("%s,%s,%s,%zu", label, text, is_gauge ? "gauge" : "counter", c->count);
    else
        printf("%-*s %-8s %8zu", width, label, text, c->count);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (!p->options->is_csv)
            fv_columns_put_value(known[i], 15);
        else if (isfinite(known[i]))
            printf(",%.9g", known[i]);
        else
            putchar(',');
    putchar('\n');
}

static void print_about(const struct print *p)
{
    const char *host = json_string_value(json_object_get(p->from.first, "host"));
    double seconds = fv_recording_reader_number(p->end, "time_s"), cpu_s = fv_recording_reader_number(p->end, "cpu_s");
    char text[100], time[FV_WORD];

    printf("%s, from %s: %zu sample%s", fv_words_clean(host ? host : "?", text, sizeof(text)),
           fv_words_time((int64_t)json_integer_value(json_object_get(p->from.first, "start_realtime_ns")), time),
           p->samples, fv_words_s(p->samples));
    if (p->end)
        printf(" in %.3f s, %.0f late, %.0f missed; recording took %.2g %% of a processor", seconds,
               fv_recording_reader_number(p->end, "late"), fv_recording_reader_number(p->end, "missed"),
               100 * cpu_s / seconds);
    puts("\n");
}

static void print_summary(const struct print *p)
{
    int width = 5;

    for (size_t i = 0; i < p->count; i++)
        width = (int)strlen(p->labels[i]) > width ? (int)strlen(p->labels[i]) : width;
    if (p->options->is_csv) {
        puts("event,unit,kind,samples,mean,min,p50,p99,max");
    } else {
        print_about(p);
        printf("%-*s %-8s %8s%15s%15s%15s%15s%15s\n", width, "event", "unit", "samples", "mean", "min", "p50", "p99",
               "max");
    }
    for (size_t i = 0; i < p->count; i++)
        print_row(p, &p->chosen[i], width);
}

/* ---- the command ---- */

static void print_all(struct print *p)
{
    const struct fv_columns columns = { p->labels, p->count, p->options->is_csv, true };
    struct fv_recording_line line;

    if (!p->options->is_summary)
        fv_columns_heading(&columns);
    while ((!p->options->count || p->samples < p->options->count) && !ferror(stdout) &&
           fv_recording_reader_next(&p->from, &line)) {
        if (p->options->is_summary)
            sum_line(p, &line);
        else
            print_line(p, &columns, &line);
        p->samples += line.kind == FV_RECORDED_SAMPLE;
        if (line.kind == FV_RECORDED_END) {
            json_decref(p->end);
            p->end = json_deep_copy(line.object);
        }
    }
    if (p->options->is_summary)
        print_summary(p);
}

static int say_faults(const struct print *p)
{
    const struct fv_recording_reader *from = &p->from;

    if (from->damaged)
        fv_log("stat: %s: %zu damaged line%s left out", p->options->path, from->damaged,
               from->damaged == 1 ? " is" : "s are");
    if (from->is_missing)
        fv_log("stat: %s: the recording continues there, but this file is missing or not of this recording",
               from->path);
    else if (!from->has_ended && !(p->options->count && p->samples == p->options->count))
        fv_log("stat: %s: the recording has no end%s: it was killed, or still runs", p->options->path,
               from->is_torn ? ", and its last line is torn" : "");
    if (fflush(stdout) || ferror(stdout)) {
        fv_log("stat: standard output: %s", fv_strerror(-FV_EIO));
        return FV_EXIT_FAILED;
    }
    return FV_EXIT_OK;
}

static const char *why_not(int err)
{
    return err == -FV_EFORMAT    ? "not a recording of fvmpi record"
           : err == -FV_EVERSION ? "recorded by another version of fvmpi"
                                 : fv_strerror(err);
}

int fv_stat_recording(const struct fv_stat_recording *options)
{
    struct print p = { .options = options };
    int status, err = fv_recording_reader_open(&p.from, options->path);

    if (err) {
        fv_log("stat: %s: %s", options->path, why_not(err));
        return FV_EXIT_FAILED;
    }
    status = choose(&p);
    if (status == FV_GO_ON) {
        print_all(&p);
        status = say_faults(&p);
    }
    for (size_t i = 0; i < p.count; i++)
        free(p.chosen[i].values);
    free(p.chosen);
    free(p.texts);
    free(p.labels);
    free(p.values);
    json_decref(p.end);
    fv_recording_reader_close(&p.from);
    return status;
}
