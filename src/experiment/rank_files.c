/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank files in a directory, see experiment.h. */
#include "experiment/experiment.h"
#include "base/experiment.h"
#include "tool/vec.h"
#include "trace/container.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool ends_with(const char *name, size_t length, const char *end)
{
    size_t n = strlen(end);

    return length > n && !strncmp(name + length - n, end, n);
}

bool fv_experiment_is_rank_file(const char *name)
{
    return ends_with(name, strlen(name), ".fvr");
}

/* rank-000001.fvr.3: rt/predecessor.h */
static bool is_backup(const char *name)
{
    size_t length = strlen(name), digits = 0;

    while (digits < length && name[length - 1 - digits] >= '0' && name[length - 1 - digits] <= '9')
        digits++;
    return digits && digits < length && name[length - 1 - digits] == '.' &&
           ends_with(name, length - 1 - digits, ".fvr");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_name(struct fv_rank_files *out, const char *directory, const char *name)
{
    FV_GROW(out->paths, out->room, out->count + 1);
    out->paths[out->count++] = fv_arena_printf(&out->arena, "%s/%s", directory, name);
}

struct contained {
    struct fv_rank_files *out;
    const char *container;
};

static bool add_contained(void *context, const struct fv_container_entry *entry)
{
    const struct contained *c = context;

    add_name(c->out, c->container, entry->name);
    return true;
}

bool fv_experiment_is_container(const char *name)
{
    return ends_with(name, strlen(name), FV_CONTAINER_END);
}

static int list_contained(struct fv_rank_files *out, const char *container)
{
    struct contained contained = { out, container };
    struct fv_file_part part;
    int err = fv_file_part_open(container, &part);

    if (err)
        return err;
    fv_container_each(part.fd, add_contained, &contained);
    close(part.fd);
    return 0;
}

static int list(struct fv_rank_files *out, const char *directory, bool is_folder)
{
    DIR *dir = fv_experiment_is_container(directory) ? NULL : opendir(directory);

    if (!dir)
        return fv_experiment_is_container(directory) ? list_contained(out, directory) : -FV_EIO;
    for (struct dirent *d; (d = readdir(dir));) {
        char *path;

        if (is_backup(d->d_name)) {
            out->backups++;
        } else if (fv_experiment_is_rank_file(d->d_name)) {
            add_name(out, directory, d->d_name);
        } else if ((fv_experiment_is_container(d->d_name) || (!is_folder && fv_experiment_is_rank_folder(d->d_name))) &&
                   asprintf(&path, "%s/%s", directory, d->d_name) >= 0) {
            list(out, path, true);
            free(path);
        }
    }
    closedir(dir);
    return 0;
}

int fv_rank_files_add(struct fv_rank_files *out, const char *directory)
{
    int err = list(out, directory, false);

    if (out->count)
        qsort(out->paths, out->count, sizeof(*out->paths), by_name);
    return err;
}

int fv_rank_files_list(struct fv_rank_files *out, const char *directory)
{
    *out = (struct fv_rank_files){ .count = 0 };
    return fv_rank_files_add(out, directory);
}

void fv_rank_files_release(struct fv_rank_files *files)
{
    free(files->paths);
    fv_arena_release(&files->arena);
    *files = (struct fv_rank_files){ .count = 0 };
}
