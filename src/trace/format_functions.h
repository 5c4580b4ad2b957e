/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of format.h: what src/functions writes into the rank file, calls of functions that the compiler instrumented
 * (--functions). */
#ifndef FV_FORMAT_FUNCTIONS_H
#define FV_FORMAT_FUNCTIONS_H

#include <stdint.h>

enum fv_function_calls_flags {
    FV_CALLS_COUNTED = 1, /* too short to be measured on: from then on its calls are counted alone */
    FV_CALLS_KERNEL = 2,  /* of an archive: an accelerator computed ... */
    FV_CALLS_COPY = 4,    /* ... or moved data */
};

/* A function at a place of a thread's tree of calls, which begins with what nobody that is instrumented called. Of
 * calls of itself, at whatever depth, by the same call the outermost is measured. Pauses are left out of times. */
struct fv_function_calls {
    uint32_t parent; /* the caller: counts from 1 over the thread's records, and is smaller; 0: none that is known */
    uint32_t node;   /* PATHS, from 1: the function's frame, one past its entry, behind the path of the call; of one
                      * that is inlined, behind the frame
                      * of the function that it is in; 0: not known */
    uint32_t module; /* of the function ... */
    uint32_t flags;  /* [enum fv_function_calls_flags] */
    uint64_t offset; /* [hex] ... the function itself, not a return address */
    uint64_t calls;  /* begun; of them: */
    uint64_t nested, counted;           /* within another of the same record; not measured */
    uint64_t ended;                     /* measured, and not nested */
    uint64_t ticks, ticks_min;          /* of those */
    uint64_t ticks_first;               /* of those the first one: what it is the first to touch is cold */
    uint64_t ticks_later;               /* of those the longest, but for the first one */
    uint64_t self_ticks;                /* of nested ones, too: outside of functions that they called */
    uint64_t mpi_ticks, mpi_self_ticks; /* of both: in MPI, by the thread itself */
    uint64_t opened;                    /* [ticks] when the call began that is under way; 0: none is ... */
    uint64_t paused;                    /* [ticks] ... sum of pauses until then ... */
    uint64_t mpi_since;                 /* [ticks] ... and fv_thread_record.mpi_ticks then */
    uint64_t last;                      /* [ticks] when the last one ended; 0: none has */
};
_Static_assert(sizeof(struct fv_function_calls) == 144, "on-disk size");

struct fv_function_losses {
    uint64_t too_deep;    /* calls in a stack that was too deep, or deeper than --depth: their time is their callers' */
    uint64_t no_room;     /* calls that are not recorded: no memory or disk */
    uint64_t left;        /* calls that were left without an end: by exceptions, longjmp(), or the thread's end */
    uint64_t unbegun;     /* ends without a begin */
    uint64_t interrupted; /* begins and ends in a signal handler that interrupted another: not measured */
    uint64_t untraced;    /* begins and ends that are not in the trace */
    uint64_t batch_ticks; /* what measuring 256 calls takes; 0: not known */
    uint64_t reserved;
};
_Static_assert(sizeof(struct fv_function_losses) == 64, "on-disk size");

/* A thread of the file that is none, but a stream of an accelerator, of an archive. */
struct fv_stream_record {
    uint32_t thread; /* fv_thread_record.id */
    uint32_t reserved;
    char device[64], name[64]; /* NUL-padded */
};
_Static_assert(sizeof(struct fv_stream_record) == 136, "on-disk size");

/* An event that was counted in calls of functions, of an archive. */
struct fv_function_event {
    char name[64]; /* as the archive has it, NUL-padded */
    uint64_t reserved;
};
_Static_assert(sizeof(struct fv_function_event) == 72, "on-disk size");

enum fv_function_counts_flags {
    FV_COUNTS_NO_SELF = 1, /* it is not known what was counted in functions that it called */
    FV_COUNTS_NO_MPI = 2,  /* nor in calls of MPI */
};

/* What was counted in calls that ended. Of those within others of the same record the outermost alone are in
 * `count`. */
struct fv_function_counts {
    uint32_t function; /* FUNCTION_CALLS of the thread, from 1 */
    uint32_t event;    /* FUNCTION_EVENTS, from 0 */
    uint64_t count;    /* in it, and in what it called */
    uint64_t self;     /* outside of functions that it called; with that of nested ones */
    uint64_t mpi_self; /* of these: in calls of MPI */
    uint64_t calls;    /* of which `count` is */
    uint32_t flags;    /* [enum fv_function_counts_flags] */
    uint32_t reserved;
};
_Static_assert(sizeof(struct fv_function_counts) == 48, "on-disk size");

#endif
