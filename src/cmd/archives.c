/* SPDX-License-Identifier: BSD-3-Clause */
/* See archives.h. */
#include "cmd/archives.h"
#include "base/experiment.h"
#include "cmd/arguments.h"
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/install.h"
#include "tool/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool fv_is_archive(const char *path)
{
    size_t length = strlen(path);
    struct stat st;

    return length > strlen(FV_ARCHIVE_ENDING) &&
           !strcmp(path + length - strlen(FV_ARCHIVE_ENDING), FV_ARCHIVE_ENDING) && !stat(path, &st) &&
           S_ISREG(st.st_mode);
}

size_t fv_archive_in(const char *directory, char out[PATH_MAX])
{
    size_t count = 0;
    DIR *d = opendir(directory);

    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%s/%s", directory, e->d_name) >= (int)sizeof(path) || !fv_is_archive(path))
            continue;
        snprintf(out, PATH_MAX, "%s", path);
        if (!strcmp(e->d_name, "traces" FV_ARCHIVE_ENDING)) {
            count = 1;
            break;
        }
        count++;
    }
    if (d)
        closedir(d);
    return count;
}

/* By its own path, which is the same from wherever it is named. False: there is no cache. */
static bool place_in_cache(const char *anchor, char out[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path = realpath(anchor, NULL), base[PATH_MAX - 64];
    int n = cache && *cache == '/' ? snprintf(base, sizeof(base), "%s/fvmpi", cache)
            : home && *home        ? snprintf(base, sizeof(base), "%s/.cache/fvmpi", home)
                                   : 0;
    bool good = path && n > 0 && n < (int)sizeof(base) && !fv_make_directory(base, 0700);

    if (good)
        snprintf(out, PATH_MAX, "%s/archive-%016llx", base, (unsigned long long)fv_hash_text(path));
    free(path);
    return good;
}

/* Of this very archive, to its end: the analysis is the last to be written. */
static bool is_made(const char *anchor, const char *directory)
{
    char path[PATH_MAX + 32], identity[64];

    snprintf(path, sizeof(path), "%s/analysis.json", directory);
    if (access(path, F_OK) || !fv_archive_identity(anchor, identity, sizeof(identity)))
        return false;
    snprintf(path, sizeof(path), "%s/run.json", directory);
    json_t *run = json_load_file(path, 0, NULL);
    const char *made = json_string_value(json_object_get(run, FV_ARCHIVE_IDENTITY));
    bool good = made && !strcmp(made, identity);
    json_decref(run);
    return good;
}

static bool may_be_written(const char *directory)
{
    return !fv_make_directory(directory, 0777) && !access(directory, W_OK | X_OK);
}

bool fv_archive_make_place(const char *path, char place[PATH_MAX])
{
    char cached[PATH_MAX];

    if (may_be_written(place))
        return true;
    if (!place_in_cache(path, cached) || !may_be_written(cached)) {
        fv_log("%s: %s, and there is no cache; set XDG_CACHE_HOME to a directory that can be written to", place,
               strerror(errno));
        return false;
    }
    strcpy(place, cached);
    return true;
}

/* Who comes while another one makes an experiment of it, waits. */
static int take_turn(const char *anchor)
{
    int turn = open(anchor, O_RDONLY | O_CLOEXEC);

    if (turn >= 0)
        flock(turn, LOCK_EX);
    return turn;
}

/* It ends by them, whatever this process does about them. */
static void take_signals(void)
{
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_UNBLOCK, &ends, NULL);
}

pid_t fv_archive_unify_begin(const char *path, char **argv)
{
    char program[PATH_MAX + 32];

    if (!fv_install_beside("fvunify-serial", program, sizeof(program))) {
        fv_log("/proc is not mounted, and is needed to find fvunify; mount it: mount -t proc proc /proc");
        return -1;
    }
    if (access(program, X_OK)) {
        fv_log("%s: needs OTF2, without which this fvmpi was built; install the package libotf2-trace-dev and build it "
               "again",
               path);
        return -1;
    }
    argv[0] = program;
    return fv_spawn_begin(argv, take_signals);
}

int fv_archive_unify(const char *path, char **argv)
{
    const pid_t pid = fv_archive_unify_begin(path, argv);
    int status = FV_EXIT_FAILED;

    if (pid > 0)
        fv_spawn_ended(pid, true, &status, NULL);
    return status;
}

static int make(const char *anchor, const char *directory)
{
    char *argv[] = { NULL, "--quiet", "--output", (char *)directory, "--", (char *)anchor, NULL };

    return fv_archive_unify(anchor, argv);
}

static int become(char **operand)
{
    char directory[PATH_MAX];

    fv_archive_place(*operand, directory, sizeof(directory));
    const int turn = take_turn(*operand);
    bool has_place = is_made(*operand, directory) || fv_archive_make_place(*operand, directory);
    int status = !has_place ? FV_EXIT_FAILED : is_made(*operand, directory) ? 0 : make(*operand, directory);
    if (turn >= 0)
        close(turn);
    if (status && !is_made(*operand, directory)) /* what is missing was said */
        return status;
    *operand = strdup(directory); /* until the end, as arguments are */
    return FV_GO_ON;
}

int fv_archives_become_experiments(char **operands, size_t count)
{
    int status = FV_GO_ON;

    for (size_t i = 0; i < count && status < 0; i++)
        if (fv_is_archive(operands[i]))
            status = become(&operands[i]);
    return status;
}
