/* SPDX-License-Identifier: BSD-3-Clause */
/* What fvmpi doctor --measure measured, as text; see doctor_text.h. */
#include "cmd/doctor_text.h"
#include "doctor/measure/measure.h"
#include "doctor/measure/measure_relations.h"
#include "views/text/text.h"

#include <math.h>
#include <stdlib.h>

#define BUSY 0.05 /* processors that other tasks used */

/* Of rows that are too many: how bad one is. */
typedef double badness_fn(const void *row);

static double noise_badness(const void *row)
{
    const struct fv_spread *s = &((const struct fv_noise_row *)row)->spread;

    return s->most / s->mode;
}

static double detours_badness(const void *row)
{
    const struct fv_detours *d = row;

    return d->watched > 0 ? d->shares.total / d->watched : 0;
}

static double counts_badness(const void *row)
{
    const struct fv_noise_count *c = row;

    return isnan(c->correlation) ? 0 : fabs(c->correlation);
}

struct ranked {
    double badness; /* first: fv_by_real() */
    const void *row;
};

/* In their order; where not all have room, the worst, if `badness` says which they are. */
static void put_rows(const struct fv_page *p, struct fv_doctor *d, const struct fv_relation *r, badness_fn *badness,
                     const char *remark)
{
    size_t count = fv_relation_count(r, d, NULL);
    struct ranked *rows = fv_xcalloc(count + 1, sizeof(*rows));
    struct fv_sheet sheet;

    for (size_t i = 0; i < count; i++) {
        rows[i].row = fv_relation_row(r, d, NULL, i);
        rows[i].badness = badness ? -badness(rows[i].row) : 0;
    }
    if (badness && count > p->top)
        qsort(rows, count, sizeof(*rows), fv_by_real);
    fv_sheet_init(&sheet, p, r, NULL, d);
    for (size_t i = 0; i < count; i++)
        fv_sheet_add(&sheet, NULL, rows[i].row, FV_PLAIN);
    if (sheet.all_rows) {
        fv_page_heading(p, r->title, remark);
        fv_sheet_print(&sheet);
        fv_sheet_cut(&sheet, "row", "");
    }
    fv_sheet_release(&sheet);
    free(rows);
}

/* How, and what makes the numbers say less. */
static void put_conditions(const struct fv_page *p, const struct fv_measurement *m)
{
    static const char *const files[] = { [FV_GAP_PREEMPTED] = "/proc/thread-self/schedstat",
                                         [FV_GAP_TICK] = "/proc/interrupts",
                                         [FV_GAP_INTERRUPT] = NULL,
                                         [FV_GAP_STEAL] = "/proc/stat" };
    char turn[FV_WORD], least[FV_WORD];

    fv_page_heading(p, "Measured", "");
    fv_page_item(p, FV_PLAIN, 0,
                 "%.1f s on processors %s, one at a time on %s; clock: %s, %s per reading; a gap takes at least %s",
                 m->elapsed_s, m->processors, m->alone, m->clock.is_tsc ? "tsc" : "CLOCK_MONOTONIC",
                 fv_words_seconds(m->turn * 1e-9, turn), fv_words_seconds(m->threshold * 1e-9, least));
    if (m->interrupted)
        fv_page_item(p, FV_YELLOW, 0, "interrupted: results until then");
    if (m->is_guest > 0)
        fv_page_item(p, FV_YELLOW, 0, "virtual machine: results of the guest include what the host does");
    for (size_t class = 0; m->detour_count && class <= FV_GAP_STEAL; class ++)
        if (files[class] && !m->detours[0].knows[class])
            fv_page_item(p, FV_YELLOW, 0, "%s cannot be read: its causes count as unexplained", files[class]);
    for (size_t i = 0; i < m->event_count; i++)
        if (m->events[i].refusal)
            fv_page_item(p, FV_YELLOW, 0, "%s is not counted: %s", m->events[i].what.name,
                         fv_perf_event_refusal(m->events[i].refusal, m->events[i].what.flags & FV_PERF_NO_KERNEL));
    if (isnan(m->others_processors))
        fv_page_item(p, FV_YELLOW, 0, "unknown whether other tasks ran at the same time: no /proc/stat");
    else if (m->others_processors >= BUSY)
        fv_page_item(p, FV_YELLOW, 0, "busy machine: other tasks ran at the same time, on %.2g processors on average",
                     m->others_processors);
    else
        fv_page_item(p, FV_PLAIN, 0, "hardly any other task ran at the same time (%.2g processors on average)",
                     m->others_processors);
}

static void put_periods(const struct fv_page *p, struct fv_doctor *d, const struct fv_measurement *m)
{
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, p, &fv_measure_periods, NULL, d);
    for (size_t i = 0; i < m->detour_count; i++)
        for (size_t k = 0; k < m->detours[i].period_count; k++)
            fv_sheet_add(&sheet, &m->detours[i], &m->periods[m->detours[i].first_period + k], FV_PLAIN);
    if (sheet.all_rows) {
        fv_page_heading(p, "Periods of the gaps", "those that are not chance (1e-4)");
        fv_sheet_print(&sheet);
        fv_sheet_cut(&sheet, "period", "");
    } else if (m->detour_count) {
        fv_page_item(p, FV_PLAIN, 0, "no gaps have a period that is not chance");
    }
    fv_sheet_release(&sheet);
}

