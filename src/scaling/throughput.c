/* SPDX-License-Identifier: BSD-3-Clause */
/* See throughput.h. */
#include "scaling/throughput.h"
#include "base/list.h"
#include "base/solo.h"
#include "profile/threads/locks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const fv_throughput_kinds[] = { FV_THROUGHPUT_KIND_LIST(FV_LIST_WORD) NULL };

#define THREADED 0.05 /* of a copy's CPU time: less is no threads to speak of */
#define BUSY     0.9  /* of the processors' time: more leaves none free */

/* ---- runs ---- */

struct of_rank {
    int rank;
    double compute_s, queue_s, off_cpu_s;
    bool took_turns;
    struct fv_rank_turns turns;
};

struct fv_throughput_run {
    enum fv_throughput_kind kind;
    size_t count; /* of ranks or copies */
    double elapsed_s;
    struct fv_alone_run alone; /* one at a time */
    enum fv_alone_verdict verdict;
    bool is_crowded; /* copies' threads had all processors, and what they waited for these is not known */
    double instructions, cycles, lines; /* of all ranks, as time is; lines: from memory; NAN: not counted */
    struct of_rank *ranks;              /* by rank */
};

static double or_zero(double value)
{
    return isfinite(value) ? value : 0;
}

static double sum_known(double a, double b)
{
    return isfinite(a) ? a + or_zero(b) : b;
}

/* Of a copy's time; `ready_s`: of its threads all together, which may be more than that. Then what they waited while
 * they would have computed. */
static double queue_of(const struct fv_rank *r, double ready_s)
{
    double wanted_s = ready_s + or_zero(r->cpu_s);

    return wanted_s > r->app_time_s ? ready_s * r->app_time_s / wanted_s : ready_s;
}

/* A copy: all of its time; a rank: that outside of MPI. The kernel's account of waiting for a processor is of all of a
 * rank's time, also in MPI, where a rank that spins gives it up: then it only tells that something is wrong. */
static struct of_rank of_rank(const struct fv_rank *r, enum fv_throughput_kind kind)
{
    struct of_rank o = { .rank = r->world_rank };

    if (kind == FV_THROUGHPUT_COPIES) {
        o.queue_s = queue_of(r, or_zero(sum_known(r->ready_s, r->others_ready_s)));
        o.compute_s = r->app_time_s - o.queue_s;
        o.off_cpu_s = fmax(o.compute_s - r->cpu_s, 0);
        return o;
    }
    double compute_s = fv_rank_compute_s(r);
    bool is_known = isfinite(r->off.preempted_s);
    o.queue_s = is_known ? fmin(r->off.preempted_s, compute_s) : 0;
    o.compute_s = compute_s - o.queue_s;
    o.off_cpu_s = is_known ? r->off.blocked_s : fmin(or_zero(r->ready_s), compute_s);
    return o;
}

static enum fv_alone_verdict judge_all(const struct fv_throughput_run *run)
{
    struct fv_phase_alone sum = { 0 };

    for (size_t i = 0; i < run->count; i++) {
        if (!run->ranks[i].took_turns)
            return FV_ALONE_NOT_MEASURED; /* a rank of another node */
        fv_phase_alone_add(&sum, &run->ranks[i].turns.alone);
    }
    return fv_alone_judge(&run->alone, &sum);
}

static const struct fv_rank_turns *turns_of(const struct fv_model *m, size_t rank)
{
    for (size_t i = 0; i < fv_model_phases(m)->turn_count; i++)
        if (fv_model_phases(m)->turns[i].rank == rank)
            return &fv_model_phases(m)->turns[i];
    return NULL;
}

/* Of all ranks; of those with MPI outside of it. */
static double counted(const struct fv_model *m, const char *quantity, enum fv_throughput_kind kind)
{
    double sum = fv_model_counts(m)->event_count ? 0 : NAN;

    for (uint32_t i = 0; i < m->rank_count && isfinite(sum); i++)
        sum += fv_counts_of(fv_model_counts(m), 0, i, quantity, kind == FV_THROUGHPUT_RANKS);
    return sum;
}

