/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of format.h: what src/sampler writes into the rank file. */
#ifndef FV_FORMAT_SAMPLES_H
#define FV_FORMAT_SAMPLES_H

#include <stdint.h>

/* What a thread's sampler did. Instances that were entered have returned, were abandoned (longjmp, exceptions, the
 * thread's end), or are `open`. */
struct fv_sampler_record {
    uint64_t rate;                              /* ticks per second of CPU time, on average; 0: not sampled */
    uint64_t trap_ticks;                        /* what one trap adds to an instance, calibrated and subtracted ... */
    uint64_t trap_ns;                           /* ... and to its CPU time */
    uint64_t trap_spread_ticks;                 /* between the quartiles of the calibration */
    uint64_t ticks;                             /* [number] samples of the CPU clock */
    uint64_t traps;                             /* of breakpoints and watchpoints */
    uint64_t entries, returns, abandoned, open; /* instances: see above */
    uint64_t skipped; /* entries passed over at random, of functions too fast for the window, or called from several
                       * places */
    uint64_t refused; /* entries that could not be followed: another stack, no room, a recursion by_breakpoints */
    uint64_t late;    /* signals that came too late to mean anything: SIGTRAP was blocked */
    uint64_t lost_contexts, lost_paths; /* instances, ticks without a record of their own: a table was full */
    uint64_t tool_ticks;                /* in all of this */
    uint64_t cut;                       /* ticks whose call path could not be followed to its beginning */
    uint64_t tool_ns;                   /* the same as CPU time, without what others ran in between */
    uint32_t mode;                      /* [enum fv_sampler_mode] */
    uint32_t refusal;                   /* errno of what kept a better mode from being used; 0: nothing did */
    uint8_t migrations_exact; /* 1: counted by the kernel; 0: a change of the processor between two readings */
    uint8_t by_breakpoints;   /* 1: alone; the stack was not watched (sampler/instances.c) */
    uint8_t stopped;          /* [enum fv_sampler_stop] */
    uint8_t by_event;         /* 1: of FV_SAMPLER_CLOCK, an event of the thread's CPU time ticks; 0: the kernel's own
                               * ticks, which busy processes meet unevenly */
    uint32_t samples_lost;    /* ticks that are not in the log, for the reasons of log_lost */
    uint64_t log_lost;        /* instances that are not in the log: its budget was used up, or room came too late */
    uint64_t events_scaled;   /* returns whose events were counted part of the time only: estimates */
    uint64_t events_lost;     /* returns whose events are not known: means are those of the others */
    uint64_t call_samples;    /* of FV_SAMPLER_CALLS: samples of the event of calls, entries or refused */
    uint64_t no_stack;        /* samples and traps that found a signal stack of the application, too small to work on */
    uint64_t held_back;       /* ticks that armed nothing, because sampling had taken its share of the CPU time */
};
_Static_assert(sizeof(struct fv_sampler_record) == 208, "on-disk size");

enum fv_sampler_mode {
    FV_SAMPLER_BREAKPOINTS = 0, /* a clock sample arms breakpoints on entries */
    FV_SAMPLER_CALLS = 1,       /* an event of calls samples entries */
    FV_SAMPLER_COSTS = 2,       /* no instances: only where CPU time goes */
    FV_SAMPLER_CLOCK = 3,       /* the same, as asked */
    FV_SAMPLER_MODES            /* [count] */
};

/* Why there are no ticks, or no more: of FV_SAMPLER_CLOCK, which says nothing while the program runs. */
enum fv_sampler_stop {
    FV_SAMPLER_GOES_ON = 0,
    FV_SAMPLER_SIGPROF_USED = 1,    /* by the program: an action, a timer, -pg */
    FV_SAMPLER_SIGPROF_BLOCKED = 2, /* in the thread, from its beginning on */
    FV_SAMPLER_TICKLESS = 3,        /* nohz_full */
    FV_SAMPLER_SMALL_STACK = 4,     /* the program's signal stack */
    FV_SAMPLER_NO_TIMER = 5,
    FV_SAMPLER_NOT_HERE = 6, /* another C library, a static program, valgrind */
    FV_SAMPLER_STOPS         /* [count] */
};

