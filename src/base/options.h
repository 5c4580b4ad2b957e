/* SPDX-License-Identifier: BSD-3-Clause */
/* Every option of fvmpi, once: a row holds the environment variable, the command line's spelling, the
 * default, the help text and where the value goes. The runtime reads the variables, `fvmpi run` reads the
 * command line and writes the variables, --help and --print-config print the rows.
 *
 * The half that runs inside the application (fv_options_from_env) uses no malloc and no stdio. */
#ifndef FV_OPTIONS_H
#define FV_OPTIONS_H

#include "base/base.h"
#include "base/list.h"

#define FV_EVENTS_MOST   4  /* of --events */
#define FV_COUNTERS_MOST 16 /* of --counters */

/* Of fv_options.sample, below any rate: clock samples alone, as often as they cost little. */
#define FV_SAMPLE_CLOCK 1

/* Choices: X(NAME, word), numbered from 0. The table lists the words, and the values of options are the numbers. The
 * rank file has the same ones, as rt/barrier.c, rt/clock.c and memory/layer.c assert. */
#define FV_BARRIER_CHOICES(X) X(OFF, "off") X(BEFORE, "before") X(AFTER, "after")
#define FV_CLOCK_CHOICES(X)   X(AUTO, "auto") X(TSC, "tsc") X(MONOTONIC, "monotonic")
#define FV_ON_OFF_CHOICES(X)  X(ON, "on") X(OFF, "off")
#define FV_FLAVOUR_CHOICES(X) X(MPICH, "mpich") X(OPENMPI, "openmpi") X(ABI, "abi") X(SERIAL, "serial")
#define FV_PIN_CHOICES(X)     X(CORES, "cores") X(SOCKETS, "sockets") X(NUMA, "numa") X(THREADS, "threads")

#define FV_BARRIER_CHOICE(name, word) FV_BARRIER_CHOICE_##name,
#define FV_CLOCK_CHOICE(name, word)   FV_CLOCK_CHOICE_##name,
#define FV_ON_OFF_CHOICE(name, word)  FV_CHOICE_##name,
#define FV_PIN_CHOICE(name, word)     FV_PIN_##name,
enum fv_barrier_choice { FV_BARRIER_CHOICES(FV_BARRIER_CHOICE) };
enum fv_clock_choice { FV_CLOCK_CHOICES(FV_CLOCK_CHOICE) };
enum fv_on_off { FV_ON_OFF_CHOICES(FV_ON_OFF_CHOICE) };
enum fv_pin { FV_PIN_CHOICES(FV_PIN_CHOICE) FV_PINS };
enum fv_memory_choice { FV_MEMORY_CHOICE_OFF, FV_MEMORY_CHOICE_ON, FV_MEMORY_CHOICE_EXACT, FV_MEMORY_CHOICE_CALLS };

enum fv_functions_mode { FV_FUNCTIONS_ON = 1, FV_FUNCTIONS_ALL };
enum fv_threads_mode { FV_THREADS_ON = 1, FV_THREADS_HOLD = 2, FV_THREADS_OWNER = 4 };

/* "step" or "step:3". */
struct fv_section_number {
    char section[64]; /* empty: none */
    double number;    /* 0: none */
};

