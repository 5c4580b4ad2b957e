/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections that the program marks itself (fvmpi.h), and the whole program as section "all": what each rank
 * did in them. A rank's elapsed time is that of its thread that was longest in the section; everything else
 * is summed over its threads. User and system time are also those of all other threads that are recorded, while it was
 * open (rt/section_threads.h); clock samples those of threads that a thread in it has made (rt/sections.h). */
#ifndef FV_PROFILE_SECTIONS_H
#define FV_PROFILE_SECTIONS_H

#include "profile/iterations/iterations.h"
#include "profile/model.h"
#include "profile/samples/costs.h"
#include "tool/distribution.h"
#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>

/* Message lengths as users of vendors' profilers know them: below 4 KiB, 64 KiB, 1 MiB, and above. */
#define FV_SECTION_CLASSES 4
/* FV_SECTION_CLASSES: not known, of calls over budget. */
unsigned fv_section_class(const struct fv_cell *cell);

enum fv_section_value {
    FV_SECTION_ELAPSED, /* seconds */
    FV_SECTION_USER,
    FV_SECTION_SYSTEM,
    FV_SECTION_PROCESS, /* CPU time of all threads of the process; NAN where several of them were in it */
    FV_SECTION_MPI,
    FV_SECTION_WAIT,
    FV_SECTION_LOCK,
    FV_SECTION_SAMPLED,      /* seconds of CPU time, by clock samples */
    FV_SECTION_THREADS_TIME, /* elapsed, summed over threads */
    FV_SECTION_CALLS,        /* counts */
    FV_SECTION_FAULTS,
    FV_SECTION_SWITCHES,
    FV_SECTION_SENT, /* messages, by class */
    FV_SECTION_RECEIVED = FV_SECTION_SENT + FV_SECTION_CLASSES,
    FV_SECTION_VALUES = FV_SECTION_RECEIVED + FV_SECTION_CLASSES
};

/* Sampled CPU time of threads: of those that have some in the section, whoever opened it. */
struct fv_section_threads {
    uint32_t count;
    double sum_s, min_s, max_s;
};

/* A thread in a section: it opened it, or was there, and is recorded, while others had it open. NAN: not known. */
struct fv_section_member {
    uint32_t section, rank, thread; /* its key; rank: in fv_model.ranks, thread: fv_thread_record.id */
    bool is_opener;
    bool is_scaled; /* of others: of a part of the time, which stands for all of it */
    uint64_t count; /* instances; of others that it was open in the process */
    double time_s, cpu_s, user_s, system_s, mpi_s, sampled_s;
    double faults; /* of pages, of openers; of others: see counters (fv_counts_of_thread()) */
};

/* Which section a row is of, where its parent is a struct fv_section_view. */
#define FV_SECTION_COLUMNS                                                                       \
    { "section", "section", "", "The section's name.", FV_FIELD(struct fv_section_view, name) }, \
    {                                                                                            \
        "number", "no.", "", "Number of the section.", FV_FIELD(struct fv_section_view, number)  \
    }
/* An instance that is shorter is hardly longer than reading the clocks, which is in what they tell: below it, this is
 * over 1 % of it. */
#define FV_SECTION_SHORT_S     150e-6
#define FV_SECTION_SHORT_WORDS "150 us"

/* What went wrong, or may have. */
struct fv_section_faults {
    uint64_t open;       /* begun, and not ended when the rank ended */
    uint64_t unended;    /* ended by the end of their thread */
    uint64_t unbegun;    /* ends without a begin */
    uint64_t elsewhere;  /* ends on another thread than the begin's */
    uint64_t nested;     /* begins within the same section: no fault, measured once */
    uint64_t overlapped; /* ends before that of a section begun later: no fault */
};

/* Instances that ended: their number, their mean time, and the sum of squared deviations of it, NAN: not
 * recorded. */
struct fv_section_instances {
    uint64_t count;
    double mean_s, m2;
};

/* p50, p90 and p99 of the instances that ended, by their histogram. */
#define FV_SECTION_PERCENTILES 3

struct fv_section_rank {
    uint32_t section, rank;          /* rank: in fv_model.ranks */
    uint32_t threads, other_threads; /* that opened it; that did not */
    bool is_scaled;                  /* what is of others: of a part of the time */
    bool is_timed;                   /* clocks were read in it, or events */
    uint64_t count;                  /* instances: those that are open, too */
    double shortest_s, longest_s;    /* instance that ended; NAN: none did */
    struct fv_section_instances instances;
    struct fv_distribution durations;            /* of instances, while its file is read */
    double percentile_s[FV_SECTION_PERCENTILES]; /* NAN: not recorded, or not of all; of "all" */
    double value[FV_SECTION_VALUES];             /* NAN: not measured */
    struct fv_section_threads sampled;
    uint8_t wait_kind;  /* enum fv_wait_kind */
    uint8_t wait_kinds; /* of its calls: fv_wait_kind_of() */
    struct fv_section_faults faults;
};

/* Over the ranks that were in the section and measured the value; NAN: none did. */
struct fv_section_spread {
    double sum, mean, min, max;
    uint32_t max_rank; /* in fv_model.ranks */
};

/* MPI calls within a section: of a function, or of a call path. */
struct fv_section_calls {
    const char *function;
    uint32_t node; /* of paths */
    uint64_t calls;
    double time_s, wait_s;
    uint8_t wait_kind, wait_kinds;
    uint64_t bytes_sent, bytes_received;
    uint64_t sent[FV_SECTION_CLASSES + 1], received[FV_SECTION_CLASSES + 1]; /* the last: length not known */
    uint32_t first, ranks; /* of functions: its part of fv_sections_view.function_ranks, by rank */
};

