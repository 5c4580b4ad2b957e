/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs on several numbers of threads as text: for the whole program and each phase the speedup by number of threads,
 * and the stack of the largest. */
#include "scaling/speedup_relations.h"
#include "views/sheet.h"
#include "views/text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR 60 /* columns of a stack, at most */

/* ---- stacks as bars ---- */

/* How far `work` is known: as one, or taken apart by threads that ran alone, into three, or two. */
enum known { ALWAYS, AS_ONE, IN_TWO, IN_THREE, IN_TWO_OR_THREE };

static const struct part {
    const char *name, *drawn, *plain, *remark;
    enum fv_color color;
    size_t offset; /* in struct fv_speedup_point */
    enum known known;
} parts[] = {
    { "speedup", "\xe2\x96\x88", "#", "", FV_GREEN, offsetof(struct fv_speedup_point, stack.measured), ALWAYS },
    { "serial time", "\xe2\x96\x93", "=",
      "outside of phases; mend it first, if it is large: no number of threads makes it shorter", FV_CYAN,
      offsetof(struct fv_speedup_point, serial), ALWAYS },
    { "synchronisation", "\xe2\x96\x92", "-",
      "waits for locks, barriers and conditions; fvmpi report of that run names them", FV_YELLOW,
      offsetof(struct fv_speedup_point, stack.synchronisation), ALWAYS },
    { "imbalance", "\xe2\x96\x91", ".", "some threads have more to do", FV_YELLOW,
      offsetof(struct fv_speedup_point, stack.imbalance), ALWAYS },
    { "few processors", "+", "+", "than threads (an estimate)", FV_RED,
      offsetof(struct fv_speedup_point, stack.few_cpus), ALWAYS },
    { "slower work", "x", "x", "caches and memory that threads share, clocks, what threads do besides", FV_RED,
      offsetof(struct fv_speedup_point, stack.work), AS_ONE },
    { "overhead", "o", "o", "the work of a thread takes longer, though it has all for itself", FV_RED,
      offsetof(struct fv_speedup_point, alone.overhead), IN_TWO_OR_THREE },
    { "cache", "c", "c", "threads share it: each has its part", FV_RED, offsetof(struct fv_speedup_point, alone.cache),
      IN_THREE },
    { "memory", "m", "m", "threads share its bandwidth, and all else but the cache", FV_RED,
      offsetof(struct fv_speedup_point, alone.memory), IN_THREE },
    { "cache and memory", "x", "x", "that threads share: they could not be separated", FV_RED,
      offsetof(struct fv_speedup_point, alone.shared), IN_TWO },
};
enum { PARTS = sizeof(parts) / sizeof(*parts) };

/* Of a stack that has no such part: 0. */
static double part_of(const struct fv_speedup_point *point, size_t i)
{
    enum known known = isfinite(point->alone.cache) ? IN_THREE : isfinite(point->alone.shared) ? IN_TWO : AS_ONE;

    if (parts[i].known && parts[i].known != known && !(parts[i].known == IN_TWO_OR_THREE && known != AS_ONE))
        return 0;
    return *(const double *)((const char *)point + parts[i].offset);
}

struct bar_part {
    double value;
    const char *drawn;
    enum fv_color color;
};

/* What is less than 0, or not known, has no width. */
static void put_bar(const struct fv_page *p, const struct bar_part *bars, size_t count)
{
    size_t width = p->width > BAR + 4 ? BAR : p->width > 24 ? p->width - 4 : 20, at = 0;
    double all = 0, sum = 0;

    for (size_t i = 0; i < count; i++)
        all += fmax(bars[i].value, 0);
    if (!(all > 0))
        return;
    fputs("  ", p->out);
    for (size_t i = 0; i < count; i++) {
        sum += fmax(bars[i].value, 0);
        fputs(fv_page_on(p, bars[i].color), p->out);
        for (; at < (size_t)(sum / all * (double)width + 0.5); at++)
            fputs(bars[i].drawn, p->out);
        fputs(fv_page_off(p), p->out);
    }
    putc('\n', p->out);
}

