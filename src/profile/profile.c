/* SPDX-License-Identifier: BSD-3-Clause */
/* See profile.h: the order in which a profile is finished. */
#include "profile/profile.h"
#include "profile/counters/counters.h"
#include "profile/machine/facts.h"
#include "profile/samples/costs.h"
#include "profile/samples/samples.h"
#include "tool/words.h"

#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct finished {
    struct fv_profile profile; /* what others see; first, so that it can be freed by it */
    struct fv_model model;
    struct fv_symbols symbols;
    struct fv_cost_profile costs;
    struct fv_findings findings;
};

/* Calls that are counted alone, and what each call of a hook takes of caches, are in no calibrated cost: where samples
 * tell of more, it is more. */
static void measure_own_cost(struct fv_model *m, const struct fv_cost_profile *costs)
{
    struct fv_overhead *o = &m->overhead;

    if (!(fv_costs_own_least_s(costs) > o->time_s))
        return;
    o->time_s = (double)costs->fvmpi_ticks * costs->tick_s;
    o->share = fv_overhead_share(m);
}

/* ---- passes: runs that counted a part each ---- */

static double longest_s(const struct fv_model *m)
{
    double longest = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        longest = m->ranks[i].app_time_s > longest ? m->ranks[i].app_time_s : longest;
    return longest;
}

#define RUNS_DIFFER 0.05

static void say_pass(struct fv_model *m, const struct fv_model *pass)
{
    double own_s = longest_s(m), other_s = longest_s(pass);
    char own[FV_WORD], other[FV_WORD];

    fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL, "some counters are from another run, %s; all else is from %s",
                   pass->directory, m->directory);
    if (other_s > (1 + RUNS_DIFFER) * own_s || own_s > (1 + RUNS_DIFFER) * other_s)
        fv_problem_add(
            &m->problems, FV_PROBLEM_NOTE, NULL,
            "%s took %s and %s %s, more than 5 %% apart: metrics with counters of both may be wrong by as much",
            m->directory, fv_words_seconds(own_s, own), pass->directory, fv_words_seconds(other_s, other));
    if (pass->rank_count != m->rank_count)
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL, "%s has %zu ranks, and %s %zu: is this one program?",
                       m->directory, m->rank_count, pass->directory, pass->rank_count);
}

/* Of all nodes together. */
static void set_memory_peak(struct fv_model *m, double of_node)
{
    double nodes = fv_model_facts(m)->host_count ? (double)fv_model_facts(m)->host_count : 1;

    if (!(of_node > 0))
        return;
    fv_counts_set_peak(fv_model_counts(m), "memory_read_rate", nodes * of_node);
    fv_counts_set_peak(fv_model_phase_counts(m), "memory_read_rate", nodes * of_node);
}

struct fv_profile *fv_profile_new(struct fv_experiment *experiment, const struct fv_profile_options *options)
{
    struct finished *f = fv_xcalloc(1, sizeof(*f));

    experiment->is_part = options->part_of;
    experiment->is_later_part = options->is_later_part;
    experiment->traced_calls = options->traced_calls;
    experiment->choice = options->choice;
    experiment->seen = options->seen;
    fv_model_build(&f->model, &f->symbols, experiment, !options->no_symbols);
    if (options->part_of) {
        f->model.is_part = true;
        f->model.directory = fv_arena_string(&f->model.arena, options->part_of);
        f->model.operands = fv_arena_string(&f->model.arena, options->operands);
    }
    for (size_t i = 0; i < experiment->pass_count; i++)
        say_pass(&f->model, &experiment->passes[i]);
    f->profile = (struct fv_profile){ &f->model, &f->symbols, &f->costs, &f->findings, f->model.problems.count };
    fv_problems_take(&f->model.problems, &f->model.module_problems);
    fv_counts_phases(&f->model);
    set_memory_peak(&f->model, options->memory_peak);
    if (fv_model_costs(&f->model)->ticks)
        fv_cost_profile_init(&f->costs, &f->model, &f->symbols, FV_COST_ALL_RANKS);
    measure_own_cost(&f->model, &f->costs);
    fv_samples_judge(&f->model, &f->symbols, &f->costs);
    if (!f->model.shown_ranks && !f->model.shown_threads) /* they are of the whole run */
        fv_findings_make(&f->findings, &f->profile);
    return &f->profile;
}

const struct fv_region_procedure *fv_region_procedures(const struct fv_profile *p, const struct fv_region *region,
                                                       size_t *count)
{
    bool sampled = p->costs && p->costs->regions;
    const struct fv_cost_slice *slice = sampled ? &p->costs->regions[region - p->model->causes.regions] : NULL;

    *count = slice ? slice->count : 0;
    return slice ? p->costs->region_procedures + slice->first : NULL;
}

static void read_analysis(struct fv_experiment *experiment, struct fv_analysis_result *analysed)
{
    struct fv_string name = { 0 };
    char why[FV_ANALYSIS_WHY];

    fv_string_add(&name, "%s/" FV_ANALYSIS_FILE, experiment->first);
    int err = fv_analysis_result_read(analysed, name.text, why);
    if (!err)
        experiment->analysed = analysed;
    else if (err != -FV_ENOENT)
        fv_problem_add(&experiment->problems, FV_PROBLEM_NOTE, FV_ANALYSIS_FILE,
                       "%s; it is left out: run fvunify again", why);
    fv_string_release(&name);
}

