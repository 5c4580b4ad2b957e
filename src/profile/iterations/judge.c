/* SPDX-License-Identifier: BSD-3-Clause */
/* See judge.h. */
#include "profile/iterations/judge.h"

#include "tool/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARTS        10
#define TAU          0.8
#define CHANGE       0.25
#define SPREADS      3
#define LONG         1.5
#define LONG_BY      5
#define HITS         0.7
#define EXACT        6    /* times that an exact period is seen */
#define FLAT         0.25 /* of a step: what halves of its sides differ by */
#define TIMES        3    /* a period is seen at least so often */
#define RAISED       4    /* times what the limit is above the median: the highest one */
#define TIMES_RAISED 6
#define SHORT_MOST   4      /* periods that are found by medians */
#define UNEVEN       0.1    /* of the iterations' time */
#define BY_CHANCE    0.5    /* of the changes that there would be */
#define OFTEN        0.05   /* of the iterations */
#define TO_SPREAD    1.4826 /* from the median deviation to the standard deviation of a normal distribution */

struct noise {
    double median, spread;
};

/* room: as long as seconds. */
static struct noise noise_of(const double *seconds, size_t count, double *room)
{
    struct noise n;

    memcpy(room, seconds, count * sizeof(*room));
    n.median = fv_select(room, count, 0.5);
    for (size_t i = 0; i < count; i++)
        room[i] = fabs(seconds[i] - n.median);
    n.spread = TO_SPREAD * fv_select(room, count, 0.5);
    return n;
}

/* ---- the trend ---- */

static void find_trend(struct fv_iteration_times *t, const double *seconds, size_t count, double *room)
{
    double part[PARTS], spread[PARTS], agree = 0;

    for (size_t i = 0; i < PARTS; i++) {
        size_t from = i * count / PARTS, to = (i + 1) * count / PARTS;
        struct noise n = noise_of(seconds + from, to - from, room);

        part[i] = n.median;
        spread[i] = n.spread;
        for (size_t k = 0; k < i; k++)
            agree += part[i] > part[k] ? 1 : part[i] < part[k] ? -1 : 0;
    }
    t->first_s = part[0];
    t->last_s = part[PARTS - 1];
    double change = fabs(t->last_s - t->first_s), least = fmin(t->first_s, t->last_s);
    t->is_trend = fabs(agree) >= TAU * PARTS * (PARTS - 1) / 2 && change >= CHANGE * least &&
                  change >= SPREADS * fv_select(spread, PARTS, 0.5);
    for (size_t i = 0; i < count && t->is_trend && t->last_s > t->first_s; i++)
        t->grown_s += fmax(seconds[i] - t->first_s, 0);
}

static double quantile_of(const double *seconds, size_t count, double part, double *room)
{
    memcpy(room, seconds, count * sizeof(*room));
    return fv_select(room, count, part);
}

/* Where most of those before are on one side of the limit, and most of those behind on the other: the largest sum of
 * signs less their mean. */
static size_t likely_step(const double *seconds, size_t count, double limit_s)
{
    double sum = 0, most = 0, mean = 0;
    size_t at = 0;

    for (size_t i = 0; i < count; i++)
        mean += (seconds[i] > limit_s ? 1 : -1) / (double)count;
    for (size_t i = 0; i < count; i++) {
        sum += (seconds[i] > limit_s ? 1 : -1) - mean;
        if (fabs(sum) > most) {
            most = fabs(sum);
            at = i + 1;
        }
    }
    return at;
}

static bool has_sides(size_t count, size_t at)
{
    const size_t least = count / PARTS > FV_JUDGE_LEAST / 2 ? count / PARTS : FV_JUDGE_LEAST / 2;

    return at >= least && count - at >= least;
}

/* By the shorter ones, as noise lengthens. */
static bool is_flat(const double *seconds, size_t count, double most, double *room)
{
    return fabs(quantile_of(seconds, count / 2, 1 - HITS, room) -
                quantile_of(seconds + count / 2, count - count / 2, 1 - HITS, room)) <= most;
}

