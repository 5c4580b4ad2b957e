/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of format.h: what src/memory writes into the rank file, memory that the program allocates (--memory). Bytes are
 * those that the program asked for, but where they are called the allocator's: those that it set apart
 * (malloc_usable_size()). */
#ifndef FV_FORMAT_MEMORY_H
#define FV_FORMAT_MEMORY_H

#include <stdint.h>

enum fv_memory_mode { FV_MEMORY_SAMPLED = 1, FV_MEMORY_EXACT = 2 };

/* Of the allocator; the trace's MEMORY events have the same numbers (events.h). realloc() counts as an allocation and,
 * of memory that was there, a free. */
enum fv_memory_function {
    FV_MEMORY_FN_MALLOC,
    FV_MEMORY_FN_CALLOC,
    FV_MEMORY_FN_REALLOC,
    FV_MEMORY_FN_FREE,
    FV_MEMORY_FN_MEMALIGN,
    FV_MEMORY_FN_ALIGNED_ALLOC,
    FV_MEMORY_FN_POSIX_MEMALIGN,
    FV_MEMORY_FN_VALLOC,
    FV_MEMORY_FN_PVALLOC,
    FV_MEMORY_FUNCTIONS /* [count] */
};

/* Calls of a function. */
struct fv_memory_calls {
    uint64_t calls, failed;           /* that succeeded; that did not */
    uint64_t bytes, least, most;      /* [bytes] of those that succeeded, in all; of one: least UINT64_MAX if there is
                                       * none. free(): the allocator's bytes */
    uint64_t longs, long_ticks;       /* calls for FV_MEMORY_LONG and more, and frees of that, and the time in them */
    uint64_t timed;                   /* of the others so many were drawn */
    uint64_t ticks, squares;          /* time in these; squares: of each one's, in 16 ticks */
    uint64_t least_ticks, most_ticks; /* [ticks] of one whose time was taken; least_ticks UINT64_MAX: of none */
};
_Static_assert(sizeof(struct fv_memory_calls) == 96, "on-disk size");

/* Of calls: of one, least UINT64_MAX if there is none. */
struct fv_memory_extremes {
    uint64_t least, most;             /* [bytes] of those that succeeded */
    uint64_t least_ticks, most_ticks; /* of those whose time was taken */
};

#define FV_MEMORY_NO_CALL            \
    {                                \
        UINT64_MAX, 0, UINT64_MAX, 0 \
    }

static inline void fv_memory_widen(uint64_t *least, uint64_t *most, uint64_t by_least, uint64_t by_most)
{
    if (by_least < *least)
        *least = by_least;
    if (by_most > *most)
        *most = by_most;
}

/* What a slot of threads did: exact. */
struct fv_memory_sums {
    struct fv_memory_calls of[FV_MEMORY_FUNCTIONS]; /* [by enum fv_memory_function] its extremes are of calls since a
                                                     * section last began or ended */
    struct fv_memory_extremes earlier[FV_MEMORY_FUNCTIONS]; /* [by enum fv_memory_function] of those before */
    uint64_t freed;                                         /* blocks that realloc() freed */
    int64_t held;    /* [bytes] the allocator's bytes, allocated less freed, that are not in fv_memory_process.live
                      * yet */
    uint64_t unseen; /* allocations in signal handlers that interrupted another one, and in fvmpi itself: they are in no
                      * call path */
    uint64_t functions; /* [hex] with calls in the trace: bits by enum fv_memory_function */
    uint64_t untraced;  /* calls that are missing in the trace, because there was no room */
};
_Static_assert(sizeof(struct fv_memory_sums) == 1192, "on-disk size");

/* Smaller ones are sampled, in FV_MEMORY_SAMPLED: gaps between samples are exponentially distributed, with that mean,
 * in bytes. */
#define FV_MEMORY_LARGE 4096
#define FV_MEMORY_MEAN  (UINT64_C(512) << 10)
/* Calls for so many bytes may ask the kernel: the time of each is taken; of others that of one in FV_MEMORY_TIMED on
 * average. */
