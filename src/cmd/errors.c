/* SPDX-License-Identifier: BSD-3-Clause */
/* See errors.h. Which line is the error is known at the end, so that the last line is kept until another one follows.
 * Nothing here allocates: a signal may end the process. */
#include "cmd/errors.h"
#include "base/base.h"
#include "cmd/cmd.h"
#include "tool/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define VARIABLE "FVMPI_STARTED_BY" /* of a command that fvmpi starts */

static struct {
    pid_t process; /* 0: not asked for */
    bool is_started, is_known, is_answer;
    char line[1024];
} state;

/* Lines are clean: no control characters, and UTF-8. */
static size_t escape(const char *text, char *out)
{
    size_t used = 0;

    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            out[used++] = '\\';
        out[used++] = *text;
    }
    out[used] = '\0';
    return used;
}

static void put(const char *format, int status)
{
    char text[2 * sizeof(state.line) + 1], line[sizeof(text) + 200];
    const char *code = fv_log_code ? fv_log_code : status == FV_EXIT_USAGE ? "usage" : "failed";

    escape(state.line, text);
    int n = format ? snprintf(line, sizeof(line), format, code, status, text)
                   : snprintf(line, sizeof(line), "{\"note\":\"%s\"}\n", text);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        return; /* nobody reads it */
    state.line[0] = '\0';
}

static void take(const char *line)
{
    if (*state.line)
        put(NULL, 0);
    snprintf(state.line, sizeof(state.line), "%s", line);
    if (getpid() != state.process) /* a child of fork() */
        put(NULL, 0);
}

int fv_errors_end(int status)
{
    if (!state.process || getpid() != state.process || state.is_known)
        return status;
    state.is_known = true;
    const bool is_error = status != FV_EXIT_OK && !state.is_started && !state.is_answer;
    if (is_error && !*state.line)
        snprintf(state.line, sizeof(state.line), "a command that was started for it failed; its note says why");
    if (is_error)
        put("{\"error\":{\"code\":\"%s\",\"status\":%d,\"message\":\"%s\"}}\n", status);
    else if (*state.line)
        put(NULL, 0);
    return status;
}

static void end_unfinished(void)
{
    fv_errors_end(FV_EXIT_FAILED);
}

static void begin(bool is_started)
{
    state.process = getpid();
    state.is_started = is_started;
    fv_log_taker = take;
    atexit(end_unfinished);
}

void fv_errors_begin(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--json") || !strncmp(argv[i], "--json=", strlen("--json="))) {
            setenv(VARIABLE, "json", 1);
            begin(false);
            return;
        }
}

void fv_errors_begin_started(void)
{
    if (fv_same_text(getenv(VARIABLE), "json"))
        begin(true);
}

int fv_exit_answer(bool yes)
{
    state.is_answer = true;
    return yes ? FV_EXIT_OK : FV_EXIT_FAILED;
}

int fv_exit_status(int err)
{
    static const char *const codes[] = { [FV_EIO] = "io",       [FV_EFORMAT] = "format",   [FV_EVERSION] = "version",
                                         [FV_ENOMEM] = "limit", [FV_ENOENT] = "not_found", [FV_EINVAL] = "invalid" };

    if (!err)
        return FV_EXIT_OK;
    if (!fv_log_code && err < 0 && -err < (int)(sizeof(codes) / sizeof(*codes)))
        fv_log_code = codes[-err];
    return FV_EXIT_FAILED;
}