/* Which one it is, "2/3"; NULL: none. */
static const char *pass_of(const struct fv_model *m)
{
    return fv_model_option(m, "FVMPI_COUNTERS_PASS");
}

/* Is the last of the passes given before? */
static const char *same_pass(const struct fv_model *models, size_t count, const char *pass)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(pass_of(&models[i]), pass))
            return models[i].directory;
    return NULL;
}

/* Adds the model of a pass. Has logged when it fails. */
static int open_pass(const char *path, struct fv_model *models, size_t *count)
{
    struct fv_experiment experiment;
    int err = fv_experiment_open(&experiment, (char *const[]){ (char *)(uintptr_t)path }, 1);

    if (err)
        return err;
    fv_model_build(&models[*count], NULL, &experiment, false);
    fv_experiment_release(&experiment);
    const char *pass = pass_of(&models[*count]), *other = pass ? same_pass(models, *count, pass) : NULL;
    if (pass && !other) {
        ++*count;
        return 0;
    }
    if (pass)
        fv_log("%s: pass %s, as is %s; give each pass once", path, pass, other);
    else
        fv_log("%s: not recorded with --passes, but the first directory was; report it alone, or give DIR-1, DIR-2 ... "
               "of one --passes run",
               path);
    fv_model_release(&models[*count]);
    return -FV_EINVAL;
}

/* The models of all paths, for the caller to release, also when it fails. */
static int open_passes(char *const *paths, size_t count, struct fv_model *models, size_t *opened)
{
    int err = 0;

    for (size_t i = 0; i < count && !err; i++)
        err = open_pass(paths[i], models, opened);
    return err;
}

/* Several files may be of one run. */
static bool is_directory(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Only of what could be one. */
static bool may_be_pass(const char *path)
{
    struct fv_experiment experiment;
    bool found = false;

    if (fv_experiment_open(&experiment, (char *const[]){ (char *)(uintptr_t)path }, 1))
        return false;
    if (!fv_reader_wake(experiment.files[0].reader)) {
        struct fv_cursor c = fv_cursor(experiment.files[0].reader, FV_CHUNK_OPTIONS);

        for (const struct fv_option_record *r; !found && (r = fv_cursor_next(&c));)
            found = !strncmp(r->variable, "FVMPI_COUNTERS_PASS", sizeof(r->variable));
        fv_reader_rest(experiment.files[0].reader);
    }
    fv_experiment_release(&experiment);
    return found;
}

static bool has_rank(const struct fv_experiment *e, const struct fv_spans *ranks)
{
    for (size_t i = 0; i < e->count; i++)
        if (fv_spans_have(ranks, fv_reader_header(e->files[i].reader)->world_rank))
            return true;
    fv_log("report: --rank %s: there is no such rank in this run; fvmpi report --table ranks lists what there is",
           ranks->text);
    return false;
}

/* The first of the models is of the paths; the others are its other passes. */
static int open_profile(char *const *paths, size_t count, const struct fv_model *models, size_t opened,
                        const struct fv_profile_options *options, struct fv_profile **out)
{
    struct fv_experiment experiment;
    struct fv_analysis_result analysed = { 0 };
    int err = fv_experiment_open_ranks(&experiment, paths, count, options->choice ? &options->choice->read : NULL);

    if (!err && options->choice && !has_rank(&experiment, &options->choice->ranks)) {
        fv_experiment_release(&experiment);
        return -FV_ENOENT;
    }
    if (err)
        return err;
    experiment.passes = opened ? models + 1 : NULL;
    experiment.pass_count = opened ? opened - 1 : 0;
    read_analysis(&experiment, &analysed);
    *out = fv_profile_new(&experiment, options);
    if ((*out)->model->shown_threads && !(*out)->model->thread_count) {
        fv_log("report: --thread %s: no rank has such a thread; fvmpi report --table threads lists what there is",
               (*out)->model->shown_threads);
        fv_profile_close(*out);
        *out = NULL;
        err = -FV_ENOENT;
    }
    fv_analysis_result_release(&analysed);
    fv_experiment_release(&experiment);
    return err;
}

int fv_profile_open(char *const *paths, size_t count, const struct fv_profile_options *options, struct fv_profile **out)
{
    struct fv_model *passes = NULL;
    size_t opened = 0;
    int err = 0;

    if (count > 1 && is_directory(paths[0]) && may_be_pass(paths[0])) {
        passes = fv_xcalloc(count, sizeof(*passes));
        err = open_passes(paths, count, passes, &opened);
    }
    if (!err)
        err = open_profile(paths, passes ? 1 : count, passes, opened, options, out);
    for (size_t i = 0; i < opened; i++)
        fv_model_release(&passes[i]);
    free(passes);
    return err;
}

void fv_profile_close(struct fv_profile *profile)
{
    struct finished *f = (struct finished *)profile;

    if (!f)
        return;
    fv_findings_release(&f->findings);
    fv_cost_profile_release(&f->costs);
    fv_symbols_release(&f->symbols);
    fv_model_release(&f->model);
    free(f);
}
