/* SPDX-License-Identifier: BSD-3-Clause */
/* See memory.h. A rank's records of a call path, one a thread, are added up to a part; the parts of a path to a
 * place. */
#include "profile/memory/memory.h"
#include "profile/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gather {
    struct fv_build *build;
    struct fv_allocations *out;
    struct fv_index parts;
    uint32_t rank;
    uint64_t peak_number;
};

double fv_allocation_live_at(const struct fv_allocation_part *part, unsigned log2_ticks)
{
    double live = 0;

    for (unsigned i = 0; i < FV_MEMORY_OCTAVES && i + FV_MEMORY_YOUNG <= log2_ticks; i++)
        live = isnan(part->at[i]) ? live : part->at[i];
    return live;
}

double fv_allocation_error(const struct fv_allocation_sum *s)
{
    double samples = (double)s->allocated.samples - (double)s->freed.samples;

    return samples > 0 ? sqrt(samples) * (double)FV_MEMORY_MEAN : 0;
}

double fv_allocation_time(const struct fv_allocation_sum *s)
{
    const double shorts = s->known > s->longs ? (double)(s->known - s->longs) : 0;

    if (!s->longs && !s->timed)
        return NAN;
    return s->long_s + shorts * fv_allocation_short_mean(s->timed, s->timed_s, s->longs, s->long_s);
}

/* ---- records ---- */

static void add_amount(struct fv_allocation_amount *to, const struct fv_memory_amount *a)
{
    to->count += (double)a->count + (double)a->weight / 256;
    to->bytes += (double)a->bytes + (double)a->sample_bytes;
    to->samples += a->samples;
}

static struct fv_allocation_part *part_of(struct gather *g, uint32_t path)
{
    struct fv_allocations *out = g->out;
    uint32_t node = fv_build_node_of(g->build, &g->build->files[g->rank], path);
    size_t before = out->part_count;
    struct fv_allocation_part *part =
        FV_INTERNED(g->parts, out->parts, out->part_count, out->part_room, (uint32_t[]){ node, g->rank });

    if (out->part_count > before)
        for (int i = 0; i < FV_MEMORY_OCTAVES; i++)
            part->at[i] = NAN;
    return part;
}

static double bytes_of(const struct fv_memory_site *s)
{
    return (double)s->allocated.bytes + (double)s->allocated.sample_bytes - (double)s->freed.bytes -
           (double)s->freed.sample_bytes;
}

static bool is_nothing(const struct fv_memory_amount *a)
{
    return !a->count && !a->samples;
}

static void add_extremes(struct fv_allocation_sum *to, uint64_t known, uint64_t least, uint64_t most)
{
    if (!known)
        return;
    to->least = to->known && to->least < least ? to->least : least;
    to->most = to->most > most ? to->most : most;
    to->known += known;
}

static void add_times(struct fv_allocation_sum *to, const struct fv_allocation_sum *from)
{
    if (!from->longs && !from->timed)
        return;
    to->least_s = to->longs || to->timed ? fmin(to->least_s, from->least_s) : from->least_s;
    to->most_s = fmax(to->most_s, from->most_s);
    to->longs += from->longs;
    to->timed += from->timed;
    to->long_s += from->long_s;
    to->timed_s += from->timed_s;
}

static struct fv_allocation_sum times_of(const struct fv_memory_times *t, double tick_s)
{
    return (struct fv_allocation_sum){ .longs = t->longs,
                                       .timed = t->timed,
                                       .long_s = (double)t->long_ticks * tick_s,
                                       .timed_s = (double)t->ticks * tick_s,
                                       .least_s = (double)t->least_ticks * tick_s,
                                       .most_s = (double)t->most_ticks * tick_s };
}

static void read_sites(struct gather *g)
{
    const struct fv_model *m = g->build->model;
    const double tick_s = 1 / m->clocks[m->ranks[g->rank].clock].hz;
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_MEMORY_SITES);
    struct fv_memory_site s;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&s, p, sizeof(s));
        if (is_nothing(&s.allocated) && is_nothing(&s.freed)) /* of a free that is in the trace */
            continue;
        const struct fv_allocation_sum times = times_of(&s.times, tick_s);
        struct fv_allocation_sum *sum = &part_of(g, s.path)->sum;
        add_amount(&sum->allocated, &s.allocated);
        add_amount(&sum->freed, &s.freed);
        add_amount(&sum->foreign, &s.foreign);
        sum->is_sampled = g->out->ranks[g->out->rank_count - 1].mode == FV_MEMORY_SAMPLED;
        add_extremes(sum, s.allocated.count, s.least, s.most);
        add_times(sum, &times);
        sum->at_peak += s.peak_number == g->peak_number ? (double)s.at_peak : bytes_of(&s);
    }
}