static void put_stack(const struct fv_page *p, const struct fv_speedup_point *point)
{
    double zero = FV_STACK_ZERO * (double)point->threads;
    bool any = false;

    struct bar_part bars[PARTS];

    for (size_t i = 0; i < PARTS; i++)
        bars[i] = (struct bar_part){ part_of(point, i), p->utf8 ? parts[i].drawn : parts[i].plain, parts[i].color };
    put_bar(p, bars, PARTS);
    for (size_t i = 0; i < PARTS; i++) {
        double value = bars[i].value;

        if (!isfinite(value) || (i && fabs(value) < zero))
            continue;
        any |= i > 0;
        fv_page_item(p, FV_PLAIN, 4, "%s %s %.2f of %zu%s%s", bars[i].drawn, parts[i].name, value, point->threads,
                     *parts[i].remark ? ": " : "", parts[i].remark);
    }
    if (!any)
        fv_page_item(p, FV_PLAIN, 4, "nothing else is above 5 %% of %zu", point->threads);
}

/* ---- one thread at a time ---- */

/* NULL: nothing is to be said. */
static const char *const separations[FV_ALONE_VERDICTS] = {
    [FV_ALONE_NOT_MEASURED] = "this phase was not measured one thread at a time",
    [FV_ALONE_WAITS] =
        "a thread that ran alone waited, by a lock or a condition, for one that was parked: the phase is not separable",
    [FV_ALONE_STILL] = "a thread that ran alone made no progress: it waits for another one by what is not seen, or "
                       "sleeps: the phase is not separable",
    [FV_ALONE_LONG] =
        "a thread that ran alone came to no barrier: it spins for another one: the phase is not separable",
    [FV_ALONE_BARRIERS] = "threads did not come together, as barriers of some of them do: the phase is not separable",
    [FV_ALONE_CREATOR] = "the thread that made the others works, too: the phase is not separable",
    [FV_ALONE_NESTED] = "a phase within the phase, or other threads that were made during it: it is not separable",
    [FV_ALONE_LARGE] = "too many threads to be parked",
    [FV_ALONE_LATE] = "the process that holds the rest of the cache did not answer",
    [FV_ALONE_LEFT] = "a thread that ran alone did not come to its end",
    [FV_ALONE_CUT] = "to hold the cache took too long: there are too many barriers",
    [FV_ALONE_LOST] = "the process that held the rest of the cache lost more than 3 % of its lines to the program: "
                      "that measurement is dropped",
    [FV_ALONE_UNPROBED] =
        "it is not known whether the process that was to hold the rest of the cache did: that measurement is dropped",
    [FV_ALONE_OFF_CPU] = "threads that ran alone were off the processor for more than " FV_OFF_CPU_WORDS
                         " of the time: that measurement is dropped",
    [FV_ALONE_VARIES] = "the two shortest runs with one thread at a time differ by more than " FV_ALONE_SPREAD_WORDS
                        ": these measurements are dropped",
    [FV_ALONE_NO_PART] = "there is no run with a part of the cache: cache and memory are one component",
    [FV_ALONE_UNEQUAL] = "threads have unequal work, and there were too few instances for each to run alone a few "
                         "times: the one that did does not stand for all",
    [FV_ALONE_MORE] = "alone a thread takes longer than together: it does more, as in loops whose iterations go to the "
                      "thread that comes first",
    [FV_ALONE_SHARED] = "with its part of the cache a thread takes longer alone than together: threads share data, of "
                        "which each has all",
    [FV_ALONE_TOO_LARGE] =
        "alone the speedup were above 1.05 N: runs with one thread did other work, or the machine was slower then",
};

static void put_separation(const struct fv_page *p, const struct fv_speedup_point *point)
{
    if (separations[point->alone.verdict])
        fv_page_item(p, FV_YELLOW, 4, "cache and memory are not separated: %s", separations[point->alone.verdict]);
}

