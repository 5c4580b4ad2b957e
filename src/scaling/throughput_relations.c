/* SPDX-License-Identifier: BSD-3-Clause */
/* Relations of copies and ranks that share a node. See throughput.h for the formulas. */
#include "profile/relations.h"
#include "scaling/speedup_relations.h"

#include <math.h>

static const void *the_throughput(void *subject, const void *parent)
{
    return &((const struct fv_speedup_tables *)subject)->speedup->throughput;
}

static bool has_part(void *subject, const void *row, const struct fv_column_def *c)
{
    return isfinite(((const struct fv_throughput_point *)row)->part);
}

static bool is_measured(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_throughput_point *)row)->left_bytes;
}

static void get_separation(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_alone_verdicts[((const struct fv_throughput_point *)row)->separation];
}

static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_throughput_kinds[((const struct fv_throughput_point *)row)->kind];
}

static void get_how(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_alone_hows[((const struct fv_throughput_point *)row)->how];
}

/* ---- shares ---- */

#define SECONDS(k, t, member, d)                                                         \
    {                                                                                    \
        k, t, "s", d, FV_FIELD(struct fv_throughput_share, member), .flags = FV_NULLABLE \
    }
static const struct fv_column_def share_columns[] = {
    { "rank", "rank", "", "Number of the rank in MPI_COMM_WORLD, or of the copy.",
      FV_FIELD(struct fv_throughput_share, rank) },
    SECONDS("together_s", "together", together_s,
            "Time outside of MPI when all work together, without waiting for a processor."),
    SECONDS("queue_s", "queue", queue_s,
            "Time that it waited for a processor in that run. For a copy with several threads: in proportion to the "
            "waiting of its threads."),
    SECONDS("alone_s", "alone", alone_s,
            "Time when one works at a time, with all of the shared cache and memory. Null, as all below: not known, "
            "see `separation`."),
    SECONDS("part_s", "part", part_s, "Time when one works at a time with its part of the cache."),
    SECONDS("cache_s", "cache", cache_s, "part_s - alone_s: time lost by sharing the cache."),
    SECONDS(
        "memory_s", "memory", memory_s,
        "together_s - part_s: time lost by sharing memory and everything else, such as clocks and execution units."),
    SECONDS("sharing_s", "sharing", sharing_s, "together_s - alone_s: time lost by sharing both."),
};
static const struct fv_column_def outer[] = {
    { "kind", "kind", "", "copies, ranks.", FV_GET(FV_TYPE_TEXT, get_kind), .words = fv_throughput_kinds },
    { "count", "N", "", "Number of ranks or copies that work together.", FV_FIELD(struct fv_throughput_point, count) },
};
static const struct fv_relation shares = {
    .name = "shares",
    .key = "shares",
    .title = "Losses of each",
    .group = "Throughput",
    .doc = "Ranks or copies, by number.",
    .shown = "rank together_s queue_s/2 alone_s part_s/3 cache_s memory_s sharing_s/4",
    FV_COLUMNS(share_columns),
    FV_OUTER(outer),
    FV_ITEMS(struct fv_throughput_point, shares, count),
};

/* ---- points ---- */

#define COMPONENT(k, t, member, d)                                                           \
    {                                                                                        \
        k, t, "ratio", d, FV_FIELD(struct fv_throughput_point, member), .flags = FV_NULLABLE \
    }
