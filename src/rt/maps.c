/* SPDX-License-Identifier: BSD-3-Clause */
/* See maps.h. */
#include "rt/maps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool fv_maps_find(bool (*is_it)(char *line, void *arg), void *arg)
{
    char text[4096 + 128]; /* no line is longer */
    size_t used = 0;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool found = false;

    for (long n; fd >= 0 && !found && (n = syscall(SYS_read, fd, text + used, sizeof(text) - 1 - used)) > 0;) {
        char *line = text, *stop;

        used += (size_t)n;
        text[used] = '\0';
        for (; !found && (stop = strchr(line, '\n')); line = stop + 1) {
            *stop = '\0';
            found = is_it(line, arg);
        }
        used = line == text && used == sizeof(text) - 1 ? 0 : used - (size_t)(line - text);
        memmove(text, line, used);
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    return found;
}

bool fv_maps_has(const char *line, uintptr_t address, char **rest)
{
    uintptr_t begin = strtoul(line, rest, 16), end = **rest == '-' ? strtoul(*rest + 1, rest, 16) : 0;

    return address >= begin && address < end && **rest == ' ';
}
