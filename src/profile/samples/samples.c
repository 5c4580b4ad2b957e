/* SPDX-License-Identifier: BSD-3-Clause */
/* See samples.h: the contexts of all threads, from the rank files. */
#include "profile/build.h"
#include "profile/samples/costs.h"
#include "profile/samples/sample_paths.h"
#include "profile/samples/samples.h"
#include "profile/samples/samples_gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RINGS_KEPT 16 /* of a function in its context: of so many threads are the last instances */

/* Events counted in the instances of a record of INSTANCES. */
struct counts {
    uint32_t thread;
    uint64_t index;
    struct fv_event_counts of;
};
/* CPU time outside of MPI, likewise. */
struct computing {
    uint64_t record[2]; /* thread, index */
    struct fv_instance_computing of;
};
/* Single instances, in the file. */
struct kept {
    uint64_t record[2];                       /* thread, index */
    const struct fv_recent_instances *recent; /* NULL: there was no room */
    const struct fv_instance_events *events;  /* NULL: none were counted, or there was no room */
};
/* Long calls of a context. */
struct long_calls {
    uint64_t record[2]; /* thread, index */
    struct fv_long_calls of;
};
struct gather {
    struct fv_build *build;
    struct fv_samples *out;
    struct fv_index by_node;   /* of out->items */
    struct fv_index by_thread; /* of out->parts */
    /* of the present rank */
    unsigned event_of[FV_METRIC_EVENTS]; /* in the model; FV_METRIC_EVENTS: none, or it is not counted */
    struct counts *counts;
    size_t count_count, count_room;
    struct fv_index counts_by_record;
    struct computing *computing;
    size_t computing_count, computing_room;
    struct fv_index computing_by_record;
    struct kept *kept;
    size_t kept_count, kept_room;
    struct fv_index kept_by_record;
    struct long_calls *long_calls;
    size_t long_count, long_room;
    struct fv_index long_by_record;
};

/* ---- statistics ---- */

static bool is_sane(const struct fv_moments *m)
{
    return isfinite(m->mean) && isfinite(m->m2) && m->mean >= 0 && m->m2 >= 0;
}

static void set_moments(struct fv_sampled_stat *s, unsigned metric, const struct fv_moments *m, double unit)
{
    s->mean[metric] = m->mean * unit;
    s->m2[metric] = m->m2 * unit * unit;
}

/* What a thread had collected, in seconds; of events, of `events` instances, under the model's numbers.
 * Damaged numbers count as none. */
static struct fv_sampled_stat take_stat(const struct gather *g, const struct fv_moments *m,
                                        const struct fv_moments *computing, uint64_t count, double tick_s,
                                        uint64_t events)
{
    const double unit[FV_METRIC_EVENT_0] = {
        [FV_METRIC_TIME] = tick_s, [FV_METRIC_CPU] = 1e-9,   [FV_METRIC_MPI] = tick_s,   [FV_METRIC_MPI_CALLS] = 1,
        [FV_METRIC_FAULTS] = 1,    [FV_METRIC_SWITCHES] = 1, [FV_METRIC_MIGRATIONS] = 1, [FV_METRIC_MPI_BYTES] = 1
    };
    struct fv_sampled_stat s = { .count = count };

    for (unsigned i = 0; i < FV_METRIC_COUNT; i++)
        if (!is_sane(&m[i]))
            return (struct fv_sampled_stat){ 0 };
    for (unsigned i = 0; i < FV_METRIC_EVENT_0; i++)
        set_moments(&s, i, &m[i], unit[i]);
    set_moments(&s, FV_SAMPLED_COMPUTING, is_sane(computing) ? computing : &m[FV_METRIC_CPU], 1e-9);
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++) {
        unsigned event = g->event_of[i];

        if (event == FV_METRIC_EVENTS)
            continue;
        s.mean[FV_METRIC_EVENT_0 + event] = m[FV_METRIC_EVENT_0 + i].mean;
        s.m2[FV_METRIC_EVENT_0 + event] = m[FV_METRIC_EVENT_0 + i].m2;
        s.event_count[event] = events;
    }
    return s;
}

