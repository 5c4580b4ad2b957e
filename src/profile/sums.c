/* SPDX-License-Identifier: BSD-3-Clause */
/* See model.h and build.h: ticks as seconds and sums of calls, which all parts of the construction use. Uses
 * none of them. */
#include "profile/build.h"

#include <math.h>

/* ---- ticks ---- */

double fv_build_seconds(const struct fv_model *m, uint32_t rank, uint64_t ticks)
{
    return (double)ticks / m->clocks[m->ranks[rank].clock].hz;
}

double fv_build_time(const struct fv_model *m, uint32_t rank, uint64_t ticks)
{
    const struct fv_clock *clock = &m->clocks[m->ranks[rank].clock];

    return clock->anchor_s + (double)(int64_t)(ticks - clock->first.ticks) / clock->hz;
}

/* ---- statistics ---- */

const char *fv_wait_kind_name(enum fv_wait_kind kind)
{
    static const char *const names[] = { NULL, FV_WAIT_KINDS(FV_LIST_WORD) };

    return names[kind];
}

uint64_t fv_size_bucket_low(unsigned bucket)
{
    return bucket ? UINT64_C(1) << (bucket - 1) : 0;
}

uint64_t fv_size_bucket_high(unsigned bucket)
{
    return bucket == 0 ? 0 : bucket >= 64 ? UINT64_MAX : (UINT64_C(1) << bucket) - 1;
}

double fv_call_stat_mean(const struct fv_call_stat *s)
{
    return s->calls ? s->sum_s / (double)s->calls : 0;
}

double fv_call_stat_stddev(const struct fv_call_stat *s)
{
    return s->calls && s->m2 > 0 ? sqrt(s->m2 / (double)s->calls) : 0;
}

/* Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample variances (1979),
 * eq. 1.5: stable for any sizes of the two parts. */
void fv_call_stat_add(struct fv_call_stat *to, const struct fv_call_stat *from)
{
    to->bytes_sent += from->bytes_sent;
    to->bytes_received += from->bytes_received;
    if (!from->calls)
        return;
    if (!to->calls) {
        uint64_t sent = to->bytes_sent, received = to->bytes_received;

        *to = *from;
        to->bytes_sent = sent;
        to->bytes_received = received;
        return;
    }
    double n = (double)to->calls, k = (double)from->calls, delta = from->sum_s / k - to->sum_s / n;
    to->m2 += from->m2 + delta * delta * n * k / (n + k);
    to->calls += from->calls;
    to->sum_s += from->sum_s;
    to->min_s = from->min_s < to->min_s ? from->min_s : to->min_s;
    to->max_s = from->max_s > to->max_s ? from->max_s : to->max_s;
}

int fv_timed_longer(const void *a, const void *b)
{
    const struct fv_timed_item *x = a, *y = b;

    if (x->sum != y->sum)
        return x->sum > y->sum ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

enum fv_wait_kind fv_wait_kind_of_all(unsigned kinds)
{
    return kinds ? fv_wait_kind_of(kinds) : FV_WAIT_EXACT;
}

unsigned fv_build_wait_kinds(const struct fv_model *m, const struct fv_site_rank *part)
{
    bool can_wait = m->functions[m->sites[part->site].function].wait != FV_RULE_NONE;

    if (!part->stat.calls || (part->wait_kind == FV_WAIT_UNKNOWN && !can_wait))
        return 0;
    return 1u << part->wait_kind;
}

enum fv_wait_kind fv_wait_kind_of(unsigned kinds)
{
    if (kinds == 1u << FV_WAIT_EXACT)
        return FV_WAIT_EXACT;
    return kinds & ~(1u << FV_WAIT_UNKNOWN) ? FV_WAIT_ESTIMATE : FV_WAIT_UNKNOWN;
}