static const struct fv_column_def point_columns[] = {
    { "kind", "kind", "", "copies of a program without MPI, or ranks of a program.", FV_GET(FV_TYPE_TEXT, get_kind),
      .words = fv_throughput_kinds },
    { "count", "N", "", "Number of ranks or copies that work together.", FV_FIELD(struct fv_throughput_point, count) },
    { "run_count", "runs", "", "Number of runs. Values are those of the shortest.",
      FV_FIELD(struct fv_throughput_point, runs) },
    { "elapsed_s", "elapsed", "s",
      "T: longest time of a rank. Copies: from the begin of the first to the end of the last.",
      FV_FIELD(struct fv_throughput_point, elapsed_s) },
    { "together_s", "together", "s", "U: time outside of MPI, summed over all, without waiting for a processor.",
      FV_FIELD(struct fv_throughput_point, sums.together_s) },
    { "queue_s", "queue", "s",
      "Q: time that they waited for a processor, from the kernel. Copies: all of it. Ranks: where context switches are "
      "known; otherwise 0.",
      FV_FIELD(struct fv_throughput_point, sums.queue_s) },
    { "off_cpu_s", "off CPU", "s",
      "The part of U without a processor for another reason: I/O, sleep. Ranks without known context switches: their "
      "waiting for a processor.",
      FV_FIELD(struct fv_throughput_point, sums.off_cpu_s), .flags = FV_NULLABLE },
    { "alone_s", "alone", "s",
      "A: times when one works at a time with all of the shared cache and memory, summed. Null, as all below: not "
      "known, see `separation`.",
      FV_FIELD(struct fv_throughput_point, sums.alone_s), .flags = FV_NULLABLE },
    { "alone_min_s", "min", "s", "Smallest A of the runs that count.",
      FV_FIELD(struct fv_throughput_point, alone_least_s), .flags = FV_NULLABLE },
    { "alone_max_s", "max", "s", "Largest A of the runs that count.",
      FV_FIELD(struct fv_throughput_point, alone_most_s), .flags = FV_NULLABLE },
    { "part_s", "with part", "s", "P: times when one works at a time with a part of the cache, summed.",
      FV_FIELD(struct fv_throughput_point, sums.part_s), .flags = FV_NULLABLE },
    { "cache_share", "part", "ratio", "That part of the cache: 1/N or the nearest possible. Null: not measured.",
      FV_FIELD(struct fv_throughput_point, part), .flags = FV_NULLABLE },
    { "cache_bytes", "cache", "bytes",
      "That part plus the processor's own caches, measured before by pointer chases. Null: not measured.",
      FV_FIELD(struct fv_throughput_point, left_bytes), .flags = FV_NULLABLE, .known = is_measured },
    { "method", "method", "",
      "How the rest of the cache was used: pirate: a process reads it all the time; resctrl: the kernel's cache "
      "allocation. Null: not used.",
      FV_GET(FV_TYPE_TEXT, get_how), .words = fv_alone_hows, .flags = FV_NULLABLE, .known = has_part },
    { "missed_share", "missed", "ratio",
      "Share of the probes of the process that held the rest of the cache that missed it. Null: no such process.",
      FV_FIELD(struct fv_throughput_point, missed), .flags = FV_NULLABLE },
    { "turn_s", "turn", "s", "Mean duration of a rank's turn. Null: copies.",
      FV_FIELD(struct fv_throughput_point, turn_s), .flags = FV_NULLABLE },
    { "fill_s", "fill", "s",
      "Upper bound of the time to fill the shared cache: its lines times the latency of memory, measured by pointer "
      "chases. Null: its size is not known.",
      FV_FIELD(struct fv_throughput_point, fill_s), .flags = FV_NULLABLE },
    { "is_least", "lower bound", "",
      "True: turns are shorter than 10 times fill_s. Each turn begins with other data in the cache, so A may be too "
      "large and the losses are lower bounds.",
      FV_FIELD(struct fv_throughput_point, is_least) },
    { "wanted_bytes_per_s", "demand", "B/s",
      "Demand for memory bandwidth of N: each as when it works alone with its part of the cache. Null: lines from "
      "memory were not counted (--counters memory).",
      FV_FIELD(struct fv_throughput_point, wanted_bytes_per_s), .flags = FV_NULLABLE },
    { "read_bytes_per_s", "read", "B/s", "Bandwidth from memory of all together, over T.",
      FV_FIELD(struct fv_throughput_point, bytes_per_s), .flags = FV_NULLABLE },
    COMPONENT("throughput", "throughput", throughput,
              "A / T: the work done, in units of one that works alone. With the four losses that follow (or sharing "
              "instead of cache and memory) it adds up to N."),
    COMPONENT("lost_to_waiting", "waiting", waiting,
              "Throughput lost by waiting: N A / (U + Q) - A / T. Ranks: in MPI. Copies: because they do not begin and "
              "end together."),
    COMPONENT("lost_to_few_cpus", "few CPUs", few_cpus,
              "Throughput lost by waiting for a processor: N A / U - N A / (U + Q)."),
    COMPONENT("lost_to_cache", "cache", cache, "Throughput lost by sharing the cache: N - N A / P."),
    COMPONENT("lost_to_memory", "memory", memory,
              "Throughput lost by sharing memory and everything else, such as clocks and execution units: N A / P - N "
              "A / U."),
    COMPONENT("lost_to_sharing", "cache, memory", sharing, "Throughput lost by sharing cache and memory: N - N A / U."),
    { "separation", "separation", "",
      "Whether runs with one at a time count, in the words of `separation` of `speedups.points`. does_more: ranks take "
      "longer one at a time than together, because turns are too short. not_measured: some ranks are on other nodes.",
      FV_GET(FV_TYPE_TEXT, get_separation), .words = fv_alone_verdicts },
    { "is_off_cpu", "off CPU", "",
      "True: they were off the processor for more than " FV_OFF_CPU_WORDS
      " of U (I/O, sleep, other programs). Or threads of copies had "
      "all processors, and their waiting is not known without --threads. Losses are then null.",
      FV_FIELD(struct fv_throughput_point, is_off_cpu) },
    { "shares", "shares", "", "", FV_NEST(shares) },
};
const struct fv_relation fv_throughput_points = {
    .name = "throughputs",
    .key = "throughputs",
    .title = "Throughput",
    .group = "Throughput",
    .doc = "Copies of a program, or ranks, that share a node (fvmpi run --throughput), by their number.",
    .shown =
        "count run_count/9 elapsed_s/2 together_s/1 alone_s/3 part_s/4 throughput lost_to_waiting lost_to_few_cpus/5 "
        "lost_to_cache/7 lost_to_memory/7 lost_to_sharing wanted_bytes_per_s/3 read_bytes_per_s/3 separation/6",
    FV_COLUMNS(point_columns),
    .base = the_throughput,
    FV_ITEMS(struct fv_throughput, points, count),
};
const struct fv_relation *const fv_throughput_shares = &shares;