/* ---- contexts ---- */

static uint32_t sampled_of(struct gather *g, uint32_t node)
{
    struct fv_samples *s = g->out;
    size_t before = s->count;
    uint32_t id = FV_INTERN(g->by_node, s->items, s->count, s->room, node);

    if (s->count > before)
        s->items[id].between = s->items[id].by_caller = s->items[id].calls = NAN;
    return id;
}

/* `counts`: under the rank's numbers; NULL: none. */
static struct fv_sampled_instance instance_of(const struct gather *g, const struct fv_sampled_part *part,
                                              const struct fv_instance *i, const uint64_t *counts)
{
    const struct fv_model *m = g->build->model;
    struct fv_sampled_instance out = {
        .sampled = part->sampled,
        .rank = part->rank,
        .thread = part->thread,
        .begin_s = fv_build_time(m, part->rank, i->begin),
        .time_s = fv_build_seconds(m, part->rank, i->time),
        .cpu_s = (double)i->cpu_ns * 1e-9,
    };

    for (unsigned k = 0; k < FV_METRIC_EVENTS; k++)
        out.event[k] = NAN;
    for (unsigned k = 0; counts && k < FV_METRIC_EVENTS; k++)
        if (g->event_of[k] < FV_METRIC_EVENTS && counts[k] != FV_COUNT_UNKNOWN)
            out.event[g->event_of[k]] = (double)counts[k];
    return out;
}

/* Of one thread several contexts may be one: its own paths and those of teams (symbols/forks.h). */
static struct fv_sampled_part *part_of(struct gather *g, uint32_t sampled, uint32_t rank, uint32_t thread)
{
    struct fv_samples *s = g->out;
    size_t before = s->part_count;
    struct fv_sampled_part *part =
        FV_INTERNED(g->by_thread, s->parts, s->part_count, s->part_room, (uint32_t[]){ sampled, rank, thread });

    s->items[sampled].threads += s->part_count > before;
    return part;
}

static void add_part(struct fv_sampled_part *to, const struct fv_sampled_part *from)
{
    to->entries += from->entries;
    to->returns += from->returns;
    to->abandoned += from->abandoned;
    fv_sampled_add_stat(&to->all, &from->all);
    fv_sampled_add_stat(&to->window, &from->window);
    fv_sampled_add_long(&to->rare, &from->rare);
}

/* Reservoirs are in the order that they were filled in: a part of one must be drawn from all of it. */
static void take_instances(struct gather *g, const struct fv_sampled_part *part, const struct fv_instances *r,
                           const struct kept *kept)
{
    struct fv_samples *s = g->out;

    for (uint64_t i = 0; i < r->returns && i < FV_RESERVOIR; i++) {
        FV_GROW(s->instances, s->instance_room, s->instance_count + 1);
        s->instances[s->instance_count++] =
            instance_of(g, part, &r->reservoir[i], kept && kept->events ? kept->events->reservoir[i] : NULL);
    }
    if (!kept || !kept->recent || s->items[part->sampled].recents >= FV_RECENT * RINGS_KEPT)
        return;
    for (uint64_t i = 0; i < r->returns && i < FV_RECENT; i++, s->items[part->sampled].recents++) {
        FV_GROW(s->recent, s->recent_room, s->recent_count + 1);
        s->recent[s->recent_count++] =
            instance_of(g, part, &kept->recent->at[i], kept->events ? kept->events->recent[i] : NULL);
    }
}

/* Of how many instances the moments of events are: counted apart, or, without a count, all of them. */
static struct fv_event_counts event_counts(const struct gather *g, const struct fv_cursor *c,
                                           const struct fv_instances *r)
{
    struct fv_index_probe p = fv_index_probe(&g->counts_by_record, fv_mix2(c->thread, c->index));
    struct fv_event_counts counts = { r->returns, r->window };

    if (r->flags & FV_INSTANCES_UNCOUNTED)
        return (struct fv_event_counts){ 0 };
    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        const struct counts *found = &g->counts[i];

        if (found->thread != c->thread || found->index != c->index)
            continue;
        if (found->of.all < counts.all)
            counts.all = found->of.all;
        if (found->of.in_window < counts.in_window)
            counts.in_window = found->of.in_window;
    }
    return counts;
}

