/* SPDX-License-Identifier: BSD-3-Clause */
/* See measure_relations.h. */
#include "doctor/measure/measure_relations.h"
#include "doctor/measure/measure.h"

static const void *the_measured(void *subject, const void *parent)
{
    return ((const struct fv_doctor *)subject)->measured;
}

static double at(const void *row, intptr_t offset)
{
    return *(const double *)(const void *)((const char *)row + offset);
}

/* ns to s: `argument` is where they are. */
static void get_s(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = at(row, c->argument) * 1e-9;
}

#define SECONDS(S, member) FV_GET(FV_TYPE_REAL, get_s), .argument = offsetof(S, member)

/* ---- the measurement ---- */

static void get_clock(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = ((const struct fv_measurement *)row)->clock.is_tsc ? "tsc" : "monotonic";
}

static void get_guest(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    int is_guest = ((const struct fv_measurement *)row)->is_guest;

    v->truth = is_guest > 0;
    v->null = is_guest < 0;
}

static const char *const clocks[] = { "tsc", "monotonic", NULL }, *const sources[] = { "/sys", "CPUID", NULL };

static void get_misprediction_s(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const double ns = fv_misprediction_ns(row);

    v->null = !(ns == ns);
    v->real = v->null ? 0 : ns * 1e-9;
}

static const struct fv_column_def measurement_columns[] = {
    { "seconds", "requested", "s", "Requested duration (--seconds).", FV_FIELD(struct fv_measurement, seconds) },
    { "elapsed_s", "taken", "s", "Actual duration.", FV_FIELD(struct fv_measurement, elapsed_s) },
    { "interrupted", "interrupted", "", "True: SIGINT or SIGTERM ended it. Rows are missing, or have few samples.",
      FV_FIELD(struct fv_measurement, interrupted) },
    { "clock", "clock", "",
      "The clock: the processor's counter if the kernel trusts it and its rate is constant; otherwise CLOCK_MONOTONIC.",
      FV_GET(FV_TYPE_TEXT, get_clock), .words = clocks },
    { "guest", "virtual machine", "",
      "True: there is a hypervisor. Results show the guest, including what the host does. Null: not known.",
      FV_GET(FV_TYPE_TRUTH, get_guest), .flags = FV_NULLABLE },
    { "cpus", "processors", "", "Measured processors, a list such as 0-3.",
      FV_FIELD(struct fv_measurement, processors) },
    { "alone", "alone", "", "Processors that were also measured one at a time; fewer if time was short.",
      FV_FIELD(struct fv_measurement, alone) },
    { "others_processors", "others", "count",
      "Mean number of processors that other tasks used during the measurement (/proc/stat). Null: not known.",
      FV_FIELD(struct fv_measurement, others_processors), .flags = FV_NULLABLE },
    { "work_s", "fixed work", "s", "Shortest time of the fixed work.", SECONDS(struct fv_measurement, work) },
    { "quantum_s", "fixed time", "s", "Length of the fixed time.", SECONDS(struct fv_measurement, quantum) },
    { "turn_s", "turn", "s", "Shortest iteration of the loop that looks for gaps.",
      SECONDS(struct fv_measurement, turn) },
    { "threshold_s", "threshold", "s", "Shortest gap that counts: nine iterations, and at least 300 ns.",
      SECONDS(struct fv_measurement, threshold) },
    { "hz", "CONFIG_HZ", "", "Timer ticks a second. Null: not known.", FV_FIELD(struct fv_measurement, hz),
      .flags = FV_UNLESS_0 },
    { "sizes_from", "sizes", "",
      "Source of the cache sizes: the kernel, or CPUID, which may be wrong in a virtual machine. Null: not known.",
      FV_FIELD(struct fv_measurement, sizes_from), .flags = FV_NULLABLE, .words = sources },
    { "largest_bytes", "largest", "bytes", "Largest working set.", FV_FIELD(struct fv_measurement, largest_bytes) },
    { "huge_bytes", "huge pages", "bytes", "Memory of working sets that is in huge pages.",
      FV_FIELD(struct fv_measurement, huge_bytes) },
    { "page_bytes", "page", "bytes", "Size of a page.", FV_FIELD(struct fv_measurement, page_bytes) },
    { "tlb_pages", "TLB reach", "",
      "Number of pages that a chase through one line of each page reaches before it takes a fifth longer than a chase "
      "through adjacent lines. Null: not found.",
      FV_FIELD(struct fv_measurement, tlb_pages), .flags = FV_UNLESS_0 },
    { "misprediction_s", "misprediction", "s",
      "What a wrong guess of a branch's direction costs: twice the difference of random and same directions. Null: not "
      "measured.",
      FV_GET(FV_TYPE_REAL, get_misprediction_s), .flags = FV_NULLABLE },
    { "bandwidth_left_out", "bandwidth left out", "",
      "Why bandwidth was not measured, or not on all processors together: no time left, no free memory, or an unusable "
      "processor. Null: it was measured.",
      FV_FIELD(struct fv_measurement, bandwidth_left_out), .flags = FV_NULLABLE, .words = fv_omissions },
};
const struct fv_relation fv_measure_measurement = {
    .name = "measurement",
    .key = "measurement",
    .title = "Measurement",
    .doc = "How --measure measured. Null without --measure.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(measurement_columns),
    .base = the_measured,
};

