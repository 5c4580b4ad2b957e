/* SPDX-License-Identifier: BSD-3-Clause */
/* See instrumentation.h. Each rank's records are one tree for each thread; they are added up by the calls' paths. */
#include "profile/functions/instrumentation.h"
#include "profile/functions/function_counts.h"
#include "profile/functions/streams.h"
#include "experiment/chunks.h"
#include "profile/noise/shares.h"
#include "profile/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A record of the present thread. */
struct record {
    uint32_t place, parent; /* parent: FV_NONE, or smaller */
    bool is_recursive;      /* a caller is of the same function */
    struct fv_calls_sum sum;
    double ended_s;                  /* in calls that ended */
    double first_s, later_s;         /* of its calls that ended the first, and the longest of the others */
    double callees_s, callees_mpi_s; /* in what it called */
};

struct gather {
    struct fv_build *build;
    struct fv_instrumentation *out;
    struct fv_index functions, places, ranks;
    struct record *records;
    size_t record_count, record_room;
    size_t first_part; /* of the present rank */
    uint32_t rank;
    double tick_s, call_s; /* call_s: what measuring a call takes */
};

/* Not outermost: all of these calls are within others of the same function, which alone are in its time. */
static void add_sum(struct fv_calls_sum *to, const struct fv_calls_sum *from, bool outermost)
{
    to->calls += from->calls;
    to->nested += outermost ? from->nested : from->calls - from->counted;
    to->counted += from->counted;
    to->self_s += from->self_s;
    to->mpi_self_s += from->mpi_self_s;
    if (!outermost)
        return;
    to->ended += from->ended;
    to->open += from->open;
    to->seconds += from->seconds;
    to->mpi_s += from->mpi_s;
    to->min_s = fmin(to->min_s, from->min_s);
    to->max_s = fmax(to->max_s, from->max_s);
}

/* ---- what a record says ---- */

static uint64_t longest(const struct fv_function_calls *c)
{
    return c->ticks_first > c->ticks_later ? c->ticks_first : c->ticks_later;
}

static bool makes_sense(const struct fv_function_calls *c)
{
    return c->nested <= c->calls && c->counted <= c->calls && c->ended <= c->calls &&
           (!c->ended || (c->ticks_min <= longest(c) && longest(c) <= c->ticks));
}

static uint64_t mpi_ticks_of(const struct gather *g, uint32_t thread)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_THREADS);
    struct fv_thread_record t;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        if (t.id == thread)
            return t.mpi_ticks;
    }
    return 0;
}

/* A call that is under way: until the rank's end. */
static void add_open(const struct gather *g, const struct fv_function_calls *c, uint32_t thread,
                     struct fv_calls_sum *sum)
{
    const struct fv_rank *rank = &g->build->model->ranks[g->rank];
    double s = rank->end_s - fv_build_time(g->build->model, g->rank, c->opened) -
               fmax(rank->paused_s - (double)c->paused * g->tick_s, 0);
    uint64_t mpi = mpi_ticks_of(g, thread);

    s = fmin(fmax(s, 0), rank->end_s - rank->begin_s);
    sum->open = 1;
    sum->ended++;
    sum->seconds += s;
    sum->mpi_s += fmin(mpi > c->mpi_since ? (double)(mpi - c->mpi_since) * g->tick_s : 0, s);
}

static struct fv_calls_sum sum_of(const struct gather *g, const struct fv_function_calls *c, uint32_t thread)
{
    struct fv_calls_sum sum = { .calls = c->calls,
                                .nested = c->nested,
                                .counted = c->counted,
                                .ended = c->ended,
                                .seconds = (double)c->ticks * g->tick_s,
                                .self_s = (double)c->self_ticks * g->tick_s,
                                .mpi_s = (double)c->mpi_ticks * g->tick_s,
                                .mpi_self_s = (double)c->mpi_self_ticks * g->tick_s,
                                .min_s = c->ended ? (double)c->ticks_min * g->tick_s : INFINITY,
                                .max_s = c->ended ? (double)longest(c) * g->tick_s : 0 };

