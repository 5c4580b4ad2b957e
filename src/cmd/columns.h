/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of sensors as lines on the terminal, or as CSV: live or from a file. */
#ifndef FV_COLUMNS_H
#define FV_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

struct fv_columns {
    const char *const *labels;
    size_t count;
    bool is_csv;
    bool is_recorded; /* then text has the time, too, and CSV a last column for marks */
};

void fv_columns_heading(const struct fv_columns *columns);
/* NAN: not known. */
void fv_columns_sample(const struct fv_columns *columns, double time_s, double late_s, const double *values);
/* A line of its own. */
void fv_columns_mark(const struct fv_columns *columns, double time_s, const char *text);
/* A text as a field of CSV. */
void fv_columns_put_quoted(const char *text);
/* Four digits at least; whole where it is large. */
void fv_columns_put_value(double value, int width);

#endif
