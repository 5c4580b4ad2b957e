/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks, threads and states: who ran when, and what became of each rank. */
#include "profile/build.h"
#include "base/process.h"
#include "experiment/chunks.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOOD_BASE_NS 10000000 /* clock points that are nearer tell the frequency worse than others may */

const char *fv_rank_state_name(enum fv_rank_state state)
{
    static const char *const names[] = { FV_RANK_STATES(FV_LIST_WORD) };

    return names[state];
}

/* ---- hosts ---- */

struct fv_crowd fv_crowd_of(const struct fv_model *m, const char *host)
{
    uint64_t mask[sizeof(m->ranks->cpu_mask) / sizeof(*m->ranks->cpu_mask)] = { 0 };
    size_t words = sizeof(mask) / sizeof(*mask);
    struct fv_crowd c = { 0 };

    for (size_t i = 0; i < m->rank_count; i++) {
        if (strcmp(m->ranks[i].host, host))
            continue;
        c.ranks++;
        for (size_t k = 0; k < words; k++)
            mask[k] |= m->ranks[i].cpu_mask[k];
    }
    for (size_t k = 0; k < words; k++)
        c.cpus += (unsigned)__builtin_popcountll(mask[k]);
    c.shared = c.cpus && c.ranks > c.cpus;
    return c;
}

/* ---- clocks ---- */

/* By the two points of a rank that are farthest apart. */
static double rate_of(const struct fv_build_file *file, int64_t base_ns)
{
    return fv_clock_rate(&file->header->first, &file->last_point, base_ns);
}

/* The middle of what the ranks measured: a damaged header moves it little. */
static double middle_rate(const struct fv_build *b, uint32_t clock, int64_t base_ns)
{
    const struct fv_model *m = b->model;
    double *rates = fv_xcalloc(m->rank_count, sizeof(*rates)), hz = 0;
    size_t count = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].clock == clock && (hz = rate_of(&b->files[i], base_ns)) > 0)
            rates[count++] = hz;
    qsort(rates, count, sizeof(*rates), fv_by_real);
    hz = count ? rates[count / 2] : 0;
    free(rates);
    return hz;
}

static double frequency(struct fv_build *b, uint32_t clock, const struct fv_file_header *first)
{
    struct fv_model *m = b->model;

    if (m->clocks[clock].kind == FV_CLOCK_MONOTONIC)
        return 1e9;
    double hz = middle_rate(b, clock, GOOD_BASE_NS);
    if (!hz)
        hz = fv_clock_hz_since(first); /* killed before a second point was taken, or short, but on this host */
    if (!hz)
        hz = middle_rate(b, clock, 1); /* as in the archive */
    if (!hz)
        hz = (double)first->nominal_hz;
    if (hz > 1e5 && hz < 1e11)
        return hz;
    fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                   "the clock's frequency is not known on %s: seconds are computed for 1 GHz", first->host);
    return 1e9;
}

static void find_clocks(struct fv_build *b)
{
    struct fv_model *m = b->model;
    struct fv_clock_id *known = fv_xcalloc(m->rank_count + 1, sizeof(*known));

    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_file_header *h = b->files[i].header;
        const struct fv_clock_id id = { h->clock_kind, h->boot_id, h->host, &h->first };
        size_t k = 0;

        while (k < m->clock_count && !fv_clock_same(&known[k], &id))
            k++;
        if (k == m->clock_count) {
            FV_GROW(m->clocks, m->clock_room, k + 1);
            m->clocks[m->clock_count++] = (struct fv_clock){ .kind = h->clock_kind, .first = h->first };
            known[k] = id;
        }
        m->ranks[i].clock = (uint32_t)k;
    }
    free(known);
    m->same_clock = m->clock_count == 1;
}

