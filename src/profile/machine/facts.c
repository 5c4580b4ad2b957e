/* SPDX-License-Identifier: BSD-3-Clause */
/* See facts.h. */
#include "profile/machine/facts.h"
#include "profile/build.h"
#include "tool/cpus.h"
#include "tool/words.h"

#include <stdlib.h>
#include <string.h>

/* A host's mask, which many threads have. */
struct mask {
    uint64_t key[1 + FV_MASK_WORDS]; /* the host; processors */
    uint32_t ranks;                  /* whose processes began with it */
    uint32_t meeting;                /* ranks of the host that have one of its processors */
    uint32_t count;
    const char *list, *nodes;
};

struct node {
    uint32_t host, node;
    struct fv_cpus cpus;
};

struct gather {
    struct fv_build *build;
    struct fv_facts *out;
    struct fv_index hosts, variables, masks;
    struct mask *mask;
    size_t mask_count, mask_room;
    struct node *nodes;
    size_t node_count, node_room;
    struct fv_affinity *records; /* beside out->affinities */
    size_t record_count, record_room;
    uint64_t left_out;
};

static void add_rank(struct fv_facts_ranks *ranks, int world_rank)
{
    FV_GROW(ranks->runs, ranks->room, ranks->run_count + 1);
    fv_rank_runs_add(ranks->runs, &ranks->run_count, world_rank);
    ranks->count++;
}

/* ---- reading ---- */

static uint32_t host_of(struct gather *g, uint32_t rank)
{
    struct fv_model *m = g->build->model;
    size_t before = g->out->host_count;
    uint32_t at = (uint32_t)FV_INTERN_NAME(g->hosts, g->out->hosts, g->out->host_count, g->out->host_room, &m->arena,
                                           m->ranks[rank].host);

    if (g->out->host_count > before)
        g->out->hosts[at].told_by = FV_NONE;
    return at;
}

/* Of those with an index each has its own, one behind the other. */
static void take_machine(struct gather *g, uint32_t host, const struct fv_fact *f)
{
    struct fv_arena *arena = &g->build->model->arena;
    const char **value = &g->out->hosts[host].value[f->key];
    bool is_list = f->key == FV_FACT_NODE_PROCESSORS || f->key == FV_FACT_NODE_DISTANCES;

    if (is_list)
        *value = fv_arena_printf(arena, "%s%s%u: %s", *value ? *value : "", *value ? "; " : "", f->index, f->value);
    else if (f->key == FV_FACT_CACHE)
        *value = fv_arena_printf(arena, "%s%sL%s", *value ? *value : "", *value ? "; " : "", f->value);
    else
        *value = fv_arena_string(arena, f->value);
    if (f->key != FV_FACT_NODE_PROCESSORS)
        return;
    FV_GROW(g->nodes, g->node_room, g->node_count + 1);
    struct node *node = &g->nodes[g->node_count];
    *node = (struct node){ .host = host, .node = f->index };
    g->node_count += fv_cpus_from_list(f->value, &node->cpus);
}

static void take_variable(struct gather *g, uint32_t rank, const struct fv_fact *f)
{
    struct fv_model *m = g->build->model;
    uint32_t at = (uint32_t)FV_INTERN_NAME(g->variables, g->out->variables, g->out->variable_count,
                                           g->out->variable_room, &m->arena, f->value);
    struct fv_variable *v = &g->out->variables[at];

    v->is_cut |= f->flags & FV_FACT_CUT;
    add_rank(&v->ranks, m->ranks[rank].world_rank);
}

static void read_affinities(struct gather *g, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(g->build->files[rank].reader, FV_CHUNK_AFFINITY);

    for (const void *p; (p = fv_cursor_next(&c));) {
        FV_GROW(g->records, g->record_room, g->record_count + 1);
        struct fv_affinity *r = memcpy(&g->records[g->record_count++], p, sizeof(*r));
        FV_GROW(g->out->affinities, g->out->affinity_room, g->out->affinity_count + 1);
        g->out->affinities[g->out->affinity_count++] =
            (struct fv_affinity_view){ .rank = rank, .thread = r->thread, .cpu = r->cpu, .node = r->node };
    }
}

