/* SPDX-License-Identifier: BSD-3-Clause */
/* See numbers.h. */
#include "base/numbers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void fv_numbers_in(const char *folder, void (*take)(void *context, uint32_t number), void *context)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _Alignas(uint64_t) char piece[8192];
    long bytes;

    struct entry { /* getdents64(2) */
        uint64_t inode, offset;
        uint16_t bytes;
        uint8_t type;
        char name[];
    };
    while (fd >= 0 && (bytes = syscall(SYS_getdents64, fd, piece, sizeof(piece))) > 0)
        for (long at = 0; at < bytes;) {
            const struct entry *e = (const void *)(piece + at);

            at += e->bytes;
            if (e->name[0] > '0' && e->name[0] <= '9')
                take(context, (uint32_t)strtoul(e->name, NULL, 10));
        }
    if (fd >= 0)
        close(fd);
}
