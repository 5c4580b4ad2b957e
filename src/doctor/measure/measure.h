/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi doctor --measure: this machine's noise and memory, by fixed work, fixed time and a selfish detour on each
 * processor, and by chases of pointers and copies. What is bound by time tells what it left out. All memory belongs to
 * struct fv_measurement; one thread calls, the measuring ones have ended when it returns. */
#ifndef FV_MEASURE_H
#define FV_MEASURE_H

#include "base/perf_events.h"
#include "doctor/doctor.h"
#include "doctor/measure/clock.h"
#include "doctor/measure/statistics.h"

#include <signal.h>

#define FV_NOISE_TESTS(X)         X(WORK, "fixed work") X(TIME, "fixed time")
#define FV_NOISE_TEST(name, word) FV_NOISE_##name,
enum fv_noise_test { FV_NOISE_TESTS(FV_NOISE_TEST) };
#define FV_OMISSIONS(X)         X(TIME, "time") X(MEMORY, "memory") X(PROCESSOR, "processor")
#define FV_OMISSION(name, word) FV_OMISSION_##name,
enum fv_omission { FV_OMISSIONS(FV_OMISSION) };
extern const char *const fv_omissions[]; /* names; NULL behind the last */
/* names; NULL behind the last */
extern const char *const fv_noise_tests[], *const fv_noise_phases[], *const fv_noise_among[];

#define FV_MEASURE_EVENTS 4 /* at a time: what all processors have registers for */

/* The part of the values that are not larger, and how far that is above the mode. */
struct fv_curve_point {
    double part, above_share;
};
/* Trials that follow each other. Times: ns. */
struct fv_trials {
    uint64_t first, count;
    double least, mean, most;
    uint32_t first_count, counts; /* means of the events, in their order; NAN: not known. None: not counted there */
};
/* An event that is counted in fixed work; refusal: an errno, why it is not. */
struct fv_measured_event {
    struct fv_perf_event what;
    uint32_t refusal;
};
/* What an event was in the samples of fixed work on one processor. */
struct fv_noise_count {
    uint32_t cpu;
    bool together;
    const char *event;
    uint64_t samples; /* in which it is known */
    double least, mean, most;
    double correlation; /* with the samples' times; NAN: one of both never changes */
};
/* The first trials took longer than those of the second half. */
struct fv_ramp {
    uint64_t samples;           /* 0: they did not */
    double above_share, length; /* of the first one, above the settled time; ns of all of them */
};
/* Fixed work, or fixed time, on one processor. Times: ns. */
struct fv_noise_row {
    uint32_t cpu;
    bool together; /* with all others; else alone */
    enum fv_noise_test test;
    struct fv_spread spread;
    uint32_t first_point, point_count;
    uint32_t first_trials, trials_count; /* all of them, in their order */
};

struct fv_gap_row {
    double begin, length, delay;
};
struct fv_period_row {
    struct fv_period of;
    bool among_long;  /* gaps of more than ten times the median, among which it was looked for; else all */
    const char *what; /* has that period; NULL: not known */
};
/* The detours of one processor. Times: ns. */
struct fv_detours {
    uint32_t cpu;
    bool together;
    double watched, blind;   /* the loop ran; it read files meanwhile, which is no gap */
    struct fv_spread spread; /* of the gaps */
    struct fv_gap_shares shares;
    bool knows[FV_GAP_CLASSES]; /* could the files be read that tell of it? Else its time is unexplained */
    uint64_t switches, ticks, interrupts;
    double delay, stolen;
    uint32_t first_gap, gap_count; /* the longest, in order of time */
    uint32_t first_period, period_count;
};

/* A branch by its pattern. Times: ns. */
#define FV_BRANCH_PATTERNS(X)         X(SAME, "same") X(ALTERNATING, "alternating") X(RANDOM, "random")
#define FV_BRANCH_PATTERN(name, word) FV_BRANCH_##name,
enum fv_branch_pattern { FV_BRANCH_PATTERNS(FV_BRANCH_PATTERN) FV_BRANCH_PATTERN_COUNT };
extern const char *const fv_branch_patterns[]; /* NULL behind the last */
struct fv_branches {
    const char *pattern; /* one of them */
    struct fv_spread spread;
};
struct fv_cpu_cache {
    const char *name; /* "L1" */
    uint64_t bytes;
};
/* One working set of a pointer chase: repeated measures, each the mean of many steps. */
struct fv_latency {
    uint64_t bytes;
    struct fv_spread spread; /* ns of a step */
    uint32_t first_value;    /* of `spread.count`: above the mode, as shares of it */
};
struct fv_memory_level {
    const char *name;              /* of the cache whose size fits, or "DRAM"; NULL: no size is known */
    uint64_t from_bytes, to_bytes; /* working sets */
    double value;                  /* ns of a step */
    struct fv_spread above;        /* of all repeated measures, as shares above the mode of their working set */
};
/* One line of each of so many pages, against as many lines side by side. */
struct fv_tlb_point {
    uint64_t pages;
    double paged, dense; /* ns of a step, median */
};
struct fv_bandwidth {
    const char *kernel; /* "copy", "triad" */
    uint32_t processors;
    uint64_t bytes;         /* of the arrays of one processor */
    double bytes_per_s;     /* of each processor by the median of its repetitions, added up */
    struct fv_spread above; /* repetitions of all, as shares above the mode of their processor */
};

