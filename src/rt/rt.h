/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime as the MPI wrappers see it. A wrapper is
 *
 *     struct fv_call call;
 *     bool on = fv_call_enter(&call, FV_FN_MPI_Send, FV_CALL_SITE());
 *     int result = PMPI_Send(...);
 *     if (on && fv_call_end(&call)) {             the clock, before anything else
 *         if (result == MPI_SUCCESS) ...          what was moved: only now are the arguments known good
 *         fv_call_record(&call, comm, sent, received);
 *     }
 *     return result;
 *
 * The runtime knows no MPI type: handles are uint64_t (fv_handle() in mpi-wrappers/glue.h). Everything
 * here may be called from any thread at any time, never fails visibly, never sets errno, and takes no
 * lock, memory or system call on the usual path.
 *
 * Nesting: between enter and record the thread is "inside"; wrappers that MPI itself, its callbacks or
 * its other language bindings call meanwhile see fv_call_enter() == false and only forward. */
#ifndef FV_RT_H
#define FV_RT_H

#include "base/base.h"
#include "rt/map.h"
#include "trace/events.h"
#include "trace/format.h"

struct fv_thread;
struct fv_path_entry;
struct fv_comm;

/* One row for each wrapped function, generated from mpi-api.tbl; the index is FV_FN_<name>. */
struct fv_function {
    const char *name;
    uint8_t class; /* enum fv_function_class */
    uint8_t wait;  /* enum fv_wait_rule */
};
extern FV_INSIDE const struct fv_function fv_functions[];
extern const unsigned fv_function_count;

/* Where the wrapper was called from. The macro must stand in the wrapper itself, which gets a frame pointer by it. */
struct fv_call_place {
    const void *return_address;
    const uintptr_t *frame; /* frame[0]: the caller's frame pointer, frame[1]: the return address */
};
#define FV_CALL_SITE() \
    ((struct fv_call_place){ __builtin_return_address(0), (const uintptr_t *)__builtin_frame_address(0) })

/* A call in progress, on the wrapper's stack. */
struct fv_call {
    struct fv_thread *thread;
    struct fv_path_entry *path;
    struct fv_cell *cell; /* after fv_call_record(): where it was counted, or NULL */
    uint64_t begin, end;
    struct fv_thread_record *shared; /* the thread's: others see there what it is in */
    uint32_t function;
    bool record;   /* false while paused: bookkeeping goes on, nothing is counted */
    uint8_t trace; /* 1: what it does is wanted: fv_event() */
};

/* Begins a call: finds its call path, marks the thread as being in it, reads the clock last. False: the
 * wrapper must only forward (nested, before MPI, after a fork, fvmpi off). */
bool fv_call_enter(struct fv_call *call, unsigned function, struct fv_call_place site);

/* Calls that asked for what had not come yet (MPI_Test, MPI_Iprobe): a rank that only asks makes no progress
 * (--hang-after). The first member of struct fv_thread. */
struct fv_asked {
    uint64_t in_vain;
    uint64_t forgotten; /* calls that were counted before MPI_Pcontrol(2) */
};
/* Before the call is recorded: so others never see it counted as one that was not in vain. */
static inline void fv_call_in_vain(const struct fv_call *call)
{
    ((struct fv_asked *)(void *)call->thread)->in_vain += call->record;
}

/* Tells who a blocking call waits for, right after enter, for reports of hung programs. */
static inline void fv_call_peer(struct fv_call *call, uint64_t comm, int peer, int tag)
{
    call->shared->in_call.comm = comm;
    call->shared->in_call.peer = peer;
    call->shared->in_call.tag = tag;
}

/* The same of a call that sends and receives, of which either may be what it waits for. */
void fv_call_peers(struct fv_call *call, uint64_t comm, int to, int send_tag, int from, int tag);

/* Where a completion call describes its requests, before MPI is called: `item`, then `kept`, `count`, and at last
 * fv_call_described(). NULL: no room in the file. */
