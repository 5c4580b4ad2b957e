/* SPDX-License-Identifier: BSD-3-Clause */
/* See memory.h. */
#include "sensors/memory.h"
#include "base/base.h"
#include "base/pages.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE_BYTES = 1 << 16 };

struct fv_sensor_page {
    struct fv_sensor_page *next;
    size_t bytes;
};

static void *map(size_t bytes)
{
    void *pages = fv_map_pages(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return pages == MAP_FAILED ? NULL : pages;
}

void *fv_sensor_take_of(struct fv_sensor_arena *s, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > s->left) {
        size_t whole = bytes + sizeof(struct fv_sensor_page) > PAGE_BYTES ? bytes + 4096 : PAGE_BYTES;
        struct fv_sensor_page *page = map(whole);

        if (!page)
            return NULL;
        *page = (struct fv_sensor_page){ s->pages, whole };
        s->pages = page;
        s->rest = (char *)page + sizeof(*page);
        s->left = whole - sizeof(*page);
    }
    void *out = s->rest;
    s->rest += bytes;
    s->left -= bytes;
    return out;
}

void fv_sensor_give_back(struct fv_sensor_arena arena)
{
    struct fv_sensor_page *page = arena.pages;

    while (page) {
        struct fv_sensor_page *next = page->next;

        fv_unmap_pages(page, page->bytes);
        page = next;
    }
}

void *fv_sensor_take(struct fv_sensor *sensor, size_t bytes)
{
    return fv_sensor_take_of(&sensor->state->arena, bytes);
}

char *fv_sensor_name(struct fv_sensor *sensor, const char *text, size_t length)
{
    char *name = fv_sensor_take(sensor, length + 1);

    return name ? memcpy(name, text, length) : NULL;
}

size_t fv_sensor_load(struct fv_sensor *sensor, int fd)
{
    char *text = sensor->state->text;
    size_t used = 0;
    ssize_t got;

    /* What the kernel makes of such a file comes in pieces. */
    while (fd >= 0 && used < FV_SENSOR_TEXT - 1 &&
           (got = pread(fd, text + used, FV_SENSOR_TEXT - 1 - used, (off_t)used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    return used;
}

const char *fv_sensors_root(void)
{
    static const char *root;

    if (!root)
        root = fv_env("FVMPI_SENSORS_ROOT");
    if (!root)
        root = "";
    return root;
}

static int open_below(const char *path, int flags)
{
    char whole[1024];

    snprintf(whole, sizeof(whole), "%s/%s", fv_sensors_root(), path);
    return open(whole, flags);
}

int fv_sensor_file(const char *path)
{
    return open_below(path, O_RDONLY | O_CLOEXEC);
}

/* ---- patterns ---- */

/* Numbers in names by their value. */
static int by_number(const struct fv_sensor_match *a, const struct fv_sensor_match *b)
{
    const char *x = a->path, *y = b->path;

    while (*x && *y) {
        if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
            unsigned long long m = strtoull(x, (char **)&x, 10), n = strtoull(y, (char **)&y, 10);

            if (m != n)
                return m < n ? -1 : 1;
        } else if (*x != *y) {
            return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        } else {
            x++;
            y++;
        }
    }
    return *x ? 1 : *y ? -1 : 0;
}

/* Shell's: qsort() takes memory of the allocator. */
static void sort(struct fv_sensor_match *all, size_t count)
{
    for (size_t gap = count / 2; gap; gap /= 2)
        for (size_t i = gap; i < count; i++)
            for (size_t j = i; j >= gap && by_number(&all[j - gap], &all[j]) > 0; j -= gap) {
                struct fv_sensor_match less = all[j];

                all[j] = all[j - gap];
                all[j - gap] = less;
            }
}

struct walk {
    struct fv_sensor_match *out;
    size_t count, room;
};

static void walk(struct walk *w, const struct fv_sensor_match *at, const char *rest);

static void walk_name(struct walk *w, const struct fv_sensor_match *at, const char *name, const char *rest)
{
    struct fv_sensor_match next;
    int bytes = snprintf(next.path, sizeof(next.path), "%s%s%s", at->path, *at->path ? "/" : "", name);

    if (bytes < 0 || (size_t)bytes >= sizeof(next.path))
        return;
    bytes = snprintf(next.source, sizeof(next.source), "%s%s%s", at->source, *at->source ? "/" : "", name);
    if (bytes >= 0 && (size_t)bytes < sizeof(next.source))
        walk(w, &next, rest);
}

/* What the folder has that fits the pattern's next part. Not by opendir(), which takes memory of the allocator. */
static void walk_folder(struct walk *w, const struct fv_sensor_match *at, const char *part, const char *rest)
{
    _Alignas(struct dirent64) char piece[4096];
    int folder = open_below(at->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long bytes;

    if (folder < 0)
        return;
    while ((bytes = syscall(SYS_getdents64, folder, piece, sizeof(piece))) > 0)
        for (long i = 0; i < bytes;) {
            const struct dirent64 *e = (const void *)(piece + i);

            i += e->d_reclen;
            if (e->d_name[0] != '.' && !fnmatch(part, e->d_name, 0))
                walk_name(w, at, e->d_name, rest);
        }
    close(folder);
}

static void walk(struct walk *w, const struct fv_sensor_match *at, const char *rest)
{
    char part[256];
    size_t length = strcspn(rest, "/");
    struct fv_sensor_match next = *at;

    if (!*rest) {
        if (w->count < w->room)
            w->out[w->count++] = *at;
        return;
    }
    snprintf(part, sizeof(part), "%.*s", (int)length, rest);
    rest += length + (rest[length] == '/');
    if (strchr(part, '*')) {
        walk_folder(w, at, part, rest);
        return;
    }
    size_t used = strlen(next.path);
    int bytes = snprintf(next.path + used, sizeof(next.path) - used, "%s%s", used ? "/" : "", part);
    if (bytes >= 0 && (size_t)bytes < sizeof(next.path) - used)
        walk(w, &next, rest);
}

size_t fv_sensor_glob(const char *pattern, struct fv_sensor_match *out, size_t room)
{
    struct walk w = { .out = out, .room = room };

    walk(&w, &(struct fv_sensor_match){ .path = "" }, pattern);
    sort(out, w.count);
    return w.count;
}
