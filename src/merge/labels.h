/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels: moments that the program marked, or who ran it. In fv_def_rank.labels a line each: "TICKS\tTEXT". */
#ifndef FV_MERGE_LABELS_H
#define FV_MERGE_LABELS_H

#include "merge/clocks.h"

/* Those of a file, which the caller frees; "" if there are none. */
char *fv_labels_text(const struct fv_reader *reader);

struct fv_label {
    uint64_t time_ns; /* after the origin */
    uint32_t rank;    /* index */
    const char *text; /* up to a newline */
    size_t length;
};
/* Of all ranks, by time; the caller frees them. */
struct fv_label *fv_labels_of_all(const struct fv_defs *defs, const struct fv_clocks *clocks, size_t *count);

#endif