static void set_clocks(struct fv_build *b, void *state)
{
    struct fv_model *m = b->model;
    int64_t origin = INT64_MAX;

    (void)state;
    for (size_t k = 0; k < m->clock_count; k++)
        for (size_t i = 0; i < m->rank_count; i++)
            if (m->ranks[i].clock == k) {
                m->clocks[k].hz = frequency(b, (uint32_t)k, b->files[i].header);
                break;
            }
    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_clock *clock = &m->clocks[m->ranks[i].clock];
        const struct fv_file_header *h = b->files[i].header;
        double before = (double)(int64_t)(h->begin_ticks - clock->first.ticks) / clock->hz * 1e9;

        if (!h->begin_ticks || !(before > -1e18 && before < 1e18))
            before = 0;
        int64_t begin = (int64_t)((uint64_t)clock->first.realtime_ns + (uint64_t)(int64_t)floor(before));
        origin = begin < origin ? begin : origin;
    }
    m->origin_ns = origin;
    for (size_t k = 0; k < m->clock_count; k++)
        m->clocks[k].anchor_s = (double)(int64_t)((uint64_t)m->clocks[k].first.realtime_ns - (uint64_t)origin) / 1e9;
    m->duration_unit_s = (double)(1u << FV_TIME_SHIFT) / m->clocks[0].hz;
}

/* ---- ranks and threads ---- */

static void add_thread(struct fv_build *b, uint32_t rank, const struct fv_thread_record *t)
{
    struct fv_model *m = b->model;
    double per_call = (double)b->files[rank].header->tool_call_ticks / 256;

    FV_GROW(m->threads, m->thread_room, m->thread_count + 1);
    struct fv_thread_view *v = &m->threads[m->thread_count++];
    *v = (struct fv_thread_view){
        .id = t->id, .tid = t->tid, .used = t->threads, .main = t->main == 1, .calls = t->calls
    };
    if (t->era != b->files[rank].header->era) /* forgotten (MPI_Pcontrol(2)): it came to no call since */
        v->calls = 0;
    v->alive = !t->end;
    v->in_call.function = FV_NONE;
    v->begin_s = fv_build_time(m, rank, t->begin);
    v->end_s = t->end ? fv_build_time(m, rank, t->end) : 0;
    bool told = t->usage_of && t->usage_of == t->threads;
    v->user_s = told ? (double)t->user_ns * 1e-9 : NAN;
    v->system_s = told ? (double)t->system_ns * 1e-9 : NAN;
    v->mpi_time_s = v->calls ? fv_build_seconds(m, rank, t->mpi_ticks) : 0;
    v->tool_s = ((double)t->cold_ticks + (double)v->calls * per_call) / m->clocks[m->ranks[rank].clock].hz;
    m->ranks[rank].tool_s += v->tool_s;
    m->ranks[rank].threads++;
    m->ranks[rank].mpi_threads += v->calls > 0;
    if (t->main == 1)
        m->ranks[rank].waited_s = fv_build_seconds(m, rank, (uint64_t)t->waited << FV_WAITED_SHIFT);
    m->ranks[rank].switch_threads += v->calls > 0 && t->switches == 1;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return (int64_t)(b - a) > 0 ? b : a;
}

static void read_threads(struct fv_build *b, uint32_t rank, uint64_t *life)
{
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_THREADS);
    struct fv_thread_record t;
    bool main = false;

    b->model->ranks[rank].first_thread = (uint32_t)b->model->thread_count;
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        add_thread(b, rank, &t);
        main = main || t.main == 1;
        if (t.last)
            *life = later(*life, t.last);
        if (t.in_call.begin)
            *life = later(*life, t.in_call.begin);
    }
    /* Where the start of MPI was not seen, the first thread stands for the main one. */
    if (!main && b->model->ranks[rank].threads)
        b->model->threads[b->model->ranks[rank].first_thread].main = true;
}

uint32_t fv_build_thread(const struct fv_model *m, uint32_t rank, uint32_t id)
{
    const struct fv_rank *r = &m->ranks[rank];

    for (uint32_t i = 0; i < r->threads; i++)
        if (m->threads[r->first_thread + i].id == id)
            return r->first_thread + i;
    return FV_NONE;
}

