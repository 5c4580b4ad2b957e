/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of format.h: what src/rt/counters.c writes into the rank file: events counted over whole threads in their
 * sections and in phases of threads (--counters). */
#ifndef FV_FORMAT_COUNTERS_H
#define FV_FORMAT_COUNTERS_H

#include <stdint.h>

#define FV_COUNTERS 16

enum fv_counter_flags {
    FV_COUNTER_USER = 1,      /* counts in user mode alone */
    FV_COUNTER_KERNEL = 2,    /* in the kernel alone */
    FV_COUNTER_ACCOUNTS = 4,  /* of the kernel's accounts of the thread (getrusage(2), its CPU clock): exact, and of
                               * both modes */
    FV_COUNTER_NO_MPI = 8,    /* what was counted in MPI calls is not known: no event of the processor, or
                               * --counters-mpi=0 */
    FV_COUNTER_ANY_MODE = 16, /* in which modes it counts is not known: of an archive */
};

/* An event that was asked for, in the order of the list. */
struct fv_counter_event {
    char name[64];          /* as asked for, NUL-padded */
    char processor[16];     /* short name of the microarchitecture that `fvmpi run` saw, NUL-padded; "": none that it
                             * knows */
    uint32_t type, refusal; /* of perf_event_open(); errno where it was refused: its counts are 0 then */
    uint64_t config, config1, config2; /* [hex] of perf_event_open() */
    uint32_t flags;                    /* [enum fv_counter_flags] */
    uint32_t group;                    /* events of one group are counted at the same time */
};
_Static_assert(sizeof(struct fv_counter_event) == 120, "on-disk size");

struct fv_counter_value {
    uint64_t count;            /* what was counted */
    uint64_t in_mpi;           /* of it, in MPI calls, with what fvmpi does in them */
    uint64_t enabled, running; /* [ns] how long it was to be counted, and how long it was, where others had the
                                * registers */
};

enum fv_counter_values_flags {
    FV_COUNTERS_UNKNOWN = 1,   /* they could not be opened in this thread */
    FV_COUNTERS_CUT = 2,       /* the program closed a descriptor: perf events are not known from there on */
    FV_COUNTERS_UNWRITTEN = 4, /* the thread that has the record now is not in it yet */
    FV_COUNTERS_PART = 8,      /* of an archive: events that have no time in it were not counted in this thread */
};

/* What was counted in a thread, or in its instances of a section that have ended. Updated in place: of sections when an
 * instance ends; of the whole thread then, too, when time bins go on to the next (some hundred times in a run), when it
 * ends, and when the process does, unless that is killed. Pauses are included. */
struct fv_counter_values {
    uint32_t section; /* SECTIONS; 0: the whole thread */
    uint32_t flags;   /* [enum fv_counter_values_flags] */
    uint64_t ticks;   /* of the instances, pauses included, as in the counts; of the whole thread from the begin of
                       * counting to `last` */
    uint64_t last;    /* [ticks] when it was updated; 0: it never was */
    struct fv_counter_value at[FV_COUNTERS]; /* by event */
};
_Static_assert(sizeof(struct fv_counter_values) == 536, "on-disk size");

enum fv_counter_phase_kind {
    FV_COUNTER_LIFE = 1, /* of a thread that another one created: all of it, updated with its whole thread's record */
    FV_COUNTER_REGION,   /* of a thread of OpenMP's teams: its parts in regions that have ended, with the tasks that it
                          * ran at their ends */
    FV_COUNTER_ALONE,    /* of a thread that ran alone (fv_solo_record): while it did */
};

/* What a thread counted in a phase of threads (--threads). */
struct fv_counter_phase {
    uint32_t kind;                /* [enum fv_counter_phase_kind] */
    uint32_t of;                  /* fv_thread_life.id; fv_omp_region.id; which fv_solo_record of the file, from 0 */
    uint64_t count;               /* of parts that are in it; of a life 1; of a thread that ran alone, intervals */
    struct fv_counter_values sum; /* its section is 0 */
};
_Static_assert(sizeof(struct fv_counter_phase) == 552, "on-disk size");

/* What a thread counted in the spans of a section that were read (fv_section_span). One that opens the section itself
 * has it in COUNTER_VALUES, and that is what counts. */
struct fv_counter_other {
    uint32_t thread, pad;         /* fv_thread_record.id */
    struct fv_counter_values sum; /* its ticks are those of the spans */
};
_Static_assert(sizeof(struct fv_counter_other) == 544, "on-disk size");

#endif
