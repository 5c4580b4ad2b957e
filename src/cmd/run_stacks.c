/* See run_stacks.h. Each run is a `fvmpi run` of its own, with OMP_NUM_THREADS, and {N} in the command's words replaced. One thread comes first and last: where the two
 * differ, the machine changed meanwhile, or the program varies. */
#include "cmd/run_stacks.h"
#include "base/base.h"
#include "base/experiment.h"
#include "cmd/cmd.h"
#include "cmd/launcher.h"
#include "cmd/rerun.h"
#include "cmd/stacks.h"
#include "tool/words.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { COUNTS = 64, THREADS_MOST = 4096 };

struct stacks_run {
    const struct fv_config *config;
    struct fv_rerun rerun;
    size_t counts[COUNTS], count; /* of threads, a run each */
    char directory[PATH_MAX];
    bool is_quiet;
};

/* ---- how many threads ---- */

static bool add(struct stacks_run *r, size_t threads)
{
    if (r->count == COUNTS)
        return false;
    r->counts[r->count++] = threads;
    return true;
}

/* 1, 2, 4 ... and as many as there are processors. */
static void add_powers(struct stacks_run *r)
{
    cpu_set_t set;
    size_t all = sched_getaffinity(0, sizeof(set), &set) ? 1 : (size_t)CPU_COUNT(&set);

    for (size_t n = 2; n < all && n < THREADS_MOST; n *= 2)
        add(r, n);
    if (all > 1)
        add(r, all);
}

/* False: it is no list of numbers. What is asked for twice is run twice. */
static bool add_list(struct stacks_run *r, const char *text)
{
    for (char *end; *text; text = *end ? end + 1 : end) {
        unsigned long threads = strtoul(text, &end, 10);

        if (end == text || *text == '-' || (*end && *end != ',') || (*end && !end[1]) || !threads || threads > THREADS_MOST)
            return false;
        if (threads > 1 && !add(r, threads))
            return false;
    }
    return true;
}

/* ---- a run ---- */

static void name_directory(const struct stacks_run *r, size_t run, char out[PATH_MAX + 32])
{
    size_t before = 0;

    for (size_t i = 0; i < run; i++)
        before += r->counts[i] == r->counts[run];
    snprintf(out, PATH_MAX + 32, before ? "%s/threads-%zu.%zu" : "%s/threads-%zu", r->directory, r->counts[run], before + 1);
}

/* Its exit status. */
static int run_once(const struct stacks_run *r, size_t run)
{
    bool has_threads = strcmp(fv_config_get(r->config, "--threads"), "0") != 0;
    char directory[PATH_MAX + 32], number[24];
    const char *const own[] = { "--stacks=0", "--quiet", "-o", directory, has_threads ? NULL : "--threads", NULL };

    name_directory(r, run, directory);
    snprintf(number, sizeof(number), "%zu", r->counts[run]);
    setenv("OMP_NUM_THREADS", number, 1);
    if (!r->is_quiet)
        fv_log("stacks: %zu thread%s, run %zu of %zu", r->counts[run], fv_words_s(r->counts[run]), run + 1, r->count);
    return fv_rerun(&r->rerun, own, number);
}

/* ---- what came of it ---- */

static int show(const struct stacks_run *r)
{
    char(*names)[PATH_MAX + 32] = calloc(r->count, sizeof(*names)), *directories[COUNTS];
    int status = FV_EXIT_FAILED;

    for (size_t i = 0; names && i < r->count; i++) {
        name_directory(r, i, names[i]);
        directories[i] = names[i];
    }
    if (names)
        status = fv_stacks_of_runs(&(struct fv_operands){ directories, r->count }, r->counts, fv_rerun_has_number(&r->rerun), r->is_quiet ? NULL : stderr);
    if (status == FV_EXIT_OK && !r->is_quiet)
        fprintf(stderr, "\nas a page: fvmpi stacks %s/threads-* --html stacks.html\n", r->directory);
    else if (status != FV_EXIT_OK)
        fv_log("stacks: what was recorded is in %s", r->directory);
    free(names);
    return status;
}

/* ---- all ---- */

/* What is there already is somebody's: another name is taken. False: it has said why not. */
static bool make_directory(struct stacks_run *r)
{
    const char *wanted = r->config->output;
    char name[512];

    if (!wanted && fv_experiment_name_at(name, sizeof(name), r->rerun.argv[r->rerun.rest], 1, time(NULL)))
        return false;
    for (int i = 1; i < 1000; i++) {
        int length = i == 1 ? snprintf(r->directory, sizeof(r->directory), wanted ? "%s" : "%s-stacks", wanted ? wanted : name)
                            : snprintf(r->directory, sizeof(r->directory), wanted ? "%s-%d" : "%s-stacks-%d", wanted ? wanted : name, i);

        if ((size_t)length >= sizeof(r->directory) || !mkdir(r->directory, 0777))
            break;
        if (errno != EEXIST || wanted) {
            fv_log("run: %s: %s%s", r->directory, strerror(errno), errno == EEXIST ? "; name another directory for --stacks" : "");
            return false;
        }
    }
    return true;
}

int fv_run_stacks(struct fv_config *config, int argc, char **argv, int rest)
{
    const char *list = fv_config_get(config, "--stacks");
    struct stacks_run r = { .config = config, .rerun = { argc, rest, argv }, .is_quiet = fv_config_is(config, "--quiet") };
    int status = FV_EXIT_OK;

    if (fv_under_launcher()) {
        fv_log("run: --stacks: it starts the launcher several times; say fvmpi run --stacks ... -- mpiexec ...");
        return FV_EXIT_USAGE;
    }
    add(&r, 1);
    if (list[strspn(list, "0123456789,")] || !strcmp(list, "1")) /* on */
        add_powers(&r);
    else if (!add_list(&r, list))
        status = FV_EXIT_USAGE;
    if (status || r.count == COUNTS) {
        fv_log("run: --stacks %s: numbers of threads, such as 1,2,4, at most %d of them, each up to %d", list, COUNTS - 2, THREADS_MOST);
        return FV_EXIT_USAGE;
    }
    add(&r, 1);
    if (fv_config_resolve(config) || !make_directory(&r))
        return FV_EXIT_FAILED;
    for (size_t i = 0; i < r.count && !status; i++)
        status = run_once(&r, i);
    if (status)
        fv_log("stacks: that run ended with status %d: no further ones are made; what was recorded is in %s", status, r.directory);
    return status ? status : show(&r);
}
