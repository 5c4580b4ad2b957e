/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions: what events refer to, unified over ranks. Each process collects those of its rank files; they
 * are merged pairwise up a tree, put into their final order by the first process, and sent to all, who look
 * up their files' own numbers in them. The final order depends on content alone (names, or the first rank
 * that used a thing and its number there), so that it is the same however many processes took part.
 *
 * Indices stay valid as more are added. */
#ifndef FV_DEFS_H
#define FV_DEFS_H

#include "experiment/definitions.h"
#include "experiment/keys.h"
#include "merge/bytes.h"
#include "symbols/symbols.h"
#include "trace/reader.h"

struct fv_def_function {
    const char *name;
    uint32_t class;
};

struct fv_def_window {
    uint32_t comm, sequence;
    int32_t owner; /* where the communicator is of one rank. These three are its key */
    struct fv_origin origin;
    uint32_t created;
};

struct fv_def_file {
    const char *name, *host; /* its key */
    uint64_t filesystem;     /* as struct fv_io_file has it */
    uint32_t kind;
};

enum fv_def_io {
    FV_DEF_IO_MPI,
    FV_DEF_IO_POSIX, /* enum fv_io_layer + 1 */
    FV_DEF_IO_STDIO,
    FV_DEF_IO_KINDS
};

/* A file as it was opened: by the ranks of a communicator together with MPI, else by one rank. */
struct fv_def_handle {
    uint32_t file, comm; /* comm: FV_NONE of one rank's */
    uint32_t occurrence; /* of this file and communicator, from 0 */
    int32_t owner;
    uint32_t kind;  /* enum fv_def_io. These five are its key */
    uint32_t mode;  /* as struct fv_file_record has it */
    uint32_t found; /* 1: it was open before it was used, by what is not recorded */
    struct fv_origin origin;
};

struct fv_def_group { /* of world ranks, rising */
    const uint32_t *ranks;
    uint32_t count;
};

struct fv_def_rank {
    uint32_t world_rank, pid;
    uint32_t state; /* enum fv_file_state */
    uint32_t runs;  /* 1: the process was alive when it was merged */
    int32_t exit_code;
    const char *host, *program, *command, *mpi, *thread_level, *file;
    const char *events;   /* counted in each measured instance: names, a comma behind each; empty: it could not be
                           * counted */
    const char *labels;   /* labels.h; empty: none */
    const char *counters; /* counted over whole threads, likewise */
    const char *sensors;  /* of its node, that it recorded: sensors.h; empty: none */
    uint32_t has_memory;  /* 1: what it allocated along time is known: memory.h */
    uint32_t clock_kind, traced;
    uint8_t boot_id[16];
    uint64_t nominal_hz;
    uint64_t first_ticks, last_ticks; /* no event is outside of these */
    uint64_t stop_ticks;              /* the trace's budget was used up; 0: it was not */
    uint64_t dropped;                 /* calls that are not in the trace, ... */
    uint64_t dropped_instances;       /* ... and measured instances, ... */
    uint64_t dropped_samples;         /* ... of the CPU clock, ... */
    uint64_t dropped_of_threads;      /* ... and what threads did between calls */
    uint64_t dropped_of_files;        /* ... and calls of functions for files (--io) */
    uint64_t dropped_of_memory;       /* ... and of the allocator (--memory=calls) */
    uint64_t refused;                 /* pieces that its file did not get: the disk was full or failed */
    uint32_t refused_error;           /* errno of the last; 0: not known */
    uint64_t sample_rate;             /* samples in a second of CPU time, on average; 0: none are taken */
    uint32_t thread_objects;          /* numbers of locks and such; 0: threads are not in the trace */
    uint32_t first_object;            /* number of the first of them, over all ranks in their final order */
    uint32_t omp_objects;             /* 1: some of them are of OpenMP */
    struct fv_file_identity identity;
    const struct fv_clock_point *points; /* by time; the first is the header's */
    uint32_t point_count;
    const uint32_t *threads; /* fv_thread_record.id; the first is the main one */
    uint32_t thread_count;
};

/* What stands at a node of the call tree; 0: it is only on the way to such. */
enum fv_def_node_flags {
    FV_DEF_CALLS = 1,  /* calls were made there, of MPI or of what was measured */
    FV_DEF_ENTRY = 2,  /* it is the entry of a function that was measured, called from the node's parents */
    FV_DEF_SAMPLE = 4, /* a sample of the CPU clock was taken there */
};

