/* SPDX-License-Identifier: BSD-3-Clause */
/* See scaling.h. */
#include "scaling/scaling.h"
#include "base/list.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const fv_scaling_kinds[] = { FV_SCALING_KINDS(FV_LIST_WORD) NULL };

const struct fv_scaling_metric_word fv_scaling_metrics[FV_SCALES_METRICS] = {
    [FV_SCALES_ELAPSED] = { "elapsed_s", "elapsed", FV_UNIT_SECONDS },
    [FV_SCALES_SPEEDUP] = { "speedup", "speedup", FV_UNIT_COUNT },
    [FV_SCALES_OF_IDEAL] = { "of_ideal", "  of the ideal one", FV_UNIT_SHARE },
    [FV_SCALES_GLOBAL] = { "global", "global efficiency", FV_UNIT_SHARE },
    [FV_SCALES_PARALLEL] = { "parallel", "  parallel efficiency", FV_UNIT_SHARE },
    [FV_SCALES_LOAD_BALANCE] = { "load_balance", "    load balance", FV_UNIT_SHARE },
    [FV_SCALES_COMMUNICATION] = { "communication", "    communication", FV_UNIT_SHARE },
    [FV_SCALES_SERIALIZATION] = { "serialization", "      serialization", FV_UNIT_SHARE },
    [FV_SCALES_TRANSFER] = { "transfer", "      transfer", FV_UNIT_SHARE },
    [FV_SCALES_OPENMP] = { "openmp", "    OpenMP", FV_UNIT_SHARE },
    [FV_SCALES_COMPUTATION] = { "computation", "  computation scalability", FV_UNIT_SHARE },
    [FV_SCALES_INSTRUCTIONS] = { "instruction_scalability", "    instructions", FV_UNIT_SHARE },
    [FV_SCALES_IPC] = { "ipc_scalability", "    IPC", FV_UNIT_SHARE },
    [FV_SCALES_FREQUENCY] = { "frequency_scalability", "    frequency", FV_UNIT_SHARE },
};

int fv_scaling_load(struct fv_scaling *s, const char *path, const struct fv_choice *choice)
{
    return fv_diff_load(&s->runs, 0, path, choice);
}

/* ---- points ---- */

/* How many times the ranks that were read all are. */
static double all_of(const struct fv_diff_run *r)
{
    return r->read ? (double)r->ranks / (double)r->read : NAN;
}

static size_t size_of(const struct fv_scaling *s, const struct fv_diff_run *r)
{
    return s->threads ? (size_t)lround(r->hybrid.threads * all_of(r)) : r->ranks;
}

static double processors(const struct fv_scaling *s, const struct fv_scaling_point *p)
{
    return (double)(s->threads ? p->threads : p->ranks);
}

static int by_size(const void *a, const void *b)
{
    const struct fv_scaling_point *x = a, *y = b;
    size_t u = x->threads ? x->threads : x->ranks, v = y->threads ? y->threads : y->ranks;

    return u != v ? (u > v) - (u < v) : (x->ranks > y->ranks) - (x->ranks < y->ranks);
}

static bool is_at(const struct fv_scaling *s, const struct fv_diff_run *r, const struct fv_scaling_point *p)
{
    return r->ranks == p->ranks && (!s->threads || size_of(s, r) == p->threads);
}

/* The longest time of a rank, and how much of all time is computing. */
static void values_of(const struct fv_scaling *s, const struct fv_diff_run *r, double *useful_s,
                      double value[FV_SCALES_METRICS])
{
    const struct fv_pop_hybrid hybrid = fv_pop_hybrid_of(&r->hybrid);
    const double *v = r->value;

    for (unsigned k = 0; k < FV_SCALES_METRICS; k++)
        value[k] = NAN;
    value[FV_SCALES_ELAPSED] = s->threads ? r->hybrid.elapsed_s : v[FV_RUN_COMPUTE] / v[FV_RUN_PARALLEL];
    *useful_s = s->threads ? r->hybrid.useful_s * all_of(r) : v[FV_RUN_COMPUTE] * (double)r->ranks;
    value[FV_SCALES_PARALLEL] = s->threads ? hybrid.parallel : v[FV_RUN_PARALLEL];
    value[FV_SCALES_LOAD_BALANCE] = s->threads ? hybrid.mpi_load_balance : v[FV_RUN_LOAD_BALANCE];
    value[FV_SCALES_COMMUNICATION] = s->threads ? hybrid.mpi_communication : v[FV_RUN_COMMUNICATION];
    value[FV_SCALES_SERIALIZATION] = r->efficiency[0];
    value[FV_SCALES_TRANSFER] = r->efficiency[1];
    if (s->threads)
        value[FV_SCALES_OPENMP] = hybrid.omp;
}

