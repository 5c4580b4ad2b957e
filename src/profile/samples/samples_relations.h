/* SPDX-License-Identifier: BSD-3-Clause */
/* What the relations of sampled functions have in common. */
#ifndef FV_SAMPLES_RELATIONS_H
#define FV_SAMPLES_RELATIONS_H

#include "profile/relations.h"
#include "profile/samples/samples.h"

static inline const struct fv_samples *fv_samples_of(const void *subject)
{
    return fv_model_samples(fv_tables_model(subject));
}

/* A frame of the function's path, from itself on. False: there is none. The function's own has its entry. */
bool fv_sampled_frame(struct fv_tables *tables, const struct fv_sampled_function *of, size_t i, struct fv_frame *out);

/* Of the row's function: the row itself, or, `indirect`, what it begins with a pointer to. */
void fv_get_sampled_id(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
void fv_get_sampled_function(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
#define FV_SAMPLED_ID_COLUMN(k, indirect, d)                                               \
    {                                                                                      \
        k, "id", "id", d, FV_GET(FV_TYPE_WHOLE, fv_get_sampled_id), .argument = (indirect) \
    }
#define FV_SAMPLED_FUNCTION_COLUMN(indirect)                                                                \
    {                                                                                                       \
        "function", "function", "", "The sampled function.", FV_GET(FV_TYPE_TEXT, fv_get_sampled_function), \
            .flags = FV_NULLABLE | FV_NAME, .argument = (indirect)                                          \
    }

/* A statistic of a metric; of `window` where `which` has FV_STAT_WINDOW. */
enum {
    FV_STAT_COUNT,
    FV_STAT_MEAN,
    FV_STAT_STDDEV,
    FV_STAT_COV,
    FV_STAT_WINDOW = 4,
    FV_STAT_BIAS = 8,
};
void fv_put_sampled_stat(const struct fv_samples *samples, const struct fv_sampled_function *of,
                         const struct fv_sampled_stat *all, const struct fv_sampled_stat *window, enum fv_metric metric,
                         intptr_t which, struct fv_value *out);

/* Nested in the functions, and in those over all contexts. */
extern const struct fv_relation fv_sampled_metrics_relation, fv_sampled_total_metrics_relation,
    fv_sampled_instances_relation, fv_sampled_recent_relation;

#endif