/* An event that instances are measured by, beside the metrics that are always there. */
struct fv_metric_event {
    char name[64];                     /* as asked for, NUL-padded */
    uint32_t type, refusal;            /* of perf_event_open(); errno where it was refused: the metric is 0 then */
    uint64_t config, config1, config2; /* [hex] of perf_event_open() */
    uint32_t user_only;                /* 1: counts in user mode only */
    uint32_t pad;
};
_Static_assert(sizeof(struct fv_metric_event) == 104, "on-disk size");

enum fv_logged_flags { FV_LOGGED_IN_WINDOW = 1 /* fv_instances.window counts it */ };

/* A measured instance of a trace, in the order of their ends. */
struct fv_logged_instance {
    uint64_t begin, end; /* [ticks] as the clock was: fvmpi's own time is in between */
    uint64_t cpu_ns;     /* corrected for it */
    uint32_t context;    /* index of the thread's INSTANCES, from 0 */
    uint32_t flags;      /* [enum fv_logged_flags] */
};
_Static_assert(sizeof(struct fv_logged_instance) == 32, "on-disk size");

/* A sample of the CPU clock in a trace, in the order of time. Whether it is in a call of MPI says its time. */
struct fv_logged_sample {
    uint64_t ticks;
    uint32_t path;   /* SAMPLE_PATHS of the thread */
    uint32_t cpu_ns; /* of the thread since its sample before, without the sampler's own */
};
_Static_assert(sizeof(struct fv_logged_sample) == 16, "on-disk size");

/* Metrics of an instance. */
enum fv_metric {
    FV_METRIC_TIME, /* ticks */
    FV_METRIC_CPU,  /* ns of the thread's CPU time */
    FV_METRIC_MPI,  /* ticks inside MPI */
    FV_METRIC_MPI_CALLS,
    FV_METRIC_FAULTS,                       /* of pages, minor and major */
    FV_METRIC_SWITCHES,                     /* of context, voluntary and not */
    FV_METRIC_MIGRATIONS,                   /* between processors: see fv_sampler_record.migrations_exact */
    FV_METRIC_MPI_BYTES,                    /* sent and received, as counted for the thread */
    FV_METRIC_EVENT_0,                      /* the first of FVMPI_EVENTS: struct fv_metric_event, in order */
    FV_METRIC_COUNT = FV_METRIC_EVENT_0 + 4 /* [count] */
};
#define FV_METRIC_EVENTS (FV_METRIC_COUNT - FV_METRIC_EVENT_0)

/* Mean and sum of squared deviations (Welford, Technometrics 4, 1962). */
struct fv_moments {
    double mean, m2; /* of the metric, in its unit */
};

struct fv_instance {
    uint64_t begin, time; /* [ticks] */
    uint64_t cpu_ns;
};

#define FV_RESERVOIR 64
enum fv_instances_flags {
    FV_INSTANCES_FAST = 1,      /* too fast for the window: entries were skipped at random */
    FV_INSTANCES_SCALED = 2,    /* moments of events are estimates: see fv_sampler_record.events_scaled, events_lost */
    FV_INSTANCES_UNCOUNTED = 4, /* the events of no instance are known: their moments say nothing */
};

/* Instances of one function in one calling context. `window` are those of `returns` whose choice does not depend on
 * how long the instance before took. The reservoir is a random sample of all. */
