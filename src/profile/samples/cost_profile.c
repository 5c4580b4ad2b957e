/* SPDX-License-Identifier: BSD-3-Clause */
/* See cost_profile.h. Two passes: over the distinct call paths, of which each becomes a list of the
 * procedures, lines, loops and the branch it counts for; and over the samples of each thread, which are added
 * to these. So symbols and recursion are looked at once for a path, however many threads were there. */
#include "profile/samples/cost_profile.h"
#include "profile/samples/cost_profile_parts.h"
#include "profile/samples/costs.h"
#include "profile/sections/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a distinct call path counts for: lists in `ids`, of which the first is also its self (FV_NONE: none).
 */
struct target {
    size_t procedures, lines, loops; /* where they begin */
    size_t end;
    uint32_t branch, self_loop;
    uint32_t own;    /* the procedure of the program that is innermost; FV_NONE */
    uint32_t region; /* by fv_path_own(); FV_NONE */
    bool sync, used, fvmpi;
};
struct maker {
    struct fv_cost_profile *out;
    const struct fv_model *model;
    const struct fv_symbols *symbols;
    uint32_t rank;
    struct target *targets; /* by node */
    uint32_t *ids;
    size_t id_count, id_room;
    uint32_t *procedure_of, *line_of; /* by frame, as far as asked */
    struct fv_index procedures, lines, branches;
    uint32_t *loop_at; /* by node: the innermost loop; FV_NONE */
    uint8_t *code;     /* by module: enum fv_code */
};

double fv_cost_error(uint64_t ticks)
{
    return 2 * sqrt((double)ticks);
}

/* ---- procedures, lines, branches ---- */

static const char *label(struct maker *k, const struct fv_frame *f)
{
    char buffer[300];

    if (f->function)
        return f->function;
    if (f->module >= FV_MODEL_FIRST_MODULE && fv_module_is_fvmpi(&k->model->tree.modules[f->module]))
        return "[fvmpi]";
    return fv_arena_string(&k->out->arena, fv_frame_function_label(f, k->symbols, buffer, sizeof(buffer)));
}

static uint32_t find_procedure(struct maker *k, const struct fv_frame *f)
{
    struct fv_cost_profile *c = k->out;
    bool module_alone = !f->function && f->module < FV_MODEL_FIRST_MODULE;
    uint32_t module = module_alone && f->module != FV_MODEL_CUT && f->module != FV_MODEL_LOST ? 0 : f->module;
    uint64_t hash = fv_mix2(module, f->function ? fv_hash_bytes(f->function, strlen(f->function)) : f->begin);
    struct fv_index_probe p = fv_index_probe(&k->procedures, hash);
    const char *name;

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (c->procedures[i].module == module &&
            (f->function ? !strcmp(c->procedures[i].name, f->function)
                         : c->procedures[i].nameless && c->procedures[i].begin == f->begin)) {
            c->procedures[i].inlined &= f->inlined;
            return i;
        }
    name = label(k, f);
    FV_GROW(c->procedures, c->procedure_room, c->procedure_count + 1);
    c->procedures[c->procedure_count] =
        (struct fv_cost_procedure){ .name = name,
                                    .begin = f->function ? 0 : f->begin,
                                    .nameless = !f->function,
                                    .file = f->file,
                                    .module = module,
                                    .of_program = k->code[f->module] == FV_CODE_OF_PROGRAM,
                                    .inlined = f->inlined };
    fv_index_add(&k->procedures, hash, (uint32_t)c->procedure_count);
    return (uint32_t)c->procedure_count++;
}

