/* SPDX-License-Identifier: BSD-3-Clause */
/* See noise.h. */
#include "doctor/measure/noise.h"
#include "doctor/measure/counts.h"
#include "doctor/measure/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
    VALUES_MOST = 1 << 18,
    GAPS_MOST = 1 << 17,
    GAPS_A_SECOND = 50000,
    GAPS_KEPT = 2000,
    TRIALS_KEPT = 500,
    UNIT = 64
};
#define WORK_NS      100e3
#define QUANTUM_NS   250e3
#define GAP_LEAST_NS 300.0
#define TURNS        9 /* a gap is at least so many of the shortest turn */

const char *const fv_noise_tests[] = { FV_NOISE_TESTS(FV_LIST_WORD) NULL };
const char *const fv_noise_phases[] = { "alone", "together", NULL };
const char *const fv_noise_among[] = { "all gaps", "long gaps", NULL };

/* A chain of steps, each of which needs the one before: no cache, no memory, no branch that could be missed. */
static __attribute__((noinline)) void work(uint64_t steps)
{
    uint64_t x = steps;

    for (uint64_t i = 0; i < steps; i++) {
        x = x * UINT64_C(6364136223846793005) + 1;
        __asm__ volatile("" : "+r"(x)); /* the compiler knows nothing of x */
    }
}

void fv_noise_calibrate(struct fv_measurement *m)
{
    enum { TRY = 20000, TRIES = 50, LOOP = 200000 };
    uint64_t shortest = UINT64_MAX, turn = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t begin = fv_measure_ticks(&m->clock);

        work(TRY);
        uint64_t took = fv_measure_ticks(&m->clock) - begin;
        shortest = took < shortest ? took : shortest;
    }
    uint64_t last = fv_measure_ticks(&m->clock);
    for (int i = 0; i < LOOP; i++) {
        uint64_t now = fv_measure_ticks(&m->clock);

        if (now > last && now - last < turn)
            turn = now - last;
        last = now;
    }
    m->steps = (uint64_t)(WORK_NS / ((double)shortest * m->clock.tick_ns / TRY)) + 1;
    m->work = (double)m->steps * (double)shortest * m->clock.tick_ns / TRY;
    m->quantum = QUANTUM_NS;
    m->turn = turn == UINT64_MAX ? 0 : (double)turn * m->clock.tick_ns;
    m->threshold = fmax(TURNS * m->turn, GAP_LEAST_NS);
}

/* ---- on a processor ---- */

struct job {
    const struct fv_measurement *m;
    double seconds;    /* of each test */
    double *values[2]; /* by test */
    size_t value_count[2], value_room;
    struct fv_sample_counter counter;
    size_t of_counts;
    double *counts; /* of each sample of fixed work, as many as the counter has; its order */
    struct fv_gap *gaps;
    struct fv_gap_group *groups;
    size_t gap_count, group_count, gap_room; /* without room the watch ends early */
    struct fv_kernel_view view;
    struct fv_interrupts before;
    uint64_t delay_ns, next_reading; /* next_reading: ticks */
    struct fv_detours of;
};

static uint64_t to_ticks(const struct job *j, double ns)
{
    return (uint64_t)(ns / j->m->clock.tick_ns);
}

static void fixed_work(struct job *j)
{
    size_t count = 0;

    fv_counts_open(&j->counter, j->m);
    uint64_t begin = fv_measure_ticks(&j->m->clock), end = begin + to_ticks(j, j->seconds * 1e9);

    while (begin < end && count < j->value_room && !fv_measure_stop) {
        work(j->m->steps);
        uint64_t now = fv_measure_ticks(&j->m->clock);

        j->values[FV_NOISE_WORK][count] = (double)(now - begin) * j->m->clock.tick_ns;
        if (j->counter.count) {
            fv_counts_take(&j->counter, &j->counts[count * j->counter.count]);
            now = fv_measure_ticks(&j->m->clock);
        }
        count++;
        begin = now;
    }
    j->value_count[FV_NOISE_WORK] = count;
    j->of_counts = j->counter.count;
    fv_counts_close(&j->counter);
}

