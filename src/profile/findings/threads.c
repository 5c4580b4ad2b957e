/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings: a lock that threads wait for, workers without work, and teams whose threads work for different times (fvmpi
 * run --threads). */
#include "profile/findings/findings.h"
#include "profile/profile.h"
#include "profile/threads/lock_words.h"
#include "profile/threads/locks.h"
#include "profile/threads/phases.h"
#include "tool/words.h"

#include <stdio.h>

#define POOL 2u /* workers of a rank: a single one is a helper, and nobody expects it to be busy */

/* Threads wait side by side: of the ranks' time it is the same part as of the threads'. */
static double of_ranks(const struct fv_profile *v, double wait_s)
{
    const struct fv_locks *locks = fv_model_locks(v->model);

    return locks->thread_s > 0 ? wait_s * v->model->efficiency.total_s / locks->thread_s : 0;
}

static void set_function(const struct fv_profile *v, struct fv_finding *finding, uint32_t node)
{
    struct fv_frame frame;

    if (!fv_path_first(v->symbols, node, &frame))
        return;
    finding->function = frame.function;
    finding->file = frame.file;
    finding->line = frame.line;
}

/* Where a lock is waited for most: the function, and in words the call path. "": not known. */
static const char *place(const struct fv_profile *v, struct fv_finding *finding, const struct fv_lock_view *k,
                         char *out, size_t bytes)
{
    const struct fv_lock_site *most = NULL;

    for (uint32_t i = 0; i < k->sites; i++) {
        const struct fv_lock_site *site = &fv_model_locks(v->model)->sites[k->first_site + i];

        most = site->n.wait_s > (most ? most->n.wait_s : 0) ? site : most;
    }
    out[0] = '\0';
    if (!most || !most->node)
        return out;
    set_function(v, finding, most->node);
    return fv_path_words(v->symbols, most->node, 2, out, bytes);
}

/* ---- contention ---- */

/* Of OpenMP also the ends of regions have their record, where threads wait for each other and nothing is locked. */
static bool is_region_end(const struct fv_locks *locks, const struct fv_lock_view *k)
{
    return k->kind == FV_SYNC_OMP && k->sites && locks->sites[k->first_site].operation == FV_SYNC_WAIT;
}

static bool is_lock(const struct fv_locks *locks, const struct fv_lock_view *k)
{
    return !k->rest && !k->inside_mpi && k->n.contended && !is_region_end(locks, k) &&
           (k->kind == FV_SYNC_MUTEX || k->kind == FV_SYNC_RWLOCK || k->kind == FV_SYNC_SPIN || k->kind == FV_SYNC_OMP);
}

FV_FINDING(contended_lock)
{
    const struct fv_locks *locks = fv_model_locks(v->model);
    const struct fv_lock_view *most = NULL;
    char name[600], where[1600], waited[FV_WORD], part[FV_WORD], held[FV_WORD], count[FV_WORD], by[100] = "";

    for (size_t i = 0; i < locks->count; i++)
        if (is_lock(locks, &locks->items[i]) && (!most || locks->items[i].n.wait_s > most->n.wait_s))
            most = &locks->items[i];
    if (!most || !fv_finding_worth(v, of_ranks(v, most->n.wait_s)))
        return;
    struct fv_finding *finding = fv_finding_add(f, of_ranks(v, most->n.wait_s), FV_EVIDENCE_EXACT);
    if (most->n.hold_count)
        snprintf(by, sizeof(by), ". It was held for %s in all", fv_words_seconds(most->n.hold_s, held));
    place(v, finding, most, where, sizeof(where));
    fv_finding_say(f, finding, "threads waited %s time%s for the lock %s: %s together, %s of the threads' time%s%s%s",
                   fv_words_count(most->n.contended, count), fv_words_s(most->n.contended),
                   fv_view_lock_words(v, most, name, sizeof(name)), fv_words_seconds(most->n.wait_s, waited),
                   fv_words_percent(most->n.wait_s, locks->thread_s, part), by,
                   where[0] ? ". The largest part is in " : "", where);
    fv_finding_next(f, finding, "%s%s",
                    most->n.hold_count ? "hold it for a shorter time, or use several locks; where it is held: "
                                       : "where it is held: fvmpi run --threads=hold, or ",
                    FV_FINDING_COMMAND(v->model, "report", "--table", "lock_sites"));
}

