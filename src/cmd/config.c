/* SPDX-License-Identifier: BSD-3-Clause */
/* See config.h. */
#include "cmd/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t row_of(const struct fv_option *option)
{
    return (size_t)(option - fv_option_table);
}

static size_t output_row(void)
{
    return row_of(fv_option_by_letter('o'));
}

int fv_config_init(struct fv_config *config)
{
    *config = (struct fv_config){ .values = calloc(fv_option_count, sizeof(*config->values)),
                                  .origins = calloc(fv_option_count, sizeof(*config->origins)) };
    if (!config->values || !config->origins)
        return -FV_ENOMEM;
    for (size_t i = 0; i < fv_option_count; i++) {
        const struct fv_option *option = &fv_option_table[i];
        const char *text = option->variable ? getenv(option->variable) : NULL;
        bool good = text && *text && !option->parse(option, text, NULL);
        config->values[i] = good ? text : option->value;
        config->origins[i] = good ? FV_FROM_ENVIRONMENT : FV_FROM_DEFAULT;
    }
    return 0;
}

void fv_config_release(struct fv_config *config)
{
    free(config->values);
    free(config->origins);
    free(config->output);
    *config = (struct fv_config){ .values = NULL };
}

/* ---- the command line ---- */

static int say_unknown(const char *word, size_t length)
{
    const struct fv_option *near = fv_option_near_flag(word, length);

    if (!strcmp(word, "-n") || !strcmp(word, "-np"))
        fv_log("run: %s: the launcher sets the number of ranks; say %s N ...", word,
               !strcmp(word, "-n") ? "fvmpi run -- mpiexec -n" : "fvmpi run -- mpiexec -np");
    else if (near)
        fv_log("run: %.*s: no such option; did you mean %s?", (int)length, word, near->flag);
    else
        fv_log("run: %.*s: no such option; `fvmpi run --help` lists them", (int)length, word);
    return -FV_EINVAL;
}

static int set(struct fv_config *config, const struct fv_option *option, const char *text)
{
    const char *why = option->parse(option, text, NULL);
    size_t row = row_of(option);

    if (why) {
        if (option->argument)
            fv_log("run: %s %s: %s; %s is expected", option->flag, text, why, option->argument);
        else
            fv_log("run: %s=%s: %s; `fvmpi run --help` explains it", option->flag, text, why);
        return -FV_EINVAL;
    }
    config->values[row] = text;
    config->origins[row] = FV_FROM_COMMAND;
    return 0;
}

/* One option; `value` is what follows in the same word, `next` the word behind. *taken counts words. */
static int take(struct fv_config *config, const struct fv_option *option, const char *value, const char *next,
                int *taken)
{
    *taken = 1;
    if (!option->argument)
        return set(config, option, value ? value : "1");
    if (!value) {
        if (!next) {
            fv_log("run: %s: its value is missing; %s is expected", option->flag, option->argument);
            return -FV_EINVAL;
        }
        value = next;
        *taken = 2;
    }
    return set(config, option, value);
}

static int take_long(struct fv_config *config, const char *word, const char *next, int *taken)
{
    size_t length = strcspn(word, "=");
    const struct fv_option *option = fv_option_by_flag(word, length);

    if (!option)
        return say_unknown(word, length);
    return take(config, option, word[length] ? word + length + 1 : NULL, next, taken);
}

/* -q, -o DIR, -oDIR, -qn */
static int take_short(struct fv_config *config, const char *word, const char *next, int *taken)
{
    int err = 0;

    *taken = 1;
    for (const char *p = word + 1; !err && *p; p++) {
        const struct fv_option *option = fv_option_by_letter(*p);
        if (!option)
            return say_unknown(word, strlen(word));
        bool with_value = option->argument != NULL;
        err = take(config, option, with_value && p[1] ? p + 1 : NULL, next, taken);
        if (with_value)
            break;
    }
    return err;
}

int fv_config_parse(struct fv_config *config, int argc, char **argv, int *rest)
{
    int i = 1, err = 0, taken;

    while (!err && i < argc && argv[i][0] == '-' && argv[i][1]) {
        if (!strcmp(argv[i], "--")) {
            i++;
            break;
        }
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        err = argv[i][1] == '-' ? take_long(config, argv[i], next, &taken) : take_short(config, argv[i], next, &taken);
        i += taken;
    }
    *rest = i;
    return err;
}