/* Where records of a file hold points in time, each the sign of life of a rank that was killed. */
static uint64_t last_sign(const struct fv_build_file *f, uint64_t life)
{
    static const struct {
        unsigned type;
        size_t at[5], count;
    } signs[] = {
        { FV_CHUNK_CLOCK, { offsetof(struct fv_clock_point, ticks) }, 1 },
        { FV_CHUNK_THREADS, { offsetof(struct fv_thread_record, begin), offsetof(struct fv_thread_record, end) }, 2 },
        { FV_CHUNK_INSTANCE_LOG, { offsetof(struct fv_logged_instance, end) }, 1 },
        { FV_CHUNK_SAMPLE_LOG, { offsetof(struct fv_logged_sample, ticks) }, 1 },
        { FV_CHUNK_SYNC_THREAD, { offsetof(struct fv_sync_thread, wait_begin) }, 1 },
        { FV_CHUNK_LIVES,
          { offsetof(struct fv_thread_life, created), offsetof(struct fv_thread_life, begin),
            offsetof(struct fv_thread_life, end), offsetof(struct fv_thread_life, join_begin),
            offsetof(struct fv_thread_life, join_end) },
          5 },
        { FV_CHUNK_OMP, { offsetof(struct fv_omp_region, open), offsetof(struct fv_omp_region, last) }, 2 },
        { FV_CHUNK_SECTION_TIMES,
          { offsetof(struct fv_section_times, opened), offsetof(struct fv_section_times, last) },
          2 },
        { FV_CHUNK_IO, { offsetof(struct fv_io_record, last) }, 1 },
        { FV_CHUNK_IO_THREAD, { offsetof(struct fv_io_thread, begin) }, 1 },
        { FV_CHUNK_FUNCTION_CALLS,
          { offsetof(struct fv_function_calls, opened), offsetof(struct fv_function_calls, last) },
          2 },
        { FV_CHUNK_LOOKS, { offsetof(struct fv_look, ticks) }, 1 },
    };
    uint64_t ticks;

    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
        struct fv_cursor c = fv_cursor(f->reader, signs[i].type);

        for (const char *p; (p = fv_cursor_next(&c));)
            for (size_t k = 0; k < signs[i].count; k++) {
                memcpy(&ticks, p + signs[i].at[k], sizeof(ticks));
                life = ticks ? later(life, ticks) : life;
            }
    }
    return life;
}

/* The same of sampled instances: each has begun and ended. */
static uint64_t last_instance(const struct fv_build_file *f, uint64_t life)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_INSTANCES);
    struct fv_instances r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        for (uint64_t i = 0; i < r.returns && i < FV_RESERVOIR; i++)
            life = later(life, r.reservoir[i].begin + r.reservoir[i].time);
    }
    return life;
}

/* CPU time of the process. */
static void set_cpu_time(struct fv_rank *r, const struct fv_file_header *h)
{
    const struct fv_usage *first = &h->usage_first, *last = &h->usage_last;

    r->cpu_s = r->user_s = r->system_s = NAN;
    if (!fv_build_has_usage(h))
        return;
    if (last->user_ns < first->user_ns || last->system_ns < first->system_ns)
        return;
    r->user_s = (double)(last->user_ns - first->user_ns) * 1e-9;
    r->system_s = (double)(last->system_ns - first->system_ns) * 1e-9;
    r->cpu_s = r->user_s + r->system_s;
}

static double others_cpu_s(const struct fv_model *m, const struct fv_rank *r)
{
    for (uint32_t i = 0; i < r->threads; i++) {
        const struct fv_thread_view *t = &m->threads[r->first_thread + i];

        if (t->main)
            return r->cpu_s - t->user_s - t->system_s;
    }
    return NAN;
}

