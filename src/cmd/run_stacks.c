/* SPDX-License-Identifier: BSD-3-Clause */
/* See run_stacks.h. Each run is a `fvmpi run` of its own, with OMP_NUM_THREADS, and {N} in the command's words
 * replaced. One thread comes first and last: where the two differ, the machine changed meanwhile, or the program
 * varies. With --solo those runs follow a run of N threads in which one at a time runs alone: with all of the shared
 * cache, with its N-th part, and with all of it again. */
#include "cmd/run_stacks.h"
#include "base/shell.h"
#include "base/base.h"
#include "cmd/cmd.h"
#include "cmd/launcher.h"
#include "cmd/many_runs.h"
#include "cmd/solo_runs.h"
#include "cmd/stacks.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 2048, THREADS_MOST = 4096 };

struct stacks_run {
    const struct fv_config *config;
    struct fv_rerun rerun;
    struct fv_numbers_of_runs counts; /* of threads */
    struct run {
        size_t threads;
        double part;      /* of the shared cache, where one thread at a time runs alone; 0: all run */
        bool is_left_out; /* that part could not be had */
    } runs[RUNS];
    size_t run_count;
    char directory[PATH_MAX];
    bool is_quiet, is_solo, is_curve;
    struct fv_solo_runs solo;
    double elapsed_s; /* of the last run in which all ran */
};

/* ---- which runs ---- */

static void plan(struct stacks_run *r, size_t threads, double part)
{
    if (r->run_count < RUNS)
        r->runs[r->run_count++] = (struct run){ threads, part, false };
}

/* All of the cache before and after: where the two differ, the machine changed meanwhile. */
static void plan_solo(struct stacks_run *r, size_t threads, bool is_largest)
{
    static const double curve[] = { 0.75, 0.5, 0.25, 0.125 };
    double own = fv_solo_runs_part(&r->solo, 1.0 / (double)threads), before = own;

    plan(r, threads, 1);
    if (r->solo.how != FV_SOLO_WHOLE && own < 1)
        plan(r, threads, own);
    for (size_t i = 0; r->is_curve && is_largest && r->solo.how != FV_SOLO_WHOLE && i < sizeof(curve) / sizeof(*curve);
         i++) {
        double part = fv_solo_runs_part(&r->solo, curve[i]);

        if (part < 1 && fabs(part - own) > 0.01 && fabs(part - before) > 0.01)
            plan(r, threads, part);
        before = part;
    }
    plan(r, threads, 1);
}

/* With one thread first and last. */
static void plan_all(struct stacks_run *r, unsigned repeats)
{
    size_t largest = 0;

    for (size_t i = 0; i < r->counts.count; i++)
        largest = r->counts.items[i] > largest ? r->counts.items[i] : largest;
    for (size_t k = 0, all = r->counts.count - 1; k < repeats * all + 1; k++) {
        size_t i = k < repeats * all ? k % all : all;
        size_t threads = r->counts.items[i];

        plan(r, threads, 0);
        if (r->is_solo && threads > 1)
            plan_solo(r, threads, threads == largest);
    }
}

/* ---- a run ---- */

static bool is_same(const struct run *a, const struct run *b)
{
    return a->threads == b->threads && fabs(a->part - b->part) < 1e-9;
}

static void name_directory(const struct stacks_run *r, size_t run, char out[PATH_MAX + 32])
{
    const struct run *one = &r->runs[run];
    char part[40] = "", again[24] = "";
    size_t before = 0;

    for (size_t i = 0; i < run; i++)
        before += is_same(&r->runs[i], one);
    if (one->part > 0)
        snprintf(part, sizeof(part), "-alone-%.0f", one->part * 100);
    if (before)
        snprintf(again, sizeof(again), ".%zu", before + 1);
    snprintf(out, PATH_MAX + 32, "%s/threads-%zu%s%s", r->directory, one->threads, part, again);
}

