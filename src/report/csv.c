/* The profile as comma-separated tables (RFC 4180, UTF-8, a header line each), for spreadsheets and data
 * frames. Times are seconds, sizes bytes; what is not known is an empty field. */
#include "report/views.h"
#include "report/words.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

struct csv {
    FILE *out;
    bool any; /* a field in this line */
};

static void comma(struct csv *c)
{
    if (c->any)
        putc_unlocked(',', c->out);
    c->any = true;
}

static void text(struct csv *c, const char *value)
{
    char clean[4096];

    comma(c);
    fv_words_clean(value ? value : "", clean, sizeof(clean));
    if (!clean[strcspn(clean, ",\"\r\n")] && clean[0] != ' ') {
        fwrite_unlocked(clean, 1, strlen(clean), c->out);
        return;
    }
    putc_unlocked('"', c->out);
    for (const char *p = clean; *p; p++) {
        if (*p == '"')
            putc_unlocked('"', c->out);
        putc_unlocked(*p, c->out);
    }
    putc_unlocked('"', c->out);
}

static void real(struct csv *c, double value)
{
    char word[FV_REAL];

    comma(c);
    if (isfinite(value))
        fwrite_unlocked(word, 1, fv_words_real(value, word), c->out);
}

static void whole(struct csv *c, uint64_t value)
{
    comma(c);
    fprintf(c->out, "%llu", (unsigned long long)value);
}

static void number(struct csv *c, int64_t value)
{
    comma(c);
    fprintf(c->out, "%lld", (long long)value);
}

static void line(struct csv *c)
{
    fwrite_unlocked("\r\n", 1, 2, c->out);
    c->any = false;
}

static void stat_fields(struct csv *c, const struct fv_stat *s)
{
    whole(c, s->calls);
    real(c, s->sum);
    real(c, s->min);
    real(c, s->max);
    real(c, fv_stat_mean(s));
    real(c, fv_stat_stddev(s));
    whole(c, s->bytes_sent);
    whole(c, s->bytes_received);
}

static void wait_fields(struct csv *c, double wait_s, enum fv_wait_kind kind)
{
    real(c, kind == FV_WAIT_UNKNOWN ? NAN : wait_s);
    text(c, fv_view_wait_kind(kind));
}

/* The innermost frame is the one that calls MPI; the path reads outwards. */
static void path_fields(struct csv *c, const struct fv_view *v, struct fv_path *path, uint32_t node)
{
    char all[4000], label[512];
    size_t used = 0;

    fv_path_of(path, v->symbols, v->model, node);
    all[0] = '\0';
    for (size_t i = 0; i < path->count && used < sizeof(all); i++)
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? " < " : "",
                                 fv_frame_label(&path->frames[i], v->model, label, sizeof(label)));
    text(c, path->count ? path->frames[0].file : "");
    if (path->count && path->frames[0].line)
        whole(c, path->frames[0].line);
    else
        text(c, "");
    text(c, all);
}

static void callsites(struct csv *c, const struct fv_view *v)
{
    const struct fv_model *m = v->model;
    struct fv_path path = { 0 };

    fputs("id,function,file,line,path,count,time_s,min_s,max_s,mean_s,stddev_s,bytes_sent,bytes_received,"
          "wait_s,"
          "wait_kind,ranks,rank_min_s,rank_mean_s,rank_max_s,cov\r\n",
          c->out);
    for (size_t i = 0; i < m->site_count; i++) {
        const struct fv_site *s = &m->sites[i];

        whole(c, i + 1);
        text(c, m->functions[s->function].name);
        path_fields(c, v, &path, s->node);
        stat_fields(c, &s->time);
        wait_fields(c, s->wait_s, s->wait_kind);
        whole(c, s->ranks);
        real(c, s->rank_min);
        real(c, s->rank_mean);
        real(c, s->rank_max);
        real(c, s->cov);
        line(c);
    }
    fv_path_release(&path);
}

static void callsites_by_rank(struct csv *c, const struct fv_view *v)
{
    const struct fv_model *m = v->model;

    fputs("id,rank,count,time_s,min_s,max_s,mean_s,stddev_s,bytes_sent,bytes_received,wait_s,wait_kind\r\n",
          c->out);
    for (size_t i = 0; i < m->site_rank_count; i++) {
        const struct fv_site_rank *r = &m->site_ranks[i];

        whole(c, r->site + 1);
        number(c, m->ranks[r->rank].world_rank);
        stat_fields(c, &r->time);
        wait_fields(c, r->wait_s, r->wait_kind);
        line(c);
    }
}

