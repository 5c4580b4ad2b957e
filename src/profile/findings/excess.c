/* SPDX-License-Identifier: BSD-3-Clause */
/* See excess.h. */
#include "profile/findings/excess.h"
#include "profile/io/io.h"

#include "profile/functions/instrumentation.h"
#include "profile/samples/costs.h"
#include "profile/samples/samples.h"
#include "profile/threads/locks.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST             0.5  /* of what the rank computes longer, or is outside of MPI: then it is the reason */
#define SOME             0.1  /* the same, where nothing else is */
#define OURS             0.1  /* of the CPU time: more of fvmpi itself is told, and names no function of the program */
#define SPREADS          3    /* standard deviations that are no chance: many functions are looked at, in many runs */
#define MOST_OF_CPU      1.05 /* of CPU time, and so much more: clocks and counters of the kernel differ by that */
#define CPU_ERROR_S      0.02
#define MEASURED_ERROR_S 0.01 /* of what a rank computes, by its switches */
#define AS_OFTEN         0.8  /* as another rank: about */
#define WAKE_S           2e-4 /* to wake a rank that slept */
#define MISSED           0.5  /* of what a rank computes: with less samples do not tell where */
#define OFTEN            0.1  /* of a rank's time outside of MPI */
/* of what the main thread is blocked longer: threads that compute as long may be what it waits for */
#define PART        0.25
#define LONG_STOP_S 0.1

static double outside_mpi(const struct fv_cost_sum *sum)
{
    return (double)sum->ticks - (double)sum->in_mpi - (double)sum->in_sync;
}

/* Of a rank and of all, in seconds; raw: by the samples as they are, each for its period. */
struct times {
    double rank_s, all_s, raw_rank_s, raw_all_s, ticks;
};

/* Two ways to count samples of a rank outside of MPI: for the CPU time that they stand for, in the kernel as well; or,
 * where functions are told apart, each for its period: the kernel's part is of one function alone (page faults), and of
 * any. */
struct by_samples {
    double cpu_s, period_s;
    double whole_s; /* as cpu_s, with MPI */
};

static struct by_samples samples_of(const struct fv_model *m, uint32_t rank)
{
    const struct fv_costs *costs = fv_model_costs(m);
    struct by_samples sum = { 0, 0, 0 };
    /* in order of their ranks, of which there may be many */
    const size_t first = FV_COUNT_BEFORE(i, costs->thread_count, costs->threads[i].rank < rank);

    if (!costs->ticks || first == costs->thread_count || costs->threads[first].rank != rank)
        return (struct by_samples){ NAN, NAN, NAN };
    for (size_t i = first; i < costs->thread_count && costs->threads[i].rank == rank; i++) {
        const struct fv_cost_thread *t = &costs->threads[i];

        sum.cpu_s += (double)(t->ticks - t->in_mpi) * t->cpu_tick_s;
        sum.period_s += (double)(t->ticks - t->in_mpi) * t->tick_s;
        sum.whole_s += (double)t->ticks * t->cpu_tick_s;
    }
    return sum;
}

static double measured_s(const struct fv_model *m, uint32_t rank)
{
    const struct fv_off_processor *off = &m->ranks[rank].off;

    return fmax(fv_outside_s(m, rank) - (off->blocked_s + off->preempted_s - m->ranks[rank].polled_off_s), 0);
}

/* More than there was of CPU time: context switches are missing, as of a file that was cut or could not grow. Of a rank
 * that has not ended that time is not known, nor whether it is blocked since its last call. */
static bool is_measured(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];

    return r->threads == 1 && fv_off_is_known(&r->off) && r->state != FV_RANK_CUT &&
           measured_s(m, rank) <= MOST_OF_CPU * r->cpu_s + CPU_ERROR_S;
}

/* The kernel's user time, by which the default clock samples, grows by whole ticks of the kernel. On a busy machine too
 * many of them fall into MPI that yields its processor. How long the rank computed is measured, but for what of that
 * was in the kernel. So its samples outside of MPI stand for that time: each for this many times as much. All of the
 * rank's system time is subtracted, though some of it was in MPI: how much is not known. So functions get too little of
 * that time, and never more than there was. */
