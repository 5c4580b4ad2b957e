/* SPDX-License-Identifier: BSD-3-Clause */
/* Where CPU time is, by clock samples: relation costs. */
#include "profile/build.h"
#include "profile/samples/costs.h"
#include "profile/samples/costs_relations.h"
#include "symbols/loop_kinds.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>

static const struct fv_cost_profile *costs_of(const void *subject)
{
    return ((const struct fv_tables *)subject)->profile->costs;
}

static const void *the_costs(void *subject, const void *parent)
{
    return fv_model_costs(fv_tables_model(subject))->thread_count ? costs_of(subject) : NULL;
}

void fv_get_cost_s(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    uint64_t ticks = *(const uint64_t *)(const void *)((const char *)row + c->offset);

    v->real = (c->argument == FV_COST_ERROR ? fv_cost_error(ticks) : (double)ticks) * costs_of(subject)->tick_s;
}

#define COST_ID_COLUMN(k, m, d) FV_ID_COLUMN_IN(FV_IN_COSTS, struct fv_cost_profile, k, m, d)
#define LINE_COLUMN(k, t, S, m, d)                          \
    {                                                       \
        k, t, "id", d, FV_FIELD(S, m), .flags = FV_UNLESS_0 \
    }
#define MODULE_COLUMN(S)                                                                               \
    {                                                                                                  \
        "module", "module", "", "Path of the executable or library; null: not known.",                 \
            FV_GET(FV_TYPE_TEXT, fv_get_module), .flags = FV_NULLABLE, .argument = offsetof(S, module) \
    }

/* ---- threads ---- */

static const void *the_threads(void *subject, const void *parent)
{
    return fv_model_costs(fv_tables_model(subject));
}

static void get_thread_s(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_cost_thread *t = row;

    v->real = (double)t->ticks * t->tick_s;
}

static const struct fv_column_def thread_columns[] = {
    FV_RANK_COLUMN(struct fv_cost_thread, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread.", FV_FIELD(struct fv_cost_thread, thread), .flags = FV_IS_THREAD },
    FV_TICKS_COLUMN("ticks", "ticks", "Clock samples of the thread.", struct fv_cost_thread, ticks),
    { "time_s", "CPU", "s", "The CPU time that these samples stand for.", FV_GET(FV_TYPE_REAL, get_thread_s),
      .flags = FV_ESTIMATE },
    FV_TICKS_COLUMN("mpi_ticks", "MPI", "Clock samples in MPI calls.", struct fv_cost_thread, in_mpi),
    FV_TICKS_COLUMN("lost_ticks", "lost",
                    "Clock samples without a call path, because a table was full. They are not in ticks.",
                    struct fv_cost_thread, lost),
};
static const struct fv_relation threads = {
    .of_ranks = true,
    .name = "sampled_threads",
    .key = "sampled_threads",
    .title = "Sampled threads",
    .doc = "Threads with clock samples, by rank.",
    FV_COLUMNS(thread_columns),
    .base = the_threads,
    FV_ITEMS(struct fv_costs, threads, thread_count),
};

/* ---- procedures ---- */

static void get_part_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_model *m = fv_tables_model(subject);
    const struct fv_cost_thread *t = &fv_model_costs(m)->threads[((const struct fv_cost_part *)row)->owner];

    if (c->argument)
        v->whole = t->thread;
    else
        v->number = m->ranks[t->rank].world_rank;
}

static const struct fv_column_def procedure_part_columns[] = {
    { "rank", "rank", "", "The rank.", FV_GET(FV_TYPE_NUMBER, get_part_place), .flags = FV_IS_RANK },
    { "thread", "thread", "", "The thread.", FV_GET(FV_TYPE_WHOLE, get_part_place), .flags = FV_IS_THREAD,
      .argument = 1 },
    FV_COST_SHORT_COLUMNS(struct fv_cost_part, sum),
    FV_TICKS_COLUMN("exclusive_mpi_ticks", "self MPI", "exclusive_ticks in MPI calls.", struct fv_cost_part,
                    sum.self.in_mpi),
    FV_TICKS_COLUMN("own_ticks", "own",
                    "Clock samples in it and in libraries that it calls, as own.ticks of procedures. 0 for a function "
                    "of a library.",
                    struct fv_cost_part, own.ticks),
    FV_TICKS_COLUMN("own_mpi_ticks", "own MPI", "own_ticks in MPI calls.", struct fv_cost_part, own.in_mpi),
};
static const struct fv_column_def procedure_outer[] = {
    COST_ID_COLUMN("procedure_id", procedures, "Index in costs.procedures, from 0."),
    { "procedure", "procedure", "", "Name of the procedure.", FV_FIELD(struct fv_cost_procedure, name) },
};
static const struct fv_relation procedure_parts = {
    .of_ranks = true,
    .name = "cpu_procedures_by_thread",
    .key = "per_thread",
    .title = "CPU time of procedures by thread",
    .doc = "Clock samples of the procedure on each thread, by rank and thread.",
    .shape = FV_ROWS,
    FV_COLUMNS(procedure_part_columns),
    FV_OUTER(procedure_outer),
    .base = the_costs,
    FV_SLICE(struct fv_cost_profile, parts, struct fv_cost_procedure, first_part, parts),
};

