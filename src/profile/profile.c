/* See profile.h: the order in which a profile is finished. */
#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>

struct finished {
    struct fv_profile profile; /* what others see; first, so that it can be freed by it */
    struct fv_model model;
    struct fv_symbols symbols;
    struct fv_cost_profile costs;
    struct fv_findings findings;
};

/* Calls that are counted alone, and what each call of a hook takes of caches, are in no calibrated cost: where samples tell of more, it is more. */
static void measure_own_cost(struct fv_overhead *o, const struct fv_cost_profile *costs)
{
    double least_s = ((double)costs->fvmpi_ticks - fv_cost_error(costs->fvmpi_ticks)) * costs->tick_s;

    if (!(costs->fvmpi_ticks && least_s > o->time_s))
        return;
    double time_s = (double)costs->fvmpi_ticks * costs->tick_s;
    o->share *= o->time_s > 0 ? time_s / o->time_s : 0;
    o->time_s = time_s;
}

struct fv_profile *fv_profile_new(struct fv_experiment *experiment, const struct fv_profile_options *options)
{
    struct finished *f = fv_xcalloc(1, sizeof(*f));

    experiment->traced_calls = options->traced_calls;
    fv_model_build(&f->model, experiment);
    f->profile = (struct fv_profile){ &f->model, &f->symbols, &f->costs, &f->findings, f->model.problems.count };
    fv_model_resolve(&f->symbols, &f->model, !options->no_symbols);
    fv_sites_merge(&f->model, &f->symbols);
    if (f->model.costs.ticks)
        fv_cost_profile_init(&f->costs, &f->model, &f->symbols, FV_COST_ALL_RANKS);
    measure_own_cost(&f->model.overhead, &f->costs);
    fv_samples_judge(&f->model, &f->symbols, &f->costs);
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

static void read_analysis(struct fv_experiment *experiment, struct fv_analysed *analysed)
{
    struct fv_string name = { 0 };
    char why[FV_ANALYSIS_WHY];

    fv_string_add(&name, "%s/" FV_ANALYSIS_FILE, experiment->first);
    int err = fv_analysed_read(analysed, name.text, why);
    if (!err)
        experiment->analysed = analysed;
    else if (err != -FV_ENOENT)
        fv_problem_add(&experiment->problems, FV_PROBLEM_NOTE, FV_ANALYSIS_FILE,
                       "%s; it is left out: run fvunify again", why);
    fv_string_release(&name);
}

int fv_profile_open(char *const *paths, size_t count, const struct fv_profile_options *options,
                    struct fv_profile **out)
{
    struct fv_experiment experiment;
    struct fv_analysed analysed = { 0 };
    int err = fv_experiment_open(&experiment, paths, count);

    if (err)
        return err;
    read_analysis(&experiment, &analysed);
    *out = fv_profile_new(&experiment, options);
    fv_analysed_release(&analysed);
    fv_experiment_release(&experiment);
    return 0;
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