static double scale_of(const struct fv_model *m, uint32_t rank)
{
    double sampled = samples_of(m, rank).period_s, measured = is_measured(m, rank) ? measured_s(m, rank) : NAN,
           in_kernel = fmax(m->ranks[rank].system_s, 0);

    if (!(sampled > 0) || !isfinite(measured))
        return 1;
    return fmin(fmax(sampled, measured - in_kernel), measured) / sampled;
}

static double in_functions_s(const struct fv_model *m, uint32_t rank)
{
    return samples_of(m, rank).period_s * scale_of(m, rank);
}

static struct times times_of(const struct fv_profile *v, const struct fv_cost_procedure *p, uint32_t rank)
{
    const struct fv_costs *costs = fv_model_costs(v->model);
    struct times t = { 0 };

    for (size_t i = 0; i < p->parts; i++) {
        const struct fv_cost_part *part = &v->costs->parts[p->first_part + i];
        const struct fv_cost_thread *thread = &costs->threads[part->owner];
        double ticks = outside_mpi(&part->sum.total), raw = ticks * thread->tick_s,
               seconds = raw * scale_of(v->model, thread->rank);

        t.all_s += seconds;
        t.raw_all_s += raw;
        if (thread->rank != rank)
            continue;
        t.rank_s += seconds;
        t.raw_rank_s += raw;
        t.ticks += ticks;
    }
    return t;
}

bool fv_excess_is_measured(const struct fv_model *m)
{
    size_t measured = 0;

    while (measured < m->rank_count && is_measured(m, (uint32_t)measured))
        measured++;
    return measured == m->rank_count;
}

/* Is a rank's processor often another's? Then ticks of the kernel meet what it does as it gets the processor, or loses
 * it. */
static bool is_any_preempted(const struct fv_model *m)
{
    for (uint32_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].off.preempted_s > OFTEN * fv_outside_s(m, i))
            return true;
    return false;
}

double fv_excess_missed_by_ticks(const struct fv_model *m, uint32_t rank)
{
    const struct fv_samples *s = fv_model_samples(m);
    double sampled = samples_of(m, rank).period_s;

    if (!s->modes[FV_SAMPLER_CLOCK] || s->modes[FV_SAMPLER_CLOCK] < s->threads || s->by_event >= s->threads ||
        !is_measured(m, rank))
        return NAN;
    return sampled < MISSED * measured_s(m, rank) || is_any_preempted(m) ? sampled : NAN;
}

/* Samples may end early, as where the program takes SIGPROF: then they are of a part of the rank's CPU time. */
static bool are_whole(const struct fv_rank *r, const struct by_samples *samples)
{
    return r->threads > 1 || !(samples->whole_s < MISSED * (r->cpu_s - r->others_cpu_s) - CPU_ERROR_S);
}

double fv_computing_s(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];

    if (is_measured(m, rank))
        return measured_s(m, rank);
    const struct by_samples samples = samples_of(m, rank);
    const double sampled_s = samples.cpu_s - (r->polled_s - r->polled_off_s);
    if (r->state == FV_RANK_CUT || !are_whole(r, &samples)) /* of a part of its time */
        return NAN;
    return sampled_s < 0 ? 0 : sampled_s; /* NAN stays */
}

static double of_others(const struct fv_model *m, uint32_t rank, double (*seconds)(const struct fv_model *, uint32_t))
{
    double others = 0;

    for (uint32_t i = 0; i < m->rank_count; i++)
        others += i == rank ? 0 : seconds(m, i);
    return m->rank_count > 1 ? others / (double)(m->rank_count - 1) : NAN;
}

/* What the rank has more than the mean of the others. */
static double excess_of(const struct fv_model *m, uint32_t rank, double (*seconds)(const struct fv_model *, uint32_t))
{
    return seconds(m, rank) - of_others(m, rank, seconds);
}

double fv_excess_computing(const struct fv_profile *v, uint32_t rank)
{
    return excess_of(v->model, rank, fv_computing_s);
}

static double in_kernel_s(const struct fv_model *m, uint32_t rank)
{
    return m->ranks[rank].system_s;
}

double fv_others_in_kernel(const struct fv_model *m, uint32_t rank)
{
    return of_others(m, rank, in_kernel_s);
}

double fv_excess_in_kernel(const struct fv_model *m, uint32_t rank)
{
    double in_mpi_s = fmax(m->ranks[rank].cpu_s - fv_computing_s(m, rank), 0); /* may all have been in the kernel */

    return excess_of(m, rank, in_kernel_s) - in_mpi_s;
}

