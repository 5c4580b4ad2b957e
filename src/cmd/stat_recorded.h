/* fvmpi stat --from: prints a recording. */
#ifndef FV_STAT_RECORDED_H
#define FV_STAT_RECORDED_H

#include "cmd/arguments.h"

struct fv_stat_recorded {
    const char *path;
    struct fv_operands patterns; /* none: all series */
    size_t count;                /* samples; 0: all */
    bool is_csv, is_summary;
};

/* The exit status. */
int fv_stat_recorded(const struct fv_stat_recorded *options);

#endif