static void functions(struct csv *c, const struct fv_view *v)
{
    fputs(
        "function,class,count,time_s,min_s,max_s,mean_s,stddev_s,bytes_sent,bytes_received,wait_s,wait_kind,"
        "callsites,ranks\r\n",
        c->out);
    for (size_t i = 0; i < v->model->function_count; i++) {
        const struct fv_func *f = &v->model->functions[i];

        if (!f->sites)
            continue;
        text(c, f->name);
        text(c, fv_class_name(f->class));
        stat_fields(c, &f->time);
        wait_fields(c, f->wait_s, f->wait_kind);
        whole(c, f->sites);
        whole(c, f->ranks);
        line(c);
    }
}

static void ranks(struct csv *c, const struct fv_view *v)
{
    fputs("rank,host,pid,state,app_time_s,mpi_time_s,wait_time_s,delay_s,paused_s,begin_s,end_s,overhead_s,"
          "in_call,"
          "in_call_s",
          c->out);
    for (unsigned d = 0; d < FV_DROP_COUNT; d++)
        fprintf(c->out, ",dropped_%s", fv_drop_name(d));
    fputs(",program", c->out);
    line(c);
    for (size_t i = 0; i < v->model->rank_count; i++) {
        const struct fv_rank *r = &v->model->ranks[i];

        number(c, r->world_rank);
        text(c, r->host);
        whole(c, r->pid);
        text(c, fv_rank_state_name(r->state));
        real(c, r->app_time_s);
        real(c, r->mpi_time_s);
        real(c, r->wait_time_s);
        real(c, r->delay_s);
        real(c, r->paused_s);
        real(c, r->begin_s);
        real(c, r->end_s);
        real(c, r->tool_s);
        text(c, r->in_call.active ? v->model->functions[r->in_call.function].name : "");
        real(c, r->in_call.active ? r->in_call.seconds : NAN);
        for (unsigned d = 0; d < FV_DROP_COUNT; d++)
            whole(c, r->dropped[d]);
        text(c, v->model->programs[r->program].path);
        line(c);
    }
}

static void programs(struct csv *c, const struct fv_view *v)
{
    fputs("program,command,commands,ranks,app_time_s,compute_s,mpi_time_s,wait_time_s,wait_kind\r\n", c->out);
    for (size_t i = 0; i < v->model->program_count; i++) {
        const struct fv_program *p = &v->model->programs[i];

        text(c, p->path);
        text(c, p->command);
        whole(c, p->commands);
        whole(c, p->ranks);
        real(c, p->total_s);
        real(c, p->compute_s);
        real(c, p->mpi_s);
        real(c, p->wait_s);
        text(c, p->wait_exact ? "exact" : "estimate");
        line(c);
    }
}

static void buckets(struct csv *c, const char *function, const char *direction,
                    const struct fv_size_bucket *b)
{
    for (unsigned i = 0; i < FV_SIZE_BUCKETS; i++) {
        if (!b[i].count && !b[i].bytes)
            continue;
        text(c, function);
        text(c, direction);
        whole(c, fv_view_bucket_low(i));
        whole(c, fv_view_bucket_high(i));
        whole(c, b[i].count);
        whole(c, b[i].bytes);
        real(c, b[i].seconds);
        line(c);
    }
}

static void histograms(struct csv *c, const struct fv_view *v)
{
    fputs("function,direction,low,high,count,bytes,seconds\r\n", c->out);
    for (size_t i = 0; i < v->model->function_count; i++) {
        buckets(c, v->model->functions[i].name, "sent", v->model->functions[i].sent);
        buckets(c, v->model->functions[i].name, "received", v->model->functions[i].received);
    }
}

static void matrix(struct csv *c, const struct fv_view *v)
{
    fputs("from,to,messages,bytes\r\n", c->out);
    for (size_t i = 0; i < v->model->edge_count; i++) {
        number(c, v->model->edges[i].from);
        number(c, v->model->edges[i].to);
        whole(c, v->model->edges[i].messages);
        whole(c, v->model->edges[i].bytes);
        line(c);
    }
}

static void communicators(struct csv *c, const struct fv_view *v)
{
    char uid[24];

    fputs("uid,name,size,remote_size,instances,collectives,count,time_s,wait_s,bytes_sent,bytes_received\r\n",
          c->out);
    for (size_t i = 0; i < v->model->comm_count; i++) {
        const struct fv_comm_view *comm = &v->model->comms[i];

        snprintf(uid, sizeof(uid), "%016llx", (unsigned long long)comm->uid);
        text(c, uid);
        text(c, comm->name);
        number(c, comm->size);
        number(c, comm->remote_size);
        whole(c, comm->ranks);
        whole(c, comm->collectives);
        whole(c, comm->time.calls);
        real(c, comm->time.sum);
        real(c, comm->wait_s);
        whole(c, comm->time.bytes_sent);
        whole(c, comm->time.bytes_received);
        line(c);
    }
}

