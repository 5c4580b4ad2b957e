/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the model's construction share. A *track* reads one kind of thing from rank files; the rows of
 * subjects have the tracks (subject.h). Rank files are visited one after the other, a few times, and are mapped only
 * while they are (visits.c): in a visit each track reads what it needs of a rank; when all ranks have been there, each
 * track finishes. What a later visit needs of a file, its numbers in the model, stays in struct fv_build_file.
 *
 * Then call paths are named, and what looks the same becomes one (look_alikes.c); sums over that come last
 * (model.c). */
#ifndef FV_BUILD_H
#define FV_BUILD_H

#include "profile/model.h"
#include "symbols/forks.h"

/* What became of a cell: where its calls were counted. */
struct fv_cell_place {
    uint32_t site_rank;  /* in fv_model.site_ranks; FV_NONE */
    uint32_t comm : 31;  /* fv_comm_record.id */
    uint32_t parted : 1; /* its calls had barriers of fvmpi's */
};
/* Waiting of a cell's calls, for the sections that they were made in. */
struct fv_cell_wait {
    double wait_s;
    uint32_t logged;
    bool guessed;
};
/* Of cells that stand together in the file: no more than it has, whatever their numbers. */
struct fv_cell_map {
    uint32_t thread;
    uint64_t first; /* index among the thread's cells */
    struct fv_cell_place *cells;
    struct fv_cell_wait *waits; /* likewise; NULL: there are no sections */
    size_t count, room;
};

/* Of a subject. */
struct fv_own_numbers {
    uint32_t chunk;
    struct fv_numbers numbers;
    struct fv_own_numbers *next;
};

struct fv_build_file {
    struct fv_reader *reader; /* awake during visits */
    struct fv_clock_point last_point;
    const struct fv_file_header *header;
    const char *name;
    struct fv_numbers functions, modules, paths;
    struct fv_numbers comms;      /* in fv_model.comms ... */
    struct fv_numbers comm_ranks; /* ... and the rank's own rank there */
    struct fv_own_numbers *own;   /* fv_build_numbers() */
    struct fv_cell_map *cells;
    size_t cell_maps, cell_map_room, cell_map_last;
    bool changed; /* since it was opened, which has been said */
};

struct fv_build {
    struct fv_model *model;
    struct fv_build_file *files;    /* one for each rank of the model; until all waiting is known ... */
    uint32_t file_count, shown;     /* ... behind those that are shown stand others, which are read for their sake */
    const struct fv_choice *choice; /* NULL: all are shown */
    struct fv_index functions, sites, comms, addresses, size_classes, site_sizes;
    double (*best)[FV_SIZE_BUCKETS]; /* fastest call by function and size bucket, seconds; INFINITY: none */
    size_t best_room;
    struct fv_wait_join *waits;  /* waits.c, over several visits */
    struct fv_forks *forks;      /* of the file whose call paths are read */
    bool is_part, is_later_part; /* as of the experiment */
    bool looks_up;               /* call paths get names */
    size_t traced_calls;         /* as of the experiment, and */
    const struct fv_seen_looks *seen;
};

enum fv_visit {
    FV_VISIT_CLOCKS,  /* so that all times are known from then on */
    FV_VISIT_CALLS,   /* what each rank did, by call path */
    FV_VISIT_BOUNDS,  /* of the offsets of several clocks */
    FV_VISIT_NOTES,   /* when each rank came to a collective call */
    FV_VISIT_CHARGES, /* what that means for each call */
    FV_VISIT_REST,    /* what needs waiting, or times of all ranks */
    FV_VISITS
};
#define FV_TRACK_TYPES 8
#define FV_TRACK_NEEDS 3
struct fv_track {
    const char *name;
    enum fv_visit visit;
    uint8_t types[FV_TRACK_TYPES]; /* chunks that it reads: others' files are passed by. None: it reads every
                                    * file */
    /* What it returns is the others' `state`. NULL: there is none. */
    void *(*begin)(struct fv_build *build);
    void (*read)(struct fv_build *build, void *state, uint32_t rank);
    void (*finish)(struct fv_build *build, void *state); /* releases the state */
    bool of_ranks;                                       /* reads ranks that are not shown, too ... */
    bool of_all;                       /* ... and threads: what those that are shown have waited for */
    bool of_process;                   /* what it reads cannot be told by thread: left out where threads are chosen */
    const char *needs[FV_TRACK_NEEDS]; /* names of tracks of the same visit, which read a rank, and finish, before it;
                                        * NULL behind the last. Earlier visits are over */
};