struct fv_defs {
    struct fv_arena arena;
    uint32_t world_size;
    struct fv_def_function *functions;
    size_t function_count, function_room;
    struct fv_call_tree tree; /* fv_node.flags: enum fv_def_node_flags */
    struct fv_def_comm *comms;
    size_t comm_count, comm_room;
    struct fv_def_window *windows;
    size_t window_count, window_room;
    struct fv_def_file *files;
    size_t file_count, file_room;
    struct fv_def_handle *handles;
    size_t handle_count, handle_room;
    struct fv_def_group *groups;
    size_t group_count, group_room;
    struct fv_def_rank *ranks;
    size_t rank_count, rank_room;
    struct fv_index function_index, comm_index, window_index, file_index, handle_index, group_index;
};

void fv_defs_init(struct fv_defs *defs, uint32_t world_size);
void fv_defs_release(struct fv_defs *defs);

/* A rank file's numbers in the definitions. */
struct fv_def_map {
    struct fv_numbers functions, nodes, comms, windows, files, handles;
    struct fv_numbers file_calls;   /* functions by the numbers of functions for files */
    struct fv_numbers memory_calls; /* functions by enum fv_memory_function */
    struct fv_numbers file_handles; /* handles by fv_io_handle.id * FV_IO_LAYERS + layer */
    struct fv_numbers sections;     /* functions */
    struct fv_numbers comm_ranks;   /* own rank in comms */
    uint32_t *entries;              /* nodes of the contexts of measured instances, thread by thread */
    size_t entry_count;
    struct fv_def_sampled { /* a thread with measured instances, or with samples, in the trace */
        uint32_t thread;
        uint32_t first, count;     /* of entries, by the number of their context */
        struct fv_numbers samples; /* nodes by the thread's own call paths: those of its samples, and around them */
    } * sampled;
    size_t sampled_count;
    uint32_t *thread_calls; /* functions by FV_THREAD_CALLS (threads.h); NULL: none is used */
};
void fv_def_map_release(struct fv_def_map *map);
/* NULL: nothing was sampled there. */
const struct fv_def_sampled *fv_def_map_sampled(const struct fv_def_map *map, uint32_t thread);

/* Adds what a rank file defines, or finds it, where it was added before. `name` is the file's. */
void fv_defs_add_file(struct fv_defs *defs, const struct fv_reader *reader, const char *name, struct fv_def_map *map);

/* Finds, or adds. */
uint32_t fv_defs_function(struct fv_defs *defs, const char *name, uint32_t class);
uint32_t fv_defs_window(struct fv_defs *defs, const struct fv_def_window *window);
/* Sorts the ranks. */
uint32_t fv_defs_group(struct fv_defs *defs, uint32_t *ranks, uint32_t count);

/* Adds all of another's. */
void fv_defs_merge(struct fv_defs *defs, const struct fv_defs *from);
/* Into the final order. */
void fv_defs_sort(struct fv_defs *out, const struct fv_defs *from);

/* The numbers of a process's own definitions in those of all, which hold them: */
void fv_defs_find(struct fv_defs *all, const struct fv_defs *part, struct fv_def_map *out);
/* ... and a file's map, which leads to the process's, then leads to those of all. */
void fv_def_map_through(struct fv_def_map *map, const struct fv_def_map *next);

void fv_defs_pack(const struct fv_defs *defs, struct fv_bytes *out);
/* False: these are no packed definitions. */
bool fv_defs_unpack(struct fv_defs *out, const uint8_t *data, size_t bytes);

/* The number of a location: a rank's thread. */
/* Each rank has it for itself, and no other one its operations. */
static inline bool fv_def_comm_is_own(const struct fv_def_comm *c)
{
    return c->flags & FV_COMM_SELF || c->owner != FV_NOBODY;
}

static inline uint64_t fv_location_of(uint32_t world_rank, uint32_t slot)
{
    return world_rank | (uint64_t)slot << 32;
}
static inline uint64_t fv_location(const struct fv_def_rank *rank, uint32_t slot)
{
    return fv_location_of(rank->world_rank, slot);
}

/* The first rank of the run that has no rank file; FV_NONE: all have. */
uint32_t fv_defs_first_absent(const struct fv_defs *defs);
/* Was any function measured? */
bool fv_defs_has_instances(const struct fv_defs *defs);
/* Are there samples of the CPU clock? */
bool fv_defs_has_samples(const struct fv_defs *defs);
/* The name of a rank's event, from 0. False: it has none of this number, or could not count it. */
bool fv_def_event(const char *events, unsigned number, char name[64]);
/* Did the program mark sections? */
bool fv_defs_has_sections(const struct fv_defs *defs);

/* Is the communicator created and destroyed in the trace of all its ranks? */
static inline bool fv_def_comm_is_seen(const struct fv_def_comm *c)
{
    return c->created == c->size + c->remote_size && !(c->flags & (FV_COMM_WORLD | FV_COMM_SELF));
}

static inline bool fv_def_window_is_seen(const struct fv_defs *d, const struct fv_def_window *w)
{
    return w->created == (w->owner == FV_NOBODY ? d->comms[w->comm].size : 1);
}

#endif
