/* SPDX-License-Identifier: BSD-3-Clause */
/* What the relations of a timeline and the scan of their rows share. */
#ifndef FV_TIMELINE_SCAN_H
#define FV_TIMELINE_SCAN_H

#include "timeline/timeline_operations.h"
#include "timeline/timeline_relations.h"

/* Rows of calls, waits and samples. The others' are struct fv_timeline_message, _operation, _io_operation, _label,
 * _stretch, and: */
struct fv_timeline_event {
    struct fv_timeline_seen seen;
    uint32_t row;
};
struct fv_timeline_measured {
    struct fv_timeline_series series;
    uint64_t ns;
    double value;
};

extern const struct fv_relation fv_timeline_call_relation, fv_timeline_wait_relation, fv_timeline_sample_relation,
    fv_timeline_message_relation, fv_timeline_collective_relation, fv_timeline_io_relation, fv_timeline_label_relation,
    fv_timeline_critical_relation, fv_timeline_value_relation;

#endif