/* So long at least the rank was outside of MPI without a processor: its CPU time may be in MPI. NAN: not known. */
static double off_processor(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];

    return r->threads > 1 ? NAN : r->app_time_s - r->mpi_time_s - r->cpu_s;
}

/* MPI that spins keeps its processor all the time: then what the rank had none for was outside of it. */
static double blocked_beside_others(const struct fv_model *m, uint32_t rank)
{
    double mine = 0, others = 0;

    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];
        double s = r->threads > 1 ? NAN : r->app_time_s - r->cpu_s - r->ready_s;

        if (i == rank)
            mine = s;
        else
            others += s;
    }
    return mine - others / (double)(m->rank_count - 1);
}

/* A rank that was blocked is ready before it runs again, on a busy machine for long. Returns that time: its ready time
 * without preemption, and without what it may have waited for a processor in MPI. */
static double woke_late_s(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];
    const double in_mpi_s = fmax(r->app_time_s - fv_outside_s(m, rank), 0),
                 cpu_in_mpi_s = fmax(r->cpu_s - fmax(r->others_cpu_s, 0) - measured_s(m, rank), 0),
                 late_s = r->ready_s - r->off.preempted_s - fmax(in_mpi_s - cpu_in_mpi_s, 0);

    return late_s > 0 ? late_s : 0;
}

static double times_blocked(const struct fv_model *m, uint32_t rank)
{
    return (double)m->ranks[rank].off.blocked;
}

/* It sleeps as often as the others, and longer each time by no more than timers and hypervisors take to wake it. */
static bool wakes_later(const struct fv_model *m, uint32_t rank, double more_s)
{
    const double times = times_blocked(m, rank);

    return of_others(m, rank, times_blocked) >= AS_OFTEN * times && more_s < WAKE_S * times;
}

/* Seconds that the rank was blocked more than the mean of the others, and preempted or late to run again. False: they
 * are not known, or of a part of the switches. */
static bool off_more(const struct fv_model *m, uint32_t rank, double *blocked, double *preempted)
{
    *blocked = *preempted = 0;
    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_off_processor *off = &m->ranks[i].off;
        double weight = i == rank ? 1 : -1 / (double)(m->rank_count - 1), late_s;

        if (!fv_off_is_known(off))
            return false;
        late_s = fmin(woke_late_s(m, i), off->blocked_s);
        *blocked += weight * (off->blocked_s - late_s);
        *preempted += weight * (off->preempted_s + late_s);
    }
    if (*blocked > 0 && wakes_later(m, rank, *blocked)) {
        *preempted += *blocked;
        *blocked = 0;
    }
    return true;
}

/* What its main thread waits for other threads by --threads, else what these run or could have run: more than the mean
 * of the others. NAN: not known. */
static double own_more(const struct fv_model *m, uint32_t rank)
{
    double more = 0;

    for (size_t i = 0; i < m->rank_count; i++) {
        double s = !fv_model_locks(m)->recorded           ? m->ranks[i].others_cpu_s + m->ranks[i].others_ready_s
                   : fv_model_locks(m)->ranks[i].recorded ? fv_model_locks(m)->ranks[i].main_s
                                                          : NAN;

        more += s * (i == rank ? 1 : -1 / (double)(m->rank_count - 1));
    }
    return more;
}

/* Then samples tell what its threads compute. */
static bool are_sampled(const struct fv_costs *costs, uint32_t rank)
{
    unsigned threads = 0;

    for (size_t i = 0; i < costs->thread_count; i++)
        threads += costs->threads[i].rank == rank && costs->threads[i].ticks;
    return threads > 1;
}

static enum fv_doing blocked_for(const struct fv_profile *v, uint32_t rank, double blocked)
{
    if (!(own_more(v->model, rank) > MOST * blocked))
        return FV_IS_BLOCKED;
    return are_sampled(fv_model_costs(v->model), rank) ? FV_COMPUTES : FV_AWAITS_OWN;
}

double fv_computing_error(const struct fv_profile *v, uint32_t rank)
{
    const struct fv_costs *costs = fv_model_costs(v->model);
    uint64_t ticks = 0;

    if (is_measured(v->model, rank))
        return MEASURED_ERROR_S;
    for (size_t i = 0; i < costs->thread_count; i++)
        ticks += costs->threads[i].rank == rank ? costs->threads[i].ticks - costs->threads[i].in_mpi : 0;
    return ticks ? samples_of(v->model, rank).cpu_s / (double)ticks * fv_cost_error(ticks) : 0;
}

