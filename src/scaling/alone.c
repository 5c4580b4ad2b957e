/* SPDX-License-Identifier: BSD-3-Clause */
/* See alone.h. */
#include "scaling/alone.h"
#include "base/list.h"
#include "base/solo.h"
#include "scaling/speedup.h"

#include <math.h>
#include <stdlib.h>

const char *const fv_alone_verdicts[] = { FV_ALONE_VERDICT_LIST(FV_LIST_WORD) NULL };
const char *const fv_alone_hows[] = { FV_SOLO_HOW_LIST(FV_LIST_WORD) NULL };

/* ---- a run ---- */

static bool is_same_part(double a, double b)
{
    return fabs(a - b) < 1e-5;
}

static struct fv_alone_point *find(const struct fv_speedup_phase *phase, size_t threads, double part)
{
    for (size_t i = 0; i < phase->alone_count; i++)
        if (phase->alone[i].threads == threads && is_same_part(phase->alone[i].part, part))
            return &phase->alone[i];
    return NULL;
}

static struct fv_alone_point *make(struct fv_speedup_phase *phase, struct fv_alone_point begin)
{
    FV_GROW(phase->alone, phase->alone_room, phase->alone_count + 1);
    phase->alone[phase->alone_count] = begin;
    return &phase->alone[phase->alone_count++];
}

/* The numbers of enum fv_gate_why, which the library in the application has (threads/gate.h), from FV_GATE_WAITS = 1
 * on. */
static enum fv_alone_verdict let_go(uint32_t why)
{
    return why && why <= FV_ALONE_CUT - FV_ALONE_WAITS + 1 ? (enum fv_alone_verdict)(FV_ALONE_WAITS + why - 1)
                                                           : FV_ALONE_NOT_MEASURED;
}

enum fv_alone_verdict fv_alone_judge(const struct fv_alone_run *run, const struct fv_phase_alone *a)
{
    if (a->let_go)
        return let_go(a->why);
    if (!a->measured || !(a->time_s > 0))
        return FV_ALONE_NOT_MEASURED;
    if (run->how == FV_SOLO_PIRATE && a->probes < FV_SOLO_PROBES)
        return FV_ALONE_UNPROBED;
    if (run->how == FV_SOLO_PIRATE &&
        ((double)a->misses > FV_SOLO_MISSES * (double)a->probes || a->lost_s > FV_ALONE_LOST_SHARE * a->time_s))
        return FV_ALONE_LOST;
    return a->time_s - a->cpu_s > FV_OFF_CPU * a->time_s ? FV_ALONE_OFF_CPU : FV_ALONE_GOOD;
}

static double ratio(double a, double b)
{
    return a > 0 && b > 0 ? a / b : NAN;
}

void fv_alone_add(struct fv_speedup_phase *phase, const struct fv_alone_run *run, const struct fv_phase *of)
{
    const struct fv_phase_alone *a = &of->alone;
    size_t threads = a->threads > of->sums.threads_max ? a->threads : of->sums.threads_max;
    double instances = of->ranks ? (double)of->sums.instances / of->ranks : 0,
           time_s = a->measured ? a->time_s / (double)a->measured * instances : NAN;
    enum fv_alone_verdict verdict = fv_alone_judge(run, a);
    struct fv_alone_point *point = find(phase, threads, run->part);

    if (!point)
        point = make(phase, (struct fv_alone_point){ .threads = threads,
                                                     .how = run->how,
                                                     .part = run->part,
                                                     .left_bytes = run->left_bytes,
                                                     .time_s = INFINITY,
                                                     .next_s = INFINITY,
                                                     .least_s = INFINITY,
                                                     .most_s = -INFINITY });
    point->measured = !point->runs || a->measured < point->measured ? a->measured : point->measured;
    point->runs++;
    point->least_s = fmin(point->least_s, time_s);
    point->most_s = fmax(point->most_s, time_s);
    /* another one counts */
    if (verdict ? point->good_runs || point->verdict : point->good_runs && !(time_s < point->time_s)) {
        if (!verdict)
            point->next_s = fmin(point->next_s, time_s);
    } else {
        point->next_s = point->good_runs ? point->time_s : INFINITY;
        point->time_s = time_s;
        point->missed = a->probes ? (double)a->misses / (double)a->probes : NAN;
        point->off_cpu = a->time_s > 0 ? fmax(1 - a->cpu_s / a->time_s, 0) : NAN;
        point->cycles = ratio(a->counted[FV_ALONE_CYCLES], a->counted[FV_ALONE_INSTRUCTIONS]);
        point->lines = 1000 * ratio(a->counted[FV_ALONE_LINES], a->counted[FV_ALONE_INSTRUCTIONS]);
        point->bytes_per_s = FV_ALONE_LINE * ratio(a->counted[FV_ALONE_LINES], a->time_s);
    }
    point->good_runs += !verdict;
    if (verdict)
        point->verdict = verdict;
}