static void get_own(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    if (c->argument == FV_COST_TICKS)
        v->whole = *(const uint64_t *)(const void *)((const char *)row + c->offset);
    else
        fv_get_cost_s(subject, row, c, v);
    v->null = !((const struct fv_cost_procedure *)row)->of_program;
}

static void get_library(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = !((const struct fv_cost_procedure *)row)->of_program;
}

#define OWN_COLUMN(k, t, u, d, ty, m, which)                                                                      \
    {                                                                                                             \
        k, t, u, d, FV_GET(ty, get_own), .flags = FV_NULLABLE | ((which) == FV_COST_TICKS ? 0 : FV_ESTIMATE),     \
                                         .offset = offsetof(struct fv_cost_procedure, own.m), .argument = (which) \
    }
static const struct fv_column_def procedure_columns[] = {
    COST_ID_COLUMN("id", procedures, "Index in this list, from 0."),
    { "procedure", "procedure", "",
      "Name of the procedure. module+0xBEGIN: a function without a symbol, found in the unwind table. [module]: all "
      "code of a module that has neither. [fvmpi]: fvmpi itself.",
      FV_FIELD(struct fv_cost_procedure, name), .flags = FV_NAME },
    { "file", "file", "", "The source file. Null: not known.", FV_FIELD(struct fv_cost_procedure, file),
      .flags = FV_NULLABLE },
    LINE_COLUMN("first_line", "first line", struct fv_cost_procedure, first_line,
                "First source line of the compiled code. Null: not known, or inlined everywhere. Only known for "
                "procedures with at least 0.5 % of the samples."),
    LINE_COLUMN("last_line", "last line", struct fv_cost_procedure, last_line,
                "Last source line of the compiled code. Null as in first_line."),
    MODULE_COLUMN(struct fv_cost_procedure),
    { "inlined", "inlined", "", "True: the compiler inlined every call of it.",
      FV_FIELD(struct fv_cost_procedure, inlined) },
    { "library", "library", "", "True: it belongs to a library, not to the program. See own.ticks.",
      FV_GET(FV_TYPE_TRUTH, get_library) },
    FV_COST_BOTH_COLUMNS(struct fv_cost_procedure, sum),
    FV_COST_SHARE_COLUMNS(struct fv_cost_procedure, sum),
    OWN_COLUMN(
        "own.ticks", "own ticks", "",
        "Clock samples in it and in libraries that it calls, until these call another procedure of the program. The "
        "program is the executable and the libraries in its directory or below. Null: it belongs to a library.",
        FV_TYPE_WHOLE, ticks, FV_COST_TICKS),
    OWN_COLUMN("own.time_s", "own", "s", "The CPU time that own.ticks stand for.", FV_TYPE_REAL, ticks,
               FV_COST_SECONDS),
    OWN_COLUMN("own.error_s", "own error", "s", "Error of own.time_s with 95 % probability: 2 sqrt(ticks), as time.",
               FV_TYPE_REAL, ticks, FV_COST_ERROR),
    OWN_COLUMN("own.mpi_ticks", "own MPI", "", "own.ticks in MPI calls.", FV_TYPE_WHOLE, in_mpi, FV_COST_TICKS),
    OWN_COLUMN("own.sync_ticks", "own sync", "", "own.ticks outside of MPI that waited for threads.", FV_TYPE_WHOLE,
               in_sync, FV_COST_TICKS),
    { "rank_range.min_s", "min rank", "s", "Inclusive CPU time of the rank with the least.",
      FV_FIELD(struct fv_cost_procedure, rank_min_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "rank_range.max_s", "max rank", "s", "Inclusive CPU time of the rank with the most.",
      FV_FIELD(struct fv_cost_procedure, rank_max_s), .flags = FV_ESTIMATE },
    { "rank_range.max_rank", "rank", "", "The rank with the most inclusive CPU time.",
      FV_GET(FV_TYPE_NUMBER, fv_get_rank), .argument = offsetof(struct fv_cost_procedure, rank_max) },
    { "per_thread", "by thread", "", "", FV_NEST(procedure_parts) },
};
static const struct fv_relation procedures = {
    .name = "cpu_procedures",
    .key = "procedures",
    .title = "CPU time of procedures",
    .doc = "Procedures with clock samples, including inlined ones, most exclusive ticks first.",
    .shown = "procedure" FV_COST_SHOWN " rank_range_min_s/1 rank_range_max_s/1",
    .share = "exclusive_share",
    FV_COLUMNS(procedure_columns),
    FV_ITEMS(struct fv_cost_profile, procedures, procedure_count),
};

/* ---- by rank ---- */

static const struct fv_column_def rank_part_columns[] = {
    FV_RANK_COLUMN(struct fv_cost_part, owner, "rank", "rank", "The rank."),
    FV_COST_SHORT_COLUMNS(struct fv_cost_part, sum),
};
#define PARTS_BY_RANK(variable, S, array, n, t, o)                     \
    static const struct fv_relation variable = {                       \
        .name = n,                                                     \
        .key = "per_rank",                                             \
        .title = t,                                                    \
        .doc = "Clock samples on each rank, by rank.",                 \
        .shape = FV_ROWS,                                              \
        .by_rank = true,                                               \
        FV_COLUMNS(rank_part_columns),                                 \
        FV_OUTER(o),                                                   \
        .base = the_costs,                                             \
        FV_SLICE(struct fv_cost_profile, array, S, first_part, parts), \
    }

/* ---- loops ---- */

static const struct fv_column_def loop_outer[] = {
    COST_ID_COLUMN("loop_id", loops, "Index in costs.loops, from 0."),
    { "function", "function", "", "The compiled function that contains the loop.",
      FV_FIELD(struct fv_cost_loop, function) },
};
PARTS_BY_RANK(loop_parts, struct fv_cost_loop, loop_parts, "cpu_loops_by_rank", "CPU time of loops by rank",
              loop_outer);

static void get_loop_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_cost_loop *l = row;
    struct fv_tables *t = subject;

    if (l->file)
        snprintf(t->text, sizeof(t->text), "%s:%u-%u", fv_base_name(l->file), l->first_line, l->last_line);
    else
        snprintf(t->text, sizeof(t->text), "%s+0x%llx", t->model->tree.modules[l->module].name,
                 (unsigned long long)l->offset);
    v->text = t->text;
}

