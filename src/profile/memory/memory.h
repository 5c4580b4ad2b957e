/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the program allocates (--memory), by call path, over the ranks. What was drawn stands for others like it:
 * a path has a known part, exact, and a part that is an estimate, whose standard error is known. */
#ifndef FV_PROFILE_MEMORY_H
#define FV_PROFILE_MEMORY_H

#include "profile/model.h"
#include "tool/vec.h"
#include "trace/format.h"

/* Allocations, or frees: of known and drawn ones together. */
struct fv_allocation_amount {
    double count, bytes;
    uint64_t samples; /* that are in it */
};
struct fv_allocation_sum {
    struct fv_allocation_amount allocated, freed, foreign; /* foreign: of what was freed, by another thread than had
                                                            * allocated it */
    double peak;                                           /* the most bytes of it that were live at a time */
    double at_peak;                                        /* bytes that were live when the process had most */
    bool is_sampled;             /* small allocations of a rank were, so that some may not be seen */
    uint64_t known, least, most; /* allocations that are known one by one, and bytes of one of them, ... */
    uint64_t longs, timed;       /* ... of FV_MEMORY_LONG and more, and others, of which the time was taken, ... */
    double long_s, timed_s, least_s, most_s; /* ... theirs, and that of one of either */
};

/* A call path of a rank. */
struct fv_allocation_part {
    uint32_t node, rank; /* in fv_model.tree; in fv_model.ranks */
    struct fv_allocation_sum sum;
    double at[FV_MEMORY_OCTAVES]; /* live bytes as in struct fv_memory_path; NAN: no change in that octave */
};

/* A call path, over the ranks. */
struct fv_allocation_place {
    uint32_t node;
    uint32_t first, ranks; /* its part of fv_allocations.parts, by rank */
    struct fv_allocation_sum sum;
    uint32_t max_rank; /* with most live bytes: */
    uint64_t rank_max;
};

/* What the program called the allocator by, as columns have it. */
enum fv_allocation_call {
    FV_ALLOCATION_MALLOC,
    FV_ALLOCATION_CALLOC,
    FV_ALLOCATION_REALLOC,
    FV_ALLOCATION_ALIGNED, /* memalign() and its kin */
    FV_ALLOCATION_CALLS
};

/* A function of the allocator, of a rank: all its calls. Times are estimates but for calls of FV_MEMORY_LONG and more;
 * NAN: of no call was the time taken. */
struct fv_allocation_function {
    uint32_t rank, function; /* enum fv_memory_function */
    struct fv_memory_calls calls;
    double time_s, error_s; /* of all calls, and its standard error */
    double least_s, most_s; /* of one whose time was taken */
};

/* The object whose code called the allocator, over the ranks: the innermost on the path that is none of C++'s own. */
struct fv_allocation_library {
    uint32_t module;
    struct fv_allocation_sum sum;
};

/* What a thread has on NUMA nodes: its stack, or the heap of its process. */
struct fv_allocation_seat {
    uint32_t rank, thread; /* in fv_model.ranks, fv_model.threads */
    bool is_heap;
    uint32_t node;      /* where the thread ran */
    uint64_t near, far; /* bytes on that node, and on others, ... */
    uint32_t far_node;  /* ... most of which are there; FV_NONE: there are none */
};

/* A thread in a section, in instances that have ended. */
struct fv_allocation_section {
    const char *name;
    int32_t number;
    uint32_t rank, thread; /* in fv_model.ranks, fv_model.threads */
    struct fv_memory_section r;
    double time_s;          /* in the allocator: an estimate; NAN: not known */
    double least_s, most_s; /* of a call whose time was taken; NAN: of none */
};

