/* SPDX-License-Identifier: BSD-3-Clause */
/* What all views say of a tree of looks, and in which order: text prints it, the relations looked_places and
 * looked_tree have it for JSON and pages. */
#ifndef FV_LOOKS_WORDS_H
#define FV_LOOKS_WORDS_H

#include "profile/looks/looks_tree.h"

#define FV_LOOK_ALIKE 4u /* threads at one place of which each is told what there is to say */

/* "rank 7", "1,022 ranks (0-6, 8-1022)"; of several threads of a rank how many. Those that are in the node, or further
 * in; and those whose end it is. Returns out. */
char *fv_look_branch_words(const struct fv_look_node *node, char *out, size_t bytes);
char *fv_look_ends_words(const struct fv_model *model, const struct fv_look_tree *tree, const struct fv_look_node *node,
                         char *out, size_t bytes);

/* What there is to say of those whose end it is: once, if it is the same of all, else of the first ones each. */
typedef void fv_look_remark_fn(void *context, const char *remark);
void fv_look_remarks(const struct fv_profile *profile, const struct fv_look_tree *tree, const struct fv_look_node *node,
                     size_t most, fv_look_remark_fn *take, void *context);

/* The node behind this one, from the root inwards, in the order that is shown; FV_NONE: none. */
uint32_t fv_look_next(const struct fv_look_tree *tree, uint32_t node);
/* Of a chain of nodes that have the same threads the innermost one: they are shown as one. */
uint32_t fv_look_chain_end(const struct fv_look_tree *tree, uint32_t node);

#endif
