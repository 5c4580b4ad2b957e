/* SPDX-License-Identifier: BSD-3-Clause */
/* See phases.h. Each rank's lives first; sorted, an instance ends where no thread of it is left when the next
 * is created. Regions of OpenMP are summed up in the file already. */
#include "base/solo.h"
#include "profile/build.h"
#include "profile/threads/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A thread slot of the present file: what its present thread has waited for so far. */
struct slot {
    bool known;
    double wait_s, waits_since_s; /* waits_since_s: in the model's time; NAN: it does not */
};

struct gather {
    struct fv_build *build;
    struct fv_phases *out;
    struct fv_index phases, parts;
    uint32_t rank;
    bool regions; /* of OpenMP, in the present file */
    struct slot *slots;
    size_t slot_count, slot_room;
    double until_s; /* the rank was seen alive */
};

/* ---- lives ---- */

/* Threads have pages of their own: there are no more than the file has. */
static void read_slots(struct gather *g)
{
    const struct fv_model *m = g->build->model;
    const struct fv_reader *reader = g->build->files[g->rank].reader;
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SYNC_THREAD);
    struct fv_sync_thread t;

    g->slot_count = 0;
    g->until_s = m->ranks[g->rank].end_s;
    for (const void *p; (p = fv_cursor_next(&c));) {
        struct slot slot = { .known = true, .waits_since_s = NAN };

        if (c.thread >= fv_reader_bytes(reader) / FV_PAGE)
            continue;
        memcpy(&t, p, sizeof(t));
        for (unsigned i = 0; i < FV_SYNC_KINDS; i++)
            slot.wait_s += fv_build_seconds(m, g->rank, t.wait_ticks[i]);
        if (t.wait_begin) {
            slot.waits_since_s = fv_build_time(m, g->rank, t.wait_begin);
            g->until_s = fmax(g->until_s, slot.waits_since_s);
        }
        FV_GROW(g->slots, g->slot_room, (size_t)c.thread + 1);
        for (; g->slot_count <= c.thread; g->slot_count++)
            g->slots[g->slot_count] = (struct slot){ .waits_since_s = NAN };
        g->slots[c.thread] = slot;
    }
}

static double time_or_nan(const struct gather *g, uint64_t ticks)
{
    return ticks ? fv_build_time(g->build->model, g->rank, ticks) : NAN;
}

/* A thread that had not begun yet has done nothing. */
static void add_life(struct gather *g, const struct fv_thread_life *r)
{
    struct fv_build *b = g->build;
    const struct fv_build_file *f = &b->files[g->rank];
    uint32_t module = fv_numbers_module(&f->modules, r->routine_module);
    struct fv_life life = {
        .rank = g->rank,
        .id = r->id,
        .thread = r->thread,
        .tid = r->tid,
        .creator = r->creator,
        .joiner = r->joiner,
        .create_node = fv_build_node_of(b, f, r->create_path),
        .join_node = fv_build_node_of(b, f, r->join_path),
        .routine = module >= FV_MODEL_FIRST_MODULE ? fv_build_address(b, module, r->routine_offset) : FV_NONE,
        .phase = FV_NONE,
        .alive = !r->end,
        .created_s = time_or_nan(g, r->created),
        .begin_s = time_or_nan(g, r->begin),
        .end_s = time_or_nan(g, r->end),
        .wait_s =
            fv_build_seconds(b->model, g->rank, r->wait_at_end) - fv_build_seconds(b->model, g->rank, r->wait_at_begin),
        .cpu_s = r->end ? (double)r->cpu_ns * 1e-9 : NAN,
        .join_begin_s = r->joiner == FV_NO_THREAD ? NAN : time_or_nan(g, r->join_begin),
        .join_end_s = r->joiner == FV_NO_THREAD ? NAN : time_or_nan(g, r->join_end),
    };

    if (!isfinite(life.begin_s) && !isfinite(life.created_s))
        return;
    if (!isfinite(life.begin_s))
        life.begin_s = life.end_s = life.created_s;
    if (!isfinite(life.created_s))
        life.created_s = life.begin_s;
    for (unsigned i = 0; i < 3; i++) {
        double seen = (const double[]){ life.created_s, life.begin_s, life.end_s }[i];

        if (seen > g->until_s)
            g->until_s = seen;
    }
    FV_GROW(g->out->lives, g->out->life_room, g->out->life_count + 1);
    g->out->lives[g->out->life_count++] = life;
}

