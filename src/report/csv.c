/* The profile as comma-separated tables (RFC 4180, UTF-8, a header line each), for spreadsheets and data
 * frames. Times are seconds, sizes bytes; what is not known is an empty field. */
#include "report/csv_stream.h"
#include "report/views.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static void stat_fields(struct fv_csv *c, const struct fv_stat *s)
{
    fv_csv_whole(c, s->calls);
    fv_csv_real(c, s->sum);
    fv_csv_real(c, s->min);
    fv_csv_real(c, s->max);
    fv_csv_real(c, fv_stat_mean(s));
    fv_csv_real(c, fv_stat_stddev(s));
    fv_csv_whole(c, s->bytes_sent);
    fv_csv_whole(c, s->bytes_received);
}

static void wait_fields(struct fv_csv *c, double wait_s, enum fv_wait_kind kind)
{
    fv_csv_real(c, kind == FV_WAIT_UNKNOWN ? NAN : wait_s);
    fv_csv_text(c, fv_view_wait_kind(kind));
}

static void callsites(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_model *m = v->model;
    struct fv_path path = { 0 };

    fputs("id,function,file,line,path,count,time_s,min_s,max_s,mean_s,stddev_s,bytes_sent,bytes_received,"
          "wait_s,"
          "wait_kind,ranks,rank_min_s,rank_mean_s,rank_max_s,cov\r\n",
          c->out);
    for (size_t i = 0; i < m->site_count; i++) {
        const struct fv_site *s = &m->sites[i];

        fv_csv_whole(c, i + 1);
        fv_csv_text(c, m->functions[s->function].name);
        fv_csv_path_fields(c, v, &path, s->node);
        stat_fields(c, &s->time);
        wait_fields(c, s->wait_s, s->wait_kind);
        fv_csv_whole(c, s->ranks);
        fv_csv_real(c, s->rank_min);
        fv_csv_real(c, s->rank_mean);
        fv_csv_real(c, s->rank_max);
        fv_csv_real(c, s->cov);
        fv_csv_line(c);
    }
    fv_path_release(&path);
}

static void callsites_by_rank(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_model *m = v->model;

    fputs("id,rank,count,time_s,min_s,max_s,mean_s,stddev_s,bytes_sent,bytes_received,wait_s,wait_kind\r\n",
          c->out);
    for (size_t i = 0; i < m->site_rank_count; i++) {
        const struct fv_site_rank *r = &m->site_ranks[i];

        fv_csv_whole(c, r->site + 1);
        fv_csv_number(c, m->ranks[r->rank].world_rank);
        stat_fields(c, &r->time);
        wait_fields(c, r->wait_s, r->wait_kind);
        fv_csv_line(c);
    }
}

static void functions(struct fv_csv *c, const struct fv_view *v)
{
    fputs(
        "function,class,count,time_s,min_s,max_s,mean_s,stddev_s,bytes_sent,bytes_received,wait_s,wait_kind,"
        "callsites,ranks\r\n",
        c->out);
    for (size_t i = 0; i < v->model->function_count; i++) {
        const struct fv_func *f = &v->model->functions[i];

        if (!f->sites)
            continue;
        fv_csv_text(c, f->name);
        fv_csv_text(c, fv_class_name(f->class));
        stat_fields(c, &f->time);
        wait_fields(c, f->wait_s, f->wait_kind);
        fv_csv_whole(c, f->sites);
        fv_csv_whole(c, f->ranks);
        fv_csv_line(c);
    }
}

static void ranks(struct fv_csv *c, const struct fv_view *v)
{
    fputs("rank,host,pid,state,app_time_s,mpi_time_s,wait_time_s,delay_s,paused_s,begin_s,end_s,overhead_s,"
          "in_call,"
          "in_call_s",
          c->out);
    for (unsigned d = 0; d < FV_DROP_COUNT; d++)
        fprintf(c->out, ",dropped_%s", fv_drop_name(d));
    fputs(",program", c->out);
    fv_csv_line(c);
    for (size_t i = 0; i < v->model->rank_count; i++) {
        const struct fv_rank *r = &v->model->ranks[i];

        fv_csv_number(c, r->world_rank);
        fv_csv_text(c, r->host);
        fv_csv_whole(c, r->pid);
        fv_csv_text(c, fv_rank_state_name(r->state));
        fv_csv_real(c, r->app_time_s);
        fv_csv_real(c, r->mpi_time_s);
        fv_csv_real(c, r->wait_time_s);
        fv_csv_real(c, r->delay_s);
        fv_csv_real(c, r->paused_s);
        fv_csv_real(c, r->begin_s);
        fv_csv_real(c, r->end_s);
        fv_csv_real(c, r->tool_s);
        fv_csv_text(c, r->in_call.active ? v->model->functions[r->in_call.function].name : "");
        fv_csv_real(c, r->in_call.active ? r->in_call.seconds : NAN);
        for (unsigned d = 0; d < FV_DROP_COUNT; d++)
            fv_csv_whole(c, r->dropped[d]);
        fv_csv_text(c, v->model->programs[r->program].path);
        fv_csv_line(c);
    }
}

