/* SPDX-License-Identifier: BSD-3-Clause */
/* See rerun.h. */
#include "cmd/rerun.h"
#include "base/base.h"
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/install.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NUMBER "{N}"
#define COPY   "{I}"

int fv_rerun_has_number(const struct fv_rerun *run)
{
    for (int i = run->rest; i < run->argc; i++)
        if (strstr(run->argv[i], NUMBER))
            return 1;
    return 0;
}

/* A copy of the word with the text, if there is one, in the place of each `mark`. NULL: no memory. */
static char *replaced(const char *word, const char *mark, const char *text)
{
    size_t bytes;
    char *out = NULL;
    FILE *stream = open_memstream(&out, &bytes);

    if (!stream)
        return NULL;
    for (const char *at; text && (at = strstr(word, mark)); word = at + strlen(mark))
        fprintf(stream, "%.*s%s", (int)(at - word), word, text);
    fputs(word, stream);
    return fclose(stream) ? NULL : out;
}

static char *replaced_twice(const char *word, const char *number, const char *copy)
{
    char *once = replaced(word, NUMBER, number), *twice = once ? replaced(once, COPY, copy) : NULL;

    free(once);
    return twice;
}

/* NULL behind the last; each is to be freed. NULL: no memory. */
static char **words_of(const struct fv_rerun *run, const char *const own[], const char *number, const char *copy)
{
    int options = run->rest > 1 && !strcmp(run->argv[run->rest - 1], "--") ? run->rest - 1 : run->rest;
    size_t count = 0, own_count = 0;
    char self[PATH_MAX];

    while (own[own_count])
        own_count++;
    char **words = calloc((size_t)run->argc + own_count + 4, sizeof(*words));
    if (!words)
        return NULL;
    words[count++] = strdup(fv_install_beside("fvmpi", self, sizeof(self)) ? self : "/proc/self/exe");
    words[count++] = strdup("run");
    for (int i = 1; i < options; i++)
        words[count++] = strdup(run->argv[i]);
    for (size_t i = 0; i < own_count; i++)
        words[count++] = strdup(own[i]);
    words[count++] = strdup("--");
    for (int i = run->rest; i < run->argc; i++)
        words[count++] = replaced_twice(run->argv[i], number, copy);
    return words;
}

static void release(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

/* ---- its input ---- */

/* In the child. A file is opened anew: else the first run reads all of it. NULL: other input stays. */
static void open_input(const char *instead)
{
    struct stat st;
    const char *path = !fstat(0, &st) && S_ISREG(st.st_mode) ? "/proc/self/fd/0" : instead;
    int fd = path ? open(path, O_RDONLY) : -1;

    if (fd > 0) {
        dup2(fd, 0);
        close(fd);
    }
}

static void reopen_input(void)
{
    open_input(NULL);
}

static void of_a_copy(void)
{
    open_input("/dev/null");
}

int fv_rerun(const struct fv_rerun *run, const char *const own[], const char *number)
{
    char **words = words_of(run, own, number, NULL);
    int status = fv_spawn_is_to_end();

    if (!status)
        status = words ? fv_spawn(words, reopen_input, NULL) : FV_EXIT_FAILED;
    release(words);
    return status ? status : fv_spawn_is_to_end();
}

/* ---- copies ---- */

/* Of no other job: this process, and how many it has started. */
static uint64_t new_job(void)
{
    static uint64_t jobs;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return fv_mix2(fv_mix2((uint64_t)getpid(), (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec), ++jobs) | 1;
}

static pid_t start_copy(const struct fv_rerun *run, const char *const own[], const char *number, size_t copy,
                        size_t count, uint64_t job)
{
    char value[80], name[24];

    snprintf(name, sizeof(name), "%zu", copy);
    snprintf(value, sizeof(value), "%zu/%zu/%" PRIx64, copy, count, job);
    setenv("FVMPI_COPY", value, 1);
    unsetenv("FVMPI_PROCESS");
    char **words = words_of(run, own, number, name);
    pid_t pid = words ? fv_spawn_begin(words, copy ? of_a_copy : reopen_input) : -1;
    release(words);
    unsetenv("FVMPI_COPY");
    return pid;
}

int fv_rerun_copies(const struct fv_rerun *run, const char *const own[], const char *number, size_t count)
{
    pid_t pids[FV_CHILDREN];
    uint64_t job = new_job();
    int status = FV_EXIT_OK;

    for (size_t i = 0; i < count; i++)
        pids[i] = fv_spawn_is_to_end() ? -1 : start_copy(run, own, number, i, count, job);
    for (size_t i = 0; i < count; i++) {
        int ended = FV_EXIT_CANNOT_RUN;

        if (pids[i] > 0)
            fv_spawn_ended(pids[i], true, &ended, NULL);
        status = status ? status : ended;
    }
    return status ? status : fv_spawn_is_to_end();
}