/* ---- workers without work ---- */

static uint32_t largest_pool(const struct fv_model *m)
{
    uint32_t most = 0;

    for (size_t i = 0; fv_model_locks(m)->recorded && i < m->rank_count; i++)
        most = fv_model_locks(m)->ranks[i].idlers > most ? fv_model_locks(m)->ranks[i].idlers : most;
    return most;
}

FV_FINDING(idle_workers)
{
    const struct fv_locks *locks = fv_model_locks(v->model);
    const struct fv_lock_view *most = NULL;
    uint32_t workers = largest_pool(v->model);
    char where[1600], idle[FV_WORD], part[FV_WORD];

    for (size_t i = 0; i < locks->count; i++)
        if (!most || locks->items[i].idle_s > most->idle_s)
            most = &locks->items[i];
    if (workers < POOL || !fv_finding_worth(v, of_ranks(v, locks->idle_s)))
        return;
    struct fv_finding *finding = fv_finding_add(f, of_ranks(v, locks->idle_s), FV_EVIDENCE_ESTIMATE);
    place(v, finding, most, where, sizeof(where));
    fv_finding_say(f, finding, "%u workers%s are idle, without tasks: %s together, %s of the threads' time%s%s",
                   workers, v->model->rank_count > 1 ? " of a rank" : "", fv_words_seconds(locks->idle_s, idle),
                   fv_words_percent(locks->idle_s, locks->thread_s, part), where[0] ? ". The largest part is in " : "",
                   where);
    fv_finding_next(f, finding, "give them work earlier and in larger parts, or use fewer of them: %s",
                    FV_FINDING_COMMAND(v->model, "stacks"));
}

/* ---- teams ---- */

static double mean_work_s(const struct fv_phase_sums *s)
{
    return s->threads ? (s->time_s - s->wait_s) * (double)s->instances / (double)s->threads : 0;
}

/* Where a team has more threads than processors, their times hold waiting for one. */
static bool is_team(const struct fv_phase *phase)
{
    const struct fv_phase_sums *s = &phase->sums;

    return phase->kind == FV_PHASE_OMP && phase->node && s->threads_max > 1 && !(s->cpus && s->threads_max > s->cpus);
}

/* Times of threads include waiting for a processor: on a run that lost more by that than by the team, nothing is known
 * of the team. */
FV_FINDING(thread_imbalance)
{
    const struct fv_phases *phases = fv_model_phases(v->model);
    const struct fv_phase *most = NULL;
    double most_s = 0;
    char where[1600], longest[FV_WORD], mean[FV_WORD];

    for (size_t i = 0; i < phases->count; i++) {
        const struct fv_phase_sums *s = &phases->items[i].sums;

        if (!is_team(&phases->items[i]) || s->useful_longest_s - mean_work_s(s) <= most_s)
            continue;
        most = &phases->items[i];
        most_s = s->useful_longest_s - mean_work_s(s);
    }
    if (!most || !fv_finding_worth(v, most_s))
        return;
    if (fv_finding_is_disturbance(f, most_s)) {
        fv_findings_leave(
            f, "whether the threads of a team work alike: ranks had no processor for longer than threads differ");
        return;
    }
    struct fv_finding *finding = fv_finding_add(
        f, most_s, fv_findings_named(f, FV_FINDING_DISTURBED) ? FV_EVIDENCE_ESTIMATE : FV_EVIDENCE_EXACT);
    set_function(v, finding, most->node);
    fv_path_words(v->symbols, most->node, 0, where, sizeof(where));
    fv_finding_say(f, finding,
                   "threads of the OpenMP region%s %s work for different times: the longest of a team %s in all, the "
                   "mean %s. Thread %u of rank %d works longest",
                   *where == '!' ? "" : " in", where, fv_words_seconds(most->sums.useful_longest_s, longest),
                   fv_words_seconds(mean_work_s(&most->sums), mean), most->busiest.number,
                   v->model->ranks[most->busiest.rank].world_rank);
    fv_finding_next(f, finding, "use schedule(dynamic), or loops of smaller parts; possible gain: %s",
                    FV_FINDING_COMMAND(v->model, "stacks"));
}