/* Where ranks could not find out who tells of the host, all did: the first one's word is taken. */
static void read_facts(struct fv_build *b, void *state, uint32_t rank)
{
    struct gather *g = state;
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_FACTS);
    uint32_t host = host_of(g, rank);

    add_rank(&g->out->hosts[host].ranks, b->model->ranks[rank].world_rank);
    for (const struct fv_fact *f; (f = fv_cursor_next(&c));) {
        uint32_t *told_by = &g->out->hosts[host].told_by;

        if (f->key == FV_FACT_VARIABLE)
            take_variable(g, rank, f);
        else if (f->key == FV_FACT_LEFT_OUT)
            g->left_out += strtoull(f->value, NULL, 10);
        else if (f->key && f->key < FV_FACT_MACHINE_KEYS && (*told_by == FV_NONE || *told_by == rank)) {
            *told_by = rank;
            take_machine(g, host, f);
        }
    }
    read_affinities(g, rank);
}

/* ---- masks ---- */

static struct fv_cpus cpus_of(const uint64_t *words)
{
    struct fv_cpus cpus = { 0 };

    memcpy(cpus.bits, words, FV_MASK_WORDS * sizeof(*words));
    return cpus;
}

/* Have they a processor in common? */
static bool meet(const uint64_t *a, const uint64_t *b)
{
    for (size_t i = 0; i < FV_MASK_WORDS; i++)
        if (a[i] & b[i])
            return true;
    return false;
}

/* Is all of a in b? */
static bool is_within(const uint64_t *a, const uint64_t *b)
{
    for (size_t i = 0; i < FV_MASK_WORDS; i++)
        if (a[i] & ~b[i])
            return false;
    return true;
}

static bool is_known(const uint64_t *words)
{
    return meet(words, words);
}

/* NUMA nodes that have one of the processors. */
static const char *nodes_of(struct gather *g, const struct mask *mask)
{
    struct fv_cpus cpus = cpus_of(mask->key + 1), found = { 0 };
    bool any = false;

    for (size_t i = 0; i < g->node_count; i++)
        if (g->nodes[i].host == mask->key[0]) {
            any = true;
            if (g->nodes[i].node < FV_CPUS_MOST && fv_cpus_meet(&cpus, &g->nodes[i].cpus))
                fv_cpus_set(&found, g->nodes[i].node);
        }
    return any ? fv_cpus_list(&found, &g->build->model->arena) : NULL;
}

/* Valid until the next one. */
static struct mask *mask_of(struct gather *g, uint32_t host, const uint64_t *words)
{
    uint64_t key[1 + FV_MASK_WORDS] = { host };
    size_t before = g->mask_count;

    memcpy(key + 1, words, FV_MASK_WORDS * sizeof(*words));
    uint32_t at = (uint32_t)FV_INTERN(g->masks, g->mask, g->mask_count, g->mask_room, key);
    struct mask *mask = &g->mask[at];
    if (g->mask_count > before) {
        struct fv_cpus cpus = cpus_of(words);

        mask->list = fv_cpus_list(&cpus, &g->build->model->arena);
        mask->count = (uint32_t)fv_cpus_count(&cpus);
        mask->nodes = nodes_of(g, mask);
    }
    return mask;
}

static int by_host(const void *a, const void *b)
{
    const struct mask *x = *(struct mask *const *)a, *y = *(struct mask *const *)b;

    return (x->key[0] > y->key[0]) - (x->key[0] < y->key[0]);
}

