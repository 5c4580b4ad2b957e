/* SPDX-License-Identifier: BSD-3-Clause */
/* One table of comma-separated fields (RFC 4180): what its cells are written by. */
#ifndef FV_CSV_STREAM_H
#define FV_CSV_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct fv_csv {
    FILE *out;
    bool any; /* a field in this line */
};

void fv_csv_text(struct fv_csv *csv, const char *value); /* NULL: empty; an apostrophe stands before what a spreadsheet
                                                          * would take for a formula */
bool fv_csv_is_formula(const char *text);                /* it begins with = + - or @, and is no number */
void fv_csv_real(struct fv_csv *csv, double value);      /* not finite: empty */
void fv_csv_whole(struct fv_csv *csv, uint64_t value);
void fv_csv_number(struct fv_csv *csv, int64_t value);
void fv_csv_line(struct fv_csv *csv); /* ends it */

#endif