/* Is a thread of a rank shown? */
bool fv_build_shows(const struct fv_build *build, uint32_t rank, uint32_t thread);
/* From here on the model has no other ranks. */
void fv_build_leave_out(struct fv_build *build);

/* A visit of all files by its tracks. */
void fv_build_visit(struct fv_build *build, enum fv_visit visit);

/* What the numbers of a file's things in a chunk mean in the model, of a subject, while tracks of the last visit read.
 * Made if there is none. */
struct fv_numbers *fv_build_numbers(struct fv_build_file *file, uint32_t chunk);

/* Seconds from the model's origin, and a duration. */
double fv_build_time(const struct fv_model *model, uint32_t rank, uint64_t ticks);
double fv_build_seconds(const struct fv_model *model, uint32_t rank, uint64_t ticks);

/* The process's usage was read as it ended, or was replaced; a killed one's was read some time before. */
static inline bool fv_build_has_usage(const struct fv_file_header *h)
{
    return h->usage_ticks && h->end_ticks;
}

/* A thread of a rank by its fv_thread_view.id: its index in fv_model.threads; FV_NONE: it is not known. */
uint32_t fv_build_thread(const struct fv_model *model, uint32_t rank, uint32_t id);

/* Takes over what the trace tells, if it is the trace of these rank files; else a note says why not. */
void fv_build_analysed(struct fv_build *build, const struct fv_analysis_result *analysed);
void fv_build_program_times(struct fv_model *model); /* last */

/* Call sites that look alike become one; they are put in order, by time, and their parts with them. symbols NULL: none
 * are alike. */
void fv_build_finish_sites(struct fv_model *model, struct fv_symbols *symbols, bool look_up);
/* Who is to blame, from the parts of call sites. */
void fv_build_causes(struct fv_model *model);

/* The call sites of a rank, by their paths, as soon as one is asked for by its path. They are of the tracks that read
 * them. { 0 }: none yet. */
struct fv_caller {
    uint32_t node, site;
    uint64_t calls;
};
struct fv_callers {
    struct fv_caller *items; /* by node; of a node that with most calls first */
    size_t count, room;
    bool known;
};
void fv_callers_release(struct fv_callers *callers);
/* The call site that a `from` of the thread names in the rank's file; FV_NONE: there is none, or it is not known. */
uint32_t fv_build_caller(struct fv_build *build, struct fv_callers *callers, uint32_t rank, uint32_t thread,
                         uint32_t from);

/* fv_model.region_ranks in order, and what ranks polled by them, when functions have their numbers. */
void fv_build_parts(struct fv_model *model);
/* Part of the causes: regions, of these. And before, where call sites get other numbers, that: the new one of each. */
void fv_build_regions(struct fv_model *model);
void fv_build_renumber_sites(struct fv_model *model, const uint32_t *sites);

/* How the waiting of a call site on a rank is known, as fv_wait_kind_of_all() takes it; 0: such calls cannot wait. */
unsigned fv_build_wait_kinds(const struct fv_model *model, const struct fv_site_rank *part);

/* fv_site_more(), to be written to; valid until the next one is made. */
struct fv_site_more *fv_build_more(struct fv_model *model, struct fv_site_rank *part);

/* Looks up symbols, makes one of what looks the same, and says what number each call site gets. Parts of call sites
 * come, and stay, by rank. */
void fv_build_alikes(struct fv_model *model, struct fv_symbols *symbols, bool look_up, uint32_t *sites);

/* A thing and its time. For qsort(): longest first, else by number. */
struct fv_timed_item {
    uint32_t id;
    double sum;
};
int fv_timed_longer(const void *a, const void *b);

/* A file's function or call path in the model. */
uint32_t fv_build_function_of(struct fv_build *build, struct fv_build_file *file, uint32_t id);
/* Call sites as the events of a thread number them: in fv_model.sites. */
void fv_build_event_sites(struct fv_build *build, uint32_t rank, uint32_t thread, struct fv_numbers *out);
/* What became of a cell; NULL: it is left out. Its waiting; NULL: there are no sections. */
const struct fv_cell_place *fv_build_place(struct fv_build_file *file, uint32_t thread, uint64_t cell);
struct fv_cell_wait *fv_build_cell_wait(struct fv_build_file *file, uint32_t thread, uint64_t cell);
/* Is it a communicator of one rank, who waits for nobody? */
bool fv_build_alone(const struct fv_model *model, const struct fv_build_file *file, uint32_t comm);
/* An address that is to be named: its index in fv_model.addresses. */
uint32_t fv_build_address(struct fv_build *build, uint32_t module, uint64_t offset);
uint32_t fv_build_node_of(struct fv_build *build, const struct fv_build_file *file, uint32_t path);

#endif
