/* SPDX-License-Identifier: BSD-3-Clause */
/* See mcp_runs.h. */
#include "cmd/mcp_runs.h"
#include "cmd/archives.h"
#include "experiment/experiment.h"
#include "tool/vec.h"

#include <dirent.h>
#include <stdlib.h>

enum { DEEP = 6, MOST = 500, LOOKED_AT = 20000 };

struct runs {
    struct run {
        char *path;
        time_t changed;
    } * items;
    size_t count, room, looked_at;
};

static void add(struct runs *all, const char *path, time_t changed)
{
    char *copy = strdup(path);

    if (!copy)
        return;
    FV_GROW(all->items, all->room, all->count + 1);
    all->items[all->count++] = (struct run){ copy, changed };
}

static bool is_experiment(const char *directory)
{
    struct fv_rank_files files;

    fv_rank_files_list(&files, directory);
    bool is = files.count > 0;
    fv_rank_files_release(&files);
    return is;
}

/* An experiment's own archive tells nothing more. */
static void look(struct runs *all, const char *path, unsigned depth)
{
    struct stat st;
    DIR *directory;

    if (++all->looked_at > LOOKED_AT || lstat(path, &st))
        return;
    if (S_ISREG(st.st_mode) && fv_is_archive(path))
        add(all, path, st.st_mtime);
    if (!S_ISDIR(st.st_mode))
        return;
    if (is_experiment(path)) {
        add(all, path, st.st_mtime);
        return;
    }
    if (depth == DEEP || !(directory = opendir(path)))
        return;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        char below[PATH_MAX];

        if (*entry->d_name != '.' && snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) < (int)sizeof(below))
            look(all, below, depth + 1);
    }
    closedir(directory);
}

static int newest_first(const void *a, const void *b)
{
    const struct run *x = a, *y = b;

    return x->changed != y->changed ? (x->changed < y->changed) - (x->changed > y->changed) : strcmp(x->path, y->path);
}

char *fv_mcp_runs(char *const *roots, size_t count)
{
    struct runs all = { 0 };
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    for (size_t i = 0; i < count; i++)
        look(&all, roots[i], 0);
    if (all.count)
        qsort(all.items, all.count, sizeof(*all.items), newest_first);
    for (size_t i = 0; i < all.count; i++) {
        if (out && i < MOST)
            fprintf(out, "%s\n", all.items[i].path);
        free(all.items[i].path);
    }
    if (out && all.count > MOST)
        fprintf(out, "... and %zu older ones\n", all.count - MOST);
    if (out && all.looked_at > LOOKED_AT)
        fprintf(out, "... there are more files than were looked at\n");
    if (out && !all.count)
        fprintf(out, "none\n");
    free(all.items);
    if (out)
        fclose(out);
    return text;
}
