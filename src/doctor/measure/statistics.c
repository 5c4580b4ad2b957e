/* SPDX-License-Identifier: BSD-3-Clause */
/* See statistics.h. */
#include "doctor/measure/statistics.h"
#include "tool/vec.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

double fv_mode(const double *sorted, size_t count)
{
    while (count > 2) {
        size_t half = (count + 1) / 2, best = 0;

        for (size_t i = 1; i + half <= count; i++)
            if (sorted[i + half - 1] - sorted[i] < sorted[best + half - 1] - sorted[best])
                best = i;
        sorted += best;
        count = half;
    }
    return count == 2 ? (sorted[0] + sorted[1]) / 2 : sorted[0];
}

void fv_spread_of(double *values, size_t count, struct fv_spread *out)
{
    *out = (struct fv_spread){ .count = count };
    if (!count)
        return;
    qsort(values, count, sizeof(*values), fv_by_real);
    out->mode = fv_mode(values, count);
    out->least = values[0];
    out->p50 = fv_quantile(values, sizeof(*values), count, 0.5);
    out->p90 = fv_quantile(values, sizeof(*values), count, 0.9);
    out->p99 = count >= 100 ? fv_quantile(values, sizeof(*values), count, 0.99) : NAN;
    out->p999 = count >= 1000 ? fv_quantile(values, sizeof(*values), count, 0.999) : NAN;
    out->most = values[count - 1];
}

void fv_lost_of_work(double *work, size_t count, double fixed)
{
    if (!count)
        return;
    qsort(work, count, sizeof(*work), fv_by_real);
    double most = work[count - 1];
    size_t few = FV_COUNT_BEFORE(i, count, work[i] <= most / 2); /* they had the processor for a part, or not at all */
    double usual = most > 0 ? fv_mode(work + few, count - few) : 0;
    for (size_t i = 0; i < count; i++)
        work[i] = usual > 0 ? fixed * (2 - work[i] / usual) : 2 * fixed;
}

/* ---- gaps ---- */

static double rest_of(const struct fv_gap *gap)
{
    return gap->length > gap->delay ? gap->length - gap->delay : 0;
}

/* The median of the longest gaps of groups with one interrupt, of those with one gap if there are any; none may be
 * preempted. 0: there are none. */
static double usual_interrupt(const struct fv_gap *gaps, size_t count, const struct fv_gap_group *groups)
{
    double *alone = fv_xcalloc(count + 1, sizeof(*alone)), *others = fv_xcalloc(count + 1, sizeof(*others));
    size_t alone_count = 0, other_count = 0;

    for (size_t i = 0, end; i < count; i = end) {
        double longest = 0, delay = 0;

        for (end = i; end < count && gaps[end].group == gaps[i].group; end++) {
            longest = fmax(longest, gaps[end].length);
            delay += gaps[end].delay;
        }
        if (groups[gaps[i].group].ticks + groups[gaps[i].group].others != 1 || delay > 0)
            continue;
        if (end == i + 1)
            alone[alone_count++] = longest;
        else
            others[other_count++] = longest;
    }
    double *from = alone_count ? alone : others;
    size_t used = alone_count ? alone_count : other_count;
    qsort(from, used, sizeof(*from), fv_by_real);
    double usual = used ? fv_quantile(from, sizeof(*from), used, 0.5) : 0;
    free(alone);
    free(others);
    return usual;
}

void fv_gap_shares_of(const struct fv_gap *gaps, size_t count, const struct fv_gap_group *groups, double stolen,
                      struct fv_gap_shares *out)
{
    double *rests = fv_xcalloc(count + 1, sizeof(*rests)), left = 0;

    *out = (struct fv_gap_shares){ .interrupt_most = 10 * usual_interrupt(gaps, count, groups) };
    for (size_t i = 0, end; i < count; i = end) {
        size_t used = 0;

        for (end = i; end < count && gaps[end].group == gaps[i].group; end++) {
            rests[used++] = rest_of(&gaps[end]);
            out->total += gaps[end].length;
            out->by_class[FV_GAP_PREEMPTED] += gaps[end].length - rests[used - 1];
        }
        qsort(rests, used, sizeof(*rests), fv_by_real);
        const struct fv_gap_group *g = &groups[gaps[i].group];
        double interrupts = (double)g->ticks + g->others, explained = 0;
        for (size_t k = used; k-- > 0;) {
            double part = (double)(used - 1 - k) < interrupts ? fmin(rests[k], out->interrupt_most) : 0;

            explained += part;
            left += rests[k] - part;
        }
        if (interrupts > 0) {
            out->by_class[FV_GAP_TICK] += explained * g->ticks / interrupts;
            out->by_class[FV_GAP_INTERRUPT] += explained * g->others / interrupts;
        }
    }
    out->by_class[FV_GAP_STEAL] = fmin(left, fmax(stolen, 0));
    out->by_class[FV_GAP_UNEXPLAINED] = left - out->by_class[FV_GAP_STEAL];
    free(rests);
}

