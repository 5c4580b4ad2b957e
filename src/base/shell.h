/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that are printed for somebody to paste into a shell: one way to write them, for all of fvmpi. Words are
 * quoted where a POSIX shell needs it. Control characters, and whatever else a terminal must not get (clean.h), stand
 * as octal numbers of printf: no byte of a recorded name reaches a terminal as it is, and the pasted command has the
 * name nevertheless. Only newlines at the end of a word are lost: the shell takes them from what a command writes. Safe
 * inside the application: no malloc, no stdio. */
#ifndef FV_SHELL_H
#define FV_SHELL_H

#include <stdbool.h>
#include <stddef.h>

#define FV_SHELL_COMMAND 4096

/* Appends a word to a text of *used bytes, behind a space unless it is the first; false: it does not fit, nothing is
 * appended. */
bool fv_shell_add(char *out, size_t bytes, size_t *used, const char *word);

/* A whole command; a NULL ends the words. A word that does not fit is "...", and the last. A path that begins with '-'
 * gets "./" before it: options of ours are written with two. Returns out. */
char *fv_shell_command(char *out, size_t bytes, const char *const *words);
/* FV_COMMAND("fvmpi", "report", directory), valid in the block in which it stands. */
#define FV_COMMAND(...) \
    fv_shell_command((char[FV_SHELL_COMMAND]){ "" }, FV_SHELL_COMMAND, (const char *const[]){ __VA_ARGS__, NULL })

#endif