/* From the first one's begin to the last one's end: copies do not begin at once. */
static double elapsed_of(const struct fv_model *m, enum fv_throughput_kind kind)
{
    double elapsed_s = 0, begin_s = INFINITY;

    for (size_t i = 0; i < m->rank_count; i++)
        begin_s = fmin(begin_s, m->ranks[i].begin_s);
    for (size_t i = 0; i < m->rank_count; i++)
        elapsed_s = fmax(elapsed_s,
                         m->ranks[i].app_time_s + (kind == FV_THROUGHPUT_COPIES ? m->ranks[i].begin_s - begin_s : 0));
    return elapsed_s;
}

/* Threads that ended are known with --threads alone, and so is what they waited for a processor. */
static bool is_crowded(const struct fv_model *m, const struct fv_throughput_run *run)
{
    double cpu_s = 0, threads_s = 0;

    if (run->kind != FV_THROUGHPUT_COPIES || fv_model_locks(m)->recorded)
        return false;
    for (size_t i = 0; i < m->rank_count; i++) {
        cpu_s += or_zero(m->ranks[i].cpu_s);
        threads_s += or_zero(m->ranks[i].own_threads_s);
    }
    return threads_s > THREADED * cpu_s && m->rank_count && cpu_s > BUSY * m->ranks[0].cpus * run->elapsed_s;
}

void fv_throughput_load(struct fv_throughput *t, const struct fv_model *m)
{
    bool is_alone = fv_model_phases(m)->alone.is && fv_model_phases(m)->turn_count;
    struct fv_throughput_run run = { .kind = strcmp(m->mpi, "none") ? FV_THROUGHPUT_RANKS : FV_THROUGHPUT_COPIES,
                                     .count = m->rank_count,
                                     .alone = fv_model_phases(m)->alone };

    if ((fv_model_phases(m)->alone.is && !is_alone) || (!is_alone && m->rank_count < 2))
        return;
    run.ranks = fv_xcalloc(m->rank_count, sizeof(*run.ranks));
    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank_turns *turns = turns_of(m, i);

        run.ranks[i] = of_rank(&m->ranks[i], run.kind);
        if (turns) {
            run.ranks[i].turns = *turns;
            run.ranks[i].took_turns = true;
        }
    }
    run.elapsed_s = elapsed_of(m, run.kind);
    run.is_crowded = is_crowded(m, &run);
    if (is_alone)
        run.verdict = judge_all(&run);
    run.instructions = counted(m, "instructions", run.kind);
    run.cycles = counted(m, "cycles", run.kind);
    run.lines = counted(m, "memory_lines", run.kind);
    FV_GROW(t->runs, t->run_room, t->run_count + 1);
    t->runs[t->run_count++] = run;
}

/* ---- of a run in which one at a time worked ---- */

static double time_of(const struct fv_throughput_run *run)
{
    double time_s = 0;

    for (size_t i = 0; i < run->count; i++)
        time_s += run->ranks[i].took_turns ? run->ranks[i].turns.alone.time_s : NAN;
    return time_s;
}

static double bytes_per_s_of_one(const struct fv_throughput_run *run)
{
    return FV_ALONE_LINE * run->lines / time_of(run);
}

static double missed_in(const struct fv_throughput_run *run)
{
    uint64_t probes = 0, misses = 0;

    for (size_t i = 0; i < run->count && run->ranks[i].took_turns; i++) {
        probes += run->ranks[i].turns.alone.probes;
        misses += run->ranks[i].turns.alone.misses;
    }
    return probes ? (double)misses / (double)probes : NAN;
}

/* ---- together ---- */

static struct fv_throughput_point *point_of(struct fv_throughput *t, const struct fv_throughput_run *run)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->points[i].kind == run->kind && t->points[i].count == run->count)
            return &t->points[i];
    FV_GROW(t->points, t->room, t->count + 1);
    t->points[t->count] = (struct fv_throughput_point){
        .kind = run->kind, .count = run->count, .shares = fv_xcalloc(run->count, sizeof(struct fv_throughput_share))
    };
    return &t->points[t->count++];
}

