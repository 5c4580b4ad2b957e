/* See sections.h. A cell of calls names the set of sections that were open; a set is a chain of sections, and
 * each of them gets the call. Waiting is the call site's where all of its calls on a rank were in one set;
 * else it is what the wait log says of the very calls, or, where only the whole site's is known, a part by
 * time: an estimate. */
#include "report/sections.h"
#include "report/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHAIN 64u /* sections open at a time, at most */

/* Calls of a rank at a call site, by set. */
struct part {
    uint32_t set, site_rank;
    uint64_t calls, alone;
    double time_s;
    struct fv_cell_wait wait;
    bool barriers;
    struct fv_section_calls sums;
};

struct gather {
    struct fv_build *build;
    struct fv_sections_view *out;
    struct fv_index names, functions, paths, parts; /* parts: of the present file */
    uint32_t *section;                              /* of the present file, by id; in out->items */
    size_t section_count, section_room;
    struct fv_section_set *sets;
    size_t set_count, set_room;
    struct part *part;
    size_t part_count, part_room;
    size_t first_rank; /* of the present file, in out->ranks: "all", then the others */
    bool locks, samples;
};

const char *fv_section_value_name(unsigned value)
{
    static const char *const names[FV_SECTION_VALUES] = {
        "elapsed_s",
        "user_s",
        "system_s",
        "mpi_time_s",
        "wait_s",
        "lock_wait_s",
        "sampled_cpu_s",
        "thread_s",
        "mpi_calls",
        "faults",
        "switches",
        "sent_below_4k",
        "sent_below_64k",
        "sent_below_1m",
        "sent_1m_and_above",
        "received_below_4k",
        "received_below_64k",
        "received_below_1m",
        "received_1m_and_above",
    };

    return value < FV_SECTION_VALUES ? names[value] : "?";
}

/* Bucket b holds 2^(b-1) to 2^b - 1 bytes. What was counted over budget has no length: bucket 0. */
unsigned fv_section_class(unsigned bucket)
{
    return !bucket ? FV_SECTION_CLASSES : bucket <= 12 ? 0 : bucket <= 16 ? 1 : bucket <= 20 ? 2 : 3;
}

/* ---- sums ---- */

static void add_wait(uint8_t *kind, bool *unknown, uint8_t of)
{
    if (of == FV_WAIT_UNKNOWN)
        *unknown = true;
    else if (of > *kind)
        *kind = of;
    if (*unknown && *kind == FV_WAIT_EXACT)
        *kind = FV_WAIT_ESTIMATE;
}

static void add_calls(struct fv_section_calls *to, const struct fv_section_calls *from)
{
    to->calls += from->calls;
    to->time_s += from->time_s;
    to->wait_s += from->wait_s;
    if (from->calls)
        add_wait(&to->wait_kind, &to->any_unknown, from->wait_kind);
    to->bytes_sent += from->bytes_sent;
    to->bytes_received += from->bytes_received;
    for (unsigned i = 0; i <= FV_SECTION_CLASSES; i++) {
        to->sent[i] += from->sent[i];
        to->received[i] += from->received[i];
    }
}

static void add_cell(struct fv_section_calls *to, const struct fv_cell *cell)
{
    unsigned class = fv_section_class(cell->size_bucket);

    to->bytes_sent += cell->bytes_sent;
    to->bytes_received += cell->bytes_received;
    to->sent[class] += cell->sends;
    to->received[class] += cell->receives;
}

static void add_faults(struct fv_section_faults *to, const struct fv_section_faults *from)
{
    to->open += from->open;
    to->unended += from->unended;
    to->unbegun += from->unbegun;
    to->elsewhere += from->elsewhere;
    to->nested += from->nested;
    to->overlapped += from->overlapped;
}

/* ---- sections of a file ---- */

