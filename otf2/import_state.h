/* SPDX-License-Identifier: BSD-3-Clause */
/* What is kept of an archive that is read; shared by the parts of import.h: import.c opens and closes, import_defs.c
 * reads the definitions, import_build.c makes them struct fv_defs, import_events.c reads events as records in the
 * archive's numbers, import_rank.c follows a rank through them, import_grids.c reads Cartesian topologies, import_put.c
 * hands them on, import_threads.c what its threads do together, import_metrics.c metrics, import_files.c files,
 * import_survey.c is the first pass. */
#ifndef FV_IMPORT_STATE_H
#define FV_IMPORT_STATE_H

#include "merge/requests.h"
#include "merge/threads.h"
#include "otf2/import.h"
#include "tool/heap.h"

#include <otf2/otf2.h>

/* ---- definitions ---- */

/* By the archive's references, which may have gaps, come in any order, and be of things that are not there. */
enum fv_import_kind {
    FV_IMPORT_STRING,
    FV_IMPORT_REGION,
    FV_IMPORT_LOCATION,
    FV_IMPORT_PROCESS, /* location group */
    FV_IMPORT_NODE,    /* of the system tree */
    FV_IMPORT_GROUP,
    FV_IMPORT_COMM,
    FV_IMPORT_WINDOW,
    FV_IMPORT_FILE,
    FV_IMPORT_HANDLE,
    FV_IMPORT_IO_PARADIGM,
    FV_IMPORT_CONTEXT,
    FV_IMPORT_PLACE, /* source code location */
    FV_IMPORT_ATTRIBUTE,
    FV_IMPORT_METRIC,    /* class or instance */
    FV_IMPORT_MEMBER,    /* of a metric's class */
    FV_IMPORT_GENERATOR, /* of samples */
    FV_IMPORT_DIMENSION, /* of a Cartesian topology: struct fv_grid_dimension */
    FV_IMPORT_GRID,      /* Cartesian topology */
    FV_IMPORT_LOCK,      /* that our own archives name; reference: fv_import_lock_ref() */
    FV_IMPORT_KINDS
};
struct fv_import_table {
    struct fv_index index;
    uint64_t *refs;
    char *rows;
    size_t count, room, ref_room, bytes; /* bytes: of a row */
    uint32_t *direct;                    /* number by reference, where these are dense; ... */
    size_t direct_count;                 /* ... so many */
};

struct fv_import_string {
    const char *text;
};
struct fv_import_region {
    uint32_t name, file, line, role, paradigm;
    uint32_t function;  /* of MPI, in the definitions; FV_NONE: it is none */
    uint32_t module;    /* that stands for it in call paths */
    uint32_t library;   /* function for files, of our own archives also of the allocator; FV_NONE: it is neither */
    uint32_t threads;   /* function: where threads may wait for each other in it; FV_NONE */
    uint8_t construct;  /* enum fv_construct */
    bool is_barrier;    /* of OpenMP */
    bool is_files;      /* its library function is for files */
    bool is_work;       /* of our own archives: waits of threads and constructs of OpenMP, which are no functions */
    bool calls_request; /* MPI_Rput and its like: the operation has a request */
    bool is_section;    /* of our own archives: one that the program marked */
    bool neighbours;    /* a collective operation of neighbours in a topology alone */
};
struct fv_import_location {
    uint64_t events, read; /* that it should have, that the first pass read */
    uint32_t name, type, process;
    uint32_t rank, slot; /* FV_NONE: it belongs to no rank */
};
struct fv_import_process {
    uint32_t name, node, creator, type;
    uint32_t pid, mpi, thread_level; /* strings, of our own archives */
    uint32_t rank;                   /* FV_NONE */
    uint32_t state;                  /* enum fv_file_state, as our own archives say it; 0: not said */
    bool is_missing;                 /* and they say that it has no records */
};
struct fv_import_lock_name {
    uint32_t text; /* string: its kind and name */
    uint32_t node; /* of the call tree, that stands for the name; 0: it has none */
    uint32_t kind; /* enum fv_sync_kind */
};
struct fv_import_node {
    uint32_t name, class, parent;
};
struct fv_import_group {
    uint32_t type, paradigm, count;
    const uint64_t *members;
    uint32_t number; /* in the definitions of all, of one of MPI; FV_NONE */
    uint32_t name;
};
struct fv_import_comm {
    uint32_t name, group, other_group, parent, number; /* number: in the definitions; FV_NONE: it cannot be used */
    bool is_inter;
};
struct fv_import_window {
    uint32_t name, comm, number;
};
struct fv_import_file {
    uint32_t name;
    uint32_t kind;       /* enum fv_io_kind; 0: not said */
    uint32_t filesystem; /* string: its name; FV_NONE */
    uint32_t number;
};
struct fv_import_handle {
    uint32_t name, file, paradigm, comm, number;
    uint32_t mode; /* enum fv_file_mode_flags, of one that was there before */
    bool found;    /* it was */
};
struct fv_import_io_paradigm {
    uint32_t identification;
};
struct fv_import_context {
    uint32_t region, place, parent;
    uint32_t node;  /* its call path, with its own frame; ... */
    uint32_t depth; /* ... so many, with those that are left out */
    uint8_t state;  /* of making that */
};
struct fv_import_place {
    uint32_t file, line;
};
struct fv_import_attribute {
    uint32_t name;
};
struct fv_import_metric {
    const uint32_t *members;
    uint32_t count;
    uint32_t occurrence;
    bool is_instance; /* then the above are its class's: */
    uint32_t class, scope_kind;
    uint64_t scope;
};
struct fv_import_metric_member {
    uint32_t name, about, unit;
    uint32_t mode, type, base;
    int64_t exponent;
};