    if (c->opened)
        add_open(g, c, thread, &sum);
    return sum;
}

/* ---- places ---- */

static uint32_t function_of(struct gather *g, uint32_t module, uint64_t offset)
{
    struct fv_instrumentation *out = g->out;
    /* as if it were a return address */
    uint32_t node = fv_call_tree_node(&g->build->model->tree, 0, module, offset + 1);
    size_t before = out->function_count;
    uint32_t at =
        FV_INTERN(g->functions, out->functions, out->function_count, out->function_room, (uint32_t[]){ node });

    if (out->function_count > before) {
        out->functions[at].max_rank = FV_NONE;
        out->functions[at].sum.min_s = INFINITY;
    }
    return at;
}

static uint32_t place_of(struct gather *g, const struct fv_function_calls *c, uint32_t parent)
{
    struct fv_build_file *f = &g->build->files[g->rank];
    struct fv_instrumentation *out = g->out;
    uint32_t function = function_of(g, fv_numbers_module(&f->modules, c->module), c->offset),
             node = fv_build_node_of(g->build, f, c->node);
    size_t before = out->place_count;
    uint32_t at = FV_INTERN(g->places, out->places, out->place_count, out->place_room, (uint32_t[]){ parent, node });

    if (out->place_count > before) {
        struct fv_function_place *p = &out->places[at];

        p->function = function;
        p->depth = parent == FV_NONE ? 0 : out->places[parent].depth + 1;
        p->max_rank = FV_NONE;
        p->sum.min_s = INFINITY;
    }
    return at;
}

static bool is_recursive(const struct gather *g, const struct record *r)
{
    uint32_t function = g->out->places[r->place].function;

    for (uint32_t i = r->parent; i != FV_NONE; i = g->records[i].parent)
        if (g->out->places[g->records[i].place].function == function)
            return true;
    return false;
}

static void add_record(struct gather *g, const struct fv_function_calls *c, uint32_t thread)
{
    uint32_t parent = c->parent && c->parent <= g->record_count && g->records[c->parent - 1].place != FV_NONE
                          ? c->parent - 1
                          : FV_NONE;
    bool good = makes_sense(c);

    FV_GROW(g->records, g->record_room, g->record_count + 1);
    struct record *r = &g->records[g->record_count++];
    *r = (struct record){ .place = place_of(g, c, parent == FV_NONE ? FV_NONE : g->records[parent].place),
                          .parent = parent,
                          .sum.min_s = INFINITY };
    r->is_recursive = is_recursive(g, r);
    if (!good)
        return;
    r->sum = sum_of(g, c, thread);
    r->ended_s = (double)c->ticks * g->tick_s;
    r->first_s = (double)c->ticks_first * g->tick_s;
    r->later_s = (double)c->ticks_later * g->tick_s;
}

static struct fv_calls_sum *rank_sum_of(struct gather *g, uint32_t function)
{
    struct fv_instrumentation *out = g->out;
    size_t before = out->rank_count;
    struct fv_function_rank *r =
        FV_INTERNED(g->ranks, out->ranks, out->rank_count, out->rank_room, (uint32_t[]){ function, g->rank });

    if (out->rank_count > before)
        r->sum.min_s = INFINITY;
    return &r->sum;
}

static void add_part(struct gather *g, uint32_t place, double seconds)
{
    struct fv_instrumentation *out = g->out;

    FV_GROW(out->parts, out->part_room, out->part_count + 1);
    out->parts[out->part_count++] = (struct fv_function_part){ place, g->rank, seconds };
}

/* Of a call that is under way: it lasts for at least as long as what it called, and its own part is what is left.
 * Callers come first. */