static void read_paths(struct gather *g)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_MEMORY_PATHS);
    struct fv_memory_path r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (!r.peak && !r.live) /* likewise */
            continue;
        struct fv_allocation_part *part = part_of(g, r.path);
        part->sum.peak += r.peak > 0 ? (double)r.peak : 0;
        for (int i = 0; i < FV_MEMORY_OCTAVES; i++)
            if (r.at[i])
                part->at[i] = (isnan(part->at[i]) ? 0 : part->at[i]) + (double)(r.at[i] - 1);
    }
}

static bool read_process(struct gather *g)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_MEMORY_PROCESS);
    const void *p = fv_cursor_next(&c);
    struct fv_allocations *out = g->out;
    struct fv_memory_process r;

    if (!p)
        return false;
    memcpy(&r, p, sizeof(r));
    r.allocator[sizeof(r.allocator) - 1] = '\0';
    FV_GROW(out->ranks, out->rank_room, out->rank_count + 1);
    struct fv_allocation_rank *rank = &out->ranks[out->rank_count++];
    *rank =
        (struct fv_allocation_rank){ .rank = g->rank,
                                     .mode = r.mode,
                                     .flags = r.flags,
                                     .before = r.before,
                                     .live = r.live,
                                     .peak_s = fv_build_time(g->build->model, g->rank, r.peak_ticks),
                                     .objects_lost = r.objects_lost,
                                     .paths_lost = r.paths_lost,
                                     .pages = r.pages,
                                     .begin = r.begin,
                                     .end = r.end,
                                     .at_begin = r.at_begin,
                                     .at_end = r.at_end,
                                     .allocator =
                                         *r.allocator ? fv_arena_string(&g->build->model->arena, r.allocator) : NULL };
    fv_allocation_calls_read(g->build->model, out, g->build->files[g->rank].reader, &r.rest);
    rank->peak = r.peak > rank->live ? r.peak : rank->live;
    g->peak_number = r.peak_number;
    return true;
}

static void read_series(struct gather *g)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_MEMORY_SERIES);
    const struct fv_memory_series *s = fv_cursor_next(&c);
    struct fv_allocations *out = g->out;
    const struct fv_model *m = g->build->model;
    int64_t last = out->ranks[out->rank_count - 1].before;

    if (!s || s->active > 1)
        return;
    const struct fv_memory_bank *bank = &s->bank[s->active];
    for (unsigned i = 0; i < FV_MEMORY_BINS && bank->width; i++) {
        double begin_s = fv_build_time(m, g->rank, bank->origin + i * bank->width),
               end_s = fv_build_time(m, g->rank, bank->origin + (i + 1) * bank->width);
        struct fv_memory_bin bin = bank->bin[i];

        if (begin_s >= m->ranks[g->rank].end_s)
            return;
        bin = bin.changes ? bin : (struct fv_memory_bin){ last, last, 0 };
        last = bin.last;
        FV_GROW(out->bins, out->bin_room, out->bin_count + 1);
        out->bins[out->bin_count++] =
            (struct fv_allocation_bin){ g->rank, begin_s, fmin(end_s, m->ranks[g->rank].end_s), bin.most, bin.last };
    }
}

/* ---- the track ---- */

static void *begin_allocated(struct fv_build *b)
{
    struct gather *g = fv_xcalloc(1, sizeof(*g));

    g->build = b;
    g->out = fv_model_memory(b->model);
    return g;
}

static void read_allocated(struct fv_build *b, void *state, uint32_t rank)
{
    struct gather *g = state;

    g->rank = rank;
    if (!read_process(g))
        return;
    read_sites(g);
    read_paths(g);
    read_series(g);
    fv_allocation_sections_read(b, g->out, rank);
    fv_allocation_seats_read(b, g->out, rank);
}

static void finish_allocated(struct fv_build *b, void *state)
{
    struct gather *g = state;

    fv_allocations_fold(b->model, g->out);
    fv_allocation_sections_order(g->out);
    fv_index_release(&g->parts);
    free(g);
}

const struct fv_track fv_track_memory = {
    .name = "memory",
    .of_process = true,
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_MEMORY_PROCESS, FV_CHUNK_MEMORY_SUMS, FV_CHUNK_MEMORY_SITES, FV_CHUNK_MEMORY_PATHS,
               FV_CHUNK_MEMORY_SERIES, FV_CHUNK_MEMORY_SECTIONS, FV_CHUNK_SECTIONS, FV_CHUNK_MEMORY_PLACES },
    .begin = begin_allocated,
    .read = read_allocated,
    .finish = finish_allocated,
};

/* ---- over the ranks ---- */

