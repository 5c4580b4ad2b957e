/* Call sites that look the same become one. A compiler that unrolls or inlines a loop makes several calls
 * of one line of the source; their return addresses differ, and the report would show the same path twice
 * without a word that tells them apart. Which paths look the same only symbols know, so this comes after
 * the model, and adds up what the model has. */
#include "report/build.h"
#include "report/symbols.h"

#include <stdlib.h>
#include <string.h>

struct fold {
    const struct fv_model *model;
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

static uint32_t stand_in(struct fold *f, uint32_t node)
{
    uint64_t hash = 1;

    if (!node || f->of_node[node] != FV_NONE)
        return node ? f->of_node[node] : 0;
    fv_path_of(&f->path, f->symbols, f->model, node);
    for (size_t i = 0; i < f->path.count; i++)
        hash = fv_mix2(hash, f->path.frames[i].alike);
    struct fv_index_probe p = fv_index_probe(&f->index, hash);
    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        fv_path_of(&f->other, f->symbols, f->model, i);
        if (same_path(&f->path, &f->other))
            return f->of_node[node] = i;
    }
    fv_index_add(&f->index, hash, node);
    return f->of_node[node] = node;
}

/* For each site the first one, which took longest, that looks the same. Returns how many are not first. */
static size_t find_same(struct fold *f, uint32_t *same)
{
    const struct fv_model *m = f->model;
    struct fv_index index = { 0 };
    size_t merged = 0;

    for (uint32_t i = 0; i < m->site_count; i++) {
        uint32_t node = stand_in(f, m->sites[i].node), function = m->sites[i].function;
        uint64_t hash = fv_mix2(node, function);
        struct fv_index_probe p = fv_index_probe(&index, hash);
        uint32_t k;

        while ((k = fv_index_next(&p)) != FV_NONE)
            if (m->sites[k].function == function && stand_in(f, m->sites[k].node) == node)
                break;
        same[i] = k == FV_NONE ? i : k;
        merged += k != FV_NONE;
        if (k == FV_NONE)
            fv_index_add(&index, hash, i);
    }
    fv_index_release(&index);
    return merged;
}

static int by_rank_and_site(const void *a, const void *b)
{
    const struct fv_site_rank *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

static void add_part(struct fv_site_rank *to, const struct fv_site_rank *from)
{
    if (!to->time.calls)
        to->wait_kind = from->wait_kind;
    else if (from->time.calls && to->wait_kind != from->wait_kind)
        to->wait_kind = FV_WAIT_ESTIMATE;
    to->wait_s += from->wait_s;
    to->logged += from->logged;
    to->barriers += from->barriers;
    to->barrier_s += from->barrier_s;
    fv_blame_add(&to->blame, &from->blame);
    fv_stat_add(&to->time, &from->time);
}

static void merge_parts(struct fv_model *m)
{
    size_t kept = 0;

    qsort(m->site_ranks, m->site_rank_count, sizeof(*m->site_ranks), by_rank_and_site);
    for (size_t i = 1; i < m->site_rank_count; i++) {
        struct fv_site_rank *last = &m->site_ranks[kept];

        if (last->site == m->site_ranks[i].site && last->rank == m->site_ranks[i].rank)
            add_part(last, &m->site_ranks[i]);
        else
            m->site_ranks[++kept] = m->site_ranks[i];
    }
    m->site_rank_count = kept + 1;
}

static void merge_sites(struct fv_model *m, uint32_t *same)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < m->site_count; i++) {
        struct fv_site *s = &m->sites[i];

        if (same[i] != i) {
            m->functions[s->function].sites--;
            same[i] = same[same[i]]; /* renumbered already */
            continue;
        }
        m->sites[count] = (struct fv_site){ .function = s->function, .node = s->node };
        same[i] = count++;
    }
    m->site_count = count;
    for (size_t i = 0; i < m->site_rank_count; i++)
        m->site_ranks[i].site = same[m->site_ranks[i].site];
    merge_parts(m);
    fv_build_sites(m);
    fv_build_causes(m);
}

void fv_sites_merge(struct fv_model *m, const struct fv_symbols *symbols)
{
    struct fold fold = { .model = m, .symbols = symbols };
    uint32_t *same = fv_xcalloc(m->site_count, sizeof(*same));

    fold.of_node = fv_xcalloc(m->node_count, sizeof(*fold.of_node));
    memset(fold.of_node, 0xff, m->node_count * sizeof(*fold.of_node));
    size_t merged = find_same(&fold, same);
    for (size_t i = 0; i < m->rank_count; i++)
        m->ranks[i].in_call.node = stand_in(&fold, m->ranks[i].in_call.node);
    for (size_t i = 0; i < m->thread_count; i++)
        m->threads[i].in_call.node = stand_in(&fold, m->threads[i].in_call.node);
    if (merged)
        merge_sites(m, same);
    for (size_t i = 0; i < m->sections.count; i++) {
        struct fv_section_view *s = &m->sections.items[i];

        for (size_t k = 0; k < s->path_count; k++)
            s->paths[k].node = stand_in(&fold, s->paths[k].node);
        fv_section_fold(s);
    }
    for (size_t i = 0; i < m->locks.site_count; i++)
        m->locks.sites[i].node = stand_in(&fold, m->locks.sites[i].node);
    fv_locks_fold(&m->locks);
    for (size_t i = 0; i < m->phases.count; i++)
        m->phases.items[i].node = stand_in(&fold, m->phases.items[i].node);
    fv_phases_fold(&m->phases);
    free(fold.of_node);
    free(same);
    fv_path_release(&fold.path);
    fv_path_release(&fold.other);
    fv_index_release(&fold.index);
}