/* ---- all runs ---- */

static int by_threads_and_part(const void *a, const void *b)
{
    const struct fv_alone_point *x = a, *y = b;

    if (x->threads != y->threads)
        return x->threads < y->threads ? -1 : 1;
    return (x->part < y->part) - (x->part > y->part);
}

bool fv_alone_differ(double least_s, double next_s, double spread)
{
    return isfinite(next_s) && next_s - least_s > spread * (next_s + least_s) / 2;
}

static bool varies(const struct fv_alone_point *p)
{
    return fv_alone_differ(p->time_s, p->next_s, FV_ALONE_SPREAD);
}

/* Where two runs, or all of them, are good by their own numbers, the others do not matter. */
static void judge_runs(struct fv_speedup_phase *phase)
{
    for (size_t i = 0; i < phase->alone_count; i++) {
        struct fv_alone_point *p = &phase->alone[i];

        if (p->good_runs > 1 || p->good_runs == p->runs)
            p->verdict = varies(p) ? FV_ALONE_VARIES : FV_ALONE_GOOD;
    }
}

static void finish_curve(struct fv_speedup_phase *phase)
{
    if (phase->alone_count)
        qsort(phase->alone, phase->alone_count, sizeof(*phase->alone), by_threads_and_part);
    for (size_t i = 0; i < phase->alone_count; i++) {
        struct fv_alone_point *p = &phase->alone[i];
        const struct fv_alone_point *whole = find(phase, p->threads, 1);

        p->slower = whole && !whole->verdict && !p->verdict ? p->time_s / whole->time_s : NAN;
    }
}

static void take_apart(const struct fv_speedup_phase *phase, struct fv_speedup_point *point, double t1_s)
{
    struct fv_alone_stack *s = &point->alone;
    const struct fv_alone_point *whole = find(phase, point->threads, 1), *part = NULL;
    double threads = (double)point->threads;

    *s = (struct fv_alone_stack){ FV_ALONE_NOT_RUN, NAN, NAN, NAN, NAN, NAN, NAN };
    for (size_t i = 0; i < phase->alone_count; i++) /* resctrl's ways are not always an N-th: the part that is nearest,
                                                     * and not far */
        if (phase->alone[i].threads == point->threads && phase->alone[i].part < 1 &&
            fabs(phase->alone[i].part * threads - 1) < 0.26 &&
            (!part || fabs(phase->alone[i].part * threads - 1) < fabs(part->part * threads - 1)))
            part = &phase->alone[i];
    if (!whole || point->threads < 2)
        return;
    s->verdict = point->reject ? FV_ALONE_REJECTED : whole->verdict;
    if (s->verdict)
        return;
    double alone = t1_s / whole->time_s, pirate = part && !part->verdict ? t1_s / part->time_s : NAN,
           placed = point->stack.placed;
    bool is_unequal = point->times.waitless_s * threads > FV_ALONE_UNEQUAL_RATIO * point->times.useful_s;
    if (is_unequal && whole->measured < FV_ALONE_TURNS * point->threads)
        s->verdict = FV_ALONE_UNEQUAL;
    else if (alone > FV_STACK_GUARD * threads)
        s->verdict = FV_ALONE_TOO_LARGE;
    else if (alone * FV_ALONE_SAME < placed)
        s->verdict = FV_ALONE_MORE;
    if (s->verdict)
        return;
    s->alone = alone;
    s->overhead = threads - alone;
    s->shared = alone - placed;
    s->verdict = !part                             ? FV_ALONE_NO_PART
                 : part->verdict                   ? part->verdict
                 : pirate * FV_ALONE_SAME < placed ? FV_ALONE_SHARED
                                                   : FV_ALONE_GOOD;
    if (s->verdict)
        return;
    s->pirate = pirate;
    s->cache = alone - pirate;
    s->memory = pirate - placed;
}

