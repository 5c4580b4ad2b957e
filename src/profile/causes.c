/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is to blame for waiting: lists made from the parts of call sites. */
#include "profile/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 1000 /* culprits; what is left out costs less than any of them */

void fv_blame_add(struct fv_blame *to, const struct fv_blame *from)
{
    to->caused_s += from->caused_s;
    to->withheld_s += from->withheld_s;
    for (unsigned i = 0; i < FV_PLACES; i++) {
        to->delay_s[i] += from->delay_s[i];
        to->direct_s[i] += from->direct_s[i];
        to->critical_s[i] += from->critical_s[i];
    }
}

static int by_cost(const void *a, const void *b)
{
    const struct fv_culprit *x = a, *y = b;

    if (x->cost_s != y->cost_s)
        return x->cost_s > y->cost_s ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (int)x->where - (int)y->where;
}

static void add_culprit(struct fv_causes *c, struct fv_culprit culprit)
{
    if (culprit.cost_s <= 0)
        return;
    FV_GROW(c->culprits, c->culprit_room, c->culprit_count + 1);
    c->culprits[c->culprit_count++] = culprit;
}

static void list_culprits(struct fv_model *m)
{
    struct fv_causes *c = &m->causes;

    for (size_t i = 0; i < m->site_rank_count; i++) {
        const struct fv_site_rank *s = &m->site_ranks[i];
        const struct fv_blame *b = &fv_site_more(m, s)->blame;

        if (c->source == FV_CAUSES_PROFILE)
            add_culprit(c, (struct fv_culprit){ s->rank, s->site, FV_PLACE_COMPUTING, b->caused_s, b->caused_s, 0 });
        for (unsigned k = 0; c->source == FV_CAUSES_TRACE && k < FV_PLACES; k++)
            add_culprit(c, (struct fv_culprit){ s->rank, s->site, k, b->delay_s[k], b->direct_s[k],
                                                k == FV_PLACE_COMPUTING ? b->withheld_s : 0 });
    }
    for (size_t i = 0; i < c->elsewhere_count; i++)
        add_culprit(c, c->elsewhere[i]);
    if (c->culprit_count)
        qsort(c->culprits, c->culprit_count, sizeof(*c->culprits), by_cost);
    if (c->culprit_count > LISTED)
        c->culprit_count = LISTED;
}

void fv_build_causes(struct fv_model *m)
{
    list_culprits(m);
    fv_build_regions(m);
}

bool fv_causes_by_withheld(const struct fv_causes *c)
{
    for (size_t i = 0; i < c->kind_count; i++)
        if (fv_kind_is_estimate(c->kinds[i].kind) && strcmp(c->kinds[i].kind, FV_NO_PROGRESS))
            return false;
    return c->is_whole;
}

/* What others behind the waiting ranks waited may hold any estimate. */
bool fv_culprit_is_exact(const struct fv_causes *c, const struct fv_culprit *k)
{
    return c->exact || (fv_causes_by_withheld(c) && k->site != FV_NONE && !(k->withheld_s > 0) &&
                        k->cost_s <= k->direct_s * (1 + 1e-9));
}

const char *fv_wait_words(const char *kind, char out[FV_WAIT_WORDS])
{
    static const struct {
        const char *kind, *word;
    } words[] = {
        { "late_sender_wrong_order", "late sender, messages in wrong order" },
        { FV_NO_PROGRESS, "no progress: posted, not moved while a rank computed" },
        { "wait_at_nxn", "late rank in an N x N collective" },
        { "nxn_completion", "(no waiting: end of an N x N collective)" },
        { "wait_at_barrier", "late rank at a barrier" },
        { "barrier_completion", "(no waiting: end of a barrier)" },
        { "init_completion", "(no waiting: end of MPI_Init)" },
        { "late_broadcast", "late root of a broadcast or scatter" },
        { "early_reduce", "late first sender of a reduce or gather" },
        { "late_reduce", "late last sender of a reduce or gather" },
        { "late_taker", "late taker in a broadcast, scatter, reduce or gather" },
        { "early_scan", "late lower rank in a scan" },
        { "wait_at_create", "late rank in a joint creation" },
        { "wait_at_init", "late rank in MPI_Init" },
        { "wait_at_finalize", "late rank in MPI_Finalize" },
        { "wait_at_io", "late rank in collective I/O" },
        { "wait_at_fence", "late rank at a fence" },
        { "early_wait", "late complete of an RMA epoch" },
        { "late_complete", "complete long after the last operation" },
    };

    for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (!strcmp(kind, words[i].kind))
            return words[i].word;
    snprintf(out, FV_WAIT_WORDS, "%s", kind);
    for (char *p = out; (p = strchr(p, '_'));)
        *p = ' ';
    return out;
}