/* Those that live on have waited as their slot tells, and may wait now. */
static void finish_life(const struct gather *g, struct fv_life *life, const struct fv_thread_life *r)
{
    const struct slot *slot = life->thread < g->slot_count ? &g->slots[life->thread] : NULL;

    if (!r->end) {
        if (!isfinite(life->end_s))
            life->end_s = g->until_s;
        life->wait_s = 0;
        if (slot && slot->known)
            life->wait_s = slot->wait_s - fv_build_seconds(g->build->model, g->rank, r->wait_at_begin);
        if (slot && isfinite(slot->waits_since_s))
            life->wait_s += fmax(life->end_s - slot->waits_since_s, 0);
    }
    life->end_s = fmax(life->end_s, life->begin_s);
    life->wait_s = fmin(fmax(life->wait_s, 0), life->end_s - life->begin_s);
}

static void read_lives(struct gather *g)
{
    const struct fv_reader *reader = g->build->files[g->rank].reader;
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_LIVES);
    size_t first = g->out->life_count, room = 0, count = 0;
    struct fv_thread_life *raw = NULL, r;

    read_slots(g);
    for (const void *p; (p = fv_cursor_next(&c));) {
        size_t before = g->out->life_count;

        memcpy(&r, p, sizeof(r));
        add_life(g, &r);
        if (g->out->life_count == before)
            continue;
        FV_GROW(raw, room, count + 1);
        raw[count++] = r;
    }
    for (size_t i = 0; i < count; i++)
        finish_life(g, &g->out->lives[first + i], &raw[i]);
    free(raw);
}

/* ---- instances ---- */