/* ---- noise ---- */

static const struct fv_spread *spread_of(const void *row, const struct fv_column_def *c)
{
    return (const void *)((const char *)row + c->offset);
}

/* A part of a row's spread, which `offset` and `argument` name. */
static void get_spread_s(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = at(spread_of(row, c), c->argument) * 1e-9;
}

/* Rounding is no noise. */
static double percent(double share)
{
    return share > -1e-12 && share < 1e-12 ? 0 : 100 * share;
}

static void get_percent(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_spread *s = spread_of(row, c);

    v->real = percent(at(s, c->argument) / s->mode - 1);
}

/* Of what is above the mode as a share of it. */
static void get_above(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = percent(at(spread_of(row, c), c->argument));
}

#define OF_SPREAD(get, S, spread, part) \
    FV_GET(FV_TYPE_REAL, get), .offset = offsetof(S, spread), .argument = offsetof(struct fv_spread, part)
#define NOISE(get, part) OF_SPREAD(get, struct fv_noise_row, spread, part)

static void get_test(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_noise_tests[((const struct fv_noise_row *)row)->test];
}

static void get_phase(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_noise_phases[*(const bool *)((const char *)row + c->argument)];
}

static const struct fv_column_def curve_columns[] = {
    { "part", "part", "share", "Percentile, as a share of the samples.", FV_FIELD(struct fv_curve_point, part) },
    { "above_share", "above", "share", "Value of the percentile above the mode, as a share of the mode.",
      FV_FIELD(struct fv_curve_point, above_share) },
};
static const struct fv_relation curve = {
    .name = "noise_curve",
    .key = "curve",
    .title = "Percentiles",
    .doc = "Percentiles in rising order, ten for each decade of the tail.",
    .shape = FV_ROWS,
    FV_COLUMNS(curve_columns),
    .base = the_measured,
    FV_SLICE(struct fv_measurement, points, struct fv_noise_row, first_point, point_count),
};

static void get_trial_s(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = *(const double *)((const char *)row + c->argument) * 1e-9;
}

static void get_counts(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_trials *of = row;

    v->items = ((const struct fv_doctor *)subject)->measured->counts + of->first_count;
    v->count = of->counts;
}