struct fv_import_grid {
    uint32_t comm;
    const struct fv_grid_dimension *dimensions;
    uint32_t count;
    uint32_t told; /* ranks whose places are there */
    bool is_other; /* it is not as MPI has them */
};

struct fv_import_generator {
    uint64_t ns; /* that a sample stands for; 0: not known */
};

/* ---- what was wrong ---- */

/* X(name, is something missing?, of what, words) */
#define FV_IMPORT_ODDITIES(X)                                                                               \
    X(unbalanced, 0, "region", "left but not entered, or never left; a region ends with the one around it") \
    X(backward, 0, "event", "earlier than the event before; the time of that event was taken")              \
    X(no_reference, 1, "event", "of what is not defined; left out")                                         \
    X(outside, 0, "event", "of MPI outside of a region of MPI; a call was put around it")                   \
    X(no_begin, 1, "completion", "of what was not begun; left out")                                         \
    X(no_end, 0, "receive or collective operation", "never completed; left out")                            \
    X(cut, 1, "location", "that cannot be read to the end; what is there was taken")                        \
    X(missing, 1, "location", "without a file of events that can be read")                                  \
    X(no_process, 1, "location", "of a process that is not defined; left out")                              \
    X(unknown, 1, "event", "of a kind that OTF2 does not know; left out")                                   \
    X(parameters, 0, "parameter", "of a region; left out, as regions are the same for all their parameters")

struct fv_import_oddities {
#define FV_IMPORT_ODDITY(name, lost, what, words) uint64_t name;
    FV_IMPORT_ODDITIES(FV_IMPORT_ODDITY)
#undef FV_IMPORT_ODDITY
};
#define FV_IMPORT_ODDITY_COUNT (sizeof(struct fv_import_oddities) / sizeof(uint64_t))
#define FV_IMPORT_LINE_BYTES   200 /* that says one */

/* ---- the archive ---- */

/* From whom a receive was to come; numbers of the definitions. */
struct fv_import_envelope {
    uint32_t comm, peer, tag;
};

/* What the first pass found of a rank. Numbers are those of this process's definitions. */
struct fv_import_survey {
    struct fv_import_envelope *envelopes;
    size_t envelope_count, envelope_room;
    struct fv_index envelope_index;
    uint32_t *receives; /* by the order of posting: envelope; FV_NONE: it never came */
    size_t receive_count, receive_room;
    uint32_t *collectives; /* by the order of beginning: communicator; FV_NONE: it never ended */
    size_t collective_count, collective_room;
    struct fv_import_site {
        uint32_t function, node;
    } * sites;
    size_t site_count, site_room;
    struct fv_index site_index;
    uint64_t first_ns, last_ns, events, calls;
    uint64_t samples; /* of known time, in threads that call MPI */
    uint64_t cut;     /* calls, in the last pass that was over the part that is taken */
    int64_t exit_code;
    uint32_t program; /* string: its name; FV_NONE */
    uint32_t locks;
    uint32_t *lock_names; /* of each: number of FV_IMPORT_LOCK; FV_NONE */
    bool has_threads;     /* there are events of threads */
    bool is_cut;          /* not all that it did is there */
};