/* ---- periods ---- */

enum { SPECTRUM_LEAST = 1 << 12, SPECTRUM_MOST = 1 << 17 };
#define HIGHEST_HZ 4000.0

/* Powers of frequencies i / (2 span), half a line each, up to a quarter of `bins`: above, bins of time blur it. */
struct spectrum {
    double *powers;
    size_t bins, count;
};

/* In place, radix 2: real and imaginary parts by turns. */
static void transform(double *x, size_t count)
{
    for (size_t i = 1, k = 0; i < count; i++) {
        size_t bit = count >> 1;

        for (; k & bit; bit >>= 1)
            k ^= bit;
        k ^= bit;
        for (size_t part = 0; i < k && part < 2; part++) {
            double swap = x[2 * i + part];

            x[2 * i + part] = x[2 * k + part];
            x[2 * k + part] = swap;
        }
    }
    for (size_t width = 2; width <= count; width *= 2)
        for (size_t k = 0; k < width / 2; k++) {
            double angle = -2 * M_PI * (double)k / (double)width, c = cos(angle), s = sin(angle);

            for (size_t at = k; at < count; at += width) {
                double *a = x + 2 * at, *b = a + width, re = b[0] * c - b[1] * s, im = b[0] * s + b[1] * c;

                b[0] = a[0] - re;
                b[1] = a[1] - im;
                a[0] += re;
                a[1] += im;
            }
        }
}

static double complex vector_at(const double *times, size_t count, double frequency)
{
    double complex sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += cexp(2 * M_PI * I * fmod(times[i] * frequency, 1));
    return sum;
}

static double power_at(const double *times, size_t count, double frequency)
{
    double size = cabs(vector_at(times, count, frequency));

    return size * size / (double)count;
}

/* The highest place near a frequency: within one line of the spectrum on each side. */
static double refine(const double *times, size_t count, double frequency, double line)
{
    double best = frequency, most = power_at(times, count, frequency);

    for (double step = line / 2; step > line / 1000; step /= 2)
        for (int side = -1; side <= 1; side += 2) {
            double power = power_at(times, count, best + side * step);

            if (power > most) {
                most = power;
                best += side * step;
            }
        }
    return best;
}

static struct spectrum find_spectrum(const double *times, size_t count, double span)
{
    struct spectrum out = { .bins = SPECTRUM_LEAST };

    while (out.bins < SPECTRUM_MOST && (double)out.bins < 8 * span * 1e-9 * HIGHEST_HZ)
        out.bins *= 2;
    out.count = out.bins / 4;
    double *x = fv_xcalloc(4 * out.bins, sizeof(*x)); /* as many zeros behind the times, for half lines */
    for (size_t i = 0; i < count; i++)
        x[2 * (size_t)fmin(fmax(times[i] / span, 0) * (double)out.bins, (double)out.bins - 1)] += 1;
    transform(x, 2 * out.bins);
    out.powers = fv_xcalloc(out.count, sizeof(*out.powers));
    for (size_t i = 0; i < out.count; i++)
        out.powers[i] = (x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1]) / (double)count;
    free(x);
    return out;
}

enum { FIRST = 16 }; /* eight periods in the span */

/* The power that noise has around a line: the median of its surroundings, as a mean of what is distributed
 * exponentially, and at least that of random times. */
static double noise_around(const struct spectrum *s, size_t at)
{
    enum { AROUND = 64 };
    double near[2 * AROUND];
    size_t used = 0;

    for (size_t i = 4; i < AROUND; i++) {
        if (at >= FIRST + i)
            near[used++] = s->powers[at - i];
        if (at + i < s->count)
            near[used++] = s->powers[at + i];
    }
    qsort(near, used, sizeof(*near), fv_by_real);
    return fmax(1, used ? near[used / 2] / M_LN2 : 1);
}

/* The frequency that is strongest and more than chance, or the lowest part of it that is nearly as strong: what is
 * periodic has all multiples, too. 0: none. */
