/* SPDX-License-Identifier: BSD-3-Clause */
/* See build.h. */
#include "profile/build.h"

const uint64_t fv_subject_no_data[FV_SUBJECT_NO_DATA / 8];

struct fv_numbers *fv_build_numbers(struct fv_build_file *file, uint32_t chunk)
{
    struct fv_own_numbers *own = file->own;

    while (own && own->chunk != chunk)
        own = own->next;
    if (!own) {
        own = fv_xcalloc(1, sizeof(*own));
        *own = (struct fv_own_numbers){ .chunk = chunk, .next = file->own };
        file->own = own;
    }
    return &own->numbers;
}