static uint32_t view_of(struct gather *g, const char *name, int32_t number, int32_t level, bool whole,
                        bool others)
{
    struct fv_sections_view *s = g->out;
    uint64_t hash = fv_mix2(fv_mix2(fv_hash_bytes(name, strlen(name)), (uint32_t)number), whole);
    struct fv_index_probe p = fv_index_probe(&g->names, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (s->items[i].number == number && s->items[i].whole == whole && s->items[i].others == others &&
            !strcmp(s->items[i].name, name))
            return i;
    FV_GROW(s->items, s->room, s->count + 1);
    s->items[s->count] = (struct fv_section_view){ .name = fv_arena_string(&g->build->model->arena, name),
                                                   .number = number,
                                                   .level = level,
                                                   .whole = whole,
                                                   .others = others };
    fv_index_add(&g->names, hash, (uint32_t)s->count);
    return (uint32_t)s->count++;
}

static struct fv_section_rank *rank_of(struct gather *g, uint32_t section, uint32_t rank)
{
    struct fv_sections_view *s = g->out;

    for (size_t i = g->first_rank; i < s->rank_count; i++)
        if (s->ranks[i].section == section)
            return &s->ranks[i];
    FV_GROW(s->ranks, s->rank_room, s->rank_count + 1);
    struct fv_section_rank *r = &s->ranks[s->rank_count++];
    *r = (struct fv_section_rank){ .section = section, .rank = rank, .shortest_s = NAN, .longest_s = NAN };
    return r;
}

static void read_names(struct gather *g, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SECTIONS);
    struct fv_section r;

    g->section_count = g->set_count = 0;
    for (const void *p; (p = fv_cursor_next(&c));) {
        uint64_t id = c.index + 1; /* the reader bounds it */
        char name[FV_SECTION_NAME];

        memcpy(&r, p, sizeof(r));
        memcpy(name, r.name, sizeof(name));
        name[sizeof(name) - 1] = '\0';
        FV_GROW(g->section, g->section_room, id + 1);
        for (; g->section_count <= id; g->section_count++)
            g->section[g->section_count] = FV_NONE;
        g->section[id] = view_of(g, name, r.number, r.level, false, r.flags & FV_SECTION_OTHERS);
    }
    c = fv_cursor(f->reader, FV_CHUNK_SECTION_SETS);
    for (const void *p; (p = fv_cursor_next(&c));) {
        uint64_t id = c.index + 1;

        FV_GROW(g->sets, g->set_room, id + 1);
        for (; g->set_count <= id; g->set_count++)
            g->sets[g->set_count] = (struct fv_section_set){ 0 };
        memcpy(&g->sets[id], p, sizeof(*g->sets));
    }
}

/* The sections of a set, each once. */
static void each_section(const struct gather *g, uint32_t set, uint32_t out[CHAIN], unsigned *count)
{
    *count = 0;
    for (uint32_t next; set && set < g->set_count && *count < CHAIN; set = next) {
        uint32_t id = g->sets[set].section;

        next = g->sets[set].outer < set ? g->sets[set].outer : 0; /* else damaged: no cycles */
        unsigned k = 0;
        while (k < *count && id < g->section_count && out[k] != g->section[id])
            k++;
        if (k == *count && id < g->section_count && g->section[id] != FV_NONE)
            out[(*count)++] = g->section[id];
    }
}

/* ---- times ---- */

static double difference(uint64_t now, uint64_t since)
{
    return now > since ? (double)(now - since) : 0;
}

static void add_usage(struct fv_section_rank *r, double user_ns, double system_ns, double faults,
                      double switches)
{
    r->value[FV_SECTION_USER] += user_ns * 1e-9;
    r->value[FV_SECTION_SYSTEM] += system_ns * 1e-9;
    r->value[FV_SECTION_FAULTS] += faults;
    r->value[FV_SECTION_SWITCHES] += switches;
}

static void no_usage(struct fv_section_rank *r)
{
    r->value[FV_SECTION_USER] = r->value[FV_SECTION_SYSTEM] = NAN;
    r->value[FV_SECTION_FAULTS] = r->value[FV_SECTION_SWITCHES] = NAN;
}

