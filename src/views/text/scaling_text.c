/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of several sizes as text: what speedup there is and what took the rest, efficiencies by size, and the parts that
 * stopped scaling. */
#include "scaling/scaling_relations.h"
#include "views/sheet.h"
#include "views/text/text.h"

#include <math.h>
#include <string.h>

#define WORTH      0.01 /* of the elapsed time at the largest size: smaller losses are not worth a line */
#define MOST       3    /* parts in the first lines */
#define WORDS      24
#define BY_MACHINE "ranks had no processor for as much of their time; fvmpi report of that run says what had it"

/* ---- the first lines ---- */

static char *size_words(const struct fv_scaling *s, const struct fv_scaling_point *p, char out[WORDS])
{
    if (s->threads && p->threads != p->ranks)
        snprintf(out, WORDS, "%zu x %.3g", p->ranks, (double)p->threads / (double)p->ranks);
    else
        snprintf(out, WORDS, "%zu", p->ranks);
    return out;
}

static const char *why(enum fv_scaling_metric worst)
{
    switch (worst) {
    case FV_SCALES_LOAD_BALANCE: return "work is shared less evenly; fvmpi report names the rank and the function";
    case FV_SCALES_COMMUNICATION:
        return "more of the time is in MPI; fvmpi run --trace separates waiting from moving data";
    case FV_SCALES_SERIALIZATION:
        return "ranks wait for each other in turn; fvmpi report names the ranks that others wait for";
    case FV_SCALES_TRANSFER: return "moving data takes more of the time; fvmpi report says which calls";
    case FV_SCALES_OPENMP: return "threads within a rank; fvmpi stacks says what takes their speedup";
    case FV_SCALES_COMPUTATION:
        return "all ranks together compute longer: more work is done (copies, halos), or memory and clock serve it "
               "more slowly; runs with fvmpi run "
               "--counters statistics tell which";
    case FV_SCALES_INSTRUCTIONS:
        return "all ranks together execute more instructions: copies, halos, work that each rank does again";
    case FV_SCALES_IPC:
        return "a cycle does less: memory or caches that ranks share; fvmpi run --counters stalls shows what it waits "
               "for";
    case FV_SCALES_FREQUENCY:
        return "fewer cycles in the same time: the clock falls with the processors that are busy, or ranks had no "
               "processor";
    default: return "";
    }
}

static void put_verdict(const struct fv_page *p, const struct fv_scaling *s)
{
    const struct fv_scaling_point *first = &s->points[0], *last = &s->points[s->point_count - 1];
    char a[WORDS], b[WORDS], from[FV_WORD], to[FV_WORD], share[FV_WORD];
    const char *unit = s->threads ? "threads" : "ranks";
    double speedup = last->value[FV_SCALES_SPEEDUP];

    if (s->kind == FV_SCALING_UNTOLD)
        fv_page_item(p, FV_YELLOW, 0,
                     "say --strong (the same problem on more %s) or --weak (it grows with them): speedup and "
                     "computation scalability follow from that",
                     unit);
    fprintf(p->out, "%sfrom %s to %s ranks%s: %s -> %s", fv_page_on(p, FV_BOLD), size_words(s, first, a),
            size_words(s, last, b), s->threads ? " (x threads)" : "",
            fv_words_seconds(first->value[FV_SCALES_ELAPSED], from),
            fv_words_seconds(last->value[FV_SCALES_ELAPSED], to));
    if (!isnan(speedup))
        fprintf(p->out, ", %s scaling: speedup %.2f of %.3g, %s", fv_scaling_kinds[s->kind], speedup, last->factor,
                fv_words_percent(last->value[FV_SCALES_OF_IDEAL], 1, share));
    fprintf(p->out, "%s\n", fv_page_off(p));
    if (s->worst != FV_SCALES_METRICS) {
        const char *name = fv_scaling_metrics[s->worst].name;

        fv_page_item(p, FV_PLAIN, 0, "what fell most: %s, %s -> %s: %s", name + strspn(name, " "),
                     fv_words_percent(first->value[s->worst], 1, from), fv_words_percent(last->value[s->worst], 1, to),
                     s->by_machine ? BY_MACHINE : why(s->worst));
    }
}

