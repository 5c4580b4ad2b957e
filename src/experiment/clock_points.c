/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock points of rank files and of now, see experiment.h. */
#include "base/process.h"
#include "experiment/experiment.h"
#include "trace/counter.h"

#include <string.h>
#include <time.h>

#define NAMESPACE_NS INT64_C(1000000) /* monotonic clocks that differ by more are not the same */

bool fv_clock_this_boot(const uint8_t boot_id[16])
{
    uint8_t mine[16];

    return fv_boot_id(mine) && !memcmp(mine, boot_id, 16);
}

bool fv_experiment_is_alive(const struct fv_file_header *h)
{
    return fv_clock_this_boot(h->boot_id) && h->process_start && fv_process_runs((pid_t)h->pid, h->process_start);
}

static int64_t monotonic_now(void)
{
    struct timespec mono;

    clock_gettime(CLOCK_MONOTONIC, &mono);
    return mono.tv_sec * INT64_C(1000000000) + mono.tv_nsec;
}

static uint64_t ticks_now(uint32_t kind)
{
    if (kind == FV_CLOCK_TSC)
        return fv_counter();
    return kind == FV_CLOCK_MONOTONIC ? (uint64_t)monotonic_now() : 0;
}

/* Of a few tries the one that took least time, as fv_clock_point() does in the application. */
bool fv_clock_now(uint32_t kind, struct fv_clock_point *out)
{
    uint64_t best = UINT64_MAX;

    *out = (struct fv_clock_point){ 0 };
    for (int i = 0; i < 3; i++) {
        uint64_t before = ticks_now(kind);
        int64_t now = monotonic_now();
        uint64_t took = ticks_now(kind) - before;

        if (took >= best)
            continue;
        best = took;
        out->monotonic_ns = now;
        out->ticks = before + took / 2;
    }
    return out->ticks != 0;
}

double fv_clock_rate(const struct fv_clock_point *a, const struct fv_clock_point *b, int64_t base_ns)
{
    int64_t ns = (int64_t)((uint64_t)b->monotonic_ns - (uint64_t)a->monotonic_ns);
    int64_t ticks = (int64_t)(b->ticks - a->ticks);
    double hz = ns >= base_ns ? (double)ticks * 1e9 / (double)ns : 0;

    return hz > 1e5 && hz < 1e11 ? hz : 0;
}

double fv_clock_hz_since(const struct fv_file_header *h)
{
    struct fv_clock_point now;

    if (!fv_clock_this_boot(h->boot_id) || !fv_clock_now(FV_CLOCK_TSC, &now))
        return 0;
    return fv_clock_rate(&h->first, &now, 1);
}

/* Of a damaged file it may be any number; it does not overflow. */
static int64_t monotonic_offset(const struct fv_clock_point *p)
{
    return (int64_t)((uint64_t)p->realtime_ns - (uint64_t)p->monotonic_ns);
}

bool fv_clock_same(const struct fv_clock_id *a, const struct fv_clock_id *b)
{
    static const uint8_t unknown[16];
    bool known = memcmp(a->boot_id, unknown, sizeof(unknown)) != 0;

    if (a->kind != b->kind || memcmp(a->boot_id, b->boot_id, sizeof(unknown)) ||
        (!known && (!*a->host || strcmp(a->host, b->host))))
        return false;
    int64_t apart = (int64_t)((uint64_t)monotonic_offset(a->first) - (uint64_t)monotonic_offset(b->first));
    return (known && a->kind != FV_CLOCK_MONOTONIC) || (apart < NAMESPACE_NS && apart > -NAMESPACE_NS);
}