struct fv_options {
    const char *output; /* experiment directory, in static storage; NULL: name one */
    const char *local;  /* directory for rank files while the job runs, likewise; NULL: the experiment's */
    uint64_t depth;     /* frames of a call path; 0: all */
    uint64_t profile_max, collectives_max; /* bytes */
    uint64_t trace_max;                    /* bytes */
    uint64_t trace_keep;                   /* bytes of the newest events; 0: the trace is no ring */
    struct fv_section_number keep_slow, trace_iterations;
    uint64_t trace_zstd; /* level of compression; 0: none */
    bool trace, off_at_start, disable, quiet;
    bool container;        /* a node's rank files end up in one file */
    bool share;            /* others may read the experiment, as the umask says */
    int clock;             /* enum fv_clock_choice; auto: as the kernel does */
    int barrier;           /* enum fv_barrier_choice */
    uint64_t barrier_wait; /* seconds */
    int threads;           /* of enum fv_threads_mode; 0: threads are not looked at */
    bool mpi_calls;        /* MPI's own calls are recorded */
    bool io;               /* files */
    int functions;         /* enum fv_functions_mode; 0: those that the compiler instrumented are not looked at */
    int memory;            /* enum fv_memory_choice; off: what is allocated is not looked at */
    /* so many of each section are recorded by themselves, too */
    uint64_t section_instances;
    uint64_t section_level; /* sections of a higher level are not measured */
    bool section_cpu;       /* CPU time, faults and switches of sections */
    int annotations;        /* enum fv_on_off; on: those of Kokkos, NVTX and ITT become sections */
    uint64_t sample;        /* ticks per second of a thread's CPU time, with instances; 0: none; FV_SAMPLE_CLOCK */
    uint64_t sample_budget; /* percent of a thread's CPU time that measuring instances may take */
    const char *sensors;    /* of the machine, that one rank of a node reads meanwhile, with commas between; in static
                             * storage; NULL: none */
    uint64_t sensors_hz;    /* that often */
    uint64_t hang_after;    /* seconds without progress of any rank, behind which all threads are looked at; 0: never */
    const char *counters;   /* to count in whole threads and sections, likewise; NULL: none */
    const char *counters_pass; /* "2/3": the second of three runs, of which each counts a part of a list; NULL: all of
                                * it. Only `fvmpi run` looks at it */
    bool counters_shared;      /* more of them than the processor has registers may take turns */
    bool counters_mpi;         /* those in MPI calls are told apart */
    const char *events;        /* to count in instances: base/perf_events.h; in static storage; NULL: none */
};

enum fv_option_use {
    FV_USE_APPLICATION, /* variable for the runtime, flag of `fvmpi run` */
    FV_USE_RUN,         /* `fvmpi run` only; it may have a variable */
    FV_USE_VARIABLE,    /* a variable that other tools of fvmpi read; no flag */
};

struct fv_option;
/* Checks a value and, unless field is NULL, stores it. Returns NULL, or why it is no good. */
typedef const char *fv_option_parser(const struct fv_option *option, const char *text, void *field);

struct fv_option {
    const char *variable; /* NULL: none */
    const char *flag;     /* with its dashes; NULL: none */
    char letter;          /* short form; 0: none */
    const char *argument; /* placeholder, or the choices with | between; NULL: takes none */
    const char *value;    /* the default as text; "" none */
    const char *help;
    enum fv_option_use use;
    fv_option_parser *parse;
    size_t offset;        /* in struct fv_options; FV_NO_FIELD: none */
    uint64_t least, most; /* of numbers */
};
#define FV_NO_FIELD SIZE_MAX

extern const struct fv_option fv_option_table[];
extern const size_t fv_option_count;

/* The defaults, then what FVMPI_* variables say. Values that are no good and names that nobody knows are
 * reported by the job's first rank and ignored. Not for two threads at once. */
void fv_options_from_env(struct fv_options *out);
/* What was wrong with them, the first of it, in the words that were said; NULL: nothing. */
const char *fv_options_complaint(void);

/* Before that: is a variable set to something else than off? */
bool fv_option_is_on(const char *variable);

/* The same reports from the environment of a tool. */
void fv_options_check_env(void);

/* Of a row, the text that its variable sets it to; NULL: it is at its default, or the text is no good. */
const char *fv_option_in_effect(const struct fv_option *option);

const struct fv_option *fv_option_by_flag(const char *flag, size_t length);
const struct fv_option *fv_option_by_letter(char letter);
const struct fv_option *fv_option_by_variable(const char *name, size_t length);

/* The row whose flag, or variable, looks most like a word that nobody knows; NULL: none is near. */
const struct fv_option *fv_option_near_flag(const char *word, size_t length);
const struct fv_option *fv_option_near_variable(const char *word, size_t length);

/* False: no name, too long a one, or a number 0. A name may have a colon, too. */
bool fv_parse_section_number(const char *text, struct fv_section_number *out);

/* "4M" -> 4194304: digits with at most one of k, M, G, T (powers of 1024), then B or iB if you like.
 * NULL, or why not; *out is set on success only. */
const char *fv_parse_size(const char *text, uint64_t *out);

#endif