/* Its exit status. */
static int run_once(struct stacks_run *r, size_t run)
{
    const struct run *one = &r->runs[run];
    bool has_threads = strcmp(fv_config_get(r->config, "--threads"), "0") != 0;
    char directory[PATH_MAX + 32], number[24];
    const char *const own[] = { "--stacks=0", "--solo=0", "--quiet", "-o", directory, has_threads ? NULL : "--threads",
                                NULL };

    name_directory(r, run, directory);
    snprintf(number, sizeof(number), "%zu", one->threads);
    setenv("OMP_NUM_THREADS", number, 1);
    if (!r->is_quiet && one->part > 0)
        fv_log("stacks: %zu threads, one at a time, %.0f %% of the shared cache, run %zu of %zu", one->threads,
               one->part * 100, run + 1, r->run_count);
    else if (!r->is_quiet)
        fv_log("stacks: %zu thread%s, run %zu of %zu", one->threads, fv_words_s(one->threads), run + 1, r->run_count);
    if (one->part > 0 && !fv_solo_runs_begin(&r->solo, one->part, r->elapsed_s)) {
        r->runs[run].is_left_out = true;
        return FV_EXIT_OK;
    }
    int64_t began = fv_now_ns();
    int status = fv_rerun(&r->rerun, own, number);
    if (one->part > 0)
        fv_solo_runs_end(&r->solo);
    else
        r->elapsed_s = (double)(fv_now_ns() - began) * 1e-9;
    return status;
}

/* ---- what came of it ---- */

static int show(const struct stacks_run *r)
{
    char(*names)[PATH_MAX + 32] = calloc(r->run_count, sizeof(*names)), *directories[RUNS];
    size_t asked[RUNS], count = 0;
    int status = FV_EXIT_FAILED;

    for (size_t i = 0; names && i < r->run_count; i++) {
        if (r->runs[i].is_left_out)
            continue;
        name_directory(r, i, names[i]);
        directories[count] = names[i];
        asked[count++] = r->runs[i].threads;
    }
    if (names)
        status = fv_stacks_of_runs(&(struct fv_operands){ directories, count }, asked, fv_rerun_has_number(&r->rerun),
                                   r->is_quiet ? NULL : stderr);
    if (status == FV_EXIT_OK && !r->is_quiet)
        fprintf(stderr, "\nas a page: %s/threads-* --html stacks.html\n", FV_COMMAND("fvmpi", "stacks", r->directory));
    else if (status != FV_EXIT_OK)
        fv_log("stacks: the runs are in %s", r->directory);
    free(names);
    return status;
}

/* ---- all ---- */

/* Who is parked on one rank is waited for by the others: there is one process. */
static void prepare_solo(struct stacks_run *r)
{
    const char *wanted = fv_config_get(r->config, "--solo");

    r->is_curve = !strcmp(wanted, "curve");
    if (!fv_config_is(r->config, "--solo"))
        return;
    if (fv_is_launcher(r->rerun.argv[r->rerun.rest]))
        fv_log("stacks: --solo: left out with a launcher, where other ranks would wait for parked threads; cache and "
               "memory are not separated");
    else
        r->is_solo = fv_solo_runs_init(&r->solo, r->directory, false, r->is_quiet);
}

int fv_run_stacks(struct fv_config *config, int argc, char **argv, int rest)
{
    struct stacks_run r = { .config = config,
                            .rerun = { argc, rest, argv },
                            .is_quiet = fv_config_is(config, "--quiet") };
    int status = FV_EXIT_OK;

    if (fv_under_launcher()) {
        fv_log("run: --stacks: it must start the launcher; say fvmpi run --stacks ... -- mpiexec ...");
        return FV_EXIT_USAGE;
    }
    fv_numbers_add(&r.counts, 1);
    if (!fv_numbers_by_option(&r.counts, config, "--stacks", 2, THREADS_MOST, "threads") ||
        !fv_numbers_add(&r.counts, 1))
        return FV_EXIT_USAGE;
    if (fv_config_resolve(config) || !fv_runs_directory(config, &r.rerun, "stacks", r.directory))
        return FV_EXIT_FAILED;
    prepare_solo(&r);
    plan_all(&r, fv_runs_repeats(config));
    for (size_t i = 0; i < r.run_count && !status; i++)
        status = run_once(&r, i);
    if (r.is_solo)
        fv_solo_runs_release(&r.solo);
    if (status)
        fv_log("stacks: this run ended with status %d, so no more are made; the runs so far are in %s", status,
               r.directory);
    return status ? status : show(&r);
}
