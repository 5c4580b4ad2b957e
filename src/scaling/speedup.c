/* SPDX-License-Identifier: BSD-3-Clause */
/* See speedup.h. */
#include "scaling/speedup.h"
#include "base/list.h"
#include "base/base.h"
#include "profile/threads/lock_words.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const fv_speedup_rejects[] = { FV_SPEEDUP_REJECT_LIST(FV_LIST_WORD) NULL };

/* ---- runs ---- */

static struct fv_speedup_phase *phase_of(struct fv_speedup *s, const char *name, const char *kind)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->phases[i].kind, kind) && (!name || !strcmp(s->phases[i].name, name)))
            return &s->phases[i];
    FV_GROW(s->phases, s->room, s->count + 1);
    s->phases[s->count] =
        (struct fv_speedup_phase){ .name = name ? fv_arena_string(&s->arena, name) : NULL, .kind = kind };
    return &s->phases[s->count++];
}

static struct fv_speedup_point *point_of(struct fv_speedup_phase *phase, size_t threads)
{
    for (size_t i = 0; i < phase->count; i++)
        if (phase->points[i].threads == threads)
            return &phase->points[i];
    FV_GROW(phase->points, phase->room, phase->count + 1);
    phase->points[phase->count] =
        (struct fv_speedup_point){ .threads = threads, .least_s = INFINITY, .next_s = INFINITY, .most_s = -INFINITY };
    return &phase->points[phase->count++];
}

static void add_times(struct fv_speedup_times *to, const struct fv_speedup_times *from)
{
    to->elapsed_s += from->elapsed_s;
    to->longest_s += from->longest_s;
    to->waitless_s += from->waitless_s;
    to->useful_s += from->useful_s;
    to->queue_s += from->queue_s;
    to->off_cpu_s += from->off_cpu_s;
}

/* `time_s`: by which runs are compared. What disturbs a run makes it longer: the shortest counts. */
static void add_run(struct fv_speedup_phase *phase, size_t threads, const struct fv_speedup_times *times, double time_s,
                    double serial_s)
{
    struct fv_speedup_point *point = point_of(phase, threads);

    point->runs++;
    point->most_s = fmax(point->most_s, time_s);
    if (!(time_s < point->least_s)) {
        point->next_s = fmin(point->next_s, time_s);
        return;
    }
    point->next_s = point->least_s;
    point->least_s = time_s;
    point->times = *times;
    point->serial_s = serial_s;
}

/* Part of the time of all threads in which one could have run and had no processor: of threads of OpenMP, whose CPU
 * time in a region is not known. */
static double delayed_share(const struct fv_model *m)
{
    double delayed_s = 0, time_s = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        delayed_s += m->ranks[i].ready_s + m->ranks[i].others_ready_s;
    for (size_t i = 0; i < fv_model_phases(m)->count; i++)
        time_s += fv_model_phases(m)->items[i].sums.time_s;
    return time_s > 0 ? delayed_s / time_s : NAN;
}

static struct fv_speedup_times times_of(const struct fv_model *m, const struct fv_phase *phase)
{
    const struct fv_phase_sums *u = &phase->sums;
    double ranks = phase->ranks, useful_s = (u->time_s - u->wait_s) / ranks;

    return (struct fv_speedup_times){
        .elapsed_s = u->elapsed_s / ranks,
        .longest_s = u->longest_s / ranks,
        .waitless_s = u->useful_longest_s / ranks,
        .useful_s = useful_s,
        .queue_s = u->queue_s / ranks,
        .off_cpu_s = isfinite(u->off_cpu_s) ? u->off_cpu_s / ranks : delayed_share(m) * u->time_s / ranks,
    };
}

static double elapsed_of(const struct fv_model *m)
{
    double elapsed_s = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        elapsed_s = fmax(elapsed_s, m->ranks[i].end_s - m->ranks[i].begin_s);
    return elapsed_s;
}

