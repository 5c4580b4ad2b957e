/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of sections; see sections.h. A cell of calls names the set of sections that were open; a set is a
 * chain of sections, and each of them gets the call. Waiting is the call site's where all of its calls on a
 * rank were in one set; else it is what the wait log says of the very calls, or, where only the whole site's
 * is known, a part by time: an estimate. */
#include "profile/sections/section_gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The kind of `of` is one part more. */
static void add_kind(uint8_t *kind, uint8_t *kinds, uint8_t of)
{
    *kinds |= (uint8_t)(1u << of);
    *kind = (uint8_t)fv_wait_kind_of(*kinds);
}

static void add_calls(void *sum, const void *part)
{
    struct fv_section_calls *to = sum;
    const struct fv_section_calls *from = part;

    to->calls += from->calls;
    to->time_s += from->time_s;
    to->wait_s += from->wait_s;
    if (from->calls)
        add_kind(&to->wait_kind, &to->wait_kinds, from->wait_kind);
    to->bytes_sent += from->bytes_sent;
    to->bytes_received += from->bytes_received;
    for (unsigned i = 0; i <= FV_SECTION_CLASSES; i++) {
        to->sent[i] += from->sent[i];
        to->received[i] += from->received[i];
    }
}

static void add_cell(struct fv_section_calls *to, const struct fv_cell *cell)
{
    unsigned class = fv_section_class(cell);

    to->bytes_sent += cell->bytes_sent;
    to->bytes_received += cell->bytes_received;
    to->sent[class] += cell->sends;
    to->received[class] += cell->receives;
}

static struct fv_section_calls *function_of(struct fv_section_gather *g, uint32_t section, uint32_t function)
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

double fv_section_call_value(const struct fv_section_function_rank *of, enum fv_section_call_value value)
{
    uint64_t messages = 0;

    switch (value) {
    case FV_SECTION_CALL_COUNT: return (double)of->calls;
    case FV_SECTION_CALL_TIME: return of->time_s;
    case FV_SECTION_CALL_WAIT: return of->wait_kind == FV_WAIT_UNKNOWN ? NAN : of->wait_s;
    case FV_SECTION_CALL_LENGTH:
        for (unsigned i = 0; i <= FV_SECTION_CLASSES; i++)
            messages += of->messages[i];
        return messages ? (double)(of->bytes_sent + of->bytes_received) / (double)messages : NAN;
    }
    return NAN;
}

/* To the function's sum, and to that of the rank. */
static void add_to_function(struct fv_section_gather *g, uint32_t section, uint32_t function, uint32_t rank,
                            const struct fv_section_calls *calls)
{
    struct fv_sections_view *s = g->out;
    struct fv_section_function_rank *r;

    add_calls(function_of(g, section, function), calls);
    r = FV_INTERNED(g->function_ranks, s->function_ranks, s->function_rank_count, s->function_rank_room,
                    (uint32_t[]){ section, function, rank });
    r->name = g->build->model->functions[function].name;
    r->calls += calls->calls;
    r->bytes_sent += calls->bytes_sent;
    r->bytes_received += calls->bytes_received;
    r->time_s += calls->time_s;
    r->wait_s += calls->wait_s;
    if (calls->calls)
        add_kind(&r->wait_kind, &r->wait_kinds, calls->wait_kind);
    for (unsigned i = 0; i <= FV_SECTION_CLASSES; i++)
        r->messages[i] += calls->sent[i] + calls->received[i];
}

static struct fv_section_calls *path_of(struct fv_section_gather *g, uint32_t section, uint32_t function, uint32_t node)
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
        add_kind(&r->wait_kind, &r->wait_kinds, calls->wait_kind);
    for (unsigned i = 0; i < FV_SECTION_CLASSES; i++) {
        r->value[FV_SECTION_SENT + i] += (double)calls->sent[i];
        r->value[FV_SECTION_RECEIVED + i] += (double)calls->received[i];
    }
}

static struct fv_section_part *find_part(struct fv_section_gather *g, uint32_t set, uint32_t site_rank)
{
    return FV_INTERNED(g->parts, g->part, g->part_count, g->part_room, (uint32_t[]){ set, site_rank });
}

