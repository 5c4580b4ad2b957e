/* SPDX-License-Identifier: BSD-3-Clause */
/* See parts.h. */
#include "cmd/parts.h"
#include "base/base.h"
#include "base/shell.h"
#include "cmd/archives.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char place[PATH_MAX - 64]; /* "": there is none */

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
    (void)st, (void)flag, (void)walk;
    return remove(path);
}

void fv_parts_remove(void)
{
    if (*place)
        nftw(place, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    *place = '\0';
}

/* Of a report that nobody reads to its end. It is writing then, and has taken nothing that removal needs. */
static void on_pipe(int signal_number)
{
    fv_parts_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* What is missing was said; what is there is reported. */
static int unless_made(int status, const char *what)
{
    return status && access(what, R_OK) ? status : FV_EXIT_OK;
}

/* Beside the trace, where there is room for another one, or where that cannot be, in $TMPDIR. */
static bool make_place(const char *trace)
{
    const char *slash = strrchr(trace, '/'), *other = getenv("TMPDIR");
    const int length = !fv_is_archive(trace) ? (int)strlen(trace) : slash ? (int)(slash - trace) : 0;
    int n = snprintf(place, sizeof(place), "%.*s/.fvmpi-part.XXXXXX", length ? length : 1, length ? trace : ".");

    if (n < (int)sizeof(place) && mkdtemp(place))
        return true;
    n = snprintf(place, sizeof(place), "%s/fvmpi-part.XXXXXX", other && *other ? other : "/tmp");
    if (n < (int)sizeof(place) && mkdtemp(place))
        return true;
    fv_log("%s: %s, and it is where a part of the run would be made; set TMPDIR to a directory that can be written to",
           place, strerror(errno));
    *place = '\0';
    return false;
}

static int make_archive(const char *directory, char *out, size_t bytes)
{
    char *argv[] = { NULL, "--quiet", "--no-analysis", "--output", place, "--", (char *)directory, NULL };

    snprintf(out, bytes, "%s/traces" FV_ARCHIVE_ENDING, place);
    return fv_archive_unify(directory, argv);
}

static int take(const char *archive, const char *name, const struct fv_part *part, const char *out)
{
    char from[40], to[40];
    char *argv[] = { NULL,         "--quiet",  "--from",    from, "--to",          to,  "--part-of",
                     (char *)name, "--output", (char *)out, "--", (char *)archive, NULL };

    snprintf(from, sizeof(from), "%.9f", part->from_s);
    snprintf(to, sizeof(to), "%.9f", part->to_s);
    return fv_archive_unify(archive, argv);
}

const char *fv_part_operands(const char *of, const struct fv_part *part)
{
    static char out[FV_SHELL_COMMAND];
    char from[32], to[32];

    snprintf(from, sizeof(from), "%.9g", part->from_s);
    snprintf(to, sizeof(to), "%.9g", part->to_s);
    *out = '\0'; /* without --to it would be of 0 s */
    return fv_shell_command(out, sizeof(out),
                            (const char *const[]){ of, "--from", from, part->to_s > 0 ? "--to" : NULL, to, NULL });
}

int fv_part_becomes_experiment(char **operand, const struct fv_part *part)
{
    char archive[PATH_MAX], experiment[PATH_MAX], analysis[PATH_MAX];
    int status = make_place(*operand) ? FV_EXIT_OK : FV_EXIT_FAILED;

    if (!status && fv_is_archive(*operand))
        snprintf(archive, sizeof(archive), "%s", *operand);
    else if (!status)
        status = unless_made(make_archive(*operand, archive, sizeof(archive)), archive);
    snprintf(experiment, sizeof(experiment), "%s/part", place);
    snprintf(analysis, sizeof(analysis), "%s/part/analysis.json", place); /* the last of it */
    if (!status)
        status = unless_made(take(archive, *operand, part, experiment), analysis);
    if (status)
        return status;
    if (signal(SIGPIPE, on_pipe) == SIG_IGN)
        signal(SIGPIPE, SIG_IGN);
    *operand = strdup(experiment); /* until the end, as arguments are */
    return FV_GO_ON;
}