struct fv_import {
    const char *anchor;
    OTF2_Reader *reader;
    char words[600]; /* the library's first ones */
    struct fv_arena arena;
    struct fv_import_table tables[FV_IMPORT_KINDS];
    uint64_t resolution, offset, length, realtime, trace_id;
    uint32_t call_path; /* our own archives' attribute; FV_NONE */
    uint32_t cpu_time;  /* likewise, as are those of calls of functions for files: */
    uint32_t io_handle, io_failed, io_bytes;
    uint32_t lock, wait, wait_kind, cause; /* of what threads wait for */
    uint32_t wait_kinds[FV_TW_COUNT];      /* strings: their names */
    uint32_t io_offset;                    /* Score-P's: where an operation begins; FV_NONE */
    uint32_t world;      /* ranks of MPI_COMM_WORLD; the rest of the processes have numbers behind them */
    uint32_t rank_count; /* of all */
    struct fv_import_rank_def {
        uint32_t process;
        uint32_t *locations; /* numbers; the first is the one that MPI names */
        uint32_t location_count;
        uint32_t *recorders; /* numbers of locations that are no threads, but record metrics */
        uint32_t recorder_count;
    } * ranks;
    uint32_t first, count; /* ranks of this process */
    struct fv_import_part part;
    bool is_part;         /* else all of the run is taken */
    uint64_t most_events; /* of a location; 0: all are taken */
    bool has_mpi_regions; /* among its definitions */
    bool is_sampled;      /* what ranks compute is known by samples; else by regions */
    struct fv_import_survey *surveys;
    uint32_t any_call;         /* function that stands for a call that has no region */
    uint32_t any_files;        /* likewise, for files */
    struct fv_call_tree *tree; /* of this process */
    struct fv_call_tree own_tree;
    bool is_known;                      /* the first pass is over: */
    struct fv_def_map numbers;          /* of this process's definitions in those of all */
    struct fv_import_oddities oddities; /* of this process; of all, once rank files are made */
    struct fv_import_watch watch;
    const struct fv_import_series *series; /* who takes metrics, if no transcript does; NULL: nobody */
    uint32_t short_ranks;                  /* of which a later pass could not read all */
};

/* Counted in the first pass. */
#define FV_IMPORT_ODD(import, oddity, count) ((import)->oddities.oddity += (import)->is_known ? 0 : (uint64_t)(count))

/* import_defs.c. A row; a new one is zeroed. */
void *fv_import_row(struct fv_import *import, enum fv_import_kind kind, uint64_t ref);
/* Its number; FV_NONE: there is none. */
uint32_t fv_import_number(const struct fv_import *import, enum fv_import_kind kind, uint64_t ref);
static inline void *fv_import_at(const struct fv_import *import, enum fv_import_kind kind, uint32_t number)
{
    const struct fv_import_table *t = &import->tables[kind];

    return number < t->count ? t->rows + number * t->bytes : NULL;
}
static inline void *fv_import_get(const struct fv_import *import, enum fv_import_kind kind, uint64_t ref)
{
    return fv_import_at(import, kind, fv_import_number(import, kind, ref));
}
/* "" where it is not defined. */
const char *fv_import_text(const struct fv_import *import, uint32_t string);
/* A group has its type in its reference: some tools give two of them the same. */
static inline uint64_t fv_import_group_ref(uint32_t group, uint32_t type)
{
    return group | (uint64_t)type << 32;
}
static inline uint64_t fv_import_lock_ref(uint32_t process, uint32_t lock)
{
    return lock | (uint64_t)process << 32;
}
/* further: who reads more of them. */
bool fv_import_read_definitions(struct fv_import *import, void (*further)(OTF2_GlobalDefReaderCallbacks *callbacks));
void fv_import_release_definitions(struct fv_import *import);