#define TRIAL(member) FV_GET(FV_TYPE_REAL, get_trial_s), .argument = offsetof(struct fv_trials, member)
static const struct fv_column_def trials_columns[] = {
    { "first", "first", "", "Number of the first sample, from 0.", FV_FIELD(struct fv_trials, first) },
    { "count", "samples", "", "Samples that follow each other.", FV_FIELD(struct fv_trials, count) },
    { "least_s", "min", "s", "Smallest of them.", TRIAL(least) },
    { "mean_s", "mean", "s", "Mean of them.", TRIAL(mean) },
    { "most_s", "max", "s", "Largest of them.", TRIAL(most) },
    { "counts", "events", "",
      "Mean of a sample of each event of `noise_events` that is counted, in their order; null: not known. Empty: fixed "
      "time, or no events.",
      FV_GET(FV_TYPE_REALS, get_counts) },
};
static const struct fv_relation trials = {
    .name = "noise_trials",
    .key = "trials",
    .title = "Samples in their order",
    .doc = "All samples in their order, in at most 500 parts of about equally many.",
    .shape = FV_ROWS,
    FV_COLUMNS(trials_columns),
    .base = the_measured,
    FV_SLICE(struct fv_measurement, trials, struct fv_noise_row, first_trials, trials_count),
};

/* ---- ramp-up ---- */

static struct fv_ramp ramp_of(void *subject, const void *row)
{
    const struct fv_measurement *m = ((const struct fv_doctor *)subject)->measured;
    const struct fv_noise_row *r = row;

    return fv_trials_ramp(m->trials + r->first_trials, r->trials_count);
}

static void get_ramp_samples(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = ramp_of(subject, row).samples;
}

static void get_ramp_s(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = ramp_of(subject, row).length * 1e-9;
}

static void get_ramp_percent(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_ramp ramp = ramp_of(subject, row);

    v->null = !ramp.samples;
    v->real = v->null ? 0 : 100 * ramp.above_share;
}

static const struct fv_column_def noise_columns[] = {
    { "test", "test", "",
      "fixed work: time of the same work, repeated. fixed time: work done in periods of equal length, given as the "
      "time of the most frequent amount of work.",
      FV_GET(FV_TYPE_TEXT, get_test), .words = fv_noise_tests },
    { "phase", "others", "", "alone: one processor at a time. together: all at once.", FV_GET(FV_TYPE_TEXT, get_phase),
      .argument = offsetof(struct fv_noise_row, together), .words = fv_noise_phases },
    { "cpu", "processor", "id", "Number of the processor.", FV_FIELD(struct fv_noise_row, cpu) },
    { "samples", "samples", "", "Measured.", FV_FIELD(struct fv_noise_row, spread.count) },
    { "mode_s", "mode", "s", "Most frequent value: the half-sample mode.", NOISE(get_spread_s, mode) },
    { "min_s", "min", "s", "Smallest value.", NOISE(get_spread_s, least) },
    { "p50_s", "p50", "s", "Median.", NOISE(get_spread_s, p50) },
    { "p90_s", "p90", "s", "90th percentile.", NOISE(get_spread_s, p90) },
    { "p99_s", "p99", "s", "99th percentile. Null: fewer than 100 samples.", NOISE(get_spread_s, p99),
      .flags = FV_NULLABLE },
    { "p999_s", "p99.9", "s", "99.9th percentile. Null: fewer than 1000 samples.", NOISE(get_spread_s, p999),
      .flags = FV_NULLABLE },
    { "max_s", "max", "s", "Largest value.", NOISE(get_spread_s, most) },
    { "p50_percent", "p50 %", "percent", "The median above the mode.", NOISE(get_percent, p50) },
    { "p90_percent", "p90 %", "percent", "90th percentile above the mode.", NOISE(get_percent, p90) },
    { "p99_percent", "p99 %", "percent", "99th percentile above the mode. Null: fewer than 100 samples.",
      NOISE(get_percent, p99), .flags = FV_NULLABLE },
    { "p999_percent", "p99.9 %", "percent", "99.9th percentile above the mode. Null: fewer than 1000 samples.",
      NOISE(get_percent, p999), .flags = FV_NULLABLE },
    { "max_percent", "max %", "percent", "Largest value above the mode.", NOISE(get_percent, most) },
    { "ramp_samples", "ramp-up", "",
      "First samples that took longer than the median of the second half, by 2 % or more "
      "even at their least: clocks and caches had not settled. 0: there is no ramp-up.",
      FV_GET(FV_TYPE_WHOLE, get_ramp_samples), .flags = FV_BLANK },
    { "ramp_s", "ramp-up time", "s", "Time of these samples.", FV_GET(FV_TYPE_REAL, get_ramp_s), .flags = FV_BLANK },
    { "ramp_percent", "ramp-up %", "percent", "How much longer the first of them took. Null: there is no ramp-up.",
      FV_GET(FV_TYPE_REAL, get_ramp_percent), .flags = FV_NULLABLE },
    { "curve", "curve", "", "", FV_NEST(curve) },
    { "trials", "trials", "", "", FV_NEST(trials) },
};
const struct fv_relation fv_measure_noise = {
    .name = "noise",
    .key = "noise",
    .title = "Noise",
    .doc = "One row for each test on each processor.",
    .shown = "test phase cpu samples/1 mode_s p50_percent/4 p90_percent p99_percent p999_percent/3 max_percent max_s",
    FV_COLUMNS(noise_columns),
    .base = the_measured,
    FV_ITEMS(struct fv_measurement, noise, noise_count),
};