static int by_creation(const void *a, const void *b)
{
    const struct fv_life *x = a, *y = b;

    if (x->creator != y->creator)
        return x->creator < y->creator ? -1 : 1;
    if (x->routine != y->routine)
        return x->routine < y->routine ? -1 : 1;
    if (x->created_s != y->created_s)
        return x->created_s < y->created_s ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static double close_of(const struct fv_life *life)
{
    return isfinite(life->join_end_s) ? fmax(life->join_end_s, life->end_s) : life->end_s;
}

static uint32_t phase_of(struct gather *g, enum fv_phase_kind kind, uint32_t routine, uint32_t node)
{
    struct fv_phases *s = g->out;

    return FV_INTERN(g->phases, s->items, s->count, s->room, (uint32_t[]){ kind, node, routine });
}

void fv_phase_sums_add(struct fv_phase_sums *to, const struct fv_phase_sums *from)
{
    if (!from->instances)
        return;
    if (!to->instances) {
        *to = *from;
        return;
    }
    to->instances += from->instances;
    to->threads += from->threads;
    to->threads_min = from->threads_min < to->threads_min ? from->threads_min : to->threads_min;
    to->threads_max = from->threads_max > to->threads_max ? from->threads_max : to->threads_max;
    to->elapsed_s += from->elapsed_s;
    to->longest_s += from->longest_s;
    to->useful_longest_s += from->useful_longest_s;
    to->weighted_s += from->weighted_s;
    to->time_s += from->time_s;
    to->wait_s += from->wait_s;
    to->cpu_s += from->cpu_s;
    to->off_cpu_s += from->off_cpu_s;
    to->creator_s += from->creator_s;
    to->cpus = to->cpus < from->cpus ? to->cpus : from->cpus; /* of which one is unknown: all are */
    to->queue_s += from->queue_s;
    to->least_s += from->least_s;
    to->useful_least_s += from->useful_least_s;
    to->join_s += from->join_s;
    to->fork_s += from->fork_s;
    to->lost_threads += from->lost_threads;
    to->untimed_tasks += from->untimed_tasks;
}

#define COMPUTES 0.05

/* See phases.h: N threads on P processors. */
static void share_cpus(struct fv_phase_sums *s, uint32_t cpus)
{
    double useful_s = s->time_s - s->wait_s, most_s = cpus * s->longest_s, cpu_s = useful_s - s->off_cpu_s;
    double threads_each = cpus ? (double)s->threads_max / cpus : 0;

    s->cpus = cpus;
    s->least_s = s->longest_s;
    s->useful_least_s = s->useful_longest_s;
    if (threads_each <= 1)
        return;
    if (isfinite(cpu_s)) {
        double above_s = useful_s - most_s;

        s->queue_s = fmin(s->off_cpu_s, (threads_each - 1) * cpu_s);
        if (cpu_s >= COMPUTES * useful_s && above_s > s->queue_s) {
            s->queue_s = fmin(above_s, s->off_cpu_s);
            cpu_s = fmax(cpu_s, most_s);
        }
    } else {
        cpu_s = fmin(useful_s, most_s);
        s->queue_s = useful_s - cpu_s;
    }
    s->least_s = fmax(s->least_s, cpu_s / cpus);
    s->useful_least_s = fmax(s->useful_least_s, cpu_s / cpus);
}

static struct fv_phase_sums sum_instance(const struct fv_life *lives, size_t count, uint32_t cpus)
{
    struct fv_phase_sums s = {
        .instances = 1, .threads = count, .threads_min = (uint32_t)count, .threads_max = (uint32_t)count
    };
    double until_s = lives[0].end_s, joins_s = 0;

    for (size_t i = 0; i < count; i++) {
        const struct fv_life *l = &lives[i];
        double t = l->end_s - l->begin_s;

        s.longest_s = fmax(s.longest_s, t);
        s.useful_longest_s = fmax(s.useful_longest_s, t - l->wait_s);
        s.time_s += t;
        s.wait_s += l->wait_s;
        s.cpu_s += l->cpu_s;
        s.off_cpu_s += isfinite(l->cpu_s) ? fmax(t - l->wait_s - l->cpu_s, 0) : NAN;
        until_s = fmax(until_s, close_of(l));
        joins_s += l->joiner == l->creator ? l->join_end_s - l->join_begin_s : NAN;
    }
    s.weighted_s = (double)count * s.longest_s;
    s.elapsed_s = until_s - lives[0].created_s;
    s.creator_s = isfinite(joins_s) ? fmax(s.elapsed_s - joins_s, 0) : NAN;
    share_cpus(&s, cpus);
    return s;
}

static struct fv_phase_part *part_of(struct gather *g, uint32_t phase)
{
    struct fv_phases *s = g->out;

    return FV_INTERNED(g->parts, s->parts, s->part_count, s->part_room, (uint32_t[]){ phase, g->rank });
}

static void add_instance(struct gather *g, struct fv_life *lives, size_t count)
{
    uint32_t phase = phase_of(g, FV_PHASE_THREADS, lives[0].routine, lives[0].create_node);
    struct fv_phase_part *part = part_of(g, phase);
    struct fv_build_file *f = &g->build->files[g->rank];
    struct fv_phase_sums sums = sum_instance(lives, count, g->build->model->ranks[g->rank].cpus);

    for (size_t i = 0; i < count; i++) {
        lives[i].phase = phase;
        lives[i].instance = (uint32_t)part->sums.instances;
        if (fv_number_is_id(f->reader, lives[i].id))
            fv_numbers_set(fv_build_numbers(f, FV_CHUNK_LIVES), lives[i].id, phase);
        g->out->items[phase].open = g->out->items[phase].open || lives[i].alive;
    }
    fv_phase_sums_add(&part->sums, &sums);
    fv_phase_sums_add(&g->out->items[phase].sums, &sums);
}

static const char *module_name(const struct fv_model *m, uint32_t routine)
{
    return routine == FV_NONE ? "" : m->tree.modules[m->addresses[routine].module].name;
}

/* LLVM's and Intel's, whose regions are seen by OMPT, or where GCC made the program. */
static bool is_libomp(const char *module)
{
    return !strncmp(module, "libomp.", 7) || !strncmp(module, "libiomp5.", 9);
}

/* Threads of OpenMP's run-time library outlive its regions, which are phases of their own. */
static bool is_pool(const struct gather *g, const struct fv_life *life)
{
    const char *module = module_name(g->build->model, life->routine);

    return g->regions && (!strncmp(module, "libgomp.", 8) || is_libomp(module));
}

const char *fv_phase_unseen_openmp(const struct fv_model *model, const struct fv_phase *phase)
{
    const char *module = module_name(model, phase->routine);

    return phase->kind == FV_PHASE_THREADS && is_libomp(module) ? module : NULL;
}

static void find_instances(struct gather *g, size_t first)
{
    size_t count = g->out->life_count - first, begin = 0;
    struct fv_life *lives = count ? g->out->lives + first : NULL;
    double until_s = -INFINITY;

    if (!count)
        return;
    qsort(lives, count, sizeof(*lives), by_creation);
    for (size_t i = 0; i <= count; i++) {
        bool together = i < count && i > begin && lives[i].creator == lives[begin].creator &&
                        lives[i].routine == lives[begin].routine && lives[i].created_s < until_s;

        if (!together) {
            if (i > begin && lives[begin].creator != FV_NO_THREAD && !is_pool(g, &lives[begin]))
                add_instance(g, &lives[begin], i - begin);
            begin = i;
            until_s = -INFINITY;
        }
        if (i < count)
            until_s = fmax(until_s, close_of(&lives[i]));
    }
}

/* ---- OpenMP ---- */

/* Where a thread waits at the region's end is in its record beside its time. What a damaged file says is made
 * such that no part is more than the whole. */
static struct fv_phase_sums sum_regions(const struct gather *g, const struct fv_omp_region *r)
{
    double tick_s = fv_build_seconds(g->build->model, g->rank, 1), join_s = (double)r->join * tick_s;
    struct fv_phase_sums s = {
        .instances = r->count,
        .threads = r->threads,
        .threads_min = r->threads_min,
        .threads_max = r->threads_max,
        .elapsed_s = (double)r->elapsed * tick_s,
        .longest_s = (double)r->longest * tick_s,
        .useful_longest_s = fmin((double)r->useful_longest, (double)r->longest) * tick_s,
        .weighted_s = (double)r->weighted * tick_s,
        .time_s = (double)r->time * tick_s + join_s,
        .wait_s = fmin((double)r->wait, (double)r->time) * tick_s + join_s,
        .cpu_s = NAN,
        .off_cpu_s = NAN,
        .creator_s = NAN,
        .join_s = join_s,
        .fork_s = (double)r->fork * tick_s,
        .lost_threads = r->lost,
        .untimed_tasks = r->untimed,
    };

    share_cpus(&s, g->build->model->ranks[g->rank].cpus);
    return s;
}

/* Those in others are known by their level. */
static void add_to_rank(struct gather *g, const struct fv_omp_region *r)
{
    double tick_s = fv_build_seconds(g->build->model, g->rank, 1u << 20) / (1u << 20);
    struct fv_rank_regions *of = &g->out->regions[g->rank];

    of->unknown |= r->open || r->lost || (r->level > 1 && r->threads_max > 1);
    if (r->level > 1 || !r->count)
        return;
    of->sums.threads = fmax(of->sums.threads, r->threads_max);
    of->sums.elapsed_s += (double)r->elapsed * tick_s;
    of->sums.team_s += (double)r->threads / (double)r->count * (double)r->elapsed * tick_s;
    of->sums.time_s += (double)r->time * tick_s;
    of->sums.wait_s += fmin((double)r->wait, (double)r->time) * tick_s;
    of->sums.join_s += (double)r->join * tick_s;
}

void fv_busiest_add(struct fv_busiest *to, const struct fv_busiest *from)
{
    if (from->useful_s > to->useful_s)
        *to = *from;
}

/* What the threads of the rank's teams did in a phase. */
struct member {
    uint32_t phase, number; /* its key */
    double useful_s;
};

static void read_members(struct gather *g, const struct fv_numbers *phases)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_OMP_THREADS);
    double tick_s = fv_build_seconds(g->build->model, g->rank, 1u << 20) / (1u << 20);
    struct member *members = NULL;
    size_t count = 0, room = 0;
    struct fv_index index = { 0 };
    struct fv_omp_thread r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        uint32_t phase = fv_numbers_get(phases, r.region);

        if (phase != FV_NONE && r.time > r.wait)
            FV_INTERNED(index, members, count, room, (uint32_t[]){ phase, r.number })->useful_s +=
                (double)(r.time - r.wait) * tick_s;
    }
    for (size_t i = 0; i < count; i++)
        fv_busiest_add(&g->out->items[members[i].phase].busiest,
                       &(struct fv_busiest){ members[i].useful_s, g->rank, members[i].number });
    fv_index_release(&index);
    free(members);
}

