/* SPDX-License-Identifier: BSD-3-Clause */
/* See sections.h. Names, times and counters of sections, and their sums over ranks. Calls inside are in
 * section_calls.c, clock samples in section_costs.c. */
#include "profile/sections/section_gather.h"
#include "profile/samples/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums ---- */

/* ---- times ---- */

static double difference(uint64_t now, uint64_t since)
{
    return now > since ? (double)(now - since) : 0;
}

static void add_usage(struct fv_section_rank *r, double user_ns, double system_ns, double faults, double switches)
{
    r->value[FV_SECTION_USER] += user_ns * 1e-9;
    r->value[FV_SECTION_SYSTEM] += system_ns * 1e-9;
    r->value[FV_SECTION_FAULTS] += faults;
    r->value[FV_SECTION_SWITCHES] += switches;
}

static void no_usage(struct fv_section_rank *r)
{
    r->value[FV_SECTION_USER] = r->value[FV_SECTION_SYSTEM] = r->value[FV_SECTION_PROCESS] = NAN;
    r->value[FV_SECTION_FAULTS] = r->value[FV_SECTION_SWITCHES] = NAN;
}

static double sampled_s(const struct fv_section_gather *g, double samples)
{
    double rate = (double)fv_model_samples(g->build->model)->rate;

    return rate > 0 ? samples / rate : NAN;
}

static struct fv_thread_record thread_of(const struct fv_build_file *f, uint32_t id)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_THREADS);
    struct fv_thread_record t;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        if (t.id == id)
            return t;
    }
    return (struct fv_thread_record){ 0 };
}

/* An instance that is open: until the rank's end, and what the thread's counters have become since. */
static double add_open(struct fv_section_gather *g, struct fv_section_rank *r, const struct fv_build_file *f,
                       uint32_t thread, const struct fv_section_times *t)
{
    const struct fv_model *m = g->build->model;
    const struct fv_rank *rank = &m->ranks[r->rank];
    struct fv_thread_record now = thread_of(f, thread);
    double tick_s = fv_build_seconds(m, r->rank, 1u << 20) / (1u << 20);
    double s = rank->end_s - fv_build_time(m, r->rank, t->opened);

    s -= fmax(rank->paused_s - (double)t->paused * tick_s, 0);
    r->count++;
    r->faults.open++;
    r->value[FV_SECTION_CALLS] += difference(now.calls, t->since.calls);
    r->value[FV_SECTION_MPI] += difference(now.mpi_ticks, t->since.mpi_ticks) * tick_s;
    r->value[FV_SECTION_LOCK] += difference(now.lock_ticks, t->since.lock_ticks) * tick_s;
    return fmin(fmax(s, 0), rank->end_s - rank->begin_s);
}

/* Chan, Golub, LeVeque (1979), as for calls in sums.c. */
/* Unequal instances have a deviation within their range: else it is not known. */
static struct fv_section_instances instances_of(const struct fv_section_times *t, double tick_s)
{
    double range = (double)(t->ticks_max - t->ticks_min), count = (double)t->count;
    bool known = isfinite(t->ticks_m2) && t->ticks_m2 >= 0 && t->ticks_m2 <= count * (range + 1) * (range + 1) &&
                 (t->ticks_m2 > 0 || t->ticks_min == t->ticks_max);

    return (struct fv_section_instances){ t->count, (double)t->ticks * tick_s / count,
                                          known ? t->ticks_m2 * tick_s * tick_s : NAN };
}

static bool makes_sense(const struct fv_section_times *t)
{
    return !t->count || (t->ticks_min <= t->ticks_max && t->ticks_max <= t->ticks);
}

static void read_cpu(struct fv_section_gather *g, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SECTION_PROCESS);
    struct fv_section_process r;

    fv_index_release(&g->cpu_by_record);
    g->cpu_count = 0;
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        FV_INTERNED(g->cpu_by_record, g->cpu, g->cpu_count, g->cpu_room, (uint64_t[]){ c.thread, c.index })->ns =
            r.cpu_ns;
    }
}

