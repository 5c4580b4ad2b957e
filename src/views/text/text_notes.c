/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the report can be trusted: what is lost or left out, and what makes its numbers say less. */
#include "views/text/text.h"
#include "profile/hang/hang.h"
#include "profile/machine/facts.h"

#include <math.h>
#include <string.h>

static void put_problems(const struct fv_page *p, const struct fv_model *m)
{
    size_t shown = 0, most = fv_text_losses_shown(p);

    for (size_t i = 0; i < m->problems.count && shown < most; i++, shown++) {
        const struct fv_problem *problem = &m->problems.items[i];

        fv_text_note(p, fv_problem_is_loss(problem->kind) ? FV_RED : FV_YELLOW, "%s%s%s",
                     problem->file ? problem->file : "", problem->file ? ": " : "", problem->text);
    }
    fv_page_cut(p, shown, m->problems.count, "remark", "");
    if (m->not_recorded)
        fv_text_note(p, FV_YELLOW, "%s", m->not_recorded);
}

/* Of the first rank's host. */
static void put_crowded(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_crowd c = fv_crowd_of(m, m->ranks[0].host);

    if (c.shared && isnan(m->ranks[0].ready_s)) /* where it is known, it is little */
        fv_text_note(p, FV_YELLOW,
                     "%zu ranks may run on %u processor%s of %s: times may include waiting for a processor", c.ranks,
                     c.cpus, fv_words_s(c.cpus), m->ranks[0].host);
}

static void put_crowded_masks(const struct fv_page *p, const struct fv_facts *f)
{
    if (f->crowded_host)
        fv_text_note(p, FV_YELLOW,
                     "ranks %s are bound to processor%s %s of %s, %u for all of them, while others are free: times "
                     "include waiting for a processor",
                     f->crowded_ranks, fv_words_s(f->crowded_count), f->crowded_processors, f->crowded_host,
                     f->crowded_count);
}

/* What stands among the findings is not said again. */
static void put_remarks(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_model *m = v->model;
    double init = 0, paused = 0, forgotten = 0, total = m->efficiency.total_s;
    char text[700], part[FV_WORD];
    bool completed = !fv_hang_headline(m, text, sizeof(text))[0];
    size_t threaded = 0;

    for (size_t i = 0; i < m->rank_count; i++) {
        init += m->ranks[i].init_s + m->ranks[i].finalize_s;
        paused += m->ranks[i].paused_s;
        forgotten = fmax(forgotten, m->ranks[i].forgotten_s);
        threaded += m->ranks[i].mpi_threads > 1;
    }
    if (completed && !m->shown_threads && init > 0.05 * total && init <= total &&
        !fv_findings_named(v->findings, "startup"))
        fv_text_note(p, FV_YELLOW, "%s of the time is in MPI_Init and MPI_Finalize: measure a longer run",
                     fv_words_percent(init, total, part));
    if (!fv_findings_named(v->findings, FV_FINDING_DISTURBED))
        put_crowded(p, m);
    put_crowded_masks(p, fv_model_facts(m));
    if (threaded)
        fv_text_note(p, FV_YELLOW,
                     "%zu rank%s MPI from several threads: MPI time of a rank is its main thread's, "
                     "functions and call sites include all threads",
                     threaded, threaded == 1 ? " calls" : "s call");
    if (forgotten > 0)
        fv_text_note(p, FV_YELLOW, "MPI_Pcontrol(2) discarded what was recorded before it: at most %s of a rank",
                     fv_words_seconds(forgotten, part));
    if (paused > 0)
        fv_text_note(p, FV_YELLOW, "recording was paused%s for %s over all ranks; that time is left out",
                     fv_model_is_of_archive(m) ? ", or not kept in the trace," : "", fv_words_seconds(paused, part));
}

FV_TEXT_SECTION(notes)
{
    put_problems(p, v->model);
    put_remarks(p, v);
}
