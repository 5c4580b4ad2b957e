/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank file tells of noise before collective calls, call by call (struct fv_noise_record). */
#ifndef FV_NOISE_LOG_H
#define FV_NOISE_LOG_H

#include "trace/reader.h"

struct fv_noise_log_item {
    uint32_t thread;
    struct fv_noise_record record;
};
/* Of a rank, by thread and begin. Begins as zeros. */
struct fv_noise_log {
    struct fv_noise_log_item *items;
    size_t count, room;
    bool recorded; /* there is a log: before calls that it has not, nothing was */
    bool whole;    /* all had room in it */
};
void fv_noise_log_read(struct fv_noise_log *log, const struct fv_reader *reader); /* in place of what it held */
void fv_noise_log_release(struct fv_noise_log *log);

/* Before the call of a thread that began then; NULL: it had its processor all the time, or that is not known. */
const struct fv_noise_record *fv_noise_log_at(const struct fv_noise_log *log, uint32_t thread, uint64_t begin);
/* How long it was preempted before it, seconds. */
static inline double fv_noise_preempted_s(const struct fv_noise_record *record)
{
    return record ? (double)record->preempted_ns * 1e-9 : 0;
}

#endif
