/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances of sections that were recorded one by one (--section-instances): what MPI did in each. */
#ifndef FV_SECTION_LOG_H
#define FV_SECTION_LOG_H

#include "merge/clocks.h"

struct fv_logged_section {
    uint32_t thread, function, number; /* number: of the section's instances on the thread, from 1 */
    uint64_t end_ns, mpi_ns, calls, bytes;
};

/* Of a rank, by thread, function and end. */
struct fv_section_log {
    struct fv_logged_section *items;
    size_t count, room;
};

/* In place of what it had. */
void fv_section_log_read(struct fv_section_log *log, const struct fv_reader *reader, const struct fv_def_map *map,
                         const struct fv_clock_line *line);
/* The last that ended later than `after_ns` and not later than `until_ns`; NULL: none did. */
const struct fv_logged_section *fv_section_log_find(const struct fv_section_log *log, uint32_t thread,
                                                    uint32_t function, uint64_t after_ns, uint64_t until_ns);
void fv_section_log_release(struct fv_section_log *log);

#endif
