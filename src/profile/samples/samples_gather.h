/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of sampled functions share: samples.c reads, samples_totals.c adds contexts up to functions,
 * samples_judge.c says what it means, samples_rare.c finds rare long calls, samples_context.c what a frame belongs
 * to. */
#ifndef FV_SAMPLES_GATHER_H
#define FV_SAMPLES_GATHER_H

#include "profile/samples/samples.h"

/* The contexts of model->samples by the place that they are called from; as long as their order stays. */
struct fv_sampled_contexts {
    const struct fv_model *model;
    uint32_t *by_place; /* by parent, module and offset */
};
void fv_sampled_contexts_init(struct fv_sampled_contexts *contexts, const struct fv_model *model);
void fv_sampled_contexts_release(struct fv_sampled_contexts *contexts);
/* The context that a frame is of: called from the same place, of the functions that begin before it the
 * nearest; an index of model->samples.items. FV_NONE: there is none. */
uint32_t fv_sampled_contexts_of(const struct fv_sampled_contexts *contexts, const struct fv_node *frame);
/* The function that a frame without a context is of, by where it begins: its calls were measured on other paths alone.
 * An index of model->samples.functions, while they are in the order of fv_sampled_find_functions(). FV_NONE: none, or
 * not known. */
uint32_t fv_sampled_contexts_function(const struct fv_sampled_contexts *contexts, const struct fv_symbols *symbols,
                                      size_t frame);
/* Nodes by module and offset: contexts of one function are equal. */
int fv_sampled_contexts_compare(const struct fv_node *a, const struct fv_node *b);

void fv_sampled_add_stat(struct fv_sampled_stat *to, const struct fv_sampled_stat *from);
void fv_sampled_add_long(struct fv_sampled_long_calls *to, const struct fv_sampled_long_calls *from);

/* Makes fv_samples.functions of the contexts, which are put in the functions' order; their places in parts and
 * instances follow. */
void fv_sampled_find_functions(struct fv_model *model);
/* When contexts have their parts and instances, by function: adds these up. */
void fv_sampled_add_contexts(struct fv_samples *samples);
/* When these are added up: rare long calls of functions, and how often they are called. */
void fv_sampled_find_rare(const struct fv_sampled_contexts *contexts, struct fv_samples *samples);
/* When all is judged: puts functions into that order, and their contexts behind each other by share. */
void fv_sampled_order(struct fv_samples *samples, int (*by_guidance)(const void *, const void *));

#endif
