/* SPDX-License-Identifier: BSD-3-Clause */
/* What a location did, one record after the other in the order of time: what the replay of a rank file says
 * to a sink, which writes an archive, or checks, or counts. Identifiers are indices in struct fv_defs. Times
 * are nanoseconds after its origin and never go backwards on a location. */
#ifndef FV_RECORD_H
#define FV_RECORD_H

#include "base/base.h"

/* X(kind, fields that it uses) */
#define FV_RECORD_KINDS(X)                                                                                             \
    X(PROGRAM_BEGIN) /* outermost, of a rank's first location */                                                       \
    X(PROGRAM_END)   /* id: exit status, or the code of MPI_Abort; op: 1 it is not known */                            \
    X(MEASURE)       /* op: 1 recording is on again, 0 off */                                                          \
    X(ENTER)         /* ref: function; context; id: ns of its LEAVE */                                                 \
    X(LEAVE)         /* ref; aux; if the call waited, op: kind of waiting, sent: its ns, id: location it waited for */ \
    X(SEND)          /* ref: communicator; peer, tag, sent */                                                          \
    X(RECEIVE)       /* ref, peer, tag, received; id of a matched one */                                               \
    X(ISEND)         /* ref, peer, tag, sent, id */                                                                    \
    X(ISEND_END)     /* id */                                                                                          \
    X(IRECEIVE)      /* id: posted; ref; peer, tag: UINT32_MAX and such are wildcards */                               \
    X(MATCHED)       /* id: found by a matched probe; ref, peer, tag */                                                \
    X(IRECEIVE_END)  /* ref, peer, tag, received, id */                                                                \
    X(TEST)          /* id */                                                                                          \
    X(CANCEL)        /* id; op: 1 a receive was given up, its end is not seen: ref, peer, tag as posted */             \
    X(COLL_BEGIN)                                                                                                      \
    X(COLL_END)     /* op: enum fv_coll_op; ref: communicator; peer: root; sent, received; tag, aux: see below */      \
    X(ICOLL_BEGIN)  /* id */                                                                                           \
    X(ICOLL_END)    /* as COLL_END, id */                                                                              \
    X(COMM_CREATE)  /* ref */                                                                                          \
    X(COMM_DESTROY) /* ref */                                                                                          \
    X(RMA_COLL_BEGIN)                                                                                                  \
    X(RMA_COLL_END)  /* op: enum fv_coll_op; ref: window */                                                            \
    X(WIN_CREATE)    /* ref */                                                                                         \
    X(WIN_DESTROY)   /* ref */                                                                                         \
    X(RMA_GROUP)     /* ref, aux: group, op: 1 memory is synchronised as well */                                       \
    X(RMA_LOCK)      /* ref, peer, id, op: 1 shared */                                                                 \
    X(RMA_UNLOCK)    /* ref, peer, id */                                                                               \
    X(RMA_SYNC)      /* ref, peer */                                                                                   \
    X(RMA_PUT)       /* ref, peer, sent, id */                                                                         \
    X(RMA_GET)       /* ref, peer, received, id */                                                                     \
    X(RMA_ATOMIC)    /* ref, peer, sent, received, id; op: enum fv_atomic */                                           \
    X(RMA_END)       /* ref, id; op: 1 remote completion, 0 local; aux: 1 of a request, to peer */                     \
    X(IO_OPEN)       /* ref: handle */                                                                                 \
    X(IO_CLOSE)      /* ref */                                                                                         \
    X(IO_SEEK)       /* ref, op: whence, sent: offset */                                                               \
    X(IO_BEGIN)      /* ref, op: enum fv_io_flags, sent: bytes, id */                                                  \
    X(IO_ISSUED)     /* ref, id */                                                                                     \
    X(IO_END)        /* ref, sent: bytes, id */                                                                        \
    X(IO_CANCEL)     /* of archives alone, as the next three: ref, id: the operation is given up */                    \
    X(IO_SAME)       /* ref; aux: another handle of what it is open for */                                             \
    X(IO_DELETE)     /* ref: file */                                                                                   \
    X(IO_LOCK)       /* ref: its lock is taken or released */                                                          \
    X(LIBRARY_ENTER) /* a call of a function for files (--io) or of the allocator (--memory=calls): ref: function; \
                      * context; id: ns of its leave; sent, received: bytes allocated, freed + 1; 0 none */   \
    X(LIBRARY_LEAVE) /* ref */                                                                                         \
    X(WORK_ENTER)    /* a part in worksharing of OpenMP begins: ref: function; context */                              \
    X(WORK_LEAVE)    /* ref */                                                                                         \
    X(INSTANCE) /* context: a measured instance, or an instrumented call, of the function whose entry it is begins */  \
    X(INSTANCE_END) /* context; sent: ns of CPU time; op: 1 that is not known, or it goes on at once */                \
    X(EVENT_COUNT)  /* of the instance that ends next: ref: rank, as an index; op: the event there; sent: its count */ \
    X(SECTIONS)     /* id: set of the program's sections that are open from here on, as the rank's file has it */      \
    X(SECTION_ENTER) /* ref: function */                                                                               \
    X(SECTION_LEAVE) /* ref; of an instance that was recorded by itself also what aux is, below */                     \
    X(COUNTER)      /* of a thread: ref: rank, as an index; op: event there; sent: the count since the thread began */ \
    X(SENSOR)       /* ref: rank, as an index; id: series; sent: the bits of a double */                               \
    X(MEMORY)       /* ref: rank, as an index; sent: bytes that its process has allocated */                           \
    X(SAMPLE)       /* of the CPU clock: context; ref: rank, as an index; sent: ns of CPU time since the one before */ \
    X(REGION_ENTER) /* a thread waits outside of calls: ref: function; context; peer: object; id: ns of its leave */   \
    X(REGION_LEAVE) /* ref; if it waited, op: enum fv_thread_wait, sent: ns, id: location it waited for */             \
    X(THREAD_CREATE) /* ref: rank, as an index; id: number of the creation there */                                    \
    X(THREAD_BEGIN)  /* as it, by the new thread */                                                                    \
    X(THREAD_END)                                                                                                      \
    X(THREAD_JOIN)                                                                                                     \
    X(ACQUIRE)    /* ref: lock; id: order of its acquisitions; op: 1 of OpenMP */                                      \
    X(RELEASE)    /* ref, id, op */                                                                                    \
    X(OMP_FORK)   /* ref: rank, as an index; id: threads asked for, 0 not said; context; sent: region */               \
    X(TEAM_BEGIN) /* ref: rank; sent: region; a thread begins its part */                                              \
    X(TEAM_END)                                                                                                        \
    X(OMP_JOIN) /* sent: region */