/* The whole program's threads that ran alone: of all phases with so many threads. */
static void add_up(struct fv_speedup *speedup, struct fv_speedup_phase *program, size_t threads,
                   const struct fv_alone_point *like)
{
    struct fv_alone_point sum = *like;

    sum.time_s = sum.next_s = sum.least_s = sum.most_s = 0;
    sum.cycles = sum.lines = sum.bytes_per_s = NAN;
    sum.measured = UINT64_MAX; /* of whom it is unequal is told by the phases */
    for (size_t i = 0; i < speedup->count; i++) {
        const struct fv_speedup_phase *phase = &speedup->phases[i];
        const struct fv_alone_point *p = phase->name ? find(phase, threads, like->part) : NULL;
        bool has = false;

        for (size_t k = 0; phase->name && k < phase->count; k++)
            has |= phase->points[k].threads == threads;
        if (!has)
            continue;
        if (!sum.verdict)
            sum.verdict = p ? p->verdict : FV_ALONE_NOT_MEASURED;
        sum.time_s += p ? p->time_s : NAN;
        sum.next_s += p ? p->next_s : NAN;
        sum.least_s += p ? p->least_s : NAN;
        sum.most_s += p ? p->most_s : NAN;
        sum.missed = p ? fmax(sum.missed, p->missed) : sum.missed;
        sum.off_cpu = p ? fmax(sum.off_cpu, p->off_cpu) : sum.off_cpu;
    }
    if (!sum.verdict && varies(&sum))
        sum.verdict = FV_ALONE_VARIES;
    make(program, sum);
}

static void add_program(struct fv_speedup *speedup)
{
    struct fv_speedup_phase *program = &speedup->phases[0];

    for (size_t i = 1; i < speedup->count; i++)
        for (size_t k = 0; k < speedup->phases[i].alone_count; k++) {
            const struct fv_alone_point *p = &speedup->phases[i].alone[k];

            if (!find(program, p->threads, p->part))
                add_up(speedup, program, p->threads, p);
        }
}

/* What makes no sense of a phase does not of the whole program: neither its time alone, nor that with a part of the
 * cache, or only the latter. */
static void doubt(struct fv_alone_stack *all, const struct fv_alone_stack *phase)
{
    if (!isfinite(all->alone) || !phase->verdict)
        return;
    if (!isfinite(phase->alone))
        *all = (struct fv_alone_stack){ phase->verdict, NAN, NAN, NAN, NAN, NAN, NAN };
    else if (all->verdict == FV_ALONE_GOOD)
        *all = (struct fv_alone_stack){ .verdict = phase->verdict,
                                        .alone = all->alone,
                                        .overhead = all->overhead,
                                        .shared = all->shared,
                                        .pirate = NAN,
                                        .cache = NAN,
                                        .memory = NAN };
}

static void doubt_program(const struct fv_speedup *speedup, struct fv_speedup_point *all)
{
    for (size_t i = 1; i < speedup->count; i++)
        for (size_t k = 0; k < speedup->phases[i].count; k++) {
            const struct fv_speedup_point *p = &speedup->phases[i].points[k];

            if (p->threads == all->threads)
                doubt(&all->alone, &p->alone);
        }
}

void fv_alone_compute(struct fv_speedup *speedup)
{
    if (!speedup->count || speedup->phases[0].name)
        return;
    for (size_t i = 1; i < speedup->count; i++)
        judge_runs(&speedup->phases[i]);
    add_program(speedup);
    for (size_t i = 0; i < speedup->count; i++) {
        struct fv_speedup_phase *phase = &speedup->phases[i];
        double t1_s = phase->count && phase->points[0].threads == 1 ? phase->points[0].times.longest_s : NAN;

        finish_curve(phase);
        for (size_t k = 0; k < phase->count; k++)
            take_apart(phase, &phase->points[k], t1_s);
    }
    for (size_t k = 0; k < speedup->phases[0].count; k++)
        doubt_program(speedup, &speedup->phases[0].points[k]);
}

/* ---- what if ---- */

/* NAN: the curve does not reach there. */
static double time_at(const struct fv_speedup_phase *phase, size_t threads, double part)
{
    const struct fv_alone_point *above = NULL;

    for (size_t i = 0; i < phase->alone_count; i++) { /* from the largest part on */
        const struct fv_alone_point *p = &phase->alone[i];

        if (p->threads != threads || p->verdict)
            continue;
        if (is_same_part(p->part, part))
            return p->time_s;
        if (p->part > part) {
            above = p;
            continue;
        }
        if (!above)
            return NAN;
        double share = log(part / p->part) / log(above->part / p->part);
        return exp(log(p->time_s) * (1 - share) + log(above->time_s) * share);
    }
    return NAN;
}

double fv_alone_gain(const struct fv_speedup_phase *phase, size_t threads, double times)
{
    double part = 1 / (double)threads;

    return time_at(phase, threads, part) / time_at(phase, threads, part * times);
}
