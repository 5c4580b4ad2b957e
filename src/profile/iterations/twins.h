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
void fv_twins_release(struct fv_twins *twins);

#endif