/* Does it go on in another time from there on? By how much, times; 0: it does not. */
static double step_at(const double *seconds, size_t count, size_t at, double *room)
{
    const size_t rest = count - at;
    const double before = quantile_of(seconds, at, 0.5, room), after = quantile_of(seconds + at, rest, 0.5, room),
                 height = fabs(after - before);
    const bool grows = after > before;
    const double high = quantile_of(grows ? seconds + at : seconds, grows ? rest : at, 1 - HITS, room),
                 low = quantile_of(grows ? seconds : seconds + at, grows ? at : rest, HITS, room);
    const bool is_step = fmax(before, after) >= LONG * fmin(before, after) && high > low &&
                         is_flat(seconds, at, FLAT * height, room) && is_flat(seconds + at, rest, FLAT * height, room);

    return is_step && before > 0 ? after / before : 0;
}

static void find_step(struct fv_iteration_times *t, const double *seconds, const double *undisturbed, size_t count,
                      double *room)
{
    size_t at = likely_step(seconds, count, t->p50_s);

    if (!has_sides(count, at))
        return;
    at = likely_step(seconds, count,
                     0.5 * (quantile_of(seconds, at, 0.5, room) + quantile_of(seconds + at, count - at, 0.5, room)));
    if (!has_sides(count, at))
        return;
    const double factor = step_at(seconds, count, at, room), also = step_at(undisturbed, count, at, room);
    if (factor == 0 || also == 0 || (factor > 1) != (also > 1))
        return;
    t->is_trend = true;
    t->step = at;
    t->factor = factor;
    t->grown_s = factor > 1 ? (factor - 1) * quantile_of(seconds, at, 0.5, room) * (double)(count - at) : 0;
}

/* ---- periods ---- */

static double quantile_of_phase(const double *seconds, size_t count, uint32_t period, uint32_t phase, bool others,
                                double part, double *room)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if ((i % period == phase) != others)
            room[n++] = seconds[i];
    return n ? fv_select(room, n, part) : NAN;
}

static void set_period(struct fv_iteration_times *t, const double *seconds, size_t count, uint32_t period,
                       uint32_t phase, double *room)
{
    double of = quantile_of_phase(seconds, count, period, phase, false, 0.5, room),
           others = quantile_of_phase(seconds, count, period, phase, true, 0.5, room);

    t->period = period;
    t->phase = phase;
    t->factor = others > 0 ? of / others : NAN;
    t->typical_s = 0;
    t->period_s = 0;
    for (size_t i = phase; i < count; i += period)
        t->period_s += fmax(seconds[i] - others, 0);
    t->typical_s = fmax(of - others, 0) * (double)((count - phase + period - 1) / period);
}

/* Is most of the phase longer than most of the others? */
static bool stands_out(const double *seconds, size_t count, uint32_t period, uint32_t phase, double *room)
{
    double least = quantile_of_phase(seconds, count, period, phase, false, 1 - HITS, room),
           most = quantile_of_phase(seconds, count, period, phase, true, HITS, room),
           other = quantile_of_phase(seconds, count, period, phase, true, 0.5, room);

    return least >= LONG * most && least >= LONG * other;
}

/* So many are long that the median is among them. */
static bool find_short_period(struct fv_iteration_times *t, const double *seconds, size_t count, double *room)
{
    memcpy(room, seconds, count * sizeof(*room));
    if (t->p95_s < LONG * t->p50_s && t->p50_s < LONG * fv_select(room, count, 0.05)) /* half may be long */
        return false;
    for (uint32_t period = 2; period <= SHORT_MOST; period++)
        for (uint32_t phase = 0; phase < period; phase++) {
            if (!stands_out(seconds, count, period, phase, room))
                continue;
            set_period(t, seconds, count, period, phase, room);
            return true;
        }
    return false;
}

/* The distance of neighbours that is most frequent. */
static uint32_t most_frequent_gap(const size_t *at, size_t count)
{
    size_t most = 0;
    uint32_t best = 0;

    for (size_t i = 1; i < count; i++) {
        size_t same = 0;

        for (size_t k = 1; k < count; k++)
            same += at[k] - at[k - 1] == at[i] - at[i - 1];
        if (same > most) {
            most = same;
            best = (uint32_t)(at[i] - at[i - 1]);
        }
    }
    return best;
}