static void add_profile(struct fv_speedup *s, const char *path, const struct fv_profile *profile)
{
    const struct fv_model *m = profile->model;
    struct fv_speedup_times all = { 0 };
    bool is_alone = fv_model_phases(m)->alone.is;
    size_t threads = 1;
    char name[1200];

    for (size_t i = 0; i < fv_model_phases(m)->count; i++) {
        const struct fv_phase *phase = &fv_model_phases(m)->items[i];
        struct fv_speedup_times times = times_of(m, phase);

        if (!phase->sums.threads_max || !(times.longest_s > 0))
            continue;
        threads = phase->sums.threads_max > threads ? phase->sums.threads_max : threads;
        fv_view_phase_label(profile, phase, true, name, sizeof(name));
        if (is_alone) {
            fv_alone_add(phase_of(s, name, fv_phase_kind_name(phase->kind)), &fv_model_phases(m)->alone, phase);
            continue;
        }
        add_run(phase_of(s, name, fv_phase_kind_name(phase->kind)), phase->sums.threads_max, &times, times.longest_s,
                0);
        add_times(&all, &times);
    }
    double parallel_s = all.elapsed_s;
    all.elapsed_s = elapsed_of(m);
    if (!is_alone)
        add_run(phase_of(s, NULL, "program"), threads, &all, all.elapsed_s,
                parallel_s <= all.elapsed_s ? all.elapsed_s - parallel_s : NAN);
    FV_GROW(s->runs, s->run_room, s->run_count + 1);
    s->runs[s->run_count++] = (struct fv_speedup_run){ fv_arena_string(&s->arena, path),
                                                       fv_arena_string(&s->arena, m->command),
                                                       threads,
                                                       all.elapsed_s,
                                                       is_alone ? fv_model_phases(m)->alone.part : NAN,
                                                       fv_model_phases(m)->count > 0 };
}

int fv_speedup_load(struct fv_speedup *s, const char *path, const struct fv_choice *choice)
{
    struct fv_profile *profile;
    int err = fv_profile_open(&(char *){ (char *)path }, 1, &(struct fv_profile_options){ .choice = choice }, &profile);

    if (err)
        return err;
    add_profile(s, path, profile);
    if (profile->model->passed_by)
        fv_log(
            "stacks: %s: the files of %zu of %d ranks were read: phases are of these; what ranks take from each other "
            "needs all",
            path, profile->model->rank_count, profile->model->world_size);
    else
        fv_throughput_load(&s->throughput, profile->model);
    fv_profile_close(profile);
    return 0;
}

/* ---- stacks ---- */

/* T1 of what the phases do; of a phase, its own. */
static void stack(struct fv_speedup_point *p, double t1_s)
{
    const struct fv_speedup_times *t = &p->times;
    struct fv_speedup_components *c = &p->stack;
    double threads = (double)p->threads;

    c->measured = t1_s / t->longest_s;
    c->waitless = t1_s / t->waitless_s;
    c->balanced = t1_s * threads / t->useful_s;
    c->placed = t1_s * threads / (t->useful_s - t->queue_s);
    c->synchronisation = c->waitless - c->measured;
    c->imbalance = c->balanced - c->waitless;
    c->few_cpus = c->placed - c->balanced;
    c->work = threads - c->placed;
}

static const struct fv_speedup_point *alone(const struct fv_speedup_phase *phase)
{
    return phase->count && phase->points[0].threads == 1 ? &phase->points[0] : NULL;
}

static bool is_off_cpu(const struct fv_speedup_times *t)
{
    return t->off_cpu_s - t->queue_s > FV_OFF_CPU * t->useful_s;
}

static enum fv_speedup_reject judge(const struct fv_speedup_point *p, const struct fv_speedup_point *one, double t1_s)
{
    if (!one || !(t1_s > 0))
        return FV_SPEEDUP_NO_T1;
    if (fv_alone_differ(one->least_s, one->next_s, FV_T1_SPREAD))
        return FV_SPEEDUP_SPREAD;
    if (is_off_cpu(&p->times) || is_off_cpu(&one->times))
        return FV_SPEEDUP_OFF_CPU;
    return fmax(p->stack.waitless, p->stack.measured) > FV_STACK_GUARD * (double)p->threads ? FV_SPEEDUP_TOO_LARGE
                                                                                            : FV_SPEEDUP_GOOD;
}