static void put_curve(const struct fv_page *p, const struct fv_speedup *s, const struct fv_speedup_phase *phase)
{
    struct fv_speedup_tables tables = { .speedup = s };
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, p, &fv_speedup_curves, NULL, &tables);
    sheet.top = SIZE_MAX;
    fv_sheet_hide(&sheet, "name");
    for (size_t i = 0; i < phase->alone_count; i++)
        fv_sheet_add(&sheet, phase, &phase->alone[i], phase->alone[i].verdict ? FV_YELLOW : FV_PLAIN);
    fv_page_item(p, FV_BOLD, 2,
                 "One thread at a time, the others parked: its time by the part of the shared cache that it has");
    fv_sheet_print(&sheet);
    fv_sheet_release(&sheet);
}

/* The N-th part of the cache, of a measurement that counts; NULL: there is none. */
static const struct fv_alone_point *own_part(const struct fv_speedup_phase *phase, const struct fv_speedup_point *last)
{
    for (size_t i = 0; i < phase->alone_count; i++)
        if (phase->alone[i].threads == last->threads && !phase->alone[i].verdict &&
            fabs(phase->alone[i].part * (double)last->threads - 1) < 0.01)
            return &phase->alone[i];
    return NULL;
}

/* What more of it were worth. Memory apart: the thread had all of that. */
static void put_what_if(const struct fv_page *p, const struct fv_speedup_phase *phase,
                        const struct fv_speedup_point *last)
{
    static const double times[] = { 2, 4 };
    const struct fv_alone_point *own = own_part(phase, last);
    char wanted[FV_WORD];

    if (own && isfinite(own->bytes_per_s))
        fv_page_item(p, FV_PLAIN, 4,
                     "%zu threads want %s/s from memory, each as it does alone with its part of the cache: with less, "
                     "memory bounds their speedup",
                     last->threads, fv_words_bytes((uint64_t)((double)last->threads * own->bytes_per_s), wanted));
    for (size_t i = 0; last->alone.verdict == FV_ALONE_GOOD && i < 2; i++) {
        double gain = fv_alone_gain(phase, last->threads, times[i]);

        if (isfinite(gain) && times[i] < (double)last->threads + 0.5)
            fv_page_item(p, FV_PLAIN, 4,
                         "with %.0f times the cache %zu threads would do its work %.2f times as fast, as far as memory "
                         "lets them (an estimate)",
                         times[i], last->threads, gain);
    }
}

/* ---- tables ---- */

static const char *const reasons[FV_SPEEDUP_REJECTS] = {
    [FV_SPEEDUP_NO_T1] = "there is no run with one thread that has it: its T1 is not known",
    [FV_SPEEDUP_SPREAD] =
        "the two shortest runs with one thread differ by more than " FV_T1_SPREAD_WORDS ": the machine is not quiet; "
        "fvmpi doctor says why, --repeats=5 may help",
    [FV_SPEEDUP_OFF_CPU] =
        "for more than " FV_OFF_CPU_WORDS " of their time threads were off their processors without waiting for each "
        "other: other programs, I/O or sleep; the rest cannot be separated",
    [FV_SPEEDUP_TOO_LARGE] = "a speedup above 1.05 N: runs with one thread did other work, or its data does not fit "
                             "into the cache of one processor",
};

static void put_points(const struct fv_page *p, const struct fv_speedup *s, const struct fv_speedup_phase *phase)
{
    struct fv_speedup_tables tables = { .speedup = s };
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, p, &fv_speedup_points, NULL, &tables);
    sheet.top = SIZE_MAX;
    fv_sheet_hide(&sheet, "name");
    if (phase->name)
        fv_sheet_hide(&sheet, "lost_to_serial");
    for (size_t i = 0; i < phase->count; i++)
        fv_sheet_add(&sheet, phase, &phase->points[i],
                     phase->points[i].reject == FV_SPEEDUP_GOOD ? FV_PLAIN : FV_YELLOW);
    fv_sheet_print(&sheet);
    fv_sheet_release(&sheet);
}