#define FV_MEMORY_LONG  (128 << 10)
#define FV_MEMORY_TIMED 128

/* Allocations, or what was freed of them. */
struct fv_memory_amount {
    uint64_t count, bytes;         /* of those that are all known */
    uint64_t samples;              /* and so many of the others, which stand for ... */
    uint64_t weight, sample_bytes; /* ... so many of them, in 1/256, and bytes */
};

/* What one thread allocated at a call path, and what it freed that was allocated there, by whomever. */
struct fv_memory_site {
    uint32_t path; /* 0: not known, or no room */
    uint32_t pad;
    struct fv_memory_amount allocated, freed; /* by it; of that, by any thread */
    struct fv_memory_amount foreign;          /* of what it freed: what other threads had allocated */
    int64_t at_peak;                          /* [bytes] allocated less freed when the process had peak number ... */
    uint64_t peak_number; /* ... this; if that is not the last one, it did nothing since that, and its bytes then are
                           * its bytes */
    uint64_t least, most; /* [bytes] of one allocation, of those in allocated.count */
    struct fv_memory_times {
        uint64_t longs, long_ticks;       /* as in fv_memory_calls, as are ... */
        uint64_t timed, ticks;            /* ... these */
        uint64_t least_ticks, most_ticks; /* of one of either; 0 where there is none */
    } times;                              /* of those in allocated.count */
};
_Static_assert(sizeof(struct fv_memory_site) == 208, "on-disk size");

#define FV_MEMORY_OCTAVES 32
#define FV_MEMORY_YOUNG   20 /* of a run: log2 of its ticks in the first octave */

/* A call path of the process, of all threads: its bytes, estimates as far as they are sampled. In FV_MEMORY_EXACT a
 * thread's small changes come in late: it may hold back up to 4 KiB. */
struct fv_memory_path {
    uint32_t path, pad;            /* PATHS */
    int64_t live, peak;            /* [bytes] at present; the most */
    int64_t at[FV_MEMORY_OCTAVES]; /* [bytes] 1 + live when the run's age left the octave of its ticks; 0: it did not
                                    * change in that */
};
_Static_assert(sizeof(struct fv_memory_path) == 280, "on-disk size");

/* What the process has in memory, as the kernel tells (smaps_rollup, numa_maps): at MPI_Finalize or at exit, where it
 * was more. */
struct fv_memory_pages {
    uint64_t ticks;          /* when it was asked; 0: never, or it does not tell */
    uint64_t resident, huge; /* [bytes] of them in large pages */
    uint64_t near, far;      /* [bytes] on the node of the processor that the asking thread had, and on others; both 0:
                              * there is one node */
    uint64_t reserved[3];
};
_Static_assert(sizeof(struct fv_memory_pages) == 64, "on-disk size");

/* What the process has from the system. */
struct fv_memory_state {
    int64_t live;    /* [bytes] the allocator's, allocated and not freed: fv_memory_process.live */
    uint64_t heap;   /* [bytes] between the heap's begin and the program break */
    uint64_t chunks; /* glibc's objects with a mapping of their own, of FV_MEMORY_LONG and more; ... */
    uint64_t mapped; /* [bytes] ... these mappings */
};
_Static_assert(sizeof(struct fv_memory_state) == 32, "on-disk size");

/* What glibc tells of its arenas (mallinfo2()). */
struct fv_memory_arenas {
    uint64_t ticks;      /* when it was asked; 0: never, or it does not tell */
    uint64_t bytes;      /* of all arenas, which are ... */
    uint64_t used, free; /* [bytes] ... these together */
    uint64_t top;        /* [bytes] of free: at the heap's end, which can be given back */
    uint64_t pieces;     /* free chunks */
};
_Static_assert(sizeof(struct fv_memory_arenas) == 48, "on-disk size");

#define FV_MEMORY_NODES 16

/* On which NUMA nodes the stack of a thread is; or, of no thread, the heap and all that the process has mapped and that
 * is of no file. At MPI_Finalize or exit. */
