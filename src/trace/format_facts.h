/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of format.h: what src/monitor tells of the machine that a process ran on, of its environment, and of where its
 * threads may run. */
#ifndef FV_FORMAT_FACTS_H
#define FV_FORMAT_FACTS_H

#include <stdint.h>

/* Numbers are for ever. */
enum fv_fact_key {
    /* of the machine: by one process of each node */
    FV_FACT_PROCESSOR = 1,       /* its model, in words */
    FV_FACT_PROCESSORS = 2,      /* that are online: "0-15" */
    FV_FACT_SOCKETS = 3,         /* how many */
    FV_FACT_CORE_THREADS = 4,    /* processors of the first one's core: 2 with SMT */
    FV_FACT_SMT = 5,             /* 1: active */
    FV_FACT_NODE_PROCESSORS = 6, /* of the NUMA node `index`: a list */
    FV_FACT_NODE_DISTANCES = 7,  /* from that node to each: "10 21" */
    FV_FACT_CACHE = 8,           /* of the first processor: "1 Data 32K 0-1", level, type, size, processors that share
                                  * it */
    FV_FACT_MHZ = 9,             /* of processor `index` when it was read */
    FV_FACT_MHZ_MIN = 10,        /* that it may be set to, ... */
    FV_FACT_MHZ_MAX = 11,        /* ... turbo included */
    FV_FACT_GOVERNOR = 12,
    FV_FACT_FREQUENCY_DRIVER = 13,
    FV_FACT_TURBO = 14,      /* 1: allowed */
    FV_FACT_MEMORY = 15,     /* bytes */
    FV_FACT_HUGEPAGES = 16,  /* transparent ones: "madvise" */
    FV_FACT_KERNEL = 17,     /* its release */
    FV_FACT_HYPERVISOR = 18, /* the name that it gives itself; "": it is there */
    FV_FACT_CLOCK_SOURCE = 19,
    FV_FACT_ISOLATED = 20,       /* processors without others' work: a list */
    FV_FACT_TICKLESS = 21,       /* of nohz_full: a list */
    FV_FACT_NUMA_BALANCING = 22, /* 0: off */
    FV_FACT_ADDRESS = 23,        /* of the node in the network, as Slurm tells it: "switch1.node7" */
    FV_FACT_RANDOMIZED = 24,     /* 1: this process and its libraries are at other addresses each time */
    FV_FACT_MACHINE_KEYS,        /* [count] */
    /* of the process */
    FV_FACT_VARIABLE = 64, /* of the environment: "NAME=VALUE" */
    FV_FACT_LEFT_OUT = 65, /* variables that there was no room for: how many */
    /* of others, by one process of each node, as it ended */
    FV_FACT_OTHER = 66, /* the process `index` ran during the run: "1520 1 0-1 python3", CPU time in ms, the processor
                         * that it used last, those that it may use, its name; 0: the sum of all with less than 1 % of
                         * the time */
    FV_FACT_OTHER_SERVICE = 67,   /* the process `index` is of this service of the system: "cron" */
    FV_FACT_OTHER_ANCESTORS = 68, /* of the process `index`: its parent, that one's, and so on: "1402 1311 1" */
};

enum fv_fact_flags { FV_FACT_CUT = 1 /* the value was longer */ };

struct fv_fact {
    uint32_t bytes;       /* of this record, a multiple of 8 */
    uint16_t key;         /* [enum fv_fact_key] what later versions know is passed by */
    uint16_t flags;       /* [enum fv_fact_flags] */
    uint32_t index;       /* of which of several, from 0 */
    uint32_t value_bytes; /* without the final NUL, which is there */
    char value[];         /* [count value_bytes] */
};
_Static_assert(sizeof(struct fv_fact) == 16, "on-disk size");

/* Where a thread may run. Of processors from 1024 on nothing is known. */
#define FV_MASK_WORDS 16
struct fv_affinity {
    uint32_t thread;    /* fv_thread_record.id */
    uint32_t tid;       /* of the last one that had this slot: the record is about it alone */
    uint32_t cpu, node; /* it ran on when it began to be recorded, and that one's NUMA node; all bits: not known */
    uint64_t first[FV_MASK_WORDS]; /* [hex] then: bit i of word j is processor 64 j + i; 0s: not known */
    uint64_t last[FV_MASK_WORDS];  /* [hex] at its end, or at MPI_Finalize; 0s: nobody looked */
};
_Static_assert(sizeof(struct fv_affinity) == 272, "on-disk size");

#endif
