/* SPDX-License-Identifier: BSD-3-Clause */
/* See loader.h. The order of the search is ld.so(8)'s: RPATH of the file that needs the library and of
 * those that brought it in (each only if it has no RUNPATH), LD_LIBRARY_PATH, RUNPATH of the file,
 * /etc/ld.so.cache, the default directories. A file of another machine is passed over, as the loader
 * does. /etc/ld.so.conf is not read: the loader does not either, ldconfig makes the cache of it. */
#include "cmd/loader.h"
#include "cmd/dynamic.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIBRARIES_MOST = 4096, CACHE_MOST = 256 << 20 };

/* An object that was found: its own search paths, and who brought it in. */
struct object {
    char *path;
    char *origin; /* its directory, without symbolic links */
    struct fv_dynamic elf;
    const struct object *parent;
};

struct scan {
    struct object *objects[LIBRARIES_MOST];
    size_t count;
    uint16_t machine;
    struct fv_loader_cache cache;
    struct fv_libraries found;
};

/* ---- the cache ---- */

#define CACHE_MAGIC_OLD "ld.so-1.7.0"
#define CACHE_MAGIC_NEW "glibc-ld.so.cache1.1"

/* The new format: this header, entries, strings; offsets count from the header. */
struct cache_header {
    char magic[20];
    uint32_t count, string_bytes;
    uint32_t unused[5];
};
struct cache_entry {
    int32_t flags;
    uint32_t name, path;
    uint32_t os_version;
    uint64_t capabilities;
};
_Static_assert(sizeof(struct cache_header) == 48 && sizeof(struct cache_entry) == 24, "as glibc writes them");

bool fv_loader_cache_check(struct fv_loader_cache *cache)
{
    uint32_t old_count;

    cache->base = 0;
    if (cache->size >= 16 && !memcmp(cache->bytes, CACHE_MAGIC_OLD, strlen(CACHE_MAGIC_OLD))) {
        memcpy(&old_count, cache->bytes + 12, sizeof(old_count)); /* of entries of 12 bytes */
        cache->base = fv_round_up(16 + (uint64_t)old_count * 12, 8);
    }
    return cache->base <= cache->size && cache->size - cache->base >= sizeof(struct cache_header) &&
           !memcmp(cache->bytes + cache->base, CACHE_MAGIC_NEW, strlen(CACHE_MAGIC_NEW));
}

const char *fv_loader_cache_find(const struct fv_loader_cache *cache, const char *name, unsigned index)
{
    struct cache_header header;
    struct cache_entry entry;

    if (!cache->bytes)
        return NULL;
    const unsigned char *base = cache->bytes + cache->base;
    size_t size = cache->size - cache->base;
    memcpy(&header, base, sizeof(header));
    if (header.count > (size - sizeof(header)) / sizeof(entry))
        return NULL;
    for (uint32_t i = 0; i < header.count; i++) {
        memcpy(&entry, base + sizeof(header) + i * sizeof(entry), sizeof(entry));
        if (entry.name >= size || entry.path >= size)
            continue;
        if (!strcmp((const char *)base + entry.name, name) && index-- == 0)
            return (const char *)base + entry.path;
    }
    return NULL;
}

static void read_cache(struct fv_loader_cache *out)
{
    struct stat st;
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    struct fv_loader_cache cache = { .bytes = NULL };

    if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0 && st.st_size < CACHE_MOST) {
        struct fv_source source = fv_source_of_file(fd);
        cache.size = (size_t)st.st_size;
        cache.bytes = malloc(cache.size + 1);
        if (cache.bytes && source.read(&source, 0, cache.bytes, cache.size)) {
            cache.bytes[cache.size] = '\0';
            if (fv_loader_cache_check(&cache)) {
                *out = cache;
                cache.bytes = NULL;
            }
        }
    }
    if (fd >= 0)
        close(fd);
    free(cache.bytes);
}

/* ---- the search ---- */

/* Is the file one that the loader would take? */
static bool try_path(struct scan *scan, const char *path, struct object *out)
{
    struct fv_dynamic elf;

    if (fv_dynamic_read_file(path, &elf))
        return false;
    if (elf.machine != scan->machine) {
        fv_dynamic_release(&elf);
        return false;
    }
    out->elf = elf;
    out->path = strdup(path);
    return out->path != NULL;
}

/* Replaces $ORIGIN and ${ORIGIN}; $LIB by `lib`. False: another token, or too long. */
static bool expand(char *out, size_t size, const char *text, size_t length, const char *origin, const char *lib)
{
    static const struct {
        const char *name;
        bool is_origin;
    } tokens[] = { { "$ORIGIN", true }, { "${ORIGIN}", true }, { "$LIB", false }, { "${LIB}", false } };
    size_t used = 0;

    for (size_t i = 0; i < length;) {
        const char *add = text + i;
        size_t take = 1, n = 1;
        for (unsigned t = 0; text[i] == '$' && t < sizeof(tokens) / sizeof(*tokens); t++) {
            size_t token = strlen(tokens[t].name);
            if (length - i >= token && !memcmp(text + i, tokens[t].name, token)) {
                add = tokens[t].is_origin ? origin : lib;
                take = token;
                n = strlen(add);
            }
        }
        if ((text[i] == '$' && take == 1) || used + n >= size)
            return false;
        memcpy(out + used, add, n);
        used += n;
        i += take;
    }
    out[used] = '\0';
    return true;
}