static uint32_t find_line(struct maker *k, const struct fv_frame *f, uint32_t procedure)
{
    struct fv_cost_profile *c = k->out;
    uint64_t hash = fv_mix2(fv_hash_bytes(f->file, strlen(f->file)), f->line);
    struct fv_index_probe p = fv_index_probe(&k->lines, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (c->lines[i].line == f->line && !strcmp(c->lines[i].file, f->file))
            return i;
    FV_GROW(c->lines, c->line_room, c->line_count + 1);
    c->lines[c->line_count] = (struct fv_cost_line){ .file = f->file, .line = f->line, .procedure = procedure };
    fv_index_add(&k->lines, hash, (uint32_t)c->line_count);
    return (uint32_t)c->line_count++;
}

static uint32_t find_branch(struct maker *k, uint32_t parent, uint32_t procedure)
{
    struct fv_cost_profile *c = k->out;

    return FV_INTERN(k->branches, c->branches, c->branch_count, c->branch_room, (uint32_t[]){ parent, procedure });
}

/* A frame's procedure and line; main of a stripped program is named by the path alone. */
static uint32_t procedure_of(struct maker *k, const struct fv_frame *f)
{
    uint32_t *known = &k->procedure_of[f->alike];

    if (!fv_same_text(f->function, k->symbols->frames[f->alike].function))
        return find_procedure(k, f);
    if (*known == FV_NONE)
        *known = find_procedure(k, f);
    return *known;
}

static uint32_t line_of(struct maker *k, const struct fv_frame *f, uint32_t procedure)
{
    uint32_t *known = &k->line_of[f->alike];

    if (!f->file || !f->line)
        return FV_NONE;
    if (*known == FV_NONE)
        *known = find_line(k, f, procedure);
    return *known;
}

/* ---- what a path counts for ---- */

static void add_id(struct maker *k, uint32_t id, size_t first)
{
    for (size_t i = first; i < k->id_count; i++)
        if (k->ids[i] == id)
            return;
    FV_GROW(k->ids, k->id_room, k->id_count + 1);
    k->ids[k->id_count++] = id;
}

static void add_loops(struct maker *k, struct target *t, uint32_t node)
{
    t->loops = k->id_count;
    t->self_loop = t->fvmpi ? FV_NONE : k->loop_at[node];
    for (; node; node = k->model->tree.nodes[node].parent) {
        if (fv_module_is_fvmpi(&k->model->tree.modules[k->model->tree.nodes[node].module]))
            continue;
        for (uint32_t loop = k->loop_at[node]; loop != FV_NONE; loop = k->out->loops[loop].parent)
            add_id(k, loop, t->loops);
    }
}

static void add_target(struct maker *k, uint32_t node, struct fv_path *path)
{
    struct target *t = &k->targets[node];
    uint32_t *procedures;

    fv_path_of(path, k->symbols, node);
    fv_cost_fold_fvmpi(path, k->model);
    procedures = fv_xcalloc(path->count + 1, sizeof(*procedures));
    *t = (struct target){ .procedures = k->id_count,
                          .used = true,
                          .own = FV_NONE,
                          .region = FV_NONE,
                          .sync = fv_cost_in_sync(path, k->model),
                          .fvmpi = path->count && fv_module_is_fvmpi(&k->model->tree.modules[path->frames[0].module]) };
    for (size_t i = 0; i < path->count; i++) {
        procedures[i] = procedure_of(k, &path->frames[i]);
        add_id(k, procedures[i], t->procedures);
        if (t->own == FV_NONE && k->code[path->frames[i].module] == FV_CODE_OF_PROGRAM)
            t->own = procedures[i];
    }
    size_t region = fv_path_own(path, k->code);
    if (region < path->count)
        t->region = procedures[region];
    t->lines = k->id_count;
    for (size_t i = 0; i < path->count; i++) {
        uint32_t line = line_of(k, &path->frames[i], procedures[i]);

        if (line != FV_NONE || !i)
            add_id(k, line, t->lines);
    }
    add_loops(k, t, node);
    t->end = k->id_count;
    for (size_t i = path->count; i-- > 0;)
        t->branch = find_branch(k, t->branch, procedures[i]);
    free(procedures);
}

/* ---- sums ---- */

static void add_sum(struct fv_cost_sum *to, const struct fv_cost_sum *from)
{
    to->ticks += from->ticks;
    to->in_mpi += from->in_mpi;
    to->in_sync += from->in_sync;
}

static void add_both(struct fv_cost_both *to, const struct fv_cost_sum *from, bool self)
{
    add_sum(&to->total, from);
    if (self)
        add_sum(&to->self, from);
}

static void add_to_target(struct maker *k, const struct target *t, const struct fv_cost_sum *sum)
{
    struct fv_cost_profile *c = k->out;

    add_sum(&c->all, sum);
    c->fvmpi_ticks += t->fvmpi ? sum->ticks : 0;
    for (size_t i = t->procedures; i < t->lines; i++)
        add_both(&c->procedures[k->ids[i]].sum, sum, i == t->procedures);
    for (size_t i = t->lines; i < t->loops; i++)
        if (k->ids[i] != FV_NONE)
            add_both(&c->lines[k->ids[i]].sum, sum, i == t->lines);
    for (size_t i = t->loops; i < t->end; i++)
        add_both(&c->loops[k->ids[i]].sum, sum, k->ids[i] == t->self_loop);
    add_both(&c->branches[t->branch].sum, sum, true);
    if (t->own != FV_NONE)
        add_sum(&c->procedures[t->own].own, sum);
}

/* The procedures of one thread, or section; or the lines, or loops, of a rank, while leaves are added up. */
struct parts {
    struct fv_cost_part *dense; /* by procedure, line, loop */
    uint32_t *touched;
    size_t count;
};

static struct parts parts_new(size_t items)
{
    return (struct parts){ .dense = fv_xcalloc(items + 1, sizeof(struct fv_cost_part)),
                           .touched = fv_xcalloc(items + 1, sizeof(uint32_t)) };
}

static void parts_free(struct parts *p)
{
    free(p->dense);
    free(p->touched);
}

static void add_to_part(struct parts *parts, uint32_t item, const struct fv_cost_sum *sum, bool self)
{
    if (item == FV_NONE)
        return;
    if (!parts->dense[item].sum.total.ticks)
        parts->touched[parts->count++] = item;
    add_both(&parts->dense[item].sum, sum, self);
}

static struct fv_cost_sum leaf_sum(const struct maker *k, const struct fv_cost_leaf *l)
{
    return (struct fv_cost_sum){ l->ticks, l->in_mpi, k->targets[l->node].sync ? l->ticks - l->in_mpi : 0 };
}

static void add_leaf(const struct maker *k, struct parts *parts, const struct fv_cost_leaf *l)
{
    const struct target *t = &k->targets[l->node];
    const struct fv_cost_sum sum = leaf_sum(k, l);

    for (size_t p = t->procedures; p < t->lines; p++)
        add_to_part(parts, k->ids[p], &sum, p == t->procedures);
    if (t->own != FV_NONE)
        add_sum(&parts->dense[t->own].own, &sum);
}

/* `parts` is empty again. */
static void take_parts(struct parts *parts, uint32_t owner, struct fv_cost_part **items, size_t *item_count,
                       size_t *room)
{
    *items = fv_grow(*items, room, *item_count + parts->count, sizeof(**items));
    for (size_t i = 0; i < parts->count; i++) {
        struct fv_cost_part *part = &parts->dense[parts->touched[i]];

        part->procedure = parts->touched[i];
        part->owner = owner;
        (*items)[(*item_count)++] = *part;
        *part = (struct fv_cost_part){ 0 };
    }
    parts->count = 0;
}

static bool is_wanted(const struct maker *k, const struct fv_cost_leaf *l)
{
    return k->rank == FV_COST_ALL_RANKS || fv_model_costs(k->model)->threads[l->thread].rank == k->rank;
}

static void add_threads(struct maker *k)
{
    const struct fv_costs *costs = fv_model_costs(k->model);
    struct fv_cost_profile *c = k->out;
    struct parts parts = parts_new(c->procedure_count);

    for (size_t i = 0; i < costs->leaf_count; i++) {
        const struct fv_cost_leaf *l = &costs->leaves[i];

        if (!is_wanted(k, l))
            continue;
        add_leaf(k, &parts, l);
        FV_GROW(c->stacks, c->stack_room, c->stack_count + 1);
        c->stacks[c->stack_count++] = (struct fv_cost_stack){ l->thread, k->targets[l->node].branch, l->ticks };
        if (i + 1 == costs->leaf_count || l[1].thread != l->thread)
            take_parts(&parts, l->thread, &c->parts, &c->part_count, &c->part_room);
    }
    parts_free(&parts);
}

/* Lines and loops of each rank, whose leaves stand together. */
static void add_ranks(struct maker *k)
{
    const struct fv_costs *costs = fv_model_costs(k->model);
    struct fv_cost_profile *c = k->out;
    struct parts lines = parts_new(c->line_count), loops = parts_new(c->loop_count);

    for (size_t i = 0; i < costs->leaf_count; i++) {
        const struct fv_cost_leaf *l = &costs->leaves[i];
        const struct target *t = &k->targets[l->node];
        const struct fv_cost_sum sum = leaf_sum(k, l);
        uint32_t rank = costs->threads[l->thread].rank;

        if (!is_wanted(k, l))
            continue;
        for (size_t n = t->lines; n < t->loops; n++)
            add_to_part(&lines, k->ids[n], &sum, n == t->lines);
        for (size_t n = t->loops; n < t->end; n++)
            add_to_part(&loops, k->ids[n], &sum, k->ids[n] == t->self_loop);
        if (i + 1 == costs->leaf_count || costs->threads[l[1].thread].rank != rank) {
            take_parts(&lines, rank, &c->line_parts, &c->line_part_count, &c->line_part_room);
            take_parts(&loops, rank, &c->loop_parts, &c->loop_part_count, &c->loop_part_room);
        }
    }
    parts_free(&lines);
    parts_free(&loops);
}

static void add_sections(struct maker *k)
{
    const struct fv_sections_view *s = fv_model_sections(k->model);
    struct fv_cost_profile *c = k->out;
    struct parts parts = parts_new(c->procedure_count);

    for (uint32_t i = 0; i < s->count; i++) {
        for (size_t n = 0; n < s->items[i].cost_count; n++)
            add_leaf(k, &parts, &s->items[i].costs[n]);
        take_parts(&parts, i, &c->section_parts, &c->section_part_count, &c->section_part_room);
    }
    parts_free(&parts);
}

/* Behind which call, and in what that is put down to; where that is nothing, in what it was. */
static void add_regions(struct maker *k)
{
    const struct fv_costs *costs = fv_model_costs(k->model);
    struct fv_cost_profile *c = k->out;

    for (size_t i = 0; i < costs->leaf_count; i++) {
        const struct fv_cost_leaf *l = &costs->leaves[i];
        const struct target *t = &k->targets[l->node];
        const struct fv_cost_thread *thread = &costs->threads[l->thread];

        if (l->from == FV_NONE || l->ticks <= l->in_mpi || t->procedures == t->lines)
            continue;
        FV_GROW(c->region_parts, c->region_part_room, c->region_part_count + 1);
        c->region_parts[c->region_part_count++] = (struct fv_cost_region_part){
            .from = l->from,
            .site = FV_NONE,
            .procedure = t->region != FV_NONE ? t->region : k->ids[t->procedures],
            .rank = thread->rank,
            .ticks = l->ticks - l->in_mpi,
            .seconds = (double)(l->ticks - l->in_mpi) * thread->tick_s,
        };
    }
}

static void add_paths(struct maker *k)
{
    const struct fv_model *m = k->model;
    struct fv_cost_sum *sums = fv_xcalloc(m->tree.node_count, sizeof(*sums));
    struct fv_path path = { 0 };
    double seconds = 0;

    for (size_t i = 0; i < fv_model_costs(m)->leaf_count; i++)
        if (is_wanted(k, &fv_model_costs(m)->leaves[i])) {
            const struct fv_cost_leaf *l = &fv_model_costs(m)->leaves[i];

            sums[l->node].ticks += l->ticks;
            sums[l->node].in_mpi += l->in_mpi;
            seconds += (double)l->ticks * fv_model_costs(m)->threads[l->thread].tick_s;
        }
    k->loop_at = fv_cost_loops(k->out, m, k->symbols, sums);
    FV_GROW(k->out->branches, k->out->branch_room, 1);
    k->out->branches[0] = (struct fv_cost_branch){ FV_NONE, FV_NONE, { { 0 }, { 0 } } };
    k->out->branch_count = 1;
    for (uint32_t i = 0; i < m->tree.node_count; i++) {
        if (!sums[i].ticks)
            continue;
        add_target(k, i, &path);
        sums[i].in_sync = k->targets[i].sync ? sums[i].ticks - sums[i].in_mpi : 0;
        add_to_target(k, &k->targets[i], &sums[i]);
    }
    k->out->tick_s = k->out->all.ticks ? seconds / (double)k->out->all.ticks : 0;
    for (size_t i = k->out->branch_count; i-- > 1;)
        add_sum(&k->out->branches[k->out->branches[i].parent].sum.total, &k->out->branches[i].sum.total);
    fv_path_release(&path);
    free(sums);
}

/* Of functions that have the same name the first that was found: the one with most samples. */
static void add_extents(struct maker *k)
{
    struct fv_cost_profile *c = k->out;

    for (size_t i = 0; i < c->extent_count; i++) {
        const struct fv_cost_extent *e = &c->extents[i];
        uint64_t hash = fv_mix2(e->module, fv_hash_bytes(e->function, strlen(e->function)));
        struct fv_index_probe p = fv_index_probe(&k->procedures, hash);

        for (uint32_t n; (n = fv_index_next(&p)) != FV_NONE;) {
            struct fv_cost_procedure *one = &c->procedures[n];

            if (one->module == e->module && one->file && !one->nameless && !one->inlined && !one->first_line &&
                !strcmp(one->name, e->function)) {
                one->first_line = e->first_line;
                one->last_line = e->last_line;
            }
        }
    }
}

uint8_t *fv_cost_code(const struct fv_model *m)
{
    uint8_t *code = fv_xcalloc(m->tree.module_count + 1, sizeof(*code));

    for (size_t i = FV_MODEL_FIRST_MODULE; i < m->tree.module_count; i++)
        code[i] = (uint8_t)fv_code_of(&m->tree.modules[i], fv_model_is_of_program(m, (uint32_t)i) ||
                                                               fv_module_is_code_of_program(&m->tree.modules[i]));
    for (size_t i = 0; i < m->site_count; i++)
        fv_code_calls_mpi(code, m->tree.modules, m->tree.nodes[m->sites[i].node].module);
    return code;
}

void fv_cost_profile_init(struct fv_cost_profile *out, const struct fv_model *m, const struct fv_symbols *symbols,
                          uint32_t rank)
{
    struct maker k = { .out = out, .model = m, .symbols = symbols, .rank = rank };

    *out = (struct fv_cost_profile){ 0 };
    k.code = fv_cost_code(m);
    k.targets = fv_xcalloc(m->tree.node_count, sizeof(*k.targets));
    k.procedure_of = fv_xcalloc(symbols->frame_count + 1, sizeof(*k.procedure_of));
    k.line_of = fv_xcalloc(symbols->frame_count + 1, sizeof(*k.line_of));
    memset(k.procedure_of, 0xff, symbols->frame_count * sizeof(*k.procedure_of));
    memset(k.line_of, 0xff, symbols->frame_count * sizeof(*k.line_of));
    add_paths(&k);
    add_extents(&k);
    add_threads(&k);
    add_ranks(&k);
    if (rank == FV_COST_ALL_RANKS) {
        add_sections(&k);
        add_regions(&k);
    }
    fv_cost_profile_order(out, m, rank);
    if (rank == FV_COST_ALL_RANKS)
        fv_cost_regions(out, m);
    fv_index_release(&k.procedures);
    fv_index_release(&k.lines);
    fv_index_release(&k.branches);
    free(k.targets);
    free(k.ids);
    free(k.procedure_of);
    free(k.line_of);
    free(k.loop_at);
    free(k.code);
}

void fv_cost_profile_release(struct fv_cost_profile *c)
{
    fv_index_release(&c->names);
    free(c->section_parts);
    free(c->region_parts);
    free(c->region_procedures);
    free(c->regions);
    free(c->procedures);
    free(c->parts);
    free(c->line_parts);
    free(c->loop_parts);
    free(c->lines);
    free(c->branches);
    free(c->loops);
    free(c->extents);
    free(c->stacks);
    fv_arena_release(&c->arena);
    *c = (struct fv_cost_profile){ 0 };
}