/* import_build.c: who is which rank; false: there are none. Then the definitions, but for call paths and ranks. */
bool fv_import_find_ranks(struct fv_import *import);
void fv_import_build(struct fv_import *import, struct fv_defs *own);
void fv_import_build_ranks(struct fv_import *import, struct fv_defs *own);
/* What is known of a process, for its rank file. */
void fv_import_header(const struct fv_import *import, uint32_t rank, const struct fv_import_survey *survey,
                      struct fv_file_header *out);
/* import_grids.c */
void fv_import_read_grids(OTF2_GlobalDefReaderCallbacks *callbacks);
void fv_import_build_grids(struct fv_import *import, struct fv_defs *own);
/* Adds the groups that windows are synchronised with, or finds them. */
void fv_import_number_groups(struct fv_import *import, struct fv_defs *defs);

/* Does the event have that attribute? For one that is not there the library makes an error, in 400 instructions. */
static inline bool fv_import_has(const OTF2_AttributeList *attributes, uint32_t attribute)
{
    return attribute != FV_NONE && OTF2_AttributeList_GetNumberOfElements(attributes) &&
           OTF2_AttributeList_TestAttributeByID(attributes, attribute);
}

/* import_events.c: events of a location, one after the other. */
enum {
    FV_RAW_CONTEXT_ENTER = FV_REC_COUNT, /* ref: calling context */
    FV_RAW_CONTEXT_LEAVE,
    FV_RAW_SAMPLE, /* ref: calling context; sent: ns that it stands for, 0 not known; op: by a metric */
    FV_RAW_TASK_END,
    FV_RAW_METRIC, /* ref; aux: its first value in the stream's, op: so many */
};
#define FV_IMPORT_AHEAD       128
#define FV_IMPORT_DEPTH       512 /* of a call path; what is deeper stands there */
#define FV_IMPORT_EVENT_BYTES 8   /* about */

struct fv_open_region {
    uint32_t region, node;
    uint64_t since; /* ns */
    uint32_t lock;  /* that our own archives say is waited for there, + 1; 0: none is */
};

/* ---- what threads do together: import_threads.c ---- */

#define FV_IMPORT_MEETINGS 4 /* barriers of a team that members may be at, or just behind */
struct fv_import_meeting {
    uint64_t number, last; /* last: when the last member came, ns, ... */
    uint32_t slot;         /* ... who is that */
};
struct fv_import_instance {
    uint64_t region;
    uint32_t team, members; /* members: in it now */
    bool joined;
    struct fv_import_meeting meetings[FV_IMPORT_MEETINGS];
};
struct fv_import_member {
    uint32_t instance, team;
    uint64_t barriers, came; /* its number of barriers so far; when it came to the last, or ran a task there, ns */
    bool in_barrier;
};
struct fv_import_lock {
    uint64_t released; /* ns, by: */
    uint32_t slot;     /* FV_NONE: it was not */
    uint32_t name;     /* FV_IMPORT_LOCK: number; FV_NONE */
};

struct fv_import_stream {
    struct fv_import *import;
    uint32_t location; /* its number */
    uint64_t id;
    OTF2_EvtReader *reader;  /* NULL: it has no events, or they are over */
    struct fv_record *ahead; /* as the archive has them: references, and time in ticks */
    size_t count, next;
    uint64_t read, most; /* events so far; that its file has room for */
    struct fv_import_value {
        OTF2_Type type;
        OTF2_MetricValue value;
    } * values; /* of metrics ahead */
    size_t value_count, value_room;
    bool reads_metrics;
    /* Where it is: */
    struct fv_open_region *open; /* regions, outermost first */
    size_t depth, room;
    size_t call;                    /* the depth that a call of MPI was entered at, + 1; 0: it is in none */
    uint64_t now;                   /* ns of its last event */
    uint64_t since;                 /* ns: what it does now was begun */
    uint32_t collective;            /* number of the operation that it is in */
    uint32_t made_call;             /* 1: a call was put around an event */
    struct fv_import_member *teams; /* that it is in, outermost first */
    size_t team_count, team_room;
    uint64_t *forks; /* regions that it forked and did not join */
    size_t fork_count, fork_room;
    uint32_t files; /* regions of functions for files that it is in */
    size_t bare;    /* the depth that an operation outside of these began at, + 1; 0: none */
    uint64_t bare_id;
    bool is_off;  /* recording was switched off */
    bool was_cut; /* the call that it is in began before the part that is taken */
};
/* enum fv_file_mode_flags */
static inline uint32_t fv_import_mode(OTF2_IoAccessMode mode, OTF2_IoStatusFlag flags)
{
    return (mode == OTF2_IO_ACCESS_MODE_READ_WRITE   ? FV_FILE_RDWR
            : mode == OTF2_IO_ACCESS_MODE_WRITE_ONLY ? FV_FILE_WRONLY
                                                     : FV_FILE_RDONLY) |
           (flags & OTF2_IO_STATUS_FLAG_APPEND ? FV_FILE_APPEND : 0u);
}
/* No location has more than its file has room for, whatever its definition says. */
void fv_import_limit_events(struct fv_import *import);
/* Is there a file of them? */
bool fv_import_has_events(const struct fv_import *import, uint32_t location);
void fv_import_stream_open(struct fv_import *import, uint32_t location, struct fv_import_stream *stream);
/* NULL: there are no more. Valid until the next one. */
const struct fv_record *fv_import_stream_peek(struct fv_import_stream *stream);
void fv_import_stream_close(struct fv_import_stream *stream);

