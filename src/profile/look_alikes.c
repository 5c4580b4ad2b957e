/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths get names, and call sites that look the same become one. A compiler that unrolls or inlines a loop makes
 * several calls of one line of the source; their return addresses differ, and the report would show the same path
 * twice without a word that tells them apart. Which paths look the same only symbols know. */
#include "profile/build.h"

#include <stdlib.h>
#include <string.h>

static bool is_program(const struct fv_model *m, const struct fv_module *module)
{
    for (size_t i = 0; i < m->program_count; i++)
        if (!strcmp(m->programs[i].path, module->path))
            return true;
    return false;
}

/* Programs whose files can be read, and tell no line of any call. Of one that cannot be read that was said. */
static void say_no_lines(const struct fv_symbols *symbols, struct fv_model *m)
{
    enum { READ = 1, LINES = 2 };
    uint8_t *has = fv_xcalloc(m->tree.module_count + 1, sizeof(*has));

    for (size_t i = 0; i < symbols->frame_count; i++) {
        const struct fv_frame *f = &symbols->frames[i];

        has[f->module] |= (uint8_t)((f->function || f->begin ? READ : 0) | (f->line ? LINES : 0));
    }
    for (size_t i = FV_MODEL_FIRST_MODULE; i < m->tree.module_count; i++)
        if (has[i] == READ && is_program(m, &m->tree.modules[i]) &&
            strncmp(m->tree.modules[i].name, "python", 6) != 0) /* whose own frames are read */
            fv_problem_add(&m->module_problems, FV_PROBLEM_NOTE, NULL,
                           "%s has no debug information: its call sites have no file and line; compile it with -g",
                           m->tree.modules[i].name);
    free(has);
}

static void resolve(struct fv_symbols *out, struct fv_model *m, bool look_up)
{
    fv_symbols_resolve(out, m->tree.modules, m->tree.nodes, m->tree.node_count, look_up, &m->module_problems);
    if (!look_up)
        return;
    fv_addresses_resolve(out, m->addresses, m->address_count);
    say_no_lines(out, m);
}

struct fv_alikes {
    struct fv_model *model;
    const struct fv_symbols *symbols;
    struct fv_path path, other;
    uint32_t *of_node; /* the node that stands for this one; FV_NONE: not asked yet */
    struct fv_index index;
};

static bool same_path(const struct fv_path *a, const struct fv_path *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->frames[i].alike != b->frames[i].alike)
            return false;
    return true;
}

uint32_t fv_alike(struct fv_alikes *f, uint32_t node)
{
    uint64_t hash = 1;

    if (!node || f->of_node[node] != FV_NONE)
        return node ? f->of_node[node] : 0;
    fv_path_of(&f->path, f->symbols, node);
    for (size_t i = 0; i < f->path.count; i++)
        hash = fv_mix2(hash, f->path.frames[i].alike);
    struct fv_index_probe p = fv_index_probe(&f->index, hash);
    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        fv_path_of(&f->other, f->symbols, i);
        if (same_path(&f->path, &f->other)) {
            struct fv_node *nodes = f->model->tree.nodes;

            nodes[i].key = nodes[node].key < nodes[i].key ? nodes[node].key : nodes[i].key;
            return f->of_node[node] = i;
        }
    }
    fv_index_add(&f->index, hash, node);
    return f->of_node[node] = node;
}

/* ---- call sites ---- */

/* Longest first. */
static struct fv_timed_item *in_order(const struct fv_model *m)
{
    struct fv_timed_item *order = fv_xcalloc(m->site_count, sizeof(*order));

    for (uint32_t i = 0; i < m->site_count; i++)
        order[i].id = i;
    for (size_t i = 0; i < m->site_rank_count; i++)
        order[m->site_ranks[i].site].sum += m->site_ranks[i].stat.sum_s;
    if (m->site_count)
        qsort(order, m->site_count, sizeof(*order), fv_timed_longer);
    return order;
}

static void add_own_wait(struct fv_site *to, const struct fv_site *from)
{
    to->own_wait_s += from->own_wait_s;
    to->own_wait_kind = fv_wait_kind_of(1u << to->own_wait_kind | 1u << from->own_wait_kind);
}

