/* What the commands that print a report share: the terminal, and files that must not be written over. */
#ifndef FV_OUTPUT_H
#define FV_OUTPUT_H

#include "report/views.h"

/* A whole number of at least `least`. */
bool fv_output_number(const char *text, size_t least, size_t *out);
/* auto, always or never; false: another word. */
bool fv_output_color(const char *when, bool *out);
/* 10 rows, as wide as the terminal, color and UTF-8 as the environment says. */
struct fv_text_options fv_output_defaults(void);
/* Is it a file that a run left, which nothing brings back? */
bool fv_output_is_recorded(const char *path);
/* Are there rank files in that directory? */
bool fv_output_holds_run(const char *directory);

/* A file that an option such as --json names; "-" is stdout. fv_output_close() takes what writing it returned, closes it, logs what
 * went wrong and returns it; `out` may be NULL. */
FILE *fv_output_open(const char *path);
int fv_output_close(FILE *out, const char *path, const char *option, int err);

#endif