/* Spells follow each other without a pause; those that are missed as a whole have no work. */
static void fixed_time(struct job *j)
{
    uint64_t length = to_ticks(j, j->m->quantum), end = fv_measure_ticks(&j->m->clock) + length;
    size_t most = (size_t)(j->seconds * 1e9 / j->m->quantum), count = 0;

    most = most < j->value_room ? most : j->value_room;
    while (count < most && !fv_measure_stop) {
        uint64_t done = 0, now;

        while ((now = fv_measure_ticks(&j->m->clock)) < end) {
            work(UNIT);
            done++;
        }
        j->values[FV_NOISE_TIME][count++] = (double)done;
        for (end += length; now >= end && count < most; end += length)
            j->values[FV_NOISE_TIME][count++] = 0;
    }
    j->value_count[FV_NOISE_TIME] = count;
    fv_lost_of_work(j->values[FV_NOISE_TIME], count, j->m->quantum);
}

/* ---- detours ---- */

static void end_group(struct job *j)
{
    struct fv_interrupts now = j->before;

    fv_kernel_interrupts(&j->view, &now);
    j->groups[j->group_count++] =
        (struct fv_gap_group){ (uint32_t)(now.ticks - j->before.ticks), (uint32_t)(now.others - j->before.others) };
    j->before = now;
}

/* Reading /proc/interrupts is dear where there are many processors: it takes a twentieth of the time at most. */
static FV_COLD void take_gap(struct job *j, uint64_t now, double begin, double length)
{
    enum { DEAR = 20 };
    uint64_t delay_ns = fv_kernel_run_delay_ns(&j->view);

    j->gaps[j->gap_count++] =
        (struct fv_gap){ begin, length, fmin((double)(delay_ns - j->delay_ns), length), (uint32_t)j->group_count };
    j->of.delay += (double)(delay_ns - j->delay_ns);
    if (now >= j->next_reading) {
        end_group(j);
        uint64_t after = fv_measure_ticks(&j->m->clock);

        j->next_reading = after + DEAR * (after - now);
    }
    j->delay_ns = fv_kernel_run_delay_ns(&j->view); /* what the thread waited while it read is no part of the next
                                                     * gap */
}

static void watch(struct job *j)
{
    const struct fv_measure_clock clock = j->m->clock;
    const uint64_t threshold = to_ticks(j, j->m->threshold), turn = to_ticks(j, j->m->turn);
    uint64_t blind = 0, begin = fv_measure_ticks(&clock), last = begin, end = begin + to_ticks(j, 2 * j->seconds * 1e9);

    while (last < end && j->gap_count < j->gap_room && !fv_measure_stop) {
        uint64_t now = fv_measure_ticks(&clock), away = now - last;

        if (FV_UNLIKELY(away >= threshold)) {
            take_gap(j, now, (double)(last - begin) * clock.tick_ns, (double)(away - turn) * clock.tick_ns);
            last = fv_measure_ticks(&clock);
            blind += last - now;
        } else {
            last = now;
        }
    }
    if (j->gap_count && j->gaps[j->gap_count - 1].group == j->group_count)
        end_group(j);
    j->of.blind = (double)blind * clock.tick_ns;
    j->of.watched = (double)(last - begin) * clock.tick_ns - j->of.blind;
}

