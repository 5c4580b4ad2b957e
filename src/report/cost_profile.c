/* See cost_profile.h. Two passes: over the distinct call paths, of which each becomes a list of the
 * procedures, lines, loops and the branch it counts for; and over the samples of each thread, which are added
 * to these. So symbols and recursion are looked at once for a path, however many threads were there. */
#include "report/cost_profile.h"
#include "report/loops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a distinct call path counts for: lists in `ids`, of which the first is also its self (FV_NONE: none).
 */
struct target {
    size_t procedures, lines, loops; /* where they begin */
    size_t end;
    uint32_t branch, self_loop;
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
};

double fv_cost_error(uint64_t ticks)
{
    return 2 * sqrt((double)ticks);
}

/* ---- synchronisation of threads ---- */

/* Names as they begin. Functions of a run-time library that also run the program's code (GOMP_parallel,
 * tasks) are not here: where they wait, the sample is in the library itself. Documented in fvmpi-report(1).
 */
static const char *const sync_names[] = {
    "pthread_barrier_wait",
    "__pthread_barrier_wait",
    "pthread_mutex_lock",
    "__pthread_mutex_lock",
    "___pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "__pthread_rwlock_",
    "pthread_spin_lock",
    "__pthread_spin_lock",
    "pthread_cond_wait",
    "__pthread_cond_wait",
    "___pthread_cond_wait",
    "pthread_cond_timedwait",
    "___pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "pthread_join",
    "__pthread_join",
    "__pthread_clockjoin",
    "sem_wait",
    "sem_timedwait",
    "__new_sem_wait",
    "__lll_lock_wait",
    "__GI___lll_lock_wait",
    "__futex_",
    "__GI___futex_",
    "futex_wait",
    "mtx_lock",
    "cnd_wait",
    "thrd_join",
    "GOMP_barrier",
    "GOMP_critical_",
    "GOMP_atomic_start",
    "GOMP_loop_end",
    "gomp_team_barrier",
    "gomp_barrier",
    "gomp_mutex_lock",
    "gomp_simple_barrier",
    "gomp_team_end",
    "omp_set_lock",
    "omp_set_nest_lock",
    "__kmpc_barrier",
    "__kmpc_critical",
    "__kmp_barrier",
    "__kmp_fork_barrier",
    "__kmp_join_barrier",
    "__kmp_hyper_barrier",
    "__kmp_wait_",
    "__kmp_flag_",
    "__kmp_acquire_",
    "std::barrier",
    "std::mutex::lock",
};

static bool is_sync_name(const char *name)
{
    for (size_t i = 0; name && i < sizeof(sync_names) / sizeof(*sync_names); i++)
        if (!strncmp(name, sync_names[i], strlen(sync_names[i])))
            return true;
    return false;
}

static bool is_module(const struct fv_module *m, const char *const *names)
{
    for (; *names; names++)
        if (!strncmp(m->name, *names, strlen(*names)))
            return true;
    return false;
}

/* The frames of run-time libraries at the inner end; behind the first frame of the program it is computing.
 */
static bool in_sync(const struct fv_path *p, const struct fv_model *m)
{
    static const char *const openmp[] = { "libgomp.so", "libomp.so", "libiomp5.so", NULL };
    static const char *const runtime[] = { "libgomp.so", "libomp.so",  "libiomp5.so", "libc.so",
                                           "libc-",      "libpthread", "libfvmpi",    NULL };

    if (p->count && is_module(&m->modules[p->frames[0].module], openmp))
        return true;
    for (size_t i = 0; i < p->count; i++) {
        if (is_sync_name(p->frames[i].function))
            return true;
        if (!is_module(&m->modules[p->frames[i].module], runtime))
            return false;
    }
    return false;
}

