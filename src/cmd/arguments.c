/* SPDX-License-Identifier: BSD-3-Clause */
/* See arguments.h. */
#include "cmd/arguments.h"
#include "base/base.h"
#include "base/near.h"
#include "cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fv_arguments_wrong(const char *command, const char *what, const char *why)
{
    const char *space = strchr(command, ' '); /* the log's lines begin with "fvmpi" */

    fv_log("%s: %s: %s; see %s --help", space ? space + 1 : command, what, why, command);
    return FV_EXIT_USAGE;
}

#define LATEST_S 1e9 /* 30 years */

int fv_arguments_time(double *out, const char *seconds, fv_arguments_wrong_fn *wrong)
{
    char *end;

    *out = strtod(seconds, &end);
    return end != seconds && !*end && *out >= 0 && *out <= LATEST_S
               ? FV_GO_ON
               : wrong(seconds, "--from and --to take seconds from the run's begin");
}

int fv_arguments_part(const struct fv_part *part, fv_arguments_wrong_fn *wrong)
{
    if (part->to_s > 0 && part->to_s < part->from_s + 1e-9) /* clocks have ns */
        return wrong("--to", "it has to be later than --from, by 1 ns");
    return FV_GO_ON;
}

static int take_operands(const struct fv_arguments *a, int argc, char **argv, struct fv_operands *out)
{
    char text[100];

    *out = (struct fv_operands){ argv + optind, (size_t)(argc - optind) };
    if (out->count == 1 || (out->count && !a->one))
        return FV_GO_ON;
    snprintf(text, sizeof(text), out->count ? "one %s at a time" : "no %s", a->operand);
    return out->count ? a->wrong(out->items[1], text) : a->wrong(text, "one is needed");
}

/* The long option that `word` without its value is nearest to, if it is near; NULL, too, if it is one. */
static const char *nearest(const struct option *table, const char *word)
{
    struct fv_near near = { word, strcspn(word, "="), NULL, 0 };

    for (; table->name; table++)
        fv_near_try(&near, table->name, table->name);
    return near.edits ? fv_near_item(&near, 0) : NULL;
}

static int say_unknown(const struct fv_arguments *a, const char *word)
{
    const char *near = strncmp(word, "--", 2) ? NULL : nearest(a->table, word + 2);
    char text[100];

    if (!near)
        return a->wrong(word, "no such option");
    snprintf(text, sizeof(text), "no such option (did you mean --%s?)", near);
    return a->wrong(word, text);
}

int fv_arguments_take(const struct fv_arguments *a, int argc, char **argv, void *options, struct fv_operands *operands)
{
    char letters[strlen(a->letters) + 2];
    int option;

    strcat(strcpy(letters, ":"), a->letters); /* the colon tells what is missing from what is unknown */
    opterr = 0;
    optind = 0; /* anew */
    while ((option = getopt_long(argc, argv, letters, a->table, NULL)) != -1) {
        if (option == ':')
            return a->wrong(argv[optind - 1], "its value is missing");
        if (option == '?' && optopt && !strncmp(argv[optind - 1], "--", 2))
            return a->wrong(argv[optind - 1], "it takes no value");
        int status = a->take(options, option);

        if (status == FV_UNKNOWN_OPTION)
            return say_unknown(a, argv[optind - 1]);
        if (status != FV_GO_ON)
            return status;
    }
    return a->operand ? take_operands(a, argc, argv, operands) : FV_GO_ON;
}
