/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock samples as people look at them: procedures, source lines, loops and a call tree from the root down,
 * with the parts in MPI and in the synchronisation of threads. Inlined procedures count as procedures.
 *
 * Self: the sample was taken there; total: there or in what it calls. A procedure that stands several times
 * on a call path (recursion) is counted once. In MPI and in synchronisation exclude each other. */
#ifndef FV_COST_PROFILE_H
#define FV_COST_PROFILE_H

#include "profile/model.h"

struct fv_cost_sum {
    uint64_t ticks, in_mpi, in_sync;
};
struct fv_cost_both {
    struct fv_cost_sum self, total;
};
struct fv_cost_part {
    uint32_t procedure; /* or a line, or a loop */
    uint32_t owner;     /* a thread, an index in fv_costs.threads; or a section, in fv_sections_view.items; of
                         * lines and loops a rank, in fv_model.ranks */
    struct fv_cost_both sum;
    struct fv_cost_sum own; /* of a procedure, as in struct fv_cost_procedure */
};
struct fv_cost_procedure {
    const char *name; /* of code without symbols: "module+0xbegin", or, where no unwind table tells functions apart,
                       * "[module]", which stands for all of it; fvmpi's own: "[fvmpi]" */
    uint64_t begin;   /* of a function without a name, in the module; 0: it has one, or is not known */
    bool nameless;
    const char *file; /* NULL: not known */
    uint32_t module;
    bool inlined;                   /* everywhere */
    uint32_t first_line, last_line; /* of its code, as compiled; 0: not known */
    struct fv_cost_both sum;
    /* Of the program's own, alone: samples in it and in the libraries that it calls, up to where they call
     * another of the program's. The program's: its executable, and libraries in the executable's directory or
     * below. So all samples are some procedure's, but those of threads that libraries made for themselves. */
    bool of_program;
    struct fv_cost_sum own;
    size_t first_part, parts;      /* of fv_cost_profile.parts, by thread */
    double rank_min_s, rank_max_s; /* of total, over all ranks with samples */
    uint32_t rank_max;             /* index of the rank */
};
struct fv_cost_line {
    const char *file;
    uint32_t line, procedure; /* procedure: the first that was met there */
    struct fv_cost_both sum;
    size_t first_part, parts; /* of fv_cost_profile.line_parts, by rank */
};
/* A node of the call tree; 0 is the root, outside of main. A parent has a smaller index. */
struct fv_cost_branch {
    uint32_t parent, procedure;
    struct fv_cost_both sum;
};
/* A natural loop of a compiled function, found in its machine code: see loops.h. */
struct fv_cost_loop {
    uint32_t parent; /* the loop around it, a smaller index; FV_NONE */
    uint32_t number; /* as they were found */
    uint32_t module;
    uint64_t offset;      /* of its header */
    const char *function; /* that holds its code, as compiled */
    bool nameless;        /* that has no name: it is called by its place */
    const char *file;     /* NULL: no line is known */
    uint32_t first_line, last_line;
    unsigned depth; /* 1: outermost */
    unsigned kind;  /* enum fv_loop_kind */
    bool packed;    /* packed arithmetic in it, and in no loop within it */
    struct fv_cost_both sum;
    size_t first_part, parts; /* of fv_cost_profile.loop_parts, by rank */
};
/* Lines of a compiled function's code. */
struct fv_cost_extent {
    uint32_t module;
    const char *function;
    uint32_t first_line, last_line;
};
/* Of samples outside of MPI: between which calls, by the procedure that it is put down to (fv_path_own()). */
struct fv_cost_region_part {
    uint32_t from, site; /* in fv_model.sites; site: the next call, FV_NONE: which it was is not known */
    uint32_t procedure, rank;
    uint64_t ticks;
    double seconds;
};
/* What took a region of computing, on its rank with most time. */
struct fv_region_procedure {
    uint32_t procedure, rank;
    uint64_t samples;
    double seconds, others_s; /* of that rank; mean of the other ranks */
};
#define FV_REGION_PROCEDURES 20 /* of a region at most */
struct fv_cost_slice {
    size_t first, count;
};
/* Samples at a call path of a thread, for exports. */
struct fv_cost_stack {
    uint32_t thread, branch;
    uint64_t ticks;
};

struct fv_cost_profile {
    struct fv_arena arena;
    struct fv_cost_sum all;
    uint64_t fvmpi_ticks; /* of them: in fvmpi's own library */
    double tick_s;
    uint32_t rank_count;                  /* with samples */
    struct fv_cost_procedure *procedures; /* by self, largest first */
    size_t procedure_count, procedure_room;
    struct fv_index names; /* of them */
    struct fv_cost_part *parts;
    size_t part_count, part_room;
    struct fv_cost_part *section_parts; /* by section, then by self, largest first */
    size_t section_part_count, section_part_room;
    struct fv_cost_region_part *region_parts; /* by from, site, procedure, rank */
    size_t region_part_count, region_part_room;
    bool regions_traced;                           /* they are of the trace: sites are known */
    struct fv_region_procedure *region_procedures; /* of a region by seconds, largest first */
    size_t region_procedure_count, region_procedure_room;
    struct fv_cost_slice *regions; /* its part of them, by index in fv_causes.regions; NULL: of one rank alone */
    struct fv_cost_part *line_parts, *loop_parts;
    size_t line_part_count, line_part_room, loop_part_count, loop_part_room;
    struct fv_cost_line *lines; /* by self, largest first */
    size_t line_count, line_room;
    struct fv_cost_branch *branches;
    size_t branch_count, branch_room;
    struct fv_cost_loop *loops; /* by total, largest first; parents before their children where these are equal */
    size_t loop_count, loop_room;
    struct fv_cost_extent *extents; /* of the functions whose loops were looked for */
    size_t extent_count;
    bool loops_known;             /* fvmpi was built with a disassembler, and symbols were looked up */
    struct fv_cost_stack *stacks; /* by thread */
    size_t stack_count, stack_room;
};

/* As analysis.json names it; the first of several. NULL: it is not there. */
const struct fv_cost_procedure *fv_cost_procedure_named(const struct fv_cost_profile *profile, const char *name,
                                                        const char *file);

#define FV_COST_ALL_RANKS UINT32_MAX
/* `rank`: an index of the model's ranks, to take its samples alone, without section_parts. */
void fv_cost_profile_init(struct fv_cost_profile *out, const struct fv_model *model, const struct fv_symbols *symbols,
                          uint32_t rank);
void fv_cost_profile_release(struct fv_cost_profile *profile);

/* 95 % of the times the truth lies so near: 2 sqrt(n), in ticks. */
double fv_cost_error(uint64_t ticks);
/* Seconds that fvmpi itself took, at least: what chance makes of its samples is subtracted. */
static inline double fv_costs_own_least_s(const struct fv_cost_profile *costs)
{
    return costs->fvmpi_ticks ? ((double)costs->fvmpi_ticks - fv_cost_error(costs->fvmpi_ticks)) * costs->tick_s : 0;
}

/* Does the thread synchronise with others there? */
bool fv_cost_in_sync(const struct fv_path *path, const struct fv_model *model);
/* By module, enum fv_code: of the programs are the executables, and what lies in their directories or below. To be
 * freed. */
uint8_t *fv_cost_code(const struct fv_model *model);

#endif