/* Who computes longer is also preempted longer, so that CPU time need not be most of it, if it alone is worth a
 * word. */
static bool is_also_computing(const struct fv_profile *v, uint32_t rank, double excess, double blocked)
{
    double computing = fv_excess_computing(v, rank);

    return computing >= SOME * excess && computing > 2 * blocked && computing > fv_computing_error(v, rank) &&
           fv_finding_worth(v, computing * (double)(v->model->rank_count - 1));
}

enum fv_doing fv_excess_doing(const struct fv_profile *v, uint32_t rank, double excess)
{
    const struct fv_model *m = v->model;
    const struct fv_rank *r = &m->ranks[rank];
    double computing = fv_excess_computing(v, rank), off = off_processor(m, rank);
    double blocked, preempted;

    if (off_more(m, rank, &blocked, &preempted)) {
        if (blocked > MOST * excess && blocked > FV_FINDING_WORTH * r->app_time_s)
            return blocked_for(v, rank, blocked);
        return blocked + preempted > MOST * excess && !is_also_computing(v, rank, excess, blocked) ? FV_IS_DISTURBED
                                                                                                   : FV_COMPUTES;
    }
    blocked = fmax(off - r->ready_s, blocked_beside_others(m, rank));

    if (computing >= MOST * excess || is_also_computing(v, rank, excess, blocked))
        return FV_COMPUTES;
    if (blocked > MOST * excess && blocked > FV_FINDING_WORTH * r->app_time_s && !(r->ready_s >= blocked))
        return FV_IS_BLOCKED; /* who waits much for a processor also wakes late */
    if (isfinite(computing) || off > MOST * excess)
        return FV_IS_DISTURBED;
    return isfinite(off) ? FV_COMPUTES : FV_NOT_KNOWN;
}

bool fv_io_words(const struct fv_profile *v, const struct fv_region *region, uint32_t rank, double least_s,
                 char out[FV_IO_WORDS])
{
    char seconds[FV_WORD], calls[FV_WORD], label[400];
    size_t used;

    if (!region || region->max_rank != rank || !(region->io.seconds > least_s))
        return false;
    const struct fv_region_io *io = &region->io;
    used = (size_t)snprintf(out, FV_IO_WORDS, "spends %s in %s call%s of functions for files",
                            fv_words_seconds(io->seconds, seconds), fv_words_count(io->calls, calls),
                            fv_words_s(io->calls));
    if (!(io->weight_s > 0) || !io->function || used >= FV_IO_WORDS)
        return true;
    struct fv_path path = { 0 };
    fv_path_of(&path, v->symbols, io->node);
    used += (size_t)snprintf(out + used, FV_IO_WORDS - used, ", mostly in %s()",
                             fv_io_function(fv_model_io(v->model), io->function).name);
    if (io->file && used < FV_IO_WORDS)
        used += (size_t)snprintf(out + used, FV_IO_WORDS - used, " of %.300s", io->file);
    if (path.count && used < FV_IO_WORDS)
        snprintf(out + used, FV_IO_WORDS - used, ", called by %s",
                 fv_frame_label(&path.frames[0], v->symbols, label, sizeof(label)));
    if (path.count && path.frames[0].file && (used = strlen(out)) < FV_IO_WORDS)
        snprintf(out + used, FV_IO_WORDS - used, " at %s:%u", fv_base_name(path.frames[0].file), path.frames[0].line);
    fv_path_release(&path);
    return true;
}

const char *fv_io_next(const struct fv_model *m, const struct fv_region *region)
{
    return fv_io_advice(m, region ? region->io.function : 0);
}

