/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank file: what one process leaves on disk. The only thing that the runtime (which writes) and
 * the tools (which read) share; share/format.md is its prose.
 *
 *     page 0      struct fv_file_header, rewritten in place
 *     page 1..    chunks, each a multiple of FV_CHUNK_ALIGN bytes: struct fv_chunk_header, then records of one type
 *
 * The file is mapped shared and its space is reserved before it is mapped, so a store into it outlives
 * SIGKILL and a full disk is an error code, never SIGBUS. A chunk is valid from the moment its header is
 * written; `used` grows only after a record is whole. Records of some types (cells, peers, threads,
 * bins, communicators) are updated in place for as long as the process runs. Everything is in the
 * writer's byte order, which the header tells. Times are raw ticks of the header's clock.
 *
 * Each subject has a header of its own: format_samples.h, format_threads.h and so on.
 *
 * A record is described here and nowhere else. gen_records.py reads these headers and makes a table of them
 * (format_words.h). From that come the names and sizes of chunks, the reader's checks, fvmpi dump, the words of
 * enumerations and the tables of share/format.md. So a new record is its struct and its row in enum fv_chunk_type. What
 * the C says is not repeated. The rest stands in brackets at the beginning of a field's comment, several with commas
 * between:
 *
 *     [ticks]          the unit, unless the name ends with it: ticks, ns, bytes, hz, ppm. [number]: none, although the
 *                      name is like one
 *     [hex]            printed in hexadecimal: addresses, hashes, masks
 *     [enum fv_x]      one of its values, or, of an enum fv_x_flags, a sum of them. [enum fv_x_flags:3]: the lowest
 *                      three bits are
 *     [by enum fv_x]   an array that is indexed by it
 *     [count n]        so many elements of the array are there: a field beside it, a + b, or `rest`, to the end of the
 *                      record. Text has a NUL behind them
 *
 * Each field has a comment or a unit. The word for a value is its constant without what all of the enumeration begin
 * with; [count]: it is no value. A record ends with an array of open length if it has a length of its own; then it
 * begins with uint32_t bytes, a multiple of 8. `pad` and `reserved` are zero.
 *
 * The reader trusts nothing in here. Sizes are checked below, at compile time. */
#ifndef FV_FORMAT_H
#define FV_FORMAT_H

#include "base/histogram.h"
#include "trace/format_comms.h"
#include "trace/format_counters.h"
#include "trace/format_facts.h"
#include "trace/format_functions.h"
#include "trace/format_io.h"
#include "trace/format_looks.h"
#include "trace/format_samples.h"
#include "trace/format_memory.h"
#include "trace/format_sections.h"
#include "trace/format_sensors.h"
#include "trace/format_threads.h"

#include <stdbool.h>
#include <stdint.h>

#define FV_FILE_MAGIC   "FVMPIRNK"
#define FV_FILE_VERSION 1u
#define FV_BYTE_ORDER   UINT32_C(0x01020304)
#define FV_PAGE         UINT64_C(4096)
/* what one thread writes is not in the cache lines of another's, nor in the pair of them that is fetched together */
#define FV_CHUNK_ALIGN UINT64_C(128)
#define FV_CHUNK_MAGIC UINT32_C(0x4b435646) /* "FVCK" */
#define FV_CHUNK_FREE  UINT32_C(0x46435646) /* "FVCF": of a ring, between two uses: its bytes are passed by */

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
    FV_STATE_CUT = 6,       /* of an archive whose events end early: what it did then is not known */
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
    FV_DROP_DISK,        /* chunks that could not be written: disk full or I/O error */
    FV_DROP_REQUESTS,    /* requests not followed: their received bytes are missing */
    FV_DROP_EVENTS,      /* calls that are counted but not in the trace: its budget or the disk was full */
    FV_DROP_MARKS,       /* labels that there was no room for */
    FV_DROP_COUNT        /* [count] */
};
#define FV_DROP_SLOTS 16

/* What the kernel tells of the whole process beside that. */
struct fv_usage_process {
    uint64_t resident_peak; /* [bytes] of memory, the most so far; 0: nothing of this is known */
    uint64_t preempted;     /* of the context switches: those that the kernel forced */
    uint64_t ready_ns;      /* the main thread was ready to run and had no processor, so far; ... */
    uint64_t ready_known;   /* ... 1: it is known */
};
_Static_assert(sizeof(struct fv_usage_process) == 32, "on-disk size");

/* A signal whose action is to end the process. */
struct fv_fatal {
    uint32_t signal;    /* its number; 0: none */
    int32_t code;       /* si_code: above 0 it is the kernel's */
    uint64_t address;   /* [hex] of a fault: what was touched, or the instruction */
    uint64_t ticks;     /* when */
    uint32_t tid, path; /* the thread; where it was: innermost one past the instruction; 0: not known */
    uint32_t sender;    /* the process that sent it; 0: the kernel */
    uint32_t pad;
};
_Static_assert(sizeof(struct fv_fatal) == 40, "on-disk size");

