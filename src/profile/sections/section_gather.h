/* SPDX-License-Identifier: BSD-3-Clause */
/* How sections are gathered from the rank files; shared by sections.c, section_sets.c, section_calls.c and
 * section_costs.c. */
#ifndef FV_SECTION_GATHER_H
#define FV_SECTION_GATHER_H

#include "profile/build.h"
#include "profile/sections/sections.h"

#define FV_SECTION_CHAIN 64u /* sections open at a time, at most */

/* Calls of a rank at a call site, by set. */
struct fv_section_part {
    uint32_t set, site_rank; /* its key */
    uint64_t calls, alone;
    double time_s;
    struct fv_cell_wait wait;
    bool barriers;
    struct fv_section_calls sums;
};
struct fv_section_gather {
    struct fv_build *build;
    struct fv_sections_view *out;
    struct fv_index names, functions, function_ranks, paths, members, parts; /* parts: of the present file */
    uint32_t *section; /* of the present file, by id; in out->items */
    size_t section_count, section_room;
    struct fv_section_span *spans; /* likewise */
    size_t span_room;
    struct fv_section_set *sets;
    size_t set_count, set_room;
    struct fv_section_part *part;
    size_t part_count, part_room;
    size_t first_rank; /* of the present file, in out->ranks: "all", then the others */
    size_t next_leaf;  /* of fv_model.costs */
    bool locks;
    bool counts;                /* events, on the present rank */
    struct fv_section_cpu *cpu; /* of the present file */
    size_t cpu_count, cpu_room;
    struct fv_index cpu_by_record;
};
/* CPU time of the process beside a record of SECTION_TIMES. */
struct fv_section_cpu {
    uint64_t record[2]; /* thread, index */
    uint64_t ns;
};
/* section_sets.c */
void fv_section_read_names(struct fv_section_gather *g, const struct fv_build_file *file);
/* Finds, or adds. Pointers and items move when others are added. */
uint32_t fv_section_view_of(struct fv_section_gather *g, const char *name, int32_t number, int32_t level, bool whole,
                            bool others);
struct fv_section_rank *fv_section_rank_of(struct fv_section_gather *g, uint32_t section, uint32_t rank);
/* The sections of a set of the present file, each once. */
void fv_section_chain(const struct fv_section_gather *g, uint32_t set, uint32_t out[FV_SECTION_CHAIN], unsigned *count);

/* section_calls.c */
/* Of the present file: once for "all", and for each set that is open. */
void fv_section_read_cells(struct fv_section_gather *g, struct fv_build_file *f, uint32_t rank);
void fv_section_add_all_sites(struct fv_section_gather *g);
/* Which of function_ranks are a function's; before sections are put in order. */
void fv_section_order_functions(struct fv_sections_view *s);
/* By time, longest first. */
void fv_section_order_calls(struct fv_section_view *v);

/* section_members.c */
struct fv_section_member *fv_section_member_of(struct fv_section_gather *g, uint32_t section, uint32_t rank,
                                               uint32_t thread);
/* Of the present file, when openers are known: what was read of other threads. */
void fv_section_read_others(struct fv_section_gather *g, const struct fv_build_file *f, uint32_t rank);
void fv_section_add_all_threads(struct fv_section_gather *g, uint32_t section, uint32_t rank);
/* Those behind the first so many, to the sums of their rank. */
void fv_section_add_others(struct fv_section_gather *g, size_t first);
/* Before sections are put in order. */
void fv_section_order_members(struct fv_sections_view *s);

/* section_costs.c: clock samples of the present file. */
void fv_section_read_costs(struct fv_section_gather *g, uint32_t rank);
void fv_section_order_costs(struct fv_section_view *v);
void fv_section_threads_add(struct fv_section_threads *to, const struct fv_section_threads *from);

/* section_sums.c */
void fv_section_add_faults(struct fv_section_faults *to, const struct fv_section_faults *from);
void fv_section_add_instances(struct fv_section_instances *to, const struct fv_section_instances *from);
/* Without a histogram, which needs room: NAN. */
void fv_section_percentiles(double *out, const struct fv_distribution *durations, uint64_t count, double shortest_s,
                            double longest_s);
/* What a rank did in one more section, or number of it. */
void fv_section_rank_add(struct fv_section_rank *to, const struct fv_section_rank *from);
/* Of a section with its ranks, in order. */
void fv_section_sum(struct fv_section_view *v, const struct fv_section_rank *ranks, size_t count);

/* section_instances.c */
void fv_section_read_instances(struct fv_section_gather *g, const struct fv_build_file *file, uint32_t rank);
void fv_section_order_instances(struct fv_sections_view *s);
void fv_section_find_warm_ups(struct fv_sections_view *s); /* behind that */

/* section_series.c */
void fv_section_find_series(struct fv_sections_view *s); /* behind fv_section_order_instances() */

/* section_names.c: when all sections are summed up, and in order. */
void fv_section_find_names(struct fv_sections_view *s);

#endif
