/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program allocates: relations memory, memory_ranks, memory_series. */
#include "profile/build.h"
#include "profile/memory/memory.h"
#include "profile/relations.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

FV_DATA_BASE(memory)

#define RECORDED_BY "fvmpi run --memory"

enum { EXACT, LARGE, ESTIMATE };
static const char *const kinds[] = { "exact", "exact from 4 KiB", "estimate", NULL };

static const struct fv_allocation_sum *sum_at(const void *row, const struct fv_column_def *c)
{
    return (const void *)((const char *)row + c->offset);
}

static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_allocation_sum *s = sum_at(row, c);

    v->text = kinds[!fv_allocation_is_exact(s) ? ESTIMATE : s->is_sampled ? LARGE : EXACT];
}

/* argument: the place of a double in the sum. */
static void get_amount(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_allocation_sum *s = sum_at(row, c);
    double value = *(const double *)(const void *)((const char *)s + c->argument);

    v->whole = value > 0 ? (uint64_t)llround(value) : 0;
    v->estimate = !fv_allocation_is_exact(s);
}

enum { LIVE, LIVE_COUNT, ERROR };
static void get_live(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_allocation_sum *s = sum_at(row, c);

    v->whole = (uint64_t)llround(c->argument == LIVE         ? fv_allocation_live(s)
                                 : c->argument == LIVE_COUNT ? fv_allocation_live_count(s)
                                                             : fv_allocation_error(s));
    v->estimate = !fv_allocation_is_exact(s);
}

/* argument: the place of a whole number in the sum. */
static void get_extreme(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_allocation_sum *s = sum_at(row, c);

    v->whole = *(const uint64_t *)(const void *)((const char *)s + c->argument);
    v->null = !s->known;
}

enum { TIME, SHORTEST, MEAN, LONGEST };
static void get_time(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_allocation_sum *s = sum_at(row, c);
    const bool is_timed = s->longs || s->timed;

    v->real = c->argument == SHORTEST  ? is_timed ? s->least_s : NAN
              : c->argument == LONGEST ? is_timed ? s->most_s : NAN
                                       : fv_allocation_time(s) / (c->argument == MEAN ? (double)s->known : 1);
    v->null = isnan(v->real);
}

#define AMOUNT(k, t, u, S, m, f, d)                                                                      \
    {                                                                                                    \
        k, t, u, d, FV_GET(FV_TYPE_WHOLE, get_amount), .flags = (f), .offset = offsetof(S, sum),         \
                                                       .argument = offsetof(struct fv_allocation_sum, m) \
    }
#define LIVING(k, t, u, S, what, f, d)                                                                            \
    {                                                                                                             \
        k, t, u, d, FV_GET(FV_TYPE_WHOLE, get_live), .flags = (f), .offset = offsetof(S, sum), .argument = (what) \
    }
#define EXTREME(k, t, S, m, d)                                                                                  \
    {                                                                                                           \
        k, t, "bytes", d, FV_GET(FV_TYPE_WHOLE, get_extreme), .flags = FV_NULLABLE, .offset = offsetof(S, sum), \
                                                              .argument = offsetof(struct fv_allocation_sum, m) \
    }
#define SPENT(k, t, S, what, f, d)                                                                            \
    {                                                                                                         \
        k, t, "s", d, FV_GET(FV_TYPE_REAL, get_time), .flags = FV_NULLABLE | (f), .offset = offsetof(S, sum), \
                                                      .argument = (what)                                      \
    }
