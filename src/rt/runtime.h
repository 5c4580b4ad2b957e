/* The runtime's insides: the state of the process and of its threads. Only src/rt includes this.
 *
 * Who owns what: the process owns the rank file, the call tree, modules, communicators and requests,
 * all behind locks that are taken on rare paths only. A thread owns its struct fv_thread and everything
 * in it, and no other thread writes there. When a thread ends, its struct goes to a free list and the
 * next new thread carries on with it: programs that make and end threads forever stay bounded. */
#ifndef FV_RUNTIME_H
#define FV_RUNTIME_H

#include "base/lock.h"
#include "base/options.h"
#include "base/scope.h"
#include "rt/clock.h"
#include "rt/map.h"
#include "rt/rt.h"
#include "rt/tail.h"
#include "trace/writer.h"

#include <pthread.h>
#include <unistd.h>

/* ---- the process ---- */

enum fv_runtime_state {
    FV_RT_IDLE,     /* MPI has not started: shells, launchers, helpers stay here */
    FV_RT_STARTING, /* there is a file; the ranks agree on barriers, which takes as long as one of them is late */
    FV_RT_ON,       /* recording, or paused */
    FV_RT_OFF,      /* for good: disabled, failed to start, or the child of a fork */
};

#define FV_PAUSED 1u
#define FV_ERA    2u

struct fv_runtime {
    uint32_t state;       /* enum fv_runtime_state */
    uint32_t recording;   /* FV_PAUSED: calls are followed but not counted; and how often FV_ERA: forget.c */
    bool tracing;         /* calls are written as events, until: */
    bool trace_stopped;   /* the budget is used up: they are counted as dropped */
    bool thread_multiple; /* several threads may be inside MPI: take the locks of hot tables */
    pid_t pid;
    struct fv_lock lock; /* of start, thread list, pause */
    struct fv_options options;
    struct fv_writer writer;
    struct fv_thread *threads; /* all ever made, through next_all */
    struct fv_thread *free;    /* of ended threads, through next_free */
    uint32_t thread_count;
    int world_rank;
    struct fv_chunk_header *clock_chunk; /* of a trace; under lock */
};
extern struct fv_runtime fv_rt;

static inline bool fv_rt_paused(void)
{
    return __atomic_load_n(&fv_rt.recording, __ATOMIC_RELAXED) & FV_PAUSED;
}

static inline bool fv_rt_early(void)
{
    return __atomic_load_n(&fv_rt.state, __ATOMIC_ACQUIRE) <= FV_RT_STARTING;
}

static inline bool fv_rt_on(void)
{
    return __atomic_load_n(&fv_rt.state, __ATOMIC_ACQUIRE) == FV_RT_ON;
}

/* Is this the process that records: no forked child, nor one of vfork(), which has our memory? */
static inline bool fv_rt_here(void)
{
    return fv_rt_on() && fv_rt.pid == getpid();
}
/* It ends; without MPI_Finalize, if that was not called. */
void fv_exiting(void);

/* Counts something that was not recorded. Any thread. */
static inline void fv_dropped(enum fv_drop what)
{
    if (fv_rt.writer.header)
        __atomic_fetch_add(&fv_rt.writer.header->dropped[what], 1, __ATOMIC_RELAXED);
}

/* Private memory straight from the system, zeroed; the application's malloc stays its own. NULL: none. */
void *fv_memory_new(size_t bytes);
void fv_memory_free(void *memory, size_t bytes);

/* ---- call paths (path.c) ---- */

/* A stack slot and what it must hold for a cached path to be the path. */
struct fv_path_check {
    int64_t offset; /* from the slot of the wrapper's return address */
    uintptr_t value;
};

struct fv_path_entry {
    struct fv_cell *cell; /* last used with this path */
    uint32_t cell_index;
    uint32_t path;          /* node id */
    uint32_t site;          /* of the thread's events, if: */
    uint32_t site_function; /* function + 1; 0: not known */
};

