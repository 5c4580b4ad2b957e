/* SPDX-License-Identifier: BSD-3-Clause */
/* See shares.h. */
#include "profile/noise/shares.h"
#include "tool/parallel.h"
#include "tool/vec.h"

#include <math.h>
#include <stdlib.h>

enum { RESAMPLES = 400 };

/* What one interval has of each, more than the mean of its rank. */
struct deviation {
    double time, source[FV_NOISE_REST];
};

#define STEP UINT64_C(0x9e3779b97f4a7c15)

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): below `below`. */
static size_t draw(uint64_t *state, size_t below)
{
    uint64_t z = *state += STEP;

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((double)((z ^ z >> 31) >> 11) * 0x1p-53 * (double)below);
}

static void add(struct deviation *to, const struct fv_noise_interval *i, double times)
{
    to->time += times * i->time_s;
    for (unsigned s = 0; s < FV_NOISE_REST; s++)
        to->source[s] += times * i->source_s[s];
}

static void deviate(const struct fv_noise_interval *in, size_t count, struct deviation *out)
{
    for (size_t i = 0, end; i < count; i = end) {
        struct deviation mean = { 0 };

        for (end = i; end < count && in[end].rank == in[i].rank; end++)
            add(&mean, &in[end], 1);
        for (size_t k = i; k < end; k++) {
            out[k].time = in[k].time_s - mean.time / (double)(end - i);
            for (unsigned s = 0; s < FV_NOISE_REST; s++)
                out[k].source[s] = in[k].source_s[s] - mean.source[s] / (double)(end - i);
        }
    }
}

/* Of these, or of as many that are drawn of them. False: they do not differ. */
static bool shares(const struct deviation *d, size_t count, uint64_t *state, double out[FV_NOISE_SOURCES])
{
    double n = (double)count, sum = 0, square = 0, sums[FV_NOISE_REST] = { 0 }, products[FV_NOISE_REST] = { 0 };

    for (size_t i = 0; i < count; i++) {
        const struct deviation *at = &d[state ? draw(state, count) : i];

        sum += at->time;
        square += at->time * at->time;
        for (unsigned s = 0; s < FV_NOISE_REST; s++) {
            sums[s] += at->source[s];
            products[s] += at->source[s] * at->time;
        }
    }
    double variance = square - sum * sum / n;
    if (!(variance > 0))
        return false;
    out[FV_NOISE_REST] = 1;
    for (unsigned s = 0; s < FV_NOISE_REST; s++) {
        out[s] = (products[s] - sums[s] * sum / n) / variance;
        out[FV_NOISE_REST] -= out[s];
    }
    return true;
}

struct resamples {
    const struct deviation *d;
    size_t count;
    bool differ[RESAMPLES];
    double of[RESAMPLES][FV_NOISE_SOURCES];
};

/* Each draws `count` numbers: where its own begin is known, so that they are the same in any order. */
static void resample(void *context, size_t i)
{
    struct resamples *r = context;
    uint64_t state = r->count + i * r->count * STEP;

    r->differ[i] = shares(r->d, r->count, &state, r->of[i]);
}

static void bound(const struct deviation *d, size_t count, struct fv_noise_share out[FV_NOISE_SOURCES])
{
    static const double parts[] = { 0.025, 0.975 };
    struct resamples r = { .d = d, .count = count };
    double drawn[FV_NOISE_SOURCES][RESAMPLES];
    size_t known = 0;

    fv_parallel(RESAMPLES, resample, &r);
    for (unsigned i = 0; i < RESAMPLES; i++) {
        for (unsigned s = 0; r.differ[i] && s < FV_NOISE_SOURCES; s++)
            drawn[s][known] = r.of[i][s];
        known += r.differ[i];
    }
    for (unsigned s = 0; s < FV_NOISE_SOURCES && known; s++) {
        qsort(drawn[s], known, sizeof(double), fv_by_real);
        out[s].low = fv_quantile(drawn[s], sizeof(double), known, parts[0]);
        out[s].high = fv_quantile(drawn[s], sizeof(double), known, parts[1]);
    }
}

void fv_shares_of(const struct fv_noise_interval *intervals, size_t count, struct fv_noise_share out[FV_NOISE_SOURCES])
{
    struct deviation *d = fv_xcalloc(count + 1, sizeof(*d));
    double of[FV_NOISE_SOURCES];

    for (unsigned s = 0; s < FV_NOISE_SOURCES; s++)
        out[s] = (struct fv_noise_share){ NAN, NAN, NAN };
    deviate(intervals, count, d);
    if (count >= FV_SHARES_ENOUGH && shares(d, count, NULL, of)) {
        for (unsigned s = 0; s < FV_NOISE_SOURCES; s++)
            out[s].share = of[s];
        bound(d, count, out);
    }
    free(d);
}

double fv_expected_maximum(const double *sorted, size_t count, double draws)
{
    double sum = 0, below = 0;

    for (size_t i = 0; i < count; i++) {
        double until = pow((double)(i + 1) / (double)count, draws);

        sum += sorted[i] * (until - below);
        below = until;
    }
    return sum;
}

size_t fv_warm_up(const double *times_s, size_t count)
{
    double most = 0;
    size_t warm = 0;

    if (count < FV_WARM_UP_LEAST)
        return 0;
    for (size_t i = count / 2; i < count; i++)
        most = fmax(most, times_s[i]);
    while (warm < count / 2 && times_s[warm] > most)
        warm++;
    return warm;
}
