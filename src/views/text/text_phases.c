/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases of parallel threads: how much waiting takes from their speedup. As a section of the report, and as
 * the stacks of `fvmpi stacks`. Formulas: phases.h. */
#include "views/text/text.h"
#include "profile/threads/phases.h"
#include "profile/threads/worksharing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OFF_CPU 0.02 /* of the threads' time: from then on it is said */
#define CREATOR 0.05 /* likewise, of the elapsed time */

static bool is_crowded(const struct fv_phase_sums *s)
{
    return s->cpus && s->threads_max > s->cpus;
}

static void put_cpus(const struct fv_page *p, const struct fv_phase_sums *s)
{
    char word[FV_WORD];

    fv_page_item(p, FV_PLAIN, 4,
                 "%u threads had %u processor%s, which bound%s the speedup; %s of their time counts as waiting "
                 "for one (an estimate%s)",
                 s->threads_max, s->cpus, fv_words_s(s->cpus), s->cpus == 1 ? "s" : "",
                 fv_words_percent(s->queue_s, s->time_s, word),
                 isfinite(s->off_cpu_s) ? "" : ": their CPU time is not known");
}

/* What could not be counted where it belongs. */
static void put_losses(const struct fv_page *p, const struct fv_phase_sums *s)
{
    char word[FV_WORD];

    if (s->lost_threads)
        fv_page_item(p, FV_PLAIN, 4, "threads of too large teams are left out %s time%s",
                     fv_words_count(s->lost_threads, word), fv_words_s(s->lost_threads));
    if (s->untimed_tasks)
        fv_page_item(p, FV_PLAIN, 4, "%s task%s may be part of what counts as waiting",
                     fv_words_count(s->untimed_tasks, word), fv_words_s(s->untimed_tasks));
}

/* What makes its numbers say less. */
static void put_notes(const struct fv_page *p, const struct fv_phase *phase)
{
    const struct fv_phase_sums *s = &phase->sums;
    struct fv_phase_bound b = fv_phase_bound(s);
    char word[FV_WORD];

    if (is_crowded(s) && b.few_cpus >= FV_STACK_ZERO * b.threads)
        put_cpus(p, s);
    if (s->off_cpu_s > OFF_CPU * s->time_s)
        fv_page_item(p, FV_PLAIN, 4,
                     "for %s of their time at least, threads were off the processor without waiting for each "
                     "other: few processors, other programs on them, I/O, or sleep. That is no waiting here",
                     fv_words_percent(s->off_cpu_s, s->time_s, word));
    if (b.without_waiting > s->threads_max)
        fv_page_item(p, FV_PLAIN, 4,
                     "they waited for %s of their time, perhaps for work that comes from other threads: that decides "
                     "how long they take",
                     fv_words_percent(s->wait_s, s->time_s, word));
    if (s->creator_s > CREATOR * s->elapsed_s)
        fv_page_item(p, FV_PLAIN, 4,
                     "for %s of the time, the creating thread did other things than join; it is not one of the N",
                     fv_words_percent(s->creator_s, s->elapsed_s, word));
    if (phase->open)
        fv_page_item(p, FV_PLAIN, 4,
                     phase->kind == FV_PHASE_OMP ? "a region had not ended: it is in no number"
                                                 : "not all of its threads had ended");
    put_losses(p, s);
}

/* ---- the report's section ---- */

static void threads_word(const struct fv_phase_sums *s, char *out, size_t bytes)
{
    if (s->threads_min == s->threads_max)
        snprintf(out, bytes, "%u", s->threads_max);
    else
        snprintf(out, bytes, "%u-%u", s->threads_min, s->threads_max);
}

/* Nothing of it would look as if there were nothing. */
static void put_unseen(const struct fv_page *p, const struct fv_profile *v, bool has_heading)
{
    const struct fv_phases *s = fv_model_phases(v->model);
    const char *module = NULL;

    for (size_t i = 0; i < s->count && !module; i++)
        module = fv_phase_unseen_openmp(v->model, &s->items[i]);
    if (!module)
        return;
    if (!has_heading)
        fv_page_heading(p, "Thread phases", "from creation to join, or OpenMP region");
    fv_page_item(
        p, FV_PLAIN, 2,
        "%.100s: not seen. The regions, barriers and criticals of this OpenMP are in no number: it has no OMPT, "
        "or that was switched off (OMP_TOOL), or another tool has it",
        module);
}