/* How long the calls of a part waited. */
static void judge_part(const struct fv_model *m, struct fv_section_part *p)
{
    const struct fv_site_rank *s = &m->site_ranks[p->site_rank];
    const struct fv_func *f = &m->functions[m->sites[s->site].function];
    uint64_t calls = p->calls - (p->alone < p->calls ? p->alone : p->calls);
    bool own = !p->barriers && (m->causes.source != FV_CAUSES_TRACE || f->wait != FV_RULE_P2P);

    p->sums.calls = p->calls;
    p->sums.time_s = p->time_s;
    if (p->calls == s->stat.calls || s->wait_kind == FV_WAIT_UNKNOWN) {
        p->sums.wait_s = s->wait_kind == FV_WAIT_UNKNOWN ? 0 : s->wait_s;
        p->sums.wait_kind = s->wait_kind;
    } else if (own && (f->wait == FV_RULE_P2P || p->wait.logged || !calls)) {
        p->sums.wait_s = p->wait.wait_s;
        if (f->wait != FV_RULE_P2P && p->wait.logged && p->wait.logged < calls)
            p->sums.wait_s *= (double)calls / p->wait.logged;
        p->sums.wait_kind = f->wait == FV_RULE_P2P || p->wait.guessed || !m->same_clock || p->wait.logged < calls
                                ? FV_WAIT_ESTIMATE
                                : FV_WAIT_EXACT;
    } else {
        p->sums.wait_s = s->stat.sum_s > 0 ? s->wait_s * p->time_s / s->stat.sum_s : 0;
        p->sums.wait_kind = FV_WAIT_ESTIMATE;
    }
    p->sums.wait_s = fmin(p->sums.wait_s, p->time_s);
}

static void add_part(struct fv_section_gather *g, uint32_t rank, const struct fv_section_part *p)
{
    const struct fv_model *m = g->build->model;
    const struct fv_site *site = &m->sites[m->site_ranks[p->site_rank].site];
    uint32_t chain[FV_SECTION_CHAIN];
    unsigned count;

    fv_section_chain(g, p->set, chain, &count);
    for (unsigned i = 0; i < count; i++) {
        add_to_function(g, chain[i], site->function, rank, &p->sums);
        add_calls(path_of(g, chain[i], site->function, site->node), &p->sums);
        add_to_rank(fv_section_rank_of(g, chain[i], rank), &p->sums);
    }
}

/* What cells tell of "all", by function. */
static void add_to_all(struct fv_section_gather *g, const struct fv_section_calls *by_function, uint32_t rank)
{
    uint32_t all = fv_section_view_of(g, "all", 0, 0, true, false);
    struct fv_section_rank *whole = fv_section_rank_of(g, all, rank);

    for (uint32_t i = 0; i < g->build->model->function_count; i++)
        if (by_function[i].function) {
            add_to_function(g, all, i, rank, &by_function[i]);
            add_to_rank(whole, &by_function[i]);
        }
}

/* Once for "all", and for each set that is open. */
void fv_section_read_cells(struct fv_section_gather *g, struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_CELLS);
    const struct fv_model *m = g->build->model;
    struct fv_section_calls *by_function = fv_xcalloc(m->function_count + 1, sizeof(*by_function));
    const struct fv_cell_place *place;
    struct fv_cell cell;

    for (const void *p; (p = fv_cursor_next(&c));) {
        if (!(place = fv_build_place(f, c.thread, c.index)))
            continue;
        const uint32_t function = m->sites[m->site_ranks[place->site_rank].site].function;

        memcpy(&cell, p, sizeof(cell));
        by_function[function].function = m->functions[function].name;
        add_cell(&by_function[function], &cell);
        if (!cell.section || cell.section >= g->set_count)
            continue;
        const struct fv_cell_wait *wait = fv_build_cell_wait(f, c.thread, c.index);
        struct fv_section_part *part = find_part(g, cell.section, place->site_rank);
        add_cell(&part->sums, &cell);
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
    add_to_all(g, by_function, rank);
    free(by_function);
    for (size_t i = 0; i < g->part_count; i++) {
        judge_part(m, &g->part[i]);
        add_part(g, rank, &g->part[i]);
    }
    g->part_count = 0;
    fv_index_release(&g->parts);
    g->parts = (struct fv_index){ 0 };
}

/* ---- "all" ---- */

/* What the call sites of a rank sum up to, by function. */
struct by_function {
    struct fv_section_calls *sums;
    uint32_t *met;
    size_t count;
};