/* A rank, as its process counted: exact, in the allocator's bytes but for `bytes`. */
struct fv_allocation_rank {
    uint32_t rank;
    uint32_t mode, flags;
    uint64_t calls[FV_ALLOCATION_CALLS];
    uint64_t bytes, failed, frees, unseen;
    uint64_t timed;                        /* calls whose time was taken */
    double allocator_s, allocator_error_s; /* in the allocator: an estimate, and its standard error */
    int64_t before, live, peak;
    double peak_s;
    uint64_t objects_lost, paths_lost;
    struct fv_memory_pages pages;
    struct fv_memory_state begin, end;
    struct fv_memory_arenas at_begin, at_end;
    const char *allocator; /* NULL: not known */
};

struct fv_allocation_bin {
    uint32_t rank;
    double begin_s, end_s;
    int64_t most, last;
};

struct fv_allocations {
    struct fv_allocation_place *places; /* by at_peak, largest first */
    size_t place_count, place_room;
    struct fv_allocation_part *parts; /* by node and rank */
    size_t part_count, part_room;
    struct fv_allocation_rank *ranks; /* that recorded it */
    size_t rank_count, rank_room;
    struct fv_allocation_function *functions; /* that were called, by rank */
    size_t function_count, function_room;
    struct fv_allocation_library *libraries; /* by at_peak, largest first */
    size_t library_count, library_room;
    struct fv_allocation_seat *seats; /* by rank */
    size_t seat_count, seat_room;
    struct fv_allocation_section *sections; /* by name, number, rank and thread */
    size_t section_count, section_room;
    struct fv_allocation_bin *bins; /* by rank and time */
    size_t bin_count, bin_room;
};

/* What is live at the end; below 0 by what threads counted at the same time, at most. */
static inline double fv_allocation_live(const struct fv_allocation_sum *s)
{
    double live = s->allocated.bytes - s->freed.bytes;

    return live > 0 ? live : 0;
}
static inline double fv_allocation_live_count(const struct fv_allocation_sum *s)
{
    double live = s->allocated.count - s->freed.count;

    return live > 0 ? live : 0;
}
/* What was live when the rank was 2^log2_ticks ticks of its clock old. */
double fv_allocation_live_at(const struct fv_allocation_part *part, unsigned log2_ticks);
/* Mean time of calls that are shorter than FV_MEMORY_LONG: of those that were timed, or, where none was, of the long
 * ones; 0: nothing is known. */
static inline double fv_allocation_short_mean(uint64_t timed, double time, uint64_t longs, double long_time)
{
    return timed ? time / (double)timed : longs ? long_time / (double)longs : 0;
}
/* Time of allocations that are known one by one, and of one on average: exact of longs; of others an estimate, by
 * those of them that were timed, or else by longs. NAN: none was timed. */
double fv_allocation_time(const struct fv_allocation_sum *sum);
/* Its standard error, bytes: each sample that is live stands for FV_MEMORY_MEAN. */
double fv_allocation_error(const struct fv_allocation_sum *sum);
static inline bool fv_allocation_is_exact(const struct fv_allocation_sum *s)
{
    return !s->allocated.samples && !s->freed.samples;
}

/* When nodes of paths have changed: parts that have become equal are added up. */
void fv_allocations_fold(const struct fv_model *model, struct fv_allocations *allocated);
/* calls.c: what the threads of a rank, the last of `allocated`, called; sets its sums. */
struct fv_reader;
void fv_allocation_calls_read(const struct fv_model *model, struct fv_allocations *allocated,
                              const struct fv_reader *reader, const struct fv_memory_sums *rest);
/* places.c */
struct fv_build;
void fv_allocation_seats_read(const struct fv_build *build, struct fv_allocations *allocated, uint32_t rank);
/* sections.c */
void fv_allocation_sections_read(struct fv_build *build, struct fv_allocations *allocated, uint32_t rank);
void fv_allocation_sections_order(struct fv_allocations *allocated);
void fv_allocations_release(void *data); /* struct fv_allocations */

/* ranks 0: none recorded it. */
FV_SUBJECT_DATA(struct fv_allocations, memory, memory)

#endif
