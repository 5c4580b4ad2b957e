/* "run", "programs" and "ranks" of the JSON: what ran, and how each rank ended. */
#include "report/json_stream.h"
#include "report/views.h"
#include "report/words.h"

#include <math.h>

static void put_times(struct fv_json *j, double total_s, double compute_s, double mpi_s, double wait_s,
                      bool exact)
{
    fv_json_object(j, "time_s");
    fv_json_real(j, "total", total_s);
    fv_json_real(j, "compute", compute_s);
    fv_json_real(j, "mpi", mpi_s);
    fv_json_real(j, "wait", wait_s);
    fv_json_string(j, "wait_kind", exact ? "exact" : "estimate");
    fv_json_end(j);
}

/* A run into which fvmpi inserted barriers. */
static void put_barriers(struct fv_json *j, const struct fv_model *m)
{
    uint64_t count = 0;
    double seconds = 0;

    if (!m->barrier) {
        fv_json_null(j, "barriers");
        return;
    }
    for (size_t i = 0; i < m->site_count; i++) {
        count += m->sites[i].barriers;
        seconds += m->sites[i].barrier_s;
    }
    fv_json_object(j, "barriers");
    fv_json_string(j, "where", m->barrier == FV_BARRIER_BEFORE ? "before" : "after");
    fv_json_unsigned(j, "ranks", m->barrier_ranks);
    fv_json_unsigned(j, "count", count);
    fv_json_real(j, "seconds", seconds);
    fv_json_end(j);
}

static void put_run(struct fv_json *j, const struct fv_model *m)
{
    const struct fv_efficiency *e = &m->efficiency;
    uint64_t memory = 0, disk = 0;
    char word[FV_WORD];

    for (size_t i = 0; i < m->rank_count; i++) {
        memory += m->ranks[i].memory_bytes;
        disk += m->ranks[i].file_bytes;
    }
    fv_json_object(j, "run");
    fv_json_string(j, "command", m->command);
    fv_json_string(j, "mpi", m->mpi);
    fv_json_signed(j, "ranks", m->world_size);
    fv_json_bool(j, "complete", m->complete);
    fv_json_string(j, "start", fv_words_time(m->origin_ns, word));
    fv_json_real(j, "elapsed_s", m->elapsed_s);
    fv_json_string(j, "program", m->program);
    fv_json_string(j, "directory", m->directory);
    fv_json_string(j, "fvmpi", m->fvmpi);
    fv_json_unsigned(j, "ranks_reported", m->rank_count);
    fv_json_unsigned(j, "clocks", m->clock_count);
    put_barriers(j, m);
    put_times(j, e->total_s, e->compute_s, e->mpi_s, e->wait_s, e->wait_exact);
    fv_json_object(j, "overhead");
    fv_json_real(j, "seconds", m->tool_s);
    fv_json_real(j, "share", e->total_s > 0 ? m->tool_s / e->total_s : NAN);
    fv_json_unsigned(j, "memory_bytes", memory);
    fv_json_unsigned(j, "file_bytes", disk);
    fv_json_end(j);
    fv_json_end(j);
}

