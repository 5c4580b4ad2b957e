/* SPDX-License-Identifier: BSD-3-Clause */
/* See labels.h. */
#include "rt/labels.h"
#include "base/scope.h"
#include "rt/clock.h"
#include "rt/tail.h"
#include "rt/thread.h"

#include <string.h>

static const uint64_t most_bytes = UINT64_C(1) << 20;

static void put(const char *text, size_t length, enum fv_label_origin origin)
{
    static struct fv_lock lock;
    static struct fv_tail tail; /* under lock */
    static struct fv_budget budget = { .most = &most_bytes };
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_LABELS, .first_pages = 1, .most_pages = 16, .varies = true, .budget = &budget
    };
    size_t kept = length < FV_LABEL_MOST ? length : FV_LABEL_MOST,
           bytes = (sizeof(struct fv_label_record) + kept + 8) & ~(size_t)7;
    uint64_t ticks = fv_ticks();

    fv_lock(&lock);
    struct fv_label_record *label = fv_tail_next(&tail, &kind, FV_NO_THREAD, bytes, false);
    if (label) {
        label->bytes = (uint32_t)bytes;
        label->origin = (uint16_t)origin;
        label->text_bytes = (uint16_t)kept;
        label->ticks = ticks;
        memcpy(label->text, text, kept); /* the rest is zeros */
        fv_tail_commit(&tail, bytes);
    } else {
        fv_dropped(FV_DROP_MARKS);
    }
    fv_unlock(&lock);
}

void fv_label(const char *text, size_t length, enum fv_label_origin origin)
{
    struct fv_scope scope = fv_scope_enter();

    put(text, length, origin);
    fv_scope_leave(&scope);
}

FV_PUBLIC void fvmpi_label_v1(const char *text)
{
    if (text && fv_rt_here())
        fv_label(text, strnlen(text, FV_LABEL_MOST), FV_LABEL_PROGRAM);
}