/* Recorded ones are known by themselves, unless the process was killed. */
static double own_threads_s(const struct fv_model *m, const struct fv_rank *r)
{
    double recorded = 0;

    for (uint32_t i = 0; i < r->threads; i++) {
        const struct fv_thread_view *t = &m->threads[r->first_thread + i];

        recorded += t->main || !isfinite(t->user_s) ? 0 : t->user_s + t->system_s;
    }
    return isfinite(r->others_cpu_s) ? fmax(recorded, r->others_cpu_s - r->init_s) : NAN;
}

/* A rank that is killed has it of half of its time, at least. */
static void set_ready(struct fv_build *b, uint32_t rank)
{
    struct fv_rank *r = &b->model->ranks[rank];
    const struct fv_file_header *h = b->files[rank].header;
    const struct fv_usage_process *first = &h->process_first, *last = &h->process_last;
    double ready_s = (double)(last->ready_ns - first->ready_ns) * 1e-9;

    r->ready_s = r->ready_least_s = NAN;
    if (!first->ready_known || !last->ready_known || last->ready_ns < first->ready_ns)
        return;
    if (h->state == FV_STATE_FINALIZED || h->state == FV_STATE_EXITED)
        r->ready_s = ready_s;
    else if (h->state == FV_STATE_RUNNING && h->usage_ticks > h->begin_ticks)
        r->ready_least_s = fmin(ready_s, fv_build_seconds(b->model, rank, h->usage_ticks - h->begin_ticks));
}

/* What the kernel told of the process: waiting for a processor, and memory. */
static void set_usage(struct fv_build *b, uint32_t rank)
{
    struct fv_rank *r = &b->model->ranks[rank];
    const struct fv_file_header *h = b->files[rank].header;
    const struct fv_usage_process *first = &h->process_first, *last = &h->process_last;

    set_cpu_time(r, h);
    r->others_cpu_s = others_cpu_s(b->model, r);
    set_ready(b, rank);
    r->off.blocked_s = r->off.preempted_s = NAN;
    if (h->others_ready_ns[1] >= h->others_ready_ns[0])
        r->others_ready_s = (double)(h->others_ready_ns[1] - h->others_ready_ns[0]) * 1e-9;
    if (h->stolen_ns[1] >= h->stolen_ns[0])
        r->stolen_s = (double)(h->stolen_ns[1] - h->stolen_ns[0]) * 1e-9;
    if (h->throttled_ns[1] > h->throttled_ns[0])
        r->throttled_s = (double)(h->throttled_ns[1] - h->throttled_ns[0]) * 1e-9;
    if (last->preempted >= first->preempted)
        r->preempted = last->preempted - first->preempted;
    r->resident_peak = last->resident_peak;
    r->resident_first = first->resident_peak;
    uint64_t *const peaks[] = { &r->resident_half, &r->resident_quarter, &r->resident_eighth };
    double *const ages[] = { &r->half_s, &r->quarter_s, &r->eighth_s };
    for (int i = 63, mark = 0; i >= 0 && mark < 3; i--)
        if (h->resident_peak_at[i]) {
            *peaks[mark] = h->resident_peak_at[i];
            *ages[mark++] = fv_build_seconds(b->model, rank, UINT64_C(1) << i);
        }
}

/* fvmpi's own time on rare paths is by the clock. Where the thread had no processor for a part of its time, it had none
 * for as large a part of that; it is no more than the thread's CPU time, where that is known. */
static void set_tool_time(struct fv_build *b, uint32_t rank)
{
    struct fv_model *m = b->model;
    struct fv_rank *r = &m->ranks[rank];
    double main_s = fmax(r->cpu_s - r->others_cpu_s, 0);

    r->tool_s = 0;
    for (uint32_t i = 0; i < r->threads; i++) {
        struct fv_thread_view *t = &m->threads[r->first_thread + i];
        double ready_s = t->main ? r->ready_s : r->others_ready_s, cpu_s = t->main ? main_s : r->others_cpu_s,
               own_s = t->user_s + t->system_s;

        if (cpu_s > 0 && ready_s > 0)
            t->tool_s *= cpu_s / (cpu_s + ready_s);
        if (own_s >= 0)
            t->tool_s = fmin(t->tool_s, own_s);
        r->tool_s += t->tool_s;
    }
    if (r->cpu_s >= 0)
        r->tool_s = fmin(r->tool_s, r->cpu_s);
}

