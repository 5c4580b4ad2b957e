/* SPDX-License-Identifier: BSD-3-Clause */
/* See run_throughput.h. Each run is a `fvmpi run` of its own, or several of them at once. One at a time comes with all
 * of the shared cache before and after that with a part of it: where the two differ, the machine changed meanwhile. */
#include "cmd/run_throughput.h"
#include "base/shell.h"
#include "base/base.h"
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/launcher.h"
#include "cmd/many_runs.h"
#include "cmd/solo_runs.h"
#include "cmd/stacks.h"
#include "experiment/experiment.h"
#include "tool/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RUNS = 2048 };

struct throughput {
    struct fv_rerun rerun;
    struct fv_numbers_of_runs numbers; /* of copies, or ranks */
    struct fv_solo_runs solo;
    char directory[PATH_MAX];
    char (*made)[PATH_MAX + 64]; /* experiments */
    size_t made_count;
    bool is_quiet, is_launched, is_numbered; /* is_numbered: {N} is in the command */
    unsigned repeats;
    double elapsed_s; /* of the last run in which all ran */
};

/* ---- a run ---- */

/* DIR/WHAT, or, if that is there, DIR/WHAT.2 ... */
static char *new_name(struct throughput *t, const char *what)
{
    char *name = t->made[t->made_count++];
    struct stat st;

    snprintf(name, sizeof(*t->made), "%s/%s", t->directory, what);
    size_t end = strlen(name);
    for (int again = 2; !stat(name, &st) && again < 1000; again++)
        snprintf(name + end, sizeof(*t->made) - end, ".%d", again);
    return name;
}

/* So many of them, in the experiment WHAT. Its exit status. */
static int run_once(struct throughput *t, size_t count, const char *what)
{
    if (t->made_count == RUNS) {
        fv_log("run: --throughput: more than %d runs; name fewer numbers of copies, or a smaller --repeats", RUNS);
        return FV_EXIT_FAILED;
    }
    const char *const own[] = { "--throughput=0", "--quiet", "-o", new_name(t, what), NULL };
    char number[24];

    snprintf(number, sizeof(number), "%zu", count);
    return t->is_launched ? fv_rerun(&t->rerun, own, t->is_numbered ? number : NULL)
                          : fv_rerun_copies(&t->rerun, own, number, count);
}

static int run_together(struct throughput *t, size_t count)
{
    char what[40];

    if (t->is_launched && !t->is_numbered)
        snprintf(what, sizeof(what), "ranks");
    else
        snprintf(what, sizeof(what), "%s-%zu", t->is_launched ? "ranks" : "copies", count);
    if (!t->is_quiet)
        fv_log("throughput: %s, together", what);
    int64_t began = fv_now_ns();
    int status = run_once(t, count, what);
    t->elapsed_s = (double)(fv_now_ns() - began) * 1e-9;
    return status;
}

/* One of `count` at a time, with that part of the shared cache. */
static int run_alone(struct throughput *t, size_t count, double part)
{
    char what[60];

    if (t->is_launched)
        snprintf(what, sizeof(what), "ranks-%zu-alone-%.0f", count, part * 100);
    else
        snprintf(what, sizeof(what), "copy-alone-%.0f", part * 100);
    if (!t->is_quiet)
        fv_log("throughput: %s, with %.0f %% of the shared cache", t->is_launched ? "ranks one at a time" : "one copy",
               part * 100);
    if (!fv_solo_runs_begin(&t->solo, part, t->elapsed_s)) /* it has been said */
        return FV_EXIT_OK;
    int status = run_once(t, t->is_launched ? count : 1, what);
    fv_solo_runs_end(&t->solo);
    return status;
}

/* With the N-th part of the cache, if that can be had. */
static int run_with_part(struct throughput *t, size_t count)
{
    double part = fv_solo_runs_part(&t->solo, 1.0 / (double)count);

    return t->solo.how != FV_SOLO_WHOLE && part < 1 ? run_alone(t, count, part) : FV_EXIT_OK;
}

/* ---- which runs ---- */

/* How many ranks there were. */
static size_t ranks_of(const struct throughput *t)
{
    struct fv_rank_files files;
    size_t count = 0;

    if (!fv_rank_files_list(&files, t->made[t->made_count - 1]))
        count = files.count;
    fv_rank_files_release(&files);
    return count;
}

static int run_copies(struct throughput *t)
{
    int status = run_alone(t, 1, 1);

    for (size_t i = 0; i < t->numbers.count && !status; i++) {
        size_t count = t->numbers.items[i];

        status = run_together(t, count);
        if (!status && ranks_of(t) != count) {
            fv_log("throughput: %s: %zu of %zu copies were recorded; start an MPI program by its launcher: fvmpi run "
                   "--throughput -- mpiexec ...",
                   t->made[t->made_count - 1], ranks_of(t), count);
            return FV_EXIT_FAILED;
        }
        if (!status)
            status = run_with_part(t, count);
    }
    return status ? status : run_alone(t, 1, 1);
}

