/* SPDX-License-Identifier: BSD-3-Clause */
/* See layers.h. */
#include "rt/layers.h"

void fv_layers_tell(enum fv_moment moment, struct fv_thread *self)
{
    for (const struct fv_layer *const *layer = fv_layers; *layer; layer++)
        if ((*layer)->at[moment])
            (*layer)->at[moment](self);
}
