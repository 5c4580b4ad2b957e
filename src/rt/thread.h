/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread records with. Who owns what: the process owns the rank file, the call tree, modules, communicators and
 * requests, all behind locks that are taken on rare paths only. A thread owns its struct fv_thread and everything
 * in it, and no other thread writes there. When a thread ends, its struct goes to a free list and the
 * next new thread carries on with it: programs that make and end threads forever stay bounded. */
#ifndef FV_THREAD_H
#define FV_THREAD_H

#include "base/scope.h"
#include "rt/clock.h"
#include "rt/map.h"
#include "rt/path.h"
#include "rt/switches.h"
#include "rt/tail.h"

#include <pthread.h>

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
    const struct fv_comm *comm;  /* `last` is of this rank there, until a handle changes its meaning: ... */
    uint64_t generation;         /* ... fv_comm_generation then; 0: of none that is known */
    int rank;
    struct fv_tail tail;
};

/* Computing between calls: of those that follow now this call, now that one; and where there was no processor. */
struct fv_regions {
    struct fv_map table; /* struct region, in region.c */
    struct fv_tail tail;
};

/* Without a processor since the last blocking collective call, and the log of that (noise.c). */
struct fv_noise {
    struct fv_switch_sums since;
    bool any;
    struct fv_noise_record *rest; /* in the file, of what there was no room for; NULL: nothing was logged yet */
    struct fv_tail tail;
};

#define FV_WAIT_LOG_CHUNKS    24
#define FV_WAIT_LOG_SHIFT_MAX 31

/* The log of collective calls: filled, thinned, filled again. */
struct fv_wait_log {
    struct fv_chunk_header *chunk[FV_WAIT_LOG_CHUNKS];
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
    uint64_t last;                   /* end of the last call, ticks */
    uint64_t calls;                  /* written */
    uint32_t sites;                  /* written */
    uint32_t section_set;            /* written last */
    uint64_t ring_offset;            /* of the chunk, in the file, if the trace is a ring, and: */
    uint32_t turn;                   /* number of the use of a chunk; 0: none yet */
    uint64_t first_request;          /* given before it */
    struct fv_packed_events *packed; /* room for a compressed chunk */
    size_t packed_room;
    uint8_t *details; /* of the call that is being recorded */
    size_t details_used, details_size;
    struct fv_recent_site recent[FV_RECENT_SITES];
};

#define FV_RECENT_RECEIVED 8

/* I/O since its last MPI call (src/io); of which file, path and function have the majority, by `weight` ticks more than
 * all others. */
struct fv_io_sums {
    uint64_t calls, ticks, weight;
    uint32_t file, path, function;
};