static void finish_open(struct gather *g)
{
    for (size_t i = g->record_count; i-- > 0;) {
        struct record *r = &g->records[i];

        if (r->sum.open) {
            r->sum.seconds = fmax(r->sum.seconds, r->callees_s);
            r->sum.mpi_s = fmax(r->sum.mpi_s, r->callees_mpi_s);
            r->sum.self_s = fmax(r->sum.self_s, r->sum.seconds - r->callees_s);
            r->sum.mpi_self_s = fmax(r->sum.mpi_self_s, r->sum.mpi_s - r->callees_mpi_s);
        }
        if (r->parent != FV_NONE) {
            g->records[r->parent].callees_s += r->sum.seconds;
            g->records[r->parent].callees_mpi_s += r->sum.mpi_s;
        }
    }
}

/* Where a thread first called a function, a record was made: of several of one function that one is the first. */
struct first_calls {
    uint64_t count;                     /* calls that have ended */
    double first_s, longest_s, seconds; /* the first one; of the others the longest, and all */
};

static void add_first_calls(struct first_calls *to, const struct record *r)
{
    const uint64_t ended = r->sum.ended - r->sum.open;

    if (!ended)
        return;
    if (!to->count)
        *to = (struct first_calls){ .first_s = r->first_s, .longest_s = r->later_s, .seconds = -r->first_s };
    else
        to->longest_s = fmax(to->longest_s, fmax(r->first_s, r->later_s));
    to->count += ended;
    to->seconds += r->ended_s;
}

static void find_warm_ups(struct gather *g)
{
    struct fv_instrumentation *out = g->out;
    struct first_calls *all = fv_xcalloc(out->function_count, sizeof(*all));

    for (size_t i = 0; i < g->record_count; i++)
        if (g->records[i].place != FV_NONE && !g->records[i].is_recursive)
            add_first_calls(&all[out->places[g->records[i].place].function], &g->records[i]);
    for (size_t i = 0; i < out->function_count; i++) {
        struct fv_function_warm_up *w = &out->functions[i].warm_up;

        if (all[i].count < FV_WARM_UP_LEAST)
            continue;
        w->of_threads++;
        if (all[i].first_s < FV_FIRST_CALL_TIMES * all[i].longest_s)
            continue;
        w->threads++;
        w->first_s += all[i].first_s;
        w->later += all[i].count - 1;
        w->later_s += all[i].seconds;
        w->longest_s = fmax(w->longest_s, all[i].longest_s);
        w->excess_s += all[i].first_s - all[i].seconds / (double)(all[i].count - 1);
    }
    free(all);
}

/* The records of a thread. */
static void finish_thread(struct gather *g)
{
    finish_open(g);
    for (size_t i = 0; i < g->record_count; i++) {
        const struct record *r = &g->records[i];

        if (!r->sum.calls)
            continue;
        g->build->model->ranks[g->rank].tool_s += g->call_s * (double)(r->sum.calls - r->sum.counted);
        struct fv_function_place *p = &g->out->places[r->place];
        add_sum(&p->sum, &r->sum, true);
        add_sum(rank_sum_of(g, p->function), &r->sum, !r->is_recursive);
        add_sum(&g->out->functions[p->function].sum, &r->sum, !r->is_recursive);
        add_part(g, r->place, r->sum.seconds);
    }
    find_warm_ups(g);
    g->record_count = 0;
}

static int by_place_and_rank(const void *a, const void *b)
{
    const struct fv_function_part *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void add_seconds(void *to, const void *from)
{
    ((struct fv_function_part *)to)->seconds += ((const struct fv_function_part *)from)->seconds;
}

/* Several threads of the rank may have been there. */
static void finish_rank(struct gather *g)
{
    struct fv_instrumentation *out = g->out;

    out->part_count = g->first_part + fv_fold(out->parts + g->first_part, out->part_count - g->first_part,
                                              sizeof(*out->parts), by_place_and_rank, add_seconds);
    g->first_part = out->part_count;
}

static void read_losses(struct gather *g)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_FUNCTION_LOSSES);
    struct fv_function_losses *sum = &g->out->losses, l;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&l, p, sizeof(l));
        g->call_s = g->call_s > 0 ? g->call_s : (double)l.batch_ticks / 256 * g->tick_s;
        g->out->call_s = fmax(g->out->call_s, g->call_s);
        sum->too_deep += l.too_deep;
        sum->no_room += l.no_room;
        sum->left += l.left;
        sum->unbegun += l.unbegun;
        sum->interrupted += l.interrupted;
        sum->untraced += l.untraced;
    }
}

