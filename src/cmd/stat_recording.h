/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi stat --from: prints a recording. */
#ifndef FV_STAT_RECORDING_H
#define FV_STAT_RECORDING_H

#include "cmd/arguments.h"

struct fv_stat_recording {
    const char *path;
    struct fv_operands patterns; /* none: all series */
    size_t count;                /* samples; 0: all */
    bool is_csv, is_summary;
};

/* The exit status. */
int fv_stat_recording(const struct fv_stat_recording *options);

#endif
