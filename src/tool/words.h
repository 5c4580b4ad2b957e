/* SPDX-License-Identifier: BSD-3-Clause */
/* Words and numbers for people and for files: UTF-8 that is always valid, escapes, units. */
#ifndef FV_WORDS_H
#define FV_WORDS_H

#include "base/base.h"
#include "base/clean.h"

#include <stdio.h>

/* A clean function name without C++'s parameters. Returns out. */
char *fv_words_short(const char *name, char *out, size_t bytes);
/* "()", or "" where the name has some, or is a construct's: "!$omp parallel @solve.c:12". */
const char *fv_words_brackets(const char *name);
/* Is it a function that a compiler made of a parallel region, or of a task, of OpenMP? */
bool fv_words_is_region(const char *name);
/* Then "OpenMP region in solve()", "OpenMP region 3 in solve()" by the compiler's number, else the name. Returns
 * out. */
char *fv_words_region(const char *name, char *out, size_t bytes);
/* A name without C++'s parameters, the last two parts of it: "PairLJCut::compute"; as above where it is a region's. */
char *fv_words_brief(const char *name, char *out, size_t bytes);
/* Columns that clean text takes on a terminal. */
size_t fv_words_columns(const char *clean);
/* Shortens clean text to so many columns, "..." at its end. */
void fv_words_fit(char *clean, size_t columns);
/* The same with "..." in its middle. */
void fv_words_fit_middle(char *clean, size_t columns);
/* The same of a file's path, whose name is kept, and of its directories the last; of a name that has no room its
 * ends. */
void fv_words_fit_path(char *clean, size_t columns);
/* Bytes of its first columns. */
size_t fv_words_prefix(const char *clean, size_t columns);

/* Appends to a text; what does not fit is cut. */
void fv_words_add(char *text, size_t bytes, const char *format, ...) FV_PRINTF(3, 4);

/* Numbers with units, three significant digits: "1.23 ms", "45.6 MiB", "1,234,567". Returns out. */
#define FV_WORD 32
char *fv_words_seconds(double seconds, char out[FV_WORD]);
char *fv_words_bytes(uint64_t bytes, char out[FV_WORD]);
char *fv_words_count(uint64_t count, char out[FV_WORD]);
/* A mean of counts, which need not be whole: "2.50", "1,234". */
char *fv_words_mean(double mean, char out[FV_WORD]);
/* How many times as much, with so many digits, and never as a power: "2.5", "16,000". */
char *fv_words_times(double factor, int digits, char out[FV_WORD]);
/* Of damaged files sums may be beyond any count. */
uint64_t fv_words_whole(double value);
char *fv_words_percent(double part, double whole, char out[FV_WORD]);
/* "s" unless there is one: for nouns. */
const char *fv_words_s(uint64_t count);
/* The same of any noun: "es" of "process". */
const char *fv_words_plural(const char *noun, uint64_t count);
/* Wall clock, UTC: "2026-11-21T05:00:00Z". */
char *fv_words_time(int64_t realtime_ns, char out[FV_WORD]);

/* A whole number, without a NUL. Returns its length. */
#define FV_DIGITS 20
size_t fv_words_digits(uint64_t value, char out[FV_DIGITS]);
/* A finite real with 12 significant digits, the same in all forms that programs read, and never an integer: "1.0",
 * "1.5e-9". Without a NUL. Returns its length. */
#define FV_REAL 32
size_t fv_words_real(double value, char out[FV_REAL]);

/* "0-3, 7": ranks in rising order; "0-3, 7, ..." if there are more than fit. */
struct fv_rank_list {
    char text[200];
    size_t used;
    bool cut;
    int first, last; /* of the run that is not in the text yet */
};
#define FV_RANK_LIST_INIT \
    {                     \
        .last = INT32_MIN \
    }
void fv_rank_list_add(struct fv_rank_list *list, int rank);
/* The end of adding. */
const char *fv_rank_list_text(struct fv_rank_list *list);

#endif