struct fv_instances {
    uint32_t path;                        /* SAMPLE_PATHS of the thread; the innermost node is the function's entry */
    uint32_t flags;                       /* [enum fv_instances_flags] */
    uint64_t entries, returns, abandoned; /* as in struct fv_sampler_record */
    uint64_t window; /* of those chosen when it was found to be longer, the part that this one would have chosen */
    uint64_t time_min, time_max;                                        /* [ticks] of returns */
    struct fv_moments all[FV_METRIC_COUNT], in_window[FV_METRIC_COUNT]; /* by enum fv_metric: of returns, of the
                                                                         * window */
    struct fv_instance reservoir[FV_RESERVOIR]; /* [count returns] as many as there is room for */
};
_Static_assert(sizeof(struct fv_instances) == 1976, "on-disk size");

/* Of the record of INSTANCES with the same index, where there are METRIC_EVENTS: how many the moments of events are
 * of. */
struct fv_event_counts {
    uint64_t all, in_window; /* of returns, of the window */
};
_Static_assert(sizeof(struct fv_event_counts) == 16, "on-disk size");

/* Of the record of INSTANCES with the same index: CPU time outside of MPI, ns. It is taken as the CPU time, or the time
 * outside of MPI where that is less: whether MPI spins or sleeps is not measured. */
struct fv_instance_computing {
    struct fv_moments all, in_window; /* of returns, of the window */
};
_Static_assert(sizeof(struct fv_instance_computing) == 32, "on-disk size");

/* Of the record of INSTANCES with the same index: those that were measured last, each of them; the n-th that returned,
 * from 0, stands at n modulo FV_RECENT. */
#define FV_RECENT 64
struct fv_recent_instances {
    struct fv_instance at[FV_RECENT]; /* `begin` 0: none yet */
};
_Static_assert(sizeof(struct fv_recent_instances) == 1536, "on-disk size");

/* Likewise, where there are METRIC_EVENTS: what was counted in each instance of the reservoir, and of those measured
 * last. */
#define FV_COUNT_UNKNOWN UINT64_MAX
struct fv_instance_events {
    uint64_t reservoir[FV_RESERVOIR][FV_METRIC_EVENTS]; /* by instance and event; FV_COUNT_UNKNOWN */
    uint64_t recent[FV_RECENT][FV_METRIC_EVENTS];       /* by instance and event; FV_COUNT_UNKNOWN */
};
_Static_assert(sizeof(struct fv_instance_events) == 4096, "on-disk size");

/* The same of the record of INSTANCE_LOG with the same number. */
struct fv_logged_events {
    uint64_t count[FV_METRIC_EVENTS]; /* by event; FV_COUNT_UNKNOWN */
};
_Static_assert(sizeof(struct fv_logged_events) == sizeof(struct fv_logged_instance), "chunks of both hold as many");
/* Of the record of INSTANCES with the same index: long calls of a function that mostly returns soon, as clock samples
 * found them, whether chosen as instances or not. */
struct fv_long_calls {
    uint64_t count;  /* calls */
    uint64_t ticks;  /* [number] samples in them, outside of MPI */
    uint64_t ns;     /* CPU time outside of MPI from each one's first sample to its end */
    uint64_t all_ns; /* the same from its beginning, by estimate; and of those that no sample met */
    /* In one context of a function, of all of them: */
    uint64_t look_entries, look_ns; /* calls that began in so much CPU time, at random times ... */
    uint64_t cpu_ns;                /* ... of this, the thread's till then */
};
_Static_assert(sizeof(struct fv_long_calls) == 56, "on-disk size");

/* Ticks of the CPU clock at one call path; its innermost node is the instruction. */
struct fv_cost {
    uint32_t path;    /* SAMPLE_PATHS of the thread */
    uint32_t section; /* set of sections that were open: SECTION_SETS, from 1; 0: none */
    uint64_t ticks;   /* [number] samples */
    uint64_t in_mpi;  /* of them */
};
_Static_assert(sizeof(struct fv_cost) == 24, "on-disk size");

/* Of the record of COSTS with the same index, which is in its key as well. */
struct fv_cost_region {
    uint32_t from; /* PATHS: of the thread's last call, where the samples are outside of MPI; 0: in MPI, or not known */
};
_Static_assert(sizeof(struct fv_cost_region) == 4, "on-disk size");

#endif
