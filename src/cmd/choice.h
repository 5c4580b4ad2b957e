/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that choose a part of a run: what the commands share that read one or several runs. */
#ifndef FV_CMD_CHOICE_H
#define FV_CMD_CHOICE_H

#include "cmd/arguments.h"
#include "experiment/experiment.h"

/* --read-ranks, for the table of a command and its usage. */
enum { FV_OPT_READ_RANKS = 544 };
#define FV_CHOICE_OPTIONS                                        \
    {                                                            \
        "read-ranks", required_argument, NULL, FV_OPT_READ_RANKS \
    }
#define FV_CHOICE_USAGE(of) \
    "  --read-ranks LIST  read the files of these ranks alone, which is fast: the " of " of them\n"

/* Takes it, with its value in `optarg`: what the `take` of struct fv_arguments returns. */
int fv_choice_option(int option, struct fv_choice *choice, fv_arguments_wrong_fn *wrong);
/* Ranks or threads, as `option` ("--rank") lists them; the last list counts. NULL: all. FV_GO_ON, or what `wrong`
 * says. */
int fv_choice_list(struct fv_spans *out, const char *list, const char *option, const char *what,
                   fv_arguments_wrong_fn *wrong);
void fv_choice_release(struct fv_choice *choice);

#endif