static bool has_libgomp(const struct fv_model *m)
{
    const struct fv_phases *s = fv_model_phases(m);
    bool has_regions = false;

    for (size_t i = 0; i < s->count && !has_regions; i++)
        has_regions = s->items[i].kind == FV_PHASE_OMP;
    for (size_t i = 0; has_regions && i < m->tree.module_count; i++)
        if (!strncmp(m->tree.modules[i].name, "libgomp.", strlen("libgomp.")))
            return true;
    return false;
}

FV_TEXT_SECTION(phases)
{
    const struct fv_phases *s = fv_model_phases(v->model);
    bool crowded = false, off = false;
    struct fv_text_table t;
    char word[FV_WORD];
    size_t parallel;

    fv_text_table_begin(&t, p, v, "phases");
    for (size_t i = 0; i < s->count; i++) {
        const struct fv_phase_sums *u = &s->items[i].sums;
        struct fv_phase_bound b = fv_phase_bound(u);

        if (u->threads_max < 2 ||
            !fv_text_table_add(&t, &s->items[i], b.synchronisation > 0.1 * b.threads ? FV_YELLOW : FV_PLAIN))
            continue;
        crowded = crowded || is_crowded(u);
        off = off || u->off_cpu_s > OFF_CPU * u->time_s;
    }
    parallel = t.sheet.all_rows;
    if (parallel)
        fv_page_heading(p, "Thread phases",
                        "from creation, by the function named, to join; or an OpenMP region. off CPU: without a "
                        "processor, and not waiting for each other. no waits: how many times as fast, if no thread "
                        "waited. speedup: of the N threads, at most. sync: at most what waiting takes of it. "
                        "imbalance: the part of N that is lost because some have more to do. fvmpi stacks has more");
    fv_text_table_end(&t, "phase", "");
    if (off)
        fv_page_item(p, FV_PLAIN, 2,
                     "Off the CPU: too few processors, I/O, or sleep. That is no waiting here, and the speedup may "
                     "be less by it");
    if (crowded)
        fv_page_item(p, FV_PLAIN, 2,
                     "Some have more threads than processors: their speedup is at most what these can give (an "
                     "estimate)");
    if (parallel && s->count > parallel)
        fv_page_paragraph(p, FV_DIM, 2, "and %s of single threads or not ended; --json has all",
                          fv_words_count(s->count - parallel, word));
    put_unseen(p, v, parallel > 0);
    if (parallel && has_libgomp(v->model))
        fv_page_item(p, FV_PLAIN, 2,
                     FV_WORKS_UNSEEN ": Worksharing has no row for them. LLVM's and Intel's libraries report them");
}

/* ---- stacks ---- */

static void put_component(const struct fv_page *p, const char *name, double value, double threads, const char *remark)
{
    bool none = fabs(value) < FV_STACK_ZERO * threads;
    char text[300];

    if (!isfinite(value))
        return;
    fprintf(p->out, "    %-24s %s%8.2f%s", name, fv_page_on(p, none ? FV_PLAIN : FV_BOLD), value, fv_page_off(p));
    snprintf(text, sizeof(text), "%s%s%s", remark, *remark && none ? "; " : "",
             none ? "below 5 % of N: counts as zero" : "");
    if (*text) {
        fputs("   ", p->out);
        fv_page_words(p, text, 40);
    } else
        putc('\n', p->out);
}