#define SUM_COLUMNS(S)                                                                                                 \
    { "kind",                                                                                                          \
      "kind",                                                                                                          \
      "",                                                                                                              \
      "exact from 4 KiB: smaller allocations, which are sampled, were not met. estimate: they are included.",          \
      FV_GET(FV_TYPE_TEXT, get_kind),                                                                                  \
      .offset = offsetof(S, sum),                                                                                      \
      .words = kinds },                                                                                                \
        AMOUNT("at_peak_bytes", "at peak", "bytes", S, at_peak, FV_BLANK,                                              \
               "Memory of this call path that was live when its process had most memory allocated."),                  \
        LIVING("live_bytes", "live at end", "bytes", S, LIVE, FV_BLANK,                                                \
               "Memory not freed at the end of the recording. It need not be a leak: programs keep memory until they " \
               "end."),                                                                                                \
        LIVING("live_count", "objects", "", S, LIVE_COUNT, FV_BLANK, "Number of objects in live_bytes."),              \
        LIVING("live_error_bytes", "+-", "bytes", S, ERROR, FV_BLANK, "Standard error of live_bytes. 0: exact."),      \
        AMOUNT("peak_bytes", "own peak", "bytes", S, peak, FV_BLANK,                                                   \
               "Largest amount of this call path that was live at a time. For several ranks: the sum."),               \
        AMOUNT("bytes", "allocated", "bytes", S, allocated.bytes, 0,                                                   \
               "All memory allocated. realloc() counts as a free and an allocation."),                                 \
        AMOUNT("allocations", "allocations", "", S, allocated.count, 0, "Number of allocations."),                     \
        EXTREME("smallest_bytes", "min", S, least, "Smallest allocation of 4 KiB and more. Exact recording: of all."), \
        EXTREME("largest_bytes", "max", S, most, "Largest allocation of 4 KiB and more. Exact recording: of all."),    \
        SPENT("time_s", "time", S, TIME, FV_ESTIMATE,                                                                  \
              "Time in allocations of 4 KiB and more, estimated as in memory_functions. Exact recording: in all. "     \
              "Null: none was timed."),                                                                                \
        SPENT("min_s", "min time", S, SHORTEST, 0, "The shortest of them that were timed."),                           \
        SPENT("mean_s", "mean time", S, MEAN, FV_ESTIMATE, "Mean time of one of them."),                               \
        SPENT("max_s", "max time", S, LONGEST, 0, "The longest of them that were timed."),                             \
        AMOUNT("freed_bytes", "freed", "bytes", S, freed.bytes, FV_BLANK, "Memory freed, by any thread."),             \
        AMOUNT("frees", "frees", "", S, freed.count, FV_BLANK, "Number of frees."),                                    \
        AMOUNT("foreign_bytes", "by others", "bytes", S, foreign.bytes, FV_BLANK,                                      \
               "Part of freed_bytes that another thread freed than the one that allocated it."),                       \
        AMOUNT("foreign_frees", "frees by others", "", S, foreign.count, FV_BLANK, "Number of these frees.")

/* ---- call paths ---- */

static const struct fv_frame *frame_of(struct fv_tables *t, uint32_t node)
{
    const struct fv_path *path = fv_tables_path(t, node);

    return path->count ? &path->frames[fv_path_program(path)] : NULL;
}

static void get_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_frame *frame = frame_of(t, ((const struct fv_allocation_place *)row)->node);

    v->text = frame ? fv_frame_label(frame, t->profile->symbols, t->text, sizeof(t->text)) : NULL;
}

/* Memory::smalloc() says less than who calls it. */
#define CALLERS 2
static void get_callers(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_path *path = fv_tables_path(t, ((const struct fv_allocation_place *)row)->node);
    size_t first = path->count ? fv_path_program(path) + 1 : 0;
    char name[256];

    t->text[0] = '\0';
    for (size_t i = first; i < path->count && i < first + CALLERS; i++)
        fv_words_add(t->text, sizeof(t->text), "%s%s", i > first ? " <- " : "",
                     fv_frame_brief(&path->frames[i], t->profile->symbols, name, sizeof(name)));
    v->text = t->text[0] ? t->text : NULL;
}

static void get_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    fv_put_place(subject, frame_of(subject, ((const struct fv_allocation_place *)row)->node), v);
}

static const struct fv_column_def place_outer[] = {
    FV_DATA_ID_COLUMN(memory, struct fv_allocations, "memory_id", places, "Index in memory, from 0."),
};
static const struct fv_column_def part_columns[] = {
    FV_RANK_COLUMN(struct fv_allocation_part, rank, "rank", "rank", "The rank."),
    SUM_COLUMNS(struct fv_allocation_part),
};
static const struct fv_relation parts = {
    .name = "memory_path_ranks",
    .key = "per_rank",
    .title = "Memory by call path and rank",
    .doc = "Memory that each rank allocated at the call path, by rank.",
    .shown = "memory_id rank at_peak_bytes live_bytes bytes allocations/1 peak_bytes/2 kind",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(part_columns),
    FV_OUTER(place_outer),
    .base = memory_base,
    FV_SLICE(struct fv_allocations, parts, struct fv_allocation_place, first, ranks),
};

