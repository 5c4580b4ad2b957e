/* SPDX-License-Identifier: BSD-3-Clause */
/* See local.h. */
#include "base/local.h"
#include "base/experiment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fv_local_open_own(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 || (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH))))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

bool fv_local_keep(int folder, const char *experiment)
{
    char found[FV_EXPERIMENT_MAX];

    if (!symlinkat(experiment, folder, FV_LOCAL_EXPERIMENT))
        return true;
    ssize_t n = errno == EEXIST ? readlinkat(folder, FV_LOCAL_EXPERIMENT, found, sizeof(found)) : -1;
    return n == (ssize_t)strlen(experiment) && !memcmp(found, experiment, (size_t)n);
}

int fv_local_open(char *out, size_t size, const char *local, const char *experiment, uint64_t job)
{
    int n = snprintf(out, size, "%s/" FV_LOCAL_PREFIX "%u-%016llx", local, (unsigned)geteuid(),
                     (unsigned long long)fv_hash_on(job, experiment));
    int fd;

    if (n < 0 || (size_t)n >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    do {
        if (fv_make_directory(out, 0700))
            return -1;
        fd = fv_local_open_own(out);
    } while (fd < 0 && errno == ENOENT); /* removed meanwhile */
    if (fd >= 0 && !fv_local_keep(fd, experiment)) {
        int why = errno;

        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

void fv_local_note_name(char *out, size_t size, const char *directory)
{
    char host[FV_LOCAL_HOST_MAX + 1] = "";
    const char *key = strrchr(directory, '-');

    gethostname(host, sizeof(host) - 1);
    snprintf(out, size, FV_LOCAL_NOTE "%s%s", host, key ? key : "-");
}

void fv_local_note(int experiment, const char *directory)
{
    char name[FV_LOCAL_HOST_MAX + 64], text[8];

    fv_local_note_name(name, sizeof(name), directory);
    if (readlinkat(experiment, name, text, sizeof(text)) < 0) /* one look costs a file server less than one try */
        (void)!symlinkat(directory, experiment, name);
}

bool fv_local_note_host(const char *name, char out[FV_LOCAL_HOST_MAX + 1])
{
    size_t prefix = strlen(FV_LOCAL_NOTE);
    const char *end = strrchr(name, '-');

    if (strncmp(name, FV_LOCAL_NOTE, prefix) || end < name + prefix)
        return false;
    snprintf(out, FV_LOCAL_HOST_MAX + 1, "%.*s", (int)(end - name - (ssize_t)prefix), name + prefix);
    return true;
}

int fv_local_open_noted(const char *host, const char *directory)
{
    char note[FV_LOCAL_HOST_MAX + 64], ours[FV_LOCAL_HOST_MAX + 1];

    fv_local_note_name(note, sizeof(note), directory);
    if (fv_local_note_host(note, ours) && !strcmp(host, ours))
        return fv_local_open_own(directory);
    errno = EXDEV;
    return -1;
}