/* Not known where there was no room for it. What several threads measured is no sum. */
static double process_s(const struct fv_section_gather *g, const struct fv_cursor *c, const struct fv_section_rank *r)
{
    uint32_t i = FV_FIND(g->cpu_by_record, g->cpu, (uint64_t[]){ c->thread, c->index });

    return i == FV_NONE || r->threads > 1 ? NAN : (double)g->cpu[i].ns * 1e-9;
}

static void add_opener(struct fv_section_member *m, const struct fv_section_times *t, double s, double mpi_s)
{
    bool known = t->measured == 1 && !t->opened;

    m->is_opener = true;
    m->count = t->count + (t->opened != 0);
    m->time_s = s;
    m->mpi_s = mpi_s;
    m->user_s = known ? (double)t->sum.usage.user_ns * 1e-9 : NAN;
    m->system_s = known ? (double)t->sum.usage.system_ns * 1e-9 : NAN;
    m->cpu_s = m->user_s + m->system_s;
    m->faults = known ? (double)t->sum.usage.faults : NAN;
}

static void add_times(struct fv_section_gather *g, const struct fv_build_file *f, uint32_t rank,
                      const struct fv_cursor *c, const struct fv_section_times *t)
{
    uint32_t thread = c->thread;
    const struct fv_model *m = g->build->model;
    double tick_s = fv_build_seconds(m, rank, 1u << 20) / (1u << 20), s = (double)t->ticks * tick_s;
    struct fv_section_rank *r;

    if (t->section >= g->section_count || g->section[t->section] == FV_NONE || !makes_sense(t))
        return;
    r = fv_section_rank_of(g, g->section[t->section], rank);
    fv_section_add_faults(&r->faults, &(struct fv_section_faults){ .unended = t->unended,
                                                                   .unbegun = t->unbegun,
                                                                   .elsewhere = t->elsewhere,
                                                                   .nested = t->nested,
                                                                   .overlapped = t->overlapped });
    if (!t->count && !t->opened)
        return;
    r->threads++;
    r->is_timed = r->is_timed || t->measured == 1 || g->counts;
    r->count += t->count;
    r->value[FV_SECTION_CALLS] += (double)t->sum.calls;
    r->value[FV_SECTION_MPI] += (double)t->sum.mpi_ticks * tick_s;
    r->value[FV_SECTION_LOCK] += g->locks ? (double)t->sum.lock_ticks * tick_s : NAN;
    r->value[FV_SECTION_SAMPLED] += sampled_s(g, 0); /* which are among the costs */
    if (t->measured == 1 && !t->opened)
        add_usage(r, (double)t->sum.usage.user_ns, (double)t->sum.usage.system_ns, (double)t->sum.usage.faults,
                  (double)t->sum.usage.switches);
    else
        no_usage(r); /* of what is open nobody knows */
    r->value[FV_SECTION_PROCESS] += process_s(g, c, r);
    if (t->count) {
        r->shortest_s = fmin(r->shortest_s, (double)t->ticks_min * tick_s);
        r->longest_s = fmax(r->longest_s, (double)t->ticks_max * tick_s);
        const struct fv_section_instances instances = instances_of(t, tick_s);
        fv_section_add_instances(&r->instances, &instances);
    }
    if (t->opened)
        s += add_open(g, r, f, thread, t);
    add_opener(fv_section_member_of(g, r->section, rank, thread), t, s, (double)t->sum.mpi_ticks * tick_s);
    r->value[FV_SECTION_THREADS_TIME] += s;
    r->value[FV_SECTION_ELAPSED] = fmax(r->value[FV_SECTION_ELAPSED], s);
}

static void read_histograms(struct fv_section_gather *g, const struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SECTION_OCTAVES);
    double tick_s = fv_build_seconds(g->build->model, rank, 1u << 20) / (1u << 20);
    struct fv_octave o;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&o, p, sizeof(o));
        if (o.of < g->section_count && g->section[o.of] != FV_NONE)
            fv_distribution_add_octave(&fv_section_rank_of(g, g->section[o.of], rank)->durations, o.octave, o.count,
                                       tick_s);
    }
}