static void fill_point(const struct fv_scaling *s, struct fv_scaling_point *p)
{
    const struct fv_diff_side *side = &s->runs.side[0];
    double value[FV_SCALES_METRICS], useful_s;

    for (size_t i = 0; i < side->count; i++) {
        if (!is_at(s, &side->runs[i], p))
            continue;
        values_of(s, &side->runs[i], &useful_s, value);
        p->useful_s += useful_s;
        p->no_processor_s += side->runs[i].no_processor_s;
        p->instructions += side->runs[i].instructions * all_of(&side->runs[i]);
        p->cycles += side->runs[i].cycles * all_of(&side->runs[i]);
        for (unsigned k = 0; k < FV_SCALES_METRICS; k++)
            p->value[k] += value[k];
        p->least_s = p->runs ? fmin(p->least_s, value[FV_SCALES_ELAPSED]) : value[FV_SCALES_ELAPSED];
        p->most_s = p->runs ? fmax(p->most_s, value[FV_SCALES_ELAPSED]) : value[FV_SCALES_ELAPSED];
        p->runs++;
    }
    p->useful_s /= (double)p->runs;
    p->no_processor_s /= (double)p->runs;
    p->instructions /= (double)p->runs;
    p->cycles /= (double)p->runs;
    for (unsigned k = 0; k < FV_SCALES_METRICS; k++)
        p->value[k] /= (double)p->runs;
}

static void find_points(struct fv_scaling *s)
{
    const struct fv_diff_side *side = &s->runs.side[0];
    size_t at;

    bool all = true, teams = false;

    for (size_t i = 0; i < side->count; i++) {
        all = all && side->runs[i].hybrid.threads > 0;
        teams = teams || side->runs[i].hybrid.threads > (double)side->runs[i].read;
    }
    s->threads = all && teams;
    s->points = fv_xcalloc(side->count, sizeof(*s->points));
    for (size_t i = 0; i < side->count; i++) {
        for (at = 0; at < s->point_count && !is_at(s, &side->runs[i], &s->points[at]); at++)
            continue;
        if (at == s->point_count)
            s->points[s->point_count++] =
                (struct fv_scaling_point){ .ranks = side->runs[i].ranks,
                                           .threads = s->threads ? size_of(s, &side->runs[i]) : 0 };
    }
    qsort(s->points, s->point_count, sizeof(*s->points), by_size);
    for (at = 0; at < s->point_count; at++)
        fill_point(s, &s->points[at]);
}

/* Waiting for a processor is computing by the clock, and makes other ranks wait. Instructions and cycles are counted
 * with a processor alone. */
static bool is_by_machine(const struct fv_scaling *s, enum fv_scaling_metric worst)
{
    const struct fv_scaling_point *first = &s->points[0], *last = &s->points[s->point_count - 1];

    if (worst == FV_SCALES_METRICS || worst == FV_SCALES_INSTRUCTIONS || worst == FV_SCALES_IPC)
        return false;
    double fell = 1 - last->value[worst] / first->value[worst];
    return last->no_processor_s / last->value[FV_SCALES_ELAPSED] -
               first->no_processor_s / first->value[FV_SCALES_ELAPSED] >=
           0.5 * fell;
}

static void compare_points(struct fv_scaling *s)
{
    const struct fv_scaling_point *ref = &s->points[0];

    for (size_t i = 0; i < s->point_count; i++) {
        struct fv_scaling_point *p = &s->points[i];
        double *v = p->value, grown;

        p->factor = processors(s, p) / processors(s, ref);
        if (s->kind == FV_SCALING_UNTOLD)
            continue;
        grown = s->kind == FV_SCALING_WEAK ? p->factor : 1;
        v[FV_SCALES_SPEEDUP] = grown * ref->value[FV_SCALES_ELAPSED] / v[FV_SCALES_ELAPSED];
        v[FV_SCALES_OF_IDEAL] = v[FV_SCALES_SPEEDUP] / p->factor;
        v[FV_SCALES_COMPUTATION] = grown * ref->useful_s / p->useful_s;
        v[FV_SCALES_GLOBAL] = v[FV_SCALES_PARALLEL] * v[FV_SCALES_COMPUTATION];
        if (s->threads)
            continue; /* what threads execute while they spin for each other is no work, and not known apart */
        v[FV_SCALES_INSTRUCTIONS] = grown * ref->instructions / p->instructions;
        v[FV_SCALES_IPC] = p->instructions / p->cycles / (ref->instructions / ref->cycles);
        v[FV_SCALES_FREQUENCY] = p->cycles / p->useful_s / (ref->cycles / ref->useful_s);
    }
}