static void programs(struct fv_csv *c, const struct fv_view *v)
{
    fputs("program,command,commands,ranks,app_time_s,compute_s,mpi_time_s,wait_time_s,wait_kind\r\n", c->out);
    for (size_t i = 0; i < v->model->program_count; i++) {
        const struct fv_program *p = &v->model->programs[i];

        fv_csv_text(c, p->path);
        fv_csv_text(c, p->command);
        fv_csv_whole(c, p->commands);
        fv_csv_whole(c, p->ranks);
        fv_csv_real(c, p->total_s);
        fv_csv_real(c, p->compute_s);
        fv_csv_real(c, p->mpi_s);
        fv_csv_real(c, p->wait_s);
        fv_csv_text(c, p->wait_exact ? "exact" : "estimate");
        fv_csv_line(c);
    }
}

static void buckets(struct fv_csv *c, const char *function, const char *direction,
                    const struct fv_size_bucket *b)
{
    for (unsigned i = 0; i < FV_SIZE_BUCKETS; i++) {
        if (!b[i].count && !b[i].bytes)
            continue;
        fv_csv_text(c, function);
        fv_csv_text(c, direction);
        fv_csv_whole(c, fv_view_bucket_low(i));
        fv_csv_whole(c, fv_view_bucket_high(i));
        fv_csv_whole(c, b[i].count);
        fv_csv_whole(c, b[i].bytes);
        fv_csv_real(c, b[i].seconds);
        fv_csv_line(c);
    }
}

static void histograms(struct fv_csv *c, const struct fv_view *v)
{
    fputs("function,direction,low,high,count,bytes,seconds\r\n", c->out);
    for (size_t i = 0; i < v->model->function_count; i++) {
        buckets(c, v->model->functions[i].name, "sent", v->model->functions[i].sent);
        buckets(c, v->model->functions[i].name, "received", v->model->functions[i].received);
    }
}

static void matrix(struct fv_csv *c, const struct fv_view *v)
{
    fputs("from,to,messages,bytes\r\n", c->out);
    for (size_t i = 0; i < v->model->edge_count; i++) {
        fv_csv_number(c, v->model->edges[i].from);
        fv_csv_number(c, v->model->edges[i].to);
        fv_csv_whole(c, v->model->edges[i].messages);
        fv_csv_whole(c, v->model->edges[i].bytes);
        fv_csv_line(c);
    }
}

static void communicators(struct fv_csv *c, const struct fv_view *v)
{
    char uid[24];

    fputs("uid,name,size,remote_size,instances,collectives,count,time_s,wait_s,bytes_sent,bytes_received\r\n",
          c->out);
    for (size_t i = 0; i < v->model->comm_count; i++) {
        const struct fv_comm_view *comm = &v->model->comms[i];

        snprintf(uid, sizeof(uid), "%016llx", (unsigned long long)comm->uid);
        fv_csv_text(c, uid);
        fv_csv_text(c, comm->name);
        fv_csv_number(c, comm->size);
        fv_csv_number(c, comm->remote_size);
        fv_csv_whole(c, comm->ranks);
        fv_csv_whole(c, comm->collectives);
        fv_csv_whole(c, comm->time.calls);
        fv_csv_real(c, comm->time.sum);
        fv_csv_real(c, comm->wait_s);
        fv_csv_whole(c, comm->time.bytes_sent);
        fv_csv_whole(c, comm->time.bytes_received);
        fv_csv_line(c);
    }
}

static void timeline(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_timeline *t = &v->model->timeline;

    fputs("rank,begin_s,end_s", c->out);
    for (unsigned k = 0; k < FV_CLASS_COUNT; k++)
        if (t->used[k])
            fprintf(c->out, ",%s", fv_class_name(k));
    fv_csv_line(c);
    for (size_t i = 0; i < v->model->rank_count; i++)
        for (uint32_t bin = 0; bin < t->bins; bin++) {
            fv_csv_number(c, v->model->ranks[i].world_rank);
            fv_csv_real(c, bin * t->bin_s);
            fv_csv_real(c, (bin + 1) * t->bin_s);
            for (unsigned k = 0; k < FV_CLASS_COUNT; k++)
                if (t->used[k])
                    fv_csv_real(c, (double)t->share[(i * FV_CLASS_COUNT + k) * t->bins + bin]);
            fv_csv_line(c);
        }
}

