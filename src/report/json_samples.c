/* "functions" of the schema: what was sampled, an entry for each function in its calling context and metric.
 */
#include "report/json_stream.h"
#include "report/views.h"

#include <math.h>

struct row {
    struct fv_json *j;
    const struct fv_view *view;
    const struct fv_sampled *s;
    enum fv_metric metric;
};

size_t fv_view_sampled_path(const struct fv_view *v, struct fv_path *path, const struct fv_sampled *s)
{
    size_t first = 0;

    fv_path_of(path, v->symbols, v->model, s->node);
    while (first + 1 < path->count && path->frames[first].inlined)
        first++;
    if (first < path->count && path->frames[first].offset)
        path->frames[first].offset--; /* of the function's entry: there is no call that it returns to */
    return first;
}

static int world_rank(const struct row *r, uint32_t rank)
{
    return r->view->model->ranks[rank].world_rank;
}

/* [rank, thread, samples, mean, stddev, samples in the window, their mean] */
static void put_threads(const struct row *r)
{
    struct fv_json *j = r->j;

    fv_json_array(j, "per_thread");
    for (size_t i = 0; i < r->s->parts; i++) {
        const struct fv_sampled_part *p = &r->view->model->samples.parts[r->s->first_part + i];

        fv_json_array(j, NULL);
        fv_json_signed(j, NULL, world_rank(r, p->rank));
        fv_json_unsigned(j, NULL, p->thread);
        fv_json_unsigned(j, NULL, fv_sampled_count(&p->all, r->metric));
        fv_json_real(j, NULL, p->all.mean[r->metric]);
        fv_json_real(j, NULL, fv_sampled_stddev(&p->all, r->metric));
        fv_json_unsigned(j, NULL, fv_sampled_count(&p->window, r->metric));
        fv_json_real(j, NULL, fv_sampled_count(&p->window, r->metric) ? p->window.mean[r->metric] : NAN);
        fv_json_end(j);
    }
    fv_json_end(j);
}

/* [begin_s, time_s, cpu_s, rank, thread], once for all metrics. */
static void put_instances(const struct row *r)
{
    struct fv_json *j = r->j;
    size_t count = r->metric == FV_METRIC_TIME ? r->s->instances : 0;

    fv_json_array(j, "instances");
    for (size_t i = 0; i < count; i++) {
        const struct fv_sampled_instance *one = &r->view->model->samples.instances[r->s->first_instance + i];

        fv_json_array(j, NULL);
        fv_json_real(j, NULL, one->begin_s);
        fv_json_real(j, NULL, one->time_s);
        fv_json_real(j, NULL, one->cpu_s);
        fv_json_signed(j, NULL, world_rank(r, one->rank));
        fv_json_unsigned(j, NULL, one->thread);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_window(const struct row *r)
{
    const struct fv_sampled_stat *all = &r->s->all, *window = &r->s->window;

    fv_json_object(r->j, "window");
    fv_json_unsigned(r->j, "samples", fv_sampled_count(window, r->metric));
    fv_json_real(r->j, "mean", window->count ? window->mean[r->metric] : NAN);
    fv_json_real(r->j, "cov", window->count > 1 ? fv_sampled_cov(window, r->metric) : NAN);
    fv_json_end(r->j);
    fv_json_real(r->j, "bias",
                 window->count >= FV_SAMPLED_ENOUGH && all->mean[r->metric] > 0
                     ? window->mean[r->metric] / all->mean[r->metric]
                     : NAN);
}

static void put_judgement(const struct row *r)
{
    static const char *const by[] = { NULL, "within", "between", "both" };
    char advice[400];

    fv_json_real(r->j, "time_share", r->s->share);
    fv_json_real(r->j, "within", r->s->within);
    fv_json_real(r->j, "between", r->s->between);
    fv_json_bool(r->j, "varies", r->s->varies != FV_VARIES_NOT);
    fv_json_string(r->j, "varies_by", by[r->s->varies]);
    fv_json_bool(r->j, "judged", r->s->judged);
    fv_json_bool(r->j, "pooled", r->s->pooled);
    fv_json_bool(r->j, "inside_mpi", r->s->inside_mpi);
    fv_sampled_advice(&r->view->model->samples, r->s, advice, sizeof(advice));
    fv_json_string(r->j, "advice", advice[0] ? advice : NULL);
}

static void put_metric(const struct row *r, struct fv_path *path)
{
    const struct fv_sampled *s = r->s;
    struct fv_json *j = r->j;
    size_t own = fv_view_sampled_path(r->view, path, s);
    char label[512];

    fv_json_object(j, NULL);
    fv_json_string(
        j, "function",
        own < path->count ? fv_frame_label(&path->frames[own], r->view->model, label, sizeof(label)) : NULL);
    fv_json_frames(j, r->view, path, own);
    fv_json_string(j, "metric", fv_sampled_metric(&r->view->model->samples, r->metric));
    fv_json_unsigned(j, "samples", fv_sampled_count(&s->all, r->metric));
    fv_json_real(j, "mean", s->all.mean[r->metric]);
    fv_json_real(j, "stddev", fv_sampled_stddev(&s->all, r->metric));
    fv_json_real(j, "cov", fv_sampled_cov(&s->all, r->metric));
    put_window(r);
    put_judgement(r);
    fv_json_unsigned(j, "ticks", s->ticks);
    fv_json_unsigned(j, "mpi_ticks", s->mpi_ticks);
    fv_json_unsigned(j, "entries", s->entries);
    fv_json_unsigned(j, "returns", s->returns);
    fv_json_unsigned(j, "abandoned", s->abandoned);
    fv_json_unsigned(j, "ranks", s->ranks);
    fv_json_unsigned(j, "threads", s->threads);
    fv_json_bool(j, "fast", s->fast);
    put_threads(r);
    put_instances(r);
    fv_json_end(j);
}

void fv_json_samples(struct fv_json *j, const struct fv_view *v)
{
    const struct fv_samples *samples = &v->model->samples;
    struct fv_path path = { 0 };

    fv_json_array(j, "functions");
    for (size_t i = 0; i < samples->count; i++)
        for (unsigned metric = 0; metric < FV_METRIC_COUNT; metric++) {
            const struct row row = { j, v, &samples->items[i], metric };

            if (fv_sampled_metric(samples, metric) &&
                (metric <= FV_METRIC_CPU || samples->items[i].all.mean[metric] > 0))
                put_metric(&row, &path);
        }
    fv_json_end(j);
    fv_path_release(&path);
}
