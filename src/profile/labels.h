/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels: moments that the program marked, or who ran it. */
#ifndef FV_PROFILE_LABELS_H
#define FV_PROFILE_LABELS_H

#include "profile/model.h"

struct fv_label_view {
    double at_s;
    uint32_t rank;
    bool is_outside;
    const char *text;
};
struct fv_labels {
    struct fv_label_view *items; /* by time */
    size_t count, room;
};
void fv_labels_release(void *labels);

FV_SUBJECT_DATA(struct fv_labels, labels, labels)

#endif