static int run_ranks(struct throughput *t, size_t count)
{
    int status = run_together(t, count);

    if (!status && (count = ranks_of(t)) < 2) {
        fv_log("throughput: %s: %zu rank%s recorded, which shares the node with no other; to run copies, leave out the "
               "launcher",
               t->made[t->made_count - 1], count, count == 1 ? " was" : "s were");
        return FV_EXIT_FAILED;
    }
    if (!status)
        status = run_alone(t, count, 1);
    if (!status)
        status = run_with_part(t, count);
    return status ? status : run_alone(t, count, 1);
}

static int run_all(struct throughput *t)
{
    int status = FV_EXIT_OK;

    for (unsigned k = 0; k < t->repeats && !t->is_launched && !status; k++)
        status = run_copies(t);
    if (!t->is_launched)
        return status;
    for (unsigned k = 0; k < t->repeats; k++)
        for (size_t i = 0; i < t->numbers.count && !status; i++)
            status = run_ranks(t, t->numbers.items[i]);
    return status;
}

/* ---- all ---- */

static int show(struct throughput *t)
{
    char *names[RUNS];

    for (size_t i = 0; i < t->made_count; i++)
        names[i] = t->made[i];
    int status = fv_stacks_of_copies(&(struct fv_operands){ names, t->made_count }, t->is_quiet ? NULL : stderr);
    if (status != FV_EXIT_OK)
        fv_log("throughput: the runs are in %s", t->directory);
    else if (!t->is_quiet)
        fprintf(stderr, "\nas a page: %s/%s* --html throughput.html\n", FV_COMMAND("fvmpi", "stacks", t->directory),
                t->is_launched ? "ranks" : "cop");
    return status;
}

bool fv_run_throughput_may(const struct fv_config *config)
{
    static const char *const others[] = { "--stacks", "--solo", "--passes" };

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (fv_config_is(config, others[i])) {
            fv_log("run: --throughput and %s both run the program several times; leave one of them out", others[i]);
            return false;
        }
    if (!fv_config_is(config, "--mpi-calls")) {
        fv_log("run: --throughput needs the time in MPI calls; leave --mpi-calls 0 out");
        return false;
    }
    return true;
}

static bool has_numbers(const struct throughput *t)
{
    if (!t->numbers.count)
        fv_log("run: --throughput: no number of copies above 1 (the default ends at the number of processors); name "
               "some, as in --throughput=2,4");
    return t->numbers.count;
}

/* Of ranks, several numbers need {N}. False: it has said what is wrong. */
static bool choose_numbers(struct throughput *t, const struct fv_config *config)
{
    const char *list = fv_config_get(config, "--throughput");

    if (!t->is_launched || t->is_numbered)
        return fv_numbers_by_option(&t->numbers, config, "--throughput", 2, FV_CHILDREN,
                                    t->is_launched ? "ranks" : "copies") &&
               has_numbers(t);
    if (strcmp(list, "1") && !list[strspn(list, "0123456789,")]) {
        fv_log("run: --throughput=%s: the launcher's command has no {N}; write {N} for the number of ranks, as in "
               "mpiexec -n {N}, or leave out the numbers",
               list);
        return false;
    }
    return fv_numbers_add(&t->numbers, 1);
}

/* The pirate needs one cache for all ranks. */
static void prepare_solo(struct throughput *t)
{
    fv_solo_runs_init(&t->solo, t->directory, true, t->is_quiet);
    if (t->is_launched && t->solo.how == FV_SOLO_PIRATE && t->solo.page && t->solo.page->domains[0]) {
        fv_log("throughput: cache and memory are not separated: the ranks use several last-level caches, and a part "
               "can be held of only one");
        t->solo.how = FV_SOLO_WHOLE;
    }
}

int fv_run_throughput(struct fv_config *config, int argc, char **argv, int rest)
{
    struct throughput t = { .rerun = { argc, rest, argv },
                            .is_quiet = fv_config_is(config, "--quiet"),
                            .is_launched = fv_is_launcher(argv[rest]),
                            .repeats = fv_runs_repeats(config) };
    int status;

    if (fv_under_launcher()) {
        fv_log("run: --throughput: it must start the launcher; say fvmpi run --throughput ... -- mpiexec ...");
        return FV_EXIT_USAGE;
    }
    t.is_numbered = fv_rerun_has_number(&t.rerun);
    if (!choose_numbers(&t, config))
        return FV_EXIT_USAGE;
    if (!(t.made = calloc(RUNS, sizeof(*t.made))) || fv_config_resolve(config) ||
        !fv_runs_directory(config, &t.rerun, "throughput", t.directory)) {
        free(t.made);
        return FV_EXIT_FAILED;
    }
    prepare_solo(&t);
    status = t.solo.page ? run_all(&t) : FV_EXIT_FAILED;
    fv_solo_runs_release(&t.solo);
    if (status)
        fv_log("throughput: a run ended with status %d, so no more are made; the runs so far are in %s", status,
               t.directory);
    else
        status = show(&t);
    free(t.made);
    return status;
}