/* The calls of a function on a rank, and what is shown of them over the ranks that made some. */
enum fv_section_call_value {
    FV_SECTION_CALL_COUNT,
    FV_SECTION_CALL_TIME,
    FV_SECTION_CALL_WAIT,
    FV_SECTION_CALL_LENGTH
};
struct fv_section_function_rank {
    uint32_t section, function, rank; /* its key while files are read; rank: in fv_model.ranks */
    uint8_t wait_kind, wait_kinds;
    const char *name;
    uint64_t calls, bytes_sent, bytes_received;
    double time_s, wait_s;
    uint64_t messages[FV_SECTION_CLASSES + 1]; /* sent and received, by class */
};
/* NAN: not known, or there is no message. */
double fv_section_call_value(const struct fv_section_function_rank *of, enum fv_section_call_value value);

struct fv_section_view {
    const char *name;
    int32_t number, level;
    bool whole;                     /* "all" */
    bool others;                    /* stands for those beyond the limit */
    uint32_t first, ranks;          /* its part of fv_sections_view.ranks, by rank */
    uint32_t first_member, members; /* its part of fv_sections_view.members, by rank and thread */
    uint32_t threads, other_threads;
    bool is_scaled, is_timed;
    uint64_t count;
    double shortest_s, longest_s;
    struct fv_section_instances instances;
    struct fv_distribution durations;
    double percentile_s[FV_SECTION_PERCENTILES];
    struct fv_section_spread value[FV_SECTION_VALUES];
    struct fv_section_threads sampled;
    uint8_t wait_kind, wait_kinds;
    struct fv_section_faults faults;
    struct fv_section_calls *functions, *paths; /* by time, longest first; "all" has no paths */
    size_t function_count, function_room, path_count, path_room;
    uint32_t first_function_rank, function_ranks; /* its part of fv_sections_view.function_ranks, by function and
                                                   * rank */
    uint32_t numbers;                             /* of names: how many it is made of ... */
    int32_t longest_number;                       /* ... and the one of them with the most time */
    struct fv_cost_leaf *costs;                   /* clock samples; of "all" there are none here: see fv_model.costs */
    size_t cost_count, cost_room;
    uint64_t cost_ticks; /* of them all */
};

/* Tables of other files. */
struct fv_relation;
extern const struct fv_relation fv_section_threads_relation, fv_section_sheet_relation,
    fv_section_sheet_processes_relation, fv_section_instances_relation, fv_section_warm_up_relation,
    fv_section_iterations_relation;

/* An instance that was recorded by itself. */
struct fv_section_instance_view {
    const char *name;
    int32_t section_number;
    uint32_t rank, thread;                /* in fv_model.ranks, fv_model.threads */
    uint32_t number;                      /* of the thread's, from 1 */
    double begin_s, end_s, time_s, mpi_s; /* time_s: without pauses */
    uint64_t calls, bytes;
};

/* Threads whose first instances of a section took longer than any of the second half of those that are recorded. */
struct fv_section_warm_up {
    const char *name;
    int32_t section_number;
    uint32_t threads, of_threads; /* of_threads: with enough instances to know */
    uint64_t instances;           /* first ones, of all these threads */
    double first_s, steady_s;     /* mean of these; of the others that are recorded of these threads */
};

/* Instances of sections of one name, one after the other on the first thread of each rank, as iterations. Times are
 * means over ranks. */
struct fv_section_series {
    struct fv_iteration_unit unit; /* first: it has columns of iterations (iteration_columns.h) */
    const char *name;
    bool is_part; /* there are more, which were not recorded by themselves */
};

struct fv_sections_view {
    struct fv_section_view *items; /* "all", then by elapsed time of all ranks, longest first */
    size_t count, room;
    struct fv_section_rank *ranks;
    size_t rank_count, rank_room;
    struct fv_section_member *members;
    size_t member_count, member_room;
    struct fv_section_function_rank *function_ranks;
    size_t function_rank_count, function_rank_room;
    struct fv_section_view *names; /* sections that differ in their number alone, added up; by elapsed time, longest
                                    * first */
    size_t name_count, name_room;
    struct fv_section_instance_view *instances; /* by name, section number, rank, thread and number */
    size_t instance_count, instance_room;
    struct fv_section_warm_up *warm_ups; /* in the same order: sections with threads that have enough instances */
    size_t warm_up_count, warm_up_room;
    struct fv_section_series *series; /* by name; of 8 instances or more */
    size_t series_count, series_room;
    struct fv_section_losses losses; /* of all ranks */
};
/* Are its instances too short for the clocks and events that were read in it? */
/* What of the spans of a rank file is right, by the section's id there, of so many; 0s: nothing. */
struct fv_reader;
void fv_section_read_spans(const struct fv_reader *reader, struct fv_section_span *out, size_t count);
bool fv_section_is_short(const struct fv_section_view *section);
/* When nodes of paths have changed: paths that have become equal are added up. */
void fv_section_fold(struct fv_section_view *section);
/* Are there clock samples in any of them? */
bool fv_sections_are_sampled(const struct fv_sections_view *sections);
void fv_sections_release(void *data); /* struct fv_sections_view */

FV_SUBJECT_DATA(struct fv_sections_view, sections, sections)

#endif