static void name_part(const struct fv_scaling_part *part, char *out, size_t bytes)
{
    char name[400];

    fv_words_brief(part->name, name, sizeof(name));
    snprintf(out, bytes, "%s%s%s%s%s", strcmp(part->table, "regions") ? "" : "computing ", name,
             strcmp(part->table, "cpu_procedures") ? "" : "()", part->place ? " at " : "",
             part->place ? part->place : "");
}

/* Sections hold others, and are told below. */
static void put_largest(const struct fv_page *p, const struct fv_scaling *s)
{
    const struct fv_scaling_point *last = &s->points[s->point_count - 1];
    size_t shown = 0;
    char a[FV_WORD], b[FV_WORD], size[WORDS], name[700];
    bool procedures = false;

    for (size_t i = 0; i < s->part_count; i++)
        procedures = procedures || !strcmp(s->parts[i].table, "cpu_procedures");
    for (size_t i = 0; i < s->part_count && shown < MOST; i++) {
        const struct fv_scaling_part *part = &s->parts[i];

        if (!(part->lost_s >= WORTH * last->value[FV_SCALES_ELAPSED]) || !strcmp(part->table, "sections") ||
            !strcmp(part->table, procedures ? "regions" : "cpu_procedures"))
            continue;
        name_part(part, name, sizeof(name));
        if (!shown++)
            fv_page_heading(p, "What stops scaling", "seconds of a rank (mean) more than ideal at the largest size");
        fv_page_item(p, FV_PLAIN, 2, "%s on %s ranks: %s (%s, ideal %s)", fv_words_seconds(part->lost_s, a),
                     size_words(s, last, size), name, fv_words_seconds(part->time_s[s->point_count - 1], b),
                     fv_words_seconds(part->ideal_s, (char[FV_WORD]){ 0 }));
    }
}

/* ---- tables ---- */

static void put_points(const struct fv_page *p, const struct fv_scaling *s)
{
    struct fv_scaling_tables tables = { .scaling = s };
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, p, &fv_scaling_points, NULL, &tables);
    sheet.top = SIZE_MAX;
    if (!s->threads)
        fv_sheet_hide(&sheet, "thread_count");
    for (size_t i = 0; i < s->point_count; i++)
        fv_sheet_add(&sheet, NULL, &s->points[i], FV_PLAIN);
    fv_page_heading(p, "Sizes", "efficiencies are POP's: global = parallel x computation; " FV_POP_GOOD_WORDS);
    fv_sheet_print(&sheet);
    fv_sheet_release(&sheet);
}

static void put_parts(const struct fv_page *p, const struct fv_scaling *s, const char *table, const char *title,
                      const char *remark)
{
    struct fv_scaling_tables tables = { .scaling = s };
    struct fv_sheet sheet;

    fv_sheet_init(&sheet, p, &fv_scaling_parts, NULL, &tables);
    for (size_t i = 0; i < s->part_count; i++)
        if (!strcmp(s->parts[i].table, table))
            fv_sheet_add(&sheet, NULL, &s->parts[i], FV_PLAIN);
    if (sheet.all_rows) {
        fv_page_heading(p, title, remark);
        fv_sheet_print(&sheet);
        fv_sheet_cut(&sheet, "row", "");
    }
    fv_sheet_release(&sheet);
}

int fv_scaling_text(const struct fv_scaling *s, const struct fv_text_options *o, FILE *out)
{
    const struct fv_page page = fv_text_page(o, out);
    const struct fv_page *p = &page;

    put_verdict(p, s);
    put_largest(p, s);
    putc('\n', out);
    for (size_t i = 0; i < s->notes.count; i++)
        fv_text_note(p, FV_YELLOW, "%s", s->notes.items[i].text);
    put_points(p, s);
    put_parts(p, s, "sections", "Sections", "elapsed time of a rank (mean) at the smallest and the largest size");
    put_parts(p, s, "cpu_procedures", "Procedures",
              s->threads ? "CPU time of a thread outside of MPI, by clock samples (estimate)"
                         : "CPU time of a rank outside of MPI, by clock samples (estimate)");
    put_parts(p, s, "regions", "Computing between MPI calls", "time of a rank (mean)");
    put_parts(p, s, "mpi_functions", "MPI functions", "time of a rank (mean)");
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
