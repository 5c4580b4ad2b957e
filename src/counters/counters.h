/* SPDX-License-Identifier: BSD-3-Clause */
/* What processors count, as data: quantities, each with the event that counts it by microarchitecture; groups of them,
 * as --counters takes them; and metrics, each a formula of quantities (table.c). Who runs a program asks which events
 * to count, who reports which metrics can be had of them. Nothing here opens an event or knows libpfm4: names are as
 * that spells them, or the kernel's generic ones (base/perf_events.h).
 *
 * Sources: the events' documents of Intel (SDM volume 3B, chapter 20; perfmon), AMD (PPR of families 17h, 19h and 1Ah,
 * "Core Performance Monitor Counters") and Arm (TRM and PMU guides of Neoverse N1, V1, N2, V2); top-down: Yasin, ISPASS
 * 2014; AMD's PPR, "Pipeline Utilization"; Arm, "Neoverse top-down methodology". */
#ifndef FV_COUNTERS_H
#define FV_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

/* The first is none of them: generic events. */
enum fv_processor_kind {
    FV_ANY_PROCESSOR,
    FV_SKL,
    FV_ICL,
    FV_SPR,
    FV_ZEN2,
    FV_ZEN3,
    FV_ZEN4,
    FV_ZEN5,
    FV_N1,
    FV_V1,
    FV_N2,
    FV_V2,
    FV_PROCESSOR_KINDS
};

struct fv_processor_row {
    const char *name; /* "zen4" */
    const char *doc;
    const char *pmus;     /* libpfm4's names of it, with blanks between; the first one is used by tests */
    unsigned width;       /* operations that it can take on in a cycle: top-down's slots, and the peak of IPC as far as
                           * one instruction is one; 0: not known */
    unsigned granules;    /* of 128 bits in a vector of SVE; 0: it has none */
    unsigned flops;       /* double-precision operations in a cycle, at most: its units for multiply-adds at full width,
                           * each as two; of families whose members differ the largest; 0: not known */
    unsigned l1_accesses; /* loads and stores that the first-level data cache takes on in a cycle, at most */
    unsigned l2_bytes;    /* from the second level into the first one in a cycle, at most; 0: not known */
};
extern const struct fv_processor_row fv_processor_rows[FV_PROCESSOR_KINDS];
/* By its own name, or one of libpfm4's; FV_ANY_PROCESSOR: not known. */
enum fv_processor_kind fv_processor_named(const char *name);

/* A number of the processor by its name in formulas: width, granules, flops, l1_accesses, l2_bytes; NAN: not known.
 * False: it is none of these. */
bool fv_processor_number(enum fv_processor_kind kind, const char *name, size_t length, double *number);

struct fv_quantity {
    const char *name; /* in formulas */
    const char *doc;
    const char *event[FV_PROCESSOR_KINDS]; /* NULL: the first one's; "-": there is none */
};
extern const struct fv_quantity fv_quantities[];
extern const size_t fv_quantity_count;
/* The event that counts it; NULL: there is none. */
const char *fv_quantity_event(const struct fv_quantity *quantity, enum fv_processor_kind kind);
/* Which quantity an event counts, as --counters names it, on that processor, else on any; NULL: none. */
const struct fv_quantity *fv_quantity_of_event(enum fv_processor_kind kind, const char *event);
const struct fv_quantity *fv_quantity_named(const char *name, size_t length);

/* What --counters takes for all groups together. */
#define FV_COUNTER_SHEET "sheet"
struct fv_counter_group {
    const char *name, *doc;
    const char *quantities; /* with blanks between */
};
extern const struct fv_counter_group fv_counter_groups[];
extern const size_t fv_counter_group_count;
const struct fv_counter_group *fv_counter_group_named(const char *name, size_t length);

struct fv_metric_row {
    const char *group, *name, *title, *unit, *doc;
    const char *formulas; /* of quantities and time (of the longest thread, s), thread_time (of all), width, granules,
                           * flops, l1_accesses, l2_bytes; tried in this order, ; between: the first whose
                           * quantities are all known */
};
extern const struct fv_metric_row fv_metric_rows[];
extern const size_t fv_metric_row_count;

/* The most that a metric can be: a formula likewise. NULL: that is not known. */
const char *fv_metric_peak(const struct fv_metric_row *metric);

/* Is it a part of the whole, so that it ends at 1? */
bool fv_metric_is_part(const struct fv_metric_row *metric);

/* Where a metric may show a bottleneck: it is above (or below) a limit, and so is another one. */
enum fv_mark_kind {
    FV_ABOVE,
    FV_BELOW,
    FV_OF_PEAK /* its share of the peak is above */
};
struct fv_mark_row {
    const char *metric;
    enum fv_mark_kind kind;
    double limit;
    const char *with; /* another metric that must be above ... */
    double with_limit;
    const char *reason;
};
extern const struct fv_mark_row fv_mark_rows[];
extern const size_t fv_mark_row_count;

/* The value of a formula: numbers, names, + - * / and parentheses. `lookup` gives a name's value; NAN: it is not known.
 * NAN: so is the result, or there is an error in it. */
typedef double fv_name_value(const void *context, const char *name, size_t length);
double fv_formula_value(const char *formula, fv_name_value *lookup, const void *context);
/* The first of several that is known; *used, unless NULL, its text, up to a ; or the end. */
double fv_formulas_value(const char *formulas, fv_name_value *lookup, const void *context, const char **used);

#endif