enum fv_record_kind {
#define FV_RECORD_ENUM(kind) FV_REC_##kind,
    FV_RECORD_KINDS(FV_RECORD_ENUM)
#undef FV_RECORD_ENUM
        FV_REC_COUNT
};

#define FV_LOCATION_NONE UINT64_MAX
#define FV_PEER_ALL      UINT32_MAX       /* of an RMA synchronisation */
#define FV_PEER_NONE     UINT32_MAX       /* root of a collective that has none */
#define FV_PEER_SELF     (UINT32_MAX - 1) /* root: this rank, of an intercommunicator */
#define FV_PEER_OURS     (UINT32_MAX - 2) /* root: another rank of this side */
enum fv_io_flags { FV_IO_WRITE = 1, FV_IO_ASYNC = 2, FV_IO_COLLECTIVE = 4, FV_IO_FLUSH = 8 };
#define FV_IO_BYTES_UNKNOWN UINT64_MAX

/* Constructs of OpenMP that an archive's regions are. */
enum fv_construct {
    FV_CONSTRUCT_NONE,
    FV_CONSTRUCT_PARALLEL, /* what each thread of a team runs */
    FV_CONSTRUCT_BARRIER,
    FV_CONSTRUCT_EXPLICIT_BARRIER,
    FV_CONSTRUCT_BLOCK,     /* of a construct that not all threads take part in */
    FV_CONSTRUCT_MET = 32,  /* + enum fv_omp_work_kind: it is met; who takes part has a block in it */
    FV_CONSTRUCT_WORK = 64, /* + the same: this thread takes part in it */
};

/* Is it of what threads do between calls (--threads)? */
#define FV_RECORD_IS_OF_THREAD(kind) ((kind) >= FV_REC_REGION_ENTER)

struct fv_record {
    uint8_t kind; /* enum fv_record_kind */
    uint8_t op;
    uint8_t error; /* enum fv_failure: how it failed. Of RECEIVE, IRECEIVE_END, COLL_END, ICOLL_END */
    uint32_t ref;
    uint32_t context; /* node of the call path; 0 not known */
    uint32_t peer, tag, aux;
    uint64_t time_ns;
    uint64_t sent, received, id;
};

/* aux of a collective operation: equal on all ranks that take part in it, which depend on each other as its op
 * says; FV_NONE (UINT32_MAX): they are not known. tag: 1 it is of neighbours in a topology alone. */

/* aux of LEAVE: 1 the call began before what is analysed of traces that are rings. */

/* aux of SECTION_LEAVE: number of the instance that ends; sent: ns of MPI in it, id: calls, received: bytes. 0: none
 * ends, or it was not recorded by itself. */

/* LIBRARY_LEAVE of a function for files, of what no other record says: op: 1 it succeeded, 2 it failed; aux: handle +
 * 1; sent: bytes + 1. 0: not said. */

/* Of archives also: aux of IO_OPEN: enum fv_file_mode_flags; received of IO_BEGIN: where in the file + 1, of IO_SEEK:
 * the new position + 1; op of INSTANCE and WORK_ENTER: enum fv_construct; peer of INSTANCE: 1 a
 * section, of our own archives; received of REGION_LEAVE: ns since it waits
 * no more; context of ACQUIRE, THREAD_CREATE and THREAD_JOIN: where; sent of THREAD_JOIN: ns of the call so far; of
 * ACQUIRE and REGION_ENTER, aux: node of the call tree whose module names what is waited for, 0 none does; tag: its
 * kind, enum fv_sync_kind, 0 not known. */

/* The locations of one rank are open together; `slot` is the index of the rank's thread in fv_def_rank. The
 * functions return false when the sink failed, which it has logged. */
struct fv_sink {
    void *context;
    bool (*open)(struct fv_sink *sink, uint32_t slot, uint64_t location);
    bool (*put)(struct fv_sink *sink, uint32_t slot, const struct fv_record *record);
    bool (*close)(struct fv_sink *sink, uint32_t slot);
};

#endif
