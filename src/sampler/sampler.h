/* Sampling whole instances of functions, after FVSampler (Su et al., ICS 2019), without a PMU: a clock sample
 * puts an execution breakpoint on a function's entry; there the trap puts a read-write watchpoint on the
 * stack slot of the return address, which traps when the function returns. The same clock samples count where
 * CPU time goes.
 *
 * Everything here but begin and end runs in the handler of SIGTRAP, of the thread that the struct belongs to:
 * no lock, no allocation, no C library but system calls. Memory is had when the thread begins.
 *
 * Only src/sampler includes this; src/rt calls what rt/runtime.h declares. */
#ifndef FV_SAMPLER_H
#define FV_SAMPLER_H

#include "rt/runtime.h"
#include "sampler/cfi.h"

#define FV_SAMPLE_NODES    16384 /* of the thread's call tree: 256 KiB of the rank file */
#define FV_SAMPLE_CONTEXTS 256   /* functions in their calling contexts: 462 KiB */
#define FV_SAMPLE_COSTS    8192  /* 192 KiB */
#define FV_SAMPLE_DEPTH    200   /* frames of a path */
#define FV_KNOWN           1024  /* functions that may be chosen */
#define FV_RING            1024  /* functions seen on the stack of late */
#define FV_LIVE            64    /* instances being measured */
#define FV_X_SLOTS         3     /* execution breakpoints; the fourth debug register watches the stack */

/* What is read where an instance begins and ends. */
struct fv_readings {
    uint64_t ticks, cpu_ns;
    uint64_t mpi_ticks, mpi_tool_ticks, mpi_calls, faults, switches;
};

/* An instance being measured. */
struct fv_live {
    uintptr_t slot, ret; /* of its return address, and that */
    uintptr_t function;
    struct fv_readings begin;
    uint64_t tool_ticks, tool_ns; /* of the sampler when it began */
    uint32_t context;
    uint32_t reads; /* of the slot, by others than its return */
    bool in_window;
};

struct fv_known {
    uintptr_t entry;
    uint32_t armed, entered;
    bool fast; /* returns sooner than the window can tell */
};

/* Frames of one sample. */
struct fv_walk {
    uintptr_t
        address[FV_SAMPLE_DEPTH]; /* one past what is meant: return addresses, and the innermost plus one */
    uintptr_t function[FV_SAMPLE_DEPTH]; /* entry of what it is in; 0: it may not be measured */
    unsigned count;
    bool cut; /* there were more, or they could not be told */
};

/* A performance event of the thread. */
struct fv_event_fd {
    int fd; /* -1: none */
    uint64_t id;
    uint32_t generation; /* of its use; what came from an earlier one is stale */
};

struct fv_x_slot {
    struct fv_event_fd event;
    uintptr_t entry; /* 0: idle */
    uint32_t known, age, skip;
    uint64_t armed_cpu_ns, armed_tool_ns;
};

struct fv_context {
    uint64_t window_ns;  /* 5th percentile of CPU times; 0: too few instances */
    uint64_t refresh_at; /* returns */
    uint32_t known;
};

struct fv_sampler {
    struct fv_thread *thread;
    struct fv_sampler_record *record; /* this and these in the file */
    struct fv_chunk_header *nodes, *instances, *costs;
    bool on; /* events are open */
    uint64_t random;
    uint64_t tool_ticks, tool_ns; /* to be subtracted from all that is open */
    uint64_t tool_mpi_ticks;      /* of tool_ticks, while the thread was in MPI */
    struct fv_stack stack;
    struct fv_event_fd tick, rw;
    struct fv_x_slot x[FV_X_SLOTS];
    struct fv_live live[FV_LIVE];
    unsigned depth;
    void *signal_stack; /* ours; not used where the application has one */
    struct fv_walk walk;
    /* calibration: durations go here */
    uint64_t *calibration;
    unsigned calibrated, calibration_room;
    /* the call tree: open addressing by (parent, address) */
    uint32_t node_table[2 * FV_SAMPLE_NODES];
    uintptr_t node_address[FV_SAMPLE_NODES];
    uint16_t node_context[FV_SAMPLE_NODES], node_cost[FV_SAMPLE_NODES]; /* index + 1 */
    struct fv_context context[FV_SAMPLE_CONTEXTS];
    struct fv_known known[FV_KNOWN];
    uint16_t known_table[2 * FV_KNOWN]; /* index + 1 */
    uint32_t known_count;
    uint16_t ring[FV_RING];
    uint32_t ring_used;
    uintptr_t unknown[16]; /* addresses in objects that the process has not met */
    uint32_t unknown_count;
    struct fv_cfi_cache cfi;
};

extern struct fv_calibration {
    uint64_t trap_ticks, trap_ns, spread_ticks;
} fv_sampler_calibration;

static inline uint64_t fv_sampler_random(struct fv_sampler *s)
{
    s->random += UINT64_C(0x9e3779b97f4a7c15);
    return fv_mix(s->random);
}

/* ---- contexts.c: tables of the thread ---- */

bool fv_tables_init(struct fv_sampler *s);
/* Unwinds from registers, innermost first. */
void fv_walk(struct fv_sampler *s, const struct fv_registers *registers);
/* The node of s->walk from frame `first` outwards; 0: no room. */
uint32_t fv_walk_intern(struct fv_sampler *s, unsigned first);
/* The context of an instance of the function that s->walk stands at the entry of; FV_SAMPLE_CONTEXTS: no
 * room. */
uint32_t fv_context_find(struct fv_sampler *s, uint32_t node, uint32_t known);
struct fv_instances *fv_context_record(struct fv_sampler *s, uint32_t context);
void fv_cost_add(struct fv_sampler *s, uint32_t node, bool in_mpi);
/* Index of a function that may be chosen; FV_KNOWN: no room. */
uint32_t fv_known_find(struct fv_sampler *s, uintptr_t entry);
/* A measured instance. */
void fv_context_add(struct fv_sampler *s, const struct fv_live *live, const struct fv_readings *end);
/* May the handler trap there? Not in what it uses itself. */
bool fv_exclude_init(void); /* false: we are linked into the program, and cannot tell ourselves from it */
bool fv_excluded(const struct fv_cfi_row *row);

#endif