/* ---- events ---- */

static void get_event(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = ((const struct fv_measured_event *)row)->what.name;
}

static void get_refusal(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_measured_event *e = row;

    v->text = e->refusal ? fv_perf_event_refusal(e->refusal, e->what.flags & FV_PERF_NO_KERNEL) : NULL;
    v->null = !v->text;
}

static const void *event_at(void *subject, const void *parent, size_t i)
{
    return &((const struct fv_doctor *)subject)->measured->events[i];
}

static size_t count_events(void *subject, const void *parent)
{
    const struct fv_measurement *m = ((const struct fv_doctor *)subject)->measured;

    return m ? m->event_count : 0;
}

static const struct fv_column_def event_columns[] = {
    { "event", "event", "", "Name of the event, as --events has it.", FV_GET(FV_TYPE_TEXT, get_event) },
    { "refused", "not counted", "", "Why it is not counted. Null: it is.", FV_GET(FV_TYPE_TEXT, get_refusal),
      .flags = FV_NULLABLE },
};
const struct fv_relation fv_measure_events = {
    .name = "noise_events",
    .key = "noise_events",
    .title = "Events of fixed work",
    .doc = "Events of --events, which are counted in fixed work.",
    FV_COLUMNS(event_columns),
    .count = count_events,
    .row = event_at,
};

#define COUNT(member) FV_FIELD(struct fv_noise_count, member)
static const struct fv_column_def count_columns[] = {
    { "phase", "others", "", "alone: one processor at a time. together: all at once.", FV_GET(FV_TYPE_TEXT, get_phase),
      .argument = offsetof(struct fv_noise_count, together), .words = fv_noise_phases },
    { "cpu", "processor", "id", "Number of the processor.", COUNT(cpu) },
    { "event", "event", "", "Name of the event.", COUNT(event) },
    { "samples", "samples", "", "Samples of fixed work in which it was counted all the time.", COUNT(samples) },
    { "mean", "mean", "", "Mean of a sample.", COUNT(mean) },
    { "least", "min", "", "Smallest count of a sample.", COUNT(least) },
    { "most", "max", "", "Largest count of a sample.", COUNT(most) },
    { "correlation", "with time", "",
      "Correlation of the counts with the times of the samples, -1 to 1: near 1, slow samples have more of it. Null: "
      "one "
      "of the two never changes.",
      COUNT(correlation), .flags = FV_NULLABLE },
};
const struct fv_relation fv_measure_counts = {
    .name = "noise_counts",
    .key = "noise_counts",
    .title = "Events in fixed work",
    .doc = "Events in fixed work on each processor, in the order of the measurement.",
    FV_COLUMNS(count_columns),
    .base = the_measured,
    FV_ITEMS(struct fv_measurement, noise_counts, noise_count_count),
};

/* ---- detours ---- */