static double sampled_s(const struct gather *g, double samples)
{
    double rate = (double)g->build->model->samples.rate;

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
static double add_open(struct gather *g, struct fv_section_rank *r, const struct fv_build_file *f,
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
    r->value[FV_SECTION_SAMPLED] += sampled_s(g, difference(now.samples, t->since.samples));
    return fmin(fmax(s, 0), rank->end_s - rank->begin_s);
}

static bool makes_sense(const struct fv_section_times *t)
{
    return !t->count || (t->ticks_min <= t->ticks_max && t->ticks_max <= t->ticks);
}

static void add_times(struct gather *g, const struct fv_build_file *f, uint32_t rank, uint32_t thread,
                      const struct fv_section_times *t)
{
    const struct fv_model *m = g->build->model;
    double tick_s = fv_build_seconds(m, rank, 1u << 20) / (1u << 20), s = (double)t->ticks * tick_s;
    struct fv_section_rank *r;

    if (t->section >= g->section_count || g->section[t->section] == FV_NONE || !makes_sense(t))
        return;
    r = rank_of(g, g->section[t->section], rank);
    add_faults(&r->faults, &(struct fv_section_faults){ .unended = t->unended,
                                                        .unbegun = t->unbegun,
                                                        .elsewhere = t->elsewhere,
                                                        .nested = t->nested,
                                                        .overlapped = t->overlapped });
    if (!t->count && !t->opened)
        return;
    r->threads++;
    r->count += t->count;
    r->value[FV_SECTION_CALLS] += (double)t->sum.calls;
    r->value[FV_SECTION_MPI] += (double)t->sum.mpi_ticks * tick_s;
    r->value[FV_SECTION_LOCK] += g->locks ? (double)t->sum.lock_ticks * tick_s : NAN;
    r->value[FV_SECTION_SAMPLED] += sampled_s(g, (double)t->sum.samples);
    if (t->measured == 1 && !t->opened)
        add_usage(r, (double)t->sum.usage.user_ns, (double)t->sum.usage.system_ns,
                  (double)t->sum.usage.faults, (double)t->sum.usage.switches);
    else
        no_usage(r); /* of what is open nobody knows */
    if (t->count) {
        r->shortest_s = fmin(r->shortest_s, (double)t->ticks_min * tick_s);
        r->longest_s = fmax(r->longest_s, (double)t->ticks_max * tick_s);
    }
    if (t->opened)
        s += add_open(g, r, f, thread, t);
    r->value[FV_SECTION_THREADS_TIME] += s;
    r->value[FV_SECTION_ELAPSED] = fmax(r->value[FV_SECTION_ELAPSED], s);
}

static void read_times(struct gather *g, const struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SECTION_TIMES);
    struct fv_section_losses *sum = &g->out->losses, l;
    struct fv_section_times t;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        add_times(g, f, rank, c.thread, &t);
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
    }
}

/* The whole program on a rank. Its usage is known until the last look at it: NAN where that was long before
 * its end. */
static void add_whole(struct gather *g, const struct fv_build_file *f, uint32_t rank)
{
    const struct fv_model *m = g->build->model;
    const struct fv_rank *k = &m->ranks[rank];
    const struct fv_file_header *h = f->header;
    struct fv_section_rank *r = rank_of(g, view_of(g, "all", 0, 0, true, false), rank);
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_THREADS);
    struct fv_thread_record t;
    double samples = 0, lock_ticks = 0;

    r->count = 1;
    r->threads = k->threads;
    r->value[FV_SECTION_ELAPSED] = k->app_time_s;
    if (!h->usage_ticks ||
        h->usage_ticks < h->end_ticks - (h->end_ticks ? h->end_ticks - h->begin_ticks : 0) / 100 ||
        !h->end_ticks)
        no_usage(r);
    else
        add_usage(r, difference(h->usage_last.user_ns, h->usage_first.user_ns),
                  difference(h->usage_last.system_ns, h->usage_first.system_ns),
                  difference(h->usage_last.faults, h->usage_first.faults),
                  difference(h->usage_last.switches, h->usage_first.switches));
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
    r->value[FV_SECTION_LOCK] =
        g->locks ? lock_ticks * fv_build_seconds(m, rank, 1u << 20) / (1u << 20) : NAN;
    r->shortest_s = r->longest_s = k->app_time_s;
}

/* ---- calls ---- */