static void detours(struct job *j)
{
    struct rusage usage = { 0 };
    struct fv_interrupts first = { 0 };
    uint64_t stolen = fv_kernel_stolen_ns(&j->view);

    getrusage(RUSAGE_THREAD, &usage);
    uint64_t switches = (uint64_t)usage.ru_nivcsw;
    j->of.knows[FV_GAP_PREEMPTED] = j->view.schedstat >= 0;
    j->of.knows[FV_GAP_TICK] = j->of.knows[FV_GAP_INTERRUPT] = fv_kernel_interrupts(&j->view, &first);
    j->of.knows[FV_GAP_STEAL] = j->view.stat >= 0;
    j->of.knows[FV_GAP_UNEXPLAINED] = true;
    j->before = first;
    j->delay_ns = fv_kernel_run_delay_ns(&j->view);
    watch(j);
    fv_kernel_interrupts(&j->view, &j->before);
    j->of.ticks = j->before.ticks - first.ticks;
    j->of.interrupts = j->before.others - first.others;
    getrusage(RUSAGE_THREAD, &usage);
    j->of.switches = (uint64_t)usage.ru_nivcsw - switches;
    j->of.stolen = (double)(fv_kernel_stolen_ns(&j->view) - stolen);
}

static void all_tests(struct fv_pinned_thread *p)
{
    struct job *j = p->data;

    /* Each page is there, on this processor's node, before it is written to. */
    memset(j->values[0], 1, j->value_room * sizeof(*j->values[0]));
    memset(j->values[1], 1, j->value_room * sizeof(*j->values[1]));
    memset(j->gaps, 1, j->gap_room * sizeof(*j->gaps));
    memset(j->groups, 1, j->gap_room * sizeof(*j->groups));
    fv_kernel_open(&j->view, p->cpu);
    fixed_work(j);
    fixed_time(j);
    detours(j);
    fv_kernel_close(&j->view);
}

/* ---- what came of it ---- */

/* Parts 0, and so on to 1 - 1 / count by steps of a tenth of a decade: the tail is what counts. */
static void add_curve(struct fv_measurement *m, const double *sorted, struct fv_noise_row *row)
{
    row->first_point = (uint32_t)m->point_count;
    for (int i = 0; pow(10, -i / 10.0) * (double)row->spread.count >= 1; i++) {
        double part = 1 - pow(10, -i / 10.0);

        FV_GROW(m->points, m->point_room, m->point_count + 1);
        m->points[m->point_count++] = (struct fv_curve_point){
            part, fv_quantile(sorted, sizeof(*sorted), row->spread.count, part) / row->spread.mode - 1
        };
    }
    row->point_count = (uint32_t)m->point_count - row->first_point;
}

/* Of an event in the samples from `first` on. */
static double mean_count(const struct job *j, size_t event, size_t first, size_t end)
{
    double sum = 0;
    size_t known = 0;

    for (size_t k = first; k < end; k++)
        if (!isnan(j->counts[k * j->of_counts + event])) {
            sum += j->counts[k * j->of_counts + event];
            known++;
        }
    return known ? sum / (double)known : NAN;
}

static void add_counts(struct fv_measurement *m, const struct job *j, struct fv_trials *of)
{
    of->first_count = (uint32_t)m->count_count;
    of->counts = (uint32_t)j->of_counts;
    for (size_t i = 0; i < j->of_counts; i++) {
        FV_GROW(m->counts, m->count_room, m->count_count + 1);
        m->counts[m->count_count++] = mean_count(j, i, of->first, of->first + of->count);
    }
}

/* An event in all samples, and whether slow ones have more of it (Pearson). */
static void add_noise_count(struct fv_measurement *m, const struct job *j, size_t event, const char *name)
{
    const double *times = j->values[FV_NOISE_WORK];
    struct fv_noise_count of = {
        .cpu = j->of.cpu, .together = j->of.together, .event = name, .least = INFINITY, .correlation = NAN
    };
    double time = 0, xx = 0, yy = 0, xy = 0;

    for (size_t k = 0; k < j->value_count[FV_NOISE_WORK]; k++) {
        double count = j->counts[k * j->of_counts + event];

        if (isnan(count))
            continue;
        double n = (double)++of.samples, dx = times[k] - time, dy = count - of.mean;
        time += dx / n;
        of.mean += dy / n;
        xx += dx * (times[k] - time);
        yy += dy * (count - of.mean);
        xy += dx * (count - of.mean);
        of.least = fmin(of.least, count);
        of.most = fmax(of.most, count);
    }
    if (!of.samples)
        return;
    if (xx > 0 && yy > 0)
        of.correlation = xy / sqrt(xx * yy);
    FV_GROW(m->noise_counts, m->noise_count_room, m->noise_count_count + 1);
    m->noise_counts[m->noise_count_count++] = of;
}

