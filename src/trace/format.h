/* The rank file: what one process leaves on disk. The only thing that the runtime (which writes) and
 * the tools (which read) share; share/format.md is its prose.
 *
 *     page 0      struct fv_file_header, rewritten in place
 *     page 1..    chunks, each a whole number of pages: struct fv_chunk_header, then records of one type
 *
 * The file is mapped shared and its space is reserved before it is mapped, so a store into it outlives
 * SIGKILL and a full disk is an error code, never SIGBUS. A chunk is valid from the moment its header is
 * written; `used` grows only after a record is whole. Records of some types (cells, peers, threads,
 * bins, communicators) are updated in place for as long as the process runs. Everything is in the
 * writer's byte order, which the header tells. Times are raw ticks of the header's clock.
 *
 * Records of samples are in format_samples.h, those of threads that wait in format_threads.h, those of files in format_io.h, of memory in
 * format_memory.h, of the machine's sensors in format_sensors.h, of the machine itself in format_facts.h.
 *
 * The reader trusts nothing in here. Sizes are checked below, at compile time. */
#ifndef FV_FORMAT_H
#define FV_FORMAT_H

#include "base/histogram.h"
#include "trace/format_counters.h"
#include "trace/format_facts.h"
#include "trace/format_io.h"
#include "trace/format_samples.h"
#include "trace/format_memory.h"
#include "trace/format_sensors.h"
#include "trace/format_threads.h"

#include <stdbool.h>
#include <stdint.h>

#define FV_FILE_MAGIC "FVMPIRNK"
#define FV_FILE_VERSION 2u /* 1: chunks were whole pages */
#define FV_BYTE_ORDER UINT32_C(0x01020304)
#define FV_PAGE UINT64_C(4096)
#define FV_CHUNK_ALIGN UINT64_C(128) /* what one thread writes is not in the cache lines of another's, nor in the pair of them that is fetched together */
#define FV_CHUNK_MAGIC UINT32_C(0x4b435646) /* "FVCK" */

/* A tick count with the wall clock beside it, read together. */
struct fv_clock_point {
    uint64_t ticks;
    int64_t realtime_ns;  /* CLOCK_REALTIME, since the epoch */
    int64_t monotonic_ns; /* CLOCK_MONOTONIC */
};
_Static_assert(sizeof(struct fv_clock_point) == 24, "on-disk size");

enum fv_clock_kind { FV_CLOCK_TSC = 1, FV_CLOCK_MONOTONIC = 2 /* ticks are ns */ };

enum fv_file_state {
    FV_STATE_RUNNING = 1,   /* still this when the process is gone: it was killed */
    FV_STATE_FINALIZED = 2, /* MPI_Finalize returned (or the last session was finalised) */
    FV_STATE_EXITED = 3,    /* exit() without MPI_Finalize */
    FV_STATE_ABORTED = 4,   /* MPI_Abort was called; in_call shows where */
    FV_STATE_REPLACED = 5,  /* exec(): the process goes on as another program */
};
/* Did the program come to its end, or was it killed, or does it still run? */
static inline bool fv_state_is_end(uint32_t state)
{
    return state == FV_STATE_FINALIZED || state == FV_STATE_EXITED || state == FV_STATE_REPLACED;
}

/* What was not recorded, and why: counts, exact. */
enum fv_drop {
    FV_DROP_CELLS,       /* calls recorded without call path: the cell budget was full */
    FV_DROP_PATHS,       /* calls whose call path was not resolved: the path budget was full */
    FV_DROP_COLLECTIVES, /* collective calls not in the wait log (thinned away or over budget) */
    FV_DROP_PEERS,       /* messages missing from the peer table */
    FV_DROP_COMMS,       /* communicators, windows and files that could not be described */
    FV_DROP_CALLS,       /* calls not recorded at all */
    FV_DROP_DISK,        /* chunks that could not be had: disk full or I/O error */
    FV_DROP_REQUESTS,    /* requests not followed: their received bytes are missing */
    FV_DROP_EVENTS,      /* calls that are counted but not in the trace: its budget or the disk was full */
    FV_DROP_LABELS,      /* labels that there was no room for */
    FV_DROP_COUNT
};
#define FV_DROP_SLOTS 16

/* What the kernel accounts to a process or a thread, since it began. */
struct fv_usage {
    uint64_t user_ns, system_ns; /* CPU time */
    uint64_t faults;   /* of pages, minor and major */
    uint64_t switches; /* of context, voluntary and not */
};
_Static_assert(sizeof(struct fv_usage) == 32, "on-disk size");

/* What the kernel tells of the whole process beside that. */
struct fv_usage_process {
    uint64_t resident_peak; /* bytes of memory, the most so far; 0: nothing of this is known */
    uint64_t preempted;     /* of the context switches: those that the kernel forced */
    uint64_t ready_ns;      /* the main thread was ready to run and had no processor, so far; ... */
    uint64_t ready_known;   /* ... 1: it is known */
};
_Static_assert(sizeof(struct fv_usage_process) == 32, "on-disk size");

/* A signal whose action is to end the process. */
struct fv_fatal {
    uint32_t signal;  /* its number; 0: none */
    int32_t code;     /* si_code: above 0 it is the kernel's */
    uint64_t address; /* of a fault: what was touched, or the instruction */
    uint64_t ticks;   /* when */
    uint32_t tid, path; /* the thread; where it was: innermost one past the instruction; 0: not known */
    uint32_t sender;  /* the process that sent it; 0: the kernel */
    uint32_t pad;
};
_Static_assert(sizeof(struct fv_fatal) == 40, "on-disk size");