/* Of several runs the shortest counts. */
static void add_together(struct fv_throughput *t, const struct fv_throughput_run *run)
{
    struct fv_throughput_point *p = point_of(t, run);

    if (p->runs++ && run->elapsed_s >= p->elapsed_s)
        return;
    p->elapsed_s = run->elapsed_s;
    p->is_off_cpu = run->is_crowded;
    p->bytes_per_s = FV_ALONE_LINE * run->lines / run->elapsed_s;
    for (size_t i = 0; i < run->count; i++)
        p->shares[i] = (struct fv_throughput_share){ .rank = run->ranks[i].rank,
                                                     .together_s = run->ranks[i].compute_s,
                                                     .queue_s = run->ranks[i].queue_s,
                                                     .off_cpu_s = run->ranks[i].off_cpu_s };
}

static void finish_together(struct fv_throughput_point *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->sums.together_s += p->shares[i].together_s;
        p->sums.queue_s += p->shares[i].queue_s;
        p->sums.off_cpu_s += p->shares[i].off_cpu_s;
    }
    p->is_off_cpu |= p->sums.off_cpu_s > FV_OFF_CPU * p->sums.together_s;
}

/* ---- alone ---- */

/* One copy stands for all. */
static size_t alone_count(const struct fv_throughput_point *p)
{
    return p->kind == FV_THROUGHPUT_COPIES ? 1 : p->count;
}

static bool is_of(const struct fv_throughput_run *run, enum fv_throughput_kind kind, size_t count)
{
    return run->alone.is && run->kind == kind && run->count == count;
}

static double distance(const struct fv_throughput_run *run, const struct fv_throughput_point *p)
{
    return fabs(run->alone.part * (double)p->count - 1);
}

/* The part of the cache that is nearest to an N-th, and not far: resctrl's ways are not always one. NAN: none. */
static double find_part(const struct fv_throughput *t, const struct fv_throughput_point *p)
{
    const struct fv_throughput_run *best = NULL;

    for (size_t i = 0; i < t->run_count; i++) {
        const struct fv_throughput_run *run = &t->runs[i];

        if (is_of(run, p->kind, alone_count(p)) && run->alone.part < 1 && distance(run, p) < 0.26 &&
            (!best || distance(run, p) < distance(best, p)))
            best = run;
    }
    return best ? best->alone.part : NAN;
}

/* Runs with that part: of those that are good by their own numbers the shortest counts, if a second one is, and about
 * as short. */
struct alone {
    size_t runs, good_runs;
    double least_s, next_s, most_s; /* of all together: the two shortest good ones, and the longest */
    enum fv_alone_verdict verdict;
    const struct fv_throughput_run *shortest;
};

static double alone_of(const struct fv_throughput_run *run, const struct fv_throughput_point *p, size_t i)
{
    const struct of_rank *rank = &run->ranks[p->kind == FV_THROUGHPUT_COPIES ? 0 : i];

    return rank->took_turns ? rank->turns.alone.time_s : NAN;
}

static void add_alone_run(struct alone *all, const struct fv_throughput_run *run, double time_s)
{
    all->runs++;
    all->most_s = fmax(all->most_s, time_s);
    all->shortest = all->shortest ? all->shortest : run;
    if (run->verdict) {
        all->verdict = run->verdict;
        return;
    }
    if (time_s < all->least_s) {
        all->next_s = all->least_s;
        all->least_s = time_s;
        all->shortest = run;
    } else {
        all->next_s = fmin(all->next_s, time_s);
    }
    all->good_runs++;
}

static struct alone find_alone(const struct fv_throughput *t, enum fv_throughput_kind kind, size_t count, double part)
{
    struct alone all = { 0, 0, INFINITY, INFINITY, -INFINITY, FV_ALONE_GOOD, NULL };

    for (size_t i = 0; i < t->run_count; i++)
        if (is_of(&t->runs[i], kind, count) && fabs(t->runs[i].alone.part - part) < 1e-5)
            add_alone_run(&all, &t->runs[i], time_of(&t->runs[i]));
    if (all.good_runs > 1 || all.good_runs == all.runs)
        all.verdict = fv_alone_differ(all.least_s, all.next_s, FV_ALONE_SPREAD) ? FV_ALONE_VARIES : FV_ALONE_GOOD;
    return all;
}

static void take_alone(struct fv_throughput_point *p, const struct alone *all, size_t member)
{
    for (size_t i = 0; i < p->count; i++)
        *(double *)((char *)&p->shares[i] + member) = all->shortest ? alone_of(all->shortest, p, i) : NAN;
}