/* Trials in their order show it. */
static void put_ramps(const struct fv_page *p, const struct fv_measurement *m)
{
    char length[FV_WORD];

    for (size_t i = 0; i < m->noise_count; i++) {
        const struct fv_noise_row *r = &m->noise[i];
        const struct fv_ramp ramp = fv_trials_ramp(m->trials + r->first_trials, r->trials_count);

        if (ramp.samples)
            fv_page_item(
                p, FV_YELLOW, 0,
                "ramp-up on processor %u (%s, %s): the first %llu samples (%s) took longer, at first by %.3g %%; "
                "warm up for longer than that before you measure",
                r->cpu, fv_noise_tests[r->test], fv_noise_phases[r->together], (unsigned long long)ramp.samples,
                fv_words_seconds(ramp.length * 1e-9, length), 100 * ramp.above_share);
    }
}

static void put_branches(const struct fv_page *p, struct fv_doctor *d, const struct fv_measurement *m)
{
    const double ns = fv_misprediction_ns(m);
    char cost[FV_WORD];

    put_rows(p, d, &fv_measure_branches, NULL, "a loop with one branch, on the first processor");
    if (isfinite(ns))
        fv_page_item(p, FV_PLAIN, 0, "a wrongly predicted branch costs %s", fv_words_seconds(fmax(ns, 0) * 1e-9, cost));
}

static void put_left_out(const struct fv_page *p, const struct fv_measurement *m)
{
    const char *what = m->bandwidth_count ? "on all processors together" : "at all", *why = m->bandwidth_left_out;

    if (fv_same_text(why, fv_omissions[FV_OMISSION_TIME]))
        fv_page_item(
            p, FV_YELLOW, 0,
            "bandwidth was not measured %s: no time was left; use --seconds %.0f, or measure when no other task runs",
            what, ceil(2 * m->seconds));
    else if (fv_same_text(why, fv_omissions[FV_OMISSION_MEMORY]))
        fv_page_item(
            p, FV_YELLOW, 0,
            "bandwidth was not measured %s: not enough memory is free; free some, or use fewer processors (--cpus)",
            what);
    else if (why)
        fv_page_item(p, FV_YELLOW, 0,
                     "bandwidth was not measured %s: a processor could not be used; name usable ones (--cpus)", what);
}

static void put_memory(const struct fv_page *p, struct fv_doctor *d, const struct fv_measurement *m)
{
    char largest[FV_WORD], huge[FV_WORD], reach[FV_WORD];

    put_rows(p, d, &fv_measure_levels, NULL,
             "plateaus of a pointer chase on the first processor; repeated measurements, above their mode");
    if (m->latency_count) {
        fv_page_item(p, FV_PLAIN, 0, "working sets up to %s, of which %s in huge pages; sizes of caches: %s",
                     fv_words_bytes(m->largest_bytes, largest), fv_words_bytes(m->huge_bytes, huge),
                     m->sizes_from ? m->sizes_from : "nobody says");
        if (m->is_guest > 0 && fv_same_text(m->sizes_from, "CPUID"))
            fv_page_item(
                p, FV_YELLOW, 0,
                "CPUID of a virtual machine may report larger caches than there are; levels then have wrong names");
    }
    if (m->tlb_pages)
        fv_page_item(p, FV_PLAIN, 0,
                     "TLB: up to %llu pages (%s) cost nothing; with more, one line of each page takes longer than "
                     "adjacent lines",
                     (unsigned long long)m->tlb_pages, fv_words_bytes(m->tlb_pages * m->page_bytes, reach));
    put_rows(p, d, &fv_measure_bandwidth, NULL,
             "bytes that loops read and write per second, without what a write reads first");
    put_left_out(p, m);
    if (p->top == SIZE_MAX) {
        put_rows(p, d, &fv_measure_latency, NULL, "");
        put_rows(p, d, &fv_measure_tlb, NULL, "");
    }
}

void fv_doctor_print_measurement(const struct fv_page *p, struct fv_doctor *d)
{
    const struct fv_measurement *m = d->measured;

    if (!m)
        return;
    put_conditions(p, m);
    put_rows(p, d, &fv_measure_noise, noise_badness, "percent above the mode (half-sample mode)");
    put_rows(p, d, &fv_measure_counts, counts_badness, "counts of a sample; correlation with its time");
    put_ramps(p, m);
    put_rows(p, d, &fv_measure_detours, detours_badness,
             "gaps of a loop that only reads the clock; then the causes, as shares of the lost time");
    put_periods(p, d, m);
    put_branches(p, d, m);
    put_memory(p, d, m);
}