/* What each call touches comes first, in few cache lines. */
struct fv_thread {
    struct fv_asked asked;
    struct fv_thread_record *record; /* in the file */
    struct fv_paths *paths;
    struct fv_path_cache *path_cache; /* in `paths` */
    uint32_t recording; /* the process's as it was when the thread recorded a call last; 0: --mpi-calls 0, which
                         * records none */
    uint32_t previous;  /* call path of its last call; 0: it made none, or it is not known */
    struct fv_call_place inside;      /* the wrapper (or writer of a record) that the thread is in, or was in last */
    uintptr_t watched, watched_value; /* a stack slot that traps when it is read, and what it holds; 0: none */
    uint64_t bin_begin, bin_end;      /* the time bin used last; bin_end 0: none, and: */
    uint64_t *bin;                    /* its ticks, by class */
    struct fv_switches switches;
    struct fv_io_sums io_since;
    uint32_t section_set;      /* that are open: struct fv_section_set; 0: none */
    uint32_t lives;            /* threads that have had this struct */
    struct fv_thread *made_by; /* the thread that made this one, when it was its number `made_by_life`; NULL: not
                                * known */
    uint32_t made_by_life;
    struct fv_usage usage;                 /* of the thread when it began, or forgot ... */
    struct fv_usage ended;                 /* ... and of those before it; both for others: */
    uint32_t usage_turn;                   /* odd while they change */
    uint64_t comm_handle, comm_generation; /* the communicator used last; generation 0: none */
    struct fv_comm *comm;
    struct fv_waiting *waiting; /* in the file, from its first use on; NULL and: */
    bool waiting_tried;
    bool left; /* its call came back on another thread */
    uint32_t id;
    struct fv_peers peers;
    struct fv_cell *received[FV_RECENT_RECEIVED]; /* that bytes were charged to, by call path */
    struct fv_cells cells;
    struct fv_regions regions, switched, io_regions;
    struct fv_noise noise;
    uint64_t paused_seen;           /* the header's paused_ticks when it recorded last */
    uintptr_t stack_low, stack_end; /* of its own stack; 0, 0: unknown */
    struct fv_path_entry no_path;   /* of calls while paused */
    struct {
        void *memory;
        size_t bytes;
    } scratch[3];
    struct fv_time_bins *bins; /* NULL: no room */
    unsigned bin_shift;        /* log2 of the active bank's width */
    struct fv_thread *next_all, *next_free;
    struct fv_sections *sections;          /* NULL: it marked none yet */
    struct fv_affinity *affinity;          /* where it may run, in the file (src/monitor); NULL: no room */
    struct fv_thread_counters *counters;   /* NULL: events are not counted (rt/counters.h) */
    struct fv_memory *memory;              /* NULL: it allocated nothing yet, or --memory is off (src/memory) */
    struct fv_functions *functions;        /* NULL: it called none that is instrumented yet (src/functions) */
    struct fv_io *io;                      /* NULL: files are not looked at (src/io) */
    struct fv_sync *sync;                  /* what it waits for (src/threads); NULL: not looked at */
    const uint64_t *io_begin, *wait_begin; /* of what it is in, of these two, whose event comes when it ends; NULL, or 0
                                            * there: it is in none */
    struct fv_sampler *sampler;            /* NULL: not sampled */
    struct fv_wait_log log;
    struct fv_events events;
};

/* The process has made a thread, of whomever; also where nobody can tell. */
extern bool fv_threads_made;
/* The thread's own; NULL before its first call, inside a call, and when the runtime is off. */
extern FV_INSIDE FV_TLS struct fv_thread *fv_current;

/* Was what stood at a site left by longjmp() or an exception, if the thread is at `now`? */
bool fv_site_was_left(const struct fv_thread *thread, struct fv_call_place site, struct fv_call_place now);
/* Around what is recorded outside of MPI's calls, in a handler: what the thread waits in it is none of the
 * application's time. Not in one another. */
void fv_handler_begins(void);
void fv_handler_ends(void);

/* fv_current is NULL, and the thread is recorded: did it leave its call, or the writing of a record, without returning,
 * by longjmp()? Then it is outside from now on. */
bool fv_call_was_left(void);
static inline bool fv_is_between(void)
{
    return FV_LIKELY(fv_current != NULL) || fv_call_was_left();
}
/* The same, but also inside a call. */
extern FV_INSIDE FV_TLS struct fv_thread *fv_self;
/* For the first call of a thread: makes or adopts a struct fv_thread. NULL: inside a call, or off, or it is attaching
 * already. */
struct fv_thread *fv_thread_attach(void);
/* Within that, as the C library is when it allocates to tell where the stack is, with a lock held; and as handlers may
 * be. */
bool fv_thread_is_attaching(void);
/* The calling thread is ours: it is never recorded. */
void fv_thread_never_attach(void);
/* After fork() in the child. */
void fv_thread_forget(void);
/* The process's word is not the thread's. False: it is paused, or records no calls. Else the thread has forgotten what
 * it was to forget, and may record. */
bool fv_recording_changed(struct fv_thread *thread, uint32_t recording);

#endif