static char stopped(const struct fv_rank *r)
{
    struct fv_process p;

    return r->state == FV_RANK_RUNNING && fv_process_read((pid_t)r->pid, &p) && (p.state == 'T' || p.state == 't')
               ? p.state
               : '\0';
}

static enum fv_rank_state state_of(const struct fv_file_header *h)
{
    switch (h->state) {
    case FV_STATE_FINALIZED: return FV_RANK_FINALIZED;
    case FV_STATE_EXITED: return FV_RANK_EXITED;
    case FV_STATE_REPLACED: return FV_RANK_REPLACED;
    case FV_STATE_CUT: return FV_RANK_CUT;
    case FV_STATE_RUNNING: return fv_experiment_is_alive(h) ? FV_RANK_RUNNING : FV_RANK_KILLED;
    }
    return FV_RANK_KILLED;
}

#define AFTER_LAST_S 3600 /* that a process ends behind its last clock point, which it takes as it ends: else damage */

static uint64_t end_of(struct fv_build *b, uint32_t rank)
{
    const struct fv_file_header *h = b->files[rank].header;
    const double after_s = fv_build_seconds(b->model, rank, h->end_ticks - h->last.ticks);

    if ((int64_t)(h->end_ticks - h->last.ticks) <= 0 || after_s <= AFTER_LAST_S)
        return h->end_ticks;
    fv_problem_add(&b->model->problems, FV_PROBLEM_DAMAGED, b->model->ranks[rank].file,
                   "its end is %.0f h behind its last clock point, which is taken for it", after_s / 3600);
    return h->last.ticks;
}

static void set_times(struct fv_build *b, uint32_t rank)
{
    struct fv_model *m = b->model;
    struct fv_rank *r = &m->ranks[rank];
    const struct fv_file_header *h = b->files[rank].header;
    uint64_t begin = h->begin_ticks ? h->begin_ticks : h->first.ticks, life = begin;
    struct fv_clock_point now;

    read_threads(b, rank, &life);
    if (h->end_ticks)
        life = end_of(b, rank);
    else if (r->state == FV_RANK_RUNNING && fv_clock_now(h->clock_kind, &now))
        life = later(life, now.ticks);
    else
        life = last_instance(&b->files[rank],
                             last_sign(&b->files[rank], later(later(life, h->fatal.ticks), h->alive_ticks)));
    set_usage(b, rank);
    set_tool_time(b, rank);
    if (h->progress_ticks && h->alive_ticks)
        r->in_vain_s = fmax(fv_build_time(m, rank, h->alive_ticks) - fv_build_time(m, rank, h->progress_ticks), 0);
    r->has_child = h->progress_ticks && (int64_t)(h->child_ticks - h->progress_ticks) > 0;
    r->begin_s = fv_build_time(m, rank, begin);
    r->end_s = fv_build_time(m, rank, life);
    if (r->end_s < r->begin_s) {
        fv_problem_add(&m->problems, FV_PROBLEM_DAMAGED, r->file, "ends before it begins");
        r->end_s = r->begin_s;
    }
    r->paused_s = fv_build_seconds(m, rank, h->paused_ticks);
    r->never_on = h->paused_since && h->paused_since == h->begin_ticks && !h->paused_ticks;
    if (h->paused_since && (int64_t)(life - h->paused_since) > 0)
        r->paused_s += fv_build_seconds(m, rank, life - h->paused_since);
    r->forgotten_s = fv_build_seconds(m, rank, h->forgotten_ticks);
    r->app_time_s = r->end_s - r->begin_s - r->paused_s - r->waited_s;
    if (r->app_time_s < 0)
        r->app_time_s = 0;
    if (h->init_ticks && (int64_t)(h->init_ticks - begin) > 0)
        r->init_s = fv_build_seconds(m, rank, h->init_ticks - begin);
    if (h->finalize_ticks && (int64_t)(life - h->finalize_ticks) > 0)
        r->finalize_s = fv_build_seconds(m, rank, life - h->finalize_ticks);
    r->own_threads_s = own_threads_s(m, r);
    r->tool_once_s = ((double)h->tool_start_ticks + (double)h->tool_end_ticks) / m->clocks[r->clock].hz;
    r->tool_s += r->tool_once_s;
}