/* Of the factors that are no product of others that are known. */
static enum fv_scaling_metric find_worst(const struct fv_scaling *s)
{
    static const enum fv_scaling_metric factors[] = {
        FV_SCALES_LOAD_BALANCE, FV_SCALES_COMMUNICATION, FV_SCALES_SERIALIZATION, FV_SCALES_TRANSFER, FV_SCALES_OPENMP,
        FV_SCALES_COMPUTATION,  FV_SCALES_INSTRUCTIONS,  FV_SCALES_IPC,           FV_SCALES_FREQUENCY
    };
    const double *first = s->points[0].value, *last = s->points[s->point_count - 1].value;
    enum fv_scaling_metric worst = FV_SCALES_METRICS;
    double least = 0.995; /* what is told as 99 % and more fell by nothing */

    for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++) {
        double left = last[factors[i]] / first[factors[i]];

        if (factors[i] == FV_SCALES_COMMUNICATION && !isnan(last[FV_SCALES_TRANSFER] / first[FV_SCALES_TRANSFER]))
            continue;
        if (factors[i] == FV_SCALES_COMPUTATION && !isnan(last[FV_SCALES_FREQUENCY]))
            continue;
        if (left < least) {
            least = left;
            worst = factors[i];
        }
    }
    return worst;
}

/* ---- parts ---- */

/* The mean over a point's runs; NAN: it is in none. */
static void take_time(const struct fv_scaling *s, struct fv_scaling_part *part, size_t run, double time_s)
{
    for (size_t at = 0; at < s->point_count; at++)
        if (is_at(s, &s->runs.side[0].runs[run], &s->points[at]) && !isnan(time_s))
            part->time_s[at] += time_s / (double)s->points[at].runs;
}

static struct fv_scaling_part *new_part(struct fv_scaling *s, size_t *room, const char *table, const char *name,
                                        const char *place)
{
    FV_GROW(s->parts, *room, s->part_count + 1);
    s->parts[s->part_count] =
        (struct fv_scaling_part){ table, name, place, fv_xcalloc(s->point_count, sizeof(double)), NAN, NAN, NAN };
    return &s->parts[s->part_count++];
}

/* CPU time of a rank is that of all its threads: where P is of threads, that of one of them. */
static double share_of(const struct fv_scaling *s, uint32_t table, size_t run)
{
    const struct fv_diff_run *r = &s->runs.side[0].runs[run];

    return s->threads && fv_diff_tables[table].ticks ? (double)r->ranks / (double)size_of(s, r) : 1;
}

static void take_table(struct fv_scaling *s, size_t *room, uint32_t table)
{
    const struct fv_diff_entries *from = &s->runs.side[0].tables[table];

    for (size_t i = 0; i < from->count && from->recorded == s->runs.side[0].count; i++) {
        const struct fv_diff_entry *e = &from->items[i];
        struct fv_scaling_part *part = new_part(s, room, fv_diff_tables[table].relation, e->name, e->place);

        for (size_t run = 0; run < e->runs; run++)
            if (e->there[run])
                take_time(s, part, run, e->values[run * FV_ENTRY_METRICS + FV_ENTRY_TIME] * share_of(s, table, run));
    }
}

static void take_mpi(struct fv_scaling *s, size_t *room)
{
    const struct fv_diff_paths *paths = &s->runs.side[0].paths;
    size_t first = s->part_count;

    for (size_t i = 0; i < paths->count; i++) {
        const struct fv_diff_path *path = &paths->items[i];
        struct fv_scaling_part *part = NULL;

        for (size_t k = first; k < s->part_count && !part; k++)
            if (!strcmp(s->parts[k].name, path->function))
                part = &s->parts[k];
        if (!part)
            part = new_part(s, room, "mpi_functions", path->function, NULL);
        for (size_t run = 0; run < path->sample_count; run++)
            if (path->samples[run].there)
                take_time(s, part, run, path->samples[run].time_s);
    }
}

