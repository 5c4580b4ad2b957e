/* SPDX-License-Identifier: BSD-3-Clause */
/* A command line: options, then what they apply to. Each command has its table of options and takes their
 * values itself. */
#ifndef FV_ARGUMENTS_H
#define FV_ARGUMENTS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

enum { FV_GO_ON = -1, FV_UNKNOWN_OPTION = -2 };

/* Says what is wrong with an argument; the exit status. */
typedef int fv_arguments_wrong_fn(const char *what, const char *why);

struct fv_operands {
    char *const *items; /* in argv */
    size_t count;
};

struct fv_arguments {
    const char *letters; /* as getopt_long() wants them, as is the table */
    const struct option *table;
    /* Takes one option, with its value in `optarg`: FV_GO_ON, FV_UNKNOWN_OPTION, or the exit status. */
    int (*take)(void *options, int option);
    fv_arguments_wrong_fn *wrong;
    const char *operand; /* what is needed behind the options; NULL: any number of anything */
    bool one;            /* no more than one of it */
};

/* FV_GO_ON, or the exit status. *operands may be NULL where none is needed: they are behind `optind`. */
int fv_arguments_take(const struct fv_arguments *arguments, int argc, char **argv, void *options,
                      struct fv_operands *operands);

/* --from and --to: a part of a run, in seconds from its begin; to_s 0: up to its end. Both 0: all. */
struct fv_part {
    double from_s, to_s;
};
/* A value of these, and both: FV_GO_ON, or what `wrong` says. */
int fv_arguments_time(double *out, const char *seconds, fv_arguments_wrong_fn *wrong);
int fv_arguments_part(const struct fv_part *part, fv_arguments_wrong_fn *wrong);
static inline bool fv_part_is_all(const struct fv_part *part)
{
    return !(part->from_s > 0 || part->to_s > 0);
}

/* What such a function says, and how to learn more. `command` is as it is typed: "fvmpi report". */
int fv_arguments_wrong(const char *command, const char *what, const char *why);

#endif