/* GCC makes a function of a loop, too, that it makes parallel by itself. */
static const char *const parallel_words[] = { "no", "openmp", "auto", NULL };
static void get_parallel(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_cost_loop *l = row;
    unsigned word = fv_words_is_region(l->function) ? 1 : strstr(l->function, "._loopfn.") ? 2 : 0;

    v->text = l->nameless ? NULL : parallel_words[word];
}

static void get_loop_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_cost_loop *l = row;

    v->text = l->kind == FV_LOOP_UNKNOWN ? NULL : fv_loop_kind_words[l->kind - 1];
}

static const struct fv_column_def loop_columns[] = {
    COST_ID_COLUMN("id", loops, "Index in this list, from 0."),
    { "place", "loop", "", "Source lines of the loop, or its module and offset.", FV_GET(FV_TYPE_TEXT, get_loop_place),
      .flags = FV_FLAT },
    { "function", "in", "", "The compiled function that contains the loop. Other functions may be inlined in it.",
      FV_FIELD(struct fv_cost_loop, function), .flags = FV_NAME },
    { "file", "file", "", "The source file. Null: no debug information.", FV_FIELD(struct fv_cost_loop, file),
      .flags = FV_NULLABLE },
    LINE_COLUMN("first_line", "first line", struct fv_cost_loop, first_line,
                "First source line of its code. Null: no debug information."),
    LINE_COLUMN("last_line", "last line", struct fv_cost_loop, last_line,
                "Last source line of its code. Null: no debug information."),
    MODULE_COLUMN(struct fv_cost_loop),
    { "offset", "offset", "id", "Address of its first instruction in the module.",
      FV_FIELD(struct fv_cost_loop, offset) },
    { "depth", "depth", "", "Nesting depth of the loop; 1 is the outermost.", FV_FIELD(struct fv_cost_loop, depth) },
    { "parent_id", "parent", "id", "The enclosing loop, an index in this list. Null: none.",
      FV_FIELD(struct fv_cost_loop, parent), .flags = FV_UNLESS_NONE },
    { "kind", "kind", "",
      "The statement, by the source file as it is now, where debug information has it. do-while is "
      "C's, do while Fortran's, array parts of arrays there. Null: the file was not found, or shows none.",
      FV_GET(FV_TYPE_TEXT, get_loop_kind), .flags = FV_NULLABLE, .words = fv_loop_kind_words },
    { "parallelised", "parallel", "",
      "openmp: the compiler made its function from a parallel region. auto: the compiler parallelised the loop itself. "
      "no: neither, but a parallel region may call the function. Known from the function's name; null: it has none.",
      FV_GET(FV_TYPE_TEXT, get_parallel), .flags = FV_NULLABLE, .words = parallel_words },
    { "vectorised", "vectorised", "",
      "True: the loop has packed arithmetic (SSE, AVX), inner loops and called functions not included. Neither machine "
      "code nor debug information shows whether a loop was unrolled.",
      FV_FIELD(struct fv_cost_loop, packed) },
    FV_COST_COLUMNS("exclusive", "self", "Clock samples in the loop, without inner loops and called functions.",
                    struct fv_cost_loop, sum.self),
    FV_COST_COLUMNS("inclusive", "total", "Clock samples in the loop and in what it calls. Recursion counts once.",
                    struct fv_cost_loop, sum.total),
    FV_COST_SHARE_COLUMNS(struct fv_cost_loop, sum),
    { "per_rank", "by rank", "", "", FV_NEST(loop_parts) },
};
static const struct fv_relation loops = {
    .name = "cpu_loops",
    .key = "loops",
    .title = "CPU time of loops",
    .doc = "Natural loops in the machine code of functions with at least 0.5 % of the samples, most inclusive ticks "
           "first. The compiler may make several loops from one by unrolling or vectorising. Null: none, or not looked "
           "for (loops_known).",
    .nullable = true,
    .shown = "place function/5" FV_COST_SHOWN " kind/3 parallelised/2 vectorised/2",
    .share = "exclusive_share",
    FV_COLUMNS(loop_columns),
    FV_ITEMS(struct fv_cost_profile, loops, loop_count),
};

