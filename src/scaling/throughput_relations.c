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
    { "rank", "rank", "", "Its number in MPI_COMM_WORLD, or of the copy.", FV_FIELD(struct fv_throughput_share, rank) },
    SECONDS("together_s", "together", together_s,
            "Its time outside of MPI where all work, without waiting for a processor."),
    SECONDS("queue_s", "queue", queue_s,
            "What it waited for a processor meanwhile; of a copy with several threads so much of its time as they "
            "waited of theirs."),
    SECONDS("alone_s", "alone", alone_s,
            "Its time one at a time, with all of the shared cache and of memory. Null, as all below: not known, for "
            "the reason in `separation`."),
    SECONDS("part_s", "part", part_s, "The same with its part of the cache."),
    SECONDS("cache_s", "cache", cache_s, "part_s - alone_s: what sharing the cache takes."),
    SECONDS("memory_s", "memory", memory_s,
            "together_s - part_s: what sharing memory takes, and all else that they share: clocks, execution units of "
            "a core."),
    SECONDS("sharing_s", "sharing", sharing_s, "together_s - alone_s: both."),
};
static const struct fv_column_def outer[] = {
    { "kind", "kind", "", "copies, ranks.", FV_GET(FV_TYPE_TEXT, get_kind), .words = fv_throughput_kinds },
    { "count", "N", "", "How many work together.", FV_FIELD(struct fv_throughput_point, count) },
};
static const struct fv_relation shares = {
    .name = "shares",
    .key = "shares",
    .title = "What sharing takes from each",
    .doc = "Ranks, or copies, by their number.",
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
    { "kind", "kind", "", "copies of a program without MPI; ranks of one.", FV_GET(FV_TYPE_TEXT, get_kind),
      .words = fv_throughput_kinds },
    { "count", "N", "", "How many work together.", FV_FIELD(struct fv_throughput_point, count) },
    { "run_count", "runs", "", "Runs in which they do: the shortest counts.",
      FV_FIELD(struct fv_throughput_point, runs) },
    { "elapsed_s", "elapsed", "s",
      "T: the longest of them; of copies from the first one's begin to the last one's end.",
      FV_FIELD(struct fv_throughput_point, elapsed_s) },
    { "together_s", "together", "s", "U: their time outside of MPI, added up, without waiting for a processor.",
      FV_FIELD(struct fv_throughput_point, sums.together_s) },
    { "queue_s", "queue", "s",
      "Q: what they waited for a processor meanwhile, as the kernel tells it: of copies all the time, of ranks where "
      "it shows context switches; else 0.",
      FV_FIELD(struct fv_throughput_point, sums.queue_s) },
    { "off_cpu_s", "off CPU", "s",
      "Of U, without a processor for another reason: I/O, sleep; of ranks of which context switches are not shown, "
      "what all of them waited for a processor.",
      FV_FIELD(struct fv_throughput_point, sums.off_cpu_s), .flags = FV_NULLABLE },
    { "alone_s", "alone", "s",
      "A: their times one at a time, with all of the shared cache and of memory, added up. Null, as all below: not "
      "known, for the reason in `separation`.",
      FV_FIELD(struct fv_throughput_point, sums.alone_s), .flags = FV_NULLABLE },
    { "alone_min_s", "least", "s", "The shortest A of the runs that count.",
      FV_FIELD(struct fv_throughput_point, alone_least_s), .flags = FV_NULLABLE },
    { "alone_max_s", "most", "s", "The longest.", FV_FIELD(struct fv_throughput_point, alone_most_s),
      .flags = FV_NULLABLE },
    { "part_s", "with part", "s", "P: the same with a part of the cache.",
      FV_FIELD(struct fv_throughput_point, sums.part_s), .flags = FV_NULLABLE },
    { "cache_share", "part", "ratio", "That part, the N-th or what is nearest. Null: none was measured.",
      FV_FIELD(struct fv_throughput_point, part), .flags = FV_NULLABLE },
    { "cache_bytes", "cache", "bytes",
      "What one had of it, with the processor's own caches, as it was measured by chases of pointers before. Null: it "
      "was not.",
      FV_FIELD(struct fv_throughput_point, left_bytes), .flags = FV_NULLABLE, .known = is_measured },
    { "method", "method", "",
      "Who had the rest: pirate, a process that reads it all the time; resctrl, the kernel's cache allocation. Null: "
      "nobody.",
      FV_GET(FV_TYPE_TEXT, get_how), .words = fv_alone_hows, .flags = FV_NULLABLE, .known = has_part },
    { "missed_share", "missed", "ratio",
      "Of the probes of the process that held the rest, those that were not in the cache. Null: there was none.",
      FV_FIELD(struct fv_throughput_point, missed), .flags = FV_NULLABLE },
    { "turn_s", "turn", "s", "How long a rank works at a time, the mean. Null: of copies.",
      FV_FIELD(struct fv_throughput_point, turn_s), .flags = FV_NULLABLE },
    { "fill_s", "fill", "s",
      "What filling the shared cache takes at most: its lines times the latency of memory, as measured by chases of "
      "pointers. Null: its size is not known.",
      FV_FIELD(struct fv_throughput_point, fill_s), .flags = FV_NULLABLE },
    { "is_least", "least", "",
      "Turns are shorter than 10 times fill_s: each begins with the others' data in the cache, so that A may be too "
      "large, and what sharing costs is at least what is told.",
      FV_FIELD(struct fv_throughput_point, is_least) },
    { "wanted_bytes_per_s", "wanted", "B/s",
      "From memory: what N want, each as it does alone with its part of the cache. Null: lines from memory were not "
      "counted (--counters memory).",
      FV_FIELD(struct fv_throughput_point, wanted_bytes_per_s), .flags = FV_NULLABLE },
    { "read_bytes_per_s", "read", "B/s", "From memory: what all of them together get, by T.",
      FV_FIELD(struct fv_throughput_point, bytes_per_s), .flags = FV_NULLABLE },
    COMPONENT("throughput", "throughput", throughput,
              "A / T: as many as work as fast as one alone. With the four that follow, or sharing in place of cache "
              "and memory, it is N."),
    COMPONENT("lost_to_waiting", "waiting", waiting,
              "N A / (U + Q) - A / T: in MPI; of copies what they did not begin and end at once."),
    COMPONENT("lost_to_few_cpus", "few CPUs", few_cpus, "N A / U - N A / (U + Q): waiting for a processor."),
    COMPONENT("lost_to_cache", "cache", cache, "N - N A / P: sharing the cache."),
    COMPONENT("lost_to_memory", "memory", memory,
              "N A / P - N A / U: sharing memory, and all else that they share: clocks, execution units of a core."),
    COMPONENT("lost_to_sharing", "cache, memory", sharing, "N - N A / U: both."),
    { "separation", "separation", "",
      "Whether runs of one at a time count: as `separation` of `speedups.points` has it. does_more: ranks take longer "
      "one at a time than together, as turns are too short; not_measured: some ranks are on other nodes.",
      FV_GET(FV_TYPE_TEXT, get_separation), .words = fv_alone_verdicts },
    { "is_off_cpu", "off CPU", "",
      "Off the processor for more than 2 % of U: I/O, sleep, or other programs; or threads of copies had all "
      "processors, and what they waited for these is not known without --threads. No component is told.",
      FV_FIELD(struct fv_throughput_point, is_off_cpu) },
    { "shares", "shares", "", "", FV_NEST(shares) },
};
const struct fv_relation fv_throughput_points = {
    .name = "throughputs",
    .key = "throughputs",
    .title = "Throughput",
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
    { "count", "N", "", "Ranks that took turns; of copies 1.", FV_FIELD(struct fv_throughput_alone, count) },
    { "cache_share", "part", "ratio", "The part of the shared cache that one had.",
      FV_FIELD(struct fv_throughput_alone, part) },
    { "run_count", "runs", "", "Such runs: the shortest that is good by its own numbers counts.",
      FV_FIELD(struct fv_throughput_alone, runs) },
    { "method", "method", "", "Who had the rest: whole: nobody; pirate, resctrl.", FV_GET(FV_TYPE_TEXT, get_curve_how),
      .words = fv_alone_hows },
    { "cache_bytes", "cache", "bytes",
      "That, with the processor's own caches, as it was measured by chases of pointers before. Null: it was not.",
      FV_FIELD(struct fv_throughput_alone, left_bytes), .flags = FV_NULLABLE, .known = has_size },
    OF_CURVE("alone_s", "time", "s", time_s, "Of one, alone; of ranks their mean, outside of MPI."),
    OF_CURVE("slowdown", "slower", "ratio", slower,
             "Times as long as with all of the cache. Null: that, or this, is not good."),
    OF_CURVE("cycles_per_instruction", "cycles", "ratio", cycles,
             "By --counters statistics or memory. Null: not counted, as those below."),
    OF_CURVE("lines_per_1000", "lines", "ratio", lines,
             "Lines from memory for 1,000 instructions, by --counters memory or cache."),
    OF_CURVE("bytes_per_s", "from memory", "B/s", bytes_per_s,
             "Of one: 64 bytes for each line from memory, by its time: its demand for bandwidth. What is written back "
             "is not in it."),
    OF_CURVE(
        "missed_share", "missed", "ratio", missed,
        "Of the probes of the process that held the rest, those that were not in the cache. Null: there was none."),
    { "verdict", "verdict", "", "Whether it counts: as `separation` of `speedups.points` has it.",
      FV_GET(FV_TYPE_TEXT, get_curve_verdict), .words = fv_alone_verdicts },
};
const struct fv_relation fv_throughput_curve = {
    .name = "throughput_curve",
    .key = "throughput_curve",
    .title = "One at a time, by cache",
    .doc = "Copies and ranks that worked alone, by the part of the shared cache that they had.",
    .shown = "count/9 cache_share run_count/8 method/5 cache_bytes/4 alone_s slowdown cycles_per_instruction/2 "
             "lines_per_1000/3 bytes_per_s/3 missed_share/6 verdict/1",
    FV_COLUMNS(curve_columns),
    .base = the_throughput,
    FV_ITEMS(struct fv_throughput, curve, curve_count),
};