static void read_regions(struct gather *g)
{
    struct fv_build_file *f = &g->build->files[g->rank];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_OMP);
    struct fv_omp_region r;

    g->regions = false;
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (!r.count && !r.open)
            continue;
        g->regions = true;
        add_to_rank(g, &r);
        uint32_t module = fv_numbers_module(&f->modules, r.module);
        uint32_t routine = module >= FV_MODEL_FIRST_MODULE ? fv_build_address(g->build, module, r.offset) : FV_NONE;
        uint32_t phase = phase_of(g, FV_PHASE_OMP, routine, fv_build_node_of(g->build, f, r.path));
        struct fv_phase_sums sums = sum_regions(g, &r);

        if (fv_number_is_id(f->reader, r.id))
            fv_numbers_set(fv_build_numbers(f, FV_CHUNK_OMP), r.id, phase);

        g->out->items[phase].open = g->out->items[phase].open || r.open;
        fv_phase_sums_add(&part_of(g, phase)->sums, &sums);
        fv_phase_sums_add(&g->out->items[phase].sums, &sums);
    }
    read_members(g, fv_build_numbers(f, FV_CHUNK_OMP));
}

/* ---- alone ---- */

const char *const fv_alone_quantities[FV_ALONE_QUANTITIES] = { FV_ALONE_QUANTITY_LIST(FV_LIST_WORD) };

