/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of one line of the source that a compiler made several of, where it unrolled a loop or repeated code behind a
 * branch: they look the same (look_alikes.c), and iterations must not tell them apart. That comes before call paths
 * have their names; so those that may be such twins are looked up here. */
#ifndef FV_ITERATION_TWINS_H
#define FV_ITERATION_TWINS_H

#include "profile/build.h"

struct fv_twins {
    uint32_t *of_node, *of_site; /* the first node, and the first call site, that looks the same */
};
/* traced: all calls are known, else blocking collective calls. Of call paths so many that it would take long, none are
 * looked up. */
struct fv_twins fv_twins(const struct fv_build *build, bool traced);

/* A rank's calls in their order: FV_NONE: their site is not known. */
struct fv_twin_calls {
    const uint32_t *site;
    const double *begin_s, *end_s;
    size_t count;
};
/* Calls on one line of the source, one after the other in each iteration, as of a macro, are no twins. They are taken
 * to be those that are made in turn, where what is computed before differs from one to the other: a loop that was
 * unrolled looks so, too, if it has a period that divides its copies. Those are told apart from then on. False: there
 * are none. */
bool fv_twins_part(struct fv_twins *twins, const struct fv_model *model, const struct fv_twin_calls *calls);
void fv_twins_release(struct fv_twins *twins);

#endif
