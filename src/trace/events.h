/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: what a traced thread did, call by call, in chunks of type FV_CHUNK_EVENTS.
 *
 * A chunk's payload is struct fv_event_base, then records: one byte (enum fv_event_kind), then the kind's
 * fields as variable-length integers, seven bits a byte, lowest first; signed ones zigzag. The order of
 * records is that of time, in which a thread's calls do not overlap:
 *
 *     CALL site gap duration     a call: it began `gap` ticks after the end of the one before (or after the
 *                                chunk's base), at a call site of the thread's FV_CHUNK_SITES
 *     SEND, RECV, ...            details of the call before them: what it moved, began, ended or made
 *     THREAD_CREATE ... OMP_JOIN with --threads: what the thread did outside of calls, each at its own time, `gap`
 *                                ticks after the end of the one before. They count as calls do in the chunk's `first`
 *     FUNCTION_ENTER, _LEAVE     likewise, of functions that the compiler instrumented: what is left without an event
 *     ends with the
 *                                next LEAVE that says so
 *     IO                         likewise, with --io: a call of a function for files outside of MPI; it lasts
 *                                `duration`
 *     MEMORY                     likewise, with --memory=calls: a call of the allocator
 *     WORK_BEGIN, _END           likewise, with --threads: the thread's part in worksharing of OpenMP. One of a team
 *     that it is
 *                                in is open at a time; what is left without an END ends with the team's part
 *     COUNTER                    likewise, of an event that is counted (--counters), behind SECTIONS
 *     SECTIONS                   likewise, of the sections that the program marks: `set` is the fv_section_set of all
 *                                that are open from then on, 0 none
 *
 * A call and its details become part of the file together. A send takes about 13 bytes. Fields:
 *
 *     comm     fv_comm_record.id of this process; of a partitioned operation one with FV_COMM_CHANNELS
 *                                                     peer   rank in the group that messages go to
 *     request  a number of this process, from 1, given when the operation is posted (persistent ones: at
 *              each start), never used again         bytes  of data
 *     root     of a collective: a rank, or enum fv_event_root
 *     sequence number of the collective call on its communicator, the same on all its ranks; of a persistent
 *              one the number of its *_init call, and above 2^32 how often it was started
 *     window   fv_window_record.id                   file   fv_file_record.id
 *     function fv_function_record.id of the *_init call
 *
 *     number   of an ORDER: see below
 *
 *     sequence number of the thread's creation in the process, from 1
 *     object   fv_sync_object.id; 0: it had no room for one
 *     order    of the acquisitions of a lock that are in the trace, from 1, over all threads; the release has that of
 *              what it ends. A recursive lock is acquired once, and released once
 *     path     fv_path_record.id of the call that waited: return address alone where it was short
 *     what     enum fv_sync_kind | enum fv_sync_operation << 4 | enum fv_event_outcome << 8
 *     cause    fv_thread_record.id + 1 of the thread that was waited for: that acquired the lock last, when waiting
 *              began; came last to the barrier; signalled or posted last; was joined. 0: not known
 *     region   number of a parallel region of OpenMP in the process, from 1, each time that it is run. FORK and JOIN
 *              are
 *              the forking thread's; it joins `ago` ticks after the last of the team came, who is the cause
 *     threads  that the call asked for; 0: it left that to OpenMP
 *
 * Of IO: function enum fv_io_function (close_range: no call, the handle's descriptor was closed by what is not recorded
 * as one, as dup2()), path fv_path_record.id, handle fv_io_handle.id or 0, and what came of it:
 *
 *     result   of reads and writes: bytes that were moved + 1, of a seek: the new position + 1; 0: it failed, or that
 *              is not
 *              known. Of a close: how many descriptors still share what was open. Of others: 1, 0 it failed
 *
 * Of MEMORY: function enum fv_memory_function, path fv_path_record.id; bytes allocated, freed + 1, 0: none, or it
 * failed.
 *
 * ORDER is in a trace that is a ring (fv_file_header.trace_keep), before the SEND, ISEND, RECV, RECEIVED or MATCHED
 * whose place it tells: `number` counts, from 1, the messages of the same communicator, other rank, tag and direction,
 * those received in the order of completion. It stands before the first of them in each chunk, the others follow on;
 * and before a RECEIVED that was posted in an earlier chunk. 0: the place is not known, from here on.
 *
 * What was posted or made while recording was paused has no event: requests that nothing began may end, and
 * windows and files that nothing made are in their tables.
 *
 * Nothing in here is trusted by the decoder: it stays in its bytes and ends at what it cannot read. */
#ifndef FV_EVENTS_H
#define FV_EVENTS_H

#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>

enum fv_event_root {
    FV_ROOT_NONE = -1,   /* the operation has none */
    FV_ROOT_SELF = -2,   /* intercommunicator: this rank (MPI_ROOT) */
    FV_ROOT_OTHERS = -3, /* ... another rank of this side (MPI_PROC_NULL), which takes no part */
};

/* Of an operation that MPI says has failed: the standard's classes (MPI-4.0, 9.4), whose numbers are the
 * MPI's own. A collective operation has taken its place among those of its communicator and moved nothing; a
 * receive has taken its message, of which `bytes` are 0. X(name). Append only. */
#define FV_FAILURES(X) \
    X(OTHER)           \
    X(BUFFER)          \
    X(COUNT)           \
    X(TYPE)            \
    X(TAG)             \
    X(COMM)            \
    X(RANK)            \
    X(REQUEST)         \
    X(ROOT)            \
    X(GROUP)           \
    X(OP)              \
    X(TOPOLOGY)        \
    X(DIMS)            \
    X(ARG)             \
    X(UNKNOWN)         \
    X(TRUNCATE)        \
    X(INTERN)          \
    X(PENDING)         \
    X(NO_MEM)          \
    X(INFO)

enum fv_failure {
    FV_FAILURE_NONE,
#define FV_FAILURE_ENUM(name) FV_FAILURE_##name,
    FV_FAILURES(FV_FAILURE_ENUM)
#undef FV_FAILURE_ENUM
        FV_FAILURE_KINDS
};
extern const char *const fv_failure_names[FV_FAILURE_KINDS]; /* as the standard has them */

enum fv_event_outcome {
    FV_WAITED,          /* and got it */
    FV_WAITED_IN_VAIN,  /* it gave up, or was refused */
    FV_WAITED_FOR_NONE, /* the last at a barrier */
};

/* X(kind, name, fields, signed fields as a bit mask from the first field). The order is the format's:
 * append only. */
#define FV_EVENT_KINDS(X)                                                                                          \
    X(CALL, "call", 3, 0, "site", "gap", "duration")                                                               \
    X(PAUSE, "pause", 1, 0, "gap")   /* recording was switched off ... */                                          \
    X(RESUME, "resume", 1, 0, "gap") /* ... and on again; both stand between calls */                              \
    X(LOST, "lost", 1, 0, "calls")   /* so many calls before here are missing */                                   \
    X(SEND, "send", 4, 6, "comm", "peer", "tag", "bytes")                                                          \
    X(RECV, "recv", 4, 6, "comm", "peer", "tag", "bytes")                                                          \
    X(ISEND, "isend", 5, 12, "request", "comm", "peer", "tag", "bytes")                                            \
    X(IRECV, "irecv", 4, 12, "request", "comm", "peer", "tag") /* as posted: may be wildcards */                   \
    X(SENT, "sent", 1, 0, "request")                                                                               \
    X(RECEIVED, "received", 4, 6, "request", "peer", "tag", "bytes")                                               \
    X(CANCELLED, "cancelled", 1, 0, "request")                                                                     \
    X(FREED, "freed", 1, 0, "request")                             /* given up: its end will not be seen */        \
    X(TESTED, "tested", 1, 0, "request")                           /* and found incomplete */                      \
    X(MATCHED, "matched", 4, 12, "request", "comm", "peer", "tag") /* by a matched probe: ... */                   \
    X(MRECV, "mrecv", 2, 0, "request", "bytes")                    /* ... received, blocking */                    \
    X(COLLECTIVE, "collective", 5, 2, "comm", "root", "sent", "received", "sequence")                              \
    X(ICOLLECTIVE, "icollective", 6, 4, "request", "comm", "root", "sent", "received", "sequence")                 \
    X(DONE, "done", 1, 0, "request") /* a collective, RMA or file operation */                                     \
    X(COMM_NEW, "comm new", 1, 0, "comm")                                                                          \
    X(COMM_GONE, "comm gone", 1, 0, "comm")                                                                        \
    X(WIN_NEW, "win new", 3, 0, "window", "comm", "sequence")                                                      \
    X(WIN_GONE, "win gone", 1, 0, "window")                                                                        \
    X(PUT, "put", 4, 2, "window", "peer", "bytes", "request") /* request 0: none */                                \
    X(GET, "get", 4, 2, "window", "peer", "bytes", "request")                                                      \
    X(ATOMIC, "atomic", 5, 2, "window", "peer", "sent", "received", "request")                                     \
    X(RMA_SYNC, "rma sync", 2, 2, "window", "peer") /* fence, lock, flush ...; peer -1: all */                     \
    X(MEMBER, "member", 1, 0, "world_rank")         /* of the group of a post or start before it */                \
    X(FILE_NEW, "file new", 1, 0, "file")                                                                          \
    X(FILE_GONE, "file gone", 1, 0, "file")                                                                        \
    X(READ, "read", 3, 0, "file", "bytes", "request")                                                              \
    X(WRITE, "write", 3, 0, "file", "bytes", "request")                                                            \
    X(SEEK, "seek", 3, 2, "file", "offset", "whence")                                                              \
    X(LOCK, "lock", 3, 2, "window", "peer", "shared")      /* MPI_Win_lock */                                      \
    X(OPERATION, "operation", 2, 0, "request", "function") /* what a started persistent collective does */         \
    X(THREAD_CREATE, "thread create", 2, 0, "gap", "sequence")                                                     \
    X(THREAD_BEGIN, "thread begin", 2, 0, "gap", "sequence")                                                       \
    X(THREAD_END, "thread end", 2, 0, "gap", "sequence")                                                           \
    X(THREAD_JOIN, "thread join", 2, 0, "gap", "sequence")                                                         \
    X(ACQUIRE, "acquire", 3, 0, "gap", "object", "order")                                                          \
    X(RELEASE, "release", 3, 0, "gap", "object", "order")                                                          \
    X(WAIT, "wait", 6, 0, "gap", "duration", "object", "path", "what", "cause")                                    \
    X(THREAD_FAILED, "thread failed", 2, 0, "gap", "sequence") /* right after its creation */                      \
    X(OMP_FORK, "omp fork", 4, 0, "gap", "region", "threads", "path")                                              \
    X(TEAM_BEGIN, "team begin", 2, 0, "gap", "region")                                                             \
    X(TEAM_END, "team end", 2, 0, "gap", "region") /* it came there, or ran a task there */                        \
    X(OMP_JOIN, "omp join", 6, 0, "gap", "region", "ago", "object", "path", "cause")                               \
    X(SECTIONS, "sections", 2, 0, "gap", "set") /* that are open from here on */                                   \
    X(FAILED, "failed", 1, 0, "error")          /* the operation of the detail before it: enum fv_failure */       \
    X(FUNCTION_ENTER, "function enter", 2, 0, "gap", "node") /* as in struct fv_function_calls */                  \
    X(FUNCTION_LEAVE, "function leave", 2, 0, "gap", "open") /* so many that were entered are open from here on */ \
    X(IO, "io", 6, 0, "gap", "duration", "path", "function", "handle", "result")                                   \
    X(WORK_BEGIN, "work begin", 3, 0, "gap", "kind", "path") /* enum fv_omp_work_kind */                           \
    X(WORK_END, "work end", 2, 0, "gap", "kind")                                                                   \
    X(COUNTER, "counter", 3, 0, "gap", "event",                                                                    \
      "count") /* where a section begins or ends: of COUNTER_EVENTS, from 0; \
                * since the thread began */                                     \
    X(MEMORY, "memory", 6, 0, "gap", "duration", "path", "function", "bytes", "freed")                             \
    X(ORDER, "order", 2, 0, "comm", "number") /* of the message of the detail behind it */

enum fv_event_kind {
#define FV_EVENT_ENUM(kind, ...) FV_EV_##kind,
    FV_EVENT_KINDS(FV_EVENT_ENUM)
#undef FV_EVENT_ENUM
        FV_EV_COUNT
};
#define FV_EVENT_FIELDS 6
enum {
#define FV_EVENT_ENUM(kind, name, fields, ...) FV_EV_FIELDS_##kind = fields,
    FV_EVENT_KINDS(FV_EVENT_ENUM)
#undef FV_EVENT_ENUM
};

/* Stands by itself between calls, at a time of its own, and counts in the chunk's `first`? */
static inline bool fv_event_is_of_thread(unsigned kind)
{
    return (kind >= FV_EV_THREAD_CREATE && kind <= FV_EV_SECTIONS) ||
           (kind >= FV_EV_FUNCTION_ENTER && kind != FV_EV_ORDER);
}

/* Of those: does it last? Its first fields are gap and duration. */
static inline bool fv_event_lasts(unsigned kind)
{
    return kind == FV_EV_WAIT || kind == FV_EV_IO || kind == FV_EV_MEMORY;
}

struct fv_event_form {
    const char *name;
    uint8_t fields, is_signed; /* bit mask */
    const char *field[FV_EVENT_FIELDS];
};
extern const struct fv_event_form fv_event_forms[FV_EV_COUNT];

struct fv_event_base {
    uint64_t ticks; /* that the first gap counts from */
};

/* ---- writing ---- */

#define FV_VARINT_MAX 10
#define FV_EVENT_MAX  (1 + FV_EVENT_FIELDS * FV_VARINT_MAX)

static inline uint64_t fv_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t fv_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static inline uint8_t *fv_put_varint(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

/* Appends a record of fields as their forms have them (signed ones as int64_t). Needs FV_EVENT_MAX bytes. */
uint8_t *fv_put_event(uint8_t *at, enum fv_event_kind kind, const uint64_t *field);

/* ---- reading ---- */

struct fv_event {
    enum fv_event_kind kind;
    uint8_t error;                   /* enum fv_failure, of a FAILED behind it: set by who puts the two together */
    uint64_t field[FV_EVENT_FIELDS]; /* signed ones as int64_t */
    uint64_t begin, end;             /* ticks: of what lasts; a CALL's in its details; others: equal */
};

/* The records of one chunk. */
struct fv_event_cursor {
    const uint8_t *at, *stop;
    uint64_t begin, end; /* of the last call */
    bool damaged;        /* ended at bytes that are no record */
};
/* payload: the chunk's records, `used` bytes of them. */
struct fv_event_cursor fv_event_cursor(const void *payload, uint64_t used);
/* False: no more. */
bool fv_event_next(struct fv_event_cursor *cursor, struct fv_event *out);

#endif