const char *fv_io_advice(const struct fv_model *m, uint32_t function)
{
    switch (function ? fv_io_function(fv_model_io(m), function).operation : FV_IO_OP_WRITE) {
    case FV_IO_OP_READ:
    case FV_IO_OP_ASYNC_READ:
        return "read less often and more at a time, read ahead, or let each rank read its part (MPI-IO); table io has "
               "the "
               "call paths";
    case FV_IO_OP_SYNC: return "sync less often: once, when all is written; table io has the call paths";
    case FV_IO_OP_OPEN:
    case FV_IO_OP_CLOSE:
    case FV_IO_OP_STAT:
    case FV_IO_OP_REMOVE:
    case FV_IO_OP_RENAME:
    case FV_IO_OP_DUPLICATE:
        return "open and look up fewer files, or do it on one rank for all; table io has the call paths";
    case FV_IO_OP_LOCK:
        return "take the lock less often, or give each rank a file of its own; table io has the call paths";
    default:
        return "write less often and more at a time, or let all ranks write at the same time (MPI-IO); the report's "
               "section I/O lists the call paths";
    }
}

static const char *blocked_why(bool has_threads, bool has_children)
{
    static const char *const why[2][2] = { { "sleeps, or does I/O", "sleeps, does I/O, or waits for child processes" },
                                           { "sleeps, does I/O, or waits for its other threads",
                                             "sleeps, does I/O, or waits for its other threads or child processes" } };

    return why[has_threads][has_children];
}

/* SIGSTOP looks like sleeping. Of the times that a rank was blocked the sum is known, and not the longest: a stop may
 * be one of them, unless all together are shorter than one. */
static bool may_be_stopped(const struct fv_off_processor *off)
{
    return !fv_off_is_known(off) || off->blocked_s >= LONG_STOP_S;
}

char *fv_blocked_words(const struct fv_model *m, uint32_t rank, const struct fv_region *region, char out[200])
{
    const struct fv_off_processor *all = &m->ranks[rank].off;
    const struct fv_off_processor *off = region && region->max_rank == rank ? &region->off : all;
    double blocked, preempted, own = off_more(m, rank, &blocked, &preempted) ? own_more(m, rank) : NAN;
    const bool awaits_own = own > MOST * blocked;
    const char *why = awaits_own ? "waits for its other threads, which compute"
                                 : blocked_why(own > PART * blocked, m->ranks[rank].has_children);
    char seconds[FV_WORD], times[FV_WORD], in_all[80] = "";

    if (off->blocked_s < MOST * all->blocked_s) /* the rank is longest there, and is blocked elsewhere */
        snprintf(in_all, sizeof(in_all), " (%s in all)", fv_words_seconds(all->blocked_s, seconds));
    if (fv_off_is_known(off))
        snprintf(out, 200, "was blocked for %s, %s time%s%s: it %s", fv_words_seconds(off->blocked_s, seconds),
                 fv_words_count(off->blocked, times), fv_words_s(off->blocked), in_all, why);
    else
        snprintf(out, 200, "mostly had no work for its processor: it %s", why);
    if (!awaits_own && may_be_stopped(off))
        fv_words_add(out, 200, ", or was stopped by a signal");
    return out;
}

bool fv_excess_is_interpreter(const struct fv_cost_procedure *p)
{
    if (p->nameless)
        return !strncmp(p->name, "python", 6) || !strncmp(p->name, "libpython", 9);
    return !strncmp(p->name, "Py", 2) || !strncmp(p->name, "_Py", 3) || !strncmp(p->name, "pymain_", 7);
}

bool fv_excess_is_interpreted(const struct fv_profile *v)
{
    const struct fv_cost_profile *c = v->costs;

    for (size_t i = 0; i < c->procedure_count; i++)
        if (fv_excess_is_interpreter(&c->procedures[i]) &&
            (double)c->procedures[i].sum.total.ticks > MOST * (double)c->all.ticks)
            return true;
    return false;
}

bool fv_excess_is_main(const char *function)
{
    return !strcmp(function, "main") || !strcmp(function, "MAIN__");
}

bool fv_excess_is_of_program(const struct fv_cost_procedure *p)
{
    return p->of_program && !fv_excess_is_main(p->name) && strcmp(p->name, "<module>") != 0;
}

bool fv_samples_are_ours(const struct fv_profile *v)
{
    return v->costs && (double)v->costs->fvmpi_ticks > OURS * (double)v->costs->all.ticks;
}

/* More than chance makes of so many samples. So are the samples as they are, of the rank and of the others: what a
 * rank's kernel took is told by whole ticks, and a scale that is too large for one rank alone would accuse a function
 * that takes the same on all. */
