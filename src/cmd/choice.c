/* SPDX-License-Identifier: BSD-3-Clause */
/* See choice.h. */
#include "cmd/choice.h"

#include <stdio.h>

int fv_choice_list(struct fv_spans *out, const char *list, const char *option, const char *what,
                   fv_arguments_wrong_fn *wrong)
{
    char why[100];

    fv_spans_release(out);
    if (!list || fv_spans_parse(out, list))
        return FV_GO_ON;
    snprintf(why, sizeof(why), "%s takes a list of %s such as 0-3,7", option, what);
    return wrong(list, why);
}

int fv_choice_option(int option, struct fv_choice *choice, fv_arguments_wrong_fn *wrong)
{
    return option == FV_OPT_READ_RANKS ? fv_choice_list(&choice->read, optarg, "--read-ranks", "ranks", wrong)
                                       : FV_UNKNOWN_OPTION;
}

void fv_choice_release(struct fv_choice *choice)
{
    fv_spans_release(&choice->read);
    fv_spans_release(&choice->ranks);
    fv_spans_release(&choice->threads);
}
