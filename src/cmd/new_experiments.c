/* SPDX-License-Identifier: BSD-3-Clause */
/* See new_experiments.h. The directories are asked, not the ranks: those may be on other hosts, or dead. Times of
 * files are not compared: a file server has a clock of its own. */
#include "cmd/new_experiments.h"
#include "base/shell.h"
#include "cmd/first.h"
#include "cmd/output.h"
#include "cmd/stage.h"
#include "experiment/experiment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The i-th place to look at, from 0; false: no more. Names that the runtime gives: OUTPUT, OUTPUT-2, ... */
static bool place(const char *output, unsigned i, char *out, size_t size)
{
    struct stat st;

    if (i == 0)
        return snprintf(out, size, "%s", output) < (int)size;
    return snprintf(out, size, "%s-%u", output, i + 1) < (int)size && !stat(out, &st);
}

/* Calls a function for each experiment that there is now. */
static void each(const char *output, void (*visit)(const char *path, void *arg), void *arg)
{
    char path[PATH_MAX];
    glob_t found;

    if (output) {
        for (unsigned i = 0; place(output, i, path, sizeof(path)); i++)
            if (fv_output_holds_run(path))
                visit(path, arg);
    } else if (!glob("fvmpi-*p-*", 0, NULL, &found)) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (fv_output_holds_run(found.gl_pathv[i]))
                visit(found.gl_pathv[i], arg);
        globfree(&found);
    }
}

static void remember(const char *path, void *arg)
{
    struct fv_new_experiments *written = arg;
    char **names = realloc(written->names, (written->count + 1) * sizeof(*names));

    if (!names)
        return;
    written->names = names;
    names[written->count] = strdup(path);
    written->count += names[written->count] != NULL;
}

struct news {
    const struct fv_new_experiments *written;
    unsigned count;
    bool quiet;
};

static void tell_if_new(const char *path, void *arg)
{
    struct news *news = arg;

    for (size_t i = 0; i < news->written->count; i++)
        if (!strcmp(news->written->names[i], path))
            return;
    /* of file systems on which the ranks could not write */
    fv_stage_noted(path, &(struct fv_stage_wish){ 0 }, &(struct fv_stage_counts){ 0 });
    if (!news->quiet) {
        fv_say_first(path);
        fv_log("wrote %s; read it with: %s", path, FV_COMMAND("fvmpi", "report", path));
    }
    char *elsewhere = fv_experiment_elsewhere(path, false);
    if (elsewhere)
        fv_log("%s: %s", path, elsewhere);
    free(elsewhere);
    news->count++;
}

/* Tried with the first part of the path that is not there, as long as it takes. */
static bool can_be_made(const char *output)
{
    char path[PATH_MAX], *slash;
    struct stat st;

    if (snprintf(path, sizeof(path), "%s", output) >= (int)sizeof(path))
        return false;
    if (!stat(path, &st))
        return S_ISDIR(st.st_mode) && !access(path, W_OK);
    while (mkdir(path, 0777)) {
        if (errno != ENOENT || !(slash = strrchr(path, '/')) || slash == path)
            return false;
        *slash = '\0';
    }
    rmdir(path);
    return true;
}

/* When the run's files in the directory changed last; 0: none can be read. */
static struct timespec newest_in(const char *output)
{
    struct timespec newest = { 0 };
    DIR *dir = output ? opendir(output) : NULL;
    struct stat st;

    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, "rank-", 5) && strcmp(e->d_name, "run.json"))
            continue;
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
            continue;
        if (st.st_mtim.tv_sec > newest.tv_sec ||
            (st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec > newest.tv_nsec))
            newest = st.st_mtim;
    }
    if (dir)
        closedir(dir);
    return newest;
}

static bool has_changed(const struct fv_new_experiments *written)
{
    const struct timespec now = newest_in(written->output), *before = &written->newest;

    return now.tv_sec != before->tv_sec || now.tv_nsec != before->tv_nsec;
}

void fv_new_experiments_init(struct fv_new_experiments *written, const char *output)
{
    *written = (struct fv_new_experiments){ .output = output,
                                            .was_there = output && !access(output, F_OK),
                                            .newest = newest_in(output) };
    each(output, remember, written);
}

void fv_new_experiments_report(const struct fv_new_experiments *written, const char *why, bool quiet)
{
    struct news news = { .written = written, .quiet = quiet };
    const char *output = written->output;

    each(output, tell_if_new, &news);
    if (news.count)
        return;
    bool is_anew = output && fv_output_holds_run(output) && has_changed(written); /* some launchers give jobs no name */
    if (is_anew && quiet)
        return;
    if (is_anew)
        fv_log("see what is in %s with: %s", output, FV_COMMAND("fvmpi", "report", output));
    else if (!output || (can_be_made(output) && (written->was_there || access(output, F_OK)))) /* else the ranks have
                                                                                                * said what is wrong
                                                                                                * with it */
        fv_log("nothing was recorded%s%s: %s", output ? " in " : "", output ? output : "", why);
}

void fv_new_experiments_release(struct fv_new_experiments *written)
{
    for (size_t i = 0; i < written->count; i++)
        free(written->names[i]);
    free(written->names);
    *written = (struct fv_new_experiments){ .names = NULL };
}