static void find_turns(struct fv_throughput_point *p, const struct fv_throughput_run *run)
{
    double time_s = 0, turns = 0;

    p->turn_s = p->fill_s = NAN;
    for (size_t i = 0; i < run->count && run->ranks[i].took_turns; i++) {
        time_s += run->ranks[i].turns.alone.time_s;
        turns += (double)run->ranks[i].turns.alone.measured;
        p->fill_s = run->ranks[i].turns.fill_s > 0 ? run->ranks[i].turns.fill_s : NAN;
    }
    if (p->kind == FV_THROUGHPUT_RANKS && turns > 0)
        p->turn_s = time_s / turns;
    p->is_least = p->turn_s < FV_TURN_FILLS * p->fill_s;
}

/* ---- components ---- */

/* Nothing is known but what each took together. */
static void forget_alone(struct fv_throughput_point *p, bool also_whole)
{
    for (size_t i = 0; i < p->count; i++) {
        p->shares[i].part_s = NAN;
        if (also_whole)
            p->shares[i].alone_s = NAN;
    }
}

static double sum_of(const struct fv_throughput_point *p, size_t member)
{
    double sum = 0;

    for (size_t i = 0; i < p->count; i++)
        sum += *(const double *)((const char *)&p->shares[i] + member);
    return sum;
}

static void finish_shares(struct fv_throughput_point *p)
{
    p->sums.alone_s = sum_of(p, offsetof(struct fv_throughput_share, alone_s));
    p->sums.part_s = sum_of(p, offsetof(struct fv_throughput_share, part_s));
    for (size_t i = 0; i <= p->count; i++) {
        struct fv_throughput_share *s = i < p->count ? &p->shares[i] : &p->sums;

        s->cache_s = s->part_s - s->alone_s;
        s->memory_s = s->together_s - s->part_s;
        s->sharing_s = s->together_s - s->alone_s;
    }
}

static enum fv_alone_verdict judge_whole(const struct fv_throughput_point *p, const struct alone *whole)
{
    if (!whole->runs)
        return FV_ALONE_NOT_RUN;
    if (whole->verdict)
        return whole->verdict;
    return sum_of(p, offsetof(struct fv_throughput_share, alone_s)) > FV_ALONE_SAME * p->sums.together_s
               ? FV_ALONE_MORE
               : FV_ALONE_GOOD;
}

static enum fv_alone_verdict judge_part(const struct fv_throughput_point *p, const struct alone *part)
{
    if (!part->runs)
        return FV_ALONE_NO_PART;
    if (part->verdict)
        return part->verdict;
    return sum_of(p, offsetof(struct fv_throughput_share, part_s)) > FV_ALONE_SAME * p->sums.together_s
               ? FV_ALONE_SHARED
               : FV_ALONE_GOOD;
}

static void take_apart(struct fv_throughput_point *p)
{
    double n = (double)p->count, a = p->is_off_cpu ? NAN : p->sums.alone_s, u = p->sums.together_s, q = p->sums.queue_s;

    p->throughput = a / p->elapsed_s;
    p->waiting = n * a / (u + q) - p->throughput;
    p->few_cpus = n * a / u - n * a / (u + q);
    p->sharing = n - n * a / u;
    p->cache = n - n * a / p->sums.part_s;
    p->memory = p->sharing - p->cache;
}

static void compute_point(const struct fv_throughput *t, struct fv_throughput_point *p)
{
    finish_together(p);
    p->part = find_part(t, p);
    p->missed = p->turn_s = p->fill_s = p->wanted_bytes_per_s = NAN;
    struct alone whole = find_alone(t, p->kind, alone_count(p), 1),
                 part = find_alone(t, p->kind, alone_count(p), p->part);
    take_alone(p, &whole, offsetof(struct fv_throughput_share, alone_s));
    take_alone(p, &part, offsetof(struct fv_throughput_share, part_s));
    if (whole.shortest)
        find_turns(p, whole.shortest);
    if (part.shortest) {
        p->missed = missed_in(part.shortest);
        p->wanted_bytes_per_s = part.verdict ? NAN : (double)p->count * bytes_per_s_of_one(part.shortest);
        p->how = part.shortest->alone.how;
        p->left_bytes = part.shortest->alone.left_bytes;
    }
    double each = (double)p->count / (double)alone_count(p);
    p->alone_least_s = whole.good_runs ? whole.least_s * each : NAN;
    p->alone_most_s = whole.runs ? whole.most_s * each : NAN;
    enum fv_alone_verdict of_whole = judge_whole(p, &whole), of_part = judge_part(p, &part);
    p->separation = of_whole ? of_whole : of_part;
    if (p->separation)
        forget_alone(p, of_whole);
    finish_shares(p);
    take_apart(p);
}