static void callsite(struct fv_csv *c, uint32_t site)
{
    if (site == FV_NONE)
        fv_csv_text(c, "");
    else
        fv_csv_whole(c, (uint64_t)site + 1);
}

static void culprits(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_causes *causes = &v->model->causes;
    bool traced = causes->source == FV_CAUSES_TRACE;

    fputs("rank,callsite,where,cost_s,direct_s,propagated_s\r\n", c->out);
    for (size_t i = 0; i < causes->culprit_count; i++) {
        const struct fv_culprit *k = &causes->culprits[i];

        fv_csv_number(c, v->model->ranks[k->rank].world_rank);
        callsite(c, k->site);
        fv_csv_text(c, k->where == FV_PLACE_MPI ? "mpi" : "computing");
        fv_csv_real(c, k->cost_s);
        fv_csv_real(c, traced ? fmin(k->direct_s, k->cost_s) : NAN);
        fv_csv_real(c, traced ? fmax(k->cost_s - k->direct_s, 0) : NAN);
        fv_csv_line(c);
    }
}

static void wait_kinds(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_causes *causes = &v->model->causes;

    fputs("kind,count,wait_s\r\n", c->out);
    for (size_t i = 0; i < causes->kind_count; i++) {
        fv_csv_text(c, causes->kinds[i].kind);
        fv_csv_whole(c, causes->kinds[i].count);
        fv_csv_real(c, causes->kinds[i].wait_s);
        fv_csv_line(c);
    }
}

static void regions(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_causes *causes = &v->model->causes;

    fputs("callsite,ranks,mean_s,max_s,max_rank,balance,critical_computing_s,critical_mpi_s\r\n", c->out);
    for (size_t i = 0; i < causes->region_count; i++) {
        const struct fv_region *r = &causes->regions[i];

        callsite(c, r->site);
        fv_csv_whole(c, r->ranks);
        fv_csv_real(c, r->mean_s);
        fv_csv_real(c, r->max_s);
        fv_csv_number(c, v->model->ranks[r->max_rank].world_rank);
        fv_csv_real(c, r->max_s > 0 ? r->mean_s / r->max_s : NAN);
        fv_csv_real(c, r->critical_s[FV_PLACE_COMPUTING]);
        fv_csv_real(c, r->critical_s[FV_PLACE_MPI]);
        fv_csv_line(c);
    }
}

/* A line for each section and rank. */
static void sections(struct fv_csv *c, const struct fv_view *v)
{
    const struct fv_sections_view *s = &v->model->sections;

    fputs("section,number,level,whole,rank,count,threads", c->out);
    for (unsigned k = 0; k < FV_SECTION_VALUES; k++)
        fprintf(c->out, ",%s", fv_section_value_name(k));
    fputs(",wait_kind\r\n", c->out);
    for (size_t i = 0; i < s->rank_count; i++) {
        const struct fv_section_rank *r = &s->ranks[i];

        fv_csv_text(c, s->items[r->section].name);
        fv_csv_number(c, s->items[r->section].number);
        fv_csv_number(c, s->items[r->section].level);
        fv_csv_whole(c, s->items[r->section].whole);
        fv_csv_number(c, v->model->ranks[r->rank].world_rank);
        fv_csv_whole(c, r->count);
        fv_csv_whole(c, r->threads);
        for (unsigned k = 0; k < FV_SECTION_VALUES; k++)
            fv_csv_real(c, r->value[k]);
        fv_csv_text(c, fv_view_wait_kind(r->wait_kind));
        fv_csv_line(c);
    }
}

int fv_view_csv(const struct fv_view *v, const char *directory)
{
    static const struct fv_csv_table tables[] = {
        { "callsites.csv", callsites },   { "callsites_by_rank.csv", callsites_by_rank },
        { "functions.csv", functions },   { "ranks.csv", ranks },
        { "programs.csv", programs },     { "histograms.csv", histograms },
        { "matrix.csv", matrix },         { "communicators.csv", communicators },
        { "timeline.csv", timeline },     { "culprits.csv", culprits },
        { "wait_kinds.csv", wait_kinds }, { "regions.csv", regions },
        { "sections.csv", sections },
    };

    if (mkdir(directory, 0777) && errno != EEXIST) {
        fv_log("%s: %s; choose another directory for --csv", directory, strerror(errno));
        return -FV_EIO;
    }
    int err = fv_csv_tables(v, directory, tables, sizeof(tables) / sizeof(*tables), NULL);
    if (!err)
        err = fv_csv_samples(v, directory);
    return err ? err : fv_csv_locks(v, directory);
}