void fv_json_runs(struct fv_json *j, const char *key, const struct fv_rank_run *runs, size_t count)
{
    fv_json_array(j, key);
    for (size_t i = 0; i < count; i++) {
        fv_json_array(j, NULL);
        fv_json_signed(j, NULL, runs[i].first);
        fv_json_signed(j, NULL, runs[i].stride);
        fv_json_signed(j, NULL, runs[i].count);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_programs(struct fv_json *j, const struct fv_model *m)
{
    fv_json_array(j, "programs");
    for (size_t i = 0; i < m->program_count; i++) {
        const struct fv_program *p = &m->programs[i];

        fv_json_object(j, NULL);
        fv_json_string(j, "program", p->path);
        fv_json_string(j, "command", p->command);
        fv_json_unsigned(j, "commands", p->commands);
        fv_json_runs(j, "ranks", p->runs, p->run_count);
        put_times(j, p->total_s, p->compute_s, p->mpi_s, p->wait_s, p->wait_exact);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_in_call(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                        const struct fv_in_call_view *in)
{
    if (!in->active) {
        fv_json_null(j, "in_call");
        return;
    }
    fv_json_object(j, "in_call");
    fv_json_string(j, "function", v->model->functions[in->function].name);
    fv_json_path(j, v, path, in->node);
    fv_json_real(j, "seconds", in->seconds);
    bool peer = in->peer != FV_NO_PEER;

    if (peer && in->peer != FV_ANY_PEER)
        fv_json_signed(j, "peer", in->peer);
    else
        fv_json_null(j, "peer");
    if (peer && in->tag >= 0) /* MPI_ANY_TAG is negative */
        fv_json_signed(j, "tag", in->tag);
    else
        fv_json_null(j, "tag");
    fv_json_end(j);
}

/* Of a rank outside of MPI that has not finalized: where it came from. */
static void put_last_call(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                          const struct fv_rank *r)
{
    if (r->state == FV_RANK_FINALIZED || r->in_call.active || r->in_call.function == FV_NONE) {
        fv_json_null(j, "last_call");
        return;
    }
    fv_json_object(j, "last_call");
    fv_json_string(j, "function", v->model->functions[r->in_call.function].name);
    fv_json_path(j, v, path, r->in_call.node);
    fv_json_real(j, "seconds", r->in_call.seconds);
    fv_json_end(j);
}

static void put_threads(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                        const struct fv_rank *r)
{
    fv_json_array(j, "threads");
    for (uint32_t i = 0; i < r->threads; i++) {
        const struct fv_thread_view *t = &v->model->threads[r->first_thread + i];

        fv_json_object(j, NULL);
        fv_json_unsigned(j, "id", t->id);
        fv_json_unsigned(j, "tid", t->tid);
        fv_json_bool(j, "main", t->main);
        fv_json_unsigned(j, "used", t->used);
        fv_json_unsigned(j, "count", t->calls);
        fv_json_real(j, "mpi_time_s", t->mpi_time_s);
        fv_json_real(j, "overhead_s", t->tool_s);
        put_in_call(j, v, path, &t->in_call);
        fv_json_end(j);
    }
    fv_json_end(j);
}

static void put_rank(struct fv_json *j, const struct fv_view *v, struct fv_path *path,
                     const struct fv_rank *r)
{
    fv_json_object(j, NULL);
    fv_json_signed(j, "rank", r->world_rank);
    fv_json_string(j, "host", r->host);
    fv_json_unsigned(j, "pid", r->pid);
    fv_json_string(j, "state", fv_rank_state_name(r->state));
    fv_json_real(j, "app_time_s", r->app_time_s);
    fv_json_real(j, "mpi_time_s", r->mpi_time_s);
    fv_json_real(j, "wait_time_s", r->wait_time_s);
    put_in_call(j, v, path, &r->in_call);
    put_last_call(j, v, path, r);
    fv_json_object(j, "dropped");
    for (unsigned d = 0; d < FV_DROP_COUNT; d++)
        fv_json_unsigned(j, fv_drop_name(d), r->dropped[d]);
    fv_json_end(j);
    if (r->traced) {
        fv_json_object(j, "trace");
        fv_json_unsigned(j, "calls", r->trace_calls);
        fv_json_unsigned(j, "bytes", r->trace_bytes);
        fv_json_real(j, "stop_s", r->trace_stop_s);
        fv_json_end(j);
    } else {
        fv_json_null(j, "trace");
    }
    fv_json_bool(j, "aborted", r->aborted);
    fv_json_signed(j, "exit_code", r->exit_code);
    if (r->exit_seen)
        fv_json_signed(j, "exit_status", r->exit_status);
    else
        fv_json_null(j, "exit_status");
    fv_json_real(j, "delay_s", r->delay_s);
    fv_json_real(j, "paused_s", r->paused_s);
    fv_json_real(j, "init_s", r->init_s);
    fv_json_real(j, "finalize_s", r->finalize_s);
    fv_json_real(j, "begin_s", r->begin_s);
    fv_json_real(j, "end_s", r->end_s);
    fv_json_real(j, "overhead_s", r->tool_s);
    fv_json_unsigned(j, "memory_bytes", r->memory_bytes);
    fv_json_unsigned(j, "file_bytes", r->file_bytes);
    fv_json_string(j, "file", r->file);
    fv_json_string(j, "thread_level", r->thread_level);
    fv_json_unsigned(j, "program", r->program);
    put_threads(j, v, path, r);
    fv_json_end(j);
}

void fv_json_run(struct fv_json *j, const struct fv_view *v)
{
    struct fv_path path = { 0 };

    put_run(j, v->model);
    put_programs(j, v->model);
    fv_json_array(j, "ranks");
    for (size_t i = 0; i < v->model->rank_count; i++)
        put_rank(j, v, &path, &v->model->ranks[i]);
    fv_json_end(j);
    fv_path_release(&path);
}