void fv_phase_alone_add(struct fv_phase_alone *to, const struct fv_phase_alone *from)
{
    to->measured += from->measured;
    to->let_go += from->let_go;
    to->threads = to->threads > from->threads ? to->threads : from->threads;
    to->why = from->why ? from->why : to->why;
    to->time_s += from->time_s;
    to->cpu_s += from->cpu_s;
    to->lost_s += from->lost_s;
    to->probes += from->probes;
    to->misses += from->misses;
    for (unsigned i = 0; i < FV_ALONE_QUANTITIES; i++)
        to->counted[i] += from->counted[i];
}

static bool is_sound(const struct fv_solo_record *r)
{
    return r->how < FV_SOLO_HOWS && r->part_ppm > 0 && r->part_ppm <= 1000000;
}

static struct fv_phase_alone alone_of(const struct gather *g, const struct fv_solo_record *r)
{
    return (struct fv_phase_alone){
        .measured = r->measured,
        .let_go = r->let_go,
        .threads = r->threads,
        .why = r->why,
        .time_s = fv_build_seconds(g->build->model, g->rank, r->ticks),
        .cpu_s = (double)r->cpu_ns * 1e-9,
        .lost_s = fv_build_seconds(g->build->model, g->rank, r->lost_ticks < r->ticks ? r->lost_ticks : r->ticks),
        .probes = r->probes,
        .misses = r->misses,
    };
}