/* What those did who inserted any; of the others, what they were asked for. */
static void note_barriers(struct fv_model *m, const struct fv_file_header *h)
{
    if (h->barrier != FV_BARRIER_BEFORE && h->barrier != FV_BARRIER_AFTER)
        return;
    if (h->barrier_ranks || !m->barrier)
        m->barrier = h->barrier;
    if (h->barrier_ranks > m->barrier_ranks)
        m->barrier_ranks = h->barrier_ranks;
}

/* Each call that a thread counted is in the trace, but for those that are counted as dropped. */
static void set_trace(struct fv_build *b, uint32_t rank)
{
    const struct fv_build_file *file = &b->files[rank];
    struct fv_rank *r = &b->model->ranks[rank];
    size_t chunks;
    const struct fv_chunk *chunk = fv_reader_chunks(file->reader, &chunks);

    r->traced = file->header->traced;
    struct fv_file_identity identity = fv_file_identity(file->reader);
    r->process = identity.process;
    r->trace_calls = identity.traced_calls;
    note_barriers(b->model, file->header);
    r->trace_from_s = r->trace_stop_s = NAN;
    if (!r->traced)
        return;
    uint64_t lost, begin = fv_ring_begin(file->reader, &lost);
    if (begin)
        r->trace_from_s = fv_build_time(b->model, rank, begin);
    for (size_t i = 0; i < chunks; i++)
        r->trace_bytes += fv_chunk_has_events(&chunk[i]) || chunk[i].type == FV_CHUNK_SITES ? chunk[i].used : 0;
    if (file->header->trace_stop_ticks)
        r->trace_stop_s = fv_build_time(b->model, rank, file->header->trace_stop_ticks);
}

/* What headers say. */
static void *begin_ranks(struct fv_build *b)
{
    struct fv_model *m = b->model;

    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_file_header *h = b->files[i].header;
        struct fv_rank *r = &m->ranks[i];

        *r = (struct fv_rank){ .world_rank = h->world_rank,
                               .pid = h->pid,
                               .exit_code = h->exit_code,
                               .exit_seen = h->exit_seen == 1,
                               .exit_status = h->exit_status,
                               .in_call.function = FV_NONE,
                               .aborted = h->state == FV_STATE_ABORTED,
                               .state = state_of(h),
                               .memory_bytes = h->memory_bytes,
                               .thinned = 0 };
        r->stopped = stopped(r);
        r->host = fv_arena_string(&m->arena, h->host);
        r->cpus = h->cpus;
        memcpy(r->cpu_mask, h->cpu_mask, sizeof(r->cpu_mask));
        r->file = fv_arena_string(&m->arena, b->files[i].name);
        r->thread_level = *h->thread_level ? fv_arena_string(&m->arena, h->thread_level) : NULL;
        r->file_bytes = fv_reader_bytes(b->files[i].reader);
        r->thinned = h->coll_shift_ceiling < 31 ? (unsigned)h->coll_shift_ceiling : 31;
        memcpy(r->dropped, h->dropped, sizeof(r->dropped));
        r->refused_error = h->refused_error;
        b->files[i].last_point = h->last;
    }
    find_clocks(b);
    return NULL;
}

static void read_clock(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_build_file *f = &b->files[rank];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_CLOCK);
    struct fv_clock_point point;
    (void)state;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&point, p, sizeof(point));
        if (point.monotonic_ns > f->last_point.monotonic_ns)
            f->last_point = point;
    }
}