struct fv_measurement {
    double seconds, elapsed_s; /* asked for; taken */
    struct fv_measure_clock clock;
    uint64_t steps;                        /* of fixed work */
    double turn, threshold, work, quantum; /* ns: shortest turn of the loop, least gap, fixed work, fixed time */
    const char *processors;                /* measured together */
    const char *alone;                     /* measured alone: fewer, where time is short */
    struct fv_cpus cpus, alone_cpus;
    int is_guest;             /* -1: not known */
    double others_processors; /* mean number of processors that other tasks used meanwhile; NAN: not known */
    uint64_t hz;              /* CONFIG_HZ; 0: not known */
    bool interrupted;
    const char *sizes_from;                         /* of caches; NULL: nobody knows */
    uint64_t largest_bytes, huge_bytes, page_bytes; /* working set; of it in huge pages; a page */
    uint64_t tlb_pages; /* reach: the last number of pages that takes as long as side by side; 0: not found */

    struct fv_noise_row *noise;
    size_t noise_count, noise_room;
    struct fv_curve_point *points;
    size_t point_count, point_room;
    struct fv_trials *trials;
    size_t trials_count, trials_room;
    struct fv_measured_event events[FV_MEASURE_EVENTS];
    size_t event_count;
    double *counts; /* of trials */
    size_t count_count, count_room;
    struct fv_noise_count *noise_counts;
    size_t noise_count_count, noise_count_room;
    struct fv_detours *detours;
    size_t detour_count, detour_room;
    struct fv_gap_row *gaps;
    size_t gap_count, gap_room;
    struct fv_period_row *periods;
    size_t period_count, period_room;
    struct fv_branches *branches;
    size_t branch_count, branch_room;
    struct fv_cpu_cache *caches; /* smallest first */
    size_t cache_count, cache_room;
    struct fv_latency *latencies;
    size_t latency_count, latency_room;
    double *values; /* of latencies */
    size_t value_count, value_room;
    struct fv_memory_level *levels;
    size_t level_count, level_room;
    struct fv_tlb_point *tlb;
    size_t tlb_count, tlb_room;
    struct fv_bandwidth *bandwidths;
    size_t bandwidth_count, bandwidth_room;
    const char *bandwidth_left_out; /* of fv_omissions: why some of it was not measured; NULL: it was, or was
                                     * interrupted */
};

#define FV_MEASURE_SECONDS       20
#define FV_MEASURE_SECONDS_LEAST 1
#define FV_MEASURE_SECONDS_MOST  86400

/* Until then nothing is measured any more; set by a signal's handler. */
extern volatile sig_atomic_t fv_measure_stop;

/* Measures for so many seconds on processors that this process may use, all of them if `only` is NULL, and leaves it as
 * doctor->measured, which fv_doctor_release() does not release. -FV_ENOENT: of `only` it may use none. Events are
 * counted in fixed work. */
struct fv_measure_wish {
    double seconds;
    const struct fv_cpus *only;
    struct fv_measured_event events[FV_MEASURE_EVENTS];
    size_t event_count;
};
int fv_measure(struct fv_doctor *doctor, const struct fv_measure_wish *wish, struct fv_measurement *out);
void fv_measurement_release(struct fv_measurement *measured);

/* Of trials in their order. */
struct fv_ramp fv_trials_ramp(const struct fv_trials *trials, size_t count);
/* ns that a wrong guess of a branch's direction costs; NAN: not measured. */
double fv_misprediction_ns(const struct fv_measurement *measured);
/* Of a period: "tick (CONFIG_HZ 250)", "2 ticks"; in the arena. NULL: none fits within 1 %. For tests. */
const char *fv_measure_period_name(struct fv_arena *arena, double period_ns, uint64_t hz);
/* The smallest cache that holds a working set, else "DRAM"; NULL: no size is known. */
const char *fv_measure_level_name(const struct fv_measurement *measured, uint64_t bytes);

#endif