static void put_phase(const struct fv_page *p, const struct fv_speedup *s, const struct fv_speedup_phase *phase)
{
    const struct fv_speedup_point *last = &phase->points[phase->count - 1];

    fv_page_heading(p, phase->name ? phase->name : "The whole program",
                    phase->name ? "a phase; times are of a rank" : "components of the largest number of threads below");
    put_points(p, s, phase);
    if (last->reject == FV_SPEEDUP_GOOD && last->threads > 1)
        put_stack(p, last);
    else if (last->threads > 1)
        fv_page_item(p, FV_YELLOW, 4, "%zu threads: no stack: %s", last->threads, reasons[last->reject]);
    if (!phase->alone_count)
        return;
    put_separation(p, last);
    put_curve(p, s, phase);
    put_what_if(p, phase, last);
}

static void put_verdict(const struct fv_page *p, const struct fv_speedup *s)
{
    const struct fv_speedup_phase *all = &s->phases[0];
    const struct fv_speedup_point *first = &all->points[0], *last = &all->points[all->count - 1];
    char from[FV_WORD], to[FV_WORD], speedup[60] = "";

    if (isfinite(last->stack.measured))
        snprintf(speedup, sizeof(speedup), ", speedup %.2f of %zu", last->stack.measured, last->threads);
    fv_page_item(p, FV_BOLD, 0, "from %zu to %zu threads: %s -> %s%s", first->threads, last->threads,
                 fv_words_seconds(first->times.elapsed_s, from), fv_words_seconds(last->times.elapsed_s, to), speedup);
}

/* ---- copies and ranks that share a node ---- */

static const struct share_part {
    const char *name, *drawn, *plain, *remark;
    enum fv_color color;
    size_t offset; /* in struct fv_throughput_point */
    enum known known;
} share_parts[] = {
    { "throughput", "\xe2\x96\x88", "#", "as many as work as fast as one alone", FV_GREEN,
      offsetof(struct fv_throughput_point, throughput), ALWAYS },
    { "waiting", "\xe2\x96\x92", "-", NULL /* by kind */, FV_YELLOW, offsetof(struct fv_throughput_point, waiting),
      ALWAYS },
    { "few processors", "+", "+", "they waited for one", FV_RED, offsetof(struct fv_throughput_point, few_cpus),
      ALWAYS },
    { "cache", "c", "c", "they share it: each has its part", FV_RED, offsetof(struct fv_throughput_point, cache),
      IN_THREE },
    { "memory", "m", "m", "they share its bandwidth, and all else but the cache: clocks, execution units of a core",
      FV_RED, offsetof(struct fv_throughput_point, memory), IN_THREE },
    { "cache and memory", "x", "x", "that they share, clocks, execution units of a core: not separated", FV_RED,
      offsetof(struct fv_throughput_point, sharing), IN_TWO },
};
enum { SHARE_PARTS = sizeof(share_parts) / sizeof(*share_parts) };

/* NAN: the stack has no such part. */
static double share_part_of(const struct fv_throughput_point *point, size_t i)
{
    enum known known = isfinite(point->cache) ? IN_THREE : IN_TWO;

    return share_parts[i].known && share_parts[i].known != known
               ? NAN
               : *(const double *)((const char *)point + share_parts[i].offset);
}

/* Who pays most first; where that is not known, who takes longest. */
static int by_sharing(const void *a, const void *b)
{
    const struct fv_throughput_share *x = *(const struct fv_throughput_share *const *)a,
                                     *y = *(const struct fv_throughput_share *const *)b;
    double of_x = isfinite(x->sharing_s) ? x->sharing_s : x->together_s,
           of_y = isfinite(y->sharing_s) ? y->sharing_s : y->together_s;

    return of_x != of_y ? (of_x < of_y) - (of_x > of_y) : (x->rank > y->rank) - (x->rank < y->rank);
}

