/* SPDX-License-Identifier: BSD-3-Clause */
/* See diff_facts.h. */
#include "diff/diff_facts.h"
#include "profile/machine/facts.h"
#include "tool/words.h"

#include <stdio.h>
#include <stdlib.h>

const char *const fv_diff_fact_kinds[] = { "machine", "placement", "environment", NULL };

/* Not what is another one in each run: the frequency at a moment, names, addresses. */
static const struct {
    const char *name;
    enum fv_fact_key key;
} machine_facts[] = {
    { "processor", FV_FACT_PROCESSOR },
    { "sockets", FV_FACT_SOCKETS },
    { "processors", FV_FACT_PROCESSORS },
    { "SMT", FV_FACT_SMT },
    { "NUMA nodes", FV_FACT_NODE_PROCESSORS },
    { "caches", FV_FACT_CACHE },
    { "least MHz", FV_FACT_MHZ_MIN },
    { "most MHz", FV_FACT_MHZ_MAX },
    { "governor", FV_FACT_GOVERNOR },
    { "frequency driver", FV_FACT_FREQUENCY_DRIVER },
    { "turbo", FV_FACT_TURBO },
    { "memory", FV_FACT_MEMORY },
    { "huge pages", FV_FACT_HUGEPAGES },
    { "NUMA balancing", FV_FACT_NUMA_BALANCING },
    { "isolated", FV_FACT_ISOLATED },
    { "tickless", FV_FACT_TICKLESS },
    { "ASLR", FV_FACT_RANDOMIZED },
    { "kernel", FV_FACT_KERNEL },
    { "clock", FV_FACT_CLOCK_SOURCE },
    { "hypervisor", FV_FACT_HYPERVISOR },
};

/* ---- a run ---- */

static int by_name(const void *a, const void *b)
{
    const struct fv_diff_fact_value *x = a, *y = b;
    int order = x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind) : strcmp(x->name, y->name);

    if (order || !x->value || !y->value)
        return order ? order : (x->value != NULL) - (y->value != NULL);
    return strcmp(x->value, y->value);
}

static void add(struct fv_diff_facts *f, struct fv_arena *arena, unsigned kind, const char *name, const char *value)
{
    FV_GROW(f->seen, f->room, f->count + 1);
    f->seen[f->count++] =
        (struct fv_diff_fact_value){ kind, fv_arena_string(arena, name), value ? fv_arena_string(arena, value) : NULL };
}

/* "L1 Data 32K 0; ..." without the processors that share each: a rank tells of the one that it is on. */
static void cache_sizes(const char *value, char *out, size_t bytes)
{
    size_t used = 0;

    for (size_t length; *value; value += length + (value[length] == ';')) {
        length = strcspn(value, ";");
        size_t kept = length;

        while (kept && value[kept - 1] != ' ')
            kept--;
        used +=
            (size_t)snprintf(out + used, bytes - used, "%s%.*s", used ? ";" : "", (int)(kept ? kept - 1 : 0), value);
        if (used >= bytes)
            return;
    }
}

/* Memory in words: a kernel keeps some MiB more or less for itself. */
static void add_machine(struct fv_diff_facts *f, struct fv_arena *arena, const struct fv_facts_host *host)
{
    char bytes[FV_WORD], caches[400] = "";

    if (host->told_by == FV_NONE)
        return;
    for (size_t i = 0; i < sizeof(machine_facts) / sizeof(*machine_facts); i++) {
        const char *value = host->value[machine_facts[i].key];

        if (value && machine_facts[i].key == FV_FACT_MEMORY)
            value = fv_words_bytes(strtoull(value, NULL, 10), bytes);
        if (value && machine_facts[i].key == FV_FACT_CACHE) {
            cache_sizes(value, caches, sizeof(caches));
            value = caches;
        }
        add(f, arena, FV_DIFF_MACHINE, machine_facts[i].name, value);
    }
}