static int by_loss(const void *a, const void *b)
{
    const struct fv_scaling_part *x = a, *y = b;
    double u = isnan(x->lost_s) ? x->ideal_s : x->lost_s, v = isnan(y->lost_s) ? y->ideal_s : y->lost_s;

    return u != v ? (u < v) - (u > v) : strcmp(x->name, y->name);
}

/* While nobody told the kind, ideal_s is the time itself until the parts are in order. */
static void compare_parts(struct fv_scaling *s)
{
    size_t last = s->point_count - 1;

    for (size_t i = 0; i < s->part_count; i++) {
        struct fv_scaling_part *p = &s->parts[i];

        if (s->kind == FV_SCALING_UNTOLD) {
            p->ideal_s = p->time_s[last];
            continue;
        }
        p->ideal_s = p->time_s[0] / (s->kind == FV_SCALING_STRONG ? s->points[last].factor : 1);
        p->lost_s = p->time_s[last] - p->ideal_s;
        p->efficiency = p->time_s[last] > 0 ? p->ideal_s / p->time_s[last] : NAN;
    }
    if (s->part_count)
        qsort(s->parts, s->part_count, sizeof(*s->parts), by_loss);
    for (size_t i = 0; i < s->part_count && s->kind == FV_SCALING_UNTOLD; i++)
        s->parts[i].ideal_s = NAN;
}

static bool is_scaled(const char *relation)
{
    return !strcmp(relation, "cpu_procedures") || !strcmp(relation, "regions") || !strcmp(relation, "sections");
}

/* ---- what the reader must know ---- */

static void take_notes(struct fv_scaling *s)
{
    const struct fv_diff_side *side = &s->runs.side[0];

    for (size_t i = 0; i < side->count; i++) {
        const struct fv_diff_run *r = &side->runs[i];
        char part[FV_WORD];

        if (!r->complete)
            fv_problem_add(&s->notes, FV_PROBLEM_NOTE, NULL, "%s is incomplete: it seems faster than it was",
                           r->directory);
        if (r->read < r->ranks)
            fv_problem_add(
                &s->notes, FV_PROBLEM_NOTE, NULL,
                "%s: the files of %zu of %zu ranks were read: all values are of these ranks, and sums of all "
                "ranks are estimated from them",
                r->directory, r->read, r->ranks);
        if (r->no_processor_s > 0)
            fv_problem_add(&s->notes, FV_PROBLEM_NOTE, NULL,
                           "%s was noisy: its ranks were runnable but had no processor for %s of their time",
                           r->directory,
                           fv_words_percent(r->no_processor_s, r->value[FV_RUN_COMPUTE] + r->value[FV_RUN_MPI], part));
        if (strcmp(r->program, side->runs[0].program) != 0)
            fv_problem_add(&s->notes, FV_PROBLEM_NOTE, NULL, "%s is a run of %s, and %s of %s: is this one program?",
                           r->directory, r->program, side->runs[0].directory, side->runs[0].program);
    }
}

int fv_scaling_compute(struct fv_scaling *s, enum fv_scaling_kind kind)
{
    const struct fv_diff_side *side = &s->runs.side[0];
    size_t room = 0;

    s->kind = kind;
    find_points(s);
    if (s->point_count < 2) {
        fv_log("%s: all runs are on %zu rank%s; give runs on other numbers of ranks, or of threads, recorded with "
               "--threads",
               side->runs[0].directory, side->runs[0].ranks, fv_words_s(side->runs[0].ranks));
        return -FV_EFORMAT;
    }
    compare_points(s);
    s->worst = find_worst(s);
    s->by_machine = is_by_machine(s, s->worst);
    for (uint32_t t = 0; t < FV_DIFF_TABLES; t++)
        if (is_scaled(fv_diff_tables[t].relation))
            take_table(s, &room, t);
    take_mpi(s, &room);
    compare_parts(s);
    take_notes(s);
    return 0;
}

void fv_scaling_release(struct fv_scaling *s)
{
    for (size_t i = 0; i < s->part_count; i++)
        free(s->parts[i].time_s);
    free(s->parts);
    free(s->points);
    fv_problems_release(&s->notes);
    fv_diff_release(&s->runs);
    *s = (struct fv_scaling){ 0 };
}