static void timeline(struct csv *c, const struct fv_view *v)
{
    const struct fv_timeline *t = &v->model->timeline;

    fputs("rank,begin_s,end_s", c->out);
    for (unsigned k = 0; k < FV_CLASS_COUNT; k++)
        if (t->used[k])
            fprintf(c->out, ",%s", fv_class_name(k));
    line(c);
    for (size_t i = 0; i < v->model->rank_count; i++)
        for (uint32_t bin = 0; bin < t->bins; bin++) {
            number(c, v->model->ranks[i].world_rank);
            real(c, bin * t->bin_s);
            real(c, (bin + 1) * t->bin_s);
            for (unsigned k = 0; k < FV_CLASS_COUNT; k++)
                if (t->used[k])
                    real(c, (double)t->share[(i * FV_CLASS_COUNT + k) * t->bins + bin]);
            line(c);
        }
}

static void callsite(struct csv *c, uint32_t site)
{
    if (site == FV_NONE)
        text(c, "");
    else
        whole(c, (uint64_t)site + 1);
}

static void culprits(struct csv *c, const struct fv_view *v)
{
    const struct fv_causes *causes = &v->model->causes;
    bool traced = causes->source == FV_CAUSES_TRACE;

    fputs("rank,callsite,where,cost_s,direct_s,propagated_s\r\n", c->out);
    for (size_t i = 0; i < causes->culprit_count; i++) {
        const struct fv_culprit *k = &causes->culprits[i];

        number(c, v->model->ranks[k->rank].world_rank);
        callsite(c, k->site);
        text(c, k->where == FV_PLACE_MPI ? "mpi" : "computing");
        real(c, k->cost_s);
        real(c, traced ? fmin(k->direct_s, k->cost_s) : NAN);
        real(c, traced ? fmax(k->cost_s - k->direct_s, 0) : NAN);
        line(c);
    }
}

static void wait_kinds(struct csv *c, const struct fv_view *v)
{
    const struct fv_causes *causes = &v->model->causes;

    fputs("kind,count,wait_s\r\n", c->out);
    for (size_t i = 0; i < causes->kind_count; i++) {
        text(c, causes->kinds[i].kind);
        whole(c, causes->kinds[i].count);
        real(c, causes->kinds[i].wait_s);
        line(c);
    }
}

static void regions(struct csv *c, const struct fv_view *v)
{
    const struct fv_causes *causes = &v->model->causes;

    fputs("callsite,ranks,mean_s,max_s,max_rank,balance,critical_computing_s,critical_mpi_s\r\n", c->out);
    for (size_t i = 0; i < causes->region_count; i++) {
        const struct fv_region *r = &causes->regions[i];

        callsite(c, r->site);
        whole(c, r->ranks);
        real(c, r->mean_s);
        real(c, r->max_s);
        number(c, v->model->ranks[r->max_rank].world_rank);
        real(c, r->max_s > 0 ? r->mean_s / r->max_s : NAN);
        real(c, r->critical_s[FV_PLACE_COMPUTING]);
        real(c, r->critical_s[FV_PLACE_MPI]);
        line(c);
    }
}

static int write_table(const struct fv_view *v, const char *directory, const char *name,
                       void (*table)(struct csv *, const struct fv_view *))
{
    char path[4096];
    struct csv c = { 0 };
    int failed;

    if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
        return -FV_EINVAL;
    c.out = fopen(path, "we");
    if (!c.out) {
        fv_log("%s: %s; choose another directory for --csv", path, strerror(errno));
        return -FV_EIO;
    }
    table(&c, v);
    failed = ferror(c.out);
    if (fclose(c.out) || failed) {
        fv_log("%s: %s; choose another directory for --csv", path, strerror(errno));
        return -FV_EIO;
    }
    return 0;
}

int fv_view_csv(const struct fv_view *v, const char *directory)
{
    static const struct {
        const char *name;
        void (*table)(struct csv *, const struct fv_view *);
    } tables[] = {
        { "callsites.csv", callsites }, { "callsites_by_rank.csv", callsites_by_rank },
        { "functions.csv", functions }, { "ranks.csv", ranks },
        { "programs.csv", programs },   { "histograms.csv", histograms },
        { "matrix.csv", matrix },       { "communicators.csv", communicators },
        { "timeline.csv", timeline },   { "culprits.csv", culprits },
        { "wait_kinds.csv", wait_kinds }, { "regions.csv", regions },
    };

    if (mkdir(directory, 0777) && errno != EEXIST) {
        fv_log("%s: %s; choose another directory for --csv", directory, strerror(errno));
        return -FV_EIO;
    }
    for (unsigned i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        int err = write_table(v, directory, tables[i].name, tables[i].table);

        if (err)
            return err;
    }
    return 0;
}