static const struct fv_column_def gap_columns[] = {
    { "begin_s", "begin", "s", "Time from the begin of the test on that processor.",
      SECONDS(struct fv_gap_row, begin) },
    { "length_s", "length", "s", "Length of the gap.", SECONDS(struct fv_gap_row, length) },
    { "delay_s", "preempted", "s", "The part of the gap in which the thread was runnable without a processor.",
      SECONDS(struct fv_gap_row, delay) },
};
static const struct fv_relation gaps = {
    .name = "gaps",
    .key = "gaps",
    .title = "Gaps",
    .doc = "The 2000 longest gaps, by time.",
    .shape = FV_ROWS,
    FV_COLUMNS(gap_columns),
    .base = the_measured,
    FV_SLICE(struct fv_measurement, gaps, struct fv_detours, first_gap, gap_count),
};

static const struct fv_column_def detour_outer[] = {
    { "phase", "others", "", "alone: one processor at a time. together: all at once.", FV_GET(FV_TYPE_TEXT, get_phase),
      .argument = offsetof(struct fv_detours, together), .words = fv_noise_phases },
    { "cpu", "processor", "id", "Number of the processor.", FV_FIELD(struct fv_detours, cpu) },
};

static void get_among(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_noise_among[((const struct fv_period_row *)row)->among_long];
}

static const struct fv_column_def period_columns[] = {
    { "among", "among", "", "all gaps, or long gaps: those above ten times the median, which others would hide.",
      FV_GET(FV_TYPE_TEXT, get_among), .words = fv_noise_among },
    { "period_s", "period", "s", "Length of the period.", SECONDS(struct fv_period_row, of.period) },
    { "first_s", "first", "s", "Time of the first gap of the period, from the begin of the test.",
      SECONDS(struct fv_period_row, of.first) },
    { "gaps_share", "of the gaps", "share",
      "Share of the gaps in which it was found that end within a tenth of the period around it.",
      FV_FIELD(struct fv_period_row, of.part) },
    { "strength", "strength", "ratio",
      "How regularly gaps keep the period; 1: all do. Gaps of stronger periods are left out.",
      FV_FIELD(struct fv_period_row, of.strength) },
    { "what", "cause", "", "Activity of the kernel with that period. Null: not known.",
      FV_FIELD(struct fv_period_row, what), .flags = FV_NULLABLE },
};
const struct fv_relation fv_measure_periods = {
    .name = "periods",
    .key = "periods",
    .title = "Periods",
    .doc = "Periods of the ends of gaps, strongest first, all gaps before long ones. They are peaks of the periodogram "
           "that noise would reach with a probability of 1e-4.",
    FV_COLUMNS(period_columns),
    FV_OUTER(detour_outer),
    .base = the_measured,
    FV_SLICE(struct fv_measurement, periods, struct fv_detours, first_period, period_count),
};

static void get_per_second(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_detours *d = row;

    v->real = d->watched > 0 ? (double)d->spread.count / d->watched * 1e9 : 0;
}

static void get_lost_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_detours *d = row;

    v->real = d->watched > 0 ? d->shares.total / d->watched : 0;
}

/* `argument`: the class. */
static bool knows_class(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_detours *)row)->knows[c->argument];
}

/* Not finite, and so null, without gaps. */
static void get_class(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_gap_shares *s = &((const struct fv_detours *)row)->shares;

    v->real = s->by_class[c->argument] / s->total;
}

#define GAPS(part)   OF_SPREAD(get_spread_s, struct fv_detours, spread, part), .flags = FV_NULLABLE
#define CLASS(class) FV_GET(FV_TYPE_REAL, get_class), .known = knows_class, .argument = (class), .flags = FV_NULLABLE

static bool has_gaps(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_detours *)row)->spread.count;
}

static bool has_interrupts(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_detours *)row)->shares.interrupt_most > 0;
}

