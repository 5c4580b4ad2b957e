/* SPDX-License-Identifier: BSD-3-Clause */
/* What the replay of one rank keeps; shared by replay.c and its parts, replay_*.c. */
#ifndef FV_REPLAY_STATE_H
#define FV_REPLAY_STATE_H

#include "merge/replay.h"
#include "merge/requests.h"
#include "merge/threads.h"
#include "tool/heap.h"

/* What calls of a site do. */
struct fv_call_site {
    const struct fv_call_info *info; /* NULL: the file does not describe it */
    uint32_t function, node;
};

/* A parallel region that a thread has forked, or its part in one. */
struct fv_open_team {
    uint64_t region;
    bool is_fork;
    bool came;     /* to the barrier at its end, which all have left when it is joined ... */
    uint64_t end;  /* ... then, ns; of a fork: the latest of members that are gone, ... */
    uint32_t last; /* ... of this slot, ... */
    uint32_t path; /* ... and where it was */
};

/* A part in worksharing that a thread is in. */
struct fv_open_work {
    uint32_t function;
    size_t teams, functions; /* of the stream when it began: it is inside of these */
};

/* One thread. */
struct fv_stream {
    uint32_t slot, thread;
    const struct fv_chunk **chunks;
    size_t chunk_count, next_chunk;
    struct fv_call_site *sites;
    size_t site_count;
    struct fv_in_call in_call;
    struct fv_unpacked_events unpacked;
    struct fv_event_cursor cursor;
    bool has_ahead, loaded;
    uint64_t calls;         /* taken, and what stood between calls */
    uint64_t mpi_calls;     /* of them, and of lost ones: of MPI, at most */
    uint64_t recorded;      /* calls of MPI that the thread has made */
    uint64_t missing_ahead; /* in damaged parts, before the next item */
    /* The present item: */
    uint64_t missing; /* before it */
    uint64_t until;   /* ns: its end */
    struct fv_event item;
    struct fv_event *details; /* read in place; the one behind them is the first event of the next item */
    size_t detail_count, detail_room;
    uint64_t detail_kinds; /* as bits */
    const struct fv_call_info *info;
    uint32_t function;
    bool begun;          /* an item was told */
    uint32_t order_comm; /* of the next detail: FV_NONE, or its number among its kind is `order` */
    uint64_t order;
    struct fv_pendings orders; /* by kind of message: the last number */
    uint64_t begin, end;       /* ns */
    struct fv_record frame;    /* the end of the collective operation around the details; kind COUNT: none */
    uint64_t now;              /* of the last record */
    uint32_t piece;            /* of the clock's line */
    uint64_t section_set;      /* that is open */
    bool off;                  /* recording is off, or calls are lost */
    uint32_t *functions;       /* that the compiler instrumented, which it is in: entries; FV_NONE: not known */
    size_t function_count, function_room;
    struct fv_open_work *works;
    size_t work_count, work_room;
    struct fv_open_team *teams; /* parallel regions that it is in, or has forked */
    size_t team_count, team_room;
};

/* Operations on a window that are not complete. */
struct fv_rma_op {
    uint64_t id;
    uint32_t peer;
};
struct fv_rma_window {
    struct fv_rma_op *ops;
    size_t op_count, op_room;
    uint32_t exposed, accessed; /* groups of the last post and start; FV_NONE */
    uint64_t *locks;            /* held */
    size_t lock_count, lock_room;
};