/* Of those that look the same, that with the longest calls stays. `now` is the number of each in that order. */
static void merge_sites(struct fv_alikes *f, const struct fv_timed_item *order, uint32_t *now)
{
    struct fv_model *m = f->model;
    struct fv_site *sites = fv_xcalloc(m->site_count, sizeof(*sites));
    struct fv_index index = { 0 };
    uint32_t count = 0;

    for (size_t i = 0; i < m->site_count; i++) {
        const struct fv_site *s = &m->sites[order[i].id];
        uint32_t node = fv_alike(f, s->node), at;
        uint64_t hash = fv_mix2(node, s->function);
        struct fv_index_probe p = fv_index_probe(&index, hash);

        while ((at = fv_index_next(&p)) != FV_NONE)
            if (sites[at].function == s->function && fv_alike(f, sites[at].node) == node)
                break;
        if (at == FV_NONE) {
            fv_index_add(&index, hash, count);
            sites[at = count++] = *s;
        } else {
            add_own_wait(&sites[at], s);
        }
        now[i] = at;
    }
    free(m->sites);
    m->sites = sites;
    m->site_room = m->site_count;
    m->site_count = count;
    fv_index_release(&index);
}

static int by_site(const void *a, const void *b)
{
    const struct fv_site_rank *x = a, *y = b;

    return (x->site > y->site) - (x->site < y->site);
}

static void add_part(struct fv_model *m, struct fv_site_rank *to, const struct fv_site_rank *from)
{
    if (!to->stat.calls)
        to->wait_kind = from->wait_kind;
    else if (from->stat.calls)
        to->wait_kind = (uint8_t)fv_wait_kind_of(1u << to->wait_kind | 1u << from->wait_kind);
    to->wait_s += from->wait_s;
    if (from->more) {
        struct fv_site_more *more = fv_build_more(m, to);
        const struct fv_site_more *of = fv_site_more(m, from);

        more->barriers += of->barriers;
        more->barrier_s += of->barrier_s;
        more->noise_s += of->noise_s;
        fv_blame_add(&more->blame, &of->blame);
    }
    fv_site_sizes_add(to, from);
    fv_call_stat_add(&to->stat, &from->stat);
}

/* Of a rank, from longest sites to shortest. */
static void sort_parts(struct fv_model *m)
{
    for (size_t i = 0, next; i < m->site_rank_count; i = next) {
        for (next = i + 1; next < m->site_rank_count && m->site_ranks[next].rank == m->site_ranks[i].rank;)
            next++;
        qsort(m->site_ranks + i, next - i, sizeof(*m->site_ranks), by_site);
    }
}

static void merge_parts(struct fv_model *m, const uint32_t *now)
{
    size_t *last = fv_xcalloc(m->site_count, sizeof(*last)); /* behind the last part of the site */
    size_t kept = 0;

    sort_parts(m);
    for (size_t i = 0; i < m->site_rank_count; i++) {
        struct fv_site_rank part = m->site_ranks[i];

        part.site = now[part.site];
        size_t at = last[part.site];
        if (at && m->site_ranks[at - 1].rank == part.rank) {
            add_part(m, &m->site_ranks[at - 1], &part);
        } else {
            m->site_ranks[kept] = part;
            last[part.site] = ++kept;
        }
    }
    m->site_rank_count = kept;
    free(last);
}

static void merge(struct fv_alikes *f, uint32_t *number)
{
    struct fv_model *m = f->model;
    size_t recorded = m->site_count;
    struct fv_timed_item *order = in_order(m);
    uint32_t *now = fv_xcalloc(recorded, sizeof(*now));

    for (uint32_t i = 0; i < recorded; i++)
        number[order[i].id] = i;
    for (size_t i = 0; i < m->site_rank_count; i++)
        m->site_ranks[i].site = number[m->site_ranks[i].site];
    merge_sites(f, order, now);
    if (m->site_count < recorded)
        merge_parts(m, now);
    for (size_t i = 0; i < recorded; i++)
        number[i] = now[number[i]];
    free(order);
    free(now);
}

void fv_build_alikes(struct fv_model *m, struct fv_symbols *symbols, bool look_up, uint32_t *number)
{
    struct fv_alikes alikes = { .model = m, .symbols = symbols };

    resolve(symbols, m, look_up);
    alikes.of_node = fv_xcalloc(m->tree.node_count, sizeof(*alikes.of_node));
    memset(alikes.of_node, 0xff, m->tree.node_count * sizeof(*alikes.of_node));
    merge(&alikes, number);
    for (size_t i = 0; i < m->rank_count; i++)
        m->ranks[i].in_call.node = fv_alike(&alikes, m->ranks[i].in_call.node);
    for (size_t i = 0; i < m->thread_count; i++)
        m->threads[i].in_call.node = fv_alike(&alikes, m->threads[i].in_call.node);
    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        if (fv_subjects[i]->fold)
            fv_subjects[i]->fold(m, &alikes);
    for (size_t i = 0; i < m->site_count; i++)
        m->sites[i].key = fv_key_call(m->tree.nodes[m->sites[i].node].key, m->functions[m->sites[i].function].key);
    free(alikes.of_node);
    fv_path_release(&alikes.path);
    fv_path_release(&alikes.other);
    fv_index_release(&alikes.index);
}