static void read_event_counts(struct gather *g, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_EVENT_COUNTS);

    fv_index_release(&g->counts_by_record);
    g->count_count = 0;
    for (const struct fv_event_counts *r; (r = fv_cursor_next(&c));) {
        FV_GROW(g->counts, g->count_room, g->count_count + 1);
        g->counts[g->count_count] = (struct counts){ c.thread, c.index, *r };
        fv_index_add(&g->counts_by_record, fv_mix2(c.thread, c.index), (uint32_t)g->count_count++);
    }
}

static void read_computing(struct gather *g, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_INSTANCE_COMPUTING);

    fv_index_release(&g->computing_by_record);
    g->computing_count = 0;
    for (const struct fv_instance_computing *r; (r = fv_cursor_next(&c));)
        FV_INTERNED(g->computing_by_record, g->computing, g->computing_count, g->computing_room,
                    (uint64_t[]){ c.thread, c.index })
            ->of = *r;
}

static struct kept *kept_at(struct gather *g, const struct fv_cursor *c)
{
    return FV_INTERNED(g->kept_by_record, g->kept, g->kept_count, g->kept_room, (uint64_t[]){ c->thread, c->index });
}

static void read_kept(struct gather *g, const struct fv_build_file *f)
{
    struct fv_cursor recent = fv_cursor(f->reader, FV_CHUNK_RECENT_INSTANCES),
                     events = fv_cursor(f->reader, FV_CHUNK_INSTANCE_EVENTS);

    fv_index_release(&g->kept_by_record);
    g->kept_count = 0;
    for (const void *r; (r = fv_cursor_next(&recent));)
        kept_at(g, &recent)->recent = r;
    for (const void *r; (r = fv_cursor_next(&events));)
        kept_at(g, &events)->events = r;
}

static const struct kept *kept_of(const struct gather *g, const struct fv_cursor *c)
{
    uint32_t i = FV_FIND(g->kept_by_record, g->kept, (uint64_t[]){ c->thread, c->index });

    return i == FV_NONE ? NULL : &g->kept[i];
}

/* Without it, the CPU time. */
static struct fv_instance_computing computing_of(const struct gather *g, const struct fv_cursor *c,
                                                 const struct fv_instances *r)
{
    uint32_t i = FV_FIND(g->computing_by_record, g->computing, (uint64_t[]){ c->thread, c->index });

    return i == FV_NONE ? (struct fv_instance_computing){ r->all[FV_METRIC_CPU], r->in_window[FV_METRIC_CPU] }
                        : g->computing[i].of;
}

static void read_long_calls(struct gather *g, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_LONG_CALLS);

    fv_index_release(&g->long_by_record);
    g->long_count = 0;
    for (const struct fv_long_calls *r; (r = fv_cursor_next(&c));)
        if (r->count)
            FV_INTERNED(g->long_by_record, g->long_calls, g->long_count, g->long_room,
                        (uint64_t[]){ c.thread, c.index })
                ->of = *r;
}

/* None that a damaged record tells: each was met by a sample, and was before it at least. */
static struct fv_sampled_long_calls long_calls_of(const struct gather *g, const struct fv_cursor *c)
{
    uint32_t i = FV_FIND(g->long_by_record, g->long_calls, (uint64_t[]){ c->thread, c->index });
    const struct fv_long_calls *r = i == FV_NONE ? NULL : &g->long_calls[i].of;

    if (!r || r->count > r->ticks || r->ns > r->all_ns)
        return (struct fv_sampled_long_calls){ 0 };
    return (struct fv_sampled_long_calls){
        .count = r->count,
        .ticks = r->ticks,
        .met_s = (double)r->ns * 1e-9,
        .time_s = (double)r->all_ns * 1e-9,
        .calls = r->look_ns ? (double)r->look_entries / (double)r->look_ns * (double)r->cpu_ns : 0
    };
}