static void sum_site(struct by_function *all, const struct fv_model *m, const struct fv_site_rank *s)
{
    const uint32_t function = m->sites[s->site].function;
    struct fv_section_calls *sum = &all->sums[function];

    if (!sum->function) {
        sum->function = m->functions[function].name;
        all->met[all->count++] = function;
    }
    sum->calls += s->stat.calls;
    sum->time_s += s->stat.sum_s;
    sum->wait_s += s->wait_s;
    if (s->stat.calls)
        add_kind(&sum->wait_kind, &sum->wait_kinds, s->wait_kind);
}

/* Whose place in the list is behind `*at`, mostly. NULL: it has none. */
static struct fv_section_rank *find_rank(struct fv_sections_view *s, uint32_t section, uint32_t rank, size_t *at)
{
    for (size_t n = 0; n < s->rank_count; n++, *at = *at + 1 < s->rank_count ? *at + 1 : 0)
        if (s->ranks[*at].section == section && s->ranks[*at].rank == rank)
            return &s->ranks[*at];
    return NULL;
}

static void hand_over(struct fv_section_gather *g, uint32_t section, uint32_t rank, struct by_function *all, size_t *at)
{
    struct fv_section_rank *whole = find_rank(g->out, section, rank, at);

    for (size_t i = 0; i < all->count; i++) {
        struct fv_section_calls *sum = &all->sums[all->met[i]];

        add_to_function(g, section, all->met[i], rank, sum);
        if (whole)
            add_to_rank(whole, sum);
        *sum = (struct fv_section_calls){ 0 };
    }
    all->count = 0;
}

/* Its calls and their waiting are those of the call sites, which come rank by rank. */
void fv_section_add_all_sites(struct fv_section_gather *g)
{
    const struct fv_model *m = g->build->model;
    const uint32_t section = fv_section_view_of(g, "all", 0, 0, true, false);
    struct by_function all = { fv_xcalloc(m->function_count + 1, sizeof(*all.sums)),
                               fv_xcalloc(m->function_count + 1, sizeof(*all.met)), 0 };
    size_t at = 0;

    for (size_t i = 0; i < m->site_rank_count; i++) {
        sum_site(&all, m, &m->site_ranks[i]);
        if (i + 1 == m->site_rank_count || m->site_ranks[i + 1].rank != m->site_ranks[i].rank)
            hand_over(g, section, m->site_ranks[i].rank, &all, &at);
    }
    free(all.sums);
    free(all.met);
}

/* ---- order ---- */

static int by_calls_time(const void *a, const void *b)
{
    const struct fv_section_calls *x = a, *y = b;

    if (x->time_s != y->time_s)
        return x->time_s > y->time_s ? -1 : 1;
    if (strcmp(x->function, y->function))
        return strcmp(x->function, y->function);
    return (x->node > y->node) - (x->node < y->node);
}
static int by_section_name_rank(const void *a, const void *b)
{
    const struct fv_section_function_rank *x = a, *y = b;

    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

void fv_section_order_functions(struct fv_sections_view *s)
{
    size_t count = s->function_rank_count;
    const struct fv_section_function_rank *r = s->function_ranks;

    if (count)
        qsort(s->function_ranks, count, sizeof(*s->function_ranks), by_section_name_rank);
    for (size_t i = 0, next; i < count; i = next) {
        struct fv_section_view *v = &s->items[r[i].section];

        v->first_function_rank = v->function_ranks ? v->first_function_rank : (uint32_t)i;
        for (next = i + 1; next < count && r[next].section == r[i].section && !strcmp(r[next].name, r[i].name);)
            next++;
        v->function_ranks += (uint32_t)(next - i);
        for (size_t k = 0; k < v->function_count; k++)
            if (!strcmp(v->functions[k].function, r[i].name)) {
                v->functions[k].first = (uint32_t)i;
                v->functions[k].ranks = (uint32_t)(next - i);
            }
    }
}

void fv_section_order_calls(struct fv_section_view *v)
{
    if (v->function_count)
        qsort(v->functions, v->function_count, sizeof(*v->functions), by_calls_time);
    if (v->path_count)
        qsort(v->paths, v->path_count, sizeof(*v->paths), by_calls_time);
}

static int by_function_and_node(const void *a, const void *b)
{
    const struct fv_section_calls *x = a, *y = b;
    int order = strcmp(x->function, y->function);

    return order ? order : (x->node > y->node) - (x->node < y->node);
}

void fv_section_fold(struct fv_section_view *s)
{
    s->path_count = fv_fold(s->paths, s->path_count, sizeof(*s->paths), by_function_and_node, add_calls);
    if (s->path_count)
        qsort(s->paths, s->path_count, sizeof(*s->paths), by_calls_time);
}
