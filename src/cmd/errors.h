/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors for programs: with --json, what goes to stderr is JSON, too, an object a line.
 *
 *     {"note": "report: ..."}
 *     {"error": {"code": "not_found", "status": 1, "message": "..."}}     the last line of a command that failed
 *
 * Commands that fvmpi starts do the same, but for the error, which is the command's own. */
#ifndef FV_CMD_ERRORS_H
#define FV_CMD_ERRORS_H

#include <stdbool.h>

/* Does the command line ask for JSON? Then so are all lines from here on, and those of commands that are started. */
void fv_errors_begin(int argc, char **argv);
/* The same of a command that fvmpi has started. */
void fv_errors_begin_started(void);
/* Before the process ends with that status; returns it. Of exit(), 1. */
int fv_errors_end(int status);

/* FV_EXIT_OK or FV_EXIT_FAILED, with a code for the error: 0, or one of enum fv_error, negated. */
int fv_exit_status(int err);
/* FV_EXIT_OK or FV_EXIT_FAILED, where that is what was asked, and no error. */
int fv_exit_answer(bool yes);

#endif