const struct fv_track fv_track_clocks = {
    .name = "clocks",
    .of_all = true,
    .visit = FV_VISIT_CLOCKS,
    .types = { FV_CHUNK_CLOCK },
    .begin = begin_ranks,
    .read = read_clock,
    .finish = set_clocks,
};

static void read_rank(struct fv_build *b, void *state, uint32_t rank)
{
    (void)state;
    set_times(b, rank);
    set_trace(b, rank);
}

const struct fv_track fv_track_threads = {
    .name = "threads",
    .of_ranks = true,
    .visit = FV_VISIT_CALLS,
    .read = read_rank,
};

/* ---- where they are ---- */

/* The communicator that a handle means now. */
static uint32_t comm_of_handle(const struct fv_build_file *file, uint64_t handle)
{
    struct fv_cursor c = fv_cursor(file->reader, FV_CHUNK_COMMS);
    uint32_t comm = FV_NONE;

    for (const struct fv_comm_record *r; handle && (r = fv_cursor_next(&c));)
        if (r->handle == handle && !(r->flags & FV_COMM_FREED) && r->id < file->comms.count)
            comm = file->comms.of[r->id];
    return comm;
}

static void add_wait_items(struct fv_build *b, const struct fv_build_file *file, const struct fv_waiting *w,
                           struct fv_in_call_view *out)
{
    struct fv_model *m = b->model;
    uint32_t kept = w->kept < FV_WAITED_MOST ? w->kept : FV_WAITED_MOST;

    out->first_wait = (uint32_t)m->wait_item_count;
    out->waits = kept;
    out->waits_untold = w->count > kept ? w->count - kept : 0;
    FV_GROW(m->wait_items, m->wait_item_room, m->wait_item_count + kept);
    for (uint32_t i = 0; i < kept; i++) {
        const struct fv_wait_target *r = &w->item[i];

        m->wait_items[m->wait_item_count++] = (struct fv_wait_item){
            .kind = r->kind, .comm = fv_numbers_get(&file->comms, r->comm), .peer = r->peer, .tag = r->tag
        };
    }
}

static void read_waiting(struct fv_build *b, const struct fv_build_file *file, uint32_t thread, uint64_t begin,
                         struct fv_in_call_view *out)
{
    struct fv_cursor c = fv_cursor(file->reader, FV_CHUNK_WAITING);
    struct fv_waiting w;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&w, p, sizeof(w));
        if (c.thread == thread && w.begin == begin && !out->waits && !out->waits_untold)
            add_wait_items(b, file, &w, out);
    }
}

/* Of the function, the file's number: another rank may name it. */
static void in_call_of(struct fv_build *b, uint32_t rank, const struct fv_thread_record *t, struct fv_in_call_view *out)
{
    struct fv_build_file *file = &b->files[rank];
    const struct fv_in_call *raw = &t->in_call;
    bool active = raw->begin;

    *out = (struct fv_in_call_view){ .active = active,
                                     .function = raw->function,
                                     .node = fv_build_node_of(b, file, raw->path),
                                     .begin_s = fv_build_time(b->model, rank, active ? raw->begin : t->last),
                                     .peer = raw->peer,
                                     .tag = raw->tag,
                                     .comm = FV_NONE };
    if (!active)
        return;
    out->comm = comm_of_handle(file, raw->comm);
    read_waiting(b, file, t->id, raw->begin, out);
}

static void finish_in_call(struct fv_build *b, struct fv_build_file *file, struct fv_thread_view *v, double until_s)
{
    struct fv_in_call_view *c = &v->in_call;
    bool named = fv_numbers_get(&file->functions, c->function) != FV_NONE;

    c->function = c->active || (v->calls && named) ? fv_build_function_of(b, file, c->function) : FV_NONE;
    c->seconds = until_s > c->begin_s ? until_s - c->begin_s : 0;
}

