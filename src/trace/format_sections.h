/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of format.h: sections of the program that it marks itself (fvmpi.h), and moments that were marked. */
#ifndef FV_FORMAT_SECTIONS_H
#define FV_FORMAT_SECTIONS_H

#include "base/histogram.h"

#include <stdint.h>

/* What the kernel accounts to a process or a thread, since it began. */
struct fv_usage {
    uint64_t user_ns, system_ns; /* CPU time */
    uint64_t faults;             /* of pages, minor and major */
    uint64_t switches;           /* of context, voluntary and not */
};
_Static_assert(sizeof(struct fv_usage) == 32, "on-disk size");

#define FV_SECTION_NAME 64
enum fv_section_flags { FV_SECTION_OTHERS = 1 /* stands for all that found no place in the table */ };

/* A section, which its name and number tell from others. Its id counts from 1 over all SECTIONS chunks. */
struct fv_section {
    char name[FV_SECTION_NAME]; /* cut to 63 bytes, NUL-padded */
    int32_t number;             /* that the program gave it */
    int32_t level;              /* of the first begin */
    uint32_t flags;             /* [enum fv_section_flags] */
    uint32_t pad;
};
_Static_assert(sizeof(struct fv_section) == 80, "on-disk size");

enum fv_label_origin { FV_LABEL_PROGRAM = 1, FV_LABEL_OUTSIDE = 2 /* fvmpi label */ };
#define FV_LABEL_MOST 4000

/* A moment that was marked. */
struct fv_label_record {
    uint32_t bytes;      /* of this record, a multiple of 8 */
    uint16_t origin;     /* [enum fv_label_origin] */
    uint16_t text_bytes; /* without the final NUL, which is there */
    uint64_t ticks;
    char text[]; /* [count text_bytes] any bytes */
};
_Static_assert(sizeof(struct fv_label_record) == 16, "on-disk size");

/* Sections that were open together on a thread: those of the set `outer`, and one begun after them. Ids count from 1;
 * `outer` is smaller; 0 is the empty set. */
struct fv_section_set {
    uint32_t outer;   /* SECTION_SETS; 0: the empty set */
    uint32_t section; /* SECTIONS */
};
_Static_assert(sizeof(struct fv_section_set) == 8, "on-disk size");

/* Counters of a thread, of which a section takes the difference. */
struct fv_section_counters {
    uint64_t calls, mpi_ticks, mpi_bytes; /* as in fv_thread_record */
    uint64_t samples, lock_ticks;         /* as in fv_thread_record */
    struct fv_usage usage;                /* 0s: not measured */
};
_Static_assert(sizeof(struct fv_section_counters) == 72, "on-disk size");

/* What one thread did in one section. Instances are from begin to end; of one within another of the same section the
 * outer is measured. Pauses are left out of times. */
struct fv_section_times {
    uint32_t section;                     /* SECTIONS */
    uint32_t measured;                    /* 1: `usage` is */
    uint64_t count;                       /* instances that have ended */
    uint64_t ticks, ticks_min, ticks_max; /* of them */
    struct fv_section_counters sum;       /* in them */
    uint64_t opened;                      /* [ticks] when the instance began that is open; 0: none is */
    uint64_t paused;                      /* [ticks] of that one: sum of pauses until then */
    struct fv_section_counters since;     /* counters then */
    uint64_t nested;                      /* begins within an instance */
    uint64_t overlapped;                  /* ends while a section was open that had begun later */
    uint64_t unended;                     /* instances that the thread's end ended */
    uint64_t unbegun;                     /* ends without a begin on any thread ... */
    uint64_t elsewhere;                   /* ... and with one on another thread, which is still open there */
    uint64_t last;                        /* [ticks] when the last instance ended; 0: none has */
    double ticks_m2;                      /* [ticks^2] sum of squared deviations of the instances from the mean */
};
_Static_assert(sizeof(struct fv_section_times) == 256, "on-disk size");

/* An instance that has ended. */
struct fv_section_instance {
    uint32_t section;                     /* SECTIONS */
    uint32_t number;                      /* of the thread's in that section, from 1 */
    uint64_t begin, end;                  /* [ticks] */
    uint64_t ticks;                       /* without pauses */
    uint64_t calls, mpi_ticks, mpi_bytes; /* in it: as in fv_thread_record */
};
_Static_assert(sizeof(struct fv_section_instance) == 56, "on-disk size");

/* CPU time of the whole process while a thread was in a section. Not measured without fv_section_times.measured. */
struct fv_section_process {
    uint32_t section, pad; /* SECTIONS */
    uint64_t cpu_ns;       /* in instances that have ended */
    uint64_t since_ns;     /* the process's when the instance began that is open */
};
_Static_assert(sizeof(struct fv_section_process) == 24, "on-disk size");

/* A section of the process, which is open from the first thread's begin to the last one's end. At both, the clocks of
 * other threads are read (SECTION_THREADS), unless that has taken too long so far: then values are of a part of the
 * time. Only sections with fv_section_times.measured have one. */
struct fv_section_span {
    uint32_t section, pad;           /* SECTIONS */
    uint64_t times, ticks;           /* that it was open, and has ended: how often, how long */
    uint64_t read_times, read_ticks; /* of them, with other threads' clocks at begin and end */
    uint64_t cost_ticks;             /* that reading them took, in all */
    uint64_t begun;                  /* [ticks] when the one began that is open; 0: none is, or it was not seen */
};
_Static_assert(sizeof(struct fv_section_span) == 56, "on-disk size");

/* What a thread did in the spans of a section that were read. One that opens the section itself is in SECTION_TIMES,
 * and that is what counts. */
struct fv_section_other {
    uint32_t section, thread; /* SECTIONS; fv_thread_record.id */
    uint64_t cpu_ns;          /* CPU time by the thread's clock */
    uint64_t user_ns;         /* by the kernel's ticks in user mode, ... */
    uint64_t ticked_ns;       /* ... and in both, which is about cpu_ns */
};
_Static_assert(sizeof(struct fv_section_other) == 32, "on-disk size");

/* Of a histogram of durations, in ticks, those of one octave (base/histogram.h): made when the first one falls into it.
 * A key may occur more than once. The histogram's sum is that of the instances, or less where there was no room. */
struct fv_octave {
    uint32_t of;                       /* whose: of sections, as in SECTION_TIMES */
    uint32_t octave;                   /* below FV_OCTAVES; k: durations from 2^(k+2) on, 0: those below 8 */
    uint64_t count[FV_OCTAVE_BUCKETS]; /* durations in each of its eight parts of equal width */
};
_Static_assert(sizeof(struct fv_octave) == 72, "on-disk size");

struct fv_section_losses {
    uint64_t above_level; /* begins of sections above --section-level */
    uint64_t too_deep;    /* begins that were not measured: too many sections were open */
    uint64_t sets;        /* begins whose MPI calls are counted with those of the sections around it */
    uint64_t others;      /* begins counted in FV_SECTION_OTHERS */
    uint64_t interrupted; /* begins and ends in a signal handler that interrupted another: not measured */
    uint64_t unmeasured;  /* begins that were not measured: no disk */
    uint64_t untraced;    /* begins and ends that the trace has too late or not: in a call, or without room */
    uint64_t apart;       /* instances that are not recorded by themselves, though asked for: no room */
};
_Static_assert(sizeof(struct fv_section_losses) == 64, "on-disk size");

#endif