void fv_path_init(void); /* once, before the first lookup */
struct fv_paths *fv_paths_new(void); /* of a thread */
void fv_paths_forget(struct fv_paths *paths);
struct fv_path_entry *fv_path_lookup(struct fv_thread *thread, struct fv_site site);
/* NULL: it is not in the cache. Never unwinds. */
struct fv_path_entry *fv_path_known(struct fv_thread *thread, struct fv_site site);
/* Adds a path with the given checks (copied), of which the first is that of the return address. */
struct fv_path_entry *fv_path_insert(struct fv_thread *thread, struct fv_site site, uint32_t path,
                                     const struct fv_path_check *checks, uint32_t count);
/* For functions of ours that stand between functions of the application: their frames are in no path. */
#define FV_UNSEEN __attribute__((section("fv_unseen"), noinline))
/* The cached slots lie in [slot, stack_end) of the thread. */
void fv_stack_bounds(bool initial_thread, uintptr_t *low, uintptr_t *high);

/* ---- the call tree (tree.c) and modules (module.c); both under fv_tree_lock ---- */

extern struct fv_lock fv_tree_lock;
/* Node for a frame below parent; 0 when the budget is full (counted by the caller). */
uint32_t fv_tree_child(uint32_t parent, uint32_t module, uint64_t offset);
const struct fv_path_record *fv_tree_node(uint32_t id); /* id > 0 */
/* The module of an address, recorded in the file when new; the offset of the address in it. */
uint32_t fv_module_find(uintptr_t address, uint64_t *offset);
/* The same of modules that are known, without a lock: for signal handlers. FV_MODULE_UNKNOWN: ask
 * fv_module_find() later. */
uint32_t fv_module_known(uintptr_t address, uint64_t *offset);
/* One address, with the lock that fv_module_find() wants. */
uint32_t fv_module_of(uintptr_t address, uint64_t *offset);
/* Before a batch of fv_module_find(): notices dlclose(), by how often there was one, which is asked without
 * fv_tree_lock. */
uint64_t fv_module_removals(void);
void fv_module_refresh(uint64_t removals);

/* ---- threads (thread.c) ---- */

struct fv_cell_slot {
    struct fv_cell *cell; /* NULL: empty */
    uint32_t index;
};

/* The cells of one thread: chunks in the file, found through an open-addressed table in private memory. */
struct fv_cells {
    struct fv_cell_slot *slots;
    uint32_t mask, used;
    struct fv_tail tail;
    struct fv_cell_slot rest; /* where calls go that fit nowhere else */
};

struct fv_peers {
    struct fv_map table;         /* struct fv_peer, in peer.c */
    struct fv_peer_record *last; /* that was added to; NULL: none */
    struct fv_tail tail;
};

#define FV_LOG_CHUNKS    24
#define FV_LOG_SHIFT_MAX 31

/* The log of collective calls: filled, thinned, filled again. */
struct fv_log {
    struct fv_chunk_header *chunk[FV_LOG_CHUNKS];
    uint32_t chunks, current; /* made; being filled */
    uint32_t shift;           /* calls are kept whose sequence number is a multiple of 2^shift */
    uint64_t bytes;
};

#define FV_RECENT_SITES 256
struct fv_recent_site {
    struct fv_site_record site;
    uint32_t number;
    bool known;
};

/* What a thread writes its events with. */
struct fv_events {
    struct fv_chunk_header *chunk, *site_chunk; /* being filled; NULL: none yet */
    uint8_t *at, *stop;
    uint64_t last;  /* end of the last call, ticks */
    uint64_t calls; /* written */
    uint32_t sites; /* written */
    uint32_t section_set; /* written last */
    struct fv_packed *packed; /* room for a compressed chunk */
    size_t packed_room;
    uint8_t *details; /* of the call that is being recorded */
    size_t details_used, details_size;
    struct fv_recent_site recent[FV_RECENT_SITES];
};

#define FV_RECENT_RECEIVED 8

