/* "functions" of the schema: what was sampled, an entry for each function in its calling context and metric.
 */
#include "report/views.h"
#include "report/json_stream.h"

#include <math.h>

size_t fv_view_sampled_path(const struct fv_view *v, struct fv_path *path, const struct fv_sampled *s)
{
    size_t first = 0;

    fv_path_of(path, v->symbols, v->model, s->node);
    while (first + 1 < path->count && path->frames[first].inlined)
        first++;
    return first;
}

static void put_metric(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                       const struct fv_sampled *s, enum fv_metric metric)
{
    size_t own = fv_view_sampled_path(v, path, s);
    char label[512];

    fv_json_object(j, NULL);
    fv_json_string(j, "function",
                   own < path->count ? fv_frame_label(&path->frames[own], v->model, label, sizeof(label))
                                     : NULL);
    fv_json_frames(j, v, path, own);
    fv_json_string(j, "metric", fv_metric_name(metric));
    fv_json_unsigned(j, "samples", s->all.count);
    fv_json_real(j, "mean", s->all.mean[metric]);
    fv_json_real(j, "stddev", fv_sampled_stddev(&s->all, metric));
    fv_json_real(j, "cov", fv_sampled_cov(&s->all, metric));
    fv_json_object(j, "window");
    fv_json_unsigned(j, "samples", s->window.count);
    fv_json_real(j, "mean", s->window.count ? s->window.mean[metric] : NAN);
    fv_json_real(j, "cov", s->window.count > 1 ? fv_sampled_cov(&s->window, metric) : NAN);
    fv_json_end(j);
    fv_json_real(j, "time_share", s->share);
    fv_json_real(j, "within", s->within);
    fv_json_real(j, "between", s->between);
    fv_json_bool(j, "varies", s->varies);
    fv_json_unsigned(j, "entries", s->entries);
    fv_json_unsigned(j, "abandoned", s->abandoned);
    fv_json_unsigned(j, "ranks", s->ranks);
    fv_json_unsigned(j, "threads", s->threads);
    fv_json_bool(j, "fast", s->fast);
    fv_json_end(j);
}

void fv_json_samples(struct fv_json *j, const struct fv_view *v)
{
    const struct fv_samples *samples = &v->model->samples;
    struct fv_path path = { 0 };

    fv_json_array(j, "functions");
    for (size_t i = 0; i < samples->count; i++)
        for (unsigned metric = 0; metric < FV_METRIC_COUNT; metric++)
            if (metric <= FV_METRIC_CPU || samples->items[i].all.mean[metric] > 0)
                put_metric(j, v, &path, &samples->items[i], metric);
    fv_json_end(j);
    fv_path_release(&path);
}