/* Of the present file's sections. */
static void finish_histograms(struct fv_section_gather *g)
{
    for (size_t i = g->first_rank; i < g->out->rank_count; i++) {
        struct fv_section_rank *r = &g->out->ranks[i];

        fv_section_percentiles(r->percentile_s, &r->durations, r->instances.count, r->shortest_s, r->longest_s);
        fv_distribution_add(&g->out->items[r->section].durations, &r->durations);
        fv_distribution_release(&r->durations);
    }
}

static void read_times(struct fv_section_gather *g, const struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SECTION_TIMES);
    struct fv_section_losses *sum = &g->out->losses, l;
    struct fv_section_times t;

    read_cpu(g, f);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        add_times(g, f, rank, &c, &t);
    }
    c = fv_cursor(f->reader, FV_CHUNK_SECTION_LOSSES);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&l, p, sizeof(l));
        sum->above_level += l.above_level;
        sum->too_deep += l.too_deep;
        sum->sets += l.sets;
        sum->others += l.others;
        sum->interrupted += l.interrupted;
        sum->unmeasured += l.unmeasured;
        sum->untraced += l.untraced;
        sum->apart += l.apart;
    }
}

/* The whole program on a rank. */
static void add_whole(struct fv_section_gather *g, const struct fv_build_file *f, uint32_t rank)
{
    const struct fv_model *m = g->build->model;
    const struct fv_rank *k = &m->ranks[rank];
    const struct fv_file_header *h = f->header;
    struct fv_section_rank *r = fv_section_rank_of(g, fv_section_view_of(g, "all", 0, 0, true, false), rank);
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_THREADS);
    struct fv_thread_record t;
    double samples = 0, lock_ticks = 0;

    r->count = 1;
    r->threads = k->threads;
    r->value[FV_SECTION_ELAPSED] = k->app_time_s;
    if (!fv_build_has_usage(h))
        no_usage(r);
    else
        add_usage(r, difference(h->usage_last.user_ns, h->usage_first.user_ns),
                  difference(h->usage_last.system_ns, h->usage_first.system_ns),
                  difference(h->usage_last.faults, h->usage_first.faults),
                  difference(h->usage_last.switches, h->usage_first.switches));
    r->value[FV_SECTION_PROCESS] = r->value[FV_SECTION_USER] + r->value[FV_SECTION_SYSTEM];
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        samples += (double)t.samples;
        lock_ticks += (double)t.lock_ticks;
        r->value[FV_SECTION_CALLS] += (double)t.calls;
    }
    for (uint32_t i = 0; i < k->threads; i++) {
        r->value[FV_SECTION_MPI] += m->threads[k->first_thread + i].mpi_time_s;
        r->value[FV_SECTION_THREADS_TIME] += k->app_time_s;
    }
    r->value[FV_SECTION_SAMPLED] = sampled_s(g, samples);
    r->value[FV_SECTION_LOCK] = g->locks ? lock_ticks * fv_build_seconds(m, rank, 1u << 20) / (1u << 20) : NAN;
    r->shortest_s = r->longest_s = k->app_time_s;
    r->instances = (struct fv_section_instances){ 1, k->app_time_s, 0 };
    fv_section_add_all_threads(g, r->section, rank);
}

/* ---- over the ranks ---- */

static int by_section_and_rank(const void *a, const void *b)
{
    const struct fv_section_rank *x = a, *y = b;

    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}
