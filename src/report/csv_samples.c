/* Tables of a sampled run: where CPU time is, and instances of functions. Ticks are samples; see
 * cost_profile.h. */
#include "report/cost_profile.h"
#include "report/csv_stream.h"

#include <math.h>

static void cost_fields(struct fv_csv *c, const struct fv_cost_profile *p, const struct fv_cost_both *b)
{
    fv_csv_whole(c, b->self.ticks);
    fv_csv_real(c, (double)b->self.ticks * p->tick_s);
    fv_csv_real(c, fv_cost_error(b->self.ticks) * p->tick_s);
    fv_csv_whole(c, b->total.ticks);
    fv_csv_real(c, (double)b->total.ticks * p->tick_s);
    fv_csv_real(c, fv_cost_error(b->total.ticks) * p->tick_s);
    fv_csv_whole(c, b->total.in_mpi);
    fv_csv_whole(c, b->total.in_sync);
}
#define COST_TITLES "self_ticks,self_s,self_error_s,total_ticks,total_s,total_error_s,mpi_ticks,sync_ticks"

static void cost_procedures(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_cost_profile *p = c->context;

    fputs("procedure,file,module,inlined," COST_TITLES ",rank_min_s,rank_max_s,rank_max\r\n", c->out);
    for (size_t i = 0; i < p->procedure_count; i++) {
        const struct fv_cost_procedure *one = &p->procedures[i];

        fv_csv_text(c, one->name);
        fv_csv_text(c, one->file);
        fv_csv_text(c, v->model->modules[one->module].path);
        fv_csv_text(c, one->inlined ? "true" : "false");
        cost_fields(c, p, &one->sum);
        fv_csv_real(c, one->rank_min_s);
        fv_csv_real(c, one->rank_max_s);
        fv_csv_number(c, v->model->ranks[one->rank_max].world_rank);
        fv_csv_line(c);
    }
}

static void cost_threads(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_cost_profile *p = c->context;

    fputs("procedure,rank,thread," COST_TITLES "\r\n", c->out);
    for (size_t i = 0; i < p->part_count; i++) {
        const struct fv_cost_thread *t = &v->model->costs.threads[p->parts[i].owner];

        fv_csv_text(c, p->procedures[p->parts[i].procedure].name);
        fv_csv_number(c, v->model->ranks[t->rank].world_rank);
        fv_csv_whole(c, t->thread);
        cost_fields(c, p, &p->parts[i].sum);
        fv_csv_line(c);
    }
}

static void cost_lines(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_cost_profile *p = c->context;

    (void)v;
    fputs("file,line,procedure," COST_TITLES "\r\n", c->out);
    for (size_t i = 0; i < p->line_count; i++) {
        fv_csv_text(c, p->lines[i].file);
        fv_csv_whole(c, p->lines[i].line);
        fv_csv_text(c, p->procedures[p->lines[i].procedure].name);
        cost_fields(c, p, &p->lines[i].sum);
        fv_csv_line(c);
    }
}

static void cost_loops(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_cost_profile *p = c->context;

    fputs("function,file,first_line,last_line,module,offset,depth," COST_TITLES "\r\n", c->out);
    for (size_t i = 0; i < p->loop_count; i++) {
        const struct fv_cost_loop *l = &p->loops[i];

        fv_csv_text(c, l->function);
        fv_csv_text(c, l->file);
        fv_csv_whole(c, l->first_line);
        fv_csv_whole(c, l->last_line);
        fv_csv_text(c, v->model->modules[l->module].path);
        fv_csv_whole(c, l->offset);
        fv_csv_whole(c, l->depth);
        cost_fields(c, p, &l->sum);
        fv_csv_line(c);
    }
}

static void sampled_functions(struct fv_csv *c, const struct fv_view *v)
{
    static const char *const by[] = { "", "within", "between", "both" };
    const struct fv_samples *s = &v->model->samples;
    struct fv_path path = { 0 };
    char label[512];

    fputs("function,file,line,path,metric,samples,mean,stddev,window_samples,window_mean,time_share,within,"
          "between,"
          "varies,entries,returns,abandoned,ranks,threads\r\n",
          c->out);
    for (size_t i = 0; i < s->count; i++)
        for (unsigned metric = 0; metric < FV_METRIC_COUNT; metric++) {
            const struct fv_sampled *one = &s->items[i];

            if (!fv_sampled_metric(s, metric) || (metric > FV_METRIC_CPU && !(one->all.mean[metric] > 0)))
                continue;
            size_t own = fv_view_sampled_path(v, &path, one);
            fv_csv_text(
                c, own < path.count ? fv_frame_label(&path.frames[own], v->model, label, sizeof(label)) : "");
            fv_csv_path_fields(c, v, &path, one->node);
            fv_csv_text(c, fv_sampled_metric(s, metric));
            fv_csv_whole(c, fv_sampled_count(&one->all, metric));
            fv_csv_real(c, one->all.mean[metric]);
            fv_csv_real(c, fv_sampled_stddev(&one->all, metric));
            fv_csv_whole(c, fv_sampled_count(&one->window, metric));
            fv_csv_real(c, fv_sampled_count(&one->window, metric) ? one->window.mean[metric] : NAN);
            fv_csv_real(c, one->share);
            fv_csv_real(c, one->within);
            fv_csv_real(c, one->between);
            fv_csv_text(c, by[one->varies]);
            fv_csv_whole(c, one->entries);
            fv_csv_whole(c, one->returns);
            fv_csv_whole(c, one->abandoned);
            fv_csv_whole(c, one->ranks);
            fv_csv_whole(c, one->threads);
            fv_csv_line(c);
        }
    fv_path_release(&path);
}

int fv_csv_samples(const struct fv_view *v, const char *directory)
{
    static const struct fv_csv_table tables[] = {
        { "cpu_procedures.csv", cost_procedures },
        { "cpu_procedures_by_thread.csv", cost_threads },
        { "cpu_lines.csv", cost_lines },
        { "cpu_loops.csv", cost_loops },
        { "sampled_functions.csv", sampled_functions },
    };
    struct fv_cost_profile profile;

    if (!v->model->samples.threads)
        return 0;
    fv_cost_profile_init(&profile, v->model, v->symbols, FV_COST_ALL_RANKS);
    int err = fv_csv_tables(v, directory, tables, sizeof(tables) / sizeof(*tables), &profile);
    fv_cost_profile_release(&profile);
    return err;
}