/* What each call touches comes first, in few cache lines. */
struct fv_thread {
    struct fv_thread_record *record; /* in the file */
    struct fv_paths *paths;
    uint32_t recording;       /* the process's as it was when the thread recorded last; never FV_PAUSED */
    struct fv_site inside;    /* the wrapper (or writer of a record) that the thread is in, or was in last */
    uintptr_t watched, watched_value; /* a stack slot that traps when it is read, and what it holds; 0: none */
    uint64_t bin_begin, bin_ticks; /* the time bin used last; bin_ticks 0: none, and: */
    uint64_t *bin;                 /* its ticks, by class */
    uint32_t section_set; /* that are open: struct fv_section_set; 0: none */
    uint64_t comm_handle, comm_generation; /* the communicator used last */
    struct fv_comm *comm;
    struct fv_waiting *waiting; /* in the file, from its first use on; NULL and: */
    bool waiting_tried;
    bool left; /* its call came back on another thread */
    uint32_t id;
    struct fv_peers peers;
    struct fv_cell *received[FV_RECENT_RECEIVED]; /* that bytes were charged to, by call path */
    struct fv_cells cells;
    uintptr_t stack_low, stack_end; /* of its own stack; 0, 0: unknown */
    struct fv_path_entry no_path;   /* of calls while paused */
    struct {
        void *memory;
        size_t bytes;
    } scratch[3];
    struct fv_time_bins *bins; /* NULL: no room */
    unsigned bin_shift;   /* log2 of the active bank's width */
    struct fv_thread *next_all, *next_free;
    struct fv_sections *sections; /* NULL: it marked none yet */
    struct fv_sync *sync;         /* what it waits for (src/threads); NULL: not looked at */
    struct fv_sampler *sampler;   /* NULL: not sampled */
    struct fv_log log;
    struct fv_events events;
};

/* The thread's own; NULL before its first call, inside a call, and when the runtime is off. */
extern FV_TLS struct fv_thread *fv_current;

/* Was what stood at a site left by longjmp() or an exception, if the thread is at `now`? */
bool fv_site_was_left(const struct fv_thread *thread, struct fv_site site, struct fv_site now);
/* fv_current is NULL, and the thread is recorded: did it leave its call, or the writing of a record, without returning,
 * by longjmp()? Then it is outside from now on. */
bool fv_call_was_left(void);
static inline bool fv_is_between(void)
{
    return FV_LIKELY(fv_current != NULL) || fv_call_was_left();
}
/* The same, but also inside a call. */
extern FV_TLS struct fv_thread *fv_self;
/* For the first call of a thread: makes or adopts a struct fv_thread. NULL: inside a call, or off. */
struct fv_thread *fv_thread_attach(void);
/* After fork() in the child. */
void fv_thread_forget(void);
/* The process's word is not the thread's. False: it is paused. Else the thread has forgotten, and may record. */
bool fv_recording_changed(struct fv_thread *thread, uint32_t recording);

/* ---- statistics of one thread ---- */

/* Its counts have 32 bits: before one wraps, a second cell with the same key goes on. */
static inline bool fv_cell_is_full(const struct fv_cell *cell)
{
    return cell->calls >= UINT32_MAX - 1 || cell->receives >= UINT32_MAX - 1;
}

/* Does it have this key, and room? */
static inline bool fv_cell_is(const struct fv_cell *cell, uint32_t path, uint32_t comm, unsigned function,
                              unsigned size_bucket, uint32_t section)
{
    return cell->path == path && cell->comm == comm && cell->function == function &&
           cell->size_bucket == size_bucket && cell->section == section && !fv_cell_is_full(cell);
}

/* The cell for a key; makes it when new. Never NULL. `section`: fv_thread.section_set, or what it was. */
struct fv_cell_slot fv_cell_find(struct fv_thread *thread, uint32_t path, uint32_t comm, unsigned function,
                                 unsigned size_bucket, uint32_t section);