static void read_instances(struct gather *g, struct fv_build_file *f, const struct fv_sample_trees *trees,
                           uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_INSTANCES);
    double tick_s = fv_build_seconds(g->build->model, rank, 1u << 20) / (1u << 20);
    struct fv_samples *out = g->out;
    struct fv_instances r;

    read_event_counts(g, f);
    read_computing(g, f);
    read_kept(g, f);
    read_long_calls(g, f);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        uint32_t node = fv_sample_trees_node(trees, c.thread, r.path);
        struct fv_event_counts events = event_counts(g, &c, &r);
        struct fv_instance_computing computing = computing_of(g, &c, &r);

        if (!node || node == FV_NONE)
            continue;
        struct fv_sampled_part part = { .entries = r.entries,
                                        .returns = r.returns,
                                        .abandoned = r.abandoned,
                                        .all = take_stat(g, r.all, &computing.all, r.returns, tick_s, events.all),
                                        .window = take_stat(g, r.in_window, &computing.in_window, r.window, tick_s,
                                                            events.in_window),
                                        .rare = long_calls_of(g, &c) };
        struct fv_sampled_part *sum = part_of(g, sampled_of(g, node), rank, c.thread);
        struct fv_sampled_function *s = &out->items[sum->sampled];
        s->entries += r.entries;
        s->returns += r.returns;
        s->abandoned += r.abandoned;
        s->fast |= r.flags & FV_INSTANCES_FAST;
        fv_sampled_add_stat(&s->all, &part.all);
        fv_sampled_add_stat(&s->window, &part.window);
        take_instances(g, sum, &r, kept_of(g, &c));
        add_part(sum, &part);
    }
}

/* ---- how it was sampled ---- */

const char *fv_sampled_stopped(const struct fv_samples *s)
{
    static const char *const words[FV_SAMPLER_STOPS] = {
        [FV_SAMPLER_SIGPROF_USED] = "the program uses SIGPROF itself",
        [FV_SAMPLER_SIGPROF_BLOCKED] = "the program blocks SIGPROF",
        [FV_SAMPLER_TICKLESS] = "the processors have no clock interrupts (nohz_full)",
        [FV_SAMPLER_SMALL_STACK] = "the program's signal stack is too small",
        [FV_SAMPLER_NO_TIMER] = "the kernel gave no clock: perf_event_open and timers are refused here",
        [FV_SAMPLER_NOT_HERE] = "not with this C library, in a static program, or under valgrind",
    };

    return words[s->stopped];
}

static void add_sampler(struct gather *g, const struct fv_sampler_record *r, uint32_t rank)
{
    const struct fv_model *m = g->build->model;
    struct fv_samples *s = g->out;

    s->migrations_exact = (s->migrations_exact || !s->threads) && r->migrations_exact;
    s->threads++;
    s->rate = r->rate;
    s->ticks += r->ticks;
    s->cpu_s += (double)r->ticks / (double)r->rate;
    s->traps += r->traps;
    s->entries += r->entries;
    s->returns += r->returns;
    s->abandoned += r->abandoned;
    s->open += r->open;
    s->lost += r->lost_contexts;
    s->lost_paths += r->lost_paths;
    s->log_lost += r->log_lost;
    s->samples_lost += r->samples_lost;
    s->events_scaled += r->events_scaled;
    s->events_lost += r->events_lost;
    s->skipped += r->skipped;
    s->held_back += r->held_back;
    s->no_stack += r->no_stack;
    s->not_followed += r->refused;
    s->cut += r->cut;
    s->modes[r->mode < FV_SAMPLER_MODES ? r->mode : FV_SAMPLER_COSTS]++;
    s->by_event += r->by_event;
    if (r->refusal) {
        s->refused_threads++;
        s->refusal = (int)(r->refusal & 0xffff);
    }
    s->tool_s += (double)r->tool_ns * 1e-9;
    s->trap_s = fmax(s->trap_s, fv_build_seconds(m, rank, r->trap_ticks));
    s->trap_spread_s = fmax(s->trap_spread_s, fv_build_seconds(m, rank, r->trap_spread_ticks));
    s->resolution_s = fmax(FV_SAMPLED_SPREADS * s->trap_spread_s, FV_SAMPLED_TRAPS * s->trap_s);
    s->long_s = fmax(s->resolution_s, FV_SAMPLED_LONG * s->trap_s);
}

