/* SPDX-License-Identifier: BSD-3-Clause */
/* Where everybody is: the ends of call paths with their ranks, those that hold others up first; then all paths as a
 * tree. */
#include "views/text/text.h"
#include "profile/looks/looks_tree.h"

#include <math.h>

#define ALIKE 4u /* threads at one place of which each is told what there is to say */

/* "rank 7", "1,022 ranks (0-6, 8-1022)"; of several threads of a rank how many. */
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

/* Who is there, or further in. */
static char *say_branch(const struct fv_look_node *n, char *out, size_t bytes)
{
    struct fv_rank_list list = FV_RANK_LIST_INIT;

    for (size_t i = 0; i < n->rank_count; i++)
        fv_rank_list_add(&list, n->ranks[i]);
    return say_who(&list, n->rank_count, n->threads, out, bytes);
}

/* Whose end it is. */
static char *say_ends(const struct fv_model *m, const struct fv_look_tree *t, const struct fv_look_node *n, char *out,
                      size_t bytes)
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

/* What is said of all of them alike once, else of the first ones each. */
static void put_remarks(const struct fv_page *p, const struct fv_profile *v, const struct fv_look_tree *t,
                        const struct fv_look_node *n)
{
    const struct fv_looks *l = fv_model_looks(v->model);
    char first[900], words[900];
    bool alike = true;

    fv_looked_words(v, &l->items[t->ends[n->first_end]], first, sizeof(first));
    for (uint32_t i = 1; i < n->ends && alike; i++)
        alike = !strcmp(first, fv_looked_words(v, &l->items[t->ends[n->first_end + i]], words, sizeof(words)));
    if (alike && first[0])
        fv_page_item(p, FV_PLAIN, 6, "%s", first);
    for (uint32_t i = 0; !alike && i < n->ends && (i < ALIKE || p->top == SIZE_MAX); i++) {
        const struct fv_looks_thread *who = &l->items[t->ends[n->first_end + i]];

        if (!*fv_looked_words(v, who, words, sizeof(words)))
            continue;
        if (who->is_main)
            fv_page_item(p, FV_PLAIN, 6, "rank %d: %s", v->model->ranks[who->rank].world_rank, words);
        else
            fv_page_item(p, FV_PLAIN, 6, "rank %d, thread %u: %s", v->model->ranks[who->rank].world_rank, who->tid,
                         words);
    }
}

static void put_ends(const struct fv_page *p, const struct fv_profile *v, const struct fv_look_tree *t)
{
    char who[300], path[3000];
    size_t shown = 0;

    for (; shown < t->order_count && shown < p->top; shown++) {
        const struct fv_look_node *n = &t->nodes[t->order[shown]];

        fv_page_item(p, n->guilt ? FV_RED : FV_PLAIN, 2, "%s: %s", say_ends(v->model, t, n, who, sizeof(who)),
                     fv_look_node_words(t, t->order[shown], path, sizeof(path)));
        put_remarks(p, v, t, n);
    }
    fv_page_cut(p, shown, t->order_count, "place", "");
}

/* What has the same threads as its caller stands as far in as that. */
/* What a node's threads are all in stands behind it, in its line. Returns the last one. */
static uint32_t put_node(const struct fv_page *p, const struct fv_look_tree *t, uint32_t node, size_t indent)
{
    const struct fv_look_node *n = &t->nodes[node];
    char who[300], path[3000] = "";
    unsigned guilt = n->guilt;

    fv_words_add(path, sizeof(path), "%s", n->label);
    while (t->nodes[node].child != FV_NONE && t->nodes[t->nodes[node].child].threads == n->threads) {
        node = t->nodes[node].child;
        guilt |= t->nodes[node].guilt;
        fv_words_add(path, sizeof(path), " > %s", t->nodes[node].label);
    }
    fv_page_item(p, guilt ? FV_RED : FV_PLAIN, indent, "%s: %s", say_branch(n, who, sizeof(who)), path);
    return node;
}

/* The node that began the line that this one's is below; FV_NONE: none. */
static uint32_t line_above(const struct fv_look_tree *t, uint32_t node, size_t *indent)
{
    node = t->nodes[node].parent;
    if (node != FV_NONE)
        *indent -= 2;
    while (node != FV_NONE && t->nodes[node].parent != FV_NONE &&
           t->nodes[t->nodes[node].parent].threads == t->nodes[node].threads)
        node = t->nodes[node].parent;
    return node;
}

static void put_tree(const struct fv_page *p, const struct fv_look_tree *t)
{
    size_t indent = 2;

    for (uint32_t node = t->root; node != FV_NONE;) {
        uint32_t line = node, last = put_node(p, t, node, indent);

        if (t->nodes[last].child != FV_NONE) {
            node = t->nodes[last].child;
            indent += 2;
            continue;
        }
        while (line != FV_NONE && t->nodes[line].next == FV_NONE)
            line = line_above(t, line, &indent);
        node = line == FV_NONE ? FV_NONE : t->nodes[line].next;
    }
}

FV_TEXT_SECTION(looks)
{
    const struct fv_looks *l = fv_model_looks(v->model);
    struct fv_look_tree tree;
    char remark[120] = "no thread was interrupted", at[FV_WORD];

    if (!l->request || !l->count)
        return;
    fv_look_tree_init(&tree, v);
    if (isfinite(l->at_s))
        snprintf(remark, sizeof(remark), "%u look%s, the last one at %s", l->looks, fv_words_s(l->looks),
                 fv_words_seconds(l->at_s, at));
    fv_page_heading(p, "Where everybody is", remark);
    put_ends(p, v, &tree);
    if (tree.order_count > 1) {
        fv_text_title(p, "The same as a tree", "from main inwards, with the ranks of each branch");
        put_tree(p, &tree);
    }
    fv_look_tree_release(&tree);
}