/* ---- procedures, lines, branches ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static const char *label(struct maker *k, const struct fv_frame *f)
{
    char buffer[64];

    if (f->function)
        return f->function;
    if (f->module == FV_MODEL_CUT)
        return "(callers not known)";
    if (f->module < FV_MODEL_FIRST_MODULE)
        return fv_arena_string(&k->out->arena, fv_frame_label(f, k->model, buffer, sizeof(buffer)));
    if (fv_module_is_fvmpi(&k->model->modules[f->module]))
        return "[fvmpi]";
    return fv_arena_printf(&k->out->arena, "[%s]", k->model->modules[f->module].name);
}

static uint32_t find_procedure(struct maker *k, const struct fv_frame *f)
{
    struct fv_cost_profile *c = k->out;
    bool module_alone = !f->function && f->module < FV_MODEL_FIRST_MODULE;
    uint32_t module = module_alone && f->module != FV_MODEL_CUT && f->module != FV_MODEL_LOST ? 0 : f->module;
    uint64_t hash = fv_mix2(module, f->function ? fv_hash_bytes(f->function, strlen(f->function)) : 0);
    struct fv_index_probe p = fv_index_probe(&k->procedures, hash);
    const char *name;

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (c->procedures[i].module == module &&
            (f->function ? !strcmp(c->procedures[i].name, f->function)
                         : c->procedures[i].name[0] == '[' || c->procedures[i].name[0] == '(')) {
            c->procedures[i].inlined &= f->inlined;
            return i;
        }
    name = f->module == FV_MODEL_NO_MODULE && !f->function ? "[unknown code]" : label(k, f);
    FV_GROW(c->procedures, c->procedure_room, c->procedure_count + 1);
    c->procedures[c->procedure_count] =
        (struct fv_cost_procedure){ .name = name, .file = f->file, .module = module, .inlined = f->inlined };
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
    c->lines[c->line_count] =
        (struct fv_cost_line){ .file = f->file, .line = f->line, .procedure = procedure };
    fv_index_add(&k->lines, hash, (uint32_t)c->line_count);
    return (uint32_t)c->line_count++;
}

static uint32_t find_branch(struct maker *k, uint32_t parent, uint32_t procedure)
{
    struct fv_cost_profile *c = k->out;
    uint64_t hash = fv_mix2(parent, procedure);
    struct fv_index_probe p = fv_index_probe(&k->branches, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (c->branches[i].parent == parent && c->branches[i].procedure == procedure)
            return i;
    FV_GROW(c->branches, c->branch_room, c->branch_count + 1);
    c->branches[c->branch_count] = (struct fv_cost_branch){ .parent = parent, .procedure = procedure };
    fv_index_add(&k->branches, hash, (uint32_t)c->branch_count);
    return (uint32_t)c->branch_count++;
}

/* A frame's procedure and line; main of a stripped program is named by the path alone. */
static uint32_t procedure_of(struct maker *k, const struct fv_frame *f)
{
    uint32_t *known = &k->procedure_of[f->alike];

    if (!same_text(f->function, k->symbols->frames[f->alike].function))
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

/* fvmpi's own frames are not the program's. Where it works itself they are one frame; of the functions that
 * it stands before (MPI_Send, pthread_mutex_lock) the call remains; where a thread begins in it nothing does.
 */
static void fold_fvmpi(struct fv_path *p, const struct fv_model *m)
{
    size_t kept = 0, end;

    for (size_t i = 0; i < p->count; i = end) {
        for (end = i; end < p->count && fv_module_is_fvmpi(&m->modules[p->frames[end].module]);)
            end++;
        if (end == i) {
            p->frames[kept++] = p->frames[end++];
            continue;
        }
        if (end == p->count && kept)
            break;
        p->frames[kept] = p->frames[end - 1];
        p->frames[kept].file = NULL;
        p->frames[kept].inlined = false;
        if (!i)
            p->frames[kept].function = NULL;
        kept++;
    }
    p->count = kept;
}

static void add_loops(struct maker *k, struct target *t, uint32_t node)
{
    t->loops = k->id_count;
    t->self_loop = t->fvmpi ? FV_NONE : k->loop_at[node];
    for (; node; node = k->model->nodes[node].parent) {
        if (fv_module_is_fvmpi(&k->model->modules[k->model->nodes[node].module]))
            continue;
        for (uint32_t loop = k->loop_at[node]; loop != FV_NONE; loop = k->out->loops[loop].parent)
            add_id(k, loop, t->loops);
    }
}

static void add_target(struct maker *k, uint32_t node, struct fv_path *path)
{
    struct target *t = &k->targets[node];
    uint32_t *procedures;

    fv_path_of(path, k->symbols, k->model, node);
    fold_fvmpi(path, k->model);
    procedures = fv_xcalloc(path->count + 1, sizeof(*procedures));
    *t = (struct target){ .procedures = k->id_count,
                          .used = true,
                          .sync = in_sync(path, k->model),
                          .fvmpi =
                              path->count && fv_module_is_fvmpi(&k->model->modules[path->frames[0].module]) };
    for (size_t i = 0; i < path->count; i++) {
        procedures[i] = procedure_of(k, &path->frames[i]);
        add_id(k, procedures[i], t->procedures);
    }
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
}

/* Of one thread, from its leaves. `dense` and `touched` are scratch, by procedure. */
static void add_thread(struct maker *k, size_t first, size_t end, struct fv_cost_part *dense,
                       uint32_t *touched)
{
    struct fv_cost_profile *c = k->out;
    size_t count = 0;

    for (size_t i = first; i < end; i++) {
        const struct fv_cost_leaf *l = &k->model->costs.leaves[i];
        const struct target *t = &k->targets[l->node];
        struct fv_cost_sum sum = { l->ticks, l->in_mpi, t->sync ? l->ticks - l->in_mpi : 0 };

        for (size_t p = t->procedures; p < t->lines; p++) {
            struct fv_cost_part *part = &dense[k->ids[p]];

            if (!part->sum.total.ticks)
                touched[count++] = k->ids[p];
            add_both(&part->sum, &sum, p == t->procedures);
        }
        FV_GROW(c->stacks, c->stack_room, c->stack_count + 1);
        c->stacks[c->stack_count++] = (struct fv_cost_stack){ l->thread, t->branch, l->ticks };
    }
    FV_GROW(c->parts, c->part_room, c->part_count + count);
    for (size_t i = 0; i < count; i++) {
        c->parts[c->part_count] = dense[touched[i]];
        c->parts[c->part_count].procedure = touched[i];
        c->parts[c->part_count++].thread = k->model->costs.leaves[first].thread;
        dense[touched[i]] = (struct fv_cost_part){ 0 };
    }
}

static bool is_wanted(const struct maker *k, const struct fv_cost_leaf *l)
{
    return k->rank == FV_COST_ALL_RANKS || k->model->costs.threads[l->thread].rank == k->rank;
}

static void add_threads(struct maker *k)
{
    const struct fv_costs *costs = &k->model->costs;
    struct fv_cost_part *dense = fv_xcalloc(k->out->procedure_count + 1, sizeof(*dense));
    uint32_t *touched = fv_xcalloc(k->out->procedure_count + 1, sizeof(*touched));
    size_t next;

    for (size_t i = 0; i < costs->leaf_count; i = next) {
        for (next = i; next < costs->leaf_count && costs->leaves[next].thread == costs->leaves[i].thread;)
            next++;
        if (is_wanted(k, &costs->leaves[i]))
            add_thread(k, i, next, dense, touched);
    }
    free(dense);
    free(touched);
}

static void add_paths(struct maker *k)
{
    const struct fv_model *m = k->model;
    struct fv_cost_sum *sums = fv_xcalloc(m->node_count, sizeof(*sums));
    struct fv_path path = { 0 };
    double seconds = 0;

    for (size_t i = 0; i < m->costs.leaf_count; i++)
        if (is_wanted(k, &m->costs.leaves[i])) {
            const struct fv_cost_leaf *l = &m->costs.leaves[i];

            sums[l->node].ticks += l->ticks;
            sums[l->node].in_mpi += l->in_mpi;
            seconds += (double)l->ticks * m->costs.threads[l->thread].tick_s;
        }
    k->loop_at = fv_loops_find(k->out, m, k->symbols, sums);
    FV_GROW(k->out->branches, k->out->branch_room, 1);
    k->out->branches[0] = (struct fv_cost_branch){ FV_NONE, FV_NONE, { { 0 }, { 0 } } };
    k->out->branch_count = 1;
    for (uint32_t i = 0; i < m->node_count; i++) {
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

/* ---- order ---- */

static int by_sums(const struct fv_cost_both *x, const struct fv_cost_both *y)
{
    if (x->self.ticks != y->self.ticks)
        return x->self.ticks > y->self.ticks ? -1 : 1;
    return x->total.ticks > y->total.ticks ? -1 : x->total.ticks < y->total.ticks;
}

static int by_self(const void *a, const void *b)
{
    const struct fv_cost_procedure *x = a, *y = b;
    int order = by_sums(&x->sum, &y->sum);

    return order ? order : (x->first_part > y->first_part) - (x->first_part < y->first_part);
}

static int line_by_self(const void *a, const void *b)
{
    const struct fv_cost_line *x = a, *y = b;
    int order = by_sums(&x->sum, &y->sum);

    if (!order)
        order = strcmp(x->file, y->file);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int part_by_procedure(const void *a, const void *b)
{
    const struct fv_cost_part *x = a, *y = b;

    if (x->procedure != y->procedure)
        return x->procedure < y->procedure ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static int stack_by_thread(const void *a, const void *b)
{
    const struct fv_cost_stack *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->branch > y->branch) - (x->branch < y->branch);
}

static void order_procedures(struct fv_cost_profile *c)
{
    uint32_t *renumbered = fv_xcalloc(c->procedure_count + 1, sizeof(*renumbered));

    for (size_t i = 0; i < c->procedure_count; i++)
        c->procedures[i].first_part = i; /* its old number */
    if (c->procedure_count)
        qsort(c->procedures, c->procedure_count, sizeof(*c->procedures), by_self);
    for (uint32_t i = 0; i < c->procedure_count; i++)
        renumbered[c->procedures[i].first_part] = i;
    for (size_t i = 0; i < c->line_count; i++)
        c->lines[i].procedure = renumbered[c->lines[i].procedure];
    for (size_t i = 1; i < c->branch_count; i++)
        c->branches[i].procedure = renumbered[c->branches[i].procedure];
    for (size_t i = 0; i < c->part_count; i++)
        c->parts[i].procedure = renumbered[c->parts[i].procedure];
    free(renumbered);
}

static int loop_by_total(const void *a, const void *b)
{
    const struct fv_cost_loop *x = a, *y = b;

    if (x->sum.total.ticks != y->sum.total.ticks)
        return x->sum.total.ticks > y->sum.total.ticks ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Those without samples are left out; a loop around another has at least its samples, and came before it. */
static void order_loops(struct fv_cost_profile *c)
{
    uint32_t *renumbered = fv_xcalloc(c->loop_count + 1, sizeof(*renumbered));
    size_t kept = 0;

    for (uint32_t i = 0; i < c->loop_count; i++)
        c->loops[i].number = i;
    if (c->loop_count)
        qsort(c->loops, c->loop_count, sizeof(*c->loops), loop_by_total);
    while (kept < c->loop_count && c->loops[kept].sum.total.ticks)
        kept++;
    for (uint32_t i = 0; i < kept; i++)
        renumbered[c->loops[i].number] = i;
    c->loop_count = kept;
    for (size_t i = 0; i < kept; i++)
        if (c->loops[i].parent != FV_NONE)
            c->loops[i].parent = renumbered[c->loops[i].parent];
    free(renumbered);
}

/* Equal stacks of different instructions are one. */
static void merge_stacks(struct fv_cost_profile *c)
{
    size_t kept = 0;

    if (c->stack_count)
        qsort(c->stacks, c->stack_count, sizeof(*c->stacks), stack_by_thread);
    for (size_t i = 0; i < c->stack_count; i++) {
        if (kept && !stack_by_thread(&c->stacks[kept - 1], &c->stacks[i]))
            c->stacks[kept - 1].ticks += c->stacks[i].ticks;
        else
            c->stacks[kept++] = c->stacks[i];
    }
    c->stack_count = kept;
}

/* A rank's share of a procedure; ranks that were never there have none. */
static void spread(struct fv_cost_profile *c, const struct fv_model *m, struct fv_cost_procedure *p)
{
    const struct fv_cost_thread *threads = m->costs.threads;
    uint32_t ranks = 0;
    size_t next, end = p->first_part + p->parts;

    p->rank_min_s = INFINITY;
    for (size_t i = p->first_part; i < end; i = next, ranks++) {
        uint32_t rank = threads[c->parts[i].thread].rank;
        double seconds = 0;

        for (next = i; next < end && threads[c->parts[next].thread].rank == rank; next++)
            seconds += (double)c->parts[next].sum.total.ticks * threads[c->parts[next].thread].tick_s;
        p->rank_min_s = fmin(p->rank_min_s, seconds);
        if (!ranks || seconds > p->rank_max_s) {
            p->rank_max_s = seconds;
            p->rank_max = rank;
        }
    }
    if (ranks < c->rank_count)
        p->rank_min_s = 0;
}

static void order(struct maker *k)
{
    struct fv_cost_profile *c = k->out;
    const struct fv_costs *costs = &k->model->costs;
    uint32_t last = FV_NONE;

    order_procedures(c);
    order_loops(c);
    merge_stacks(c);
    if (c->line_count)
        qsort(c->lines, c->line_count, sizeof(*c->lines), line_by_self);
    if (c->part_count)
        qsort(c->parts, c->part_count, sizeof(*c->parts), part_by_procedure);
    for (size_t i = c->part_count; i-- > 0;) {
        c->procedures[c->parts[i].procedure].first_part = i;
        c->procedures[c->parts[i].procedure].parts++;
    }
    for (size_t i = 0; i < costs->thread_count; i++)
        if (costs->threads[i].ticks && (k->rank == FV_COST_ALL_RANKS || costs->threads[i].rank == k->rank)) {
            c->rank_count += costs->threads[i].rank != last;
            last = costs->threads[i].rank;
        }
    for (size_t i = 0; i < c->procedure_count; i++)
        spread(c, k->model, &c->procedures[i]);
}

void fv_cost_profile_init(struct fv_cost_profile *out, const struct fv_model *m,
                          const struct fv_symbols *symbols, uint32_t rank)
{
    struct maker k = { .out = out, .model = m, .symbols = symbols, .rank = rank };

    *out = (struct fv_cost_profile){ 0 };
    k.targets = fv_xcalloc(m->node_count, sizeof(*k.targets));
    k.procedure_of = fv_xcalloc(symbols->frame_count + 1, sizeof(*k.procedure_of));
    k.line_of = fv_xcalloc(symbols->frame_count + 1, sizeof(*k.line_of));
    memset(k.procedure_of, 0xff, symbols->frame_count * sizeof(*k.procedure_of));
    memset(k.line_of, 0xff, symbols->frame_count * sizeof(*k.line_of));
    add_paths(&k);
    add_threads(&k);
    order(&k);
    fv_index_release(&k.procedures);
    fv_index_release(&k.lines);
    fv_index_release(&k.branches);
    free(k.targets);
    free(k.ids);
    free(k.procedure_of);
    free(k.line_of);
    free(k.loop_at);
}

void fv_cost_profile_release(struct fv_cost_profile *c)
{
    free(c->procedures);
    free(c->parts);
    free(c->lines);
    free(c->branches);
    free(c->loops);
    free(c->stacks);
    fv_arena_release(&c->arena);
    *c = (struct fv_cost_profile){ 0 };
}
