/* Finding: a function whose calls take different times (fvmpi run --sample). */
#include "profile/findings/excess.h"
#include "profile/findings/findings.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of the CPU times of the instances that were kept; NAN: there are none. */
static double median_of(const struct fv_samples *s, const struct fv_sampled *k)
{
    double *times = fv_xcalloc(k->instances + 1, sizeof(*times)), median;

    for (size_t i = 0; i < k->instances; i++)
        times[i] = s->instances[k->first_instance + i].cpu_s;
    if (k->instances)
        qsort(times, k->instances, sizeof(*times), by_size);
    median = k->instances ? times[k->instances / 2] : NAN;
    free(times);
    return median;
}

static double mean_of(const struct fv_sampled *k)
{
    return k->window.count >= FV_SAMPLED_ENOUGH ? k->window.mean[FV_METRIC_CPU] : k->all.mean[FV_METRIC_CPU];
}

void fv_find_varying_function(const struct fv_profile *v, struct fv_findings *f)
{
    const struct fv_samples *s = &v->model->samples;
    char median_word[FV_WORD], mean_word[FV_WORD], where[1600];

    for (size_t i = 0; i < s->count; i++) {
        const struct fv_sampled *k = &s->items[i];
        double median = median_of(s, k), mean = mean_of(k);
        double side_by_side = s->threads > v->model->rank_count ? (double)s->threads / (double)v->model->rank_count : 1;
        double lost_s = s->computing_s * k->share * (1 - median / mean) / side_by_side;
        struct fv_path path = { 0 };

        if (!(k->varies & FV_VARIES_WITHIN) || k->inherited || !fv_finding_worth(v, lost_s))
            continue;
        struct fv_finding *finding = fv_finding_add(f, lost_s, FV_EVIDENCE_SAMPLES);
        size_t own = fv_sampled_path(&path, v->symbols, k);
        if (path.count) {
            finding->function = path.frames[own].function;
            finding->file = path.frames[own].file;
            finding->line = path.frames[own].line;
            fv_frame_words(&path.frames[own], v->symbols, where, sizeof(where));
        } else
            snprintf(where, sizeof(where), "a function");
        fv_finding_say(f, finding, "%s takes different times: CPU time %s in the median, %s on average", where,
                       fv_words_seconds(median, median_word), fv_words_seconds(mean, mean_word));
        fv_finding_next(f, finding, "its calls: fvmpi report %s --table sampled_instances", v->model->directory);
        fv_path_release(&path);
        return;
    }
}
