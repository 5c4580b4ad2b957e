/* SPDX-License-Identifier: BSD-3-Clause */
/* What archives say of files: properties of a file, ours and that of Score-P. */
#ifndef FV_OTF2_FILES_H
#define FV_OTF2_FILES_H

#include "trace/format_words.h"

#include <string.h>

#define FV_ARCHIVE_FILESYSTEM "File system" /* as Score-P names it */
#define FV_ARCHIVE_KIND       "fvmpi::KIND" /* of what is no regular file and no directory: as fv_io_kind_enum says */

static inline enum fv_io_kind fv_archive_kind_of(const char *word)
{
    for (unsigned i = FV_IO_KIND_REGULAR; i < FV_IO_KINDS; i++)
        if (!strcmp(word, fv_enum_word(&fv_io_kind_enum, i)))
            return (enum fv_io_kind)i;
    return FV_IO_KIND_OTHER;
}

#endif
