/* See excess.h. */
#include "profile/findings/excess.h"

#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST 0.5 /* of what the rank computes longer, or is outside of MPI: then it is the reason */
#define SOME 0.1 /* the same, where nothing else is */

static double outside_mpi(const struct fv_cost_sum *sum)
{
    return (double)sum->ticks - (double)sum->in_mpi - (double)sum->in_sync;
}

/* Of a rank and of the mean of all others, in seconds. */
struct times {
    double rank_s, all_s, ticks;
};

static struct times times_of(const struct fv_profile *v, const struct fv_cost_procedure *p, uint32_t rank)
{
    const struct fv_costs *costs = &v->model->costs;
    struct times t = { 0 };

    for (size_t i = 0; i < p->parts; i++) {
        const struct fv_cost_part *part = &v->costs->parts[p->first_part + i];
        const struct fv_cost_thread *thread = &costs->threads[part->owner];
        double ticks = outside_mpi(&part->sum.total);

        t.all_s += ticks * thread->tick_s;
        if (thread->rank != rank)
            continue;
        t.rank_s += ticks * thread->tick_s;
        t.ticks += ticks;
    }
    return t;
}

double fv_excess_computing(const struct fv_profile *v, uint32_t rank)
{
    const struct fv_costs *costs = &v->model->costs;
    double mine = 0, all = 0;

    if (!costs->ticks || v->model->rank_count < 2)
        return NAN;
    for (size_t i = 0; i < costs->thread_count; i++) {
        const struct fv_cost_thread *t = &costs->threads[i];
        double s = ((double)t->ticks - (double)t->in_mpi) * t->tick_s;

        all += s;
        mine += t->rank == rank ? s : 0;
    }
    return mine - (all - mine) / (double)(v->model->rank_count - 1);
}

/* So long at least the rank was outside of MPI without a processor: its CPU time may be in MPI. NAN: not known. */
static double off_processor(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];

    return r->threads > 1 ? NAN : fv_outside_s(m, rank) - r->cpu_s;
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

enum fv_doing fv_excess_doing(const struct fv_profile *v, uint32_t rank, double excess)
{
    const struct fv_model *m = v->model;
    const struct fv_rank *r = &m->ranks[rank];
    double computing = fv_excess_computing(v, rank), off = off_processor(m, rank);
    double blocked = fmax(off - r->ready_s, blocked_beside_others(m, rank));

    /* Who computes longer is also preempted longer, so that CPU time need not be most of it, if it alone is worth a word. */
    if (computing >= MOST * excess || (computing >= SOME * excess && computing > 2 * blocked &&
                                       fv_finding_worth(v, computing * (double)(m->rank_count - 1))))
        return FV_COMPUTES;
    if (blocked > MOST * excess && blocked > FV_FINDING_WORTH * r->app_time_s && !(r->ready_s >= blocked))
        return FV_IS_BLOCKED; /* who waits much for a processor also wakes late */
    if (isfinite(computing) || off > MOST * excess)
        return FV_IS_DISTURBED;
    return isfinite(off) ? FV_COMPUTES : FV_NOT_KNOWN;
}

/* CPython's own functions: a Python program is not helped by them. */
static bool is_of_interpreter(const char *name)
{
    return !strncmp(name, "Py", 2) || !strncmp(name, "_Py", 3) || !strncmp(name, "pymain_", 7);
}

struct fv_excess fv_excess_of(const struct fv_profile *v, uint32_t rank)
{
    double whole = fv_excess_computing(v, rank), best = 0;
    struct fv_excess out = { 0 };

    for (size_t i = 0; whole > 0 && i < v->costs->procedure_count; i++) {
        const struct fv_cost_procedure *p = &v->costs->procedures[i];
        struct times t = times_of(v, p, rank);
        double others = (t.all_s - t.rank_s) / (double)(v->model->rank_count - 1), excess = t.rank_s - others;
        double tick_s = t.ticks > 0 ? t.rank_s / t.ticks : 0;

        if (excess < MOST * whole || excess < tick_s * fv_cost_error((uint64_t)fmax(t.ticks, 0)))
            continue;
        if (excess * excess / t.all_s <= best || !strcmp(p->name, "[fvmpi]"))
            continue;
        if (is_of_interpreter(p->name))
            continue;
        best = excess * excess / t.all_s;
        out = (struct fv_excess){ p, t.rank_s, others };
    }
    return out;
}

void fv_excess_place(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding, const struct fv_excess *excess)
{
    finding->evidence = FV_EVIDENCE_SAMPLES;
    finding->function = excess->procedure->name;
    finding->file = excess->procedure->file;
    finding->line = excess->procedure->first_line;
    if (finding->file)
        fv_finding_next(f, finding, "its lines: fvmpi report %s --source %s", v->model->directory, finding->file);
}

char *fv_procedure_words(const struct fv_cost_procedure *p, char *out, size_t bytes)
{
    const char *file = p->file ? strrchr(p->file, '/') : NULL;
    char name[300];

    snprintf(out, bytes, "%s%s", fv_words_brief(p->name, name, sizeof(name)), p->nameless ? "" : "()");
    if (!p->file)
        return out;
    fv_words_add(out, bytes, " %s %s", p->first_line ? "at" : "in", file ? file + 1 : p->file);
    if (p->first_line)
        fv_words_add(out, bytes, ":%u", p->first_line);
    return out;
}