struct fv_file_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint64_t header_bytes; /* where the first chunk begins */
    uint64_t file_bytes;   /* end of the last chunk handed out */
    uint32_t state;        /* enum fv_file_state */
    uint32_t clock_kind;   /* enum fv_clock_kind */
    int32_t world_rank;    /* in MPI_COMM_WORLD; of the serial flavour 0 */
    int32_t world_size;
    uint32_t pid;
    int32_t exit_code; /* MPI_Abort's argument, else 0 */
    uint64_t process_start; /* /proc/self/stat field 22: with pid and boot_id, tells whether it still runs */
    uint8_t boot_id[16];    /* equal boot_id and clock_kind TSC: the same clock */
    uint64_t job;           /* equal for the ranks of one launch; 0 unknown */
    struct fv_clock_point first, last; /* two points give the ticks per second */
    uint64_t nominal_hz;       /* of the ticks, from the processor or a calibration; 0 unknown */
    uint64_t begin_ticks;      /* the measured interval: from entering MPI_Init ... */
    uint64_t end_ticks;        /* ... to leaving MPI_Finalize, or exit(); 0 while running */
    uint64_t init_ticks;       /* leave of MPI_Init; 0 if it was not seen */
    uint64_t finalize_ticks;   /* enter of MPI_Finalize; 0 if not reached */
    uint64_t paused_ticks;     /* sum of closed pauses */
    uint64_t paused_since;     /* 0: recording */
    uint64_t tool_start_ticks; /* fvmpi's own time: at start, ... */
    uint64_t tool_end_ticks;   /* ... at MPI_Finalize, ... */
    uint64_t tool_call_ticks;  /* ... and per recorded call, calibrated at start, in 1/256 tick */
    uint64_t dropped[FV_DROP_SLOTS];
    uint64_t coll_shift_ceiling; /* the wait log holds calls whose sequence number is a multiple of 2^this */
    uint64_t memory_bytes;  /* private memory of fvmpi in this process, beside this file: mapped; once it has ended what has pages of that */
    char host[64];
    char program[256];  /* path of the executable */
    char mpi[128];      /* first line of MPI_Get_library_version */
    char command[1024]; /* arguments joined with spaces, quoted as a shell needs it; cut ones end in "..." */
    char fvmpi[32];     /* version of the writer */
    char thread_level[24]; /* provided by MPI, by name */
    char experiment[256];  /* where it was first written; for messages */
    uint32_t cpus;         /* that the process may run on, at start; 0 unknown */
    uint32_t traced;       /* 1: there are events */
    uint64_t trace_stop_ticks; /* from then on there are none, because the budget was used up; 0: it was not */
    uint64_t cpu_mask[16];     /* of `cpus`: bit i of word j is processor 64 j + i; 0s: unknown, or beyond */
    uint32_t barrier;          /* enum fv_barrier_mode: asked for */
    uint32_t barrier_ranks;    /* ranks that agreed to insert barriers; 0: this one inserts none */
    uint32_t exit_seen;        /* 1: exit() was called, or main returned, with */
    int32_t exit_status;       /* this */
    struct fv_usage usage_first; /* of the process, at begin_ticks ... */
    struct fv_usage usage_last;  /* ... and last, at */
    uint64_t usage_ticks;        /* this; 0: it is not known */
    struct fv_fatal fatal;       /* the signal that ended the process, if it was seen */
    uint64_t forgotten_ticks;    /* before begin_ticks: MPI_Pcontrol(2), ... */
    uint64_t era;                /* ... so many times. What a thread of an earlier era recorded is forgotten */
    struct fv_usage_process process_first, process_last; /* as usage_first, usage_last; `ready_*` at start and end, and when time bins were folded last */
    uint64_t resident_peak_at[64]; /* the same: when the run was 2^i ticks old, or a little more; 0: not known */
    uint64_t others_ready_ns[2]; /* as `ready_ns`, of the other threads that live, or whose ends were seen: at start and end */
    uint64_t stolen_ns[2]; /* that a hypervisor took of a processor of this machine, the mean of all, since it booted: at start and end; 0: none, or not known */
    uint64_t throttled_ns[2]; /* that the quotas of its control groups kept their tasks, together, from processors, since they were made: at start and end; 0: no quota, or not known */
    uint64_t alive_ticks; /* of the last clock sample of any thread, or sample of sensors: a sign of life of a process that is killed; 0: none */
    uint32_t refused_error; /* errno of the last piece of this file that could not be had; 0: none, or not known */
    uint32_t pad;
};
_Static_assert(sizeof(struct fv_file_header) <= 4096, "the header fits one page");

/* Where fvmpi inserted barriers of its own: they perturb the run. */
enum fv_barrier_mode { FV_BARRIER_NONE = 0, FV_BARRIER_BEFORE = 1, FV_BARRIER_AFTER = 2 };

