/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: what one trap costs, from empty instances: the time from the end of the handler at their
 * entry to the beginning of the next at their return. */
#include "sampler/sampler.h"

#define CALIBRATION 101

struct fv_calibration fv_sampler_calibration;

__attribute__((noinline, noipa)) static void empty(void)
{
    __asm__ volatile("");
}

bool fv_calibrate(struct fv_sampler *s)
{
    static uint64_t pairs[2 * CALIBRATION], ticks[CALIBRATION], ns[CALIBRATION];
    struct fv_x_slot *x = &s->x[0];

    fv_perf_disarm(&s->tick);
    s->calibration_room = 2 * CALIBRATION;
    s->calibration = pairs;
    bool armed = true;
    for (unsigned i = 0; i < CALIBRATION && armed; i++) {
        x->entry = (uintptr_t)empty;
        armed = x->armed = fv_perf_arm(&x->event, FV_TRAP_X, 0, x->entry);
        if (armed)
            empty();
    }
    s->calibration = NULL;
    fv_x_disarm(x);
    unsigned count = s->calibrated / 2;
    for (unsigned i = 0; i < count; i++) {
        ticks[i] = pairs[2 * i];
        ns[i] = pairs[2 * i + 1];
    }
    if (count) {
        fv_sampler_calibration.spread_ticks =
            fv_ranked(ticks, count, count * 3 / 4) - fv_ranked(ticks, count, count / 4);
        fv_sampler_calibration.trap_ticks = fv_ranked(ticks, count, count / 2);
        fv_sampler_calibration.trap_ns = fv_ranked(ns, count, count / 2);
    }
    fv_pmu_learned();
    s->record->traps = 0;
    s->known[0].entered = 0;
    s->tool_ticks = s->tool_ns = 0;
    s->record->tool_ticks = s->record->tool_ns = 0;
    fv_perf_enable(&s->tick);
    return count || !armed;
}
