/* SPDX-License-Identifier: BSD-3-Clause */
/* See columns.h. */
#include "cmd/columns.h"
#include "tool/csv_stream.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_WIDTH = 9, TIME_WIDTH = 12 };

static int width_of(const char *label)
{
    int width = (int)strlen(label);

    return width > LEAST_WIDTH ? width : LEAST_WIDTH;
}

void fv_columns_put_quoted(const char *text)
{
    char next[FV_CLEAN];

    fputs(fv_csv_is_formula(text) ? "\"'" : "\"", stdout);
    for (size_t length; (length = fv_words_clean_next(&text, next)) > 0;)
        printf("%s%.*s", *next == '"' ? "\"" : "", (int)length, next);
    putchar('"');
}

void fv_columns_heading(const struct fv_columns *c)
{
    if (c->is_csv)
        fputs("time_s,late_s", stdout);
    else if (c->is_recorded)
        printf("%*s", TIME_WIDTH, "time_s");
    for (size_t i = 0; i < c->count; i++)
        if (c->is_csv)
            printf(",%s", c->labels[i]);
        else
            printf("%s%*s", i || c->is_recorded ? " " : "", width_of(c->labels[i]), c->labels[i]);
    puts(c->is_csv && c->is_recorded ? ",label" : "");
}

void fv_columns_put_value(double value, int width)
{
    double size = fabs(value);

    if (!isfinite(value))
        printf("%*s", width, "-");
    else
        printf("%*.*f", width, value == floor(value) || size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3, value);
}

void fv_columns_sample(const struct fv_columns *c, double time_s, double late_s, const double *values)
{
    if (c->is_csv)
        printf("%.6f,%.6f", time_s, late_s);
    else if (c->is_recorded)
        printf("%*.3f", TIME_WIDTH, time_s);
    for (size_t i = 0; i < c->count; i++)
        if (!c->is_csv) {
            fputs(i || c->is_recorded ? " " : "", stdout);
            fv_columns_put_value(values[i], width_of(c->labels[i]));
        } else if (isfinite(values[i])) {
            printf(",%.9g", values[i]);
        } else {
            putchar(',');
        }
    puts(c->is_csv && c->is_recorded ? "," : "");
}

void fv_columns_mark(const struct fv_columns *c, double time_s, const char *text)
{
    char next[FV_CLEAN];

    if (c->is_csv) {
        printf("%.6f,", time_s);
        for (size_t i = 0; i <= c->count; i++)
            putchar(',');
        fv_columns_put_quoted(text);
    } else {
        printf("%*.3f # ", TIME_WIDTH, time_s);
        for (size_t length; (length = fv_words_clean_next(&text, next)) > 0;)
            fwrite(next, 1, length, stdout);
    }
    putchar('\n');
}
