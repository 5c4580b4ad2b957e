/* SPDX-License-Identifier: BSD-3-Clause */
/* See looks_words.h. */
#include "profile/looks/looks_words.h"
#include "tool/words.h"

#include <stdio.h>
#include <string.h>

/* ---- who ---- */

static char *say_who(struct fv_rank_list *list, size_t ranks, size_t threads, char *out, size_t bytes)
{
    char count[FV_WORD];

    out[0] = '\0';
    if (ranks == 1)
        fv_words_add(out, bytes, "rank %s", fv_rank_list_text(list));
    else
        fv_words_add(out, bytes, "%s ranks (%s)", fv_words_count(ranks, count), fv_rank_list_text(list));
    if (threads > ranks)
        fv_words_add(out, bytes, ", %s threads", fv_words_count(threads, count));
    return out;
}

char *fv_look_branch_words(const struct fv_look_node *n, char *out, size_t bytes)
{
    struct fv_rank_list list = FV_RANK_LIST_INIT;

    for (size_t i = 0; i < n->rank_count; i++)
        fv_rank_list_add(&list, n->ranks[i]);
    return say_who(&list, n->rank_count, n->threads, out, bytes);
}

char *fv_look_ends_words(const struct fv_model *m, const struct fv_look_tree *t, const struct fv_look_node *n,
                         char *out, size_t bytes)
{
    const struct fv_looks *l = fv_model_looks(m);
    struct fv_rank_list list = FV_RANK_LIST_INIT;
    uint32_t last = FV_NONE;
    size_t ranks = 0;

    for (uint32_t i = 0; i < n->ends; i++) {
        uint32_t rank = l->items[t->ends[n->first_end + i]].rank;

        if (rank != last)
            fv_rank_list_add(&list, m->ranks[rank].world_rank);
        ranks += rank != last;
        last = rank;
    }
    return say_who(&list, ranks, n->ends, out, bytes);
}

/* ---- what else ---- */

enum { REMARK = 900 };

static bool are_alike(const struct fv_profile *v, const struct fv_look_tree *t, const struct fv_look_node *n,
                      const char *first)
{
    const struct fv_looks *l = fv_model_looks(v->model);
    char words[REMARK];

    for (uint32_t i = 1; i < n->ends; i++)
        if (strcmp(first, fv_looked_words(v, &l->items[t->ends[n->first_end + i]], words, sizeof(words))) != 0)
            return false;
    return true;
}

void fv_look_remarks(const struct fv_profile *v, const struct fv_look_tree *t, const struct fv_look_node *n,
                     size_t most, fv_look_remark_fn *take, void *context)
{
    const struct fv_looks *l = fv_model_looks(v->model);
    char words[REMARK], said[REMARK + 60];

    fv_looked_words(v, &l->items[t->ends[n->first_end]], words, sizeof(words));
    if (are_alike(v, t, n, words)) {
        if (words[0])
            take(context, words);
        return;
    }
    for (uint32_t i = 0; i < n->ends && i < most; i++) {
        const struct fv_looks_thread *who = &l->items[t->ends[n->first_end + i]];
        int rank = v->model->ranks[who->rank].world_rank;

        if (!*fv_looked_words(v, who, words, sizeof(words)))
            continue;
        if (who->is_main)
            snprintf(said, sizeof(said), "rank %d: %s", rank, words);
        else
            snprintf(said, sizeof(said), "rank %d, thread %u: %s", rank, who->tid, words);
        take(context, said);
    }
}

/* ---- the order ---- */

uint32_t fv_look_next(const struct fv_look_tree *t, uint32_t node)
{
    if (t->nodes[node].child != FV_NONE)
        return t->nodes[node].child;
    while (node != FV_NONE && t->nodes[node].next == FV_NONE)
        node = t->nodes[node].parent;
    return node == FV_NONE ? FV_NONE : t->nodes[node].next;
}

uint32_t fv_look_chain_end(const struct fv_look_tree *t, uint32_t node)
{
    const uint32_t threads = t->nodes[node].threads;

    while (t->nodes[node].child != FV_NONE && t->nodes[t->nodes[node].child].threads == threads)
        node = t->nodes[node].child;
    return node;
}