/* Ranks that have other values of a variable, or none, are that many more values. */
static void add_variables(struct fv_diff_facts *f, struct fv_arena *arena, const struct fv_model *m)
{
    const struct fv_facts *facts = fv_model_facts(m);

    for (size_t i = 0, end; i < facts->variable_count; i = end) {
        size_t ranks = 0;

        for (end = i; end < facts->variable_count && !strcmp(facts->variables[end].name, facts->variables[i].name);
             end++) {
            ranks += facts->variables[end].ranks.count;
            add(f, arena, FV_DIFF_ENVIRONMENT, facts->variables[i].name, facts->variables[end].value);
        }
        if (ranks < m->rank_count)
            add(f, arena, FV_DIFF_ENVIRONMENT, facts->variables[i].name, NULL);
    }
}

static void add_placement(struct fv_diff_facts *f, struct fv_arena *arena, const struct fv_model *m)
{
    char text[24];

    for (size_t i = 0; i < fv_model_facts(m)->host_count; i++) {
        snprintf(text, sizeof(text), "%u", fv_model_facts(m)->hosts[i].ranks.count);
        add(f, arena, FV_DIFF_PLACEMENT, "ranks of a node", text);
    }
    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].cpus) {
            snprintf(text, sizeof(text), "%u", m->ranks[i].cpus);
            add(f, arena, FV_DIFF_PLACEMENT, "processors of a rank", text);
        }
}

void fv_diff_facts_take(struct fv_diff_facts *f, struct fv_arena *arena, const struct fv_model *m)
{
    f->unknown += !fv_model_facts(m)->host_count;
    for (size_t i = 0; i < fv_model_facts(m)->host_count; i++)
        add_machine(f, arena, &fv_model_facts(m)->hosts[i]);
    add_placement(f, arena, m);
    add_variables(f, arena, m);
    f->count = fv_fold(f->seen, f->count, sizeof(*f->seen), by_name, NULL);
}

/* ---- both sides ---- */

/* The values of a name, which stand together from *at on, "2 | 4"; NULL: there is none. */
static const char *join(const struct fv_diff_facts *f, size_t *at, const struct fv_diff_fact_value *name,
                        struct fv_arena *arena)
{
    struct fv_string text = { 0 };
    const char *out = NULL;
    bool any = false;

    for (; *at < f->count && f->seen[*at].kind == name->kind && !strcmp(f->seen[*at].name, name->name); (*at)++) {
        const char *value = f->seen[*at].value;

        fv_string_add(&text, "%s%s", any ? " | " : "", value ? value : "not set");
        any = true;
        out = value ? value : out;
    }
    out = out ? fv_arena_string(arena, text.text) : NULL;
    fv_string_release(&text);
    return out;
}

static int by_key(const struct fv_diff_fact_value *a, const struct fv_diff_fact_value *b)
{
    return by_name(&(struct fv_diff_fact_value){ a->kind, a->name, NULL },
                   &(struct fv_diff_fact_value){ b->kind, b->name, NULL });
}

struct fv_diff_fact *fv_diff_facts_compare(struct fv_diff_facts sides[2], struct fv_arena *arena, size_t *count)
{
    struct fv_diff_facts *a = &sides[0], *b = &sides[1];
    struct fv_diff_fact *out = fv_xcalloc(a->count + b->count + 1, sizeof(*out));

    *count = 0;
    for (size_t i = 0, k = 0; !a->unknown && !b->unknown && (i < a->count || k < b->count);) {
        bool is_of_a = k == b->count || (i < a->count && by_key(&a->seen[i], &b->seen[k]) <= 0);
        const struct fv_diff_fact_value name = is_of_a ? a->seen[i] : b->seen[k];
        const char *of_a = join(a, &i, &name, arena), *of_b = join(b, &k, &name, arena);

        if (!fv_same_text(of_a, of_b))
            out[(*count)++] = (struct fv_diff_fact){ name.kind, name.name, { of_a, of_b } };
    }
    return out;
}
