/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a run hangs, or hung when it was killed: which rank waits for which. */
#include "views/text/text.h"
#include "profile/hang/hang.h"

#define SHOWN     20u /* ranks of a cycle */
#define ALL_SHOWN 8u  /* of a group: if there are no more, each */

/* Members that the shortest way round leaves out. */
static void put_members(const struct fv_page *p, const struct fv_model *m, const struct fv_hang_cycle *c)
{
    uint32_t index = (uint32_t)(c - fv_model_hang(m)->cycles);
    char text[700];

    for (uint32_t i = 0; i < m->rank_count; i++) {
        bool put = fv_model_hang(m)->ranks[i].cycle != index;

        for (uint32_t k = 0; k < c->length && !put; k++)
            put = c->order[k] == i;
        if (!put)
            fv_page_item(p, FV_PLAIN, 6, "%s", fv_hang_rank(m, i, text, sizeof(text)));
    }
}

static void put_cycle(const struct fv_page *p, const struct fv_model *m, const struct fv_hang_cycle *c)
{
    char text[700];

    fv_page_item(p, FV_PLAIN, 2, "%u rank%s for %s%s:", c->count, c->count == 1 ? " waits" : "s wait",
                 c->count == 1 ? "itself" : "each other",
                 c->count > ALL_SHOWN && c->length < c->count ? ", among them" : "");
    for (uint32_t i = 0; i < c->length && i < SHOWN; i++)
        fv_page_item(p, FV_PLAIN, 6, "%s", fv_hang_rank(m, c->order[i], text, sizeof(text)));
    if (c->count <= ALL_SHOWN)
        put_members(p, m, c);
    if (c->length > SHOWN)
        fprintf(p->out, "      ... %u more rank%s of this cycle; --json has all\n", c->length - SHOWN,
                fv_words_s(c->length - SHOWN));
}

/* The ranks that most others have on their lists stand for all. */
static void put_cause(const struct fv_page *p, const struct fv_model *m, const struct fv_hang_cause *c)
{
    char text[700];

    fv_page_item(p, FV_PLAIN, 2, "%s", fv_hang_cause(m, c, text, sizeof(text)));
    for (uint32_t i = 0; c->count > 1 && i < c->count && i < ALL_SHOWN; i++)
        fv_page_item(p, FV_PLAIN, 6, "%s", fv_hang_rank(m, c->ranks[i], text, sizeof(text)));
    if (c->count > ALL_SHOWN)
        fprintf(p->out, "      ... %u more rank%s; --json has all\n", c->count - ALL_SHOWN,
                fv_words_s(c->count - ALL_SHOWN));
}

/* Ranks that wait and are in no cycle, as far as there are few of them. */
static void put_others(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_hang *h = fv_model_hang(m);
    uint32_t shown = 0, others = 0;
    char text[700];

    for (uint32_t i = 0; i < h->rank_count; i++) {
        if (h->ranks[i].state != FV_HANG_WAITS || h->ranks[i].cycle != FV_NONE)
            continue;
        if (others++ < ALL_SHOWN) {
            shown++;
            fv_page_item(p, FV_PLAIN, 2, "%s", fv_hang_rank(m, i, text, sizeof(text)));
        }
    }
    if (others > shown)
        fprintf(p->out, "  ... %u more rank%s; --json has all\n", others - shown,
                others - shown == 1 ? " waits" : "s wait");
}

FV_TEXT_SECTION(hang)
{
    const struct fv_model *m = v->model;
    const struct fv_hang *h = fv_model_hang(m);
    char text[700];

    if (!h || !h->waiting)
        return;
    fv_page_heading(p, "Which rank waits for which",
                    h->lasting ? "for a second or more"
                               : "when last seen, for an unknown time; messages may have been under way");
    for (size_t i = 0; i < h->mismatch_count && i < SHOWN; i++)
        fv_page_item(p, FV_PLAIN, 2, "%s", fv_hang_mismatch(m, &h->mismatches[i], text, sizeof(text)));
    for (size_t i = 0; i < h->cycle_count && i < p->top; i++)
        put_cycle(p, m, &h->cycles[i]);
    fv_page_cut(p, h->cycle_count < p->top ? h->cycle_count : p->top, h->cycle_count, "cycle", "");
    for (size_t i = 0; i < h->cause_count; i++)
        put_cause(p, m, &h->causes[i]);
    put_others(p, m);
}
