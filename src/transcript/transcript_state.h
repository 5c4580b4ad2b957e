/* SPDX-License-Identifier: BSD-3-Clause */
/* What is kept of a rank while its file is made; shared by transcript.c and its parts: transcript_file.c puts chunks
 * and definitions, transcript_calls.c the statistics of calls, transcript_functions.c those of the program's functions,
 * transcript_function_counts.c what was counted in these, transcript_metrics.c counters and series,
 * transcript_samples.c samples, transcript_files.c files, transcript_events.c the trace. */
#ifndef FV_TRANSCRIPT_STATE_H
#define FV_TRANSCRIPT_STATE_H

#include "merge/bytes.h"
#include "merge/requests.h"
#include "trace/events.h"
#include "transcript/transcript.h"

/* A call that a thread is in. */
struct fv_transcript_call {
    uint32_t function, node; /* of the definitions */
    uint64_t begin;          /* ticks */
    uint32_t comm;           /* of the file; 0: none */
    struct fv_transcript_moved {
        uint64_t bytes, min, max;
        uint32_t count;
    } sent, received;
    uint32_t sequence, flags; /* of a collective call: fv_coll_record */
    bool is_open, is_collective, reads;
};

struct fv_transcript_function { /* a call of the program's function that a thread is in */
    uint32_t record;            /* its number among FUNCTION_CALLS, from 0 */
    uint64_t begin, called;     /* called: ticks in functions that it called */
    uint64_t mpi, mpi_called;   /* ticks of MPI when it began; in functions that it called */
    bool nested;
    uint64_t counted[FV_COUNTERS]; /* by counter: when it began */
};

/* By function record and event: those counters first. */
enum { FV_TRANSCRIPT_EVENTS = 2 * FV_COUNTERS };
struct fv_transcript_function_counts {
    uint64_t count, self, mpi_self, calls;
};

struct fv_transcript_thread {
    struct fv_thread_record record;
    struct fv_transcript_call call;
    uint32_t last_from; /* FV_FROM_CELL and the cell of the call before */
    uint64_t last_end;  /* 0: there was none */
    struct fv_cell *cells;
    size_t cell_count, cell_room;
    struct fv_index cell_index;
    struct fv_region_record *regions;
    size_t region_count, region_room;
    struct fv_index region_index;
    struct fv_peer_record *peers;
    size_t peer_count, peer_room;
    struct fv_index peer_index;
    struct fv_bytes collectives; /* the wait log */
    struct fv_time_bins bins;
    struct fv_function_calls *functions;
    size_t function_count, function_room;
    struct fv_index function_index;
    uint32_t *open_records; /* by function record: how often it is open */
    size_t open_room;
    struct fv_transcript_function_counts *function_counts; /* FV_TRANSCRIPT_EVENTS for each function record */
    size_t function_counts_room;
    struct fv_transcript_function *open;
    size_t depth, depth_room;
    size_t works; /* constructs of OpenMP that it is in and that are no functions */
    struct fv_transcript_count {
        uint64_t first, last, in_mpi, entered;   /* counts; entered: when the call at hand began, ... */
        uint64_t first_at, last_at;              /* ticks; 0: it was not counted */
        uint64_t from;                           /* of the records, + 1 */
        bool is_entered, is_bad;                 /* ... if that is known; is_bad: it went back */
        uint64_t spent;                          /* as far as it is known in which function */
        bool is_spent, is_loose, is_outside_mpi; /* spent is known; loose: not counted where each function begins and
                                                  * ends; not where each call of MPI does */
    } counts[FV_COUNTERS];
    struct fv_numbers sample_paths; /* as those of the process, below */
    struct fv_bytes sample_path_records, sample_log;
    uint32_t sample_path_count;
    struct fv_cost *costs;
    size_t cost_count, cost_room;
    struct fv_index cost_index;
    uint64_t samples, sample_ns;
    struct fv_transcript_io *io; /* transcript_files.h; NULL: nothing was done to files */
    /* the trace */
    struct fv_site_record *sites;
    size_t site_count, site_room;
    struct fv_index site_index;
    struct fv_bytes events, details;
    uint64_t event_end;         /* ticks: that the next gap counts from */
    uint64_t before, in_events; /* what counts as a call: in chunks that are written, in `events` */
};