/* import_rank.c: a rank's records, with its threads in the order of time, in the numbers of the definitions. */
struct fv_import_rank {
    struct fv_import *import;
    uint32_t rank;                         /* of all */
    const struct fv_import_survey *survey; /* NULL: it is being made */
    struct fv_sink *sink;
    struct fv_location_stats *locations; /* NULL: not wanted */
    int64_t base_ns;                     /* added to each time */
    /* Time that a thread spent on a call path outside of MPI; NULL: not wanted. */
    void (*spent)(void *context, uint32_t slot, uint32_t node, uint64_t from_ns, uint64_t to_ns);
    void *context;
    bool takes_samples;               /* so does the transcript */
    struct fv_transcript *transcript; /* takes metrics; NULL: not wanted */
    struct fv_import_channel *channels;
    size_t channel_count, channel_room;
    struct fv_index channel_index;
    uint32_t series_count;
    struct fv_import_stream *streams; /* of threads, then of what records metrics alone */
    uint32_t stream_count;
    struct fv_heap next;
    struct fv_pendings collectives; /* by request: number of the operation; receives: ... */
    struct fv_pendings operations;  /* of windows, by id: the target; op: it has a request */
    uint64_t receives, begun;       /* posted, begun so far */
    uint32_t *numbers;              /* by communicator: of its next collective operation */
    size_t number_count;
    uint64_t from_ns, to_ns;  /* of the archive: the part that is taken */
    bool is_in;               /* that has begun */
    uint64_t calls, cut;      /* of MPI in it so far; those that go on behind its edges */
    bool has_threads;         /* there were events of threads; the rest is of import_threads.c: */
    uint32_t first_object;    /* in the definitions */
    uint64_t regions, forked; /* parallel regions so far; the last that has no team yet, 0: all have */
    struct fv_import_instance *instances;
    size_t instance_count, instance_room;
    struct fv_lock_key {
        uint32_t lock, paradigm;
    } * lock_keys;
    size_t lock_count, lock_key_room;
    struct fv_index lock_index;
    struct fv_import_lock *locks;
    size_t lock_state_count, lock_room;
    struct fv_pendings gone;            /* threads, by creation: when, and in which slot */
    uint64_t first_ns, last_ns, events; /* so far */
    uint32_t program;                   /* string: its name; FV_NONE */
    uint64_t steps;                     /* so far: events, and metrics */
    bool is_quiet;                      /* no progress */
    bool takes_metrics;
    bool failed, ended;
};
void fv_import_rank_open(struct fv_import_rank *rank);
bool fv_import_rank_until(struct fv_import_rank *rank, uint64_t time_ns);
bool fv_import_rank_close(struct fv_import_rank *rank);

