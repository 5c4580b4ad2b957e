/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run's times depend on and its program does not say: relations machines, environment, affinity. */
#include "profile/build.h"
#include "profile/machine/facts.h"
#include "profile/relations.h"

#include <stdlib.h>
#include <string.h>

FV_DATA_BASE(facts)

static void put_runs(const struct fv_facts_ranks *ranks, struct fv_value *v)
{
    v->items = ranks->runs;
    v->count = ranks->run_count;
}

/* ---- machines ---- */

/* `argument`: enum fv_fact_key. */
static const char *fact_of(const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_facts_host *)row)->value[c->argument];
}

static void get_fact(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fact_of(row, c);
}

static void get_number(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const char *text = fact_of(row, c);

    v->null = !text;
    v->whole = text ? strtoull(text, NULL, 10) : 0;
}

static void get_truth(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const char *text = fact_of(row, c);

    v->null = !text;
    v->truth = text && *text != '0';
}

static void get_host_runs(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    put_runs(&((const struct fv_facts_host *)row)->ranks, v);
}

#define FACT(k, t, u, type, get, fact, d)                                       \
    {                                                                           \
        k, t, u, d, FV_GET(type, get), .flags = FV_NULLABLE, .argument = (fact) \
    }
#define WORDS(k, t, fact, d)     FACT(k, t, "", FV_TYPE_TEXT, get_fact, fact, d)
#define NUMBER(k, t, u, fact, d) FACT(k, t, u, FV_TYPE_WHOLE, get_number, fact, d)
#define TRUTH(k, t, fact, d)     FACT(k, t, "", FV_TYPE_TRUTH, get_truth, fact, d)
static const struct fv_column_def machine_columns[] = {
    { "host", "node", "", "Name of the host.", FV_FIELD(struct fv_facts_host, host), .flags = FV_NAME },
    { "rank_count", "ranks", "", "Number of ranks on this host.", FV_FIELD(struct fv_facts_host, ranks.count) },
    { "rank_runs", "which", "", "These ranks.", FV_GET(FV_TYPE_RUNS, get_host_runs) },
    WORDS("processor", "processor", FV_FACT_PROCESSOR,
          "Processor model. Null, here and in the other columns: not known."),
    NUMBER("socket_count", "sockets", "", FV_FACT_SOCKETS, "Number of processor packages."),
    { "processor_count", "processors", "",
      "Number of online processors as the kernel counts them. With SMT a core has several.",
      FV_FIELD(struct fv_facts_host, processors), .flags = FV_UNLESS_0 },
    WORDS("processors", "list", FV_FACT_PROCESSORS, "The online processors as a list."),
    NUMBER("core_threads", "a core", "", FV_FACT_CORE_THREADS, "Online processors of a core."),
    TRUTH("smt", "SMT", FV_FACT_SMT, "True: cores have several online processors."),
    WORDS("numa_processors", "NUMA nodes", FV_FACT_NODE_PROCESSORS,
          "Processors of each NUMA node: \"NODE: LIST; ...\"."),
    WORDS("numa_distances", "distances", FV_FACT_NODE_DISTANCES,
          "Distances between NUMA nodes, from the firmware. 10 is a node's own memory."),
    WORDS("caches", "caches", FV_FACT_CACHE,
          "Caches of one processor: level, type, size, and the processors that share it."),
    NUMBER("mhz", "MHz", "MHz", FV_FACT_MHZ,
           "Frequency of one processor when recording began. An idle processor may have a lower one. Null before Linux "
           "5.18, where reading it takes 10 ms."),
    NUMBER("mhz_min", "min MHz", "MHz", FV_FACT_MHZ_MIN, "Lowest frequency that may be set."),
    NUMBER("mhz_max", "max MHz", "MHz", FV_FACT_MHZ_MAX, "Highest frequency, with turbo."),
    WORDS("governor", "governor", FV_FACT_GOVERNOR, "Frequency governor."),
    WORDS("frequency_driver", "driver", FV_FACT_FREQUENCY_DRIVER, "Frequency driver."),
    TRUTH("turbo", "turbo", FV_FACT_TURBO, "True: frequencies above the nominal one are allowed."),
    NUMBER("memory_bytes", "memory", "bytes", FV_FACT_MEMORY, "Memory that the kernel manages."),
    WORDS("hugepages", "huge pages", FV_FACT_HUGEPAGES, "Setting of transparent huge pages: always, madvise, never."),
    TRUTH("numa_balancing", "NUMA balancing", FV_FACT_NUMA_BALANCING,
          "True: the kernel moves pages to the NUMA node that uses them."),
    WORDS("isolated", "isolated", FV_FACT_ISOLATED,
          "Processors from which the scheduler keeps other tasks away (isolcpus)."),
    WORDS("tickless", "tickless", FV_FACT_TICKLESS, "Processors without timer ticks (nohz_full)."),
    TRUTH("randomized", "ASLR", FV_FACT_RANDOMIZED,
          "True: addresses of programs and libraries are randomized in each run (fvmpi run --aslr)."),
    WORDS("kernel", "kernel", FV_FACT_KERNEL, "Linux release."),
    WORDS("clock_source", "clock", FV_FACT_CLOCK_SOURCE, "Clock source of the kernel."),
    WORDS("hypervisor", "hypervisor", FV_FACT_HYPERVISOR,
          "Name of the hypervisor. Null: none, or it does not tell its name."),
    WORDS("address", "address", FV_FACT_ADDRESS,
          "Address of the node in the network (SLURM_TOPOLOGY_ADDR): switches and node, separated by points."),
};
static const struct fv_relation machines_relation = {
    .name = "machines",
    .key = "machines",
    .title = "Machines",
    .doc = "Hardware and settings of each node when recording began, as one of its ranks saw them. Sorted by the first "
           "rank.",
    .shown = "host rank_count/9 processor/8 socket_count/7 processor_count/7 smt/6 mhz/3 governor/5 turbo/4 "
             "memory_bytes/4 hugepages/3 kernel/5 hypervisor/2",
    FV_COLUMNS(machine_columns),
    .base = facts_base,
    FV_ITEMS(struct fv_facts, hosts, host_count),
};