static bool is_of_calls(const struct fv_chunk *chunk)
{
    return chunk->type == FV_CHUNK_FUNCTION_CALLS;
}

/* A lost chunk's records: what they called is nobody's. */
static void skip_to(struct gather *g, uint64_t first)
{
    while (g->record_count < first &&
           first <= fv_reader_bytes(g->build->files[g->rank].reader) / sizeof(struct fv_function_calls)) {
        FV_GROW(g->records, g->record_room, g->record_count + 1);
        g->records[g->record_count++] = (struct record){ .place = FV_NONE, .parent = FV_NONE };
    }
}

static void read_counts(struct gather *g, uint32_t thread)
{
    uint32_t *functions = fv_xcalloc(g->record_count + 1, sizeof(*functions));

    for (size_t i = 0; i < g->record_count; i++)
        functions[i] = g->records[i].place == FV_NONE ? FV_NONE : g->out->places[g->records[i].place].function;
    fv_function_counts_read(g->out, g->build->files[g->rank].reader, g->rank, thread, functions, g->record_count);
    free(functions);
}

static void read_thread(struct gather *g, uint32_t thread)
{
    struct fv_reader *reader = g->build->files[g->rank].reader;
    struct fv_function_calls calls;
    size_t count, all_count;
    const struct fv_chunk **chunks = fv_thread_chunks(reader, thread, is_of_calls, &count),
                          *all = fv_reader_chunks(reader, &all_count);

    for (size_t i = 0; i < count; i++) {
        skip_to(g, chunks[i]->first);
        if (g->record_count != chunks[i]->first)
            continue;
        struct fv_cursor c = fv_cursor_chunk(reader, (size_t)(chunks[i] - all));
        for (const void *p; (p = fv_cursor_next(&c));) {
            memcpy(&calls, p, sizeof(calls));
            add_record(g, &calls, thread);
        }
    }
    read_counts(g, thread);
    finish_thread(g);
    free(chunks);
}

/* ---- the track ---- */

static void *begin_instrumented(struct fv_build *b)
{
    struct gather *g = fv_xcalloc(1, sizeof(*g));

    g->build = b;
    g->out = fv_model_instrumentation(b->model);
    return g;
}

static void read_instrumented(struct fv_build *b, void *state, uint32_t rank)
{
    const struct fv_rank *of = &b->model->ranks[rank];
    struct gather *g = state;

    g->rank = rank;
    g->tick_s = fv_build_seconds(b->model, rank, 1u << 20) / (1u << 20);
    g->call_s = 0;
    read_losses(g);
    for (uint32_t i = 0; i < of->threads; i++)
        if (!fv_is_stream(b->files[rank].reader, b->model->threads[of->first_thread + i].id))
            read_thread(g, b->model->threads[of->first_thread + i].id);
    finish_rank(g);
}

/* ---- over the ranks ---- */

static double own_s(const struct fv_calls_sum *sum)
{
    return fmax(sum->self_s - sum->mpi_self_s, 0);
}

