/* SPDX-License-Identifier: BSD-3-Clause */
/* What relations say of iterations alike. Of rows that begin with a struct fv_iteration_unit. */
#ifndef FV_ITERATION_COLUMNS_H
#define FV_ITERATION_COLUMNS_H

#include "profile/iterations/iterations.h"
#include "profile/relations.h"

#include <math.h>

static inline bool fv_iteration_has_period(void *subject, const void *row, const struct fv_column_def *c)
{
    return (void)subject, (void)c, ((const struct fv_iteration_unit *)row)->times.period;
}

static inline bool fv_iteration_is_judged(void *subject, const void *row, const struct fv_column_def *c)
{
    return (void)subject, (void)c, isfinite(((const struct fv_iteration_unit *)row)->times.limit_s);
}

static inline bool fv_iteration_moves(void *subject, const void *row, const struct fv_column_def *c)
{
    return (void)subject, (void)c, ((const struct fv_iteration_unit *)row)->load.moves;
}

static inline void fv_iteration_growth(void *subject, const void *row, const struct fv_column_def *c,
                                       struct fv_value *v)
{
    const struct fv_iteration_times *t = &((const struct fv_iteration_unit *)row)->times;

    (void)subject, (void)c;
    v->real = t->is_trend ? t->last_s / t->first_s - 1 : 0;
}

#define FV_ITERATION_FIELD(m) FV_FIELD(struct fv_iteration_unit, m)
#define FV_ITERATION_KNOWN(k, t, u, m, d, test)                                \
    {                                                                          \
        k, t, u, d, FV_ITERATION_FIELD(m), .flags = FV_NULLABLE, .known = test \
    }
#define FV_ITERATION_PERIOD(k, t, u, m, d) FV_ITERATION_KNOWN(k, t, u, m, d, fv_iteration_has_period)
#define FV_ITERATION_JUDGED(k, t, u, m, d) FV_ITERATION_KNOWN(k, t, u, m, d, fv_iteration_is_judged)

#define FV_ITERATION_TIMES                                                                                 \
    { "mean_s", "mean", "s", "Mean time of an iteration, over ranks.", FV_ITERATION_FIELD(times.mean_s) }, \
        { "p50_s", "p50", "s", "Median.", FV_ITERATION_FIELD(times.p50_s) },                               \
        { "p95_s", "p95", "s", "95th percentile.", FV_ITERATION_FIELD(times.p95_s) },                      \
        { "longest_s", "longest", "s", "The longest one.", FV_ITERATION_FIELD(times.longest_s) },          \
    {                                                                                                      \
        "longest_number", "no.", "", "Its number, from 0.", FV_ITERATION_FIELD(times.longest)              \
    }

#define FV_ITERATION_TRENDS                                                                                            \
    FV_ITERATION_JUDGED("first_s", "first tenth", "s", times.first_s,                                                  \
                        "Median of the first tenth. Null: there are less than 20 iterations."),                        \
        FV_ITERATION_JUDGED("last_s", "last tenth", "s", times.last_s, "Median of the last tenth."),                   \
        { "growth",                                                                                                    \
          "trend",                                                                                                     \
          "ratio",                                                                                                     \
          "last_s over first_s, less 1, if times go one way; else 0. Null: as first_s.",                               \
          FV_GET(FV_TYPE_REAL, fv_iteration_growth),                                                                   \
          .flags = FV_NULLABLE,                                                                                        \
          .known = fv_iteration_is_judged },                                                                           \
        FV_ITERATION_PERIOD("period", "every", "", times.period,                                                       \
                            "One in so many iterations is long, at equal distances. Null: no such period."),           \
        FV_ITERATION_PERIOD("period_first", "from", "", times.phase, "Number of the first one of the period."),        \
        FV_ITERATION_PERIOD("period_factor", "times", "ratio", times.factor, "Their median over that of the others."), \
        FV_ITERATION_JUDGED("outliers", "outliers", "", times.outliers, "Long iterations that are of no period."),     \
        FV_ITERATION_KNOWN("moves_every", "slowest moves", "count", load.every,                                        \
                           "The slowest rank changes after so many iterations, on average. Null: it stays, or "        \
                           "ranks are alike.",                                                                         \
                           fv_iteration_moves)

#endif