static double at_peak_of_all(const struct fv_model *m)
{
    double sum = 0;

    for (size_t i = 0; i < fv_model_memory(m)->rank_count; i++)
        sum += fv_model_memory(m)->ranks[i].peak > 0 ? (double)fv_model_memory(m)->ranks[i].peak : 0;
    return sum;
}

static void get_share_of_peak(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_allocation_place *p = row;

    v->real = p->sum.at_peak / at_peak_of_all(fv_tables_model(subject));
    v->estimate = true;
}

static const struct fv_column_def place_columns[] = {
    FV_DATA_ID_COLUMN(memory, struct fv_allocations, "id", places, "Index in this list, from 0."),
    { "function", "allocated in", "", "The function that allocates: the innermost one outside of C++'s library.",
      FV_GET(FV_TYPE_TEXT, get_function), .flags = FV_FLAT | FV_NULLABLE | FV_NAME },
    { "called_by", "called by", "", "The two functions that called it, nearest first. Null: not known.",
      FV_GET(FV_TYPE_TEXT, get_callers), .flags = FV_FLAT | FV_NULLABLE },
    { "place", "at", "", "File and line of the call, without directories. Null: not known.",
      FV_GET(FV_TYPE_TEXT, get_place), .flags = FV_FLAT | FV_NULLABLE },
    FV_PATH_COLUMNS(struct fv_allocation_place, node),
    SUM_COLUMNS(struct fv_allocation_place),
    { "share", "of peak", "share",
      "at_peak_bytes as a share of peak_bytes of all ranks in memory_ranks. peak_bytes is rounded up by the allocator, "
      "so shares are slightly too small.",
      FV_GET(FV_TYPE_REAL, get_share_of_peak), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "rank_count", "ranks", "", "Number of ranks that allocated there.", FV_FIELD(struct fv_allocation_place, ranks) },
    { "rank_max_live_bytes", "max rank", "bytes", "live_bytes of the rank with the most.",
      FV_FIELD(struct fv_allocation_place, rank_max) },
    FV_RANK_COLUMN(struct fv_allocation_place, max_rank, "max_rank", "rank", "The rank with the most live_bytes."),
    { "per_rank", "by rank", "", "", FV_NEST(parts) },
};
static const struct fv_relation memory_relation = {
    .name = "memory",
    .key = "memory",
    .title = "Memory by call path",
    .doc = "Allocations by call path, over all ranks and threads, largest at_peak_bytes first. For allocations in MPI, "
           "the path is that of the MPI call and of the allocator's caller. Bytes are as requested. Allocations of 4 "
           "KiB and more are exact. Smaller ones are estimated from samples, one in 512 KiB, unless --memory=exact "
           "records all.",
    .shown = "function called_by/6 place/5 at_peak_bytes share/4 live_bytes live_error_bytes/2 bytes/3 allocations/3 "
             "rank_count/1",
    .share = "share",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(place_columns),
    .base = memory_base,
    FV_ITEMS(struct fv_allocations, places, place_count),
};

/* ---- libraries ---- */

static const struct fv_column_def library_columns[] = {
    { "library_path", "library", "", "File of the code that called the allocator, or C++'s new. Null: not known.",
      FV_GET(FV_TYPE_TEXT, fv_get_module), .flags = FV_NULLABLE | FV_NAME,
      .argument = offsetof(struct fv_allocation_library, module) },
    SUM_COLUMNS(struct fv_allocation_library),
    FV_QUOTIENT_COLUMN("mean_bytes", "mean", "bytes", struct fv_allocation_library, sum.allocated.bytes,
                       sum.allocated.count, FV_ESTIMATE, "Mean size of an allocation."),
};
static const struct fv_relation memory_libraries_relation = {
    .name = "memory_libraries",
    .key = "memory_libraries",
    .title = "Memory by library",
    .doc = "Allocations by the program or library that called the allocator, over all ranks and threads, largest "
           "at_peak_bytes first. Exact and estimated as in memory.",
    .shown = "library_path at_peak_bytes live_bytes bytes allocations smallest_bytes/4 mean_bytes largest_bytes "
             "time_s/5 mean_s/6 max_s/7 frees/2 peak_bytes/3 kind/1",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(library_columns),
    .base = memory_base,
    FV_ITEMS(struct fv_allocations, libraries, library_count),
};