static void add_noise_counts(struct fv_measurement *m, const struct job *j)
{
    size_t event = 0;

    for (size_t i = 0; i < m->event_count && event < j->of_counts; i++)
        if (!m->events[i].refusal)
            add_noise_count(m, j, event++, m->events[i].what.name);
}

/* In their order, in parts of equally many: a ramp at the begin, a spell that is slow, single spikes. */
static void add_trials(struct fv_measurement *m, const struct job *j, struct fv_noise_row *row)
{
    const double *values = j->values[row->test];
    size_t count = j->value_count[row->test], parts = count < TRIALS_KEPT ? count : TRIALS_KEPT;

    row->first_trials = (uint32_t)m->trials_count;
    for (size_t i = 0; i < parts; i++) {
        size_t first = i * count / parts, end = (i + 1) * count / parts;
        struct fv_trials of = { .first = first, .count = end - first, .least = INFINITY };

        for (size_t k = first; k < end; k++) {
            of.least = fmin(of.least, values[k]);
            of.most = fmax(of.most, values[k]);
            of.mean += values[k] / (double)of.count;
        }
        if (row->test == FV_NOISE_WORK)
            add_counts(m, j, &of);
        FV_GROW(m->trials, m->trials_room, m->trials_count + 1);
        m->trials[m->trials_count++] = of;
    }
    row->trials_count = (uint32_t)m->trials_count - row->first_trials;
}

static void add_noise(struct fv_measurement *m, struct job *j, enum fv_noise_test test)
{
    struct fv_noise_row row = { .cpu = j->of.cpu, .together = j->of.together, .test = test };

    add_trials(m, j, &row); /* before they are sorted */
    if (test == FV_NOISE_WORK)
        add_noise_counts(m, j);
    fv_spread_of(j->values[test], j->value_count[test], &row.spread);
    if (!row.spread.count)
        return;
    if (test == FV_NOISE_TIME)
        row.spread.mode = m->quantum; /* of the work, fv_lost_of_work() has found it: most spells may have none */
    add_curve(m, j->values[test], &row);
    FV_GROW(m->noise, m->noise_room, m->noise_count + 1);
    m->noise[m->noise_count++] = row;
}

/* The longest, in order of time. `sorted`: all lengths. */
static void keep_gaps(struct fv_measurement *m, const struct job *j, const double *sorted, struct fv_detours *of)
{
    double least = j->gap_count > GAPS_KEPT ? sorted[j->gap_count - GAPS_KEPT] : 0;

    of->first_gap = (uint32_t)m->gap_count;
    for (size_t i = 0; i < j->gap_count && m->gap_count - of->first_gap < GAPS_KEPT; i++) {
        const struct fv_gap *g = &j->gaps[i];

        if (g->length < least)
            continue;
        FV_GROW(m->gaps, m->gap_room, m->gap_count + 1);
        m->gaps[m->gap_count++] = (struct fv_gap_row){ g->begin, g->length, g->delay };
    }
    of->gap_count = (uint32_t)m->gap_count - of->first_gap;
}

static bool has_period(const struct fv_measurement *m, const struct fv_detours *of, double period)
{
    for (size_t i = of->first_period; i < m->period_count; i++)
        if (fabs(m->periods[i].of.period - period) < 0.01 * period)
            return true;
    return false;
}

/* Of gaps that are longer: an interrupt that was held up comes at their end. */
static void find_periods(struct fv_measurement *m, struct fv_arena *arena, const struct job *j, double longer,
                         struct fv_detours *of)
{
    double *ends = fv_xcalloc(j->gap_count + 1, sizeof(*ends));
    struct fv_period found[FV_PERIODS];
    size_t count = 0;