enum fv_chunk_type {
    FV_CHUNK_MODULES = 1,     /* struct fv_module_record, variable */
    FV_CHUNK_PATHS = 2,       /* struct fv_path_record */
    FV_CHUNK_COMMS = 3,       /* struct fv_comm_record, variable */
    FV_CHUNK_THREADS = 4,     /* one struct fv_thread_record */
    FV_CHUNK_CELLS = 5,       /* struct fv_cell, of one thread */
    FV_CHUNK_PEERS = 6,       /* struct fv_peer_record, of one thread */
    FV_CHUNK_COLLECTIVES = 7, /* struct fv_coll_record, of one thread */
    FV_CHUNK_BINS = 8,        /* one struct fv_bins, of one thread: of early versions */
    FV_CHUNK_CLOCK = 9,       /* struct fv_clock_point */
    FV_CHUNK_FUNCTIONS = 10,  /* struct fv_function_record, of the functions called so far */
    FV_CHUNK_SITES = 11,      /* struct fv_site_record, of one thread: what its events refer to */
    FV_CHUNK_EVENTS = 12,     /* of one thread: see events.h; `first` counts the calls before */
    FV_CHUNK_FILES = 13,      /* struct fv_file_record, variable */
    FV_CHUNK_WINDOWS = 14,    /* struct fv_window_record */
    FV_CHUNK_PACKED = 15,     /* one struct fv_packed: a chunk of events, compressed */
    FV_CHUNK_WAITING = 16,    /* one struct fv_waiting, of one thread */
    FV_CHUNK_NEIGHBOURS = 17, /* struct fv_neighbours, variable: of communicators with a topology, in a trace */
    FV_CHUNK_SAMPLER = 18,      /* one struct fv_sampler_record, of one thread */
    FV_CHUNK_SAMPLE_PATHS = 19, /* struct fv_path_record, of one thread: what its samples refer to */
    FV_CHUNK_INSTANCES = 20,    /* struct fv_instances, of one thread */
    FV_CHUNK_COSTS = 21,        /* struct fv_cost, of one thread */
    FV_CHUNK_INSTANCE_LOG = 22,  /* struct fv_logged_instance, of one thread: in a trace */
    FV_CHUNK_SAMPLE_LOG = 48,    /* struct fv_logged_sample, of one thread: in a trace */
    FV_CHUNK_METRIC_EVENTS = 23, /* struct fv_metric_event, of the process */
    FV_CHUNK_SYNC_OBJECTS = 24,  /* struct fv_sync_object, of the process: locks and what else threads wait for */
    FV_CHUNK_SYNC = 25,          /* struct fv_sync_record, of one thread */
    FV_CHUNK_SYNC_THREAD = 26,   /* one struct fv_sync_thread, of one thread */
    FV_CHUNK_LIVES = 27,         /* struct fv_thread_life, of the process */
    FV_CHUNK_OMP = 28,           /* struct fv_omp_region, of one thread */
    FV_CHUNK_OMP_THREADS = 29,   /* struct fv_omp_thread, of one thread: of its regions */
    FV_CHUNK_SECTIONS = 30,       /* struct fv_section, of the process */
    FV_CHUNK_SECTION_SETS = 31,   /* struct fv_section_set, of the process */
    FV_CHUNK_SECTION_TIMES = 32,  /* struct fv_section_times, of one thread */
    FV_CHUNK_SECTION_LOSSES = 33, /* one struct fv_section_losses, of one thread */
    FV_CHUNK_EVENT_COUNTS = 38,   /* struct fv_event_counts, of one thread */
    FV_CHUNK_OPTIONS = 39,        /* struct fv_option_record, of the process */
    FV_CHUNK_SHADOWS = 40,        /* struct fv_shadow_record, of the process */
    FV_CHUNK_TIME_BINS = 41,      /* one struct fv_time_bins, of one thread */
    FV_CHUNK_SECTION_OCTAVES = 42, /* struct fv_octave, of one thread: of the times of its sections' instances */
    FV_CHUNK_REGIONS = 43,        /* struct fv_region_record, of one thread */
    FV_CHUNK_COST_REGIONS = 45,   /* struct fv_cost_region, of one thread */
    FV_CHUNK_INSTANCE_COMPUTING = 46, /* struct fv_instance_computing, of one thread */
    FV_CHUNK_RECENT_INSTANCES = 53, /* struct fv_recent_instances, of one thread */
    FV_CHUNK_INSTANCE_EVENTS = 54,  /* struct fv_instance_events, of one thread */
    FV_CHUNK_LOGGED_EVENTS = 55,    /* struct fv_logged_events, of one thread: in a trace */
    FV_CHUNK_SECTION_PROCESS = 50, /* struct fv_section_process, of one thread: beside each SECTION_TIMES, with the same index */
    FV_CHUNK_SWITCHES = 51,       /* struct fv_switch_record, of one thread */
    FV_CHUNK_LONG_CALLS = 47,         /* struct fv_long_calls, of one thread */
    FV_CHUNK_INTERPRETER = 44,    /* one struct fv_interpreter_record, of the process */
    FV_CHUNK_GRIDS = 56,          /* struct fv_grid, variable: of communicators with a Cartesian topology */
    FV_CHUNK_FUNCTION_CALLS = 57, /* struct fv_function_calls, of one thread: of functions that the compiler instrumented */
    FV_CHUNK_IO_FILES = 60,       /* struct fv_io_file, variable */
    FV_CHUNK_IO = 61,             /* struct fv_io_record, of one thread */
    FV_CHUNK_IO_THREAD = 62,      /* one struct fv_io_thread, of one thread */
    FV_CHUNK_IO_REGIONS = 63,     /* struct fv_io_region, of one thread */
    FV_CHUNK_IO_PROCESS = 64,     /* one struct fv_io_process */
    FV_CHUNK_IO_HANDLES = 65,     /* struct fv_io_handle, of the process: in a trace */
    FV_CHUNK_OMP_WORK = 70,       /* struct fv_omp_work, of one thread */
    FV_CHUNK_SOLO = 71,           /* struct fv_solo_record, of the process */
    FV_CHUNK_MEMORY_PROCESS = 80, /* one struct fv_memory_process, of the process */
    FV_CHUNK_MEMORY_SUMS = 81,    /* one struct fv_memory_sums, of one thread */
    FV_CHUNK_MEMORY_SITES = 82,   /* struct fv_memory_site, of one thread */
    FV_CHUNK_MEMORY_PATHS = 83,   /* struct fv_memory_path, of the process */
    FV_CHUNK_MEMORY_SERIES = 84,  /* one struct fv_memory_series, of the process */
    FV_CHUNK_SENSOR_PROCESS = 90, /* one struct fv_sensor_process, of the process */
    FV_CHUNK_SENSOR_SERIES = 91,  /* struct fv_sensor_series, variable */
    FV_CHUNK_SENSOR_SAMPLES = 92, /* struct fv_sensor_sample, variable */
    FV_CHUNK_FACTS = 93,          /* struct fv_fact, variable */
    FV_CHUNK_LABELS = 94,         /* struct fv_label_record, variable, of the process */
    FV_CHUNK_AFFINITY = 95,       /* struct fv_affinity, of the process */
    FV_CHUNK_NOISE = 96,          /* struct fv_noise_record, of one thread */
    FV_CHUNK_COUNTER_EVENTS = 97, /* struct fv_counter_event, of the process */
    FV_CHUNK_COUNTER_VALUES = 98, /* struct fv_counter_values, of one thread: the first is of all of it */
    FV_CHUNK_COUNTER_PHASES = 99, /* struct fv_counter_phase, of one thread */
    FV_CHUNK_REMARKS = 110,       /* struct fv_remark_record, of the process */
    FV_CHUNK_FUNCTION_LOSSES = 58, /* one struct fv_function_losses, of one thread */
};

