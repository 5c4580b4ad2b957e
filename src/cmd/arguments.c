/* See arguments.h. */
#include "cmd/arguments.h"

#include <stdio.h>

static int take_operand(const struct fv_arguments *a, int argc, char **argv, const char **operand)
{
    char text[100];

    if (optind + 1 == argc) {
        *operand = argv[optind];
        return FV_GO_ON;
    }
    snprintf(text, sizeof(text), optind == argc ? "no %s" : "one %s at a time", a->operand);
    return optind == argc ? a->wrong(text, "one is needed") : a->wrong(argv[optind + 1], text);
}

int fv_arguments_take(const struct fv_arguments *a, int argc, char **argv, void *options,
                      const char **operand)
{
    int option;

    opterr = 0;
    optind = 0; /* anew */
    while ((option = getopt_long(argc, argv, a->letters, a->table, NULL)) != -1) {
        int status = a->take(options, option);

        if (status == FV_UNKNOWN_OPTION)
            return a->wrong(argv[optind - 1], "no such option, or its value is missing or too much");
        if (status != FV_GO_ON)
            return status;
    }
    return a->operand ? take_operand(a, argc, argv, operand) : FV_GO_ON;
}