static int by_elapsed(const void *a, const void *b)
{
    const struct fv_section_view *x = a, *y = b;
    double of_x = x->value[FV_SECTION_ELAPSED].sum, of_y = y->value[FV_SECTION_ELAPSED].sum;

    if (x->whole != y->whole)
        return x->whole ? -1 : 1;
    if (isfinite(of_x) && isfinite(of_y) && of_x != of_y)
        return of_x > of_y ? -1 : 1;
    if (isfinite(of_x) != isfinite(of_y))
        return isfinite(of_x) ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static void finish(struct fv_section_gather *g)
{
    struct fv_sections_view *s = g->out;

    for (size_t i = 0; i < s->rank_count; i++) { /* calls, of which no waiting is known */
        double *value = s->ranks[i].value;

        if (g->build->model->calls_left_out)
            value[FV_SECTION_MPI] = value[FV_SECTION_WAIT] = value[FV_SECTION_CALLS] = NAN;
        if (s->ranks[i].wait_kind == FV_WAIT_UNKNOWN && s->ranks[i].wait_kinds)
            value[FV_SECTION_WAIT] = NAN;
    }
    qsort(s->ranks, s->rank_count, sizeof(*s->ranks), by_section_and_rank);
    for (size_t i = 0, next; i < s->rank_count; i = next) {
        struct fv_section_view *v = &s->items[s->ranks[i].section];

        for (next = i; next < s->rank_count && s->ranks[next].section == s->ranks[i].section;)
            next++;
        v->first = (uint32_t)i;
        fv_section_sum(v, &s->ranks[i], next - i);
    }
    fv_section_order_functions(s);
    fv_section_order_members(s);
    qsort(s->items, s->count, sizeof(*s->items), by_elapsed);
    for (uint32_t k = 0; k < s->count; k++)
        for (uint32_t i = 0; i < s->items[k].ranks; i++)
            s->ranks[s->items[k].first + i].section = k;
    for (uint32_t k = 0; k < s->count; k++)
        for (uint32_t i = 0; i < s->items[k].members; i++)
            s->members[s->items[k].first_member + i].section = k;
    fv_section_find_names(s);
    fv_section_order_instances(s);
    fv_section_find_warm_ups(s);
    fv_section_find_series(s);
}

/* Does any rank tell of locks? */
static bool has_locks(const struct fv_build *b)
{
    for (size_t i = 0; i < b->model->rank_count; i++) {
        size_t count;
        const struct fv_chunk *chunk = fv_reader_chunks(b->files[i].reader, &count);

        for (size_t k = 0; k < count; k++)
            if (chunk[k].type == FV_CHUNK_SYNC_THREAD)
                return true;
    }
    return false;
}

static void *begin_sections(struct fv_build *b)
{
    struct fv_section_gather *g = fv_xcalloc(1, sizeof(*g));

    g->build = b;
    g->out = fv_model_sections(b->model);
    g->locks = has_locks(b);
    return g;
}

static void read_sections(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_section_gather *g = state;
    struct fv_build_file *f = &b->files[rank];
    size_t first_member = g->out->member_count;

    struct fv_cursor events = fv_cursor(f->reader, FV_CHUNK_COUNTER_EVENTS);

    g->first_rank = g->out->rank_count;
    g->counts = fv_cursor_next(&events) != NULL;
    add_whole(g, f, rank);
    fv_section_read_names(g, f);
    read_times(g, f, rank);
    fv_section_read_others(g, f, rank);
    fv_section_add_others(g, first_member);
    read_histograms(g, f, rank);
    finish_histograms(g);
    fv_section_read_instances(g, f, rank);
    fv_section_read_cells(g, f, rank);
    fv_section_read_costs(g, rank);
}

static void finish_sections(struct fv_build *b, void *state)
{
    struct fv_section_gather *g = state;
    (void)b;

    fv_section_add_all_sites(g);
    finish(g);
    free(g->section);
    free(g->spans);
    free(g->sets);
    free(g->part);
    free(g->cpu);
    fv_index_release(&g->cpu_by_record);
    fv_index_release(&g->names);
    fv_index_release(&g->functions);
    fv_index_release(&g->function_ranks);
    fv_index_release(&g->paths);
    fv_index_release(&g->members);
    fv_index_release(&g->parts);
    free(g);
}

const struct fv_track fv_track_sections = {
    .name = "sections",
    .visit = FV_VISIT_REST,
    .begin = begin_sections,
    .read = read_sections,
    .finish = finish_sections,
};

void fv_sections_release(void *data)
{
    struct fv_sections_view *s = data;

    for (size_t i = 0; i < s->count; i++) {
        fv_distribution_release(&s->items[i].durations);
        free(s->items[i].functions);
        free(s->items[i].paths);
        free(s->items[i].costs);
    }
    for (size_t i = 0; i < s->name_count; i++)
        fv_distribution_release(&s->names[i].durations);
    free(s->items);
    free(s->names);
    free(s->ranks);
    free(s->members);
    free(s->function_ranks);
    free(s->instances);
    free(s->warm_ups);
    free(s->series);
    *s = (struct fv_sections_view){ 0 };
}