#define GAPS_MOST 2000 /* long iterations that are looked at */

/* Of those above the limit, if there are so many. */
static bool find_period_above(struct fv_iteration_times *t, const double *seconds, size_t count, double *room,
                              double limit_s, size_t times)
{
    size_t *at = fv_xcalloc(GAPS_MOST, sizeof(*at)), n = 0, looked = 0, best = 0;
    uint32_t period, phase = 0;

    for (size_t i = 0; i < count && n < GAPS_MOST; i++) {
        looked = i + 1;
        if (seconds[i] > limit_s)
            at[n++] = i;
    }
    period = n >= times ? most_frequent_gap(at, n) : 0;
    for (size_t i = 0; i < n && period > 1 && i < 50; i++) { /* the phase that most of them have */
        size_t same = 0;

        for (size_t k = 0; k < n; k++)
            same += at[k] % period == at[i] % period;
        if (same > best) {
            best = same;
            phase = (uint32_t)(at[i] % period);
        }
    }
    size_t expected = period > 1 && looked > phase ? (looked - phase + period - 1) / period : 0;
    bool is_period =
        period > 1 && best >= times && (double)best >= HITS * (double)n && (double)best >= HITS * (double)expected;
    if (is_period)
        set_period(t, seconds, count, period, phase, room);
    free(at);
    return is_period;
}

/* Where others make many a little longer, those of a period may be longer still: the limit is raised. It needs more of
 * them then, as it is asked more often. */
static bool find_period(struct fv_iteration_times *t, const double *seconds, size_t count, double *room)
{
    bool found = false;

    for (unsigned raised = 1; raised <= RAISED && !found; raised *= 2)
        found = find_period_above(t, seconds, count, room, t->p50_s + raised * (t->limit_s - t->p50_s),
                                  raised > 1 ? TIMES_RAISED : TIMES);
    return found;
}

static void find_outliers(struct fv_iteration_times *t, const double *seconds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!(seconds[i] > t->limit_s) || (t->period && i % t->period == t->phase))
            continue;
        t->outliers++;
        t->outliers_s += seconds[i] - t->p50_s;
    }
}

static struct fv_iteration_times judge(const double *seconds, const double *undisturbed, size_t count)
{
    struct fv_iteration_times t = { .first_s = NAN, .last_s = NAN, .factor = NAN, .limit_s = NAN };
    double *room = fv_xcalloc(count + 1, sizeof(*room));

    for (size_t i = 0; i < count; i++) {
        t.mean_s += seconds[i] / (double)count;
        t.longest = seconds[i] > seconds[t.longest] ? i : t.longest;
    }
    if (count) {
        struct noise n = noise_of(seconds, count, room);

        t.longest_s = seconds[t.longest];
        memcpy(room, seconds, count * sizeof(*room));
        t.p50_s = n.median;
        t.p95_s = fv_select(room, count, 0.95);
        if (count >= FV_JUDGE_LEAST) {
            t.limit_s = fmax(LONG * n.median, n.median + LONG_BY * n.spread);
            find_trend(&t, seconds, count, room);
            find_step(&t, seconds, undisturbed, count, room); /* which a trend may be */
            if (!t.is_trend && !find_period(&t, seconds, count, room))
                find_short_period(&t, seconds, count, room);
            if (!t.is_trend)
                find_outliers(&t, seconds, count);
        }
    }
    free(room);
    return t;
}

struct fv_iteration_times fv_judge_times(const double *seconds, size_t count)
{
    return judge(seconds, seconds, count);
}

struct fv_iteration_times fv_judge_disturbed(const double *seconds, const double *undisturbed, size_t count)
{
    struct fv_iteration_times t = judge(seconds, undisturbed, count);
    double *room = fv_xcalloc(count + 1, sizeof(*room));
    const struct fv_iteration_times of =
        t.is_trend || t.period ? (struct fv_iteration_times){ 0 } : fv_judge_times(undisturbed, count);
    const uint32_t period = t.period ? t.period : of.period, phase = t.period ? t.phase : of.phase;
    const bool is_exact = period && count / period >= EXACT && stands_out(undisturbed, count, period, phase, room);

