/* SPDX-License-Identifier: BSD-3-Clause */
/* What a terminal may get of texts that others wrote: names of files, functions, arguments. Safe inside the
 * application: no malloc, no stdio. */
#ifndef FV_CLEAN_H
#define FV_CLEAN_H

#include <stddef.h>
#include <stdint.h>

/* One character of UTF-8, and moves on; -1: it is none, moves on by one byte. *text must not be at the NUL. */
int32_t fv_utf8_next(const char **text);
/* Control characters, changes of writing direction and bytes that are no UTF-8 become \xNN. Cuts at `bytes`,
 * never within a character; returns out. */
char *fv_words_clean(const char *text, char *out, size_t bytes);
/* The same, one character at a time: writes its form, moves *text on, returns the form's length; 0 at the end. */
#define FV_CLEAN 16
size_t fv_words_clean_next(const char **text, char out[FV_CLEAN]);

#endif