static const struct fv_column_def detour_columns[] = {
    { "phase", "others", "", "alone: one processor at a time. together: all at once.", FV_GET(FV_TYPE_TEXT, get_phase),
      .argument = offsetof(struct fv_detours, together), .words = fv_noise_phases },
    { "cpu", "processor", "id", "Number of the processor.", FV_FIELD(struct fv_detours, cpu) },
    { "watched_s", "watched", "s", "Time that the loop ran.", SECONDS(struct fv_detours, watched) },
    { "blind_s", "blind", "s", "Time that it read the kernel's files after gaps. Gaps in this time are not seen.",
      SECONDS(struct fv_detours, blind) },
    { "gap_count", "gaps", "", "Number of gaps that reach the threshold.", FV_FIELD(struct fv_detours, spread.count) },
    { "gaps_per_second", "a second", "count", "Gaps a second of watched time.", FV_GET(FV_TYPE_REAL, get_per_second) },
    { "lost_s", "lost", "s", "Total length of all gaps.", SECONDS(struct fv_detours, shares.total) },
    { "lost_share", "lost", "share", "lost_s as a share of watched_s.", FV_GET(FV_TYPE_REAL, get_lost_share) },
    { "p50_s", "p50", "s", "Median length of gaps. Null: none.", GAPS(p50), .known = has_gaps },
    { "p90_s", "p90", "s", "90th percentile of gaps. Null: none.", GAPS(p90), .known = has_gaps },
    { "p99_s", "p99", "s", "99th percentile of gaps. Null: fewer than 100.", GAPS(p99), .known = has_gaps },
    { "max_s", "max", "s", "Longest gap. Null: none.", GAPS(most), .known = has_gaps },
    { "preempted_share", "preempted", "share",
      "Share of the lost time in which the thread was runnable without a processor (run delay of schedstat). Null: no "
      "time was lost, or the kernel's file cannot be read; then the time is unexplained.",
      CLASS(FV_GAP_PREEMPTED) },
    { "tick_share", "tick", "share",
      "Share of the lost time in timer interrupts (/proc/interrupts, LOC). Null as in preempted_share.",
      CLASS(FV_GAP_TICK) },
    { "interrupt_share", "interrupts", "share",
      "Share of the lost time in other interrupts of the processor. Null as in preempted_share.",
      CLASS(FV_GAP_INTERRUPT) },
    { "steal_share", "steal", "share",
      "Share of the lost time in which the hypervisor took the processor (/proc/stat). Null as in preempted_share.",
      CLASS(FV_GAP_STEAL) },
    { "unexplained_share", "unexplained", "share",
      "Share of the lost time for which the kernel shows no cause. Null as in preempted_share.",
      CLASS(FV_GAP_UNEXPLAINED) },
    { "run_delay_s", "run delay", "s", "Growth of the thread's run delay over gaps.",
      SECONDS(struct fv_detours, delay) },
    { "stolen_s", "stolen", "s", "Time that the hypervisor took from the processor during the test.",
      SECONDS(struct fv_detours, stolen) },
    { "interrupt_most_s", "interrupt at most", "s",
      "Upper bound of what an interrupt explains of a gap: ten times its usual duration. Null: no interrupts.",
      SECONDS(struct fv_detours, shares.interrupt_most), .known = has_interrupts, .flags = FV_NULLABLE },
    { "switches", "switches", "", "Involuntary context switches of the thread.",
      FV_FIELD(struct fv_detours, switches) },
    { "ticks", "ticks", "", "Interrupts of the processor's timer.", FV_FIELD(struct fv_detours, ticks) },
    { "interrupts", "interrupts", "", "Other interrupts of the processor.", FV_FIELD(struct fv_detours, interrupts) },
    { "gaps", "gaps", "", "", FV_NEST(gaps) },
    { "periods", "periods", "", "", FV_NEST(fv_measure_periods) },
};
const struct fv_relation fv_measure_detours = {
    .name = "detours",
    .key = "detours",
    .title = "Detours",
    .doc = "Gaps of a loop that only reads the clock, on each processor, and their causes. The shares of the five "
           "causes add up to 1, with null as 0.",
    .shown = "phase cpu gaps_per_second lost_share p50_s/2 p99_s/1 max_s preempted_share tick_share interrupt_share "
             "steal_share unexplained_share",
    FV_COLUMNS(detour_columns),
    .base = the_measured,
    FV_ITEMS(struct fv_measurement, detours, detour_count),
};

/* ---- memory ---- */

