/* SPDX-License-Identifier: BSD-3-Clause */
/* See layers.h. */
#include "rt/layers.h"

#include <stddef.h>
#include <stdint.h>

/* Bit i: row i is told. */
static uint64_t listeners(enum fv_moment moment)
{
    uint64_t found = 0;

    for (unsigned i = 0; fv_layers[i]; i++)
        found |= (uint64_t)(fv_layers[i]->at[moment] != NULL) << i;
    return found;
}

void fv_layers_tell(enum fv_moment moment, struct fv_thread *self)
{
    static uint64_t known[FV_MOMENTS]; /* 0: to be found; any thread finds the same */
    uint64_t left = __atomic_load_n(&known[moment], __ATOMIC_RELAXED);

    if (!left)
        __atomic_store_n(&known[moment], left = listeners(moment), __ATOMIC_RELAXED);
    for (; left; left &= left - 1)
        fv_layers[__builtin_ctzll(left)]->at[moment](self);
}
