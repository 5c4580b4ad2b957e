/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the allocator by function and by section, and what it has from the system: relations memory_functions,
 * memory_sections, memory_system. */
#include "profile/build.h"
#include "profile/memory/memory.h"
#include "profile/relations.h"

#include <math.h>
#include <string.h>

FV_DATA_BASE(memory)

#define RECORDED_BY "fvmpi run --memory"

/* ---- functions ---- */

typedef struct fv_allocation_function F;

static void get_name(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_memory_function_name(((const F *)row)->function);
}

/* Null where there is no call. */
static void get_extreme(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = *(const uint64_t *)(const void *)((const char *)row + c->offset);
    v->null = !((const F *)row)->calls.calls;
}

static void get_mean_s(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const F *f = row;

    v->real = f->time_s / ((double)f->calls.calls + (double)f->calls.failed);
}

static void get_timed(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = ((const F *)row)->calls.longs + ((const F *)row)->calls.timed;
}

#define EXTREME(k, t, m, d)                                                                                        \
    {                                                                                                              \
        k, t, "bytes", d, FV_GET(FV_TYPE_WHOLE, get_extreme), .offset = offsetof(F, calls.m), .flags = FV_NULLABLE \
    }
#define SECONDS(k, t, m, f, d)                                   \
    {                                                            \
        k, t, "s", d, FV_FIELD(F, m), .flags = FV_NULLABLE | (f) \
    }
static const struct fv_column_def function_columns[] = {
    FV_RANK_COLUMN(F, rank, "rank", "rank", "The rank."),
    { "function", "function", "", "The function of the allocator.", FV_GET(FV_TYPE_TEXT, get_name), .flags = FV_NAME },
    { "calls", "calls", "", "Calls that succeeded. free(NULL) is none.", FV_FIELD(F, calls.calls) },
    { "failed_calls", "failed", "", "Calls that returned no memory.", FV_FIELD(F, calls.failed), .flags = FV_BLANK },
    { "bytes", "bytes", "bytes", "Memory in all, as requested. For free(), as the allocator rounds it up.",
      FV_FIELD(F, calls.bytes) },
    EXTREME("smallest_bytes", "min", least, "Of the smallest call."),
    FV_QUOTIENT_COLUMN("mean_bytes", "mean", "bytes", F, calls.bytes, calls.calls, 0, "Mean of the calls."),
    EXTREME("largest_bytes", "max", most, "Of the largest call."),
    SECONDS(
        "time_s", "time", time_s, FV_ESTIMATE,
        "Time in these calls, over all threads. Estimated from all calls for 128 KiB and more, and one in 128 of the "
        "others. Null: no call was timed."),
    SECONDS("time_error_s", "+-", error_s, 0,
            "Standard error of time_s. Where fewer than 8 were timed: all that is estimated."),
    SECONDS("min_s", "shortest", least_s, 0, "The shortest of the calls that were timed."),
    { "mean_s", "mean time", "s", "Mean time of a call.", FV_GET(FV_TYPE_REAL, get_mean_s),
      .flags = FV_NULLABLE | FV_ESTIMATE },
    SECONDS("max_s", "longest", most_s, 0, "The longest of the calls that were timed."),
    { "timed_calls", "timed", "", "Number of calls that were timed.", FV_GET(FV_TYPE_WHOLE, get_timed) },
};
const struct fv_relation fv_memory_functions_relation = {
    .recorded_by = RECORDED_BY,
    .name = "memory_functions",
    .key = "memory_functions",
    .title = "Calls of the allocator",
    .doc = "Calls of each function of the allocator, by rank. Counts and sizes are exact.",
    .shown = "rank function calls bytes smallest_bytes/3 mean_bytes largest_bytes time_s time_error_s/4 min_s/5 mean_s "
             "max_s/2",
    .of_ranks = true,
    FV_COLUMNS(function_columns),
    .base = memory_base,
    FV_ITEMS(struct fv_allocations, functions, function_count),
};

/* ---- sections ---- */

typedef struct fv_allocation_section S;

/* Signed as counted; below 0 by what threads hold back. */
static void get_signed(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = (double)*(const int64_t *)(const void *)((const char *)row + c->offset);
}

static void get_section_extreme(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_memory_extremes *e = &((const S *)row)->r.extremes;

    v->whole = *(const uint64_t *)(const void *)((const char *)row + c->offset);
    v->null = e->least > e->most;
}

static void get_section_mean_s(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const S *s = row;

    v->real = s->time_s / (double)s->r.sum.calls;
}

#define SECTION_EXTREME(k, t, m, d)                                                                        \
    {                                                                                                      \
        k, t, "bytes", d, FV_GET(FV_TYPE_WHOLE, get_section_extreme), .offset = offsetof(S, r.extremes.m), \
                                                                      .flags = FV_NULLABLE                 \
    }
#define WORK(k, t, u, m, d)          \
    {                                \
        k, t, u, d, FV_FIELD(S, r.m) \
    }
