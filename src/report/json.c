/* The profile as JSON, schema fvmpi-profile-1. Every key of the contract is written, in its order; what
 * this version does not record is null or empty. */
#include "report/views.h"
#include "report/json_stream.h"
#include "report/words.h"

#include <math.h>

const char *fv_view_wait_kind(enum fv_wait_kind kind)
{
    return kind == FV_WAIT_EXACT ? "exact" : kind == FV_WAIT_ESTIMATE ? "estimate" : NULL;
}

uint64_t fv_view_bucket_low(unsigned bucket)
{
    return bucket ? UINT64_C(1) << (bucket - 1) : 0;
}

uint64_t fv_view_bucket_high(unsigned bucket)
{
    return bucket == 0 ? 0 : bucket >= 64 ? UINT64_MAX : (UINT64_C(1) << bucket) - 1;
}

static void put_wait(struct fv_json *j, double wait_s, enum fv_wait_kind kind)
{
    fv_json_real(j, "wait_s", kind == FV_WAIT_UNKNOWN ? NAN : wait_s);
}

static void put_stat(struct fv_json *j, const struct fv_stat *s)
{
    fv_json_object(j, "time_s");
    fv_json_real(j, "sum", s->sum);
    fv_json_real(j, "min", s->min);
    fv_json_real(j, "max", s->max);
    fv_json_real(j, "mean", fv_stat_mean(s));
    fv_json_real(j, "stddev", fv_stat_stddev(s));
    fv_json_end(j);
}

void fv_json_path(struct fv_json *j, const struct fv_view *v, struct fv_path *path, uint32_t node)
{
    fv_path_of(path, v->symbols, v->model, node);
    fv_json_frames(j, v, path, 0);
}

void fv_json_frames(struct fv_json *j, const struct fv_view *v, const struct fv_path *path, size_t first)
{
    fv_json_array(j, "path");
    for (size_t i = first; i < path->count; i++) {
        const struct fv_frame *f = &path->frames[i];
        char label[512];

        fv_json_object(j, NULL);
        fv_json_string(j, "function", fv_frame_label(f, v->model, label, sizeof(label)));
        fv_json_string(j, "file", f->file);
        if (f->line)
            fv_json_unsigned(j, "line", f->line);
        else
            fv_json_null(j, "line");
        fv_json_string(j, "module",
                       f->module >= FV_MODEL_FIRST_MODULE ? v->model->modules[f->module].path : NULL);
        fv_json_unsigned(j, "offset", f->offset);
        fv_json_bool(j, "inlined", f->inlined);
        fv_json_end(j);
    }
    fv_json_end(j);
}

/* ---- calls ---- */

static void put_site(struct fv_json *j, const struct fv_view *v, struct fv_path *path, size_t i)
{
    const struct fv_model *m = v->model;
    const struct fv_site *s = &m->sites[i];

    fv_json_object(j, NULL);
    fv_json_unsigned(j, "id", i + 1);
    fv_json_string(j, "function", m->functions[s->function].name);
    fv_json_path(j, v, path, s->node);
    fv_json_unsigned(j, "count", s->time.calls);
    put_stat(j, &s->time);
    put_wait(j, s->wait_s, s->wait_kind);
    fv_json_string(j, "wait_kind", fv_view_wait_kind(s->wait_kind));
    fv_json_real(j, "barrier_s", s->barriers ? s->barrier_s : NAN);
    fv_json_unsigned(j, "bytes_sent", s->time.bytes_sent);
    fv_json_unsigned(j, "bytes_received", s->time.bytes_received);
    fv_json_real(j, "cov", s->cov);
    fv_json_array(j, "per_rank");
    for (uint32_t k = 0; k < s->ranks; k++) {
        const struct fv_site_rank *r = &m->site_ranks[s->first + k];

        fv_json_object(j, NULL);
        fv_json_signed(j, "rank", m->ranks[r->rank].world_rank);
        fv_json_unsigned(j, "count", r->time.calls);
        fv_json_real(j, "time_s", r->time.sum);
        put_wait(j, r->wait_s, r->wait_kind);
        fv_json_real(j, "barrier_s", r->barriers ? r->barrier_s : NAN);
        fv_json_unsigned(j, "bytes_sent", r->time.bytes_sent);
        fv_json_unsigned(j, "bytes_received", r->time.bytes_received);
        fv_json_end(j);
    }
    fv_json_end(j);
    fv_json_end(j);
}