static int by_function_and_rank(const void *a, const void *b)
{
    const struct fv_function_rank *x = a, *y = b;

    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Orders of functions and places, by which their numbers change. */
struct order {
    uint32_t was;
    double first, second;
};

static int by_order(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    if (x->first != y->first)
        return x->first > y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second > y->second ? -1 : 1;
    return (x->was > y->was) - (x->was < y->was);
}

/* By their own time, longest first. */
static void order_functions(struct fv_instrumentation *out)
{
    struct order *order = fv_xcalloc(out->function_count, sizeof(*order));
    struct fv_instrumented_function *ordered = fv_xcalloc(out->function_count, sizeof(*ordered));
    uint32_t *now = fv_xcalloc(out->function_count, sizeof(*now));

    for (size_t i = 0; i < out->function_count; i++)
        order[i] = (struct order){ (uint32_t)i, out->functions[i].sum.self_s, out->functions[i].sum.seconds };
    qsort(order, out->function_count, sizeof(*order), by_order);
    for (size_t i = 0; i < out->function_count; i++) {
        ordered[i] = out->functions[order[i].was];
        now[order[i].was] = (uint32_t)i;
    }
    for (size_t i = 0; i < out->place_count; i++)
        out->places[i].function = now[out->places[i].function];
    for (size_t i = 0; i < out->rank_count; i++)
        out->ranks[i].function = now[out->ranks[i].function];
    fv_function_counts_finish(out, now);
    free(out->functions);
    out->functions = ordered;
    out->function_room = out->function_count;
    free(order);
    free(now);
}

static void sum_up_ranks(struct fv_instrumentation *out, size_t all_ranks)
{
    qsort(out->ranks, out->rank_count, sizeof(*out->ranks), by_function_and_rank);
    for (size_t i = 0; i < out->rank_count; i++) {
        const struct fv_function_rank *r = &out->ranks[i];
        struct fv_instrumented_function *f = &out->functions[r->function];
        double s = own_s(&r->sum);

        f->first = f->ranks++ ? f->first : (uint32_t)i;
        f->mean_s += s / (double)all_ranks;
        if (f->max_rank == FV_NONE || s > f->rank_max_s) {
            f->max_rank = r->rank;
            f->rank_max_s = s;
        }
    }
    for (size_t i = 0; i < out->function_count; i++)
        out->functions[i].imbalance_s = (out->functions[i].rank_max_s - out->functions[i].mean_s) * (double)all_ranks;
}

static int by_parent(const void *a, const void *b)
{
    const struct fv_function_place *x = *(const struct fv_function_place *const *)a,
                                   *y = *(const struct fv_function_place *const *)b;

    if (x->parent != y->parent) /* FV_NONE comes first */
        return x->parent + 1u < y->parent + 1u ? -1 : 1;
    if (x->sum.seconds != y->sum.seconds)
        return x->sum.seconds < y->sum.seconds ? -1 : 1;
    return (x < y) - (x > y);
}

/* What a place calls goes on the stack, so that what took longest is on top. */
static size_t push_called(const struct fv_instrumentation *out, const struct fv_function_place **sorted, uint32_t was,
                          uint32_t now, struct fv_function_place *stack, uint32_t *numbers, size_t height)
{
    size_t first = FV_COUNT_BEFORE(i, out->place_count, sorted[i]->parent + 1u < was + 1u);

    for (size_t i = first; i < out->place_count && sorted[i]->parent == was; i++, height++) {
        stack[height] = *sorted[i];
        stack[height].parent = now;
        numbers[height] = (uint32_t)(sorted[i] - out->places);
    }
    return height;
}

/* As a tree is printed: behind a place comes what it calls. now: the new numbers. */
static void order_places(struct fv_instrumentation *out, uint32_t *now)
{
    size_t count = out->place_count, height;
    uint32_t put = 0;
    const struct fv_function_place **sorted = fv_xcalloc(count, sizeof(*sorted));
    struct fv_function_place *stack = fv_xcalloc(count, sizeof(*stack)), *ordered = fv_xcalloc(count, sizeof(*ordered));
    uint32_t *numbers = fv_xcalloc(count, sizeof(*numbers));

    for (size_t i = 0; i < count; i++)
        sorted[i] = &out->places[i];
    qsort(sorted, count, sizeof(*sorted), by_parent);
    height = push_called(out, sorted, FV_NONE, FV_NONE, stack, numbers, 0);
    while (height) {
        uint32_t was = numbers[--height];

        ordered[put] = stack[height];
        now[was] = put;
        height = push_called(out, sorted, was, put++, stack, numbers, height);
    }
    free(out->places);
    out->places = ordered;
    out->place_room = count;
    free(sorted);
    free(stack);
    free(numbers);
}

/* now: the new numbers. */
static void fold_places(struct fv_instrumentation *out, uint32_t *now)
{
    struct fv_index index = { 0 };
    size_t count = out->place_count;

    out->place_count = 0;
    for (size_t i = 0; i < count; i++) { /* callers come first */
        struct fv_function_place p = out->places[i];

        p.parent = p.parent == FV_NONE ? FV_NONE : now[p.parent];
        p.depth = p.parent == FV_NONE ? 0 : out->places[p.parent].depth + 1;
        uint32_t key[] = { p.parent, p.node };
        uint32_t at = fv_find(&index, out->places, sizeof(p), key, sizeof(key));
        now[i] = at;
        if (at == FV_NONE) {
            now[i] = fv_add_item(&index, out->places, sizeof(p), &out->place_count, key, sizeof(key));
            out->places[now[i]] = p;
        } else {
            add_sum(&out->places[at].sum, &p.sum, true);
        }
    }
    fv_index_release(&index);
}

static void renumber_parts(struct fv_instrumentation *out, const uint32_t *now)
{
    for (size_t i = 0; i < out->part_count; i++)
        out->parts[i].place = now[out->parts[i].place];
}

static void sum_up_parts(struct fv_instrumentation *out)
{
    for (size_t i = 0; i < out->place_count; i++) {
        out->places[i].ranks = 0;
        out->places[i].max_rank = FV_NONE;
    }
    for (size_t i = 0; i < out->part_count; i++) {
        const struct fv_function_part *part = &out->parts[i];
        struct fv_function_place *p = &out->places[part->place];

        p->ranks++;
        if (p->max_rank == FV_NONE || part->seconds > p->rank_max_s) {
            p->max_rank = part->rank;
            p->rank_max_s = part->seconds;
        }
    }
}

void fv_instrumentation_fold(struct fv_instrumentation *out)
{
    uint32_t *now = fv_xcalloc(out->place_count, sizeof(*now));

    fold_places(out, now);
    renumber_parts(out, now);
    order_places(out, now);
    renumber_parts(out, now);
    out->part_count = fv_fold(out->parts, out->part_count, sizeof(*out->parts), by_place_and_rank, add_seconds);
    sum_up_parts(out);
    free(now);
}

static void finish_instrumented(struct fv_build *b, void *state)
{
    struct gather *g = state;

    if (g->out->function_count) {
        order_functions(g->out);
        sum_up_ranks(g->out, b->model->rank_count);
        fv_instrumentation_fold(g->out);
    }
    fv_index_release(&g->functions);
    fv_index_release(&g->places);
    fv_index_release(&g->ranks);
    free(g->records);
    free(g);
}

const struct fv_track fv_track_instrumentation = {
    .name = "functions",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_FUNCTION_CALLS, FV_CHUNK_FUNCTION_LOSSES, FV_CHUNK_FUNCTION_EVENTS, FV_CHUNK_FUNCTION_COUNTS },
    .begin = begin_instrumented,
    .read = read_instrumented,
    .finish = finish_instrumented,
};

void fv_instrumentation_release(void *data)
{
    struct fv_instrumentation *i = data;

    free(i->places);
    free(i->functions);
    free(i->ranks);
    free(i->parts);
    free(i->events);
    free(i->counts);
    free(i->streams);
    free(i->rank_counts);
    *i = (struct fv_instrumentation){ 0 };
}
