/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections of the program between the records of a thread: a sink that turns "these are open from now on"
 * into regions that are entered and left, so that all nest. Sections may overlap each other, and measured
 * instances of functions: what stands inside of what ends is left and entered again, at the same time. So a
 * section's time is the sum of its visits, and may have more visits than instances. Sections that are open
 * at the rank's end end there. Where an instance ends that was recorded by itself, the record says what MPI did in it.
 * After weave.h, whose instances have to nest with them; the
 * analysis never sees them. */
#ifndef FV_WEAVE_SECTIONS_H
#define FV_WEAVE_SECTIONS_H

#include "merge/replay.h"
#include "merge/section_log.h"

struct fv_weave_sections {
    struct fv_sink sink; /* first: a sink is one of these */
    struct fv_sink *to;
    const struct fv_defs *defs;
    const struct fv_clocks *clocks;
    uint64_t unknown; /* sets that the file does not describe: the sections that were open remain */
    /* The rank at hand: */
    const struct fv_def_map *map;
    const uint32_t *thread_ids; /* by slot */
    struct fv_section_log log;
    struct fv_location_stats *locations;
    struct fv_section_set *sets; /* by number */
    size_t set_count, set_room;
    struct fv_section_thread *threads; /* by slot */
    size_t thread_count, room;
};

void fv_weave_sections_init(struct fv_weave_sections *weave, const struct fv_defs *defs, const struct fv_clocks *clocks,
                            struct fv_sink *to);
/* The records that come next are of this rank; rank, `locations` as in fv_weave_rank(). */
void fv_weave_sections_rank(struct fv_weave_sections *weave, uint32_t rank, const struct fv_reader *reader,
                            const struct fv_def_map *map, struct fv_location_stats *locations);
void fv_weave_sections_release(struct fv_weave_sections *weave);

#endif