static void put_sizes(struct fv_json *j, const char *key, const struct fv_size_bucket *buckets)
{
    fv_json_array(j, key);
    for (unsigned i = 0; i < FV_SIZE_BUCKETS; i++) {
        if (!buckets[i].count && !buckets[i].bytes)
            continue;
        fv_json_object(j, NULL);
        fv_json_unsigned(j, "low", fv_view_bucket_low(i));
        fv_json_unsigned(j, "high", fv_view_bucket_high(i));
        fv_json_unsigned(j, "count", buckets[i].count);
        fv_json_unsigned(j, "bytes", buckets[i].bytes);
        fv_json_real(j, "seconds", buckets[i].seconds);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_histogram(struct fv_json *j, const struct fv_model *m, const struct fv_func *f)
{
    fv_json_object(j, NULL);
    fv_json_string(j, "function", f->name);
    put_sizes(j, "sent", f->sent);
    put_sizes(j, "received", f->received);
    fv_json_array(j, "durations");
    for (unsigned i = 0; i < FV_TIME_BUCKETS; i++) {
        if (!f->durations[i])
            continue;
        fv_json_object(j, NULL);
        fv_json_real(j, "low_s", i ? ldexp(m->duration_unit_s, (int)i - 1) : 0);
        fv_json_real(j, "high_s", i + 1 < FV_TIME_BUCKETS ? ldexp(m->duration_unit_s, (int)i) : NAN);
        fv_json_unsigned(j, "count", f->durations[i]);
        fv_json_end(j);
    }
    fv_json_end(j);
    fv_json_end(j);
}

static void put_function(struct fv_json *j, const struct fv_func *f)
{
    fv_json_object(j, NULL);
    fv_json_string(j, "function", f->name);
    fv_json_string(j, "class", fv_class_name(f->class));
    fv_json_unsigned(j, "count", f->time.calls);
    put_stat(j, &f->time);
    put_wait(j, f->wait_s, f->wait_kind);
    fv_json_string(j, "wait_kind", fv_view_wait_kind(f->wait_kind));
    fv_json_unsigned(j, "bytes_sent", f->time.bytes_sent);
    fv_json_unsigned(j, "bytes_received", f->time.bytes_received);
    fv_json_unsigned(j, "callsites", f->sites);
    fv_json_unsigned(j, "ranks", f->ranks);
    fv_json_end(j);
}

/* ---- communication ---- */

static void put_comm(struct fv_json *j, const struct fv_comm_view *c)
{
    char uid[24];

    fv_json_object(j, NULL);
    snprintf(uid, sizeof(uid), "%016llx", (unsigned long long)c->uid);
    fv_json_string(j, "uid", uid);
    snprintf(uid, sizeof(uid), "%016llx", (unsigned long long)c->parent);
    fv_json_string(j, "parent", c->parent ? uid : NULL);
    fv_json_string(j, "name", c->name[0] ? c->name : NULL);
    fv_json_signed(j, "size", c->size);
    fv_json_signed(j, "remote_size", c->remote_size);
    fv_json_bool(j, "inferred", c->flags & FV_COMM_INFERRED);
    fv_json_bool(j, "freed", c->flags & FV_COMM_FREED);
    fv_json_unsigned(j, "instances", c->ranks);
    fv_json_runs(j, "members", c->runs, c->run_count);
    fv_json_runs(j, "remote_members", c->runs + c->run_count, c->remote_run_count);
    fv_json_unsigned(j, "collectives", c->collectives);
    fv_json_unsigned(j, "count", c->time.calls);
    fv_json_real(j, "time_s", c->time.sum);
    fv_json_real(j, "wait_s", c->wait_s);
    fv_json_unsigned(j, "bytes_sent", c->time.bytes_sent);
    fv_json_unsigned(j, "bytes_received", c->time.bytes_received);
    fv_json_end(j);
}

static void put_matrix(struct fv_json *j, const struct fv_model *m)
{
    fv_json_array(j, "matrix");
    for (size_t i = 0; i < m->edge_count; i++) {
        fv_json_array(j, NULL);
        fv_json_signed(j, NULL, m->edges[i].from);
        fv_json_signed(j, NULL, m->edges[i].to);
        fv_json_unsigned(j, NULL, m->edges[i].messages);
        fv_json_unsigned(j, NULL, m->edges[i].bytes);
        fv_json_end(j);
    }
    fv_json_end(j);
}

/* ---- the rest ---- */

static void put_efficiency(struct fv_json *j, const struct fv_efficiency *e)
{
    fv_json_object(j, "efficiency");
    fv_json_real(j, "parallel", e->parallel);
    fv_json_real(j, "load_balance", e->load_balance);
    fv_json_real(j, "communication", e->communication);
    fv_json_real(j, "serialization", e->serialization);
    fv_json_real(j, "transfer", e->transfer);
    fv_json_end(j);
}

static void put_timeline(struct fv_json *j, const struct fv_model *m)
{
    const struct fv_timeline *t = &m->timeline;

    fv_json_object(j, "timeline");
    fv_json_unsigned(j, "bins", t->bins);
    fv_json_real(j, "bin_s", t->bin_s);
    fv_json_array(j, "ranks");
    for (size_t i = 0; i < m->rank_count; i++) {
        fv_json_object(j, NULL);
        fv_json_signed(j, "rank", m->ranks[i].world_rank);
        for (unsigned c = 0; c < FV_CLASS_COUNT; c++) {
            const float *bins = t->share + (i * FV_CLASS_COUNT + c) * t->bins;

            if (!t->used[c])
                continue;
            fv_json_array(j, fv_class_name(c));
            for (uint32_t k = 0; k < t->bins; k++)
                fv_json_real(j, NULL, round((double)bins[k] * 1e4) / 1e4);
            fv_json_end(j);
        }
        fv_json_end(j);
    }
    fv_json_end(j);
    fv_json_end(j);
}

static void put_problems(struct fv_json *j, const struct fv_model *m)
{
    fv_json_array(j, "problems");
    for (size_t i = 0; i < m->problems.count; i++) {
        const struct fv_problem *p = &m->problems.items[i];

        fv_json_object(j, NULL);
        fv_json_string(j, "kind", fv_problem_kind_name(p->kind));
        fv_json_string(j, "file", p->file);
        fv_json_string(j, "text", p->text);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_not_recorded(struct fv_json *j)
{
    static const char *const keys[] = { "io", "memory", "sensors" };

    for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        fv_json_array(j, keys[i]);
        fv_json_end(j);
    }
}

static void put_calls(struct fv_json *j, const struct fv_view *v, struct fv_path *path)
{
    const struct fv_model *m = v->model;

    fv_json_array(j, "callsites");
    for (size_t i = 0; i < m->site_count; i++)
        put_site(j, v, path, i);
    fv_json_end(j);
    fv_json_array(j, "histograms");
    for (size_t i = 0; i < m->function_count; i++)
        if (m->functions[i].sites)
            put_histogram(j, m, &m->functions[i]);
    fv_json_end(j);
}

int fv_view_json(const struct fv_view *v, FILE *out)
{
    struct fv_json json = { .out = out }, *j = &json;
    const struct fv_model *m = v->model;
    struct fv_path path = { 0 };

    fv_json_object(j, NULL);
    fv_json_string(j, "schema", "fvmpi-profile-1");
    fv_json_run(j, v);
    put_calls(j, v, &path);
    put_matrix(j, m);
    fv_json_array(j, "communicators");
    for (size_t i = 0; i < m->comm_count; i++)
        put_comm(j, &m->comms[i]);
    fv_json_end(j);
    put_efficiency(j, &m->efficiency);
    put_timeline(j, m);
    fv_json_sampling(j, v);
    fv_json_samples(j, v);
    fv_json_costs(j, v);
    fv_json_sections(j, v);
    fv_json_locks(j, v);
    fv_json_phases(j, v);
    put_not_recorded(j);
    fv_json_array(j, "mpi_functions");
    for (size_t i = 0; i < m->function_count; i++)
        if (m->functions[i].sites)
            put_function(j, &m->functions[i]);
    fv_json_end(j);
    put_problems(j, m);
    fv_json_hang(j, m);
    fv_json_waiting(j, v);
    fv_json_end(j);
    fv_path_release(&path);
    return fflush(out) || ferror(out) || json.failed ? -FV_EIO : 0;
}