struct fv_chunk_header {
    uint32_t magic;
    uint16_t type;    /* enum fv_chunk_type; unknown types are skipped */
    uint16_t version; /* of the record, 1 */
    uint64_t bytes;   /* whole chunk, header included; a multiple of FV_CHUNK_ALIGN */
    uint64_t used;    /* bytes of whole records behind this header */
    uint32_t thread;  /* index of the owner (fv_thread_record.id); ~0: the process */
    uint32_t pad;
    uint64_t first; /* index of the chunk's first record among its type and thread (fixed-size types) */
    uint64_t check; /* fv_chunk_check(): of the fields above but `used` */
    uint64_t reserved[2];
};
_Static_assert(sizeof(struct fv_chunk_header) == 64, "on-disk size");

#define FV_NO_THREAD UINT32_C(0xffffffff)

/* What a chunk's `check` must be. FNV-1a over the fixed fields, so that damage to them is seen. */
static inline uint64_t fv_chunk_check(const struct fv_chunk_header *c)
{
    const uint64_t words[] = { c->magic, c->type, c->version, c->bytes, c->thread, c->first };
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
        hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* A loaded ELF object. Addresses of call paths are stored as (module, address - bias), which is the
 * object's own virtual address and the same in every process that maps this build-id. */
struct fv_module_record {
    uint32_t bytes; /* of this record, path included, a multiple of 8 */
    uint32_t id;    /* from 1 */
    uint64_t bias;  /* load address minus link address */
    uint64_t begin, end; /* mapped range when first seen */
    uint32_t build_id_bytes; /* 0: none */
    uint32_t path_bytes;     /* without the final NUL, which is there */
    uint8_t build_id[32];
    char path[];
};
_Static_assert(sizeof(struct fv_module_record) == 72, "on-disk size");

/* A function of source code that an interpreter runs is a module, too: it has the path "FILE:FUNCTION", its build-id is FV_CODE_ID
 * and a hash of that path, and the offset of a call path in it is the line, 0 where that is not known. */
#define FV_CODE_ID "code:"
#define FV_CODE_ID_BYTES (sizeof(FV_CODE_ID) - 1 + sizeof(uint64_t))

#define FV_MODULE_UNKNOWN 0u                     /* offset is an absolute address */
#define FV_MODULE_TRUNCATED UINT32_C(0xffffffff) /* outer frames were cut at the depth limit */

/* A node of the process's call tree. Node ids count from 1 over all PATHS chunks; node 0 is the root,
 * outside of main. A call path is its innermost node; walking `parent` gives the outer frames. Offsets
 * are *return* addresses: look up offset - 1. */
struct fv_path_record {
    uint32_t parent;
    uint32_t module;
    uint64_t offset;
};
_Static_assert(sizeof(struct fv_path_record) == 16, "on-disk size");

/* The interpreter of Python in the process. */
enum fv_interpreter_state {
    FV_INTERPRETER_UNTRIED = 0, /* it ran no code while a call was recorded */
    FV_INTERPRETER_READ = 1,    /* its frames stand in call paths, in place of the interpreter's own */
    FV_INTERPRETER_UNKNOWN = 2, /* how its frames are read is not known */
};
struct fv_interpreter_record {
    char version[32];
    uint32_t state; /* enum fv_interpreter_state */
    uint32_t pad;
    uint64_t unread; /* call paths whose frames could not be read */
    uint64_t reserved[2];
};
_Static_assert(sizeof(struct fv_interpreter_record) == 64, "on-disk size");

enum fv_function_class {
    FV_CLASS_OTHER = 0,      /* local: datatypes, info, groups, errors, environment */
    FV_CLASS_P2P = 1,        /* sends and receives, probes */
    FV_CLASS_COMPLETION = 2, /* wait and test */
    FV_CLASS_COLLECTIVE = 3, /* blocking collectives, also those that start non-blocking ones */
    FV_CLASS_RMA = 4,
    FV_CLASS_IO = 5,
    FV_CLASS_COMM = 6, /* creation and destruction of communicators, topologies, windows, files */
    FV_CLASS_INIT = 7, /* start and end of MPI, sessions, spawn */
    FV_CLASS_COUNT
};

/* Which ranks a blocking collective waits for (facts: wait states). */
enum fv_wait_rule {
    FV_RULE_NONE = 0,
    FV_RULE_NXN,     /* all wait for the last sender */
    FV_RULE_BARRIER, /* all wait for the last to enter; MPI_Finalize too */
    FV_RULE_FROM_ROOT, /* non-roots wait for the root: broadcast, scatter */
    FV_RULE_TO_ROOT,   /* the root waits for the others: reduce, gather */
    FV_RULE_SCAN,      /* a rank waits for lower ranks */
    FV_RULE_P2P,       /* point to point: waiting is estimated */
};

struct fv_function_record {
    uint16_t id;        /* as in cells */
    uint8_t class;      /* enum fv_function_class */
    uint8_t wait;       /* enum fv_wait_rule */
    char name[44];      /* "MPI_Send", NUL-padded */
};
_Static_assert(sizeof(struct fv_function_record) == 48, "on-disk size");

/* A run of ranks: first, first + stride, ... */
struct fv_rank_run {
    int32_t first, stride, count;
};

enum fv_comm_flags {
    FV_COMM_WORLD = 1,
    FV_COMM_SELF = 2,
    FV_COMM_INTER = 4,
    FV_COMM_INFERRED = 8, /* met without having seen its creation: uid is of this process alone */
    FV_COMM_FREED = 16,
    FV_COMM_CHANNELS = 32, /* none of MPI's: partitioned operations of `parent`, in a trace (src/rt/channels.c) */
    FV_COMM_UNLISTED = 64, /* no runs here: some of its other ranks list the members (src/rt/comm.c) */
};

/* A communicator. `uid` is equal on all its ranks and unique in the job (see src/rt/comm.h). The runs
 * give the world ranks of the local group in order, then of the remote group. */
struct fv_comm_record {
    uint32_t bytes; /* of this record, runs included, a multiple of 8 */
    uint32_t id;    /* of this process, from 1; 0 in a cell: no communicator */
    uint64_t uid;
    uint64_t parent; /* uid; 0 none */
    uint64_t handle; /* as the application holds it */
    uint64_t created, freed; /* ticks; 0: not seen */
    uint32_t flags;          /* enum fv_comm_flags */
    int32_t rank, size;      /* in the local group */
    int32_t remote_size;     /* 0 unless FV_COMM_INTER */
    uint32_t runs, remote_runs;
    uint64_t collectives; /* collective calls seen on it */
    char name[64];        /* NUL-padded; "" unless MPI_Comm_set_name or predefined */
    struct fv_rank_run run[];
};
_Static_assert(sizeof(struct fv_comm_record) == 144, "on-disk size");

/* Where a thread is inside MPI, right now. */
struct fv_in_call {
    uint64_t begin; /* ticks; 0: not in MPI */
    uint32_t function;
    uint32_t path;
    uint64_t comm; /* handle; 0 none */
    int32_t peer;  /* rank in comm, or FV_ANY_PEER, FV_NO_PEER */
    int32_t tag;
};
_Static_assert(sizeof(struct fv_in_call) == 32, "on-disk size");
#define FV_NO_PEER INT32_MIN        /* none, or MPI_PROC_NULL */
#define FV_ANY_PEER (INT32_MIN + 1) /* MPI_ANY_SOURCE */

enum fv_waited_kind {
    FV_WAITED_SEND = 1,
    FV_WAITED_RECEIVE = 2,
    FV_WAITED_COLLECTIVE = 3,
    FV_WAITED_OPERATION = 4, /* of RMA, on a file, ... */
};

/* One of several things that a call waits for. */
struct fv_waited {
    uint32_t comm;  /* fv_comm_record.id; 0: unknown */
    int32_t peer;   /* rank in comm, or FV_ANY_PEER, FV_NO_PEER */
    int32_t tag;    /* negative: any. Of a collective its sequence number on comm, or -1 */
    uint16_t function; /* that began it */
    uint8_t kind;      /* enum fv_waited_kind */
    uint8_t pad;
};
_Static_assert(sizeof(struct fv_waited) == 16, "on-disk size");

/* What the call waits for that a thread is in: the requests of MPI_Wait and its kin, as they were when it
 * began, or the two halves of an MPI_Sendrecv. Of an earlier call unless `begin` is that of fv_in_call. */
#define FV_WAITED_MOST 32
struct fv_waiting {
    uint64_t begin;
    uint32_t count; /* all of them; more than `kept`: the others are unknown, or too many */
    uint32_t kept;
    struct fv_waited item[FV_WAITED_MOST];
};
_Static_assert(sizeof(struct fv_waiting) == 528, "on-disk size");

/* A thread that called MPI. A slot is taken over by a later thread when its thread has ended. */
struct fv_thread_record {
    uint32_t id;
    uint32_t tid;     /* of its present or last thread */
    uint32_t threads; /* that used this slot */
    uint32_t main;    /* 1: the thread that initialised MPI */
    uint64_t begin, end; /* ticks; end 0: alive */
    struct fv_in_call in_call;
    uint64_t last;       /* end of the last recorded call, ticks */
    uint64_t calls;      /* recorded */
    uint64_t mpi_ticks;  /* in them */
    uint64_t path_misses;  /* call paths unwound */
    uint64_t path_evictions; /* of the call path cache */
    uint64_t cold_ticks;   /* fvmpi's own time on rare paths: unwinding, growing */
    uint64_t mpi_bytes;    /* sent and received, in recorded calls */
    uint64_t samples;      /* of its CPU clock (--sample) */
    uint64_t lock_ticks;   /* it waited for locks and barriers of threads (--threads) */
    uint64_t era;          /* as the header's when it recorded last */
    uint64_t user_ns, system_ns; /* CPU time of the slot's threads while they were recorded, to their ends or MPI_Finalize, ... */
    uint64_t usage_of;     /* ... of so many of `threads`; fewer: of the last one it is not known */
    uint32_t switches;     /* 1: SWITCHES have those of the slot's threads; 2: the kernel did not let us; 0: not looked at */
    uint32_t waited;       /* recording its calls waited so long, for pages of this file, in 2^FV_WAITED_SHIFT ticks */
};
#define FV_WAITED_SHIFT 10
_Static_assert(sizeof(struct fv_thread_record) == 176, "on-disk size");

/* Statistics of the calls of one thread that share (path, function, comm, size bucket). The key may
 * occur more than once (a reader adds them up): when `calls` is full, or where a thread completes what
 * another posted. Time is exact: the squares are summed as 128-bit integers, which needs no division
 * and, unlike a running mean, loses nothing. */
struct fv_cell {
    uint32_t path;
    uint32_t comm;         /* fv_comm_record.id; 0 none */
    uint16_t function;
    uint8_t size_bucket;   /* fv_log2_bucket() of bytes sent, else of bytes received; fv_cell_has_size() */
    uint8_t flags;         /* 0 */
    uint32_t calls;
    uint64_t time_sum, time_min, time_max; /* ticks */
    uint64_t square_low, square_high;      /* sum of ticks^2 */
    uint64_t bytes_sent, bytes_received;
    uint32_t sends, receives; /* messages, of 0 bytes too, or calls with sent (received) bytes: the size histogram */
    uint64_t first, last;     /* enter of the first, leave of the last call, ticks */
    uint64_t barrier_ticks;   /* of time_sum, in the barriers that fvmpi inserted ... */
    uint32_t barriers;        /* ... into so many of the calls */
    uint32_t section;         /* SECTION_SETS: what was open; 0: nothing */
    uint64_t before_ticks;    /* outside of MPI, from the end of the thread's call before to the begin of a call, ... */
    uint32_t from;            /* ... where that call before was at this path; 0: there was none, or its path is not known */
    uint32_t from_calls;      /* ... of the calls behind the first so many. REGIONS have the others */
    uint32_t time_histogram[FV_TIME_BUCKETS];
};
_Static_assert(sizeof(struct fv_cell) == 256, "on-disk size");
/* Cells of calls over the budget have neither path nor size. */
static inline bool fv_cell_has_size(const struct fv_cell *cell)
{
    return cell->size_bucket || cell->path || cell->comm;
}
#define FV_FROM_SEVERAL UINT32_C(0xffffffff) /* `from` of a cell: of several paths, because there was no room for REGIONS */

/* Computing between two calls of a thread: what a cell had in before_ticks for a `from` that was followed by another one.
 * The key occurs once; what the cell has at present comes on top. */
struct fv_region_record {
    uint32_t from; /* PATHS of the call before; 0: as in struct fv_cell */
    uint32_t cell; /* index among the thread's CELLS, from 0: the call behind it */
    uint64_t count, ticks;
};
_Static_assert(sizeof(struct fv_region_record) == 24, "on-disk size");

/* How long a thread had no processor in the computing between two calls. The key is as in struct fv_region_record, and occurs
 * once; where it does not occur, the thread had its processor all the time. */
struct fv_switch_record {
    uint32_t from, cell;
    uint64_t blocked, blocked_ns;     /* it waited for something: how often, and how long until it ran again */
    uint64_t preempted, preempted_ns; /* another was given its processor */
    uint64_t unseen; /* switches that were too many for the room, at least so many: times hold the others */
};
_Static_assert(sizeof(struct fv_switch_record) == 48, "on-disk size");

/* Before a blocking collective call of the wait log, since the one before it: the thread had no processor, outside of MPI. Calls that have no record kept theirs all
 * the time, if fv_thread_record.switches is 1. In the order of time, but for the first one. */
struct fv_noise_record {
    uint64_t begin;        /* fv_coll_record.begin; 0, of the first: the sum of what there was no room for, behind all others */
    uint64_t preempted_ns; /* another was given its processor, ... */
    uint64_t blocked_ns;   /* it waited for something: until it ran again */
    uint32_t preempted;    /* ... so often */
    uint32_t unseen;       /* as in struct fv_switch_record */
};
_Static_assert(sizeof(struct fv_noise_record) == 32, "on-disk size");

/* A call site as events name it: by its number among the sites of its thread, from 0. */
struct fv_site_record {
    uint32_t path;
    uint16_t function;
    uint16_t pad;
};
_Static_assert(sizeof(struct fv_site_record) == 8, "on-disk size");

/* The payload of a full chunk of events as a frame of Zstandard. Its thread goes on in the chunk that it was
 * taken from: where a process dies in between, both hold the same calls, and `first` of both is equal. */
struct fv_packed {
    uint64_t used;  /* bytes of the payload */
    uint64_t bytes; /* of the frame behind this */
};
_Static_assert(sizeof(struct fv_packed) == 16, "on-disk size");
/* A payload is at most so many times as long as its frame: writers leave others as they are, so that readers
 * need not do work without bounds for a small file. */
#define FV_PACKED_MOST 256

/* A file that was opened with MPI_File_open. */
struct fv_file_record {
    uint32_t bytes; /* of this record, name included, a multiple of 8 */
    uint32_t id;    /* of this process, from 1 */
    uint32_t comm;
    uint32_t mode;       /* enum fv_file_mode: MPI_MODE_* differ between MPIs */
    uint32_t name_bytes; /* without the final NUL, which is there */
    uint32_t pad;
    char name[];
};
_Static_assert(sizeof(struct fv_file_record) == 24, "on-disk size");

/* Whom a rank exchanges with in the neighbourhood collectives of a communicator, in the order of their buffers:
 * ranks in the communicator, one that stands there twice is there twice. Beyond the edge of a grid is nobody,
 * who is left out. */
struct fv_neighbours {
    uint32_t bytes;   /* of this record, ranks included, a multiple of 8 */
    uint32_t comm;    /* fv_comm_record.id */
    uint32_t sources, destinations; /* how many */
    uint32_t listed;  /* sources + destinations; 0: over budget, they are unknown */
    uint32_t pad;
    int32_t rank[]; /* sources, then destinations */
};
_Static_assert(sizeof(struct fv_neighbours) == 24, "on-disk size");

struct fv_grid_dimension {
    uint32_t size;
    uint32_t periodic; /* 1: the last is beside the first */
};

/* The Cartesian grid of a communicator, the same on all its ranks. Their coordinates follow from their ranks in
 * it: the last dimension counts fastest (MPI-4.1, 8.5: row-major). */
struct fv_grid {
    uint32_t bytes; /* of this record, dimensions included, a multiple of 8 */
    uint32_t comm;  /* fv_comm_record.id */
    uint32_t dimensions;
    uint32_t pad;
    struct fv_grid_dimension dimension[];
};
_Static_assert(sizeof(struct fv_grid) == 16, "on-disk size");

/* A window of one-sided communication. With the communicator's uid, `sequence` (of the collective call that
 * made it) is the same on all ranks and no other window's. */
struct fv_window_record {
    uint32_t id; /* of this process, from 1 */
    uint32_t comm;
    uint64_t sequence;
};
_Static_assert(sizeof(struct fv_window_record) == 16, "on-disk size");

enum fv_file_mode {
    FV_FILE_RDONLY = 1,
    FV_FILE_WRONLY = 2,
    FV_FILE_RDWR = 4,
    FV_FILE_CREATE = 8,
    FV_FILE_EXCL = 16,
    FV_FILE_APPEND = 32,
    FV_FILE_DELETE_ON_CLOSE = 64,
};

/* Messages that a rank sent to another (point to point and RMA put). */
struct fv_peer_record {
    int32_t world_rank;
    int32_t pad;
    uint64_t messages, bytes;
};
_Static_assert(sizeof(struct fv_peer_record) == 24, "on-disk size");

enum fv_coll_flags { FV_COLL_ROOT = 1, FV_COLL_SENDS = 2, FV_COLL_RECEIVES = 4 };

/* One blocking collective call. With the same (communicator uid, sequence) of the other ranks it gives
 * the exact waiting time; both ends are kept, so that a wait can be clipped to its own call and clocks
 * of different hosts be checked against each other. */
struct fv_coll_record {
    uint64_t begin, end; /* ticks */
    uint32_t sequence;   /* of the collective calls on this communicator, from 0 */
    uint32_t cell_flags; /* index of the thread's cell << 3 | enum fv_coll_flags */
};
_Static_assert(sizeof(struct fv_coll_record) == 24, "on-disk size");

#define FV_BINS 256

/* What a thread did when: ticks inside MPI per function class and time bin. */
struct fv_bin_bank {
    uint64_t origin, width; /* ticks */
    uint64_t ticks[FV_BINS][FV_CLASS_COUNT];
};
/* When the run outgrows the bins their width doubles, in place: pairs of bins are added up one after the other, so that what a killed
 * process left can be finished by its reader (trace/bins.h). */
struct fv_time_bins {
    uint64_t folding; /* the width that is doubled; in effect while it is the bank's */
    uint64_t folded;  /* pairs that are done: each is where it belongs, ... */
    uint64_t first[FV_CLASS_COUNT]; /* ... but the first one is here */
    struct fv_bin_bank bank;
};
_Static_assert(sizeof(struct fv_time_bins) == 16 + 64 + 16 + FV_BINS * 64, "on-disk size");

/* Of early versions: pairs were folded into the other bank, then `active` changed. */
struct fv_bins {
    uint64_t active; /* 0 or 1 */
    struct fv_bin_bank bank[2];
};

/* An option that was not at its default, as it was set. */
struct fv_option_record {
    char variable[32]; /* FVMPI_...; both NUL-padded */
    char value[224];   /* cut, if it is longer */
};
_Static_assert(sizeof(struct fv_option_record) == 256, "on-disk size");

/* An executable or a library that defines MPI functions in front of fvmpi: calls of them are not recorded. Functions whose calls it hands
 * on are taken out when the first one comes. */
struct fv_shadow_record {
    char object[240];   /* its path, NUL-padded, cut if it is longer */
    char names[256];    /* of functions, with blanks between, as many as there is room for, ... */
    uint32_t named;     /* ... which are so many, ... */
    uint32_t functions; /* ... of these; 0: it hands on all calls */
    uint32_t finalize;  /* 1: MPI_Finalize is one */
    uint32_t pad;
};
_Static_assert(sizeof(struct fv_shadow_record) == 512, "on-disk size");

/* What the process could not record, in the words that it said, where no counter tells it. */
enum fv_remark_kind {
    FV_REMARK_LOSS,
    FV_REMARK_FORKS,    /* no loss: it made children by fork(), and no child of any program is recorded */
    FV_REMARK_CHILDREN, /* it waited for children, however it made them */
};
struct fv_remark_record {
    char text[440]; /* NUL-padded; cut, if it is longer */
    uint32_t kind;  /* enum fv_remark_kind */
    uint32_t pad;
};
_Static_assert(sizeof(struct fv_remark_record) == 448, "on-disk size");

/* ---- sections of the program that it marks itself (fvmpi.h) ---- */

#define FV_SECTION_NAME 64
enum fv_section_flags { FV_SECTION_OTHERS = 1 }; /* stands for all that found no place in the table */

/* A section, which its name and number tell from others. Its id counts from 1 over all SECTIONS chunks. */
struct fv_section {
    char name[FV_SECTION_NAME]; /* cut to 63 bytes, NUL-padded */
    int32_t number;
    int32_t level; /* of the first begin */
    uint32_t flags; /* enum fv_section_flags */
    uint32_t pad;
};
_Static_assert(sizeof(struct fv_section) == 80, "on-disk size");

enum fv_label_origin { FV_LABEL_PROGRAM = 1, FV_LABEL_OUTSIDE = 2 /* fvmpi label */ };
#define FV_LABEL_MOST 4000

/* A moment that was marked. */
struct fv_label_record {
    uint32_t bytes; /* of this record, a multiple of 8 */
    uint16_t origin; /* enum fv_label_origin */
    uint16_t text_bytes; /* without the final NUL, which is there */
    uint64_t ticks;
    char text[]; /* any bytes */
};
_Static_assert(sizeof(struct fv_label_record) == 16, "on-disk size");

/* Sections that were open together on a thread: those of the set `outer`, and one begun after them. Ids count from 1;
 * `outer` is smaller; 0 is the empty set. */
struct fv_section_set {
    uint32_t outer;
    uint32_t section;
};
_Static_assert(sizeof(struct fv_section_set) == 8, "on-disk size");

/* Counters of a thread, of which a section takes the difference. */
struct fv_section_counters {
    uint64_t calls, mpi_ticks, mpi_bytes; /* as in fv_thread_record */
    uint64_t samples, lock_ticks;         /* likewise */
    struct fv_usage usage;                /* 0s: not measured */
};
_Static_assert(sizeof(struct fv_section_counters) == 72, "on-disk size");

/* What one thread did in one section. Instances are from begin to end; of one within another of the same section the
 * outer is measured. Pauses are left out of times. */
struct fv_section_times {
    uint32_t section; /* SECTIONS */
    uint32_t measured; /* 1: `usage` is */
    uint64_t count;   /* instances that have ended */
    uint64_t ticks, ticks_min, ticks_max; /* of them */
    struct fv_section_counters sum;       /* in them */
    uint64_t opened;       /* ticks: when the instance began that is open; 0: none is */
    uint64_t paused;       /* of that one: sum of pauses until then */
    struct fv_section_counters since; /* counters then */
    uint64_t nested;       /* begins within an instance */
    uint64_t overlapped;   /* ends while a section was open that had begun later */
    uint64_t unended;      /* instances that the thread's end ended */
    uint64_t unbegun;      /* ends without a begin on any thread ... */
    uint64_t elsewhere;    /* ... and with one on another thread, which is still open there */
    uint64_t last;         /* ticks: when the last instance ended; 0: none has */
    double ticks_m2;       /* of ticks: sum of squared deviations of the instances; 0 in files of before */
};
_Static_assert(sizeof(struct fv_section_times) == 256, "on-disk size");

/* CPU time of the whole process while a thread was in a section. Not of files of before, and not measured without `measured`. */
struct fv_section_process {
    uint32_t section, pad;
    uint64_t cpu_ns;   /* in instances that have ended */
    uint64_t since_ns; /* the process's when the instance began that is open */
};
_Static_assert(sizeof(struct fv_section_process) == 24, "on-disk size");

/* Of a histogram of durations, in ticks, those of one octave (base/histogram.h): made when the first one falls into it. A key
 * may occur more than once. The histogram's sum is that of the instances, or less where there was no room. */
struct fv_octave {
    uint32_t of;     /* whose: of sections, as in SECTION_TIMES */
    uint32_t octave; /* below FV_OCTAVES */
    uint64_t count[FV_OCTAVE_BUCKETS];
};
_Static_assert(sizeof(struct fv_octave) == 72, "on-disk size");

struct fv_section_losses {
    uint64_t above_level; /* begins of sections above --section-level */
    uint64_t too_deep;    /* begins that were not measured: too many sections were open */
    uint64_t sets;        /* begins whose MPI calls cannot be told from those of the sections around it */
    uint64_t others;      /* begins counted in FV_SECTION_OTHERS */
    uint64_t interrupted; /* begins and ends in a signal handler that interrupted another: not measured */
    uint64_t unmeasured;  /* begins that were not measured: no disk */
    uint64_t untraced;    /* begins and ends that the trace has too late or not: in a call, or without room */
    uint64_t reserved;
};
_Static_assert(sizeof(struct fv_section_losses) == 64, "on-disk size");

/* ---- functions that the compiler instrumented (--functions) ---- */

enum fv_function_calls_flags {
    FV_CALLS_COUNTED = 1, /* too short to be measured on: from then on its calls are counted alone */
};

/* A function at a place of a thread's tree of calls, which begins with what nobody that is instrumented called. Of calls of itself, at
 * whatever depth, by the same call the outermost is measured. Pauses are left out of times. */
struct fv_function_calls {
    uint32_t parent; /* the caller: counts from 1 over the thread's records, and is smaller; 0: none that is known */
    uint32_t node;   /* PATHS, from 1: the function's frame, one past its entry, behind the path of the call; of one that is inlined, behind the frame
                        of the function that it is in; 0: not known */
    uint32_t module; /* of the function ... */
    uint32_t flags;  /* enum fv_function_calls_flags */
    uint64_t offset; /* ... the function itself, not a return address */
    uint64_t calls;  /* begun; of them: */
    uint64_t nested, counted; /* within another of the same record; not measured */
    uint64_t ended;  /* measured, and not nested */
    uint64_t ticks, ticks_min, ticks_max; /* of those */
    uint64_t self_ticks; /* of nested ones, too: outside of functions that they called */
    uint64_t mpi_ticks, mpi_self_ticks; /* of both: in MPI, by the thread itself */
    uint64_t opened; /* ticks: when the call began that is under way; 0: none is ... */
    uint64_t paused; /* ... sum of pauses until then ... */
    uint64_t mpi_since; /* ... and fv_thread_record.mpi_ticks then */
    uint64_t last;   /* ticks: when the last one ended; 0: none has */
};
_Static_assert(sizeof(struct fv_function_calls) == 136, "on-disk size");

struct fv_function_losses {
    uint64_t too_deep;    /* calls in a stack that was too deep: their time is their callers' */
    uint64_t no_room;     /* likewise, for want of memory or disk */
    uint64_t left;        /* calls that were left without an end: by exceptions, longjmp(), or the thread's end */
    uint64_t unbegun;     /* ends without a begin */
    uint64_t interrupted; /* begins and ends in a signal handler that interrupted another: not measured */
    uint64_t untraced;    /* begins and ends that are not in the trace */
    uint64_t batch_ticks; /* what measuring 256 calls takes; 0: not known */
    uint64_t reserved;
};
_Static_assert(sizeof(struct fv_function_losses) == 64, "on-disk size");

#endif