const char *fv_config_get(const struct fv_config *config, const char *flag)
{
    return config->values[row_of(fv_option_by_flag(flag, strlen(flag)))];
}

bool fv_config_is(const struct fv_config *config, const char *flag)
{
    const struct fv_option *option = fv_option_by_flag(flag, strlen(flag));
    bool value = false;

    option->parse(option, fv_config_get(config, flag), &value);
    return value;
}

void fv_config_put(struct fv_config *config, const char *flag, const char *text)
{
    size_t row = row_of(fv_option_by_flag(flag, strlen(flag)));

    config->values[row] = text;
    config->origins[row] = FV_FROM_COMMAND;
}

/* ---- the output directory ---- */

int fv_config_set_output(struct fv_config *config, const char *path)
{
    char *directory = *path == '/' ? NULL : getcwd(NULL, 0), *absolute = NULL;

    if (*path != '/' && !directory)
        return -FV_EIO;
    if (asprintf(&absolute, "%s%s%s", directory ? directory : "", directory ? "/" : "", path) < 0)
        absolute = NULL;
    free(directory);
    if (!absolute)
        return -FV_ENOMEM;
    free(config->output);
    config->output = absolute;
    config->values[output_row()] = absolute;
    return 0;
}

int fv_config_resolve(struct fv_config *config)
{
    const char *path = config->values[output_row()];

    return *path ? fv_config_set_output(config, path) : 0;
}

/* ---- printing ---- */

void fv_config_print(const struct fv_config *config)
{
    static const char *const origins[] = { FV_ORIGINS(FV_LIST_WORD) };

    printf("%-22s %-22s %-12s %s\n", "option", "variable", "from", "value");
    for (size_t i = 0; i < fv_option_count; i++) {
        const struct fv_option *option = &fv_option_table[i];
        if (!option->variable)
            continue;
        printf("%-22s %-22s %-12s %s\n", option->flag ? option->flag : "-", option->variable,
               origins[config->origins[i]], config->values[i]);
    }
}

/* Text in lines of at most `width` bytes, from column `indent`, where the cursor stands. */
static void print_wrapped(const char *text, int indent, int width)
{
    int column = indent;

    while (*text) {
        int n = (int)strcspn(text, " ");
        bool fits = column + 1 + n <= width;
        if (column > indent) {
            if (fits)
                putchar(' ');
            else
                printf("\n%*s", indent, "");
            column = fits ? column + 1 : indent;
        }
        printf("%.*s", n, text);
        column += n;
        text += n + (text[n] == ' ');
    }
    putchar('\n');
}

static void print_row(const struct fv_option *option)
{
    enum { INDENT = 30, WIDTH = 98 };
    char left[80], right[400];

    if (option->flag)
        snprintf(left, sizeof(left), "  %c%c%s %s%s%s", option->letter ? '-' : ' ',
                 option->letter ? option->letter : ' ', option->letter ? "," : " ", option->flag,
                 option->argument ? " " : "", option->argument ? option->argument : "");
    else
        snprintf(left, sizeof(left), "  %s=%s", option->variable, option->argument);
    bool says = option->argument && *option->value;
    snprintf(right, sizeof(right), "%s%s%s%s%s%s%s", option->help, says ? " (default: " : "", says ? option->value : "",
             says ? ")" : "", option->flag && option->variable ? " [" : "",
             option->flag && option->variable ? option->variable : "", option->flag && option->variable ? "]" : "");
    printf("%-*s", INDENT, left);
    if (strlen(left) >= INDENT)
        printf("\n%*s", INDENT, "");
    print_wrapped(right, INDENT, WIDTH);
}

void fv_config_help(void)
{
    puts("Options, each with its variable in brackets:");
    for (size_t i = 0; i < fv_option_count; i++)
        if (fv_option_table[i].flag)
            print_row(&fv_option_table[i]);
    puts("\nVariables:");
    for (size_t i = 0; i < fv_option_count; i++)
        if (fv_option_table[i].use == FV_USE_VARIABLE)
            print_row(&fv_option_table[i]);
}