struct fv_file_header {
    char magic[8];                     /* FV_FILE_MAGIC */
    uint32_t version;                  /* FV_FILE_VERSION */
    uint32_t byte_order;               /* [hex] FV_BYTE_ORDER, as the writer stores it */
    uint64_t header_bytes;             /* where the first chunk begins */
    uint64_t file_bytes;               /* end of the last chunk handed out */
    uint32_t state;                    /* [enum fv_file_state] */
    uint32_t clock_kind;               /* [enum fv_clock_kind] */
    int32_t world_rank;                /* in MPI_COMM_WORLD; of the serial flavour 0 */
    int32_t world_size;                /* ranks */
    uint32_t pid;                      /* of the process */
    int32_t exit_code;                 /* MPI_Abort's argument, else 0 */
    uint64_t process_start;            /* /proc/self/stat field 22: with pid and boot_id, tells whether it still runs */
    uint8_t boot_id[16];               /* [hex] equal boot_id and clock_kind TSC: the same clock */
    uint64_t job;                      /* [hex] equal for the ranks of one launch; 0 unknown */
    struct fv_clock_point first, last; /* two points give the ticks per second */
    uint64_t nominal_hz;               /* of the clock's ticks, from the processor or a calibration; 0 unknown */
    uint64_t begin_ticks;              /* the measured interval: from entering MPI_Init ... */
    uint64_t end_ticks;                /* ... to leaving MPI_Finalize, or exit(); 0 while running */
    uint64_t init_ticks;               /* leave of MPI_Init; 0 if it was not seen */
    uint64_t finalize_ticks;           /* enter of MPI_Finalize; 0 if not reached */
    uint64_t paused_ticks;             /* sum of closed pauses */
    uint64_t paused_since;             /* [ticks] 0: recording */
    uint64_t tool_start_ticks;         /* fvmpi's own time: at start, ... */
    uint64_t tool_end_ticks;           /* ... at MPI_Finalize, ... */
    uint64_t tool_call_ticks;          /* [1/256 ticks] ... and per recorded call, calibrated at start */
    uint64_t dropped[FV_DROP_SLOTS];   /* [by enum fv_drop] what was not recorded */
    uint64_t coll_shift_ceiling;       /* the wait log holds calls whose sequence number is a multiple of 2^this */
    uint64_t memory_bytes; /* private memory of fvmpi in this process, beside this file: mapped; once it has ended what
                            * has pages of that */
    char host[64];         /* name of the node */
    char program[256];     /* path of the executable */
    char mpi[128];         /* first line of MPI_Get_library_version */
    char command[1024];    /* arguments joined with spaces, quoted as a shell needs it; cut ones end in "..." */
    char fvmpi[32];        /* version of the writer */
    char thread_level[24]; /* provided by MPI, by name */
    char experiment[256];  /* where it was first written; for messages */
    uint32_t cpus;         /* that the process may run on, at start; 0 unknown */
    uint32_t traced;       /* 1: there are events */
    uint64_t trace_stop_ticks;   /* from then on there are none, because the budget was used up; 0: it was not */
    uint64_t cpu_mask[16];       /* [hex] of `cpus`: bit i of word j is processor 64 j + i; 0s: unknown, or beyond */
    uint32_t barrier;            /* [enum fv_barrier_mode] asked for */
    uint32_t barrier_ranks;      /* ranks that agreed to insert barriers; 0: this one inserts none */
    uint32_t exit_seen;          /* 1: exit() was called, or main returned, with */
    int32_t exit_status;         /* this */
    struct fv_usage usage_first; /* of the process, at begin_ticks ... */
    struct fv_usage usage_last;  /* ... and last, at */
    uint64_t usage_ticks;        /* this; 0: it is not known */
    struct fv_fatal fatal;       /* the signal that ended the process, if it was seen */
    uint64_t forgotten_ticks;    /* before begin_ticks: MPI_Pcontrol(2), ... */
    uint64_t era;                /* ... so many times. What a thread of an earlier era recorded is forgotten */
    struct fv_usage_process process_first, process_last; /* as usage_first, usage_last; `ready_*` at start and end, and
                                                          * when time bins were folded last */
    uint64_t resident_peak_at[64]; /* [bytes] the same: when the run was 2^i ticks old, or a little more; 0: not
                                    * known */
    uint64_t others_ready_ns[2]; /* as `ready_ns`, of the other threads that live, or whose ends were seen: at start and
                                  * end */
    uint64_t stolen_ns[2]; /* that a hypervisor took of a processor of this machine, the mean of all, since it booted:
                            * at start and end; 0: none, or not known */
    uint64_t throttled_ns[2]; /* that the quotas of its control groups kept their tasks, together, from processors,
                               * since they were made: at start and end; 0: no quota, or not known */
    uint64_t alive_ticks;   /* of the last clock sample of any thread, or sample of sensors: a sign of life of a process
                             * that is killed; 0: none */
    uint32_t refused_error; /* errno of the last piece of this file that was refused; 0: none, or not known */
    uint32_t look_signal;   /* by which threads are asked where they are (LOOKS); 0: by none */
    uint64_t look_answers;  /* so many have answered */
    uint64_t watched_ns;    /* --hang-after: CLOCK_REALTIME of the last time that the process watched itself; 0: it does
                             * not */
    uint64_t progress_ns;   /* ... and when a call of MPI had ended since the time before */
    uint64_t look_request;  /* [hex] which looks all ranks are to take: fv_look.look of the first; 0: none */
    uint64_t look_done;     /* [hex] ... and which ones were taken last */
    uint64_t trace_keep; /* [bytes] the trace is a ring of chunks, about so large, of the newest events; 0: it is none
                          */
    uint64_t progress_ticks; /* of the last clock sample before which, since its thread's one before, a call of MPI had
                              * ended that did not ask in vain, or threads had computed; 0: not known */
    uint64_t child_ticks;    /* of the last one that found no progress, but a child process that lives; 0: none did */
};
_Static_assert(sizeof(struct fv_file_header) <= 4096, "the header fits one page");

