/* See rerun.h. */
#include "cmd/rerun.h"
#include "base/base.h"
#include "cmd/child.h"
#include "cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER "{N}"

int fv_rerun_has_number(const struct fv_rerun *run)
{
    for (int i = run->rest; i < run->argc; i++)
        if (strstr(run->argv[i], NUMBER))
            return 1;
    return 0;
}

/* A copy of the word with the number in the place of each {N}. */
static char *replaced(const char *word, const char *number)
{
    size_t bytes;
    char *out = NULL;
    FILE *stream = open_memstream(&out, &bytes);

    if (!stream)
        return NULL;
    for (const char *at; number && (at = strstr(word, NUMBER)); word = at + strlen(NUMBER))
        fprintf(stream, "%.*s%s", (int)(at - word), word, number);
    fputs(word, stream);
    return fclose(stream) ? NULL : out;
}

/* NULL behind the last; each is to be freed. NULL: no memory. */
static char **words_of(const struct fv_rerun *run, const char *const own[], const char *number)
{
    int options = run->rest > 1 && !strcmp(run->argv[run->rest - 1], "--") ? run->rest - 1 : run->rest;
    size_t count = 0, own_count = 0;

    while (own[own_count])
        own_count++;
    char **words = calloc((size_t)run->argc + own_count + 4, sizeof(*words));
    if (!words)
        return NULL;
    words[count++] = strdup("/proc/self/exe");
    words[count++] = strdup("run");
    for (int i = 1; i < options; i++)
        words[count++] = strdup(run->argv[i]);
    for (size_t i = 0; i < own_count; i++)
        words[count++] = strdup(own[i]);
    words[count++] = strdup("--");
    for (int i = run->rest; i < run->argc; i++)
        words[count++] = replaced(run->argv[i], number);
    return words;
}

int fv_rerun(const struct fv_rerun *run, const char *const own[], const char *number)
{
    char **words = words_of(run, own, number);
    int status = words ? fv_spawn(words, NULL) : FV_EXIT_FAILED;

    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
    return status;
}