    for (size_t i = 0; i < j->gap_count; i++)
        if (j->gaps[i].length > longer)
            ends[count++] = j->gaps[i].begin + j->gaps[i].length;
    size_t periods = fv_periods_of(ends, count, of->watched + of->blind, found);
    for (size_t i = 0; i < periods; i++)
        if (!has_period(m, of, found[i].period)) {
            FV_GROW(m->periods, m->period_room, m->period_count + 1);
            m->periods[m->period_count++] =
                (struct fv_period_row){ found[i], longer > 0, fv_measure_period_name(arena, found[i].period, m->hz) };
        }
    free(ends);
}

static void add_detours(struct fv_measurement *m, struct fv_arena *arena, struct job *j)
{
    double *lengths = fv_xcalloc(j->gap_count + 1, sizeof(*lengths));
    struct fv_detours *of = &j->of;

    for (size_t i = 0; i < j->gap_count; i++)
        lengths[i] = j->gaps[i].length;
    fv_spread_of(lengths, j->gap_count, &of->spread);
    keep_gaps(m, j, lengths, of);
    free(lengths);
    fv_gap_shares_of(j->gaps, j->gap_count, j->groups, of->stolen, &of->shares);
    of->first_period = (uint32_t)m->period_count;
    find_periods(m, arena, j, 0, of);
    find_periods(m, arena, j, 10 * of->spread.p50, of);
    of->period_count = (uint32_t)m->period_count - of->first_period;
    FV_GROW(m->detours, m->detour_room, m->detour_count + 1);
    m->detours[m->detour_count++] = *of;
}

static void init_job(struct job *j, const struct fv_measurement *m, unsigned cpu, bool together, double seconds)
{
    *j = (struct job){ .m = m, .seconds = seconds / 4, .of = { .cpu = cpu, .together = together } };
    j->value_room = (size_t)fmin(j->seconds * 1e9 / WORK_NS * 2 + 100, VALUES_MOST);
    j->gap_room = (size_t)fmin(2 * j->seconds * GAPS_A_SECOND + 1000, GAPS_MOST);
    for (int test = 0; test < 2; test++)
        j->values[test] = fv_xcalloc(j->value_room, sizeof(double));
    j->counts = fv_xcalloc(j->value_room * fv_counts_known(m) + 1, sizeof(double));
    j->gaps = fv_xcalloc(j->gap_room, sizeof(*j->gaps));
    j->groups = fv_xcalloc(j->gap_room + 1, sizeof(*j->groups));
}

static void release_job(struct job *j)
{
    free(j->values[0]);
    free(j->values[1]);
    free(j->counts);
    free(j->gaps);
    free(j->groups);
}

void fv_noise_measure(struct fv_measurement *m, struct fv_arena *arena, const struct fv_cpus *cpus, bool together,
                      double seconds)
{
    size_t count = fv_cpus_count(cpus), used = 0;
    struct job *jobs = fv_xcalloc(count + 1, sizeof(*jobs));
    struct fv_pinned_thread *pinned = fv_xcalloc(count + 1, sizeof(*pinned));

    for (unsigned cpu = 0; cpu < FV_CPUS_MOST; cpu++)
        if (fv_cpus_has(cpus, cpu)) {
            init_job(&jobs[used], m, cpu, together, seconds);
            pinned[used] = (struct fv_pinned_thread){ cpu, &jobs[used], false };
            used++;
        }
    fv_run_pinned_threads(pinned, count, all_tests);
    for (size_t i = 0; i < count; i++) {
        if (pinned[i].ran) {
            add_noise(m, &jobs[i], FV_NOISE_WORK);
            add_noise(m, &jobs[i], FV_NOISE_TIME);
            add_detours(m, arena, &jobs[i]);
        }
        release_job(&jobs[i]);
    }
    free(jobs);
    free(pinned);
}
