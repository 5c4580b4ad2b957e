/* SPDX-License-Identifier: BSD-3-Clause */
/* Where everybody is, for `fvmpi where --json`. */
#ifndef FV_LOOKS_RELATIONS_H
#define FV_LOOKS_RELATIONS_H

#include "profile/relations.h"

extern const struct fv_relation fv_looks_relation;

void fv_looks_fold(struct fv_model *model, struct fv_alikes *alikes);

#endif