static struct fv_section_calls *function_of(struct gather *g, uint32_t section, uint32_t function)
{
    struct fv_section_view *v = &g->out->items[section];
    const char *name = g->build->model->functions[function].name;
    uint64_t hash = fv_mix2(section, function);
    struct fv_index_probe p = fv_index_probe(&g->functions, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i < v->function_count && v->functions[i].function == name)
            return &v->functions[i];
    FV_GROW(v->functions, v->function_room, v->function_count + 1);
    v->functions[v->function_count] = (struct fv_section_calls){ .function = name };
    fv_index_add(&g->functions, hash, (uint32_t)v->function_count);
    return &v->functions[v->function_count++];
}

static struct fv_section_calls *path_of(struct gather *g, uint32_t section, uint32_t function, uint32_t node)
{
    struct fv_section_view *v = &g->out->items[section];
    const char *name = g->build->model->functions[function].name;
    uint64_t hash = fv_mix2(fv_mix2(section, function), node);
    struct fv_index_probe p = fv_index_probe(&g->paths, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i < v->path_count && v->paths[i].function == name && v->paths[i].node == node)
            return &v->paths[i];
    FV_GROW(v->paths, v->path_room, v->path_count + 1);
    v->paths[v->path_count] = (struct fv_section_calls){ .function = name, .node = node };
    fv_index_add(&g->paths, hash, (uint32_t)v->path_count);
    return &v->paths[v->path_count++];
}

static void add_to_rank(struct fv_section_rank *r, const struct fv_section_calls *calls)
{
    r->value[FV_SECTION_WAIT] += calls->wait_s;
    if (calls->calls)
        add_wait(&r->wait_kind, &r->any_unknown, calls->wait_kind);
    for (unsigned i = 0; i < FV_SECTION_CLASSES; i++) {
        r->value[FV_SECTION_SENT + i] += (double)calls->sent[i];
        r->value[FV_SECTION_RECEIVED + i] += (double)calls->received[i];
    }
}

static struct part *find_part(struct gather *g, uint32_t set, uint32_t site_rank)
{
    uint64_t hash = fv_mix2(set, site_rank);
    struct fv_index_probe p = fv_index_probe(&g->parts, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (g->part[i].set == set && g->part[i].site_rank == site_rank)
            return &g->part[i];
    FV_GROW(g->part, g->part_room, g->part_count + 1);
    g->part[g->part_count] = (struct part){ .set = set, .site_rank = site_rank };
    fv_index_add(&g->parts, hash, (uint32_t)g->part_count);
    return &g->part[g->part_count++];
}

/* How long the calls of a part waited. */
static void judge_part(const struct fv_model *m, struct part *p)
{
    const struct fv_site_rank *s = &m->site_ranks[p->site_rank];
    const struct fv_func *f = &m->functions[m->sites[s->site].function];
    uint64_t calls = p->calls - (p->alone < p->calls ? p->alone : p->calls);
    bool own = !p->barriers && (m->causes.source != FV_CAUSES_TRACE || f->wait != FV_WAIT_P2P);

    p->sums.calls = p->calls;
    p->sums.time_s = p->time_s;
    if (p->calls == s->time.calls || s->wait_kind == FV_WAIT_UNKNOWN) {
        p->sums.wait_s = s->wait_kind == FV_WAIT_UNKNOWN ? 0 : s->wait_s;
        p->sums.wait_kind = s->wait_kind;
    } else if (own && (f->wait == FV_WAIT_P2P || p->wait.logged || !calls)) {
        p->sums.wait_s = p->wait.wait_s;
        if (f->wait != FV_WAIT_P2P && p->wait.logged && p->wait.logged < calls)
            p->sums.wait_s *= (double)calls / p->wait.logged;
        p->sums.wait_kind =
            f->wait == FV_WAIT_P2P || p->wait.guessed || !m->same_clock || p->wait.logged < calls
                ? FV_WAIT_ESTIMATE
                : FV_WAIT_EXACT;
    } else {
        p->sums.wait_s = s->time.sum > 0 ? s->wait_s * p->time_s / s->time.sum : 0;
        p->sums.wait_kind = FV_WAIT_ESTIMATE;
    }
    p->sums.wait_s = fmin(p->sums.wait_s, p->time_s);
}

static void add_part(struct gather *g, uint32_t rank, const struct part *p)
{
    const struct fv_model *m = g->build->model;
    const struct fv_site *site = &m->sites[m->site_ranks[p->site_rank].site];
    uint32_t chain[CHAIN];
    unsigned count;

    each_section(g, p->set, chain, &count);
    for (unsigned i = 0; i < count; i++) {
        add_calls(function_of(g, chain[i], site->function), &p->sums);
        add_calls(path_of(g, chain[i], site->function, site->node), &p->sums);
        add_to_rank(rank_of(g, chain[i], rank), &p->sums);
    }
}

/* Once for "all", and for each set that is open. */
static void read_cells(struct gather *g, struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_CELLS);
    const struct fv_model *m = g->build->model;
    uint32_t all = view_of(g, "all", 0, 0, true, false);
    struct fv_section_rank *whole = rank_of(g, all, rank);
    const struct fv_cell_place *place;
    struct fv_cell cell;

    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.index >= UINT32_MAX || !(place = fv_build_place(f, c.thread, (uint32_t)c.index)))
            continue;
        struct fv_section_calls sums = { .function = "" };
        const struct fv_cell_wait *wait = fv_build_cell_wait(f, c.thread, (uint32_t)c.index);

        memcpy(&cell, p, sizeof(cell));
        add_cell(&sums, &cell);
        add_calls(function_of(g, all, m->sites[m->site_ranks[place->site_rank].site].function), &sums);
        add_to_rank(whole, &sums);
        if (!cell.section || cell.section >= g->set_count)
            continue;
        struct part *part = find_part(g, cell.section, place->site_rank);
        add_calls(&part->sums, &sums);
        part->calls += cell.calls;
        part->time_s += fv_build_seconds(m, rank, cell.time_sum);
        part->barriers |= cell.barriers > 0;
        if (fv_build_alone(m, f, cell.comm))
            part->alone += cell.calls;
        if (wait) {
            part->wait.wait_s += wait->wait_s;
            part->wait.logged += wait->logged;
            part->wait.guessed |= wait->guessed;
        }
    }
    for (size_t i = 0; i < g->part_count; i++) {
        judge_part(m, &g->part[i]);
        add_part(g, rank, &g->part[i]);
    }
    g->part_count = 0;
    fv_index_release(&g->parts);
    g->parts = (struct fv_index){ 0 };
}

