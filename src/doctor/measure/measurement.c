/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of noise and memory share; see measure.h. */
#include "doctor/measure/measure.h"

#include <math.h>
#include <stdlib.h>

volatile sig_atomic_t fv_measure_stop;

const char *fv_measure_period_name(struct fv_arena *arena, double period_ns, uint64_t hz)
{
    double ticks = period_ns * (double)hz * 1e-9, whole = round(ticks);

    if (!hz || whole < 1 || fabs(ticks - whole) > 0.01 * whole || whole > 100)
        return NULL;
    return whole > 1 ? fv_arena_printf(arena, "%.0f ticks (CONFIG_HZ %llu)", whole, (unsigned long long)hz)
                     : fv_arena_printf(arena, "tick (CONFIG_HZ %llu)", (unsigned long long)hz);
}

/* Half of the guesses are wrong where directions are random. */
double fv_misprediction_ns(const struct fv_measurement *m)
{
    double same = NAN, random = NAN;

    for (size_t i = 0; i < m->branch_count; i++) {
        same = strcmp(m->branches[i].pattern, "same") ? same : m->branches[i].spread.p50;
        random = strcmp(m->branches[i].pattern, "random") ? random : m->branches[i].spread.p50;
    }
    return 2 * (random - same);
}

void fv_measurement_release(struct fv_measurement *m)
{
    void *const arrays[] = { m->noise,   m->points,     m->trials,    m->detours,      m->gaps,
                             m->periods, m->caches,     m->latencies, m->values,       m->levels,
                             m->tlb,     m->bandwidths, m->counts,    m->noise_counts, m->branches };

    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        free(arrays[i]);
    *m = (struct fv_measurement){ 0 };
}