static int by_node_and_rank(const void *a, const void *b)
{
    const struct fv_allocation_part *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void add_up(struct fv_allocation_amount *to, const struct fv_allocation_amount *from)
{
    to->count += from->count;
    to->bytes += from->bytes;
    to->samples += from->samples;
}

static void add_sum(struct fv_allocation_sum *to, const struct fv_allocation_sum *from)
{
    add_up(&to->allocated, &from->allocated);
    add_up(&to->freed, &from->freed);
    add_up(&to->foreign, &from->foreign);
    to->peak += from->peak;
    to->at_peak += from->at_peak;
    to->is_sampled = to->is_sampled || from->is_sampled;
    add_extremes(to, from->known, from->least, from->most);
    add_times(to, from);
}

/* Where one of them did not change in an octave, it had what it had before. */
static void add_part(void *to_, const void *from_)
{
    struct fv_allocation_part *to = to_;
    const struct fv_allocation_part *from = from_;
    double was_to = 0, was_from = 0;

    add_sum(&to->sum, &from->sum);
    for (int i = 0; i < FV_MEMORY_OCTAVES; i++) {
        bool changed = !isnan(to->at[i]) || !isnan(from->at[i]);

        was_to = isnan(to->at[i]) ? was_to : to->at[i];
        was_from = isnan(from->at[i]) ? was_from : from->at[i];
        to->at[i] = changed ? was_to + was_from : NAN;
    }
}

static int by_peak(const void *a, const void *b)
{
    const struct fv_allocation_place *x = a, *y = b;
    double x_live = fv_allocation_live(&x->sum), y_live = fv_allocation_live(&y->sum);

    if (x->sum.at_peak != y->sum.at_peak)
        return x->sum.at_peak > y->sum.at_peak ? -1 : 1;
    if (x_live != y_live)
        return x_live > y_live ? -1 : 1;
    if (x->sum.allocated.bytes != y->sum.allocated.bytes)
        return x->sum.allocated.bytes > y->sum.allocated.bytes ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* libstdc++'s operator new says nothing of who allocates. */
static uint32_t library_of(const struct fv_model *m, uint32_t node)
{
    const struct fv_node *nodes = m->tree.nodes;

    for (uint32_t at = node; at; at = nodes[at].parent)
        if (strncmp(m->tree.modules[nodes[at].module].name, "libstdc++.", 10))
            return nodes[at].module;
    return nodes[node].module;
}

static int by_peak_of_library(const void *a, const void *b)
{
    const struct fv_allocation_library *x = a, *y = b;

    if (x->sum.at_peak != y->sum.at_peak)
        return x->sum.at_peak > y->sum.at_peak ? -1 : 1;
    if (x->sum.allocated.bytes != y->sum.allocated.bytes)
        return x->sum.allocated.bytes > y->sum.allocated.bytes ? -1 : 1;
    return (x->module > y->module) - (x->module < y->module);
}

static void sum_libraries(const struct fv_model *m, struct fv_allocations *out)
{
    out->library_count = 0;
    for (size_t i = 0; i < out->place_count; i++) {
        const uint32_t module = library_of(m, out->places[i].node);
        size_t at = 0;

        while (at < out->library_count && out->libraries[at].module != module)
            at++;
        if (at == out->library_count) {
            FV_GROW(out->libraries, out->library_room, at + 1);
            out->libraries[out->library_count++] = (struct fv_allocation_library){ .module = module };
        }
        add_sum(&out->libraries[at].sum, &out->places[i].sum);
    }
    if (out->library_count)
        qsort(out->libraries, out->library_count, sizeof(*out->libraries), by_peak_of_library);
}

void fv_allocations_fold(const struct fv_model *m, struct fv_allocations *out)
{
    struct fv_allocation_place *place = NULL;

    out->part_count = fv_fold(out->parts, out->part_count, sizeof(*out->parts), by_node_and_rank, add_part);
    out->place_count = 0;
    for (size_t i = 0; i < out->part_count; i++) {
        const struct fv_allocation_part *part = &out->parts[i];
        double live = fv_allocation_live(&part->sum);

        if (!place || place->node != part->node) {
            FV_GROW(out->places, out->place_room, out->place_count + 1);
            place = &out->places[out->place_count++];
            *place = (struct fv_allocation_place){
                .node = part->node, .first = (uint32_t)i, .max_rank = part->rank, .rank_max = (uint64_t)live
            };
        }
        place->ranks++;
        add_sum(&place->sum, &part->sum);
        if (live > (double)place->rank_max) {
            place->max_rank = part->rank;
            place->rank_max = (uint64_t)live;
        }
    }
    if (out->place_count)
        qsort(out->places, out->place_count, sizeof(*out->places), by_peak);
    sum_libraries(m, out);
}

void fv_allocations_release(void *data)
{
    struct fv_allocations *a = data;

    free(a->places);
    free(a->parts);
    free(a->ranks);
    free(a->functions);
    free(a->libraries);
    free(a->sections);
    free(a->seats);
    free(a->bins);
    *a = (struct fv_allocations){ 0 };
}
