/* SPDX-License-Identifier: BSD-3-Clause */
/* See diff_stats.h. */
#include "diff/diff_stats.h"
#include "tool/vec.h"

#include <math.h>
#include <stdlib.h>

/* ---- Student's t ---- */

/* The continued fraction of the incomplete beta function (DLMF 8.17.22) by the modified Lentz algorithm; it
 * converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), f;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (int m = 1; m < 1000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        f *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        step = d * c;
        f *= step;
        if (fabs(step - 1) < 1e-15)
            break;
    }
    return f;
}

/* Regularised incomplete beta function I_x(a, b); y is 1 - x, given apart because it may be tiny. */
static double beta_part(double x, double y, double a, double b)
{
    if (x <= 0)
        return 0;
    if (y <= 0)
        return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));

    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a : 1 - front * beta_fraction(y, b, a) / b;
}

/* Abramowitz and Stegun 26.7.1: I_x(nu / 2, 1 / 2) at x = nu / (nu + t^2). */
double fv_student_beyond(double t, double nu)
{
    double square = t * t;

    if (!isfinite(square))
        return isnan(t) ? NAN : 0;
    return beta_part(nu / (nu + square), square / (nu + square), nu / 2, 0.5);
}

double fv_student_limit(double p, double nu)
{
    double low = 0, high = 1;

    while (fv_student_beyond(high, nu) > p && high < 1e150)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
        double middle = (low + high) / 2;

        if (fv_student_beyond(middle, nu) > p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* ---- one change ---- */

struct sample {
    size_t count;
    double mean, variance; /* NAN: not known */
};

static struct sample sample_of(const double *values, size_t count)
{
    struct sample s = { 0, NAN, NAN };
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) {
            sum += values[i];
            s.count++;
        }
    if (!s.count)
        return s;
    s.mean = sum / (double)s.count;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            squares += (values[i] - s.mean) * (values[i] - s.mean);
    if (s.count > 1)
        s.variance = squares / (double)(s.count - 1);
    return s;
}

/* Standard error and degrees of freedom of the difference; false: the noise is not known. */
static bool error_of(const struct sample *a, const struct sample *b, double *se, double *nu)
{
    double x = a->variance / (double)a->count, y = b->variance / (double)b->count;

    if (!a->count || !b->count || (a->count < 2 && b->count < 2))
        return false;
    if (a->count < 2 || b->count < 2) {
        const struct sample *many = a->count < 2 ? b : a;

        *se = sqrt(many->variance * (1 + 1 / (double)many->count));
        *nu = (double)(many->count - 1);
        return true;
    }
    *se = sqrt(x + y);
    *nu = (x + y) * (x + y) / (x * x / (double)(a->count - 1) + y * y / (double)(b->count - 1));
    return true;
}

void fv_change_of(struct fv_change *out, const double *a, size_t a_count, const double *b, size_t b_count)
{
    struct sample x = sample_of(a, a_count), y = sample_of(b, b_count);
    struct fv_change c = { .runs = { x.count, y.count },
                           .mean = { x.mean, y.mean },
                           .stddev = { sqrt(x.variance), sqrt(y.variance) },
                           .change = y.mean - x.mean,
                           .half = NAN,
                           .p = NAN };
    double se, nu;

    if (error_of(&x, &y, &se, &nu)) {
        /* Rounding of the mean is no noise: values that are all the same stay so. */
        double least = 1e-12 * fmax(fabs(x.mean), fabs(y.mean));

        if (!(se > least)) {
            c.half = 0;
            c.p = fabs(c.change) > least ? 0 : 1;
        } else {
            c.half = fv_student_limit(FV_DIFF_LEVEL, nu) * se;
            c.p = fv_student_beyond(c.change / se, nu);
        }
        c.significant = c.p < FV_DIFF_LEVEL;
    }
    *out = c;
}

/* ---- a list of them ---- */

void fv_change_discover(struct fv_change *const *list, size_t count)
{
    double *p = fv_xcalloc(count + 1, sizeof(*p)), limit = -1;
    size_t tested = 0;

    for (size_t i = 0; i < count; i++)
        if (list[i] && !isnan(list[i]->p))
            p[tested++] = list[i]->p;
    qsort(p, tested, sizeof(*p), fv_by_real);
    for (size_t k = 0; k < tested; k++)
        if (p[k] <= FV_DIFF_LEVEL * (double)(k + 1) / (double)tested)
            limit = p[k];
    for (size_t i = 0; i < count; i++)
        if (list[i])
            list[i]->significant = list[i]->significant && list[i]->p <= limit;
    free(p);
}

void fv_change_discover_rows(struct fv_change *first, size_t metrics, size_t bytes, size_t count)
{
    struct fv_change **list = fv_xcalloc(count + 1, sizeof(struct fv_change *));

    for (size_t k = 0; k < metrics; k++) {
        for (size_t i = 0; i < count; i++)
            list[i] = (void *)((char *)(first + k) + i * bytes);
        fv_change_discover(list, count);
    }
    free(list);
}