/* Where fvmpi inserted barriers of its own: they perturb the run. */
enum fv_barrier_mode { FV_BARRIER_NONE = 0, FV_BARRIER_BEFORE = 1, FV_BARRIER_AFTER = 2 };

/* Types of chunks. In brackets: the records, whose they are (each thread's, or the process's), and of these words those
 * that hold: one (there is a single record), ids (they are numbered from 1), forgotten (MPI_Pcontrol(2) drops them).
 * Numbers are for ever. */
enum fv_chunk_type {
    FV_CHUNK_MODULES = 1,         /* [fv_module_record, process] ELF objects that call paths lead through */
    FV_CHUNK_PATHS = 2,           /* [fv_path_record, process, ids] nodes of the call tree, a parent before its
                                   * children */
    FV_CHUNK_COMMS = 3,           /* [fv_comm_record, process] communicators */
    FV_CHUNK_THREADS = 4,         /* [fv_thread_record, thread, one] threads that called MPI */
    FV_CHUNK_CELLS = 5,           /* [fv_cell, thread, forgotten] statistics of calls */
    FV_CHUNK_PEERS = 6,           /* [fv_peer_record, thread, forgotten] messages to other ranks */
    FV_CHUNK_COLLECTIVES = 7,     /* [fv_coll_record, thread, forgotten] the wait log */
    FV_CHUNK_CLOCK = 9,           /* [fv_clock_point, process] further calibration points */
    FV_CHUNK_FUNCTIONS = 10,      /* [fv_function_record, process] names of the functions that were called */
    FV_CHUNK_SITES = 11,          /* [fv_site_record, thread] call sites that events refer to */
    FV_CHUNK_EVENTS = 12,         /* [bytes, thread] events of a trace (events.h); `first` counts the calls before */
    FV_CHUNK_FILES = 13,          /* [fv_file_record, process] files opened with MPI_File_open */
    FV_CHUNK_WINDOWS = 14,        /* [fv_window_record, process] windows of one-sided communication */
    FV_CHUNK_PACKED = 15,         /* [bytes, thread] a chunk of events, compressed: struct fv_packed_events, and the
                                   * frame behind it */
    FV_CHUNK_WAITING = 16,        /* [fv_waiting, thread, one] what the call waits for that the thread is in */
    FV_CHUNK_NEIGHBOURS = 17,     /* [fv_neighbours, process] neighbours in communicators with a topology, in a trace */
    FV_CHUNK_SAMPLER = 18,        /* [fv_sampler_record, thread, one, forgotten] what the sampler did (--sample) */
    FV_CHUNK_SAMPLE_PATHS = 19,   /* [fv_path_record, thread, ids] the call tree of samples and instances. The innermost
                                   * node of an instance is one past its function's entry, that of a cost one past the
                                   * instruction. Module 0: an absolute address, perhaps in an object that a later
                                   * module
                                   * record describes */
    FV_CHUNK_INSTANCES = 20,      /* [fv_instances, thread] whole calls of a function in one calling context */
    FV_CHUNK_COSTS = 21,          /* [fv_cost, thread, forgotten] samples of the CPU clock by call path and set of
                                   * sections */
    FV_CHUNK_INSTANCE_LOG = 22,   /* [fv_logged_instance, thread] measured instances, in a trace */
    FV_CHUNK_METRIC_EVENTS = 23,  /* [fv_metric_event, process] events that FVMPI_EVENTS asked for, in the order of the
                                   * metrics */
    FV_CHUNK_SYNC_OBJECTS = 24,   /* [fv_sync_object, process] locks, and what else threads wait for (--threads) */
    FV_CHUNK_SYNC = 25,           /* [fv_sync_record, thread] what the thread did to them, by call site */
    FV_CHUNK_SYNC_THREAD = 26,    /* [fv_sync_thread, thread, one] its waiting in all, and where it waits now */
    FV_CHUNK_LIVES = 27,          /* [fv_thread_life, process] threads from their creation to their join */
    FV_CHUNK_OMP = 28,            /* [fv_omp_region, thread] parallel regions of OpenMP that the thread forked */
    FV_CHUNK_OMP_THREADS = 29,    /* [fv_omp_thread, thread] what each thread of its teams did in them */
    FV_CHUNK_SECTIONS = 30,       /* [fv_section, process, ids] sections that the program marks */
    FV_CHUNK_SECTION_SETS = 31,   /* [fv_section_set, process, ids] sets of sections that were open together */
    FV_CHUNK_SECTION_TIMES = 32,  /* [fv_section_times, thread, forgotten] the thread's instances of sections */
    FV_CHUNK_SECTION_LOSSES = 33, /* [fv_section_losses, thread, one] what of its sections was not measured */
    FV_CHUNK_SECTION_SPANS = 34,  /* [fv_section_span, process] sections as long as any thread had them open */
    FV_CHUNK_SECTION_THREADS = 35, /* [fv_section_other, process] what other threads did then */
    FV_CHUNK_EVENT_COUNTS = 38,    /* [fv_event_counts, thread] instances whose events are known, by context */
    FV_CHUNK_OPTIONS = 39,         /* [fv_option_record, process] options that were not at their defaults; the directory
                                    * is left out */
    FV_CHUNK_SHADOWS = 40,   /* [fv_shadow_record, process] libraries that define MPI functions in front of fvmpi */
    FV_CHUNK_TIME_BINS = 41, /* [fv_time_bins, thread, one, forgotten] what the thread did when */
    FV_CHUNK_SECTION_OCTAVES = 42, /* [fv_octave, thread, forgotten] histograms of the times of its sections'
                                    * instances */
    FV_CHUNK_REGIONS = 43,         /* [fv_region_record, thread, forgotten] computing between two calls */
    FV_CHUNK_INTERPRETER = 44,     /* [fv_interpreter_record, process, one] the interpreter of Python in the process */
    FV_CHUNK_COST_REGIONS = 45,    /* [fv_cost_region, thread, forgotten] the call before the samples of the COSTS with
                                    * the same index */
    FV_CHUNK_INSTANCE_COMPUTING = 46, /* [fv_instance_computing, thread] CPU time outside of MPI in instances, by
                                       * context */
    FV_CHUNK_LONG_CALLS = 47,         /* [fv_long_calls, thread] long calls of functions that mostly return soon, by
                                       * context */
    FV_CHUNK_SAMPLE_LOG = 48,         /* [fv_logged_sample, thread] samples of the CPU clock, in a trace */
    FV_CHUNK_SECTION_PROCESS = 50,    /* [fv_section_process, thread, forgotten] CPU time of the process in the
                                       * SECTION_TIMES with the same index */
    FV_CHUNK_SWITCHES = 51, /* [fv_switch_record, thread, forgotten] where the thread had no processor between two
                             * calls. fv_thread_record.switches says whether there can be any */
    FV_CHUNK_RECENT_INSTANCES = 53, /* [fv_recent_instances, thread] the instances that were measured last, by
                                     * context */
    FV_CHUNK_INSTANCE_EVENTS = 54,  /* [fv_instance_events, thread] counts of events in single instances, by context */
    FV_CHUNK_LOGGED_EVENTS = 55, /* [fv_logged_events, thread] counts of events of logged instances. A chunk of them may
                                  * be missing */
    FV_CHUNK_GRIDS = 56,         /* [fv_grid, process] communicators with a Cartesian topology */
    FV_CHUNK_FUNCTION_CALLS = 57,  /* [fv_function_calls, thread, forgotten] calls of functions that the compiler
                                    * instrumented (--functions) */
    FV_CHUNK_FUNCTION_LOSSES = 58, /* [fv_function_losses, thread, one] what of these calls was not measured */
    FV_CHUNK_IO_FILES = 60,        /* [fv_io_file, process] files by name (--io) */
    FV_CHUNK_IO = 61,              /* [fv_io_record, thread, forgotten] what the thread did to a file, by function and
                                    * call path */
    FV_CHUNK_IO_THREAD = 62,       /* [fv_io_thread, thread, one] the I/O call that it is in, and what is missing */
    FV_CHUNK_IO_REGIONS = 63,      /* [fv_io_region, thread, forgotten] I/O between two calls of MPI */
    FV_CHUNK_IO_PROCESS = 64,      /* [fv_io_process, process, one] /proc/self/io at start and end */
    FV_CHUNK_IO_HANDLES = 65,      /* [fv_io_handle, process] open files that IO events refer to, in a trace */
    FV_CHUNK_IO_FUNCTIONS = 66,    /* [fv_io_function_record, process] functions for files that only an archive has */
    FV_CHUNK_FUNCTION_EVENTS = 67, /* [fv_function_event, process] events that were counted in functions */
    FV_CHUNK_FUNCTION_COUNTS = 68, /* [fv_function_counts, thread] what was counted in them */
    FV_CHUNK_STREAMS = 69,         /* [fv_stream_record, process] streams of accelerators, which have calls as threads
                                    * have */
    FV_CHUNK_OMP_WORK = 70,        /* [fv_omp_work, thread] parts in worksharing of OpenMP, by call path and region */
    FV_CHUNK_SOLO = 71, /* [fv_solo_record, process] phases in which one thread at a time ran alone (`fvmpi run
                         * --stacks --solo`), or one rank (--throughput) */
    FV_CHUNK_SECTION_INSTANCES = 72, /* [fv_section_instance, thread] first instances of sections, each by itself
                                      * (--section-instances) */
    FV_CHUNK_MEMORY_PROCESS = 80,    /* [fv_memory_process, process, one] live bytes and their peak (--memory) */
    FV_CHUNK_MEMORY_SUMS = 81,   /* [fv_memory_sums, thread, one] calls of the allocator, and what the thread holds back
                                  * from the process's live bytes */
    FV_CHUNK_MEMORY_SITES = 82,  /* [fv_memory_site, thread] allocations by call path. Records of one path are added
                                  * up */
    FV_CHUNK_MEMORY_PATHS = 83,  /* [fv_memory_path, process] live bytes by call path */
    FV_CHUNK_MEMORY_SERIES = 84, /* [fv_memory_series, process, one] live bytes along time */
    FV_CHUNK_MEMORY_PLACES = 86, /* [fv_memory_place, process] NUMA nodes of memory, if there are several */
    FV_CHUNK_MEMORY_SECTIONS = 85, /* [fv_memory_section, thread] what the allocator did in sections */
    FV_CHUNK_SENSOR_PROCESS = 90,  /* [fv_sensor_process, process, one] how the sensors of the node were read
                                    * (--sensors), in one process of each node */
    FV_CHUNK_SENSOR_SERIES = 91,   /* [fv_sensor_series, process] events of sensors that are read */
    FV_CHUNK_SENSOR_SAMPLES = 92,  /* [fv_sensor_sample, process] values of all series. Samples are thinned when 16 MiB
                                    * are used up. A list that was being thinned when the process was killed ends with
                                    * old samples, whose times are smaller than the one before */
    FV_CHUNK_FACTS = 93,          /* [fv_fact, process] facts of the machine, by one process of each node (by all, where
                                   * they cannot find out which), and variables of the environment; at the end, other
                                   * processes of the node that ran */
    FV_CHUNK_LABELS = 94,         /* [fv_label_record, process] moments that fvmpi_label() or `fvmpi label` marked */
    FV_CHUNK_AFFINITY = 95,       /* [fv_affinity, process] where each thread may run */
    FV_CHUNK_NOISE = 96,          /* [fv_noise_record, thread, forgotten] blocking collective calls before which the
                                   * thread had no processor */
    FV_CHUNK_COUNTER_EVENTS = 97, /* [fv_counter_event, process] events that were asked for (--counters) */
    FV_CHUNK_COUNTER_VALUES = 98, /* [fv_counter_values, thread] what the thread counted: in the first record all of it,
                                   * then by section */
    FV_CHUNK_COUNTER_PHASES = 99, /* [fv_counter_phase, thread] what it counted in phases of threads (--threads) */
    FV_CHUNK_COUNTER_OTHERS = 100, /* [fv_counter_other, process] what threads counted while a section was open on
                                    * others */
    FV_CHUNK_SENSOR_PLACE = 109,   /* [fv_sensor_place, process] where the thread that reads sensors may run */
    FV_CHUNK_REMARKS = 110, /* [fv_remark_record, process] what the process could not record, where no counter says
                             * so */
    FV_CHUNK_LOOKS = 111,   /* [fv_look, process] where threads were when somebody looked */
};