static const char *ranks_within(const struct gather *g, const struct mask *mask)
{
    const struct fv_model *m = g->build->model;
    const char *host = g->out->hosts[mask->key[0]].host;
    struct fv_rank_list list = FV_RANK_LIST_INIT;

    for (size_t i = 0; i < m->rank_count; i++) {
        const uint64_t *own = m->ranks[i].cpu_mask;

        if (!strcmp(m->ranks[i].host, host) && is_known(own) && is_within(own, mask->key + 1))
            fv_rank_list_add(&list, m->ranks[i].world_rank);
    }
    return fv_arena_string(&g->build->model->arena, fv_rank_list_text(&list));
}

/* More ranks may run nowhere else than it has processors. Where the host has too few for all of its ranks, that is told
 * already. */
static void note_crowded(struct gather *g, const struct mask *mask, uint32_t within)
{
    struct fv_facts *f = g->out;
    const char *host = f->hosts[mask->key[0]].host;

    if (within <= mask->count || f->crowded_host || fv_crowd_of(g->build->model, host).shared)
        return;
    f->crowded_host = host;
    f->crowded_processors = mask->list;
    f->crowded_count = mask->count;
    f->crowded_ranks = ranks_within(g, mask);
}

static void compare_masks(struct gather *g)
{
    struct mask **order = fv_xcalloc(g->mask_count + 1, sizeof(struct mask *));

    for (size_t i = 0; i < g->mask_count; i++)
        order[i] = &g->mask[i];
    qsort(order, g->mask_count, sizeof(struct mask *), by_host);
    for (size_t begin = 0, end; begin < g->mask_count; begin = end) {
        for (end = begin; end < g->mask_count && order[end]->key[0] == order[begin]->key[0];)
            end++;
        for (size_t i = begin; i < end; i++) {
            const uint64_t *own = order[i]->key + 1;
            uint32_t within = 0;

            for (size_t k = begin; k < end; k++) {
                order[i]->meeting += meet(own, order[k]->key + 1) ? order[k]->ranks : 0;
                within += is_within(order[k]->key + 1, own) ? order[k]->ranks : 0;
            }
            note_crowded(g, order[i], within);
        }
    }
    free(order);
}

/* ---- the end ---- */

static void fill_affinity(struct gather *g, struct fv_affinity_view *v, const struct fv_affinity *r)
{
    const struct fv_model *m = g->build->model;
    uint32_t host = host_of(g, v->rank);
    const struct mask *mask = mask_of(g, host, r->first);

    v->processors = mask->list;
    v->nodes = mask->nodes;
    v->count = mask->count;
    v->of = g->out->hosts[host].processors;
    v->others = mask->meeting - meet(r->first, m->ranks[v->rank].cpu_mask); /* without its own */
    if (is_known(r->last) && memcmp(r->first, r->last, sizeof(r->last)))
        v->processors_last = mask_of(g, host, r->last)->list;
}

static void fill_affinities(struct gather *g)
{
    const struct fv_model *m = g->build->model;

    for (uint32_t i = 0; i < m->rank_count; i++)
        if (is_known(m->ranks[i].cpu_mask))
            mask_of(g, host_of(g, i), m->ranks[i].cpu_mask)->ranks++;
    for (size_t i = 0; i < g->record_count; i++)
        mask_of(g, host_of(g, g->out->affinities[i].rank), g->records[i].first);
    compare_masks(g);
    for (size_t i = 0; i < g->record_count; i++)
        fill_affinity(g, &g->out->affinities[i], &g->records[i]);
}

static int by_name(const void *a, const void *b)
{
    const struct fv_variable *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : strcmp(x->value, y->value);
}

static void name_variables(struct gather *g)
{
    struct fv_facts *out = g->out;

    for (size_t i = 0; i < out->variable_count; i++) {
        struct fv_variable *v = &out->variables[i];
        size_t length = strcspn(v->text, "=");

        v->name = fv_arena_bytes(&g->build->model->arena, v->text, length);
        v->value = v->text + length + (v->text[length] == '=');
    }
    if (out->variable_count)
        qsort(out->variables, out->variable_count, sizeof(*out->variables), by_name);
}

