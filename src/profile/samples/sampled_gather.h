/* What the files of sampled functions share: sampled.c reads, sampled_judge.c says what it means, sampled_context.c finds
 * what a frame belongs to. */
#ifndef FV_SAMPLED_GATHER_H
#define FV_SAMPLED_GATHER_H

#include "profile/model.h"

/* The contexts of model->samples by the place that they are called from; as long as their order stays. */
struct fv_contexts {
    const struct fv_model *model;
    uint32_t *by_place; /* by parent, module and offset */
};
void fv_contexts_init(struct fv_contexts *contexts, const struct fv_model *model);
void fv_contexts_release(struct fv_contexts *contexts);
/* The context that a frame is of: called from the same place, of the functions that begin before it the
 * nearest; an index of model->samples.items. FV_NONE: there is none. */
uint32_t fv_contexts_of(const struct fv_contexts *contexts, const struct fv_node *frame);

#endif
