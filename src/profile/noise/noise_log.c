/* SPDX-License-Identifier: BSD-3-Clause */
/* See noise_log.h. */
#include "profile/noise/noise_log.h"
#include "tool/vec.h"

#include <stdlib.h>

static int by_call(const void *a, const void *b)
{
    const struct fv_noise_log_item *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->record.begin > y->record.begin) - (x->record.begin < y->record.begin);
}

void fv_noise_log_read(struct fv_noise_log *log, const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_NOISE);

    log->count = 0;
    log->recorded = false;
    log->whole = true;
    for (const void *p; (p = fv_cursor_next(&c));) {
        struct fv_noise_log_item item = { .thread = c.thread };

        memcpy(&item.record, p, sizeof(item.record));
        log->recorded = true;
        if (!item.record.begin) {
            log->whole = log->whole && !item.record.preempted_ns && !item.record.blocked_ns && !item.record.unseen;
            continue;
        }
        FV_GROW(log->items, log->room, log->count + 1);
        log->items[log->count++] = item;
    }
    if (log->count)
        qsort(log->items, log->count, sizeof(*log->items), by_call);
}

const struct fv_noise_record *fv_noise_log_at(const struct fv_noise_log *log, uint32_t thread, uint64_t begin)
{
    const struct fv_noise_log_item key = { .thread = thread, .record = { .begin = begin } };
    size_t at = FV_COUNT_BEFORE(i, log->count, by_call(&log->items[i], &key) < 0);

    return at < log->count && !by_call(&log->items[at], &key) ? &log->items[at].record : NULL;
}

void fv_noise_log_release(struct fv_noise_log *log)
{
    free(log->items);
    *log = (struct fv_noise_log){ 0 };
}
