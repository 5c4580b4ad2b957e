/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that were counted over whole threads, and metrics of them. */
#include "views/text/text.h"

#include "base/perf_events.h"
#include "profile/counters/counters.h"
#include "profile/sections/sections.h"
#include "tool/words.h"

#include <math.h>
#include <string.h>

static void put_too_short(const struct fv_page *p, const struct fv_counts *all)
{
    for (size_t i = 0; i < all->metric_count; i++)
        if (all->metrics[i].value != all->metrics[i].value) {
            fv_text_note(
                p, FV_YELLOW,
                "%s: the section's instances are too short to measure %s: reading the clock of CPU time takes longer",
                all->scopes[all->metrics[i].scope].name, all->metrics[i].row->title);
            return;
        }
}

/* The cell that was judged: outside of MPI where that is known. */
static void add_metrics(struct fv_text_table *t, const struct fv_counts *all)
{
    for (size_t i = 0; i < all->metric_count; i++) {
        const struct fv_counts_metric *m = &all->metrics[i];
        const char *judged = isnan(m->outside_mpi) ? "metric_value" : "outside_mpi";

        if (!fv_text_table_add(t, m, FV_PLAIN) || !m->mark)
            continue;
        fv_sheet_mark(&t->sheet, judged, strlen(judged));
        fv_sheet_mark(&t->sheet, "mark", strlen("mark"));
    }
}

static void put_metrics(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_counts *all = fv_model_counts(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "counter_metrics");
    add_metrics(&t, all);
    if (t.sheet.table.rows)
        fv_text_title(p, "Metrics", "of all ranks, and of the ranks with least and most");
    fv_text_table_end(&t, "metric", "");
    put_too_short(p, all);
}

static void put_events(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_counts *all = fv_model_counts(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "counters");
    for (size_t i = 0; i < all->whole_count; i++)
        if (all->sums[i].ranks)
            fv_text_table_add(&t, &all->sums[i], FV_PLAIN);
    fv_text_table_end(&t, "event", "");
}

static bool any_short(const struct fv_sections_view *s)
{
    bool found = false;

    for (size_t i = 0; i < s->count && !found; i++)
        found = fv_section_is_short(&s->items[i]);
    return found;
}

static void put_sections(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_counts *all = fv_model_counts(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "counter_sections");
    if (!any_short(fv_model_sections(v->model)))
        fv_sheet_hide(&t.sheet, "too_short");
    for (size_t i = all->whole_count; i < all->sum_count; i++)
        fv_text_table_add(&t, &all->sums[i], FV_PLAIN);
    if (t.sheet.table.rows)
        fv_text_title(p, "In sections", "of all threads, while the section was open; instances that have ended");
    fv_text_table_end(&t, "event", " in sections");
}

/* Of parallel threads. */
static void put_phases(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_counts *all = fv_model_phase_counts(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "counter_phase_metrics");
    add_metrics(&t, all);
    if (t.sheet.table.rows)
        fv_text_title(p, "Metrics of phases of threads",
                      "of created threads as a whole, and of parallel regions without the wait at their ends");
    fv_text_table_end(&t, "metric", " in phases");
    fv_text_table_begin(&t, p, v, "counter_phases");
    for (size_t i = all->whole_count; i < all->sum_count; i++)
        fv_text_table_add(&t, &all->sums[i], FV_PLAIN);
    if (t.sheet.table.rows)
        fv_text_title(p, "In phases of threads", "of all instances, and all of their threads");
    fv_text_table_end(&t, "event", " in phases");
}

/* Once for each reason. */
static void put_refusals(const struct fv_page *p, const struct fv_counts *all)
{
    for (size_t i = 0; i < all->event_count; i++) {
        const struct fv_counts_event *e = &all->events[i];
        char names[600] = "";
        size_t used = 0;
        bool is_told = false;

        for (size_t k = 0; k < all->event_count && e->refusal; k++) {
            if (all->events[k].refusal != e->refusal || used >= sizeof(names))
                continue;
            is_told = is_told || k < i;
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "", all->events[k].name);
        }
        if (used && !is_told)
            fv_text_note(p, FV_YELLOW, "not counted: %s: %s", names,
                         fv_perf_event_refusal(e->refusal, e->flags & FV_COUNTER_USER));
    }
}

static void put_never_ran(const struct fv_page *p, const struct fv_counts *all)
{
    for (size_t i = 0; i < all->value_count; i++)
        if (!all->values[i].scope && all->values[i].threads && all->values[i].value != all->values[i].value) {
            fv_text_note(p, FV_YELLOW,
                         "%s: not known on some rank. Other programs used the processor's registers all the time (the "
                         "NMI watchdog uses one: kernel.nmi_watchdog=0), or the program closed its descriptor",
                         all->events[all->values[i].event].name);
            return;
        }
}

static void put_missing(const struct fv_page *p, const struct fv_counts *all)
{
    for (size_t i = 0; i < all->whole_count; i++)
        if (all->sums[i].missing) {
            char number[FV_WORD];

            fv_text_note(p, FV_YELLOW,
                         "%s: %s thread%s not in the counts: no descriptor was left (ulimit -n), or the process ended "
                         "before that was written",
                         all->events[all->sums[i].event].name, fv_words_count(all->sums[i].missing, number),
                         all->sums[i].missing == 1 ? " is" : "s are");
            return;
        }
}

FV_TEXT_SECTION(counters)
{
    const struct fv_counts *all = fv_model_counts(v->model);

    if (!all->event_count)
        return;
    fv_page_heading(p, "Counters",
                    "events counted over whole threads; in MPI: what is counted while a rank waits there is not work");
    put_metrics(p, v);
    put_events(p, v);
    put_sections(p, v);
    put_phases(p, v);
    put_refusals(p, all);
    put_never_ran(p, all);
    put_missing(p, all);
}