static bool is_beyond_chance(const struct fv_model *m, const struct times *t)
{
    double others = (double)(m->rank_count - 1),
           error = t->ticks > 0 ? fv_cost_error((uint64_t)t->ticks) / t->ticks : 0;
    double tick_s = t->ticks > 0 ? t->raw_rank_s / t->ticks : 0, of_others_s = t->raw_all_s - t->raw_rank_s;
    /* of the difference; a sample's is its time */
    double spread_s = sqrt(tick_s * (t->raw_rank_s + of_others_s / (others * others)));

    return t->rank_s - (t->all_s - t->rank_s) / others >= t->rank_s * error &&
           t->raw_rank_s - of_others_s / others >= SPREADS * spread_s;
}

static struct fv_excess excess_among(const struct fv_profile *v, uint32_t rank, double whole,
                                     bool (*wanted)(const struct fv_cost_procedure *))
{
    struct fv_excess out = { 0 };
    double best = 0;

    for (size_t i = 0; whole > 0 && i < v->costs->procedure_count; i++) {
        const struct fv_cost_procedure *p = &v->costs->procedures[i];

        if ((wanted && !wanted(p)) || !strcmp(p->name, "[fvmpi]") || fv_excess_is_interpreter(p))
            continue;
        struct times t = times_of(v, p, rank);
        double others = (t.all_s - t.rank_s) / (double)(v->model->rank_count - 1), excess = t.rank_s - others;
        double real = fmin(excess, whole); /* more than the whole is chance */

        if (excess < MOST * whole || !is_beyond_chance(v->model, &t) || real * real / t.all_s <= best)
            continue;
        best = real * real / t.all_s;
        out = (struct fv_excess){ p, t.rank_s, others };
    }
    return out;
}

/* A function of a library that the program's function calls, such as exp(), is no place to look at. */
struct fv_excess fv_excess_of(const struct fv_profile *v, uint32_t rank)
{
    if (isfinite(fv_excess_missed_by_ticks(v->model, rank))) /* the few that there are stand for nothing else */
        return (struct fv_excess){ 0 };
    double whole = fv_model_instrumentation(v->model)->function_count && fv_samples_are_ours(v)
                       ? 0
                       : excess_of(v->model, rank, in_functions_s);

    /* Of what it computes in the kernel there are no samples, which then do not tell what most of it is. */
    if (whole > 0 && fv_excess_is_measured(v->model))
        whole = fmax(whole, excess_of(v->model, rank, fv_computing_s));
    const struct fv_excess own = excess_among(v, rank, whole, fv_excess_is_of_program);

    return own.procedure ? own : excess_among(v, rank, whole, NULL);
}

char *fv_excess_others(const struct fv_model *m, double seconds, char out[FV_OTHERS_WORDS])
{
    char word[FV_WORD];

    snprintf(out, FV_OTHERS_WORDS, "%s %s%s", m->rank_count > 2 ? "the others" : "the other",
             fv_words_seconds(seconds, word), m->rank_count > 2 ? " on average" : "");
    return out;
}

/* "react()" */
static char *brief(const struct fv_cost_procedure *p, char *out, size_t bytes)
{
    fv_words_brief(p->name, out, bytes);
    if (!p->nameless && !strchr(out, '('))
        fv_words_add(out, bytes, "()");
    return out;
}

void fv_excess_place(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                     const struct fv_excess *excess)
{
    char name[300];

    finding->evidence = FV_EVIDENCE_SAMPLES;
    finding->function = excess->procedure->name;
    finding->file = excess->procedure->file;
    finding->line = excess->procedure->first_line;
    if (finding->file)
        fv_finding_next(f, finding, "lines of %s: %s", brief(excess->procedure, name, sizeof(name)),
                        FV_FINDING_COMMAND(v->model, "report", "--source", finding->file));
}

/* ---- by calls ---- */

/* Computing of a function itself: of a rank and of the mean of all others. */
static struct times calls_of(const struct fv_model *m, const struct fv_instrumented_function *f, uint32_t rank)
{
    struct times t = { .all_s = f->mean_s * (double)m->rank_count };

    for (uint32_t i = 0; i < f->ranks; i++) {
        const struct fv_function_rank *r = &fv_model_instrumentation(m)->ranks[f->first + i];

        if (r->rank == rank)
            t.rank_s = fmax(r->sum.self_s - r->sum.mpi_self_s, 0);
    }
    return t;
}