static void compute_phase(struct fv_speedup_phase *phase)
{
    const struct fv_speedup_point *one = alone(phase);
    bool is_program = !phase->name;

    for (size_t i = 0; i < phase->count; i++) {
        struct fv_speedup_point *p = &phase->points[i];
        double t1_s = one ? one->times.longest_s : NAN;

        stack(p, t1_s);
        p->serial = is_program ? p->stack.measured - (one ? one->times.elapsed_s / p->times.elapsed_s : NAN) : 0;
        p->stack.measured -= p->serial;
        if (isnan(p->serial_s))
            p->serial = NAN;
        p->reject = p->threads == 1 ? FV_SPEEDUP_GOOD : judge(p, one, t1_s);
    }
}

static int by_threads(const void *a, const void *b)
{
    const struct fv_speedup_point *x = a, *y = b;

    return (x->threads > y->threads) - (x->threads < y->threads);
}

static double last_time(const struct fv_speedup_phase *phase)
{
    return phase->points[phase->count - 1].times.longest_s;
}

/* The whole program first. */
static int by_time(const void *a, const void *b)
{
    const struct fv_speedup_phase *x = a, *y = b;

    if (!x->name || !y->name)
        return (y->name == NULL) - (x->name == NULL);
    return (last_time(x) < last_time(y)) - (last_time(x) > last_time(y));
}

/* What only runs have in which one thread ran alone. */
static void leave_out_empty(struct fv_speedup *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->count; i++) {
        if (s->phases[i].count)
            s->phases[kept++] = s->phases[i];
        else
            free(s->phases[i].alone);
    }
    s->count = kept;
}

/* One thread, or they were not recorded. */
static void say_without_phases(const struct fv_speedup *s)
{
    for (size_t i = 0; i < s->run_count; i++)
        if (!s->runs[i].has_phases && !isfinite(s->runs[i].part))
            fv_log("stacks: %s: has no phases of threads; it counts as a run with one thread", s->runs[i].directory);
}

/* Runs of copies, or of ranks, are of no numbers of threads. */
static void leave_out_all(struct fv_speedup *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->phases[i].points);
        free(s->phases[i].alone);
    }
    s->count = 0;
}

static void say_left_out(const struct fv_speedup *s)
{
    bool any = false;

    for (size_t i = 0; i < s->count; i++)
        any |= s->phases[i].count > 1;
    if (any)
        fv_log("stacks: runs of --throughput and runs of several numbers of threads are mixed; the latter are left "
               "out: name them separately");
}

int fv_speedup_compute(struct fv_speedup *s)
{
    if (fv_throughput_compute(&s->throughput)) {
        say_left_out(s);
        leave_out_all(s);
        return 0;
    }
    say_without_phases(s);
    leave_out_empty(s);
    for (size_t i = 0; i < s->count; i++)
        qsort(s->phases[i].points, s->phases[i].count, sizeof(*s->phases[i].points), by_threads);
    qsort(s->phases, s->count, sizeof(*s->phases), by_time);
    if (!s->count || s->phases[0].count < 2) {
        fv_log("stacks: all runs had %zu thread%s: runs with 1, 2, 4, ... threads are needed (OMP_NUM_THREADS), "
               "recorded with fvmpi run --threads",
               s->count ? s->phases[0].points[0].threads : 1,
               fv_words_s(s->count ? s->phases[0].points[0].threads : 1));
        return -FV_EFORMAT;
    }
    for (size_t i = 0; i < s->count; i++)
        compute_phase(&s->phases[i]);
    fv_alone_compute(s);
    return 0;
}

void fv_speedup_release(struct fv_speedup *s)
{
    leave_out_all(s);
    fv_throughput_release(&s->throughput);
    free(s->phases);
    free(s->runs);
    fv_arena_release(&s->arena);
    *s = (struct fv_speedup){ 0 };
}
