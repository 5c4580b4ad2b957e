/* SPDX-License-Identifier: BSD-3-Clause */
/* See build.h: call sites, when all files are read: their order, and what is known of all ranks together. */
#include "profile/build.h"

#include <stdlib.h>

static int site_by_time(const void *a, const void *b)
{
    const struct fv_site *x = a, *y = b;

    if (!x->ranks != !y->ranks) /* of ranks or threads that are not shown */
        return x->ranks ? -1 : 1;
    if (x->stat.sum_s != y->stat.sum_s)
        return x->stat.sum_s > y->stat.sum_s ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first); /* while sorting: the number before */
}

static void prefetch(const struct fv_site_rank *part)
{
    for (size_t at = 0; at < sizeof(*part); at += 64)
        __builtin_prefetch((const char *)part + at, 1);
}

/* There may be as many parts as ranks times call sites: they are moved within their array, along the cycles
 * of the permutation, and fetched some steps ahead. `place` is where each is to go, and is spoilt. */
static void move_parts(struct fv_site_rank *parts, uint32_t *place, size_t count)
{
    enum { AHEAD = 8 };

    for (uint32_t i = 0; i < count; i++) {
        uint32_t ahead = i;

        for (unsigned n = 0; place[i] != i && n < AHEAD; n++)
            prefetch(&parts[ahead = place[ahead]]);
        while (place[i] != i) {
            uint32_t to = place[i];
            struct fv_site_rank part = parts[to];

            prefetch(&parts[ahead = place[ahead]]);
            parts[to] = parts[i];
            parts[i] = part;
            place[i] = place[to];
            place[to] = to;
        }
    }
}

/* Sorts the sites by time, and their parts, which come by rank, by (site, rank). `number` is what each of the recorded
 * ones is so far. */
static void order_sites(struct fv_model *m, uint32_t *number, size_t recorded)
{
    uint32_t *renumbered = fv_xcalloc(m->site_count, sizeof(*renumbered)), at = 0;
    uint32_t *place = fv_xcalloc(m->site_rank_count, sizeof(*place));

    for (size_t i = 0; i < m->site_rank_count; i++) {
        struct fv_site *s = &m->sites[m->site_ranks[i].site];

        fv_call_stat_add(&s->stat, &m->site_ranks[i].stat);
        s->ranks++;
    }
    for (uint32_t i = 0; i < m->site_count; i++)
        m->sites[i].first = i;
    if (m->site_count)
        qsort(m->sites, m->site_count, sizeof(*m->sites), site_by_time);
    for (uint32_t i = 0; i < m->site_count; i++) {
        renumbered[m->sites[i].first] = i;
        m->sites[i].first = at;
        at += m->sites[i].ranks;
        m->sites[i].ranks = 0;
    }
    for (size_t i = 0; i < m->site_rank_count; i++) {
        struct fv_site_rank *part = &m->site_ranks[i];

        part->site = renumbered[part->site];
        place[i] = m->sites[part->site].first + m->sites[part->site].ranks++;
    }
    move_parts(m->site_ranks, place, m->site_rank_count);
    while (m->site_count && !m->sites[m->site_count - 1].ranks)
        m->site_count--;
    for (size_t i = 0; i < recorded; i++)
        number[i] = renumbered[number[i]];
    fv_build_renumber_sites(m, number);
    free(renumbered);
    free(place);
}

/* Spread over the ranks that called here: cov is the population's standard deviation over the mean. */
static void spread_over_ranks(const struct fv_model *m, struct fv_site *s)
{
    struct fv_call_stat over = { 0 };
    unsigned kinds = 0;

    for (uint32_t i = 0; i < s->ranks; i++) {
        const struct fv_site_rank *r = &m->site_ranks[s->first + i];

        if (!r->stat.calls)
            continue;
        fv_call_stat_add(&over,
                         &(struct fv_call_stat){
                             .calls = 1, .sum_s = r->stat.sum_s, .min_s = r->stat.sum_s, .max_s = r->stat.sum_s });
        s->wait_s += r->wait_s;
        kinds |= 1u << r->wait_kind;
        s->barriers += fv_site_more(m, r)->barriers;
        s->barrier_s += fv_site_more(m, r)->barrier_s;
    }
    s->wait_kind = fv_wait_kind_of(kinds);
    if (m->causes.source != FV_CAUSES_TRACE) {
        s->own_wait_s = s->wait_s;
        s->own_wait_kind = s->wait_kind;
    }
    s->rank_min = over.min_s;
    s->rank_mean = fv_call_stat_mean(&over);
    s->rank_max = over.max_s;
    s->cov = s->rank_mean > 0 ? fv_call_stat_stddev(&over) / s->rank_mean : 0;
}

static int by_site_size(const void *a, const void *b)
{
    const struct fv_site_size *x = a, *y = b;

    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

/* As the sites are numbered now: of those that became one, each bucket once. */
static void order_site_sizes(struct fv_model *m, const uint32_t *number)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->site_size_count; i++)
        m->site_sizes[i].site = number[m->site_sizes[i].site];
    if (m->site_size_count)
        qsort(m->site_sizes, m->site_size_count, sizeof(*m->site_sizes), by_site_size);
    for (size_t i = 0; i < m->site_size_count; i++) {
        const struct fv_site_size *of = &m->site_sizes[i];
        struct fv_site *s = &m->sites[of->site];

        if (kept && !by_site_size(&m->site_sizes[kept - 1], of)) {
            fv_site_size_add(&m->site_sizes[kept - 1], of);
            continue;
        }
        if (!s->sizes++)
            s->first_size = (uint32_t)kept;
        m->site_sizes[kept++] = *of;
    }
    m->site_size_count = kept;
}

static void leave_out_unshown(struct fv_model *m)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->site_rank_count; i++)
        if (!m->site_ranks[i].unshown)
            m->site_ranks[kept++] = m->site_ranks[i];
    m->site_rank_count = kept;
}

void fv_build_finish_sites(struct fv_model *m, struct fv_symbols *symbols, bool look_up)
{
    size_t recorded = m->site_count;
    uint32_t *number = fv_xcalloc(recorded, sizeof(*number));

    leave_out_unshown(m);
    for (uint32_t i = 0; i < recorded; i++)
        number[i] = i;
    if (symbols)
        fv_build_alikes(m, symbols, look_up, number);
    order_sites(m, number, recorded);
    order_site_sizes(m, number);
    for (size_t i = 0; i < m->site_count; i++)
        spread_over_ranks(m, &m->sites[i]);
    free(number);
}