struct fv_rank_replay {
    const struct fv_replay *replay;
    const struct fv_def_rank *rank;
    uint32_t index; /* of the rank */
    uint32_t object_count;
    uint8_t *object_kinds; /* enum fv_sync_kind */
    const struct fv_reader *reader;
    const struct fv_def_map *map;
    struct fv_sink *sink;
    struct fv_location_stats *locations;
    struct fv_replay_stats *stats;
    const struct fv_clock_line *line;
    const struct fv_ring_view *view; /* NULL: the trace is no ring */
    uint64_t messages;               /* met */
    struct fv_stream *streams;
    struct fv_heap next; /* of streams that have an item: by the end of it */
    struct fv_pendings pending;
    struct fv_pendings uses; /* number: communicator + 1; sent: how many of `pending` are on it; op: it was freed */
    struct fv_rma_window *windows; /* by the file's number */
    size_t window_count, window_room;
    uint64_t rma_ids, io_ids;
    uint32_t *members; /* of the group of the call at hand */
    size_t member_count, member_room;
    bool *open_files; /* by the file's number */
    size_t file_count, file_room;
    bool *open_handles; /* of functions for files: as fv_def_map.file_handles; NULL: not used yet */
    bool is_open;       /* it may have ended inside of a call */
    bool failed;
};

/* A record of the thread, at that time or, if it is not over by then, right behind the one before. */
static inline void fv_rank_stamp(struct fv_stream *s, struct fv_record *record, uint64_t time)
{
    record->time_ns = time > s->now ? time : s->now;
    s->now = record->time_ns;
}

static inline void fv_rank_pass(struct fv_rank_replay *r, const struct fv_stream *s, const struct fv_record *record)
{
    if (FV_UNLIKELY(!r->sink->put(r->sink, s->slot, record)))
        r->failed = true;
}

static inline void fv_rank_put(struct fv_rank_replay *r, struct fv_stream *s, struct fv_record *record, uint64_t time)
{
    struct fv_location_stats *l = &r->locations[s->slot];

    fv_rank_stamp(s, record, time);
    if (FV_UNLIKELY(!l->records)) /* a matched probe is told, but no record of an archive */
        l->first_ns = record->time_ns;
    l->records += record->kind != FV_REC_MATCHED;
    l->last_ns = record->time_ns;
    fv_rank_pass(r, s, record);
}

static inline uint64_t fv_rank_time(const struct fv_rank_replay *r, struct fv_stream *s, uint64_t ticks)
{
    int64_t ns = fv_clock_ns(r->line, ticks, &s->piece);

    return ns > 0 ? (uint64_t)ns : 0;
}

static inline uint32_t fv_rank_comm(const struct fv_rank_replay *r, uint64_t id)
{
    return fv_numbers_get(&r->map->comms, id);
}

/* The function of a call of threads'; FV_NONE: it is not known. */
static inline uint32_t fv_rank_thread_call(const struct fv_rank_replay *r, unsigned call)
{
    return r->map->thread_calls ? r->map->thread_calls[call % FV_THREAD_CALLS] : FV_NONE;
}

/* replay_stream.c: the items of a thread, one by one. */
void fv_stream_open(struct fv_rank_replay *r, struct fv_stream *s); /* and loads the first one */
/* Takes a call with its details, or what stands between calls. */
void fv_stream_load(struct fv_rank_replay *r, struct fv_stream *s);
/* If has_ahead: the first event of the next item. */
static inline const struct fv_event *fv_stream_ahead(const struct fv_stream *s)
{
    return &s->details[s->detail_count];
}
/* Behind the last item: how many calls of MPI the thread has made that nothing tells of. */
uint64_t fv_stream_missing_at_end(const struct fv_rank_replay *r, const struct fv_stream *s);
void fv_stream_release(struct fv_stream *s);

/* replay_ring.c: of a trace that is a ring. */
/* The next message: is it told? */
bool fv_ring_takes(struct fv_rank_replay *r);
/* Of the message, among those of its communicator, peer, tag and direction, from 1; 0: it is not known, UNKNOWN: nor
 * are those behind it. Only of a view that is numbered. */
#define FV_RING_UNKNOWN UINT64_MAX
uint64_t fv_ring_number(struct fv_rank_replay *r, struct fv_stream *s, uint32_t comm, uint64_t peer, uint64_t tag,
                        bool sends);