/* ---- ranks ---- */

static const char *const modes[] = { "sampled", "exact", NULL };

static void get_mode(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = modes[((const struct fv_allocation_rank *)row)->mode == FV_MEMORY_EXACT];
}

static void get_bytes(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    int64_t bytes = *(const int64_t *)(const void *)((const char *)row + c->offset);

    v->whole = bytes > 0 ? (uint64_t)bytes : 0;
}

static void get_pages(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_memory_pages *p = &((const struct fv_allocation_rank *)row)->pages;
    bool is_placed = c->offset == offsetof(struct fv_allocation_rank, pages.near) ||
                     c->offset == offsetof(struct fv_allocation_rank, pages.far);

    v->whole = *(const uint64_t *)(const void *)((const char *)row + c->offset);
    v->null = is_placed ? !p->near && !p->far : !p->ticks;
}

#define PAGES(k, t, m, d)                                                                                           \
    {                                                                                                               \
        k, t, "bytes", d, FV_GET(FV_TYPE_WHOLE, get_pages), .offset = offsetof(struct fv_allocation_rank, pages.m), \
                                                            .flags = FV_NULLABLE                                    \
    }
#define RANK(k, t, u, m, f, d)                                           \
    {                                                                    \
        k, t, u, d, FV_FIELD(struct fv_allocation_rank, m), .flags = (f) \
    }
#define SIGNED_BYTES(k, t, m, d)                                                                             \
    {                                                                                                        \
        k, t, "bytes", d, FV_GET(FV_TYPE_WHOLE, get_bytes), .offset = offsetof(struct fv_allocation_rank, m) \
    }
static const struct fv_column_def rank_columns[] = {
    FV_RANK_COLUMN(struct fv_allocation_rank, rank, "rank", "rank", "The rank."),
    { "mode", "mode", "",
      "exact: each allocation has its call path. sampled: allocations of 4 KiB and more have it, and samples of "
      "smaller ones.",
      FV_GET(FV_TYPE_TEXT, get_mode), .words = modes },
    SIGNED_BYTES("peak_bytes", "peak", peak,
                 "Largest amount allocated at a time, as the allocator rounds it up. Exact to 64 KiB a thread."),
    { "peak_s", "at", "s", "When the peak occurred, from the begin of the run.",
      FV_FIELD(struct fv_allocation_rank, peak_s) },
    SIGNED_BYTES("live_bytes", "live at end", live,
                 "Memory allocated at the end of the recording, as the allocator rounds it up."),
    SIGNED_BYTES("before_bytes", "before", before,
                 "Part of live_bytes that was allocated before recording began. No call path has it."),
    RANK("bytes", "allocated", "bytes", bytes, 0, "All memory allocated, as requested. Exact."),
    RANK("malloc_calls", "malloc", "", calls[FV_ALLOCATION_MALLOC], 0,
         "Calls of malloc(), including C++'s new and Fortran's allocate."),
    RANK("calloc_calls", "calloc", "", calls[FV_ALLOCATION_CALLOC], FV_BLANK, "Calls of calloc()."),
    RANK("realloc_calls", "realloc", "", calls[FV_ALLOCATION_REALLOC], FV_BLANK,
         "Calls of realloc(). They also count as frees if there was an old block."),
    RANK("aligned_calls", "aligned", "", calls[FV_ALLOCATION_ALIGNED], FV_BLANK,
         "Calls of memalign(), aligned_alloc(), posix_memalign(), valloc() and pvalloc()."),
    RANK("free_calls", "free", "", frees, 0, "Frees, including those of realloc()."),
    { "allocator_s", "allocator", "s",
      "Time in the allocator, over all threads. Estimated from all calls for 128 KiB and more, and one in 128 of the "
      "others.",
      FV_FIELD(struct fv_allocation_rank, allocator_s), .flags = FV_ESTIMATE },
    { "allocator_error_s", "+-", "s",
      "Standard error of allocator_s. Where fewer than 8 calls were timed: all that is estimated.",
      FV_FIELD(struct fv_allocation_rank, allocator_error_s) },
    RANK("timed_calls", "timed", "", timed, 0, "Number of calls that were timed."),
    RANK("failed_calls", "failed", "", failed, FV_BLANK, "Calls that returned no memory."),
    RANK("unseen", "unseen", "", unseen, FV_BLANK,
         "Allocations in signal handlers that interrupted another allocation, and fvmpi's own. No call path has them."),
    RANK("objects_lost", "lost", "", objects_lost, FV_BLANK,
         "Allocations without a call path, because there was no room."),
    RANK("paths_lost", "no path", "", paths_lost, FV_BLANK,
         "Allocations and frees without a call path. Remedy: raise FVMPI_PROFILE_MAX."),
    PAGES("resident_bytes", "in memory", resident,
          "Resident memory of the process when it entered MPI_Finalize or exited, whichever was more. From the kernel. "
          "Null: not known."),
    PAGES("huge_bytes", "large pages", huge,
          "The part of it in large pages: transparent ones, shared memory, and hugetlbfs."),
    PAGES("near_bytes", "near", near,
          "The part of it on the NUMA node where the main thread ran at that time. Null: there is one node."),
    PAGES("far_bytes", "far", far, "The part of it on other NUMA nodes. Null: there is one node."),
    { "allocator", "allocator", "", "File of the allocator. Null: not known.",
      FV_FIELD(struct fv_allocation_rank, allocator), .flags = FV_NULLABLE },
};
static const struct fv_relation memory_ranks_relation = {
    .name = "memory_ranks",
    .key = "memory_ranks",
    .title = "Memory by rank",
    .doc = "Memory that each rank allocated, by rank.",
    .shown = "rank peak_bytes peak_s/4 live_bytes bytes malloc_calls/2 calloc_calls/1 realloc_calls/1 aligned_calls/1 "
             "free_calls/2 allocator_s/2 allocator_error_s/4 mode/3",
    .recorded_by = RECORDED_BY,
    .of_ranks = true,
    FV_COLUMNS(rank_columns),
    .base = memory_base,
    FV_ITEMS(struct fv_allocations, ranks, rank_count),
};