#define SIGNED(k, t, T, m, d)                                                        \
    {                                                                                \
        k, t, "bytes", d, FV_GET(FV_TYPE_REAL, get_signed), .offset = offsetof(T, m) \
    }
static const struct fv_column_def section_columns[] = {
    { "section", "section", "", "Name of the section.", FV_FIELD(S, name) },
    { "number", "no.", "", "Number of the section.", FV_FIELD(S, number) },
    FV_RANK_COLUMN(S, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread that opened it, as in table threads.", FV_FIELD(S, thread),
      .flags = FV_IS_THREAD },
    WORK("count", "count", "", count, "Instances that have ended."),
    WORK("allocations", "allocations", "", sum.allocations, "Allocations of the thread in them."),
    WORK("bytes", "allocated", "bytes", sum.bytes, "What these requested."),
    SECTION_EXTREME("smallest_bytes", "min", least, "Of the smallest of them."),
    FV_QUOTIENT_COLUMN("mean_bytes", "mean", "bytes", S, r.sum.bytes, r.sum.allocations, 0, "Mean of them."),
    SECTION_EXTREME("largest_bytes", "max", most, "Of the largest of them."),
    WORK("frees", "frees", "", sum.frees, "Frees of the thread in them, including those of realloc()."),
    { "allocator_s", "allocator", "s",
      "Time of the thread in the allocator in them, estimated as in memory_functions. Null: none of its calls was "
      "timed.",
      FV_FIELD(S, time_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "min_s", "shortest", "s", "Its shortest call of the allocator in them, of those that were timed.",
      FV_FIELD(S, least_s), .flags = FV_NULLABLE },
    { "mean_s", "mean time", "s", "Mean time of a call.", FV_GET(FV_TYPE_REAL, get_section_mean_s),
      .flags = FV_NULLABLE | FV_ESTIMATE },
    { "max_s", "longest", "s", "Its longest call of those that were timed.", FV_FIELD(S, most_s),
      .flags = FV_NULLABLE },
    SIGNED("begin_live_bytes", "live before", S, r.first.live,
           "Memory that the process had allocated when the first instance began."),
    SIGNED("end_live_bytes", "live after", S, r.last.live, "The same when the last instance ended."),
    SIGNED("grown_bytes", "grew by", S, r.grown, "By how much that grew in all instances. Other threads count, too."),
    WORK("begin_heap_bytes", "heap before", "bytes", first.heap,
         "Size of the heap (brk) when the first instance began."),
    WORK("end_heap_bytes", "heap after", "bytes", last.heap, "The same when the last instance ended."),
    SIGNED("heap_grown_bytes", "heap grew by", S, r.heap_grown, "By how much the heap grew in all instances."),
    WORK("begin_chunks", "chunks before", "", first.chunks,
         "Objects of 128 KiB and more that glibc had in mappings of their own when the first instance began."),
    WORK("end_chunks", "chunks after", "", last.chunks, "The same when the last instance ended."),
    WORK("begin_mapped_bytes", "mapped before", "bytes", first.mapped, "Size of these mappings."),
    WORK("end_mapped_bytes", "mapped after", "bytes", last.mapped, "The same when the last instance ended."),
};
const struct fv_relation fv_memory_sections_relation = {
    .recorded_by = RECORDED_BY,
    .name = "memory_sections",
    .key = "memory_sections",
    .title = "Memory by section",
    .doc =
        "What the allocator did in each section, by section, rank and thread. begin and end: when the section's first "
        "instance began, and when its last one ended.",
    .shown =
        "section number rank thread/3 count allocations bytes smallest_bytes/7 mean_bytes/5 largest_bytes/3 frees/4 "
        "allocator_s/2 mean_s/8 max_s/8 begin_live_bytes end_live_bytes "
        "grown_bytes begin_heap_bytes/5 end_heap_bytes/5 end_chunks/6 end_mapped_bytes/6",
    FV_COLUMNS(section_columns),
    .base = memory_base,
    FV_ITEMS(struct fv_allocations, sections, section_count),
};

/* ---- NUMA nodes ---- */

typedef struct fv_allocation_seat P;
static const char *const seat_kinds[] = { "stack", "heap", NULL };

static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = seat_kinds[((const P *)row)->is_heap];
}

static void get_far_node(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = ((const P *)row)->far_node;
    v->null = ((const P *)row)->far_node == FV_NONE;
}