    if (is_exact && !t.period) {
        set_period(&t, undisturbed, count, period, phase, room);
        t.outliers = 0;
        t.outliers_s = 0;
        find_outliers(&t, seconds, count);
    }
    t.is_exact = is_exact;
    free(room);
    return t;
}

/* ---- the slowest rank ---- */

static uint32_t slowest(const float *load, size_t ranks)
{
    uint32_t most = 0;

    for (uint32_t i = 1; i < ranks; i++)
        most = load[i] > load[most] ? i : most;
    return most;
}

static double excess_s(const float *load, size_t ranks)
{
    double sum = 0, most = 0;

    for (size_t i = 0; i < ranks; i++) {
        sum += (double)load[i];
        most = fmax(most, (double)load[i]);
    }
    return most * (double)ranks - sum;
}

/* An iteration with another slowest rank than its two neighbours, which have the same, is noise. */
static size_t changes_without_spikes(uint32_t *who, size_t count)
{
    size_t changes = 0;

    for (size_t i = 1; i + 1 < count; i++)
        if (who[i - 1] == who[i + 1])
            who[i] = who[i - 1];
    for (size_t i = 1; i < count; i++)
        changes += who[i] != who[i - 1];
    return changes;
}

static bool has_fixed_distances(const uint32_t *who, size_t count)
{
    size_t *gaps = fv_xcalloc(count, sizeof(*gaps)), n = 0, same = 0, begin = 0;
    double *reals = fv_xcalloc(count, sizeof(*reals)), typical;

    for (size_t i = 1; i < count; i++)
        if (who[i] != who[i - 1]) {
            reals[n] = (double)(i - begin);
            gaps[n++] = i - begin;
            begin = i;
        }
    typical = n ? fv_select(reals, n, 0.5) : 0;
    for (size_t i = 0; i < n; i++)
        same += fabs((double)gaps[i] - typical) <= fmax(1, 0.1 * typical);
    free(gaps);
    free(reals);
    return n >= EXACT && typical > 2 && (double)same >= HITS * (double)n;
}

struct fv_moving_load fv_judge_load(const float *load, size_t ranks, const double *seconds, size_t count)
{
    struct fv_moving_load m = { .moves = false };

    if (ranks < 2 || count < FV_JUDGE_LEAST)
        return m;
    uint32_t *who = fv_xcalloc(count, sizeof(*who));
    double *sums = fv_xcalloc(ranks, sizeof(*sums)), total = 0, most = 0;
    size_t *often = fv_xcalloc(ranks, sizeof(*often)), changes = 0;
    double all_s = 0;
    for (size_t i = 0; i < count; i++) {
        who[i] = slowest(load + i * ranks, ranks);
        often[who[i]]++;
        changes += i && who[i] != who[i - 1];
        m.imbalance_s += excess_s(load + i * ranks, ranks);
        all_s += seconds[i] * (double)ranks;
        for (size_t k = 0; k < ranks; k++)
            sums[k] += (double)load[i * ranks + k];
    }
    for (size_t k = 0; k < ranks; k++) {
        m.ranks += (double)often[k] >= OFTEN * (double)count;
        total += sums[k];
        most = fmax(most, sums[k]);
    }
    m.lost_s = m.imbalance_s - (most * (double)ranks - total);
    double chance = (double)(count - 1) * (1 - 1 / (double)ranks);
    bool is_seldom = (double)changes <= BY_CHANCE * chance;
    changes = changes_without_spikes(who, count);
    m.every = (double)count / (double)(changes + 1);
    m.is_fixed = has_fixed_distances(who, count);
    m.moves =
        m.imbalance_s >= UNEVEN * all_s && m.lost_s >= 0.5 * m.imbalance_s && changes >= 3 && m.ranks > 1 && is_seldom;
    free(who);
    free(sums);
    free(often);
    return m;
}