/* ---- lines ---- */

static void get_line_procedure(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = costs_of(subject)->procedures[((const struct fv_cost_line *)row)->procedure].name;
}

static const struct fv_column_def line_outer[] = {
    { "file", "file", "", "The source file.", FV_FIELD(struct fv_cost_line, file) },
    { "line", "line", "id", "The source line.", FV_FIELD(struct fv_cost_line, line) },
};
PARTS_BY_RANK(line_parts, struct fv_cost_line, line_parts, "cpu_lines_by_rank", "CPU time of source lines by rank",
              line_outer);

static void get_line_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_cost_line *l = row;
    struct fv_tables *t = subject;

    snprintf(t->text, sizeof(t->text), "%s:%u", fv_base_name(l->file), l->line);
    v->text = t->text;
}

static const struct fv_column_def line_columns[] = {
    { "place", "line", "", "File and line in short.", FV_GET(FV_TYPE_TEXT, get_line_place), .flags = FV_FLAT },
    { "file", "file", "", "The source file.", FV_FIELD(struct fv_cost_line, file) },
    { "line", "line", "id", "The source line.", FV_FIELD(struct fv_cost_line, line) },
    { "procedure_id", "procedure id", "id",
      "The procedure of the line, an index in costs.procedures; if several, the first.",
      FV_FIELD(struct fv_cost_line, procedure) },
    { "procedure", "function", "", "Name of the procedure.", FV_GET(FV_TYPE_TEXT, get_line_procedure),
      .flags = FV_FLAT | FV_NAME },
    FV_COST_BOTH_COLUMNS(struct fv_cost_line, sum),
    FV_COST_SHARE_COLUMNS(struct fv_cost_line, sum),
    { "per_rank", "by rank", "", "", FV_NEST(line_parts) },
};
static const struct fv_relation lines = {
    .name = "cpu_lines",
    .key = "lines",
    .title = "CPU time of source lines",
    .doc = "Source lines with clock samples, most exclusive ticks first.",
    .shown = "place procedure/5" FV_COST_SHOWN,
    .share = "exclusive_share",
    FV_COLUMNS(line_columns),
    FV_ITEMS(struct fv_cost_profile, lines, line_count),
};