/* ---- the series ---- */

static const struct fv_column_def bin_columns[] = {
    FV_RANK_COLUMN(struct fv_allocation_bin, rank, "rank", "rank", "The rank."),
    { "begin_s", "begin", "s", "Begin of the interval.", FV_FIELD(struct fv_allocation_bin, begin_s) },
    { "end_s", "end", "s", "End of the interval.", FV_FIELD(struct fv_allocation_bin, end_s) },
    { "most_bytes", "most", "bytes", "Largest amount live in the interval, as the allocator rounds it up.",
      FV_GET(FV_TYPE_WHOLE, get_bytes), .offset = offsetof(struct fv_allocation_bin, most) },
    { "last_bytes", "last", "bytes", "Amount live at the end of the interval.", FV_GET(FV_TYPE_WHOLE, get_bytes),
      .offset = offsetof(struct fv_allocation_bin, last) },
};
static const struct fv_relation memory_series_relation = {
    .name = "memory_series",
    .key = "memory_series",
    .title = "Memory along time",
    .doc = "Memory that each rank had allocated over time, by rank and time. Exact to 64 KiB a thread.",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    .of_ranks = true,
    FV_COLUMNS(bin_columns),
    .base = memory_base,
    FV_ITEMS(struct fv_allocations, bins, bin_count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_memory;
extern const struct fv_relation fv_memory_functions_relation, fv_memory_sections_relation, fv_memory_system_relation;
extern const struct fv_relation fv_memory_places_relation;

static void fold_memory(struct fv_model *m, struct fv_alikes *alikes)
{
    struct fv_allocations *allocated = fv_model_memory(m);

    for (size_t i = 0; i < allocated->part_count; i++)
        allocated->parts[i].node = fv_alike(alikes, allocated->parts[i].node);
    fv_allocations_fold(m, allocated);
}

const struct fv_subject fv_memory_subject = {
    .group = "Memory",
    .bytes = sizeof(struct fv_allocations),
    .tracks = { &fv_track_memory },
    .relations = { &memory_relation, &memory_libraries_relation, &memory_ranks_relation, &fv_memory_functions_relation,
                   &fv_memory_sections_relation, &fv_memory_system_relation, &fv_memory_places_relation,
                   &memory_series_relation },
    .fold = fold_memory,
    .release = fv_allocations_release,
};