static void read_samplers(struct gather *g, const struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SAMPLER);
    struct fv_sampler_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (r.rate)
            add_sampler(g, &r, rank);
        if (!r.stopped)
            continue;
        g->out->stopped_threads++;
        g->out->stopped = r.stopped < FV_SAMPLER_STOPS ? (enum fv_sampler_stop)r.stopped : FV_SAMPLER_NOT_HERE;
    }
}

/* The model's number of an event that a rank asked for; FV_METRIC_EVENTS: there is no room for it. */
static unsigned event_of(struct gather *g, const struct fv_metric_event *r)
{
    struct fv_samples *s = g->out;
    size_t length = strnlen(r->name, sizeof(r->name));
    unsigned i = 0;

    for (; i < FV_METRIC_EVENTS && s->events[i].name; i++)
        if (strlen(s->events[i].name) == length && !strncasecmp(s->events[i].name, r->name, length))
            return i;
    if (i < FV_METRIC_EVENTS)
        s->events[i].name = fv_arena_bytes(&g->build->model->arena, r->name, length);
    else
        s->events_unshown++;
    return i;
}

static void read_events(struct gather *g, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_METRIC_EVENTS);
    bool met[FV_METRIC_EVENTS + 1] = { false };
    struct fv_metric_event r;
    unsigned i;

    for (i = 0; i < FV_METRIC_EVENTS; i++)
        g->event_of[i] = FV_METRIC_EVENTS;
    i = 0;
    for (const void *p; i < FV_METRIC_EVENTS && (p = fv_cursor_next(&c)); i++) {
        memcpy(&r, p, sizeof(r));
        unsigned event = event_of(g, &r);
        struct fv_sampled_event *e = &g->out->events[event];

        if (event == FV_METRIC_EVENTS || met[event])
            continue;
        met[event] = true;
        e->ranks++;
        e->user_only |= r.user_only;
        g->event_of[i] = r.refusal ? FV_METRIC_EVENTS : event;
        if (r.refusal) {
            e->refused++;
            e->refusal = (int)(r.refusal & 0xffff);
        }
    }
}

static void *begin_samples(struct fv_build *b)
{
    struct gather *g = fv_xcalloc(1, sizeof(*g));

    g->build = b;
    g->out = fv_model_samples(b->model);
    return g;
}

static void read_samples(struct fv_build *b, void *g, uint32_t rank)
{
    struct fv_build_file *f = &b->files[rank];
    struct fv_sample_trees trees = { 0 };

    fv_sample_trees_read(&trees, b, f);
    read_samplers(g, f, rank);
    read_events(g, f);
    read_instances(g, f, &trees, rank);
    fv_build_costs(b, f, &trees, rank);
    fv_sample_trees_release(&trees);
}

static void finish_samples(struct fv_build *b, void *state)
{
    struct gather *g = state;
    (void)b;

    fv_index_release(&g->by_node);
    fv_index_release(&g->by_thread);
    fv_index_release(&g->counts_by_record);
    fv_index_release(&g->computing_by_record);
    fv_index_release(&g->kept_by_record);
    free(g->kept);
    fv_index_release(&g->long_by_record);
    free(g->long_calls);
    free(g->counts);
    free(g->computing);
    free(g);
}

const struct fv_track fv_track_samples = {
    .name = "samples",
    .visit = FV_VISIT_CALLS,
    .begin = begin_samples,
    .read = read_samples,
    .finish = finish_samples,
    .needs = { "calls" },
};

void fv_samples_release(void *data)
{
    struct fv_samples *s = data;

    free(s->items);
    free(s->functions);
    free(s->parts);
    free(s->instances);
    free(s->recent);
}
