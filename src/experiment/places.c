/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes of rank files that are on the nodes' own disks (base/local.h). */
#include "experiment/experiment.h"
#include "base/local.h"
#include "base/shell.h"
#include "tool/vec.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fv_experiment_notes(const char *path, void (*visit)(const char *host, const char *directory, void *arg), void *arg)
{
    char host[FV_LOCAL_HOST_MAX + 1], text[PATH_MAX];
    DIR *dir = opendir(path);

    for (struct dirent *d; dir && (d = readdir(dir));) {
        ssize_t n =
            fv_local_note_host(d->d_name, host) ? readlinkat(dirfd(dir), d->d_name, text, sizeof(text) - 1) : -1;
        if (n <= 0)
            continue;
        text[n] = '\0';
        visit(host, text, arg);
    }
    if (dir)
        closedir(dir);
}

struct places {
    const bool of_others; /* without those that this host can read */
    struct fv_arena arena;
    char **items;
    size_t count, room;
};

static void add_place(const char *host, const char *directory, void *arg)
{
    struct places *p = arg;
    int folder = p->of_others ? fv_local_open_noted(host, directory) : -1;

    if (folder >= 0) {
        close(folder);
        return;
    }
    FV_GROW(p->items, p->room, p->count + 1);
    p->items[p->count++] = fv_arena_printf(&p->arena, "%s:%s", host, directory);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The hosts of sorted places, each once, with commas between; returns how many. "": they do not fit. */
static size_t list_hosts(const struct places *p, char *out, size_t bytes)
{
    size_t count = 0, used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < p->count && used < bytes; i++) {
        size_t length = strcspn(p->items[i], ":");

        if (i && !strncmp(p->items[i - 1], p->items[i], length + 1))
            continue;
        used += (size_t)snprintf(out + used, bytes - used, "%s%.*s", count++ ? "," : "", (int)length, p->items[i]);
    }
    if (used >= bytes)
        out[0] = '\0';
    return count;
}

/* One command for all hosts, where there are several: by Slurm's launcher within a job of its, else by options that
 * Open MPI's and MPICH's mpiexec both have. */
static char *gather_command(char out[FV_SHELL_COMMAND], const struct places *p, const char *path, const char **where)
{
    char hosts[400], number[24];
    const size_t count = list_hosts(p, hosts, sizeof(hosts));

    snprintf(number, sizeof(number), "%zu", count);
    *where = count > 1 && *hosts ? "run" : "run there";
    if (count < 2 || !*hosts)
        return fv_shell_command(out, FV_SHELL_COMMAND, (const char *const[]){ "fvmpi", "gather", path, NULL });
    if (getenv("SLURM_JOB_ID"))
        return fv_shell_command(
            out, FV_SHELL_COMMAND,
            (const char *const[]){ "srun", "--ntasks-per-node=1", "--nodelist", hosts, "fvmpi", "gather", path, NULL });
    size_t used = (size_t)snprintf(out, FV_SHELL_COMMAND, "mpiexec -n %s -host", number);
    fv_shell_add(out, FV_SHELL_COMMAND, &used, hosts);
    out[used++] = ' ';
    fv_shell_command(out + used, FV_SHELL_COMMAND - used, (const char *const[]){ "fvmpi", "gather", path, NULL });
    return out;
}

char *fv_experiment_elsewhere(const char *path, bool of_others)
{
    struct places p = { .of_others = of_others };
    char list[400] = "", command[FV_SHELL_COMMAND], *text = NULL;
    const char *where;

    fv_experiment_notes(path, add_place, &p);
    if (p.count)
        qsort(p.items, p.count, sizeof(*p.items), by_name);
    for (size_t i = 0, used = 0; i < p.count && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", p.items[i]);
    if (strlen(list) == sizeof(list) - 1)
        strcpy(list + sizeof(list) - 4, "...");
    if (p.count) {
        gather_command(command, &p, path, &where);
        if (asprintf(&text, "rank files on %zu host%s are not gathered: %s; %s: %s", p.count, p.count == 1 ? "" : "s",
                     list, where, command) < 0)
            text = NULL;
    }
    free(p.items);
    fv_arena_release(&p.arena);
    return text;
}