bool fv_cells_init(struct fv_thread *thread);
void fv_bins_init(struct fv_thread *thread);
void fv_bins_reset(struct fv_thread *thread);
void fv_bins_clear(struct fv_thread *thread); /* they begin anew, where the measured interval does */
void fv_bins_add_across(struct fv_thread *thread, unsigned class, uint64_t begin, uint64_t end);
static inline void fv_bins_add(struct fv_thread *thread, unsigned class, uint64_t begin, uint64_t end)
{
    uint64_t offset = begin - thread->bin_begin;

    if (FV_LIKELY(offset < thread->bin_ticks && end - begin < thread->bin_ticks - offset))
        thread->bin[class] += end - begin;
    else
        fv_bins_add_across(thread, class, begin, end);
}
void fv_peers_clear(struct fv_peers *peers);
void fv_peer_add(struct fv_thread *thread, int world_rank, uint64_t messages, uint64_t bytes);
void fv_log_clear(struct fv_log *log);
void fv_log_add(struct fv_thread *thread, const struct fv_coll_record *record);

/* ---- events (events.c) ---- */

void fv_events_call(struct fv_call *call);
/* What a thread did between its calls: never inside of one, nor in a signal handler. Its form's first field, of WAIT
 * the first two, are filled in here: times in ticks. False: there is no room, which _make_room() makes, or the trace
 * has ended. */
bool fv_events_between(struct fv_thread *thread, unsigned kind, uint64_t begin, uint64_t end,
                       uint64_t *field);
void fv_events_make_room(struct fv_thread *thread);
/* The sections that are open now; as fv_events_between(). */
bool fv_events_sections(struct fv_thread *thread, uint64_t now);
/* Room of the trace's budget for something else in it. Also from a signal handler. False: it is used up, or the trace
 * has ended. */
bool fv_events_reserve(size_t bytes);
void fv_events_unreserve(size_t bytes);
/* For calibration: events of the thread go to memory that is thrown away at the end. False: there is none. */
bool fv_events_rehearse(struct fv_thread *thread, bool begin);
/* Compression (pack.c). */
void fv_pack_init(void);
bool fv_pack_wanted(void);
/* The events of a chunk as struct fv_packed and its frame, in *out, which grows. Its bytes; 0: no memory. */
size_t fv_pack_events(const struct fv_chunk_header *chunk, struct fv_packed **out, size_t *room);

void fv_events_switched(bool on); /* pause, resume: by the calling thread */

/* Is some thread in MPI_Init, before recording has begun? */
bool fv_starting(void);

#define FV_FUNCTION_REST 0xffffu /* cells of calls that fit nowhere else */
extern uint8_t fv_function_written[FV_FUNCTION_REST + 1];
void fv_function_write(unsigned function);
/* In a signal handler: the call path that the signal interrupted, at `pc`; innermost one past it. Once. Of a thread; NULL: that
 * calls no MPI. */
uint32_t fv_path_interrupted(const struct fv_thread *thread, uintptr_t pc);
void fv_shadow_write(struct fv_writer *writer); /* of those that were added; at the start */
/* Writes the name of a function that is used for the first time. */
static inline void fv_function_used(unsigned function)
{
    if (FV_UNLIKELY(!__atomic_load_n(&fv_function_written[function], __ATOMIC_RELAXED)))
        fv_function_write(function);
}

/* ---- communicators ---- */

uint32_t fv_comm_id(const struct fv_comm *comm);
/* World rank of a rank in the group that messages go to; -1 unknown. */
int fv_comm_peer_world(const struct fv_comm *comm, int rank);

/* ---- barriers of our own (barrier.c) ---- */

/* Once, by every rank that records, when its file is there: who inserts barriers? Waits for the others, for a
 * time. Sets fv_barriers. */
void fv_barriers_agree(const char *directory, const struct fv_start_info *info);
/* Do collectives on a communicator that is being registered get barriers? The same on all its ranks. */
bool fv_barriers_on(const struct fv_comm_info *info);

#endif
