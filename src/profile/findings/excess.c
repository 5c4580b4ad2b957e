/* See excess.h. */
#include "profile/findings/excess.h"

#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST 0.5 /* of what the rank computes longer */

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