static const struct fv_column_def cache_columns[] = {
    { "level", "cache", "", "Name of the cache.", FV_FIELD(struct fv_cpu_cache, name) },
    { "bytes", "size", "bytes", "Size of the cache.", FV_FIELD(struct fv_cpu_cache, bytes) },
};
const struct fv_relation fv_measure_caches = {
    .name = "caches",
    .key = "caches",
    .title = "Caches",
    .doc = "Caches of the first processor, smallest first, without instruction caches.",
    FV_COLUMNS(cache_columns),
    .base = the_measured,
    FV_ITEMS(struct fv_measurement, caches, cache_count),
};

#define LATENCY(get, part) OF_SPREAD(get, struct fv_latency, spread, part)

static const struct fv_column_def latency_columns[] = {
    { "bytes", "working set", "bytes",
      "Size of the working set: lines of 64 bytes in one ring, in a pseudo-random order.",
      FV_FIELD(struct fv_latency, bytes) },
    { "samples", "samples", "", "Repeated measurements, about 0.2 ms each.",
      FV_FIELD(struct fv_latency, spread.count) },
    { "mode_s", "mode", "s", "Time of a step: the half-sample mode.", LATENCY(get_spread_s, mode) },
    { "p50_s", "p50", "s", "Time of a step: the median.", LATENCY(get_spread_s, p50) },
    { "p99_s", "p99", "s", "Time of a step: 99th percentile. Null: fewer than 100 samples.", LATENCY(get_spread_s, p99),
      .flags = FV_NULLABLE },
    { "max_s", "max", "s", "Time of a step: largest value.", LATENCY(get_spread_s, most) },
    { "p50_percent", "p50 %", "percent", "The median above the mode.", LATENCY(get_percent, p50) },
    { "p99_percent", "p99 %", "percent", "99th percentile above the mode. Null: fewer than 100 samples.",
      LATENCY(get_percent, p99), .flags = FV_NULLABLE },
    { "max_percent", "max %", "percent", "Largest value above the mode.", LATENCY(get_percent, most) },
};
const struct fv_relation fv_measure_latency = {
    .name = "memory_latency",
    .key = "memory_latency",
    .title = "Latency by working set",
    .doc = "Latency of a pointer chase on the first processor, by working set.",
    FV_COLUMNS(latency_columns),
    .base = the_measured,
    FV_ITEMS(struct fv_measurement, latencies, latency_count),
};

#define LEVEL(part) OF_SPREAD(get_above, struct fv_memory_level, above, part)

static const struct fv_column_def level_columns[] = {
    { "level", "level", "",
      "Smallest cache that holds the middle one of these working sets, or DRAM. Null: sizes are not known.",
      FV_FIELD(struct fv_memory_level, name), .flags = FV_NULLABLE },
    { "from_bytes", "from", "bytes", "Smallest working set.", FV_FIELD(struct fv_memory_level, from_bytes) },
    { "to_bytes", "to", "bytes", "Largest working set.", FV_FIELD(struct fv_memory_level, to_bytes) },
    { "latency_s", "latency", "s", "Time of a step: median of the working sets' modes.",
      SECONDS(struct fv_memory_level, value) },
    { "samples", "samples", "", "Repeated measurements of all working sets.",
      FV_FIELD(struct fv_memory_level, above.count) },
    { "p50_percent", "p50 %", "percent", "Median of the measurements above the mode of their working set.",
      LEVEL(p50) },
    { "p90_percent", "p90 %", "percent", "90th percentile of the measurements above the mode of their working set.",
      LEVEL(p90) },
    { "p99_percent", "p99 %", "percent",
      "99th percentile of the measurements above the mode of their working set. Null: fewer than 100.", LEVEL(p99),
      .flags = FV_NULLABLE },
    { "max_percent", "max %", "percent", "Largest measurement above the mode of its working set.", LEVEL(most) },
};
const struct fv_relation fv_measure_levels = {
    .name = "memory_levels",
    .key = "memory_levels",
    .title = "Levels of memory",
    .doc = "Plateaus of the latency, smallest working sets first.",
    FV_COLUMNS(level_columns),
    .base = the_measured,
    FV_ITEMS(struct fv_measurement, levels, level_count),
};

