/* SPDX-License-Identifier: BSD-3-Clause */
/* See new_file.h. */
#include "tool/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int fv_new_file(const char *path, int flags, mode_t mode)
{
    if (unlink(path) && errno != ENOENT)
        return -1;
    return open(path, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}
