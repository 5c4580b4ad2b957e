/* SPDX-License-Identifier: BSD-3-Clause */
/* See process.h. */
#include "base/process.h"

#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t fv_signals_held = ~(UINT64_C(1) << (SIGTRAP - 1));

ssize_t fv_file_read(const char *path, char *out, size_t size)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;

    out[0] = '\0';
    if (fd < 0)
        return -1;
    while (used < size - 1) {
        ssize_t n = syscall(SYS_read, fd, out + used, size - 1 - used);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    syscall(SYS_close, fd);
    out[used] = '\0';
    return (ssize_t)used;
}

const char *fv_file_value(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? at + strlen(name) + strspn(at + strlen(name), " \t") : "";
}

/* Field 3 and on stand behind the last ')': the name may hold anything, spaces and brackets too. */
bool fv_process_read(pid_t pid, struct fv_process *out)
{
    char path[64], text[1024];

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    if (fv_file_read(path, text, sizeof(text)) <= 0)
        return false;
    char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open)
        return false;
    *close = '\0';
    *out = (struct fv_process){ .pid = pid };
    snprintf(out->name, sizeof(out->name), "%.31s", open + 1);

    char *p = close + 1;
    for (int field = 3; field <= 22 && *p; field++) {
        p += strspn(p, " ");
        if (field == 3)
            out->state = *p;
        else if (field == 4)
            out->parent = (pid_t)strtol(p, NULL, 10);
        else if (field == 22)
            out->start = strtoull(p, NULL, 10);
        p += strcspn(p, " ");
    }
    return out->start != 0;
}

bool fv_process_runs(pid_t pid, uint64_t start)
{
    struct fv_process p;

    /* Z, X: dead, and not waited for yet */
    return fv_process_read(pid, &p) && p.start == start && p.state != 'Z' && p.state != 'X';
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t fv_service_name(const char *cgroup, const char **name)
{
    static const char end[] = ".service";
    size_t found = 0;

    for (const char *at = cgroup; *at;) {
        size_t length = strcspn(at, "/\n");

        if (length >= sizeof(end) && !memcmp(at + length - (sizeof(end) - 1), end, sizeof(end) - 1)) {
            *name = at;
            found = length - (sizeof(end) - 1);
        }
        at += length;
        if (found && *at != '/') /* of the first line that has one */
            break;
        at += *at != '\0';
    }
    return found;
}

bool fv_boot_id(uint8_t out[16])
{
    char text[64];
    unsigned digits = 0;

    memset(out, 0, 16);
    fv_file_read("/proc/sys/kernel/random/boot_id", text, sizeof(text));
    for (const char *p = text; *p && digits < 32; p++) {
        int digit = hex_digit(*p);

        if (digit >= 0) {
            out[digits / 2] |= (uint8_t)(digits % 2 ? digit : digit << 4);
            digits++;
        }
    }
    return digits == 32;
}