static const struct fv_column_def seat_columns[] = {
    FV_RANK_COLUMN(P, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread, as in table threads.", FV_FIELD(P, thread), .flags = FV_IS_THREAD },
    { "memory_kind", "memory", "",
      "stack: of the thread. heap: all memory of the process that is of no file and no stack, as seen from the thread.",
      FV_GET(FV_TYPE_TEXT, get_kind), .words = seat_kinds },
    { "node", "node", "id", "NUMA node of the processor that the thread ran on last.", FV_FIELD(P, node) },
    { "near_bytes", "near", "bytes", "Memory on that node.", FV_FIELD(P, near) },
    { "far_bytes", "far", "bytes", "Memory on other nodes.", FV_FIELD(P, far) },
    { "far_node", "mostly on", "id", "The other node with the most. Null: all memory is near.",
      FV_GET(FV_TYPE_WHOLE, get_far_node), .flags = FV_NULLABLE },
};
const struct fv_relation fv_memory_places_relation = {
    .recorded_by = RECORDED_BY,
    .name = "memory_places",
    .key = "memory_places",
    .title = "Memory by NUMA node",
    .doc =
        "How much of each thread's stack, and of its process's heap, is far from it, at MPI_Finalize or exit. No rows: "
        "there is one node.",
    .shown = "rank thread memory_kind node near_bytes far_bytes far_node",
    FV_COLUMNS(seat_columns),
    .base = memory_base,
    FV_ITEMS(struct fv_allocations, seats, seat_count),
};

/* ---- from the system ---- */

typedef struct fv_allocation_rank R;

static void get_chunks(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = *(const uint64_t *)(const void *)((const char *)row + c->offset);
    v->null = !(((const R *)row)->flags & FV_MEMORY_GLIBC);
}

/* argument: where the arenas are. */
static void get_arenas(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_memory_arenas *a = (const void *)((const char *)row + c->argument);

    v->whole = *(const uint64_t *)(const void *)((const char *)a + c->offset);
    v->null = !a->ticks;
}

#define CHUNKS(k, t, u, m, d)                                                                         \
    {                                                                                                 \
        k, t, u, d, FV_GET(FV_TYPE_WHOLE, get_chunks), .offset = offsetof(R, m), .flags = FV_NULLABLE \
    }
#define ARENAS(k, t, u, at, m, d)                                                                        \
    {                                                                                                    \
        k, t, u, d, FV_GET(FV_TYPE_WHOLE, get_arenas), .offset = offsetof(struct fv_memory_arenas, m),   \
                                                       .argument = offsetof(R, at), .flags = FV_NULLABLE \
    }
static const struct fv_column_def system_columns[] = {
    FV_RANK_COLUMN(R, rank, "rank", "rank", "The rank."),
    { "begin_heap_bytes", "heap at begin", "bytes", "Size of the heap (brk) when recording began.",
      FV_FIELD(R, begin.heap) },
    { "end_heap_bytes", "heap at end", "bytes", "The same at MPI_Finalize or exit. 0: the process was killed.",
      FV_FIELD(R, end.heap) },
    CHUNKS("begin_chunks", "chunks at begin", "", begin.chunks,
           "Objects of 128 KiB and more that glibc has in mappings of their own. Null: another allocator."),
    CHUNKS("end_chunks", "chunks at end", "", end.chunks, "The same at MPI_Finalize or exit."),
    CHUNKS("begin_mapped_bytes", "mapped at begin", "bytes", begin.mapped, "Size of these mappings."),
    CHUNKS("end_mapped_bytes", "mapped at end", "bytes", end.mapped, "The same at MPI_Finalize or exit."),
    ARENAS("begin_arena_bytes", "arenas at begin", "bytes", at_begin, bytes,
           "Size of glibc's arenas: the heap, and those of threads. Null: not asked; needs glibc 2.33."),
    ARENAS("end_arena_bytes", "arenas at end", "bytes", at_end, bytes,
           "The same at MPI_Finalize or exit. Null also if a signal handler that interrupted the allocator ended the "
           "program."),
    ARENAS("begin_used_bytes", "used at begin", "bytes", at_begin, used, "The part of the arenas that is in use."),
    ARENAS("end_used_bytes", "used at end", "bytes", at_end, used, "The same at MPI_Finalize or exit."),
    ARENAS("begin_free_bytes", "free at begin", "bytes", at_begin, free, "The part of the arenas that is free."),
    ARENAS("end_free_bytes", "free at end", "bytes", at_end, free, "The same at MPI_Finalize or exit."),
    ARENAS("end_top_bytes", "top at end", "bytes", at_end, top,
           "Part of end_free_bytes: at the end of the heap, which can be given back to the system."),
    ARENAS("end_free_chunks", "free chunks", "", at_end, pieces, "Pieces that end_free_bytes is in."),
};
const struct fv_relation fv_memory_system_relation = {
    .recorded_by = RECORDED_BY,
    .name = "memory_system",
    .key = "memory_system",
    .title = "Memory from the system",
    .doc = "What the allocator had from the system when recording began, and at MPI_Finalize or exit, by rank.",
    .shown = "rank begin_heap_bytes end_heap_bytes end_chunks/2 end_mapped_bytes begin_arena_bytes/4 end_arena_bytes "
             "end_used_bytes end_free_bytes end_top_bytes/3 end_free_chunks/5",
    .of_ranks = true,
    FV_COLUMNS(system_columns),
    .base = memory_base,
    FV_ITEMS(struct fv_allocations, ranks, rank_count),
};