/* ---- curve ---- */

static bool has_curve_point(const struct fv_throughput *t, const struct fv_throughput_run *run)
{
    for (size_t i = 0; i < t->curve_count; i++)
        if (is_of(run, t->curve[i].kind, t->curve[i].count) && fabs(t->curve[i].part - run->alone.part) < 1e-5)
            return true;
    return false;
}

static struct fv_throughput_alone curve_point(const struct fv_throughput *t, const struct fv_throughput_run *like)
{
    struct alone of = find_alone(t, like->kind, like->count, like->alone.part),
                 whole = find_alone(t, like->kind, like->count, 1);
    const struct fv_throughput_run *run = of.shortest;
    double time_s = time_of(run) / (double)run->count;

    return (struct fv_throughput_alone){
        .kind = run->kind,
        .count = run->count,
        .runs = of.runs,
        .how = run->alone.how,
        .part = run->alone.part,
        .left_bytes = run->alone.left_bytes,
        .time_s = time_s,
        .slower = whole.runs && !whole.verdict && !of.verdict ? time_of(run) / time_of(whole.shortest) : NAN,
        .missed = missed_in(run),
        .cycles = run->cycles / run->instructions,
        .lines = 1000 * run->lines / run->instructions,
        .bytes_per_s = bytes_per_s_of_one(run),
        .verdict = of.verdict,
    };
}

static int by_kind_count_and_part(const void *a, const void *b)
{
    const struct fv_throughput_alone *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return (x->part < y->part) - (x->part > y->part);
}

static void draw_curve(struct fv_throughput *t)
{
    for (size_t i = 0; i < t->run_count; i++)
        if (t->runs[i].alone.is && !has_curve_point(t, &t->runs[i])) {
            struct fv_throughput_alone point = curve_point(t, &t->runs[i]);

            FV_GROW(t->curve, t->curve_room, t->curve_count + 1);
            t->curve[t->curve_count++] = point;
        }
    if (t->curve_count)
        qsort(t->curve, t->curve_count, sizeof(*t->curve), by_kind_count_and_part);
}

/* ---- all ---- */

static int by_kind_and_count(const void *a, const void *b)
{
    const struct fv_throughput_point *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->count > y->count) - (x->count < y->count);
}

static bool is_any_alone(const struct fv_throughput *t)
{
    for (size_t i = 0; i < t->run_count; i++)
        if (t->runs[i].alone.is)
            return true;
    return false;
}

bool fv_throughput_compute(struct fv_throughput *t)
{
    if (!is_any_alone(t))
        return false;
    for (size_t i = 0; i < t->run_count; i++)
        if (!t->runs[i].alone.is)
            add_together(t, &t->runs[i]);
    if (!t->count)
        return false;
    qsort(t->points, t->count, sizeof(*t->points), by_kind_and_count);
    for (size_t i = 0; i < t->count; i++)
        compute_point(t, &t->points[i]);
    draw_curve(t);
    return true;
}

void fv_throughput_release(struct fv_throughput *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->points[i].shares);
    for (size_t i = 0; i < t->run_count; i++)
        free(t->runs[i].ranks);
    free(t->points);
    free(t->curve);
    free(t->runs);
    *t = (struct fv_throughput){ 0 };
}

double fv_throughput_gain(const struct fv_throughput *t, const struct fv_throughput_point *p)
{
    if (p->count == 2)
        return p->sums.part_s / p->sums.alone_s;
    for (size_t i = 0; i < t->count && p->kind == FV_THROUGHPUT_COPIES; i++)
        if (t->points[i].kind == p->kind && t->points[i].count * 2 == p->count)
            return p->sums.part_s / 2 / t->points[i].sums.part_s;
    return NAN;
}
