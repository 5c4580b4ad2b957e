/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank files of an experiment whose job may run, as far as this host sees them: those in its directory, and those
 * on this host's own disk (base/local.h). */
#include "base/local.h"
#include "experiment/experiment.h"
#include "tool/vec.h"
#include "tool/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_files(const char *directory)
{
    struct fv_rank_files files;
    bool found = !fv_rank_files_list(&files, directory) && files.count;

    fv_rank_files_release(&files);
    return found;
}

static bool has_host(const char *list, const char *host)
{
    const size_t length = strlen(host);

    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && !strncmp(list, host, length))
            return true;
    return false;
}

static void add_noted(const char *host, const char *directory, void *arg)
{
    struct fv_experiment_places *p = arg;
    int folder = fv_local_open_noted(host, directory);

    if (folder >= 0) {
        close(folder);
        FV_GROW(p->items, p->room, p->count + 1);
        p->items[p->count++] = fv_arena_string(&p->arena, directory);
    } else if (errno != ENOENT && !has_host(p->elsewhere, host)) { /* else gathered, but for the note */
        fv_words_add(p->elsewhere, sizeof(p->elsewhere), "%s%s", p->elsewhere[0] ? "," : "", host);
    }
}

void fv_experiment_places(struct fv_experiment_places *out, const char *directory)
{
    *out = (struct fv_experiment_places){ .count = 0 };
    fv_experiment_notes(directory, add_noted, out);
    if (!out->count || has_files(directory)) {
        FV_GROW(out->items, out->room, out->count + 1);
        out->items[out->count++] = fv_arena_string(&out->arena, directory);
    }
}

void fv_experiment_places_release(struct fv_experiment_places *p)
{
    free(p->items);
    fv_arena_release(&p->arena);
    *p = (struct fv_experiment_places){ .count = 0 };
}

static int by_file(const void *a, const void *b)
{
    return strcmp(fv_base_name(*(char *const *)a), fv_base_name(*(char *const *)b));
}

/* A file that is being moved is there twice: the one in the experiment's directory stays. */
static void drop_twins(struct fv_rank_files *files, const char *directory)
{
    const size_t length = strlen(directory);
    size_t kept = 0;

    qsort(files->paths, files->count, sizeof(*files->paths), by_file);
    for (size_t i = 0; i < files->count; i++) {
        char *path = files->paths[i];

        if (!kept || by_file(&files->paths[kept - 1], &path))
            files->paths[kept++] = path;
        else if (!strncmp(path, directory, length) && path[length] == '/')
            files->paths[kept - 1] = path;
    }
    files->count = kept;
}

int fv_rank_files_list_here(struct fv_rank_files *out, const char *directory)
{
    struct fv_experiment_places places;
    int err = 0;

    *out = (struct fv_rank_files){ .count = 0 };
    fv_experiment_places(&places, directory);
    for (size_t i = 0; i < places.count && !err; i++)
        err = fv_rank_files_add(out, places.items[i]);
    if (places.count > 1 && out->count)
        drop_twins(out, directory);
    fv_experiment_places_release(&places);
    return err;
}