/* One of a rank. */
static void add_turns(struct gather *g, const struct fv_solo_record *r)
{
    struct fv_phases *s = g->out;

    if (s->turn_count && s->turns[s->turn_count - 1].rank == g->rank)
        return;
    FV_GROW(s->turns, s->turn_room, s->turn_count + 1);
    s->turns[s->turn_count++] = (struct fv_rank_turns){ (uint32_t)g->rank, alone_of(g, r), (double)r->fill_ns * 1e-9 };
}

/* `number`: of the record in the file. */
static void add_alone(struct gather *g, const struct fv_solo_record *r, uint32_t number)
{
    struct fv_build_file *f = &g->build->files[g->rank];
    uint32_t module = fv_numbers_module(&f->modules, r->module);
    uint32_t routine = module >= FV_MODEL_FIRST_MODULE ? fv_build_address(g->build, module, r->offset) : FV_NONE;
    enum fv_phase_kind kind = r->kind == FV_SOLO_OMP ? FV_PHASE_OMP : FV_PHASE_THREADS;
    uint32_t phase = phase_of(g, kind, routine, fv_build_node_of(g->build, f, r->path));
    struct fv_phase_alone alone = alone_of(g, r);

    fv_phase_alone_add(&g->out->items[phase].alone, &alone);
    fv_numbers_set(fv_build_numbers(f, FV_CHUNK_SOLO), number, phase);
}

/* What makes no sense is left out: a damaged file's. */
static void read_alone(struct gather *g)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_SOLO);
    struct fv_solo_record r;
    const void *p;

    for (uint32_t number = 0; (p = fv_cursor_next(&c)); number++) {
        memcpy(&r, p, sizeof(r));
        if (!is_sound(&r))
            continue;
        switch (r.kind) {
        case FV_SOLO_PROCESS:
            g->out->alone =
                (struct fv_alone_run){ true, r.how, r.cache_bytes, r.left_bytes, (double)r.part_ppm * 1e-6 };
            break;
        case FV_SOLO_THREADS:
        case FV_SOLO_OMP: add_alone(g, &r, number); break;
        case FV_SOLO_RANK: add_turns(g, &r); break;
        }
    }
}

/* ---- order ---- */