/* A run of which no rank came so far has hosts, too. */
static bool is_recorded(const struct gather *g)
{
    for (size_t i = 0; i < g->out->host_count; i++)
        if (g->out->hosts[i].told_by != FV_NONE)
            return true;
    return g->record_count > 0;
}

static void *begin_facts(struct fv_build *b)
{
    struct gather *g = fv_xcalloc(1, sizeof(*g));

    g->build = b;
    g->out = fv_model_facts(b->model);
    return g;
}

static void finish_facts(struct fv_build *b, void *state)
{
    struct gather *g = state;

    for (size_t i = 0; i < g->out->host_count; i++) {
        struct fv_facts_host *host = &g->out->hosts[i];
        struct fv_cpus online;

        if (host->value[FV_FACT_PROCESSORS] && fv_cpus_from_list(host->value[FV_FACT_PROCESSORS], &online))
            host->processors = (uint32_t)fv_cpus_count(&online);
    }
    fill_affinities(g);
    name_variables(g);
    if (!is_recorded(g))
        fv_facts_release(g->out);
    if (g->left_out)
        fv_problem_add(
            &b->model->problems, FV_PROBLEM_NOTE, NULL,
            "ranks had more variables of MPI and OpenMP in their environment than are recorded: %llu are not listed",
            (unsigned long long)g->left_out);
    fv_index_release(&g->hosts);
    fv_index_release(&g->variables);
    fv_index_release(&g->masks);
    free(g->mask);
    free(g->nodes);
    free(g->records);
    free(g);
}

const struct fv_track fv_track_facts = {
    .name = "facts",
    .visit = FV_VISIT_REST,
    .begin = begin_facts,
    .read = read_facts,
    .finish = finish_facts,
};

void fv_facts_release(void *data)
{
    struct fv_facts *f = data;

    for (size_t i = 0; i < f->host_count; i++)
        free(f->hosts[i].ranks.runs);
    for (size_t i = 0; i < f->variable_count; i++)
        free(f->variables[i].ranks.runs);
    free(f->hosts);
    free(f->variables);
    free(f->affinities);
    *f = (struct fv_facts){ 0 };
}

/* ---- words ---- */

static const char *hypervisor_word(const char *name)
{
    static const char *const names[][2] = { { "KVMKVMKVM", "KVM" },        { "VMwareVMware", "VMware" },
                                            { "Microsoft Hv", "Hyper-V" }, { "XenVMMXenVMM", "Xen" },
                                            { "TCGTCGTCGTCG", "QEMU" },    { "bhyve bhyve ", "bhyve" },
                                            { "", "a hypervisor" } };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(name, names[i][0]))
            return names[i][1];
    return name;
}

char *fv_facts_words(const struct fv_facts_host *host, char *out, size_t bytes)
{
    const char *const *value = host->value;

    out[0] = '\0';
    if (value[FV_FACT_SOCKETS] && value[FV_FACT_PROCESSOR])
        fv_words_add(out, bytes, "%s x ", value[FV_FACT_SOCKETS]);
    if (value[FV_FACT_PROCESSOR])
        fv_words_add(out, bytes, "%s, ", value[FV_FACT_PROCESSOR]);
    if (host->processors)
        fv_words_add(out, bytes, "%u processor%s, ", host->processors, fv_words_s(host->processors));
    if (value[FV_FACT_SMT])
        fv_words_add(out, bytes, "SMT %s, ", *value[FV_FACT_SMT] == '1' ? "on" : "off");
    if (value[FV_FACT_GOVERNOR])
        fv_words_add(out, bytes, "governor %s, ", value[FV_FACT_GOVERNOR]);
    if (value[FV_FACT_KERNEL])
        fv_words_add(out, bytes, "Linux %s, ", value[FV_FACT_KERNEL]);
    if (value[FV_FACT_HYPERVISOR])
        fv_words_add(out, bytes, "virtual (%s), ", hypervisor_word(value[FV_FACT_HYPERVISOR]));
    if (*out)
        out[strlen(out) - 2] = '\0';
    return out;
}