static double more_of(const struct fv_model *m, const struct times *t)
{
    return m->rank_count > 1 ? t->rank_s - (t->all_s - t->rank_s) / (double)(m->rank_count - 1) : 0;
}

bool fv_excess_by_calls(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding, uint32_t rank,
                        double least_s, double rest_s, char out[FV_EXCESS_WORDS])
{
    const struct fv_model *m = v->model;
    const struct fv_instrumented_function *found = NULL;
    struct times best = { 0 };
    struct fv_path path = { 0 };
    char name[300], mine[FV_WORD], others[FV_OTHERS_WORDS];

    for (size_t i = 0; i < fv_model_instrumentation(m)->function_count; i++) {
        struct times t = calls_of(m, &fv_model_instrumentation(m)->functions[i], rank);

        if (t.rank_s - rest_s < least_s || (found && more_of(m, &t) <= more_of(m, &best)))
            continue;
        found = &fv_model_instrumentation(m)->functions[i];
        best = t;
    }
    if (!found || !(more_of(m, &best) > MOST * excess_of(m, rank, fv_outside_s)))
        return false;
    fv_path_of(&path, v->symbols, found->node);
    const struct fv_frame frame = path.count ? path.frames[0] : (struct fv_frame){ 0 };
    finding->function = frame.function;
    finding->file = frame.file;
    finding->line = frame.line;
    fv_frame_brief(path.count ? &frame : NULL, v->symbols, name, sizeof(name));
    fv_path_release(&path);
    snprintf(out, FV_EXCESS_WORDS, "spends %s in %s%s", fv_words_seconds(best.rank_s, mine), name,
             strchr(name, '(') ? "" : "()");
    if (frame.file && frame.line)
        fv_words_add(out, FV_EXCESS_WORDS, " at %s:%u", fv_base_name(frame.file), frame.line);
    fv_words_add(out, FV_EXCESS_WORDS, ", %s (measured calls)",
                 fv_excess_others(m, (best.all_s - best.rank_s) / (double)(m->rank_count - 1), others));
    fv_finding_next(f, finding, "its callers: %s", FV_FINDING_COMMAND(m, "report", "--table", "instrumented_paths"));
    return true;
}

static bool is_polled_by(const struct fv_model *m, const struct fv_region *r, uint32_t rank)
{
    for (uint32_t k = 0; k < r->ranks; k++)
        if (m->region_ranks[r->first + k].rank == rank)
            return m->region_ranks[r->first + k].polls;
    return false;
}

const struct fv_region *fv_excess_region(const struct fv_model *m, uint32_t rank, uint32_t site, double least_s)
{
    const struct fv_region *most = NULL;

    for (size_t i = 0; i < m->causes.region_count; i++) {
        const struct fv_region *r = &m->causes.regions[i];

        if (r->max_rank != rank || (site != FV_NONE && r->site != site) || r->max_s - r->mean_s <= least_s ||
            is_polled_by(m, r, rank))
            continue;
        least_s = r->max_s - r->mean_s;
        most = r;
    }
    return most;
}

const struct fv_region *fv_excess_region_cpu(const struct fv_model *m, uint32_t rank, double least_s)
{
    const struct fv_region *most = NULL;

    for (size_t i = 0; i < m->causes.region_count; i++) {
        const struct fv_region *r = &m->causes.regions[i];
        double mine_s = 0, all_s = 0;

        for (uint32_t k = 0; k < r->ranks; k++) {
            const struct fv_region_rank *part = &m->region_ranks[r->first + k];
            double s = fmax(part->seconds - fv_off_least_s(&part->off), 0);

            all_s += s;
            mine_s += part->rank == rank ? s : 0;
        }
        if (mine_s - all_s / (double)m->rank_count <= least_s || is_polled_by(m, r, rank))
            continue;
        least_s = mine_s - all_s / (double)m->rank_count;
        most = r;
    }
    return most;
}

char *fv_procedure_words(const struct fv_cost_procedure *p, char *out, size_t bytes)
{
    const char *file = p->file ? strrchr(p->file, '/') : NULL;

    brief(p, out, bytes);
    if (!p->file)
        return out;
    fv_words_add(out, bytes, " %s %s", p->first_line ? "at" : "in", file ? file + 1 : p->file);
    if (p->first_line)
        fv_words_add(out, bytes, ":%u", p->first_line);
    return out;
}