static int by_phase_and_rank(const void *a, const void *b)
{
    const struct fv_phase_part *x = a, *y = b;

    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

struct numbered {
    uint32_t id;
    double time_s;
};

static int by_time(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    if (x->time_s != y->time_s)
        return x->time_s > y->time_s ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

void fv_phases_order(struct fv_phases *s)
{
    struct numbered *order = fv_xcalloc(s->count, sizeof(*order));
    uint32_t *renumbered = fv_xcalloc(s->count, sizeof(*renumbered));
    struct fv_phase *sorted = fv_xcalloc(s->count, sizeof(*sorted));

    for (uint32_t i = 0; i < s->count; i++)
        order[i] = (struct numbered){ i, s->items[i].sums.time_s };
    if (s->count)
        qsort(order, s->count, sizeof(*order), by_time);
    for (uint32_t i = 0; i < s->count; i++) {
        sorted[i] = s->items[order[i].id];
        sorted[i].ranks = 0;
        renumbered[order[i].id] = i;
    }
    for (size_t i = 0; i < s->part_count; i++)
        s->parts[i].phase = renumbered[s->parts[i].phase];
    for (size_t i = 0; i < s->life_count; i++)
        if (s->lives[i].phase != FV_NONE)
            s->lives[i].phase = renumbered[s->lives[i].phase];
    for (size_t i = 0; i < s->counted_count; i++)
        s->counted[i].scope = renumbered[s->counted[i].scope];
    free(s->items);
    free(order);
    free(renumbered);
    s->items = sorted;
    s->room = s->count;
    if (s->part_count)
        qsort(s->parts, s->part_count, sizeof(*s->parts), by_phase_and_rank);
    for (size_t i = s->part_count; i-- > 0;) {
        s->items[s->parts[i].phase].first = (uint32_t)i;
        s->items[s->parts[i].phase].ranks++;
    }
}

static void *begin_phases(struct fv_build *b)
{
    struct gather *g = fv_xcalloc(1, sizeof(*g));

    g->build = b;
    g->out = fv_model_phases(b->model);
    g->out->regions = fv_xcalloc(b->model->rank_count, sizeof(*g->out->regions));
    return g;
}

static void read_phases(struct fv_build *b, void *state, uint32_t rank)
{
    struct gather *g = state;
    size_t first = g->out->life_count;
    (void)b;

    g->rank = rank;
    read_lives(g);
    read_regions(g);
    find_instances(g, first);
    read_alone(g);
}

static void finish_phases(struct fv_build *b, void *state)
{
    struct gather *g = state;
    (void)b;

    fv_phases_order(g->out);
    free(g->slots);
    fv_index_release(&g->phases);
    fv_index_release(&g->parts);
    free(g);
}

const struct fv_track fv_track_phases = {
    .name = "phases of threads",
    .of_process = true,
    .visit = FV_VISIT_REST,
    .begin = begin_phases,
    .read = read_phases,
    .finish = finish_phases,
};

/* ---- numbers ---- */

const char *fv_phase_kind_name(enum fv_phase_kind kind)
{
    static const char *const names[] = { FV_PHASE_KINDS(FV_LIST_WORD) };

    return names[kind];
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

/* What rounding leaves is none. */
static double difference(double a, double b)
{
    return fabs(a - b) < 1e-12 * fabs(a) ? 0 : a - b;
}

struct fv_phase_bound fv_phase_bound(const struct fv_phase_sums *s)
{
    double useful_s = s->time_s - s->wait_s, run_s = useful_s - s->queue_s;
    struct fv_phase_bound out = {
        .threads = ratio(s->weighted_s, s->longest_s),
        .without_waiting = ratio(s->least_s, s->useful_least_s),
        .bound = ratio(run_s, s->least_s),
        .bound_waitless = ratio(run_s, s->useful_least_s),
    };
    double busy = ratio(useful_s, s->useful_longest_s); /* threads at a time, on as many processors */

    out.synchronisation = difference(out.bound_waitless, out.bound);
    out.imbalance = difference(out.threads, busy);
    out.few_cpus = difference(busy, out.bound_waitless);
    return out;
}

/* The mean of the ranks stands for a rank. */
struct fv_speedup_stack fv_phase_stack(const struct fv_phase *phase, double t1_s)
{
    const struct fv_phase_sums *s = &phase->sums;
    double ranks = phase->ranks, threads = ratio(s->weighted_s, s->longest_s);
    struct fv_speedup_stack out = {
        .measured = ratio(t1_s * ranks, s->longest_s),
        .waitless = ratio(t1_s * ranks, s->useful_least_s),
    };

    out.synchronisation = out.waitless - out.measured;
    out.rest = threads - out.waitless;
    out.rejected = !(out.waitless <= FV_STACK_GUARD * threads);
    return out;
}

void fv_phases_release(void *data)
{
    struct fv_phases *s = data;

    free(s->items);
    free(s->parts);
    free(s->lives);
    free(s->regions);
    free(s->turns);
    free(s->counted);
    *s = (struct fv_phases){ 0 };
}