struct fv_transcript {
    struct fv_sink sink; /* first: a sink is one of these */
    const struct fv_merge *merge;
    const struct fv_groups *groups;
    uint32_t rank, world;
    struct fv_file_header header;
    char path[4096 + 64];
    int file;
    uint64_t end; /* of the file */
    bool failed;
    struct fv_transcript_thread *threads;
    uint32_t thread_count;
    struct fv_numbers paths, entries, modules, comms, windows; /* ids by the definitions' numbers; FV_NONE: none yet */
    struct fv_bytes path_records, module_records, comm_records, grid_records, window_records;
    uint32_t path_count, module_count, comm_count, window_count;
    uint64_t *comm_calls; /* collective ones, by id */
    size_t comm_call_room;
    uint16_t *function_ids, function_count; /* ids, by function; 0: it was not called so far */
    uint32_t *way;                          /* scratch: from a call path to its callers */
    size_t way_room;
    struct fv_pendings requests; /* by id: what was posted: path, function, comm and number in the trace */
    uint64_t request_count;
    struct fv_counter_event counters[FV_COUNTERS];
    uint32_t counter_count;
    struct fv_function_event instance_events[FV_COUNTERS]; /* that were counted in single calls */
    uint32_t instance_event_count;
    struct fv_bytes streams;
    struct fv_bytes series_records;
    uint32_t series_count;
    struct fv_transcript_point {
        uint64_t ticks, grain; /* grain: number of the time span that it is the last of */
        uint32_t series;
        double value;
    } * points;
    size_t point_count, point_room;
    uint64_t grain; /* ticks of a time span */
    uint32_t thinned;
    struct fv_transcript_threads *together; /* transcript_threads.h; NULL: no events of threads */
    struct fv_transcript_files *files;      /* transcript_files.h; NULL: none */
};

/* transcript_file.c */
/* The number of a module in the file, which it is added to. */
uint32_t fv_transcript_add_module(struct fv_transcript *t, uint32_t module);
uint32_t fv_transcript_path(struct fv_transcript *t, uint32_t node);
/* The same, of which the innermost frame is at the function's first line. */
uint32_t fv_transcript_entry(struct fv_transcript *t, uint32_t node, uint32_t line);
/* In the call tree of a thread's samples. */
uint32_t fv_transcript_sample_path(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t node);
uint32_t fv_transcript_comm(struct fv_transcript *t, uint32_t comm);
uint32_t fv_transcript_window(struct fv_transcript *t, uint32_t window);
/* Of one that was called. MPI has not so many: the last id is all others'. */
static inline uint16_t fv_transcript_function_id(struct fv_transcript *t, uint32_t function)
{
    if (!t->function_ids[function])
        t->function_ids[function] = t->function_count < UINT16_MAX ? ++t->function_count : UINT16_MAX;
    return t->function_ids[function];
}
void fv_transcript_chunk(struct fv_transcript *t, enum fv_chunk_type type, uint32_t thread, uint64_t first,
                         const void *records, size_t bytes);
void fv_transcript_definitions(struct fv_transcript *t);
/* enum fv_function_class of a function of the definitions. */
unsigned fv_transcript_class(const struct fv_transcript *t, uint32_t function);
/* Do ranks wait for each other in it, so that the wait log has its calls? */
bool fv_transcript_is_logged(const struct fv_transcript *t, uint32_t function);
void fv_transcript_count_collective(struct fv_transcript *t, uint32_t comm);

/* transcript_calls.c */
void fv_transcript_enter(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m,
                         uint64_t ticks);
void fv_transcript_leave(struct fv_transcript *t, struct fv_transcript_thread *h, uint64_t ticks);
/* Something that moved, in the call at hand. */
void fv_transcript_moved(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m);
void fv_transcript_note_moved(struct fv_transcript_moved *moved, uint64_t bytes);
void fv_transcript_note_peer(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t comm, uint32_t peer,
                             uint64_t bytes);
