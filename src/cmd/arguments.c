/* See arguments.h. */
#include "cmd/arguments.h"
#include "base/options.h"

#include <stdio.h>
#include <string.h>

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

/* The long option that `word` without its value is nearest to, if it is near; NULL, too, if it is one. */
static const char *nearest(const struct option *table, const char *word)
{
    size_t length = strcspn(word, "=");
    const char *found = NULL;
    unsigned best = ~0u;

    for (; table->name; table++) {
        unsigned distance = fv_edit_distance(table->name, strlen(table->name), word, length);

        if (distance < best) {
            best = distance;
            found = table->name;
        }
    }
    return length && best && fv_edit_near(best, length) ? found : NULL;
}

static int say_unknown(const struct fv_arguments *a, const char *word)
{
    const char *near = strncmp(word, "--", 2) ? NULL : nearest(a->table, word + 2);
    char text[100];

    if (!near)
        return a->wrong(word, "no such option, or its value is missing or too much");
    snprintf(text, sizeof(text), "no such option (did you mean --%s?)", near);
    return a->wrong(word, text);
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
            return say_unknown(a, argv[optind - 1]);
        if (status != FV_GO_ON)
            return status;
    }
    return a->operand ? take_operand(a, argc, argv, operand) : FV_GO_ON;
}