static void put_shares(const struct fv_page *p, const struct fv_speedup *s, const struct fv_throughput_point *point)
{
    const char *what = point->kind == FV_THROUGHPUT_RANKS ? "rank" : "copy";
    const struct fv_throughput_share **order = fv_xcalloc(point->count, sizeof(*order));
    struct fv_speedup_tables tables = { .speedup = s };
    struct fv_sheet sheet;
    size_t shown = point->count < p->top ? point->count : p->top;

    for (size_t i = 0; i < point->count; i++)
        order[i] = &point->shares[i];
    qsort(order, point->count, sizeof(*order), by_sharing);
    fv_sheet_init(&sheet, p, fv_throughput_shares, NULL, &tables);
    for (size_t i = 0; i < shown; i++)
        fv_sheet_add(&sheet, point, order[i], FV_PLAIN);
    fv_page_item(p, FV_BOLD, 2, "What sharing takes from each %s of %zu, most first", what, point->count);
    fv_sheet_print(&sheet);
    fv_page_cut(p, shown, point->count, what, "");
    fv_sheet_release(&sheet);
    free(order);
}

static void put_throughput_curve(const struct fv_page *p, const struct fv_speedup *s)
{
    const struct fv_throughput *t = &s->throughput;
    struct fv_speedup_tables tables = { .speedup = s };
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, p, &fv_throughput_curve, NULL, &tables);
    sheet.top = SIZE_MAX;
    for (size_t i = 0; i < t->curve_count; i++)
        fv_sheet_add(&sheet, NULL, &t->curve[i], t->curve[i].verdict ? FV_YELLOW : FV_PLAIN);
    fv_page_item(p, FV_BOLD, 2, "One at a time: by the part of the shared cache that it has");
    fv_sheet_print(&sheet);
    fv_sheet_release(&sheet);
}

static const char *const share_separations[FV_ALONE_VERDICTS] = {
    [FV_ALONE_NOT_RUN] = "there is no run with one at a time",
    [FV_ALONE_NOT_MEASURED] =
        "of some no turn was measured: ranks on other nodes take none, and what is not recorded is not measured",
    [FV_ALONE_STILL] =
        "a rank that computed alone made no progress: it waits for another one by other means than MPI, or sleeps",
    [FV_ALONE_LONG] = "a rank that computed alone came to no call of MPI: it waits for another one by other means",
    [FV_ALONE_LEFT] = "a rank ended, or never came, while it was its turn",
    [FV_ALONE_CUT] = "one at a time they took much longer than one after the other: their turns, between calls of MPI, "
                     "are too short",
    [FV_ALONE_OFF_CPU] = "the one that worked alone was off the processor for more than " FV_OFF_CPU_WORDS
                         " of the time: that measurement is "
                         "dropped. Commands of a script are not measured: name the program itself",
    [FV_ALONE_VARIES] = "the two shortest runs with one at a time differ by more than " FV_ALONE_SPREAD_WORDS
                        ": the machine is not quiet; "
                        "fvmpi doctor says why, --repeats=5 may help",
    [FV_ALONE_NO_PART] = "there is no run with a part of the cache",
    [FV_ALONE_MORE] = "one at a time they take longer than together: ranks' turns are too short for the cache, or the "
                      "machine is not quiet",
    [FV_ALONE_SHARED] = "with its part of the cache one takes longer alone than together: they share data",
};

static void put_remarks(const struct fv_page *p, const struct fv_throughput *t, const struct fv_throughput_point *point)
{
    const char *why =
        share_separations[point->separation] ? share_separations[point->separation] : separations[point->separation];
    double gain = fv_throughput_gain(t, point);
    char turn[FV_WORD], fill[FV_WORD];

    if (point->is_off_cpu)
        fv_page_item(
            p, FV_YELLOW, 4,
            "no stack: they were off their processors for more than %s of the time: I/O, sleep, or other programs. "
            "Or copies have threads that need more processors than there are (--threads shows them)",
            FV_OFF_CPU_WORDS);
    if (why)
        fv_page_item(p, FV_YELLOW, 4,
                     isfinite(point->sharing) ? "cache and memory are not separated: %s"
                                              : "what sharing takes is not known: %s",
                     why);
    if (point->is_least && isfinite(point->sharing))
        fv_page_item(p, FV_YELLOW, 4,
                     "at least: a rank works for %s at a time, in which it first fills the cache, where the others' "
                     "data are: that takes up to %s",
                     fv_words_seconds(point->turn_s, turn), fv_words_seconds(point->fill_s, fill));
    char wanted[FV_WORD], got[FV_WORD];
    if (isfinite(point->wanted_bytes_per_s) && isfinite(point->bytes_per_s))
        fv_page_item(
            p, FV_PLAIN, 4,
            "%zu %s want %s/s from memory, as each does alone with its part of the cache, and get %s/s together",
            point->count, fv_throughput_kinds[point->kind], fv_words_bytes((uint64_t)point->wanted_bytes_per_s, wanted),
            fv_words_bytes((uint64_t)point->bytes_per_s, got));
    if (isfinite(gain))
        fv_page_item(
            p, FV_PLAIN, 4,
            "with twice the cache %zu %s would work %.2f times as fast, as far as memory lets them (an estimate)",
            point->count, fv_throughput_kinds[point->kind], gain);
}