struct fv_waiting *fv_call_describe(struct fv_call *call);
/* Last, so that a reader who sees the time sees the rest. */
static inline void fv_call_described(const struct fv_call *call, struct fv_waiting *waiting)
{
    __atomic_store_n(&waiting->begin, call->begin, __ATOMIC_RELEASE);
}

/* Reads the clock. False: the call came back on another thread, as a fiber may (Argobots, Qthreads): it is counted as
 * not recorded, and nothing more may be done with it, because its thread's state is that thread's alone. */
bool fv_call_end(struct fv_call *call);

/* Counts the call and leaves it; comm may be NULL. Call it exactly once after each fv_call_end() that
 * returned true, whatever PMPI returned (with 0 bytes on errors). */
void fv_call_record(struct fv_call *call, struct fv_comm *comm, uint64_t sent, uint64_t received);

/* The same of one that moved no data, on a communicator: by its handle, which is good. */
void fv_call_record_on(struct fv_call *call, uint64_t comm);

/* The same of a send that is complete for its caller, to a rank of that communicator: its event, the message and the
 * matrix, too. */
void fv_call_record_send(struct fv_call *call, uint64_t comm, int rank, int tag, uint64_t bytes);

/* What the call did, for the trace: a detail of trace/events.h with its fields in order, those that may be below 0 by
 * fv_signed(). Before fv_call_record() of the same call. */
