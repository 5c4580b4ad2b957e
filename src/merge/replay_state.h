/* What the replay of one rank keeps; shared by replay.c and its parts, replay_*.c. */
#ifndef FV_REPLAY_STATE_H
#define FV_REPLAY_STATE_H

#include "merge/replay.h"
#include "merge/requests.h"

struct fv_detail {
    enum fv_event_kind kind;
    uint64_t field[FV_EVENT_FIELDS];
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

/* One thread. */
struct fv_stream {
    uint32_t slot, thread;
    const struct fv_chunk **chunks;
    size_t chunk_count, next_chunk;
    struct fv_site_record *sites;
    size_t site_count;
    struct fv_in_call in_call;
    struct fv_unpacked unpacked;
    struct fv_event_cursor cursor;
    struct fv_event ahead; /* the first event of the next item */
    bool has_ahead, loaded;
    uint64_t calls;         /* taken */
    uint64_t missing_ahead; /* in damaged parts, before the next item */
    /* The present item: */
    uint64_t missing; /* before it */
    enum fv_event_kind item;
    uint64_t site, begin_ticks, end_ticks;
    uint64_t field[FV_EVENT_FIELDS]; /* of an item that is no call */
    struct fv_detail *details;
    size_t detail_count, detail_room;
    const struct fv_call_info *info;
    uint64_t begin, end;        /* ns */
    struct fv_record frame;     /* the end of the collective operation around the details; kind COUNT: none */
    uint64_t now;               /* of the last record */
    uint32_t piece;             /* of the clock's line */
    uint64_t section_set;       /* that is open */
    bool off;                   /* recording is off, or calls are lost */
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
    uint32_t first_object, object_count;
    uint8_t *object_kinds; /* enum fv_sync_kind */
    const struct fv_reader *reader;
    const struct fv_def_map *map;
    struct fv_sink *sink;
    struct fv_location_stats *locations;
    struct fv_replay_stats *stats;
    const struct fv_clock_line *line;
    struct fv_stream *streams;
    struct fv_pendings pending;
    struct fv_rma_window *windows; /* by the file's number */
    size_t window_count, window_room;
    uint64_t rma_ids, io_ids;
    uint32_t *members; /* of the group of the call at hand */
    size_t member_count, member_room;
    bool *open_files; /* by the file's number */
    size_t file_count, file_room;
    bool is_open; /* it may have ended inside of a call */
    bool failed;
};

void fv_rank_put(struct fv_rank_replay *r, struct fv_stream *s, struct fv_record record, uint64_t time);
uint64_t fv_rank_time(struct fv_rank_replay *r, struct fv_stream *s, uint64_t ticks);
uint32_t fv_rank_lookup(const uint32_t *map, size_t count, uint64_t id);
static inline uint32_t fv_rank_comm(const struct fv_rank_replay *r, uint64_t id)
{
    return fv_rank_lookup(r->map->comms, r->map->comm_count, id);
}

/* replay_stream.c: the items of a thread, one by one. */
void fv_stream_open(struct fv_rank_replay *r, struct fv_stream *s); /* and loads the first one */
/* Takes a call with its details, or what stands between calls. */
void fv_stream_load(struct fv_rank_replay *r, struct fv_stream *s);
void fv_stream_release(struct fv_stream *s);

/* replay_messages.c: what a call began, and what it ended. */
void fv_messages_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d);
void fv_messages_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d);
/* What was begun under that number; NULL, and counted: its beginning is not in the trace. */
struct fv_pending *fv_messages_pending(struct fv_rank_replay *r, uint64_t number);

/* replay_rma.c */
bool fv_rma_frame(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d,
                  struct fv_record *frame);
void fv_rma_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d);
void fv_rma_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d);
void fv_rma_end_call(struct fv_rank_replay *r, struct fv_stream *s);
void fv_rma_done(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_pending *was);
void fv_rma_release(struct fv_rank_replay *r);

/* replay_threads.c */
void fv_threads_open(struct fv_rank_replay *r);
void fv_threads_tell(struct fv_rank_replay *r, struct fv_stream *s);
/* Is the present item recorded also while recording is off? */
bool fv_threads_is_end(const struct fv_stream *s);
/* What no end is known of ends with the thread's last record. */
void fv_threads_close(struct fv_rank_replay *r, struct fv_stream *s);
void fv_threads_tell_open(struct fv_rank_replay *r, struct fv_stream *s, uint64_t end);

/* replay_io.c */
void fv_io_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d);
void fv_io_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d);
void fv_io_done(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_pending *was);
void fv_io_release(struct fv_rank_replay *r);

#endif
