/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that should not be recorded as they are: values of options and variables whose names say password, token, key
 * or the like, and passwords in URLs. They are blanked in what is recorded, never in what the program gets. Safe inside
 * the application: no malloc, no stdio. */
#ifndef FV_SECRET_H
#define FV_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#define FV_SECRET_MARK "<blanked>"

/* Does a variable's, or an option's, name say that its value is secret? */
bool fv_secret_name(const char *name, size_t length);

/* Copies a word of a command line, or NAME=VALUE of an environment, with FV_SECRET_MARK in the place of what is secret.
 * `*awaited`: the word before was an option such as --password, whose value this one is (0 before the first word); it
 * is set anew for the next one. What does not fit is cut. Returns out. */
char *fv_secret_word(const char *word, int *awaited, char *out, size_t bytes);

#endif
