/* SPDX-License-Identifier: BSD-3-Clause */
/* See noise.h: what rank files tell. */
#include "profile/noise/noise.h"
#include "profile/build.h"
#include "profile/machine/sensors.h"
#include "profile/noise/noise_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MOST = 1024, KEPT_LEAST = 16, KEPT_ALL = 1 << 18 }; /* intervals of a series, and of all ranks at a place */

struct gather {
    struct fv_build *build;
    struct fv_index index;
    struct fv_noise_log log;
    struct call *calls; /* of the present file */
    size_t count, room;
};

/* A blocking collective call of the wait log. */
struct call {
    uint32_t thread, site;
    uint64_t begin, end; /* ticks */
};

/* ---- intervals ---- */

static int by_time(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void read_calls(struct gather *g, uint32_t rank)
{
    struct fv_build_file *f = &g->build->files[rank];
    const struct fv_model *m = g->build->model;
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_COLLECTIVES);
    struct fv_coll_record r;

    g->count = 0;
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        const struct fv_cell_place *place = fv_build_place(f, c.thread, r.cell_flags >> 3);

        FV_GROW(g->calls, g->room, g->count + 1);
        g->calls[g->count++] =
            (struct call){ c.thread, place ? m->site_ranks[place->site_rank].site : FV_NONE, r.begin, r.end };
    }
    if (g->count)
        qsort(g->calls, g->count, sizeof(*g->calls), by_time);
}

static size_t room_of_series(const struct fv_model *m)
{
    size_t each = KEPT_ALL / (m->rank_count ? m->rank_count : 1);

    return each > KEPT_MOST ? KEPT_MOST : each < KEPT_LEAST ? KEPT_LEAST : each;
}

/* When there is no room every second one goes. */
static void keep(struct fv_noise_series *s, const struct fv_noise_interval *interval, size_t most)
{
    if (s->seen & ((UINT64_C(1) << s->shift) - 1))
        return;
    if (s->count == most) {
        for (size_t i = 0; 2 * i < s->count; i++)
            s->items[i] = s->items[2 * i];
        s->count = (s->count + 1) / 2;
        s->shift++;
        if (s->seen & ((UINT64_C(1) << s->shift) - 1))
            return;
    }
    FV_GROW(s->items, s->room, s->count + 1);
    s->items[s->count++] = *interval;
}

static void add_interval(struct gather *g, uint32_t rank, const struct call *before, const struct call *c)
{
    const struct fv_model *m = g->build->model;
    struct fv_noise_view *n = fv_model_noise(g->build->model);
    const struct fv_noise_record *r = fv_noise_log_at(&g->log, c->thread, c->begin);
    struct fv_noise_interval i = { .time_s = fv_build_seconds(m, rank, c->begin - before->end), .rank = rank };

    if (c->begin < before->end || c->site == FV_NONE)
        return;
    i.source_s[FV_NOISE_PREEMPTED] = fmin(fv_noise_preempted_s(r), i.time_s);
    i.source_s[FV_NOISE_BLOCKED] = r ? fmin((double)r->blocked_ns * 1e-9, i.time_s) : 0;
    struct fv_noise_series *s =
        FV_INTERNED(g->index, n->series, n->series_count, n->series_room, (uint32_t[]){ before->site, c->site, rank });
    keep(s, &i, room_of_series(m));
    s->seen++;
    s->preempted += r ? r->preempted : 0;
    s->time_s += i.time_s;
    s->preempted_s += i.source_s[FV_NOISE_PREEMPTED];
    s->blocked_s += i.source_s[FV_NOISE_BLOCKED];
}

/* Of a log that was thinned nobody knows which call stood before another one. */
static void read_intervals(struct gather *g, uint32_t rank)
{
    const struct fv_rank *r = &g->build->model->ranks[rank];

    fv_noise_log_read(&g->log, g->build->files[rank].reader);
    fv_model_noise(g->build->model)->whole = fv_model_noise(g->build->model)->whole && g->log.whole;
    fv_model_noise(g->build->model)->ranks[rank].recorded = g->log.recorded;
    if (!g->log.recorded || r->thinned || r->dropped[FV_DROP_COLLECTIVES])
        return;
    read_calls(g, rank);
    for (size_t i = 1; i < g->count; i++)
        if (g->calls[i].thread == g->calls[i - 1].thread)
            add_interval(g, rank, &g->calls[i - 1], &g->calls[i]);
}

/* ---- who else ran ---- */

static bool is_told(const struct gather *g, const char *host, uint32_t pid)
{
    const struct fv_noise_view *n = fv_model_noise(g->build->model);

    for (size_t i = 0; i < n->other_count; i++)
        if (n->others[i].pid == pid && fv_same_text(n->others[i].host, host))
            return true;
    return false;
}

static uint32_t rank_of(const struct fv_model *m, const char *host, uint32_t pid)
{
    for (uint32_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].pid == pid && fv_same_text(m->ranks[i].host, host))
            return i;
    return FV_NONE;
}

/* "1520 1 0-1 python3": fv_fact of FV_FACT_OTHER. What is damaged is passed by. */
static void add_other(struct gather *g, uint32_t rank, const struct fv_fact *f)
{
    struct fv_model *m = g->build->model;
    struct fv_noise_view *n = fv_model_noise(m);
    struct fv_noise_other o = { .host = m->ranks[rank].host, .pid = f->index };
    char list[1024];
    double ms;
    int name = 0;

    if (sscanf(f->value, "%lf %u %1023s %n", &ms, &o.cpu, list, &name) != 3 || !name || !(ms >= 0) ||
        is_told(g, o.host, o.pid))
        return;
    o.cpu_s = ms * 1e-3;
    o.name = fv_arena_string(&m->arena, f->value + name);
    o.rank = rank_of(m, o.host, o.pid);
    o.started_by = FV_NONE;
    if (fv_cpus_from_list(list, &o.cpus))
        o.processors = fv_arena_string(&m->arena, list);
    FV_GROW(n->others, n->other_room, n->other_count + 1);
    n->others[n->other_count++] = o;
}

