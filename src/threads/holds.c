/* SPDX-License-Identifier: BSD-3-Clause */
/* See holds.h. */
#include "threads/holds.h"
#include "threads/objects.h"
#include "threads/sync_trace.h"

#include <string.h>

static struct fv_sync_hold *find_hold(struct fv_sync *s, uintptr_t address)
{
    for (unsigned i = s->holds; i-- > 0;)
        if (s->hold[i].address == address)
            return &s->hold[i];
    return NULL;
}

static void note_owner(struct fv_sync_thing *thing, struct fv_sync_record *record)
{
    struct fv_sync_record *before = __atomic_load_n(&thing->holder, __ATOMIC_ACQUIRE);

    if (before == record)
        return;
    record->owner_changes += before && before->thread != record->thread;
    __atomic_store_n(&thing->holder, record, __ATOMIC_RELEASE);
}

void fv_sync_held(struct fv_sync *s, uintptr_t address, struct fv_sync_record *record, struct fv_sync_thing *thing)
{
    if (fv_sync_wants(FV_SYNC_TRACED) && record != &s->ignored)
        fv_sync_trace_acquired(s, address, record, thing);
    if (thing && fv_sync_wants(FV_THREADS_OWNER))
        note_owner(thing, record);
    if (!fv_sync_wants(FV_THREADS_HOLD))
        return;
    struct fv_sync_hold *h = find_hold(s, address);
    if (FV_UNLIKELY(h && fv_sync_is_again(h->thing, record, thing)))
        h->depth++;
    else if (FV_UNLIKELY(h))
        *h = (struct fv_sync_hold){ address, fv_ticks(), record, thing, 1 };
    else if (FV_UNLIKELY(s->holds == FV_SYNC_HOLDS))
        s->state->holds_lost++;
    else
        s->hold[s->holds++] = (struct fv_sync_hold){ address, fv_ticks(), record, thing, 1 };
}

static void hold_ended(struct fv_sync *s, unsigned i, uint64_t now)
{
    const struct fv_sync_hold *h = &s->hold[i];
    uint64_t ticks = now > h->begin ? now - h->begin : 0;

    h->record->hold_count++;
    h->record->hold_sum += ticks;
    if (ticks > h->record->hold_max)
        h->record->hold_max = ticks;
    s->holds--;
    if (FV_UNLIKELY(i < s->holds))
        memmove(&s->hold[i], &s->hold[i + 1], (s->holds - i) * sizeof(*s->hold));
}

void fv_sync_released(const volatile void *lock, uint64_t now)
{
    struct fv_sync *s = fv_rt_on() ? fv_sync_current : NULL;
    struct fv_sync_hold *h = s && now ? find_hold(s, (uintptr_t)lock) : NULL;

    if (s && fv_sync_wants(FV_SYNC_TRACED))
        fv_sync_trace_released(s, (uintptr_t)lock, now);
    if (h && !--h->depth)
        hold_ended(s, (unsigned)(h - s->hold), now);
}

void fv_sync_hold_pause(struct fv_sync *s, const volatile void *lock, struct fv_sync_hold *out)
{
    struct fv_sync_hold *h = find_hold(s, (uintptr_t)lock);

    *out = h ? *h : (struct fv_sync_hold){ 0 };
    if (h)
        hold_ended(s, (unsigned)(h - s->hold), fv_ticks());
}

void fv_sync_hold_again(struct fv_sync *s, const struct fv_sync_hold *hold)
{
    if (!hold->record)
        return;
    if (s->holds < FV_SYNC_HOLDS) {
        s->hold[s->holds] = *hold;
        s->hold[s->holds++].begin = fv_ticks();
    } else {
        s->state->holds_lost++;
    }
    if (hold->thing && fv_sync_wants(FV_THREADS_OWNER))
        __atomic_store_n(&hold->thing->holder, hold->record, __ATOMIC_RELEASE);
}