#define fv_event(call, kind, ...)                                                                              \
    do {                                                                                                       \
        if (FV_UNLIKELY((call)->trace)) {                                                                      \
            const uint64_t field_[] = { __VA_ARGS__ };                                                         \
            _Static_assert(sizeof(field_) == FV_EV_FIELDS_##kind * sizeof(*field_), "the fields of its form"); \
            FV_EVENT_ADD(__VA_ARGS__, 6, 5, 4, 3, 2, 1)((call), FV_EV_##kind, field_);                         \
        }                                                                                                      \
    } while (0)
#define fv_signed(value) fv_zigzag((int64_t)(value))
/* A function for each number of fields. */
#define FV_EVENT_ADD(a, b, c, d, e, f, n, ...) fv_event_add_##n
#define FV_EVENT_ADDS(X)                       X(1) X(2) X(3) X(4) X(5) X(6)

#define FV_EVENT_ADD_DECLARED(n) void fv_event_add_##n(struct fv_call *, unsigned kind, const uint64_t *field);
FV_EVENT_ADDS(FV_EVENT_ADD_DECLARED)
#undef FV_EVENT_ADD_DECLARED
/* The same of a request that ended, on a communicator of that fv_comm_record.id (0: it is not to be counted): a message
 * came (peer below 0: from nobody knows whom); or it was cancelled. */
void fv_event_received(struct fv_call *call, uint32_t comm, uint64_t request, int peer, int tag, uint64_t bytes);
void fv_event_cancelled(struct fv_call *call, bool sends, uint32_t comm, uint64_t request, int peer, int tag);
/* Is there a trace in this process, now or later? Then all requests are followed. */
extern FV_INSIDE bool fv_traced;
static inline bool fv_tracing(void)
{
    return fv_traced;
}
/* The first of `count` new request numbers; 0: there is no trace. */
uint64_t fv_event_numbers(uint64_t count);
/* Records a window that was made. Its number. */
uint32_t fv_event_window(uint32_t comm, uint64_t sequence);
/* Records a file that was opened (mode: enum fv_file_mode_flags). Its number. */
uint32_t fv_event_file(uint32_t comm, unsigned mode, const char *name);

/* For a function that ended in a communicator being created or freed, PMPI_* queries of the wrapper
 * must happen between fv_call_end() and fv_call_record(): nesting is still guarded there. */

/* After fv_call_record(): the message counts for the communication matrix. `rank` is in the remote
 * group of an intercommunicator, else in the group of comm. PROC_NULL must not come here. comm NULL: one dropped. */
void fv_call_sent_to(struct fv_call *call, struct fv_comm *comm, int rank, uint64_t messages, uint64_t bytes);

/* After fv_call_record(): so many of its messages had no bytes, which fv_call_record() does not count. */
void fv_call_empty(struct fv_call *call, unsigned sent, unsigned received);
/* After fv_call_record(): one of several messages that it sent, whose bytes fv_call_record() did not have. */
void fv_call_sent_one(struct fv_call *call, uint64_t bytes);

/* A blocking collective. fv_comm_collective() must be called for every collective call on comm that
 * succeeded, blocking or not, also while paused (fv_call.record false), before fv_call_record(): it
 * gives the call's sequence number. fv_call_collective(), after fv_call_record(), logs a blocking one. */
uint64_t fv_comm_collective(struct fv_comm *comm);
/* fv_call_record() of a blocking collective that succeeded, with all that belongs to it: its number, its event, whose
 * root is as there, and its line in the log. `flags`: FV_COLL_ROOT. */
void fv_call_record_collective(struct fv_call *call, struct fv_comm *comm, int64_t event_root, uint64_t sent,
                               uint64_t received, unsigned flags);
uint64_t fv_comm_collectives(const struct fv_comm *comm); /* the number that the next one will get */
void fv_call_collective(struct fv_call *call, uint32_t sequence, unsigned flags /* enum fv_coll_flags */);
/* The same of one without root, by its communicator's handle, in which each rank contributes as much as it gets. */
void fv_call_record_alike(struct fv_call *call, uint64_t comm, uint64_t bytes);

/* ---- barriers of our own (barrier.c, and mpi-wrappers/barrier.c, which calls MPI) ---- */

extern FV_INSIDE uint32_t fv_barriers; /* enum fv_barrier_mode; set once, before the first call is recorded */
/* The communicator, if a collective call on it gets barriers; NULL: it gets none. `on`: fv_call_enter() returned
 * true. A thread that cannot be recorded inserts them all the same. `world`: the handle is MPI_COMM_WORLD's,
 * valid for certain; others are looked up and MPI is not asked. */
struct fv_comm *fv_barrier_enter(bool on, uint64_t handle, bool world);
/* Has the barrier before its next collective been there already? */
bool fv_barrier_owed(const struct fv_comm *comm);
void fv_barrier_leave(struct fv_comm *comm, bool owed);
/* After fv_call_record(): `ticks` of the call's time were in a barrier. */
void fv_barrier_record(struct fv_call *call, uint64_t ticks);

/* ---- communicators (comm.c). A struct fv_comm lives until the process ends. ---- */

/* How a communicator came to be; the ranks that share one must pass the same kind and discriminator. */
struct fv_comm_info {
    uint64_t handle;
    struct fv_comm *parent; /* NULL: none or unknown */
    uint64_t sequence;      /* fv_comm_next_child(parent), taken by every rank that took part in the call */
    uint64_t salt;          /* further discriminator (tag of create_group, bridge's tag), or 0 */
    unsigned flags;         /* enum fv_comm_flags */
    int rank, size, remote_size;
    const int *world_ranks;        /* [size]; -1: not in MPI_COMM_WORLD; NULL: as the parent's, both groups */
    const int *remote_world_ranks; /* [remote_size] */
    const char *name;              /* NULL: none */
};
/* Registers a communicator; replaces one that is known under the same handle. NULL: no memory, counted. */
struct fv_comm *fv_comm_new(const struct fv_comm_info *info);
/* The same for a communicator with the members of its parent, which costs no look at them. */
struct fv_comm *fv_comm_dup(uint64_t handle, struct fv_comm *parent, uint64_t sequence);
/* The communicator of a handle. Unknown ones are described by fv_mpi_describe() first. NULL: MPI_COMM_NULL
 * or not describable. Only valid handles may come here: call it after PMPI returned success. */
struct fv_comm *fv_comm_get(uint64_t handle);
/* Like fv_comm_get(), but never asks MPI. */
struct fv_comm *fv_comm_find(uint64_t handle);
/* After a successful MPI_Comm_free or disconnect, which began at `begin`, of what its handle meant before: by now
 * it may be another thread's new communicator. False: NULL, or the struct
 * has a new life, too (only over budget). */
bool fv_comm_freed(struct fv_comm *comm, uint64_t begin);
void fv_comm_named(uint64_t handle, const char *name); /* after MPI_Comm_set_name */
uint64_t fv_comm_next_child(struct fv_comm *parent);   /* number of this creation call on the parent */
/* An *_init call of a partitioned operation, of enum fv_request_kind: the fv_comm_record.id of what stands in the trace
 * for the communicator. 0: no trace, or no room, which is counted. */
uint32_t fv_comm_channel(struct fv_comm *comm, unsigned kind, int peer, int tag);
int fv_comm_size(const struct fv_comm *comm);
int fv_comm_rank(const struct fv_comm *comm);
int fv_comm_remote_size(const struct fv_comm *comm); /* 0: an intracommunicator */
unsigned fv_comm_flags(const struct fv_comm *comm);
/* The Cartesian grid of a new communicator, once. */
void fv_comm_grid(const struct fv_comm *comm, unsigned dimensions, const int *sizes, const int *periodic);
/* Neighbours of this rank in a new communicator's topology, for the trace: ranks in it, sources first. NULL: more
 * than fv_comm_neighbours_fit(), of which only the number is told. */
void fv_comm_neighbours(const struct fv_comm *comm, unsigned sources, unsigned destinations, const int *ranks);
bool fv_comm_neighbours_fit(uint64_t count);
/* This rank's neighbours in its topology. Zeroed, it is not known. */
struct fv_degrees {
    int in, out;
    uint64_t absent; /* of a grid: neighbours beyond an edge, which keep their place in the buffers */
    bool known;
};
struct fv_degrees fv_comm_degrees(const struct fv_comm *comm);
/* As MPI told them: they never change. */
void fv_comm_set_degrees(struct fv_comm *comm, struct fv_degrees degrees);
uint32_t fv_comm_number(const struct fv_comm *comm); /* in the file and in events; 0: NULL, or over budget */

/* ---- windows and files (owners.c): they were made from a communicator, and do not tell it cheaply ---- */

enum fv_owner_kind { FV_OWNED_WINDOW, FV_OWNED_FILE, FV_OWNED_KINDS };
struct fv_owner {
    struct fv_comm *comm;
    uint64_t number;         /* in the trace; 0: none */
    uint64_t handle, serial; /* set by fv_owner_add() */
};
/* Remembers, in place of what is known under the handle. Without a communicator, or memory: counted. */
void fv_owner_add(enum fv_owner_kind kind, uint64_t handle, struct fv_owner owner);
/* comm NULL, number 0: unknown. */
struct fv_owner fv_owner_of(enum fv_owner_kind kind, uint64_t handle);
/* After the call that freed it: `known`, from before that call, is no more. By now its handle may be another thread's
 * new object, which stays: then false. */
bool fv_owner_remove(enum fv_owner_kind kind, const struct fv_owner *known);

/* ---- requests (request.c): non-blocking and persistent operations until they complete ---- */

enum fv_request_kind {
    FV_REQUEST_SEND = FV_WAITED_SEND,
    FV_REQUEST_RECV = FV_WAITED_RECEIVE,
    FV_REQUEST_COLLECTIVE = FV_WAITED_COLLECTIVE,
    FV_REQUEST_OPERATION = FV_WAITED_OPERATION, /* RMA, file: followed for the trace */
    FV_REQUEST_MESSAGE = 5,                     /* a matched probe's message: likewise */
    FV_REQUEST_NOTHING = 6, /* persistent, with MPI_PROC_NULL: known, so that its start is; never active */
};
struct fv_request {
    uint64_t handle;
    uint8_t kind;       /* enum fv_request_kind */
    uint8_t persistent; /* stays known after completion, until fv_request_freed() */
    uint8_t active;     /* persistent: started and not completed */
    union {
        struct {
            uint8_t partitioned : 1;
            uint8_t untold : 1; /* a receive: its status tells nothing; `received` has what arrives */
        };
        uint8_t traits; /* both */
    };
    int32_t peer, tag; /* as passed */
    uint64_t sent;     /* persistent: what one start sends */
    uint64_t received; /* collectives: what one start receives; receives: what arrives, 0: the status tells */
    struct fv_comm *comm;
    uint32_t channels; /* of a partitioned operation: its communicator in the trace (fv_comm_channel()) */
    /* Who is charged with the received bytes: set by fv_request_post(), fv_request_start(), as is `serial`. */
    uint32_t path, comm_id, section;
    uint16_t function;
    uint16_t made_by; /* the function that posted it; set by fv_request_post() */
    uint64_t serial;  /* tells it from a later request under the same handle */
    uint64_t number;  /* of the operation in the trace, else 0; set by fv_request_start() for persistent ones */
    uint32_t sequence, starts; /* persistent collectives: of the *_init call, and how often it was started */
};
/* By the call that made the request, before or after its fv_call_record(): follow it. Only receives need it
 * (bytes are known at completion), what is persistent (bytes are charged to its starts), and for a trace
 * all. */
void fv_request_post(struct fv_call *call, const struct fv_request *request);
/* The same of a receive, with its event (`peer` as all MPIs would write it), and fv_call_record(). */
void fv_call_record_irecv(struct fv_call *call, uint64_t comm, uint64_t request, int source, int peer, int tag);
/* Remembers what a request is that is not followed, as long as no other one needs the place: for reports of hung
 * programs. The peer as passed. */
void fv_request_note(struct fv_call *call, uint64_t handle, const struct fv_wait_target *what);
/* Was any request followed or noted? Cheap. */
bool fv_requests_told(void);
/* What is waited for when a request is, from what was followed or noted. False: unknown, or inactive. */
bool fv_request_waited(uint64_t handle, struct fv_wait_target *out);
/* The call waits for one that fv_request_get() gave; its peer as all MPIs would write it. */
void fv_request_waits(struct fv_call *call, const struct fv_request *request, int peer);
/* What is waited for then. */
struct fv_wait_target fv_request_as_waited(const struct fv_request *request);
/* Copies a known request to *out; false: unknown. */
bool fv_request_get(uint64_t handle, struct fv_request *out);
/* Any receive or persistent request known in this process? Cheap; lets Wait and Test skip all work. */
#define FV_REQUEST_SHARDS 16
extern FV_INSIDE union fv_requests_known {
    uint32_t in_shard[FV_REQUEST_SHARDS];
    uint64_t pair[FV_REQUEST_SHARDS / 2];
} __attribute__((aligned(64))) fv_requests_known;
static inline bool fv_requests_any(void)
{
    uint64_t any = 0;

#pragma GCC unroll 8
    for (unsigned i = 0; i < FV_REQUEST_SHARDS / 2; i++)
        any |= __atomic_load_n(&fv_requests_known.pair[i], __ATOMIC_RELAXED);
    return any != 0;
}
/* By other bits of the hash than a map takes: its place in the slab, and the shard of that. */
#define FV_REQUEST_SLAB 256
static inline unsigned fv_request_place(uint64_t handle)
{
    return (unsigned)(fv_map_hash(handle) >> 32) % FV_REQUEST_SLAB;
}
static inline unsigned fv_request_shard(uint64_t handle)
{
    return fv_request_place(handle) % FV_REQUEST_SHARDS;
}
/* False: it is not. */
static inline bool fv_request_may_be_known(uint64_t handle)
{
    return __atomic_load_n(&fv_requests_known.in_shard[fv_request_shard(handle)], __ATOMIC_RELAXED) != 0;
}
/* May several threads be inside MPI? Then a handle may mean another request by the time a call returns. */
bool fv_requests_shared(void);
/* After fv_call_record() of MPI_Start: later completions are charged to this call, and are of operation
 * `number` in the trace. `known`: what fv_request_get() told before it; `handle`: as MPI left it. */
void fv_request_unknown(void); /* one was started that is not known: counted */
void fv_request_start(struct fv_call *call, const struct fv_request *known, uint64_t handle, uint64_t number);
/* `known`, as fv_request_get() gave it before the completing call, completed: received bytes are charged
 * to the call that posted (or started) it. Forgets it unless persistent; but when MPI has given its handle
 * to another thread's new request meanwhile, that one stays. Call after fv_call_end(). False: it had completed
 * before; an MPI may hand out one handle for many sends. `message`: a receive got one, perhaps without bytes. */
bool fv_request_completed(struct fv_call *call, const struct fv_request *known, bool message, uint64_t bytes_received);
/* The same of a receive that got a message, where there is no trace, and fv_call_record(). */
void fv_call_record_received(struct fv_call *call, const struct fv_request *known, uint64_t bytes);
/* MPI took it away otherwise: MPI_Request_free (call it before PMPI), an error. */
void fv_request_freed(const struct fv_request *known);

/* Scratch memory of the calling thread for arrays of handles and statuses, at least `bytes`, valid until
 * its next use under the same slot (0..2); NULL: no memory (the caller then forwards without). */
void *fv_scratch(struct fv_call *call, unsigned slot, size_t bytes);

/* ---- life cycle (start.c) ---- */

struct fv_start_info {
    int world_rank, world_size;    /* 0 and 1 without a world (sessions) */
    const char *mpi;               /* MPI_Get_library_version */
    const char *thread_level;      /* "MPI_THREAD_SINGLE", ... */
    bool thread_multiple;          /* more than one thread may be inside MPI */
    uint64_t init_begin, init_end; /* ticks around MPI_Init, 0 if it was not seen */
};
/* Opens the rank file and starts recording; the second call does nothing. Never communicates: an
 * application may run only some of its ranks under fvmpi. */
void fv_start(const struct fv_start_info *info);
/* From now on several threads may be inside MPI, whatever was said at the start. */
void fv_threads_many(void);
/* MPI_Init itself, seen before the runtime was started: the call is recorded afterwards. */
void fv_start_record_init(unsigned function, struct fv_call_place site, uint64_t begin, uint64_t end);
bool fv_started(void);
void fv_finalizing(void);   /* entering MPI_Finalize; fv_call_enter() was called */
void fv_finalized(void);    /* it returned and was recorded; or it returned in a thread that cannot be: */
bool fv_unrecorded(void);   /* there was no room in memory or on the disk for this thread */
void fv_aborting(int code); /* entering MPI_Abort */
/* MPI_Pcontrol and fvmpi.h. Idempotent. */
void fv_pause(void);
void fv_resume(void);
/* MPI_Pcontrol(2): what was recorded so far; and 3, 4: from here on this thread is in a section of the next number. */
void fv_forget(void);
void fv_mark(void);
uint64_t fv_now(void); /* ticks */

/* Before main: `object` defines this MPI function in front of us, at this address, and may pass it by us, to PMPI_X.
 * `function` stays. */
void fv_shadow_add(const char *object, const void *address, const char *function, bool passes_by);

/* ---- what the MPI-dependent layer (mpi-wrappers/glue.c) gives to the runtime ---- */

/* Is MPI initialised and not finalised, and if so, who are we? Called when a wrapper is the first one
 * the runtime sees. True: *out is filled. */
bool fv_mpi_attach(struct fv_start_info *out);
/* Describes an unknown but valid communicator with local PMPI calls only, and registers it by
 * fv_comm_new() with FV_COMM_INFERRED (or as the world or self). */
struct fv_comm *fv_mpi_describe(uint64_t handle);

#endif