/* ---- the environment ---- */

static void get_variable_runs(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    put_runs(&((const struct fv_variable *)row)->ranks, v);
}

#define VARIABLE(k, t, m, d)                         \
    {                                                \
        k, t, "", d, FV_FIELD(struct fv_variable, m) \
    }
static const struct fv_column_def environment_columns[] = {
    VARIABLE("variable", "variable", name, "Name of the variable."),
    VARIABLE("value", "value", value, "Value of the variable. It ends with \"...\" if it was cut."),
    { "cut", "cut", "", "True: name and value together had more than 256 bytes.", FV_FIELD(struct fv_variable, is_cut),
      .flags = FV_BLANK },
    VARIABLE("rank_count", "ranks", ranks.count, "Ranks with this value."),
    { "rank_runs", "which", "", "These ranks.", FV_GET(FV_TYPE_RUNS, get_variable_runs) },
};
static const struct fv_relation environment_relation = {
    .name = "environment",
    .key = "environment",
    .title = "Environment",
    .doc = "Environment variables that affect MPI, OpenMP, networks, libraries and the placement of processes, by name "
           "and value. Variables that launchers set for their processes are left out. So are names that may be secret "
           "(TOKEN, KEY, PASS, SECRET, CRED, AUTH, COOKIE). At most 64 a rank.",
    FV_COLUMNS(environment_columns),
    .base = facts_base,
    FV_ITEMS(struct fv_facts, variables, variable_count),
};

/* ---- where threads may run ---- */

static void get_host(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_tables_model(subject)->ranks[((const struct fv_affinity_view *)row)->rank].host;
}

static void get_bound(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_affinity_view *a = row;

    v->null = !a->of || !a->count;
    v->truth = a->count < a->of;
}

#define AFFINITY(k, t, m, f, d)                                         \
    {                                                                   \
        k, t, "", d, FV_FIELD(struct fv_affinity_view, m), .flags = (f) \
    }
static const struct fv_column_def affinity_columns[] = {
    FV_RANK_COLUMN(struct fv_affinity_view, rank, "rank", "rank", "The rank."),
    AFFINITY("thread", "thread", thread, FV_IS_THREAD,
             "The thread, as in threads. If several had this number: the last."),
    { "host", "node", "", "Name of the node.", FV_GET(FV_TYPE_TEXT, get_host), .flags = FV_NAME },
    AFFINITY("processors", "processors", processors, 0,
             "List of processors that the thread could use when its recording began. Empty: not known."),
    AFFINITY("processor_count", "count", count, 0, "Number of these processors."),
    { "is_bound", "bound", "", "True: fewer processors than the node has. Null: not known.",
      FV_GET(FV_TYPE_TRUTH, get_bound), .flags = FV_NULLABLE },
    AFFINITY("processors_last", "at the end", processors_last, FV_NULLABLE,
             "The same list at its end, or at MPI_Finalize. Null: unchanged, or not known."),
    AFFINITY("numa_nodes", "NUMA nodes", nodes, FV_NULLABLE, "NUMA nodes of these processors, a list."),
    AFFINITY("cpu", "began on", cpu, FV_UNLESS_NONE, "The processor on which it ran when its recording began."),
    AFFINITY("numa_node", "of node", node, FV_UNLESS_NONE, "NUMA node of that processor."),
    AFFINITY(
        "other_ranks", "others", others, FV_BLANK,
        "Number of other ranks of the node that may use one of these processors, as set when their processes began."),
};
static const struct fv_relation affinity_relation = {
    .name = "affinity",
    .key = "affinity",
    .title = "Where threads may run",
    .doc = "Processors that each recorded thread may use, by rank.",
    .of_ranks = true,
    .shown =
        "rank thread host/2 processors processor_count/3 is_bound/4 processors_last/5 numa_nodes/3 cpu/2 other_ranks/6",
    FV_COLUMNS(affinity_columns),
    .base = facts_base,
    FV_ITEMS(struct fv_facts, affinities, affinity_count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_facts;

const struct fv_subject fv_facts_subject = {
    .group = "Machine",
    .bytes = sizeof(struct fv_facts),
    .tracks = { &fv_track_facts },
    .relations = { &machines_relation, &environment_relation, &affinity_relation },
    .release = fv_facts_release,
};