struct fv_chunk_header {
    uint32_t magic;   /* [hex] FV_CHUNK_MAGIC */
    uint16_t type;    /* enum fv_chunk_type; unknown types are skipped */
    uint16_t version; /* of the record, 1 */
    uint64_t bytes;   /* whole chunk, header included; a multiple of FV_CHUNK_ALIGN */
    uint64_t used;    /* [bytes] of whole records behind this header */
    uint32_t thread;  /* index of the owner (fv_thread_record.id); ~0: the process */
    uint32_t pad;
    uint64_t first;   /* index of the chunk's first record among its type and thread (fixed-size types) */
    uint64_t check;   /* [hex] fv_chunk_check(): of the fields above but `used` */
    uint64_t inverse; /* [hex] of a chunk of a ring: ~bytes, which holds while its magic is FV_CHUNK_FREE */
    uint64_t reserved;
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

/* Of a ring, while nothing in it is valid? */
static inline bool fv_chunk_is_free(const struct fv_chunk_header *c)
{
    return c->magic == FV_CHUNK_FREE && c->inverse == ~c->bytes && c->bytes >= sizeof(*c) &&
           c->bytes % FV_CHUNK_ALIGN == 0;
}

/* A loaded ELF object. Addresses of call paths are stored as (module, address - bias), which is the
 * object's own virtual address and the same in every process that maps this build-id. */
struct fv_module_record {
    uint32_t bytes;          /* of this record, path included, a multiple of 8 */
    uint32_t id;             /* from 1 */
    uint64_t bias;           /* [hex] load address minus link address */
    uint64_t begin, end;     /* [hex] mapped range when first seen */
    uint32_t build_id_bytes; /* 0: none */
    uint32_t path_bytes;     /* without the final NUL, which is there */
    uint8_t build_id[32];    /* [hex, count build_id_bytes] */
    char path[];             /* [count path_bytes] of the object */
};
_Static_assert(sizeof(struct fv_module_record) == 72, "on-disk size");

/* A function of source code that an interpreter runs is a module, too: it has the path "FILE:FUNCTION", where FILE has
 * its own colons twice (code_path.h). Its build-id is FV_CODE_ID and a hash of that path, and the offset of a call path
 * in it is the line, 0 where that is not known. */
#define FV_CODE_ID       "code:"
#define FV_CODE_ID_BYTES (sizeof(FV_CODE_ID) - 1 + sizeof(uint64_t))

#define FV_MODULE_UNKNOWN   0u                   /* offset is an absolute address */
#define FV_MODULE_TRUNCATED UINT32_C(0xffffffff) /* outer frames were cut at the depth limit */

/* A node of the process's call tree. Node ids count from 1 over all PATHS chunks; node 0 is the root,
 * outside of main. A call path is its innermost node; walking `parent` gives the outer frames. Offsets
 * are *return* addresses: look up offset - 1. */
struct fv_path_record {
    uint32_t parent; /* PATHS: the caller; 0: the root */
    uint32_t module; /* fv_module_record.id, FV_MODULE_UNKNOWN or FV_MODULE_TRUNCATED */
    uint64_t offset; /* [hex] in the module: a return address */
};
_Static_assert(sizeof(struct fv_path_record) == 16, "on-disk size");

/* The interpreter of Python in the process. */
enum fv_interpreter_state {
    FV_INTERPRETER_UNTRIED = 0, /* it ran no code while a call was recorded */
    FV_INTERPRETER_READ = 1,    /* its frames stand in call paths, in place of the interpreter's own */
    FV_INTERPRETER_UNKNOWN = 2, /* how its frames are read is not known */
};
struct fv_interpreter_record {
    char version[32]; /* of Python */
    uint32_t state;   /* [enum fv_interpreter_state] */
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
    FV_CLASS_COUNT     /* [count] */
};

/* Which ranks a blocking collective waits for (facts: wait states). */
enum fv_wait_rule {
    FV_RULE_NONE = 0,
    FV_RULE_NXN,       /* all wait for the last sender */
    FV_RULE_BARRIER,   /* all wait for the last to enter; MPI_Finalize too */
    FV_RULE_FROM_ROOT, /* non-roots wait for the root: broadcast, scatter */
    FV_RULE_TO_ROOT,   /* the root waits for the others: reduce, gather */
    FV_RULE_SCAN,      /* a rank waits for lower ranks */
    FV_RULE_P2P,       /* point to point: waiting is estimated */
};

struct fv_function_record {
    uint16_t id;   /* as in cells */
    uint8_t class; /* [enum fv_function_class] */
    uint8_t wait;  /* [enum fv_wait_rule] */
    char name[44]; /* "MPI_Send", NUL-padded */
};
_Static_assert(sizeof(struct fv_function_record) == 48, "on-disk size");

/* Where a thread is inside MPI, right now. */
struct fv_in_call {
    uint64_t begin;    /* [ticks] 0: not in MPI */
    uint32_t function; /* fv_function_record.id */
    uint32_t path;     /* PATHS */
    uint64_t comm;     /* [hex] handle; 0 none */
    int32_t peer;      /* rank in comm, or FV_ANY_PEER, FV_NO_PEER */
    int32_t tag;       /* of the message */
};
_Static_assert(sizeof(struct fv_in_call) == 32, "on-disk size");
#define FV_NO_PEER  INT32_MIN       /* none, or MPI_PROC_NULL */
#define FV_ANY_PEER (INT32_MIN + 1) /* MPI_ANY_SOURCE */

enum fv_waited_kind {
    FV_WAITED_SEND = 1,
    FV_WAITED_RECEIVE = 2,
    FV_WAITED_COLLECTIVE = 3,
    FV_WAITED_OPERATION = 4, /* of RMA, on a file, ... */
};

/* One of several things that a call waits for. */
struct fv_wait_target {
    uint32_t comm;     /* fv_comm_record.id; 0: unknown */
    int32_t peer;      /* rank in comm, or FV_ANY_PEER, FV_NO_PEER */
    int32_t tag;       /* negative: any. Of a collective its sequence number on comm, or -1 */
    uint16_t function; /* that began it */
    uint8_t kind;      /* [enum fv_waited_kind] */
    uint8_t pad;
};
_Static_assert(sizeof(struct fv_wait_target) == 16, "on-disk size");

/* What the call waits for that a thread is in: the requests of MPI_Wait and its kin, as they were when it
 * began, or the two halves of an MPI_Sendrecv. Of an earlier call unless `begin` is that of fv_in_call. */
#define FV_WAITED_MOST 32
struct fv_waiting {
    uint64_t begin;                             /* [ticks] fv_in_call.begin of that call */
    uint32_t count;                             /* all of them; more than `kept`: the others are unknown, or too many */
    uint32_t kept;                              /* that are here */
    struct fv_wait_target item[FV_WAITED_MOST]; /* [count kept] */
};
_Static_assert(sizeof(struct fv_waiting) == 528, "on-disk size");

/* A thread that called MPI. A slot is taken over by a later thread when its thread has ended. */
struct fv_thread_record {
    uint32_t id;                 /* the slot, from 0 */
    uint32_t tid;                /* of its present or last thread */
    uint32_t threads;            /* that used this slot */
    uint32_t main;               /* 1: the thread that initialised MPI */
    uint64_t begin, end;         /* [ticks] end 0: alive */
    struct fv_in_call in_call;   /* the call that it is in */
    uint64_t last;               /* [ticks] end of the last recorded call */
    uint64_t calls;              /* recorded */
    uint64_t mpi_ticks;          /* in them */
    uint64_t path_misses;        /* call paths unwound */
    uint64_t path_evictions;     /* of the call path cache */
    uint64_t cold_ticks;         /* fvmpi's own time on rare paths: unwinding, growing */
    uint64_t mpi_bytes;          /* sent and received, in recorded calls */
    uint64_t samples;            /* of its CPU clock (--sample) */
    uint64_t lock_ticks;         /* it waited for locks and barriers of threads (--threads) */
    uint64_t era;                /* as the header's when it recorded last */
    uint64_t user_ns, system_ns; /* CPU time of the slot's threads while they were recorded, to their ends or
                                  * MPI_Finalize, ... */
    uint64_t usage_of;           /* ... of so many of `threads`; fewer: of the last one it is not known */
    uint32_t switches; /* 1: SWITCHES have those of the slot's threads; 2: the kernel did not let us; 0: not looked
                        * at */
    uint32_t waited;   /* [2^10 ticks] recording its calls waited so long for pages of this file (FV_WAITED_SHIFT);
                        * it is none of the application's time */
};
#define FV_WAITED_SHIFT 10
_Static_assert(sizeof(struct fv_thread_record) == 176, "on-disk size");

/* Statistics of the calls of one thread that share (path, function, comm, size bucket). The key may
 * occur more than once (a reader adds them up): when `calls` is full, or where a thread completes what
 * another posted. Time is exact: the squares are summed as 128-bit integers, which needs no division
 * and, unlike a running mean, loses nothing. */
struct fv_cell {
    uint32_t path;       /* PATHS; 0: not known */
    uint32_t comm;       /* fv_comm_record.id; 0 none */
    uint16_t function;   /* fv_function_record.id */
    uint8_t size_bucket; /* fv_log2_bucket() of bytes sent, else of bytes received; fv_cell_has_size() */
    uint8_t flags;       /* 0 */
    uint32_t calls;      /* 0: what other calls completed */
    uint64_t time_sum, time_min, time_max; /* [ticks] */
    uint64_t square_low, square_high;      /* [ticks^2] their sum, in 128 bits */
    uint64_t bytes_sent, bytes_received;   /* [bytes] */
    uint32_t sends, receives;    /* messages, of 0 bytes too, or calls with sent (received) bytes: the size histogram */
    uint64_t size_min, size_max; /* [bytes] the smallest and the largest of these; none: all bits set, 0 */
    uint64_t barrier_ticks;      /* of time_sum, in the barriers that fvmpi inserted ... */
    uint32_t barriers;           /* ... into so many of the calls */
    uint32_t section;            /* SECTION_SETS: what was open; 0: nothing */
    uint64_t before_ticks; /* outside of MPI, from the end of the thread's call before to the begin of a call, ... */
    uint32_t from;         /* ... where that call before was at this path; 0: there was none, or its path is not
                            * known */
    uint32_t from_calls;   /* ... of the calls behind the first so many. REGIONS have the others */
    uint32_t time_histogram[FV_TIME_BUCKETS]; /* calls by their time (base/histogram.h) */
};
_Static_assert(sizeof(struct fv_cell) == 256, "on-disk size");
/* Cells of calls over the budget have neither path nor size. */
static inline bool fv_cell_has_size(const struct fv_cell *cell)
{
    return cell->size_bucket || cell->path || cell->comm;
}
static inline void fv_cell_add_size(struct fv_cell *cell, uint64_t bytes)
{
    if (bytes < cell->size_min)
        cell->size_min = bytes;
    if (bytes > cell->size_max)
        cell->size_max = bytes;
}
/* `from` of a cell: of several paths, because there was no room for REGIONS */
#define FV_FROM_SEVERAL UINT32_C(0xffffffff)
/* `from` of regions of an archive, whose paths do not tell calls of several functions apart: this and the index among
 * the thread's CELLS of the call before. */
#define FV_FROM_CELL UINT32_C(0x80000000)

/* Computing between two calls of a thread: what a cell had in before_ticks for a `from` that was followed by another
 * one. The key occurs once; what the cell has at present comes on top. */
struct fv_region_record {
    uint32_t from;         /* PATHS of the call before; 0: as in struct fv_cell */
    uint32_t cell;         /* index among the thread's CELLS, from 0: the call behind it */
    uint64_t count, ticks; /* times that the cell's call followed; outside of MPI before it */
};
_Static_assert(sizeof(struct fv_region_record) == 24, "on-disk size");

/* How long a thread had no processor in the computing between two calls. The key is as in struct fv_region_record, and
 * occurs once; where it does not occur, the thread had its processor all the time. */
struct fv_switch_record {
    uint32_t from, cell;              /* as in struct fv_region_record */
    uint64_t blocked, blocked_ns;     /* it waited for something: how often, and how long until it ran again */
    uint64_t preempted, preempted_ns; /* another was given its processor */
    uint64_t unseen; /* switches that were too many for the room, at least so many: times hold the others */
};
_Static_assert(sizeof(struct fv_switch_record) == 48, "on-disk size");

/* Before a blocking collective call of the wait log, since the one before it: the thread had no processor, outside of
 * MPI. Calls that have no record kept theirs all the time, if fv_thread_record.switches is 1. In the order of time, but
 * for the first one. */
struct fv_noise_record {
    uint64_t begin;        /* [ticks] fv_coll_record.begin; 0, of the first: the sum of what there was no room for,
                            * behind all others */
    uint64_t preempted_ns; /* another was given its processor, ... */
    uint64_t blocked_ns;   /* it waited for something: until it ran again */
    uint32_t preempted;    /* ... so often */
    uint32_t unseen;       /* as in struct fv_switch_record */
};
_Static_assert(sizeof(struct fv_noise_record) == 32, "on-disk size");

/* A call site as events name it: by its number among the sites of its thread, from 0. */
struct fv_site_record {
    uint32_t path;     /* PATHS */
    uint16_t function; /* fv_function_record.id */
    uint16_t pad;
};
_Static_assert(sizeof(struct fv_site_record) == 8, "on-disk size");

/* The payload of a full chunk of events as a frame of Zstandard. Its thread goes on in the chunk that it was
 * taken from: where a process dies in between, both hold the same calls, and `first` of both is equal. */
struct fv_packed_events {
    uint64_t used;  /* bytes of the payload */
    uint64_t bytes; /* of the frame behind this */
};
_Static_assert(sizeof(struct fv_packed_events) == 16, "on-disk size");
/* A payload is at most so many times as long as its frame: writers leave others as they are, so that readers
 * need not do work without bounds for a small file. */
#define FV_PACKED_MOST 256

/* Messages that a rank sent to another (point to point and RMA put). */
struct fv_peer_record {
    int32_t world_rank; /* of the other */
    int32_t pad;
    uint64_t messages, bytes; /* sent */
};
_Static_assert(sizeof(struct fv_peer_record) == 24, "on-disk size");

enum fv_coll_flags { FV_COLL_ROOT = 1, FV_COLL_SENDS = 2, FV_COLL_RECEIVES = 4 };

/* One blocking collective call. With the same (communicator uid, sequence) of the other ranks it gives
 * the exact waiting time; both ends are kept, so that a wait can be clipped to its own call and clocks
 * of different hosts be checked against each other. */
struct fv_coll_record {
    uint64_t begin, end; /* [ticks] */
    uint32_t sequence;   /* of the collective calls on this communicator, from 0 */
    uint32_t cell_flags; /* [enum fv_coll_flags:3] and above these bits the index of the thread's cell */
};
_Static_assert(sizeof(struct fv_coll_record) == 24, "on-disk size");

#define FV_BINS 256

/* What a thread did when: ticks inside MPI per function class and time bin. */
struct fv_bin_bank {
    uint64_t origin, width;                  /* [ticks] */
    uint64_t ticks[FV_BINS][FV_CLASS_COUNT]; /* in MPI, by bin and class of functions */
};
/* When the run outgrows the bins their width doubles, in place: pairs of bins are added up one after the other, so that
 * what a killed process left can be finished by its reader (trace/bins.h). */
struct fv_time_bins {
    uint64_t folding;               /* [ticks] the width that is doubled; in effect while it is the bank's */
    uint64_t folded;                /* pairs that are done: each is where it belongs, ... */
    uint64_t first[FV_CLASS_COUNT]; /* [ticks, by enum fv_function_class] ... but the first one is here */
    struct fv_bin_bank bank;        /* the bins */
};
_Static_assert(sizeof(struct fv_time_bins) == 16 + 64 + 16 + FV_BINS * 64, "on-disk size");

/* An option that was not at its default, as it was set. */
struct fv_option_record {
    char variable[32]; /* FVMPI_...; both NUL-padded */
    char value[224];   /* cut, if it is longer */
};
_Static_assert(sizeof(struct fv_option_record) == 256, "on-disk size");

/* An executable or a library that defines MPI functions in front of fvmpi: calls of them are not recorded. Functions
 * whose calls it hands on are taken out when the first one comes. */
struct fv_shadow_record {
    char object[240];   /* its path, NUL-padded, cut if it is longer */
    char names[256];    /* of functions, with blanks between, as many as there is room for, ... */
    uint32_t named;     /* ... which are so many, ... */
    uint32_t functions; /* ... of these; 0: it hands on all calls */
    uint32_t finalize;  /* 1: MPI_Finalize is one */
    uint32_t pad;
};
_Static_assert(sizeof(struct fv_shadow_record) == 512, "on-disk size");

enum fv_remark_kind {
    FV_REMARK_LOSS,
    FV_REMARK_FORKS,    /* no loss: it made children by fork(), and no child of any program is recorded */
    FV_REMARK_CHILDREN, /* it waited for children, however it made them */
    FV_REMARK_ARCHIVE,  /* of the archive that all rank files were made of */
    FV_REMARK_WORKERS,  /* as FV_REMARK_CHILDREN, and they computed */
};
/* What the process could not record, in the words that it said, where no counter tells it. */
struct fv_remark_record {
    char text[440]; /* NUL-padded; cut, if it is longer */
    uint32_t kind;  /* [enum fv_remark_kind] */
    uint32_t pad;
};
_Static_assert(sizeof(struct fv_remark_record) == 448, "on-disk size");

#endif