static void put_bound(const struct fv_page *p, const struct fv_phase *phase)
{
    struct fv_phase_bound b = fv_phase_bound(&phase->sums);

    put_component(p, "N", b.threads, 0, "threads; the sum of:");
    put_component(p, "speedup         <=", b.bound, 0, "sum(t_i - w_i) / max t_i");
    put_component(p, "synchronisation <=", b.synchronisation, b.threads, "more, if no thread waited");
    put_component(p, "imbalance", b.imbalance, b.threads, "of the time that is not waiting");
    if (is_crowded(&phase->sums))
        put_component(p, "too few processors", b.few_cpus, b.threads, "fewer than threads");
}

static void put_stack(const struct fv_page *p, const struct fv_phase *phase, double t1_s, bool *rejected)
{
    struct fv_speedup_stack s = fv_phase_stack(phase, t1_s);
    double threads = fv_phase_bound(&phase->sums).threads;

    *rejected = s.rejected;
    put_component(p, "N", threads, 0, "");
    put_component(p, "S_m = T1 / max t_i", s.measured, 0, "measured speedup");
    put_component(p, "S_w = T1 / max(t_i-w_i)", s.waitless, 0, "if no thread waited");
    if (s.rejected) {
        fv_page_item(p, FV_PLAIN, 4,
                     "rejected: S_w is above %.2f N. T1 must be what all %llu time%s of this phase on a rank "
                     "take with one "
                     "thread, for the same work",
                     FV_STACK_GUARD, (unsigned long long)(phase->sums.instances / phase->ranks),
                     fv_words_s(phase->sums.instances / phase->ranks));
        return;
    }
    put_component(p, "synchronisation", s.synchronisation, threads, "S_w - S_m");
    put_component(p, "all else", s.rest, threads,
                  "N - S_w: cache and memory (not measured yet), imbalance, few processors, overhead of "
                  "threads");
}

static bool is_chosen(const struct fv_phases *s, size_t i, size_t chosen)
{
    return chosen ? i + 1 == chosen : s->items[i].sums.threads_max > 1;
}

int fv_view_stacks(const struct fv_profile *v, const struct fv_stacks_options *o, FILE *out)
{
    const struct fv_page page = fv_text_page(&o->text, out), *p = &page;
    const struct fv_phases *s = fv_model_phases(v->model);
    char name[1200], threads[FV_WORD], times[FV_WORD], elapsed[FV_WORD], longest[FV_WORD], waitless[FV_WORD];
    bool rejected = false;
    size_t shown = 0;

    for (size_t i = 0; i < s->count; i++) {
        const struct fv_phase *phase = &s->items[i];
        const struct fv_phase_sums *u = &phase->sums;

        if (!is_chosen(s, i, o->phase) || (!o->phase && shown == p->top))
            continue;
        fv_view_phase_label(v, phase, false, name, sizeof(name));
        threads_word(u, threads, sizeof(threads));
        fputs(shown++ ? "\n" : "", out);
        fv_page_item(p, FV_BOLD, 0, "phase %zu: %s thread%s%s %s", i + 1, threads, fv_words_s(u->threads_max),
                     phase->kind == FV_PHASE_OMP ? "," : " of", name);
        fv_page_item(p, FV_PLAIN, 2,
                     "%s time%s on %u rank%s; of a rank: %s elapsed, longest thread %s, without waiting %s "
                     "(%.2f times as fast at most)",
                     fv_words_count(u->instances, times), fv_words_s(u->instances), phase->ranks,
                     fv_words_s(phase->ranks), fv_words_seconds(u->elapsed_s / phase->ranks, elapsed),
                     fv_words_seconds(u->longest_s / phase->ranks, longest),
                     fv_words_seconds(u->useful_longest_s / phase->ranks, waitless), fv_phase_bound(u).without_waiting);
        if (o->t1_s > 0)
            put_stack(p, phase, o->t1_s, &rejected);
        else
            put_bound(p, phase);
        put_notes(p, phase);
    }
    if (fflush(out) || ferror(out))
        return -FV_EIO;
    return rejected ? -FV_EFORMAT : 0;
}

FV_TEXT_SECTION(worksharing)
{
    fv_text_relation(p, v, "worksharing", "construct",
                     "OpenMP's loops, sections, singles and tasks, without the barrier at their end; balance: of their "
                     "threads, the mean over the one with most");
}