static const struct fv_column_def tlb_columns[] = {
    { "pages", "pages", "", "Pages of the smallest size.", FV_FIELD(struct fv_tlb_point, pages) },
    { "paged_s", "one line each", "s", "Time of a step through one line of each page: median.",
      SECONDS(struct fv_tlb_point, paged) },
    { "dense_s", "side by side", "s", "Time of a step through as many adjacent lines: median.",
      SECONDS(struct fv_tlb_point, dense) },
};
const struct fv_relation fv_measure_tlb = {
    .name = "memory_tlb",
    .key = "memory_tlb",
    .title = "Latency by pages",
    .doc = "Cost of page tables, by number of pages.",
    FV_COLUMNS(tlb_columns),
    .base = the_measured,
    FV_ITEMS(struct fv_measurement, tlb, tlb_count),
};

/* ---- branches ---- */

#define BRANCH(get, part) OF_SPREAD(get, struct fv_branches, spread, part)
static const struct fv_column_def branch_columns[] = {
    { "pattern", "directions", "",
      "same: the branch is always taken. alternating: every second time. random: no predictor can know.",
      FV_FIELD(struct fv_branches, pattern), .words = fv_branch_patterns },
    { "samples", "samples", "", "Repeated measurements of 262,144 branches.",
      FV_FIELD(struct fv_branches, spread.count) },
    { "mode_s", "mode", "s", "Time of a turn with one branch: the half-sample mode.", BRANCH(get_spread_s, mode) },
    { "p50_s", "p50", "s", "Time of a turn: the median.", BRANCH(get_spread_s, p50) },
    { "p99_s", "p99", "s", "Time of a turn: 99th percentile. Null: fewer than 100 samples.", BRANCH(get_spread_s, p99),
      .flags = FV_NULLABLE },
    { "max_s", "max", "s", "Time of a turn: largest value.", BRANCH(get_spread_s, most) },
    { "max_percent", "max %", "percent", "Largest value above the mode.", BRANCH(get_percent, most) },
};
const struct fv_relation fv_measure_branches = {
    .name = "branches",
    .key = "branches",
    .title = "Branches",
    .doc = "Cost of a branch by the directions it takes, on the first processor.",
    FV_COLUMNS(branch_columns),
    .base = the_measured,
    FV_ITEMS(struct fv_measurement, branches, branch_count),
};

#define BANDWIDTH(part) OF_SPREAD(get_above, struct fv_bandwidth, above, part)

static const struct fv_column_def bandwidth_columns[] = {
    { "kernel", "loop", "",
      "copy: a = b, two arrays are counted. triad: a = b + 3 c, three arrays are counted. What a write reads before is "
      "not counted.",
      FV_FIELD(struct fv_bandwidth, kernel) },
    { "processors", "processors", "", "Processors that run at once, each with its own arrays.",
      FV_FIELD(struct fv_bandwidth, processors) },
    { "bytes", "arrays", "bytes", "Size of the three arrays of one processor.", FV_FIELD(struct fv_bandwidth, bytes) },
    { "bytes_per_s", "a second", "bytes", "Bandwidth: median of the repetitions of each processor, summed.",
      FV_FIELD(struct fv_bandwidth, bytes_per_s) },
    { "samples", "samples", "", "Repetitions on all processors.", FV_FIELD(struct fv_bandwidth, above.count) },
    { "p50_percent", "p50 %", "percent", "Median of the repetitions above the mode of their processor.",
      BANDWIDTH(p50) },
    { "p90_percent", "p90 %", "percent", "90th percentile of the repetitions above the mode of their processor.",
      BANDWIDTH(p90) },
    { "max_percent", "max %", "percent", "Largest repetition above the mode of its processor.", BANDWIDTH(most) },
};
const struct fv_relation fv_measure_bandwidth = {
    .name = "memory_bandwidth",
    .key = "memory_bandwidth",
    .title = "Bandwidth",
    .doc = "Memory bandwidth of the first processor, then of all at once.",
    FV_COLUMNS(bandwidth_columns),
    .base = the_measured,
    FV_ITEMS(struct fv_measurement, bandwidths, bandwidth_count),
};