static void put_throughput_stack(const struct fv_page *p, const struct fv_throughput_point *point)
{
    static const char *const waiting[] = {
        [FV_THROUGHPUT_COPIES] = "they did not begin and end at once", [FV_THROUGHPUT_RANKS] = "in MPI"
    };
    struct bar_part bars[SHARE_PARTS];
    double zero = FV_STACK_ZERO * (double)point->count;

    for (size_t i = 0; i < SHARE_PARTS; i++)
        bars[i] = (struct bar_part){ share_part_of(point, i), p->utf8 ? share_parts[i].drawn : share_parts[i].plain,
                                     share_parts[i].color };
    put_bar(p, bars, SHARE_PARTS);
    for (size_t i = 0; i < SHARE_PARTS; i++)
        if (isfinite(bars[i].value) && (!i || fabs(bars[i].value) >= zero))
            fv_page_item(p, FV_PLAIN, 4, "%s %s %.2f of %zu: %s", bars[i].drawn, share_parts[i].name, bars[i].value,
                         point->count, share_parts[i].remark ? share_parts[i].remark : waiting[point->kind]);
}

static void put_throughput(const struct fv_page *p, const struct fv_speedup *s)
{
    const struct fv_throughput *t = &s->throughput;
    const struct fv_throughput_point *last = &t->points[t->count - 1];
    struct fv_speedup_tables tables = { .speedup = s };
    struct fv_sheet sheet;

    if (isfinite(last->throughput))
        fv_page_item(p, FV_BOLD, 0,
                     "%zu %s on this node do as much as %.2f alone; sharing its caches and memory takes %.2f of %zu",
                     last->count, fv_throughput_kinds[last->kind], last->throughput, last->sharing, last->count);
    else
        fv_page_item(p, FV_BOLD, 0, "%zu %s on this node: what sharing takes is not known", last->count,
                     fv_throughput_kinds[last->kind]);
    fv_page_heading(p, "Throughput", "components of the largest number below; each works as much as it does alone");
    fv_sheet_init(&sheet, p, &fv_throughput_points, NULL, &tables);
    sheet.top = SIZE_MAX;
    for (size_t i = 0; i < t->count; i++)
        fv_sheet_add(&sheet, NULL, &t->points[i], isfinite(t->points[i].throughput) ? FV_PLAIN : FV_YELLOW);
    fv_sheet_print(&sheet);
    fv_sheet_release(&sheet);
    if (isfinite(last->throughput))
        put_throughput_stack(p, last);
    put_remarks(p, t, last);
    put_shares(p, s, last);
    put_throughput_curve(p, s);
}

int fv_speedup_text(const struct fv_speedup *s, const struct fv_text_options *o, FILE *out)
{
    const struct fv_page page = fv_text_page(o, out);
    size_t shown = 0, left_out = 0;

    if (s->throughput.count) {
        put_throughput(&page, s);
        return fflush(out) || ferror(out) ? -FV_EIO : 0;
    }
    put_verdict(&page, s);
    for (size_t i = 0; i < s->count; i++) {
        if (s->phases[i].name && (s->phases[i].points[s->phases[i].count - 1].threads < 2 || shown == page.top)) {
            left_out++;
            continue;
        }
        put_phase(&page, s, &s->phases[i]);
        shown++;
    }
    fv_page_cut(&page, shown, shown + left_out, "phase", "");
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
