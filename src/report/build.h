/* What the parts of the model's construction share while the rank files are open. Order: clocks and
 * states (ranks.c), then functions, communicators, call paths and cells of each rank (callsites.c), then
 * waits (waits.c) and what the trace knows better (analysis_join.c), then everything that sums these up (model.c, timeline.c, programs.c). Call sites that
 * look the same are merged when the symbols are known (merge.c). */
#ifndef FV_BUILD_H
#define FV_BUILD_H

#include "report/model.h"

/* What became of a cell: where its calls were counted. */
struct fv_cell_place {
    uint32_t site_rank; /* in fv_model.site_ranks; FV_NONE */
    uint32_t comm;      /* fv_comm_record.id */
    bool parted;        /* its calls had barriers of fvmpi's */
};
/* Waiting of a cell's calls, for the sections that they were made in. */
struct fv_cell_wait {
    double wait_s;
    uint32_t logged;
    bool guessed;
};
struct fv_cell_map {
    uint32_t thread;
    struct fv_cell_place *cells; /* by index among the thread's cells */
    struct fv_cell_wait *waits;  /* likewise; NULL: there are no sections */
    size_t count, room;
};

struct fv_file_comm {
    uint32_t comm; /* in fv_model.comms; FV_NONE */
    int32_t rank;
};

struct fv_build_file {
    const struct fv_reader *reader;
    const struct fv_file_header *header;
    const char *name;
    uint32_t *functions; /* by id */
    size_t function_count, function_room;
    struct fv_file_comm *comms; /* by id; 0 none */
    size_t comm_count, comm_room;
    uint32_t *nodes; /* by id; 0 root */
    size_t node_count;
    uint32_t *modules; /* by id */
    size_t module_count;
    struct fv_cell_map *cells;
    size_t cell_maps, cell_map_room;
};

struct fv_build {
    struct fv_model *model;
    struct fv_build_file *files; /* one for each rank of the model */
    struct fv_index functions, modules, nodes, sites, comms, addresses;
    double (*best)[FV_SIZE_BUCKETS]; /* fastest call by function and size bucket, seconds; INFINITY: none */
    size_t best_room;
};

/* Seconds from the model's origin, and a duration. */
double fv_build_time(const struct fv_model *model, uint32_t rank, uint64_t ticks);
double fv_build_seconds(const struct fv_model *model, uint32_t rank, uint64_t ticks);

void fv_build_ranks(struct fv_build *build);     /* clocks, threads; states later */
void fv_build_callsites(struct fv_build *build); /* functions, comms, paths, cells, peers */
void fv_build_in_calls(struct fv_build *build);  /* needs the call paths */
void fv_build_waits(struct fv_build *build);
/* Takes over what the trace tells, if it is the trace of these rank files; else a note says why not. */
void fv_build_analysed(struct fv_build *build, const struct fv_analysed *analysed);
void fv_build_samples(struct fv_build *build); /* needs the call paths */
void fv_build_sections(struct fv_build *build); /* needs samples and waits */
void fv_build_phases(struct fv_build *build); /* needs the call paths */
void fv_build_locks(struct fv_build *build);  /* needs the phases */
void fv_build_timeline(struct fv_build *build);
void fv_build_programs(struct fv_build *build);      /* after the ranks */
void fv_build_program_times(struct fv_model *model); /* last */

/* Who is to blame, from the parts of call sites; again whenever these have changed. */
void fv_build_causes(struct fv_model *model);

/* Orders sites and their parts, which come by rank, and computes what sums these up. */
void fv_build_sites(struct fv_model *model);

uint32_t fv_build_function(struct fv_build *build, const char *name, unsigned class, unsigned wait);
/* A file's function or call path in the model. */
uint32_t fv_build_function_of(struct fv_build *build, struct fv_build_file *file, uint32_t id);
/* Any frame: made where it is new; or FV_NONE where it is. */
uint32_t fv_build_node_add(struct fv_build *build, uint32_t parent, uint32_t module, uint64_t offset);
uint32_t fv_build_node_find(const struct fv_build *build, uint32_t parent, uint32_t module, uint64_t offset);
/* What became of a cell; NULL: it is left out. Its waiting; NULL: there are no sections. */
const struct fv_cell_place *fv_build_place(const struct fv_build_file *file, uint32_t thread, uint32_t cell);
struct fv_cell_wait *fv_build_cell_wait(const struct fv_build_file *file, uint32_t thread, uint32_t cell);
/* Is it a communicator of one rank, who waits for nobody? */
bool fv_build_alone(const struct fv_model *model, const struct fv_build_file *file, uint32_t comm);
/* An address that is to be named: its index in fv_model.addresses. */
uint32_t fv_build_address(struct fv_build *build, uint32_t module, uint64_t offset);
uint32_t fv_build_module_of(const struct fv_build_file *file, uint32_t module);
uint32_t fv_build_node_of(struct fv_build *build, const struct fv_build_file *file, uint32_t path);

#endif