/* Looks for a name in a list of directories, `separators` apart. An empty entry is the current one. */
static bool try_list(struct scan *scan, const char *list, const char *separators, const char *name, const char *origin,
                     struct object *out)
{
    static const char *const libs[] = { "lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu" };
    char directory[PATH_MAX], path[PATH_MAX];

    for (const char *p = list; p; p = *p ? p + 1 : NULL) {
        size_t n = strcspn(p, separators);
        for (unsigned lib = 0; lib < sizeof(libs) / sizeof(*libs); lib++) {
            if (!expand(directory, sizeof(directory), p, n, origin, libs[lib]))
                break;
            int used = snprintf(path, sizeof(path), "%s/%s", *directory ? directory : ".", name);
            if (used > 0 && (size_t)used < sizeof(path) && try_path(scan, path, out))
                return true;
            if (!memmem(p, n, "LIB", 3))
                break;
        }
        p += n;
    }
    return false;
}

static bool try_rpaths(struct scan *scan, const struct object *by, const char *name, struct object *out)
{
    if (by->elf.runpath)
        return false;
    for (const struct object *o = by; o; o = o->parent)
        if (o->elf.rpath && !o->elf.runpath && try_list(scan, o->elf.rpath, ":", name, o->origin, out))
            return true;
    return false;
}

static bool try_cache(struct scan *scan, const char *name, struct object *out)
{
    const char *path;

    for (unsigned i = 0; (path = fv_loader_cache_find(&scan->cache, name, i)); i++)
        if (try_path(scan, path, out))
            return true;
    return false;
}

static bool find_library(struct scan *scan, const struct object *by, const char *name, struct object *out)
{
    static const char defaults[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:"
                                   "/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";
    const char *environment = getenv("LD_LIBRARY_PATH");
    char path[PATH_MAX];

    if (strchr(name, '/'))
        return expand(path, sizeof(path), name, strlen(name), by->origin, "lib") && try_path(scan, path, out);
    return try_rpaths(scan, by, name, out) ||
           (environment && *environment && try_list(scan, environment, ":;", name, by->origin, out)) ||
           (by->elf.runpath && try_list(scan, by->elf.runpath, ":", name, by->origin, out)) ||
           try_cache(scan, name, out) || try_list(scan, defaults, ":", name, "/", out);
}

/* ---- the walk ---- */

static void object_free(struct object *object)
{
    if (!object)
        return;
    fv_dynamic_release(&object->elf);
    free(object->path);
    free(object->origin);
    free(object);
}

static char *directory_of(const char *path)
{
    char *real = realpath(path, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;

    if (slash)
        slash[slash == real] = '\0';
    return real;
}

static bool is_known(const struct scan *scan, const char *name)
{
    for (size_t i = 0; i < scan->found.count; i++)
        if (!strcmp(scan->found.items[i].name, name))
            return true;
    return false;
}

static int add_found(struct fv_libraries *list, const char *name, const char *path, const char *by)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 32;
        struct fv_library *items = realloc(list->items, room * sizeof(*items));
        if (!items)
            return -FV_ENOMEM;
        list->items = items;
        list->room = room;
    }
    struct fv_library *item = &list->items[list->count++];
    item->name = strdup(name);
    item->path = path ? strdup(path) : NULL;
    item->by = strdup(by);
    return item->name && item->by && (item->path || !path) ? 0 : -FV_ENOMEM;
}

static int follow(struct scan *scan, const struct object *by, const char *name)
{
    struct object *object = calloc(1, sizeof(*object));
    int err = object ? 0 : -FV_ENOMEM;
    bool there = !err && find_library(scan, by, name, object);

    if (!err)
        err = add_found(&scan->found, name, there ? object->path : NULL, by->path);
    if (!err && there && scan->count < LIBRARIES_MOST) {
        object->parent = by;
        object->origin = directory_of(object->path);
        if (object->origin) {
            scan->objects[scan->count++] = object;
            object = NULL;
        } else {
            err = -FV_ENOMEM;
        }
    }
    object_free(object);
    return err;
}

int fv_loader_scan(const char *program, struct fv_libraries *out)
{
    struct scan *scan = calloc(1, sizeof(*scan));
    struct object *root = calloc(1, sizeof(*root));
    int err = scan && root ? fv_dynamic_read_file(program, &root->elf) : -FV_ENOMEM;

    if (!err) {
        root->path = strdup(program);
        root->origin = directory_of(program);
        err = root->path && root->origin ? 0 : -FV_ENOMEM;
    }
    if (!err) {
        scan->machine = root->elf.machine;
        scan->objects[scan->count++] = root;
        root = NULL;
        read_cache(&scan->cache);
    }
    for (size_t i = 0; !err && i < scan->count; i++)
        for (size_t n = 0; !err && n < scan->objects[i]->elf.needed_count; n++)
            if (!is_known(scan, scan->objects[i]->elf.needed[n]))
                err = follow(scan, scan->objects[i], scan->objects[i]->elf.needed[n]);
    object_free(root);
    if (scan) {
        for (size_t i = 0; i < scan->count; i++)
            object_free(scan->objects[i]);
        free(scan->cache.bytes);
        if (err)
            fv_libraries_release(&scan->found);
        else
            *out = scan->found;
    }
    free(scan);
    return err;
}

void fv_libraries_release(struct fv_libraries *libraries)
{
    for (size_t i = 0; i < libraries->count; i++) {
        free(libraries->items[i].name);
        free(libraries->items[i].path);
        free(libraries->items[i].by);
    }
    free(libraries->items);
    *libraries = (struct fv_libraries){ .items = NULL };
}