static int by_comm(const void *a, const void *b)
{
    const struct fv_comm_place *x = a, *y = b;

    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* A rank that went on after it was not ended by it. */
static void read_signal(struct fv_build *b, uint32_t rank)
{
    struct fv_rank *r = &b->model->ranks[rank];
    const struct fv_fatal *f = &b->files[rank].header->fatal;

    if (!f->signal || r->state != FV_RANK_KILLED)
        return;
    r->signal = (struct fv_signal_view){ .number = f->signal,
                                         .sender = f->sender,
                                         .address = f->address,
                                         .is_fault = f->code > 0 && (f->signal == SIGSEGV || f->signal == SIGBUS ||
                                                                     f->signal == SIGFPE || f->signal == SIGILL),
                                         .at_s = fv_build_time(b->model, rank, f->ticks),
                                         .node = fv_build_node_of(b, &b->files[rank], f->path) };
}

/* For ranks that hang: who is behind on which communicator. */
static void read_places(struct fv_build *b, uint32_t rank)
{
    struct fv_model *m = b->model;
    const struct fv_build_file *f = &b->files[rank];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_COMMS);

    for (const struct fv_comm_record *r; (r = fv_cursor_next(&c));) {
        uint32_t comm = fv_numbers_get(&f->comms, r->id);

        if (comm == FV_NONE || r->flags & FV_COMM_SELF)
            continue;
        FV_GROW(m->comm_places, m->comm_place_room, m->comm_place_count + 1);
        m->comm_places[m->comm_place_count++] = (struct fv_comm_place){ comm, rank, r->collectives };
    }
}

static bool hangs(const struct fv_model *m)
{
    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].state != FV_RANK_FINALIZED)
            return true;
    return false;
}

/* The state says whether any rank hangs. */
static void *begin_in_calls(struct fv_build *b)
{
    return hangs(b->model) ? b : NULL;
}

static void read_in_calls(struct fv_build *b, void *hanging, uint32_t rank)
{
    const struct fv_rank *r = &b->model->ranks[rank];
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_THREADS);
    struct fv_thread_record t;
    const void *p;

    if (hanging)
        read_places(b, rank);
    read_signal(b, rank);
    for (uint32_t k = 0; k < r->threads && (p = fv_cursor_next(&c)); k++) {
        memcpy(&t, p, sizeof(t));
        in_call_of(b, rank, &t, &b->model->threads[r->first_thread + k].in_call);
    }
}

/* Seconds so far count to now for a rank that runs, else to the latest sign of life of any rank: a rank
 * that hung for an hour shows the hour when another one went on meanwhile. */
static void finish_in_calls(struct fv_build *b, void *hanging)
{
    struct fv_model *m = b->model;
    double life_s = 0;
    (void)hanging;

    for (size_t i = 0; i < m->rank_count; i++)
        life_s = m->ranks[i].end_s > life_s ? m->ranks[i].end_s : life_s;
    if (m->comm_place_count)
        qsort(m->comm_places, m->comm_place_count, sizeof(*m->comm_places), by_comm);
    for (uint32_t i = 0; i < m->rank_count; i++) {
        struct fv_rank *r = &m->ranks[i];

        for (uint32_t k = 0; k < r->threads; k++) {
            struct fv_thread_view *v = &m->threads[r->first_thread + k];

            v->elapsed_s = v->used > 1 ? NAN : (v->alive ? r->end_s : v->end_s) - v->begin_s;
            finish_in_call(b, &b->files[i], v, r->state == FV_RANK_RUNNING ? r->end_s : life_s);
            if (v->in_call.active ? v->main || !r->in_call.active : v->main && !r->in_call.active)
                r->in_call = v->in_call;
            if (v->in_call.active) /* while it lived, it was in the call */
                v->mpi_time_s += fmax(r->end_s - v->in_call.begin_s, 0);
            if (v->main)
                r->mpi_time_s = v->mpi_time_s;
        }
    }
}

const struct fv_track fv_track_in_calls = {
    .name = "in calls",
    .visit = FV_VISIT_CALLS,
    .types = { FV_CHUNK_THREADS },
    .begin = begin_in_calls,
    .read = read_in_calls,
    .finish = finish_in_calls,
    .needs = { "calls" },
};
