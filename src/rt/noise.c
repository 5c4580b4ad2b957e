/* SPDX-License-Identifier: BSD-3-Clause */
/* When a thread had no processor before a blocking collective call: a record for each interval between two of these in
 * which that happened, so that quiet ones take neither time nor room. With the wait log it tells, call by call, what
 * the collective would have been without it (profile/noise). */
#include "rt/statistics.h"

static struct fv_budget budget = { .most = &fv_rt.options.collectives_max };

static struct fv_noise_record *new_record(struct fv_thread *t, uint64_t begin)
{
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_NOISE, .first_pages = 1, .most_pages = 16, .budget = &budget
    };
    struct fv_noise_record *r = fv_tail_next(&t->noise.tail, &kind, t->id, sizeof(*r), false);

    if (!r)
        return NULL;
    *r = (struct fv_noise_record){ .begin = begin };
    fv_tail_commit(&t->noise.tail, sizeof(*r));
    return r;
}

void fv_noise_add(struct fv_noise *noise, const struct fv_switch_sums *sums)
{
    noise->since.preempted += sums->preempted;
    noise->since.preempted_ns += sums->preempted_ns;
    noise->since.blocked_ns += sums->blocked_ns;
    noise->since.unseen += sums->unseen;
    noise->any = true;
}

FV_COLD void fv_noise_log(struct fv_thread *t, uint64_t begin)
{
    struct fv_noise *n = &t->noise;
    const struct fv_switch_sums s = n->since;

    fv_noise_forget(n);
    if (!n->rest && !(n->rest = new_record(t, 0)))
        return;
    if (!s.preempted_ns && !s.blocked_ns && !s.unseen)
        return;
    struct fv_noise_record *r = new_record(t, begin);
    if (!r)
        r = n->rest;
    r->preempted_ns += s.preempted_ns;
    r->blocked_ns += s.blocked_ns;
    r->preempted += (uint32_t)s.preempted;
    r->unseen += (uint32_t)s.unseen;
}
