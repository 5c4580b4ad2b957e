/* SPDX-License-Identifier: BSD-3-Clause */
/* Where everybody is: the ends of call paths with their ranks, those that hold others up first; then all paths as a
 * tree. */
#include "views/text/text.h"
#include "profile/looks/looks_words.h"

#include <math.h>

static void put_remark(void *page, const char *remark)
{
    fv_page_item(page, FV_PLAIN, 6, "%s", remark);
}

static void put_ends(const struct fv_page *p, const struct fv_profile *v, const struct fv_look_tree *t)
{
    char who[300], path[3000];
    size_t shown = 0;

    for (; shown < t->order_count && shown < p->top; shown++) {
        const struct fv_look_node *n = &t->nodes[t->order[shown]];

        fv_page_item(p, n->guilt ? FV_RED : FV_PLAIN, 2, "%s: %s", fv_look_ends_words(v->model, t, n, who, sizeof(who)),
                     fv_look_node_words(t, t->order[shown], path, sizeof(path)));
        fv_look_remarks(v, t, n, p->top == SIZE_MAX ? SIZE_MAX : FV_LOOK_ALIKE, put_remark, (void *)(uintptr_t)p);
    }
    fv_page_cut(p, shown, t->order_count, "place", "");
}

/* What a node's threads are all in stands behind it, in its line. Returns the last one. */
static uint32_t put_node(const struct fv_page *p, const struct fv_look_tree *t, uint32_t node, size_t indent)
{
    const struct fv_look_node *n = &t->nodes[node];
    const uint32_t last = fv_look_chain_end(t, node);
    char who[300], path[3000] = "";
    unsigned guilt = n->guilt;

    fv_words_add(path, sizeof(path), "%s", n->label);
    while (node != last) {
        node = t->nodes[node].child;
        guilt |= t->nodes[node].guilt;
        fv_words_add(path, sizeof(path), " > %s", t->nodes[node].label);
    }
    fv_page_item(p, guilt ? FV_RED : FV_PLAIN, indent, "%s: %s", fv_look_branch_words(n, who, sizeof(who)), path);
    return last;
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