/* What is of it is behind its process; NULL: that is damaged. */
static struct fv_noise_other *other_of(struct gather *g, uint32_t rank, const struct fv_fact *f)
{
    struct fv_noise_view *n = fv_model_noise(g->build->model);

    for (size_t i = n->other_count; i-- > 0;)
        if (n->others[i].pid == f->index && fv_same_text(n->others[i].host, g->build->model->ranks[rank].host))
            return &n->others[i];
    return NULL;
}

static void name_service(struct gather *g, uint32_t rank, const struct fv_fact *f)
{
    struct fv_noise_other *o = other_of(g, rank, f);

    if (o)
        o->service = fv_arena_string(&g->build->model->arena, f->value);
}

/* A rank is a process of another one's only where a launcher is a rank itself: it stands for itself. */
static void find_who_started(struct gather *g, uint32_t rank, const struct fv_fact *f)
{
    struct fv_noise_other *o = other_of(g, rank, f);
    const char *at = f->value;
    uint32_t pid;

    if (!o || o->rank != FV_NONE)
        return;
    for (int length; o->started_by == FV_NONE && sscanf(at, "%u%n", &pid, &length) == 1; at += length)
        o->started_by = rank_of(g->build->model, o->host, pid);
}

static void read_others(struct gather *g, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(g->build->files[rank].reader, FV_CHUNK_FACTS);

    for (const struct fv_fact *f; (f = fv_cursor_next(&c));)
        if (f->key == FV_FACT_OTHER)
            add_other(g, rank, f);
        else if (f->key == FV_FACT_OTHER_SERVICE)
            name_service(g, rank, f);
        else if (f->key == FV_FACT_OTHER_ANCESTORS)
            find_who_started(g, rank, f);
}

static int by_host_and_most(const void *a, const void *b)
{
    const struct fv_noise_other *x = a, *y = b;
    int order = strcmp(x->host, y->host);

    if (order)
        return order;
    return x->cpu_s != y->cpu_s ? (x->cpu_s > y->cpu_s ? -1 : 1) : (x->pid > y->pid) - (x->pid < y->pid);
}

/* ---- ranks ---- */

/* Of the node's control group: a counter of microseconds, summed up while its sensors were read. */
static double throttled_of(const struct fv_model *m, const char *host)
{
    const struct fv_machine *machine = fv_model_sensors(m);

    for (size_t i = 0; i < machine->series_count; i++) {
        const struct fv_machine_series *s = &machine->series[i];

        if (strstr(s->label, "throttled_usec") && fv_same_text(m->ranks[machine->nodes[s->node].rank].host, host))
            return s->total * 1e-6;
    }
    return NAN;
}

static void add_rank(struct gather *g, uint32_t rank)
{
    const struct fv_file_header *h = g->build->files[rank].header;
    struct fv_noise_view *n = fv_model_noise(g->build->model);

    if (!n->ranks) {
        n->rank_count = g->build->model->rank_count;
        n->ranks = fv_xcalloc(n->rank_count, sizeof(*n->ranks));
    }
    n->ranks[rank] = (struct fv_noise_rank){ .rank = rank,
                                             .throttled_s = NAN,
                                             .cost_s = NAN,
                                             .by = FV_NONE,
                                             .faults = h->usage_last.faults > h->usage_first.faults
                                                           ? h->usage_last.faults - h->usage_first.faults
                                                           : 0 };
}

/* ---- the track ---- */

static void *begin_noise(struct fv_build *b)
{
    struct gather *g = fv_xcalloc(1, sizeof(*g));

    g->build = b;
    fv_model_noise(b->model)->whole = true;
    return g;
}

static void read_noise(struct fv_build *b, void *state, uint32_t rank)
{
    (void)b;
    add_rank(state, rank);
    read_intervals(state, rank);
    read_others(state, rank);
}

static void finish_noise(struct fv_build *b, void *state)
{
    struct fv_noise_view *n = fv_model_noise(b->model);
    struct gather *g = state;

    if (n->other_count)
        qsort(n->others, n->other_count, sizeof(*n->others), by_host_and_most);
    if (!n->whole)
        fv_problem_add(&b->model->problems, FV_PROBLEM_NOTE, NULL,
                       "preemption before some collective calls had no room in its log: the cost of noise is too low "
                       "(raise FVMPI_COLLECTIVES_MAX)");
    for (size_t i = 0; i < n->rank_count; i++)
        n->ranks[i].throttled_s = b->model->ranks[i].throttled_s > 0 ? b->model->ranks[i].throttled_s
                                                                     : throttled_of(b->model, b->model->ranks[i].host);
    fv_noise_log_release(&g->log);
    fv_index_release(&g->index);
    free(g->calls);
    free(g);
}

const struct fv_track fv_track_noise = {
    .name = "noise",
    .visit = FV_VISIT_REST,
    .begin = begin_noise,
    .read = read_noise,
    .finish = finish_noise,
};

void fv_noise_release(void *data)
{
    struct fv_noise_view *n = data;

    for (size_t i = 0; i < n->series_count; i++)
        free(n->series[i].items);
    free(n->series);
    free(n->places);
    free(n->projections);
    free(n->others);
    free(n->ranks);
    *n = (struct fv_noise_view){ 0 };
}
