/* A command line: options, then what they apply to. Each command has its table of options and takes their
 * values itself. */
#ifndef FV_ARGUMENTS_H
#define FV_ARGUMENTS_H

#include <getopt.h>

enum { FV_GO_ON = -1, FV_UNKNOWN_OPTION = -2 };

/* Says what is wrong with an argument; the exit status. */
typedef int fv_arguments_wrong_fn(const char *what, const char *why);

struct fv_arguments {
    const char *letters; /* as getopt_long() wants them, as is the table */
    const struct option *table;
    /* Takes one option, with its value in `optarg`: FV_GO_ON, FV_UNKNOWN_OPTION, or the exit status. */
    int (*take)(void *options, int option);
    fv_arguments_wrong_fn *wrong;
    const char *operand; /* what is needed behind the options, one of it; NULL: any number */
};

/* FV_GO_ON, or the exit status. *operand, if one is needed, is in argv; others are behind `optind`. */
int fv_arguments_take(const struct fv_arguments *arguments, int argc, char **argv, void *options,
                      const char **operand);

/* What such a function says, and how to learn more. `command` is as it is typed: "fvmpi report". */
int fv_arguments_wrong(const char *command, const char *what, const char *why);

#endif