/* For import_threads.c: at the thread's time; numbers of this process in those of all, once these are known. */
void fv_import_put(struct fv_import_rank *rank, struct fv_import_stream *stream, struct fv_record record);
/* ns of the archive as the definitions' clocks have them. */
/* Ticks of the archive as ns after its global offset; and what is added to these, of a rank, in the run. */
uint64_t fv_import_ns(const struct fv_import *import, uint64_t ticks);
int64_t fv_import_base(const struct fv_merge *merge, uint32_t rank);
uint64_t fv_import_in_run(const struct fv_import_rank *rank, uint64_t ns);
uint32_t fv_import_in_all(const struct fv_import_rank *rank, const struct fv_numbers *numbers, uint32_t own);
/* Likewise; FV_NONE, which it may be, is of what is not defined. */
uint32_t fv_import_find(const struct fv_import_rank *rank, uint32_t own, const struct fv_numbers *numbers);
uint32_t fv_import_path_in_all(const struct fv_import_rank *rank, uint32_t own);
static inline uint32_t fv_import_slot(const struct fv_import_rank *r, const struct fv_import_stream *s)
{
    return ((const struct fv_import_location *)fv_import_at(r->import, FV_IMPORT_LOCATION, s->location))->slot;
}

/* import_threads.c. A barrier is the thread's innermost region. */
void fv_import_of_threads(struct fv_import_rank *rank, struct fv_import_stream *stream, const struct fv_record *event);
void fv_import_enter_barrier(struct fv_import_rank *rank, struct fv_import_stream *stream);
void fv_import_leave_barrier(struct fv_import_rank *rank, struct fv_import_stream *stream);
/* Where a thread waited, our own archives say at the end how long, and for whom. */
void fv_import_leave_wait(struct fv_import_rank *rank, struct fv_import_stream *stream, const struct fv_record *event);
void fv_import_threads_release(struct fv_import_rank *rank);
/* Here the part that is taken begins, and the thread is in its regions and teams. */
void fv_import_begin_teams(struct fv_import_rank *rank, struct fv_import_stream *stream);

/* import_files.c */
void fv_import_read_files(OTF2_GlobalDefReaderCallbacks *callbacks);
void fv_import_build_files(struct fv_import *import, struct fv_defs *own);
/* Something that was done to files. */
void fv_import_file(struct fv_import_rank *rank, struct fv_import_stream *stream, const struct fv_record *event);
/* A region of a library function is entered, or left: `event` may say more of it, NULL: it is left with another. */
void fv_import_enter_library(struct fv_import_rank *rank, struct fv_import_stream *stream,
                             const struct fv_import_region *region, uint32_t node);
void fv_import_leave_library(struct fv_import_rank *rank, struct fv_import_stream *stream,
                             const struct fv_import_region *region, const struct fv_record *event);
/* The same of one that was entered before the part that is taken; of an operation outside of calls: `region` NULL. */
void fv_import_go_on_in_library(struct fv_import_rank *rank, struct fv_import_stream *stream,
                                const struct fv_import_region *region);
/* The innermost region ends, and with it an operation that began there; at the end of the stream all. */
void fv_import_end_bare(struct fv_import_rank *rank, struct fv_import_stream *stream);

/* import_metrics.c */
void fv_import_read_metrics(OTF2_GlobalDefReaderCallbacks *callbacks);
OTF2_CallbackCode fv_import_on_metric(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *stream,
                                      OTF2_AttributeList *attributes, OTF2_MetricRef metric, uint8_t count,
                                      const OTF2_Type *types, const OTF2_MetricValue *values);
void fv_import_metric(struct fv_import_rank *rank, struct fv_import_stream *stream, const struct fv_record *event);
void fv_import_sample(struct fv_import_rank *rank, struct fv_import_stream *stream, const struct fv_record *event);
/* Does it define what says how much time samples stand for? There may be none all the same. */
bool fv_import_defines_samples(const struct fv_import *import);
/* Values that the series have where the part that is taken begins. */
void fv_import_begin_metrics(struct fv_import_rank *rank);
/* What a value says of the time behind it ends now. */
void fv_import_end_metrics(struct fv_import_rank *rank);
/* The name of the system tree's node that is the process's host; "": not known. */
const char *fv_import_host(const struct fv_import *import, const struct fv_import_process *process);

/* import_survey.c: the first pass over a rank of this process; its call paths are added to import->tree. */
void fv_import_survey(struct fv_import *import, uint32_t rank, struct fv_import_survey *out);
void fv_import_survey_release(struct fv_import_survey *survey);

/* import_streams.c */
void fv_import_name_streams(const struct fv_import *import, uint32_t rank, struct fv_transcript *transcript);

#endif