/* ---- curve ---- */

static void get_curve_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_throughput_kinds[((const struct fv_throughput_alone *)row)->kind];
}

static void get_curve_how(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_alone_hows[((const struct fv_throughput_alone *)row)->how];
}

static void get_curve_verdict(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_alone_verdicts[((const struct fv_throughput_alone *)row)->verdict];
}

static bool has_size(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_throughput_alone *)row)->left_bytes;
}

#define OF_CURVE(k, t, unit, member, d)                                                   \
    {                                                                                     \
        k, t, unit, d, FV_FIELD(struct fv_throughput_alone, member), .flags = FV_NULLABLE \
    }
static const struct fv_column_def curve_columns[] = {
    { "kind", "kind", "", "copies, ranks.", FV_GET(FV_TYPE_TEXT, get_curve_kind), .words = fv_throughput_kinds },
    { "count", "N", "", "Number of ranks that took turns; for copies 1.", FV_FIELD(struct fv_throughput_alone, count) },
    { "cache_share", "part", "ratio", "Share of the shared cache that one had.",
      FV_FIELD(struct fv_throughput_alone, part) },
    { "run_count", "runs", "",
      "Number of such runs. Values are those of the shortest run that is good by its own numbers.",
      FV_FIELD(struct fv_throughput_alone, runs) },
    { "method", "method", "", "How the rest of the cache was used: whole: not used; pirate; resctrl.",
      FV_GET(FV_TYPE_TEXT, get_curve_how), .words = fv_alone_hows },
    { "cache_bytes", "cache", "bytes",
      "Its part plus the processor's own caches, measured before by pointer chases. Null: not measured.",
      FV_FIELD(struct fv_throughput_alone, left_bytes), .flags = FV_NULLABLE, .known = has_size },
    OF_CURVE("alone_s", "time", "s", time_s, "Time of one that works alone. Ranks: mean time outside of MPI."),
    OF_CURVE("slowdown", "slower", "ratio", slower,
             "Time relative to that with all of the cache. Null: one of the two is not good."),
    OF_CURVE("cycles_per_instruction", "cycles", "ratio", cycles,
             "Cycles per instruction (--counters statistics or memory). Null, as those below: not counted."),
    OF_CURVE("lines_per_1000", "lines", "ratio", lines,
             "Cache lines from memory for 1,000 instructions (--counters memory or cache)."),
    OF_CURVE("bytes_per_s", "from memory", "B/s", bytes_per_s,
             "Demand of one for memory bandwidth: 64 bytes for each line from memory, over its time. Write-backs are "
             "not included."),
    OF_CURVE(
        "missed_share", "missed", "ratio", missed,
        "Share of the probes of the process that held the rest of the cache that missed it. Null: no such process."),
    { "verdict", "verdict", "", "Whether the run counts, in the words of `separation` of `speedups.points`.",
      FV_GET(FV_TYPE_TEXT, get_curve_verdict), .words = fv_alone_verdicts },
};
const struct fv_relation fv_throughput_curve = {
    .name = "throughput_curve",
    .key = "throughput_curve",
    .title = "One at a time, by cache",
    .group = "Throughput",
    .doc = "Copies and ranks that worked alone, by their part of the shared cache.",
    .shown = "count/9 cache_share run_count/8 method/5 cache_bytes/4 alone_s slowdown cycles_per_instruction/2 "
             "lines_per_1000/3 bytes_per_s/3 missed_share/6 verdict/1",
    FV_COLUMNS(curve_columns),
    .base = the_throughput,
    FV_ITEMS(struct fv_throughput, curve, curve_count),
};
