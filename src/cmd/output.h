/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands that print a report share: the terminal, and files that must not be written over. */
#ifndef FV_OUTPUT_H
#define FV_OUTPUT_H

#include "cmd/arguments.h"
#include "tool/whole_file.h"
#include "views/views.h"

/* The options of the text, for the table of a command and its usage; --top is the command's own to explain.
 */
enum { FV_OUTPUT_PATH = 4096 };
enum { FV_OPT_TOP = 512, FV_OPT_ALL, FV_OPT_WIDTH, FV_OPT_COLOR };
#define FV_OUTPUT_OPTIONS                                                                     \
    { "top", required_argument, NULL, FV_OPT_TOP }, { "all", no_argument, NULL, FV_OPT_ALL }, \
        { "width", required_argument, NULL, FV_OPT_WIDTH },                                   \
    {                                                                                         \
        "color", required_argument, NULL, FV_OPT_COLOR                                        \
    }
#define FV_OUTPUT_USAGE                                                                      \
    "  --width N      columns of the text (default: those of the terminal, or 100)\n"        \
    "  --color WHEN   auto, always or never (auto: on a terminal, unless NO_COLOR is set)\n" \
    "  -h, --help     print this help\n"
/* Takes one of them, with its value in `optarg`: what the `take` of struct fv_arguments returns. */
int fv_output_option(int option, struct fv_text_options *text, fv_arguments_wrong_fn *wrong);

/* A whole number of at least `least`. */
bool fv_output_number(const char *text, size_t least, size_t *out);
/* Of --port. FV_GO_ON, or what `wrong` says. */
int fv_output_port(const char *text, size_t *out, fv_arguments_wrong_fn *wrong);
/* 10 rows, as wide as the terminal that `out` is, color and UTF-8 as the environment says. */
struct fv_text_options fv_output_defaults(FILE *out);
/* Is it a file that a run left, which nothing brings back? */
bool fv_output_is_recorded(const char *path);
/* Are there rank files in that directory, or will they be gathered there? */
bool fv_output_holds_run(const char *directory);

/* Files that options name: none of them is a recorded run's, and at most one is stdout, or what the option `on_stdout`
 * writes there (NULL: nothing). FV_GO_ON; else an exit status, after a line. */
struct fv_output_file {
    const char *option, *path; /* path: NULL: not asked for */
};
int fv_output_check(const struct fv_output_file *files, size_t count, const char *on_stdout,
                    fv_arguments_wrong_fn *wrong);

/* Where several hosts do the same: `path` with the name of this one in the place of %h. */
const char *fv_output_of_host(const char *path, char out[FV_OUTPUT_PATH]);

/* A file that an option such as --json names, whole or not at all (tool/whole_file.h); "-" is stdout. Log
 * what went wrong, and return it. fv_output_close() takes what writing it returned. */
int fv_output_open(struct fv_whole_file *out, const char *path, const char *option);
int fv_output_close(struct fv_whole_file *file, const char *path, const char *option, int err);
/* The whole of that: write(subject, stream) into the file, if there is a path. 0, or the error. */
#define FV_OUTPUT_WRITE(path, option, write, subject)                                                            \
    __extension__({                                                                                              \
        struct fv_whole_file fv_output_file_;                                                                    \
        const char *fv_output_path_ = (path);                                                                    \
        int fv_output_err_ = fv_output_path_ ? fv_output_open(&fv_output_file_, fv_output_path_, option) : 0;    \
        fv_output_path_ && !fv_output_err_                                                                       \
            ? fv_output_close(&fv_output_file_, fv_output_path_, option, write(subject, fv_output_file_.stream)) \
            : fv_output_err_;                                                                                    \
    })

#endif
