/* SPDX-License-Identifier: BSD-3-Clause */
/* See container.h. */
#include "trace/container.h"
#include "base/base.h"
#include "base/write_at.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- entries ---- */

static uint64_t check_of(const struct fv_container_entry *e)
{
    uint64_t check = fv_mix2(e->begin, e->bytes);

    for (size_t i = 0; i < sizeof(e->name) && e->name[i]; i++)
        check = fv_mix2(check, (uint8_t)e->name[i]);
    return check;
}

static bool read_entry(int fd, uint64_t at, uint64_t file_bytes, struct fv_container_entry *e)
{
    return pread(fd, e, sizeof(*e), (off_t)at) == (ssize_t)sizeof(*e) &&
           !memcmp(e->magic, FV_CONTAINER_MAGIC, sizeof(e->magic)) && memchr(e->name, '\0', sizeof(e->name)) &&
           e->check == check_of(e) && e->begin > at && e->begin <= file_bytes && e->bytes <= file_bytes - e->begin;
}

/* The next place for an entry at which the file is no hole. */
static uint64_t next_place(int fd, uint64_t at)
{
    off_t data = lseek(fd, (off_t)(at + FV_CONTAINER_STEP), SEEK_DATA);

    if (data >= 0)
        return fv_round_up((uint64_t)data, FV_CONTAINER_STEP);
    return errno == ENXIO ? UINT64_MAX : at + FV_CONTAINER_STEP;
}

uint64_t fv_container_each(int fd, bool (*visit)(void *context, const struct fv_container_entry *entry), void *context)
{
    struct fv_container_entry e;
    struct stat st;
    uint64_t at = 0, end = 0;

    if (fstat(fd, &st))
        return 0;
    while (at < (uint64_t)st.st_size) {
        if (!read_entry(fd, at, (uint64_t)st.st_size, &e)) { /* damage, or what a crash left */
            at = next_place(fd, at);
            continue;
        }
        at = end = fv_round_up(e.begin + e.bytes, FV_CONTAINER_STEP);
        if (visit && !visit(context, &e))
            break;
    }
    return end;
}

struct search {
    const char *name;
    bool found;
    struct fv_container_entry entry;
};

static bool is_not_it(void *context, const struct fv_container_entry *e)
{
    struct search *s = context;

    s->found = !strcmp(e->name, s->name);
    if (s->found)
        s->entry = *e;
    return !s->found;
}

/* ---- reading ---- */

static int open_container_of(const char *path)
{
    char container[PATH_MAX];
    size_t length = (size_t)(fv_base_name(path) - path);
    int n = snprintf(container, sizeof(container), "%.*s", (int)(length - !!length), path);

    return n > 0 && n < (int)sizeof(container) ? open(container, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
}

static int open_in_container(const char *path, struct fv_file_part *out)
{
    struct search search = { .name = fv_base_name(path) };

    out->fd = open_container_of(path);
    if (out->fd < 0)
        return -FV_EIO;
    fv_container_each(out->fd, is_not_it, &search);
    if (!search.found) {
        close(out->fd);
        errno = ENOENT;
        return -FV_EIO;
    }
    out->begin = search.entry.begin;
    out->bytes = search.entry.bytes;
    return 0;
}

int fv_file_part_open(const char *path, struct fv_file_part *out)
{
    struct stat st;

    *out = (struct fv_file_part){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }; /* a FIFO must not hang us */
    if (out->fd < 0 && errno == ENOTDIR)
        return open_in_container(path, out);
    if (out->fd < 0)
        return -FV_EIO;
    if (fstat(out->fd, &st) || !S_ISREG(st.st_mode)) {
        close(out->fd);
        return -FV_EFORMAT;
    }
    out->bytes = (uint64_t)st.st_size;
    out->is_whole = true;
    return 0;
}

int fv_file_part_again(const char *path, uint64_t begin)
{
    return begin ? open_container_of(path) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* ---- writing ---- */

static int open_container(int folder, const char *container, mode_t mode)
{
    int fd = openat(folder, container, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode);
    struct stat st;

    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1)
        return fd;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 || errno == ELOOP)
        errno = EEXIST;
    return -1;
}

bool fv_same_bytes(int one, int other, uint64_t begin, uint64_t bytes)
{
    static char ours[1 << 16], theirs[1 << 16];
    uint64_t at = 0;

    for (ssize_t n; at < bytes; at += (uint64_t)n) {
        const size_t wanted = bytes - at < sizeof(ours) ? (size_t)(bytes - at) : sizeof(ours);

        n = pread(one, ours, wanted, (off_t)at);
        if (n <= 0 || pread(other, theirs, (size_t)n, (off_t)(begin + at)) != n || memcmp(ours, theirs, (size_t)n) != 0)
            return false;
    }
    return true;
}

/* Its bytes are on the disk before there is an entry. What was begun and not ended is cut off. */
static int write_file(int from, int to, uint64_t at, const char *name, uint64_t bytes)
{
    static char buffer[1 << 20];
    struct fv_container_entry e = { .begin = fv_round_up(at + sizeof(e), FV_CONTAINER_ALIGN), .bytes = bytes };
    uint64_t done = 0;

    memcpy(e.magic, FV_CONTAINER_MAGIC, sizeof(e.magic));
    snprintf(e.name, sizeof(e.name), "%s", name);
    e.check = check_of(&e);
    if (ftruncate(to, (off_t)at) || ftruncate(to, (off_t)(e.begin + bytes)))
        return -1;
    for (ssize_t n; done < bytes; done += (uint64_t)n) {
        n = pread(from, buffer, sizeof(buffer), (off_t)done);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0) {
            errno = n ? errno : EIO;
            return -1;
        }
        if (!fv_write_at(to, buffer, (size_t)n, e.begin + done))
            return -1;
    }
    return fsync(to) || !fv_write_at(to, (const char *)&e, sizeof(e), at) || fsync(to) ? -1 : 0;
}

static int append(int from, int to, const char *name)
{
    struct search search = { .name = name };
    struct stat st;
    uint64_t end = fv_container_each(to, is_not_it, &search);

    if (fstat(from, &st))
        return -1;
    if (!search.found)
        return write_file(from, to, end, name, (uint64_t)st.st_size);
    if (search.entry.bytes == (uint64_t)st.st_size && fv_same_bytes(from, to, search.entry.begin, search.entry.bytes))
        return 0;
    errno = EEXIST;
    return -1;
}

int fv_container_append(int folder, const char *container, int from, const char *name)
{
    struct stat st;
    const mode_t mode = fstat(from, &st) ? 0600 : st.st_mode & 0666;
    int to = open_container(folder, container, mode), err = -1;

    if (strlen(name) >= sizeof(((struct fv_container_entry *)0)->name))
        errno = ENAMETOOLONG;
    else if (to >= 0 && !flock(to, LOCK_EX))
        err = append(from, to, name);
    int why = errno;
    if (to >= 0 && close(to) && !err) { /* network file systems tell there what they could not write */
        err = -1;
        why = errno;
    }
    errno = why;
    return err;
}

void fv_container_name(char out[FV_CONTAINER_NAME_MAX])
{
    char host[65] = "";

    gethostname(host, sizeof(host) - 1);
    for (char *c = host; *c; c++)
        if (*c == '/')
            *c = '_';
    snprintf(out, FV_CONTAINER_NAME_MAX, "ranks-%s" FV_CONTAINER_END, host);
}