struct fv_memory_place {
    uint32_t thread;              /* fv_thread_record.id; ~0: none */
    uint32_t node;                /* that the thread ran on; ~0: of no thread */
    uint64_t on[FV_MEMORY_NODES]; /* [bytes] by node */
};
_Static_assert(sizeof(struct fv_memory_place) == 136, "on-disk size");

/* What a thread did in a section, in instances that have ended. */
struct fv_memory_section {
    uint32_t section; /* SECTIONS */
    uint32_t pad;
    uint64_t count; /* instances */
    struct fv_memory_work {
        uint64_t allocations, frees;    /* calls that succeeded; blocks */
        uint64_t bytes;                 /* asked for */
        uint64_t longs, long_ticks;     /* as in fv_memory_calls, of all functions, as are ... */
        uint64_t timed, ticks;          /* ... these */
        uint64_t calls;                 /* of all functions, those that failed, too */
    } sum;                              /* in them */
    struct fv_memory_work since;        /* of the thread when the one began that is open */
    struct fv_memory_state first;       /* when the first began */
    struct fv_memory_state last;        /* when the last ended */
    struct fv_memory_state begin;       /* when the one began that is open */
    int64_t grown, heap_grown;          /* [bytes] in them: live, heap */
    struct fv_memory_extremes extremes; /* of the thread's calls in them: bytes of allocations; times of frees, too */
    struct fv_memory_extremes open;     /* the same in the one that is open, up to where a section last began or
                                         * ended */
};
_Static_assert(sizeof(struct fv_memory_section) == 320, "on-disk size");

enum fv_memory_flags {
    FV_MEMORY_NOT_OURS = 1,   /* the program's malloc() is another library's or its own: calls of it are not seen */
    FV_MEMORY_NEW_UNSEEN = 2, /* the allocator has operator new of its own, which calls no malloc() */
    FV_MEMORY_IN_TRACE = 4,   /* calls are in the trace */
    FV_MEMORY_GLIBC = 8,      /* the allocator is glibc's: chunks are known */
};

struct fv_memory_process {
    uint32_t mode;                /* [enum fv_memory_mode] */
    uint32_t flags;               /* [enum fv_memory_flags] */
    int64_t before;               /* [bytes] the allocator's bytes that were live when recording began */
    int64_t live;                 /* [bytes] the same, now; threads hold back up to 64 KiB each */
    int64_t peak;                 /* [bytes] the most of it, ... */
    uint64_t peak_number;         /* ... which it had this often, ... */
    uint64_t peak_ticks;          /* ... at last then */
    uint64_t objects_lost;        /* allocations that there was no room for: their bytes are missing in call paths */
    uint64_t paths_lost;          /* those that are in no call path: there was no room */
    struct fv_memory_sums rest;   /* of threads that cannot be recorded */
    struct fv_memory_pages pages; /* as the kernel sees it */
    struct fv_memory_state begin; /* when recording began, ... */
    struct fv_memory_state end;   /* ... and at MPI_Finalize or exit */
    struct fv_memory_arenas at_begin; /* likewise ... */
    struct fv_memory_arenas at_end;   /* ... both */
    char allocator[256];              /* the file that has malloc(), NUL-padded */
};
_Static_assert(sizeof(struct fv_memory_process) == 1736, "on-disk size");

#define FV_MEMORY_BINS 256
struct fv_memory_bin {
    int64_t most, last; /* [bytes] the process's live bytes */
    uint64_t changes;   /* 0: as the bin before */
};
/* fv_memory_process.live along time. When the run outgrows the bins they are added up in pairs, into the other bank. */
struct fv_memory_series {
    uint64_t active; /* 0 or 1 */
    struct fv_memory_bank {
        uint64_t origin, width;                   /* [ticks] */
        struct fv_memory_bin bin[FV_MEMORY_BINS]; /* along time */
    } bank[2];                                    /* bank[active] is in effect */
};
_Static_assert(sizeof(struct fv_memory_series) == 8 + 2 * (16 + FV_MEMORY_BINS * 24), "on-disk size");

#endif