static double strongest(const double *times, size_t count, double span)
{
    enum { MULTIPLES = 64 };
    struct spectrum s = find_spectrum(times, count, span);
    double enough = -log(1e-4 / (double)s.count), most = 0, chosen = 0;

    for (size_t i = FIRST; i < s.count; i++)
        if (s.powers[i] > most && s.powers[i] > enough * noise_around(&s, i)) {
            most = s.powers[i];
            chosen = (double)i / (2 * span);
        }
    free(s.powers);
    if (!(chosen > 0))
        return 0;
    chosen = refine(times, count, chosen, 1 / span);
    most = power_at(times, count, chosen);
    for (int of = MULTIPLES; of > 1; of--)
        if (chosen / of >= FIRST / (2 * span) && power_at(times, count, chosen / of) >= most / 2)
            return chosen / of;
    return chosen;
}

/* Those that keep the period are removed. Returns how many are left. */
static size_t take_period(double *times, size_t count, size_t all, struct fv_period *p)
{
    double complex sum = vector_at(times, count, 1 / p->period);
    double phase = carg(sum) / (2 * M_PI);
    size_t kept = 0;

    p->strength = cabs(sum) / (double)count;
    p->first = (phase < 0 ? phase + 1 : phase) * p->period;
    for (size_t i = 0; i < count; i++)
        if (fabs(remainder(times[i] / p->period - phase, 1)) > 0.1)
            times[kept++] = times[i];
    p->part = (double)(count - kept) / (double)all;
    return kept;
}

size_t fv_periods_of(const double *times, size_t count, double span, struct fv_period out[FV_PERIODS])
{
    enum { LEAST = 8 };
    double *left = fv_xcalloc(count + 1, sizeof(*left));
    size_t rest = count, found = 0;

    if (count)
        memcpy(left, times, count * sizeof(*left));
    while (span > 0 && rest >= LEAST && found < FV_PERIODS) {
        double frequency = strongest(left, rest, span);
        struct fv_period p = { .period = frequency > 0 ? 1 / frequency : 0 };

        if (!(frequency > 0))
            break;
        rest = take_period(left, rest, count, &p);
        if (p.strength < 0.25)
            break;
        out[found++] = p;
    }
    free(left);
    return found;
}

/* ---- plateaus ---- */

/* Squares of the distance of logarithms from their mean. */
static double misfit(const double *sums, const double *squares, size_t first, size_t end)
{
    double n = (double)(end - first), sum = sums[end] - sums[first];

    return fmax(0, squares[end] - squares[first] - sum * sum / n);
}

static bool is_flat(const double *values, size_t count, struct fv_plateau *out)
{
    double *sorted = fv_xcalloc(count, sizeof(*sorted));

    memcpy(sorted, values, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), fv_by_real);
    out->value = fv_quantile(sorted, sizeof(*sorted), count, 0.5);
    bool is = sorted[count - 1] <= 1.2 * sorted[0];
    free(sorted);
    return is;
}

size_t fv_plateaus_of(const double *values, size_t count, double jump, struct fv_plateau *out, size_t room)
{
    double *sums = fv_xcalloc(count + 1, sizeof(*sums)), *squares = fv_xcalloc(count + 1, sizeof(*squares)),
           *costs = fv_xcalloc(count + 1, sizeof(*costs));
    size_t *from = fv_xcalloc(count + 1, sizeof(*from)), *ends = fv_xcalloc(count + 1, sizeof(*ends)), pieces = 0,
           found = 0;

    for (size_t i = 0; i < count; i++) {
        double x = log(values[i]);

        sums[i + 1] = sums[i] + x;
        squares[i + 1] = squares[i] + x * x;
    }
    for (size_t end = 1; end <= count; end++) {
        costs[end] = INFINITY;
        for (size_t first = 0; first < end; first++) {
            double cost = costs[first] + misfit(sums, squares, first, end) + jump * jump;

            if (cost < costs[end]) {
                costs[end] = cost;
                from[end] = first;
            }
        }
    }
    for (size_t end = count; end; end = from[end])
        ends[pieces++] = end;
    while (pieces-- && found < room) {
        struct fv_plateau p = { from[ends[pieces]], ends[pieces] - from[ends[pieces]], 0 };

        if (p.count >= 3 && is_flat(values + p.first, p.count, &p))
            out[found++] = p;
    }
    free(sums);
    free(squares);
    free(costs);
    free(from);
    free(ends);
    return found;
}