/* Of the detail behind it. */
static inline void fv_ring_order(const struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    s->order_comm = fv_rank_comm(r, d->field[0]);
    s->order = d->field[1];
}
/* The present item begins before what is told. */
bool fv_ring_is_before(const struct fv_rank_replay *r, struct fv_stream *s);
/* Passes it by. */
void fv_ring_skip(struct fv_rank_replay *r, struct fv_stream *s);
/* The end of a receive whose beginning is not told. */
void fv_ring_end_of_lost(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d);
/* A send was taken back; p: NULL, what it was is not known. */
void fv_ring_unsent(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_pending *p);
/* Of a message: that the call is MPI_Imrecv, so that its probe has told it. Only of a view that is numbered. */
bool fv_ring_is_told_before(const struct fv_rank_replay *r, const struct fv_stream *s);
static inline bool fv_ring_is_lost(struct fv_rank_replay *r, uint64_t request)
{
    const struct fv_pending *p = r->view ? fv_pendings_find(&r->pending, request) : NULL;

    return p && p->lost;
}
/* Of the message that was taken last, among the bits. */
static inline uint32_t fv_ring_place(const struct fv_rank_replay *r)
{
    return r->view && r->view->numbered ? (uint32_t)(r->messages - 1) : 0;
}
static inline bool fv_ring_is_numbered(const struct fv_rank_replay *r)
{
    return r->view && r->view->numbered;
}

/* replay_messages.c: what a call began, and what it ended. */
void fv_messages_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d);
void fv_messages_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d);
/* A request of a communicator begins; ... */
void fv_messages_began(struct fv_rank_replay *r, const struct fv_pending *p);
/* ... and has ended, which was told: the communicator may go with it. */
void fv_messages_ended(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_pending *was);
/* Is it needed by requests? Then it goes with the last of them. */
bool fv_messages_keep(struct fv_rank_replay *r, uint32_t comm);
/* What was begun under that number; NULL, and counted: its beginning is not in the trace. */
struct fv_pending *fv_messages_pending(struct fv_rank_replay *r, uint64_t number);

/* replay_rma.c */
bool fv_rma_frame(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d, struct fv_record *frame);
void fv_rma_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d);
void fv_rma_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d);
void fv_rma_end_call(struct fv_rank_replay *r, struct fv_stream *s);
void fv_rma_done(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_pending *was);
void fv_rma_release(struct fv_rank_replay *r);

/* replay_nested.c: instrumented functions and worksharing that a thread is in, each in the one before. */
void fv_nested_enter(struct fv_rank_replay *r, struct fv_stream *s, uint64_t node, uint64_t time);
/* Functions are left until so many are open. */
void fv_nested_leave(struct fv_rank_replay *r, struct fv_stream *s, uint64_t open, uint64_t time);
/* The item at hand: worksharing begins, or ends. */
void fv_nested_work(struct fv_rank_replay *r, struct fv_stream *s);
/* What of it began in so many teams, or more, ends. */
void fv_nested_leave_works(struct fv_rank_replay *r, struct fv_stream *s, size_t teams, uint64_t time);

/* replay_threads.c */
void fv_threads_open(struct fv_rank_replay *r);
void fv_threads_tell(struct fv_rank_replay *r, struct fv_stream *s);
/* Is the present item recorded also while recording is off? */
bool fv_threads_is_end(const struct fv_stream *s);
/* What no end is known of ends with the thread's last record. */
void fv_threads_close(struct fv_rank_replay *r, struct fv_stream *s);
void fv_threads_tell_open(struct fv_rank_replay *r, struct fv_stream *s, uint64_t end);

/* replay_io.c */
void fv_io_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d);
void fv_io_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d);
void fv_io_done(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_pending *was);
void fv_io_release(struct fv_rank_replay *r);

/* replay_files.c */
void fv_files_tell(struct fv_rank_replay *r, struct fv_stream *s);
void fv_memory_tell(struct fv_rank_replay *r, struct fv_stream *s);
void fv_files_tell_open(struct fv_rank_replay *r, struct fv_stream *s, uint64_t end);
void fv_files_release(struct fv_rank_replay *r);

#endif
