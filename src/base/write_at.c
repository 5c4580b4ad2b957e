/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/write_at.h"

#include <errno.h>
#include <unistd.h>

bool fv_write_at(int fd, const void *bytes, size_t count, uint64_t at)
{
    const char *p = bytes;

    for (ssize_t n; count; p += n, count -= (size_t)n, at += (uint64_t)n)
        if ((n = pwrite(fd, p, count, (off_t)at)) < 0) {
            if (errno != EINTR)
                return false;
            n = 0;
        }
    return true;
}
