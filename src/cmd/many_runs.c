/* SPDX-License-Identifier: BSD-3-Clause */
/* See many_runs.h. */
#include "cmd/many_runs.h"
#include "base/base.h"
#include "base/experiment.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- numbers ---- */

bool fv_numbers_add(struct fv_numbers_of_runs *numbers, size_t number)
{
    if (numbers->count == FV_NUMBERS)
        return false;
    numbers->items[numbers->count++] = number;
    return true;
}

static void add_powers(struct fv_numbers_of_runs *numbers, size_t most)
{
    cpu_set_t set;
    size_t all = sched_getaffinity(0, sizeof(set), &set) ? 1 : (size_t)CPU_COUNT(&set);

    for (size_t n = 2; n < all && n < most; n *= 2)
        fv_numbers_add(numbers, n);
    if (all > 1)
        fv_numbers_add(numbers, all < most ? all : most);
}

static bool add_list(struct fv_numbers_of_runs *numbers, const char *text, size_t least, size_t most)
{
    for (char *end; *text; text = *end ? end + 1 : end) {
        unsigned long number = strtoul(text, &end, 10);

        if (end == text || *text == '-' || (*end && *end != ',') || (*end && !end[1]) || !number || number > most)
            return false;
        if (number >= least && !fv_numbers_add(numbers, number))
            return false;
    }
    return true;
}

bool fv_numbers_by_option(struct fv_numbers_of_runs *numbers, const struct fv_config *config, const char *flag,
                          size_t least, size_t most, const char *what)
{
    const char *list = fv_config_get(config, flag);

    /* on, or by another option */
    if (list[strspn(list, "0123456789,")] || !strcmp(list, "1") || !fv_config_is(config, flag)) {
        add_powers(numbers, most);
        return true;
    }
    if (add_list(numbers, list, least, most))
        return true;
    fv_log("run: %s %s: give numbers of %s, such as 1,2,4; at most %d, each up to %zu", flag, list, what,
           FV_NUMBERS - 2, most);
    return false;
}

/* ---- where ---- */

bool fv_runs_directory(const struct fv_config *config, const struct fv_rerun *rerun, const char *kind,
                       char out[PATH_MAX])
{
    const char *wanted = config->output;
    char name[512];

    if (!wanted && fv_experiment_name_at(name, sizeof(name), rerun->argv[rerun->rest], 1, time(NULL)))
        return false;
    for (int i = 1; i < 1000; i++) {
        char again[16] = "";

        if (i > 1)
            snprintf(again, sizeof(again), "-%d", i);
        int length = wanted ? snprintf(out, PATH_MAX, "%s%s", wanted, again)
                            : snprintf(out, PATH_MAX, "%s-%s%s", name, kind, again);
        if (length >= PATH_MAX || !mkdir(out, fv_config_is(config, "--share") ? 0777 : 0700))
            break;
        if (errno != EEXIST || wanted) {
            fv_log("run: %s: %s%s%s", out, strerror(errno), errno == EEXIST ? "; name another directory for --" : "",
                   errno == EEXIST ? kind : "");
            return false;
        }
    }
    return true;
}

unsigned fv_runs_repeats(const struct fv_config *config)
{
    return (unsigned)strtoul(fv_config_get(config, "--repeats"), NULL, 10);
}