/* Of "all", calls and their waiting are those of the call sites. */
static void add_all_sites(struct gather *g)
{
    const struct fv_model *m = g->build->model;
    uint32_t all = view_of(g, "all", 0, 0, true, false);
    size_t at = 0;

    for (size_t i = 0; i < m->site_rank_count; i++) {
        const struct fv_site_rank *s = &m->site_ranks[i];
        struct fv_section_calls sums = {
            .calls = s->time.calls, .time_s = s->time.sum, .wait_s = s->wait_s, .wait_kind = s->wait_kind
        };

        add_calls(function_of(g, all, m->sites[s->site].function), &sums);
        for (size_t n = 0; n < g->out->rank_count; n++, at = at + 1 < g->out->rank_count ? at + 1 : 0)
            if (g->out->ranks[at].section == all && g->out->ranks[at].rank == s->rank) {
                add_to_rank(&g->out->ranks[at], &sums);
                break;
            }
    }
}

/* ---- over the ranks ---- */

static int by_section_and_rank(const void *a, const void *b)
{
    const struct fv_section_rank *x = a, *y = b;

    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_calls_time(const void *a, const void *b)
{
    const struct fv_section_calls *x = a, *y = b;

    if (x->time_s != y->time_s)
        return x->time_s > y->time_s ? -1 : 1;
    if (strcmp(x->function, y->function))
        return strcmp(x->function, y->function);
    return (x->node > y->node) - (x->node < y->node);
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

static struct fv_section_spread spread(const struct fv_section_rank *ranks, size_t count, unsigned value)
{
    struct fv_section_spread s = { .min = INFINITY, .max = -INFINITY };
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        double v = ranks[i].value[value];

        if (!ranks[i].count || !isfinite(v))
            continue;
        n++;
        s.sum += v;
        s.min = fmin(s.min, v);
        if (v > s.max) {
            s.max = v;
            s.max_rank = ranks[i].rank;
        }
    }
    if (!n)
        return (struct fv_section_spread){ NAN, NAN, NAN, NAN, FV_NONE };
    s.mean = s.sum / (double)n;
    return s;
}

static void sum_section(struct fv_section_view *v, const struct fv_section_rank *ranks, size_t count)
{
    v->shortest_s = v->longest_s = NAN;
    for (size_t i = 0; i < count; i++) {
        const struct fv_section_rank *r = &ranks[i];

        v->ranks++;
        v->threads += r->threads;
        v->count += r->count;
        v->shortest_s = fmin(v->shortest_s, r->shortest_s);
        v->longest_s = fmax(v->longest_s, r->longest_s);
        if (r->value[FV_SECTION_CALLS] > 0)
            add_wait(&v->wait_kind, &v->any_unknown, r->wait_kind);
        add_faults(&v->faults, &r->faults);
    }
    for (unsigned i = 0; i < FV_SECTION_VALUES; i++)
        v->value[i] = spread(ranks, count, i);
    if (v->function_count)
        qsort(v->functions, v->function_count, sizeof(*v->functions), by_calls_time);
    if (v->path_count)
        qsort(v->paths, v->path_count, sizeof(*v->paths), by_calls_time);
}

static void finish(struct gather *g)
{
    struct fv_sections_view *s = g->out;

    for (size_t i = 0; i < s->rank_count; i++) /* calls, of which no waiting is known */
        if (s->ranks[i].wait_kind == FV_WAIT_UNKNOWN && s->ranks[i].any_unknown)
            s->ranks[i].value[FV_SECTION_WAIT] = NAN;
    qsort(s->ranks, s->rank_count, sizeof(*s->ranks), by_section_and_rank);
    for (size_t i = 0, next; i < s->rank_count; i = next) {
        struct fv_section_view *v = &s->items[s->ranks[i].section];

        for (next = i; next < s->rank_count && s->ranks[next].section == s->ranks[i].section;)
            next++;
        v->first = (uint32_t)i;
        sum_section(v, &s->ranks[i], next - i);
    }
    qsort(s->items, s->count, sizeof(*s->items), by_elapsed);
    for (uint32_t k = 0; k < s->count; k++)
        for (uint32_t i = 0; i < s->items[k].ranks; i++)
            s->ranks[s->items[k].first + i].section = k;
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

void fv_build_sections(struct fv_build *b)
{
    struct gather g = { .build = b, .out = &b->model->sections, .locks = has_locks(b) };

    for (uint32_t i = 0; i < b->model->rank_count; i++) {
        struct fv_build_file *f = &b->files[i];

        g.first_rank = g.out->rank_count;
        add_whole(&g, f, i);
        read_names(&g, f);
        read_times(&g, f, i);
        read_cells(&g, f, i);
    }
    add_all_sites(&g);
    finish(&g);
    free(g.section);
    free(g.sets);
    free(g.part);
    fv_index_release(&g.names);
    fv_index_release(&g.functions);
    fv_index_release(&g.paths);
    fv_index_release(&g.parts);
}

static int by_function_and_node(const void *a, const void *b)
{
    const struct fv_section_calls *x = a, *y = b;
    int order = strcmp(x->function, y->function);

    return order ? order : (x->node > y->node) - (x->node < y->node);
}

void fv_section_fold(struct fv_section_view *s)
{
    size_t kept = 0;

    if (!s->path_count)
        return;
    qsort(s->paths, s->path_count, sizeof(*s->paths), by_function_and_node);
    for (size_t i = 1; i < s->path_count; i++) {
        if (by_function_and_node(&s->paths[kept], &s->paths[i]))
            s->paths[++kept] = s->paths[i];
        else
            add_calls(&s->paths[kept], &s->paths[i]);
    }
    s->path_count = kept + 1;
    qsort(s->paths, s->path_count, sizeof(*s->paths), by_calls_time);
}

void fv_sections_release(struct fv_sections_view *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->items[i].functions);
        free(s->items[i].paths);
    }
    free(s->items);
    free(s->ranks);
    *s = (struct fv_sections_view){ 0 };
}