/* ---- call tree ---- */

static size_t branch_count(void *subject, const void *parent)
{
    return ((const struct fv_cost_profile *)parent)->branch_count;
}

/* The root is outside of main, and no row: the first row is branch 1. */
static const void *branch_at(void *subject, const void *parent, size_t i)
{
    return i ? &((const struct fv_cost_profile *)parent)->branches[i] : NULL;
}

static void get_branch_id(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = (uint64_t)((const struct fv_cost_branch *)row - costs_of(subject)->branches) - 1;
}

static void get_branch_parent(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    uint32_t parent = ((const struct fv_cost_branch *)row)->parent;

    v->whole = parent - 1u;
    v->null = !parent;
}

static void get_branch_procedure(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = costs_of(subject)->procedures[((const struct fv_cost_branch *)row)->procedure].name;
}

static const struct fv_column_def branch_columns[] = {
    { "id", "id", "id", "Index in these rows, from 0.", FV_GET(FV_TYPE_WHOLE, get_branch_id), .flags = FV_FLAT },
    { "parent_id", "parent", "id", "The row of the caller, which comes before. Null: a root.",
      FV_GET(FV_TYPE_WHOLE, get_branch_parent), .flags = FV_NULLABLE },
    { "procedure_id", "procedure id", "id", "The procedure, an index in costs.procedures.",
      FV_FIELD(struct fv_cost_branch, procedure) },
    { "procedure", "procedure", "", "Name of the procedure.", FV_GET(FV_TYPE_TEXT, get_branch_procedure),
      .flags = FV_FLAT },
    FV_COST_SHORT_COLUMNS(struct fv_cost_branch, sum),
};
static const struct fv_relation call_tree = {
    .name = "call_tree",
    .key = "call_tree",
    .title = "Call tree of CPU time",
    .doc = "Call tree of procedures, from main inwards. Callers come before what they call.",
    .shape = FV_ROWS,
    FV_COLUMNS(branch_columns),
    .count = branch_count,
    .row = branch_at,
};

/* ---- all ---- */

static void get_fvmpi_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_cost_profile *p = row;

    v->real = p->all.ticks ? (double)p->fvmpi_ticks / (double)p->all.ticks : NAN;
}

static void get_lost(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = fv_model_costs(fv_tables_model(subject))->lost;
}

static const struct fv_column_def cost_columns[] = {
    FV_COST_COLUMNS(
        "all", "all",
        "All clock samples. They are taken in user mode only, so a sleeping thread or one in the kernel has none.",
        struct fv_cost_profile, all),
    { "fvmpi_share", "fvmpi", "share",
      "Share of the samples in fvmpi's own library, the procedure [fvmpi]. Null: no samples.",
      FV_GET(FV_TYPE_REAL, get_fvmpi_share), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "lost_ticks", "lost", "", "Clock samples without a call path, because a table was full. They are not in `all`.",
      FV_GET(FV_TYPE_WHOLE, get_lost) },
    { "loops_known", "loops known", "", "True: loops were looked for. This needs libopcodes and the lookup of symbols.",
      FV_FIELD(struct fv_cost_profile, loops_known) },
    { "sampled_threads", "threads", "", "", FV_NEST(threads) },
    { "procedures", "procedures", "", "", FV_NEST(procedures) },
    { "loops", "loops", "", "", FV_NEST(loops) },
    { "lines", "lines", "", "", FV_NEST(lines) },
    { "call_tree", "call tree", "", "", FV_NEST(call_tree) },
};
static const struct fv_relation costs_relation = {
    .recorded_by = "fvmpi run --sample",
    .key = "costs",
    .title = "CPU time",
    .doc = "CPU time of the program, from samples of the threads' CPU clocks. Null: no samples.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(cost_columns),
    .base = the_costs,
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_trace_samples;

static void renumber_costs(struct fv_model *m, const uint32_t *sites)
{
    struct fv_costs *costs = fv_model_costs(m);

    for (size_t i = 0; i < costs->leaf_count; i++) {
        struct fv_cost_leaf *leaf = &costs->leaves[i];

        leaf->from = leaf->from == FV_NONE ? FV_NONE : sites[leaf->from];
    }
}

const struct fv_subject fv_costs_subject = {
    .group = "CPU time by samples",
    .bytes = sizeof(struct fv_costs),
    .tracks = { &fv_track_trace_samples },
    .relations = { &costs_relation },
    .renumber = renumber_costs,
    .complete = fv_costs_complete,
    .release = fv_costs_release,
};