void fv_transcript_statistics(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot);

/* transcript_windows.c: of one-sided communication, in the call at hand. */
void fv_transcript_window_done(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m);

/* transcript_functions.c */
/* aux: the function's first line, 0: not known; tag: of enum fv_function_calls_flags. */
void fv_transcript_function_enter(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m,
                                  uint64_t ticks);
void fv_transcript_function_leave(struct fv_transcript *t, struct fv_transcript_thread *h, uint64_t ticks);
void fv_transcript_functions(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot);

/* transcript_function_counts.c: a function will begin, or end; a call of MPI ends, in which so much was counted. */
void fv_transcript_function_counted(struct fv_transcript *t, struct fv_transcript_thread *h, uint64_t ticks, bool ends);
void fv_transcript_function_mpi(struct fv_transcript_thread *h, uint32_t counter, uint64_t count);
/* What was counted in the call at hand alone. */
void fv_transcript_instance_count(struct fv_transcript_thread *h, const struct fv_record *m);
void fv_transcript_function_counts(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot);
void fv_transcript_function_events(struct fv_transcript *t);

/* transcript_metrics.c */
void fv_transcript_count(struct fv_transcript_thread *h, const struct fv_record *m, uint64_t ticks);
/* A call begins, or ends. */
void fv_transcript_count_call(struct fv_transcript *t, struct fv_transcript_thread *h, uint64_t ticks, bool begins);
void fv_transcript_counts(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot);
void fv_transcript_sensor(struct fv_transcript *t, const struct fv_record *m, uint64_t ticks);
void fv_transcript_metrics(struct fv_transcript *t);

/* transcript_samples.c */
void fv_transcript_sample(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m,
                          uint64_t ticks);
void fv_transcript_samples(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot);
/* transcript_threads.c: what threads do together; of functions, constructs of OpenMP alone are of interest. */
void fv_transcript_together(struct fv_transcript *t, uint32_t slot, const struct fv_record *m, uint64_t ticks);
void fv_transcript_together_close(struct fv_transcript *t);

/* transcript_files.c: a call of a function for files, and what the call at hand did to them. */
void fv_transcript_files_call(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m,
                              uint64_t ticks);
void fv_transcript_files_done(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m);
/* A call of MPI ends: what it did to files; then, of its cell, what was done since the one before. */
void fv_transcript_files_mpi(struct fv_transcript *t, struct fv_transcript_thread *h, uint64_t ticks);
void fv_transcript_files_between(struct fv_transcript_thread *h, uint32_t cell);
void fv_transcript_files_thread(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot);
void fv_transcript_files_close(struct fv_transcript *t);

/* transcript_events.c */
void fv_transcript_detail(struct fv_transcript_thread *h, enum fv_event_kind kind, const uint64_t *field);
#define FV_TRANSCRIPT_DETAIL(h, kind, ...) fv_transcript_detail(h, FV_EV_##kind, (const uint64_t[]){ __VA_ARGS__ })
/* The call at hand, which ends then, with its details. */
void fv_transcript_event_call(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot, uint64_t end);
/* An event between calls: a gap comes first among its fields. */
void fv_transcript_event(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot,
                         enum fv_event_kind kind, uint64_t ticks, uint64_t second);
/* One that lasts. Its first two fields, gap and duration, are filled in. */
void fv_transcript_lasting(struct fv_transcript *t, struct fv_transcript_thread *h, enum fv_event_kind kind,
                           uint64_t begin, uint64_t end, uint64_t *field);
void fv_transcript_events(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot);

/* Functions and constructs that it is in. */
static inline size_t fv_transcript_depth(const struct fv_transcript_thread *h)
{
    return h->depth + h->works;
}

static inline uint32_t fv_transcript_slot(const struct fv_transcript *t, const struct fv_transcript_thread *h)
{
    return (uint32_t)(h - t->threads);
}

#endif
