/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank file's events, told to a sink as records. The threads of a rank are replayed together, in the order
 * in which their calls ended: what one thread began another may complete. Memory is bounded by what is
 * pending and by the details of one call. */
#ifndef FV_REPLAY_H
#define FV_REPLAY_H

#include "merge/calls.h"
#include "merge/clocks.h"
#include "merge/record.h"

/* What could not be told, and why; counts. */
struct fv_replay_stats {
    uint64_t calls, records;
    uint64_t lost;       /* calls that the file says are missing */
    uint64_t damaged;    /* chunks that ended in bytes that are no record */
    uint64_t no_comm;    /* details of communicators that are not described */
    uint64_t no_op;      /* persistent collectives, of which the file does not say which they are */
    uint64_t no_begin;   /* completions whose beginning is not in the trace */
    uint64_t open_calls; /* calls that never returned */
    uint64_t unfinished; /* requests, at the end */
    uint64_t before;     /* calls, and what stood between them, that a ring has lost: at most */
    uint64_t left_out;   /* messages of rings whose other ends are not kept */
};

/* What is told of a rank whose trace is a ring (rings.h): what begins at these times or later. */
struct fv_ring_view {
    uint64_t begin_ticks; /* 0: all */
    uint64_t from_ns;
    uint64_t judged_ns;      /* calls that begin before are told to be without an analysis: aux of their LEAVE is 1 */
    const uint8_t *left_out; /* a bit for each message, in the order in which they are told: it is not. NULL: none */
    uint64_t messages;       /* bits */
    bool numbered; /* tells the numbers of messages: fv_ring_number(), as `received` of sends, `sent` of receives, and
                    * their place among those bits as `aux`. And what else rings.c asks for */
};

struct fv_replay {
    struct fv_defs *defs;
    const struct fv_clocks *clocks;
    const struct fv_call_info *calls;                /* by function */
    const struct fv_ring_view *views;                /* by rank, as an index; NULL: no trace is a ring */
    void (*progress)(void *context, uint64_t bytes); /* NULL: none */
    void *progress_context;
};

struct fv_location_stats {
    uint64_t location, records, first_ns, last_ns;
    uint64_t gaps;     /* how often recording was switched off, or calls were lost */
    uint64_t given_up; /* receives whose request the program freed: whether a message came nobody knows */
};

/* In pieces, so that the ranks of a process can go forward together: what ended until a time, then until a
 * later one. Closing tells what is left open; it is needed after a failure as well. As fv_replay_rank. */
struct fv_rank_replay;
struct fv_rank_replay *fv_replay_open(const struct fv_replay *replay, uint32_t rank, const struct fv_reader *reader,
                                      const struct fv_def_map *map, struct fv_sink *sink,
                                      struct fv_location_stats *locations, struct fv_replay_stats *stats);
bool fv_replay_until(struct fv_rank_replay *replay, uint64_t time_ns);
bool fv_replay_close(struct fv_rank_replay *replay);

/* rank: index in defs->ranks. map: of the file, leading to defs. locations: one for each thread of the rank.
 * False: the sink failed. */
bool fv_replay_rank(const struct fv_replay *replay, uint32_t rank, const struct fv_reader *reader,
                    const struct fv_def_map *map, struct fv_sink *sink, struct fv_location_stats *locations,
                    struct fv_replay_stats *stats);

#endif
